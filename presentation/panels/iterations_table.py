"""The rounds of a design as a table: what each changed, a column for each goal, how many goals it met."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from application.design.rounds import DesignRound, DesignRounds
from domain.simulation.goals import DesignGoal, GoalVerdict
from presentation.goal_margins import (
    NOT_MEASURED,
    beside_limit,
    in_percent,
    limit_text,
    shown,
    verdict_in_percent,
)
from presentation.goal_words import name_of, name_of_judged
from presentation.panels.waveforms.figures import Scale, in_scale, scale_for
from presentation.round_words import change_of
from presentation.ui.figure_table import Cell, Column
from presentation.ui.language import LanguageManager
from shared.message import msg

_RISES, _FALLS = "↑", "↓"


def columns_of(found: DesignRounds, language: LanguageManager) -> list[Column]:
    """Number, change, goals with their units, goals met."""
    found = _in_percent(found)
    heads = []
    for goal in found.goals:
        unit, name = _scale(found, goal).unit, language(name_of(goal))
        heads.append(Column(title=f"{name} / {unit}" if unit else name, is_number=True))
    return [
        Column(title="#"),
        Column(title=language(msg("Change to {circuit}", circuit=found.rounds[-1].circuit.name))),
        *heads,
        Column(title=language(msg("Met")), is_number=True),
    ]


def rows_of(found: DesignRounds, language: LanguageManager) -> list[list[Cell]]:
    """A row for each round, and the goals below them, those of each time."""
    found = _in_percent(found)
    rows: list[list[Cell]] = []
    before = found.begins_from
    for each in found.rounds:
        change = language(change_of(each, before))
        cells = [Cell(text=str(each.number)), Cell(text=change, tip=change)]
        cells.extend(_figure(found, goal, each, before, language) for goal in found.goals)
        cells.append(_met(each, language))
        rows.append(cells)
        before = each
    return [*rows, *_limits(found, language)]


def _in_percent(found: DesignRounds) -> DesignRounds:
    """With all that is a share in percent."""
    rounds = (replace(each, verdicts=tuple(map(verdict_in_percent, each.verdicts))) for each in found.rounds)
    return replace(found, goals=tuple(map(in_percent, found.goals)), rounds=tuple(rounds))


def _limits(found: DesignRounds, language: LanguageManager) -> Iterator[list[Cell]]:
    """The limits the rounds were checked against: a row for all, else one for each time they were changed."""
    blank = Cell(text="")
    times: list[tuple[list[Cell], list[int]]] = []
    for each in found.rounds:
        asked = {verdict.goal.metric: verdict.goal for verdict in each.verdicts}
        cells = [
            blank
            if (goal := asked.get(column.metric)) is None
            else Cell(
                text=language(shown(limit_text(goal, _digits(found, goal)))),
                color="text.secondary",
                tip=f"{goal.metric} = {goal.expression}",
            )
            for column in found.goals
        ]
        if times and times[-1][0] == cells:
            times[-1][1].append(each.number)
        else:
            times.append((cells, [each.number]))
    for cells, numbers in times:
        first, last = numbers[0], numbers[-1]
        name = msg("Goal") if len(times) == 1 else msg("Goal, round {number}", number=first)
        if first != last:
            name = msg("Goal, rounds {first} to {last}", first=first, last=last) if len(times) > 1 else name
        yield [blank, Cell(text=language(name), color="text.secondary"), *cells, blank]


def _met(each: DesignRound, language: LanguageManager) -> Cell:
    if each.has_failed:
        return Cell(text=language(msg("failed")), color="error.text", tip=language(msg("this round failed")))
    return Cell(text=f"{each.goals_met}/{len(each.verdicts)}")


def _scale(found: DesignRounds, goal: DesignGoal) -> Scale:
    """One for the whole column, so that its numbers can be compared at a glance."""
    values = [abs(verdict.measured.value) for each in found.rounds for verdict in _of(each.verdicts, goal)]
    bounds = [abs(bound) for bound in (goal.minimum, goal.maximum) if bound is not None]
    known = [value for value in (*values, *bounds) if math.isfinite(value)]
    return scale_for(max(known, default=0.0), goal.unit)


def _of(verdicts: Sequence[GoalVerdict], goal: DesignGoal) -> list[GoalVerdict]:
    return [verdict for verdict in verdicts if verdict.goal.metric == goal.metric]


def _digits(found: DesignRounds, goal: DesignGoal) -> int:
    """What it takes to tell each round's value from the limit below them."""
    scale = _scale(found, goal)
    values = [verdict.measured.value for each in found.rounds for verdict in _of(each.verdicts, goal)]
    return max(
        beside_limit(goal, value, lambda each, count: in_scale(each, scale, goal.unit, count))[1]
        for value in values
    )


def _figure(
    found: DesignRounds,
    goal: DesignGoal,
    each: DesignRound,
    before: DesignRound | None,
    language: LanguageManager,
) -> Cell:
    now = next(iter(_of(each.verdicts, goal)), None)
    if now is None or math.isnan(now.measured.value):
        tip = language(NOT_MEASURED) if now is not None else ""
        return Cell(text="—", color="text.tertiary" if now is None else "error.text", tip=tip)
    scale = _scale(found, goal)
    text, digits = beside_limit(
        goal, now.measured.value, lambda value, count: in_scale(value, scale, goal.unit, count)
    )
    color = "text.primary" if now.met else "error.text"
    earlier = next(iter(_of(before.verdicts, goal)), None) if before is not None else None
    tip = language(name_of_judged(now)) if goal.condition else ""
    if earlier is None or math.isnan(earlier.measured.value):
        return Cell(text=text, color=color, tip=tip)
    moved = now.measured.value - earlier.measured.value
    if in_scale(earlier.measured.value, scale, goal.unit, digits) == text.lstrip("<>"):
        return Cell(text=text, color=color, tip=tip)
    gained = goal.excess(earlier.measured.value) - goal.excess(now.measured.value)
    return Cell(
        text=text,
        color=color,
        tip=tip,
        unit=_RISES if moved > 0 else _FALLS,
        unit_color="ok.text" if gained > 0 else "error.text" if gained < 0 else "text.secondary",
    )
