"""Finds the best point of a search space, a generation of points at a time.

First a trust region with a surrogate of each figure (`trust_region.py`): where figures are smooth it needs
a few simulations more than there are parameters. When it can't go on it begins again elsewhere, with what it
knows. What is left is done without surrogates: where all parameters have lists of values and the budget
is enough for every combination, all are tried; else CMA-ES (`cma_run.py`), restarted with larger populations
when it has run dry (A. Auger and N. Hansen, CEC 2005), in turn at a random place and around the best point.

What is asked for depends on the seed and on what was told, never on time or on who simulates. A point that
was told once is not asked for again.

CMA-ES from one place until it brings nothing new: the part of a search that needs no surrogate.

N. Hansen, arXiv:1604.00772; parameters that have lists keep a margin of probability (R. Hamano et al., GECCO
2022, arXiv:2205.13482); by the package `cmaes`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from domain.simulation.waveform import RealArray
from domain.studies.search_cost import Cost, is_better
from domain.studies.search_space import SearchSpace, Values
from domain.studies.trust_region import Aim, Figures, TrustRegion

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


SearchEnd = Literal["goals_met", "budget", "time", "converged", "exhausted", "stopped"]
"""``exhausted``: every combination was tried. ``converged``: restarts found nothing better."""

_CHUNK = 64
"""Combinations at a time, when all are tried."""
_FIRST_SIGMA = 0.25
_LOCAL_SIGMA = 0.08
_STALE_RESTARTS = 6
"""Restarts in a row that may bring nothing."""
_TRUST_RESTARTS = 8
"""How often the trust region begins elsewhere while goals are missed."""
_MOST_RECALLED = 2
"""Points of former searches that are simulated again at the start."""
_SAME = 1e-3
"""By what share a figure may differ from what a former search measured there."""


class Search:
    """Asks for points and is told what they cost."""

    def __init__(
        self,
        space: SearchSpace,
        *,
        seed: int,
        budget: int,
        start: Mapping[str, float],
        aims: Sequence[Aim] = (),
        archive: Mapping[Values, Figures] | None = None,
    ) -> None:
        """`budget` is the most points that are asked for; `start` are values by name to begin at.

        `aims` are what the figures told with the costs should be; without them there are no surrogates.
        `archive` are figures of former searches: believed once the best of its points give them again.
        """
        self._space = space
        self._seed = seed
        self._left = budget
        self._costs: dict[Values, Cost] = {}
        self._start = space.places_of(start)
        self._asked: list[Values] = []
        self._best: Values | None = None
        self.generations = 0
        """Told so far."""
        self.restarts = 0
        self.repeated = 0
        """Points that had been told before and were not asked for again."""
        self.recalled = 0
        """Points of former searches that were believed."""
        self.end: SearchEnd | None = None
        """Why nothing more is asked for."""
        combinations = space.combinations
        self._order: list[int] | None = None
        if combinations is not None and combinations <= budget:
            self._order = np.random.default_rng(seed).permutation(combinations).tolist()
        self._trust: TrustRegion | None = None
        if aims and space.free and (combinations is None or combinations > _CHUNK):
            self._trust = TrustRegion(space, aims, self._start, seed)
        self._archive = dict(archive or {}) if self._trust is not None else {}
        self._run: CmaRun | None = None
        self._stale = 0
        self._best_before_run: Cost | None = None

    @property
    def starting_point(self) -> Values:
        """Where it begins: the point nearest to the start."""
        return self._space.values_at(self._start)

    @property
    def best(self) -> Values | None:
        """The point of least cost; of equal ones the first. None before anything was told."""
        return self._best

    def ranked(self) -> list[Values]:
        """All points that were told, the best first."""
        return sorted(self._costs, key=lambda values: self._costs[values])

    def cost_of(self, values: Values) -> Cost:
        """What a point was told to cost. Raises KeyError."""
        return self._costs[values]

    def finish(self, why: SearchEnd) -> None:
        if self.end is None or why == "stopped":
            self.end = why

    def ask(self) -> list[Values]:
        """The next points to be simulated, none twice; empty when the search is over (see `end`)."""
        while self.end is None:
            if self._left <= 0:
                self.finish("exhausted" if self._order == [] else "budget")
                break
            wanted = self._wanted()
            new = list(dict.fromkeys(values for values in wanted if values not in self._costs))
            self.repeated += len(wanted) - len(new)
            self._asked = new[: self._left]
            if self._asked:
                self._left -= len(self._asked)
                return self._asked
            if self._trust is not None:
                self._next_trust()
            elif self._order is not None:
                self.finish("exhausted")
            elif self._run is not None:
                self._close_generation(self._run)
        return []

    def tell(self, costs: Mapping[Values, Cost], figures: Mapping[Values, Figures] | None = None) -> None:
        """What the points asked for cost, and their figures in the order of the aims; those left out (a
        stopped generation) stay unknown."""
        for values, cost in costs.items():
            self._costs[values] = cost
            if self._best is None or cost < self._costs[self._best]:
                self._best = values
        if self._trust is not None:
            self.generations += 1
            figures = figures or {}
            self._trust.learn(figures)
            self._recall(figures)
            if self._trust.is_dry:
                self._next_trust()
        elif self._run is not None and self.end is None:
            if all(values in self._costs for values in self._run.last):
                self._close_generation(self._run, is_new=True)
        else:
            self.generations += 1

    def _wanted(self) -> list[Values]:
        wanted: list[Values] = []
        if not self._costs:
            wanted = [self.starting_point, *list(self._archive)[:_MOST_RECALLED]]
        if self._trust is not None:
            wanted += self._trust.points() if self._costs else []
        elif self._order is not None:
            taken, self._order = self._order[:_CHUNK], self._order[_CHUNK:]
            wanted += [self._space.combination(number) for number in taken]
        else:
            self._run = self._run or self._first_run()
            wanted += self._run.points()
        return wanted

    def _recall(self, figures: Mapping[Values, Figures]) -> None:
        """Believe the archive when all of its points that were simulated again gave what it says."""
        checked = [values for values in figures if values in self._archive]
        if checked and self._trust is not None:
            if all(_is_same(figures[values], self._archive[values]) for values in checked):
                unknown = {v: f for v, f in self._archive.items() if v not in self._costs}
                self.recalled = len(unknown)
                self._trust.recall(unknown)
            self._archive = {}

    def _next_trust(self) -> None:
        """The trust region cannot go on: it begins elsewhere while goals are missed, a few times."""
        assert self._trust is not None
        is_met = self._best is not None and self._costs[self._best].meets_goals
        if is_met or self.restarts >= _TRUST_RESTARTS:
            self._trust = None
        else:
            self.restarts += 1
            self._trust.restart()

    def _first_run(self) -> CmaRun:
        """CMA-ES around the best point of the trust region; without one, wide around the start."""
        place, sigma = self._start, _FIRST_SIGMA
        if self._best is not None:
            place, sigma = self._place_of(self._best), _LOCAL_SIGMA
        return CmaRun(self._space, place, sigma, population_of(self._space, 0), _seed_of(self._seed, 0))

    def _place_of(self, values: Values) -> list[float]:
        return self._space.places_of(dict(zip(self._space.names, values, strict=True)))

    def _close_generation(self, run: CmaRun, *, is_new: bool = False) -> None:
        self.generations += 1
        run.learn(self._costs, is_new=is_new)
        if run.is_dry:
            self._restart()

    def _restart(self) -> None:
        assert self._best is not None
        best = self._costs[self._best]
        is_gain = self._best_before_run is None or is_better(best, self._best_before_run)
        self._stale = 0 if is_gain else self._stale + 1
        self._best_before_run = best
        if self._stale >= _STALE_RESTARTS:
            self.finish("converged")
            return
        self.restarts += 1
        if self.restarts % 2:
            place = np.random.default_rng((self._seed, self.restarts)).random(len(self._space.free)).tolist()
            sigma = _FIRST_SIGMA
        else:
            place = self._place_of(self._best)
            sigma = _LOCAL_SIGMA
        population = population_of(self._space, self.restarts // 2)
        self._run = CmaRun(self._space, place, sigma, population, _seed_of(self._seed, self.restarts))


def _seed_of(seed: int, restart: int) -> int:
    state: list[int] = np.random.SeedSequence((seed, restart)).generate_state(1).tolist()
    return state[0]


def _is_same(figures: Figures, others: Figures) -> bool:
    return all(
        math.isnan(one) == math.isnan(other) and (math.isnan(one) or math.isclose(one, other, rel_tol=_SAME))
        for one, other in zip(figures, others, strict=True)
    )
