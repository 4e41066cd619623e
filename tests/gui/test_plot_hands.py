"""Mouse and keys in the plot: a box zooms, every step is undone, menus stand where the right button is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PyQt6.QtGui import QContextMenuEvent, QGuiApplication, QMouseEvent, QWheelEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QLabel, QLineEdit, QMenu, QPushButton, QWidget

from application.project.window_state import CircuitView
from application.simulation.simulating import SimulationRequest
from presentation.panels.bottom_pane import BottomPane
from presentation.panels.waveforms.axis_card import AxisCard
from presentation.panels.waveforms.cursors import CursorItem
from presentation.panels.waveforms.panel import WaveformsPanel
from presentation.panels.waveforms.plot_area import PlotArea
from presentation.panels.waveforms.span_card import SpanCard
from presentation.panels.waveforms.trace_list import TraceList, grouped, matching
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from shared.setting import read_fields, to_plain
from tests.gui.conftest import Until

FILTER = """* RC low-pass, fc = 1.59 kHz
V1 in 0 DC 1 AC 1 SIN(0 1 1k)
R1 in out 1k
C1 out 0 100n
.ac dec 20 10 1meg
.tran 10u 2m
.end
"""
LEFT, MIDDLE, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton
SHIFT, CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[WaveformsPanel]:
    (project / ".circuit_ai").mkdir()
    circuit = project / "filter.cir"
    circuit.write_text(FILTER, encoding="utf-8")
    services.workspace.root, services.workspace.main_circuit = project, circuit
    made: BottomPane = Parts(services, services.app).bottom
    made.resize(1000, 460)
    made.show()
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    await until(lambda: made.views.waveforms.area is not None and made.views.waveforms.traces)
    await until(lambda: not services.app.program.tasks.handles)
    yield made.views.waveforms
    await until(lambda: not services.app.program.tasks.handles)


def _area(panel: WaveformsPanel) -> PlotArea:
    assert panel.area is not None
    return panel.area


def _at(area: PlotArea, across: float, up: float, pane: int = 0) -> QPoint:
    """A place in a pane, in parts of its width and height from the left and below."""
    rect = area.pane_rect(pane)
    return QPointF(rect.left() + across * rect.width(), rect.bottom() - up * rect.height()).toPoint()


def _heights(area: PlotArea) -> list[tuple[float, float]]:
    return [tuple(pane.box.viewRange()[1]) for pane in area.panes]


async def _drag(
    area: PlotArea,
    until: Until,
    ends: tuple[QPoint, QPoint],
    *,
    button: Qt.MouseButton = LEFT,
    keys: Qt.KeyboardModifier = NONE,
    lets_go: bool = True,
) -> None:
    """Press at one end, move until the plot has taken it, let go at the other."""
    start, end = ends
    no_button = Qt.MouseButton.NoButton
    _send(area, QEvent.Type.MouseMove, start, no_button, no_button, keys)
    _send(area, QEvent.Type.MouseButtonPress, start, button, button, keys)
    for turn in range(10):
        _send(area, QEvent.Type.MouseMove, end - QPoint(0, turn % 2), no_button, button, keys)
        began = asyncio.get_running_loop().time()
        # The scene takes a hundred moves a second, and the two last ones count.
        await until(lambda began=began: asyncio.get_running_loop().time() - began > 0.011)
    if lets_go:
        _send(area, QEvent.Type.MouseButtonRelease, end, button, no_button, keys)


def _send(
    area: PlotArea,
    kind: QEvent.Type,
    place: QPoint,
    button: Qt.MouseButton,
    buttons: Qt.MouseButton,
    keys: Qt.KeyboardModifier,
) -> None:
    """What a mouse sends; QTest's own moves carry neither buttons nor modifiers."""
    viewport = area.viewport()
    where = QPointF(viewport.mapToGlobal(place))
    QApplication.sendEvent(viewport, QMouseEvent(kind, QPointF(place), where, button, buttons, keys))


