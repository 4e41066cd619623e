"""The shape of a waveform in time, in words and in bins: what points picked from it would miss."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from domain.circuit.figures import with_unit
from domain.simulation import time_response as tr
from domain.simulation.signals import Signal
from domain.simulation.waveform import RealArray
from shared.errors import CircuitError

_SETTLED_MEAN = 0.005
"""Of the whole range: the mean of a settled record moves less between its last two stretches."""
_SETTLED_SWING = 0.1
"""Of the swing: that much may the mean move beside it, and the swing itself change."""
_FLAT = 1e-9
_MANY_PERIODS = 4
_ALIKE = 0.005
"""Of the whole range: stretches whose extremes differ by less are told as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """A stretch of the axis with the least and greatest value in it; neighbors alike are one."""

    start: float
    stop: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a waveform does."""

    words: str
    """English: period, settled or not with the figures it is judged by, edges."""
    is_settled: bool | None
    """None: too short to tell."""
    bins: tuple[Bin, ...]


def shape_of(signal: Signal, bins: int) -> Shape:
    """The shape of a signal over time with at least two samples, in at most `bins` stretches."""
    y = signal.real
    low, high = float(y.min()), float(y.max())
    starts = _period_starts(signal)
    period = float(starts[-1] - starts[0]) / (len(starts) - 1) if len(starts) > 1 else None
    found = _bins(signal, _edges(signal, bins, period))
    if high - low <= _FLAT * max(abs(low), abs(high)):
        return Shape(words=f"constant {_v(signal, low)}", is_settled=True, bins=found)
    words = [f"from {_v(signal, float(y[0]))} to {_v(signal, float(y[-1]))}"]
    if period is not None:
        words.append(
            f"period {with_unit(period, signal.axis_unit)} ({with_unit(1 / period, 'Hz')}, "
            f"by the last {len(starts) - 1} whole periods)"
        )
    settled, told = _settled(signal, starts, high - low)
    words.append(told)
    rises, falls = (len(signal.crossings((low + high) / 2, way)) for way in ("rising", "falling"))
    words.append(f"{rises} rising and {falls} falling edges through the middle")
    return Shape(words="; ".join(words), is_settled=settled, bins=found)


def _period_starts(signal: Signal) -> RealArray:
    try:
        starts = tr.period_starts(signal)
    except (CircuitError, IndexError):
        return np.zeros(0)
    is_going_on = np.isfinite(starts).all() and (np.diff(starts) > 0).all()
    return starts if is_going_on else np.zeros(0)


def _settled(signal: Signal, starts: RealArray, extent: float) -> tuple[bool | None, str]:
    """Whether the record ends as it was a while before: its last two stretches of whole periods (or its
    last two quarters) compared by mean and swing."""
    first, last = float(signal.x[0]), float(signal.x[-1])
    if len(starts) > 2:
        count = (len(starts) - 1) // 2
        edges = float(starts[-1 - 2 * count]), float(starts[-1 - count]), float(starts[-1])
        stretch = f"last {count} periods" if count > 1 else "last period"
    else:
        quarter = (last - first) / 4
        edges = last - 2 * quarter, last - quarter, last
        stretch = "last quarter"
    before, after = (signal.window(*pair) for pair in (edges[:2], edges[1:]))
    if len(before.x) < 3 or len(after.x) < 3:
        return None, "too few points to say whether it has settled"
    means = tr.average(before), tr.average(after)
    swings = float(np.ptp(before.real)), float(np.ptp(after.real))
    moved = abs(means[1] - means[0])
    steady = moved <= _SETTLED_MEAN * extent and abs(swings[1] - swings[0]) <= max(
        _SETTLED_SWING * max(swings), _SETTLED_MEAN * extent
    )
    if steady and len(starts) > 2:
        steady = moved <= _SETTLED_SWING * max(swings)
    figures = (
        f"{stretch} beside the one before: mean {_v(signal, means[0])} -> {_v(signal, means[1])}, "
        f"peak to peak {_v(signal, swings[0])} -> {_v(signal, swings[1])}"
    )
    return steady, f"{'settled' if steady else 'NOT SETTLED'} ({figures})"


def _edges(signal: Signal, count: int, period: float | None) -> RealArray:
    """The ends of at most so many stretches: of a periodic signal of whole periods up to its end, so that a
    steady one is told as one and not as the parts of its periods; else equal ones."""
    first, last = float(signal.x[0]), float(signal.x[-1])
    if period is None or not _MANY_PERIODS * period <= last - first < math.inf:
        return np.linspace(first, last, count + 1)
    length = period * math.ceil((last - first) / period / count)
    inside = last - length * np.arange(int((last - first) / length), 0, -1)
    return np.concatenate(([first], inside[inside > first + length / 2], [last]))


def _bins(signal: Signal, edges: RealArray) -> tuple[Bin, ...]:
    x, y = signal.x, signal.real
    places = np.searchsorted(x, edges[1:-1])
    found: list[Bin] = []
    for start, stop, part in zip(edges[:-1], edges[1:], np.split(y, places), strict=True):
        ends = [signal.value_at(float(place)).real for place in (start, stop)]
        low, high = min(ends), max(ends)
        if len(part):
            low, high = min(low, float(part.min())), max(high, float(part.max()))
        before, alike = (found[-1] if found else None), _ALIKE * float(np.ptp(y))
        if before is not None and abs(low - before.low) <= alike and abs(high - before.high) <= alike:
            low, high = min(low, before.low), max(high, before.high)
            found[-1] = Bin(start=before.start, stop=float(stop), low=low, high=high)
        else:
            found.append(Bin(start=float(start), stop=float(stop), low=low, high=high))
    return tuple(found)


def _v(signal: Signal, value: float) -> str:
    return with_unit(value, signal.unit)
