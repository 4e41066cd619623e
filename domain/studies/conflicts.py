"""Why goals are not met together, told from what was simulated, not from a model of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from domain.simulation.goals import DesignGoal


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Goals of which no simulation met all; each of several was met by some."""

    goals: tuple[DesignGoal, ...]
    """One: no simulation met it. Two: never both."""
    met_by: tuple[int, ...]
    """How many points met each."""
    nearest: float
    """Of a single goal: the value that came nearest; NaN of two."""


def conflicts_of(goals: Sequence[DesignGoal], points: Sequence[Mapping[str, float]]) -> tuple[Conflict, ...]:
    """Of the goals that must be met; `points` are metrics, at several corners the worst of each.

    Pairs of goals on one figure are left out: bounds that leave nothing between them are told by either.
    """
    musts = [goal for goal in goals if goal.weight == "must"]
    met = {
        index: {number for number, row in enumerate(points) if goal.is_met_by(row.get(goal.metric, math.nan))}
        for index, goal in enumerate(musts)
    }
    found = [
        Conflict(goals=(goal,), met_by=(0,), nearest=_nearest(goal, points))
        for index, goal in enumerate(musts)
        if not met[index]
    ]
    found += [
        Conflict(goals=(musts[one], musts[other]), met_by=(len(met[one]), len(met[other])), nearest=math.nan)
        for one, other in combinations(met, 2)
        if met[one] and met[other] and not met[one] & met[other]
        and musts[one].metric != musts[other].metric
    ]  # fmt: skip
    return tuple(found)


def _nearest(goal: DesignGoal, points: Sequence[Mapping[str, float]]) -> float:
    values = [value for row in points if math.isfinite(value := row.get(goal.metric, math.nan))]
    return min(values, key=goal.shortfall, default=math.nan)
