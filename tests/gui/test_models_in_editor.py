"""The model library in the editor: a missing model is one key away, others are looked up and inserted."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLineEdit

from infrastructure.persistence.examples import ShippedModels
from presentation.dialogs.model_library import ModelLibraryDialog
from tests.gui.test_which_circuit import Bench, bench

__all__ = ["bench"]
SHIPPED = len(ShippedModels().models)

BARE = "* follower\r\nV1 vcc 0 5\r\nQ1 vcc b e 2n3904\r\nR1 e 0 1k\r\nV2 b 0 2\r\n.op\r\n.end\r\n"


def _codes(page: Any) -> list[str]:
    return [problem.code for problem in page.examination.problems]


async def test_a_missing_model_of_the_library_is_included_by_its_quick_fix(bench: Bench) -> None:
    circuit = bench.root / "follower.cir"
    circuit.write_bytes(BARE.encode())
    await bench.front("follower.cir")
    area = bench.window.parts.editor
    page = area.current_page()
    await bench.until(lambda: "undefined-model" in _codes(page))
    page.editor.setFocus()
    page.editor.go_to(3)
    (problem,) = [each for each in page.examination.problems if each.code == "undefined-model"]
    assert bench.services.language(problem.fix.title) == "Add .include 2N3904.lib"
    QTest.keyClick(page.editor, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    if page.editor.text() == BARE:  # without a window manager no widget has the focus its key needs
        bench.services.shortcuts.trigger("editor.quick_fix")
    await bench.until(lambda: _codes(page) == ["library-model"])
    assert page.editor.text() == BARE.replace("V1 vcc", ".include 2N3904.lib\r\nV1 vcc")
    result = await bench.run("follower.cir")
    assert result.ok
    assert result.operating_point.devices[0].region == "active"
    page.editor.undo()  # one step
    assert page.editor.text() == BARE


@pytest.mark.parametrize(("words", "line"), [
    ("lm358", "X1 inp inn vcc vee out LM358"),
    ("zener 12 V", "D1 anode cathode 1N4742"),
    ("BC547B", "Q2 collector base emitter BC547"),
])  # fmt: skip
async def test_a_model_is_looked_up_and_inserted(bench: Bench, words: str, line: str) -> None:
    (bench.root / "follower.cir").write_bytes(BARE.replace("\r", "").encode())
    await bench.front("follower.cir")
    page = bench.window.parts.editor.current_page()
    page.editor.go_to(3)
    bench.window.commands.action("insertModel").trigger()
    await bench.until(lambda: bench.window.findChild(ModelLibraryDialog))
    dialog = bench.window.findChild(ModelLibraryDialog)
    field = dialog.findChild(QLineEdit, "modelSearch")
    await bench.until(dialog.isVisible)
    assert len(dialog.table.rows) == SHIPPED
    QTest.keyClicks(field, "nothing of this kind")
    assert not dialog.insert_button.isEnabled()
    assert "2N3904" in dialog._told.text()
    field.clear()
    QTest.keyClicks(field, words)
    assert dialog._told.text().count("\n") == 2  # figures, pins, source
    QTest.mouseClick(dialog.insert_button, Qt.MouseButton.LeftButton)
    name = line.rpartition(" ")[2]
    await bench.until(lambda: line in page.editor.text())
    lines = page.editor.text().split("\n")
    assert lines[1] == f".include {name}.lib"
    assert lines.index(line) == 4  # behind Q1
    assert page.editor.selectedText() == line.partition(" ")[2].removesuffix(f" {name}")
    await bench.settled()
    page.editor.undo()
    assert page.editor.text() == BARE.replace("\r", "")


async def test_without_a_circuit_in_front_the_library_is_only_looked_through(bench: Bench) -> None:
    await bench.front("notes.txt")
    bench.window.commands.action("insertModel").trigger()
    await bench.until(lambda: bench.window.findChild(ModelLibraryDialog))
    dialog = bench.window.findChild(ModelLibraryDialog)
    await bench.until(dialog.isVisible)
    assert not dialog.insert_button.isEnabled()
    assert dialog.insert_button.toolTip() == "Open a circuit in the editor first."
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    await bench.settled()
