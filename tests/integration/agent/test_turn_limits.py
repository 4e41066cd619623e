"""What one turn may do by itself: answers, calls, model time; and how small its checkpoints stay."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.conversation.chatting import ChatWithModel
from application.conversation.turn_deps import ChatRequest
from application.ports.events import ChatEvent, ErrorOccurred, ToolEnded, ToolStarted, TurnEnded
from bootstrap import build
from domain.llm.agent_limits import AgentLimits
from domain.llm.chat import ProviderChoice
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.integration.agent.in_process import messages_of, turn
from tests.integration.agent.scripted_turn import answers_so_far

ROW_LIMIT = 20_000


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = build()
    yield application
    await application.close()


def files_in(folder: Path, pattern: str) -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


async def test_turn_ends_after_fifteen_answers_and_can_be_continued(app: Application, tmp_path: Path) -> None:
    def always_more(body: dict[str, Any]) -> Script:
        asked = [str(one["content"]) for one in body["messages"] if one["role"] == "user"]
        if any(text.endswith("continue") for text in asked):
            return answer("That is all.")
        return answer("", calls=[call("list_project_files", {"pattern": f"*.{len(body['messages'])}"})])

    with FakeLLMServer(always_more) as server:
        ended, _ = await turn(app, server, tmp_path)
        assert ended.stop_reason == "limit"
        assert "15" in str(ended.note)
        assert len(server.requests) == 15
        hinted = ["of at most 15" in str(body["messages"][-1]["content"]) for body in server.requests]
        assert hinted == [False] * 9 + [True] * 5 + [False]
        assert ["tools" in body for body in server.requests] == [True] * 14 + [False]
        assert "no tool is run any more" in str(server.requests[-1]["messages"][-1]["content"])
        assert messages_of(tmp_path)[-1]["type"] == "assistant"
        (session_id,) = files_in(tmp_path / ".circuit_ai" / "conversations", "*.jsonl")
        session_id = session_id.removesuffix(".jsonl")
        ended, _ = await turn(app, server, tmp_path, "continue", session_id=session_id)
        assert ended.stop_reason == "completed"
        assert len(server.requests) == 16
        assert "tools" in server.requests[-1]


async def test_only_the_first_five_calls_of_an_answer_run(app: Application, tmp_path: Path) -> None:
    calls = [
        call("rewrite_file", {"path": f"f{number}.txt", "content": "x\n"}, id=f"c{number}")
        for number in range(8)
    ]
    with FakeLLMServer([answer("", calls=calls), answer("ok")]) as server:
        ended, _ = await turn(app, server, tmp_path)
    assert ended.stop_reason == "completed"
    assert files_in(tmp_path, "*.txt") == [f"f{number}.txt" for number in range(5)]
    results = [message for message in messages_of(tmp_path) if message["type"] == "tool"]
    assert [message["status"] for message in results] == ["success"] * 5 + ["error"] * 3
    told = [message["content"] for message in server.requests[1]["messages"] if message["role"] == "tool"]
    assert "Not run" in told[5]


async def test_reading_calls_run_side_by_side_and_changes_one_by_one(
    app: Application, tmp_path: Path
) -> None:
    for number in range(4):
        (tmp_path / f"r{number}.txt").write_text(f"text {number}\n")
    reads = [call("read_file", {"path": f"r{number}.txt"}, id=f"r{number}") for number in range(4)]
    writes = [
        call("patch_file", {"path": "r0.txt", "search": "text 0", "replace": "text 9"}, id="w1"),
        call("patch_file", {"path": "r0.txt", "search": "text 9", "replace": "text 7"}, id="w2"),
    ]
    with FakeLLMServer([answer("", calls=reads), answer("", calls=writes), answer("ok")]) as server:
        _, events = await turn(app, server, tmp_path)
    order = [
        "start" if isinstance(e, ToolStarted) else "end"
        for e in events
        if isinstance(e, ToolStarted | ToolEnded)
    ]
    assert order[:3] == ["start"] * 3
    assert order[-4:] == ["start", "end", "start", "end"]
    assert (tmp_path / "r0.txt").read_text() == "text 7\n"


async def test_calls_beyond_a_number_a_second_wait(app: Application, tmp_path: Path) -> None:
    assert isinstance(app.conversations.chat, ChatWithModel)
    app.conversations.chat.deps = replace(
        app.conversations.chat.deps, limits=replace(AgentLimits(), calls_per_second=1)
    )
    reads = [call("list_project_files", {"pattern": f"{number}*"}, id=f"r{number}") for number in range(4)]
    began = time.monotonic()
    with FakeLLMServer([answer("", calls=reads), answer("ok")]) as server:
        ended, events = await turn(app, server, tmp_path)
    assert time.monotonic() - began >= 3.0  # three may begin within three seconds, in one burst
    assert ended.stop_reason == "completed"
    assert sum(isinstance(event, ToolEnded) and event.success for event in events) == 4


async def test_model_time_has_a_limit_and_what_came_is_kept(app: Application, tmp_path: Path) -> None:
    assert isinstance(app.conversations.chat, ChatWithModel)
    app.conversations.chat.deps = replace(
        app.conversations.chat.deps, limits=replace(AgentLimits(), model_seconds=2.0)
    )
    with FakeLLMServer([answer("The first half", stall=True)]) as server:
        ended, _ = await turn(app, server, tmp_path)
    assert ended.stop_reason == "limit"
    assert messages_of(tmp_path)[-1]["content"] == "The first half"


async def test_calls_written_as_text_are_run(app: Application, tmp_path: Path) -> None:
    text = '```json\n{"tool": "rewrite_file", "parameters": {"path": "a.txt", "content": "hi\\n"}}\n```'
    with FakeLLMServer([answer(text), answer("Written.")]) as server:
        ended, _ = await turn(app, server, tmp_path)
    assert ended.stop_reason == "completed"
    assert (tmp_path / "a.txt").read_text() == "hi\n"


async def test_unreadable_arguments_go_back_to_the_model(app: Application, tmp_path: Path) -> None:
    broken = call("rewrite_file", '{"path": "a.txt", "content": "cut of', id="c1")
    right = call("rewrite_file", {"path": "a.txt", "content": "whole\n"}, id="c1")
    with FakeLLMServer([answer("", calls=[broken]), answer("", calls=[right]), answer("ok")]) as server:
        ended, _ = await turn(app, server, tmp_path)
        told = server.requests[1]["messages"][-1]
    assert ended.stop_reason == "completed"
    assert told["role"] == "tool"
    assert "JSON" in told["content"]
    assert (tmp_path / "a.txt").read_text() == "whole\n"


async def test_broken_off_answer_is_kept_and_said(app: Application, tmp_path: Path) -> None:
    with FakeLLMServer([answer("The first half", drop=True)]) as server:
        events: list[ChatEvent] = []
        choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
        request = ChatRequest(project=tmp_path, text="Go.", choice=choice)
        with pytest.raises(Exception) as failure:  # noqa: PT011 - which error is asserted by its event
            await app.conversations.chat(request, emit=events.append)
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].stop_reason == "error"
    assert isinstance(events[-2], ErrorOccurred)
    assert events[-2].error_type == getattr(failure.value, "error_type", None) == "connection_lost"
    last = messages_of(tmp_path)[-1]
    assert last["content"] == "The first half"
    assert last["additional_kwargs"]["is_partial"]


async def test_checkpoints_of_a_full_turn_stay_small(
    app: Application, tmp_path: Path, record_property: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """15 answers of 5 calls each, with large arguments and results."""
    assert isinstance(app.conversations.chat, ChatWithModel)
    app.conversations.chat.deps = replace(
        app.conversations.chat.deps, limits=replace(AgentLimits(), calls_per_second=1000)
    )
    body_text = "".join(f"* line {number} of a long netlist\n" for number in range(400))

    def busy(body: dict[str, Any]) -> Script:
        number = answers_so_far(body)
        write = {"path": f"n{number}.cir", "content": body_text}
        read = {"path": f"n{max(number - 1, 0)}.cir", "max_tokens": 4000}
        calls = [call("rewrite_file", write, id="c")] + [
            call("read_file", read, id=f"c{i}") for i in range(4)
        ]
        return answer(f"Answer {number}. " * 50, reasoning="thinking " * 200, calls=calls)

    monkeypatch.setattr(type(app.conversations.chat.deps.checkpointers), "prune", _keep_all)
    with FakeLLMServer(busy) as server:
        ended, _ = await turn(app, server, tmp_path)
    assert ended.stop_reason == "limit"
    results = [message for message in messages_of(tmp_path) if message["type"] == "tool"]
    assert len(results) == 70
    rows = largest_rows(tmp_path / ".circuit_ai" / "checkpoints.sqlite")
    record_property("largest_checkpoint_row_bytes", rows["checkpoint"])
    print(f"largest checkpoint row {rows['checkpoint']} bytes, largest write {rows['write']} bytes")
    assert rows["checkpoint"] < ROW_LIMIT
    assert rows["write"] < ROW_LIMIT
    assert rows["count"] > 60


async def test_finished_turn_leaves_one_checkpoint(app: Application, tmp_path: Path) -> None:
    with FakeLLMServer([answer("", calls=[call("list_project_files", {})]), answer("ok")]) as server:
        await turn(app, server, tmp_path)
    assert largest_rows(tmp_path / ".circuit_ai" / "checkpoints.sqlite")["count"] <= 3


async def _keep_all(*_: object) -> None:
    """In place of pruning: the test looks at every row."""


def largest_rows(path: Path) -> dict[str, int]:
    with sqlite3.connect(path) as database:
        (checkpoint, count) = database.execute(
            "SELECT max(length(checkpoint) + length(metadata)), count(*) FROM checkpoints"
        ).fetchone()
        (write,) = database.execute("SELECT coalesce(max(length(value)), 0) FROM writes").fetchone()
    database.close()
    return {"checkpoint": checkpoint, "write": write, "count": count}
