"""The main window: opening and closing projects, panes, menus, keys, and what it remembers."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
from PyQt6.QtCore import QMimeData, QMimeDatabase, QPoint, QPointF, Qt, QUrl
from PyQt6.QtGui import QDropEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import (
    QApplication,
    QDialog,
    QFileDialog,
    QLineEdit,
    QListWidget,
    QMenu,
    QPushButton,
)

from application.project.window_state import ProjectMemory, WindowState
from presentation.panels.conversation.items import Decision
from presentation.panels.editor.editor_area import EditorArea
from presentation.panels.run_views import PROBLEMS
from presentation.panels.welcome_rows import ExampleRow
from presentation.ui.new_project import WantedDesign, default_place, name_from
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import AgentStatus, WindowServices
from presentation.window.main_window import MainWindow
from shared.errors import UserInputError
from shared.message import msg
from tests.gui.conftest import Until
from tests.gui.whole_window import end_window, open_window, without_web_view

CIRCUIT = "* second\nV1 in 0 AC 1\nR2 in out 1k\nC2 out 0 1n\n.ac dec 5 10 1k\n.op\n.end\n"
Settled = Callable[[], Awaitable[None]]
MakeWindow = Callable[..., Awaitable[MainWindow]]


@pytest.fixture(scope="session", autouse=True)
def _dialogs_known(qapp: QApplication) -> None:
    """Qt keeps what its first file dialog reads of the kinds of files; that is no test's leak."""
    QFileDialog().deleteLater()
    QMimeDatabase().mimeTypeForName("text/plain")


@pytest.fixture
def settled(services: WindowServices, until: Until) -> Settled:
    """Waits for the end of all tasks. Tests end with it: what Qt handles after a test has no loop."""

    async def wait() -> None:
        await until(lambda: not services.app.program.tasks.handles)

    return wait


@pytest.fixture
async def make(
    services: WindowServices, until: Until, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MakeWindow]:
    """Windows as the program makes them, and ended as it ends them; messages are shown as plain text."""
    without_web_view(monkeypatch)
    made: list[MainWindow] = []

    async def make_window(
        project: Path | None = None,
        *,
        state: WindowState | None = None,
        size: tuple[int, int] = (1440, 900),
    ) -> MainWindow:
        window = await open_window(services, until, project, state=state, size=size)
        made.append(window)
        return window

    yield make_window
    for window in made:
        await end_window(window, services, until)


Field = TypeVar("Field", QLineEdit, QListWidget)


def dialog(window: MainWindow, kind: type[QDialog]) -> QDialog | None:
    found = [each for each in window.findChildren(kind) if each.isVisible()]
    return found[0] if found else None


def press(box: QDialog | None, text: str) -> None:
    assert box is not None
    button = next(each for each in box.findChildren(QPushButton) if each.text() == text)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def answer_of(box: QDialog, kind: type[Field]) -> Field:
    field = box.findChild(kind, "answer")
    assert field is not None
    return field


def editor_of(window: MainWindow) -> EditorArea:
    return window.parts.editor


def shares(sizes: list[int]) -> list[float]:
    return [size / sum(sizes) for size in sizes]


async def test_without_a_project_the_welcome_page_is_shown(
    make: MakeWindow, services: WindowServices, settled: Settled
) -> None:
    window = await make()
    assert window.welcome.isVisible()
    assert not window.panes.isVisible()
    assert not window.header.run_group.run.isEnabled()
    assert not window.header.toggles["left"].isEnabled()
    assert window.status_bar.state.text == "No folder open"
    assert window.windowTitle() == "Circuit Design AI"
    await settled()


