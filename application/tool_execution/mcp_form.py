"""Tools and results in the form of the Model Context Protocol (revision 2025-06-18, "Tools").

https://modelcontextprotocol.io/specification/2025-06-18/server/tools: a tool has name, title, description,
inputSchema and annotations, which are hints; a result has content blocks, structuredContent and isError. A
failure of the tool itself is a result with isError, not an error of the protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from application.tool_execution.definition import Tool
    from domain.llm.tools.result import ToolResult
    from shared.message import Message


def tool_to_mcp(tool: Tool[Any], translate: Callable[[Message], str] = str) -> dict[str, Any]:
    """The tool as ``tools/list`` gives it; its title in the language of `translate`."""
    function = tool.schema["function"]
    return {
        "name": tool.name,
        "title": translate(tool.title),
        "description": function["description"],
        "inputSchema": function["parameters"],
        "annotations": {
            "title": translate(tool.title),
            "readOnlyHint": tool.effect == "read",
            "destructiveHint": tool.effect in ("change", "delete", "outside"),
            # A second call finds the new name taken, the text changed, the file gone; a run is given back.
            "idempotentHint": tool.effect in ("read", "simulate"),
            "openWorldHint": tool.effect == "outside",
        },
    }


def result_to_mcp(result: ToolResult) -> dict[str, Any]:
    """The outcome of a call as ``tools/call`` gives it."""
    structured = {"success": result.success, "error_type": result.error_type or None, **result.result}
    return {
        "content": [{"type": "text", "text": result.content}],
        "structuredContent": structured,
        "isError": not result.success,
    }
