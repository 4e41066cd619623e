"""The tool that searches the project."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from pydantic import Field

from application.tool_execution.context import ToolCall, ToolContext
from application.tool_execution.definition import Arguments, Tool, Whole
from application.tool_execution.searching import Found, Scope, pattern_of, search
from application.tool_execution.tools._common import in_worker
from domain.llm.tokens import estimate_tokens
from domain.llm.tools.result import ToolResult, failure
from shared.message import msg

_PATTERN_S = 10.0
"""A pattern that backtracks for longer is ended together with its process."""


class SearchArguments(Arguments):
    """Arguments of search_project."""

    query: str = Field(
        min_length=1,
        max_length=500,
        description="Text to find, letter case aside; /between slashes/ it is a regular expression.",
    )
    scope: Scope = Field("all", description="code = netlists, docs = texts and notes, all = every text file.")
    max_results: Whole = Field(10, ge=1, le=100, description="Most matches to return.")
    token_budget: Whole = Field(4000, ge=50, le=100_000, description="Most tokens of all matches together.")


async def search_project(arguments: SearchArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    """Symbols, names and contents that match a text or a pattern."""
    if not arguments.query.strip():
        return failure(
            "bad_arguments", msg("The query is empty."), suggestions=(msg("Give a text to find."),)
        )
    try:
        pattern = pattern_of(arguments.query)
    except (re.error, RecursionError, OverflowError) as error:
        return failure(
            "bad_pattern",
            msg("The regular expression can't be read: {reason}.", reason=error),
            suggestions=(msg("Mend it, or search for plain text without the slashes."),),
        )
    view = context.view
    try:
        async with asyncio.timeout(None if pattern is None else _PATTERN_S) as limit:
            found = await in_worker(
                context,
                view.root,
                search,
                view,
                arguments.query,
                arguments.scope,
                max_results=arguments.max_results,
                token_budget=arguments.token_budget,
            )
    except TimeoutError:
        if not limit.expired():
            raise
        return failure(
            "search_too_slow",
            msg("The search was ended after {seconds} s: the regular expression takes too long.",
                seconds=f"{_PATTERN_S:g}"),
            suggestions=(msg("Use a plainer pattern without repeated groups, or plain text."),),
        )  # fmt: skip
    return _result(arguments, found)


def _result(arguments: SearchArguments, found: Found) -> ToolResult:
    lines = [_line(match) for match in found.matches]
    used = estimate_tokens("\n".join(lines))
    details: dict[str, Any] = {
        "query": arguments.query,
        "exact_matches": found.matches,
        "semantic_matches": [],
        "semantic_available": False,
        "total_matches": found.total,
        "files_searched": found.files,
        "files_skipped": found.skipped,
        "token_usage": {
            "exact_tokens": used,
            "semantic_tokens": 0,
            "total_tokens": used,
            "budget": arguments.token_budget,
            "utilization": round(used / arguments.token_budget, 3),
        },
    }
    head = f"{found.total} matches in {found.files} files"
    if found.total > len(found.matches):
        head += f", the first {len(found.matches)}"
    if found.skipped:
        head += f" (not looked into: {', '.join(f'{n} {reason}' for reason, n in found.skipped.items())})"
    if not found.matches:
        head += ". Try a shorter text, or list_project_files."
    return ToolResult(
        success=True,
        content="\n".join([head, *lines]),
        summary=msg(
            "Searched for “{query}”: {count} matches.", query=arguments.query[:60], count=found.total
        ),
        result=details,
    )


def _line(match: dict[str, Any]) -> str:
    if match["line_number"] is None:
        return f"{match['source']} (file name)"
    kind = " (definition)" if match["match_type"] == "symbol" else ""
    return f"{match['source']}:{match['line_number']}:{kind} {match['content']}"


SEARCH_PROJECT = Tool(
    name="search_project",
    title=msg("Search the project"),
    description=(
        "Search all text files of the project, and their names, for a text (letter case does not count) or a "
        "/regular expression/. Definitions of a symbol of that name come first. Use it when you don't know "
        "which file something is in; for uses of a symbol find_references is more exact. "
        'Example: {"query": "phase margin", "scope": "docs"}'
    ),
    category="search",
    effect="read",
    arguments=SearchArguments,
    run=search_project,
)
