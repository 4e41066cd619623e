"""Asking the index; files it does not have yet are looked through themselves.

Texts are found through groups of three characters (FTS5's trigram tokenizer), which narrow the whole project
down to a few parts; whether a line really has the text is then seen in the part itself.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from application.ports.search import Found, Match, Passages
from domain.circuit.symbols import bare_name
from domain.search.query import MatchType, SearchQuery, Term, fold, spread
from domain.search.ranking import Passage, pattern_of
from domain.search.symbols import Symbol
from infrastructure.persistence.confined import read_regular_file
from infrastructure.persistence.path_rules import printable
from infrastructure.search import parts
from infrastructure.search.indexing import FILLER

_MOST_IN_FILE = 20
_MOST_PARTS = 400
"""Parts looked at for a text, the best first; when there are more, the count of matches is a lower bound."""
_MOST_SYMBOLS = 200
_MOST_NAMES = 50
_LEAST_SHARE = 0.5
"""Of the query's words a part must have, to be worth showing without a line that has them all."""
_MOST_PASSAGES = 80
_MOST_OF_NAME = 12
"""Passages that define one name, or are of files named so."""
_SHORTEST_OF_FILE = 4
"""Characters of a word that is looked for in the names of files."""
_ORDER: dict[str, int] = {"symbol": 0, "name": 1, "exact": 2, "regex": 2, "words": 3, "ranked": 4}


@dataclass(slots=True)
class _Gathering:
    """Matches as they are met."""

    matches: list[Match] = field(default_factory=list)
    total: int = 0
    is_total_exact: bool = True
    by_file: dict[str, int] = field(default_factory=dict)
    seen: set[tuple[str, int | None, int | None]] = field(default_factory=set)

    def add(self, match: Match) -> None:
        """One more, unless the place is known or its file has many already."""
        place = (match.source, match.line, match.page)
        if place in self.seen:
            return
        if match.line is not None and match.kind != "symbol":
            count = self.by_file.get(match.source, 0)
            if count >= _MOST_IN_FILE:
                return
            self.by_file[match.source] = count + 1
        self.seen.add(place)
        self.total += 1
        self.matches.append(match)


def find(
    root: Path,
    connection: sqlite3.Connection | None,
    query: SearchQuery,
    pending: Sequence[str],
    limit_s: float,
) -> Found:
    """Matches, best first. Without a connection all files are among `pending`."""
    end = time.monotonic() + limit_s
    gathering, files = _Gathering(), 0
    stale = frozenset(map(os.fsencode, pending))
    if connection is not None:
        files = _find_in_index(connection, query, gathering, stale)
    waiting = 0
    for position, path in enumerate(pending):
        if time.monotonic() >= end:
            waiting = len(pending) - position
            break
        if _is_wanted(query, path):
            files += _look_through(root, path, query, gathering)
    if not gathering.matches and query.kind in ("all", "content"):
        _find_words(connection, root, query, gathering, pending=() if waiting else pending, stale=stale)
    ranked = sorted(gathering.matches, key=lambda match: _ORDER[match.kind])
    return Found(
        matches=tuple(ranked[: query.most]),
        total=gathering.total,
        is_total_exact=gathering.is_total_exact and not waiting,
        files=files,
        waiting=waiting,
    )


# The index


def _find_in_index(
    connection: sqlite3.Connection, query: SearchQuery, gathering: _Gathering, stale: frozenset[bytes]
) -> int:
    where, values = _filter(query)
    if query.kind in ("all", "symbol") and query.pattern is None:
        _symbols(connection, query, gathering, stale)
    if query.kind in ("all", "name"):
        select = f"SELECT name, path FROM files WHERE {where} ORDER BY length(name)"  # noqa: S608 - our own words
        rows = connection.execute(select, values)
        named = (name for name, path in rows if path not in stale and query.in_name(name))
        for name in islice(named, _MOST_NAMES):
            gathering.add(Match(source=name, line=None, text=name, kind="name"))
    if query.kind in ("all", "content", "regex"):
        count = 0
        for row in _candidates(connection, query, where, values):
            if row.path in stale:
                continue
            count += 1
            if count > _MOST_PARTS and len(gathering.matches) >= query.most:
                gathering.is_total_exact = False
                break
            _take_lines(row.place, query.lines(row.lines), gathering)
    count_files = f"SELECT count(*) FROM files WHERE status = '' AND {where}"  # noqa: S608 - our own words
    return int(connection.execute(count_files, values).fetchone()[0])


