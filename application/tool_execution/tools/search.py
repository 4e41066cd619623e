"""The tools that search the project: by everything at once, and by one thing exactly."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from application.ports.search import Found, Match
from application.tool_execution.definition import Arguments, Switch, Texts, Tool, ToolContext, Whole
from domain.llm.tokens import count_tokens
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import ToolCall, ToolResult, failure
from domain.search.query import Scope, SearchQuery, SearchType
from shared.message import Message, msg

_SHOWN_LINE = 200
_SHOWN_PART = 320
"""Characters of a part that was found by its meaning."""
_ROW_TOKENS = 1500
"""Of all rows of a result together, as JSON."""


class SearchArguments(Arguments):
    """Arguments of search_project."""

    query: str = Field(
        min_length=1,
        max_length=500,
        description="Text to find, letter case aside; /between slashes/ it is a regular expression.",
    )
    scope: Scope = Field(
        "all", description="code = netlists, docs = texts, notes and PDFs, all = every text file."
    )
    max_results: Whole = Field(10, ge=1, le=100, description="Most matches to return.")
    token_budget: Whole = Field(1500, ge=50, le=100_000, description="Most tokens of all matches together.")


class ExactArguments(Arguments):
    """Arguments of search_exact."""

    query: str = Field(min_length=1, max_length=500, description="What to find.")
    search_type: SearchType = Field(
        "content",
        description="name = file names, content = lines with this text, regex = lines that match this Python "
        "pattern (no slashes around it), symbol = definitions of elements, nodes, models, subcircuits, "
        "parameters and functions whose name has it, all = names, contents and symbols.",
    )
    file_types: Texts = Field(
        default_factory=list,
        max_length=20,
        description='Only files with these endings, for example ["cir", "lib"].',
    )
    case_sensitive: Switch = Field(default=False, description="Letter case counts.")
    max_results: Whole = Field(10, ge=1, le=100, description="Most matches to return.")


async def search_project(arguments: SearchArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    """Symbols, names, contents and meanings that match."""
    query = SearchQuery(text=arguments.query, scope=arguments.scope, most=arguments.max_results)
    if problem := _problem(query):
        return problem
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


async def search_exact(arguments: ExactArguments, context: ToolContext, _call: ToolCall) -> ToolResult:
    """What matches a text, name, pattern or symbol exactly."""
    suffixes = tuple(f".{item.strip().lstrip('*').lstrip('.').lower()}" for item in arguments.file_types)
    query = SearchQuery(
        text=arguments.query,
        kind=arguments.search_type,
        suffixes=suffixes,
        is_case_sensitive=arguments.case_sensitive,
        most=arguments.max_results,
    )
    if problem := _problem(query):
        return problem
    found = await context.services.search.exact(context.project.root, query)
    shown = _within(found.matches, _ROW_TOKENS)
    details = {
        "query": arguments.query,
        "search_type": arguments.search_type,
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
    more = "" if found.is_total_exact else "at least "
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
    title=msg("Search the project"),
    look=ToolLook(
        running=msg("Searching the project"), done=msg("Searched the project"), icon="search", card="read"
    ),
    description=(
        "Search all text files and PDFs of the project, and their names, for a text (letter case does not "
        "count), a few words, or a /regular expression/; by meaning too where that is set up. Definitions of "
        "a symbol of that name come first. Use it when you don't know which file something is in; for uses "
        "of a symbol find_references is more exact. Files that .gitignore or .circuitaiignore leave out are "
        'not searched. Example: {"query": "phase margin", "scope": "docs"}'
    ),
    category="search",
    effect="read",
    arguments=SearchArguments,
    run=search_project,
)

SEARCH_EXACT = Tool(
    name="search_exact",
    title=msg("Exact search"),
    look=ToolLook(running=msg("Searching"), done=msg("Searched"), icon="search", card="read"),
    description=(
        "Search for exactly one thing: file names, lines with a text, lines that match a regular expression, "
        "or definitions of symbols. Use it when you know what you look for and in which kind of file; for "
        "anything vague use search_project. "
        'Example: {"query": "W=\\\\d+u", "search_type": "regex", "file_types": ["cir", "lib"]}'
    ),
    category="search",
    effect="read",
    arguments=ExactArguments,
    run=search_exact,
)
