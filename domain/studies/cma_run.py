"""CMA-ES from one place until it brings nothing new: the part of a search that needs no surrogate.

N. Hansen, arXiv:1604.00772; parameters that have lists keep a margin of probability (R. Hamano et al., GECCO
2022, arXiv:2205.13482); by the package `cmaes`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from domain.simulation.waveform import RealArray
from domain.studies.search_cost import Cost, is_better
from domain.studies.search_space import SearchSpace, Values

_SMALLEST_POPULATION = 10
_LARGEST_POPULATION = 80
_REPEATED_GENERATIONS = 3
"""Generations in a row without a new point that end a run."""
_MARGIN = 0.5
"""How far outside the cube continuous parameters may be sampled: a best value is often on a bound, which
a distribution cut off there reaches only slowly."""


class CmaRun:
    """One distribution that moves and narrows."""

    def __init__(
        self, space: SearchSpace, place: Iterable[float], sigma: float, population: int, seed: int
    ) -> None:
        self._space = space
        count = len(space.free)
        steps = np.array([dimension.step for dimension in space.free])
        from cmaes import CMAwM  # type: ignore[import-untyped]  # brings a second of scipy with it

        self._cma = CMAwM(
            mean=np.array(list(place)),
            sigma=sigma,
            bounds=np.array([[0.0, 1.0] if step else [-_MARGIN, 1.0 + _MARGIN] for step in steps]),
            steps=steps,
            population_size=population,
            seed=seed,
        )
        self._patience = 10 + math.ceil(30 * count / population)
        self._raw: list[RealArray] = []
        self.last: list[Values] = []
        """The points of the present generation."""
        self._best: Cost | None = None
        self._since_gain = 0
        self._repeated = 0

    @property
    def is_dry(self) -> bool:
        """It has run long enough without a gain."""
        return self._since_gain >= self._patience or self._repeated >= _REPEATED_GENERATIONS

    def points(self) -> list[Values]:
        asked = [self._cma.ask() for _ in range(self._cma.population_size)]
        self._raw = [raw for _, raw in asked]
        self.last = [self._space.values_at(encoded.tolist()) for encoded, _ in asked]
        return list(self.last)

    def learn(self, costs: Mapping[Values, Cost], *, is_new: bool) -> None:
        """Take in what the generation costs. CMA-ES needs the order only, so ranks are what it is told."""
        mine = [(costs[values], _outside(raw)) for values, raw in zip(self.last, self._raw, strict=True)]
        ranks = {item: rank for rank, item in enumerate(sorted(set(mine)))}
        with np.errstate(all="ignore"):  # a collapsed distribution is what a dry run is told by
            self._cma.tell([(raw, float(ranks[item])) for raw, item in zip(self._raw, mine, strict=True)])
        best = min(cost for cost, _ in mine)
        is_gain = self._best is None or is_better(best, self._best)
        self._best = best if self._best is None else min(best, self._best)
        # Where all points cost the same there is nothing to follow.
        self._since_gain = 0 if is_gain else self._since_gain + 1
        self._repeated = 0 if is_new else self._repeated + 1


def _outside(place: RealArray) -> float:
    """How far a place is outside the cube: it stands for the nearest place inside, but is worth less."""
    return float(np.sum(np.square(place - np.clip(place, 0.0, 1.0))))


def population_of(space: SearchSpace, doublings: int) -> int:
    usual = max(_SMALLEST_POPULATION, 4 + math.floor(3 * math.log(max(len(space.free), 1))))
    return min(usual << min(doublings, 8), _LARGEST_POPULATION)
