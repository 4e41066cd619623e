"""The schematic in the window: follows the text, the line and back, pages of subcircuits, figures, export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QToolButton

from presentation.panels.schematic import panel as panel_module
from tests.gui.test_which_circuit import Bench, bench

__all__ = ["bench"]

AMPLIFIER = (
    "* common emitter\nVCC vcc 0 12\nVIN in 0 DC 0 AC 1\nC1 in b1 10u\nR1 vcc b1 120k\nR2 b1 0 15k\n"
    "R3 vcc c1 10k\nR4 e1 0 1k\nQ1 c1 b1 e1 n\nC2 c1 out 1u\nRL out 0 100k\n.model n npn\n"
    ".ac dec 10 10 1meg\n.end\n"
)


async def _shown(bench: Bench) -> Any:
    """The panel, on its tab, with a finished drawing."""
    bench.window.commands.action("panel.schematic").trigger()
    view = bench.window.findChild(panel_module.SchematicPanel)
    await bench.until(lambda: view is not None and view.isVisible())
    await bench.until(lambda: view.feed.drawing is not None and not view.feed.is_refining)
    await bench.settled()
    return view


def _click(view: Any, element: str, *, twice: bool = False) -> None:
    at = view.canvas.center_of(element).toPoint()
    QTest.mouseClick(view.canvas, Qt.MouseButton.LeftButton, pos=at)
    if twice:
        QTest.mouseDClick(view.canvas, Qt.MouseButton.LeftButton, pos=at)
        QTest.mouseRelease(view.canvas, Qt.MouseButton.LeftButton, pos=at)


def _places(view: Any) -> dict[str, tuple[int, int]]:
    return {name: (place.x, place.y) for name, place in view.feed.drawing.places.items()}


@pytest.mark.timeout(120)
async def test_the_schematic_follows_the_text_and_leads_to_it(bench: Bench, monkeypatch: Any) -> None:
    circuit = bench.root / "amp.cir"
    circuit.write_text(AMPLIFIER)
    await bench.front("amp.cir")
    view = await _shown(bench)
    assert set(view.feed.drawing.elements) >= {"Q1", "R1", "VCC", "RL"}
    editor = bench.window.parts.editor

    # A click shows the line, the keyboard stays; the caret selects the element.
    _click(view, "R3")
    assert editor.front()[1] == 7
    assert view.canvas.hasFocus()
    assert view.canvas.selected.element == "R3"
    editor.current_editor().go_to(9)
    await bench.until(lambda: view.canvas.selected.element == "Q1")
    # A double click goes to the value.
    _click(view, "R4", twice=True)
    assert editor.front()[1:3] == (8, len("R4 e1 0 ") + 1)

    # Another value moves nothing; another element leaves the others where they are.
    before, wires = _places(view), view.feed.drawing.wires
    editor.current_editor().setText(AMPLIFIER.replace("R3 vcc c1 10k", "R3 vcc c1 8.2k"))
    await bench.until(lambda: any(text.text == "8.2k" for text in view.feed.drawing.texts))
    assert (_places(view), view.feed.drawing.wires) == (before, wires)
    editor.current_editor().setText(AMPLIFIER.replace(".model", "C3 e1 0 47u\n.model"))
    await bench.until(lambda: "C3" in view.feed.drawing.elements)
    assert {name: at for name, at in _places(view).items() if name in before} == before
    # A line that cannot be drawn is said, and the rest stays.
    editor.current_editor().setText(AMPLIFIER.replace("RL out 0 100k", "RL out"))
    await bench.until(lambda: view.findChild(QLabel, "schematic_note").isVisible())
    assert view.findChild(QLabel, "schematic_note").text() == "Line 11 cannot be drawn: RL has too few nodes."
    bench.services.language.set("zh")
    assert view.findChild(QLabel, "schematic_note").text().startswith("第 11 行无法绘制")
    bench.services.language.set("en")
    bench.services.theme.set_mode("dark")
    editor.current_editor().setText(AMPLIFIER)
    await bench.until(lambda: not view.findChild(QLabel, "schematic_note").isVisible())
    QTest.mouseClick(view.findChild(QToolButton, "schematic_tidy"), Qt.MouseButton.LeftButton)
    await bench.until(lambda: view.feed.drawing is not None and not view.feed.is_refining)
    await bench.settled()

    # Symbols, zoom, keys.
    resistor = next(each for each in view.feed.drawing.symbols if each.element == "R3")
    view._menu().menu.findChild(object, "symbols_us").trigger()
    await bench.until(
        lambda: (
            len(next(s for s in view.feed.drawing.symbols if s.element == "R3").strokes[-1].points)
            != len(resistor.strokes[-1].points)
        )
    )
    zoom = view.canvas.zoom
    QTest.keyClick(view.canvas, Qt.Key.Key_Plus)
    assert view.canvas.zoom > zoom
    QTest.keyClick(view.canvas, Qt.Key.Key_Space)
    assert view.canvas.zoom == pytest.approx(zoom)
    QTest.keyClick(view.canvas, Qt.Key.Key_N)
    assert view.canvas.selected.element

    # As a file.
    target = bench.root / "amp.svg"

    async def chosen(*_arguments: object) -> Path:
        return target

    monkeypatch.setattr(panel_module, "choose_target", chosen)
    view._menu().menu.findChild(object, "export_svg").trigger()
    await bench.until(target.exists)
    await bench.settled()
    assert 'data-element="Q1"' in target.read_text()


async def test_pages_of_subcircuits_and_files_without_a_drawing(bench: Bench) -> None:
    await bench.front("sub/opamp.cir")
    view = await _shown(bench)
    assert view.findChild(QToolButton, "schematic_up").isHidden()
    _click(view, "X1", twice=True)
    await bench.until(lambda: view.feed.drawing is not None and view.feed.drawing.scope == "op")
    await bench.settled()
    assert {each.element for each in view.feed.drawing.symbols} >= {"p", "n", "o", "E1"}
    QTest.mouseClick(view.findChild(QToolButton, "schematic_up"), Qt.MouseButton.LeftButton)
    await bench.until(lambda: view.feed.drawing is not None and view.feed.drawing.scope == "")
    await bench.settled()
    await bench.front("notes.txt")
    assert view.feed.drawing is None
    assert view._empty.findChild(QLabel).text() == "This file is not a netlist and has no schematic."
    await bench.front("rc.cir")
    await bench.until(lambda: view.feed.drawing is not None and "C1" in view.feed.drawing.elements)
    QTest.mouseClick(view.canvas, Qt.MouseButton.LeftButton, pos=QPoint(2, 2))
    assert view.canvas.selected == ("", "")


@pytest.mark.timeout(120)
async def test_the_operating_point_stands_at_nodes_and_transistors(bench: Bench) -> None:
    circuit = bench.root / "amp.cir"
    circuit.write_text(AMPLIFIER)
    result = await bench.run("amp.cir")
    view = await _shown(bench)
    QTest.mouseClick(view.findChild(QToolButton, "schematic_point"), Qt.MouseButton.LeftButton)
    await bench.until(lambda: view.canvas._extra)
    told = {(text.net or text.element): text.text for text in view.canvas._extra}
    assert told["c1"] == f"{result.operating_point.nodes['c1']:.2f}\u00a0V"
    assert "active" in {text.text for text in view.canvas._extra if text.element == "Q1"}
    boxes = [text.box for text in view.canvas._extra]
    assert len(boxes) == len(set(boxes))
    view.point.setChecked(False)
    assert view.canvas._extra == ()
