"""Beside the curves: older runs, limits of goals, margins, export, and a curve of a million points."""

import csv
import json
import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, QRectF, QSizeF, Qt
from PyQt6.QtGui import QImage, QWheelEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QLabel

from application.simulation.simulating import SimulationRequest
from domain.simulation.waveform import Plot, Vector
from presentation.panels.bottom_pane import BottomPane
from presentation.panels.waveforms import curve_item, export
from presentation.panels.waveforms.mark_item import places_of_names, runs_through
from presentation.panels.waveforms.plot_area import PlotArea
from presentation.panels.waveforms.plot_marks import LevelMark, PlaceMark
from presentation.panels.waveforms.traces import axis_of, make_trace
from presentation.window.panels import Parts

FILTER = """* RC low-pass, fc = 1.59 kHz
V1 in 0 DC 1 AC 1
R1 in out 1k
C1 out 0 100n
.ac dec 20 10 1meg
.end
"""
GOALS = {
    "schema_version": 1,
    "goals": [
        {"metric": "fc", "expression": "highcut(v(out))", "unit": "Hz", "minimum": 1e3, "maximum": 1.2e3},
        {
            "metric": "loss",
            "expression": "db(gain(v(out),100k))",
            "unit": "dB",
            "minimum": None,
            "maximum": -20.0,
        },
    ],
}
POINTS = 1_000_000


@pytest.fixture
async def pane(services, project: Path, until):
    """The bottom pane with the second of two runs of a filter that has goals."""
    (project / ".circuit_ai").mkdir()
    (project / ".circuit_ai" / "design_goals.json").write_text(json.dumps(GOALS), encoding="utf-8")
    circuit = project / "filter.cir"
    services.workspace.root, services.workspace.main_circuit = project, circuit
    made = Parts(services, services.app).bottom
    made.resize(860, 420)
    made.show()
    for capacitor in ("200n", "100n"):
        circuit.write_text(FILTER.replace("100n", capacitor), encoding="utf-8")
        result = await services.app.simulation.run(SimulationRequest(circuit=circuit))
    services.workspace.result_selected.emit(result.result_path)
    await until(lambda: made.views.waveforms.area is not None and made.views.waveforms.traces)
    await until(lambda: not services.app.program.tasks.handles)
    yield made
    # What is drawn behind the last step ends before its loop does.
    await until(lambda: not services.app.program.tasks.handles)


def _marks(pane: BottomPane) -> list[object]:
    return [mark for layer in pane.views.waveforms.area._panes[0]._layers for mark in layer._marks]


async def test_an_older_run_is_drawn_behind_and_taken_away(pane, services, until):
    previous = pane.views.shown.loaded.previous.result_path
    button = pane.views.waveforms.tools.overlay
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    await until(pane.views.waveforms.overlay.menu.isVisible)
    (action, *_) = pane.views.waveforms.overlay.menu.actions()
    assert action.text() == "Run 1"
    action.trigger()
    pane.views.waveforms.overlay.menu.close()
    await until(lambda: any(trace.is_ghost for trace, *_ in pane.views.waveforms.area._panes[0].lines))
    lines = pane.views.waveforms.area._panes[0].lines
    ghost = next(curve for trace, curve, _ in lines if trace.is_ghost)
    own = next(curve for trace, curve, _ in lines if not trace.is_ghost)
    # Twice the capacitance: 6 dB below, far above the corner.
    assert own.values[-1] - ghost.values[-1] == pytest.approx(6.02, abs=0.05)
    assert pane.views.waveforms.overlay.chosen == (previous,)
    assert button.isChecked()
    pane.views.waveforms.overlay.clear()
    await until(lambda: not any(trace.is_ghost for trace, *_ in pane.views.waveforms.area._panes[0].lines))
    assert not button.isChecked()
    await until(lambda: not services.app.program.tasks.handles)


async def test_goals_are_limits_on_the_trace_they_are_about(pane, services, until):
    await until(lambda: len(_marks(pane)) == 4)  # two, in two layers each
    kinds = {type(mark) for mark in _marks(pane)}
    assert kinds == {LevelMark, PlaceMark}
    chip = pane.views.waveforms.chips.chips[0]
    QTest.keyClick(chip, Qt.Key.Key_Delete)
    await until(lambda: not _marks(pane))


