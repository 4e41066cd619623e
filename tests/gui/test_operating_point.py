"""The operating point in the window: figures of the circuit in front, faults, staleness, empty states."""

from __future__ import annotations

from typing import Any

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QPushButton, QToolButton

from tests.gui.test_which_circuit import Bench, bench

__all__ = ["bench"]

AMPLIFIER = (
    "* common emitter\n.include 2N3904.lib\nVCC vcc 0 12\nVIN in 0 DC 0 AC 1\nC1 in b1 10u\n"
    "R1 vcc b1 {upper}\n.include lower.inc\nR3 vcc c1 10k\nR4 e1 0 1k\nQ1 c1 b1 e1 2N3904\n"
    ".ac dec 10 10 1meg\n.end\n"
)


def _rows(table: Any) -> list[list[str]]:
    return [[f"{cell.text} {cell.unit}".strip() for cell in row] for row in table.rows]


def _click(view: Any, kind: type, name: str) -> None:
    QTest.mouseClick(view.findChild(kind, name), Qt.MouseButton.LeftButton)


async def test_the_operating_point_follows_the_circuit_in_front_and_its_newest_run(bench: Bench) -> None:
    circuit = bench.root / "amp.cir"
    circuit.write_text(AMPLIFIER.format(upper="120k"))
    included = bench.root / "lower.inc"
    included.write_text("R2 b1 0 15k\n")
    tabs = bench.window.parts.bottom.tabs
    view = bench.window.parts.runs.operating_point
    place = tabs.tabRect(bench.window.parts.bottom._pages.index_of("operating_point")).center()
    QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=place)
    await bench.until(view.isVisible)
    empty = view.findChild(QLabel, "operating_point_empty")
    await bench.front("amp.cir")
    await bench.until(lambda: empty.text().startswith("amp.cir has not been simulated yet."))

    result = await bench.run("amp.cir")
    QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=place)  # a run brings its curves to the front
    await bench.until(lambda: view.devices.rows)
    await bench.settled()
    assert view.findChild(QLabel, "operating_point_run").text() == "amp.cir · Run 1"
    (device,) = result.operating_point.devices
    (told,) = _rows(view.devices)
    assert told[:2] == ["Q1 npn", "active"]
    assert told[2] == f"{device.figures['ic'] * 1e6:.0f} µA"
    assert told[4] == f"{device.figures['vce']:.2f} V"
    assert told[5] == f"{device.figures['gm'] * 1e3:.1f} mS"
    assert ["c1", f"{result.operating_point.nodes['c1']:.2f} V"] in _rows(view.nodes)
    power = view.findChild(QLabel, "operating_point_power").text()
    told_power = f"{result.operating_point.power * 1e3:.2f} mW"
    balance = f"Sources deliver {told_power}, parts take {told_power}"
    assert power.replace("\u00a0", " ") == balance
    budget = _rows(view.budget)
    assert [row[0] for row in budget][-1] == "vcc"  # the largest taker first, what delivers last
    shares = [float(row[3].split()[0]) for row in budget if row[3]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=0.5)
    head = view.budget.horizontalHeader()
    for order in (sorted, lambda names: sorted(names, reverse=True)):
        place_of_head = QPoint(head.sectionViewportPosition(0) + 4, 4)
        QTest.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=place_of_head)
        names = [row[0] for row in _rows(view.budget)]
        assert names == list(order(names))
    assert view.notes == ""
    _click(view, QToolButton, "copy_operating_point")
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("amp.cir · Run 1\n\nDevice\tRegion\tIc\tVbe\tVce\tgm\tPower\nQ1")
    assert f"\nc1\t{result.operating_point.nodes['c1']:.2f} V" in copied

    # What it includes counts, too.
    included.write_text("R2 b1 0 14k\n")
    bench.services.workspace.file_changed.emit(included)
    await bench.until(lambda: view.notes == "The circuit has changed since this run.")
    included.write_text("R2 b1 0 15k\n")
    bench.services.workspace.file_changed.emit(included)
    await bench.until(lambda: view.notes == "")

    # Too much base current: the stage no longer amplifies, and who runs an .ac is told so.
    circuit.write_text(AMPLIFIER.format(upper="27k"))
    bench.services.workspace.file_changed.emit(circuit)
    await bench.until(lambda: view.notes == "The circuit has changed since this run.")
    assert _rows(view.devices) == [told]  # it stays to be read
    _click(view, QPushButton, "operating_point_again")
    await bench.until(lambda: len(bench.results) == 2)
    await bench.settled()
    QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=place)
    await bench.until(lambda: view.notes == "Q1 is saturated: its collector cannot follow a signal.")
    assert view.devices.rows[0][1].color == "warn.text"
    bench.services.theme.set_mode("dark")
    bench.services.language.set("zh")
    assert view.notes == "Q1 处于饱和区：集电极无法跟随信号。"
    assert _rows(view.devices)[0][1] == "饱和区"
    bench.services.language.set("en")

    # A circuit without transistors: nodes alone; then back to the amplifier and its newest run.
    await bench.front("bench.cir")
    await bench.until(lambda: empty.isVisible() and empty.text().startswith("bench.cir has not"))
    await bench.run("bench.cir")
    QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=place)
    await bench.until(lambda: ["a", "1.00 V"] in _rows(view.nodes))
    assert not view.devices.isVisible()
    await bench.front("amp.cir")
    await bench.until(view.devices.isVisible)
    assert view.findChild(QLabel, "operating_point_run").text() == "amp.cir · Run 2"
    # A run that was chosen among the results stays, whatever its circuit.
    bench.services.workspace.result_selected.emit(result.result_path)
    QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=place)
    await bench.until(lambda: view.notes == "The circuit has changed since this run.")
    assert _rows(view.devices) == [told]

    circuit.write_text(AMPLIFIER.format(upper="27k").replace("Q1 c1 b1 e1 2N3904", "Q1 c1 b1 e1 nothing"))
    await bench.run("amp.cir")
    QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=place)
    await bench.until(
        lambda: empty.text() == "This run failed and has no operating point. Problems says why."
    )
