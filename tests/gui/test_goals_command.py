"""`/goals`: the goals of the circuit in front with their last figures, and changed in words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from application.conversation.goals_shown import GoalsNow
from application.simulation.simulating import SimulationRequest
from domain.simulation.goals import DesignGoal
from presentation.panels.conversation.items import UserText
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.editor.newest_point import NewestPoint
from presentation.session_export import export_text
from presentation.ui.workspace import WindowServices
from tests.fakes.llm_server import FakeLLMServer, answer
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import NoWebView, of, shown, type_and_send, use

CORNER = DesignGoal(
    metric="cutoff", expression="bandwidth(v(out))", unit="Hz", minimum=1.5e3, maximum=1.7e3, target=1.6e3
)
PEAK = DesignGoal(metric="peaking", expression="max(db(v(out)))", unit="dB", maximum=0.5)


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[ConversationPanel]:
    workspace, browse = services.workspace, services.app.project.browse
    await browse.open(project)
    workspace.root = project
    workspace.front_circuit = project / "filter.cir"
    workspace.newest = NewestPoint(
        services, services.app.project, services.app.simulation, lambda _path: None
    )
    made = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    made.resize(440, 800)
    made.show()
    yield made
    made.close_panel()
    await until(lambda: not services.app.program.tasks.handles)


def newest(panel: ConversationPanel) -> GoalsNow | None:
    cards = of(panel, GoalsNow)
    return cards[-1] if cards else None


async def test_goals_are_shown_with_their_figures_changed_in_words_and_put_back(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    browse, circuit = services.app.project.browse, project / "filter.cir"
    edit = panel.composer.edit
    panel.activateWindow()
    edit.setFocus()
    await until(edit.hasFocus)
    QTest.keyClicks(edit, "/goa")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    await until(lambda: newest(panel))
    assert "This circuit has no goals yet." in shown(panel)
    assert panel.composer.text == ""
    await browse.ask_of(project, circuit, (CORNER, PEAK))
    type_and_send(panel, "/goals")
    await until(lambda: len(of(panel, GoalsNow)) == 2)
    assert "are not measured" in shown(panel)
    panel.view.acted.emit("goals_turn", newest(panel).key, "")  # it changed nothing
    runs: list[Path] = []
    services.workspace.circuit_run_requested.connect(runs.append)
    panel.view.acted.emit("run_again", newest(panel).key, "")
    assert runs == [circuit]
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.run_finished.emit(result)
    await until(lambda: newest(panel).run)  # the card that stands there follows the run
    card = newest(panel)
    assert len(of(panel, GoalsNow)) == 2
    assert [verdict.met for verdict in card.verdicts] == [True, True]
    assert (card.run, card.is_older) == (1, False)
    assert "2 of 2 goals met" in shown(panel)
    assert "1.59" in shown(panel)
    # in words, as everywhere else goals are read
    changed: list[Path] = []
    services.workspace.goals_changed.connect(changed.append)
    type_and_send(panel, "/goals cutoff to 12 kHz")
    await until(lambda: len(of(panel, GoalsNow)) == 3)
    now = await browse.goals(project, circuit)
    assert (now[0].target, now[1]) == (12e3, PEAK)
    card = newest(panel)
    assert [verdict.met for verdict in card.verdicts] == [False, True]
    assert card.before == (CORNER, PEAK)
    assert "1.6 kHz ±6.25 %  →  12 kHz ±6.25 %" in shown(panel).replace("\u00a0", " ")
    panel.view.acted.emit("goals_turn", card.key, "")
    await until(lambda: newest(panel).is_undone)
    assert await browse.goals(project, circuit) == (CORNER, PEAK)
    panel.view.acted.emit("goals_turn", card.key, "")
    await until(lambda: not newest(panel).is_undone)
    assert await browse.goals(project, circuit) == now
    assert changed == [circuit] * 3
    await browse.ask_of(project, circuit, (PEAK,))  # somebody else has changed them since
    panel.view.acted.emit("goals_turn", card.key, "")
    await until(lambda: panel.notice.startswith("The goals of filter.cir have changed since"))
    assert await browse.goals(project, circuit) == (PEAK,)
    circuit.write_text(circuit.read_text().replace("100n", "10n"))
    type_and_send(panel, "/goals")
    await until(lambda: len(of(panel, GoalsNow)) == 4)
    assert "The circuit has changed since run 1." in shown(panel)
    assert not of(panel, UserText), "nothing of it is a message"
    # Kept as it stands: also where nothing was said yet, as the rows of others, and in what is exported.
    cards, session = of(panel, GoalsNow), panel.session_id
    assert session
    with FakeLLMServer([answer("It is a low-pass.")]) as server:
        use(panel, server)
        type_and_send(panel, "what is it?")
        type_and_send(panel, "/goals")  # while the answer comes
        await until(lambda: not panel.is_running and len(of(panel, GoalsNow)) == 5)
    await until(lambda: not services.app.program.tasks.handles)
    again = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    again.show()
    again.open_session(session)
    await until(lambda: len(of(again, GoalsNow)) == 5)
    assert [replace(card, after="", row="") for card in of(again, GoalsNow)[:4]] == cards
    order = [type(item).__name__ for item in again.model.items]
    assert order == [type(item).__name__ for item in panel.model.items]
    again.close_panel()
    sessions = services.app.conversations.sessions
    text = export_text(await sessions.show(project, session), "md", services.language)
    assert "Goals of filter.cir by run 1: 1 of 1 goal met; peaking" in text
    branch = await sessions.branch(project, session, name="b")
    assert len((await sessions.show(project, branch)).goals) == 5


async def test_a_circuit_without_goals_gets_those_that_a_sentence_states(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    browse, circuit = services.app.project.browse, project / "filter.cir"

    async def asked(text: str, count: int) -> tuple[DesignGoal, ...]:
        type_and_send(panel, f"/goals {text}")
        await until(lambda: len(of(panel, GoalsNow)) == count)
        return await browse.goals(project, circuit)

    (corner,) = await asked("cutoff 10 kHz ±2 %", 1)
    assert (corner.minimum, corner.maximum) == (9.8e3, 10.2e3)
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.run_finished.emit(result)
    await until(lambda: newest(panel).run)
    assert not newest(panel).verdicts[0].met
    assert "1.59" in shown(panel)
    panel.view.acted.emit("goals_turn", newest(panel).key, "")
    await until(lambda: newest(panel).is_undone)
    assert await browse.goals(project, circuit) == ()
    both = await asked("截止频率在 1.5 kHz 到 1.7 kHz 之间，10 Hz 处增益高于 -1 dB", 2)
    assert [goal.unit for goal in both] == ["Hz", "dB"]
    assert (both[0].minimum, both[0].maximum, both[1].minimum) == (1.5e3, 1.7e3, -1.0)
    # A further one beside them; what is there is changed, and nothing is done by halves.
    before = await asked("gain at 100 kHz below -30 dB", 3)
    assert (before[:2], before[2].maximum) == (both, -30.0)
    assert len({goal.metric for goal in before}) == 3
    type_and_send(panel, "/goals phase at 1 kHz above -40 deg and a nicer look above 3 roses")
    await until(lambda: panel.notice.startswith("Not read as goals: a nicer look"))
    assert await browse.goals(project, circuit) == before


async def test_goals_that_the_rules_do_not_read_are_asked_of_the_model(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    type_and_send(panel, "/goals make it nicer")
    await until(lambda: panel.notice.startswith("“make it nicer” is not understood"))
    assert not of(panel, UserText)
    with FakeLLMServer([answer("What is nicer?")]) as server:
        use(panel, server)
        type_and_send(panel, "/goals overshoot below 5 %")
        await until(lambda: of(panel, UserText) and not panel.is_running)
    (said,) = of(panel, UserText)
    assert said.text == "Change the goals of @filter.cir: overshoot below 5 %"
    services.workspace.front_circuit = None
    type_and_send(panel, "/goals")
    assert panel.notice.startswith("Open a circuit of the project first")