async def test_a_drag_zooms_into_its_box_and_steps_go_back_one_by_one(
    panel: WaveformsPanel, until: Until
) -> None:
    area = _area(panel)
    whole, heights = area.view_range, _heights(area)
    await _drag(area, until, (_at(area, 0.25, 0.5), _at(area, 0.75, 0.51)))
    assert area.view_range == pytest.approx((2.25, 4.75), abs=0.03)
    assert _heights(area) == heights, "a flat box zooms along the axis alone"
    await until(lambda: not panel._zoomed.isActive())
    await _drag(area, until, (_at(area, 0.5, 0.25), _at(area, 0.505, 0.75)))
    assert area.view_range == pytest.approx((2.25, 4.75), abs=0.03)
    span = heights[0][1] - heights[0][0]
    assert _heights(area)[0] == pytest.approx(
        (heights[0][0] + span / 4, heights[0][0] + 3 * span / 4), abs=span / 50
    )
    assert _heights(area)[1] == heights[1]
    narrow = area.view_range, *_heights(area)
    await until(lambda: not panel._zoomed.isActive())
    panel.add_trace("v(in)")
    await until(lambda: len(panel.traces) == 2)
    QTest.keyClick(area, Qt.Key.Key_Z, CTRL)
    await until(lambda: [trace.expression for trace in panel.traces] == ["v(out)"])
    assert _heights(area)[0] == pytest.approx(narrow[1])
    assert area.view_range == pytest.approx(narrow[0])
    QTest.keyClick(area, Qt.Key.Key_Z, CTRL)
    assert _heights(area)[0] == pytest.approx(heights[0])
    QTest.keyClick(area, Qt.Key.Key_Backspace)
    assert area.view_range == pytest.approx(whole)
    for _ in range(3):
        QTest.keyClick(area, Qt.Key.Key_Y, CTRL)
    await until(lambda: len(panel.traces) == 2)
    assert _heights(area)[0] == pytest.approx(narrow[1])
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_F)
    assert area.view_range == pytest.approx(whole)
    QTest.keyClick(area, Qt.Key.Key_Plus)
    QTest.keyClick(area, Qt.Key.Key_Space)
    assert area.view_range == pytest.approx(whole)


async def test_a_box_says_its_size_while_it_is_drawn_and_escape_drops_it(
    panel: WaveformsPanel, until: Until
) -> None:
    panel.choose_plot(1)
    await until(lambda: panel.has_drawing and panel.axis_unit == "s")
    area = _area(panel)
    whole = area.view_range
    ends = _at(area, 0.25, 0.25), _at(area, 0.75, 0.75)
    await _drag(area, until, ends, lets_go=False)
    text = area.swept_text
    assert text.startswith(("Δt 1.0", "Δt 9"))
    assert "1/Δt" in text
    assert text.endswith("V")
    QTest.keyClick(area, Qt.Key.Key_Escape)
    assert area.swept_text == ""
    _send(area, QEvent.Type.MouseButtonRelease, ends[1], LEFT, Qt.MouseButton.NoButton, NONE)
    assert area.view_range == whole
    assert area.has_cursors, "the box alone was dropped"
    QTest.keyClick(area, Qt.Key.Key_Escape)
    assert not area.has_cursors
    await _drag(area, until, ends, keys=SHIFT)
    assert area.view_range == whole
    assert area.swept_text.startswith("Δt"), "it is measured, and stays to be read"
    QTest.mouseClick(area.viewport(), LEFT, NONE, ends[0])
    assert area.swept_text == ""


async def test_middle_drag_pans_and_right_drag_does_nothing(panel: WaveformsPanel, until: Until) -> None:
    area = _area(panel)
    whole, heights = area.view_range, _heights(area)
    assert whole is not None
    await _drag(area, until, (_at(area, 0.5, 0.5), _at(area, 0.3, 0.7)), button=RIGHT)
    assert (area.view_range, _heights(area)) == (whole, heights)
    assert QApplication.activePopupWidget() is None
    await _drag(area, until, (_at(area, 0.5, 0.5), _at(area, 0.3, 0.5)), button=MIDDLE)
    low, high = area.view_range or (0.0, 0.0)
    assert low == pytest.approx(whole[0] + 1.0, abs=0.05)
    assert high - low == pytest.approx(whole[1] - whole[0])


