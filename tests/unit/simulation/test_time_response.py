"""Levels, edges and periods of awkward waveforms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from domain.simulation.expressions import evaluate
from domain.simulation.signals import Signal
from domain.simulation.time_response import levels_of
from shared.errors import CircuitError
from tests.unit.simulation.plots import plot, transient


def _signal(y: np.ndarray, stop: float = 1.0) -> Signal:
    return Signal(x=np.linspace(0, stop, len(y)), y=y, unit="V", axis_name="time", axis_unit="s")


def _pulses(t: np.ndarray, period: float, duty: float, edge: float) -> np.ndarray:
    phase = np.mod(t, period)
    return np.interp(phase, [0, edge, duty * period, duty * period + edge, period], [0, 1, 1, 0, 0])


def test_a_step_goes_from_its_start_to_the_mean_of_its_end():
    t = np.linspace(0, 1, 2001)
    levels = levels_of(_signal(1 + 2 * (1 - np.exp(-20 * t)) + 0.001 * np.sin(2 * math.pi * 400 * t)))
    assert levels.is_step
    assert levels.low == pytest.approx(1, abs=2e-3)
    assert levels.high == pytest.approx(3, abs=1e-3)


def test_pulses_have_the_levels_where_they_stay_not_their_overshoot():
    t = np.linspace(0, 1.03, 4001)
    spikes = 0.6 * np.exp(-np.mod(t, 0.1) / 0.002) * (np.mod(t, 0.1) > 0.001)
    levels = levels_of(_signal(_pulses(t, 0.1, 0.5, 1e-3) + spikes, 1.03))
    assert not levels.is_step
    assert levels.low == pytest.approx(0, abs=0.01)
    assert levels.high == pytest.approx(1, abs=0.01)


def test_a_ramp_has_its_extremes():
    levels = levels_of(_signal(np.linspace(-1, 3, 500)))
    assert (levels.low, levels.high) == pytest.approx((-1, 3), abs=0.15)


def test_a_single_pulse_that_returns():
    wave = transient(lambda t: np.interp(t, [0, 1e-4, 2e-4, 5e-4, 7e-4, 1e-3], [0, 0, 4, 4, 0, 0]))
    assert evaluate("rise_time(v(out))", [wave]).value == pytest.approx(0.8e-4, rel=1e-4)
    assert evaluate("fall_time(v(out))", [wave]).value == pytest.approx(1.6e-4, rel=1e-4)
    assert evaluate("slew_rate(v(out))", [wave]).value == pytest.approx(4e4, rel=1e-4)
    assert evaluate("overshoot(v(out))", [wave]).value == pytest.approx(0, abs=1e-4)
    with pytest.raises(CircuitError):
        evaluate("settling_time(v(out), 0.01)", [wave])


def test_overshoot_of_a_pulse_and_of_a_falling_step():
    wave = transient(
        lambda t: np.interp(t, [0, 1e-4, 1.1e-4, 2e-4, 6e-4, 6.1e-4, 1e-3], [0, 0, 1.25, 1, 1, 0, 0])
    )
    assert evaluate("overshoot(v(out))", [wave]).value == pytest.approx(0.25, rel=0.02)
    falling = transient(lambda t: np.interp(t, [0, 1e-4, 1.1e-4, 2e-4, 1e-3], [5, 5, 0.2, 1, 1]))
    assert evaluate("overshoot(v(out))", [falling]).value == pytest.approx(0.2, rel=0.01)


def test_periods_ignore_wiggles_and_the_start():
    noise = np.random.default_rng(1).normal(scale=0.02, size=20001)
    wave = transient(lambda t: np.where(t < 2e-4, 0.0, np.sin(2 * math.pi * 20e3 * t)) + noise, points=20001)
    assert evaluate("frequency(v(out))", [wave]).value == pytest.approx(20e3, rel=2e-3)
    assert evaluate("duty(v(out))", [wave]).value == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("duty", [0.05, 0.3, 0.9])
def test_duty_and_frequency_of_pulses(duty):
    wave = transient(lambda t: 5 * _pulses(t, 1.1e-4, duty, 1e-7) - 2, points=40001)
    assert evaluate("duty(v(out))", [wave]).value == pytest.approx(duty, abs=2e-3)
    assert evaluate("frequency(v(out))", [wave]).value == pytest.approx(1 / 1.1e-4, rel=1e-3)


def test_few_periods_are_taken_from_the_whole_record():
    wave = transient(lambda t: np.sin(2 * math.pi * 2.6e3 * t))
    assert evaluate("frequency(v(out))", [wave]).value == pytest.approx(2.6e3, rel=1e-3)


def test_ripple_is_that_of_the_last_periods():
    wave = transient(
        lambda t: 12 * (1 - np.exp(-t / 5e-5)) + 0.05 * np.sin(2 * math.pi * 1e5 * t), points=20001
    )
    assert evaluate("ripple(v(out))", [wave]).value == pytest.approx(0.1, rel=0.01)
    settled = transient(lambda t: 12 * (1 - np.exp(-t / 5e-5)))
    assert evaluate("ripple(v(out))", [settled]).value == pytest.approx(12 * math.exp(-10), rel=0.01)


def test_ripple_of_a_constant_is_nothing():
    assert evaluate("ripple(v(out))", [transient(lambda t: np.full(len(t), 3.3))]).value == 0


def test_averages_weigh_uneven_steps():
    t = np.concatenate((np.linspace(0, 0.1, 1000), [1.0]))
    wave = plot("tran", ("time", t, "s"), {"v(out)": (np.where(t <= 0.1, 1.0, 1.0), "V"), "v(r)": (t, "V")})
    assert evaluate("avg(v(r))", [wave]).value == pytest.approx(0.5)
    assert evaluate("avg(v(r), 0.2, 0.6)", [wave]).value == pytest.approx(0.4)
    assert evaluate("avg(v(r), 0.6, 0.2)", [wave]).value == pytest.approx(0.4)


def test_thd_takes_the_end_of_the_record():
    def wave(t):
        start = np.where(t < 4e-4, 5.0, 0.0)
        return start + np.sin(2 * math.pi * 1e4 * t) + 0.3 * np.sin(2 * math.pi * 3e4 * t)

    assert evaluate("thd(v(out), 10k)", [transient(wave, points=5001)]).value == pytest.approx(0.3, rel=1e-4)


def test_the_delay_is_to_the_next_passing_whatever_its_direction():
    t = np.linspace(0, 1, 1001)
    plots = [
        plot(
            "tran",
            ("time", t, "s"),
            {
                "v(a)": (np.interp(t, [0, 0.2, 0.3, 1], [0, 0, 1, 1]), "V"),
                "v(b)": (np.interp(t, [0, 0.4, 0.6, 1], [5, 5, 1, 1]), "V"),
            },
        )
    ]
    assert evaluate("delay(v(a), v(b))", plots).value == pytest.approx(0.25)
    assert evaluate("delay(v(a), v(a))", plots).value == pytest.approx(0)
    with pytest.raises(CircuitError, match="does not cross its midpoint after 500ms"):
        evaluate("delay(v(b), v(a))", plots)
