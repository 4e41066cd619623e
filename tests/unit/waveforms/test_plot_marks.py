"""Goals and margins find their place on the trace they are about, and on no other."""

import math

import numpy as np
import pytest

from domain.simulation.goals import DesignGoal
from domain.simulation.waveform import Plot, Vector
from presentation.panels.waveforms.plot_marks import (
    LevelMark,
    MarginMark,
    PlaceMark,
    marks_of,
    subject_of,
)
from presentation.panels.waveforms.traces import axis_of, make_trace

FREQUENCY = np.logspace(0, 8, 1601)


def _plot(response: np.ndarray) -> Plot:
    vectors = {
        "frequency": Vector(name="frequency", data=FREQUENCY.astype(complex), unit="Hz"),
        "v(out)": Vector(name="v(out)", data=response, unit="V"),
    }
    return Plot(name="AC Analysis", title="", analysis="ac", vectors=vectors, axis_name="frequency")


def _low_pass() -> Plot:
    return _plot(10 / (1 + 1j * FREQUENCY / 1000))


def _marks(plot: Plot, *goals: DesignGoal, measured: tuple[str, ...] = (), shown: str = "v(out)"):
    axis = axis_of(plot)
    return marks_of(plot, axis, (make_trace(shown, plot, axis, 2),), goals, measured)


def _goal(expression: str, unit: str = "dB", **bounds: float) -> DesignGoal:
    return DesignGoal(metric="goal", expression=expression, unit=unit, **bounds)


def test_a_corner_is_a_gate_three_decibels_below_the_low_end():
    (mark,) = _marks(_low_pass(), _goal("highcut(v(out))", "Hz", minimum=900.0, maximum=1100.0))
    assert isinstance(mark, PlaceMark)
    assert mark.level == pytest.approx(20 - 3.0103, abs=0.01)
    assert (mark.low, mark.high) == pytest.approx((math.log10(900), math.log10(1100)))
    assert mark.is_falling


def test_the_upper_corner_of_a_band_is_read_below_its_peak_and_not_below_its_low_end():
    rising = 10 * (1j * FREQUENCY / 50) / (1 + 1j * FREQUENCY / 50)
    plot = _plot(rising / (1 + 1j * FREQUENCY / 1e5))
    (mark,) = _marks(plot, _goal("highcut(v(out))", "Hz", minimum=20e3))
    assert isinstance(mark, PlaceMark)
    assert mark.level == pytest.approx(20 - 3.0103, abs=0.05)


@pytest.mark.parametrize("is_band", [False, True])
def test_a_lower_corner_is_a_gate_three_decibels_below_what_lies_above_it(is_band):
    rising = 10 * (1j * FREQUENCY / 50) / (1 + 1j * FREQUENCY / 50)
    plot = _plot(rising / (1 + 1j * FREQUENCY / 1e6) if is_band else rising)
    (mark,) = _marks(plot, _goal("lowcut(v(out))", "Hz", maximum=100.0))
    assert isinstance(mark, PlaceMark)
    assert mark.level == pytest.approx(20 - 3.0103, abs=0.02)
    assert (mark.low, mark.high, mark.is_falling) == (None, 2.0, False)


def test_a_bound_relative_to_the_low_end_is_drawn_above_it():
    (mark,) = _marks(_low_pass(), _goal("db(peak(v(out))/dcgain(v(out)))", maximum=0.1))
    assert isinstance(mark, LevelMark)
    assert (mark.level, mark.is_upper, mark.at) == (pytest.approx(20.1, abs=1e-3), True, None)


def test_a_bound_at_one_frequency_holds_there_only():
    (mark,) = _marks(_low_pass(), _goal("db(gain(v(out), 100k))", maximum=-15.0))
    assert isinstance(mark, LevelMark)
    assert (mark.level, mark.at) == (-15.0, pytest.approx(5.0))


@pytest.mark.parametrize(
    ("expression", "shown"),
    [("highcut(v(in))", "v(out)"), ("rise_time(v(out))", "v(out)"), ("not an expression(", "v(out)")],
)
def test_a_goal_on_something_else_is_not_drawn(expression, shown):
    assert _marks(_low_pass(), _goal(expression, minimum=1.0, maximum=2.0), shown=shown) == ()


def test_margins_of_a_loop_gain_stand_at_their_crossings():
    loop = 1000 / (1 + 1j * FREQUENCY / 100) / (1 + 1j * FREQUENCY / 1e5) / (1 + 1j * FREQUENCY / 1e6)
    plot = _plot(loop)
    marks = _marks(plot, measured=("phase_margin(v(out))", "gain_margin(v(out))"))
    by_kind = {mark.kind: mark for mark in marks if isinstance(mark, MarginMark)}
    phase, gain = by_kind["PM"], by_kind["GM"]
    place = np.interp(phase.at, np.log10(FREQUENCY), 20 * np.log10(abs(loop)))
    assert place == pytest.approx(0.0, abs=0.05)
    assert phase.end == pytest.approx(-180.0)
    assert phase.start - phase.end == pytest.approx(phase.value, abs=0.1)
    assert gain.crossing == pytest.approx(-180.0, abs=0.1)
    assert gain.end == pytest.approx(0.0, abs=0.05)
    assert (phase.pane.unit, phase.crossed.unit, gain.pane.unit, gain.color) == ("deg", "dB", "dB", 2)


def test_margins_are_drawn_only_where_somebody_measures_them():
    assert _marks(_low_pass(), measured=("bandwidth(v(out))",)) == ()


@pytest.mark.parametrize(
    ("expression", "subject"),
    [
        ("highcut(v(out))", "v(out)"),
        ("db(peak(v(out))/dcgain(v(out)))", "v(out)"),
        ("max(tran.v(out))", "v(out)"),
        ("bandwidth(v(out)/v(in))", "v(out)/v(in)"),
        ("3", None),
    ],
)
def test_what_a_goal_is_about(expression, subject):
    assert subject_of(expression) == subject
