"""The editor as a person meets it: real keys and clicks, real files, the real check."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PyQt6.Qsci import QsciScintilla
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QImage, QWheelEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QTabBar, QToolButton

from application.project.editing import version_of
from application.simulation.checking import CheckCircuit
from infrastructure.persistence.project import ProjectFolder
from infrastructure.persistence.source_files import SourceReaderFactory
from presentation.panels.editor.compare_view import CompareView
from presentation.panels.editor.editor_area import EditorArea
from presentation.panels.editor.highlight import Style
from presentation.panels.editor.page import EditorPage
from presentation.ui.workspace import WindowServices
from shared.cpu_executor import CpuTaskExecutor
from tests.gui.conftest import Until
from tests.gui.loop_watchdog import LoopWatchdog

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(scope="module", autouse=True)
def pool_of_qt(qapp: QApplication) -> None:
    """Qt paints large areas in threads of its own, which it keeps: not a leak of the first test."""
    picture = QImage(1000, 1000, QImage.Format.Format_ARGB32)
    picture.fill(0)
    picture.convertToFormat(QImage.Format.Format_RGB16)


@pytest.fixture
async def area(services: WindowServices, project: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    cpu = CpuTaskExecutor(max_workers=1)
    (project / ".circuit_ai").mkdir()
    check = CheckCircuit(sources=SourceReaderFactory(), cpu=lambda: cpu)  # in a worker process
    monkeypatch.setattr(services.app.simulation, "check", check)
    services.workspace.root = project
    made = EditorArea(services, services.app.project, services.app.simulation)
    made.resize(800, 500)
    made.show()
    yield made
    await services.app.program.stop.stop_all("app_shutdown")
    made.close_all()
    await cpu.shutdown()


def settled(test: Callable[..., Any]) -> Callable[..., Any]:
    """End the test only when nothing it began is on its way: between tests Qt goes on without a loop."""

    @functools.wraps(test)
    async def run(**given: Any) -> None:
        until, page = given["until"], given.get("area")
        try:
            await test(**given)
        finally:
            await until(lambda: not page._services.app.program.tasks.handles)

    return run


Open = Callable[..., Any]


@pytest.fixture
def opened(area: EditorArea, until: Until) -> Open:
    async def open_file(path: Path, line: int | None = None) -> EditorPage:
        area.show(path, line)
        await until(lambda: area.page_of(path) is not None and area.current_page() is area.page_of(path))
        page = area.page_of(path)
        assert page is not None
        await checked(page, until)
        return page

    return open_file


async def checked(page: EditorPage, until: Until) -> None:
    await until(lambda: page._examined_revision == page._revision)


async def put(path: Path, content: str | bytes) -> None:
    data = content.encode() if isinstance(content, str) else content
    await asyncio.to_thread(path.write_bytes, data)


async def on_disk(path: Path) -> bytes:
    return await asyncio.to_thread(path.read_bytes)


def click(page: EditorPage, way: str) -> None:
    button = page.notices.findChild(QPushButton, f"notice_{way}")
    assert button is not None
    QTest.mouseClick(button, LEFT)


def style_at(page: EditorPage, line: int, column: int) -> Style:
    editor = page.editor
    return Style(
        editor.SendScintilla(QsciScintilla.SCI_GETSTYLEAT, editor.positionFromLineIndex(line - 1, column - 1))
    )


# ---- opening, tabs ---------------------------------------------------------------------------


@settled
async def test_the_tab_in_front_tells_its_place_and_selection(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    assert area.front() is None
    page = await opened(project / "filter.cir", 2)
    assert area.front() == (project / "filter.cir", 2, 1, "")
    page.editor.select_bytes(0, 3)
    assert area.front() == (project / "filter.cir", 1, 4, page.editor.text()[:3])
    assert area.selected_lines() == (project / "filter.cir", 1, 1)
    page.editor.setSelection(0, 2, 3, 0)  # of the fourth line nothing
    assert area.selected_lines() == (project / "filter.cir", 1, 3)


@settled
async def test_files_open_in_the_order_asked_for_and_the_last_is_in_front(
    area: EditorArea, project: Path, until: Until
) -> None:
    await put(project / "notes.md", "# Notes\n")
    await put(project / "x.lib", ".subckt x a\nR1 a 0 1k\n.ends\n")
    shown: list[object] = []
    area._services.workspace.file_shown.connect(shown.append)
    names = ("filter.cir", "notes.md", "x.lib")
    for name in names:
        area._services.workspace.file_activated.emit(project / name, None)
    await until(lambda: len(area.open_files()) == 3)
    assert area.open_files() == tuple(project / name for name in names)
    assert shown[-1] == project / "x.lib"
    area.show(project / "filter.cir", 3)
    assert area.current_page() is area.page_of(project / "filter.cir")
    assert area.current_editor().caret() == (3, 1)  # type: ignore[union-attr]
    assert shown[-1] == project / "filter.cir"


@settled
async def test_what_cannot_be_opened_is_told_and_leaves_no_tab(
    area: EditorArea, project: Path, until: Until
) -> None:
    errors: list[Any] = []
    area._services.workspace.error_occurred.connect(errors.append)
    await put(project / "a.raw", bytes(range(256)) * 4)
    area.show(project / "a.raw")
    area.show(project / "gone.cir")
    await until(lambda: len(errors) == 2)
    assert {error.error_type for error in errors} == {"binary_file", "file_not_found"}
    assert area.open_files() == ()


@settled
async def test_middle_click_closes_and_unsaved_text_is_asked_about(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    await put(project / "b.cir", "* b\nR1 a 0 1k\n")
    await opened(project / "filter.cir")
    page = await opened(project / "b.cir")
    QTest.keyClick(page.editor, Qt.Key.Key_X)
    assert area.unsaved() == (project / "b.cir",)
    QTest.mouseClick(area.tabs, Qt.MouseButton.MiddleButton, pos=area.tabs.tabRect(1).center())
    assert page.notices.notice is not None
    assert page.notices.notice.kind == "closing"
    click(page, "dismiss")
    assert area.open_files() == (project / "filter.cir", project / "b.cir")
    area.close_page(page)
    click(page, "save_close")
    await until(lambda: area.open_files() == (project / "filter.cir",))
    assert (await on_disk(project / "b.cir")).startswith(b"x* b")
    QTest.mouseClick(area.tabs, Qt.MouseButton.MiddleButton, pos=area.tabs.tabRect(0).center())
    assert area.open_files() == ()


@settled
async def test_two_files_of_one_name_are_told_apart(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    await asyncio.to_thread((project / "lib").mkdir)
    await put(project / "lib" / "filter.cir", "* other\nR1 a 0 1k\n")
    await opened(project / "filter.cir")
    await opened(project / "lib" / "filter.cir")
    assert area.tabs.tabText(1) == "lib/filter.cir"


# ---- writing and saving ----------------------------------------------------------------------


@settled
async def test_typing_marks_the_tab_and_ctrl_s_writes_with_a_backup(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "filter.cir"
    before = await on_disk(path)
    page = await opened(path, 3)
    number = page.editor.text().index("1.59")
    assert (
        page.editor.ask(page.editor.SCI_WORDENDPOSITION, number, 1) == number + 4
    )  # whole for a double click
    QTest.keyClick(page.editor, Qt.Key.Key_Asterisk)
    button = area.tabs.tabButton(0, QTabBar.ButtonPosition.RightSide)
    assert isinstance(button, QToolButton)
    assert area.is_dirty(path)
    QTest.keyClick(page.editor, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: not area.is_dirty(path))
    assert await on_disk(path) == before.replace(b"R1 in", b"*R1 in")
    assert await asyncio.to_thread(ProjectFolder(project).read_object, version_of(before)) == before


@settled
async def test_a_sign_with_ctrl_writes_nothing_and_the_text_has_no_size_of_its_own(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "filter.cir"
    editor = (await opened(path, 3)).editor
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    before = editor.text()
    for key in (Qt.Key.Key_Plus, Qt.Key.Key_Minus, Qt.Key.Key_Semicolon):
        QTest.keyClick(editor, key, control)
        QTest.keyClick(editor, key, control | shift)
    viewport = editor.viewport()
    assert viewport is not None
    middle = QPointF(viewport.rect().center())
    turned = QPoint(0, 120)
    phase = Qt.ScrollPhase.NoScrollPhase
    no_button = Qt.MouseButton.NoButton
    wheel = QWheelEvent(
        middle, viewport.mapToGlobal(middle), turned, turned, no_button, control, phase, False
    )
    QApplication.sendEvent(viewport, wheel)
    assert editor.text() == before
    assert editor.ask(editor.SCI_GETZOOM) == 0
    at_sign = control | Qt.KeyboardModifier.AltModifier  # AltGr
    QTest.keyEvent(QTest.KeyAction.Click, editor, "@", at_sign)
    assert editor.text() == before.replace("R1 in", "@R1 in")


@settled
async def test_encoding_and_line_ends_stay(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "gbk.cir"
    await put(path, "* 电路\r\nR1 a 0 1k\r\n".encode("gbk"))
    page = await opened(path, 2)
    QTest.keyClick(page.editor, Qt.Key.Key_Return)
    assert area.save_all() is True
    assert await on_disk(path) == "* 电路\r\n\r\nR1 a 0 1k\r\n".encode("gbk")


@settled
async def test_save_all_right_behind_a_save_on_its_way(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "filter.cir"
    page = await opened(path, 3)
    QTest.keyClick(page.editor, Qt.Key.Key_A)
    area.save_current()
    await asyncio.sleep(0)
    QTest.keyClick(page.editor, Qt.Key.Key_B)
    assert area.save_all() is True
    assert b"abR1 in" in await on_disk(path)
    await area.save_unsaved()
    assert area.unsaved() == ()
    assert page.notices.notice is None
    assert b"abR1 in" in await on_disk(path)


@settled
async def test_what_the_encoding_cannot_hold_can_be_saved_as_utf8(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "latin.cir"
    await put(path, b"* caf\xe9\nR1 a 0 1k\n")
    page = await opened(path, 1)
    page.editor.insert("电")
    assert area.save_all() is False
    await until(lambda: page.notices.notice is not None)
    assert await on_disk(path) == b"* caf\xe9\nR1 a 0 1k\n"
    click(page, "utf8")
    await until(lambda: not page.is_dirty)
    assert await on_disk(path) == "电* café\nR1 a 0 1k\n".encode()


# ---- the file on the disk --------------------------------------------------------------------


@settled
async def test_a_clean_text_follows_the_disk_as_one_undoable_edit(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "filter.cir"
    page = await opened(path)
    before = page.editor.text()
    page.editor.go_to(5, 4)
    after = before.replace("1k", "2k").replace(".end\n", "* more\n.end\n").replace("V1 in", "* new\nV1 in")
    await put(path, after)
    area._services.workspace.file_changed.emit(path)
    await until(lambda: page.editor.text() == after)
    assert not page.is_dirty
    assert page.editor.caret() == (6, 4)
    await until(lambda: page.examination.changed == ((2, 2), (4, 4), (7, 7)))
    page.editor.undo()
    assert page.editor.text() == before
    assert page.is_dirty


@settled
async def test_our_own_save_is_no_news(area: EditorArea, project: Path, opened: Open, until: Until) -> None:
    path = project / "filter.cir"
    page = await opened(path, 2)
    page.editor.insert("* mine\n")
    area.save_current()
    area._services.workspace.file_changed.emit(path)
    page.editor.insert("* typed meanwhile\n")
    await until(lambda: b"* mine" in path.read_bytes())
    await page.reconcile()
    assert page.notices.notice is None
    assert "* typed meanwhile" in page.editor.text()


@pytest.fixture
async def torn(area: EditorArea, project: Path, opened: Open, until: Until) -> EditorPage:
    """A text with unsaved changes whose file somebody else changed."""
    path = project / "filter.cir"
    page = await opened(path, 3)
    page.editor.insert("* mine\n")
    await put(path, "* theirs\nR1 a 0 1k\n.end\n")
    area._services.workspace.file_changed.emit(path)
    await until(lambda: page.notices.notice is not None)
    assert page.notices.notice.kind == "changed"  # type: ignore[union-attr]
    return page


@settled
async def test_keeping_mine_writes_over_theirs_only_when_saved(
    area: EditorArea, torn: EditorPage, until: Until
) -> None:
    assert area.save_all() is False
    assert await on_disk(torn.path) == b"* theirs\nR1 a 0 1k\n.end\n"
    click(torn, "keep")
    assert "* mine" in torn.editor.text()
    assert area.save_all() is True
    assert b"* mine" in await on_disk(torn.path)


@settled
async def test_taking_theirs_can_be_undone(area: EditorArea, torn: EditorPage, until: Until) -> None:
    click(torn, "take")
    await until(lambda: torn.editor.text() == "* theirs\nR1 a 0 1k\n.end\n")
    assert not torn.is_dirty
    assert torn.notices.notice is None
    torn.editor.undo()
    assert "* mine" in torn.editor.text()


@settled
async def test_comparing_shows_both_and_leaves_the_question_open(
    area: EditorArea, torn: EditorPage, until: Until
) -> None:
    click(torn, "compare")
    await until(lambda: area.tabs.count() == 2)
    view = area.tabs.tabData(1)
    assert isinstance(view, CompareView)
    assert {"-* theirs", "+* mine"} <= set(view.text.toPlainText().splitlines())
    area.close_current()
    assert area.current_page() is torn
    assert torn.notices.notice is not None


@settled
async def test_a_deleted_file_is_marked_and_can_be_saved_again(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "filter.cir"
    page = await opened(path)
    text = page.editor.text()
    await asyncio.to_thread(path.unlink)
    area._services.workspace.file_changed.emit(path)
    await until(lambda: page.is_deleted)
    assert area.tabs.tabText(0) == "filter.cir (deleted)"
    click(page, "again")
    await until(lambda: not page.is_deleted)
    assert await on_disk(path) == text.encode()
    assert area.tabs.tabText(0) == "filter.cir"


@settled
async def test_a_renamed_file_keeps_its_tab_and_undo(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page = await opened(project / "filter.cir", 2)
    page.editor.insert("* mine\n")
    await asyncio.to_thread((project / "filter.cir").rename, project / "other.cir")
    area._services.workspace.file_moved.emit(project / "filter.cir", project / "other.cir")
    assert area.open_files() == (project / "other.cir",)
    assert area.is_dirty(project / "other.cir")
    assert area.save_all() is True
    assert b"* mine" in await on_disk(project / "other.cir")


# ---- colours, problems, fixes ----------------------------------------------------------------


@settled
async def test_words_have_their_colours_also_while_typing(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page = await opened(project / "filter.cir")
    page.editor.grab()
    styles = [style_at(page, 3, column) for column in (1, 4, 11)]
    assert styles == [Style.ELEMENT, Style.NODE, Style.VALUE]
    page.editor.go_to(2, 1)
    for key in ".control\n":
        QTest.keyClicks(page.editor, key) if key != "\n" else QTest.keyClick(page.editor, Qt.Key.Key_Return)
    page.editor.grab()
    assert style_at(page, 4, 1) == Style.DIRECTIVE
    page.editor.undo()
    while "control" in page.editor.text():
        page.editor.undo()
    page.editor.grab()
    assert style_at(page, 3, 1) == Style.ELEMENT


@settled
async def test_a_value_typed_over_another_is_one_step(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    editor = (await opened(project / "filter.cir")).editor
    await until(lambda: bool(editor.text()))
    before, line = editor.text(), editor.text(2)
    editor.setSelection(2, line.index("1k"), 2, line.index("1k") + 2)
    QTest.keyClicks(editor, "330k")
    after = editor.text()
    assert after == before.replace("1k", "330k")
    QTest.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor.text() == before
    QTest.keyClick(editor, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    assert editor.text() == after
    editor.setSelection(0, 0, 0, 1)
    QTest.keyClicks(editor, "x")  # one letter is a step as it is, and takes nothing along
    editor.undo()
    assert editor.text() == after


@settled
async def test_a_broken_line_is_found_and_the_mega_trap_mended_by_key(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    counts: list[tuple[int, int]] = []
    listed: list[Any] = []
    area.problems.connect(listed.append)
    kinds = ("error", "warning")
    area.problems.connect(
        lambda found: counts.append(tuple(sum(each.severity == kind for each in found) for kind in kinds))
    )
    page = await opened(project / "filter.cir", 3)
    assert counts[-1] == (0, 0)
    page.editor.setSelection(2, 10, 2, 12)
    page.editor.replaceSelectedText("10M")
    await until(lambda: counts[-1] == (0, 1))
    (problem,) = listed[-1]
    assert (problem.file, problem.line, problem.severity) == (project / "filter.cir", 3, "warning")
    QTest.keyClick(page.editor, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert page.editor.text(2) == "R1 in out 10Meg\n"
    await until(lambda: counts[-1] == (0, 0))
    page.editor.undo()
    assert page.editor.text(2) == "R1 in out 10M\n"


@settled
async def test_a_fix_asked_for_before_the_check_is_done_behind_it(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page = await opened(project / "filter.cir", 3)
    page.editor.setSelection(2, 10, 2, 12)
    page.editor.replaceSelectedText("10M")
    page.fix_at_caret()
    await until(lambda: page.editor.text(2) == "R1 in out 10Meg\n")


@settled
async def test_the_note_behind_the_line_can_be_clicked(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page = await opened(project / "filter.cir", 3)
    page.editor.setSelection(2, 10, 2, 12)
    page.editor.replaceSelectedText("10M")
    await until(lambda: page.examination.count("warning") == 1)
    page.editor.grab()
    place = page.editor._overlay._action_area
    assert not place.isEmpty()
    QTest.mouseClick(page.editor.viewport(), LEFT, pos=place.center().toPoint())
    assert page.editor.text(2) == "R1 in out 10Meg\n"


@settled
async def test_hovering_says_what_is_wrong(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page = await opened(project / "filter.cir", 1)
    page.editor.setSelection(2, 10, 2, 12)
    page.editor.replaceSelectedText("10M")
    await until(lambda: page.examination.count("warning") == 1)
    editor = page.editor
    position = editor.positionFromLineIndex(2, 11)
    point = QPoint(
        editor.SendScintilla(QsciScintilla.SCI_POINTXFROMPOSITION, 0, position),
        editor.SendScintilla(QsciScintilla.SCI_POINTYFROMPOSITION, 0, position) + 5,
    )
    assert "M is milli in SPICE" in editor.hover_text(point)
    assert "M is milli in SPICE" in editor.hover_text(QPoint(5, point.y()))
    assert editor.hover_text(QPoint(point.x(), 5)) == ""


@settled
async def test_an_included_file_that_changes_is_checked_for(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    path = project / "main.cir"
    await put(path, "* m\n.include x.lib\nV1 a 0 1\nX1 a 0 amp\n.op\n.end\n")
    page = await opened(path)
    assert page.examination.count("error") >= 1
    await put(project / "x.lib", ".subckt amp a b\nR1 a b 1k\n.ends\n")
    area._services.workspace.file_changed.emit(project / "x.lib")
    await until(lambda: page.examination.count("error") == 0)


@settled
async def test_subcircuits_fold(area: EditorArea, project: Path, opened: Open, until: Until) -> None:
    path = project / "x.lib"
    await put(path, ".subckt amp a b\nR1 a b 1k\nR2 a b 1k\n.ends\n* end\n")
    page = await opened(path)
    page.editor.grab()
    page.editor.foldLine(0)
    shown = [page.editor.SendScintilla(QsciScintilla.SCI_GETLINEVISIBLE, line) for line in range(5)]
    assert shown == [1, 0, 0, 0, 1]
    page.editor.go_to(3)
    assert page.editor.SendScintilla(QsciScintilla.SCI_GETLINEVISIBLE, 2) == 1


# ---- find, go to -----------------------------------------------------------------------------


def found(area: EditorArea) -> str:
    label = area.find_bar.findChild(QLabel, "findCount")
    assert label is not None
    return label.text()


def field(area: EditorArea, name: str) -> QLineEdit:
    line = area.findChild(QLineEdit, name)
    assert line is not None
    return line


@settled
async def test_find_goes_round_and_replace_all_is_one_step(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page = await opened(project / "filter.cir", 1)
    before = page.editor.text()
    area._services.shortcuts.trigger("editor.replace")
    QTest.keyClicks(field(area, "findText"), "out")
    assert found(area) == "1 of 2"
    QTest.keyClick(field(area, "findText"), Qt.Key.Key_Return)
    assert found(area) == "2 of 2"
    QTest.keyClick(field(area, "findText"), Qt.Key.Key_Return)
    assert found(area) == "1 of 2"
    field(area, "replaceText").setText("输出")
    QTest.keyClick(field(area, "replaceText"), Qt.Key.Key_Return)
    assert page.editor.text() == before.replace("out", "输出", 1)
    page.editor.undo()
    QTest.mouseClick(area.findChild(QPushButton, "replaceAll"), LEFT)
    assert page.editor.text() == before.replace("out", "输出")
    assert found(area) == "2 replaced"
    page.editor.undo()
    assert page.editor.text() == before
    QTest.keyClick(field(area, "findText"), Qt.Key.Key_Escape)
    assert not area.find_bar.isVisible()


@settled
async def test_a_broken_expression_is_said_in_the_bar(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    await opened(project / "filter.cir", 1)
    area._services.shortcuts.trigger("editor.find")
    QTest.mouseClick(area.findChild(QToolButton, "find_regex"), LEFT)
    QTest.keyClicks(field(area, "findText"), "R(")
    assert "not complete" in found(area)
    QTest.keyClicks(field(area, "findText"), r"\d)")
    assert found(area) == "1 of 1"


@settled
async def test_go_to_line_and_column(area: EditorArea, project: Path, opened: Open, until: Until) -> None:
    page = await opened(project / "filter.cir")
    moves: list[tuple[int, int]] = []
    area._services.workspace.cursor_moved.connect(lambda line, column: moves.append((line, column)))
    area._services.shortcuts.trigger("editor.go_to_line")
    QTest.keyClicks(field(area, "goToLine"), "4:7")
    QTest.keyClick(field(area, "goToLine"), Qt.Key.Key_Return)
    assert page.editor.caret() == (4, 7)
    await until(lambda: moves and moves[-1] == (4, 7))


# ---- look, size ------------------------------------------------------------------------------


@settled
async def test_a_view_that_gets_lower_keeps_the_line_of_the_caret(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    await put(project / "long.cir", "* long\n" + "R1 a 0 1k\n" * 80)
    editor = (await opened(project / "long.cir")).editor
    first, shown = editor.firstVisibleLine(), editor.SendScintilla(editor.SCI_LINESONSCREEN)
    editor.go_to(first + shown - 1)
    assert editor.firstVisibleLine() == first
    area.resize(area.width(), area.height() - 40)  # a notice above the panes takes its room
    lowest = editor.firstVisibleLine() + editor.SendScintilla(editor.SCI_LINESONSCREEN)
    assert first < editor.caret()[0] <= lowest
    top = editor.firstVisibleLine()
    editor.verticalScrollBar().setValue(top + 40)  # scrolled away on purpose: it stays there
    area.resize(area.width(), area.height() - 40)
    assert editor.firstVisibleLine() == top + 40


@settled
async def test_language_and_theme_change_live(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page = await opened(project / "filter.cir", 3)
    QTest.keyClick(page.editor, Qt.Key.Key_X)
    area.close_page(page)
    area._services.language.set("zh")
    label = page.notices.findChildren(QLabel)[1]
    assert label.text() == "filter.cir 有未保存的更改。"
    area._services.theme.set_mode("dark")
    paper = area._services.theme.theme.color("surface.base").name()
    picture = page.editor.viewport().grab().toImage()  # type: ignore[union-attr]
    assert picture.pixelColor(picture.width() // 2, picture.height() - 5).name() == paper


@pytest.mark.parametrize("lines", [8_000, pytest.param(20_000, marks=pytest.mark.torture)])
@settled
async def test_many_thousand_lines_are_typed_into_without_holding_the_loop(
    area: EditorArea, project: Path, opened: Open, loop_watchdog: LoopWatchdog, until: Until, lines: int
) -> None:
    path = project / "big.cir"
    body = "".join(f"R{i} n{i} n{i + 1} 1.5k\nC{i} n{i} 0 10n ; cap\n" for i in range(lines // 2))
    await put(path, f"* big\nV1 n0 0 1\n{body}.op\n.end\n")
    page = await opened(path)
    length = page.editor.byte_length()
    await until(lambda: page.editor.SendScintilla(QsciScintilla.SCI_GETENDSTYLED) >= length)
    page.editor.go_to(lines * 3 // 4)
    async with loop_watchdog.watching():
        for _ in range(10):
            QTest.keyClick(page.editor, Qt.Key.Key_X)
            await asyncio.sleep(0.02)
        await checked(page, until)
    assert page.editor.SendScintilla(QsciScintilla.SCI_GETENDSTYLED) == page.editor.byte_length()


@settled
async def test_a_file_closed_and_opened_again_is_where_one_was(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page = await opened(project / "filter.cir")
    page.editor.go_to(3, 2)
    area.close_page(page)
    editor = (await opened(project / "filter.cir")).editor
    await until(lambda: editor.caret() == (3, 2))
