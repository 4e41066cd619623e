"""The tool that simulates a circuit many times: sweep, Monte Carlo, corners, worst case, sensitivity, and
the search for values that meet its goals.

What the tools that simulate a circuit many times answer.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.design.circuit_goals import place_in, read_goals
from application.tool_execution.definition import Tool, ToolContext
from application.tool_execution.tools._common import locked_failure, locks_of
from application.tool_execution.tools.circuit_choice import chosen_circuit
from application.tool_execution.tools.simulation import analysis_card
from application.tool_execution.tools.study_arguments import Kind, StudyArguments
from domain.design.locked_elements import locked_elements
from domain.design.round_table import asked, value_beside_limit
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure, failure_of, result_to_plain
from domain.studies.robustness import Robustness, tolerance_in_percent
from domain.studies.study_spec import StudyKind, StudySpec, element_of_gm_id, read_study_spec
from shared.errors import CircuitAIError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from domain.studies.optimization import OptimizationResult
    from domain.studies.study import StudyResult

_MOST_ROWS = 40
_MOST_TOLD = 20
_MAP_ROWS = 25
"""The first runs of a map are 5 x 5 places all over it."""


def study_answer(result: StudyResult, context: ToolContext) -> ToolResult:
    """What a tool answers about a study."""
    from application.studies.documents import study_document

    view = context.view
    details = plain_figures(study_document(result))
    if result.plane is not None:
        best = result.plane.best_run
        details["rows"] = [row for row in details["rows"] if row["run"] == best or row["run"] <= _MAP_ROWS]
    else:
        details["rows"] = details["rows"][:_MOST_ROWS] if result.kind in ("sweep", "corners") else []
    for item in details["statistics"].values():
        item.pop("histogram", None)
    details["file_path"] = view.name_of(result.circuit)
    details["result_path"] = view.name_of(result.result_path)
    details["rows_path"] = view.name_of(result.result_path.with_name("rows.csv"))
    for error in details["errors"]:
        error["file"] = None if error["file"] is None else view.name_of(error["file"])
    content = study_text(details)
    if result.rows and result.failed < len(result.rows):
        return ToolResult(
            success=True,
            content=content,
            summary=msg(
                "Simulated {path} {count} {count:time|times}, {failed} failed.", path=details["file_path"],
                count=len(result.rows), failed=result.failed,
            ),
            result=details,
        )  # fmt: skip
    reasons = [row.reason for row in result.rows if row.reason is not None]
    return failure(
        "simulation_failed",
        msg("Every run of {path} failed: {reason}", path=details["file_path"],
            reason=reasons[0] if reasons else msg("no reason was given")),
        detail=content,
        result=details,
    )  # fmt: skip


def plain_figures(value: Any) -> Any:
    """A document in JSON types; None for NaN and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain_figures(item) for key, item in value.items()}
    return [plain_figures(item) for item in value] if isinstance(value, list | tuple) else value


def study_text(details: Mapping[str, Any]) -> str:
    """A study in the words of its tool: what was found, then the rows it is given."""
    runs = details["runs"]
    lines = [
        f"{details['study']} of {details['file_path']}: {runs['done']} runs, {runs['failed']} failed, "
        f"all rows in {details['rows_path']}",
        *(f"assumed: {line}" for line in details["assumed"]),
    ]
    if "yield" in details:
        found = details["yield"]
        lines.append(
            f"yield {_number(found['value'])} ({found['passed']} of {found['n']}), 95 % confidence "
            f"{_number(found['low'])} to {_number(found['high'])}"
        )
    goals = details.get("yield", {}).get("goals", {})
    if len(goals) > 1:
        lines += [f"  {goal}: met in {item['passed']} of {item['n']}" for goal, item in goals.items()]
    if details["goals_met"] is not None:
        lines.append(f"goals met: {'yes' if details['goals_met'] else 'no'}")
    if "map" in details:
        lines += _map_lines(details["map"])
        lines.append(f"as written: {' '.join(f'{n}={_number(v)}' for n, v in details['nominal'].items())}")
    for metric, item in details["statistics"].items():
        lines.append(f"{metric} [{item['unit'] or '?'}]: {_figures(item, details['study'])}")
        if details["study"] == "montecarlo" and item.get("contributions"):
            lines.append(f"  variance from {_shares(item['contributions'])}")
        if item.get("effects"):
            known = [(name, half) for name, half in item["effects"].items() if half is not None][:_MOST_TOLD]
            told = ", ".join(f"{name} ±{_number(abs(half))}" for name, half in known)
            lines += [f"  alone: {told}"] if told else []
        lines += [f"  {_named(entry)}" for entry in item.get("sensitivities", ())[:_MOST_TOLD]]
    for metric, span in details.get("corners", {}).items():
        if span is not None:
            worst = f", worst at {span['worst_corner']}" if span["worst_corner"] else ""
            lines.append(f"{metric}: lowest at {span['min_corner']}, highest at {span['max_corner']}{worst}")
    lines += [_error(item) for item in details["errors"][:5]]
    lines += [f"warning: {item['message']}" for item in details["warnings"][:5]]
    lines += [_row(row) for row in details["rows"]]
    return "\n".join(lines)


