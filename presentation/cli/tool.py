"""`tool NAME JSON --project DIR`: one call of a tool, as a model would make it.

On stdout there is always exactly one JSON object, also without --json and whatever goes wrong.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from application.app import Application
from domain.llm.tools.result import ToolResult
from presentation.cli.confirming import allow_all
from presentation.cli.terminal import read_input
from presentation.json_output import Output
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg
from shared.safe_json import MOST_NESTED, is_too_deep

EXIT_FAILED = 1
EXIT_ENVIRONMENT = 3
_LIST = "list"
_LARGEST_INPUT = 16_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """NAME [JSON] [--project DIR] [--schema] [--yes]; NAME list lists the tools."""
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("arguments", nargs="?", default="{}", metavar="JSON")
    parser.add_argument("--project", type=Path, default=Path(), metavar="DIR")
    parser.add_argument("--schema", action="store_true")
    parser.add_argument("--yes", action="store_true")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 1 when the tool failed (unknown ones and bad arguments too), 3 for the environment."""
    if args.name == _LIST:
        return _list(app, out)
    if args.schema:
        return _schema(args.name, app, out)
    text = args.arguments
    if text == "-":
        text = await _standard_input()
    arguments, problem = _read(text)
    try:
        result = await app.conversations.run_tool(
            args.name,
            arguments,
            project=args.project,
            problem=problem,
            confirm=allow_all if args.yes else None,  # a question would be a second text on stdout
        )
    except CircuitAIError as error:
        fail(error, out)
        return error.exit_code
    out.json(_document(result, out))
    if result.success:
        return 0
    return EXIT_ENVIRONMENT if result.is_environment else EXIT_FAILED


async def _standard_input() -> str:
    data = await read_input(_LARGEST_INPUT)
    if len(data) > _LARGEST_INPUT:
        raise UserInputError(
            msg("The arguments on standard input are longer than 16 MB."), error_type="bad_arguments"
        )
    return data.decode("utf-8", "surrogateescape")


def _read(text: str) -> tuple[Mapping[str, object], str]:
    """The arguments, or why they cannot be read (English: a model may read it)."""
    try:
        found = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return {}, f"they are no valid JSON ({error})"
    if is_too_deep(found):
        return {}, f"they are nested more than {MOST_NESTED} deep"
    if not isinstance(found, dict):
        return {}, "they have to be one JSON object, for example {}"
    return found, ""


def _refuse_constant(word: str) -> object:
    raise ValueError(f"{word} is no JSON number")


def _document(result: ToolResult, out: Output) -> dict[str, Any]:
    return {
        "success": result.success,
        "content": result.content,
        "error_type": result.error_type or None,
        "error_message": None if result.error_message is None else out.translate(result.error_message),
        "suggestions": [out.translate(item) for item in result.suggestions],
        "result": result.result,
    }


def fail(error: CircuitAIError, out: Output) -> None:
    """Show an error in the one form this command has."""
    out.json(_failure(error, out))


def _failure(error: CircuitAIError, out: Output) -> dict[str, Any]:
    return {
        "success": False,
        "content": f"Error ({error.error_type}): {error.message}",
        "error_type": error.error_type,
        "error_message": out.translate(error.message),
        "suggestions": [] if error.advice is None else [out.translate(error.advice)],
        "result": {},
    }


def _schema(name: str, app: Application, out: Output) -> int:
    tool = app.conversations.run_tool.executor.tool(name)
    if tool is None:
        known = ", ".join(sorted(app.conversations.run_tool.executor.names))
        error = UserInputError(
            msg("There is no tool named {name}.", name=name),
            advice=msg("Available tools: {names}.", names=known),
            error_type="unknown_tool",
        )
        fail(error, out)
        return EXIT_FAILED
    out.json(tool.schema)
    return 0


def _list(app: Application, out: Output) -> int:
    tools = app.conversations.run_tool.executor.tools
    out.json(
        {
            "tools": [
                {
                    "name": tool.name,
                    "title": out.translate(tool.title),
                    "category": tool.category,
                    "effect": tool.effect,
                    "description": tool.description,
                    "arguments": tool.usage,
                }
                for tool in tools
            ]
        }
    )
    return 0
