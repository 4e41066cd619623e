"""The network is cut under a turn in the panel: all else works on, and Continue completes the answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from application.simulation.simulating import SimulationRequest
from domain.llm.chat import ProviderChoice
from presentation.panels.conversation.items import (
    AnswerText,
    ErrorBlock,
    Interrupted,
    OperationCard,
    UserText,
)
from presentation.panels.conversation.panel import ConversationPanel
from presentation.ui.workspace import WindowServices
from tests.fakes.cut_network import CutNetwork
from tests.fakes.llm_server import FakeLLMServer, Script, answer, call
from tests.gui.conftest import Until

# No two sentences alike: what an answer says again where it goes on is dropped. No figure with a unit: one
# that stands in no result would be asked about.
TEXT = "".join(f"Part {n} of the story names step {n * n}. " for n in range(1, 41))
LONG_TRANSIENT = "RC, a while\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 1u 300m\n.end\n"


class NoWebView:
    """As where WebEngine can't be had."""

    async def works(self) -> bool:
        return False


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    services.workspace.root = project
    services.workspace.main_circuit = project / "filter.cir"
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.show()
    yield made
    made.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


def next_answer(body: dict[str, Any]) -> Script:
    last = body["messages"][-1]
    if "was cut off at its end" in str(last["content"]):
        return answer(TEXT[len(str(body["messages"][-2]["content"])) :])
    if last["role"] == "tool":
        return replace(answer(TEXT), piece_delay_s=0.01)
    return answer("", calls=[call("rewrite_file", {"path": "notes.md", "content": "fc = 1.59 kHz\n"})])


def of(panel: ConversationPanel, kind: type) -> list[Any]:
    return [item for item in panel.model.items if isinstance(item, kind)]


async def test_a_cut_network_leaves_the_window_usable_and_continue_completes(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    await asyncio.to_thread((project / "long.cir").write_text, LONG_TRANSIENT)
    with FakeLLMServer(next_answer) as server, CutNetwork(server.port) as network:
        panel.model.set_choice(
            ProviderChoice(provider="openai-compatible", model="m", base_url=network.base_url)
        )
        panel.composer.set_text("explain the filter")
        QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)
        await until(lambda: of(panel, OperationCard))
        run = services.app.simulation.run(SimulationRequest(circuit=project / "long.cir"))
        simulation = services.app.program.tasks.submit("simulation", "1", run, scope="run")
        await until(lambda: of(panel, AnswerText))
        network.cut("reset")
        assert not simulation.has_ended
        edited = await services.app.conversations.run_tool(
            "rewrite_file", {"path": "b.md", "content": "b\n"}, project=project
        )
        assert edited.success
        await until(lambda: not panel.is_running)
        (failed,) = of(panel, ErrorBlock)
        assert failed.error_type == "connection_lost"
        assert failed.advice is not None
        (mark,) = of(panel, Interrupted)
        assert (mark.reason, mark.can_continue) == ("error", True)
        assert (await simulation.result()).ok

        network.mend()
        panel.view.acted.emit("go_on", mark.key, "")
        await until(lambda: not panel.is_running)
        told = server.requests[-1]["messages"]
    assert [message["role"] for message in told].count("tool") == 1
    assert [answer.text for answer in of(panel, AnswerText)] == [TEXT]  # in its own place, without a seam
    assert len(of(panel, OperationCard)) == len(of(panel, UserText)) == 1
    assert of(panel, ErrorBlock)[0].is_spent
    assert not of(panel, Interrupted)
    assert (project / "notes.md").read_text() == "fc = 1.59 kHz\n"
