"""`chat` as scripts and people use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes.llm_server import FakeLLMServer, answer, call, error
from tests.integration.cli.conftest import Cli


def through(server: FakeLLMServer) -> tuple[str, ...]:
    return ("--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url)


WRITE = call("rewrite_file", {"path": "a.txt", "content": "x\n"})
READ = call("read_file", {"path": "a.txt"})


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def test_events_in_the_order_of_the_contract(cli: Cli, tmp_path: Path) -> None:
    script = [
        answer("I write. ", reasoning="hm", calls=[WRITE]),
        answer("Done.", usage={"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}),
    ]
    with FakeLLMServer(script) as server:
        result = cli("chat", tmp_path, "write", *through(server), "--json")
    assert result.exit_code == 0
    events = result.events
    assert types(events)[0] == "session"
    assert types(events)[-1] == "done"
    assert events[-1]["stop_reason"] == "completed"
    assert events[-1]["usage"]["total_tokens"] >= 7
    assert "".join(event["text"] for event in events if event["type"] == "token") == "I write. Done."
    assert "".join(event["text"] for event in events if event["type"] == "reasoning") == "hm"
    start, end = (next(e for e in events if e["type"] == kind) for kind in ("tool_start", "tool_end"))
    assert start["id"] == end["id"]
    assert start["arguments"] == {"path": "a.txt", "content": "x\n"}
    assert end["success"]
    assert (tmp_path / "a.txt").read_text() == "x\n"


def test_provider_error_after_partial_text(cli: Cli, tmp_path: Path) -> None:
    with FakeLLMServer([answer("Half an answer", drop=True)]) as server:
        result = cli("chat", tmp_path, "hi", *through(server), "--json")
    assert result.exit_code == 3
    assert types(result.events)[-2:] == ["error", "done"]
    assert result.events[-2]["error_type"] == "connection_lost"
    assert result.events[-2]["advice"]
    session_id = result.events[0]["session_id"]
    shown = cli("sessions", "show", tmp_path, session_id, "--json").document
    assert shown["messages"][-1]["text"] == "Half an answer"
    assert shown["messages"][-1]["partial"] is True


def test_wrong_key_says_what_to_do_and_keeps_the_question(cli: Cli, tmp_path: Path) -> None:
    refusal = {"error": {"message": "Incorrect API key provided: sk-secret", "code": "invalid_api_key"}}
    with FakeLLMServer([error(401, refusal)]) as server:
        result = cli(
            "chat",
            tmp_path,
            "hi",
            *through(server),
            "--json",
            CIRCUIT_AI_OPENAI_COMPATIBLE_API_KEY="sk-secret",
        )
    assert result.exit_code == 3
    assert "sk-secret" not in result.stdout + result.stderr
    shown = cli("sessions", "show", tmp_path, "last", "--json").document
    assert [message["text"] for message in shown["messages"]] == ["hi"]


def test_unreachable_server(cli: Cli, tmp_path: Path) -> None:
    result = cli(
        *("chat", tmp_path, "hi", "--provider", "openai-compatible", "--model", "m"),
        *("--base-url", "http://127.0.0.1:9/v1", "--json"),
    )
    assert result.exit_code == 3
    assert result.events[-2]["error_type"] == "unreachable"


def test_second_message_knows_the_first_turn(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the value is 42\n")
    script = [
        answer("", calls=[READ]),
        answer("42."),
        answer("As I said: 42."),
    ]
    with FakeLLMServer(script) as server:
        first = cli("chat", tmp_path, "what is the value?", *through(server), "--json")
        session_id = first.events[0]["session_id"]
        cli("chat", tmp_path, "again?", "--session", session_id, *through(server), "--json")
        messages = server.requests[2]["messages"]
    assert [message["role"] for message in messages] == [
        "system", "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert messages[2]["tool_calls"][0]["id"] == messages[3]["tool_call_id"]
    assert "42" in messages[3]["content"]
    assert "a.txt" not in str(messages[1]["content"]), "the context block goes with the newest message only"


def test_human_reads_the_answer_as_it_comes(cli: Cli, tmp_path: Path) -> None:
    script = [
        answer("I write.", calls=[WRITE]),
        answer("Done."),
    ]
    with FakeLLMServer(script) as server:
        result = cli("chat", tmp_path, "write", *through(server))
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "│ I write."
    assert lines[1].startswith("✓ ")
    assert "a.txt" in lines[1]
    assert lines[2] == "│ Done."


def test_bad_usage(cli: Cli, tmp_path: Path) -> None:
    assert cli("chat", tmp_path, "", "--json").exit_code == 2
    assert cli("chat", tmp_path, "--json").exit_code == 2
    assert cli("chat", tmp_path, "hi", "--provider", "nobody", "--json").exit_code == 2
    assert cli("chat", tmp_path, "hi", "--session", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "--json").exit_code == 2
    assert cli("chat", tmp_path, "hi", "--session", "../../etc", "--json").exit_code == 2
    assert cli("chat", tmp_path, "--resume", "--json").exit_code == 2
    assert cli("chat", tmp_path, "hi", "--provider", "openai-compatible", "--json").exit_code == 2


def test_name_is_made_after_the_first_answer_only(cli: Cli, tmp_path: Path) -> None:
    with FakeLLMServer([error(401, {"error": {"message": "no"}}), answer("Hello.")]) as server:
        failed = cli("chat", tmp_path, "Tell me about filters", *through(server), "--json")
        session_id = failed.events[0]["session_id"]
        name = cli("sessions", "show", tmp_path, session_id, "--json").document["name"]
        assert name.startswith("Chat ")
        cli("chat", tmp_path, "once more", "--session", session_id, *through(server), "--json")
    name = cli("sessions", "show", tmp_path, session_id, "--json").document["name"]
    assert name == "Tell me about filters"


def test_json_lines_stay_json_lines_for_any_text(cli: Cli, tmp_path: Path) -> None:
    text = 'line one\nline two\u2028 "quotes" \x00 中文 😀'
    with FakeLLMServer([answer(text)]) as server:
        result = cli("chat", tmp_path, "说", *through(server), "--json")
    assert "".join(event["text"] for event in result.events if event["type"] == "token") == text
    assert all(json.dumps(event) for event in result.events)


def test_variables_of_tracers_upload_nothing_and_stop_nothing(cli: Cli, tmp_path: Path) -> None:
    with FakeLLMServer([answer("Done.")]) as server, FakeLLMServer() as tracer:
        switches = ("TRACING", "TRACING_V2", "HANDLER", "API_KEY", "VERBOSE")
        environment = {
            f"{prefix}_{switch}": "true" for prefix in ("LANGSMITH", "LANGCHAIN") for switch in switches
        }
        endpoints = {f"{prefix}_ENDPOINT": tracer.root_url for prefix in ("LANGSMITH", "LANGCHAIN")}
        result = cli("chat", tmp_path, "hi", *through(server), "--json", **environment, **endpoints)
    assert result.exit_code == 0, result.stdout
    assert tracer.connections == 0
