"""What tools say of a circuit's goals beside a result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.design.circuit_goals import place_in, read_goals
from domain.design.round_table import asked, signed, value_beside_limit
from domain.simulation.goal_conditions import distinct_settings, is_set_by, judged_in_words
from domain.simulation.goals import GoalVerdict
from domain.simulation.result import Quantity
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.goal_checks.case_runs import CaseRun
    from application.simulation.judging import JudgedGoal
    from application.simulation.simulating import SimulationRequest
    from application.tool_execution.definition import ToolContext

_DIGITS = 5
_LONGEST_REASON = 160
_MOST_NAMED = 3
_ASK = (
    "Where the user's newest wish contradicts a goal that is missed, tell them so and ask whether the goal "
    "follows; it changes only on their word."
)
_NO_CELL = str.maketrans("|\r\n", "/  ")


async def judged_goals(
    context: ToolContext, circuit: Path, result: Path, parameters: Mapping[str, str], analysis: str = ""
) -> tuple[JudgedGoal, ...]:
    """The circuit's goals held against a stored result; () when nothing is asked of it.

    `parameters`: the values its run had; with any, it judges the goals that have to hold with just these.
    `analysis`: the card it had in place of the circuit's own.
    """
    place = place_in(context.project.root, circuit)
    goals = (await off_loop(read_goals, context.project, place)).goals
    if not goals:
        return ()
    from application.simulation.judging import judge, lacking_corners

    asked = (settings for settings in distinct_settings(goals) if is_set_by(settings, parameters))
    own = next(asked, tuple((name, str(value)) for name, value in parameters.items()))
    lacking = await lacking_corners(context.services.simulate, circuit, goals)
    return await judge(context.services.measure, result, goals, lacking=lacking, own=own, analysis=analysis)


async def cases_told(context: ToolContext, request: SimulationRequest) -> list[str]:
    """A line for each case that is kept with the circuit, which is simulated for it."""
    place = place_in(context.project.root, request.circuit)
    run = context.services.run_cases
    if run is None or not (await off_loop(read_goals, context.project, place)).cases:
        return []
    try:
        found = await run(context.project.root, request)
    except CircuitAIError as error:
        return [f"Kept cases not judged: {error.message}"]
    return [_case_line(each) for each in found]


def _case_line(run: CaseRun) -> str:
    """``Case hot (temp = 125 °C): 1 of 2 met; MISSED gain = 18.2 dB (≥ 19.5 dB)``."""
    head = f"Case {run.case.name} ({run.case.conditions})"
    if run.problem is not None:
        return f"{head}: not judged: {str(run.problem)[:_LONGEST_REASON]}"
    from application.simulation.judging import JudgedGoal

    missed = [
        JudgedGoal(
            verdict=GoalVerdict(
                goal=each.goal, measured=Quantity(value=each.value, unit=each.goal.unit), met=False
            )
        )
        for each in run.missed
    ]
    told = "".join(f"; {_brief(each)}" for each in missed)
    return f"{head}: {len(run.judged) - len(missed)} of {len(run.judged)} met{told}"


def goals_line(found: Sequence[JudgedGoal]) -> str:
    """All verdicts in a line: ``Goals (1 of 2 met): MISSED cutoff = 999.97 Hz (≥ 1 kHz); met ...``."""
    judged = [each for each in found if each.is_judged]
    met = sum(each.verdict.met for each in judged)
    others = f", {len(found) - len(judged)} not judged" if len(judged) < len(found) else ""
    line = f"Goals ({met} of {len(judged)} met{others}): " + "; ".join(map(_brief, found))
    return line if met == len(judged) else f"{line}\n{_ASK}"


def with_goals_told(run: Message, found: Sequence[JudgedGoal]) -> Message:
    """What is told of a run, with how many goals it meets, what those it misses come to, and how many it
    cannot judge."""
    judged = [each for each in found if each.is_judged]
    missed = [each for each in judged if not each.verdict.met]
    told = run
    if judged:
        met, count = len(judged) - len(missed), len(judged)
        told = msg("{run} {met} of {count} {count:goal|goals} met.", run=run, met=met, count=count)
    if missed:
        named = "; ".join(map(_missed, missed[:_MOST_NAMED])) + ("; …" if len(missed) > _MOST_NAMED else "")
        told = msg("{told} Missed: {goals}.", told=told, goals=named)
    if others := len(found) - len(judged):
        told = msg("{told} {count} {count:goal|goals} cannot be judged by this run.", told=told, count=others)
    return told


def _missed(judged: JudgedGoal) -> str:
    """``gain = 29.55 dB (15 dB … 25 dB)``."""
    goal, measured = judged.verdict.goal, judged.verdict.measured
    value, digits = value_beside_limit(goal, measured, _DIGITS)
    limit = asked(replace(goal, target=None), digits, measured.unit)
    return f"{goal.metric} ({limit})" if math.isnan(measured.value) else f"{goal.metric} = {value} ({limit})"


def verdict_lines(found: Sequence[JudgedGoal]) -> list[str]:
    """A line for each goal, with its margin."""
    lines = []
    for each in found:
        share = each.verdict.goal.margin(each.verdict.measured.value)
        margin = "" if share is None else f", margin {signed(100 * share, '%', 3)}"
        lines.append(f"- {_brief(each)}{margin}")
    return lines


def verdict_table(found: Sequence[JudgedGoal]) -> str:
    """A row for each goal, with its margin and what it is measured by."""
    head = "| goal | measured by | asked | value | margin | verdict |\n|---|---|---|---|---|---|"
    return "\n".join([head, *(f"| {' | '.join(_cells(each))} |" for each in found)])


def verdict_to_details(judged: JudgedGoal) -> dict[str, Any]:
    """A verdict in plain JSON types."""
    goal, measured = judged.verdict.goal, judged.verdict.measured
    details: dict[str, Any] = {
        "metric": goal.metric,
        "value": measured.value if math.isfinite(measured.value) else None,
        "unit": measured.unit or goal.unit,
        "minimum": goal.minimum,
        "maximum": goal.maximum,
        "priority": goal.weight,
        "met": judged.verdict.met if judged.is_judged else None,
    }
    if goal.condition:
        details["condition"] = goal.condition
    details |= {
        key: value
        for key, value in (
            ("judged_at", judged.verdict.judged_at),
            ("lacking_corners", judged.verdict.lacking),
        )
        if value
    }
    if judged.reason is not None:
        details["reason"] = str(judged.reason)[:_LONGEST_REASON]
    return details


def _texts(judged: JudgedGoal) -> tuple[str, str]:
    """Value and limit, with the digits that tell them apart."""
    goal, measured = judged.verdict.goal, judged.verdict.measured
    value, digits = value_beside_limit(goal, measured, _DIGITS)
    limit = asked(goal, digits, measured.unit)
    return (
        value,
        f"{limit}, {goal.condition}{judged_in_words(goal, judged.verdict)}" if goal.condition else limit,
    )


def _brief(judged: JudgedGoal) -> str:
    value, limit = _texts(judged)
    goal = judged.verdict.goal
    wish = " wish" if goal.weight == "wish" else ""
    if judged.reason is not None and (goal.condition or not judged.is_judged):
        return f"not judged{wish} {goal.metric} ({limit}): {str(judged.reason)[:_LONGEST_REASON]}"
    told = f"{'met' if judged.verdict.met else 'MISSED'}{wish} {goal.metric} = {value} ({limit})"
    return told if judged.reason is None else f"{told}: {str(judged.reason)[:_LONGEST_REASON]}"


def _cells(judged: JudgedGoal) -> tuple[str, ...]:
    goal, measured = judged.verdict.goal, judged.verdict.measured
    value, limit = _texts(judged)
    share = goal.margin(measured.value)
    verdict = "met" if judged.verdict.met else "MISSED"
    if judged.reason is not None:
        verdict = (
            f"not {'measured' if judged.is_judged else 'judged'}: {str(judged.reason)[:_LONGEST_REASON]}"
        )
    name = f"{goal.metric} (wish)" if goal.weight == "wish" else goal.metric
    margin = "-" if share is None else signed(100 * share, "%", 3)
    return tuple(cell.translate(_NO_CELL) for cell in (name, goal.expression, limit, value, margin, verdict))