async def test_a_goal_judges_its_measurement_and_the_change_of_it(pane, until):
    await until(lambda: any(item.goal is not None for item in pane.views.shown.measurements))
    rows = {row[0].text: row for row in pane.views.measurements.table.rows}
    name, value, limit, *_, change = rows["fc"]  # then the yield, where it was estimated in the meantime
    assert (value.text, value.unit, value.color) == ("1.592", "kHz", "error.text")
    assert "Goal missed: 1 kHz … 1.2 kHz" in value.tip.replace("\u00a0", " ")
    assert name.tip.startswith("fc\nhighcut(v(out))")
    assert change.color == "error.text"  # 796 Hz was nearer to the limits
    assert rows["loss"][1].color == "text.primary"
    assert limit.text == "1\u00a0kHz … 1.2\u00a0kHz"
    assert rows["loss"][-1].color == "error.text"  # met, with less to spare


@pytest.fixture
def save_as(services, pane, until, monkeypatch):
    """Export the plot; the system's dialog, which keeps files open, is answered for the person."""

    async def save(suffix: str, target: Path) -> None:
        async def choose_target(_services, _parent, _title, start: Path) -> Path:
            assert start.name == f"filter_Run_2_ac.{suffix}"
            assert start.parent == pane.views.shown.circuit.parent
            return target

        monkeypatch.setattr(export, "choose_target", choose_target)
        action = next(
            each for each in pane.views.waveforms.tools.menu.actions() if suffix in each.objectName()
        )
        action.trigger()
        await until(target.exists)
        await until(lambda: not services.app.program.tasks.handles)

    return save


async def test_the_values_are_exported_with_full_precision(pane, save_as, tmp_path):
    target = tmp_path / "plot.csv"
    await save_as("csv", target)
    head, *rows = list(csv.reader(target.read_text(encoding="utf-8").splitlines()))
    assert head == ["frequency [Hz]", "v(out) [dB]", "v(out) [deg]"]
    axis, (trace,) = pane.views.waveforms.axis, pane.views.waveforms.traces
    assert len(rows) == len(axis.values)
    assert [float(row[1]) for row in rows] == trace.curves[0].values.tolist()


