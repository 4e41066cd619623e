"""Tools that simulate a circuit many times: sweep, Monte Carlo, corners, worst case, sensitivity."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from application.tool_execution.definition import Tool, ToolContext
from application.tool_execution.tools.circuit_choice import chosen_circuit
from application.tool_execution.tools.simulation import analysis_card
from application.tool_execution.tools.study_answers import study_answer
from application.tool_execution.tools.study_arguments import (
    MonteCarloArguments,
    PvtArguments,
    SensitivityArguments,
    StudyArguments,
    SweepArguments,
    WorstCaseArguments,
)
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure_of, result_to_plain
from domain.studies.study_spec import StudyKind, read_study_spec
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg


async def run_parametric_sweep(arguments: SweepArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    """Simulate every combination of some values."""
    count = len(arguments.sweep_params)
    if arguments.nested_levels not in (None, count):
        raise UserInputError(
            msg("nested_levels is {levels}, but sweep_params has {count} {count:entry|entries}.",
                levels=arguments.nested_levels, count=count),
            advice=msg("Omit nested_levels."),
            error_type="bad_arguments",
        )  # fmt: skip
    parameters = [
        item if {"values", "value", "min", "max"} & item.keys() else {**arguments.sweep_range, **item}
        for item in arguments.sweep_params
    ]
    return await _study("sweep", {"parameters": parameters}, arguments, context, call)


async def run_monte_carlo(arguments: MonteCarloArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    """Simulate with random deviations."""
    document: dict[str, Any] = {
        "parameters": [_with_tolerance(item) for item in arguments.variation_config],
        "runs": arguments.runs,
        "seed": arguments.seed,
        "yield_target": arguments.yield_target,
    }
    return await _study("montecarlo", document, arguments, context, call)


async def run_pvt_analysis(arguments: PvtArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    document: dict[str, Any] = {}
    if arguments.voltages or arguments.temperatures:
        if any(not isinstance(item, str) for item in arguments.corners):
            raise UserInputError(
                msg("With voltages or temperatures the corners must be names of library sections."),
                advice=msg("Put voltage and temp into each corner, or give names only."),
                error_type="bad_arguments",
            )
        axes = {
            "process": arguments.corners, "voltage": arguments.voltages, "temp": arguments.temperatures
        }  # fmt: skip
        document["corners"] = {key: axis for key, axis in axes.items() if axis}
    elif arguments.corners:
        document["corners"] = arguments.corners
    return await _study("corners", document, arguments, context, call, with_table=arguments.generate_report)


async def run_worst_case(arguments: WorstCaseArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    """Find the worst case of tolerances."""
    document: dict[str, Any] = {
        "parameters": [_with_tolerance(item) for item in arguments.tolerance_config],
        "method": arguments.method,
        "measure": _metrics(arguments.target_metrics),
    }
    return await _study("worst-case", document, arguments, context, call)


async def run_sensitivity(
    arguments: SensitivityArguments, context: ToolContext, call: ToolCall
) -> ToolResult:
    """Find which parameters matter most."""
    document: dict[str, Any] = {
        "parameters": [{"name": item} if isinstance(item, str) else item for item in arguments.parameters],
        "perturbation": arguments.perturbation_ratio,
        "measure": _metrics(arguments.target_metrics),
    }
    return await _study("sensitivity", document, arguments, context, call)


def _with_tolerance(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """``{"R1": "1%"}`` has come as a name and a value, which is meant as its tolerance."""
    if item.keys() == {"name", "value"}:
        return {"name": item["name"], "tolerance": item["value"]}
    return item


def _metrics(targets: list[str]) -> dict[str, str]:
    metrics: dict[str, str] = {}
    for text in targets:
        name, equals, expression = text.partition("=")
        is_named = bool(equals) and name.strip().isidentifier() and bool(expression.strip())
        metrics[name.strip() if is_named else text] = expression.strip() if is_named else text
    return metrics


async def _study(
    kind: StudyKind,
    document: dict[str, Any],
    arguments: StudyArguments,
    context: ToolContext,
    call: ToolCall,
    *,
    with_table: bool = True,
) -> ToolResult:
    from application.studies.studying import StudyRequest

    circuit = await chosen_circuit(context, arguments.file_path)
    card = await analysis_card(arguments, context, circuit)
    measures = {**document.pop("measure", {}), **arguments.measure}
    request = StudyRequest(
        circuit=circuit,
        kind=kind,
        spec=read_study_spec({
            **document,
            "analysis": card,
            "measure": measures or None,
            "goals": arguments.goals,
            "set": arguments.fixed_values,
            "timeout": arguments.timeout_s,
        }),
        call_id=call.call_id,
    )  # fmt: skip
    operations = context.operations
    await operations.begin_simulation(op_id=call.call_id, session_id=context.session_id, tool=call.name)
    try:
        result = await context.services.study(request)
    except CircuitAIError as error:
        refused = failure_of(error)
        await operations.finish(call.call_id, result_to_plain(refused))
        return refused
    answer = study_answer(result, context, with_table=with_table)
    await operations.finish(call.call_id, result_to_plain(answer))
    return answer


_study_tool = partial(
    Tool, groups=frozenset({"study"}), category="simulation", effect="simulate", timeout_s=None
)

RUN_PARAMETRIC_SWEEP = _study_tool(
    name="run_parametric_sweep",
    title=msg("Sweep parameters"),
    description=(
        "Simulate a circuit for every combination of some values and get a table of "
        "metrics. Use it to see how a "
        "metric depends on a value, or to choose one; the file is not changed. "
        'Example: {"sweep_params": [{"name": "R1", "min": "1k", "max": "10k", "scale": "E12"}], '
        '"measure": {"bw": "bandwidth(v(out))"}}'
    ),
    arguments=SweepArguments,
    run=run_parametric_sweep,
    look=ToolLook(running=msg("Sweeping"), done=msg("Swept"), icon="activity", card="plain"),
)
RUN_MONTE_CARLO = _study_tool(
    name="run_monte_carlo",
    title=msg("Monte Carlo"),
    description=(
        "Simulate a circuit many times with random deviations of its values: mean, "
        "sigma, quantiles and, with "
        "goals, the yield with its confidence interval. "
        'Example: {"variation_config": [{"name": "R*", "tolerance": "1%"}], "goals": ["bw >= 1Meg"], '
        '"runs": 500, "measure": {"bw": "bandwidth(v(out))"}}'
    ),
    arguments=MonteCarloArguments,
    run=run_monte_carlo,
    look=ToolLook(running=msg("Running Monte Carlo"), done=msg("Monte Carlo"), icon="activity", card="plain"),
)
RUN_PVT_ANALYSIS = _study_tool(
    name="run_pvt_analysis",
    title=msg("Corners"),
    description=(
        "Simulate a circuit at corners of process, supply voltage and temperature and "
        "get where each metric is "
        'worst. Example: {"corners": ["TT", "SS", "FF"], "voltages": {"vdd": [1.62, 1.98]}, '
        '"temperatures": [-40, 27, 125]}'
    ),
    arguments=PvtArguments,
    run=run_pvt_analysis,
    look=ToolLook(running=msg("Running corners"), done=msg("Corners"), icon="activity", card="plain"),
)
RUN_WORST_CASE = _study_tool(
    name="run_worst_case",
    title=msg("Worst case"),
    description=(
        "Find how far tolerances can move each metric: extreme values (EVA), root of the "
        "sum of squares (RSS). "
        'Example: {"tolerance_config": {"R1": "1%", "C1": "5%"}, "target_metrics": ["bw=bandwidth(v(out))"]}'
    ),
    arguments=WorstCaseArguments,
    run=run_worst_case,
    look=ToolLook(
        running=msg("Finding the worst case"), done=msg("Worst case"), icon="activity", card="plain"
    ),
)
RUN_SENSITIVITY = _study_tool(
    name="run_sensitivity",
    title=msg("Sensitivity"),
    description=(
        "Find which values of a circuit matter most for a metric: normalised "
        "sensitivities, the strongest first. "
        'Example: {"parameters": ["R1", "C1"], "target_metrics": ["bw=bandwidth(v(out))"]}'
    ),
    arguments=SensitivityArguments,
    run=run_sensitivity,
    look=ToolLook(
        running=msg("Computing sensitivities"), done=msg("Sensitivities"), icon="activity", card="plain"
    ),
)
