"""What `check` says of a circuit, in the answers of tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from application.tool_execution.definition import ToolContext
from application.tool_execution.tools._common import NETLIST_SUFFIXES
from shared.errors import CircuitAIError

_MOST_ITEMS = 60
_MOST_BYTES = 200_000
"""Of a text that is checked along with being written."""
_MOST_TOLD = 5


async def found_in(context: ToolContext, path: Path, data: bytes | None = None) -> list[dict[str, Any]]:
    """The findings in the netlist at `path`, or in `data`, as plain data. Raises UserInputError."""
    report = await context.services.check(path, data=data)
    return [
        {
            "severity": item.severity,
            "code": item.code,
            "message": str(item.message),
            "file": None if item.file is None else context.view.name_of(item.file),
            "line": item.line,
        }
        for item in report.diagnostics[:_MOST_ITEMS]
    ]


def diagnostic_line(item: Mapping[str, Any]) -> str:
    """``error: amp.cir:6: Model QX is not defined. [undefined-model]``."""
    place = f"{item['file']}:{item['line']}" if item["file"] else f"line {item['line']}"
    return f"{item['severity']}: {place}: {item['message']} [{item['code']}]"


async def brief_findings(
    context: ToolContext,
    path: Path,
    data: bytes | None = None,
    told: Collection[tuple[str | None, int | None]] = (),
) -> list[str]:
    """The first errors and warnings in a netlist as lines, those at places already `told` left out; [] for
    what is not a netlist, or a large one."""
    if path.suffix.lower() not in NETLIST_SUFFIXES or (data is not None and len(data) > _MOST_BYTES):
        return []
    try:
        found = await found_in(context, path, data)
    except CircuitAIError:  # it cannot be read: whoever asks says so
        return []
    serious = [
        item for item in found if item["severity"] != "info" and (item["file"], item["line"]) not in told
    ]
    lines = [diagnostic_line(item) for item in serious[:_MOST_TOLD]]
    return [*lines, f"... and {len(serious) - _MOST_TOLD} more"] if len(serious) > _MOST_TOLD else lines
