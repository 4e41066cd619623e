"""Least and greatest values of ever longer stretches of a vector: any plot in a few thousand reads.

Level 0 covers stretches of 64 samples, each further level eight times as many. 64 first, because that is
eight times cheaper to make and to keep than starting with 8, and below 64 the samples themselves are quick.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.simulation.waveform import Array, Envelope, RealArray

FIRST = 64
FACTOR = 8
_TOP = 64
"""A level with so few stretches, or fewer, is the last."""


@dataclass(frozen=True, slots=True, eq=False)
class Pyramid:
    """The levels of one vector."""

    low: tuple[RealArray, ...]
    """Per level: (stretches,) the least value of each; NaN when a stretch has no number."""
    high: tuple[RealArray, ...]


def level_sizes(points: int) -> list[int]:
    """How many stretches each level of a vector of so many points has."""
    sizes = []
    stretches = -(-points // FIRST)
    while stretches > 1:
        sizes.append(stretches)
        if stretches <= _TOP:
            break
        stretches = -(-stretches // FACTOR)
    return sizes


def first_level(values: RealArray) -> tuple[RealArray, RealArray]:
    """(least, greatest) of each FIRST samples of `values`, whose first sample begins a stretch."""
    starts = np.arange(0, len(values), FIRST)
    with np.errstate(invalid="ignore"):
        return np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)


def next_level(low: RealArray, high: RealArray) -> tuple[RealArray, RealArray]:
    """(least, greatest) of each FACTOR stretches."""
    starts = np.arange(0, len(low), FACTOR)
    with np.errstate(invalid="ignore"):
        return np.fmin.reduceat(low, starts), np.fmax.reduceat(high, starts)


def envelope(
    axis: RealArray | Array | None,
    vector: Array,
    pyramid: Pyramid | None,
    *,
    start: float,
    stop: float,
    max_points: int,
) -> Envelope:
    """The vector between two places of its axis (its number, when it has none), in at most `max_points`
    stretches; one sample more at either end, so that a line runs to the edge.

    `axis` is to be monotonic; a complex vector is taken by magnitude.
    """
    with np.errstate(invalid="ignore"):
        return _envelope(axis, vector, pyramid, _bounds(axis, len(vector), start, stop), max_points)


def _envelope(
    axis: RealArray | Array | None,
    vector: Array,
    pyramid: Pyramid | None,
    bounds: tuple[int, int],
    max_points: int,
) -> Envelope:
    first, last = bounds
    count = last - first
    max_points = max(max_points, 2)
    if count <= max_points:
        values = _real(vector[first:last])
        return Envelope(x=_places(axis, np.arange(first, last)), low=values, high=values, is_exact=True)
    level, size = -1, 1
    if pyramid is not None:
        while level + 1 < len(pyramid.low) and count // (FIRST * FACTOR ** (level + 1)) >= max_points:
            level += 1
            size = FIRST * FACTOR**level
    # Inner edges lie on the level's stretches, so that each piece is exactly its least and greatest.
    even = np.linspace(first, last, max_points + 1)[1:-1]
    inner = np.unique((even // size).astype(np.int64) * size)
    inner = inner[(inner > first) & (inner < last)]
    edges = np.concatenate((np.array([first], dtype=np.int64), inner))
    if level < 0 or pyramid is None:
        values = _real(vector[first:last])
        low, high = (f.reduceat(values, edges - first) for f in (np.fmin, np.fmax))
    else:
        low, high = _from_level(vector, pyramid, level, edges=edges, last=last)
    return Envelope(x=_places(axis, edges), low=low, high=high, is_exact=False)


def _from_level(
    vector: Array, pyramid: Pyramid, level: int, *, edges: NDArray[np.int64], last: int
) -> tuple[RealArray, RealArray]:
    """Of the pieces between `edges` (all but the first on the level's stretches) and `last`."""
    size, first = FIRST * FACTOR**level, int(edges[0])
    head = -(-first // size)
    stops = np.append(edges[1:], last)
    begin = np.concatenate(([head], edges[1:] // size))
    found = []
    for reduce, values in ((np.fmin, pyramid.low[level]), (np.fmax, pyramid.high[level])):
        end = last // size
        inner = np.minimum(begin, max(end - 1, 0))
        pieces = reduce.reduceat(values[: max(end, 1)], inner)
        # Where a piece has no whole stretch, reduceat gives one that is not its own.
        pieces[stops // size <= begin] = np.nan
        found.append(pieces)
    low, high = found
    before = (0, first, min(head * size, int(stops[0])))
    behind = (-1, max(last // size * size, int(edges[-1])), last)
    for place, a, b in (before, behind):
        if b > a:
            ends = _real(vector[a:b])
            low[place] = np.fmin(low[place], np.fmin.reduce(ends))
            high[place] = np.fmax(high[place], np.fmax.reduce(ends))
    return low, high


def _bounds(axis: RealArray | Array | None, points: int, start: float, stop: float) -> tuple[int, int]:
    """(first, last + 1) sample to show."""
    low, high = min(start, stop), max(start, stop)
    if axis is None:
        return max(int(low), 0), min(max(int(high) + 2, 0), points)
    if points < 2 or len(axis) != points:
        return 0, points
    ascending = float(axis[-1].real) >= float(axis[0].real)
    values = axis.real if ascending else axis.real[::-1]
    first = max(int(np.searchsorted(values, low, "left")) - 1, 0)
    last = min(int(np.searchsorted(values, high, "right")) + 1, points)
    return (first, last) if ascending else (points - last, points - first)


def is_monotonic(axis: Array) -> bool:
    """Whether an axis only rises or only falls, so that a place on it can be searched for."""
    with np.errstate(invalid="ignore"):
        moves = np.diff(axis.real)
    return bool((moves >= 0).all() or (moves <= 0).all())


def pyramid_of(values: RealArray) -> Pyramid:
    levels: list[tuple[RealArray, RealArray]] = []
    for place, _ in enumerate(level_sizes(len(values))):
        levels.append(next_level(*levels[-1]) if place else first_level(values))
    return Pyramid(low=tuple(low for low, _ in levels), high=tuple(high for _, high in levels))


def _places(axis: RealArray | Array | None, numbers: NDArray[np.int64]) -> RealArray:
    return numbers.astype(np.float64) if axis is None else np.asarray(axis.real[numbers])


def _real(values: Array) -> RealArray:
    return np.abs(values) if np.iscomplexobj(values) else np.asarray(values.real)
