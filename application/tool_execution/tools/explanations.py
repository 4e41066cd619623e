"""What a tool tells of one goal: what each value of the circuit does to it, or which edit lost it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

from application.design.circuit_goals import place_in, read_goals
from domain.llm.tools.result import ToolResult
from domain.simulation.goals import DesignGoal
from domain.studies.influence import NEGLIGIBLE, placed_values
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.tool_execution.definition import ToolContext
    from application.tool_execution.tools.study_arguments import StudyArguments
    from domain.studies.influence import Influences, PlacedValue

_METRIC = re.compile(r"[\s<>=]")
"""Where the name of a metric ends in ``fc >= 1k``."""
_MOST_TOLD = 30
_MOST_BYTES = 20_000_000


async def explained(arguments: StudyArguments, circuit: Path, context: ToolContext) -> ToolResult:
    """Runs of the circuit that nobody keeps; no file is changed. Raises UserInputError, CircuitError."""
    goal = await off_loop(_goal, context, circuit, arguments)
    if arguments.kind == "since_when":
        return await _since_when(context, circuit, goal)
    return await _influence(context, circuit, goal)


def _goal(context: ToolContext, circuit: Path, arguments: StudyArguments) -> DesignGoal:
    """The one that is meant. Raises UserInputError ("no_goal") with those there are."""
    place = place_in(context.project.root, circuit)
    goals = [goal for goal in read_goals(context.project, place).goals if not goal.condition]
    expressions = list(arguments.measure.items())
    if expressions and arguments.kind == "influence":
        return DesignGoal(metric=expressions[0][0], expression=str(expressions[0][1]), unit="")
    asked = list(arguments.goals)
    named = _METRIC.split(str(asked[0]).strip())[0] if asked else ""
    found = next((each for each in goals if not named or each.metric.lower() == named.lower()), None)
    if found is not None:
        return found
    if not goals:
        raise UserInputError(
            msg("{path} has no goals.", path=context.view.name_of(circuit)),
            advice=msg("set_goals sets them; of an expression, influence takes it as measure."),
            file=circuit,
            error_type="no_goal",
        )
    names = ", ".join(each.metric for each in goals)
    raise UserInputError(
        msg("{path} has no goal {name}; it has: {names}.",
            path=context.view.name_of(circuit), name=named or "-", names=names),
        advice=msg("Name one of them."),
        file=circuit,
        error_type="no_goal",
    )  # fmt: skip


async def _influence(context: ToolContext, circuit: Path, goal: DesignGoal) -> ToolResult:
    from application.optimization.influencing import InfluenceRequest

    values = await off_loop(_values, context, circuit)
    found = await context.services.influence(InfluenceRequest(circuit=circuit, goal=goal, values=values))
    name = context.view.name_of(circuit)
    ordered = sorted(found.found, key=lambda each: -abs(each.percent) if math.isfinite(each.percent) else 0.0)
    strong = [each for each in ordered if abs(each.percent) >= NEGLIGIBLE * found.strongest and each.percent]
    lines = [f"{name}: {goal.metric} in % for +1 % of each value ({found.runs} runs), the strongest first"]
    lines += [f"line {each.line} {each.name}: {each.percent:+.3g} %" for each in strong[:_MOST_TOLD]]
    if len(strong) > _MOST_TOLD:
        lines.append(f"and {len(strong) - _MOST_TOLD} weaker ones")
    if rest := len(found.found) - len(strong):
        lines.append(
            f"{rest} of {len(found.found)} values do not matter (below a thousandth of the strongest)"
        )
    if found.left_out:
        lines.append(f"{found.left_out} more values would take too long")
    return ToolResult(
        success=True,
        content="\n".join(lines),
        summary=_summary(goal, strong[0].name if strong else "", found),
        result={
            "file_path": name,
            "metric": goal.metric,
            "runs": found.runs,
            "left_out": found.left_out,
            "influences": [
                {"name": each.name, "line": each.line, "percent": _plain(each.percent)} for each in ordered
            ],
        },
    )


def _summary(goal: DesignGoal, name: str, found: Influences) -> Message:
    if not name:
        return msg("None of {count} values moves {metric}.", count=len(found.found), metric=goal.metric)
    return msg("{metric} depends most on {name}.", metric=goal.metric, name=name)


def _values(context: ToolContext, circuit: Path) -> tuple[PlacedValue, ...]:
    with context.view.open(circuit) as file:
        return placed_values(file.read(_MOST_BYTES))


async def _since_when(context: ToolContext, circuit: Path, goal: DesignGoal) -> ToolResult:
    culprit = await context.services.since_when(context.project.root, circuit, goal)
    edit = culprit.edit
    file = culprit.place
    who = f"operation {edit.op_id} ({edit.tool})" if edit.op_id else "an edit by hand"
    lines = [
        f"{goal.metric} is missed since {who}{f' of {edit.created[:16]}' if edit.created else ''}: "
        f"{file}:{culprit.line}",
        f"- {culprit.was}",
        f"+ {culprit.became}",
        f"{goal.metric}: {culprit.value_before:.6g} before, {culprit.value_after:.6g} after "
        f"({culprit.runs} runs, {culprit.states} states known). To undo only this edit, patch its lines.",
    ]
    return ToolResult(
        success=True,
        content="\n".join(lines),
        summary=msg("{metric} was lost by line {line} of {path}.",
                    metric=goal.metric, line=culprit.line, path=file),
        result={
            "file_path": file,
            "line": culprit.line,
            "operation": edit.op_id or None,
            "tool": edit.tool or None,
            "created": edit.created or None,
            "was": culprit.was,
            "became": culprit.became,
            "metric": goal.metric,
            "value_before": _plain(culprit.value_before),
            "value_after": _plain(culprit.value_after),
            "runs": culprit.runs,
            "states": culprit.states,
        },
    )  # fmt: skip


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
