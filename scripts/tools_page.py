"""Writes docs/tools-reference.md from the registry of tools: `python -m scripts.tools_page`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from application.tool_execution.definition import EXAMPLE, Tool
from application.tool_execution.executor import SUBSETS, tools_of
from application.tool_execution.other_names import OTHER_TOOL
from application.tool_execution.registry import TOOLS
from presentation.translation import Translator

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tools-reference.md"
HEAD = """# Tools and their arguments

<!-- Written by `python -m scripts.tools_page` from the registry; do not edit. -->

What the assistant may do in a project, with the words its model reads. How calls run, what is asked about and
what they answer: [tools.md](tools.md). By hand: `tool NAME JSON --project DIR`; for other programs:
`mcp PROJECT` ([mcp.md](mcp.md)).
"""


def page() -> str:
    """The whole page."""
    chinese = Translator("zh")
    told = [tool for tool in TOOLS if tool.name != OTHER_TOOL]
    return "".join((HEAD, *(_section(tool, chinese) for tool in told)))


def _section(tool: Tool[Any], chinese: Translator) -> str:
    description, _, example = tool.description.partition(EXAMPLE)
    nodes = ", ".join(node for node in SUBSETS if tool in tools_of(node, TOOLS))
    parameters = tool.schema["function"]["parameters"]
    parts = [f"\n## {tool.name}\n\n{tool.title} ({chinese(tool.title)}). {' '.join(description.split())}\n\n"]
    if parameters["properties"]:
        parts.append("| argument | kind | |\n|---|---|---|\n")
        required = parameters.get("required", ())
        parts += [
            _row(name, one, required=name in required) for name, one in parameters["properties"].items()
        ]
    parts.append(f"\nExample: `{' '.join(example.split())}`\n\nEffect: {tool.effect}. In: {nodes}.\n")
    return "".join(parts)


def _row(name: str, schema: Mapping[str, Any], *, required: bool) -> str:
    kind = (
        ", ".join(f"`{each}`" for each in schema["enum"]) if "enum" in schema else schema.get("type", "any")
    )
    told = " ".join(str(schema.get("description", "")).split()).replace("|", "\\|")
    return f"| `{name}`{' (required)' if required else ''} | {kind} | {told} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
