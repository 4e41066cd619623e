"""Goals as data: what a circuit must do, judged by measurements."""

from __future__ import annotations

import math
from dataclasses import dataclass

from domain.simulation.result import Quantity


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

    def is_met_by(self, value: float) -> bool:
        """Whether a measured value keeps the bounds (NaN never does)."""
        if math.isnan(value):
            return False
        return (self.minimum is None or value >= self.minimum) and (
            self.maximum is None or value <= self.maximum
        )

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
