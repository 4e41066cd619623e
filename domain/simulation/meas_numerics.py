"""The arithmetic of ngspice 39's `.meas`: counting passings, cutting windows, areas under a curve.

Written after ngspice's behaviour (com_measure2.c, read and tried), so that the values agree to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from domain.simulation.waveform import RealArray

LAST: Final = -2
"""RISE=LAST and the like."""

_ULPS = 100
"""Steps and places this close, in units of the last place, are equal for ngspice."""


class Passing:
    """The search for the place where values pass levels, counting as ngspice counts."""

    def __init__(
        self,
        x: RealArray,
        values: RealArray,
        levels: RealArray,
        counts: Mapping[str, int],
        restart: float | None,
    ) -> None:
        """`counts` by rise, fall, cross: how many, -1 for not asked, LAST. `restart`: in dc, the first
        value of the sweep, where a nested sweep starts again."""
        self._x = x
        self._values = values
        self._levels = levels
        self._wanted = counts
        self._restart = restart
        self._side = np.sign(values - levels)

    def place(self) -> float:
        """The place asked for, NaN when it does not come."""
        counted = {"rise": 0, "fall": 0, "cross": 0}
        found = math.nan
        is_any = all(count == -1 for count in self._wanted.values())
        is_above = False
        since_start = 1
        for index in self._events():
            if since_start > 1 and self._x[index] == self._restart:
                since_start = 1  # a nested sweep starts again
            side = self._side[index]
            if since_start == 1:
                is_above = bool(side >= 0)
                counted["cross"] = 0
                # ngspice compares the value before with the level now, and loses a fall
                if is_above and self._values[index - 1] <= self._levels[index]:
                    counted["rise"] = counted["cross"] = 1
                since_start = 2
                continue
            passed = not is_above and side >= 0, is_above and side <= 0
            if any(passed):
                is_above = passed[0]
                counted["cross"] += 1
                counted["rise" if is_above else "fall"] += 1
            if any(counted[key] == self._wanted[key] for key in counted):
                return self._between(index)
            other_way = "fall" if is_above else "rise"
            if any(passed) and self._wanted[other_way] != LAST:
                if is_any:
                    return self._between(index)
                if LAST in self._wanted.values():
                    found = self._between(index)
        return found

    def _events(self) -> Iterable[int]:
        """The samples where something can happen: all in dc; else the second and third (where counting
        begins), changes of side, and samples on the level."""
        if self._restart is not None:
            return range(1, len(self._x))
        is_event = np.zeros(len(self._x), dtype=bool)
        is_event[1:] = (self._side[1:] != self._side[:-1]) | (self._side[1:] == 0)
        is_event[1:3] = True
        return [int(index) for index in np.flatnonzero(is_event)]

    def _between(self, index: int) -> float:
        x0, x1 = self._x[index - 1 : index + 1]
        y0, y1 = self._values[index - 1 : index + 1]
        level0, level1 = self._levels[index - 1 : index + 1]
        return float(x0 + (level0 - y0) * (x1 - x0) / (y1 - y0 - level1 + level0))


def area_under(x: RealArray, y: RealArray) -> float:
    """Area under a curve: Simpson's rules where neighbouring steps are equal, else trapezoids."""
    steps = np.diff(x)
    equal = _steps_equal(steps)
    if not equal.any():
        return float((steps * (y[1:] + y[:-1]) / 2).sum())
    total = 0.0
    index = 0
    width, height = steps.tolist(), y.tolist()
    next_equal = [*equal.tolist(), False, False]
    second_equal = [*_steps_equal(steps, apart=2).tolist(), False, False]
    while index < len(width):
        a, b = height[index], height[index + 1]
        if next_equal[index] and second_equal[index]:
            total += 3 * width[index] * (a + 3 * (b + height[index + 2]) + height[index + 3]) / 8
            index += 3
        elif next_equal[index]:
            total += width[index] * (a + 4 * b + height[index + 2]) / 3
            index += 2
        else:
            total += width[index] * (a + b) / 2
            index += 1
    return total


def _steps_equal(steps: RealArray, apart: int = 1) -> NDArray[np.bool_]:
    """Which steps equal the one `apart` further on, to 100 units in the last place."""
    bits = np.ascontiguousarray(steps).view(np.int64)
    return np.asarray(np.abs(bits[:-apart] - bits[apart:]) <= _ULPS)


def _is_almost_equal(first: float, second: float) -> bool:
    return bool(abs(first - second) <= _ULPS * np.spacing(max(abs(first), abs(second))))


def cut(x: RealArray, y: RealArray, low: float, high: float) -> tuple[RealArray, RealArray, float]:
    """The samples from `low` to `high`, interpolated at the ends as ngspice's RMS and INTEG do, and the
    span RMS divides by: to the end of the record when no sample lies beyond `high`."""
    begun = np.flatnonzero(x >= low)
    over = begun[x[begun] > high]  # the first sample beyond the end ends it, also of a falling sweep
    kept = begun[begun < over[0]] if len(over) else begun
    if not len(kept):
        return np.empty(0), np.empty(0), 0.0
    first = int(kept[0])
    cut_x, cut_y = x[kept].copy(), y[kept].copy()
    if low != 0 and first > 0 and not _is_almost_equal(x[first], low):
        # ngspice moves the first whole sample to the window's edge rather than adding a point
        cut_x[0], cut_y[0] = low, _on_line(x, y, first - 1, low)
    if len(over):
        last = int(over[0])
        is_there = _is_almost_equal(x[last], high)
        cut_x = np.append(cut_x, x[last] if is_there else high)
        cut_y = np.append(cut_y, y[last] if is_there else _on_line(x, y, last - 1, high))
    return cut_x, cut_y, float((cut_x[-1] if len(over) else x[-1]) - cut_x[0])


def _on_line(x: RealArray, y: RealArray, left: int, at: float) -> float:
    """The value at a place, on the line through a sample and the next."""
    return float(y[left] + (at - x[left]) * (y[left + 1] - y[left]) / (x[left + 1] - x[left]))
