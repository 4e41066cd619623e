"""How firmly a point meets its goals: what parts that are a little off do to them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.simulation.goals import DesignGoal

MOVED = 0.01
"""By what share each parameter is moved, up and down, alone."""
_OFTEN_SOLD = 0.01
"""A point that does not hold with parts of 1 % sits on the edge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Robustness:
    """Of one goal that is met."""

    goal: DesignGoal
    margin: float
    """Distance of the value to the nearer bound, in its unit."""
    holds_within: float
    """The tolerance (a share) all parameters may have together before it can be missed, by straight lines
    through the moved points; inf when none of them matters."""
    decisive: str
    """The parameter that costs most of the margin; "" when none does."""

    @property
    def on_edge(self) -> bool:
        """Parts of 1 % can miss the goal."""
        return self.holds_within < _OFTEN_SOLD


def tolerance_in_percent(share: float) -> str:
    """How far parts may be off, for people: ``0.75``, ``12``, ``140``."""
    value = 100 * share
    return f"{value:.2g}" if value < 99.5 else f"{value:.0f}"


def robustness_of(
    goals: Sequence[DesignGoal],
    values: Mapping[str, float],
    moved: Mapping[str, Sequence[Mapping[str, float]]],
) -> tuple[Robustness, ...]:
    """Of each goal `values` (the metrics of the point) meet; `moved` are the metrics with one parameter
    `MOVED` lower and higher."""
    found = []
    for goal in goals:
        value = values.get(goal.metric, math.nan)
        if not goal.is_met_by(value):
            continue
        margin = -goal.excess(value)
        losses = {
            name: max((_lost(goal, margin, row.get(goal.metric, math.nan)) for row in rows), default=0.0)
            for name, rows in moved.items()
        }
        total = sum(losses.values())
        decisive = max(losses, key=lambda name: losses[name], default="")
        found.append(
            Robustness(
                goal=goal,
                margin=margin,
                holds_within=MOVED * margin / total if total > 0 else math.inf,
                decisive=decisive if total > 0 else "",
            )
        )
    return tuple(found)


def _lost(goal: DesignGoal, margin: float, value: float) -> float:
    """How much of the margin is gone at a moved point; all and more where nothing can be measured."""
    return math.inf if math.isnan(value) else max(margin + goal.excess(value), 0.0)
