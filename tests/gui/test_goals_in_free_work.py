"""Goals that a model sets in a conversation: on their card, in every run, and taken back with a click."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from presentation.panels.conversation.items import OperationCard
from presentation.panels.conversation.panel import ConversationPanel
from presentation.ui.workspace import WindowServices
from tests.fakes.llm_server import FakeLLMServer, answer, call
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import NoWebView, of, shown, type_and_send, use

GOAL = {
    "metric": "cutoff",
    "expression": "bandwidth(v(out))",
    "target": "1.6 kHz",
    "tolerance": 0.02,
    "words": "corner at 1.6 kHz",
}


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    services.workspace.root = project
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 800)
    made.show()
    yield made
    made.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


async def test_goals_of_a_conversation_are_told_everywhere_and_undone_on_their_card(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    changed: list[Path] = []
    services.workspace.goals_changed.connect(changed.append)
    steps = [
        answer("", calls=[call("set_goals", {"goals": [GOAL]})]),
        answer("", calls=[call("run_simulation", {}, "call_2")]),
        answer("", calls=[call("check_goals", {}, "call_3")]),
        answer("The corner is right."),
    ]
    with FakeLLMServer(steps) as server:
        use(panel, server)
        type_and_send(panel, "The corner has to be at 1.6 kHz.")
        await until(lambda: not panel.is_running and "The corner is right." in shown(panel), timeout_s=40)
        told = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert "Goals (1 of 1 met): met cutoff = 1.59" in told[1]
    assert "(1.568 kHz … 1.632 kHz, aim 1.6 kHz)" in told[1]
    assert "| cutoff | bandwidth(v(out)) |" in told[2]
    circuit = project / "filter.cir"
    await until(lambda: changed == [circuit])
    card = next(item for item in of(panel, OperationCard) if item.tool == "set_goals")
    await until(lambda: panel.model.items.get(card.key).standing == "stands")
    assert panel.model.items.get(card.key).path == "filter.cir"
    words = " ".join(shown(panel).split())
    assert "Set the goals filter.cir +" in words
    assert "Simulated filter.cir: ac. 1 of 1 goal met." in words
    browse = services.app.project.browse
    assert [goal.metric for goal in await browse.goals(project, circuit)] == ["cutoff"]
    panel.view.acted.emit("undo", card.key, "")
    await until(lambda: panel.model.items.get(card.key).standing == "undone")
    assert changed == [circuit, circuit]
    assert await browse.goals(project, circuit) == ()
    panel.view.acted.emit("undo", card.key, "")
    await until(lambda: panel.model.items.get(card.key).standing == "stands")
    session = panel.model.session_id
    panel.model.new_conversation()
    panel.open_session(session)
    await until(lambda: any(item.tool == "set_goals" for item in of(panel, OperationCard)))
    again = next(item for item in of(panel, OperationCard) if item.tool == "set_goals")
    assert (again.path, again.standing) == ("filter.cir", "stands")
