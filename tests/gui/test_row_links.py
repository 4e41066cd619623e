"""Names of the project in answers: clicked by mouse or keys they lead to the line, the curve, the figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from application.simulation.simulating import SimulationRequest
from domain.design.catalogue import FAMILIES
from domain.llm.chat import ProviderChoice
from domain.simulation.goals import DesignGoal
from presentation.panels.conversation.items import AnswerText, Designable
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.run_views import MEASUREMENTS, WAVEFORMS
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from tests.fakes.llm_server import FakeLLMServer, answer
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import of, panel, type_and_send
from tests.gui.test_plain_view import browser, follow, links

__all__ = ["panel"]

TEXT = (
    "In filter.cir:3 R1 loads `out`: v(out) and i(V1), not v(nowhere) or other.cir:3; see corner_frequency."
)


async def test_names_in_an_answer_lead_to_line_curve_and_figure(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    (project / ".circuit_ai").mkdir()
    circuit = project / "filter.cir"
    goal = DesignGoal(metric="corner_frequency", expression="bandwidth(v(out))", unit="Hz", minimum=1e3)
    await services.app.project.browse.ask_of(project, circuit, (goal,))  # type: ignore[attr-defined]
    services.workspace.goals_changed.emit(circuit)
    bottom = Parts(services, services.app).bottom  # type: ignore[attr-defined]
    opened: list[tuple[Any, ...]] = []
    services.workspace.file_activated.connect(lambda *what: opened.append(what))
    with FakeLLMServer([answer(TEXT)]) as server:
        choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
        panel.model.set_choice(choice)
        type_and_send(panel, "Where?")
        await until(lambda: bool(of(panel, AnswerText)) and not panel.is_running)
    key = of(panel, AnswerText)[0].key
    view = panel.view
    assert isinstance(view, PlainConversation)
    wanted = {
        f"open/{key}/filter.cir:3",
        f"trace/{key}/v(out)",
        f"trace/{key}/i(v1)",
        f"measure/{key}/corner_frequency",
    }
    await until(lambda: wanted <= links(view))  # the row is drawn again when a goal has given a name
    named = {path for path in links(view) if path.split("/")[0] in ("open", "trace", "measure")}
    assert named == wanted

    follow(view, f"open/{key}/filter.cir:3")
    assert opened == [(circuit, 3)]
    panel._acts("open", key, "../elsewhere.cir:1")
    assert len(opened) == 1
    follow(view, f"trace/{key}/v(out)")
    await until(lambda: "filter.cir" in panel.notice)  # nothing was run yet
    assert "no result" in panel.notice

    await services.app.simulation.run(SimulationRequest(circuit=circuit))  # type: ignore[attr-defined]
    # By keys: Tab leads from link to link, Enter follows the one it is on.
    surface = browser(view)
    surface.setFocus()
    for _ in range(12):
        QTest.keyClick(surface, Qt.Key.Key_Tab)
        if surface.textCursor().selectedText() == "i(V1)":
            break
    assert surface.textCursor().selectedText() == "i(V1)"
    QTest.keyClick(surface, Qt.Key.Key_Return)
    waveforms = bottom.views.waveforms
    await until(lambda: [trace.expression for trace in waveforms.traces] == ["v(out)", "i(v1)"])
    assert bottom.shown_tab == WAVEFORMS
    assert panel.notice == ""
    follow(view, f"measure/{key}/corner_frequency")
    await until(lambda: bottom.shown_tab == MEASUREMENTS and bottom.views.measurements.table.selected_rows())
    row = bottom.views.measurements.table.selected_rows()[0]
    assert bottom.views.shown.measurements[row].goal is not None
    follow(view, f"trace/{key}/v(out)")
    await until(lambda: bottom.shown_tab == WAVEFORMS and waveforms.selected == "v(out)")
    await until(lambda: not services.app.program.tasks.handles)  # type: ignore[attr-defined]


async def test_a_refusal_is_a_sentence_with_two_ways_on(panel: ConversationPanel, until: Until) -> None:
    type_and_send(panel, "Please sing me a song")
    await until(lambda: bool(of(panel, AnswerText)) and not panel.is_running)
    view, key = panel.view, of(panel, AnswerText)[0].key
    assert isinstance(view, PlainConversation)
    await until(lambda: f"designable/{key}/" in links(view))
    assert "I do not understand that." in view.text
    assert "providers" not in view.text  # the buttons say it
    assert f"model/{key}/" in links(view)
    follow(view, f"designable/{key}/")
    await until(lambda: bool(of(panel, Designable)))
    (row,) = of(panel, Designable)
    assert len(row.sentences) == len(FAMILIES)
    sentence = FAMILIES["first_order"].examples["en"]
    wanted = f"ask/{row.key}/{sentence}"
    await until(lambda: wanted in links(view))
    follow(view, wanted)
    assert panel.composer.text == sentence
