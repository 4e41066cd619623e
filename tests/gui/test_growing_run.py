"""A run that lasts: its curves grow, a stop keeps what came, and what was shown comes back if nothing did."""

from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import Qt

from application.ports.simulation import Growth
from domain.simulation.result import SimulationResult
from domain.simulation.waveform import Plot, Step, Vector
from presentation.panels.run_views import WAVEFORMS
from presentation.window.header import RunGroup
from presentation.window.panels import Parts
from shared.errors import Stopped

LONG = """* long
V1 in 0 SIN(0 1 1k)
R1 in out 1k
C1 out 0 1u
.tran 1u 1000 0 1u
.meas tran top MAX v(out)
.end
"""
SILENT = """* loops without a point
V1 a 0 1
R1 a 0 1k
.control
let k = 0
while k < 1e12
  let k = k + 1
end
.endc
.op
.end
"""


@pytest.fixture
async def parts(services, project: Path, until):
    """A window's parts with the filter's result in the plot."""
    (project / ".circuit_ai").mkdir()
    services.workspace.root, services.workspace.main_circuit = project, project / "filter.cir"
    made = Parts(services, services.app)
    made.results.show()
    made.bottom.resize(820, 420)
    made.bottom.show()
    services.workspace.run_requested.emit()
    await until(lambda: made.runs.waveforms.traces)
    await until(lambda: not services.app.program.tasks.handles)
    yield made
    await until(lambda: not services.app.program.tasks.handles)


def _heard(services):
    found = []
    services.workspace.run_finished.connect(found.append)
    return found


async def test_curves_grow_and_a_stop_keeps_what_came(parts, services, project, until, loop_watchdog):
    panel, shown, finished = parts.runs.waveforms, parts.runs.shown, _heard(services)
    (project / "long.cir").write_text(LONG, encoding="utf-8")
    services.workspace.circuit_run_requested.emit(project / "long.cir")
    async with loop_watchdog.watching():
        await until(lambda: shown.growth is not None and panel.axis is not None)
        assert "long.cir · running · tran" in panel.plot_choice.currentText()
        assert shown.circuit == project / "long.cir"
        await until(lambda: parts.runs.live.pictures >= 3 and panel.axis is not None)
        assert panel.area.view_range == pytest.approx((0.0, 1000.0)), "the axis reaches to the end at once"
        assert panel.area.zoom == {}
        assert shown.measurements == ()
        assert "Running: " in panel._note.text
        assert "of 1 ks" in panel._note.text
        drawn = shown.growth.reach.at
        parts.runs.controller.stop()
        await until(lambda: finished)
        await until(lambda: shown.loaded.growth is None and panel.axis is not None)
    (result,) = finished
    assert isinstance(result, SimulationResult)
    assert (result.run.status, result.ok) == ("cancelled", False)
    assert result.run.reach.of == 1000.0
    assert result.run.reach.at >= drawn
    assert panel.axis.values[-1] == pytest.approx(result.run.reach.at)
    assert panel.area.view_range[1] < 1000.0, "what is there fills the plot"
    assert panel._note.text.startswith("This run is partial, stopped at ")
    assert panel._note.text.endswith(" of 1 ks.")
    assert parts.bottom.shown_tab == WAVEFORMS
    results = parts.results
    await until(lambda: [each.verdict for each in results.model.results] == ["partial", "complete"])
    row = results.model.index(0)
    assert results.model.data(row).endswith("long.cir")
    assert "partial, stopped at" in results.model.data(row, Qt.ItemDataRole.ToolTipRole)
    services.language.set("zh")
    assert "部分结果，停止于" in panel._note.text
    # Nothing of it counts as a result of the whole circuit.
    assert result.fingerprint
    stored = await services.app.simulation.waveforms.figures_of(result.result_path)
    assert (stored.verdict, stored.ok) == ("partial", False)


