"""A goal from a place of the plot, from the values of a span and from a trace's menu, and back again."""

from pathlib import Path

import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QPushButton

from presentation.dialogs.goals import GoalsDialog
from presentation.panels.waveforms.plot_box import PlotPlace
from presentation.panels.waveforms.plot_menus import chip_menu, plot_menu
from presentation.window.panels import Parts


@pytest.fixture
async def parts(services, project: Path, until):
    (project / ".circuit_ai").mkdir()
    circuit = project / "filter.cir"
    circuit.write_text(
        "* rc\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 20 10 1meg\n.end\n", encoding="utf-8"
    )
    services.workspace.root, services.workspace.main_circuit = project, circuit
    made = Parts(services, services.app)
    made.bottom.resize(900, 420)
    made.bottom.show()
    services.workspace.main_run_requested.emit()
    await until(lambda: made.runs.waveforms.traces)
    await until(lambda: not services.app.program.tasks.handles)
    yield made
    await until(lambda: not services.app.program.tasks.handles)


async def _dialog(parts, until) -> GoalsDialog:
    window = parts.bottom.window()
    await until(lambda: any(each.isVisible() for each in window.findChildren(GoalsDialog)))
    return next(each for each in window.findChildren(GoalsDialog) if each.isVisible())


def _trigger(menu, name: str) -> None:
    for action in menu.actions():
        inner = action.menu()
        if inner is not None and any(each.objectName() == name for each in inner.actions()):
            menu = inner
    next(each for each in menu.actions() if each.objectName() == name).trigger()


async def test_the_value_at_a_place_becomes_a_goal_and_is_taken_back(parts, services, until):
    panel, browse = parts.runs.waveforms, services.app.project.browse
    root, circuit = services.workspace.root, services.workspace.main_circuit
    hands = panel._hands
    place = PlotPlace(pane=0, at=3.0, on_screen=QPoint())
    menu = plot_menu(
        services,
        panel,
        hands._axes,
        hands._cursors,
        place,
        views=hands.views,
        zoom_back=None,
        list_traces=hands.list_traces,
    )
    _trigger(menu, "goal_here")
    dialog = await _dialog(parts, until)
    (row,) = dialog.table.rows
    assert row.current.expression == "db(at(v(out),1k))"
    QTest.mouseClick(dialog.start_button, Qt.MouseButton.LeftButton)
    await until(lambda: parts.runs.shown.goals)
    (goal,) = await browse.goals(root, circuit)
    assert goal.expression == "db(at(v(out),1k))"
    assert goal.is_met_by(-1.445)
    await until(lambda: [item.goal for item in parts.runs.shown.measurements if item.goal])
    maker = parts.runs.shown.goal_maker
    assert maker.can_take_back
    # A second change; Ctrl+Z in the list of measurements takes back one after the other.
    await until(lambda: not services.app.program.tasks.handles)
    panel.make_goal("db(at(v(out),2k))")
    dialog = await _dialog(parts, until)
    assert dialog.start_button.isEnabled()
    QTest.mouseClick(dialog.start_button, Qt.MouseButton.LeftButton)
    await until(lambda: not services.app.program.tasks.handles)
    assert len(await browse.goals(root, circuit)) == 2
    table = parts.runs.measurements.table
    for left in (1, 0):
        QTest.keyClick(table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        await until(lambda: not services.app.program.tasks.handles)
        assert len(await browse.goals(root, circuit)) == left
    await until(lambda: not maker.can_take_back)
    assert await browse.goals(root, circuit) == ()
    told: list[str] = []
    services.workspace.status_changed.connect(lambda message: told.append(str(message)))
    QTest.keyClick(table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert told == ["No change of goals to undo."]


async def test_span_and_chip_offer_goals_with_the_side_that_is_better(parts, services, until):
    panel = parts.runs.waveforms
    _trigger(chip_menu(services, panel, panel._hands, "v(out)"), "goal:bandwidth({x})")
    dialog = await _dialog(parts, until)
    (row,) = dialog.table.rows
    assert (row.current.expression, row.current.operator) == ("bandwidth(v(out))", "≥")
    dialog.reject()
    await until(lambda: not dialog.isVisible())
    panel._hands.show_figures("v(out)")
    await until(lambda: panel.area.findChildren(QPushButton, "goal:db"))
    QTest.mouseClick(panel.area.findChildren(QPushButton, "goal:db")[0], Qt.MouseButton.LeftButton)
    dialog = await _dialog(parts, until)
    assert dialog.table.rows[0].current.expression == "db(min(v(out)))"
    dialog.reject()
    await until(lambda: not dialog.isVisible())
    # What changed meanwhile is not overwritten.
    assert not parts.runs.shown.goal_maker.can_take_back
