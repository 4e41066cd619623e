"""The import of a model library in the Components panel: checks, pins, target, and nothing written before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from PyQt6.QtCore import QMimeData, QPointF, Qt, QUrl
from PyQt6.QtGui import QDragEnterEvent, QDropEvent
from PyQt6.QtTest import QTest

from domain.simulation.batch import Batch, RunOutcome
from presentation.panels.components import imports
from presentation.panels.components.import_page import ImportPage
from presentation.panels.components.panel import ComponentsPanel
from tests.fakes.vendor_libraries import write_libraries
from tests.gui.loop_watchdog import LoopWatchdog
from tests.gui.test_which_circuit import Bench, bench

if TYPE_CHECKING:
    from application.ports.simulation import BatchSimulator

__all__ = ["bench"]

LIBRARY = """* parts
.model QOK NPN(BF=100 mfg=NXP)
.model QBAD NPN(BF=abc)
.model 2N3904 NPN(BF=300)
* OPB op-amp, GBW 5 MHz
.subckt OPB 3 2 7 4 6
E1 6 0 3 2 1e5
R1 3 2 1meg
R2 7 4 10k
.ends OPB
.subckt HALF in out gnd
C1 in out 1u Rser=10m
R1 out gnd 1k
.ends
"""


def drop(panel: ComponentsPanel, *files: Path) -> bool:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    action, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(5, 5).toPoint(), action, data, button, none)
    enter.ignore()
    panel.dragEnterEvent(enter)
    if enter.isAccepted():
        panel.dropEvent(QDropEvent(QPointF(5, 5), action, data, button, none))
    return enter.isAccepted()


@pytest.mark.timeout(150)
async def test_a_dropped_library_is_checked_confirmed_imported_and_taken_back(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "away" / "vendor.cir"
    source.parent.mkdir()
    source.write_text(LIBRARY)
    bench.window.panes.show_panel("components")
    await bench.until(lambda: bench.window.findChild(ComponentsPanel))
    panel: ComponentsPanel = bench.window.findChild(ComponentsPanel)
    assert not drop(panel, tmp_path / "picture.png")
    assert drop(panel, source)
    page = panel.imports.page
    assert isinstance(page, ImportPage)
    await bench.until(page.next.isEnabled)
    told = {row[0].text: row[3].text for row in page.table.rows}
    assert told == {"QOK": "Loads", "QBAD": "Fails", "2N3904": "Loads", "OPB": "Loads", "HALF": "Loads"}
    assert page._details.text().startswith("Line 3: bf=abc in the .model card of QBAD is not a number.")
    page.table.selectRow(2)
    assert page._details.text() == "2N3904 is in 2N3904.lib, too. A circuit uses the one it includes."
    assert not (bench.root / "lib").exists()

    page.next.setFocus()
    QTest.keyClick(page, Qt.Key.Key_Return)
    pins = page.pins
    assert [pins.choice.itemText(at) for at in range(pins.choice.count())] == ["OPB", "HALF"]
    await bench.until(lambda: len(pins.fields) == 5)
    assert [field.currentText() for field in pins.fields] == ["in+", "in-", "V+", "V-", "out"]
    assert pins.unconfirmed() == 1
    assert not pins.confirm.isHidden()
    pins.fields[0].setCurrentText("two words")
    assert not page.next.isEnabled()
    assert page.refusal.text() == "Pin 1 of OPB needs one word for its use."
    pins.fields[0].setCurrentText("in-")
    pins.fields[1].setCurrentText("in+")
    assert (pins.unconfirmed(), page.next.isEnabled()) == (0, True)
    pins.choice.setCurrentIndex(1)
    assert pins.confirm.isHidden()  # its names tell
    bench.services.language.set("zh")
    assert page.next.text() == "继续"
    assert [field.currentText() for field in pins.fields] == ["in", "out", "gnd"]
    bench.services.language.set("en")
    QTest.mouseClick(page.next, Qt.MouseButton.LeftButton)
    target = page.target
    assert target.in_project.text() == "Into this project: lib/vendor.lib"
    assert target.converts
    assert "1 part does not load in ngspice" in target._notes.text()
    QTest.keyClick(page, Qt.Key.Key_Return)
    await bench.until((bench.root / "lib" / "vendor.lib").is_file)
    text = (bench.root / "lib" / "vendor.lib").read_text()
    assert "* pins: in- in+ V+ V- out\n.subckt OPB" in text
    assert "Rser" not in text
    assert source.read_text() == LIBRARY

    await bench.until(lambda: {each.name for each in panel.found} == set(told))
    assert panel.imports.isVisible()
    panel.search.setText("OPB")
    await bench.until(lambda: panel.viewer.component is not None and panel.viewer.component.name == "OPB")
    assert [panel.viewer.component.pin_label(at) for at in range(2)] == ["in-", "in+"]  # type: ignore[union-attr]
    QTest.mouseClick(panel.imports.undo, Qt.MouseButton.LeftButton)
    await bench.until(lambda: not (bench.root / "lib").exists())
    await bench.until(panel.imports.isHidden)

    # into a folder that becomes a library folder, from a second library that was asked for
    other = tmp_path / "empty.lib"
    other.write_text("* nothing\n")
    folder = tmp_path / "my library"
    folder.mkdir()

    async def chosen(*_given: object, **_more: object) -> tuple[Path, ...]:
        return (source,)

    async def place(*_given: object) -> Path:
        return folder

    monkeypatch.setattr(imports, "choose_files", chosen)
    monkeypatch.setattr("presentation.panels.components.import_target.choose_folder", place)
    assert drop(panel, other)
    await bench.until(lambda: "has no models and no subcircuits" in page.refusal.text())
    assert not page.next.isEnabled()
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert not page.isVisible()
    bench.window.commands.action("importModels").trigger()
    await bench.until(lambda: page.isVisible() and page.next.isEnabled())
    page.go_on()
    page.go_on()
    target.in_folder.setChecked(True)
    assert (page.next.isEnabled(), page.refusal.text()) == (False, "Choose a folder.")
    QTest.mouseClick(target.other, Qt.MouseButton.LeftButton)
    await bench.until(page.next.isEnabled)
    assert "1 subcircuit keeps the names of the pins" in target._notes.text()
    page.go_on()
    await bench.until((folder / "vendor.lib").is_file)
    await bench.until(lambda: bench.services.app.simulation.components.libraries() == (folder,))
    assert "* pins:" not in (folder / "vendor.lib").read_text()
    await bench.until(lambda: {each.name for each in panel.found} == set(told))
    assert panel.imports.undo.isHidden()


class _Takes:
    """Stands for ngspice, which takes every part."""

    async def run(self, batch: Batch, *, workers: int | None = None) -> AsyncIterator[RunOutcome]:
        del workers
        for each in batch.runs:
            yield RunOutcome(run_id=each.run_id, state="ok", plots=())


@pytest.mark.timeout(120)
async def test_a_file_of_thousands_of_parts_is_shown_without_holding_the_loop(
    bench: Bench, tmp_path: Path, loop_watchdog: LoopWatchdog
) -> None:
    """Rows, pins and target are made in turns of their own, fields of pins once they are seen."""
    count = 1_500
    write_libraries(tmp_path / "vendors", count)
    source = tmp_path / "all.lib"
    package = ".subckt PACKAGE " + " ".join(f"p{at}" for at in range(40)) + "\nR1 p0 p1 1k\n.ends\n"
    texts = [file.read_text() for file in sorted((tmp_path / "vendors").rglob("*.lib"))]
    source.write_text("\n".join([package, *texts]))
    bench.window.panes.show_panel("components")
    await bench.until(lambda: bench.window.findChild(ComponentsPanel))
    panel: ComponentsPanel = bench.window.findChild(ComponentsPanel)
    await bench.settled()
    page = ImportPage(bench.services, bench.services.app.project, bench.services.app.program)
    page._importing = replace(page._importing, batch=cast("BatchSimulator", _Takes()))
    panel._stack.addWidget(page)
    panel._stack.setCurrentWidget(page)
    async with loop_watchdog.watching():
        page.begin(source)
        await bench.until(page.next.isEnabled)
        page.go_on()
        await bench.until(lambda: len(page.pins.fields) == 40)
        page.go_on()
    assert page.found is not None
    assert len(page.found.parts) == count + 1
    assert len(page.table.rows) == 500
    assert page._summary.text().startswith("1501 parts, tried in ngspice: 1000 load, ")
    assert page.pins.choice.count() == count // 4 + 1
    assert page.pins.fields[39].currentText() == "p39"
    assert page.target.isVisible()
    assert page.table.rows[0][3].text == "Not tried"
    bench.services.language.set("zh")
    await bench.until(lambda: page.table.rows[0][3].text == "未试用")
    bench.services.language.set("en")
    await bench.settled()