async def test_the_wheel_over_an_axis_turns_that_axis_and_shift_pans(
    panel: WaveformsPanel, until: Until
) -> None:
    area = _area(panel)
    whole, heights = area.view_range, _heights(area)
    assert whole is not None
    rect = area.pane_rect(0)

    def turn(place: QPointF, keys: Qt.KeyboardModifier = NONE) -> None:
        where = QPointF(area.mapToGlobal(place.toPoint()))
        phase = Qt.ScrollPhase.NoScrollPhase
        no_button = Qt.MouseButton.NoButton
        area.wheelEvent(QWheelEvent(place, where, QPoint(), QPoint(0, 120), no_button, keys, phase, False))

    turn(QPointF(rect.left() - 8, rect.center().y()))
    assert area.view_range == whole
    assert _heights(area)[0][1] - _heights(area)[0][0] < heights[0][1] - heights[0][0]
    turn(rect.center(), SHIFT)
    low, high = area.view_range or (0.0, 0.0)
    assert (low, high) == pytest.approx((whole[0] - 0.5, whole[1] - 0.5))
    # A double click on the labels of y fits what is shown, on those of x all of the axis.
    labels = QPoint(round(rect.left()) - 8, round(rect.center().y()))
    QTest.mouseDClick(area.viewport(), LEFT, NONE, labels)
    QTest.mouseRelease(area.viewport(), LEFT, NONE, labels)
    assert _heights(area)[0] == pytest.approx((-48.7, 2.76), abs=0.1), "to the gain at 316 kHz"
    assert area.view_range == pytest.approx((whole[0] - 0.5, whole[1] - 0.5))


async def test_a_double_click_fits_also_with_cursors_which_stay_where_they_were(
    panel: WaveformsPanel, until: Until
) -> None:
    area = _area(panel)
    whole, before = area.view_range, area.cursor_samples
    QTest.keyClick(area, Qt.Key.Key_Plus)
    place = _at(area, 0.4, 0.5)
    viewport = area.viewport()
    QTest.mouseClick(viewport, LEFT, NONE, place)
    assert area.cursor_samples != before
    QTest.mouseDClick(viewport, LEFT, NONE, place)
    QTest.mouseRelease(viewport, LEFT, NONE, place)
    assert area.view_range == pytest.approx(whole)
    assert area.cursor_samples == before


def _menu() -> QMenu:
    found = QApplication.activePopupWidget()
    assert isinstance(found, QMenu)
    return found


def _choose(menu: QMenu, name: str) -> None:
    next(each for each in _rows(menu) if each.objectName() == name).trigger()
    menu.close()


def _rows(menu: QMenu) -> list:  # type: ignore[type-arg]
    rows = []
    for action in menu.actions():
        inner = action.menu()
        rows.extend(_rows(inner) if isinstance(inner, QMenu) else [action])
    return rows


def _ask_menu(widget: QWidget) -> QMenu:
    place = widget.rect().center()
    QApplication.sendEvent(
        widget, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, widget.mapToGlobal(place))
    )
    return _menu()


async def test_menus_of_plot_and_chip_do_what_they_say(panel: WaveformsPanel, until: Until) -> None:
    area = _area(panel)
    place = _at(area, 0.2, 0.5)
    QTest.mouseClick(area.viewport(), RIGHT, NONE, place)
    menu = _menu()
    assert next(each for each in menu.actions() if each.objectName() == "fit").text() == "Show everything\tF"
    _choose(menu, "cursor_b_here")
    assert area.cursor_places is not None
    assert area.cursor_places[1] == pytest.approx(100.0, rel=0.13)
    panel.add_trace("v(in)")
    await until(lambda: len(panel.traces) == 2)

    _choose(_ask_menu(panel.chips.chips[0]), "v(in)")  # the difference
    await until(lambda: len(panel.traces) == 3)
    assert panel.traces[2].expression == "v(out)-v(in)"
    _choose(_ask_menu(panel.chips.chips[0]), "bandwidth({x})")
    await until(lambda: "bandwidth(ac.v(out))" in panel._shown.expressions)
    _choose(_ask_menu(panel.chips.chips[1]), "only")
    assert [trace.expression for trace in panel.traces] == ["v(in)"]
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_Z, CTRL)
    await until(lambda: len(panel.traces) == 3)

    color = panel.traces[0].color
    QTest.mouseDClick(panel.chips.chips[0], LEFT)
    field = panel.chips.field
    assert field.text() == "v(out)"
    field.clear()
    QTest.keyClicks(field, "v(out)/v(nowhere)")
    QTest.keyClick(field, Qt.Key.Key_Return)
    await until(lambda: field.property("state") == "error")
    field.clear()
    QTest.keyClicks(field, "v(out)/2")
    QTest.keyClick(field, Qt.Key.Key_Return)
    await until(lambda: panel.traces[0].expression == "v(out)/2")
    assert field.isHidden()
    assert panel.traces[0].color == color, "what takes a trace's place takes its color"

    area.zoom_into(area.panes[0], (2.0, 3.0), None)
    QTest.keyClick(area, Qt.Key.Key_C, CTRL)
    clipboard = QGuiApplication.clipboard()
    assert clipboard is not None
    await until(lambda: clipboard.text().startswith("frequency [Hz]\tv(out)/2 [dB]"))
    assert len(clipboard.text().splitlines()) == 22
    assert not clipboard.image().isNull()


