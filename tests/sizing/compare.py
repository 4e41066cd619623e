r"""How many simulations tight targets take: our search, SciPy's differential evolution, and `cmaes` alone.

    python -m tests.sizing.compare [two-stage|one-stage|folded] [level\ 1|BSIM4] [TARGETS] [SEEDS]

All three begin from the same warm worker, work on the same cube and stop at the first point that meets the
target; ours begins at the values the circuit is written with, the same for every target.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from application.app import Application
from application.optimization.tuning import LiveTuning, TuneRequest
from domain.simulation.goals import DesignGoal
from domain.studies.search import Search
from domain.studies.search_cost import CostFunction
from domain.studies.search_space import SearchSpace, Values, search_space
from domain.studies.study import StudyRow
from tests.sizing.problems import AMPLIFIERS, MEASURE, Bands, Figures, is_met, target

BUDGET = 300


class _Found(Exception):
    """The target is met, or the budget is used up."""


@dataclass(slots=True)
class Bench:
    """Measures points of one amplifier on a warm worker, from another thread than the loop's."""

    live: LiveTuning
    loop: asyncio.AbstractEventLoop
    space: SearchSpace
    start: dict[str, float]

    def measure(self, values: Values) -> Figures:
        work = self.live.evaluate(dict(zip(self.space.names, values, strict=True)))
        point = asyncio.run_coroutine_threadsafe(work, self.loop).result()
        assert point is not None
        return point.metrics if point.state == "ok" else dict.fromkeys(MEASURE, math.nan)


def ours(bench: Bench, bands: Bands, seed: int) -> int | None:
    """Simulations until the target is met; None when the budget was not enough. So of all methods."""
    cost = CostFunction(
        goals=[
            DesignGoal(metric=name, expression="", unit="", minimum=low, maximum=high)
            for name, (low, high) in bands.items()
        ]
    )
    search = Search(bench.space, seed=seed, budget=BUDGET, start=bench.start, aims=cost.aims(1))
    done = 0
    while points := search.ask():
        rows = {}
        for values in points:
            figures = bench.measure(values)
            done += 1
            if is_met(bands, figures):
                return done
            rows[values] = [
                StudyRow(run=done, label="", corner=None, parameters={}, metrics=figures, state="ok",
                         problems={}, issues=(), goals_met=False)
            ]  # fmt: skip
        search.tell(
            {values: cost(row) for values, row in rows.items()},
            {values: cost.figures(row) for values, row in rows.items()},
        )
    return None


def _counting(bench: Bench, bands: Bands) -> tuple[Callable[[Sequence[float]], float], list[int]]:
    """What others minimise: the sum of what is missed, each in units of its band's middle."""
    counts = [0]

    def missed(place: Sequence[float]) -> float:
        if counts[0] >= BUDGET:
            counts[0] = BUDGET + 1
            raise _Found
        counts[0] += 1
        figures = bench.measure(bench.space.values_at(list(place)))
        if is_met(bands, figures):
            raise _Found
        return sum(
            1.0
            if math.isnan(figures[name])
            else max(low - figures[name], figures[name] - high, 0.0) / abs(low + high) * 2
            for name, (low, high) in bands.items()
        )

    return missed, counts


def differential_evolution(bench: Bench, bands: Bands, seed: int) -> int | None:
    from scipy.optimize import differential_evolution as evolve

    missed, counts = _counting(bench, bands)
    size = len(bench.space.free)
    with contextlib.suppress(_Found):
        evolve(missed, [(0.0, 1.0)] * size, popsize=4, maxiter=BUDGET, seed=seed, polish=False, tol=0,
               x0=bench.space.places_of(bench.start))  # fmt: skip
    return counts[0] if counts[0] <= BUDGET else None


def cmaes(bench: Bench, bands: Bands, seed: int) -> int | None:
    from cmaes import CMA  # type: ignore[import-untyped]

    missed, counts = _counting(bench, bands)
    size = len(bench.space.free)
    evolution = CMA(
        mean=np.array(bench.space.places_of(bench.start)),
        sigma=0.3,
        bounds=np.array([[0.0, 1.0]] * size),
        seed=seed,
    )
    with contextlib.suppress(_Found):
        while True:
            asked = [evolution.ask() for _ in range(evolution.population_size)]
            evolution.tell([(place, missed(place)) for place in asked])
    return counts[0] if counts[0] <= BUDGET else None


METHODS = {"ours": ours, "differential evolution": differential_evolution, "cmaes": cmaes}


@dataclass(frozen=True, slots=True)
class Tally:
    """What a method did over all targets and seeds."""

    counts: tuple[int | None, ...]

    @property
    def share(self) -> float:
        return sum(count is not None for count in self.counts) / len(self.counts)

    @property
    def median(self) -> float:
        """Of all runs; inf when half of them did not meet their target."""
        return statistics.median(math.inf if count is None else count for count in self.counts)


async def compare(
    app: Application, amplifier: str, models: str, *, targets: int, seeds: int
) -> dict[str, Tally]:
    """Every method on the same targets, `seeds` times each."""
    case = AMPLIFIERS[amplifier]
    with tempfile.TemporaryDirectory() as folder:
        circuit = Path(folder, "amplifier.cir")
        circuit.write_text(case.deck(models))  # noqa: ASYNC240 - some lines, once
        async with app.design.tune(TuneRequest(circuit=circuit, spec=case.spec)) as live:
            bench = Bench(
                live, asyncio.get_running_loop(), search_space(case.spec.parameters), dict(live.nominals)
            )

            def work() -> dict[str, Tally]:
                rng = random.Random(f"{amplifier} {models}")
                wanted = [target(case, bench.space.values_at, bench.measure, rng) for _ in range(targets)]
                return {
                    name: Tally(
                        tuple(method(bench, bands, seed) for bands in wanted for seed in range(1, 1 + seeds))
                    )
                    for name, method in METHODS.items()
                }

            return await asyncio.to_thread(work)


async def _main(argv: list[str]) -> None:
    import bootstrap

    app = bootstrap.build()
    try:
        for amplifier in argv[:1] or AMPLIFIERS:
            for models in argv[1:2] or ("level 1", "BSIM4"):
                targets, seeds = (int(argv[2]), int(argv[3])) if argv[3:] else (30, 3)
                for name, tally in (
                    await compare(app, amplifier, models, targets=targets, seeds=seeds)
                ).items():
                    print(f"| {AMPLIFIERS[amplifier].title} | {models} | {name} | {100 * tally.share:.0f} % "
                          f"| {tally.median:g} |", flush=True)  # fmt: skip
    finally:
        await app.close()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1:]))
