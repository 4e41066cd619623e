"""A goal, and what it measures in a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from domain.simulation.goals import DesignGoal
from shared.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalNow:
    """A goal, and what it measures."""

    goal: DesignGoal
    value: float = math.nan
    """Of several runs the worst; NaN: it could not be measured."""
    is_met: bool | None = None
    """None: its condition cannot be set here, so it is neither met nor missed."""
    reason: Message | None = None
    """Why it was not measured."""


def measured_as(goal: DesignGoal) -> str:
    """What a goal is measured as: two conditions of one quantity are one measurement."""
    return goal.expression or goal.metric
