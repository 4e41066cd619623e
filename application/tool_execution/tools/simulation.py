"""Tools that simulate, and that look at what a simulation gave; vectors themselves never come out."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import Field

from application.ports.project_view import ProjectView
from application.simulation.failure_place import placed
from application.tool_execution.definition import (
    Arguments,
    Assignments,
    Number,
    Switch,
    Tool,
    ToolContext,
    unlisted,
)
from application.tool_execution.tools._common import brief_findings, in_worker
from application.tool_execution.tools.circuit_choice import chosen_circuit
from application.tool_execution.tools.goal_verdicts import (
    cases_told,
    goals_line,
    judged_goals,
    verdict_to_details,
    with_goals_told,
)
from application.tool_execution.tools.result_data import naming_hint, simulated_plots
from domain.circuit.analyses import Analysis
from domain.circuit.netlist import Netlist
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure_of, result_to_plain
from domain.simulation.operating_point import OperatingPoint, operating_point_lines
from domain.simulation.result import SimulationIssue, SimulationResult
from domain.simulation.verdict import told_partial, verdict_of, verdict_words
from shared.errors import CircuitAIError, CircuitError, UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.simulation.simulating import SimulationRequest

AnalysisType = Literal["op", "dc", "ac", "tran", "noise", "tf", "sens", "pz", "disto", "sp"]

_EXAMPLES: dict[str, str] = {
    "dc": "dc V1 0 5 0.1",
    "ac": "ac dec 20 1 10meg",
    "tran": "tran 1u 10m",
    "noise": "noise v(out) V1 dec 10 1 1meg",
    "tf": "tf v(out) V1",
    "sens": "sens v(out)",
    "pz": "pz in 0 out 0 vol pz",
    "disto": "disto dec 10 1k 1meg",
    "sp": "sp dec 10 1meg 1g",
}
_LONGEST_RUN_S = 3600
_MOST_ISSUES = 20
_MOST_METRICS = 60
_MOST_SIGNALS = 30
_MOST_DEVICES = 20
_MOST_BYTES = 20_000_000
_MOST_COMPARED = 100_000
"""Bytes of a netlist whose cards are compared with those of the run before."""


class AnalysisChoice(Protocol):
    """Arguments that say which analysis is wanted."""

    @property
    def analysis_type(self) -> AnalysisType | None:
        """Only the circuit's own card of this kind."""

    @property
    def analysis(self) -> str | None:
        """A card in place of the circuit's own."""


class RunArguments(Arguments):
    """Arguments of run_simulation."""

    path: str | None = Field(None, description="Omit for the only circuit.")
    analysis_type: AnalysisType | None = Field(
        None, description="Run only the circuit's own card of this kind."
    )
    analysis: str | None = Field(
        None,
        max_length=500,
        description="A card in place of the circuit's own.",
    )
    parameters: Assignments = Field(
        default_factory=dict,
        description="Values for this run only: R1, m1.w.",
    )
    timeout_s: Number = unlisted(120.0, gt=0, le=_LONGEST_RUN_S)
    force: Switch = unlisted(False)


