"""What alternates from point to point is the simulator's; what turns as often as a circuit may is its own."""

from __future__ import annotations

import numpy as np
import pytest

from domain.simulation.ringing import alternates
from domain.simulation.waveform import RealArray

POINTS = np.arange(400.0)
RINGS = np.where(POINTS < 200, 0.0, 1.9e-3 * (-1.0) ** POINTS)


@pytest.mark.parametrize(
    ("values", "is_found"),
    [
        (RINGS, True),
        (8e-3 + RINGS * np.exp(-POINTS / 150), True),
        (RINGS * 1e-4 + np.where(POINTS < 100, 10e-3, 0.0), False),  # too little to be seen
        (12.0 + 0.01 * RINGS, False),  # the same on a supply
        (1e-9 * RINGS, False),  # rounding about nothing
        (np.sin(2 * np.pi * POINTS / 5), False),  # few points in a period
        (np.repeat([0.0, 5.0, 5.0, 0.0], 100), False),
        (np.random.default_rng(3).normal(size=2000), False),  # noise
        (np.full(400, np.nan), False),
    ],
)
def test_what_alternates(values: RealArray, is_found: bool) -> None:
    assert alternates(values) is is_found
