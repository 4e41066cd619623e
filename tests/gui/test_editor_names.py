"""Definition, uses and another name over the files of a project, with real keys and the real undo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLineEdit, QPushButton

from presentation.dialogs.rename_name import RenameDialog
from presentation.ui.hit_list import HitList
from presentation.ui.rows import RowTree
from tests.gui.test_which_circuit import Bench, bench

__all__ = ["bench"]

CIRCUIT = (
    "two stages\n.include cells.lib\nV1 in 0 1\nX1 in mid gain\nX2 mid Out gain a=2\nR1 out 0 1k\n.op\n.end\n"
)
OTHER = "one stage\n.include cells.lib\nV1 in 0 1\nX1 in out GAIN\nRgain out 0 1k\n.op\n.end\n"
CELLS = "* \u00b5A cell\n.subckt gain p o a=1\nE1 o 0 p 0 {a}\n.ends gain\n"


async def project(bench: Bench) -> Any:
    for name, text in (("two.cir", CIRCUIT), ("one.cir", OTHER), ("cells.lib", CELLS)):
        (bench.root / name).write_bytes(text.encode())
    await bench.front("two.cir")
    page = bench.window.parts.editor.current_page()
    assert page is not None
    await bench.until(lambda: page.facts is not None)
    page.editor.setFocus()
    return page


async def press(bench: Bench, name: str) -> None:
    bench.services.shortcuts.trigger(f"editor.{name}")


def uses_of(bench: Bench) -> list[str]:
    """The rows of the list that is open."""
    shown = [each for each in bench.window.findChildren(HitList, "usesList") if each.isVisible()]
    model = shown[-1].findChild(RowTree).model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


async def test_definition_and_uses_over_files(bench: Bench) -> None:
    page = await project(bench)
    area = bench.window.parts.editor
    page.editor.go_to(4, 11)  # the subcircuit of X1
    await press(bench, "definition")
    await bench.until(lambda: area.front()[:3] == (bench.root / "cells.lib", 2, 9))
    await bench.settled()
    await press(bench, "definition")  # at the definition: its uses, in every circuit of the project
    await bench.settled()
    assert uses_of(bench) == [
        "gain: 5 places", ".subckt gain p o a=1", ".ends gain", "X1 in out GAIN", "X1 in mid gain",
        "X2 mid Out gain a=2",
    ]  # fmt: skip
    editor = area.current_editor()
    assert editor is not None
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        QTest.keyClick(editor, key)
    await bench.until(lambda: area.front()[:3] == (bench.root / "one.cir", 4, 11))
    await bench.settled()
    await bench.front("two.cir")
    editor = page.editor
    byte = editor.text().index("R1 out") + 4
    x = editor.ask(editor.SCI_POINTXFROMPOSITION, 0, byte)
    y = editor.ask(editor.SCI_POINTYFROMPOSITION, 0, byte)
    control = Qt.KeyboardModifier.ControlModifier
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, control, QPoint(x + 2, y + 5))
    await bench.until(lambda: editor.caret() == (5, 8))  # where the node stands first
    await press(bench, "uses")
    await bench.settled()
    assert uses_of(bench) == ["Out: 2 places", "X2 mid Out gain a=2", "R1 out 0 1k"]
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    editor.go_to(2, 12)
    await press(bench, "definition")
    await bench.until(lambda: area.front()[0] == bench.root / "cells.lib")
    await bench.settled()
    said: list[str] = []
    bench.services.workspace.status_changed.connect(lambda text: said.append(bench.services.language(text)))
    area.current_editor().go_to(1, 3)
    await press(bench, "uses")
    await bench.until(lambda: said == ["Nothing the circuit knows by name stands here."])


async def test_another_name_in_texts_and_on_the_disk_and_all_of_it_back(bench: Bench) -> None:
    page = await project(bench)
    page.editor.insert("* not saved\n")  # places are those of the text, not of the disk
    page.editor.go_to(5, 12)
    await press(bench, "rename")
    await bench.until(lambda: bench.window.findChild(RenameDialog))
    dialog = bench.window.findChild(RenameDialog)
    await bench.until(dialog.isVisible)
    assert dialog.windowTitle() == "Rename the subcircuit gain"
    field = dialog.findChild(QLineEdit, "newName")
    button = dialog.findChild(QPushButton, "renameButton")
    QTest.keyClicks(field, "a b")
    assert not button.isEnabled()
    field.selectAll()
    QTest.keyClicks(field, "stage")
    assert dialog._told.text() == "5 places in 3 files"
    preview = [dialog.table.model().index(row, 1).data() for row in range(5)]
    assert preview == ["X1 in mid stage", "X2 mid Out stage a=2", ".subckt stage p o a=1", ".ends stage",
                       "X1 in out stage"]  # fmt: skip
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    await bench.until(lambda: page.notices.notice is not None)
    await bench.settled()
    renamed = f"* not saved\n{CIRCUIT}".replace("mid gain", "mid stage").replace("Out gain", "Out stage")
    assert page.editor.text() == renamed
    assert (bench.root / "cells.lib").read_bytes() == CELLS.replace("gain", "stage").encode()
    assert (bench.root / "one.cir").read_bytes() == OTHER.replace("GAIN", "stage").encode()
    assert (bench.root / "two.cir").read_text() == CIRCUIT  # open: changed there, not saved
    records = await bench.services.app.project.operations.list(bench.root)
    assert [(each.record.tool, len(each.record.changes)) for each in records] == [("rename_name", 2)]
    back = page.notices.findChild(QPushButton, "notice_undo")
    QTest.mouseClick(back, Qt.MouseButton.LeftButton)
    await bench.until(lambda: (bench.root / "one.cir").read_bytes() == OTHER.encode())
    await bench.until(lambda: page.editor.text() == f"* not saved\n{CIRCUIT}")
    assert (bench.root / "cells.lib").read_bytes() == CELLS.encode()
    await bench.settled()


async def test_a_name_of_one_text_is_one_step_of_undo_and_a_file_outside_is_not_touched(
    bench: Bench, tmp_path: Path
) -> None:
    page = await project(bench)
    page.editor.go_to(4, 7)
    await press(bench, "rename")
    await bench.until(lambda: bench.window.findChild(RenameDialog))
    dialog = bench.window.findChild(RenameDialog)
    await bench.until(dialog.isVisible)
    assert dialog.windowTitle() == "Rename the node mid"
    QTest.keyClicks(dialog.findChild(QLineEdit, "newName"), "between")
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    await bench.until(lambda: page.editor.text() == CIRCUIT.replace("mid", "between"))
    assert page.notices.notice is None
    page.editor.undo()
    assert page.editor.text() == CIRCUIT
    await bench.settled()