def _filter(query: SearchQuery) -> tuple[str, list[str]]:
    conditions = ["1"]
    values: list[str] = []
    if query.scope != "all":
        conditions.append("files.scope = ?")
        values.append(query.scope)
    if query.suffixes:
        conditions.append(f"files.suffix IN ({', '.join('?' * len(query.suffixes))})")
        values += query.suffixes
    return " AND ".join(conditions), values


@dataclass(frozen=True, slots=True)
class _Row:
    """A part and its place."""

    id: int
    path: bytes
    source: str
    line: int
    page: int | None
    section: str
    text: str

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def place(self, position: int, text: str, kind: MatchType) -> Match:
        return Match(
            source=self.source,
            line=self.line + position,
            text=text,
            kind=kind,
            part=self.id,
            page=self.page,
            section=self.section,
        )


_PART = "parts.id, files.path, files.name, parts.line, parts.page, parts.section, parts.text"
_INDEXED = (
    f"SELECT {_PART} FROM grams JOIN parts ON parts.id = grams.rowid JOIN files ON files.id = parts.file"  # noqa: S608
)
_SYMBOLS = (
    "SELECT files.name, files.path, files.id, symbols.line, symbols.kind, symbols.scope"
    " FROM symbols JOIN files ON files.id = symbols.file"
)
_ALL = f"SELECT {_PART} FROM parts JOIN files ON files.id = parts.file"  # noqa: S608


def _candidates(
    connection: sqlite3.Connection, query: SearchQuery, where: str, values: Sequence[str]
) -> Iterator[_Row]:
    """Parts that may have the text, those first that speak of it most."""
    phrase = None if query.pattern is not None else phrase_of(query.text)
    if phrase is not None:
        rows = connection.execute(
            f"{_INDEXED} WHERE grams MATCH ? AND {where} ORDER BY grams.rank",
            (phrase, *values),
        )
    elif query.pattern is None:
        rows = connection.execute(
            f"{_ALL} WHERE parts.text LIKE ? ESCAPE '\\' AND {where}",
            (like(query.text.strip()), *values),
        )
    else:
        rows = connection.execute(f"{_ALL} WHERE {where}", values)
    return (_Row(*row) for row in rows)


def phrase_of(text: str) -> str | None:
    """What the index is asked for a text; None for one that is too short for it."""
    spelled = spread(fold(text.strip()), FILLER).replace("\0", " ")
    return None if len(spelled) < 3 else '"' + spelled.replace('"', '""') + '"'


def like(text: str) -> str:
    """A pattern of SQLite's LIKE, which folds ASCII letters only: of others the lines decide."""
    plain = (f"\\{char}" if char in "\\%_" else char if char.isascii() else "%" for char in text)
    return f"%{''.join(plain)}%"


def _symbols(
    connection: sqlite3.Connection, query: SearchQuery, gathering: _Gathering, stale: frozenset[bytes]
) -> None:
    """Definitions of that name; a search for symbols takes names that have it inside too, and nodes."""
    where, values = _filter(query)
    key = fold(bare_name(query.text))
    rows: list[tuple[str, bytes, int, int, str, str]] = []
    definitions_only = "" if query.kind == "symbol" else "AND symbols.is_definition"
    for name in _names_with(connection, key) if query.kind == "symbol" else [key]:
        rows += connection.execute(
            f"{_SYMBOLS} WHERE {where} AND symbols.key = ? {definitions_only}"
            " ORDER BY symbols.kind = 'node', files.name, symbols.line LIMIT ?",
            (*values, name, _MOST_SYMBOLS + 1 - len(rows)),
        )
        if len(rows) > _MOST_SYMBOLS:
            break
    for count, (source, path, file, line, kind, scope) in enumerate(rows, start=1):
        if count > _MOST_SYMBOLS:
            gathering.is_total_exact = False
            break
        card = "" if path in stale else _line_of(connection, file, line)
        if path not in stale and (not query.is_case_sensitive or bare_name(query.text) in card):
            gathering.add(
                Match(source=source, line=line, text=card, kind="symbol", section=scope, symbol=kind)
            )


def _names_with(connection: sqlite3.Connection, key: str) -> list[str]:
    """The different names that have `key` inside, the likest first.

    A project has fifty times as many symbols as different names: the index is walked from name to name.
    """
    rows = connection.execute(
        """
        WITH RECURSIVE names (key) AS (
            SELECT min(key) FROM symbols
            UNION ALL
            SELECT (SELECT min(key) FROM symbols WHERE key > names.key) FROM names WHERE key NOT NULL
        )
        SELECT key FROM names WHERE instr(key, ?1) ORDER BY key != ?1, instr(key, ?1), length(key), key
        """,
        (key,),
    )
    return [name for (name,) in rows]


