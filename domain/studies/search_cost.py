"""How good a point of a search is: first it has to simulate, then to meet the goals, then to be small.

Feasible points come before all others and those before failed ones (K. Deb, Comput. Methods Appl. Mech.
Engrg. 186 (2000) 311), so that no weight between a goal and the objective has to be guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from domain.simulation.goals import DesignGoal
from domain.studies.search_spec import Objective
from domain.studies.study import StudyRow
from domain.studies.trust_region import Aim, Figures

_LEAST_GAIN = 1e-6
_WISH = 0.1
"""What a missed wish weighs beside a missed must, for the surrogates."""


class Cost(NamedTuple):
    """What a point costs; the smaller, the better, the first that differs decides."""

    failed: int
    """Of its simulations (one a corner)."""
    violation: float
    """By how far the goals that must be met are missed: 0 to 1 for each, added."""
    rest: float
    """The objectives, each in units of its value at the start, and missed wishes."""

    @property
    def meets_goals(self) -> bool:
        """It simulates, and every must is met."""
        return self.failed == 0 and self.violation == 0


@dataclass(frozen=True, kw_only=True)
class CostFunction:
    """Judges the simulations of one point."""

    goals: Sequence[DesignGoal]
    objectives: Sequence[Objective] = ()
    scales: Mapping[str, float] = field(default_factory=dict)
    """What each objective is measured in, by metric; 1 for those left out."""

    def __call__(self, rows: Sequence[StudyRow]) -> Cost:
        """The cost of a point from its rows, one for each corner: the worst corner counts."""
        failed = sum(row.state != "ok" for row in rows)
        violation = rest = 0.0
        for goal in self.goals:
            worst = self._worst(rows, lambda row, goal=goal: _missed(goal, row))  # type: ignore[misc]
            if goal.weight == "must":
                violation += worst
            else:
                rest += worst
        for objective in self.objectives:
            sign = -objective.weight if objective.maximize else objective.weight
            scale = self.scales.get(objective.metric, 1.0)
            rest += self._worst(
                rows,
                lambda row, metric=objective.metric, sign=sign, scale=scale: (  # type: ignore[misc]
                    sign * row.metrics.get(metric, math.nan) / scale
                ),
            )
        return Cost(failed, violation, rest)

    def aims(self, corners: int) -> tuple[Aim, ...]:
        """What each of the `figures` should be."""
        weights = {"must": 1.0, "wish": _WISH}
        each = [
            Aim(
                low=-math.inf if goal.minimum is None else goal.minimum,
                high=math.inf if goal.maximum is None else goal.maximum,
                weight=weights[goal.weight],
            )
            for goal in self._bounded
        ]
        each += [
            Aim(weight=objective.weight, direction=-1.0 if objective.maximize else 1.0)
            for objective in self.objectives
        ]
        return tuple(each * corners)

    def figures(self, rows: Sequence[StudyRow]) -> Figures:
        """What a point measured, from its rows, one for each corner; NaN for what it could not."""
        return tuple(
            value if math.isfinite(value) else math.nan
            for row in rows
            for value in (
                *(row.metrics.get(goal.metric, math.nan) for goal in self._bounded),
                *(row.metrics.get(objective.metric, math.nan) for objective in self.objectives),
            )
        )

    @property
    def _bounded(self) -> list[DesignGoal]:
        return [goal for goal in self.goals if goal.minimum is not None or goal.maximum is not None]

    def is_perfect(self, cost: Cost) -> bool:
        """Nothing is left to be improved: no objective, and wishes too are met."""
        return not self.objectives and cost.meets_goals and cost.rest == 0

    @staticmethod
    def _worst(rows: Sequence[StudyRow], number: Callable[[StudyRow], float]) -> float:
        found = [number(row) for row in rows]
        return max((math.inf if math.isnan(item) else item for item in found), default=math.inf)


def is_better(cost: Cost, other: Cost) -> bool:
    """Whether a cost is less by an amount that matters."""
    if cost.failed != other.failed:
        return cost.failed < other.failed
    for mine, theirs in ((cost.violation, other.violation), (cost.rest, other.rest)):
        if mine == theirs:
            continue
        if math.isinf(mine) or math.isinf(theirs):
            return mine < theirs
        if abs(mine - theirs) > _LEAST_GAIN * max(abs(theirs), _LEAST_GAIN):
            return mine < theirs
        if (mine == 0) != (theirs == 0):
            return mine < theirs
    return False


def scales_of(objectives: Sequence[Objective], row: StudyRow | None) -> dict[str, float]:
    """What objectives are measured in: their value in one run, where that is a number other than 0."""
    found = {}
    for objective in objectives:
        value = math.nan if row is None else abs(row.metrics.get(objective.metric, math.nan))
        found[objective.metric] = value if math.isfinite(value) and value > 0 else 1.0
    return found


def _missed(goal: DesignGoal, row: StudyRow) -> float:
    """How far a goal is missed: 0 = met, towards 1 the further away, 1 when it cannot be measured."""
    value = row.metrics.get(goal.metric, math.nan)
    if row.state != "ok" or math.isnan(value):
        return 1.0
    if math.isinf(value):
        return 0.0 if goal.is_met_by(value) else 1.0
    shortfall = goal.shortfall(value)
    return shortfall / (1 + shortfall)
