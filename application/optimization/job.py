"""One optimisation under way: its search, the simulations it had done, and what they say of points."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from application.optimization.gm_id import Inversion
from application.simulation.prepared_circuit import PreparedCircuit
from application.studies.input import StudyInput
from application.studies.measures import StudyMeasures
from application.studies.plan import Point
from application.studies.runs import StudyRuns
from domain.circuit.numbers import format_number
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from domain.studies.conflicts import Conflict, conflicts_of
from domain.studies.optimization import BestPoint, Improvement
from domain.studies.search import Search
from domain.studies.search_cost import Cost, CostFunction, scales_of
from domain.studies.search_space import DIGITS, SearchSpace, Values
from domain.studies.search_spec import Objective
from domain.studies.study import StudyRow
from shared.message import Message

_LEAST_INSIDE = 100
"""Points that a search with guard bands may take; more when the search before it took more."""


@dataclass(kw_only=True)
class OptimizationJob:
    """A search with the runs it is told from. A point is one run for each corner."""

    prepared: PreparedCircuit
    measures: StudyMeasures
    study: StudyInput
    objectives: tuple[Objective, ...]
    space: SearchSpace
    search: Search
    cost: CostFunction
    guard: CostFunction | None = None
    """In place of `cost` in the search: with guard bands for parts that scatter."""
    started_at: Values = ()
    """The point nearest to the values the circuit is written with."""
    inversions: tuple[Inversion, ...] = ()
    """What is searched as gm/Id."""
    key: str = ""
    """Of the archive."""
    warnings: tuple[Message, ...] = ()
    started: float = field(default_factory=time.monotonic)
    history: list[Improvement] = field(default_factory=list)
    _first_run: dict[Values, int] = field(default_factory=dict)
    """The number of each point's first simulation."""

    def named(self, values: Values) -> dict[str, float]:
        return dict(zip(self.space.names, values, strict=True))

    def points_of(self, values: Values) -> list[Point]:
        return [Point(values=self.named(values), corner=corner) for corner in self.study.plan.corners]

    def number(self, points: Sequence[Values], first: int) -> None:
        """Note that the runs of `points` are numbered from `first`, in their order."""
        corners = len(self.study.plan.corners)
        for index, values in enumerate(points):
            self._first_run[values] = first + index * corners

    def judge(self, points: Sequence[Values], runs: StudyRuns) -> None:
        """Tell the search what those of `points` cost that were simulated at all corners."""
        done = {values: rows for values in points if (rows := self._rows(values, runs)) is not None}
        if not self.cost.scales:
            start = done.get(self.started_at)
            scales = scales_of(self.objectives, None if start is None else start[0])
            self.cost = replace(self.cost, scales=scales)
        cost_of = self.guard or self.cost
        costs = {values: cost_of(rows) for values, rows in done.items()}
        best = self.search.best
        least = None if best is None else self.search.cost_of(best)
        for values, cost in costs.items():  # in the order of their numbers, whoever was first
            if least is None or cost < least:
                least = cost
                self.history.append(
                    Improvement(
                        run=self._first_run[values],
                        parameters=self.named(values),
                        metrics=self._worst_metrics(done[values]),
                        cost=cost,
                    )
                )
        self.search.tell(costs, {values: cost_of.figures(rows) for values, rows in done.items()})
        if least is not None and cost_of.is_perfect(least):
            self.search.finish("goals_met")

    def starting_row(self, runs: StudyRuns) -> StudyRow | None:
        """The run of the values the circuit is written with (the nearest there are)."""
        return runs.row(self._first_run.get(self.started_at, -1))

    def meets_goals(self, values: Values, runs: StudyRuns) -> bool:
        """Whether the search's run of a point meets what was asked for, guard bands aside."""
        rows = self._rows(values, runs)
        return rows is not None and self.cost(rows).meets_goals

    def ranked(self, runs: StudyRuns) -> list[Values]:
        """All points, the best first: those that meet what was asked for come before all others, however
        well these keep the guard bands."""
        found = self.search.ranked()
        return (
            found if self.guard is None else sorted(found, key=lambda each: not self.meets_goals(each, runs))
        )

    def aim_inside(self, goals: Sequence[DesignGoal], runs: StudyRuns) -> bool:
        """Search on for these goals, further in, from all that is known; False when the best point already
        meets them or no simulation is left."""
        guard, before = replace(self.cost, goals=tuple(goals)), self.search
        known = {values: rows for values in self._first_run if (rows := self._rows(values, runs)) is not None}
        costs = {values: guard(rows) for values, rows in known.items()}
        corners = len(self.study.plan.corners)
        left = min(self.study.spec.search.budget - runs.total, max(_LEAST_INSIDE * corners, runs.total))
        if before.best is None or costs[before.best].meets_goals or left < corners:
            return False
        best = min(costs, key=lambda values: costs[values])
        search = Search(
            self.space,
            seed=self.study.spec.seed,
            budget=left // corners,
            start=self.named(best),
            aims=guard.aims(corners),
        )
        search.tell(costs, {values: guard.figures(rows) for values, rows in known.items()})
        search.generations, search.restarts = before.generations, before.restarts
        search.repeated, search.recalled = before.repeated, before.recalled
        if guard.is_perfect(costs[best]):
            search.finish("goals_met")
        self.guard, self.search = guard, search
        return True

    def unproved(self, runs: StudyRuns) -> BestPoint | None:
        """The best point as the search saw it; None when nothing simulated."""
        values = next(iter(self.ranked(runs)), None)
        rows = None if values is None else self._rows(values, runs)
        if values is None or rows is None or self.search.cost_of(values).failed:
            return None
        return self.best_point(values, rows, runs.units, cost=self.search.cost_of(values), is_verified=False)

    def best_point(
        self,
        values: Values,
        rows: Sequence[StudyRow],
        units: Mapping[str, str],
        *,
        cost: Cost,
        is_verified: bool,
    ) -> BestPoint:
        """A point with the metrics of some rows, one for each corner."""
        named, metrics = self.named(values), self._worst_metrics(rows)
        return BestPoint(
            parameters=named,
            texts={name: format_number(value, 2 * DIGITS) for name, value in named.items()},
            metrics=metrics,
            verdicts=tuple(
                GoalVerdict(
                    goal=goal,
                    measured=Quantity(value=value, unit=units.get(goal.metric, "") or goal.unit),
                    met=goal.is_met_by(value),
                )
                for goal in self.study.goals
                for value in (_worst_value(goal, rows),)
            ),
            cost=cost,
            is_verified=is_verified,
            run=self._first_run[values],
        )

    def conflicts(self, runs: StudyRuns) -> tuple[Conflict, ...]:
        """Which goals no point met, or none together."""
        done = (self._rows(values, runs) for values in self._first_run)
        return conflicts_of(self.study.goals, [self._worst_metrics(rows) for rows in done if rows])

    def efficiencies(self, values: Mapping[str, float]) -> dict[str, float]:
        """gm/Id (1/V) of each transistor that was searched by it."""
        by_name = {name.lower(): value for name, value in values.items()}
        return {each.device: each.efficiency(by_name[each.parameter.lower()]) for each in self.inversions}

    def at_range_end(self, values: Mapping[str, float]) -> tuple[str, ...]:
        """Parameters whose value is the first or last that was allowed."""
        ends = {each.name: (each.low, each.high) for each in self.space.dimensions if each.low < each.high}
        return tuple(
            name
            for name, value in values.items()
            if name in ends and any(math.isclose(value, end, rel_tol=1e-6) for end in ends[name])
        )

    def _rows(self, values: Values, runs: StudyRuns) -> list[StudyRow] | None:
        """The rows of a point at all corners; None while one is missing."""
        first = self._first_run[values]
        found = [runs.row(first + index) for index in range(len(self.study.plan.corners))]
        rows = [row for row in found if row is not None]
        return rows if len(rows) == len(found) else None

    def _worst_metrics(self, rows: Sequence[StudyRow]) -> Mapping[str, float]:
        """Of each metric the value at the corner that is worst for its goals; without one, at the first."""
        metrics = dict(rows[0].metrics)
        shortfalls: dict[str, float] = {}
        for goal in self.study.goals:
            value = _worst_value(goal, rows)
            if goal.shortfall(value) > shortfalls.get(goal.metric, -1.0):
                shortfalls[goal.metric], metrics[goal.metric] = goal.shortfall(value), value
        return metrics


def _worst_value(goal: DesignGoal, rows: Sequence[StudyRow]) -> float:
    """What a goal measures at the corner that is worst for it."""
    values = [row.metrics.get(goal.metric, math.nan) for row in rows]
    return max(values, key=lambda value: math.inf if math.isnan(value) else goal.excess(value))
