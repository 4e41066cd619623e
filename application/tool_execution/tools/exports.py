"""Tools that write stored simulation data into the project: pictures, and tables for other programs.

The file is made whole in memory and written as one operation, so that it can be undone; never over another.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from application.ports.project import ABSENT
from application.ports.project_view import ProjectView
from application.tool_execution.definition import Arguments, Texts, Tool, ToolContext, Whole
from application.tool_execution.tools._common import in_thread
from application.tool_execution.tools.result_data import span_of
from application.tool_execution.tools.result_source import (
    OF_OTHERS,
    ResultSource,
    result_content,
    result_source,
)
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, result_to_plain
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.results.exporting import Exported
    from application.results.tables import Table

ChartType = Literal["bode", "transient", "dc", "noise"]
TableKind = Literal["csv", "mat", "json"]

_ANALYSES: dict[ChartType, str] = {"bode": "ac", "transient": "tran", "dc": "dc", "noise": "noise"}
_OTHER_WORDS = {"ac": "bode", "frequency": "bode", "magnitude": "bode", "phase": "bode", "tran": "transient",
                "time": "transient", "waveform": "transient", "dc_sweep": "dc", "sweep": "dc"}  # fmt: skip
_PICTURES = (".svg", ".png")
_TABLES: dict[TableKind, str] = {"csv": ".csv", "mat": ".mat", "json": ".json"}
_PANE_MM = 110.0
_MOST_VALUES = 1_000_000
"""About 25 MB as text."""
_MOST_SIGNALS = 30
_MOST_NAMES = 1000
_SHOWN = 20


def _chart_types(value: object) -> object:
    """Their names in other words too; one text for a list of one."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list):
        return value
    return [_OTHER_WORDS.get(item.lower(), item.lower()) if isinstance(item, str) else item for item in items]


class ChartArguments(Arguments):
    """Arguments of generate_chart."""

    chart_types: Annotated[list[ChartType], BeforeValidator(_chart_types)] = Field(
        default_factory=list,
        max_length=4,
        description="What is drawn, one below the other: bode (gain and phase of the ac analysis), "
        "transient, dc, noise. Omit it for the result's most telling analysis.",
    )
    data_source: str | None = Field(
        None,
        description="A circuit (its newest result), or the result_path that run_simulation gave. Omit it for "
        "the project's only circuit.",
    )
    iteration: Whole | None = Field(
        None,
        ge=1,
        le=10**6,
        description="In place of data_source: the number of a stored run, 1 = the oldest.",
    )
    signals: Texts = Field(
        default_factory=list,
        max_length=_MOST_SIGNALS,
        description="Signals or expressions, for example v(out), db(v(out)). Omit it for the outputs.",
    )
    range: Texts = Field(
        default_factory=list,
        max_length=2,
        description='Start and stop of the axis, for example ["1k", "1meg"].',
    )
    path: str | None = Field(
        None, description="Picture to make, .svg or .png. Omit it for a new name in charts/."
    )


class ExportArguments(Arguments):
    """Arguments of export_waveform_data."""

    format: TableKind = Field(
        "csv", description="csv for one analysis; mat (MATLAB) and json hold all of them."
    )
    signals: Texts = Field(
        default_factory=list,
        max_length=_MOST_SIGNALS,
        description="Signals or expressions, for example v(out), db(v(out)). Omit it for all signals.",
    )
    range: Texts = Field(
        default_factory=list, max_length=2, description='Start and stop of the axis, for example ["0", "1m"].'
    )
    data_source: str | None = Field(
        None,
        description="A circuit (its newest result), or the result_path that run_simulation gave. Omit it for "
        "the project's only circuit.",
    )
    analysis_type: str | None = Field(
        None, max_length=20, description="Only this analysis of the result, for example ac or tran."
    )
    path: str | None = Field(None, description="File to make. Omit it for a new name in exports/.")


