"""The tool that searches the project: by everything, by one thing exactly, or for uses of a symbol."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from application.ports.search import Found, Match
from application.tool_execution.definition import Arguments, Switch, Texts, Tool, ToolContext, Whole, unlisted
from application.tool_execution.tools.circuits import references
from domain.llm.tokens import count_tokens
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure
from domain.search.query import Scope, SearchQuery
from shared.message import Message, msg

Kind = Literal["all", "name", "content", "regex", "symbol", "uses"]
_SHOWN_LINE = 200
_SHOWN_PART = 320
"""Characters of a part that was found by its meaning."""
_ROW_TOKENS = 1500
"""Of all rows of a result together, as JSON."""


class SearchArguments(Arguments):
    """Arguments of search_project."""

    query: str = Field(
        min_length=1, max_length=500, description="A text (letter case aside), some words, or a /pattern/."
    )
    kind: Kind = Field(
        "all",
        description="uses = where an element, node, model, subcircuit or parameter is defined and used.",
    )
    scope: Scope = Field("all", description="code = netlists, docs = texts and PDFs.")
    file_types: Texts = unlisted([], max_length=20)
    """Only these endings: ``lib``."""
    max_results: Whole = unlisted(10, ge=1, le=100)
    case_sensitive: Switch = unlisted(False)
    path: str | None = unlisted(None)
    token_budget: Whole = unlisted(1500, ge=50, le=100_000)


async def search_project(arguments: SearchArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    """What matches: symbols, names, contents and meanings, or one of these alone."""
    if arguments.kind == "uses":
        return await references(context, arguments.query, arguments.path)
    query = SearchQuery(
        text=arguments.query,
        kind=arguments.kind,
        scope=arguments.scope,
        suffixes=tuple(f".{item.strip().lstrip('*').lstrip('.').lower()}" for item in arguments.file_types),
        is_case_sensitive=arguments.case_sensitive,
        most=arguments.max_results,
    )
    if problem := _problem(query):
        return problem
    is_by_everything = query.kind == "all" and not query.suffixes and not query.is_case_sensitive
    search = _by_everything if is_by_everything else _exactly
    return await search(arguments, query, context)


async def _by_everything(arguments: SearchArguments, query: SearchQuery, context: ToolContext) -> ToolResult:
    answer = await context.services.search(context.project.root, query)
    shown = _within(answer.fused, arguments.token_budget)
    exact = [match for match in shown if match.kind != "semantic"]
    semantic = [match for match in shown if match.kind == "semantic"]
    used = [sum(count_tokens(_line(match)) for match in part) for part in (exact, semantic)]
    scores = {match: round(1 - rank / (len(answer.fused) + 1), 3) for rank, match in enumerate(answer.fused)}
    details = {
        "query": arguments.query,
        "exact_matches": [_row(match, scores[match]) for match in exact],
        "semantic_matches": [_row(match, scores[match]) for match in semantic],
        "semantic_available": answer.is_semantic_available,
        "semantic_note": None if answer.semantic_note is None else str(answer.semantic_note),
        **_counts(answer.found),
        "token_usage": {
            "exact_tokens": used[0],
            "semantic_tokens": used[1],
            "total_tokens": sum(used),
            "budget": arguments.token_budget,
            "utilization": round(sum(used) / arguments.token_budget, 3),
        },
    }
    note = answer.semantic_note if answer.is_semantic_available or answer.found.total == 0 else None
    return _result(arguments.query, answer.found, shown, details, note)


async def _exactly(arguments: SearchArguments, query: SearchQuery, context: ToolContext) -> ToolResult:
    found = await context.services.search.exact(context.project.root, query)
    shown = _within(found.matches, _ROW_TOKENS)
    details = {
        "query": arguments.query,
        "search_type": arguments.kind,
        "matches": [_row(match, None) for match in shown],
        **_counts(found),
    }
    return _result(arguments.query, found, shown, details, None)


def _problem(query: SearchQuery) -> ToolResult | None:
    if not query.text.strip():
        return failure(
            "bad_arguments", msg("The query is empty."), suggestions=(msg("Give a text to search for."),)
        )
    try:
        _ = query.pattern
    except (re.error, RecursionError, OverflowError) as error:
        return failure(
            "bad_pattern",
            msg("The regular expression is not valid: {reason}.", reason=error),
            suggestions=(msg("Fix it, or search for plain text without the slashes."),),
        )
    return None


def _counts(found: Found) -> dict[str, Any]:
    return {
        "total_matches": found.total,
        "total_is_exact": found.is_total_exact,
        "files_searched": found.files,
        "files_skipped": dict(found.skipped),
        "files_waiting": found.waiting,
    }


def _result(
    query: str, found: Found, shown: Sequence[Match], details: dict[str, Any], note: Message | None
) -> ToolResult:
    more = "" if found.is_total_exact or not found.total else "at least "
    head = f"{more}{found.total} matches in {found.files} files"
    if found.total > sum(match.kind != "semantic" for match in shown):
        head += f", the best {len(shown)}"
    if found.skipped:
        head += f" (not looked into: {', '.join(f'{n} {reason}' for reason, n in found.skipped.items())})"
    if found.waiting:
        head += f"; {found.waiting} files were not looked through in time, ask again"
    if note is not None:
        head += f". {str(note).rstrip('.')}"
    if not shown:
        head += ". Try a shorter text, or list_project_files."
    return ToolResult(
        success=True,
        content="\n".join([head, *map(_line, shown)]),
        summary=msg(
            "Searched for “{query}”: {count} {count:match|matches}.", query=query[:60], count=found.total
        ),
        result=details,
    )


def _within(matches: Sequence[Match], budget: int) -> list[Match]:
    """The first matches that fit, at least one."""
    kept: list[Match] = []
    rows = _ROW_TOKENS
    for match in matches:
        budget -= count_tokens(_line(match))
        rows -= count_tokens(json.dumps(_row(match, 0.5), ensure_ascii=False))
        if kept and (budget < 0 or rows < 0):
            break
        kept.append(match)
    return kept


def _row(match: Match, score: float | None) -> dict[str, Any]:
    """A match as plain data; what does not apply is left out."""
    text = match.text.strip()
    most = _SHOWN_PART if match.kind == "semantic" else _SHOWN_LINE
    optional = {"page": match.page, "section": match.section, "symbol_type": match.symbol, "score": score}
    return {
        "content": text[:most],
        "source": match.source,
        "line_number": match.line,
        "match_type": match.kind,
        "truncated": len(text) > most,
        **{name: value for name, value in optional.items() if value not in (None, "")},
    }


def _line(match: Match) -> str:
    if match.line is None:
        return f"{match.source} (file name)"
    place = f"{match.source}:{match.line}" if match.page is None else f"{match.source} page {match.page}"
    section = f" [{match.section}]" if match.section else ""
    kind = {"symbol": f" ({match.symbol} definition)", "semantic": " (by meaning)"}.get(match.kind, "")
    most = _SHOWN_PART if match.kind == "semantic" else _SHOWN_LINE
    return f"{place}:{section}{kind} {' '.join(match.text.split())[:most]}"


SEARCH_PROJECT = Tool(
    name="search_project",
    is_core=True,
    title=msg("Search the project"),
    look=ToolLook(
        running=msg("Searching the project"), done=msg("Searched the project"), icon="search", card="read"
    ),
    description=(
        "Search the project's texts, PDFs and file names. Ask for the uses of a symbol before it is "
        "renamed or changed. "
        'Example: {"query": "phase margin", "scope": "docs"}'
    ),
    category="search",
    effect="read",
    arguments=SearchArguments,
    run=search_project,
)