async def test_pictures_are_exported_in_the_light_theme_with_text_as_text(pane, services, save_as, tmp_path):
    services.theme.set_mode("dark")
    await save_as("svg", tmp_path / "plot.svg")
    await save_as("png", tmp_path / "plot.png")
    drawing = ElementTree.parse(tmp_path / "plot.svg")
    texts = [element.text for element in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert "10 k" in [text.replace("\u00a0", " ").strip() for text in texts if text]
    assert {"filter.cir · Run 2 · ac", "v(out)"} <= set(texts)  # what it is of, and which curve is which
    picture = QImage(str(tmp_path / "plot.png"))
    assert picture.width() == 2 * pane.views.waveforms.area.width()
    assert picture.pixelColor(1, 1).lightness() > 250
    assert pane.views.waveforms.area.backgroundBrush().color() == services.theme.theme.color(
        "plot.background"
    )


async def test_the_plot_is_offered_to_the_conversation(pane, services, until):
    offered = []
    services.workspace.picture_offered.connect(lambda *picture: offered.append(picture))
    action = next(
        each for each in pane.views.waveforms.tools.menu.actions() if "conversation" in each.objectName()
    )
    action.trigger()
    await until(lambda: offered)
    ((name, content),) = offered
    assert name == "filter_Run_2_ac.png"
    assert QImage.fromData(content).width() == 2 * pane.views.waveforms.area.width()


async def test_any_letters_of_a_vector_in_their_order_find_it(pane):
    chips = pane.views.waveforms.chips
    QTest.mouseClick(chips.add_button, Qt.MouseButton.LeftButton)
    assert "v(in)" in chips._names.stringList()
    QTest.keyClicks(chips.field, "vot")
    assert "v(out)" in chips._names.stringList()
    assert "v(in)" not in chips._names.stringList()
    QTest.keyClick(chips.field, Qt.Key.Key_Escape)


def _long_transient(*, is_noise: bool) -> Plot:
    time = np.linspace(0.0, 1e-3, POINTS)
    rng = np.random.default_rng(1)
    output = rng.normal(size=POINTS) if is_noise else np.sin(2 * np.pi * 30e3 * time) * np.exp(-2e3 * time)
    vectors = {
        "time": Vector(name="time", unit="s", data=time),
        "v(out)": Vector(name="v(out)", unit="V", data=output),
    }
    return Plot(name="Transient Analysis", title="", analysis="tran", vectors=vectors, axis_name="time")


async def test_cursors_of_a_circuit_of_milliseconds_begin_anew_on_one_of_seconds(services):
    """Else both stand at the left edge, over one another."""
    area = PlotArea(services.theme.theme)
    area.resize(600, 300)
    area.show()
    kept = 1e-3, 3e-3  # also while a run grows
    for end, expected in (
        (5e-3, kept),
        (2e-3, (1e-3, 4e-3 / 3)),  # the next run, which has not come so far
        (6e-3, kept),
        (0.08, kept),
        (1.0, (1 / 3, 2 / 3)),
        (3.0, (1.0, 2.0)),  # nobody put them anywhere: as a run grows they go along
    ):
        times = np.linspace(0, end, 601)
        vectors = {
            "time": Vector(name="time", unit="s", data=times),
            "v(a)": Vector(name="v(a)", unit="V", data=times),
        }
        plot = Plot(analysis="tran", name="", title="", vectors=vectors, axis_name="time")
        axis = axis_of(plot)
        area.show_traces(axis, (make_trace("v(a)", plot, axis, 0),), keep_view=True)
        area.set_cursors_shown(True)
        if end == 5e-3:
            area.set_cursor_places((1e-3, 3e-3))
        assert area.cursor_places == pytest.approx(expected, abs=end / 600), end


@pytest.mark.parametrize("height", [95, 110, 125])
async def test_a_low_pane_has_more_than_one_number_at_its_axis(services, height):
    area = PlotArea(services.theme.theme)
    area.resize(600, height)
    area.show()
    times = np.linspace(0, 1e-3, 500)
    wave = 1.5 * np.sin(2 * np.pi * 1e3 * times)
    vectors = {
        "time": Vector(name="time", unit="s", data=times),
        "v(a)": Vector(name="v(a)", unit="V", data=wave),
    }
    plot = Plot(analysis="tran", name="", title="", vectors=vectors, axis_name="time")
    axis = axis_of(plot)
    area.show_traces(axis, (make_trace("v(a)", plot, axis, 0),))
    area.grab()
    upward = area.panes[0].upward
    assert upward.size().height() < 90
    ticks = [tick.text for tick in upward.divisions().ticks if tick.text]
    assert len(ticks) > 1, ticks


@pytest.mark.parametrize("is_noise", [False, True])
async def test_a_million_points_are_panned_and_zoomed_without_holding_the_loop(
    services, until, loop_watchdog, is_noise
):
    plot = _long_transient(is_noise=is_noise)
    axis = axis_of(plot)
    trace = make_trace("v(out)", plot, axis, 0)
    area = PlotArea(services.theme.theme)
    area.resize(900, 400)
    area.show()
    area.show_traces(axis, (trace,))
    item = area._panes[0].lines[0][2][0]
    await until(lambda: len(item.points[0]) > 0)
    area.grab()  # what Qt makes at its first painting is not what a pan costs
    async with loop_watchdog.watching():
        for step in range(12):
            before = area.view_range
            delta = QPoint(0, 120 if step < 6 else -120)
            place = QPointF(area.pane_rect(0).center())
            area.wheelEvent(
                QWheelEvent(
                    place,
                    QPointF(area.mapToGlobal(place.toPoint())),
                    QPoint(),
                    delta,
                    Qt.MouseButton.NoButton,
                    Qt.KeyboardModifier.NoModifier,
                    Qt.ScrollPhase.NoScrollPhase,
                    False,
                )
            )
            await until(lambda before=before: area.view_range != before)
            area.viewport().repaint()
            low, high = area.view_range
            area.show_range((low + (high - low) / 10, high + (high - low) / 10))
            await until(lambda: not area._soon.isActive())
            area.viewport().repaint()
    assert 0 < len(item.points[0]) <= 3 * 900 + 8
    area.close()


def test_names_of_runs_lie_over_no_other_curve_and_over_no_other_words():
    x = np.linspace(0.0, 1000.0, 500)
    frame, size = QRectF(0, 0, 1000, 300), QSizeF(70, 14)
    # Close on the right, where names stand first, apart on the left; the third crosses the others.
    curves = [(x, 100 + x / 20), (x, 190 - x / 30), (x, 40 + x / 5)]
    words = [QRectF(150, 90, 100, 30)]
    shown = places_of_names(curves, [size] * 3, frame, words)
    assert set(shown) == {0, 1, 2}
    for number, place in shown.items():
        on_it = float(np.interp(place.center().x(), *curves[number]))
        assert abs(on_it - place.center().y()) < 1
        others = [curve for other, curve in enumerate(curves) if other != number]
        sides, heights = (place.left(), place.right()), (place.top(), place.bottom())
        assert not any(runs_through(*other, sides, heights) for other in others)
        assert not any(map(place.intersects, [*words, *(each for n, each in shown.items() if n != number)]))
    twins = [(x, 100 + x / 20), (x, 104 + x / 20), (x, 250 - x / 20)]
    assert set(places_of_names(twins, [size] * 3, frame, [])) == {2}


def test_words_know_whether_a_curve_runs_through_them():
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.0, 10.0, np.nan])
    assert runs_through(x, y, (0.2, 0.8), (-1, 1))
    assert not runs_through(x, y, (0.2, 0.8), (1, 2))
    assert runs_through(x, y, (1.4, 1.6), (4.5, 5.5))  # between two points
    assert not runs_through(x, y, (1.0, 1.2), (4.5, 5.5))  # under the steep part, beside it
    assert not runs_through(x, y, (2.2, 2.8), (-100, 100))  # where nothing is drawn
    assert not runs_through(x, y, (5, 6), (-100, 100))
    upright = np.array([0.0, 1.0, 1.0, 2.0]), np.array([0.0, 0.0, 9.0, 9.0])
    assert runs_through(*upright, (0.9, 1.1), (4, 5))


