"""Tools for what is asked of a circuit: goals are set in free work too, and measured, never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from application.design.circuit_goals import goals_file, place_in, read_goals
from application.tool_execution.definition import Arguments, Texts, Tool, ToolContext
from application.tool_execution.tools.circuit_choice import chosen_circuit
from application.tool_execution.tools.goal_verdicts import (
    goals_line,
    judged_goals,
    verdict_table,
    verdict_to_details,
)
from application.tool_execution.tools.inspection import run_of
from application.tool_execution.tools.result_source import OF_OTHERS, result_source
from domain.circuit.netlist import Netlist
from domain.design.round_table import asked
from domain.llm.json_repair import Problem, read_json
from domain.llm.tools.effect import ComputedEffect, PathEffect
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure, result_to_plain
from domain.llm.tools.text_files import diff_files
from domain.simulation.goals import DesignGoal
from shared.errors import UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    pass

_MOST = 40
_TEXT = {"type": "string"}
_FIGURE = {"type": "number"}
_GOAL_SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "metric": _TEXT,
            "expression": {**_TEXT, "description": "One number, as for inspect_data."},
            "minimum": _FIGURE,
            "maximum": _FIGURE,
            "target": _FIGURE,
            "tolerance": {**_FIGURE, "description": "Share of target; for dB and deg in that unit."},
            "unit": {**_TEXT, "description": "Hz, V, A, s, dB, deg, 1; figures in SI."},
            "priority": {**_TEXT, "enum": ["must", "wish"]},
            "condition": _TEXT,
            "words": {**_TEXT, "description": "The user's own words."},
        },
        "required": ["metric", "expression"],
    },
}


def _from_text(value: object) -> object:
    """JSON text is understood too; what it holds is checked goal by goal."""
    found = read_json(value) if isinstance(value, str) else value
    return value if isinstance(found, Problem) else found


class SetGoalsArguments(Arguments):
    """Arguments of set_goals."""

    path: str | None = Field(None, description="Omit for the only circuit.")
    goals: Annotated[Any, BeforeValidator(_from_text), WithJsonSchema(_GOAL_SCHEMA)] = Field(
        default_factory=list,
        description="Goals to add, or to replace by metric. Others stay.",
    )
    remove: Texts = Field(
        default_factory=list, max_length=_MOST, description="Metrics to remove first; * = all."
    )


class CheckGoalsArguments(Arguments):
    """Arguments of check_goals."""

    path: str | None = Field(None, description="Omit for the only circuit.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What a circuit's file of goals is to hold."""

    circuit: Path
    name: str
    file: str
    """Relative to the project."""
    before: bytes | None
    content: bytes
    goals: tuple[DesignGoal, ...]
    is_change: bool


