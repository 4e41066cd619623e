"""The next peak, valley or edge along a curve, seen from a sample. Pure."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from domain.simulation.waveform import RealArray

Feature = Literal["peak", "valley", "edge"]
_LEAST_SWING = 0.01
"""Of the curve's whole swing: what wiggles less is the noise of the arithmetic."""


def next_feature(values: RealArray, sample: int, feature: Feature, *, forward: bool) -> int | None:
    """The nearest sample of a kind behind `sample` (or before it); None where there is none.

    values: (n,) of one sweep. A peak is a local greatest that stands out of its surroundings by a hundredth
    of the swing, a valley likewise below; an edge is where the curve passes the middle of its swing.
    """
    places = features(values, feature)
    behind = places[places > sample] if forward else places[places < sample]
    if not len(behind):
        return None
    return int(behind[0] if forward else behind[-1])


def features(values: RealArray, feature: Feature) -> NDArray[np.intp]:
    """(k,) all samples of a kind, rising."""
    finite = values[np.isfinite(values)]
    swing = float(np.ptp(finite)) if len(finite) else 0.0
    if swing <= 0:
        return np.empty(0, dtype=np.intp)
    if feature == "edge":
        above = values > float(finite.min()) + swing / 2
        return np.flatnonzero(above[1:] != above[:-1]) + 1
    return _peaks(values if feature == "peak" else -values, _LEAST_SWING * swing)


def _peaks(values: RealArray, least: float) -> NDArray[np.intp]:
    """Where the values are greatest between two falls of at least `least`; of a level top its middle."""
    turns = _turns(values)
    found: list[int] = []
    best, lowest = -1, np.inf
    is_rising = False
    for place in turns.tolist():
        value = values[place]
        if not is_rising:
            if value < lowest:
                lowest = value
            elif value - lowest >= least:
                is_rising, best = True, place
        if is_rising:
            if value >= values[best]:
                best = place
            elif values[best] - value >= least:
                found.append(best)
                is_rising, lowest = False, value
    return np.array([_middle(values, place) for place in found], dtype=np.intp)


def _turns(values: RealArray) -> NDArray[np.intp]:
    """(k,) the ends, and where a curve turns: few of the many samples."""
    steps = np.sign(np.diff(values))
    moving = np.flatnonzero(np.nan_to_num(steps))
    if not len(moving):
        return np.arange(min(len(values), 1))
    changes = moving[1:][steps[moving[1:]] != steps[moving[:-1]]]
    return np.concatenate(([0], changes, [len(values) - 1])).astype(np.intp)


def _middle(values: RealArray, place: int) -> int:
    """Of the level stretch around a sample."""
    first = last = place
    while first > 0 and values[first - 1] == values[place]:
        first -= 1
    while last < len(values) - 1 and values[last + 1] == values[place]:
        last += 1
    return (first + last) // 2