def _map_lines(found: Mapping[str, Any]) -> list[str]:
    """Where the goals are met; the best run is among the rows."""
    ends = ", ".join(
        f"{axis['name']} from {_number(axis['min'])} to {_number(axis['max'])} ({axis['scale']})"
        for axis in found["axes"]
    )
    met = "unknown" if found["share_met"] is None else f"{100 * found['share_met']:.3g} %"
    best = "none" if found["best_run"] is None else f"run {found['best_run']}"
    return [f"map of {ends}: all goals met on {met} of it, largest margin: {best}"]


def _error(item: Mapping[str, Any]) -> str:
    """An error of some runs, or of the study as a whole."""
    where = f"error in {item['runs']} runs" if "runs" in item else "error"
    return f"{where}: {item['message']}"


def _shares(contributions: Mapping[str, float]) -> str:
    """``R1 61 %, C1 36 %, curvature and interplay 3 %``."""
    told = [f"{name} {100 * share:.0f} %" for name, share in list(contributions.items())[:_MOST_TOLD]]
    rest = 1 - sum(contributions.values())
    return ", ".join(told) + (f", curvature and interplay {100 * rest:.0f} %" if rest > 0.005 else "")


def _figures(item: Mapping[str, Any], kind: str) -> str:
    spread = ("mean", "sigma", "median", "cpk") if kind == "montecarlo" else ()
    keys = [key for key in ("nominal", "mean", "sigma", "min", "median", "max", "cpk")
            if key in spread or key in ("nominal", "min", "max")]  # fmt: skip
    figures = [f"{key} {_number(item[key])}" for key in keys if key in item]
    if "rss" in item:
        figures.append(f"rss {_number(item['rss']['min'])} to {_number(item['rss']['max'])}")
    return ", ".join(figures)


def _named(entry: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} {value if isinstance(value, str) else _number(value)}"
        for key, value in entry.items()
        if value is not None
    )


def _row(row: Mapping[str, Any]) -> str:
    place = " ".join(str(row[key]) for key in ("run", "label", "corner") if key in row)
    values = " ".join(f"{name}={_number(value)}" for name, value in row["parameters"].items())
    metrics = " ".join(f"{name}={_number(value)}" for name, value in row["metrics"].items())
    return f"{place}: {values} -> {metrics if row['state'] == 'ok' else row['state']}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


_HISTORY = 10
_USUAL_SAMPLES = 200
_USUAL_BUDGET = 500
_STUDIES: dict[Kind, StudyKind] = {
    "sweep": "sweep",
    "monte_carlo": "montecarlo",
    "corners": "corners",
    "worst_case": "worst-case",
    "sensitivity": "sensitivity",
    "map": "map",
}


