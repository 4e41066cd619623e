"""A design in the whole window: what it makes is shown where it belongs, and nobody is interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QDialog

from domain.simulation.result import SimulationResult
from presentation.dialogs.goals import GoalsDialog
from presentation.panels.bottom_pane import BottomPane
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import (
    Decision,
    DesignEnd,
    ErrorBlock,
    Interrupted,
    Note,
    OperationCard,
    SimulationCard,
    UserText,
)
from presentation.panels.conversation.panel import ConversationPanel
from presentation.panels.editor.editor_area import EditorArea
from presentation.ui.workspace import WindowServices
from presentation.window.main_window import MainWindow
from shared.errors import Stopped
from tests.gui.conftest import Until
from tests.gui.whole_window import NoWebView, end_window, open_window, without_web_view

SENTENCE = "Design an RC low-pass filter with a cutoff of 10 kHz"


@pytest.fixture
async def window(
    services: WindowServices, project: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MainWindow]:
    """The program's window on a project with one circuit."""
    without_web_view(monkeypatch)
    made = await open_window(services, until, project)
    yield made
    await end_window(made, services, until)


def panel_of(window: MainWindow) -> ConversationPanel:
    return window.parts.conversation


def open_dialogs() -> list[QDialog]:
    found = QApplication.topLevelWidgets()
    return [widget for widget in found if isinstance(widget, QDialog) and widget.isVisible()]


async def design(window: MainWindow, until: Until) -> Decision:
    """Ask for a filter, confirm the goals, and wait for the checkpoint."""
    panel = panel_of(window)
    panel.toggle_mode()
    panel.composer.set_text(SENTENCE)
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)
    await until(open_dialogs, timeout_s=30)
    (goals,) = open_dialogs()
    assert isinstance(goals, GoalsDialog)
    panel.composer.edit.setFocus()
    goals.start_button.click()
    await until(lambda: panel.model.is_asking, timeout_s=30)
    return next(item for item in panel.model.items if isinstance(item, Decision))


def told(window: MainWindow) -> list[str]:
    """The rows as the page has them, without how long each took and when it was said."""
    html = HtmlItems(str)
    rows = [replace(item, key="", **UNTIMED.get(type(item), {})) for item in panel_of(window).model.items]
    return [html(row) for row in rows if not isinstance(row, Note)]


UNTIMED: dict[type, dict[str, Any]] = {
    UserText: {"created": ""},
    Interrupted: {"created": ""},
    ErrorBlock: {"created": ""},
    OperationCard: {"duration_s": None},
}


async def read_again_as_shown(window: MainWindow, until: Until) -> None:
    """A conversation that is opened again has the rows it had, and none of them waits for a click."""
    panel = panel_of(window)
    before, session = told(window), panel.session_id
    panel.model.new_conversation()
    assert not len(panel.model.items)
    panel.open_session(session)
    await until(lambda: panel.session_id == session and len(panel.model.items) > 0)
    assert told(window) == before
    assert not any(isinstance(item, Decision) and item.state == "open" for item in panel.model.items)


