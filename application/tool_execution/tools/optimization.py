"""The tool that searches for the values of a circuit that meet its goals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from application.tool_execution.definition import Number, Texts, Tool, ToolContext, Whole
from application.tool_execution.tools.circuit_choice import chosen_circuit
from application.tool_execution.tools.simulation import analysis_card
from application.tool_execution.tools.study_answers import plain_figures
from application.tool_execution.tools.study_arguments import Ranges, StudyArguments
from domain.design.round_table import asked, value_beside_limit
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure, failure_of, result_to_plain
from domain.studies.study_spec import read_study_spec
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from domain.studies.optimization import OptimizationResult

_HISTORY = 10


class OptimizeArguments(StudyArguments):
    """Arguments of optimize_parameters."""

    parameters: Ranges = Field(
        min_length=1,
        description='What may be changed: [{"name": "R1", "min": "1k", "max": "100k", "scale": "E24"}]; '
        'scale is lin, log or an E-series, "step" a grid, "values" a list of the only values. Names: R1, '
        "m1.w, a .param.",
    )
    minimize: Texts = Field(
        default_factory=list,
        description="Metrics or expressions to make as small as the goals allow. Without any, and without "
        "maximize, the search ends when the goals are met.",
    )
    maximize: Texts = Field(default_factory=list, description="The same, to make as large.")
    budget: Whole = Field(500, ge=1, le=100_000, description="Simulations at most.")
    time_limit_s: Number = Field(300.0, gt=0, le=3600, description="Seconds at most.")
    seed: Whole = Field(1, ge=0, description="The same seed gives the same search.")


async def optimize_parameters(
    arguments: OptimizeArguments, context: ToolContext, call: ToolCall
) -> ToolResult:
    """Search for values; the file is not changed."""
    from application.optimization.optimizing import OptimizeRequest

    circuit = await chosen_circuit(context, arguments.file_path)
    card = await analysis_card(arguments, context, circuit)
    request = OptimizeRequest(
        circuit=circuit,
        spec=read_study_spec({
            "parameters": arguments.parameters,
            "minimize": arguments.minimize or None,
            "maximize": arguments.maximize or None,
            "budget": arguments.budget,
            "time_limit": arguments.time_limit_s,
            "seed": arguments.seed,
            "analysis": card,
            "measure": arguments.measure or None,
            "goals": arguments.goals,
            "set": arguments.fixed_values,
            "timeout": arguments.timeout_s,
        }),
        call_id=call.call_id,
    )  # fmt: skip
    operations = context.operations
    await operations.begin_simulation(op_id=call.call_id, session_id=context.session_id, tool=call.name)
    try:
        result = await context.services.optimize(request)
    except CircuitAIError as error:
        refused = failure_of(error)
        await operations.finish(call.call_id, result_to_plain(refused))
        return refused
    answer = _answer(result, context)
    await operations.finish(call.call_id, result_to_plain(answer))
    return answer


def _answer(result: OptimizationResult, context: ToolContext) -> ToolResult:
    from application.optimization.documents import optimization_document

    view = context.view
    details: dict[str, Any] = plain_figures(optimization_document(result))
    details["history"] = details["history"][-_HISTORY:]
    details["file_path"] = view.name_of(result.circuit)
    details["result_path"] = view.name_of(result.result_path)
    details["rows_path"] = view.name_of(result.result_path.with_name("rows.csv"))
    details["raw_path"] = view.name_of(result.raw_paths[0]) if result.raw_paths else None
    for error in details["errors"]:
        error["file"] = None if error["file"] is None else view.name_of(error["file"])
    best = result.best
    if best is None:
        reasons = [row.reason for row in result.rows if row.reason is not None]
        return failure(
            "simulation_failed",
            msg("Every run of {path} failed: {reason}", path=details["file_path"],
                reason=reasons[0] if reasons else msg("no reason was given")),
            result=details,
        )  # fmt: skip
    values = ", ".join(f"{name} = {text}" for name, text in best.texts.items())
    return ToolResult(
        success=True,
        content=_content(result, details),
        summary=msg("Goals met with {values}", values=values)
        if result.goals_met is not False
        else msg("Goals not met; the best is {values}", values=values),
        result=details,
    )


def _content(result: OptimizationResult, details: dict[str, Any]) -> str:
    best = result.best
    assert best is not None
    statistics = details["statistics"]
    lines = [
        f"{details['file_path']}: {statistics['simulations']} simulations, {statistics['failed']} failed, "
        f"ended: {result.end}. The file is not changed.",
        "best values: " + ", ".join(f"{name}={text}" for name, text in best.texts.items()),
        f"proved by a run of its own: {'yes' if best.is_verified else 'no'}",
    ]
    judged = set()
    for verdict in best.verdicts:
        goal = verdict.goal
        judged.add(goal.metric)
        value, digits = value_beside_limit(goal, verdict.measured, 6)
        mark = "met" if verdict.met else "MISSED"
        lines.append(f"{mark} ({goal.weight}): {goal.metric} = {value} "
                     f"(goal {asked(goal, digits, verdict.measured.unit)})")  # fmt: skip
    lines += [f"{name} = {value:.6g}" for name, value in best.metrics.items() if name not in judged]
    lines += [f"warning: {item['message']}" for item in details["warnings"][:5]]
    lines.append("To use the values, write them into the file with patch_file.")
    return "\n".join(lines)


OPTIMIZE_PARAMETERS = Tool(
    name="optimize_parameters",
    title=msg("Optimize values"),
    look=ToolLook(running=msg("Optimizing"), done=msg("Optimized"), icon="target", card="plain"),
    groups=frozenset({"study"}),
    description="Search for the values of a circuit that meet goals, and minimise or maximise metrics, by "
    "many simulations; E-series and lists are respected and the best point is proved by a run of its own. "
    "The file is not changed: write the values with patch_file afterwards. "
    'Example: {"parameters": [{"name": "R1", "min": "1k", "max": "100k", "scale": "E24"}], '
    '"measure": {"bw": "bandwidth(v(out))"}, "goals": ["bw >= 1Meg", "bw <= 1.1Meg"]}',
    category="simulation",
    effect="simulate",
    arguments=OptimizeArguments,
    run=optimize_parameters,
    timeout_s=None,
)
