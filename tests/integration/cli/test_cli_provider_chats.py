"""`chat` with every kind of provider: two rounds with a tool, over each protocol, from the command line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.llm_protocols import SOURCES, ollama_answer, siliconflow_answer, strict, zhipu_answer
from tests.fakes.llm_responses import SECRET, responses_answer
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call, error
from tests.integration.cli.conftest import Cli

CALLS = [call("read_file", {"path": "a.cir"}, id="call_7")]
CITED = [{"type": "url_citation", "url": "https://example.org/opa", "title": "Op amps"}]
TURNS: dict[str, tuple[Script, Script, list[str]]] = {
    "zhipu": (
        zhipu_answer(reasoning="Let me see", calls=CALLS),
        zhipu_answer("一阶低通。", sources=SOURCES),
        ["--thinking", "on", "--search"],
    ),
    "siliconflow": (
        siliconflow_answer(reasoning="Let me see", calls=CALLS),
        siliconflow_answer("一阶低通。"),
        ["--thinking", "low"],
    ),
    "ollama": (ollama_answer(thinking="Let me see", calls=CALLS), ollama_answer("一阶低通。"), []),
    "deepseek": (answer(reasoning="Let me see", calls=CALLS), answer("一阶低通。"), []),
    "openai": (
        responses_answer(reasoning="Let me see", calls=CALLS),
        responses_answer("一阶低通。", annotations=CITED),
        ["--thinking", "high", "--search"],
    ),
}


@pytest.mark.parametrize("provider", TURNS)
def test_two_rounds(provider: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.cir").write_text("low pass\nR1 in out 1k\nC1 out 0 1n\n.end\n", encoding="utf-8")
    first, second, options = TURNS[provider]
    with FakeLLMServer([strict(provider, first), strict(provider, second)]) as server:
        url = server.root_url if provider == "ollama" else server.base_url
        words = ["--provider", provider, "--model", "fake-model", "--base-url", url, *options, "--json"]
        result = cli("chat", str(tmp_path), "What is a.cir?", *words)
        bodies = server.requests
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0, result.stdout
    assert "".join(event["text"] for event in events if event["type"] == "token") == "一阶低通。"
    thought = "".join(event["text"] for event in events if event["type"] == "reasoning")
    assert thought == "Let me see"
    assert [event["success"] for event in events if event["type"] == "tool_end"] == [True]
    assert events[-1]["stop_reason"] == "completed"
    told = [event["sources"][0]["url"] for event in events if event["type"] == "sources"]
    assert told == (["https://example.org/opa"] if provider in {"zhipu", "openai"} else [])
    assert len(bodies) == 2
    shown = cli("sessions", "show", str(tmp_path), events[0]["session_id"], "--json").document
    assert shown["messages"][-1]["text"] == "一阶低通。"
    assert "R1 in out 1k" in result_of(bodies[1])


def result_of(body: Any) -> str:
    """The text of the tool's message; what the Responses API wants back stands before its call."""
    if "input" in body:
        *_, reasoning, call, result = body["input"]
        assert (reasoning["encrypted_content"], call["call_id"]) == (SECRET, result["call_id"])
        return str(result["output"])
    (text,) = (message["content"] for message in body["messages"] if message["role"] == "tool")
    return str(text)


def test_a_switch_that_a_provider_does_not_have_is_refused(cli: Cli, tmp_path: Path) -> None:
    base = ["chat", str(tmp_path), "hi", "--base-url", "http://127.0.0.1:9/v1", "--provider"]
    for provider, switch in (("siliconflow", ["--search"]), ("lmstudio", ["--thinking", "on"])):
        result = cli(*base, provider, *switch)
        assert result.exit_code == 2
        assert "no web search" in result.stderr or "cannot be switched" in result.stderr


def test_the_command_that_is_told_asks_the_other_model(cli: Cli, tmp_path: Path) -> None:
    text = 'What\'s in it? $HOME; "nothing"?'
    with FakeLLMServer([error(402, "no money")]) as poor, FakeLLMServer([answer("Nothing.")]) as rich:
        home = tmp_path / "home"
        home.mkdir()
        other = {"provider": "openai-compatible", "model": "rich", "base_url": rich.base_url}
        (home / "settings.json").write_text(json.dumps({"alternatives": [other]}))
        asked = ("--provider", "openai-compatible", "--model", "poor", "--base-url", poor.base_url)
        told = cli("chat", tmp_path / "a project", text, *asked, CIRCUIT_DESIGN_AI_HOME=str(home))
        assert told.exit_code == 3
        (line,) = [line for line in told.stderr.splitlines() if line.startswith("To ask")]
        words = shlex.split(line.partition(": ")[2])
        assert words[:2] == ["python", "main.py"]
        answered = cli(*words[2:], CIRCUIT_DESIGN_AI_HOME=str(home))
    assert (answered.exit_code, answered.stdout.strip()) == (0, "│ Nothing.")
    assert rich.requests[0]["messages"][-1]["content"].endswith(text)
    roles = [message["role"] for message in rich.requests[0]["messages"]]
    assert roles == ["system", "user", "user"], "it is the same conversation"


def test_the_server_of_vectors_is_tested_and_kept(cli: Cli, tmp_path: Path) -> None:
    home = {"CIRCUIT_DESIGN_AI_HOME": str(tmp_path / "home")}
    nothing = cli("providers", "test", "embeddings", **home)
    assert nothing.exit_code == 2
    assert "providers test embeddings PROVIDER" in nothing.stderr
    with EmbeddingServer(dimension=12) as server:
        place = ("--model", "m", "--base-url", server.base_url)
        kept = cli("providers", "test", "embeddings", "openai-compatible", *place, "--save", **home)
        assert kept.exit_code == 0, kept.stderr
        again = json.loads(cli("providers", "test", "embeddings", "--json", **home).stdout)
        assert (again["dimension"], again["model"]) == (12, "m")
        server.faults += [429]
        refused = cli("providers", "test", "embeddings", "--json", **home)
    assert refused.exit_code == 3
    assert json.loads(refused.stdout)["errors"][0]["error_type"] == "rate_limited"
    assert len(server.requests) == 3, "a test asks once"


NETLIST = "RC low pass\nVin in 0 AC 1\nR1 in out 1k\nC1 out 0 1n\n.ac dec 10 1 1meg\n.end\n"


def test_a_netlist_in_an_answer_is_told_and_can_be_taken(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n")
    with FakeLLMServer([answer(f"Here:\n```spice\n{NETLIST}```\nSimulate it.")] * 2) as server:
        words = ["--provider", "openai-compatible", "--model", "m", "--base-url", server.base_url]
        told = cli("chat", str(tmp_path), "An RC low pass?", *words)
        lines = cli("chat", str(tmp_path), "An RC low pass?", *words, "--json").stdout.splitlines()
    (found,) = [event for line in lines if (event := json.loads(line))["type"] == "netlist"]
    assert (found["title"], found["elements"]) == ("RC low pass", 3)
    assert "not written" in told.stdout + told.stderr
    command = shlex.split(found["command"])[2:]
    assert cli(*command).exit_code == 0
    assert (tmp_path / "rc_low_pass.cir").read_text() == NETLIST
    again = cli(*command, "--json")
    assert (again.exit_code, again.document["errors"][0]["error_type"]) == (2, "path_taken")
    shown = cli("sessions", "export", str(tmp_path), command[3], "--format", "md").stdout
    assert "rc_low_pass.cir" in shown.replace("\\", "")
