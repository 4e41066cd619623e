"""The waveforms of a real run, driven by mouse and keyboard."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QComboBox, QLabel, QPushButton

from application.simulation.simulating import SimulationRequest
from application.studies.idle_yield import CircuitYield, GoalYield
from domain.simulation.goals import DesignGoal
from domain.simulation.result import Quantity
from domain.studies.statistics import yield_of
from presentation.dialogs.goals import GoalsDialog
from presentation.panels.bottom_pane import BottomPane
from presentation.panels.run_views import MEASUREMENTS
from presentation.panels.waveforms.shown_result import Measured
from presentation.panels.waveforms.trace_chip import TraceChip
from presentation.panels.waveforms.yield_column import yield_cells
from presentation.window.panels import Parts

FILTER = """* RC low-pass, fc = 1.59 kHz
V1 in 0 DC 1 AC 1 SIN(0 1 1k)
R1 in out 1k
C1 out 0 100n
.ac dec 20 10 1meg
.tran 10u 2m
.op
.meas ac fc WHEN vdb(out)=-3.0103
.end
"""


@pytest.fixture
async def pane(services, project: Path, until):
    """The bottom pane with the result of one run of a filter with three analyses."""
    (project / ".circuit_ai").mkdir()
    circuit = project / "filter.cir"
    circuit.write_text(FILTER, encoding="utf-8")
    services.workspace.root, services.workspace.main_circuit = project, circuit
    made = Parts(services, services.app).bottom
    made.resize(820, 420)
    made.show()
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    await until(lambda: made.views.waveforms.area is not None and made.views.waveforms.traces)
    await until(lambda: not services.app.program.tasks.handles)
    yield made
    # What is drawn behind the last step ends before its loop does.
    await until(lambda: not services.app.program.tasks.handles)


def _chips(pane: BottomPane) -> list[str]:
    return [chip.text() for chip in pane.views.waveforms.chips.chips]


def _readout(pane: BottomPane) -> dict[str, list[str]]:
    return {
        f"{row[0].text} {row[0].unit}".strip(): [cell.text for cell in row[1:]]
        for row in pane.views.waveforms.cursor_table.rows
    }


def _sample_point(pane: BottomPane, sample: int) -> QPoint:
    """Where a sample of the axis is in the drawing."""
    area, axis = pane.views.waveforms.area, pane.views.waveforms.axis
    low, high = area.view_range
    rect = area.pane_rect(0)
    part = (axis.coordinates[sample] - low) / (high - low)
    return QPoint(round(rect.left() + part * rect.width()), round(rect.center().y()))


async def test_a_run_shows_gain_over_phase_of_the_output(pane):
    assert _chips(pane) == ["v(out)"]
    kinds = [curve.pane.unit for curve in pane.views.waveforms.traces[0].curves]
    assert kinds == ["dB", "deg"]
    low, high = pane.views.waveforms.area.view_range
    assert (low, high) == pytest.approx((1.0, 6.0))


async def test_a_file_with_numbers_that_cannot_be_drawn_spoils_no_plot(pane, services, until, tmp_path):
    """A range without end stayed in the view: every frame raised, of the results behind it too."""
    x, wave = np.geomspace(1.0, 1e6, 60), np.sin(np.arange(60.0))
    odd = (np.inf, -np.inf, 1.7e308, -1.7e308, 5e-324)
    tables = [(np.append(x[:-1], each), wave) for each in odd] + [(x / 1e6 * each, wave) for each in odd[2:]]
    tables += [(x, np.where(np.arange(60) % 3, 1.0, each)) for each in odd] + [(x, wave)]
    for name, unit, plot in (
        ("time", "time", "Transient Analysis"),
        ("frequency", "frequency", "AC Analysis"),
    ):
        head = f"Title: t\nDate: d\nPlotname: {plot}\nFlags: real\nNo. Variables: 2\nNo. Points: 60\n"
        head += f"Variables:\n\t0\t{name}\t{unit}\n\t1\tv(out)\tvoltage\nBinary:\n"
        for number, table in enumerate(tables):
            file = tmp_path / f"{name}{number}.raw"
            file.write_bytes(head.encode() + np.column_stack(table).tobytes())
            services.workspace.result_selected.emit(file)
            await until(lambda: not services.app.program.tasks.handles)
            pane.grab()
        low, high = pane.views.waveforms.area.view_range
        assert 0 <= low < high <= 1e6


async def test_a_click_puts_the_cursor_on_the_nearest_sample_and_the_table_reads_it(pane, until):
    area, axis = pane.views.waveforms.area, pane.views.waveforms.axis
    corner = int(np.argmin(abs(axis.values - 1584.9)))
    QTest.mouseClick(area.viewport(), Qt.MouseButton.LeftButton, pos=_sample_point(pane, corner))
    await until(lambda: area.cursor_samples[0] == corner)
    rows = _readout(pane)
    assert rows["f / kHz"][0] == "1.585"
    assert rows["v(out) / dB"][0] == "−2.99"
    assert rows["phase / °"][0] == "−44.9"


async def test_arrows_move_the_active_cursor_by_samples_and_shift_by_ten(pane):
    area = pane.views.waveforms.area
    a, b = area.cursor_samples
    QTest.keyClick(area, Qt.Key.Key_Right)
    assert area.cursor_samples == (a + 1, b)
    QTest.keyClick(area, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert area.cursor_samples == (a - 9, b)
    QTest.keyClick(area, Qt.Key.Key_B)
    QTest.keyClick(area, Qt.Key.Key_Right)
    assert area.cursor_samples == (a - 9, b + 1)


async def test_a_cursor_is_dragged_by_its_flag_along_the_samples(pane, until):
    area = pane.views.waveforms.area
    start, target = _sample_point(pane, area.cursor_samples[1]), _sample_point(pane, 90)
    flag = QPoint(start.x(), round(area.pane_rect(0).top()) - 8)
    viewport = area.viewport()
    QTest.mouseMove(viewport, flag)
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=flag)

    def pull() -> bool:
        QTest.mouseMove(viewport, QPoint(target.x(), flag.y()))
        return abs(area.cursor_samples[1] - 90) <= 1

    await until(pull)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=QPoint(target.x(), flag.y()))
    assert abs(area.cursor_samples[1] - 90) <= 1


async def test_a_trace_is_added_by_its_expression_and_removed_with_its_chip(pane, until):
    chips = pane.views.waveforms.chips
    QTest.mouseClick(chips.add_button, Qt.MouseButton.LeftButton)
    assert chips.field.isVisible()
    QTest.keyClicks(chips.field, "v(out)/v(in)")
    QTest.keyClick(chips.field, Qt.Key.Key_Return)
    await until(lambda: _chips(pane) == ["v(out)", "v(out)/v(in)"])
    assert chips.field.isHidden()
    added = pane.views.waveforms.chips.chips[1]
    assert isinstance(added, TraceChip)
    chips.add_button.setFocus()
    QTest.mouseClick(added, Qt.MouseButton.LeftButton)
    QTest.keyClick(pane.window().focusWidget(), Qt.Key.Key_Delete)  # not the editor's
    await until(lambda: _chips(pane) == ["v(out)"])


async def test_an_expression_that_cannot_be_drawn_is_refused_in_words_and_stays_to_be_mended(pane, until):
    chips = pane.views.waveforms.chips
    QTest.mouseClick(chips.add_button, Qt.MouseButton.LeftButton)
    QTest.keyClicks(chips.field, "v(nowhere)")
    QTest.keyClick(chips.field, Qt.Key.Key_Return)
    note = pane.findChild(QLabel, "waveforms_note")
    await until(note.isVisible)
    assert "v(nowhere)" in note.text()
    assert chips.field.text() == "v(nowhere)"
    QTest.keyClick(chips.field, Qt.Key.Key_Escape)
    assert chips.field.isHidden()
    assert _chips(pane) == ["v(out)"]


async def test_completion_offers_the_vectors_of_the_analysis(pane):
    completer = pane.views.waveforms.chips.field.completer()
    completer.setCompletionPrefix("v(o")
    assert completer.completionModel().rowCount() > 0
    assert "v(out)/v(in)" in pane.views.waveforms.chips._names.stringList()


async def test_another_analysis_has_its_own_traces_and_comes_back_with_them(pane, until):
    choice = pane.findChild(QComboBox, "plot_choice")
    names = [choice.itemText(index).split(" · ")[-1] for index in range(choice.count())]
    assert sorted(names) == ["ac", "op", "tran"]
    pane.views.waveforms.choose_plot(names.index("tran"))
    await until(lambda: _chips(pane) == ["v(in)", "v(out)"])
    assert pane.views.waveforms.axis.unit == "s"
    QTest.keyClick(pane.views.waveforms.chips.chips[0], Qt.Key.Key_Delete)
    pane.views.waveforms.choose_plot(names.index("ac"))
    await until(lambda: pane.views.waveforms.axis is not None and pane.views.waveforms.axis.unit == "Hz")
    pane.views.waveforms.choose_plot(names.index("tran"))
    await until(lambda: _chips(pane) == ["v(out)"] and pane.views.waveforms.axis.unit == "s")


async def test_an_operating_point_is_a_table(pane, until):
    choice = pane.findChild(QComboBox, "plot_choice")
    names = [choice.itemText(index).split(" · ")[-1] for index in range(choice.count())]
    pane.views.waveforms.choose_plot(names.index("op"))
    await until(pane.views.waveforms.table.isVisible)
    rows = {row[0].text: (row[1].text, row[1].unit) for row in pane.views.waveforms.table.rows}
    assert rows["v(out)"] == ("1.000", "V")


async def test_zoom_stays_when_a_trace_is_added_and_fit_undoes_it(pane, until):
    area = pane.views.waveforms.area
    whole = area.view_range
    QTest.keyClick(area, Qt.Key.Key_Plus)
    near = area.view_range
    assert near[1] - near[0] == pytest.approx((whole[1] - whole[0]) / 2)
    pane.views.waveforms.add_trace("v(in)")
    await until(lambda: len(pane.views.waveforms.traces) == 2)
    assert area.view_range == pytest.approx(near)
    QTest.keyClick(area, Qt.Key.Key_F)
    assert area.view_range == pytest.approx(whole)


async def test_cursors_can_be_put_away(pane):
    QTest.mouseClick(pane.views.waveforms.cursor_button, Qt.MouseButton.LeftButton)
    assert not pane.views.waveforms.area.has_cursors
    assert not pane.views.waveforms.cursor_table.isVisible()
    before = pane.views.waveforms.area.cursor_samples
    QTest.keyClick(pane.views.waveforms.area, Qt.Key.Key_Right)
    assert pane.views.waveforms.area.cursor_samples == before


async def test_a_changed_circuit_makes_the_drawing_old_and_one_click_runs_again(pane, services, until):
    asked = []
    services.workspace.circuit_run_requested.disconnect(pane.views.controller.start_circuit)
    services.workspace.circuit_run_requested.connect(asked.append)
    circuit = services.workspace.main_circuit
    circuit.write_text(FILTER.replace("1k\nC1", "2k\nC1"), encoding="utf-8")
    services.workspace.file_changed.emit(circuit)
    again = pane.findChild(QPushButton, "waveforms_again")
    await until(again.isVisible)
    QTest.mouseClick(again, Qt.MouseButton.LeftButton)
    assert asked == [circuit]
    circuit.write_text(FILTER, encoding="utf-8")
    services.workspace.file_changed.emit(circuit)
    await until(lambda: not again.isVisible())


async def test_measurements_are_compared_with_the_run_before(pane, services, until):
    await until(lambda: len(pane.views.shown.measurements) > 1)
    circuit = services.workspace.main_circuit
    circuit.write_text(FILTER.replace("100n", "200n"), encoding="utf-8")
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    await until(lambda: pane.views.shown.previous_number == 1)
    await until(lambda: any(item.name.startswith("bandwidth") for item in pane.views.shown.measurements))
    rows = {row[0].text: row for row in pane.views.measurements.table.rows}
    assert (rows["fc"][1].text, rows["fc"][1].unit, rows["fc"][2].text) == ("795.8", "Hz", "−795.8")
    await until(
        lambda: {row[0].text: row for row in pane.views.measurements.table.rows}["bandwidth(v(out))"][2].text
    )


async def test_a_measurement_is_added_stays_for_the_next_run_and_is_removed(pane, services, until):
    pane.show_tab(MEASUREMENTS)
    view = pane.views.measurements
    QTest.mouseClick(view.add_button, Qt.MouseButton.LeftButton)
    QTest.keyClicks(view.field, "db(gain(v(out),100k))")
    QTest.keyClick(view.field, Qt.Key.Key_Return)
    await until(lambda: any(item.is_added for item in pane.views.shown.measurements))
    item = next(item for item in pane.views.shown.measurements if item.is_added)
    assert item.value.value == pytest.approx(-35.97, abs=0.01)
    row = list(pane.views.shown.measurements).index(item)
    view.table.selectRow(row)
    QTest.keyClick(view.table, Qt.Key.Key_Delete)
    assert not any(item.is_added for item in pane.views.shown.measurements)


async def test_nonsense_is_no_measurement_and_stays_to_be_mended(pane, services, until):
    pane.show_tab(MEASUREMENTS)
    view = pane.views.measurements
    QTest.mouseClick(view.add_button, Qt.MouseButton.LeftButton)
    QTest.keyClicks(view.field, "foo(v(out))")
    QTest.keyClick(view.field, Qt.Key.Key_Return)
    refused = view.findChild(QLabel, "measurement_refused")
    await until(refused.isVisible)
    assert "foo" in refused.text()
    assert view.field.text() == "foo(v(out))"
    assert not any(item.is_added for item in pane.views.shown.measurements)
    view.field.clear()
    QTest.keyClicks(view.field, "duty(tran.v(out))")
    assert not refused.isVisible()
    QTest.keyClick(view.field, Qt.Key.Key_Return)
    await until(lambda: any(item.is_added for item in pane.views.shown.measurements))


async def test_the_menu_of_a_measurement_copies_and_deletes(pane, services, until):
    pane.show_tab(MEASUREMENTS)
    pane.views.shown.add_measurement("max(v(out))")
    await until(lambda: any(item.is_added for item in pane.views.shown.measurements))
    names = [item.name for item in pane.views.shown.measurements]
    table = pane.views.measurements.table
    table.selectRow(names.index("fc"))
    # A .meas has no expression to draw.
    copy, expression, _, goal, study, delete = table.menu().actions()
    assert goal.isEnabled()
    wanted = []
    services.workspace.studies_wanted.connect(lambda *about: wanted.append(about))
    study.trigger()
    assert wanted == [(pane.views.shown.circuit, "montecarlo", "")]
    assert not delete.isEnabled()  # a line of the circuit
    expression.trigger()
    assert QGuiApplication.clipboard().text() == "fc"
    copy.trigger()
    assert QGuiApplication.clipboard().text().startswith("Measurement\tValue")
    table.selectRow(names.index("max(v(out))"))
    delete = table.menu().actions()[-1]
    assert delete.isEnabled()
    delete.trigger()
    assert not any(item.is_added for item in pane.views.shown.measurements)


async def test_a_measurement_becomes_a_goal_of_its_circuit(pane, services, until):
    pane.show_tab(MEASUREMENTS)
    pane.views.shown.add_measurement("max(v(out))")
    await until(lambda: any(item.is_added for item in pane.views.shown.measurements))
    table = pane.views.measurements.table

    async def open_goals(name):
        table.selectRow([item.name for item in pane.views.shown.measurements].index(name))
        goal = next(each for each in table.menu().actions() if each.objectName() == "make_goal")
        goal.trigger()
        await until(lambda: any(each.isVisible() for each in pane.findChildren(GoalsDialog)))
        return goal.text(), next(each for each in pane.findChildren(GoalsDialog) if each.isVisible())

    text, dialog = await open_goals("max(v(out))")
    (row,) = dialog.table.rows
    assert (text, row.current.metric, row.current.expression) == ("Set as goal…", "max", "max(v(out))")
    assert pane.views.shown.circuit.name in dialog.windowTitle()
    assert row.current.goal().is_met_by(pane.views.shown.measurements[-1].value.value)
    row.limit.setText("5 parsecs")
    row.limit.textEdited.emit("5 parsecs")
    assert not dialog.start_button.isEnabled()
    dialog.reject()
    assert await services.app.project.browse.goals(services.workspace.root, pane.views.shown.circuit) == ()
    text, dialog = await open_goals("fc")  # a .meas: what it measures has to be said
    assert not dialog.start_button.isEnabled()
    expression = dialog.table.rows[0].expression
    assert (expression.placeholderText(), expression.property("state")) == ("max(db(v(out)))", "")
    dialog.reject()
    _, dialog = await open_goals("max(v(out))")
    dialog.start_button.click()
    await until(lambda: any(item.goal is not None for item in pane.views.shown.measurements))
    (goal,) = await services.app.project.browse.goals(services.workspace.root, pane.views.shown.circuit)
    assert (goal.metric, goal.expression, goal.unit) == ("max", "max(v(out))", "V")
    text, dialog = await open_goals("max")
    assert (text, len(dialog.table.rows)) == ("Change goals…", 1)
    dialog.table.rows[0].remove.click()
    dialog.start_button.click()  # a circuit may be without any
    await until(lambda: not any(item.goal for item in pane.views.shown.measurements))
    await until(lambda: not services.app.program.tasks.handles)


@pytest.mark.parametrize(
    ("expression", "unit", "shown"),
    [
        ("duty(v(sw))", "1", ("41.67", "%")),
        ("thd(v(out), 1k)", "1", ("41.67", "%")),
        ("four_v(out)_thd@2", "1", ("41.67", "%")),
        ("v(out)/v(in)", "1", ("0.4167", "")),
    ],
)
async def test_shares_are_given_in_percent(pane, expression, unit, shown):
    item = Measured(name=expression, value=Quantity(value=0.41666, unit=unit), expression=expression)
    cell = pane.views.measurements._row(item)[1]
    assert (cell.text, cell.unit) == shown


async def test_a_measurement_that_cannot_be_had_says_why(pane, until):
    pane.views.shown.add_measurement("at(v(out), 100g)")
    await until(lambda: any(item.problem for item in pane.views.shown.measurements))
    row = pane.views.measurements.table.rows[-1]
    assert row[1].text == "—"
    assert "outside the simulated range" in row[1].tip


async def test_theme_and_language_are_switched_live(pane, services, until):
    services.theme.set_mode("dark")
    area = pane.views.waveforms.area
    assert area.backgroundBrush().color() == services.theme.theme.color("plot.background")
    services.language.set("zh")
    assert pane.tabs.tabText(0) == "波形"
    assert pane.views.waveforms.plot_choice.currentText() == "filter.cir · 仿真 #1 · ac"
    assert _readout(pane)["相位 / °"]


async def test_a_result_that_is_gone_is_told_and_the_old_one_stays(pane, services, until, tmp_path):
    services.workspace.result_selected.emit(tmp_path / "nothing" / "result.json")
    await until(lambda: pane.views.shown.error is not None)
    assert _chips(pane) == ["v(out)"]
    note = pane.findChild(QLabel, "waveforms_note")
    await until(note.isVisible)


async def test_closing_the_project_empties_the_pane(pane, services):
    services.workspace.project_closed.emit()
    assert pane.findChild(QLabel, "waveforms_empty").isVisible()
    assert pane.views.shown.measurements == ()


async def test_the_next_project_is_drawn_too(pane, services, until):
    shown = pane.views.shown.loaded
    services.workspace.project_closed.emit()
    assert not pane.views.waveforms.traces
    services.workspace.result_selected.emit(shown.figures.result_path)
    await until(lambda: pane.views.waveforms.traces)
    assert _chips(pane) == ["v(out)"]


async def test_the_loop_is_free_while_a_result_is_loaded_and_drawn(pane, services, until, loop_watchdog):
    async with loop_watchdog.watching():
        services.workspace.result_selected.emit(pane.views.shown.loaded.figures.result_path)
        await until(lambda: not pane.views.shown.is_loading)
        for text in ("v(in)", "v(out)/v(in)", "ph(v(out))"):
            pane.views.waveforms.add_trace(text)
        await until(lambda: len(pane.views.waveforms.traces) == 4)
        await until(lambda: not services.app.program.tasks.handles)


async def test_a_narrow_pane_keeps_the_drawing_and_drops_the_figures(pane, until):
    pane.resize(420, 300)
    await until(lambda: pane.width() == 420)
    assert not pane.views.waveforms.cursor_table.isVisible()
    assert pane.views.waveforms.area.isVisible()
    pane.resize(900, 300)
    await until(pane.views.waveforms.cursor_table.isVisible)


async def test_plots_of_a_control_block_have_their_names_and_its_curves_first(pane, services, project, until):
    circuit = project / "block.cir"
    lines = FILTER.splitlines()
    commands = "tran 10u 2m\nplot v(in)-v(out)\nlinearize v(out)\nac dec 5 1 1k\nplot db(v(out)) title 'gain'"
    circuit.write_text("\n".join([*lines[:4], ".control", commands, ".endc", ".end", ""]), encoding="utf-8")
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    choice = pane.findChild(QComboBox, "plot_choice")
    expected = ["tran (tran1)", "tran 2 (tran2, linearized)", "ac (ac2)"]
    await until(
        lambda: [choice.itemText(index).split(" · ")[-1] for index in range(choice.count())] == expected
    )
    pane.views.waveforms.choose_plot(0)
    await until(lambda: _chips(pane) == ["v(in)-v(out)"])
    pane.views.waveforms.choose_plot(2)
    await until(lambda: _chips(pane) == ["db(v(out))"])


async def test_the_yield_does_not_take_the_place_of_the_change_in_a_narrow_table(pane, services):
    side = pane.views.waveforms.findChild(type(pane.views.measurements), "measurements_side")
    shown, table = pane.views.shown, side.table
    table.setMinimumWidth(0)
    goal = DesignGoal(metric="cut-off frequency", expression="bandwidth(v(out))", unit="Hz", minimum=1540.0)
    value = Quantity(value=1592.0, unit="Hz")
    items = (Measured(name=goal.metric, value=value, previous=Quantity(value=1500.0, unit="Hz"), goal=goal),)
    shown.loaded = replace(shown.loaded, previous=replace(shown.loaded.figures, number=7))
    shown._show_figures(items)
    share = GoalYield(goal=goal, share=yield_of([True] * 200))
    services.workspace.yield_estimated.emit(CircuitYield(circuit=shown.circuit, runs=200, goals=(share,)))

    def heads(width: int) -> list[str]:
        table.setFixedWidth(width)
        side._refresh()
        return [column.title for column in table._model.columns[1:]]

    assert heads(520) == ["Value", "Yield", "vs Run 7"]
    found = [heads(width) for width in range(519, 100, -10)]
    assert [key for key, _ in itertools.groupby(found)] == [
        ["Value", "Yield", "vs Run 7"], ["Value", "vs Run 7"], ["Value"]
    ]  # fmt: skip
    assert "Yield: 200 of 200 runs meet the goal" in table.rows[0][0].tip
    moved = shown.measurements
    shown._show_figures(tuple(replace(each, previous=each.value) for each in moved))
    found = [heads(width) for width in range(519, 100, -10)]
    assert [key for key, _ in itertools.groupby(found)][1] == ["Value", "Yield"], "of a change that is none"
    shown._show_figures(moved)
    shown.is_compared = True
    assert heads(110) == ["Value", "vs Run 7"], "who asked for a comparison sees it"


def test_a_yield_is_that_of_what_a_goal_measures_whatever_else_has_its_name():
    passband = DesignGoal(metric="gain", expression="gain(v(out)/v(in),1k)", unit="1", minimum=1.9)
    stopband = DesignGoal(metric="gain", expression="db(gain(v(out),10000))", unit="dB", maximum=-10.0)
    share = GoalYield(goal=stopband, share=yield_of([True] * 200))
    known = CircuitYield(circuit=Path("band.cir"), runs=200, goals=(share,))
    items = [Measured(name="gain", value=None, goal=goal) for goal in (passband, stopband)]
    assert [cell.text != "" for cell in yield_cells(known, items, str)] == [False, True]