async def set_goals(arguments: SetGoalsArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    """Change what is asked of a circuit: one operation on its file of goals."""
    plan = await _planned(arguments, context)
    if isinstance(plan, ToolResult):
        return plan
    details = {
        "file_path": plan.name,
        "goals": [
            {
                "metric": goal.metric,
                "expression": goal.expression,
                "asked": asked(goal),
                "priority": goal.weight,
            }
            for goal in plan.goals
        ],
    }
    lines = [
        f"- {goal.metric} ({goal.weight}): {goal.expression} {asked(goal, 6)}"
        + (f", {goal.condition}" if goal.condition else "")
        for goal in plan.goals
    ]
    result = ToolResult(
        success=True,
        content="\n".join(
            [f"Goals of {plan.name} now:", *(lines or ["(none)"]), "check_goals measures them."]
        ),
        summary=msg("{path} has {count} {count:goal|goals} now.", path=plan.name, count=len(plan.goals)),
        result=details,
    )
    if plan.is_change:
        from application.tool_execution.effects import hash_of

        await context.operations.change_file(
            op_id=call.call_id,
            session_id=context.session_id,
            tool=call.name,
            path=Path(plan.file),
            content=plan.content,
            expected_sha256=hash_of(plan.before),
            result=result_to_plain(result),
        )
    return result


async def preview_set_goals(arguments: SetGoalsArguments, context: ToolContext) -> ComputedEffect:
    """What set_goals would do. Raises UserInputError as it would."""
    plan = await _planned(arguments, context)
    if isinstance(plan, ToolResult):  # it will be refused: nothing to ask about
        return ComputedEffect(effect="change")
    from application.tool_execution.effects import hash_of

    diff = diff_files(plan.before, plan.content, path=plan.file)
    path = PathEffect(
        path=plan.file,
        bytes_before=None if plan.before is None else len(plan.before),
        bytes_after=len(plan.content),
        lines_lost=diff.removed,
        lines_added=diff.added,
        version="" if plan.before is None else hash_of(plan.before),
        diff=diff.text,
    )
    return ComputedEffect(effect="create" if plan.before is None else "change", paths=(path,), files=1)


async def _planned(arguments: SetGoalsArguments, context: ToolContext) -> _Plan | ToolResult:
    from domain.design.goal_extraction import read_goals as checked

    circuit = await chosen_circuit(context, arguments.path)
    goals, problems = checked(arguments.goals)
    if not problems and (bare := [each for each in goals if each.expression.isidentifier()]):
        problems = await off_loop(_not_measured, context, circuit, bare)
    if problems or not (goals or arguments.remove):
        return failure(
            "bad_goals",
            msg("These goals cannot be set; nothing was changed."),
            detail="\n".join(problems) or "Give goals, or remove.",
            suggestions=(msg("Fix what is wrong and send all of them again."),),
        )
    return await off_loop(_plan, context, circuit, goals, tuple(arguments.remove))


def _not_measured(context: ToolContext, circuit: Path, goals: Sequence[DesignGoal]) -> tuple[str, ...]:
    """What is wrong with goals of a name alone that no `.meas` card of the circuit has."""
    with context.view.open(circuit) as file:
        netlist = Netlist.parse(file.read(), path=circuit)
    if netlist.includes:  # which may hold the card
        return ()
    names = {measure.name for measure in netlist.measures}
    return tuple(
        f"Goal {each.metric!r}: no .meas card of the circuit is called {each.expression}. Write what is "
        "measured, and of what, such as bandwidth(v(out)) or thd(v(out))."
        for each in goals
        if each.expression.lower() not in names
    )


def _plan(
    context: ToolContext, circuit: Path, goals: Sequence[DesignGoal], remove: Sequence[str]
) -> _Plan | ToolResult:
    project = context.project
    present = read_goals(project, place_in(project.root, circuit)).goals
    gone = {name.strip().lower() for name in remove}
    unknown = gone - {goal.metric.lower() for goal in present} - {"*"}
    if unknown:
        has = ", ".join(goal.metric for goal in present) or "none"
        raise UserInputError(
            msg("There is no goal {name}; the circuit has: {names}.", name=sorted(unknown)[0], names=has),
            advice=msg("Remove goals by their metric, or all of them with *."),
            error_type="bad_arguments",
        )
    new = {goal.metric.lower(): goal for goal in goals}
    kept = [goal for goal in present if not gone & {"*", goal.metric.lower()}]
    wanted = [new.pop(goal.metric.lower(), goal) for goal in kept]
    wanted += [goal for goal in goals if goal.metric.lower() in new]
    if len(wanted) > _MOST:
        raise UserInputError(
            msg("A circuit can have {count} goals at most.", count=_MOST),
            advice=msg("Remove some of them."),
            error_type="bad_arguments",
        )
    before, content = goals_file(project, circuit, wanted)
    file = project.goals.path_of(place_in(project.root, circuit))
    return _Plan(
        circuit=circuit,
        name=context.view.name_of(circuit),
        file=file.relative_to(project.root).as_posix(),
        before=before,
        content=content,
        goals=tuple(wanted),
        is_change=tuple(wanted) != present,
    )


async def check_goals(arguments: CheckGoalsArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    """The circuit's goals held against its newest result."""
    circuit = await chosen_circuit(context, arguments.path)
    name = context.view.name_of(circuit)
    if not await off_loop(lambda: read_goals(context.project, place_in(context.project.root, circuit)).goals):
        return ToolResult(
            success=True,
            content=f"Nothing is asked of {name}: it has no goals. set_goals sets them.",
            summary=msg("{path} has no goals.", path=name),
            result={"file_path": name, "goals": []},
        )
    source = await result_source(context, name)
    run = await off_loop(run_of, context, source.path)
    found = await judged_goals(context, circuit, source.path, run["parameters"] or {}, run["analysis"] or "")
    warnings = []
    if source.is_stale:
        warnings.append(
            "The circuit was changed since this result: run_simulation gives its present figures."
        )
    if source.origin == "elsewhere":
        warnings.append(f"This result was {OF_OTHERS}.")
    if run["parameters"] or run["analysis"]:
        warnings.append(
            "This run had values or an analysis of its own, not those of the file: "
            "run_simulation without them judges the file."
        )
    judged = [each for each in found if each.is_judged]
    met = sum(each.verdict.met for each in judged)
    lines = [f"{name}, result {source.name}", goals_line(found), verdict_table(found), *warnings]
    return ToolResult(
        success=True,
        content="\n".join(lines),
        summary=msg(
            "{met} of {count} {count:goal|goals} of {path} met.", met=met, count=len(judged), path=name
        )
        if judged
        else msg("The newest run of {path} cannot judge its goals.", path=name),
        result={
            "file_path": name,
            "result_path": source.name,
            "is_stale": source.is_stale,
            "origin": source.origin,
            "goals": [verdict_to_details(each) for each in found],
        },
    )


SET_GOALS = Tool(
    name="set_goals",
    title=msg("Set goals"),
    look=ToolLook(running=msg("Setting the goals"), done=msg("Set the goals"), icon="target", card="change"),
    groups=frozenset({"goals"}),
    description=(
        "Set what a circuit must do, as goals that every simulation is judged by. Use it when the user "
        "states or changes a requirement, never to make a missed goal look met. "
        'Example: {"goals": [{"metric": "cutoff", "expression": "bandwidth(v(out))", "target": 10000, '
        '"tolerance": 0.02, "unit": "Hz", "words": "10 kHz corner"}]}'
    ),
    category="simulation",
    effect="change",
    arguments=SetGoalsArguments,
    run=set_goals,
    preview=preview_set_goals,
)
CHECK_GOALS = Tool(
    name="check_goals",
    title=msg("Check goals"),
    look=ToolLook(
        running=msg("Checking the goals"), done=msg("Checked the goals"), icon="target", card="plain"
    ),
    groups=frozenset({"verdict"}),
    description=(
        "Measure a circuit's goals on its newest result: value, limit, margin and verdict of each. "
        'Example: {"path": "amp.cir"}'
    ),
    category="simulation",
    effect="read",
    arguments=CheckGoalsArguments,
    run=check_goals,
)
