"""The Components panel: what is typed is found, seen in curves, and put into the circuit by one step."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from presentation.panels.components import library_folders
from presentation.panels.components import panel as components_panel
from presentation.panels.components.panel import ComponentsPanel
from presentation.window import bill_of_materials
from tests.gui.test_which_circuit import Bench, bench

__all__ = ["bench"]

CIRCUIT = "* amp\r\nVCC vcc 0 12\r\nVEE vee 0 -12\r\nR1 in out 1k\r\nC1 out 0 1n\r\n.op\r\n.end\r\n"
OP_AMP = """* OPX dual op-amp, GBW 12 MHz
* connections: non-inverting input
*              | inverting input
*              | | V+
*              | | | V-
*              | | | | output
.subckt OPX 1 2 3 4 5
G1 0 5 1 2 1
R1 5 0 100k
C1 5 0 13n
R3 3 4 10k
.ends
.model BADQ NPN(BF=abc)
.model QZ NPN(Vceo=65)
.subckt LOST a b
X1 a b NOWHERE
.ends
"""


async def panel_of(bench: Bench) -> ComponentsPanel:
    (bench.root / "parts").mkdir()
    (bench.root / "parts" / "op x.lib").write_text(OP_AMP)
    (bench.root / "amp.cir").write_bytes(CIRCUIT.encode())
    await bench.front("amp.cir")
    bench.window.panes.show_panel("components")
    await bench.until(lambda: bench.window.findChild(ComponentsPanel))
    found: ComponentsPanel = bench.window.findChild(ComponentsPanel)
    return found


async def typed(bench: Bench, panel: ComponentsPanel, words: str, first: str) -> None:
    panel.search.clear()
    QTest.keyClicks(panel.search, words)
    await bench.until(lambda: panel.found and panel.found[0].name == first)


@pytest.mark.timeout(120)
async def test_a_component_is_found_seen_and_inserted_with_its_pins(bench: Bench) -> None:
    panel = await panel_of(bench)
    viewer = panel.viewer
    await typed(bench, panel, "dual op-amp above 11 MHz", "OPX")
    assert len(panel.found) == 1
    await bench.until(lambda: viewer.component is not None and viewer.component.name == "OPX")
    await bench.until(lambda: viewer.chart.content is not None)
    [line] = viewer.chart.content.lines
    gains = dict(line.points)
    assert max(gains.values()) == pytest.approx(94, abs=0.5)  # 1 S into 50 kOhm, the load among them
    assert ".subckt OPX" in viewer.text.toPlainText()
    assert [field.text() for field in viewer.fields] == ["inp", "inn", "vcc", "vee", "out"]
    assert viewer._pins.height() > 5 * viewer.fields[0].sizeHint().height()
    for at, node in ((0, "in"), (1, "out")):
        viewer.fields[at].setText(node)
    assert viewer.line.text() == '.include "parts/op x.lib"\nX1 in out vcc vee out OPX'
    viewer.fields[1].setText("a b")
    assert not viewer.insert_button.isEnabled()
    viewer.fields[1].setText("out")
    page = bench.window.parts.editor.current_page()
    page.editor.go_to(4)
    QTest.mouseClick(viewer.insert_button, Qt.MouseButton.LeftButton)
    lines = page.editor.text().split("\r\n")
    assert lines[1] == '.include "parts/op x.lib"'
    assert lines[5] == "X1 in out vcc vee out OPX"
    await bench.until(lambda: page.examination.problems is not None)
    page.editor.undo()
    assert page.editor.text() == CIRCUIT

    await typed(bench, panel, "npn vceo>60", "QZ")
    await bench.until(lambda: viewer.chart.content is not None and len(viewer.chart.content.lines) == 5)
    assert [field.text() for field in viewer.fields] == ["collector", "base", "emitter"]
    await typed(bench, panel, "4.99k resistor", "4.99k")
    QTest.keyClick(panel.search, Qt.Key.Key_Return)
    assert "R2 n1 n2 4.99k" in page.editor.text()
    assert ".include" not in page.editor.text()


async def test_further_rows_keep_what_is_chosen(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list goes on where it was read to when somebody walks down with the arrow keys."""
    monkeypatch.setattr(components_panel, "_PAGE", 8)
    panel = await panel_of(bench)
    await bench.until(lambda: len(panel.found) == 8)
    await bench.settled()
    panel.table.selectRow(7)
    panel._more()
    await bench.until(lambda: len(panel.table.rows) == 16)
    assert panel.table.selected_rows() == [7]
    QTest.keyClick(panel.search, Qt.Key.Key_Down)
    assert panel.table.selected_rows() == [8]
    await bench.settled()


