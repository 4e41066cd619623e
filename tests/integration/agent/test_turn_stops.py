"""Stopping at any moment: idle again, nothing left running, what was shown is kept, the next turn works."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from application.app import Application
from application.ports.events import (
    AnswerStreamed,
    ChatEvent,
    ErrorOccurred,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from bootstrap import build
from domain.llm.chat import ProviderChoice
from shared.errors import Stopped
from shared.message import msg
from tests.fakes.llm_server import FakeLLMServer, answer
from tests.ground.campaign import Campaign, campaigns
from tests.integration.agent.scripted_turn import QUESTION, next_answer
from tests.integration.agent.stopping import (
    MOMENTS,
    SCOPE,
    Stop,
    ask_on,
    peer_for,
    request,
    session_of,
    stop_at,
    times_of,
)


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = build()
    application.program.events.bind()
    yield application
    await application.close()


@pytest.mark.timeout(600)
@campaigns(fast=6, whole=200, parts=4)
async def test_stop_at_random_moments(campaign: Campaign, app: Application, tmp_path: Path) -> None:
    stops: list[Stop] = []
    for number, rng in enumerate(campaign.cases()):
        project = tmp_path / f"p{number}"
        moment = MOMENTS[number % len(MOMENTS)]
        with peer_for(moment) as peer:
            stop = await stop_at(app, peer, project, moment, rng, patience_s=0.1)
            stops.append(stop)
            assert stop.was_stopped or moment == "any"
            assert app.program.stop.state(SCOPE) == "idle"
            assert app.program.tasks.handles == ()
            if stop.was_stopped and stop.events:
                assert isinstance(stop.events[-1], TurnEnded)
                written = _written_end(project)
                assert stop.events[-1].stop_reason == ("stopped" if written == "user" else written)
            _check_kept(project, stop.events)
            assert await ask_on(app, peer, project) == "completed"
    for moment in MOMENTS:
        print(times_of([stop for stop in stops if stop.moment == moment]))


async def test_second_stop_is_harmless(app: Application, tmp_path: Path) -> None:
    with FakeLLMServer([answer("never ends", stall=True)]) as server:
        handle = app.program.tasks.submit(
            "chat",
            "1",
            app.conversations.chat(request(server.base_url, tmp_path, QUESTION), emit=_ignore),
            scope=SCOPE,
        )
        await asyncio.to_thread(server.wait_for_requests, 1)
        await asyncio.gather(*(app.program.stop.stop("user", scope=SCOPE) for _ in range(3)))
        with pytest.raises(Stopped):
            await handle.result()
    assert app.program.stop.state(SCOPE) == "idle"


@pytest.mark.parametrize("last", [AnswerStreamed, TurnEnded])
async def test_a_follower_who_leaves_stops_the_turn(
    last: type[ChatEvent], app: Application, tmp_path: Path
) -> None:
    told: list[ChatEvent] = []

    def follow(event: ChatEvent) -> None:
        told.append(event)
        if isinstance(event, last):
            raise Stopped(msg("Stopped."))

    with FakeLLMServer([answer("Hello")]) as server, pytest.raises(Stopped):
        await app.conversations.chat(request(server.base_url, tmp_path, QUESTION), emit=follow)
    assert _written_end(tmp_path) == ("user" if last is AnswerStreamed else "completed")
    assert not any(isinstance(event, ErrorOccurred) for event in told)


async def test_a_stop_behind_the_last_line_leaves_the_turn_completed(
    app: Application, tmp_path: Path
) -> None:
    """While the small model is asked for a title, the answer is whole and so written."""
    told: list[ChatEvent] = []
    with FakeLLMServer([answer("Hello")]) as server, FakeLLMServer([answer("A", stall=True)]) as titles:
        small = ProviderChoice(provider="openai-compatible", model="small", base_url=titles.base_url)
        app.conversations.chat.deps = replace(app.conversations.chat.deps, small_model=small)
        coming = app.conversations.chat(request(server.base_url, tmp_path, QUESTION), emit=told.append)
        handle = app.program.tasks.submit("chat", "1", coming, scope=SCOPE)
        await asyncio.to_thread(titles.wait_for_requests, 1)
        await app.program.stop.stop("user", scope=SCOPE)
        with pytest.raises(Stopped):
            await handle.result()
    assert [event.stop_reason for event in told if isinstance(event, TurnEnded)] == ["completed"]
    assert _written_end(tmp_path) == "completed"


async def test_stop_ends_its_own_conversation_only(app: Application, tmp_path: Path) -> None:
    with FakeLLMServer(next_answer) as server, FakeLLMServer([answer("...", stall=True)]) as stalled:
        other = app.program.tasks.submit(
            "chat",
            "other",
            app.conversations.chat(request(server.base_url, tmp_path / "a", QUESTION), emit=_ignore),
            scope="other",
        )
        handle = app.program.tasks.submit(
            "chat",
            "mine",
            app.conversations.chat(request(stalled.base_url, tmp_path / "b", QUESTION), emit=_ignore),
            scope=SCOPE,
        )
        await asyncio.to_thread(stalled.wait_for_requests, 1)
        await app.program.stop.stop("user", scope=SCOPE)
        with pytest.raises(Stopped):
            await handle.result()
        assert (await other.result()).stop_reason == "completed"


def _written_end(project: Path) -> str:
    """How the transcript says that its one turn ended; nothing of one stopped before its first line."""
    lines = [json.loads(line) for line in session_of(project).read_text().splitlines()]
    ends = [line["stop_reason"] for line in lines if (line["event"], line.get("state")) == ("turn", "ended")]
    assert len(ends) <= 1
    return str(ends[0]) if ends else "user"


def _check_kept(project: Path, events: list[ChatEvent]) -> None:
    if not events:
        return
    lines = [json.loads(line) for line in session_of(project).read_text().splitlines()]
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


def _ignore(_event: ChatEvent) -> None:
    pass