async def test_what_a_design_makes_is_shown_and_its_circuit_is_the_main_one_once_accepted(
    window: MainWindow, services: WindowServices, project: Path, until: Until
) -> None:
    workspace, panel = services.workspace, panel_of(window)
    judged_anew: list[Path] = []
    workspace.goals_changed.connect(judged_anew.append)
    decision = await design(window, until)
    editor, bottom = window.parts.editor, window.parts.bottom
    assert isinstance(editor, EditorArea)
    assert isinstance(bottom, BottomPane)
    await until(lambda: len(editor.open_files()) == 2)
    made = next(path for path in editor.open_files() if path.name != "filter.cir")
    await until(lambda: workspace.shown_file == made)
    assert judged_anew == [made], "the status bar counts goals that a design has stored"
    await until(lambda: bottom.views.shown.loaded is not None)
    (card,) = (item for item in panel.model.items if isinstance(item, SimulationCard))
    assert bottom.views.shown.error is None
    assert bottom.views.shown.loaded.figures.circuit == made
    await until(lambda: window.parts.results.view.currentIndex().row() == 0)
    await until(lambda: len(bottom.views.iterations.rounds) == 1)
    assert not open_dialogs()
    assert workspace.main_circuit == project / "filter.cir"
    assert window.header.run_group.choice.text() == "All: ac"

    shown: list[Path] = []
    workspace.result_selected.connect(shown.append)
    panel.view.acted.emit("plot", card.key, "")  # the card's own way to the same result
    assert shown == [bottom.views.shown.loaded.source]
    panel.view.acted.emit("answer", decision.key, "accept")
    await until(lambda: not panel.is_running, timeout_s=30)
    assert judged_anew == [made, made]
    assert workspace.main_circuit == made
    assert window.desk.memory().main_circuit == made.name
    await read_again_as_shown(window, until)
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_design_does_not_take_the_tab_from_somebody_who_writes(
    window: MainWindow, services: WindowServices, project: Path, until: Until
) -> None:
    editor = window.parts.editor
    assert isinstance(editor, EditorArea)
    await until(lambda: editor.current_editor() is not None)
    written = editor.current_editor()
    assert written is not None
    window.activateWindow()
    written.setFocus()
    await until(written.hasFocus)
    made = project / "made.cir"
    made.write_text("* made\nV1 a 0 1\nR1 a 0 1k\n.op\n.end\n", encoding="utf-8")
    services.workspace.file_offered.emit(made)
    await until(lambda: made in editor.open_files())
    assert (services.workspace.shown_file, written.hasFocus()) == (project / "filter.cir", True)
    panel_of(window).composer.edit.setFocus()
    services.workspace.file_offered.emit(made)
    await until(lambda: services.workspace.shown_file == made)
    assert panel_of(window).composer.edit.hasFocus()
    await until(lambda: not services.app.program.tasks.handles)


SLOW = "* slow\nV1 in 0 SIN(0 1 1k)\nR1 in out 1k\nC1 out 0 1n\n.tran 10n 20\n.end\n"


async def test_escape_in_the_input_ends_a_simulation_when_no_conversation_is_at_work(
    window: MainWindow, services: WindowServices, project: Path, until: Until
) -> None:
    (project / "filter.cir").write_text(SLOW, encoding="utf-8")
    finished: list[object] = []
    services.workspace.run_finished.connect(finished.append)
    services.workspace.run_requested.emit()
    await until(lambda: window.header.run_group.is_running)
    edit = panel_of(window).composer.edit
    window.activateWindow()
    edit.setFocus()
    await until(edit.hasFocus)
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    await until(lambda: finished)
    (ended,) = finished
    # On a busy machine it may have had data before it was stopped: these are kept, marked partial.
    assert isinstance(ended, Stopped | SimulationResult)
    assert isinstance(ended, Stopped) or ended.run.status == "cancelled"
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_design_stopped_at_its_checkpoint_is_read_again_with_its_cards_and_goes_on(
    window: MainWindow, services: WindowServices, until: Until
) -> None:
    panel = panel_of(window)
    first = await design(window, until)
    panel.composer.set_text("half a thought")
    panel.view.acted.emit("stop", first.key, "")
    await until(lambda: not panel.is_running)
    assert panel.composer.text == "half a thought"
    await read_again_as_shown(window, until)
    rows = [type(item).__name__ for item in panel.model.items]
    assert rows[1:5] == ["GoalsCard", "OperationCard", "AnswerText", "SimulationCard"]
    asked = panel.model.items.last()
    assert isinstance(asked, Decision)
    assert asked.state == "waits"
    # Its tab says so, also after a start at which another is in front.
    panel.new_conversation()
    panel.composer.set_text("another")
    assert [look.state for look in panel.tab_row.looks] == ["waiting", "idle"]
    again = ConversationPanel(services, services.app, probe=NoWebView())  # type: ignore[arg-type]
    assert panel.model.root is not None
    again.tabs.bring_back(panel.model.root, *panel.tabs.memory(), {})
    await until(lambda: [look.state for look in again.tab_row.looks] == ["waiting", "idle"])
    again.close_panel()
    panel.composer.set_text("")
    panel.close_tab()
    await until(lambda: panel.session_id)
    panel.view.acted.emit("answer", asked.key, "undo")
    await until(lambda: not panel.is_running, timeout_s=30)
    panel.model.new_conversation()
    panel.open_session(panel.model.sessions[0].session_id)
    await until(lambda: isinstance(panel.model.items.last(), DesignEnd))
    answers = [item.answer for item in panel.model.items if isinstance(item, Decision)]
    assert answers == ["undo"]
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_failed_simulation_links_to_its_line_live_and_when_it_is_read_again(
    window: MainWindow, services: WindowServices, project: Path, until: Until
) -> None:
    (project / "filter.cir").write_text("* b\nV1 in 0 1\nX1 in 0 nosuch\n.op\n.end\n", encoding="utf-8")
    panel = panel_of(window)
    panel.composer.set_text("simulate filter.cir")
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)
    await until(lambda: any(isinstance(item, SimulationCard) for item in panel.model.items), timeout_s=30)
    await until(lambda: not panel.is_running, timeout_s=30)
    (card,) = (item for item in panel.model.items if isinstance(item, SimulationCard))
    assert card.state == "failed"
    assert "filter.cir:3" in HtmlItems(services.language)(card)
    session = panel.session_id
    panel.model.new_conversation()
    panel.open_session(session)
    await until(lambda: panel.session_id == session)
    (again,) = (item for item in panel.model.items if isinstance(item, SimulationCard))
    assert 'data-arg="filter.cir:3"' in HtmlItems(services.language)(again)
    at: list[tuple[Path, int]] = []
    services.workspace.file_activated.connect(lambda path, line: at.append((path, line)))
    panel.view.acted.emit("open", again.key, "filter.cir:3")
    panel.view.acted.emit("log", again.key, "")
    assert at[0] == (project / "filter.cir", 3)
    assert at[1][0].is_file()
    await until(lambda: not services.app.program.tasks.handles)