async def test_a_faulty_component_is_shown_with_its_fault_and_not_inserted(bench: Bench) -> None:
    panel = await panel_of(bench)
    viewer = panel.viewer
    await typed(bench, panel, "BADQ", "BADQ")
    await bench.until(viewer.fault.isVisible)
    assert viewer.fault.text() == (
        "op x.lib:13: bf=abc in the .model card of BADQ is not a number. "
        "Correct the value in the library file."
    )
    assert not viewer.insert_button.isEnabled()
    assert panel.table.rows[0][1].color == "error.text"
    panel.search.setText("nothing like it")
    await bench.until(lambda: "nothing like" in panel._note.text())
    assert not viewer.isVisible()
    bench.services.language.set("zh")
    panel.search.clear()
    await bench.until(lambda: panel._chips["opamp"].text().startswith("运放"))
    panel.search.setText("运放 11 MHz 以上")
    await bench.until(lambda: panel.found and panel.found[0].name == "OPX")
    bench.services.language.set("en")


async def test_the_bill_of_materials_of_the_circuit_is_shown_and_saved(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.root / "amp.cir").write_bytes(CIRCUIT.replace("1n", "3.37n").encode())
    await bench.front("amp.cir")
    target = bench.root / "amp-bom.md"

    async def chosen(*_given: object) -> Path:
        return target

    monkeypatch.setattr(bill_of_materials, "choose_target", chosen)
    bench.window.commands.action("billOfMaterials").trigger()
    await bench.until(lambda: bench.window.findChild(bill_of_materials.BillDialog))
    dialog = bench.window.findChild(bill_of_materials.BillDialog)
    await bench.until(dialog.isVisible)
    told = [[cell.text for cell in row] for row in dialog.table.rows]
    assert told == [
        ["1", "resistor", "1 kOhm", "E6", "R1"],
        ["1", "capacitor", "3.37 nF", "in no E-series; nearest in E24: 3.3 nF", "C1"],
    ]
    QTest.mouseClick(dialog.save_button, Qt.MouseButton.LeftButton)
    await bench.until(target.exists)
    assert "| 1 | resistor | 1 kOhm |" in target.read_text()


async def test_a_library_folder_counts_at_once_and_the_programs_models_are_found_by_their_titles(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = await panel_of(bench)
    folder = tmp_path / "vendor & sons"
    folder.mkdir()
    (folder / "new.lib").write_text(".model QNEW NPN(Vceo=65)\n")
    page = bench.window.parts.editor.current_page()
    page.editor.setText(CIRCUIT.replace("R1 in out 1k", ".include new.lib\r\nQ1 in out 0 QNEW"))
    await bench.until(lambda: [each for each in page.examination.problems if each.severity == "error"])

    async def chosen(*_given: object) -> Path:
        return folder

    monkeypatch.setattr(library_folders, "choose_folder", chosen)
    QTest.mouseClick(panel.folders.button, Qt.MouseButton.LeftButton)
    titles = {action.text(): action for action in panel.folders.menu.actions()}
    titles["Add a library folder…"].trigger()
    panel.folders.menu.close()
    panel.search.setText("QNEW")
    await bench.until(lambda: [each.name for each in panel.found] == ["QNEW"])
    await bench.until(lambda: not [each for each in page.examination.problems if each.severity == "error"])
    (folder / "new.lib").write_text("* \n.model QNEW NPN(Vceo=65)\n.model QNEW2 PNP(Vceo=65)\n")
    panel._looked_at = 0.0  # time passes
    panel.search.setText("QNEW2")
    await bench.until(lambda: [each.name for each in panel.found] == ["QNEW2"])
    QTest.keyClick(panel.folders.button, Qt.Key.Key_Space)
    [remove] = [each for each in panel.folders.menu.actions() if each.text().startswith("Remove")]
    assert remove.text().endswith("vendor && sons")
    remove.trigger()
    panel.folders.menu.close()
    await bench.until(lambda: not panel.found)
    await bench.until(lambda: [each for each in page.examination.problems if each.severity == "error"])

    bench.services.language.set("zh")
    panel.search.setText("高速开关二极管")
    await bench.until(lambda: [each.name for each in panel.found] == ["1N4148"])
    bench.services.language.set("en")
    panel.search.setText("fast signal diode")
    await bench.until(lambda: panel.viewer.component is not None and panel.viewer.component.name == "1N4148")
    QTest.keyClick(panel.search, Qt.Key.Key_Return)
    assert "\r\n.include 1N4148.lib\r\n" in page.editor.text()
    await bench.front("notes.txt")
    await bench.until(lambda: panel.viewer.line.text() == "Open a circuit in the editor first.")
    assert not panel.viewer.insert_button.isEnabled()
