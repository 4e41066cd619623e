"""Values that bring a measured quantity to where it is wanted, with the least change from those written.

Each value is its written one times exp(u): what moves is its logarithm, so that none changes its sign and
doubling counts as much as halving. Wanted is the smallest |u| at which the quantity has its target.

Newton steps: near a point the quantity is a straight line in u with slopes J; of all points that meet the
target there, the one nearest to the written values is J (J u - r) / (J J), r how far the quantity is off. The
slopes are those of the influence at first and are corrected by what each step has measured (Broyden's
rank-one update, which for one value is the secant). A step that made things worse is taken back and halved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

from domain.circuit.preferred_values import SeriesName, neighbours

REACH = math.log(100.0)
"""How far a value may go from the written one: a hundredth, a hundredfold."""
_LONGEST = math.log(4.0)
"""The longest step of a value."""
_SHORTEST = 1e-6
"""Steps that became shorter than this lead nowhere."""
_MOST_STEPS = 30
_NEIGHBORS = 2
"""Preferred values that are tried on each side."""
_LOGARITHMIC = frozenset({"Hz", "s"})


class ValueSolver:
    """One quantity and the values that follow. `aim`, then in turn `wanted` and `take` until that is None."""

    def __init__(
        self, written: Mapping[str, float], slopes: Mapping[str, float], *, measured: float, unit: str
    ) -> None:
        """`written`: the values, none of them 0. `slopes`: by the same names how the quantity changes with
        the logarithm of the value, p dM/dp. `measured`: the quantity as the circuit is written."""
        self._written = dict(written)
        self._is_log = unit in _LOGARITHMIC and measured > 0
        self._slopes = {name: slopes[name] / (measured if self._is_log else 1.0) for name in written}
        self._base = dict.fromkeys(written, 0.0)
        """The best point so far, as logarithms of the values over the written ones."""
        self.measured = measured
        """What was measured there."""
        self._asked: dict[str, float] | None = None
        self._target = measured
        self._longest = _LONGEST
        self._steps = 0

    @property
    def target(self) -> float:
        return self._target

    @property
    def values(self) -> Mapping[str, float]:
        """The best ones so far."""
        return self._values(self._base)

    @property
    def can_move(self) -> bool:
        """Whether any of the values does anything to the quantity."""
        return any(self._slopes.values())

    @property
    def is_at_border(self) -> bool:
        """Whether a value went as far as it may."""
        return any(abs(way) >= REACH * (1 - 1e-9) for way in self._base.values())

    def error(self, measured: float) -> float:
        """How far a measured value is from the target, as a share; infinite where there is none."""
        if not math.isfinite(measured) or (self._is_log and measured <= 0):
            return math.inf
        if self._is_log:
            return abs(math.log(measured / self._target))
        return abs(measured - self._target) / max(abs(self._target), abs(self.measured), 1e-300)

    def aim(self, target: float) -> bool:
        """Say what is wanted; False for what no values can give: a frequency that is not positive."""
        if not math.isfinite(target) or (self._is_log and target <= 0):
            return False
        self._target = target
        self._longest, self._steps, self._asked = _LONGEST, 0, None
        return True

    def wanted(self, tolerance: float) -> Mapping[str, float] | None:
        """The values to be measured next; None: the target is met, or nothing comes nearer to it."""
        off = self._off(self.measured)
        if self.error(self.measured) <= tolerance or self._longest < _SHORTEST or self._steps >= _MOST_STEPS:
            return None
        line = sum(self._slopes[name] * way for name, way in self._base.items())
        aimed = self._nearest(line - off)
        step = max((abs(aimed[name] - way) for name, way in self._base.items()), default=0.0)
        if step < _SHORTEST:
            return None
        share = min(1.0, self._longest / step)
        self._asked = {name: way + share * (aimed[name] - way) for name, way in self._base.items()}
        return self._values(self._asked)

    def take(self, measured: float) -> bool:
        """What the wanted values have measured, NaN for nothing; whether it is nearer to the target."""
        asked, self._asked = self._asked, None
        if asked is None:
            return False
        self._steps += 1
        moved = {name: asked[name] - way for name, way in self._base.items()}
        length = sum(way * way for way in moved.values())
        if not math.isfinite(measured) or (self._is_log and measured <= 0):
            self._longest = math.sqrt(length) / 4
            return False
        straight = sum(self._slopes[name] * way for name, way in moved.items())
        missed = self._off(measured) - self._off(self.measured) - straight
        self._slopes = {name: slope + missed * moved[name] / length for name, slope in self._slopes.items()}
        if self.error(measured) >= self.error(self.measured):
            self._longest = math.sqrt(length) / 2
            return False
        self._base, self.measured = asked, measured
        self._longest = min(2 * self._longest, _LONGEST)
        return True

    def preferred(self, series: Mapping[str, SeriesName], most: int) -> list[Mapping[str, float]]:
        """Values of series near the best ones, those first of which the target is most to be expected.

        `series`: of the values that are bought; the others stay as they are.
        """
        best = self.values
        lists = [
            _around(value, series[name]) if name in series and value > 0 else (value,)
            for name, value in best.items()
        ]

        def expected(values: tuple[float, ...]) -> float:
            ways = [math.log(value / best[name]) for name, value in zip(best, values, strict=True)]
            off = self._off(self.measured)
            return abs(off + sum(self._slopes[name] * way for name, way in zip(best, ways, strict=True)))

        found = sorted(product(*lists), key=expected)[:most]
        return [dict(zip(best, values, strict=True)) for values in found]

    def _off(self, measured: float) -> float:
        return math.log(measured / self._target) if self._is_log else measured - self._target

    def _values(self, ways: Mapping[str, float]) -> dict[str, float]:
        return {name: value * math.exp(ways[name]) for name, value in self._written.items()}

    def _nearest(self, needed: float) -> dict[str, float]:
        """The point nearest to the written values on the line J u = `needed`, inside the reach; where the
        line runs outside, the point inside that is nearest to it."""
        held: dict[str, float] = {}
        while True:
            free = [name for name in self._written if name not in held]
            weight = sum(self._slopes[name] ** 2 for name in free)
            left = needed - sum(self._slopes[name] * way for name, way in held.items())
            if not weight:
                return {name: held.get(name, self._base[name]) for name in self._written}
            ways = {name: self._slopes[name] * left / weight for name in free}
            name = max(free, key=lambda each: abs(ways[each]))
            if abs(ways[name]) <= REACH:
                return {**held, **ways}
            held[name] = math.copysign(REACH, ways[name])


def _around(value: float, series: SeriesName) -> tuple[float, ...]:
    """The next values of a series on both sides, and the value itself where it is one."""
    below, above = neighbours(value, series)
    found = {below, above}
    for _ in range(_NEIGHBORS - 1):
        below, above = neighbours(below * (1 - 1e-3), series)[0], neighbours(above * (1 + 1e-3), series)[1]
        found |= {below, above}
    return tuple(sorted(found))
