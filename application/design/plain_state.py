"""Goals, intents and verdicts as the plain types of `GraphState`, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from domain.design.designer import DesignIntent
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from shared.message import Message, message_from_plain, message_to_plain, msg


def goal_to_plain(goal: DesignGoal) -> dict[str, Any]:
    return {
        "metric": goal.metric,
        "expression": goal.expression,
        "unit": goal.unit,
        "minimum": goal.minimum,
        "maximum": goal.maximum,
        "target": goal.target,
        "stated": goal.stated,
        "weight": goal.weight,
        "words": goal.words,
        "condition": goal.condition,
    }


def goal_from_plain(plain: dict[str, Any]) -> DesignGoal:
    """The goal `goal_to_plain` wrote."""
    return DesignGoal(**plain)


def intent_to_plain(intent: DesignIntent) -> dict[str, Any]:
    """An intent as plain JSON types."""
    return {
        "family": intent.family,
        "parameters": dict(intent.parameters),
        "goals": [goal_to_plain(goal) for goal in intent.goals],
        "assumptions": messages_to_plain(intent.assumptions),
        "language": intent.language,
    }


def intent_from_plain(plain: dict[str, Any]) -> DesignIntent:
    """The intent `intent_to_plain` wrote."""
    return DesignIntent(
        family=plain["family"],
        parameters=dict(plain["parameters"]),
        goals=tuple(goal_from_plain(goal) for goal in plain["goals"]),
        assumptions=messages_from_plain(plain["assumptions"]),
        language=plain["language"],
    )


def verdict_to_plain(verdict: GoalVerdict) -> dict[str, Any]:
    """A verdict as plain JSON types; NaN becomes None."""
    value = verdict.measured.value
    return {
        "goal": goal_to_plain(verdict.goal),
        "value": None if math.isnan(value) else value,
        "unit": verdict.measured.unit,
        "met": verdict.met,
        **({"judged_at": verdict.judged_at} if verdict.judged_at else {}),
        **({"lacking": verdict.lacking} if verdict.lacking else {}),
    }


def verdict_from_plain(plain: dict[str, Any]) -> GoalVerdict:
    """The verdict `verdict_to_plain` wrote."""
    value = plain["value"]
    return GoalVerdict(
        goal=goal_from_plain(plain["goal"]),
        measured=Quantity(value=float("nan") if value is None else value, unit=plain["unit"]),
        met=plain["met"],
        judged_at=plain.get("judged_at", ""),
        lacking=plain.get("lacking", ""),
    )


def messages_to_plain(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as plain JSON types."""
    return [message_to_plain(message) for message in messages]


def messages_from_plain(plain: Sequence[dict[str, Any]]) -> tuple[Message, ...]:
    """The messages `messages_to_plain` wrote."""
    return tuple(read for item in plain if (read := message_from_plain(item)) is not None)


def no_circuit_message() -> Message:
    """What a node says when it is reached without a circuit."""
    return msg("There is no circuit in this session yet.")