async def run_study(arguments: StudyArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    """Many runs of a circuit; the file is not changed."""
    circuit = await chosen_circuit(context, arguments.path)
    if arguments.kind in ("influence", "since_when"):
        from application.tool_execution.tools.explanations import explained

        return await explained(arguments, circuit, context)
    if arguments.kind == "optimize":
        given = [str(each.get("name", "")) for each in arguments.parameters]
        names = [element_of_gm_id(each) or each.partition(".")[0] for each in given]
        name = context.view.name_of(circuit)
        if locked := locked_elements((await locks_of(context)).said_of(name), names):
            return locked_failure(locked, name)
    spec = read_study_spec({
        "analysis": await analysis_card(arguments, context, circuit),
        "measure": arguments.measure or None,
        "goals": arguments.goals,
        "set": arguments.set,
        "timeout": arguments.timeout_s,
        **_of_kind(arguments),
    })  # fmt: skip
    spec = await off_loop(_with_goals_of, circuit, spec, arguments.kind, context)
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


def _with_goals_of(circuit: Path, spec: StudySpec, kind: Kind, context: ToolContext) -> StudySpec:
    """The circuit's own goals can be named as they are, and a search that names none is for all of them."""
    held = read_goals(context.project, place_in(context.project.root, circuit)).goals
    own = tuple(goal for goal in held if not goal.condition)
    is_for_all = kind == "optimize" and not (spec.goals or spec.search.objectives)
    known = {goal.metric.lower(): goal.expression for goal in own}
    return replace(spec, goals=own if is_for_all else spec.goals, known=known)


def _of_kind(arguments: StudyArguments) -> dict[str, Any]:
    """What the document of a study of this kind has besides what all have."""
    parameters = arguments.parameters
    match arguments.kind:
        case "sweep" | "map":
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
            # With corners the case that fails is searched for, over all of them.
            at = {"corners": arguments.corners, "at_corners": True, "method": "search"}
            return {"parameters": parameters, "method": arguments.method} | (at if arguments.corners else {})
        case "sensitivity":
            return {"parameters": parameters, "perturbation": arguments.perturbation}
        case _:
            return {
                "parameters": parameters,
                "minimize": arguments.minimize or None,
                "maximize": arguments.maximize or None,
                "budget": arguments.runs or _USUAL_BUDGET,
                "time_limit": arguments.time_limit_s,
                "seed": arguments.seed,
                "yield_target": arguments.yield_target,
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
        summary=_summary(result, values),
        result=details,
    )


def _summary(result: OptimizationResult, values: str) -> Message:
    """What the card of the call says."""
    if result.goals_met is False:
        found = msg("Goals not met; the best is {values}", values=values)
    else:
        found = msg("Goals met with {values}", values=values)
    if result.scatter is not None:
        total, share = result.scatter.total, f"{100 * result.scatter.total.value:.3g}"
        if result.scatter.on_edge:
            return msg("{result}; yield {share} % of {count} {count:run|runs}: marginal",
                       result=found, share=share, count=total.total)  # fmt: skip
        return msg("{result}; yield {share} % of {count} {count:run|runs}",
                   result=found, share=share, count=total.total)  # fmt: skip
    if edges := [item.goal.metric for item in result.robustness if item.on_edge]:
        return msg("{result}; marginal: {names}", result=found, names=", ".join(dict.fromkeys(edges)))
    return found


def _search_content(result: OptimizationResult, details: dict[str, Any]) -> str:
    best = result.best
    assert best is not None
    statistics = details["statistics"]
    lines = [
        f"{details['file_path']}: {statistics['simulations']} simulations, {statistics['failed']} failed, "
        f"ended: {result.end}. The file is not changed.",
        "best values: " + ", ".join(f"{name}={text}" for name, text in best.texts.items()),
        *(f"gm/Id of {name} = {value:.4g} 1/V by its table" for name, value in result.efficiencies.items()),
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
        lines.append(
            "These tolerances are estimates: each value alone was varied by ±1 % and extrapolated linearly."
        )
    lines += _scatter_lines(details["scatter"], has_goals=bool(result.goals))
    lines += [item["message"] for item in details["conflicts"]]
    if result.at_range_end:
        ends = ", ".join(result.at_range_end)
        lines.append(f"At the end of the allowed range: {ends}; widen it if you can.")
    lines += [f"{name} = {value:.6g}" for name, value in best.metrics.items() if name not in judged]
    lines += [f"warning: {item['message']}" for item in details["warnings"][:5]]
    lines.append("To use the values, write them into the file with patch_file.")
    return "\n".join(lines)


def _scatter_lines(scatter: Mapping[str, Any] | None, *, has_goals: bool) -> list[str]:
    """How many circuits are good with the parts as they scatter."""
    if scatter is None:
        return ["For the yield add parameters with a tolerance, sigma or mismatch."] if has_goals else []
    total = scatter["yield"]
    edge = "ON THE EDGE: " if scatter["on_edge"] else ""
    asked_for = scatter["yield_target"]
    wanted = "" if asked_for is None else f", asked for: {100 * asked_for:.3g} %"
    lines = [
        f"{edge}yield {100 * total['value']:.3g} % ({total['passed']} of {total['n']} runs, 95 % confidence "
        f"{100 * total['low']:.3g} to {100 * total['high']:.3g} %{wanted})"
    ]
    if len(total["goals"]) > 1:
        lines += [
            f"  {goal}: met in {item['passed']} of {item['n']}" for goal, item in total["goals"].items()
        ]
    lines += [f"sigma of {metric}: {_number(sigma)}" for metric, sigma in scatter["sigma"].items()]
    return lines + [f"assumed: {line}" for line in scatter["assumed"]]


def _robustness_line(item: Robustness) -> str:
    """What parts that are off leave of a goal."""
    metric = item.goal.metric
    if not item.decisive:
        return f"{metric}: margin {item.margin:.4g}, not moved by these values"
    edge, within = "ON THE EDGE: " if item.on_edge else "", tolerance_in_percent(item.holds_within)
    return (
        f"{metric}: {edge}margin {item.margin:.4g}, holds for parts within ±{within} % "
        f"({item.decisive} decides)"
    )


RUN_STUDY = Tool(
    name="run_study",
    title=msg("Run a study"),
    look=ToolLook(running=msg("Running a study"), done=msg("Ran a study"), icon="activity", card="study"),
    groups=frozenset({"study"}),
    description=(
        "Simulate a circuit many times: sweep, yield, corners, worst case, sensitivity, a search for values "
        "that meet goals. The file is not changed. "
        'Example: {"kind": "optimize", "parameters": [{"name": "R1", "min": "1k", "max": "100k", "scale": '
        '"E24"}], "measure": {"bw": "bandwidth(v(out))"}, "goals": ["bw >= 1Meg"]}'
    ),
    category="simulation",
    effect="simulate",
    arguments=StudyArguments,
    run=run_study,
    timeout_s=None,
)
