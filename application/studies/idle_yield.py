"""The yield of a circuit's goals, found by a Monte Carlo in idle time: some runs, as many as a budget allows.

Its runs are those of a Monte Carlo with the same seed: the first ones of it, to the last digit.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.studies.measures import StudyMeasures, study_measures
from application.studies.plan import Point, StudyPlan
from application.studies.studying import prepare_for_study, without_own_steps
from domain.simulation.goals import DesignGoal
from domain.studies.assumptions import assumptions
from domain.studies.sampling import draw
from domain.studies.statistics import Yield, yield_of
from domain.studies.study_spec import StudySpec, read_study_spec
from shared.message import Message
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import BatchSimulator, SimulatorSettingsStore, SourceReaders
    from domain.simulation.batch import BatchRun, RunOutcome

BUDGET_S = 10.0
"""How long all runs together may take on a machine that has nothing else to do."""
MOST_RUNS = 1_000
LEAST_RUNS = 30
"""Fewer tell nothing of a yield: a circuit whose runs take longer is left to a study."""
_ENOUGH_RUNS = 100
_HALF_WIDTH = 0.02
"""Of the interval: where every goal's is narrower, it is known well enough."""
_CHUNK_S = 0.25
_MOST_AT_ONCE = 64
_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalYield:
    """How many runs meet one goal."""

    goal: DesignGoal
    share: Yield
    worst: Mapping[str, float] | None = None
    """The values of the run that misses it most; None where every run meets it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitYield:
    """The yields of one circuit's goals."""

    circuit: Path
    runs: int
    goals: tuple[GoalYield, ...]
    assumed: tuple[Message, ...] = ()
    """How its parts scatter."""
    run_s: float = 0.0
    """How long a run takes."""

    @property
    def is_too_slow(self) -> bool:
        """Its runs take too long to be done beside other work."""
        return self.runs < LEAST_RUNS

    def of(self, goal: DesignGoal) -> GoalYield | None:
        """That of a goal; another one of the same name, which measures something else, has its own."""
        named = (each for each in self.goals if each.goal.metric == goal.metric)
        return next((each for each in named if each.goal.expression in ("", goal.expression)), None)


def crowding() -> float:
    """How many times longer work takes than on an idle machine: programs that want to run by processors; 1
    where the system does not tell."""
    if not hasattr(os, "getloadavg"):
        return 1.0
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EstimateYield:
    """The use case. Cancelled it ends its worker at once; nothing is stored."""

    batch: BatchSimulator
    sources: SourceReaders
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]] = tuple
    crowding: Callable[[], float] = crowding

    async def __call__(
        self, circuit: Path, document: Mapping[str, Any], *, budget_s: float = BUDGET_S
    ) -> CircuitYield:
        """Simulate the circuit with what `document`, the specification of a Monte Carlo, scatters.

        One run tells how many fit into the budget; it ends earlier where the yields are known well enough.
        What other programs take of the processor is not counted: the budget is longer by it. Corners are
        left out. Raises UserInputError, CircuitError, EnvironmentProblem as a study.
        """
        samples = await off_loop(self._prepared, circuit, document)
        count, budget_s = MOST_RUNS, budget_s * self.crowding()
        async with self.batch.session(samples.circuits, workers=1) as session:
            spent = 0.0
            while samples.done < count:
                size = 1 if not samples.done else _chunk(samples.run_s)
                runs = samples.next_runs(min(size, count - samples.done))
                found = [
                    outcome
                    async for outcome in session.run(
                        runs, signals=samples.measures.signals, timeout_s=_TIMEOUT_S
                    )
                ]
                await off_loop(samples.take, found)
                spent += sum(each.duration_s for each in found)
                fitting = samples.done + math.floor(max(budget_s - spent, 0.0) / max(samples.run_s, 1e-4))
                count = min(count, fitting)
                if count < LEAST_RUNS or samples.are_known:
                    break
        return samples.found(circuit)

    def _prepared(self, circuit: Path, document: Mapping[str, Any]) -> _Samples:
        plain = {key: value for key, value in document.items() if key not in ("corners", "at_corners")}
        spec = read_study_spec({**plain, "runs": MOST_RUNS, "sampling": "random"})
        asked = prepare_for_study(
            self.sources,
            circuit,
            spec,
            libraries=(),
            user_libraries=self.libraries(),
            settings=self.settings.of_circuit(circuit),
            dialect=None,
        )
        prepared, _ = without_own_steps(asked)
        measures, goals, _ = study_measures(spec, prepared)
        scattering = [parameter for parameter in spec.parameters if parameter.spread is not None]
        plan = StudyPlan(prepared, spec, parameters=scattering, corners=())
        return _Samples(plan, measures, goals, spec)


def _chunk(run_s: float) -> int:
    return max(1, min(_MOST_AT_ONCE, round(_CHUNK_S / max(run_s, 1e-4))))


class _Samples:
    """The runs of one estimate, as they come."""

    def __init__(
        self, plan: StudyPlan, measures: StudyMeasures, goals: Sequence[DesignGoal], spec: StudySpec
    ) -> None:
        self.plan = plan
        self.measures = measures
        self.done = 0
        self.run_s = 0.0
        self.circuits = tuple(replace(each, random_seed=spec.seed) for each in plan.circuits)
        """With the seed by which a study has a circuit's own random functions draw."""
        self._goals = goals
        nominals = plan.nominals(plan.corners[0])
        drawn = draw(plan.parameters, nominals, runs=spec.runs, seed=spec.seed, sampling="random")
        columns = {name: column.tolist() for name, column in drawn.items()}
        self._points = [
            Point(values={name: column[number] for name, column in columns.items()})
            for number in range(spec.runs)
        ]
        self._met: list[list[bool]] = [[] for _ in goals]
        self._worst: list[tuple[float, int]] = [(-math.inf, -1)] * len(goals)

    def next_runs(self, count: int) -> list[BatchRun]:
        numbers = range(self.done, self.done + count)
        return [self.plan.run(number, self._points[number]) for number in numbers]

    def take(self, outcomes: Sequence[RunOutcome]) -> None:
        """Measure runs that were done. Blocking. Raises UserInputError for a signal the circuit lacks."""
        for outcome in sorted(outcomes, key=lambda each: each.run_id):
            values: Mapping[str, float] = {}
            if outcome.state == "ok":
                values = self.measures.of(outcome.plots, self._points[outcome.run_id].values).values
            for place, goal in enumerate(self._goals):
                value = values.get(goal.metric, math.nan)
                self._met[place].append(goal.is_met_by(value))
                excess = math.inf if math.isnan(value) else goal.excess(value)
                if excess > self._worst[place][0]:
                    self._worst[place] = excess, outcome.run_id
            self.done += 1
            self.run_s += (outcome.duration_s - self.run_s) / self.done

    @property
    def are_known(self) -> bool:
        """Whether the interval of every goal is narrow enough."""
        if self.done < _ENOUGH_RUNS:
            return False
        shares = [yield_of(met) for met in self._met]
        return all(high - low <= 2 * _HALF_WIDTH for low, high in (each.interval for each in shares))

    def found(self, circuit: Path) -> CircuitYield:
        goals = []
        for goal, met, (_, run) in zip(self._goals, self._met, self._worst, strict=True):
            worst = None if all(met) else self.plan.changed(self._points[run])
            goals.append(GoalYield(goal=goal, share=yield_of(met), worst=worst))
        return CircuitYield(
            circuit=circuit,
            runs=self.done,
            goals=tuple(goals),
            assumed=assumptions(self.plan.parameters),
            run_s=self.run_s,
        )
