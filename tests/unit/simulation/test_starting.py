"""An oscillator that has not started is told from small signals."""

from __future__ import annotations

import numpy as np
import pytest

from domain.simulation.starting import grows_from_nothing
from domain.simulation.waveform import RealArray

T = np.linspace(0, 1, 1000)
SINE = np.sin(2 * np.pi * 80 * T)


@pytest.mark.parametrize(
    ("values", "is_found"),
    [
        (1e-19 * np.exp(18 * T) * SINE, True),
        (2.5 + 1e-15 * np.exp(15 * T) * SINE, True),  # about half the supply
        (1e-9 * np.exp(18 * T) * SINE, False),  # it is there, volts of it
        (1e-9 * SINE, False),
        (np.where(T < 0.75, 0.0, 1e-9 * SINE), False),  # a burst of a source
        (1e-15 * np.exp(15 * T), False),  # a node that drifts
        (np.zeros(1000), False),
        (np.full(1000, np.nan), False),
        (SINE[:20], False),
    ],
)
def test_what_grows_from_nothing(values: RealArray, is_found: bool) -> None:
    assert grows_from_nothing(values) is is_found
