"""Whether an oscillation is still about to start when a run ends.

An oscillator of ideal parts stands in its operating point; it starts from the rounding of the numbers, and
that may take longer than the run. A real one starts from its noise, its offset, its supply coming up.
"""

from __future__ import annotations

import numpy as np

from domain.simulation.waveform import RealArray

_MOST = 1e-6
"""Volts at the end: what is more is seen as what it is."""
_PARTS, _LAST = 8, 4
_GROWTH = 2.0
"""From one part of the record to the next at least."""
_LARGEST = 1e100
"""Volts: nothing that begins, and a difference of two such is no number."""
_LEAST_TURNS = 6
"""In its last part."""


def grows_from_nothing(values: RealArray) -> bool:
    """Whether a voltage over time swings ever wider about where it began, and is next to nothing still."""
    known = values[np.isfinite(values)]
    if len(known) < _PARTS * _LEAST_TURNS or np.abs(known).max() > _LARGEST:
        return False
    parts = np.array_split(known - known[0], _PARTS)[-_LAST:]
    sizes = np.array([np.abs(part).max() for part in parts])
    is_growing = bool((sizes[1:] > _GROWTH * sizes[:-1]).all()) and sizes[0] > 0
    turns = np.count_nonzero(np.diff(np.sign(np.diff(parts[-1]))))
    return is_growing and bool(sizes[-1] < _MOST) and int(turns) >= _LEAST_TURNS
