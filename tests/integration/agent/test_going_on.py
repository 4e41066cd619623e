"""An answer that broke off is gone on with in its own place; what has no text is asked for anew."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from application.agent import watch
from application.app import Application
from application.conversation.turn_deps import ChatRequest
from application.conversation.turn_parts import TurnParts
from application.ports.events import AnswerStreamed, ChatEvent, ErrorOccurred, TurnEnded
from bootstrap import build
from domain.llm.agentic_loop.claims import Doubts
from domain.llm.chat import ProviderChoice, ProviderError
from domain.llm.conversation_record import ConversationRecord
from infrastructure.llm_adapters.timing import RetryPolicy
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.fakes.signed_transcript import sign_lines
from tests.integration.agent.in_process import messages_of, turn

TEXT = "The corner frequency of the filter is known, and its gain at low frequencies is one."
BROKEN_AT = 30
DOWN = Script(status=503, pieces=(b"{}",), content_type="application/json")


@pytest.fixture
async def app(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Application]:
    monkeypatch.setattr(RetryPolicy, "pause_s", lambda *_args: None)
    application = build()
    yield application
    await application.close()


def slow_or_rest(body: dict[str, Any]) -> Script:
    """The text, slowly; asked for more of it, what follows - and, like many a model, some of it twice."""
    messages = body["messages"]
    if "was cut off at its end" in str(messages[-1]["content"]):
        before = str(messages[-2]["content"])
        assert TEXT.startswith(before), before
        return answer(TEXT[max(len(before) - 20, 0) :])
    return replace(answer(TEXT), piece_delay_s=0.02)


async def say(
    app: Application, server: FakeLLMServer, project: Path, text: str | None, *, stop_after: int = 0
) -> list[ChatEvent]:
    """A turn (with no text: the last one goes on), stopped after so many characters."""
    events: list[ChatEvent] = []
    choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
    shown = 0

    def emit(event: ChatEvent) -> None:
        nonlocal shown
        events.append(event)
        if isinstance(event, AnswerStreamed):
            shown += len(event.text)
            if 0 < stop_after <= shown:
                task.cancel("user")

    task = asyncio.create_task(
        app.conversations.chat(ChatRequest(project=project, text=text, choice=choice), emit=emit), name="turn"
    )
    await asyncio.wait([task])
    if (
        not task.cancelled()
        and (error := task.exception()) is not None
        and not isinstance(error, ProviderError)
    ):
        raise error
    return events


def end_of(events: list[ChatEvent]) -> str:
    assert isinstance(events[-1], TurnEnded)
    return events[-1].stop_reason


async def test_a_stopped_answer_goes_on_in_its_place_and_loses_its_mark(
    app: Application, tmp_path: Path
) -> None:
    with FakeLLMServer(slow_or_rest) as server:
        stopped = await say(app, server, tmp_path, "What is the corner?", stop_after=BROKEN_AT)
        assert end_of(stopped) == "stopped"
        (_, partial) = messages_of(tmp_path)
        assert partial["additional_kwargs"]["is_partial"]
        again = await say(app, server, tmp_path, None, stop_after=8)  # stopped once more in the rest
        assert end_of(again) == "stopped"
        whole = await say(app, server, tmp_path, None)
        assert end_of(whole) == "completed"
    question, said = messages_of(tmp_path)
    assert (question["type"], said["id"]) == ("user", partial["id"])
    assert said["content"] == TEXT
    assert not said["additional_kwargs"].get("is_partial")
    pieces = [event for event in (*stopped, *again, *whole) if isinstance(event, AnswerStreamed)]
    assert {event.message_id for event in pieces} == {partial["id"]}
    assert "".join(event.text for event in pieces) == TEXT
    (shown,) = await app.conversations.sessions.list(tmp_path)
    assert not shown.has_partial_response


async def test_going_on_over_a_network_that_is_still_gone_says_so_and_can_be_tried_again(
    app: Application, tmp_path: Path
) -> None:
    is_gone = False

    def next_answer(body: dict[str, Any]) -> Script:
        return DOWN if is_gone else slow_or_rest(body)

    with FakeLLMServer(next_answer) as server:
        await say(app, server, tmp_path, "What is the corner?", stop_after=BROKEN_AT)
        is_gone = True
        failed = await say(app, server, tmp_path, None)
        assert [event.error_type for event in failed if isinstance(event, ErrorOccurred)] == ["overloaded"]
        assert messages_of(tmp_path)[-1]["additional_kwargs"]["is_partial"]
        is_gone = False
        assert end_of(await say(app, server, tmp_path, None)) == "completed"
    assert [message["content"] for message in messages_of(tmp_path)] == ["What is the corner?", TEXT]


async def test_a_turn_that_stopped_at_a_tool_is_asked_to_go_on(app: Application, tmp_path: Path) -> None:
    def next_answer(body: dict[str, Any]) -> Script:
        if "Continue." in str(body["messages"][-1]["content"]):
            return answer("All files are listed.")
        if body["messages"][-1]["role"] == "tool":
            return DOWN
        return answer("", calls=[call("list_project_files", {})])

    with FakeLLMServer(next_answer) as server:
        assert end_of(await say(app, server, tmp_path, "List the files.")) == "error"
        assert end_of(await say(app, server, tmp_path, None)) == "completed"
    kinds = [message["type"] for message in messages_of(tmp_path)]
    assert kinds == ["user", "assistant", "tool", "user", "assistant"]


async def test_a_killed_answer_goes_on_in_its_place(app: Application, tmp_path: Path) -> None:
    with FakeLLMServer(slow_or_rest) as server:
        await say(app, server, tmp_path, "What is the corner?", stop_after=BROKEN_AT)
        (session,) = (tmp_path / ".circuit_ai" / "conversations").glob("*.jsonl")
        lines = [json.loads(line) for line in session.read_text().splitlines()]
        # As the file is when the process is killed: pieces, and no end of them.
        end = next(n for n, line in enumerate(lines) if line.get("message", {}).get("type") == "assistant")
        partial = lines[end]["message"]
        delta = {"event": "delta", "message_id": partial["id"], "text": partial["content"], "reasoning": ""}
        before = [line for line in lines[:end] if line["event"] != "delta"]  # a slow machine had noted some
        as_killed = [json.dumps(line).encode() for line in [*before, delta]]
        await asyncio.to_thread(sign_lines, session, as_killed)
        assert end_of(await say(app, server, tmp_path, None)) == "completed"
    question, said = messages_of(tmp_path)
    assert (question["type"], said["content"]) == ("user", TEXT)


async def test_what_a_turn_has_read_goes_with_it_and_its_answer_is_judged_once(
    app: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not with the next collection of garbage: each turn has read the whole conversation."""
    judged: list[str] = []
    monkeypatch.setattr(
        watch, "doubts_about", lambda text, _evidence, **_about: judged.append(text) or Doubts()
    )
    replies = [answer("", calls=[call("list_files", {})]), answer("None."), answer("Sure.")]
    with FakeLLMServer(replies) as server:
        await turn(app, server, tmp_path / "p", "What is there?")
        gc.collect()
        gc.disable()
        try:
            await turn(app, server, tmp_path / "p", "Really?", session_id="last")
            kept = [each for each in gc.get_objects() if isinstance(each, TurnParts | ConversationRecord)]
        finally:
            gc.enable()
    assert kept == []
    assert judged == ["None.", "Sure."]
