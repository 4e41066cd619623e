"""Stopping at any moment: idle again, nothing left running, what was shown is kept, the next turn works."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from application.app import Application
from application.conversation.chatting import ChatRequest
from application.events import AnswerStreamed, ChatEvent, ToolEnded, ToolStarted, TurnEnded
from bootstrap import build
from domain.llm.chat import ProviderChoice
from shared.errors import Stopped
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call, error
from tests.ground.campaign import Campaign, campaigns
from tests.integration.agent.scripted_turn import NEXT_QUESTION, QUESTION, answers_so_far, next_answer

SLOW_DECK = "slow\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 100\n.end\n"
SCOPE = "tab"
MOMENTS = ("stream", "stall", "silent", "retry", "tool", "simulation", "any")


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = build()
    application.events.bind()
    yield application
    await application.close()


@pytest.mark.timeout(300)
@campaigns(fast=20, whole=140)
async def test_stop_at_random_moments(campaign: Campaign, app: Application, tmp_path: Path) -> None:
    seconds: list[float] = []
    for number, rng in enumerate(campaign.cases()):
        project = tmp_path / f"p{number}"
        project.mkdir()
        (project / "slow.cir").write_text(SLOW_DECK)
        moment = MOMENTS[number % len(MOMENTS)]
        with FakeLLMServer(lambda body, moment=moment: _answer_until(moment, body)) as server:
            stopped = await _stop(app, server, project, moment, rng, seconds)
            await asyncio.to_thread(server.wait_for, lambda: server.open_answers == 0)
            _check_kept(project, stopped)
            after = await app.chat(
                _request(server, project, NEXT_QUESTION, _session(project).stem), emit=_ignore
            )
        assert after.stop_reason == "completed"
    print(f"{len(seconds)} stops, idle after at most {max(seconds) * 1000:.0f} ms")


async def test_second_stop_is_harmless(app: Application, tmp_path: Path) -> None:
    with FakeLLMServer([answer("never ends", stall=True)]) as server:
        handle = app.tasks.submit(
            "chat", "1", app.chat(_request(server, tmp_path, QUESTION), emit=_ignore), scope=SCOPE
        )
        await asyncio.to_thread(server.wait_for_requests, 1)
        await asyncio.gather(*(app.stop.stop("user", scope=SCOPE) for _ in range(3)))
        with pytest.raises(Stopped):
            await handle.result()
    assert app.stop.state(SCOPE) == "idle"


async def test_stop_ends_its_own_conversation_only(app: Application, tmp_path: Path) -> None:
    with FakeLLMServer(next_answer) as server, FakeLLMServer([answer("...", stall=True)]) as stalled:
        other = app.tasks.submit(
            "chat", "other", app.chat(_request(server, tmp_path / "a", QUESTION), emit=_ignore), scope="other"
        )
        handle = app.tasks.submit(
            "chat", "mine", app.chat(_request(stalled, tmp_path / "b", QUESTION), emit=_ignore), scope=SCOPE
        )
        await asyncio.to_thread(stalled.wait_for_requests, 1)
        await app.stop.stop("user", scope=SCOPE)
        with pytest.raises(Stopped):
            await handle.result()
        assert (await other.result()).stop_reason == "completed"


async def _stop(
    app: Application,
    server: FakeLLMServer,
    project: Path,
    moment: str,
    rng: random.Random,
    seconds: list[float],
) -> list[ChatEvent]:
    events: list[ChatEvent] = []
    reached = asyncio.Event()

    def emit(event: ChatEvent) -> None:
        events.append(event)
        if _is_moment(moment, event):
            reached.set()

    turn = app.chat(_request(server, project, QUESTION), emit=emit)
    handle = app.tasks.submit("chat", "1", turn, scope=SCOPE)
    if moment == "silent":
        await asyncio.to_thread(server.wait_for_requests, 1)
    elif moment != "any":
        await asyncio.wait_for(reached.wait(), 20)
    # Not waited for anything: the stop shall come at a moment that nothing marks.
    await asyncio.sleep(rng.uniform(0, 1.0 if moment == "any" else 0.1))
    began = asyncio.get_running_loop().time()
    await app.stop.stop("user", scope=SCOPE)
    seconds.append(asyncio.get_running_loop().time() - began)
    assert app.stop.state(SCOPE) == "idle"
    assert app.tasks.handles == ()
    if moment != "any" or not _is_complete(events):
        with pytest.raises(Stopped):
            await handle.result()
        assert not events or isinstance(events[-1], TurnEnded)
        assert not events or events[-1].stop_reason == "stopped"
    return events


def _is_moment(moment: str, event: ChatEvent) -> bool:
    match moment:
        case "stream" | "stall":
            return isinstance(event, AnswerStreamed)
        case "retry":
            return type(event).__name__ == "RetryScheduled"
        case "tool":
            return isinstance(event, ToolStarted)
        case "simulation":
            return isinstance(event, ToolStarted) and event.name == "run_simulation"
        case _:
            return False


def _answer_until(moment: str, body: dict[str, Any]) -> Script:
    if "NEXT" in json.dumps(body["messages"][-1]):
        return answer("Nothing else.")
    match moment:
        case "stream":
            return replace(answer("A long answer that goes on and on. " * 20), piece_delay_s=0.01)
        case "stall":
            return answer("A beginning, then nothing", stall=True)
        case "silent":
            return replace(answer("x"), ending="silent")
        case "retry":
            return error(503, {"error": {"message": "overloaded"}})
        case "simulation" if answers_so_far(body) == 0:
            return answer("", calls=[call("run_simulation", {"file_path": "slow.cir"})])
        case _:
            return next_answer(body)


def _check_kept(project: Path, events: list[ChatEvent]) -> None:
    if not events:
        return
    lines = [json.loads(line) for line in _session(project).read_text().splitlines()]
    written = [line["message"] for line in lines if line["event"] == "message"]
    # An answer that was gone on with stands in place of the one it began as.
    replaced = {line["message_id"]: line["message"] for line in lines if line["event"] == "replaced"}
    messages = [replaced.get(message.get("id"), message) for message in written]
    shown = "".join(event.text for event in events if isinstance(event, AnswerStreamed))
    kept = "".join(message["content"] for message in messages if message["type"] == "assistant")
    assert kept.startswith(shown)  # a piece that had come, but not yet been shown, is kept as well
    calls = [one["id"] for message in messages for one in message.get("tool_calls") or ()]
    results = [message["tool_call_id"] for message in messages if message["type"] == "tool"]
    assert sorted(results) == sorted(calls)
    started = [event.call_id for event in events if isinstance(event, ToolStarted)]
    ended = [event.call_id for event in events if isinstance(event, ToolEnded)]
    assert sorted(ended) == sorted(started)
    assert set(started) <= set(calls)
    assert not list(project.glob(".*.tmp"))
    folders = list((project / ".circuit_ai" / "sim_results").glob("*"))
    assert all((folder / "result.json").is_file() for folder in folders)


def _is_complete(events: list[ChatEvent]) -> bool:
    return bool(events) and isinstance(events[-1], TurnEnded) and events[-1].stop_reason == "completed"


def _request(server: FakeLLMServer, project: Path, text: str, session_id: str = "") -> ChatRequest:
    choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
    return ChatRequest(project=project, text=text, session_id=session_id, choice=choice)


def _session(project: Path) -> Path:
    (session,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    return session


def _ignore(_event: ChatEvent) -> None:
    pass
