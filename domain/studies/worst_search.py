"""The case that fails: the worst of a quantity over tolerances and corners, searched for with few runs.

The signs of each parameter's own effect point at a vertex of the tolerances, every corner tries it, then
single parameters are turned over or brought back where that makes it worse, from there and from a few other
vertices. What lies between the ends is looked for last, on parabolas through three values and in steps. A
search is a generator: it yields the cases it wants to know and is sent how bad each is, the larger the worse,
infinite for one that fails.
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Generator, Mapping, Sequence

Case = tuple[int, tuple[float, ...]]
"""The number of a corner, and of each parameter where it is: -1 low end, 0 nominal, 1 high end."""
Search = Generator[list[Case], Sequence[float], Case]

_PASSES = 6
_CORNERS_TRIED = 8
_ENDS = (-1.0, 0.0, 1.0)
_SEED = 20
_STARTS = 8
"""Vertices besides those the signs point at: products of parameters have no sign of their own."""
_STEPS = (0.25, 0.12, 0.06, 0.03)


def most_runs(parameters: int, corners: int) -> int:
    """How many runs a search takes at most."""
    return 160 + 24 * parameters + 3 * corners


def search_worst(parameters: int, corners: int = 1) -> Search:
    """Find the case in which the quantity is worst. Ends early where one fails: nothing is worse."""
    hunt = _Hunt(parameters, corners)
    with contextlib.suppress(_Enough):
        yield from hunt.go()
    return hunt.best


def at(
    case: Case, nominals: Mapping[str, float], bounds: Mapping[str, tuple[float, float]]
) -> dict[str, float]:
    """The values of the parameters in a case; `bounds` are their ends."""
    found = {}
    for share, (name, (low, high)) in zip(case[1], bounds.items(), strict=True):
        middle = min(max(nominals[name], low), high)
        found[name] = middle + share * (high - middle if share > 0 else middle - low)
    return found


class _Enough(Exception):
    """The worst there can be was found, or the runs are used up."""


class _Hunt:
    """One search, and what it knows."""

    def __init__(self, parameters: int, corners: int) -> None:
        self._count = parameters
        self._corners = corners
        self._known: dict[Case, float] = {}
        self._most = most_runs(parameters, corners)

    @property
    def best(self) -> Case:
        """The worst case so far."""
        return max(self._known, key=lambda case: self._known[case])

    def go(self) -> Generator[list[Case], Sequence[float], None]:
        middle = (0.0,) * self._count
        yield from self._ask([(corner, middle) for corner in range(self._corners)])
        corners = sorted(range(self._corners), key=lambda corner: -self._known[corner, middle])
        ends = [
            ((0, _moved(middle, place, -1.0)), (0, _moved(middle, place, 1.0)))
            for place in range(self._count)
        ]
        yield from self._ask([each for pair in ends for each in pair])
        pointed = tuple(-1.0 if self._known[low] > self._known[high] else 1.0 for low, high in ends)
        yield from self._ask([(corner, pointed) for corner in corners[:_CORNERS_TRIED]])
        yield from self._climb(self.best)
        draw = random.Random(_SEED)  # noqa: S311 - starting points
        starts = [
            (self.best[0], tuple(draw.choice((-1.0, 1.0)) for _ in range(self._count)))
            for _ in range(_STARTS if self._count > 1 else 0)
        ]
        yield from self._ask(starts)
        for start in sorted(starts, key=lambda case: -self._known[case])[:2]:
            yield from self._climb(start)
        yield from self._ask([(corner, self.best[1]) for corner in corners[:_CORNERS_TRIED]])
        yield from self._between()

    def _ask(self, cases: Sequence[Case]) -> Generator[list[Case], Sequence[float], None]:
        wanted = list(dict.fromkeys(case for case in cases if case not in self._known))
        wanted = wanted[: max(0, self._most - len(self._known))]
        if wanted:
            found = yield wanted
            self._known.update(zip(wanted, found, strict=True))
        if len(self._known) >= self._most or self._known[self.best] == math.inf:
            raise _Enough

    def _climb(self, start: Case) -> Generator[list[Case], Sequence[float], None]:
        """Turn single parameters over, or bring them back, as long as that makes it worse."""
        case = start
        for _ in range(_PASSES):
            corner, shares = case
            others = {
                place: [(corner, _moved(shares, place, end)) for end in _ENDS if end != shares[place]]
                for place in range(self._count)
            }
            yield from self._ask([each for found in others.values() for each in found])
            here, together = self._known[case], shares
            for place, found in others.items():
                worse = max(found, key=lambda each: self._known[each])
                if self._known[worse] > here:
                    together = _moved(together, place, worse[1][place])
            if together == shares:
                return
            yield from self._ask([(corner, together)])
            near = [(corner, together), *(each for found in others.values() for each in found)]
            case = max(near, key=lambda each: self._known[each])

    def _between(self) -> Generator[list[Case], Sequence[float], None]:
        """Look between the ends: where a parabola is highest, then in shorter and shorter steps."""
        corner, shares = self.best
        lines = {
            place: [(corner, _moved(shares, place, end)) for end in _ENDS] for place in range(self._count)
        }
        yield from self._ask([each for found in lines.values() for each in found])
        tops = [
            (corner, _moved(shares, place, top))
            for place, found in lines.items()
            if (top := _top(*(self._known[each] for each in found))) is not None
        ]
        halves = [
            (corner, _moved(shares, place, half)) for place in range(self._count) for half in (-0.5, 0.5)
        ]
        yield from self._ask([*tops, *halves])
        if not tops and all(abs(share) == 1 for share in self.best[1]):
            return
        for step in _STEPS:
            for _ in range(_PASSES):
                was = self.best
                corner, shares = was
                yield from self._ask([
                    (corner, _moved(shares, place, min(max(share + sign * step, -1.0), 1.0)))
                    for place, share in enumerate(shares)
                    for sign in (-1.0, 1.0)
                ])  # fmt: skip
                if self.best == was:
                    break


def _moved(shares: tuple[float, ...], place: int, share: float) -> tuple[float, ...]:
    return (*shares[:place], share, *shares[place + 1 :])


def _top(low: float, middle: float, high: float) -> float | None:
    """Where between -1 and 1 the parabola through three values is highest; None where it is at an end."""
    bend = low + high - 2 * middle
    if not math.isfinite(bend) or bend >= 0:
        return None
    top = (low - high) / (2 * bend)
    return top if 0 < abs(top) < 1 else None
