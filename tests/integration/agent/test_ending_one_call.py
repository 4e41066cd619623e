"""What of a turn the user ends by itself: a tool call, a pause before another attempt. The turn goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from application.app import Application
from application.ports.events import (
    ChatEvent,
    RetryScheduled,
    SessionOpened,
    SimulationProgressed,
    StudyProgressed,
    ToolEnded,
    ToolStarted,
    WaitsForPlace,
)
from bootstrap import build
from domain.llm.chat import ProviderError
from shared.paths import result_folder
from tests.fakes.llm_server import FakeLLMServer, answer, call, error
from tests.integration.agent.stopping import request

SLOW = "slow\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 100\n.end\n"
RC = "rc\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 1u\n.ac dec 10 1 100k\n.end\n"
STUDY = {
    "kind": "monte_carlo",
    "path": "rc.cir",
    "parameters": [{"name": "R1", "tolerance": "5%"}],
    "measure": {"bw": "bandwidth(v(out))"},
    "runs": 5_000,
}


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = build()
    application.program.events.bind()
    yield application
    await application.close()


async def test_a_call_ends_and_the_model_is_told(app: Application, tmp_path: Path) -> None:
    """A study keeps what was done, a simulation leaves nothing; the model is told, the turn goes on."""
    (tmp_path / "rc.cir").write_text(RC)
    (tmp_path / "slow.cir").write_text(SLOW)
    running = app.conversations.chat.deps.running
    events: list[ChatEvent] = []
    started: list[str] = []

    def on_event(event: ChatEvent) -> None:
        events.append(event)
        if isinstance(event, ToolStarted):
            assert event.can_be_ended is (event.name != "read_file")
            started.append(event.call_id)

    def on_progress(event: StudyProgressed | SimulationProgressed) -> None:
        is_far = isinstance(event, SimulationProgressed) or event.done
        if event.key in started and is_far:
            running.end(event.key)

    ends = [
        app.program.events.subscribe(kind, on_progress) for kind in (StudyProgressed, SimulationProgressed)
    ]
    script = [
        answer("", calls=[call("run_study", STUDY)]),
        answer(
            "", calls=[call("run_simulation", {"path": "slow.cir"}), call("read_file", {"path": "rc.cir"})]
        ),
        answer("Then not."),
    ]
    with FakeLLMServer(script) as server:
        done = await app.conversations.chat(request(server.base_url, tmp_path, "go"), emit=on_event)
        told = [str(message["content"]) for message in server.completions[-1].body["messages"]]
    for end in ends:
        end()
    assert done.stop_reason == "completed"
    ended = [event for event in events if isinstance(event, ToolEnded)]
    assert [(each.name, each.success, each.error_type) for each in ended] == [
        ("run_study", True, ""),
        ("run_simulation", False, "stopped"),
        ("read_file", True, ""),
    ]
    assert any("The user stopped this call. What was done by then is kept" in text for text in told)
    assert any("stopped by the user before it finished" in text for text in told)
    folder = result_folder(tmp_path, ended[0].call_id)
    kept = [path for path in folder.parent.iterdir() if path.is_dir()]
    assert kept == [folder]
    assert not running.end(ended[0].call_id)


async def test_a_pause_is_given_up_and_one_waits_for_its_turn(app: Application, tmp_path: Path) -> None:
    """Three requests are under way at a provider: the fourth says so. A pause before a retry is ended."""
    busy = error(429, "slow down", headers={"Retry-After": "50"})
    sessions: list[str] = []
    waits: list[WaitsForPlace] = []
    running = app.conversations.chat.deps.running

    def on_event(event: ChatEvent) -> None:
        if isinstance(event, SessionOpened):
            sessions.append(event.session_id)
        elif isinstance(event, WaitsForPlace):
            waits.append(event)

    with FakeLLMServer(lambda body: busy if "busy" in str(body) else answer("Half", stall=True)) as server:
        others = [
            asyncio.create_task(
                app.conversations.chat(request(server.base_url, tmp_path, "long"), emit=on_event)
            )
            for _ in range(3)
        ]
        await asyncio.to_thread(server.wait_for_requests, 3)
        paused = asyncio.Event()

        def on_last(event: ChatEvent) -> None:
            on_event(event)
            if isinstance(event, WaitsForPlace):
                others[0].cancel()
            elif isinstance(event, RetryScheduled):
                asyncio.get_running_loop().call_soon(paused.set)

        last = asyncio.create_task(
            app.conversations.chat(request(server.base_url, tmp_path, "busy"), emit=on_last)
        )
        await paused.wait()
        assert [each.running for each in waits] == [3]
        assert not running.end(sessions[1])  # an answer that streams is no pause
        assert running.end(sessions[-1])
        with pytest.raises(ProviderError) as caught:
            await last
        assert (caught.value.kind, len(server.completions)) == ("rate_limited", 4)
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
