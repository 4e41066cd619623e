"""What a change would do, in words: a short line for each goal, those that are lost first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from application.goal_checks.previewing import ChangePreview, CircuitPreview, FigureChange, GoalChange
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from presentation.goal_margins import limit_text, row_of, shown
from presentation.goal_words import name_of
from shared.message import Message, msg

Tone = Literal["met", "missed", "problem", "plain", "head"]
_MOST_GOALS = 6
_MOST_FIGURES = 4
_DASH = "–"


@dataclass(frozen=True, slots=True)
class PreviewLine:
    """One thing that is told, and how it is meant."""

    text: Message
    tone: Tone = "plain"


def lines_of(change: ChangePreview) -> tuple[PreviewLine, ...]:
    """All that is told. A circuit is named where there are several, or it only reads what is changed."""
    found: list[PreviewLine] = []
    is_named = len(change.circuits) > 1 or not change.circuits[0].is_changed
    for each in change.circuits:
        if is_named:
            found.append(PreviewLine(msg("{name}:", name=each.circuit.name), "head"))
        found += _of_circuit(each)
    if change.left_out:
        left = change.left_out
        found.append(
            PreviewLine(msg("{count} more {count:circuit reads|circuits read} these files.", count=left))
        )
    return tuple(found)


def in_short(change: ChangePreview) -> Message | None:
    """What matters most of it, for a place with little room."""
    lines = [line for line in lines_of(change) if line.tone != "head"]
    return lines[0].text if lines else None


def takes_about(change: ChangePreview) -> Message | None:
    """How long it takes to find out, where that was not done unasked."""
    times = [each.slow_s for each in change.circuits if each.slow_s is not None]
    if not times:
        return None
    if any(math.isnan(each) for each in times):
        return msg("A run takes more than 3 s")
    return msg("A run takes about {seconds} s", seconds=f"{sum(times):.2g}")


def _of_circuit(each: CircuitPreview) -> Iterator[PreviewLine]:
    if each.slow_s is not None:
        return
    if each.problem is not None:
        told = (
            msg("still does not simulate: {reason}", reason=each.problem)
            if each.was_failing
            else msg("does not simulate any more: {reason}", reason=each.problem)
        )
        yield PreviewLine(told, "problem")
        return
    if each.was_failing:
        yield PreviewLine(msg("simulates again"), "met")
    if each.is_same:
        yield PreviewLine(msg("no result changes"))
        return
    if each.goals:
        yield from _of_goals(each.goals)
        return
    told = msg("No goals:") if each.figures else msg("No goals; only the curves are compared.")
    yield PreviewLine(told, "head")
    yield from (PreviewLine(_of_figure(figure)) for figure in each.figures[:_MOST_FIGURES])


def _of_goals(goals: Sequence[GoalChange]) -> Iterator[PreviewLine]:
    order = sorted(goals, key=lambda each: (not each.is_lost, not each.is_won, each.after.is_met is None))
    for each in order[:_MOST_GOALS]:
        yield _of_goal(each)
    left = order[_MOST_GOALS:]
    if left:
        met = sum(each.after.is_met is True for each in left)
        yield PreviewLine(msg("{count} more, {met} of them met", count=len(left), met=met))


def _of_goal(each: GoalChange) -> PreviewLine:
    goal, after = each.goal, each.after
    if after.is_met is None:
        return PreviewLine(msg("{goal}: not measured", goal=name_of(goal)))
    before = each.before
    was = _value(goal, math.nan if before is None or before.is_met is None else before.value)
    now = _value(goal, after.value)
    told = {"goal": name_of(goal), "before": was, "after": now, "limit": shown(limit_text(goal))}
    if each.is_lost:
        return PreviewLine(msg("{goal} {before} → {after} ✗ lost ({limit})", **told), "missed")
    if each.is_won:
        return PreviewLine(msg("{goal} {before} → {after} ✓ now met", **told), "met")
    if was == now:
        same = msg("{goal} {after} ✓", **told) if after.is_met else msg("{goal} {after} ✗ ({limit})", **told)
        return PreviewLine(same, "met" if after.is_met else "missed")
    if after.is_met:
        return PreviewLine(msg("{goal} {before} → {after} ✓", **told), "met")
    return PreviewLine(msg("{goal} {before} → {after} ✗ ({limit})", **told), "missed")


def _value(goal: DesignGoal, value: float) -> Message:
    """With the digits that tell it from the goal's bounds."""
    measured = Quantity(value=value, unit=goal.unit)
    row = row_of(GoalVerdict(goal=goal, measured=measured, met=goal.is_met_by(value)))
    return shown(_DASH if math.isnan(value) else row.value)


def _of_figure(each: FigureChange) -> Message:
    unit = next((side.unit for side in (each.after, each.before) if side is not None), "")
    asked = DesignGoal(metric=each.name, expression=each.name, unit=unit)
    name = name_of(asked)
    was, now = (_value(asked, math.nan if side is None else side.value) for side in (each.before, each.after))
    if was == now:
        return msg("{goal} {after}", goal=name, after=now)
    return msg("{goal} {before} → {after}", goal=name, before=was, after=now)
