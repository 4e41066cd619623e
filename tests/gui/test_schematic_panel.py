"""The schematic in the window: follows the text, the line and back, pages of subcircuits, figures, export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel, QToolButton

from domain.circuit.schematic.judging import spans_of
from domain.circuit.schematic.reading_back import read_back
from presentation.panels.schematic import panel as panel_module
from presentation.panels.schematic.hit import Hit
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
    # A double click changes the value in place, as one step of undo of the text; Return goes there.
    _click(view, "R4", twice=True)
    card = view.values.card
    assert card.isVisible()
    assert card.field.text() == "1k"
    for wrong in ("1k2k 3", "", "1k; .include x"):
        card.field.setText(wrong)
        QTest.keyClick(card.field, Qt.Key.Key_Return)
        assert card.isVisible()
        assert "4.7k" in card.problem.text()
    card.field.setText("1.2k")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    await bench.until(
        lambda: editor.current_editor().text() == AMPLIFIER.replace("R4 e1 0 1k", "R4 e1 0 1.2k")
    )
    await bench.until(lambda: any(text.text == "1.2k" for text in view.feed.drawing.texts))
    assert view.canvas.hasFocus()
    bench.services.shortcuts.trigger("schematic.undo")
    assert editor.current_editor().text() == AMPLIFIER
    view.canvas.select(Hit("Q1"))
    QTest.keyClick(view.canvas, Qt.Key.Key_F2)
    assert card.field.text() == "n"
    card.field.setText("two words")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    assert "2N3904" in card.problem.text()
    QTest.keyClick(card.field, Qt.Key.Key_Escape)
    assert not card.isVisible()
    view.canvas.select(Hit("R4"))
    QTest.keyClick(view.canvas, Qt.Key.Key_Return)
    assert editor.front()[1:3] == (8, len("R4 e1 0 ") + 1)

    # A search walks through what it finds, in any language of the window.
    view.canvas.setFocus()
    view.canvas.select(Hit())
    QTest.keyClick(view.canvas, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    bar = view.find_bar
    assert bar.field.hasFocus()
    QTest.keyClicks(bar.field, "r")
    walked = []
    for _ in range(5):
        walked.append(view.canvas.selected.element)
        QTest.keyClick(bar.field, Qt.Key.Key_Return)
    assert set(walked) == {"R1", "R2", "R3", "R4", "RL"}
    bar.field.setText("")
    QTest.keyClicks(bar.field, "out")
    assert (view.canvas.selected, bar.count.text()[:4]) == (Hit("", "out"), "1 of")
    QTest.keyClicks(bar.field, "nowhere")
    assert bar.count.text() == "No match"
    QTest.keyClick(bar.field, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert view.canvas.hasFocus()
    # The pointer at rest tells what the text tells of the same name.
    await bench.until(lambda: editor.current_page().facts is not None)
    view.canvas.rested.emit("R3", "", view.canvas.mapToGlobal(QPoint(60, 60)))
    await bench.until(lambda: "R3" in view.hovering.shown)
    view.canvas.rested.emit("", "c1", view.canvas.mapToGlobal(QPoint(60, 60)))
    await bench.until(lambda: "Q1" in view.hovering.shown)
    QTest.keyClick(view.canvas, Qt.Key.Key_N)
    assert view.hovering.shown == ""
    editor.current_editor().setText(AMPLIFIER)
    await bench.settled()

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
    (bench.root / "sheet.asc").write_text("Version 4\nSHEET 1 880 680\n")
    await bench.front("sheet.asc")
    assert view._empty.findChild(QLabel).text() == "Once this schematic is imported, it is drawn here."
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


async def test_clicks_and_drags_in_the_schematic_plot(bench: Bench) -> None:
    (bench.root / "amp.cir").write_text(AMPLIFIER.replace(".ac dec 10 10 1meg", ".tran 10u 1m"))
    await bench.front("amp.cir")
    view = await _shown(bench)
    canvas, parts = view.canvas, bench.window.parts
    told: list[str] = []
    bench.services.workspace.status_changed.connect(lambda message: told.append(str(message)))
    canvas.setFocus()

    def drawn() -> list[str]:
        return [trace.expression for trace in parts.runs.waveforms.traces]

    def at(net: str) -> QPoint:
        """A place of a wire where nothing else is."""
        spans = [span for name, span in spans_of(view.feed.drawing.wires) if name == net]
        places = [canvas._pixel((x1 + x2) / 2, (y1 + y2) / 2) for x1, y1, x2, y2 in spans]
        return next(place for place in places if canvas.hit(place) == Hit("", net)).toPoint()

    # Without a result a click shows the line and plots nothing.
    _click(view, "R3")
    assert not canvas.pointing.is_on
    bench.services.workspace.run_requested.emit()
    await bench.until(lambda: bool(drawn()) and canvas.pointing.is_on)
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at("c1"))
    await bench.until(lambda: "v(c1)" in drawn())
    _click(view, "R3")
    await bench.until(lambda: "i(r3)" in drawn())
    QTest.mouseClick(
        canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, canvas.center_of("Q1").toPoint()
    )
    await bench.until(lambda: "p(q1)" in drawn())
    for what, held in (
        ("current", Qt.KeyboardModifier.NoModifier),
        ("power", Qt.KeyboardModifier.AltModifier),
    ):
        assert not canvas.pointing.cursor(Hit("R3"), held).pixmap().isNull(), what
    # From net to net the difference; released beside everything nothing.
    for target, expected in ((at("e1"), ["v(c1,e1)"]), (QPoint(3, 3), [])):
        before = drawn()
        QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=at("c1"))
        QTest.mouseMove(canvas, target)
        assert canvas.pointing.line is not None
        assert not canvas.grab().isNull()
        QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=target)
        await bench.until(lambda wanted=before + expected: drawn() == wanted)
    # A second click on a net leaves only it; the plot's undo brings the others back.
    others = drawn()
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at("b1"))
    await bench.until(lambda: "v(b1)" in drawn())
    QTest.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=at("b1"))
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=at("b1"))
    await bench.until(lambda: drawn() == ["v(b1)"])
    await bench.settled()
    bench.services.shortcuts.trigger("plot.undo")
    await bench.until(lambda: set(others) <= set(drawn()))

    # The menu of what is under the pointer.
    rows = {row.text().split("\t")[0]: row for row in view._menu(Hit("Q1")).menu.actions()}
    assert [*rows][:3] == ["Plot current of Q1", "Plot power of Q1", "Plot the current into a pin"]
    next(
        each for each in rows["Plot the current into a pin"].menu().actions() if each.text() == "b"
    ).trigger()
    await bench.until(lambda: "ib(q1)" in drawn())
    rows = {row.text(): row for row in view._menu(Hit("", "vcc")).menu.actions()}
    rows["Plot the difference with…"].trigger()
    assert told[-1] == "Click the net to measure vcc against."
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at("c1"))
    await bench.until(lambda: "v(vcc,c1)" in drawn())
    rows["Use vcc as reference node"].trigger()
    await bench.until(lambda: bench.services.workspace.reference_node == "vcc")
    view.probe.plot("", "0", "voltage")
    assert told[-1] == "Ground is 0 V: voltages are measured against it."
    await bench.until(lambda: parts.editor.current_page().facts is not None)
    view.canvas.rested.emit("Q1", "", canvas.mapToGlobal(QPoint(60, 60)))
    await bench.until(lambda: "mA" in view.hovering.shown or "µA" in view.hovering.shown)

    # Esc turns probing off, Alt+Q on: a click then shows the line alone.
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert not canvas.pointing.is_on
    assert told[-1].endswith("Alt+Q turns that on again.")
    before = drawn()
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at("out"))
    QTest.keyClick(canvas, Qt.Key.Key_Q, Qt.KeyboardModifier.AltModifier)
    assert canvas.pointing.is_on
    await bench.settled()
    assert drawn() == before


async def test_nets_inside_a_subcircuit_are_those_of_its_first_instance(bench: Bench) -> None:
    (bench.root / "lib").mkdir()
    (bench.root / "lib" / "half.lib").write_text(".subckt half a b\nRa a mid 1k\nRb mid b 1k\n.ends half\n")
    (bench.root / "top.cir").write_text(
        "* halves\n.include lib/half.lib\nV1 in 0 SIN(0 1 1k)\nX7 in 0 half\nR9 in 0 1k\n.tran 10u 1m\n.end\n"
    )
    await bench.front("top.cir")
    view = await _shown(bench)
    bench.services.workspace.run_requested.emit()
    await bench.until(lambda: view.canvas.pointing.is_on)
    view.feed.open_scope(view.canvas.symbol_of("X7").inside)
    await bench.until(lambda: view.canvas.symbol_of("Ra") is not None)
    panel = bench.window.parts.runs.waveforms
    for element, net, what, wanted in (
        ("", "mid", "voltage", "v(x7.mid)"),
        ("Rb", "", "current", "i(x7.rb)"),
    ):
        view.probe.plot(element, net, what)
        await bench.until(lambda wanted=wanted: wanted in [trace.expression for trace in panel.traces])


@pytest.mark.timeout(120)
async def test_parts_moved_by_hand_stay_and_come_back(bench: Bench) -> None:
    (bench.root / "amp.cir").write_text(AMPLIFIER)
    await bench.front("amp.cir")
    view = await _shown(bench)
    canvas, first = view.canvas, _places(view)
    nets = read_back(view.feed.drawing)
    told: list[str] = []
    bench.services.workspace.status_changed.connect(lambda message: told.append(str(message)))

    def drag(element: str, columns: int, rows: int) -> None:
        start = canvas.center_of(element).toPoint()
        step = canvas._pixel(columns, rows) - canvas._pixel(0, 0)
        QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=start)
        QTest.mouseMove(canvas, start + step.toPoint())
        assert canvas.lifting.is_moving
        assert not canvas.grab().isNull()
        QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=start + step.toPoint())

    # Where something stands nothing is put, and that is said.
    x, y = (there - here for there, here in zip(first["r4"], first["rl"], strict=True))
    drag("RL", x, y)
    await bench.until(lambda: told and told[-1] == "RL cannot stand there: it would lie over something.")
    assert _places(view) == first
    # Elsewhere it stays, with wires drawn anew; nothing else moves.
    drag("RL", 6, 2)
    moved = first | {"rl": (first["rl"][0] + 6, first["rl"][1] + 2)}
    await bench.until(lambda: _places(view) == moved)
    assert read_back(view.feed.drawing) == nets
    assert bench.services.workspace.views.of(bench.root / "amp.cir").schematic[""]["rl"][:2] == moved["rl"]
    canvas.setFocus()
    canvas.select(Hit("RL"))
    QTest.keyClick(canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    await bench.until(lambda: _places(view)["rl"][0] == moved["rl"][0] + 1)
    QTest.keyClick(canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await bench.until(lambda: _places(view) == moved)
    # Drawn anew in another window it stands there too.
    view.feed._kept.clear()
    await bench.front("notes.txt")
    await bench.front("amp.cir")
    await bench.until(lambda: view.feed.drawing is not None and _places(view) == moved)
    # Tidied up all stand where they stood before; that can be undone as well.
    QTest.mouseClick(view.findChild(QToolButton, "schematic_tidy"), Qt.MouseButton.LeftButton)
    await bench.until(lambda: view.feed.drawing is not None and not view.feed.is_refining)
    await bench.until(lambda: _places(view) == first)
    assert bench.services.workspace.views.of(bench.root / "amp.cir").schematic == {}
    bench.services.shortcuts.trigger("schematic.undo")
    await bench.until(lambda: _places(view) == moved)
    await bench.settled()