async def run_simulation(arguments: RunArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    """Simulate a circuit in ngspice, confined; its result is stored."""
    from application.simulation.simulating import SimulationRequest

    circuit = await chosen_circuit(context, arguments.path)
    analysis = await analysis_card(arguments, context, circuit)
    request = SimulationRequest(
        circuit=circuit,
        analysis=analysis,
        assignments=tuple(arguments.parameters.items()),
        timeout_s=arguments.timeout_s,
        call_id=call.call_id,
        reuse=not arguments.force,
    )
    operations = context.operations
    await operations.begin_simulation(op_id=call.call_id, session_id=context.session_id, tool=call.name)
    try:
        simulated = await context.services.simulate(request)
    except CircuitAIError as error:
        refused = failure_of(error)
        await operations.finish(call.call_id, result_to_plain(refused))
        return refused
    result = await _result(context, request, simulated)
    await operations.finish(call.call_id, result_to_plain(result))
    return result


async def analysis_card(arguments: AnalysisChoice, context: ToolContext, circuit: Path) -> str | None:
    """The card to run in place of the circuit's own, None for all of those.

    Raises UserInputError when the circuit has no analysis of the kind asked for.
    """
    kind, card = arguments.analysis_type, (arguments.analysis or "").strip()
    if card:
        word = card.removeprefix(".").split(None, 1)[0].lower() if card.strip(".") else ""
        if kind is not None and word != kind:
            raise UserInputError(
                msg("analysis “{card}” is not a {kind} analysis.", card=card[:80], kind=kind),
                advice=msg("Give analysis alone."),
                error_type="bad_arguments",
            )
        return card
    if kind is None:
        return None
    analyses = await in_worker(context, circuit, _analyses_of, context.view, circuit)
    of_kind = [analysis for analysis in analyses if analysis.kind == kind]
    if len(of_kind) == len(analyses) and of_kind:
        return None
    if len(of_kind) == 1:
        return of_kind[0].text
    if kind == "op":
        return "op"
    if not of_kind:
        has = ", ".join(analysis.text for analysis in analyses) or "none"
        raise UserInputError(
            msg("The circuit has no {kind} analysis; it has: {analyses}.", kind=kind, analyses=has),
            advice=msg("Give a complete card with analysis, for example {example}.", example=_EXAMPLES[kind]),
            error_type="no_such_analysis",
        )
    cards = "; ".join(analysis.text for analysis in of_kind)
    raise UserInputError(
        msg("The circuit has several {kind} analyses: {cards}.", kind=kind, cards=cards),
        advice=msg("Specify the one you mean with analysis, or omit it to run all."),
        error_type="ambiguous_analysis",
    )


def _cards_sha256(view: ProjectView, circuit: Path, netlist_sha256: str) -> str:
    """The same for netlists that differ in comments and white space only.

    "" for a large file, and for one that is not what was simulated any more.
    """
    try:
        with view.open(circuit) as file:
            content = file.read(_MOST_COMPARED + 1)
    except (OSError, CircuitAIError):  # it went while it was simulated; the result stands
        return ""
    if len(content) > _MOST_COMPARED or hashlib.sha256(content).hexdigest() != netlist_sha256:
        return ""
    return Netlist.parse(content, path=circuit).cards_sha256


def _analyses_of(view: ProjectView, circuit: Path) -> tuple[Analysis, ...]:
    with view.open(circuit) as file:
        return Netlist.parse(file.read(_MOST_BYTES), path=circuit).analyses


async def _result(
    context: ToolContext, request: SimulationRequest, simulated: SimulationResult
) -> ToolResult:
    view, circuit = context.view, request.circuit
    errors = [issue for issue in simulated.issues if issue.severity == "error"]
    warnings = [issue for issue in simulated.issues if issue.severity == "warning"]
    plots = await _plots(context, simulated)
    cards = await off_loop(_cards_sha256, context.view, circuit, simulated.netlist_sha256)
    details: dict[str, Any] = {
        "ok": simulated.ok,
        "status": simulated.run.status,
        "verdict": verdict_of(simulated),
        "file_path": view.name_of(circuit),
        "netlist_sha256": simulated.netlist_sha256,
        "cards_sha256": cards,
        "run": await off_loop(view.result_number, simulated.result_path),
        "result_path": view.name_of(simulated.result_path),
        "reused": simulated.is_reused,
        "created": simulated.created,
        "metrics": {
            name: {"value": finite(quantity.value), "unit": quantity.unit}
            for name, quantity in list(simulated.metrics.items())[:_MOST_METRICS]
        },
        "operating_point": _points(simulated.operating_point),
        "errors": [_entry(issue, view) for issue in errors[:_MOST_ISSUES]],
        "warnings": [_entry(issue, view) for issue in warnings[:_MOST_ISSUES]],
        "analyses": plots,
        "duration_s": round(simulated.run.duration_s, 3),
        "simulator": simulated.run.simulator_version,
    }
    name = view.name_of(circuit)
    words = "" if verdict_of(simulated) != "partial" else f", {_verdict_words(simulated)}"
    if simulated.ok:
        goals = ""
        set_to = simulated.request.get("set")
        parameters = set_to if isinstance(set_to, dict) else {}
        analysis = str(simulated.request.get("analysis") or "")
        judged = await judged_goals(context, circuit, simulated.result_path, parameters, analysis)
        if judged:
            details["goals"] = [verdict_to_details(each) for each in judged]
            goals = goals_line(judged)
            if cases := await cases_told(context, request):
                details["cases"] = cases
                goals = "\n".join([goals, *cases])
        kinds = ", ".join(plot["analysis"] for plot in plots)
        return ToolResult(
            success=True,
            content=_content(details, goals, verdict=words),
            summary=with_goals_told(_run_told(name, kinds, simulated), judged),
            result=details,
        )
    first = (
        errors[0].message
        if errors
        else msg("The run ended with status {status}.", status=simulated.run.status)
    )
    failed = msg("The simulation of {path} failed: {reason}", path=name, reason=first)
    if verdict_of(simulated) == "partial":
        failed = told_partial(name, _verdict_words(simulated), first)
    failed = placed(failed, errors[0] if errors else None, view.root)
    told = {(item.get("file"), item.get("line")) for item in details["errors"]}
    further = await brief_findings(context, circuit, told=told)
    return ToolResult(
        success=False,
        content="\n".join(["Error (simulation_failed):", _content(details, verdict=words), *further]),
        summary=failed,
        error_type="simulation_failed",
        error_message=failed,
        suggestions=_advice(errors[:5]),
        result=details,
    )


def _run_told(name: str, kinds: str, simulated: SimulationResult) -> Message:
    if simulated.is_reused:
        return msg(
            "{path} is unchanged since its stored run of {time} ({kinds}); it was not simulated again.",
            path=name,
            time=simulated.created[:19].replace("T", " "),
            kinds=kinds,
        )
    if verdict_of(simulated) == "partial":
        return msg(
            "Simulated {path}: {kinds}; {verdict}.", path=name, kinds=kinds, verdict=_verdict_words(simulated)
        )
    return msg("Simulated {path}: {kinds}.", path=name, kinds=kinds)


def _verdict_words(simulated: SimulationResult) -> Message:
    return verdict_words(verdict_of(simulated), simulated.run.status, simulated.run.reach)


def _advice(issues: list[SimulationIssue]) -> tuple[Message, ...]:
    advice: list[Message] = []
    for issue in issues:
        if issue.advice is not None and issue.advice not in advice:
            advice.append(issue.advice)
    return tuple(advice)


async def _plots(context: ToolContext, simulated: SimulationResult) -> list[dict[str, Any]]:
    try:
        return await off_loop(
            simulated_plots, context.services.waveform_reader, simulated.run.raw_paths, _MOST_SIGNALS
        )
    except (UserInputError, CircuitError):  # a failed run may have left a torn raw file
        if simulated.ok:
            raise
        return []


def _points(point: OperatingPoint | None) -> list[str]:
    if point is None:
        return []
    return operating_point_lines(point, most_devices=_MOST_DEVICES, most_nodes=_MOST_SIGNALS)


def _entry(issue: SimulationIssue, view: ProjectView) -> dict[str, Any]:
    entry = {
        "code": issue.code,
        "message": str(issue.message),
        "file": None if issue.file is None else view.name_of(issue.file),
        "line": issue.line,
        "element": issue.element,
        "node": issue.node,
        "advice": None if issue.advice is None else str(issue.advice),
    }
    return {key: value for key, value in entry.items() if value is not None}


def _content(details: dict[str, Any], goals: str = "", *, verdict: str = "") -> str:
    stored = details["result_path"] if details["run"] is None else f"run {details['run']}"
    lines = [f"{details['file_path']}: {details['status']}, {stored}{verdict}"]
    if details["reused"]:
        lines.append(
            f"Not simulated again: circuit, includes, analysis, parameters and simulator are those of the "
            f"stored run of {details['created']}, given here. force=true simulates anew."
        )
    lines += filter(None, [goals])
    lines += [
        f"{name} = {_figure(item)}" for name, item in details["metrics"].items() if item["value"] is not None
    ]
    for severity in ("errors", "warnings"):
        lines += [f"{severity[:-1]}: {_issue_line(item)}" for item in details[severity]]
    if details["operating_point"]:
        lines += ["DC operating point:", *details["operating_point"]]
    told: list[object] = []
    for plot in details["analyses"]:
        signals = [plot["signals"], plot["signal_count"]]
        lines.append(_plot_line(plot, is_told=signals in told))
        told.append(signals)
    if details["analyses"] and details["ok"]:
        lines.append("Use inspect_data for values, for example max(v(out)) or bandwidth(v(out)).")
        lines += filter(None, [naming_hint(details["analyses"])])
    return "\n".join(lines)


def _issue_line(item: dict[str, Any]) -> str:
    place = "".join(
        part for part in (item.get("file", ""), f":{item['line']}" if "line" in item else "") if part
    )
    advice = f" Advice: {item['advice']}" if "advice" in item else ""
    return f"{place + ': ' if place else ''}{item['message']} [{item['code']}]{advice}"


def _plot_line(plot: dict[str, Any], *, is_told: bool = False) -> str:
    """`is_told`: its signals are those of a line above."""
    signals = "signals as above" if is_told else ", ".join(plot["signals"])
    more = 0 if is_told else plot["signal_count"] - len(plot["signals"])
    axis = ""
    if plot["axis"] is not None:
        axis = f" over {plot['axis']} {plot['range'][0]:.6g}..{plot['range'][1]:.6g} {plot['axis_unit']},"
    return f"{plot['label']}:{axis} {plot['points']} points; {signals}{f' and {more} more' if more else ''}"


def _figure(item: dict[str, Any]) -> str:
    return f"{item['value']:.6g} {item['unit']}".rstrip()


def finite(value: float) -> float | None:
    """The number, None where JSON has none."""
    return value if math.isfinite(value) else None


RUN_SIMULATION = Tool(
    name="run_simulation",
    is_core=True,
    title=msg("Simulate"),
    look=ToolLook(running=msg("Simulating"), done=msg("Simulated"), icon="activity", card="simulate"),
    groups=frozenset({"single_run"}),
    description=(
        "Simulate a circuit with ngspice: its operating point (node voltages; current, region and gm of each "
        "transistor), its .meas figures, errors with file and line, and which signals there are. Call it "
        "after every change of a circuit; try values with parameters. Other figures come from inspect_data. "
        'Example: {"path": "rc.cir", "analysis": "ac dec 20 1 10meg", "parameters": {"R1": "2.2k"}}'
    ),
    category="simulation",
    effect="simulate",
    arguments=RunArguments,
    run=run_simulation,
    timeout_s=None,
)