async def test_a_click_on_an_axis_opens_its_card_and_what_is_typed_there_is_shown(
    panel: WaveformsPanel, until: Until
) -> None:
    area = _area(panel)
    rect = area.pane_rect(0)
    labels = QPoint(round(rect.left()) - 8, round(rect.center().y()))
    QTest.mouseClick(area.viewport(), LEFT, NONE, labels)
    card = area.findChild(AxisCard)
    assert isinstance(card, AxisCard)
    assert card.isVisible()
    card.low.setText("-40")
    card.high.setText("-50")
    QTest.keyClick(card.high, Qt.Key.Key_Return)
    assert card.isVisible(), "limits that are none stay to be fixed"
    assert card.high.property("state") == "error"
    card.high.setText("10")
    QTest.keyClick(card.high, Qt.Key.Key_Return)
    assert not card.isVisible()
    assert _heights(area)[0] == pytest.approx((-40.0, 10.0))

    QTest.mouseClick(area.viewport(), LEFT, NONE, labels)
    card.scales["log"].click()  # a gain has three scales
    await until(lambda: [pane.kind.is_log for pane in area.panes] == [True, False])
    assert area.panes[0].kind.unit == "V"
    QTest.mouseClick(area.viewport(), LEFT, NONE, labels)
    card.scales["dB"].click()
    await until(lambda: area.panes[0].kind.unit == "dB")

    place = area.cursor_places
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_X)
    await until(lambda: area.axis is not None and not area.axis.is_log)
    assert area.view_range == pytest.approx((10.0, 1e6))
    assert area.cursor_places == pytest.approx(place), "cursors stay on their frequencies"
    QTest.keyClick(area, Qt.Key.Key_G)
    assert not area.has_grid
    panel.choose_plot(1)
    await until(lambda: panel.axis_unit == "s")
    assert area.has_grid, "each analysis is looked at in its own way"
    panel.choose_plot(0)
    await until(lambda: panel.axis_unit == "Hz")
    assert not area.has_grid
    assert area.axis is not None
    assert not area.axis.is_log


async def test_keys_walk_peaks_and_traces_and_a_card_has_the_values_of_the_shown_span(
    panel: WaveformsPanel, until: Until
) -> None:
    panel.choose_plot(1)
    await until(lambda: panel.axis_unit == "s" and len(panel.traces) == 2)
    area = _area(panel)
    area.setFocus()
    area.set_cursor_places((0.0, 1.5e-3))
    QTest.keyClick(area, Qt.Key.Key_Down)
    assert panel.selected == "v(in)"
    QTest.keyClick(area, Qt.Key.Key_P)
    assert area.cursor_places is not None
    assert area.cursor_places[0] == pytest.approx(0.25e-3, abs=2e-5)
    QTest.keyClick(area, Qt.Key.Key_P)
    assert area.cursor_places[0] == pytest.approx(1.25e-3, abs=2e-5)
    QTest.keyClick(area, Qt.Key.Key_V, SHIFT)
    assert area.cursor_places[0] == pytest.approx(0.75e-3, abs=2e-5)
    QTest.keyClick(area, Qt.Key.Key_E)
    assert area.cursor_places[0] == pytest.approx(1e-3, abs=2e-5)
    area.zoom_into(area.panes[0], (0.0, 1e-3), None)
    QTest.mouseClick(panel.chips.chips[0], LEFT, CTRL)
    await until(lambda: (card := area.findChild(SpanCard)) is not None and card.isVisible())
    card = area.findChild(SpanCard)
    assert isinstance(card, SpanCard)
    told = dict(line.split("\t") for line in card.text.splitlines())
    assert told["v(in)"].endswith("1.000\u00a0ms")
    assert told["RMS"].startswith("706.") or told["RMS"].startswith("707.")
    keep = card.findChild(QPushButton, "keep:rms")
    assert isinstance(keep, QPushButton)
    keep.click()
    await until(lambda: any(text.startswith("rms(tran.v(in),0,1m") for text in panel._shown.expressions))
    QTest.keyClick(card, Qt.Key.Key_Escape)
    assert not card.isVisible()


