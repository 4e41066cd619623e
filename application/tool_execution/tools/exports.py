"""Tools that write stored simulation data into the project: pictures, and tables for other programs.

The file is made whole in memory and written as one operation, so that it can be undone; never over another.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from application.ports.project import ABSENT
from application.tool_execution.definition import Arguments, Texts, Tool, ToolContext, unlisted
from application.tool_execution.tools.new_files import free_name, plain_stem, vacant
from application.tool_execution.tools.result_data import span_of
from application.tool_execution.tools.result_source import (
    OF_OTHERS,
    ResultSource,
    result_content,
    result_source,
)
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, result_to_plain
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.results.exporting import Exported
    from application.results.tables import Table

Format = Literal["svg", "png", "csv", "mat", "json"]

_OTHER_WORDS = {"bode": "ac", "frequency": "ac", "magnitude": "ac", "phase": "ac", "transient": "tran",
                "time": "tran", "waveform": "tran", "dc_sweep": "dc", "sweep": "dc"}  # fmt: skip
_PICTURES = (".svg", ".png")
_PANE_MM = 110.0
_MOST_VALUES = 1_000_000
"""About 25 MB as text."""
_MOST_SIGNALS = 30
_SHOWN = 20


def _analyses(value: object) -> object:
    """Their names in other words too; one text for a list of one."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list):
        return value
    return [_OTHER_WORDS.get(item.lower(), item.lower()) if isinstance(item, str) else item for item in items]


class ExportArguments(Arguments):
    """Arguments of export_result."""

    format: Format | None = Field(
        None,
        description="svg unless given; csv: one analysis; mat, json: all.",
    )
    path: str | None = Field(
        None, description="A circuit (its newest result) or 'run 7'. Omit for the only circuit."
    )
    signals: Texts = Field(
        default_factory=list, max_length=_MOST_SIGNALS, description="Such as v(out) or db(v(out)). Omit: all."
    )
    range: Texts = unlisted([], max_length=2)
    """Start and stop of the axis."""
    analyses: Annotated[list[str], BeforeValidator(_analyses)] = Field(
        default_factory=list, max_length=4, description="Only these: ac, tran."
    )
    to: str | None = Field(None, description="File to make.")

    @property
    def format_or_ending(self) -> Format:
        """What was asked for, else what the file's name says."""
        ending = Path(self.to or "").suffix.lower().removeprefix(".")
        known: tuple[Format, ...] = get_args(Format)
        named: Format = next((each for each in known if each == ending), "svg")
        return named if self.format is None else self.format


async def export_result(arguments: ExportArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    """Draw a stored result into a picture of the project, or write its data into a file."""
    is_picture = f".{arguments.format_or_ending}" in _PICTURES
    return await (_picture if is_picture else _data)(arguments, context, call)


async def _picture(arguments: ExportArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    from application.results.exporting import ExportRequest, PictureOptions

    span = span_of(arguments.range)
    target = await _target(context, arguments.to, _PICTURES)
    source = await result_source(context, arguments.path)
    out = io.BytesIO()
    kinds = list(dict.fromkeys(arguments.analyses))
    exported = await context.services.export.picture(
        ExportRequest(
            source=source.path,
            target=out,
            signals=tuple(arguments.signals),
            analyses=tuple(kinds),
            span=span,
        ),
        PictureOptions(
            format="png" if arguments.format_or_ending == "png" else "svg",
            height_mm=_PANE_MM * max(len(kinds), 1),
            words={word: word for word in ("time", "frequency", "magnitude", "phase")},
        ),
    )
    if target is None:
        name = await _stem(context, source)
        analyses = "-".join(table.name for table in exported.tables)
        suffix = f".{arguments.format_or_ending}"
        target = await off_loop(free_name, context.view, f"charts/{name}-{analyses}", suffix, (suffix,))
    return await _written(context, call, target, out.getvalue(), _details(exported, source))


async def _data(arguments: ExportArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    from application.results.exporting import ExportRequest, TableOptions

    kind: Any = arguments.format_or_ending
    suffix = f".{kind}"
    span = span_of(arguments.range)
    target = await _target(context, arguments.to, (suffix,))
    source = await result_source(context, arguments.path)
    out = io.BytesIO()
    request = ExportRequest(
        source=source.path,
        target=out,
        signals=tuple(arguments.signals),
        analysis=next(iter(arguments.analyses), None),
        span=span,
        most_values=_MOST_VALUES,
    )
    exported = await context.services.export.table(request, TableOptions(format=kind))
    if target is None:
        name = await _stem(context, source)
        what = exported.tables[0].name if len(exported.tables) == 1 else "data"
        target = await off_loop(free_name, context.view, f"exports/{name}-{what}", suffix, (suffix,))
    return await _written(context, call, target, out.getvalue(), _details(exported, source))


async def _target(context: ToolContext, text: str | None, suffixes: tuple[str, ...]) -> Path | None:
    """The place the caller named, where nothing may be yet: told before anything is computed."""
    if text is None:
        return None
    return await off_loop(vacant, context.view, text, suffixes)


async def _stem(context: ToolContext, source: ResultSource) -> str:
    """What the data are named after: their circuit, else their file; only what is harmless in a name."""
    content = await off_loop(result_content, context, source.path)
    netlist = content.get("netlist")
    path = netlist.get("path") if isinstance(netlist, Mapping) else None
    name = Path(path if isinstance(path, str) else source.path.name).stem
    return plain_stem(name) or "result"


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


EXPORT_RESULT = Tool(
    name="export_result",
    title=msg("Export a result"),
    look=ToolLook(
        running=msg("Exporting the result"), done=msg("Exported the result"), icon="download", card="plain"
    ),
    description=(
        "Make a picture (Bode plot, waveforms) or a data file of a stored result, for the user to see or "
        "keep. Figures for yourself: inspect_data. "
        'Example: {"format": "svg", "path": "rc.cir", "signals": ["v(out)"], "analyses": ["ac"]}'
    ),
    category="report",
    effect="create",
    arguments=ExportArguments,
    run=export_result,
)
