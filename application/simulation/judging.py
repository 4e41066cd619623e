"""Goals held against a stored result: measured one by one where they can't be measured together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from application.simulation.measuring import MeasureResult
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from shared.errors import CircuitAIError
from shared.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedGoal:
    """A goal's verdict; what was not measured is missed, with NaN and the reason."""

    verdict: GoalVerdict
    reason: Message | None = None


async def judge(measure: MeasureResult, source: Path, goals: Sequence[DesignGoal]) -> tuple[JudgedGoal, ...]:
    """The verdict on each goal by the data of `source` (see `MeasureResult`)."""
    found = await _values(measure, source, list(dict.fromkeys(goal.expression for goal in goals)))
    return tuple(_judged(goal, found[goal.expression]) for goal in goals)


async def _values(
    measure: MeasureResult, source: Path, expressions: Sequence[str]
) -> dict[str, Quantity | CircuitAIError]:
    try:
        return {**await measure(source, expressions)}
    except CircuitAIError as error:  # a signal that one of them lacks is an error of the whole call
        if len(expressions) <= 1:
            return dict.fromkeys(expressions, error)
    values: dict[str, Quantity | CircuitAIError] = {}
    for text in expressions:
        values |= await _values(measure, source, [text])
    return values


def _judged(goal: DesignGoal, found: Quantity | CircuitAIError) -> JudgedGoal:
    if isinstance(found, Quantity):
        return JudgedGoal(verdict=GoalVerdict(goal=goal, measured=found, met=goal.is_met_by(found.value)))
    missing = Quantity(value=math.nan, unit=goal.unit)
    return JudgedGoal(verdict=GoalVerdict(goal=goal, measured=missing, met=False), reason=found.message)
