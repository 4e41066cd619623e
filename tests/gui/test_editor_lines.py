"""The habits of hands in the editor's lines: real keys, one step of undo each, `+` lines go along."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QContextMenuEvent, QKeySequence
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QMenu

from presentation.panels.editor.editor_area import EditorArea
from presentation.panels.editor.page import EditorPage
from tests.gui.conftest import Until
from tests.gui.test_editor_area import Open, area, opened, pool_of_qt, put, settled

__all__ = ["area", "opened", "pool_of_qt"]

TEXT = "lines\r\nV1 in 0 PWL(0 0\r\n+ 1m 5)\r\nR1 in out 1k\r\nC1 out 0 1u\r\n.tran 1u 1m\r\n.end"
SHIFT, ALT = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


async def shown(area: EditorArea, project: Path, opened: Open, text: str = TEXT) -> EditorPage:
    await put(project / "lines.cir", text)
    page: EditorPage = await opened(project / "lines.cir", 2)
    area.activateWindow()
    page.editor.setFocus()
    return page


def press(area: EditorArea, name: str) -> None:
    editor = area.current_editor()
    assert editor is not None
    QTest.keySequence(editor, QKeySequence(area._services.shortcuts.shown(f"editor.{name}")))


@settled
async def test_lines_are_commented_moved_copied_and_deleted(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page = await shown(area, project, opened)
    editor = page.editor
    steps = (
        (2, "comment", TEXT.replace("V1 in", "*V1 in").replace("+ 1m", "*+ 1m"), (2, 1)),
        (1, "comment", TEXT, (1, 1)),  # the title is a comment already
        (3, "move_down", TEXT.replace("V1 in 0 PWL(0 0\r\n+ 1m 5)\r\nR1 in out 1k\r\n",
                                      "R1 in out 1k\r\nV1 in 0 PWL(0 0\r\n+ 1m 5)\r\n"), (4, 1)),
        (2, "move_up", TEXT, (2, 1)),  # not before the title
        (6, "move_down", TEXT.replace(".tran 1u 1m\r\n.end", ".end\r\n.tran 1u 1m"), (7, 1)),
        (2, "copy_down", TEXT.replace("R1 in", "V1 in 0 PWL(0 0\r\n+ 1m 5)\r\nR1 in"), (4, 1)),
        (7, "copy_up", TEXT.replace(".end", ".end\r\n.end"), (7, 1)),
        (2, "delete_line", TEXT.replace("V1 in 0 PWL(0 0\r\n+ 1m 5)\r\n", ""), (2, 1)),
        (7, "delete_line", TEXT.removesuffix("\r\n.end"), (6, 12)),
        (3, "delete_line", TEXT.replace("+ 1m 5)\r\n", ""), (3, 1)),
    )  # fmt: skip
    for line, name, wanted, caret in steps:
        editor.go_to(line)
        press(area, name)
        assert editor.text() == wanted, name
        assert editor.caret() == caret, name
        if wanted != TEXT:
            editor.undo()
        assert editor.text() == TEXT, f"{name} is one step"
    editor.setSelection(3, 2, 5, 0)  # two lines: nothing is selected of the third
    press(area, "comment")
    assert editor.text() == TEXT.replace("R1", "*R1").replace("C1", "*C1")
    press(area, "comment")
    assert editor.text() == TEXT


@settled
async def test_a_double_click_on_the_last_line_that_is_seen_takes_the_number_there(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    values = "\n".join(f"R{number} a 0 {number}k" for number in range(1, 200))
    editor = (await shown(area, project, opened, f"values\n{values}\n")).editor
    high = editor.ask(editor.SCI_TEXTHEIGHT, 0)
    area.resize(area.width(), area.height() + high // 2 - editor.viewport().height() % high)
    await until(lambda: editor.viewport().height() % high == high // 2)
    editor.ask(editor.SCI_SETFIRSTVISIBLELINE, 100)
    for at in (2, editor.viewport().height() - 2):
        line = editor.line_of(editor.ask(editor.SCI_POSITIONFROMPOINT, 200, at))
        start = editor.positionFromLineIndex(line, f"R{line} a 0 ".index(" 0 ") + 3)
        spot = QPoint(editor.ask(editor.SCI_POINTXFROMPOSITION, 0, start) + 6, at)
        QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=spot)
        QTest.mouseDClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=spot)
        QTest.mouseRelease(editor.viewport(), Qt.MouseButton.LeftButton, pos=spot)
        assert editor.selectedText() == f"{line}k"
        assert editor.ask(editor.SCI_GETFIRSTVISIBLELINE) == 100


@settled
async def test_several_carets_write_and_are_undone_at_once(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page = await shown(area, project, opened)
    editor = page.editor
    editor.go_to(4, 8)
    press(area, "next_occurrence")
    assert editor.selectedText() == "out"
    press(area, "next_occurrence")
    assert editor.ask(editor.SCI_GETSELECTIONS) == 2
    QTest.keyClicks(editor, "vo")
    assert editor.text() == TEXT.replace("out", "vo")
    press(area, "comment")  # the lines of both
    assert editor.text() == TEXT.replace("out", "vo").replace("R1", "*R1").replace("C1", "*C1")
    for _ in range(3):  # the comment, and each letter at all carets
        editor.undo()
    assert editor.text() == TEXT
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert editor.ask(editor.SCI_GETSELECTIONS) == 1
    editor.go_to(4)
    for _ in range(3):
        at = editor.positionFromLineIndex(4, 0)
        x = editor.ask(editor.SCI_POINTXFROMPOSITION, 0, at)
        spot = QPoint(x, editor.ask(editor.SCI_POINTYFROMPOSITION, 0, at))
        QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, ALT, spot + QPoint(0, 3))
    assert editor.ask(editor.SCI_GETSELECTIONS) == 2  # put, taken, put
    QTest.keyClicks(editor, "*")
    assert editor.text() == TEXT.replace("R1", "*R1").replace("C1", "*C1")


@settled
async def test_left_over_keys_of_the_text_widget_do_nothing(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    editor = (await shown(area, project, opened)).editor
    before = editor.caret()
    for key in (Qt.Key.Key_BracketLeft, Qt.Key.Key_BracketRight, Qt.Key.Key_Backslash):
        for held in (CONTROL, CONTROL | SHIFT):
            QTest.keyClick(editor, key, held)
    QTest.keyClick(editor, Qt.Key.Key_Insert)
    assert (editor.caret(), editor.text()) == (before, TEXT)
    QTest.keyClicks(editor, "x")  # Ins did not begin to overwrite
    assert editor.text() == TEXT.replace("V1 in", "xV1 in")


@settled
async def test_problems_are_gone_through_in_turn(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    said: list[str] = []
    language = area._services.language
    area._services.workspace.status_changed.connect(lambda text: said.append(language(text)))
    text = "problems\nR1 a 0 1F\nC1 a 0 {cval}\n.include gone.lib\nV1 a 0 1\n.op\n.end\n"
    page = await shown(area, project, opened, text)
    problems = sorted(page.examination.problems, key=lambda problem: problem.start)
    assert len(problems) > 1
    page.editor.go_to(1)
    for problem in (*problems, problems[0]):
        press(area, "next_problem")
        assert page.editor.selected_bytes() == (problem.start, problem.end)
        assert said[-1] == language(problem.message)
    press(area, "previous_problem")
    assert page.editor.selected_bytes() == (problems[-1].start, problems[-1].end)
    page = await opened(project / "filter.cir")
    press(area, "next_problem")
    assert said[-1] == "No problems in filter.cir."


@settled
async def test_columns_are_aligned_in_one_step_of_undo(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    ugly = "t\r\nR1 in   out 1k\r\nC100 out 0 10n\r\n.op   \r\nR2 a  b 1\r\nR33 a b  1\r\n.end"
    neat = "t\r\nR1   in  out 1k\r\nC100 out 0   10n\r\n.op\r\nR2  a b 1\r\nR33 a b 1\r\n.end"
    page = await shown(area, project, opened, ugly)
    said: list[str] = []
    language = area._services.language
    area._services.workspace.status_changed.connect(lambda text: said.append(language(text)))
    press(area, "format")
    await until(lambda: page.editor.text() == neat)
    press(area, "format")
    await until(lambda: said == ["The columns are aligned already."])
    page.editor.undo()
    assert page.editor.text() == ugly
    page.editor.setSelection(1, 0, 2, 3)  # only these lines
    press(area, "format")
    await until(
        lambda: (
            page.editor.text()
            == ugly.replace("R1 in   out", "R1   in  out").replace("out 0 10n", "out 0   10n")
        )
    )


@settled
async def test_the_menu_of_a_line_has_its_commands_with_their_keys(
    area: EditorArea, project: Path, opened: Open, until: Until
) -> None:
    page = await shown(area, project, opened, "t\nR1 a 0 10M\nV1 a 0 1\n.op\n.end\n")
    editor = page.editor
    editor.go_to(4)
    at = editor.positionFromLineIndex(1, 8)
    x = editor.ask(editor.SCI_POINTXFROMPOSITION, 0, at)
    place = QPoint(x, editor.ask(editor.SCI_POINTYFROMPOSITION, 0, at) + 3)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, editor.viewport().mapToGlobal(place))
    QApplication.sendEvent(editor.viewport(), event)
    assert editor.caret()[0] == 2  # the line that was meant
    menu = editor.findChild(QMenu)
    assert menu is not None
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert texts[:3] == ["Change to 10Meg", "Plot current of R1", "Plot power of R1"]
    order = [
        "Go to definition\tF12", "All uses\tShift+F12", "Rename…\tF2", "Tune the value here\tAlt+T",
        "Toggle comment\tCtrl+/", "Format\tCtrl+Shift+I", "Undo\tCtrl+Z",
    ]  # fmt: skip
    assert [text for text in texts if text in order] == order
    menu.actions()[0].trigger()
    assert editor.text().split("\n")[1] == "R1 a 0 10Meg"
    menu.close()
