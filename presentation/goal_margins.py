"""A goal beside what was measured, as a row: value, limit, margin (look.md 8)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from domain.simulation.goals import DesignGoal, GoalVerdict
from presentation.figures import number

_FULL_MET = 0.5
_FULL_MISSED = 0.25
_MOST_DIGITS = 15
"""A double has no more."""


@dataclass(frozen=True, slots=True)
class GoalRow:
    """The texts of a row and the fill of its bar."""

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


def beside_limit(goal: DesignGoal, value: float, show: Callable[[float, int], str], digits: int = 4) -> str:
    """`show(value, digits)` with as many more digits as it takes to see a miss.

    A value that misses a limit by a hair would else be printed as that limit, and look met.
    """
    text = show(value, digits)
    if not math.isfinite(value) or goal.is_met_by(value):
        return text
    bounds = [bound for bound in (goal.minimum, goal.maximum) if bound is not None]
    for more in range(digits, _MOST_DIGITS + 1):
        text = show(value, more)
        if all(text != show(bound, shown) for bound in bounds for shown in (digits, more)):
            break
    return text


def figure_beside_limit(verdict: GoalVerdict) -> str:
    """What was measured, in plain figures: ``9.9997 kHz`` where at least 10 kHz are asked for."""
    unit = verdict.measured.unit or verdict.goal.unit
    return beside_limit(verdict.goal, verdict.measured.value, lambda each, digits: number(each, unit, digits))


def row_of(verdict: GoalVerdict) -> GoalRow:
    goal, value = verdict.goal, verdict.measured.value
    return GoalRow(
        value=typeset(beside_limit(goal, value, lambda each, digits: _figure(each, goal.unit, digits))),
        limit=limit_text(goal),
        met=verdict.met,
        margin=margin_of(goal, value),
    )


def limit_parts(goal: DesignGoal) -> tuple[str, str, str]:
    """Relation, limit and tolerance: ``("=", "10 kHz", "±2 %")``, ``("≤", "0.1 dB", "")``.

    A range around nothing in particular is ``("", "4.9 V … 5.2 V", "")``.
    """
    low, high, unit = goal.minimum, goal.maximum, goal.unit
    if low is not None and high is not None:
        middle = (low + high) / 2 if goal.target is None else goal.target
        half = (high - low) / 2
        is_span = goal.target is None and not math.isclose(low, -high, rel_tol=1e-6)
        if is_span or not math.isclose(
            high - middle, middle - low, rel_tol=1e-6, abs_tol=1e-12 * abs(middle)
        ):
            return "", f"{typeset(number(low, unit))} … {typeset(number(high, unit))}", ""
        if not middle or unit in ("dB", "deg", "%"):
            return "=", typeset(number(middle, unit)), f"±{typeset(number(half, unit, 3))}"
        return "=", typeset(number(middle, unit)), f"±{half / abs(middle) * 100:.3g}\u00a0%"
    if low is not None:
        return "≥", typeset(number(low, unit)), ""
    return ("≤", typeset(number(high, unit)), "") if high is not None else ("", "—", "")


def limit_text(goal: DesignGoal) -> str:
    """``≤ 0.1 dB``, ``10 kHz ±2 %``, ``4.9 V … 5.2 V``."""
    relation, limit, tolerance = limit_parts(goal)
    if relation == "=":
        is_around_zero = goal.minimum is not None and goal.maximum == -goal.minimum
        return tolerance if is_around_zero else f"{limit} {tolerance}"
    return f"{relation} {limit}".strip()


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


def _figure(value: float, unit: str, digits: int = 4) -> str:
    """Four digits; of a unit without prefixes nothing below a thousandth (``0.000 dB``)."""
    if unit in ("dB", "deg", "%") and digits <= 4:
        if 0 < abs(value) < 5e-4:
            return number(0.0, unit).replace("0", "0.000", 1)
        value = round(value, 3)
    return number(value, unit, digits)


def typeset(text: str) -> str:
    """Real minus, µ for micro, and a space that does not break before the unit."""
    plain = re.sub(r" u(?=[A-Za-zΩ])", " µ", text).removesuffix(" deg")
    degrees = "°" if text.endswith(" deg") else ""
    return plain.replace("-", "−").replace(" ", "\u00a0") + degrees
