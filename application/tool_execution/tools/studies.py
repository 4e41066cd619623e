"""The tool that simulates a circuit many times: sweep, Monte Carlo, corners, worst case, sensitivity, and
the search for values that meet its goals."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.tool_execution.definition import Tool, ToolContext
from application.tool_execution.tools._common import locked_failure, said_of_files
from application.tool_execution.tools.circuit_choice import chosen_circuit
from application.tool_execution.tools.simulation import analysis_card
from application.tool_execution.tools.study_answers import plain_figures, study_answer
from application.tool_execution.tools.study_arguments import Kind, StudyArguments
from domain.design.locked_elements import locked_elements
from domain.design.round_table import asked, value_beside_limit
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure, failure_of, result_to_plain
from domain.studies.robustness import Robustness
from domain.studies.study_spec import StudyKind, StudySpec, read_study_spec
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from domain.studies.optimization import OptimizationResult

_HISTORY = 10
_USUAL_SAMPLES = 200
_USUAL_BUDGET = 500
_STUDIES: dict[Kind, StudyKind] = {
    "sweep": "sweep",
    "monte_carlo": "montecarlo",
    "corners": "corners",
    "worst_case": "worst-case",
    "sensitivity": "sensitivity",
}


async def run_study(arguments: StudyArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    """Many runs of a circuit; the file is not changed."""
    circuit = await chosen_circuit(context, arguments.path)
    if arguments.kind == "optimize":
        names = [str(each.get("name", "")).partition(".")[0] for each in arguments.parameters]
        name = context.view.name_of(circuit)
        if locked := locked_elements((await said_of_files(context))(name), names):
            return locked_failure(locked, name)
    spec = read_study_spec({
        "analysis": await analysis_card(arguments, context, circuit),
        "measure": arguments.measure or None,
        "goals": arguments.goals,
        "set": arguments.set,
        "timeout": arguments.timeout_s,
        **_of_kind(arguments),
    })  # fmt: skip
    operations = context.operations
    run = _search if arguments.kind == "optimize" else _study
    await operations.begin_simulation(op_id=call.call_id, session_id=context.session_id, tool=call.name)
    kept: list[ToolResult] = []
    try:
        answer = await run(arguments.kind, circuit, spec, context, call, kept=kept)
    except CircuitAIError as error:
        answer = failure_of(error)
    except asyncio.CancelledError:
        if kept:
            await operations.finish(call.call_id, result_to_plain(kept[0]))
        raise
    await operations.finish(call.call_id, result_to_plain(answer))
    return answer


def _of_kind(arguments: StudyArguments) -> dict[str, Any]:
    """What the document of a study of this kind has besides what all have."""
    parameters = arguments.parameters
    match arguments.kind:
        case "sweep":
            return {"parameters": parameters}
        case "monte_carlo":
            return {
                "parameters": parameters,
                "runs": arguments.runs or _USUAL_SAMPLES,
                "seed": arguments.seed,
                "yield_target": arguments.yield_target,
            }
        case "corners":
            return {"corners": arguments.corners} if arguments.corners else {}
        case "worst_case":
            return {"parameters": parameters, "method": arguments.method}
        case "sensitivity":
            return {"parameters": parameters, "perturbation": arguments.perturbation}
        case "optimize":
            return {
                "parameters": parameters,
                "minimize": arguments.minimize or None,
                "maximize": arguments.maximize or None,
                "budget": arguments.runs or _USUAL_BUDGET,
                "time_limit": arguments.time_limit_s,
                "seed": arguments.seed,
            }


async def _study(
    kind: Kind,
    circuit: Path,
    spec: StudySpec,
    context: ToolContext,
    call: ToolCall,
    *,
    kept: list[ToolResult],
) -> ToolResult:
    """`kept` gets the answer about what was done, when it is stopped."""
    from application.studies.studying import StudyRequest

    request = StudyRequest(circuit=circuit, kind=_STUDIES[kind], spec=spec, call_id=call.call_id)
    result = await context.services.study(
        request, on_stopped=lambda partial: kept.append(study_answer(partial, context))
    )
    return study_answer(result, context)


async def _search(
    _kind: Kind,
    circuit: Path,
    spec: StudySpec,
    context: ToolContext,
    call: ToolCall,
    *,
    kept: list[ToolResult],
) -> ToolResult:
    from application.optimization.optimizing import OptimizeRequest

    request = OptimizeRequest(circuit=circuit, spec=spec, call_id=call.call_id)
    result = await context.services.optimize(
        request, on_stopped=lambda partial: kept.append(_search_answer(partial, context))
    )
    return _search_answer(result, context)


def _search_answer(result: OptimizationResult, context: ToolContext) -> ToolResult:
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
        content=_search_content(result, details),
        summary=msg("Goals met with {values}", values=values)
        if result.goals_met is not False
        else msg("Goals not met; the best is {values}", values=values),
        result=details,
    )


def _search_content(result: OptimizationResult, details: dict[str, Any]) -> str:
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
    lines += [_robustness_line(item) for item in result.robustness]
    if any(item.decisive for item in result.robustness):
        lines.append("These tolerances are estimates: each value moved alone by ±1 %, then a straight line.")
    lines += [item["message"] for item in details["conflicts"]]
    if result.at_range_end:
        ends = ", ".join(result.at_range_end)
        lines.append(f"At the end of the allowed range: {ends}; widen it if you can.")
    lines += [f"{name} = {value:.6g}" for name, value in best.metrics.items() if name not in judged]
    lines += [f"warning: {item['message']}" for item in details["warnings"][:5]]
    lines.append("To use the values, write them into the file with patch_file.")
    return "\n".join(lines)


def _robustness_line(item: Robustness) -> str:
    """What parts that are off leave of a goal."""
    metric = item.goal.metric
    if not item.decisive:
        return f"{metric}: margin {item.margin:.4g}, not moved by these values"
    edge = "ON THE EDGE: " if item.on_edge else ""
    return (
        f"{metric}: {edge}margin {item.margin:.4g}, holds for parts within ±{100 * item.holds_within:.2g} % "
        f"({item.decisive} decides)"
    )


RUN_STUDY = Tool(
    name="run_study",
    title=msg("Run a study"),
    look=ToolLook(running=msg("Running a study"), done=msg("Ran a study"), icon="activity", card="study"),
    groups=frozenset({"study"}),
    description=(
        "Simulate a circuit many times: a sweep, Monte Carlo (yield), corners, the worst case of tolerances, "
        "sensitivities, or a search for values that meet goals. The file is not changed. "
        'Example: {"kind": "optimize", "parameters": [{"name": "R1", "min": "1k", "max": "100k", "scale": '
        '"E24"}], "measure": {"bw": "bandwidth(v(out))"}, "goals": ["bw >= 1Meg"]}'
    ),
    category="simulation",
    effect="simulate",
    arguments=StudyArguments,
    run=run_study,
    timeout_s=None,
)
