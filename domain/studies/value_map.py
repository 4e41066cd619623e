"""A map of two values: where on their plane circuits are simulated, and what lies between them.

The plane has 65 x 65 nodes. Every eighth one is simulated first; then, level by level, the nodes of those
cells alone that a bound of a goal passes through. What was not simulated is bilinear between what was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from domain.simulation.goals import DesignGoal
from domain.simulation.waveform import RealArray
from domain.studies.spec_reader import spec_error
from domain.studies.study_spec import StudyParameter
from shared.message import msg

CELLS = 64
"""Of an axis, at the finest."""
COARSE = 8
"""Cells between two nodes of the first grid, which is 9 x 9."""
FINER = 4
"""Points into which a cell is divided, in each direction, where goals are judged between nodes."""
_USUAL_FACTOR = 3.0
_LEAST_DIGITS = 4
_WIDE = 3.0
"""From this ratio of the ends on, a metric that is positive everywhere is interpolated by its logarithm."""
_NEAR = 0.1
"""Cells by which a value may be beside a node and is still that node's: more than its digits leave out."""

Node = tuple[int, int]
"""Number along the first value's axis and along the second one's, each 0 to `CELLS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapAxis:
    """One of the two values."""

    name: str
    low: float
    high: float
    is_log: bool

    def value(self, place: int) -> float:
        """The value at a node, with as many digits as nodes need to be told apart, so that it can be
        written as it was simulated."""
        if place in (0, CELLS):
            return self.low if place == 0 else self.high
        share = place / CELLS
        if self.is_log:
            exact = self.low * (self.high / self.low) ** share
            step = exact * math.log(self.high / self.low) / CELLS
        else:
            exact = self.low + share * (self.high - self.low)
            step = (self.high - self.low) / CELLS
        if abs(exact) < step / 10:
            return 0.0
        digits = max(_LEAST_DIGITS, math.ceil(math.log10(abs(exact) / step)) + 2)
        return float(f"{exact:.{min(digits, 12)}g}")

    def share(self, value: float) -> float:
        """Where a value is: 0 at the low end, 1 at the high one; NaN for none that has a place."""
        if not self.is_log:
            return (value - self.low) / (self.high - self.low)
        return math.log(value / self.low) / math.log(self.high / self.low) if value > 0 else math.nan

    def place(self, value: float) -> int | None:
        """The node of a value; None for one that is beside all of them."""
        exact = self.share(value) * CELLS
        if not math.isfinite(exact):
            return None
        place = round(exact)
        return place if 0 <= place <= CELLS and abs(exact - place) <= _NEAR else None


def axis_of(parameter: StudyParameter, nominal: float, place: str) -> MapAxis:
    """The axis of a parameter: its range; without one from a third to three times its value.

    Raises UserInputError ("bad_spec") at `place` for what is no range.
    """
    found = parameter.range
    if parameter.values:
        raise spec_error(place, msg("is a list of values; a map needs a range, min and max"))
    if found is None:
        if not nominal:
            raise spec_error(place, msg("needs a range, min and max: its value is 0"))
        low, high = sorted((nominal / _USUAL_FACTOR, nominal * _USUAL_FACTOR))
        low, high = (float(f"{each:.3g}") for each in (low, high))
        return MapAxis(name=parameter.name, low=low, high=high, is_log=low > 0)
    if not found.maximum > found.minimum:
        raise spec_error(place, msg("has a range without width; a map needs one"))
    if found.scale not in ("lin", "log"):
        raise spec_error(place, msg("has the scale {scale}; a map has lin or log", scale=found.scale))
    return MapAxis(name=parameter.name, low=found.minimum, high=found.maximum, is_log=found.scale == "log")


def coarse_nodes() -> list[Node]:
    """The first grid; every second row and column of it first, so that little is a picture already."""
    places = range(0, CELLS + 1, COARSE)
    nodes = [(across, up) for across in places for up in places]
    return sorted(nodes, key=lambda node: any(each % (2 * COARSE) for each in node))


class Samples:
    """The metrics of simulated nodes."""

    def __init__(self, metrics: Iterable[str]) -> None:
        shape = (CELLS + 1, CELLS + 1)
        self.known: NDArray[np.bool_] = np.zeros(shape, dtype=bool)
        """By the second value's node, then the first one's."""
        self._values: dict[str, RealArray] = {name: np.full(shape, math.nan) for name in metrics}

    def add(self, node: Node, metrics: Mapping[str, float]) -> None:
        """One run; NaN for a metric it does not have."""
        across, up = node
        self.known[up, across] = True
        for name, values in self._values.items():
            values[up, across] = metrics.get(name, math.nan)

    @property
    def finest(self) -> int:
        """Nodes of an axis of the finest grid that some of is simulated."""
        places = np.flatnonzero(self.known.any(axis=0) | self.known.any(axis=1)).tolist()
        return CELLS // math.gcd(CELLS, *places) + 1 if places else 0

    def surface(self, metric: str, bounds: Sequence[float]) -> tuple[RealArray, list[float]]:
        """A metric at every node and its bounds, both in what it is interpolated in: the metric itself, or
        its logarithm. NaN where it is not known. A bound that no positive metric can pass is -inf."""
        values = self._values[metric]
        there = values[np.isfinite(values)]
        is_log = bool(there.size) and float(there.min()) > 0 and float(there.max() / there.min()) > _WIDE
        if is_log:
            values = np.log(values)
        return _filled(values, self.known), [
            (math.log(bound) if bound > 0 else -math.inf) if is_log else bound for bound in bounds
        ]

    def finer(self, step: int, goals: Sequence[DesignGoal]) -> list[Node]:
        """The nodes that halve those cells of `step` nodes that a bound passes through, or whose corners
        have a metric only in part."""
        found: set[Node] = set()
        for goal in goals:
            bounds = bounds_of(goal)
            surface, levels = self.surface(goal.metric, bounds)
            corners = surface[::step, ::step]
            for level in levels:
                over = np.where(np.isnan(corners), 0, np.where(corners >= level, 1, -1))
                cells = np.stack([over[:-1, :-1], over[:-1, 1:], over[1:, :-1], over[1:, 1:]])
                for up, across in np.argwhere(cells.min(axis=0) != cells.max(axis=0)).tolist():
                    found.update(_inside(across * step, up * step, step))
        return sorted(node for node in found if not self.known[node[1], node[0]])


def bounds_of(goal: DesignGoal) -> list[float]:
    """The lower bound, the upper one, both or none."""
    return [bound for bound in (goal.minimum, goal.maximum) if bound is not None]


def deciding(goals: Sequence[DesignGoal]) -> list[DesignGoal]:
    """The goals that say whether a circuit is good: those that are no wishes, if there are any."""
    return [goal for goal in goals if goal.weight == "must"] or list(goals)


def excess(samples: Samples, goals: Sequence[DesignGoal]) -> RealArray:
    """How far the goal that is missed most is missed between nodes, as a share of its metric's span: not
    positive where all are met, 1 where a metric is not known. Each cell is divided by `FINER`."""
    worst = np.full((CELLS * FINER + 1,) * 2, -1.0)
    for goal in goals:
        surface, levels = samples.surface(goal.metric, bounds_of(goal))
        fine = _between(surface)
        there = fine[np.isfinite(fine)]
        span = float(there.max() - there.min()) if there.size else 0.0
        signs = [sign for sign, bound in ((1, goal.minimum), (-1, goal.maximum)) if bound is not None]
        for sign, level in zip(signs, levels, strict=True):
            over = np.clip(sign * (level - fine) / (span or 1.0), -1.0, 1.0)
            worst = np.maximum(worst, np.where(np.isnan(over), 1.0, over))
    return worst


def share_met(samples: Samples, goals: Sequence[DesignGoal]) -> float:
    """Which share of the plane meets all goals; NaN without any."""
    return float(np.mean(excess(samples, goals) <= 0)) if goals else math.nan


def _inside(across: int, up: int, step: int) -> list[Node]:
    """The nodes that halve a cell."""
    half = step // 2
    return [(across + x, up + y) for x, y in product((0, half, step), repeat=2)]


def _filled(values: RealArray, known: NDArray[np.bool_]) -> RealArray:
    """Every node from simulated ones around it, NaN where one of these gave nothing."""
    values, known = np.where(known, values, math.nan), known.copy()
    half = CELLS // 2
    while half:
        odd, even = slice(half, None, 2 * half), slice(0, None, 2 * half)
        for here, there in (((even, odd), 1), ((odd, even), 0)):
            _put(values, known, here, _neighbors(half, there))
        _put(
            values,
            known,
            (odd, odd),
            [*_neighbors(half, 0, is_center=True), *_neighbors(half, 1, is_center=True)],
        )
        half //= 2
    return values


_Where = tuple[slice, slice]


def _neighbors(half: int, axis: int, *, is_center: bool = False) -> list[_Where]:
    """The nodes before and behind those between two (or, `is_center`, in the middle of a cell)."""
    along = (slice(0, -1, 2 * half), slice(2 * half, None, 2 * half))
    beside = slice(half, None, 2 * half) if is_center else slice(0, None, 2 * half)
    return [(each, beside) if axis == 0 else (beside, each) for each in along]


def _put(values: RealArray, known: NDArray[np.bool_], here: _Where, around: Sequence[_Where]) -> None:
    mean = np.mean([values[each] for each in around], axis=0)
    can = np.all([known[each] for each in around], axis=0) & ~known[here]
    values[here] = np.where(can, mean, values[here])
    known[here] |= can


def _between(surface: RealArray) -> RealArray:
    """Each cell divided by `FINER`, bilinear."""
    shares = np.arange(CELLS * FINER + 1) / FINER
    first = np.minimum(shares.astype(int), CELLS - 1)
    weight = shares - first
    # A node without a value beside one is none of its: 0 * NaN would be NaN.
    rows = _mixed(surface[first], surface[first + 1], weight[:, None])
    return _mixed(rows[:, first], rows[:, first + 1], weight[None, :])


def _mixed(low: RealArray, high: RealArray, weight: RealArray) -> RealArray:
    mixed = low * (1 - weight) + high * weight
    return np.where(weight == 0, low, np.where(weight == 1, high, mixed))