async def generate_chart(arguments: ChartArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    """Draw a stored result into a picture of the project."""
    from application.results.exporting import ExportRequest, PictureOptions

    span = span_of(arguments.range)
    target = await _target(context, arguments.path, _PICTURES)
    source = await result_source(context, arguments.data_source, arguments.iteration)
    out = io.BytesIO()
    kinds = list(dict.fromkeys(arguments.chart_types))
    exported = await context.services.export.picture(
        ExportRequest(
            source=source.path,
            target=out,
            signals=tuple(arguments.signals),
            analyses=tuple(_ANALYSES[kind] for kind in kinds),
            span=span,
        ),
        PictureOptions(
            format="png" if target is not None and target.suffix.lower() == ".png" else "svg",
            height_mm=_PANE_MM * max(len(kinds), 1),
            words={word: word for word in ("time", "frequency", "magnitude", "phase")},
        ),
    )
    if target is None:
        name = await _stem(context, source)
        analyses = "-".join(table.name for table in exported.tables)
        target = await in_thread(context, _free, context.view, f"charts/{name}-{analyses}", ".svg", _PICTURES)
    return await _written(context, call, target, out.getvalue(), _details(exported, source))


async def export_waveform_data(
    arguments: ExportArguments, context: ToolContext, call: ToolCall
) -> ToolResult:
    """Write a stored result's data into a file of the project."""
    from application.results.exporting import ExportRequest, TableOptions

    suffix = _TABLES[arguments.format]
    span = span_of(arguments.range)
    target = await _target(context, arguments.path, (suffix,))
    source = await result_source(context, arguments.data_source)
    out = io.BytesIO()
    request = ExportRequest(
        source=source.path,
        target=out,
        signals=tuple(arguments.signals),
        analysis=arguments.analysis_type,
        span=span,
        most_values=_MOST_VALUES,
    )
    exported = await context.services.export.table(request, TableOptions(format=arguments.format))
    if target is None:
        name = await _stem(context, source)
        what = exported.tables[0].name if len(exported.tables) == 1 else "data"
        target = await in_thread(context, _free, context.view, f"exports/{name}-{what}", suffix, (suffix,))
    return await _written(context, call, target, out.getvalue(), _details(exported, source))


async def _target(context: ToolContext, text: str | None, suffixes: tuple[str, ...]) -> Path | None:
    """The place the caller named, where nothing may be yet: told before anything is computed."""
    if text is None:
        return None
    return await in_thread(context, _vacant, context.view, text, suffixes)


def _vacant(view: ProjectView, text: str, suffixes: tuple[str, ...]) -> Path:
    path = view.locate_for_writing(text, suffixes)
    if path.exists():
        raise UserInputError(
            msg("{path} already exists; it was not replaced.", path=view.name_of(path)),
            advice=msg("Choose another name, or omit path for a new one."),
            error_type="file_exists",
        )
    return path


def _free(view: ProjectView, stem: str, suffix: str, suffixes: tuple[str, ...]) -> Path:
    """A name nothing has: ``stem.svg``, ``stem-2.svg`` ..."""
    for number in range(1, _MOST_NAMES):
        path = view.locate_for_writing(f"{stem}{'' if number == 1 else f'-{number}'}{suffix}", suffixes)
        if not path.exists():
            return path
    raise UserInputError(
        msg("There are too many files with names like {path}.", path=f"{stem}{suffix}"),
        advice=msg("Give a name with path."),
        error_type="file_exists",
    )


async def _stem(context: ToolContext, source: ResultSource) -> str:
    """What the data are named after: their circuit, else their file; only what is harmless in a name."""
    content = await in_thread(context, result_content, context, source.path)
    netlist = content.get("netlist")
    path = netlist.get("path") if isinstance(netlist, Mapping) else None
    name = Path(path if isinstance(path, str) else source.path.name).stem
    return re.sub(r"[^\w+-]+", "_", name).strip("_")[:60] or "result"


async def _written(
    context: ToolContext, call: ToolCall, target: Path, data: bytes, details: dict[str, Any]
) -> ToolResult:
    name = context.view.name_of(target)
    details = {"path": name, "file_path": name, "bytes": len(data), **details}
    result = ToolResult(
        success=True,
        content=_content(details),
        summary=msg("Created {path} ({size} kB).", path=name, size=-(-len(data) // 1000)),
        result=details,
    )
    await context.operations.change_file(
        op_id=call.call_id,
        session_id=context.session_id,
        tool=call.name,
        path=target.relative_to(context.view.root),
        content=data,
        expected_sha256=ABSENT,
        result=result_to_plain(result),
    )
    return result


def _details(exported: Exported, source: ResultSource) -> dict[str, Any]:
    return {
        "result_path": source.name,
        "is_stale": source.is_stale,
        "origin": source.origin,
        "tables": [_table(table) for table in exported.tables],
        "left_out": list(exported.left_out),
    }


def _table(table: Table) -> dict[str, Any]:
    names = [column.name for column in table.columns]
    return {
        "analysis": table.name,
        "axis": None if table.axis is None else table.axis.name,
        "rows": table.rows,
        "signal_count": len(names),
        "signals": names[:_SHOWN],
    }


def _content(details: Mapping[str, Any]) -> str:
    lines = [f"Made {details['path']} ({details['bytes']} bytes) from {details['result_path']}."]
    for table in details["tables"]:
        more = table["signal_count"] - len(table["signals"])
        lines.append(
            f"{table['analysis']}: {table['rows']} rows; {', '.join(table['signals'])}"
            f"{f' and {more} more' if more else ''}"
        )
    if details["left_out"]:
        lines.append(f"Left out: {', '.join(details['left_out'])}; ask for them with their analysis.")
    if details["origin"] == "elsewhere":
        lines.append(f"The data were {OF_OTHERS}: simulate the circuit for figures of your own.")
    if details["is_stale"]:
        lines.append("The circuit was changed since this result: simulate it again for new data.")
    return "\n".join(lines)


GENERATE_CHART = Tool(
    name="generate_chart",
    title=msg("Draw a chart"),
    look=ToolLook(running=msg("Drawing a chart"), done=msg("Drew a chart"), icon="chart-line", card="plain"),
    description=(
        "Draw a stored simulation result as a picture (svg or png) in the project: a Bode plot, waveforms, a "
        "dc sweep or noise. Use it when the user wants to see or keep a diagram; figures come from "
        "inspect_data. Needs a result: call run_simulation first. Never replaces a file. "
        'Example: {"chart_types": ["bode"], "data_source": "rc.cir", "signals": ["v(out)"]}'
    ),
    category="report",
    effect="create",
    arguments=ChartArguments,
    run=generate_chart,
)

EXPORT_WAVEFORM_DATA = Tool(
    name="export_waveform_data",
    title=msg("Export data"),
    look=ToolLook(
        running=msg("Exporting curves"), done=msg("Exported curves"), icon="download", card="plain"
    ),
    description=(
        "Write the vectors of a stored simulation result into a file of the project for other programs: csv, "
        "mat or json. Use it when the user wants the data; to read figures yourself there is inspect_data. "
        "Needs a result: call run_simulation first. Never replaces a file. "
        'Example: {"format": "csv", "signals": ["v(out)"], "range": ["0", "1m"], "data_source": "rc.cir"}'
    ),
    category="report",
    effect="create",
    arguments=ExportArguments,
    run=export_waveform_data,
)
