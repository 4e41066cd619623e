"""Traces between panes by mouse and menu, right axes, views kept by name, the eye diagram."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QAction, QContextMenuEvent, QMouseEvent, QWheelEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QMenu

from application.project.window_state import CircuitView
from application.simulation.simulating import SimulationRequest
from presentation.panels.bottom_pane import BottomPane
from presentation.panels.run_views import WAVEFORMS
from presentation.panels.waveforms.axis_card import AxisCard
from presentation.panels.waveforms.panel import WaveformsPanel
from presentation.panels.waveforms.plot_area import PlotArea
from presentation.panels.waveforms.trace_chip import TraceChip
from presentation.ui.field_card import FieldCard
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from shared.setting import read_fields, to_plain
from tests.gui.conftest import Until

CIRCUIT = """* data through a low-pass
V1 in 0 PULSE(0 1 5n 0.1n 0.1n 9.9n 20n)
R1 in out 1k
C1 out 0 1p
.tran 0.1n 400n
.ac dec 5 1k 1g
.end
"""
LEFT, NO_BUTTON = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
NO_KEY, SHIFT, CTRL = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)


@pytest.fixture
async def panel(services: WindowServices, project: Path, until: Until) -> AsyncIterator[WaveformsPanel]:
    (project / ".circuit_ai").mkdir()
    circuit = project / "data.cir"
    circuit.write_text(CIRCUIT, encoding="utf-8")
    services.workspace.root, services.workspace.main_circuit = project, circuit
    made: BottomPane = Parts(services, services.app).bottom
    made.resize(1200, 520)
    made.show()
    made.show_tab(WAVEFORMS)
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    found = made.views.waveforms
    await until(lambda: found.traces and not services.app.program.tasks.handles)
    _choose_analysis(found, "tran")
    await until(lambda: found.axis_unit == "s" and not services.app.program.tasks.handles)
    for name in ("v(in)", "v(out)", "i(v1)"):
        found.add_trace(name)
    await until(lambda: len(found.traces) == 3 and not services.app.program.tasks.handles)
    await until(lambda: len(_area(found).panes) == 2)
    yield found
    await until(lambda: not services.app.program.tasks.handles)


def _choose_analysis(panel: WaveformsPanel, kind: str) -> None:
    names = [panel.plot_choice.itemText(at) for at in range(panel.plot_choice.count())]
    panel.choose_plot(next(at for at, name in enumerate(names) if name.endswith(kind)))


def _area(panel: WaveformsPanel) -> PlotArea:
    assert panel.area is not None
    return panel.area


def _kinds(panel: WaveformsPanel) -> list[tuple[str, bool]]:
    return [(pane.kind.unit, pane.is_right) for pane in _area(panel).panes]


def _in_pane(panel: WaveformsPanel, number: int) -> list[str]:
    return [trace.expression for trace, _, _ in _area(panel).panes[number].lines if not trace.is_ghost]


def _chip(panel: WaveformsPanel, expression: str) -> TraceChip:
    return next(each for each in panel.chips.chips if each.text() == expression)


def _drag_chip(panel: WaveformsPanel, expression: str, target: QPoint) -> None:
    """By mouse to a place of the drawing."""
    chip, area = _chip(panel, expression), _area(panel)
    place = area.mapToGlobal(target)
    start = QPoint(10, chip.height() // 2)
    ways = (
        (QEvent.Type.MouseButtonPress, chip.mapToGlobal(start), LEFT, LEFT),
        (QEvent.Type.MouseMove, place, NO_BUTTON, LEFT),
        (QEvent.Type.MouseButtonRelease, place, LEFT, NO_BUTTON),
    )
    for kind, on_screen, button, buttons in ways:
        here = QPointF(chip.mapFromGlobal(on_screen))
        QApplication.sendEvent(chip, QMouseEvent(kind, here, QPointF(on_screen), button, buttons, NO_KEY))


def _middle(panel: WaveformsPanel, pane: int) -> QPoint:
    return _area(panel).pane_rect(pane).center().toPoint()


def _menu_of(panel: WaveformsPanel, expression: str) -> QMenu:
    chip = _chip(panel, expression)
    middle = chip.rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, middle, chip.mapToGlobal(middle))
    QApplication.sendEvent(chip, event)
    menus = [each for each in panel.findChildren(QMenu, "chip_menu") if each.isVisible()]
    assert len(menus) == 1
    return menus[0]


def _choose(menu: QMenu, name: str) -> None:
    row = menu.findChild(QAction, name)
    assert row is not None
    row.trigger()
    menu.close()


async def test_a_chip_is_dragged_to_another_pane_and_has_a_right_axis_there(
    panel: WaveformsPanel, services: WindowServices, until: Until
) -> None:
    area = _area(panel)
    assert _kinds(panel) == [("V", False), ("A", False)]
    # another unit: the right axis of the pane it is dropped on
    _drag_chip(panel, "i(v1)", _middle(panel, 0))
    await until(lambda: _kinds(panel) == [("V", False), ("A", True)])
    host, right = area.panes
    assert area.pane_rect(0) == area.pane_rect(1)
    assert right.upward.geometry().left() == pytest.approx(host.box.sceneBoundingRect().right(), abs=1.5)
    assert "\N{RIGHTWARDS ARROW}" in _chip(panel, "i(v1)")._painted_text
    # what the cursors and the pointer read is at that axis' scale
    table = panel.cursor_table
    assert table is not None
    assert any("A" in cell.unit for row in table.rows for cell in row)
    at = right.box.mapViewToScene(QPointF(200e-9, right.lines[0][1].values[area.axis.nearest(200e-9)]))
    place = area.mapFromScene(at)
    moved = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(place),
        QPointF(area.viewport().mapToGlobal(place)),
        NO_BUTTON,
        NO_BUTTON,
        NO_KEY,
    )
    QApplication.sendEvent(area.viewport(), moved)
    assert "i(v1)" in area.readout
    assert area.readout.endswith("A")

    # Ctrl and the wheel zoom both axes; over the right labels that one alone
    before = [tuple(pane.box.viewRange()[1]) for pane in area.panes]
    _wheel(area, _middle(panel, 0), CTRL)
    both = [tuple(pane.box.viewRange()[1]) for pane in area.panes]
    shares = [(now[1] - now[0]) / (was[1] - was[0]) for was, now in zip(before, both, strict=True)]
    assert shares[0] < 0.99
    assert shares[1] == pytest.approx(shares[0], rel=1e-6)
    on_axis = area.mapFromScene(right.upward.sceneBoundingRect().center())
    _wheel(area, on_axis, NO_KEY)
    assert tuple(host.box.viewRange()[1]) == both[0]
    assert tuple(right.box.viewRange()[1]) != both[1]
    QTest.mouseClick(area.viewport(), LEFT, NO_KEY, on_axis)
    card = area.findChild(AxisCard)
    assert isinstance(card, AxisCard)
    await until(card.isVisible)
    card.low.setText("-2m")
    card.high.setText("2m")
    QTest.keyClick(card.high, Qt.Key.Key_Return)
    assert tuple(right.box.viewRange()[1]) == pytest.approx((-2e-3, 2e-3))
    # undo of a zoom, kept with the circuit
    root = services.workspace.root
    assert root is not None
    await until(lambda: "A > V" in services.workspace.views.kept(root)["data.cir"].zooms.get("tran", {}))
    kept = services.workspace.views.kept(root)["data.cir"]
    assert kept.looks["tran"].right == {"i(v1)": "V"}
    assert read_fields(CircuitView, to_plain(kept)) == kept

    # back by the menu, whose rows are checked where they hold
    menu = _menu_of(panel, "i(v1)")
    row = menu.findChild(QAction, "right_axis")
    assert row is not None
    assert row.isChecked()
    _choose(menu, "right_axis")
    await until(lambda: _kinds(panel) == [("V", False), ("A", False)])


def _wheel(area: PlotArea, place: QPoint, keys: Qt.KeyboardModifier) -> None:
    viewport = area.viewport()
    event = QWheelEvent(
        QPointF(place),
        QPointF(viewport.mapToGlobal(place)),
        QPoint(),
        QPoint(0, 120),
        NO_BUTTON,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(viewport, event)


async def test_new_panes_by_drag_and_menu_and_one_scale_each(panel: WaveformsPanel, until: Until) -> None:
    area = _area(panel)
    # beyond all others: a new pane there
    lowest = area.pane_rect(1).toRect()
    _drag_chip(panel, "v(out)", QPoint(lowest.center().x(), lowest.bottom() - 2))
    await until(lambda: len(area.panes) == 3)
    assert [_in_pane(panel, at) for at in range(3)] == [["v(in)"], ["i(v1)"], ["v(out)"]]
    highest = area.pane_rect(0).toRect()
    _drag_chip(panel, "i(v1)", QPoint(highest.center().x(), highest.top() + 2))
    await until(lambda: _in_pane(panel, 0) == ["i(v1)"])
    # onto one of its own unit: that pane's left axis; the menu names the panes by their traces
    menu = _menu_of(panel, "v(in)")
    rows = [row for row in menu.findChildren(QAction) if row.objectName().startswith("to_pane_")]
    assert [row.text() for row in rows] == ["i(v1) (A)", "v(out) (V)"]
    _choose(menu, rows[1].objectName())
    await until(lambda: len(area.panes) == 2)
    assert sorted(_in_pane(panel, 1)) == ["v(in)", "v(out)"]
    # Shift+N: the chosen trace at the right axis of its own pane, with a scale of its own
    panel.choose_trace("v(out)")
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_N, SHIFT)
    await until(lambda: _kinds(panel) == [("A", False), ("V", False), ("V", True)])
    QTest.keyClick(area, Qt.Key.Key_N, SHIFT)
    await until(lambda: _kinds(panel) == [("A", False), ("V", False)])
    # outside of everything nothing happens
    _drag_chip(panel, "v(in)", QPoint(-500, -500))
    assert len(area.panes) == 2
    # a host that goes leaves what stood at its right an axis of its own
    _drag_chip(panel, "i(v1)", _middle(panel, 1))
    await until(lambda: ("A", True) in _kinds(panel))
    panel.keep_traces(["i(v1)"])
    assert _kinds(panel) == [("A", False)]


async def test_views_are_kept_chosen_renamed_and_deleted(
    panel: WaveformsPanel, services: WindowServices, until: Until
) -> None:
    area = _area(panel)
    _drag_chip(panel, "i(v1)", _middle(panel, 0))
    await until(lambda: _kinds(panel) == [("V", False), ("A", True)])
    area.zoom_into(area.panes[0], (100e-9, 200e-9), None)
    area.set_cursor_places((120e-9, 180e-9))
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_K)
    card = area.findChild(FieldCard)
    assert isinstance(card, FieldCard)
    card.field.clear()
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    assert card.isVisible()
    assert card.problem.text() == "Type a name."
    QTest.keyClicks(card.field, "two bits")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    assert not card.isVisible()
    panel.keep_traces(["v(out)"])
    area.fit()
    await until(lambda: not panel._zoomed.isActive())
    await _walk_views(panel, lambda menu: _choose(menu, "view_0"))
    await until(lambda: len(panel.traces) == 3 and area.view_range == pytest.approx((100e-9, 200e-9)))
    assert _kinds(panel) == [("V", False), ("A", True)]
    assert area.cursor_places == pytest.approx((120e-9, 180e-9), abs=1e-9)
    QTest.keyClick(area, Qt.Key.Key_K)
    assert card.field.text() == "View 2"
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    await _walk_views(panel, lambda menu: _choose(menu, "rename_view_0"))
    card.field.setText("View 2")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    assert "taken" in card.problem.text()
    card.field.setText("the eye & more")
    QTest.keyClick(card.field, Qt.Key.Key_Return)
    assert list(panel.view.looks["tran"].views) == ["the eye & more", "View 2"]
    await _walk_views(panel, lambda menu: _choose(menu, "delete_view_1"))
    root = services.workspace.root
    assert root is not None
    kept = services.workspace.views.kept(root)["data.cir"]
    assert list(kept.looks["tran"].views) == ["the eye & more"]
    assert read_fields(CircuitView, to_plain(kept)) == kept


async def _walk_views(panel: WaveformsPanel, act: Callable[[QMenu], None]) -> None:
    area = _area(panel)
    area.setFocus()
    QTest.keyClick(area, Qt.Key.Key_W)
    (menu,) = [each for each in panel.findChildren(QMenu, "views_menu") if each.isVisible()]
    act(menu)
    await asyncio.sleep(0)


async def test_the_eye_of_a_trace_and_ways_from_an_axis(
    panel: WaveformsPanel, services: WindowServices, until: Until
) -> None:
    _choose(_menu_of(panel, "v(out)"), "eye")
    view = panel.beside.view
    assert view is not None
    await until(lambda: view.drawing.traces and not services.app.program.tasks.handles)
    words = view._notes.text()
    assert "unit interval 10.00\N{NO-BREAK SPACE}ns" in words
    assert "Opening" in words
    assert "Jitter" in words
    assert view.period.isVisible()
    view.period.setText("what")
    QTest.keyClick(view.period, Qt.Key.Key_Return)
    assert view.options.period == 0
    view.period.setText("20n")
    QTest.keyClick(view.period, Qt.Key.Key_Return)
    await until(lambda: "20.00\N{NO-BREAK SPACE}ns" in view._notes.text())
    # the card of an axis leads to the other drawings of it
    area = _area(panel)
    area.axis_clicked.emit(0, False)
    card = area.findChild(AxisCard)
    assert isinstance(card, AxisCard)
    assert [name for name, button in card.ways.items() if not button.isHidden()] == ["against"]
    QTest.mouseClick(card.ways["against"], LEFT)
    assert panel.beside.kind == "against"
    _choose_analysis(panel, "ac")
    await until(lambda: panel.axis_unit == "Hz" and not services.app.program.tasks.handles)
    area.axis_clicked.emit(0, True)
    assert [name for name, button in card.ways.items() if not button.isHidden()] == ["nyquist", "group_delay"]
    QTest.mouseClick(card.ways["group_delay"], LEFT)
    await until(lambda: any(trace.expression.startswith("group_delay(") for trace in panel.traces))