def _line_of(connection: sqlite3.Connection, file: int, line: int) -> str:
    row = connection.execute(
        "SELECT line, text FROM parts WHERE file = ? AND line <= ? ORDER BY line DESC LIMIT 1", (file, line)
    ).fetchone()
    lines = [] if row is None else row[1].split("\n")[line - row[0] :]
    return lines[0] if lines else ""


# Words


def _find_words(
    connection: sqlite3.Connection | None,
    root: Path,
    query: SearchQuery,
    gathering: _Gathering,
    *,
    pending: Sequence[str],
    stale: frozenset[bytes],
) -> None:
    """Lines with all words of the query, else parts with most of them."""
    if query.pattern is not None or len(query.words) < 2:
        return
    rows = [] if connection is None else _rows_with_words(connection, query, stale)
    for row in rows:
        _take_lines(row.place, query.lines_with_words(row.lines), gathering)
    for path in pending:
        if _is_wanted(query, path):
            _take_lines(_place_in(path), query.lines_with_words(_lines_at(root, path)), gathering)
    if gathering.matches:
        return
    for row in rows:
        position, count = query.best_line(row.lines)
        if count >= max(_LEAST_SHARE * len(query.words), 1):
            lines = row.lines
            gathering.add(row.place(position, lines[position], "ranked"))
    gathering.is_total_exact = False


def _rows_with_words(
    connection: sqlite3.Connection, query: SearchQuery, stale: frozenset[bytes]
) -> list[_Row]:
    phrases = [phrase for phrase in map(phrase_of, query.words) if phrase is not None]
    if not phrases:
        return []
    where, values = _filter(query)
    rows = connection.execute(
        f"{_INDEXED} WHERE grams MATCH ? AND {where} ORDER BY grams.rank LIMIT ?",
        (" OR ".join(phrases), *values, _MOST_PARTS),
    )
    return [row for row in (_Row(*found) for found in rows) if row.path not in stale]


# Passages


def passages(
    root: Path,
    connection: sqlite3.Connection | None,
    terms: Sequence[Term],
    pending: Sequence[str],
    limit_s: float,
) -> Passages:
    """Parts of files that have one of the terms or define one; of many those that speak of them most."""
    end = time.monotonic() + limit_s
    found: dict[tuple[str, int, int | None], Passage] = {}
    counts: dict[str, int] = {}
    total = 0
    if connection is not None:
        stale = frozenset(map(os.fsencode, pending))
        total = int(connection.execute("SELECT count(*) FROM parts").fetchone()[0])
        counts = _counts(connection, terms)
        for row, defines in _rows_of_terms(connection, terms):
            if row.path not in stale:
                key = (row.source, row.line, row.page)
                known = found[key].defines if key in found else ()
                found[key] = Passage(
                    source=row.source,
                    line=row.line,
                    text=row.text,
                    page=row.page,
                    section=row.section,
                    defines=(*known, *defines),
                )
    for position, path in enumerate(pending):
        if time.monotonic() >= end:
            return Passages(
                found=tuple(found.values()), counts=counts, total=total, waiting=len(pending) - position
            )
        total += _take_passages(root, path, terms, found, counts)
    return Passages(found=tuple(found.values()), counts=counts, total=total)


def _counts(connection: sqlite3.Connection, terms: Sequence[Term]) -> dict[str, int]:
    """In how many parts each spelling stands; a short name in those that define it."""
    counts = {}
    for spelling in (each for term in terms for each in term.spellings):
        phrase = phrase_of(spelling)
        select, value = "SELECT count(*) FROM grams WHERE grams MATCH ?", phrase
        if phrase is None:
            select, value = "SELECT count(*) FROM symbols WHERE key = ?", spelling
        counts[spelling] = int(connection.execute(select, (value,)).fetchone()[0])
    return counts


def _rows_of_terms(
    connection: sqlite3.Connection, terms: Sequence[Term]
) -> Iterator[tuple[_Row, tuple[str, ...]]]:
    phrases = [phrase for term in terms for phrase in map(phrase_of, term.spellings) if phrase is not None]
    if phrases:
        rows = connection.execute(
            f"{_INDEXED} WHERE grams MATCH ? ORDER BY grams.rank LIMIT ?",
            (" OR ".join(phrases), _MOST_PASSAGES),
        )
        yield from ((_Row(*row), ()) for row in rows)
    for term in terms:
        spelling = term.spellings[0]
        if term.is_name:
            rows = connection.execute(
                f"{_ALL} JOIN symbols ON symbols.file = parts.file WHERE symbols.key = ?"  # noqa: S608
                " AND parts.line = (SELECT max(line) FROM parts AS one WHERE one.file = symbols.file"
                " AND one.line <= symbols.line) ORDER BY symbols.kind = 'node', files.name LIMIT ?",
                (fold(bare_name(spelling)), _MOST_OF_NAME),
            )
            yield from ((_Row(*row), (spelling,)) for row in rows)
        for each in term.spellings:
            if len(each) >= _SHORTEST_OF_FILE:
                rows = connection.execute(
                    f"{_ALL} WHERE instr(files.folded, ?) ORDER BY files.name, parts.line LIMIT ?",
                    (each, _MOST_OF_NAME),
                )
                yield from ((_Row(*row), ()) for row in rows)