async def test_names_colors_lines_and_panes_of_traces_stay_with_the_circuit(
    panel: WaveformsPanel, services: WindowServices, until: Until
) -> None:
    panel.choose_plot(1)
    await until(lambda: panel.axis_unit == "s" and len(panel.traces) == 2)
    area = _area(panel)
    _choose(_ask_menu(panel.chips.chips[1]), "color_6")
    await until(lambda: panel.traces[1].color == 6)
    _choose(_ask_menu(panel.chips.chips[1]), "line_dotted")
    await until(lambda: panel.traces[1].line == "dotted")
    _choose(_ask_menu(panel.chips.chips[1]), "rename")
    panel.chips.field.clear()
    QTest.keyClicks(panel.chips.field, "filtered")
    QTest.keyClick(panel.chips.field, Qt.Key.Key_Return)
    await until(lambda: panel.traces[1].name == "filtered")
    assert panel.chips.chips[1].shown_text == "filtered"
    panel.add_trace("2*filtered/v(in)")
    await until(lambda: [trace.expression for trace in panel.traces][2:] == ["2*v(out)/v(in)"])
    panel.remove_trace("2*v(out)/v(in)")
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_N)
    await until(lambda: len(area.panes) == 2)
    kept = services.workspace.views.kept(services.workspace.root)["filter.cir"]
    read = read_fields(CircuitView, to_plain(kept))
    assert read == kept, "what is kept is read as it was"
    assert read.styles["v(out)"].color == 6
    assert read.looks["tran"].panes == {"v(out)": 1}
    _choose(_ask_menu(panel.chips.chips[1]), "own_pane")
    await until(lambda: len(area.panes) == 1)
    for key, panes in ((Qt.Key.Key_Z, 2), (Qt.Key.Key_Z, 1), (Qt.Key.Key_Y, 2)):
        area.setFocus()
        QTest.keyClick(area, key, Qt.KeyboardModifier.ControlModifier)
        await until(lambda panes=panes: len(area.panes) == panes)
    assert kept.looks["tran"].panes == {"v(out)": 1}


