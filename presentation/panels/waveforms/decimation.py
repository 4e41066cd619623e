"""Long curves cut down to what a screen can show, without losing a peak.

A curve of a million samples on a pane 800 pixels wide becomes at most two samples a pixel column, its
least and its greatest there (min/max decimation, as oscilloscopes do). Where a column holds few samples
they are kept as they are. A coarse level, made once, keeps this quick for ten million.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from domain.simulation.waveform import RealArray

_BUCKET = 64
_FINE_BELOW = 8 * _BUCKET
"""Columns with fewer samples than this are searched sample by sample."""
_KEPT = 3
"""So many samples in a column, or fewer, are drawn as they are."""


class Stretch:
    """One curve over a rising axis, ready to be cut down again and again."""

    def __init__(self, x: RealArray, y: RealArray) -> None:
        """x: (n,) rising axis coordinates, n >= 1; y: (n,) values, NaN where there is none."""
        self.x = x
        self.y = y
        starts = np.arange(0, len(y), _BUCKET)
        self._least: RealArray = np.fmin.reduceat(y, starts)
        self._greatest: RealArray = np.fmax.reduceat(y, starts)
        least, greatest = float(np.fmin.reduce(self._least)), float(np.fmax.reduce(self._greatest))
        self.bounds = None if np.isnan(least) else (least, greatest)
        """Least and greatest value; None when there is none."""

    def visible(self, low: float, high: float, columns: int) -> tuple[RealArray, RealArray]:
        """(m,), (m,) what to draw between two places of the axis on so many pixel columns.

        One sample beyond each end is included, so that lines run to the edge; m <= 3 * columns + 8.
        """
        first = max(int(np.searchsorted(self.x, low, "left")) - 1, 0)
        stop = min(int(np.searchsorted(self.x, high, "right")) + 1, len(self.x))
        columns = max(columns, 1)
        if stop - first <= _KEPT * columns:
            return self.x[first:stop], self.y[first:stop]
        edges = np.linspace(low, high, columns + 1)[1:-1]
        bounds = np.searchsorted(self.x[first:stop], edges) + first
        bounds = np.unique(np.concatenate(([first, min(first + 1, stop)], bounds, [max(stop - 1, 0)])))
        bounds = np.append(bounds[bounds < stop], stop)
        return self._reduced(bounds)

    def _reduced(self, bounds: NDArray[np.intp]) -> tuple[RealArray, RealArray]:
        starts, counts = bounds[:-1], np.diff(bounds)
        least, greatest = self._extremes(bounds)
        sizes = np.where(counts <= _KEPT, counts, 2)
        places = np.cumsum(sizes) - sizes
        x, y = np.empty(int(sizes.sum())), np.empty(int(sizes.sum()))
        many = counts > _KEPT
        at = places[many]
        left, right = self.x[starts[many]], self.x[bounds[1:][many] - 1]
        from_y, to_y = self.y[starts[many]], self.y[bounds[1:][many] - 1]
        low, high = least[many], greatest[many]
        # The order in which a curve rises or falls joins it to its neighbours without a false stroke.
        is_rising = to_y >= from_y
        # A column that only rises or falls has its extremes at its ends: anywhere else they would make steps.
        is_plain = (np.fmin(from_y, to_y) <= low) & (np.fmax(from_y, to_y) >= high)
        inset = np.where(is_plain, 0.0, (right - left) / 4)
        x[at], x[at + 1] = left + inset, right - inset
        y[at] = np.where(is_rising, low, high)
        y[at + 1] = np.where(is_rising, high, low)
        for offset in range(_KEPT):
            few = ~many & (counts > offset)
            x[places[few] + offset] = self.x[starts[few] + offset]
            y[places[few] + offset] = self.y[starts[few] + offset]
        return x, y

    def _extremes(self, bounds: NDArray[np.intp]) -> tuple[RealArray, RealArray]:
        """(k,) least and (k,) greatest value of each range between neighbouring bounds.

        Ranges of `_KEPT` samples or fewer are left out; their values are not set.
        """
        counts = np.diff(bounds)
        least, greatest = np.empty(len(counts)), np.empty(len(counts))
        sorts = np.where(counts <= _KEPT, 0, np.where(counts < _FINE_BELOW, 1, 2))
        changes = (np.flatnonzero(np.diff(sorts)) + 1).tolist()
        # Neighbours of one sort at a time: what lies between two ranges would be searched for nothing.
        for first, stop in pairwise([0, *changes, len(sorts)]):
            if sorts[first] == 1:
                ends = bounds[first : stop + 1]
                least[first:stop] = _within(np.fmin, self.y, ends[:-1], ends[1:])
                greatest[first:stop] = _within(np.fmax, self.y, ends[:-1], ends[1:])
            elif sorts[first] == 2:
                begin, end = bounds[first:stop], bounds[first + 1 : stop + 1]
                inner, inner_end = -(-begin // _BUCKET), end // _BUCKET
                edges = self._edges(begin, end)
                least[first:stop] = np.fmin(
                    _within(np.fmin, self._least, inner, inner_end), np.fmin.reduce(edges, axis=1)
                )
                greatest[first:stop] = np.fmax(
                    _within(np.fmax, self._greatest, inner, inner_end), np.fmax.reduce(edges, axis=1)
                )
        return least, greatest

    def _edges(self, begin: NDArray[np.intp], end: NDArray[np.intp]) -> RealArray:
        """(k, 2 * bucket) the first and the last samples of each range: what its whole buckets leave out."""
        steps = np.arange(_BUCKET)
        return self.y[np.concatenate((begin[:, None] + steps, end[:, None] - 1 - steps), axis=1)]


def _within(reduce: np.ufunc, values: RealArray, begin: NDArray[np.intp], end: NDArray[np.intp]) -> RealArray:
    """`reduce` over values[begin[k]:end[k]] for each k; no range is empty, none begins before the last."""
    pairs = np.stack((begin, end), axis=1).ravel()
    # reduceat goes on to the end of the array after its last index.
    return np.asarray(reduce.reduceat(values[: int(end[-1])], pairs[:-1])[::2])
