"""The card beside the pointer in the real program: names, values, the operating point of a real run."""

from __future__ import annotations

from typing import Any

from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QHelpEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication

from tests.gui.test_which_circuit import Bench, bench

__all__ = ["bench"]

CIRCUIT = """bias
.include stage.lib
.param rtop=3k
V1 vcc 0 8
R1 vcc mid {rtop}
R2 mid 0 1MEG
R3 mid 0 1k
X1 mid tail stage
.op
.end
"""
STAGE = "* Follower with a load\n.subckt stage in out\nE1 out 0 in 0 2\nRl out 0 1k\n.ends\n"


async def rest(bench: Bench, at: str) -> str:
    """The card over the last character of a piece of the text in front."""
    page: Any = bench.window.parts.editor.current_page()
    await bench.until(lambda: page.facts is not None)
    editor = page.editor
    byte = len(editor.text()[: editor.text().index(at) + len(at) - 1].encode())
    x = editor.ask(editor.SCI_POINTXFROMPOSITION, 0, byte) + 2
    y = editor.ask(editor.SCI_POINTYFROMPOSITION, 0, byte) + 5
    place = QPoint(x, y)
    viewport = editor.viewport()
    kind = QHelpEvent.Type.ToolTip
    QApplication.sendEvent(viewport, QHelpEvent(kind, place, viewport.mapToGlobal(place)))
    await bench.settled()
    return str(page.hovering.shown)


async def test_a_name_is_told_with_its_value_and_the_newest_run(bench: Bench) -> None:
    (bench.root / "bias.cir").write_text(CIRCUIT)
    (bench.root / "stage.lib").write_text(STAGE)
    await bench.front("bias.cir")
    page = bench.window.parts.editor.current_page()
    assert page is not None
    assert "Voltage" not in await rest(bench, "R1 vcc mid")
    QTest.keyClick(page.editor, Qt.Key.Key_Shift)
    assert page.hovering.shown == ""
    assert (await rest(bench, ".o")).split("\n")[:2] == [".op", "operating point: the DC solution"]
    assert (await bench.run("bias.cir")).ok
    node = await rest(bench, "R1 vcc mid")
    assert node.startswith("mid\nnode\nVoltage\n1.99")
    assert "R1, R2, R3, X1 in" in node
    assert "Operating point of run" in node
    element = await rest(bench, "\nR1")
    assert "{rtop}\n3.000" in element
    assert "kΩ" in element
    instance = await rest(bench, "\nX1")
    assert "Follower with a load" in instance
    assert "out\ntail" in instance
    page.editor.go_to(10)
    page.editor.insert("R4 mid 0 1k\n")
    await bench.until(lambda: page.facts is not None)
    assert "of an older text" in await rest(bench, "R1 vcc mid")
    page.editor.undo()
    await bench.until(lambda: page.facts is not None)
    assert "of an older text" not in await rest(bench, "R1 vcc mid")
    bench.services.language.set("zh")
    assert "电压" in await rest(bench, "R1 vcc mid")
    bench.services.language.set("en")
    await bench.front("stage.lib")
    inner = await rest(bench, "E1 o")
    assert inner.startswith("out\nnode of the subcircuit stage")


async def test_a_card_says_what_the_shown_span_comes_to(bench: Bench) -> None:
    (bench.root / "sine.cir").write_text("* sine\nV1 in 0 SIN(1 2 1k)\nR1 in 0 1k\n.tran 1u 4m\n.end\n")
    await bench.front("sine.cir")
    assert "shown span" not in await rest(bench, "V1 in")
    await bench.run("sine.cir")
    told = dict(zip(*2 * [iter((await rest(bench, "V1 in")).split("\n")[2:])], strict=False))
    assert told["Minimum of the shown span"].startswith("\N{MINUS SIGN}1.0")
    assert told["Maximum of the shown span"].startswith("3.00")
    assert told["RMS of the shown span"].startswith("1.73")  # sqrt(1 + 2)
    area = bench.panel.area
    area.zoom_into(area.panes[0], (0.0, 0.25e-3), None)
    told = (await rest(bench, "V1 in")).split("\n")
    assert told[told.index("Minimum of the shown span") + 1].startswith("1.00")
    assert "RMS of the shown span" in await rest(bench, "\nR1")  # of an element its current
