"""What is measured of a run and can be wanted elsewhere: figures, those of one step, goals of a condition.

Pure. A figure is measured again on the circuit with just what the run had beside the file's values and at its
process corner; where that cannot be set (steps nobody wrote down) it is not offered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from domain.circuit.numbers import format_number, parse_number
from domain.circuit.process_corners import corner_of
from domain.simulation.goal_conditions import CORNER, is_set_by, runs_of
from presentation.goal_words import name_of
from presentation.panels.waveforms.pull_points import Quantity
from shared.message import Message, msg

if TYPE_CHECKING:
    from domain.simulation.goals import DesignGoal
    from domain.simulation.result import Quantity as Figure
    from domain.simulation.waveform import Step
    from presentation.panels.waveforms.shown_result import Measured
    from presentation.panels.waveforms.step_figures import StepFigure

_DIGITS = 4


def of_the_run(
    measurements: Sequence[Measured], settings: Mapping[str, str], step: Step | None
) -> Iterator[Quantity]:
    """The figures of a run that had `settings`, of a stepped one those of one step."""
    conditions = _conditions(settings)
    if conditions is None:
        return
    base, corner = conditions
    for each in measurements:
        if each.goal is not None and each.goal.condition and not each.is_judged:
            continue  # it is wanted in its condition, which is another one
        own: dict[str, float] = {}
        is_first, value, steps = False, each.value, each.steps or each.goal_steps
        if steps:
            if step is None or not step.values:
                continue
            own, is_first = dict(step.values), step.number == 1
            value = _of_step(steps, own)
        if value is None or not math.isfinite(value.value):
            continue
        at = {**base, **own}
        goal = each.goal if each.is_judged and (is_first or not steps) else None
        yield Quantity(
            name=_named(name_of(each.goal) if each.goal is not None else each.shown_name, at, corner),
            expression=_expression(each),
            value=value.value,
            unit=value.unit,
            goal=goal,
            at=at,
            corner=corner,
            is_of_run=not settings,
            is_first=is_first and not settings,
        )


def in_conditions(goals: Sequence[DesignGoal], settings: Mapping[str, str]) -> Iterator[Quantity]:
    """The goals of other conditions than the shown run's, once for each run that a condition asks for."""
    for goal in goals:
        runs = runs_of(goal) or ()
        for asked in runs:
            conditions = _conditions(dict(asked))
            if asked and conditions is not None and not is_set_by(asked, settings):
                at, corner = conditions
                yield Quantity(
                    name=name_of(goal) if len(runs) == 1 else _named(name_of(goal), at, corner),
                    expression=goal.expression or goal.metric,
                    value=math.nan,
                    unit=goal.unit,
                    goal=goal,
                    at=at,
                    corner=corner,
                    is_of_run=False,
                )


def figure_of(measurements: Sequence[Measured], quantity: Quantity) -> float | None:
    """What a run of the circuit as written has of a quantity, NaN for nothing; None: not measured yet."""
    found = next((each for each in measurements if _expression(each) == quantity.expression), None)
    if found is None:
        return None
    steps = found.steps or found.goal_steps
    value = _of_step(steps, quantity.at) if steps else found.value
    return math.nan if value is None else value.value


def goals_beside(goals: Sequence[DesignGoal], quantity: Quantity) -> list[DesignGoal]:
    """The other goals that hold where a quantity is measured."""
    at = {} if quantity.is_first else {name: repr(value) for name, value in quantity.at.items()}
    if quantity.corner:
        at[CORNER] = quantity.corner
    return [
        goal
        for goal in goals
        if goal != quantity.goal and any(is_set_by(asked, at) for asked in runs_of(goal) or ())
    ]


def wanted_of(quantity: Quantity) -> float:
    """What is first proposed: where it is, else what its goal asks for."""
    goal = quantity.goal
    if math.isfinite(quantity.value) or goal is None:
        return quantity.value
    known = [bound for bound in (goal.minimum, goal.maximum) if bound is not None]
    if goal.target is not None or not known:
        return math.nan if goal.target is None else goal.target
    return sum(known) / len(known)


def _expression(measured: Measured) -> str:
    # A `.meas` that answers a goal of its name measures what the goal does, and says not where on the curve.
    of_goal = measured.goal.expression if measured.goal is not None else ""
    return measured.expression or of_goal or measured.shown_name.lower()


def _of_step(steps: Sequence[StepFigure], values: Mapping[str, float]) -> Figure | None:
    return next((each.value for each in steps if each.values == values), None)


def _conditions(settings: Mapping[str, str]) -> tuple[dict[str, float], str] | None:
    """The values and the process corner of a run; None where one of them is neither."""
    values, corner = dict[str, float](), ""
    for name, text in settings.items():
        try:
            values[name] = parse_number(text)
        except ValueError:
            if name.lower() != CORNER or not corner_of(text):
                return None
            corner = text
    return values, corner


def _named(name: Message | str, at: Mapping[str, float], corner: str) -> Message | str:
    where = [f"{each} = {format_number(value, _DIGITS)}" for each, value in at.items()]
    if corner:
        where.insert(0, corner)
    return msg("{name} at {where}", name=name, where=", ".join(where)) if where else name
