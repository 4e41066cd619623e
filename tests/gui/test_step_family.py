"""The runs of a `.step`: one choice for all, each named by its values, in one hue, named by the mouse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PyQt6.QtCore import QPointF, Qt
from PyQt6.QtTest import QTest

from application.simulation.simulating import SimulationRequest
from presentation.panels.bottom_pane import BottomPane
from presentation.panels.run_views import MEASUREMENTS, WAVEFORMS
from presentation.panels.waveforms.panes import trace_pen
from presentation.ui.figure_table import FigureTable
from presentation.ui.workspace import WindowServices
from presentation.window.panels import Parts
from tests.gui.conftest import Until

CIRCUIT = """* divider with a load
.param rload=10k
V1 in 0 DC 1 AC 1
R1 in out 1k
C1 out 0 1n
RL out 0 {rload}
.op
.ac dec 10 10 1meg
.meas ac att find vdb(out) at=1k
.step param rload list 10k 1k 100k
.end
"""


@pytest.fixture
async def pane(services: WindowServices, project: Path, until: Until) -> AsyncIterator[BottomPane]:
    (project / ".circuit_ai").mkdir()
    circuit = project / "filter.cir"
    circuit.write_text(CIRCUIT)
    services.workspace.root, services.workspace.main_circuit = project, circuit
    made = Parts(services, services.app).bottom
    made.resize(1000, 420)
    made.show()
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    await until(lambda: made.views.waveforms.traces)
    await until(lambda: not services.app.program.tasks.handles)
    yield made
    await until(lambda: not services.app.program.tasks.handles)


async def test_a_stepped_circuit_is_shown_as_a_family(
    pane: BottomPane, services: WindowServices, until: Until
) -> None:
    panel = pane.views.waveforms
    choice = panel.plot_choice
    names = [choice.itemText(index).partition("Run 1 · ")[2] for index in range(choice.count())]
    singles = [f"rload = {value}" for value in ("1k", "10k", "100k")]
    assert [name for name in names if name.startswith("op")] == [f"op · {name}" for name in singles]
    curves = [name for name in names if name.startswith("ac")]
    assert curves == ["ac · all 3 runs of rload", *(f"ac · {name}" for name in singles)]
    assert choice.currentText().endswith("ac · all 3 runs of rload")
    pane.resize(760, 420)  # where the older runs' button and its neighbours have to give way to what is shown
    shown = "all 3 runs of rload"
    await until(lambda: choice.shortened(choice.width() - choice.rest_width()).endswith(shown))
    area = panel.area
    assert area is not None
    runs = {trace.run: trace for trace in area._shown}
    assert set(runs) == {"rload = 1k", "rload = 10k", "rload = 100k"}
    ordered = [runs[f"rload = {value}"] for value in ("1k", "10k", "100k")]
    assert [trace.shade for trace in ordered] == [0.0, 0.5, 1.0]
    colors = [trace_pen(services.theme.theme, trace).color() for trace in ordered]
    assert len({color.name() for color in colors}) == 3
    assert max(color.hslHue() for color in colors) - min(color.hslHue() for color in colors) <= 2
    assert [color.lightness() for color in colors] == sorted(color.lightness() for color in colors)

    box = area._panes[0].box
    trace, _, items = next(line for line in area._panes[0].lines if line[0].run == "rload = 100k")
    x, y = items[0].points
    place = box.mapViewToScene(QPointF(float(x[3]), float(y[3])))
    assert area._panes[0].nearest(place, 6.0) is trace
    assert area._panes[0].nearest(QPointF(-5.0, -5.0), 6.0) is None

    panel.choose_plot(names.index("ac · rload = 10k"))
    await until(lambda: all(not trace.run for trace in area._shown) and len(area._shown) == 1)
    assert choice.currentText().endswith("ac · rload = 10k")
    await until(lambda: not services.app.program.tasks.handles)


async def test_figures_and_curves_of_a_family_say_of_which_run_they_are(
    pane: BottomPane, until: Until
) -> None:
    items = {item.shown_name: item for item in pane.views.shown.measurements}
    assert list(items) == ["att", "db(dcgain(v(out)))", "bandwidth(v(out))"]
    for item in items.values():
        assert [step.label for step in item.steps] == ["rload = 1k", "rload = 10k", "rload = 100k"]
    att = [step.value.value for step in items["att"].steps]
    assert att == pytest.approx([-6.02, -0.828, -0.0866], abs=0.01)
    gains = [step.value.value for step in items["db(dcgain(v(out)))"].steps]
    assert gains == pytest.approx(att, abs=0.01), "expressions are measured in each run"
    bandwidths = [step.value.value for step in items["bandwidth(v(out))"].steps]
    assert bandwidths == pytest.approx([318.3e3, 175.1e3, 160.7e3], rel=0.01)
    heads = pane.views.waveforms.cursor_table._model.columns
    assert heads[0].title == "rload = 1k", "the least value's"
    table = pane.views.measurements.table
    assert [column.title for column in table._model.columns][1:] == [
        "rload = 1k",
        "rload = 10k",
        "rload = 100k",
    ]
    assert [cell.text for cell in table.rows[0]] == [
        "att",
        "\N{MINUS SIGN}6.02",
        "\N{MINUS SIGN}0.828",
        "\N{MINUS SIGN}0.087",
    ]
    side = pane.views.waveforms.findChild(type(pane.views.measurements), "measurements_side").table
    assert side.rows[0][1].text == "\N{MINUS SIGN}6.02 \N{HORIZONTAL ELLIPSIS} \N{MINUS SIGN}0.087"
    assert "rload = 10k: \N{MINUS SIGN}0.828" in side.rows[0][1].tip
    first = pane.views.waveforms.area._panes[0]
    assert sorted(name for name, _, _ in first._named()) == ["rload = 100k", "rload = 10k", "rload = 1k"]
    with_names = pane.views.waveforms.area.grab().toImage()
    for layer in first._layers:
        layer._runs = list
    assert pane.views.waveforms.area.grab().toImage() != with_names, "the names are drawn"


async def test_the_legend_ticks_walks_and_names_the_runs(
    pane: BottomPane, services: WindowServices, until: Until
) -> None:
    panel = pane.views.waveforms
    runs = panel.runs
    await until(runs.isVisible)
    rows = [runs.list.item(at) for at in range(runs.list.count())]
    assert [row.text() for row in rows] == ["1k", "10k", "100k"]
    assert runs._title.text() == "rload"
    assert [row.font().bold() for row in rows] == [True, False, False]

    def drawn() -> set[str]:
        return {trace.run for trace in panel.area._shown}

    rows[1].setCheckState(Qt.CheckState.Unchecked)
    await until(lambda: drawn() == {"rload = 1k", "rload = 100k"})
    # the run that is read goes: the next one is read
    rows[0].setCheckState(Qt.CheckState.Unchecked)
    await until(lambda: drawn() == {"rload = 100k"})
    assert panel.cursor_table._model.columns[0].title == "rload = 100k"
    rows[2].setCheckState(Qt.CheckState.Unchecked)
    assert rows[2].checkState() is Qt.CheckState.Checked, "one stays"
    runs._all.click()
    await until(lambda: len(drawn()) == 3)

    panel.area.setFocus()
    await until(panel.area.hasFocus)
    QTest.keyClick(panel.area, Qt.Key.Key_BracketLeft)
    await until(lambda: panel.cursor_table._model.columns[0].title == "rload = 10k")
    QTest.keyClick(panel.area, Qt.Key.Key_BracketLeft)
    await until(lambda: panel.cursor_table._model.columns[0].title == "rload = 1k")
    await until(lambda: runs.list.item(0).font().bold() and len(drawn()) == 3)
    assert panel.plot_choice.currentText().endswith("all 3 runs of rload")
    runs.only(2)
    await until(lambda: len(drawn()) == 1)
    runs._all.click()
    await until(lambda: len(drawn()) == 3)
    QTest.keyClick(panel.area, Qt.Key.Key_S)
    await until(runs.list.hasFocus)
    QTest.keyClick(runs.list, Qt.Key.Key_BracketRight)
    await until(lambda: panel.cursor_table._model.columns[0].title == "rload = 10k")
    QTest.keyClick(runs.list, Qt.Key.Key_S)
    assert runs.isHidden()
    await until(panel.area.hasFocus)
    QTest.keyClick(panel.area, Qt.Key.Key_S)
    await until(runs.list.hasFocus)

    panel.add_trace("v(out)@2")
    await until(lambda: len(panel.traces) == 2)
    panel.add_trace("v(out)@rload=100k")
    await until(lambda: sum("@" in trace.expression for trace in panel.area._shown) == 2)
    named = [trace for trace in panel.area._shown if "@" in trace.expression]
    assert [trace.run for trace in named] == ["", ""], "once each, of no family"
    panel.add_trace("v(out)@7")
    await until(lambda: "rload=100k" in panel._note.text)
    panel.beside.show_kind("nyquist")
    await until(lambda: panel.beside.view.drawing.axis is not None)
    assert len(panel.beside.view.drawing.traces) == 3


async def test_a_measurement_is_drawn_against_the_steps(
    pane: BottomPane, services: WindowServices, until: Until
) -> None:
    table, panel = pane.views.measurements.table, pane.views.waveforms
    assert pane.views.measurements.select("bandwidth(v(out))")
    menu = table.menu()
    against = next(action for action in menu.actions() if action.objectName() == "against_steps")
    against.trigger()
    menu.close()
    await until(lambda: panel.beside.kind == "steps" and panel.beside.view.drawing.axis is not None)
    drawing = panel.beside.view.drawing
    assert drawing.axis.name == "rload"
    assert drawing.axis.is_log
    assert list(drawing.axis.values) == pytest.approx([1e3, 1e4, 1e5])
    (trace,) = drawing.traces
    assert list(trace.curves[0].values) == pytest.approx([318.3e3, 175.1e3, 160.7e3], rel=0.01)
    assert len(drawing.marks) == 3
    assert pane.shown_tab == WAVEFORMS
    panel.beside.view._figure.setCurrentIndex(0)
    panel.beside.view._figure.activated.emit(0)
    await until(lambda: panel.beside.view.drawing.traces[0].expression == "att")
    await until(lambda: not services.app.program.tasks.handles)


async def test_two_stepped_runs_are_compared_step_by_step(
    pane: BottomPane, services: WindowServices, until: Until
) -> None:
    panel, circuit = pane.views.waveforms, services.workspace.main_circuit
    first = pane.views.shown.loaded.figures.result_path
    # A value more before the others: the steps have other numbers.
    circuit.write_text(
        CIRCUIT.replace("list 10k 1k 100k", "list 470 10k 1k 100k")
        .replace("C1 out 0 1n", "C1 out 0 2n")
        .replace(".end", ".meas ac never when vdb(out)=40\n.end")
    )
    result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    pane.show_tab(MEASUREMENTS)
    table = pane.views.measurements.table
    await until(lambda: [column.title for column in table._model.columns][-1] == "vs Run 1")
    rows = {row[0].text: row for row in table.rows}
    assert rows["bandwidth(v(out))"][-1].text.split(" … ") == ["−159.2", "−80.4"]  # by half, at 1k and 100k
    assert "rload = 1k: −159.2\u00a0kHz" in rows["bandwidth(v(out))"][-1].tip
    assert "470" not in rows["att"][-1].tip
    side = pane.findChild(FigureTable, "measurement_table_side")
    (never,) = [row[0] for row in side.rows if row[0].text == "never"]
    assert never.unit == "", "lacking in all steps, its name has the room"
    # All runs of the one behind are drawn, and that is said; of a single one that of its value.
    panel.overlay.toggle(first)
    await until(lambda: panel.overlay.names == ("Run 1 (all 3 runs of rload)",))
    await until(lambda: sum(trace.is_ghost and not trace.run for trace in panel.area._shown) == 3)
    assert "Pale: Run 1 (all 3 runs of rload)" in panel._note.text
    panel.runs.only(2)
    await until(lambda: panel.overlay.names == ("Run 1 (rload = 10k)",))
    assert panel._output._told() == "filter.cir · Run 2 · ac · rload = 10k", "what a picture of it is called"
    names = [panel.plot_choice.itemText(index) for index in range(panel.plot_choice.count())]
    index = next(at for at, name in enumerate(names) if name.endswith("ac · rload = 10k"))
    panel.plot_choice.setCurrentIndex(index)
    panel.plot_choice.activated.emit(index)
    await until(lambda: panel.overlay.names == ("Run 1 (rload = 10k)",))
    await until(lambda: not services.app.program.tasks.handles)