async def test_a_project_opens_with_its_only_circuit_as_the_main_one(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    window = await make(project)
    workspace = services.workspace
    assert (workspace.root, workspace.main_circuit) == (project, project / "filter.cir")
    assert window.panes.isVisible()
    assert window.windowTitle().startswith("rc-filter")
    await until(lambda: workspace.shown_file == project / "filter.cir")
    await until(lambda: window.header.run_group.choice.text() == "All: ac")
    assert window.header.run_group.run.isEnabled()
    await until(lambda: "R1" in window.parts.outline.names)
    await settled()


async def test_of_several_circuits_one_is_asked_for_when_it_is_to_run_and_remembered(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    (project / "second.cir").write_text(CIRCUIT)
    window = await make(project)
    assert services.workspace.main_circuit is None
    assert dialog(window, SmallDialog) is None  # nothing pops up by itself
    finished: list[object] = []
    services.workspace.run_finished.connect(finished.append)
    assert window.header.run_group.run.isEnabled()
    window.header.run_group.run.click()
    await until(lambda: dialog(window, SmallDialog))
    question = dialog(window, SmallDialog)
    assert isinstance(question, SmallDialog)
    answer_of(question, QListWidget).setCurrentRow(1)
    press(question, "OK")
    await until(lambda: services.workspace.main_circuit == project / "second.cir")
    await until(lambda: window.header.run_group.choice.text() == "All: ac, op")
    await until(lambda: finished)  # it was asked for in order to run
    await until(lambda: not services.app.program.tasks.handles)
    window.projects.open(project)
    await until(lambda: services.workspace.main_circuit is None or not services.app.program.tasks.handles)
    await until(lambda: services.workspace.main_circuit == project / "second.cir")
    assert dialog(window, SmallDialog) is None
    await settled()


async def test_one_analysis_can_be_chosen_for_the_next_run(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    (project / "filter.cir").write_text(CIRCUIT)
    window = await make(project)
    group = window.header.run_group
    await until(group.choice.isEnabled)
    menu = group.choices()
    texts = [action.text() for action in menu.actions()]
    assert texts == ["All analyses", "ac dec 5 10 1k", "op", "", "Add or edit an analysis…\tAlt+A"]
    menu.actions()[1].trigger()
    assert services.workspace.analysis == "ac dec 5 10 1k"
    assert group.choice.text() == "ac dec 5 10 1k"
    (project / "filter.cir").write_text(CIRCUIT.replace("ac dec 5 10 1k", "ac dec 9 10 1k"))
    await until(lambda: services.workspace.analysis is None)  # the card is not there any more
    menu.deleteLater()
    await settled()


async def test_a_run_shows_its_progress_and_escape_stops_it(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    (project / "filter.cir").write_text(
        "* long\nV1 in 0 SIN(0 1 1k)\nR1 in out 1k\nC1 out 0 100n\n.tran 1u 100\n.end\n"
    )
    window = await make(project)
    finished: list[object] = []
    services.workspace.run_finished.connect(finished.append)
    await until(window.header.run_group.run.isEnabled)
    QTest.mouseClick(window.header.run_group.run, Qt.MouseButton.LeftButton)
    await until(window.header.run_group.stop.isEnabled)
    assert window.header.run_group.run.text().startswith("Running")
    assert not window.header.run_group.run.isEnabled()
    window.activateWindow()
    window.parts.tree.view.setFocus()
    await until(lambda: QApplication.focusWidget() is window.parts.tree.view)
    QTest.keyClick(window.parts.tree.view, Qt.Key.Key_Escape)
    await until(lambda: finished)
    assert not window.header.run_group.stop.isEnabled()
    assert window.header.run_group.run.text() == "Run filter.cir"
    await settled()


async def test_results_appear_in_the_list(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    window = await make(project)
    services.workspace.run_requested.emit()
    await until(lambda: window.parts.results.model.results)
    assert window.parts.results.model.results[0].circuit == project / "filter.cir"
    await until(lambda: not services.app.program.tasks.handles)
    await settled()


async def test_changes_are_marked_until_they_are_accepted(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    window = await make(project)
    file = project / "filter.cir"

    def values() -> tuple[str, ...]:
        look = window.parts.tree.model.index_of(file).data(int(Qt.ItemDataRole.UserRole) + 1)
        return () if look is None else look.values

    await until(lambda: window.parts.tree.model.index_of(file).isValid())
    assert values() == ()
    file.write_text(file.read_text().replace("1k", "2k"))
    await until(lambda: values() == ("M",))
    window.commands.action("acceptChanges").trigger()
    await until(lambda: values() == ())
    await settled()


async def test_problems_of_the_main_circuit_are_marked_and_mended_from_their_list(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    file = project / "filter.cir"
    faulty = "R1 in out 1k\nD1 out 0 mydiod\n.model mydiode D"
    file.write_text(file.read_text().replace("R1 in out 1k", faulty))
    window = await make(project)

    def color() -> str:
        look = window.parts.tree.model.index_of(file).data(int(Qt.ItemDataRole.UserRole) + 1)
        return "" if look is None else look.color

    await until(lambda: color() == "error.text")
    problems = window.parts.runs.problems
    await until(lambda: [row.fix is not None for row in problems.rows] == [True])
    window.parts.bottom.show_tab(PROBLEMS)
    await until(problems.list.isVisible)
    (row,) = problems.rows
    assert problems.list.menu(row).actions()[0].text() == "Change to mydiode"
    place = problems.list.itemDelegate().fix_place(
        row, problems.list.visualRect(problems.list.model().index(0, 0))
    )
    viewport = problems.list.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place.topLeft() - QPoint(40, 0))
    editor = editor_of(window).current_editor()
    assert editor is not None
    assert "mydiod\n" in editor.text(), "a click beside it only goes to the line"
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place.center())
    assert "D1 out 0 mydiode\n" in editor.text()
    await until(lambda: not problems.rows)
    await until(lambda: not services.app.program.tasks.handles)
    editor.undo()
    await settled()


async def test_closing_a_project_leaves_nothing_of_it(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    window = await make(project)
    await until(lambda: services.workspace.shown_file is not None)
    await until(lambda: not services.app.program.tasks.handles)
    window.projects.close_project()
    await until(lambda: services.workspace.root is None)
    assert window.welcome.isVisible()
    assert services.workspace.main_circuit is None
    assert services.workspace.buffers is not None
    assert services.workspace.buffers.open_files() == ()
    assert window.parts.outline.names == ()
    assert window.parts.results.model.results == ()
    assert window.header.run_group.choice.text() == "No circuit open"
    assert window.projects.state.last_project is None
    assert window.projects.state.recent == (project,)
    await settled()


async def test_unsaved_text_is_asked_about_before_another_project_is_opened(
    make: MakeWindow, services: WindowServices, project: Path, tmp_path: Path, until: Until, settled: Settled
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "second.cir").write_text(CIRCUIT)
    window = await make(project)
    await until(lambda: editor_of(window).current_editor() is not None)
    editor = editor_of(window).current_editor()
    assert editor is not None
    editor.setFocus()
    editor.insertAt("* mine\n", 0, 0)
    await until(services.workspace.buffers.unsaved)
    for answer, root in (("Cancel", project), ("Save", other)):
        window.projects.open(other)
        await until(lambda: dialog(window, SmallDialog))
        press(dialog(window, SmallDialog), answer)
        await until(lambda: dialog(window, SmallDialog) is None)
        await until(
            lambda root=root: services.workspace.root == root and not services.app.program.tasks.handles
        )
    assert (project / "filter.cir").read_text().startswith("* mine\n")
    await settled()


async def test_a_sentence_is_not_designed_in_a_project_that_was_not_left(
    make: MakeWindow,
    services: WindowServices,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    until: Until,
    settled: Settled,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    window = await make(project)
    services.workspace.file_activated.emit(project / "filter.cir", None)
    await until(lambda: editor_of(window).current_editor())
    editor = editor_of(window).current_editor()
    assert editor is not None
    editor.insertAt("* mine\n", 0, 0)
    wanted: list[str] = []
    services.workspace.design_requested.connect(wanted.append)
    window.projects.design(WantedDesign(text="RC low-pass of 1 kHz", name="rc", place=default_place()))
    await until(lambda: dialog(window, SmallDialog))
    press(dialog(window, SmallDialog), "Cancel")
    await until(lambda: dialog(window, SmallDialog) is None and not services.app.program.tasks.handles)
    assert (services.workspace.root, wanted) == (project, [])
    assert not (tmp_path / "Circuits").exists(), "no folder for a project nobody opened"
    await settled()


async def test_running_work_is_asked_about_before_leaving(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    (project / "filter.cir").write_text(
        "* long\nV1 in 0 SIN(0 1 1k)\nR1 in out 1k\nC1 out 0 100n\n.tran 1u 100\n.end\n"
    )
    window = await make(project)
    services.workspace.run_requested.emit()
    await until(window.header.run_group.stop.isEnabled)
    for answer, may in (("Cancel", False), ("Stop it", True)):
        asking = asyncio.create_task(window.may_close())
        await until(lambda: dialog(window, SmallDialog))
        press(dialog(window, SmallDialog), answer)
        assert await asking is may
    assert not window.header.run_group.stop.isEnabled()
    await settled()


async def test_a_dropped_folder_is_opened_and_a_dropped_file_of_the_project_shown(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    window = await make()

    def drop(path: Path) -> None:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        action = Qt.DropAction.CopyAction
        window.dropEvent(
            QDropEvent(QPointF(9, 9), action, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
        )

    drop(project)
    await until(lambda: services.workspace.root == project)
    (project / "notes.md").write_text("# Notes\n")
    drop(project / "notes.md")
    await until(lambda: services.workspace.shown_file == project / "notes.md")
    await settled()


async def test_a_place_that_is_none_is_told_and_nothing_is_lost(
    make: MakeWindow, services: WindowServices, project: Path, tmp_path: Path, until: Until, settled: Settled
) -> None:
    window = await make(project)
    window.projects.open(tmp_path / "gone")
    await until(lambda: "There is no folder" in window.status_bar.state.text)
    assert services.workspace.root == project
    await settled()


async def test_language_and_theme_are_switched_live(
    make: MakeWindow, services: WindowServices, project: Path, settled: Settled
) -> None:
    window = await make(project)
    window.commands.action("language.zh").trigger()
    assert window.header.menu_bar.actions()[0].text() == "文件(&F)"
    assert window.header.command_box.placeholderText() == "文件、节点、命令"
    assert window.panes.tabs.tabText(0) == "对话"
    assert window.commands.action("language.zh").isChecked()
    light = window.grab().toImage().pixelColor(400, 20)
    window.commands.action("theme.dark").trigger()
    dark = window.grab().toImage().pixelColor(400, 20)
    assert light.lightness() > 200 > 60 > dark.lightness()
    assert (window.projects.state.language, window.projects.state.theme) == ("zh", "dark")
    for is_high in (True, False):
        window.commands.action("contrast").trigger()
        assert services.theme.theme.is_high_contrast is is_high is window.projects.state.high_contrast
        assert window.commands.action("contrast").isChecked() is is_high
        is_same = services.theme.theme.hex("text.tertiary") == services.theme.theme.hex("text.primary")
        assert is_same is is_high
    await settled()


@pytest.mark.parametrize(
    ("name", "key"), [("left", Qt.Key.Key_B), ("bottom", Qt.Key.Key_J), ("right", Qt.Key.Key_L)]
)
async def test_panes_have_a_button_and_a_key(
    make: MakeWindow, project: Path, until: Until, name: str, key: Qt.Key, settled: Settled
) -> None:
    window = await make(project)
    window.activateWindow()
    await until(window.isActiveWindow)
    assert window.panes.is_shown(name)
    QTest.mouseClick(window.header.toggles[name], Qt.MouseButton.LeftButton)
    assert not window.panes.is_shown(name)
    assert not window.header.toggles[name].isChecked()
    QTest.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)
    assert window.panes.is_shown(name)
    assert window.header.toggles[name].isChecked()
    await settled()


async def test_narrow_windows_fold_the_left_pane_and_lay_the_right_one_over(
    make: MakeWindow, project: Path, settled: Settled
) -> None:
    window = await make(project, size=(1440, 800))
    assert window.panes.is_shown("left")
    window.resize(1100, 800)
    assert not window.panes.is_shown("left")
    window.panes.set_pane("left", is_wanted=True)
    assert window.panes.is_shown("left")  # asked for is asked for
    window.resize(900, 800)
    assert not window.panes.is_shown("right")
    window.panes.set_pane("right", is_wanted=True)
    assert window.panes.right.parent() is window.panes
    assert window.panes.right.geometry().right() == window.panes.width() - 1
    window.resize(1440, 800)
    assert window.panes.right.parent() is not window.panes
    assert all(window.panes.is_shown(name) for name in ("left", "bottom", "right"))
    await settled()


async def test_a_layout_of_a_large_window_leaves_the_curves_readable_in_a_small_one(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    large = {"left": (235, 134, 471), "centre": (435, 404), "panes": (236, 764, 440)}
    memory = ProjectMemory(main_circuit="filter.cir", sizes=large)
    state = WindowState(sizes=large).with_memory(project, memory)
    window = await make(project, state=state, size=(1280, 720))
    services.workspace.run_requested.emit()
    await until(lambda: window.parts.runs.waveforms.traces)
    await settled()
    assert window.parts.runs.waveforms.area.height() >= 150
    assert window.panes.sizes()["centre"][1] >= 400
    editor = window.parts.editor.current_editor()
    assert editor is not None
    assert editor.viewport().height() >= 6 * editor.textHeight(0)
    assert window.panes.sizes()["panes"][1] >= 714, "as wide as in a window that was always so small"


@pytest.mark.parametrize("scale", [1.0, 1.25, 1.5, 2.0])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_nothing_in_the_header_is_cut_or_covered(
    make: MakeWindow, services: WindowServices, project: Path, scale: float, language: str, settled: Settled
) -> None:
    state = WindowState(scale=scale, language="zh" if language == "zh" else "en", theme="light")
    window = await make(project, state=state, size=(1280, 720))
    assert (window.width(), window.height()) == (1280, 720)
    header = window.header
    group = header.run_group
    shown = [header.menu_bar, header.menu_button, group.run, group.choice, group.stop, header.command_box]
    shown += [*header.toggles.values(), header.settings]
    places = [
        (widget.mapTo(header, QPoint(0, 0)).x(), widget.width()) for widget in shown if widget.isVisible()
    ]
    for (left, width), (following, _) in itertools.pairwise(places):
        assert left + width <= following
    last, width = places[-1]
    assert last + width <= header.width()
    for button in (group.run, group.choice):
        assert button.width() >= button.minimumSizeHint().width()
    bar = header.menu_bar
    if bar.isVisible():
        assert bar.actionGeometry(bar.actions()[-1]).right() <= bar.width()
    await settled()


async def test_panes_are_as_wide_as_before_when_the_scale_is_again(
    make: MakeWindow, services: WindowServices, project: Path, settled: Settled
) -> None:
    window = await make(project, size=(1440, 900))
    before = window.panes.sizes()["panes"]
    for scale in (1.5, 2.0, 1.0):
        services.theme.set_mode("light", scale=scale)
        await settled()
    assert window.panes.sizes()["panes"] == before
    await settled()


async def test_right_tabs_and_f6_move_the_focus(
    make: MakeWindow, project: Path, until: Until, settled: Settled
) -> None:
    window = await make(project)
    window.activateWindow()
    await until(window.isActiveWindow)
    for number, key in enumerate(("conversation", "context", "debug", "info")):
        QTest.keyClick(window, Qt.Key(Qt.Key.Key_1 + number), Qt.KeyboardModifier.ControlModifier)
        assert window.panes.right_pages.current_key == key
    visited = []
    window.parts.tree.view.setFocus()
    for _ in range(6):
        QTest.keyClick(window, Qt.Key.Key_F6)
        visited.append(QApplication.focusWidget())
    assert len(set(visited)) >= 4
    assert window.parts.tree.view in visited
    await settled()


async def test_the_command_box_finds_files_nodes_and_commands(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    (project / "lib").mkdir()
    (project / "lib" / "opamp.lib").write_text("* lib\n")
    window = await make(project)
    window.activateWindow()
    await until(window.isActiveWindow)
    await until(lambda: "C1" in window.parts.outline.names)
    box = window.header.command_box
    QTest.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    await until(box.hasFocus)
    assert box.shown_hits[0] == "filter.cir", "the circuits of the project, before anything is typed"
    assert "Open folder…" in box.shown_hits
    QTest.keyClicks(box, "lib/opa")
    assert box.shown_hits[0] == "opamp.lib", "by its folder and name"
    box.selectAll()
    QTest.keyClicks(box, "oplib")
    assert box.shown_hits[0] == "opamp.lib"
    QTest.keyClick(box, Qt.Key.Key_Return)
    await until(lambda: services.workspace.shown_file == project / "lib" / "opamp.lib")
    assert box.text() == ""
    box.begin()
    QTest.keyClicks(box, "dark theme")
    assert box.shown_hits[0] == "Dark theme"
    QTest.keyClick(box, Qt.Key.Key_Down)
    QTest.keyClick(box, Qt.Key.Key_Up)
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert services.theme.mode == "dark"
    box.begin()
    QTest.keyClicks(box, "opmap")
    assert box.shown_hits[0] == "opamp.lib", "two letters exchanged"
    box.selectAll()
    QTest.keyClicks(box, "no such thing at all")
    assert box.shown_hits == ()
    await until(lambda: box.note)
    assert box.note == "No file, node or command matches “no such thing at all”."
    assert box.accessibleDescription() == box.note
    QTest.keyClick(box, Qt.Key.Key_Return)  # there is nothing to take
    services.language.set("zh")
    box.search_again()
    assert box.note == "没有与“no such thing at all”匹配的文件、节点或命令。"
    box.selectAll()
    QTest.keyClicks(box, "dark theme")
    assert box.shown_hits[0] == "深色主题", "English words find a command in a Chinese window too"
    QTest.keyClick(box, Qt.Key.Key_Escape)
    assert box.text() == ""
    await settled()


async def test_a_line_with_the_very_text_comes_before_a_name_with_its_letters(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    place = project / "amplifiers.lib"
    place.write_text("* lib\n.subckt opamp in out\n.ends\n")
    window = await make(project)
    window.activateWindow()
    await until(window.isActiveWindow)
    await until((project / ".circuit_ai" / "search.sqlite").exists)
    await settled()
    box = window.header.command_box
    box.begin()
    QTest.keyClicks(box, "opamp")
    assert box.shown_hits[0] == "Open an example…", "for want of anything nearer"
    await until(lambda: box.shown_hits[0].startswith(".subckt opamp"))
    assert "Open an example…" in box.shown_hits
    QTest.keyClick(box, Qt.Key.Key_Return)
    await until(lambda: services.workspace.shown_file == place)
    await settled()


async def test_closing_asks_about_work_but_not_about_a_design_that_waits(
    make: MakeWindow, project: Path, until: Until, settled: Settled
) -> None:
    window = await make(project)
    talk = window.parts.conversation.model
    talk.set_mode("workflow")
    assert talk.begin("设计一个截止频率 10 kHz 的 RC 低通滤波器") is None

    def dialog(name: str) -> QDialog | None:
        found = [w for w in QApplication.topLevelWidgets() if w.objectName() == name and w.isVisible()]
        return found[0] if found else None

    await until(lambda: dialog("goalsDialog"))
    QTest.mouseClick(dialog("goalsDialog").start_button, Qt.MouseButton.LeftButton)
    await until(lambda: any(isinstance(item, Decision) for item in talk.items) and talk.is_asking)
    leaving = asyncio.ensure_future(window.projects.may_leave())
    await until(lambda: leaving.done() or dialog("question"))
    assert leaving.done()
    assert leaving.result()
    await until(lambda: not talk.is_running)
    talk.resume()  # now it works: that is asked about
    leaving = asyncio.ensure_future(window.projects.may_leave())
    await until(lambda: leaving.done() or dialog("question"))
    question = dialog("question")
    assert question is not None
    question.reject()
    await until(leaving.done)
    assert not leaving.result()
    await until(lambda: talk.is_asking)
    assert talk.stop()
    await until(lambda: not talk.is_running)
    await settled()


async def test_the_command_box_finds_lines_of_any_file_soon_after_they_change(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    (project / "notes.md").write_text("# Notes\n\n运放的相位裕度\n")
    window = await make(project)
    window.activateWindow()
    await until(window.isActiveWindow)
    box = window.header.command_box
    index = project / ".circuit_ai" / "search.sqlite"
    await until(index.exists)
    await settled()
    box.begin()
    box.insert("裕度")  # as from an input method
    await until(lambda: "运放的相位裕度" in box.shown_hits)
    (project / "later.md").write_text("a word nobody wrote before: zirkonium\n")

    def is_found() -> bool:
        return any("zirkonium" in hit for hit in box.shown_hits)

    async def ask_until_found() -> None:
        while not is_found():  # each time what is indexed by now is searched, once
            box.clear()
            QTest.keyClicks(box, "zirkonium")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2):
                    while not is_found():  # noqa: ASYNC110 - what is waited for has no event
                        await asyncio.sleep(0.02)

    await asyncio.wait_for(ask_until_found(), 40)
    QTest.keyClick(box, Qt.Key.Key_Return)
    await until(lambda: services.workspace.shown_file == project / "later.md")
    await settled()


async def test_the_window_is_found_again_as_it_was_left(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    (project / "lib").mkdir()
    (project / "lib" / "a.lib").write_text("* a\n")
    (project / "notes.md").write_text("# n\n")
    first = await make(project)
    for path in (project / "notes.md", project / "lib" / "a.lib"):
        services.workspace.file_activated.emit(path, None)
        await until(lambda path=path: services.workspace.shown_file == path)
    first.parts.tree.expand([project / "lib"])
    await until(lambda: first.parts.tree.expanded_folders == (project / "lib",))
    first.panes.left.setSizes([100, 300, 300])
    kept = shares(first.panes.left.sizes())
    first.appearance.set_theme("dark")
    first.appearance.set_language("zh")
    first.panes.show_panel("debug")
    open_files = set(services.workspace.buffers.open_files())
    await until(lambda: not services.app.program.tasks.handles)
    await first.release()
    await first.desk.close()

    state = await asyncio.to_thread(services.app.program.window_state.load)
    assert state.last_project == project
    second = MainWindow(services, services.app, None)
    second.resize(1440, 900)
    second.show()
    await second.fill(None)
    assert services.workspace.root == project
    await until(lambda: set(services.workspace.buffers.open_files()) == open_files)
    await until(lambda: services.workspace.shown_file == project / "lib" / "a.lib")
    await until(lambda: second.parts.tree.expanded_folders == (project / "lib",))
    # The screen of these tests is smaller than the first window was: the second one fits it.
    assert shares(second.panes.left.sizes()) == pytest.approx(kept, abs=0.02)
    assert (services.theme.mode, services.language.name) == ("dark", "zh")
    assert second.panes.right_pages.current_key == "debug"
    await second.desk.close()
    await second.release()
    await settled()


async def test_a_last_project_that_is_gone_is_told_and_forgotten(
    make: MakeWindow, services: WindowServices, tmp_path: Path, settled: Settled
) -> None:
    gone = tmp_path / "gone"
    state = WindowState(last_project=gone, theme="light", language="en")
    window = await make(state=state)
    assert window.welcome.isVisible()
    assert "no longer exists" in window.status_bar.state.text
    assert window.projects.state.last_project is None
    await settled()


async def test_a_folder_is_chosen_in_a_dialog(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    window = await make()
    window.commands.action("openFolder").trigger()
    await until(lambda: dialog(window, QFileDialog))
    chooser = dialog(window, QFileDialog)
    assert isinstance(chooser, QFileDialog)
    chooser.setDirectory(str(project))
    chooser.accept()
    await until(lambda: services.workspace.root == project)
    await settled()


async def test_a_new_circuit_is_made_and_shown(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    window = await make(project)
    window.commands.action("newCircuit").trigger()
    await until(lambda: dialog(window, SmallDialog))
    question = dialog(window, SmallDialog)
    assert isinstance(question, SmallDialog)
    answer_of(question, QLineEdit).setText("amp")
    press(question, "OK")
    await until(lambda: services.workspace.shown_file == project / "amp.cir")
    await until(lambda: window.parts.tree.model.index_of(project / "amp.cir").isValid())
    await settled()


async def test_a_moved_main_circuit_stays_the_main_one(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    window = await make(project)
    assert window.isVisible()
    (project / "filter.cir").rename(project / "renamed.cir")
    await until(lambda: services.workspace.main_circuit == project / "renamed.cir")
    await settled()


async def test_status_bar_says_what_goes_on(
    make: MakeWindow, services: WindowServices, project: Path, settled: Settled
) -> None:
    window = await make(project)
    bar, workspace = window.status_bar, services.workspace
    workspace.agent_status_changed.emit(
        AgentStatus(
            state="waiting",
            text=msg("Waiting for you"),
            round_number=4,
            most_rounds=15,
            tokens=3100,
            context_share=0.38,
        )
    )
    assert bar.state.text == "Waiting for you"
    assert (bar.round.text, bar.tokens.text, bar.context.text) == (
        "Round 4/15",
        "3.1k tokens",
        "Context 38 %",
    )
    workspace.cursor_moved.emit(7, 20)
    workspace.problems_changed.emit(0, 1)
    assert (bar.place.text, bar.errors.text, bar.warnings.text) == ("Ln 7, Col 20", "0", "1")
    workspace.error_occurred.emit(
        UserInputError(msg("Choose another name."), advice=msg("Remove some of them."))
    )
    assert bar.state.text == "Choose another name."
    assert "Remove some of them." in bar.state.toolTip()
    services.language.set("zh")
    assert bar.place.text == "行 7，列 20"
    await settled()


async def test_an_example_is_opened_as_a_copy_in_one_click(
    make: MakeWindow,
    services: WindowServices,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    until: Until,
    settled: Settled,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    window = await make()
    examples = await services.app.project.browse.examples()
    window.projects.open_example(examples[0].name)
    await until(lambda: services.workspace.root is not None)
    assert services.workspace.root == tmp_path / "Circuits" / examples[0].name
    assert services.workspace.main_circuit == services.workspace.root / examples[0].circuit.name
    await settled()


async def test_a_new_project_is_a_name_and_its_empty_folder_offers_what_to_do(
    make: MakeWindow,
    services: WindowServices,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    until: Until,
    settled: Settled,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    window = await make()
    for name, folder in (("amp", "amp"), ("amp", "amp-2"), ("a/b", None)):
        window.commands.action("newProject").trigger()
        await until(lambda: dialog(window, SmallDialog))
        box = dialog(window, SmallDialog)
        assert box is not None
        answer_of(box, QLineEdit).setText(name)
        press(box, "OK")
        await until(lambda: dialog(window, SmallDialog) is None)
        if folder is None:
            await until(lambda: "cannot be used as a" in window.status_bar.state.text)
        else:
            wanted = tmp_path / "Circuits" / folder
            await until(lambda wanted=wanted: services.workspace.root == wanted)
            assert wanted.is_dir()
    await until(lambda: not services.app.program.tasks.handles)
    offered = [
        button.text()
        for button in editor_of(window)._empty.findChildren(QPushButton)
        if not button.isHidden()
    ]
    assert offered == [
        "New circuit",
        "Describe a design",
        "Open an example",
        "Import from LTspice, KiCad or Qucs",
    ]
    links = window.parts.results._empty.findChildren(QPushButton)
    assert all(button.isHidden() for button in links)  # there is nothing to run
    (tmp_path / "Circuits" / "amp-2" / "rc.cir").write_text(CIRCUIT)
    services.workspace.main_circuit_changed.emit(tmp_path / "Circuits" / "amp-2" / "rc.cir")
    assert not any(button.isHidden() for button in links)
    await settled()


def test_a_design_s_folder_is_called_after_the_circuit_its_sentence_names() -> None:
    assert name_from("A low-pass with 10 kHz corner, from ±5 V") == "low-pass"
    assert name_from("Mic preamp, gain 40, single 3.3 V supply, 600 ohm load") == "Mic-preamp"
    assert name_from("给驻极体话筒做一个前置放大器，放大 100 倍") == "前置放大器"
    assert name_from("设计一个 10 kHz 低通滤波器") == "低通滤波器"
    assert name_from("截止频率为1kHz的一阶RC低通滤波器") == "一阶RC低通滤波器"
    assert name_from("反相放大器 增益20dB，带宽 100 kHz") == "反相放大器"
    assert (
        name_from("4th-order Butterworth low-pass filter cut-off 10 kHz") == "4th-order-Butterworth-low-pass"
    )
    assert name_from("I need a 10 kHz low-pass with a gain of 100 from 12 V") == "low-pass"
    # no kind of circuit is named: the whole wish
    assert name_from("12V转3.3V，1A") == "12V转3.3V-1A"
    assert name_from("From 12 V to 3.3 V at 2 A") == "12-V-3.3-V-2-A"
    assert name_from("../..") == "design"
    assert len(name_from("x" * 300)) <= 32


@pytest.mark.parametrize(
    ("names", "main"),
    [
        (("amp", "amp_loop", "amp-step"), "amp"),
        (("amp", "filter"), None),
        (("amp", "amplifier"), None),
        (("amp", "sub/amp_loop"), None),
    ],
)
async def test_the_circuit_the_others_are_named_after_is_the_main_one(
    make: MakeWindow,
    services: WindowServices,
    tmp_path: Path,
    names: tuple[str, ...],
    main: str | None,
    until: Until,
    settled: Settled,
) -> None:
    root = tmp_path / "several"
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / f"{name}.cir").write_text("* circuit\nV1 a 0 1\nR1 a 0 1k\n.op\n.end\n", encoding="utf-8")
    window = await make(root)
    assert services.workspace.main_circuit == (root / f"{main}.cir" if main else None)
    assert dialog(window, SmallDialog) is None
    if main is None:
        assert "Open a circuit of several" in editor_of(window)._empty._label.text()
    await settled()


async def test_an_inferred_main_circuit_is_kept_when_another_circuit_comes(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    window = await make(project)
    (project / "other.cir").write_text(CIRCUIT)
    services.workspace.file_changed.emit(project / "other.cir")
    tree = window.parts.tree.model
    await until(lambda: tree.index_of(project / "other.cir").isValid())
    await until(lambda: not services.app.program.tasks.handles)
    assert services.workspace.main_circuit == project / "filter.cir"
    window.projects.remember()
    assert window.projects.state.memory_of(project).main_circuit == "filter.cir"
    await window.projects.open_now(project)
    assert services.workspace.main_circuit == project / "filter.cir"
    await settled()


async def test_the_frame_shows_the_welcome_page_before_anything_else_is_made(
    services: WindowServices, settled: Settled
) -> None:
    window = MainWindow(services, services.app, WindowState(), first="welcome")
    try:
        window.show()
        assert window.welcome.isVisible()
        titles = [action.text() for action in window.header.menu_bar.actions()]
        assert not hasattr(window, "panes")
        window.complete()
        assert [action.text() for action in window.header.menu_bar.actions()] == titles
        assert all(action.menu() is not None for action in window.header.menu_bar.actions())
        assert window.welcome.isVisible()
        assert window.parts.tree is not None
    finally:
        await window.desk.close()
        await window.release()
        await settled()


async def test_a_frame_that_ends_before_it_is_complete_has_nothing_to_save(
    services: WindowServices, settled: Settled
) -> None:
    window = MainWindow(services, services.app, WindowState(), first="welcome")
    await window.release()
    assert await asyncio.to_thread(services.app.program.window_state.load) == WindowState()
    await settled()


async def test_an_open_menu_says_why_something_cannot_be_done(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    window = await make()
    menus = {menu.objectName(): menu for menu in window.header.menu_bar.findChildren(QMenu)}
    menus["menu.file"].aboutToShow.emit()
    action = window.commands.action("newCircuit")
    assert not action.isEnabled()
    assert action.toolTip() == "Open a folder first."
    assert menus["menu.file"].toolTipsVisible()
    menus["menu.file"].aboutToHide.emit()
    assert action.isEnabled()  # its key is answered in words
    assert window.commands.action("openFolder").isEnabled()
    window.projects.open(project)
    await until(lambda: services.workspace.root == project)
    menus["menu.file"].aboutToShow.emit()
    assert action.isEnabled()
    menus["menu.file"].aboutToHide.emit()
    await settled()


async def test_the_command_box_finds_a_node_and_goes_there(
    make: MakeWindow, services: WindowServices, project: Path, until: Until, settled: Settled
) -> None:
    window = await make(project)
    await until(lambda: services.workspace.shown_file == project / "filter.cir")
    await settled()
    box = window.header.command_box
    box.begin()
    QTest.keyClicks(box, "out")
    assert box.shown_hits[0] == "out"
    QTest.keyClick(box, Qt.Key.Key_Return)
    await until(lambda: window.status_bar.place.text == "Ln 3, Col 1")
    await settled()


async def test_every_example_has_its_row_and_its_curve(
    make: MakeWindow, services: WindowServices, settled: Settled
) -> None:
    window = await make()
    rows = window.welcome.findChildren(ExampleRow)
    assert {row.objectName() for row in rows} == {
        f"example.{example.name}" for example in await services.app.project.browse.examples()
    }
    for row in rows:
        picture = row.grab().toImage()
        line = services.theme.theme.color("trace.0").rgb()
        assert any(
            picture.pixel(x, y) == line for x in range(picture.width()) for y in range(picture.height())
        ), row.objectName()
    await settled()


async def test_a_splitter_lays_its_handles_out_without_end(make: MakeWindow, settled: Settled) -> None:
    window = await make()
    splitter = window.panes.left
    handle = splitter.handle(1)
    assert handle is not None
    for width in (3, 400, 1, 0, 200):
        handle.resize(width, 1)
        handle.resize(width, 9)
    splitter.resize(200, 600)
    size = window.services.theme.theme.size
    await settled()
    assert handle.mask().boundingRect().height() <= size("control.splitter_hit")


async def test_closing_is_asked_for_and_not_done_by_qt(make: MakeWindow, settled: Settled) -> None:
    window = await make()
    asked: list[bool] = []
    window.close_requested.connect(lambda: asked.append(True))
    window.close()
    window.commands.action("quit").trigger()
    assert asked == [True, True]
    assert window.isVisible()
    await settled()
