"""The network is cut while a model works and ngspice runs: all else goes on, and "continue" completes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NoReturn

import pytest

from application.app import Application
from application.conversation.turn_deps import ChatRequest
from application.ports.events import AnswerStreamed, ChatEvent, ToolStarted
from application.simulation.simulating import SimulationRequest
from bootstrap import build
from domain.llm.chat import ProviderChoice, ProviderError
from domain.llm.provider_settings import ModelSettings, ProviderSettings
from domain.simulation.result import SimulationResult
from infrastructure.llm_adapters.timing import RetryPolicy
from shared.errors import Stopped
from shared.tasks import TaskHandle
from tests.fakes.cut_network import Cut, CutNetwork
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.integration.agent.in_process import messages_of
from tests.integration.agent.stopping import session_of

PROVIDER = "openai-compatible"
SCOPE = "tab"
TEXT = "The corner is at 1.59 kHz, because R1 and C1 make a first-order low-pass. " * 8
REST = "That is all."
LONG_TRANSIENT = "RC, a while\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 300m\n.end\n"


@pytest.fixture
async def app() -> AsyncIterator[Application]:
    application = build()
    application.program.events.bind()
    # Silence is given up after a second in place of a minute.
    impatient = ModelSettings(providers={PROVIDER: ProviderSettings(silence_s=1.0, first_piece_s=1.0)})
    await asyncio.to_thread(application.models.settings.change, lambda _: impatient)
    yield application
    await application.close()


def next_answer(body: dict[str, Any]) -> Script:
    """First the notes are written, then explained, slowly; asked to go on it only says the rest."""
    if "continue" in str(body["messages"][-1]["content"]):
        return answer(REST)
    if body["messages"][-1]["role"] == "tool":
        return replace(answer(TEXT), piece_delay_s=0.01)
    return answer(
        "Notes first. ", calls=[call("rewrite_file", {"path": "notes.md", "content": "fc = 1.59 kHz\n"})]
    )


@pytest.mark.parametrize(
    ("kind", "moment", "error_type"),
    [
        ("reset", "streaming", "connection_lost"),
        ("silence", "streaming", "timeout"),
        ("no name", "tool", "unreachable"),
        pytest.param("refuse", "tool", "unreachable", marks=pytest.mark.torture),
        ("silence", "stopped", ""),
    ],
)
async def test_all_else_goes_on_and_the_answer_is_completed_later(
    kind: Cut | Literal["no name"],
    moment: str,
    error_type: str,
    app: Application,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(RetryPolicy, "pause_s", lambda _self, attempt, _error: None if attempt > 2 else 0.01)
    project = tmp_path / "p"
    await asyncio.to_thread(_make_project, project)
    events: list[ChatEvent] = []
    simulations: list[TaskHandle[SimulationResult]] = []
    cut = asyncio.Event()
    names = pytest.MonkeyPatch()

    with FakeLLMServer(next_answer) as server, CutNetwork(server.port) as network:

        def emit(event: ChatEvent) -> None:
            events.append(event)
            if isinstance(event, ToolStarted):
                run = app.simulation.run(SimulationRequest(circuit=project / "long.cir"))
                simulations.append(app.program.tasks.submit("simulation", "1", run, scope="run"))
            is_moment = isinstance(event, ToolStarted if moment == "tool" else AnswerStreamed)
            if is_moment and simulations and not cut.is_set():
                if kind == "no name":
                    names.setattr(socket, "getaddrinfo", _no_name)
                network.cut("reset" if kind == "no name" else kind)
                cut.set()

        turn = app.conversations.chat(_request(network, project, "Explain the filter."), emit=emit)
        handle = app.program.tasks.submit("chat", "1", turn, scope=SCOPE)
        await cut.wait()
        (simulation,) = simulations
        assert not simulation.has_ended
        # Meanwhile: a file is written, what runs runs on, a stop is heard.
        written = await app.conversations.run_tool(
            "rewrite_file", {"path": "b.md", "content": "mine\n"}, project=project
        )
        assert written.success, written.content
        if moment == "stopped":
            await app.program.stop.stop("user", scope=SCOPE)
            assert app.program.stop.state(SCOPE) == "idle"
            with pytest.raises(Stopped):
                await handle.result()
        else:
            with pytest.raises(ProviderError) as caught:
                await handle.result()
            assert caught.value.error_type == error_type
            assert caught.value.advice is not None
        assert (await simulation.result()).ok
        shown = "".join(event.text for event in events if isinstance(event, AnswerStreamed))
        kept = [message for message in messages_of(project) if message["type"] == "assistant"]
        assert "".join(message["content"] for message in kept).startswith(shown)

        names.undo()
        network.mend()
        before = len(server.requests)
        # By a message in the conversation, or as `chat --resume` says it.
        again = _request(network, project, "continue", session_of(project).stem)
        if moment == "tool":
            again = replace(again, text=None, session_id="", go_on="continue")
        ended = await app.conversations.chat(again, emit=events.append)
        assert ended.stop_reason == "completed"
        assert len(server.requests) == before + 1
        told = server.requests[-1]["messages"]
    # The model is told what had come of its answer, and that its call was carried out.
    assert [message["role"] for message in told if message["role"] == "tool"] == ["tool"]
    if moment != "tool":
        partial = next(message["content"] for message in reversed(told) if message["role"] == "assistant")
        assert partial.startswith(TEXT[:5])
        assert "interrupted here" in partial
    assert messages_of(project)[-1]["content"] == REST
    assert [event.name for event in events if isinstance(event, ToolStarted)] == ["rewrite_file"]
    assert (project / "notes.md").read_text() == "fc = 1.59 kHz\n"
    assert (project / "b.md").read_text() == "mine\n"


def _make_project(folder: Path) -> None:
    folder.mkdir()
    (folder / "long.cir").write_text(LONG_TRANSIENT)


def _no_name(*_: object, **__: object) -> NoReturn:
    """What getaddrinfo(3) says while no name server can be reached."""
    raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")


def _request(network: CutNetwork, project: Path, text: str, session_id: str = "") -> ChatRequest:
    choice = ProviderChoice(
        provider=PROVIDER, model="m", base_url=network.base_url.replace("127.0.0.1", "localhost")
    )
    return ChatRequest(project=project, text=text, session_id=session_id, choice=choice)
