"""A goal beside what was measured, as a row: value, limit, margin (look.md 8)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from domain.circuit.figures import beside
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from presentation.figures import number
from shared.message import Message, msg

_FULL_MET = 0.5
_FULL_MISSED = 0.25
NOT_MEASURED = msg("not measured")
SHARES = re.compile(r"(thdn?|overshoot|duty)\(.*\)(@\d+)?|four_.*_thd(@\d+)?", re.IGNORECASE)
"""Fractions that every data sheet gives in percent."""
_EFFICIENCY = "efficiency"


@dataclass(frozen=True, slots=True)
class GoalRow:
    """The texts of a row and the fill of its bar."""

    value: str | Message
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
        """``+12 %`` or ``−3 %`` with the real minus; ``−<0.001 %``; an em dash when it can't be said.

        A miss by more than the whole limit or tolerance is ``< −100 %``: further figures tell nothing.
        """
        if self.margin is None:
            return "—"
        if self.margin < -1:
            return "< −100 %"
        share = abs(self.margin) * 100
        digits = f"{share:.0f}" if share >= 1 or share == 0 else f"{share:.1g}" if share >= 1e-3 else "<0.001"
        return f"{'+' if self.margin >= 0 else '−'}{digits} %"


def is_share(goal: DesignGoal) -> bool:
    """Whether it asks for a fraction that every data sheet gives in percent: a distortion, an efficiency."""
    return goal.unit == "1" and (SHARES.fullmatch(goal.expression) is not None or goal.metric == _EFFICIENCY)


def in_percent(goal: DesignGoal) -> DesignGoal:
    """The goal as people write it: one that asks for a share asks for percents."""
    if not is_share(goal):
        return goal
    low, high, target = (
        None if each is None else float(f"{100 * each:.12g}")
        for each in (goal.minimum, goal.maximum, goal.target)
    )
    return replace(goal, unit="%", minimum=low, maximum=high, target=target)


def verdict_in_percent(verdict: GoalVerdict) -> GoalVerdict:
    """The same of a verdict, and of what was measured."""
    if not is_share(verdict.goal):
        return verdict
    measured = Quantity(value=100 * verdict.measured.value, unit="%")
    return replace(verdict, goal=in_percent(verdict.goal), measured=measured)


def beside_limit(
    goal: DesignGoal, value: float, show: Callable[[float, int], str], digits: int = 4
) -> tuple[str, int]:
    """`show(value, digits)` with the digits that tell it from the goal's bounds, and how many those are.

    A value that misses a limit by a hair would else be printed as that limit, and look met. The limit is to
    be shown with as many digits (`limit_text`).
    """
    return beside(value, (goal.minimum, goal.maximum), show, digits)


def value_and_limit(verdict: GoalVerdict) -> tuple[str | Message, str]:
    """Both in plain figures: ``("9.9997 kHz", "≥ 10 kHz")``."""
    verdict = verdict_in_percent(verdict)
    goal, value = verdict.goal, verdict.measured.value
    unit = verdict.measured.unit or goal.unit
    text, digits = beside_limit(goal, value, lambda each, count: number(each, unit, count))
    return (NOT_MEASURED if math.isnan(value) else text), limit_in_figures(goal, unit, digits)


def limit_in_figures(goal: DesignGoal, unit: str = "", digits: int = 4) -> str:
    """``≥ 10 kHz``, ``9.8 kHz … 10.2 kHz``: the bounds in plain figures."""
    goal = goal if unit else in_percent(goal)
    low, high = (
        "" if bound is None else number(bound, unit or goal.unit, digits)
        for bound in (goal.minimum, goal.maximum)
    )
    return f"{low} … {high}" if low and high else f"≥ {low}" if low else f"≤ {high}" if high else ""


def row_of(verdict: GoalVerdict) -> GoalRow:
    asked = verdict.goal  # of a share the tolerance is one of it, wherever it is told
    verdict = verdict_in_percent(verdict)
    goal, value = verdict.goal, verdict.measured.value
    text, digits = beside_limit(goal, value, lambda each, count: _figure(each, goal.unit, count))
    return GoalRow(
        value=NOT_MEASURED if math.isnan(value) else typeset(text),
        limit=limit_text(asked, digits),
        met=verdict.met,
        margin=goal.margin(value),
    )


def limit_parts(goal: DesignGoal, digits: int = 4) -> tuple[str, str, str]:
    """Relation, limit and tolerance: ``("=", "10 kHz", "±2 %")``, ``("≤", "0.1 dB", "")``.

    A range around nothing in particular is ``("", "4.9 V … 5.2 V", "")``.
    """
    is_relative, goal = is_share(goal) or goal.unit not in ("dB", "deg", "%"), in_percent(goal)
    low, high, unit = goal.minimum, goal.maximum, goal.unit
    if low is not None and high is not None:
        middle = (low + high) / 2 if goal.target is None else goal.target
        half = (high - low) / 2
        is_span = goal.target is None and not math.isclose(low, -high, rel_tol=1e-6)
        if is_span or not math.isclose(
            high - middle, middle - low, rel_tol=1e-6, abs_tol=1e-12 * abs(middle)
        ):
            return "", f"{typeset(number(low, unit, digits))} … {typeset(number(high, unit, digits))}", ""
        if not middle or not is_relative:
            return "=", typeset(number(middle, unit, digits)), f"±{typeset(number(half, unit, 3))}"
        return "=", typeset(number(middle, unit, digits)), f"±{half / abs(middle) * 100:.3g}\u00a0%"
    if low is not None:
        return "≥", typeset(number(low, unit, digits)), ""
    return ("≤", typeset(number(high, unit, digits)), "") if high is not None else ("", "—", "")


def limit_text(goal: DesignGoal, digits: int = 4) -> str:
    """``≤ 0.1 dB``, ``10 kHz ±2 %``, ``4.9 V … 5.2 V``."""
    relation, limit, tolerance = limit_parts(goal, digits)
    if relation == "=":
        is_around_zero = goal.minimum is not None and goal.maximum == -goal.minimum
        return tolerance if is_around_zero else f"{limit} {tolerance}"
    return f"{relation} {limit}".strip()


def _figure(value: float, unit: str, digits: int = 4) -> str:
    """Four digits; of a unit without prefixes nothing below a thousandth (``0.000 dB``)."""
    if unit in ("dB", "deg", "%") and digits <= 4:
        if 0 < abs(value) < 5e-4:
            return number(0.0, unit).replace("0", "0.000", 1)
        if abs(value) < 1:  # rounded twice, 22.3146 would be 22.32
            value = round(value, 3)
    return number(value, unit, digits)


def shown(figure: str | Message) -> Message:
    """A figure as a text for people: a percent sign stands as their language has it."""
    return figure if isinstance(figure, Message) else msg("{figure}", figure=figure)


def typeset(text: str) -> str:
    """Real minus, µ for micro, and a space that does not break before the unit."""
    plain = re.sub(r" u(?=[A-Za-zΩ])", " µ", text).removesuffix(" deg")
    degrees = "°" if text.endswith(" deg") else ""
    return plain.replace("-", "−").replace(" ", "\u00a0") + degrees
