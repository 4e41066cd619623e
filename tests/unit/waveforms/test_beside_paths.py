"""Lines that go where they like are cut down both ways; a measurement against steps has its lines."""

from __future__ import annotations

import numpy as np
import pytest

from presentation.panels.waveforms.beside.drawing import BesideOptions, SteppedFigure, Subject
from presentation.panels.waveforms.beside.loci import Path, PathAxis
from presentation.panels.waveforms.beside.steps import steps_drawing
from tests.unit.simulation.plots import operating_point


def _spiral(count: int) -> Path:
    turn = np.linspace(0, 20 * np.pi, count)
    return Path(np.linspace(0, 1, count) * np.cos(turn), np.linspace(0, 1, count) * np.sin(turn))


def test_a_path_of_a_million_samples_is_drawn_by_few():
    path = _spiral(1_000_000)
    x, y = path.visible(-1, 1, 500)
    assert len(x) < 120_000
    # nothing is lost: each sample is within a cell of what is drawn next to it
    assert (x.min(), x.max(), y.min(), y.max()) == pytest.approx(
        (path.x.min(), path.x.max(), path.y.min(), path.y.max()), abs=2e-3
    )
    assert np.hypot(np.diff(x), np.diff(y)).max() < 6e-3


def test_zoomed_in_the_line_ends_where_it_leaves():
    path = _spiral(1_000_000)
    x, y = path.visible(0.50, 0.51, 500)
    inside = (x >= 0.50) & (x <= 0.51)
    assert inside.sum() > 400
    assert np.isnan(y).sum() >= 9, "several turns pass there, each by itself"
    assert len(x) < 200_000
    steps = np.abs(np.diff(x))
    assert np.nanmax(steps[np.isfinite(steps)]) < 1e-3, "no line back across the part that is shown"


def test_few_samples_and_gaps_stay_as_they_are():
    x, y = np.array([0.0, 1.0, np.nan, 1.0, 0.0]), np.array([0.0, 1.0, np.nan, 0.0, 1.0])
    shown = Path(x, y).visible(0, 1, 400)
    np.testing.assert_array_equal(shown[0], x)
    np.testing.assert_array_equal(shown[1], y)


def test_a_cursor_walks_along_the_curve():
    across = np.array([0.0, 1.0, 2.0, 1.0, 0.0])
    axis = PathAxis(
        name="re", unit="V", is_log=False, values=across, coordinates=across,
        parts=(slice(0, 5),), usable=slice(0, 5), low=0.0, high=2.0,
    )  # fmt: skip
    assert axis.nearest(1.1) == 1
    assert [axis.stepped(at, 1) for at in range(5)] == [1, 2, 3, 4, 4]
    assert axis.stepped(0, -1) == 0


def test_two_stepped_quantities_make_a_line_for_each_value_of_the_other():
    points = tuple(
        ({"r": r, "temp": t}, None if (r, t) == (1e3, 85.0) else r * t)
        for t in (27.0, 85.0)
        for r in (1e3, 1e4, 1e5)
    )
    figure = SteppedFigure(name="gain", unit="V", points=points)
    subject = Subject(plot=operating_point(out=1.0), traces=(), measured=(figure,))
    drawing = steps_drawing(subject, BesideOptions(kind="steps"))
    assert drawing.axis is not None
    assert (drawing.axis.name, drawing.axis.is_log) == ("r", True)
    assert [trace.run for trace in drawing.traces] == ["temp = 27", "temp = 85"]
    assert list(drawing.traces[0].curves[0].values) == pytest.approx([27e3, 270e3, 2.7e6])
    assert np.isnan(drawing.traces[1].curves[0].values[0])
    assert len(drawing.marks) == 5
    assert [str(note) for note in drawing.notes] == ["gain against r", "No value in 1 step"]
    assert (
        steps_drawing(Subject(plot=operating_point(out=1.0), traces=()), BesideOptions()).problem is not None
    )
