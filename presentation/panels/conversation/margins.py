"""A goal beside what was measured, as a row: value, limit, margin (look.md 8)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from domain.design.goals import DesignGoal, GoalVerdict
from presentation.cli.figures import number

_FULL_MET = 0.5
_FULL_MISSED = 0.25


@dataclass(frozen=True, slots=True)
class GoalRow:
    """The texts of a row and the fill of its bar."""

    name: str
    value: str
    limit: str
    met: bool
    margin: float | None
    """Share of the limit (of the tolerance, where there is one) by which it is met (+) or missed (-);
    None when it can't be said."""

    @property
    def fill(self) -> float:
        """-1 (missed by a quarter or more) ... 0 (at the limit) ... 1 (met by half or more)."""
        if self.margin is None:
            return 0.0
        full = _FULL_MET if self.margin >= 0 else _FULL_MISSED
        return max(-1.0, min(1.0, self.margin / full))

    @property
    def margin_text(self) -> str:
        """``+12 %`` or ``−3 %`` with the real minus; an em dash when it can't be said."""
        if self.margin is None:
            return "—"
        share = abs(self.margin) * 100
        digits = f"{share:.0f}" if share >= 1 or share == 0 else f"{share:.1g}"
        return f"{'+' if self.margin >= 0 else '−'}{digits} %"


def row_of(verdict: GoalVerdict) -> GoalRow:
    """The row of a verdict."""
    goal, value = verdict.goal, verdict.measured.value
    return GoalRow(
        name=goal.metric,
        value=typeset(_figure(value, goal.unit)),
        limit=limit_text(goal),
        met=verdict.met,
        margin=margin_of(goal, value),
    )


def limit_text(goal: DesignGoal) -> str:
    """``≤ 0.1 dB``, ``10 kHz ±2 %``, ``4.9 V … 5.1 V``."""
    low, high = goal.minimum, goal.maximum
    if low is not None and high is not None:
        target = goal.target
        if math.isclose(low, -high, rel_tol=1e-6):
            return f"±{typeset(number(high, goal.unit))}"
        if target and math.isclose(high - target, target - low, rel_tol=1e-6):
            tolerance = abs((high - low) / 2 / target) * 100
            return f"{typeset(number(target, goal.unit))} ±{tolerance:.3g} %"
        return f"{typeset(number(low, goal.unit))} … {typeset(number(high, goal.unit))}"
    if low is not None:
        return f"≥ {typeset(number(low, goal.unit))}"
    return f"≤ {typeset(number(high, goal.unit))}" if high is not None else "—"


def margin_of(goal: DesignGoal, value: float) -> float | None:
    """By what share the goal is met (positive) or missed (negative).

    With two bounds: of the distance from their middle to a bound. With one: of the bound itself.
    """
    low, high = goal.minimum, goal.maximum
    if not math.isfinite(value):
        return None
    if low is not None and high is not None:
        half = (high - low) / 2
        return None if half <= 0 else 1 - abs(value - (low + high) / 2) / half
    bound = low if low is not None else high
    if bound is None:
        return None
    scale = abs(bound) or abs(goal.target or 0.0)
    if not scale:
        return None
    return (value - bound) / scale if low is not None else (bound - value) / scale


def _figure(value: float, unit: str) -> str:
    """Four digits; of a unit without prefixes nothing below a thousandth (``0.000 dB``)."""
    if unit in ("dB", "deg", "%") and 0 < abs(value) < 1e-3:
        return number(0.0, unit).replace("0", "0.000", 1)
    return number(value, unit)


def typeset(text: str) -> str:
    """Real minus, µ for micro, and a space that does not break before the unit."""
    return re.sub(r" u(?=[A-Za-zΩ])", " µ", text).replace("-", "−").replace(" ", "\u00a0")
