"""The parts of a circuit, as the model that asked `analyze_file` for them is told."""

from __future__ import annotations

from pathlib import Path

from application.tool_execution.definition import ToolContext
from domain.components.bill import BillLine, series_words
from domain.llm.tools.result import ToolResult, failure_of
from shared.errors import CircuitAIError
from shared.message import msg

_MOST_LINES = 200


async def counted(path: Path, context: ToolContext) -> ToolResult:
    """Each line of the bill, with its E-series; what is known of prices: nothing."""
    try:
        bill = await context.services.bill(path)
    except CircuitAIError as error:
        return failure_of(error)
    lines = [f"{bill.count} parts in {len(bill.lines)} lines (count, kind, value, references, series):"]
    lines += [_told(line) for line in bill.lines[:_MOST_LINES]]
    if len(bill.lines) > _MOST_LINES:
        lines.append(f"{len(bill.lines) - _MOST_LINES} more lines.")
    if bill.left_out:
        lines.append(f"Not parts: {', '.join(bill.left_out[:40])}.")
    if bill.is_cut:
        lines.append("There are more parts than are counted.")
    lines.append("Stock and price: unknown offline.")
    return ToolResult(
        success=True,
        content="\n".join(lines),
        summary=msg("Counted {count} {count:part|parts}.", count=bill.count),
        result={
            "count": bill.count,
            "lines": [
                {"count": line.count, "kind": line.kind, "value": line.value,
                 "references": list(line.references), "series": line.series, "nearest": line.nearest}
                for line in bill.lines[:_MOST_LINES]
            ],
            "not_parts": list(bill.left_out),
            "availability": "unknown offline",
        },
    )  # fmt: skip


def _told(line: BillLine) -> str:
    series = str(series_words(line))
    size = f" {line.size}" if line.size else ""
    return f"{line.count} x {line.kind} {line.value}{size}: {', '.join(line.references)}" + (
        f"; {series}" if series else ""
    )
