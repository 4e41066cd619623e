"""The tool that answers questions about stored simulation data."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from application.design.circuit_goals import place_in
from application.tool_execution.definition import Arguments, Texts, Tool, ToolContext, Whole, unlisted
from application.tool_execution.tools.result_data import (
    naming_hint,
    of_analysis,
    plot_names,
    plot_outline,
    rounded,
    sampled,
    span_of,
    unsettled,
    vector_outline,
)
from application.tool_execution.tools.result_source import OF_OTHERS, result_content, result_source
from application.tool_execution.tools.simulation import AnalysisType
from domain.circuit.figures import with_unit
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure
from shared.errors import CircuitError, UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from domain.simulation.waveform import Plot

_SIGNAL = re.compile(r"(?<![\w.@\[])(?=[vi]\(|@)", re.IGNORECASE)
"""Where a signal begins in an expression; not inside deriv( and not behind an analysis (``ac.v(out)``)."""
_MOST_EXPRESSIONS = 30
_USUAL_POINTS = 11
_MOST_VECTORS = 40
FUNCTIONS = (
    "Any axis: max min pp peak avg rms ripple of (x[,from,to]), at(x,p), cross(x,level[,n]). Over frequency: "
    "dcgain gain(x,f) bandwidth(x[,drop_db]) highcut lowcut q ugf phase_margin gain_margin. In time: "
    "rise_time fall_time overshoot settling_time(x[,tol]) slew_rate frequency period duty delay(x,y) thd "
    "thdn snr sinad enob sfdr of (x[,f0]), harmonic(x,n). noise_total(x[,f1,f2]). Of a vector: db ph re im "
    "mag abs sqrt deriv integ group_delay."
)
"""Every measurement function, for a model."""


class InspectOptions(Arguments):
    """Further wishes of inspect_data."""

    points: Whole = Field(_USUAL_POINTS, ge=2, le=50, description="How many places of the axis to show.")


class InspectArguments(Arguments):
    """Arguments of inspect_data."""

    path: str | None = Field(
        None, description="A circuit (its newest result) or 'run 7'. Omit for the only circuit."
    )
    expressions: Texts = Field(
        default_factory=list,
        max_length=_MOST_EXPRESSIONS,
        description=f"Figures, with any arithmetic. {FUNCTIONS}",
    )
    analysis_type: AnalysisType | None = Field(None, description="Only this analysis of the result.")
    observation_points: Texts = Field(
        default_factory=list,
        max_length=_MOST_EXPRESSIONS,
        description="Vectors to see over their axis: v(out), db(v(out)), i(v1); in time the shape.",
    )
    range: Texts = Field(
        default_factory=list, max_length=2, description='Of the axis, for the samples: ["1k", "10meg"].'
    )
    options: InspectOptions | None = unlisted(None)


async def inspect_data(arguments: InspectArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    """Figures of a stored result: expressions, samples of vectors, or what there is."""
    span = span_of(arguments.range)
    source = await result_source(context, arguments.path)
    expressions = {text: _selected(text, arguments.analysis_type) for text in arguments.expressions}
    found = await _values(context, source.path, list(dict.fromkeys(expressions.values())))
    values = {text: found[selected] for text, selected in expressions.items()}
    plots = await off_loop(_read_plots, context, source.path)
    chosen = of_analysis(plots, arguments.analysis_type)
    run = await off_loop(run_of, context, source.path)
    details: dict[str, Any] = {
        "run": await off_loop(context.view.result_number, source.path),
        "result_path": source.name,
        "is_stale": source.is_stale,
        "origin": source.origin,
        "is_truncated": await context.services.measure.is_cut_off(source.path),
        **run,
    }
    if values:
        details["values"] = values
        details["unsettled"] = await off_loop(unsettled, chosen, expressions)
    if arguments.observation_points:
        count = _USUAL_POINTS if arguments.options is None else arguments.options.points
        known = {name for plot in chosen for name in plot.vectors}
        vectors = [_as_vector(text, known) for text in arguments.observation_points]
        details["samples"] = await off_loop(sampled, chosen, vectors, span=span, count=count)
    if not values and not arguments.observation_points:
        details["analyses"] = await off_loop(_overview, plots, chosen)
        details["metrics"] = await off_loop(_metrics, context, source.path)
        details["other_run"] = await off_loop(_other_run, context, source.path, run["circuit"])
    return _answer(details)


def _answer(details: dict[str, Any]) -> ToolResult:
    """Success when at least one of the figures could be had."""
    wanted = [*details.get("values", {}).values(), *details.get("samples", {}).values()]
    errors = [item["error"] for item in wanted if "error" in item]
    content = _content(details)
    if wanted and len(errors) == len(wanted):
        return failure(
            "bad_expression",
            msg("None of the values is available: {reason}", reason=errors[0]),
            detail=content,
            suggestions=(msg("Call inspect_data without expressions to list the signals."),),
            result=details,
        )
    return ToolResult(
        success=True,
        content=content,
        summary=msg("Inspected {path}.", path=details["result_path"])
        if details["run"] is None or not details["circuit"]
        else msg("Inspected run {number} of {path}.", number=details["run"], path=details["circuit"]),
        result=details,
    )


def run_of(context: ToolContext, result: Path) -> dict[str, Any]:
    """In what the run was another one than the circuit's file says, and whether it failed."""
    stored = result_content(context, result)
    request = stored.get("request")
    request = request if isinstance(request, dict) else {}
    values = request.get("set")
    netlist = stored.get("netlist")
    circuit = str(netlist.get("path") or "") if isinstance(netlist, dict) else ""
    return {
        "circuit": place_in(context.project.root, Path(circuit)) if circuit else "",
        "parameters": values if isinstance(values, dict) else {},
        "analysis": request.get("analysis"),
        "ok": stored.get("ok", True) is not False,
    }


def _other_run(context: ToolContext, result: Path, circuit: str) -> int | None:
    """The number of the same circuit's last run but for this one."""
    view = context.view
    of_circuit = context.project.root / circuit if circuit else None
    found = of_circuit and view.newest_result(of_circuit, beside=result)
    return view.result_number(found) if found else None


def _metrics(context: ToolContext, result: Path) -> dict[str, Any]:
    metrics = result_content(context, result).get("metrics")
    return metrics if isinstance(metrics, dict) else {}


def _read_plots(context: ToolContext, source: Path) -> list[Plot]:
    return context.services.waveform_reader.read(context.services.results.raw_path_of(source))


async def _values(
    context: ToolContext, source: Path, expressions: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Each expression's value, or why it has none."""
    if not expressions:
        return {}
    measure = context.services.measure
    try:
        return {text: _value(found) for text, found in (await measure(source, expressions)).items()}
    except UserInputError:
        if len(expressions) == 1:
            raise
    values: dict[str, dict[str, Any]] = {}
    for text in expressions:  # one of them cannot be read: the others still have values
        try:
            values[text] = _value((await measure(source, [text]))[text])
        except UserInputError as error:
            advice = "" if error.advice is None else f" {error.advice}"
            values[text] = {"error": f"{error.message}{advice}"}
    return values


def _value(found: Any) -> dict[str, Any]:
    if isinstance(found, CircuitError):
        return {"error": str(found.message)}
    return {"value": rounded(found.value), "unit": found.unit}


def _overview(plots: Sequence[Plot], chosen: Sequence[Plot]) -> list[dict[str, Any]]:
    outlines = []
    for plot, names in zip(plots, plot_names(plots), strict=True):
        if plot not in chosen:
            continue
        outline = {**plot_outline(plot, _MOST_VECTORS), **names}
        outline["signals"] = {name: vector_outline(plot.vectors[name]) for name in outline["signals"]}
        outlines.append(outline)
    return outlines


def _selected(expression: str, kind: str | None) -> str:
    """Its signals taken from the analysis asked for: ``max(v(out))`` of dc -> ``max(dc.v(out))``."""
    return expression if kind is None else _SIGNAL.sub(f"{kind}.", expression)


def _as_vector(text: str, known: Collection[str]) -> str:
    """A node's bare name means its voltage, unless the data have a vector of that name."""
    text = text.strip()
    is_bare = text.replace("_", "").isalnum() and text.lower() not in {*known, "onoise", "inoise"}
    return f"v({text})" if is_bare else text


def _content(details: dict[str, Any]) -> str:
    source = details["result_path"] if details["run"] is None else f"run {details['run']}"
    source += f" of {details['circuit']}" if details["circuit"] else ""
    lines = [f"Data of {source}{_reservations(details)}"]
    for text, item in details.get("values", {}).items():
        lines.append(f"{text}: {item['error']}" if "error" in item else f"{text} = {_figure(item)}")
    lines += [
        f"{name} has NOT SETTLED there ({how}): its steady state has other figures; a longer run shows them."
        for name, how in details.get("unsettled", {}).items()
    ]
    for text, item in details.get("samples", {}).items():
        lines.append(f"{text}: {item['error']}" if "error" in item else _table(text, item))
    for name, item in details.get("metrics", {}).items():
        lines.append(f"{name} = {_figure(item)}")
    for plot in details.get("analyses", ()):
        axis = "" if plot["range"] is None else f" over {plot['axis']} {_range(plot)},"
        lines.append(f"{plot['label']}:{axis} {plot['points']} points, {plot['signal_count']} signals")
        lines += [f"  {name}: {_extent(item)}" for name, item in plot["signals"].items()]
    lines += filter(None, [naming_hint(details.get("analyses", ()))])
    if details.get("other_run") is not None:
        lines.append(f"other newest run of this circuit: run {details['other_run']}")
    return "\n".join(lines)


def _reservations(details: dict[str, Any]) -> str:
    """Why the data need not be those of the circuit as its file is now."""
    reservations = []
    if details["origin"] == "elsewhere":
        reservations.append(f"{OF_OTHERS}: run the circuit for figures of your own")
    if details["is_truncated"]:
        reservations.append("the raw file ends early: it has fewer points than its header says")
    if details["is_stale"]:
        reservations.append("the circuit was changed since: run it again for new figures")
    if details["parameters"]:
        values = ", ".join(f"{name}={value}" for name, value in details["parameters"].items())
        reservations.append(f"of a run with other values than the file's: {values}")
    if details["analysis"]:
        reservations.append(f"of a run with its own analysis: {details['analysis']}")
    if not details["ok"]:
        reservations.append("of a run that failed")
    return f" ({'; '.join(reservations)})" if reservations else ""


def _figure(item: dict[str, Any]) -> str:
    value = item.get("value")
    return "no value" if value is None else f"{value:.6g} {item.get('unit', '')}".rstrip()


def _range(plot: dict[str, Any]) -> str:
    return f"{plot['range'][0]:.6g}..{plot['range'][1]:.6g} {plot['axis_unit']}"


def _extent(item: dict[str, Any]) -> str:
    kind = " (magnitude)" if item["complex"] else ""
    if "value" in item:
        return f"{item['value']} {item['unit']}{kind}"
    return f"{item.get('min')}..{item.get('max')} {item['unit']}{kind}"


def _table(text: str, item: dict[str, Any]) -> str:
    if "bins" in item:
        ends = (item["axis_unit"], item["axis_unit"], item["unit"], item["unit"])
        rows = [
            "  {}..{}: {}..{}".format(*map(with_unit, stretch, ends, (5, 5, 5, 5)))
            for stretch in item["bins"]
        ]
        return "\n".join([f"{text} over {item['axis']}: {item['shape']}. Least..greatest by stretch:", *rows])
    phases = item.get("phase_deg", [None] * len(item["x"]))
    rows = [
        f"  {x} {item['axis_unit']}: {value} {item['unit']}" + ("" if phase is None else f" at {phase} deg")
        for x, value, phase in zip(item["x"], item["values"], phases, strict=True)
    ]
    return "\n".join([f"{text} over {item['axis']}, {item['min']}..{item['max']} {item['unit']}:", *rows])


INSPECT_DATA = Tool(
    name="inspect_data",
    is_core=True,
    title=msg("Inspect data"),
    look=ToolLook(running=msg("Inspecting"), done=msg("Inspected"), icon="table-2", card="read"),
    description=(
        "Get figures of a stored simulation: values of expressions (surer than .meas cards), shape or "
        "samples of signals, or, without either, which signals there are. "
        'Example: {"path": "rc.cir", "expressions": ["highcut(v(out))", "db(gain(v(out),1k))"]}'
    ),
    category="simulation",
    effect="read",
    arguments=InspectArguments,
    run=inspect_data,
)