async def test_horizontal_cursors_labels_and_what_is_under_the_pointer(
    panel: WaveformsPanel, services: WindowServices, until: Until
) -> None:
    panel.choose_plot(1)
    await until(lambda: panel.axis_unit == "s" and len(panel.traces) == 2)
    area = _area(panel)
    area.setFocus()
    no_button = Qt.MouseButton.NoButton
    _send(area, QEvent.Type.MouseMove, _at(area, 0.25, 0.9), no_button, no_button, NONE)
    assert area.readout.startswith("500.0\u00a0µs   v(")
    words = panel.findChild(QLabel, "plot_readout")
    at_the_end = words.x()
    scene = area.view.scene()
    b = next(item for item in scene.items() if isinstance(item, CursorItem) and item.letter == "B")
    area.set_cursor_places((area.axis.values[0], 0.95 * area.axis.values[-1]))
    _send(area, QEvent.Type.MouseMove, _at(area, 0.25, 0.85), no_button, no_button, NONE)
    assert words.x() < at_the_end
    assert not b.flag().intersects(QRectF(words.geometry())), "its letter can be read"
    area.set_cursor_places((area.axis.values[0], 0.75 * area.axis.values[-1]))
    area.redraw(at_once=True)
    assert not b.flag().intersects(QRectF(words.geometry())), "also where it went under the words"
    QTest.keyClick(area, Qt.Key.Key_H)
    first, second = area.levels.texts
    low, high = _heights(area)[0]
    assert first.endswith("V")
    assert "Δ" in second
    level = round(area.pane_rect(0).bottom() - area.pane_rect(0).height() * 2 / 3)
    start = QPoint(round(area.pane_rect(0).left()) + 30, level)
    await _drag(area, until, (start, start + QPoint(0, 20)))
    assert area.levels.texts[0] == first
    assert area.levels.texts[1] != second
    assert _heights(area)[0] == (low, high), "a level was dragged, not a box"
    QTest.keyClick(area, Qt.Key.Key_H)
    assert area.levels.texts == ()

    panel.choose_trace("v(out)")
    area.set_cursor_places((0.5e-3, 1.5e-3))
    QTest.keyClick(area, Qt.Key.Key_L)
    field = area.findChild(QLineEdit, "label_text")
    assert isinstance(field, QLineEdit)
    assert "\u00a0µs, " in field.text()
    assert field.text().endswith("\u00a0mV")
    field.setText("")
    QTest.keyClicks(field, "first fall")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert [label.text for label in area.labels.labels] == ["first fall"]
    kept = services.workspace.views.kept(services.workspace.root)["filter.cir"]
    assert read_fields(CircuitView, to_plain(kept)) == kept
    assert kept.looks["tran"].labels[0].at == pytest.approx(0.5e-3, abs=2e-5)
    _send(area, QEvent.Type.MouseMove, _at(area, 0.25, 0.9), no_button, no_button, NONE)
    assert area.readout
    panel.choose_plot(0)
    await until(lambda: panel.axis_unit == "Hz")
    assert not area.labels.labels
    assert area.readout == "", "what was read of other curves goes with them"
    panel.choose_plot(1)
    await until(lambda: panel.axis_unit == "s")
    assert [label.text for label in area.labels.labels] == ["first fall"]


async def test_page_keys_walk_the_runs_of_the_circuit(
    panel: WaveformsPanel, services: WindowServices, until: Until
) -> None:
    area, circuit = _area(panel), services.workspace.main_circuit
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)

    def number() -> int:
        loaded = panel._shown.loaded
        return 0 if loaded is None or loaded.figures is None else loaded.figures.number

    await until(lambda: number() == 2)
    QTest.keyClick(area, Qt.Key.Key_PageUp)
    await until(lambda: number() == 1)
    QTest.keyClick(area, Qt.Key.Key_PageDown)
    await until(lambda: number() == 2)


async def test_the_list_of_signals_is_filtered_and_ticked(panel: WaveformsPanel, until: Until) -> None:
    area = _area(panel)
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_Insert)
    found = area.findChild(TraceList)
    assert isinstance(found, TraceList)
    assert found.isVisible()
    QTest.keyClicks(found.field, "v(*")
    (voltages,) = [found.tree.topLevelItem(n) for n in range(found.tree.topLevelItemCount())]
    assert voltages is not None
    rows = {voltages.child(n).text(0): voltages.child(n) for n in range(voltages.childCount())}
    assert rows["v(out)"].checkState(0) == Qt.CheckState.Checked
    rows["v(in)"].setCheckState(0, Qt.CheckState.Checked)
    await until(lambda: [trace.expression for trace in panel.traces] == ["v(out)", "v(in)"])
    rows["v(out)"].setCheckState(0, Qt.CheckState.Unchecked)
    await until(lambda: [trace.expression for trace in panel.traces] == ["v(in)"])
    found.field.clear()
    QTest.keyClicks(found.field, "v(out)/v(in)")
    QTest.keyClick(found.field, Qt.Key.Key_Return)
    await until(lambda: len(panel.traces) == 2)
    assert found.isVisible(), "the next one may be added"
    QTest.keyClick(found.field, Qt.Key.Key_Escape)
    assert not found.isVisible()
    QTest.keyClick(area, Qt.Key.Key_Insert)
    area.setFocus()
    await until(lambda: not found.isVisible())  # another plot may be shown next
    names = ["v(in)", "v(x1.a)", "v(x1.b)", "i(v1)", "i(x2.r1)", "p(r1)", "@m1[gm]"]
    assert matching(names, "v(x1.*)") == ["v(x1.a)", "v(x1.b)"]
    groups = [(str(title), members) for title, members in grouped(names)]
    assert [title for title, _ in groups] == ["Voltages", "Currents", "Powers", "x1", "x2", "Others"]
