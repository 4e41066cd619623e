"""Goals as data: what a circuit must do, judged by measurements."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from domain.simulation.result import Quantity

_FARTHEST, _NOT_MEASURED = 999.0, 1000.0
"""Shortfalls: the largest of a measured value, and that of none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignGoal:
    """One bound (or two) on one measured quantity.

    `expression` is in the expression language of domain.simulation.expressions, evaluated on the
    result of the circuit's own analyses.
    """

    metric: str
    """Short name, unique within a design: ``cutoff``, ``vout``, ``ripple``."""
    expression: str
    unit: str
    minimum: float | None = None
    maximum: float | None = None
    target: float | None = None
    """What was asked for, when the bounds are a tolerance around it."""
    stated: bool = True
    """True when the user said it; False when it is a default we added (and say so)."""
    weight: Literal["must", "wish"] = "must"
    """A wish is measured and told, but a design that misses it has still met its goals."""
    words: str = ""
    """The words of the sentence it was read from; "" when that is not known, or it was not said."""
    condition: str = ""
    """Where it has to hold, in words: "at 85 degC", "Vdd = 4.5 V"; "" = as simulated. What of it a run can
    set says `goal_conditions.runs_of`."""

    def is_same_demand(self, other: DesignGoal) -> bool:
        """Whether both ask for the same, whoever said it and however much it weighs."""
        mine, theirs = (
            (
                goal.metric,
                goal.expression,
                goal.unit,
                goal.minimum,
                goal.maximum,
                goal.target,
                goal.condition,
            )
            for goal in (self, other)
        )
        return mine == theirs

    def is_met_by(self, value: float) -> bool:
        """Whether a measured value keeps the bounds (NaN never does)."""
        if math.isnan(value):
            return False
        return (self.minimum is None or value >= self.minimum) and (
            self.maximum is None or value <= self.maximum
        )

    def excess(self, value: float) -> float:
        """How far a value is beyond the nearer bound, in the goal's unit; negative inside the bounds.

        The smaller, the better; NaN for a goal without bounds.
        """
        beyond = [
            sign * (value - bound)
            for bound, sign in ((self.minimum, -1.0), (self.maximum, 1.0))
            if bound is not None
        ]
        return max(beyond, default=math.nan)

    def margin(self, value: float) -> float | None:
        """By what share the goal is met (positive) or missed (negative); None when it can't be said.

        With two bounds: of the distance from their middle to a bound. With one: of the bound itself.
        """
        low, high = self.minimum, self.maximum
        if not math.isfinite(value):
            return None
        if low is not None and high is not None:
            half = (high - low) / 2
            return None if half <= 0 else 1 - abs(value - (low + high) / 2) / half
        bound = low if low is not None else high
        if bound is None:
            return None
        scale = abs(bound) or abs(self.target or 0.0)
        if not scale:
            return None
        return (value - bound) / scale if low is not None else (bound - value) / scale

    def shortfall(self, value: float) -> float:
        """How far a value is outside the bounds, relative to the bound (0 = met, NaN counts 1)."""
        if math.isnan(value):
            return 1.0
        worst = 0.0
        for bound, excess in ((self.minimum, -1.0), (self.maximum, 1.0)):
            if bound is not None:
                scale = abs(bound) or abs(self.target or 0.0) or 1.0
                worst = max(worst, excess * (value - bound) / scale)
        return worst


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalVerdict:
    """One goal beside what was measured."""

    goal: DesignGoal
    measured: Quantity
    met: bool
    judged_at: str = ""
    """Of a goal with several runs, or a process corner: the settings that counted, ``SS, temp=85``."""
    lacking: str = ""
    """Corners of its condition that the circuit does not have: there its own devices were judged."""


WISH_SHARE = 0.1
"""What a missed wish counts for when rounds are compared; a missed must counts 1."""


def all_met(verdicts: Iterable[GoalVerdict]) -> bool:
    """Whether a design has met its goals: every must is met, and there is something to meet."""
    found = tuple(verdicts)
    return bool(found) and all(verdict.met or verdict.goal.weight == "wish" for verdict in found)


def total_shortfall(verdicts: Iterable[GoalVerdict]) -> float:
    """How far a round is from all of its goals (0 = everything is met, wishes too).

    What was not measured is farther than whatever was: a circuit that does not run is never the better one.
    """
    return sum(
        (
            _NOT_MEASURED
            if math.isnan(verdict.measured.value)
            else min(verdict.goal.shortfall(verdict.measured.value), _FARTHEST)
        )
        * (1.0 if verdict.goal.weight == "must" else WISH_SHARE)
        for verdict in verdicts
    )
