"""The shape of waveforms: what is periodic, what has settled, what eleven samples would miss."""

from __future__ import annotations

import re

import numpy as np
import pytest

from application.tool_execution.tools.inspection import FUNCTIONS
from domain.simulation.measurements import MEASUREMENTS
from domain.simulation.shape import shape_of
from domain.simulation.signals import Signal

T = np.linspace(0, 1e-3, 20_001)


def shape(y, bins=10):  # type: ignore[no-untyped-def]
    return shape_of(Signal(x=T, y=y, unit="V", axis_name="time", axis_unit="s"), bins)


def test_a_burst_between_samples_is_in_its_bin() -> None:
    y = np.where(abs(T - 333e-6) < 1e-6, 9.0, 1.0)
    bins = shape(y).bins
    assert [(each.low, each.high) for each in bins] == [(1, 1), (1, 9), (1, 1)]
    assert bins[1].start == pytest.approx(300e-6)


def test_periodic_and_settled() -> None:
    found = shape(2 + np.sin(2 * np.pi * 20e3 * T))
    assert found.is_settled
    assert "period 50 us (20 kHz, by the last 8 whole periods" in found.words
    assert len(found.bins) == 1


def test_few_periods_are_not_told_in_parts() -> None:
    """Stretches of half a period each have other extremes: ten lines that say nothing."""
    steady = shape(2 + np.sin(2 * np.pi * 5e3 * T)).bins
    assert [(round(each.low, 3), round(each.high, 3)) for each in steady] == [(1, 3)]
    growing = shape(T / 1e-3 * np.sin(2 * np.pi * 13e3 * T)).bins
    assert growing[0].start == 0
    assert growing[-1].stop == T[-1]
    assert 5 <= len(growing) <= 10
    assert [each.start for each in growing[1:]] == [each.stop for each in growing[:-1]]


@pytest.mark.parametrize(
    "y",
    [
        5 * (1 - np.exp(-T / 400e-6)),
        np.sin(2 * np.pi * 20e3 * T) * T / 1e-3,
        5 + np.exp(-T / 300e-6) * np.cos(2 * np.pi * 5e3 * T),
        1e3 * T + 0.02 * np.sin(2 * np.pi * 100e3 * T),
    ],
    ids=["charging", "starting oscillator", "ringing", "ripple on a ramp"],
)
def test_not_settled(y: np.ndarray) -> None:
    assert shape(y).is_settled is False


def test_settled_and_constant() -> None:
    assert shape(5 * (1 - np.exp(-T / 50e-6))).is_settled
    assert shape(np.full_like(T, 3.3)).words == "constant 3.3 V"


def test_models_are_told_every_measurement() -> None:
    missing = [name for name in MEASUREMENTS if name not in re.findall(r"\w+", FUNCTIONS)]
    assert missing == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("x", [T[::-1], T * 0], ids=["back", "one moment"])
def test_a_time_that_is_none_has_no_period(x) -> None:  # type: ignore[no-untyped-def]
    wave = Signal(x=x, y=np.sin(2 * np.pi * 20e3 * T), unit="V", axis_name="time", axis_unit="s")
    assert shape_of(wave, 10).words
