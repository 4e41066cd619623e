"""What is said while a measured quantity is pulled, and when it was let go."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from domain.circuit.numbers import format_number
from presentation.goal_margins import limit_text
from presentation.goal_margins import shown as shown_limit
from presentation.goal_words import name_of
from presentation.study_figures import shown
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.optimization.pulling import PulledPoint

DIGITS = 5
_MOST_GOALS = 5

Say = Callable[[Message], str]
Line = tuple[str, str]
"""Words, and their role in the style."""


def heading(say: Say, name: str, unit: str, target: float, found: PulledPoint | None) -> Line:
    """The quantity, where it is wanted and, until it is there, where it is."""
    words = f"{name} → {shown(target, unit)}"
    if found is not None and not found.is_met:
        words += f"  ({say(msg('here {value}', value=shown(found.measured, unit)))})"
    return words, "strong"


def following(say: Say, found: PulledPoint, written: Mapping[str, float]) -> list[Line]:
    """The values that follow and the other goals, in the colors of those met and missed."""
    lines = [(each, "") for each in changes(found.values, written)]
    if found.is_at_border:
        lines.append((say(msg("The values end here: a hundredth, a hundredfold.")), "error"))
    for each in found.goals[:_MOST_GOALS]:
        value = "–" if math.isnan(each.value) else shown(each.value, each.goal.unit)
        told = f"{'✓' if each.is_met else '✗'} {say(name_of(each.goal))} {value}"
        if not each.is_met:
            told += f" ({shown_limit(limit_text(each.goal))})"
        lines.append((told, "ok" if each.is_met else "error"))
    return lines


def changes(values: Mapping[str, float], written: Mapping[str, float]) -> list[str]:
    """``R1 4.7k → 3.9k``, for each value that follows."""
    return [
        f"{name} {format_number(written[name], DIGITS)} → {format_number(value, DIGITS)}"
        for name, value in values.items()
    ]


def in_words(values: Mapping[str, float], written: Mapping[str, float]) -> str:
    return ", ".join(changes(values, written))