async def test_a_run_stopped_before_it_has_data_leaves_what_was_shown(parts, services, project, until):
    shown, finished = parts.runs.shown, _heard(services)
    before = shown.loaded
    (project / "silent.cir").write_text(SILENT, encoding="utf-8")
    services.workspace.circuit_run_requested.emit(project / "silent.cir")
    note = parts.runs.waveforms._note
    await until(lambda: note.text)
    assert note.text.startswith("silent.cir is running. Its curves appear at the end: ")
    services.language.set("zh")
    assert note.text.startswith("silent.cir 正在仿真。波形在仿真结束后显示：")
    parts.runs.controller.stop()
    await until(lambda: finished)
    assert isinstance(finished[0], Stopped)
    assert note.text == "" or note.isHidden()
    assert shown.loaded is before
    assert len(list((project / ".circuit_ai" / "sim_results").iterdir())) == 1


async def test_who_looks_at_another_result_is_left_there(parts, services, project, until):
    panel, shown, finished = parts.runs.waveforms, parts.runs.shown, _heard(services)
    first = shown.loaded.source
    (project / "long.cir").write_text(LONG, encoding="utf-8")
    services.workspace.circuit_run_requested.emit(project / "long.cir")
    await until(lambda: shown.growth is not None and panel.axis is not None)
    services.workspace.result_selected.emit(first)
    await until(lambda: shown.loaded.source == first)
    pictures = parts.runs.live.pictures
    await until(lambda: not [each for each in services.app.program.tasks.handles if "live" in each.kind])
    assert (shown.loaded.source, parts.runs.live.pictures) == (first, pictures)
    parts.runs.controller.stop()
    await until(lambda: finished)
    await until(lambda: shown.loaded.figures is not None and shown.loaded.figures.verdict == "partial")


FAMILY = """* a family whose last runs do not end
.param tend=1m
V1 in 0 PULSE(0 1 0 1u 1u 1 2)
R1 in out 1k
C1 out 0 {tend/10k}
.tran 1u {tend} 0 1u
.step param tend list 30m 20m 10m 900 1000
.end
"""


async def test_a_family_grows_run_by_run_in_its_shades(parts, services, project, until, loop_watchdog):
    panel, shown, finished = parts.runs.waveforms, parts.runs.shown, _heard(services)
    (project / "family.cir").write_text(FAMILY, encoding="utf-8")
    services.workspace.circuit_run_requested.emit(project / "family.cir")

    def runs_drawn():
        steps = {plot.step.number: plot for plot in shown.growth.plots} if shown.growth is not None else {}
        return {1, 2, 3} < steps.keys() and panel.axis is not None and "tend = 0.03" in shades()

    def shades():
        return {trace.run: trace.shade for trace in panel._now.ghosts if trace.expression == "v(out)"}

    await until(lambda: shown.growth is not None and panel.axis is not None)
    async with loop_watchdog.watching():
        await until(runs_drawn)
        assert shades()["tend = 0.03"] == 0.5, "as among all five"
        await until(lambda: "Step 4 of 5" in panel._note.text)  # the runs are drawn before it is told
        await until(lambda: "Step 4 of 5" in parts.bottom._run_text.text())
        assert "all " in panel.plot_choice.currentText()
        parts.runs.controller.stop()
        await until(lambda: finished)
        await until(lambda: shown.loaded.growth is None and panel.axis is not None)
    (result,) = finished
    assert (result.run.status, result.ok) == ("cancelled", False)
    assert [step.status for step in result.steps[:3]] == ["ok"] * 3
    assert len(panel._now.family) == len(result.steps)
    assert panel._note.text.startswith("This run is partial, stopped")


