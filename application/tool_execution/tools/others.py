"""The tool by which a model with little room reaches those tools that it is not shown."""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field

from application.tool_execution.definition import Arguments, Tool, ToolContext
from application.tool_execution.other_names import OTHER_TOOL, own_name
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure
from shared.message import msg


class OtherArguments(Arguments):
    """Arguments of other_tool."""

    name: str = Field(max_length=60, description="The tool's name.")
    arguments: dict[str, Any] | None = Field(None, description="Its arguments; omit them to be told.")


def other_tool(others: tuple[Tool[Any], ...]) -> Tool[OtherArguments]:
    """The tool that tells how `others` are called; a call with arguments is taken as one of that tool."""
    by_name = {tool.name: tool for tool in others}

    async def tell(arguments: OtherArguments, _context: ToolContext, _call: ToolCall) -> ToolResult:
        tool = by_name.get(own_name(arguments.name))
        if tool is None:
            return failure(
                "unknown_tool",
                msg("There is no tool named {name}.", name=arguments.name),
                suggestions=(msg("Available tools: {names}.", names=", ".join(by_name)),),
            )
        return ToolResult(
            success=True,
            content=json.dumps(tool.schema["function"], ensure_ascii=False),
            summary=msg("Looked up how {tool} is used.", tool=tool.name),
        )

    return Tool(
        name=OTHER_TOOL,
        title=msg("Another tool"),
        look=ToolLook(
            running=msg("Looking up a tool"), done=msg("Looked up a tool"), icon="list-tree", card="read"
        ),
        description=f"Call one of: {', '.join(by_name)}. Without arguments it tells what the tool takes. "
        'Example: {"name": "run_study"}',
        category="file",
        effect="read",
        arguments=OtherArguments,
        run=tell,
    )
