"""Searching a project's files for a text or a pattern; runs in a worker process, so a stop ends it at once.

Found are, best first: definitions of a symbol of that name, files of that name, places in texts.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Literal

from application.tool_execution.context import FolderEntry, ProjectView
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from domain.circuit.symbols import bare_name, uses_of
from domain.llm.tokens import estimate_tokens
from domain.llm.tools.text_files import BinaryFileError, decode

Scope = Literal["code", "docs", "all"]
MatchType = Literal["symbol", "name", "exact", "words", "regex"]

CODE_SUFFIXES = frozenset(
    {".cir", ".sp", ".spice", ".net", ".ckt", ".inc", ".lib", ".mod", ".sub", ".model", ".mdl", ".va", ".py"}
)
DOCUMENT_SUFFIXES = frozenset({".md", ".txt", ".rst", ".tex", ".html", ".htm", ".csv"})
LARGEST_FILE = 5_000_000

_SCORES: dict[MatchType, float] = {"symbol": 1.0, "name": 0.9, "exact": 0.8, "regex": 0.8, "words": 0.5}
_MOST_SCANNED = 20_000
_LONGEST_LINE = 2000
"""Characters of a line that are looked at by a pattern."""
_SHOWN_LINE = 200
_MOST_IN_FILE = 20
_COLLECTED = 2000
_PATTERN = re.compile(r"/(.+)/i?", re.DOTALL)
_NAME = re.compile(r"[\w.#$@\[\]()+\-]+")


@dataclass(slots=True, kw_only=True)
class Found:
    """What a search gave."""

    matches: list[dict[str, Any]] = field(default_factory=list)
    total: int = 0
    """Matches there were, those left out among them."""
    files: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    """Files not looked into, by reason: binary, too_large, unreadable."""


def pattern_of(query: str) -> re.Pattern[str] | None:
    """The pattern of a query written ``/like this/``, None for plain text. Raises re.error."""
    match = _PATTERN.fullmatch(query.strip())
    if match is None:
        return None
    with warnings.catch_warnings():  # "[[" may mean something else in a later Python
        warnings.simplefilter("ignore")
        return re.compile(match[1], re.IGNORECASE)


def search(view: ProjectView, query: str, scope: Scope, *, max_results: int, token_budget: int) -> Found:
    """Search the project. A pattern's running time is bounded only by whoever ends this process."""
    found = Found()
    matches = _matcher(query)
    for entry in islice(view.walk(view.root), _MOST_SCANNED):
        if entry.kind != "file" or not _is_wanted(entry, scope):
            continue
        if matches.in_name(entry.name):
            _add(found, entry.name, None, entry.name, "name")
        text = _text(view, entry)
        if isinstance(text, str):
            found.skipped[text] = found.skipped.get(text, 0) + 1
            continue
        found.files += 1
        symbols = matches.symbols(entry, text)
        for line, card in symbols.items():
            _add(found, entry.name, line, card, "symbol")
        for line, content, kind in islice(matches.in_lines(text.lines), _MOST_IN_FILE):
            if line not in symbols:
                _add(found, entry.name, line, content, kind)
    if any(match["match_type"] != "words" for match in found.matches):
        found.matches = [match for match in found.matches if match["match_type"] != "words"]
        found.total = len(found.matches)
    found.matches.sort(key=lambda match: -match["score"])
    found.matches = _within(found.matches[:max_results], token_budget)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    data: bytes
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matcher:
    """How the query is compared."""

    in_name: Callable[[str], bool]
    in_lines: Callable[[tuple[str, ...]], Iterator[tuple[int, str, MatchType]]]
    symbols: Callable[[FolderEntry, _Text], dict[int, str]]


def _matcher(query: str) -> _Matcher:
    pattern = pattern_of(query)
    if pattern is not None:
        return _Matcher(
            in_name=lambda name: pattern.search(name) is not None,
            in_lines=lambda lines: _pattern_lines(pattern, lines),
            symbols=lambda _entry, _text: {},
        )
    wanted = query.strip().casefold()
    return _Matcher(
        in_name=lambda name: wanted in name.casefold(),
        in_lines=lambda lines: _plain_lines(wanted, lines),
        symbols=lambda entry, text: _definitions(entry, text, query.strip()),
    )


def _pattern_lines(pattern: re.Pattern[str], lines: tuple[str, ...]) -> Iterator[tuple[int, str, MatchType]]:
    for number, line in enumerate(lines, start=1):
        if pattern.search(line[:_LONGEST_LINE]):
            yield number, line, "regex"


def _plain_lines(wanted: str, lines: tuple[str, ...]) -> Iterator[tuple[int, str, MatchType]]:
    words = wanted.split()
    for number, line in enumerate(lines, start=1):
        folded = line.casefold()
        if wanted in folded:
            yield number, _around(line, folded.find(wanted)), "exact"
        elif len(words) > 1 and all(word in folded for word in words):
            yield number, line, "words"


def _around(line: str, position: int) -> str:
    """The piece of a very long line that shows the place."""
    return line if len(line) <= _SHOWN_LINE else line[max(position - _SHOWN_LINE // 4, 0) :]


def _definitions(entry: FolderEntry, text: _Text, query: str) -> dict[int, str]:
    """Lines that define a symbol of this name, in netlists."""
    suffix = PurePosixPath(entry.name).suffix.lower()
    if suffix not in CODE_SUFFIXES or suffix in (".va", ".py") or not _NAME.fullmatch(query):
        return {}
    name = bare_name(query)
    if name.encode("utf-8", "replace").lower() not in text.data.lower():
        return {}
    netlist = Netlist.parse(text.data, path=entry.path, has_title=suffix not in LIBRARY_SUFFIXES)
    return {use.line: use.text for use in uses_of(netlist, name) if use.usage == "definition"}


def _is_wanted(entry: FolderEntry, scope: Scope) -> bool:
    suffix = PurePosixPath(entry.name).suffix.lower()
    match scope:
        case "code":
            return suffix in CODE_SUFFIXES
        case "docs":
            return suffix in DOCUMENT_SUFFIXES
        case "all":
            return True


def _text(view: ProjectView, entry: FolderEntry) -> _Text | Literal["too_large", "unreadable", "binary"]:
    if entry.size > LARGEST_FILE:
        return "too_large"
    try:
        with view.open(entry.path) as file:
            data = file.read(LARGEST_FILE + 1)
        return _Text(data=data, lines=decode(data).lines)
    except OSError:
        return "unreadable"
    except BinaryFileError:
        return "binary"


def _add(found: Found, source: str, line: int | None, text: str, kind: MatchType) -> None:
    found.total += 1
    if len(found.matches) < _COLLECTED:
        content = text.strip()
        found.matches.append(
            {
                "content": content[:_SHOWN_LINE],
                "source": source,
                "line_number": line,
                "match_type": kind,
                "score": _SCORES[kind],
                "truncated": len(content) > _SHOWN_LINE,
            }
        )


def _within(matches: list[dict[str, Any]], budget: int) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    for match in matches:
        budget -= estimate_tokens(f"{match['source']}:{match['line_number']}: {match['content']}")
        if budget < 0 and kept:
            break
        kept.append(match)
    return kept
