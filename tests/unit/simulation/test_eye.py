"""The eye of a data signal: clock, opening and jitter against signals whose figures are known."""

from __future__ import annotations

import numpy as np
import pytest

from domain.simulation.eye import eye_of, folded
from domain.simulation.signals import Signal
from shared.errors import CircuitError

BIT = 1e-9
RISE = 0.1e-9


def _data(away: np.ndarray | None = None, *, count: int = 200, noise: float = 0.0) -> Signal:
    """Random bits of 1 V with straight edges of 0.1 ns; edge k is `away[k]` late; uneven samples."""
    chance = np.random.default_rng(7)
    bits = chance.integers(0, 2, count)
    late = np.zeros(count) if away is None else away
    times, values = [0.0], [float(bits[0])]
    for number in range(1, count):
        if bits[number] != bits[number - 1]:
            middle = number * BIT + late[number]
            times += [middle - RISE / 2, middle + RISE / 2]
            values += [float(bits[number - 1]), float(bits[number])]
    times.append(count * BIT)
    values.append(float(bits[-1]))
    x = np.unique(np.concatenate((np.linspace(0, count * BIT, 20_001), times)))
    y = np.interp(x, times, values) + noise * np.sin(2 * np.pi * 1.7e9 * x)
    return Signal(x=x, y=y, unit="V", axis_name="time", axis_unit="s")


def test_the_clock_is_found_from_the_edges_and_the_opening_told() -> None:
    eye = eye_of(_data(noise=0.05))
    assert eye.interval == pytest.approx(BIT, rel=2e-4)
    assert eye.level == pytest.approx(0.5, abs=0.06)
    assert 0.85 < eye.height < 1.0
    clean = eye_of(_data())
    assert clean.height == pytest.approx(1.0, abs=1e-9)
    assert clean.jitter_pp < 1e-6 * BIT
    assert clean.width == pytest.approx(BIT, rel=1e-5)


def test_jitter_is_that_of_the_edges() -> None:
    chance = np.random.default_rng(3)
    away = chance.normal(0, 0.03 * BIT, 200)
    signal = _data(away)
    for eye in (eye_of(signal), eye_of(signal, BIT)):
        assert eye.interval == pytest.approx(BIT, rel=1e-3)
        assert eye.jitter_rms == pytest.approx(0.03 * BIT, rel=0.25)
        assert eye.jitter_pp == pytest.approx(BIT - eye.width)


def test_what_has_no_eye_is_refused_with_figures() -> None:
    flat = Signal(x=np.linspace(0, 1, 50), y=np.ones(50), unit="V", axis_name="time", axis_unit="s")
    with pytest.raises(CircuitError, match="at least 4 edges; 0"):
        eye_of(flat)
    chance = np.random.default_rng(1)
    edges = np.sort(chance.uniform(0, 1, 60))
    x = np.linspace(0, 1, 20_001)
    wild = Signal(
        x=x, y=(np.searchsorted(edges, x) % 2).astype(float), unit="V", axis_name="time", axis_unit="s"
    )
    with pytest.raises(CircuitError, match="no common clock"):
        eye_of(wild)
    assert eye_of(wild, 0.01).interval == 0.01
    for impossible in (1e-30, 2.0):
        with pytest.raises(CircuitError, match="shorter than the shown span"):
            eye_of(wild, impossible)


def test_the_folded_line_keeps_every_sample_and_lies_within_two_intervals() -> None:
    signal = _data()
    eye = eye_of(signal)
    x, y, times = folded(signal, eye)
    known = np.isfinite(y)
    assert np.array_equal(np.isnan(x), ~known)
    assert x[known].min() >= -0.5 * eye.interval * (1 + 1e-6)
    assert x[known].max() <= 1.5 * eye.interval * (1 + 1e-6)
    assert len(x) == len(times)
    assert np.count_nonzero(~known) == (len(x) - len(signal.x)) // 3
    assert np.isin(signal.x, times).all()
    # the edges lie at 0 and at one interval
    crossing = x[known][np.abs(y[known] - eye.level) < 0.05]
    away = np.minimum(np.abs(crossing), np.abs(crossing - eye.interval))
    assert away.max() < RISE