def _take_passages(
    root: Path,
    path: str,
    terms: Sequence[Term],
    found: dict[tuple[str, int, int | None], Passage],
    counts: dict[str, int],
) -> int:
    """The passages of a file that is not indexed; how many parts it has."""
    data = _data_at(root, path)
    if data is None:
        return 0
    try:
        read = parts.parts_of(path, data)
    except parts.NoTextError:
        return 0
    name = printable(path)
    patterns = {
        each: pattern_of(Term((each,), 1.0, is_name=term.is_name))
        for term in terms
        for each in term.spellings
    }
    in_name = {each for each, pattern in patterns.items() if pattern.search(fold(name))}
    for part in read.parts:
        text, end = fold(part.text), part.line + part.text.count("\n")
        here = {each for each, pattern in patterns.items() if pattern.search(text)}
        for each in here:
            counts[each] = counts.get(each, 0) + 1
        if here or in_name:
            keys = {fold(bare_name(each.name)) for each in read.symbols if part.line <= each.line <= end}
            found[name, part.line, part.page] = Passage(
                source=name,
                line=part.line,
                text=part.text,
                page=part.page,
                section=part.section,
                defines=tuple(here & keys),
            )
    return len(read.parts)


# Files that are not in the index


def _is_wanted(query: SearchQuery, path: str) -> bool:
    if query.suffixes and parts.suffix_of(path) not in query.suffixes:
        return False
    return query.scope == "all" or parts.scope_of(path) == query.scope


def _look_through(root: Path, path: str, query: SearchQuery, gathering: _Gathering) -> int:
    """Search one file on the disk; 1 when it could be read, else 0."""
    name = printable(path)
    if query.kind in ("all", "name") and query.in_name(name):
        gathering.add(Match(source=name, line=None, text=name, kind="name"))
    if query.kind == "name":
        return 1
    data = _data_at(root, path)
    if data is None:
        return 0
    try:
        lines = parts.lines_of(data)
    except parts.NoTextError:
        return 0
    text = "\n".join(lines)
    is_plain = query.pattern is None
    if query.kind in ("all", "symbol") and is_plain and parts.suffix_of(path) in parts.NETLIST_SUFFIXES:
        key = fold(bare_name(query.text))
        if key in fold(text):
            for symbol in parts.netlist_symbols(path, data, lines):
                if _is_meant(symbol, key, query.kind == "symbol"):
                    gathering.add(
                        Match(
                            source=name,
                            line=symbol.line,
                            text=lines[symbol.line - 1],
                            kind="symbol",
                            section=symbol.scope,
                            symbol=symbol.kind,
                        )
                    )
    if query.kind in ("all", "content", "regex") and query.may_be_in(text):
        _take_lines(_place_in(path), query.lines(lines), gathering)
    return 1


def _is_meant(symbol: Symbol, key: str, takes_inner: bool) -> bool:
    folded = fold(symbol.name)
    return key in folded if takes_inner else folded == key and symbol.is_definition


def _place_in(path: str) -> Callable[[int, str, MatchType], Match]:
    name = printable(path)
    return lambda position, text, kind: Match(source=name, line=position + 1, text=text, kind=kind)


def _lines_at(root: Path, path: str) -> Sequence[str]:
    data = _data_at(root, path)
    try:
        return () if data is None else parts.lines_of(data)
    except parts.NoTextError:
        return ()


def _data_at(root: Path, path: str) -> bytes | None:
    """A file's bytes; None for what cannot be read, and for a PDF, which has to be indexed first."""
    if parts.suffix_of(path) == parts.PDF:
        return None
    try:
        return read_regular_file(root / path, max_bytes=parts.LARGEST_FILE)
    except OSError:
        return None


def _take_lines(
    place: Callable[[int, str, MatchType], Match],
    lines: Iterator[tuple[int, str, MatchType]],
    gathering: _Gathering,
) -> None:
    for position, text, kind in islice(lines, _MOST_IN_FILE):
        gathering.add(place(position, text, kind))