async def test_side_panes_and_gaps_grow_with_the_scale(window: MainWindow, services: WindowServices) -> None:
    window.resize(2400, 1200)
    await asyncio.sleep(0)
    assert services.theme.theme.scale == 1.0
    before = dict(window.panes.sizes())["panes"]
    save = window.commands.action("saveAll")
    blanks = len(save.text()) - len(save.text().rstrip())
    services.theme.set_mode("light", scale=1.5)
    after = dict(window.panes.sizes())["panes"]
    assert [round(after[side] / before[side], 1) for side in (0, 2)] == [1.5, 1.5]
    assert len(save.text()) - len(save.text().rstrip()) >= blanks
    services.theme.set_mode("light", scale=1.0)
    back = dict(window.panes.sizes())["panes"]
    assert [abs(now - then) <= 1 for now, then in zip(back, before, strict=True)] == [True] * 3


async def test_dialogs_have_an_edge_of_their_own(window: MainWindow, services: WindowServices) -> None:
    box = QDialog(window)
    box.resize(200, 100)
    box.show()
    picture = box.grab().toImage()
    edge = services.theme.theme.color("border.default")
    corners = [(0, 50), (199, 50), (100, 0), (100, 99)]
    assert {picture.pixelColor(*at).name() for at in corners} == {edge.name()}
    assert picture.pixelColor(100, 50).name() == services.theme.theme.color("surface.raised").name()
    box.close()
    box.deleteLater()


async def test_the_built_in_designer_goes_on_behind_a_chat_that_changed_its_circuit(
    window: MainWindow, services: WindowServices, project: Path, until: Until
) -> None:
    panel = panel_of(window)
    await design(window, until)
    made = project / "rc_low_pass_filter.cir"
    panel.mode_button.click()
    await until(lambda: not panel.is_running)
    panel.composer.set_text(f"change R1 to 47 in {made.name}")
    QTest.keyClick(panel.composer.edit, Qt.Key.Key_Return)
    await until(lambda: not panel.is_running and any(isinstance(i, OperationCard) for i in panel.model.items))
    await until(lambda: "47\n" in made.read_text("utf-8") or " 47 " in made.read_text("utf-8"))
    panel.mode_button.click()
    await until(lambda: panel.model.is_asking)
    (asked,) = (item for item in panel.model.items if isinstance(item, Decision))
    assert (asked.number, asked.goals_met) == (2, False)
    panel.view.acted.emit("answer", asked.key, "continue")
    await until(
        lambda: (
            panel.model.is_asking
            and any(isinstance(i, Decision) and i.state == "open" and i.number > 2 for i in panel.model.items)
        )
    )
    asked = [item for item in panel.model.items if isinstance(item, Decision)][-1]
    assert asked.goals_met
    panel.view.acted.emit("answer", asked.key, "accept")
    await until(lambda: not panel.is_running)
    await read_again_as_shown(window, until)
    await until(lambda: not services.app.program.tasks.handles)