async def test_a_run_that_was_cut_off_says_so_over_its_curves_and_counts_as_a_problem(pane, services, until):
    counts = []
    services.workspace.problems_changed.connect(lambda *counted: counts.append(counted))
    circuit = pane.views.shown.circuit.with_name("long.cir")
    circuit.write_text("Long\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1u\n.tran 10n 1000 0 10n\n.end\n")
    for limit_s in (0.5, 3.0, 15.0):  # half a second may be over before the first point on a busy machine
        result = await services.app.simulation.run(SimulationRequest(circuit=circuit, timeout_s=limit_s))
        if result.run.raw_paths:
            break
    services.workspace.run_finished.emit(result)
    await until(lambda: counts and counts[-1] == (1, 0))
    services.workspace.result_selected.emit(result.result_path)
    note = pane.views.waveforms.findChild(QLabel, "waveforms_note")
    await until(lambda: "This run is partial, timed out at" in note.text())
    assert pane.views.shown.loaded.plots[0].points > 1


def _dense_plot() -> Plot:
    """Curves that turn hundreds of times and lie over each other."""
    time = np.linspace(0.0, 1.0, 20_000)
    vectors = {"time": Vector(name="time", unit="s", data=time)}
    for number in range(8):
        wave = (1 - 0.02 * number) * np.sin(2 * np.pi * 900 * time)
        vectors[f"v({number})"] = Vector(name=f"v({number})", unit="V", data=wave)
    return Plot(name="Transient Analysis", title="", analysis="tran", vectors=vectors, axis_name="time")


async def test_curves_that_turn_often_look_as_qts_outlines_do(services, monkeypatch):
    """They are images, whose cost does not grow with the turns; also zoomed in, and of a family."""
    plot = _dense_plot()
    axis = axis_of(plot)
    area = PlotArea(services.theme.theme)
    area.resize(900, 400)
    area.show()
    area.show_traces(axis, [make_trace(f"v({number})", plot, axis, number) for number in range(3)])
    for high in (1.0, 0.1, 0.02):  # 1,800, 180 and 36 turns
        area.show_range((0.0, high))
        area.redraw(at_once=True)
        ours = _curves(area)
        with monkeypatch.context() as patched:
            patched.setattr(curve_item, "_FEW_TURNS", math.inf)
            theirs = _curves(area)
        assert (theirs < 250).mean() > 0.02
        assert np.abs(ours - theirs).mean() < 0.2 * np.abs(255 - theirs).mean(), high


def _curves(area: PlotArea) -> np.ndarray:
    """(rows, columns) the green channel of what stands within the axes."""
    inside = area.pane_rect(0).toRect().adjusted(20, 20, -20, -20)
    image = area.grab(inside).toImage().convertToFormat(QImage.Format.Format_RGB32)
    memory = image.constBits()
    memory.setsize(image.sizeInBytes())
    pixels = np.frombuffer(memory, np.uint8).reshape(image.height(), image.width(), 4)
    return pixels[:, :, 1].astype(float)