async def test_a_run_is_paused_by_the_key_that_began_it_and_goes_on_and_is_stopped_meanwhile(
    parts, services, project, until
):
    panel, shown, finished, controller = (
        parts.runs.waveforms,
        parts.runs.shown,
        _heard(services),
        parts.runs.controller,
    )
    group = RunGroup(services)
    group.pause_wanted.connect(controller.pause_or_go_on)
    assert not group.pause.isEnabled()
    (project / "long.cir").write_text(LONG, encoding="utf-8")
    services.workspace.circuit_run_requested.emit(project / "long.cir")
    await until(lambda: shown.growth is not None and panel.axis is not None)
    group.pause.click()
    await until(lambda: controller.is_paused and "Paused at " in panel._note.text)
    assert "of 1 ks" in panel._note.text
    assert (group.run.text().startswith("Paused"), group.pause.toolTip()[:8]) == (True, "Continue")
    assert "long.cir is paused" in parts.bottom._run_text.text()
    services.language.set("zh")
    assert "已暂停于 " in panel._note.text
    assert "long.cir 已暂停" in parts.bottom._run_text.text()
    services.language.set("en")
    services.workspace.run_requested.emit()  # F5 again
    await until(lambda: not controller.is_paused and "Running: " in panel._note.text)
    assert "Simulating long.cir" in parts.bottom._run_text.text()
    parts.bottom._pause.click()
    await until(lambda: controller.is_paused and shown.is_paused)
    controller.stop()
    await until(lambda: finished)
    assert finished[0].run.status == "cancelled"
    await until(lambda: shown.loaded.growth is None and panel.axis is not None)
    assert not shown.is_paused
    assert not group.is_paused
    assert panel._note.text.startswith("This run is partial, stopped at ")


def _growth(numbers):
    """Runs of a family of 400 as they have come."""
    x = np.linspace(0.0, 1.0, 200)
    time = Vector(name="time", unit="s", data=x)
    plots = [
        Plot(
            analysis="tran",
            name="Transient Analysis",
            title="",
            vectors={"time": time, "v(out)": Vector(name="v(out)", unit="V", data=x * number)},
            axis_name="time",
            step=Step(number=number, count=400, values={"r1": float(number)}, place=number / 400),
        )
        for number in numbers
    ]
    return Growth(plots=tuple(plots), rows=200 * len(plots))


async def test_what_is_chosen_of_a_family_stays_while_it_grows(parts, project, until, loop_watchdog):
    panel, shown = parts.runs.waveforms, parts.runs.shown
    circuit = project / "family.cir"

    async def grow(count):
        shown.show_growing(circuit, _growth(range(1, count + 1)))
        await until(lambda: panel.axis is not None and len(panel._now.ghosts) >= min(count, 60) - 2)

    shown.show_growing(circuit, _growth([1]))
    await until(lambda: panel.axis is not None and panel.plot.step is not None)
    await grow(3)
    assert len(panel._now.family) == 3, "a single run was nobody's choice"
    panel.runs.tick(2, is_on=False)
    panel.runs.read_wanted.emit(panel._now.family[2])
    await until(lambda: panel.axis is not None and panel.plot.step.number == 3)
    await grow(5)
    assert (panel.runs.left_out, panel.plot.step.number, len(panel._now.family)) == ({2}, 3, 5)
    await grow(1)  # the next run of the circuit begins
    assert panel.plot.step.number == 1
    await grow(2)
    assert panel.plot.step.number == 1
    await grow(5)
    assert (panel.plot.step.number, len(panel._now.family)) == (3, 5), "what was chosen has come"
    await grow(195)
    async with loop_watchdog.watching():
        await grow(200)
    assert panel.runs.list.count() == 200
    panel.choose_plot(4)  # the fourth run alone
    await until(lambda: panel.axis is not None and not panel._now.family)
    number = panel.plot.step.number
    shown.show_growing(circuit, _growth(range(1, 8)))
    await until(lambda: panel.axis is not None)
    assert (panel.plot.step.number, panel._now.family) == (number, ())
    shown.end_growing()
    await until(lambda: shown.growth is None and panel.axis is not None)
