"""The index of the libraries in the user's folder, or in memory where nothing can be kept."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from application.ports.components import FoundComponents, LibraryState
from domain.components.component import GROUPS, Component
from domain.components.query import ComponentQuery
from domain.components.reading import read_components
from infrastructure.components import indexing
from infrastructure.persistence import confined
from infrastructure.persistence.confined import read_regular_file
from infrastructure.persistence.databases import COMPONENTS
from infrastructure.search.database import Cache, UnusableError, opened_at
from shared.errors import UserInputError
from shared.message import msg
from shared.paths import COMPONENTS_FILE, MODEL_LIBRARY

T = TypeVar("T")
_logger = logging.getLogger(__name__)

_TABLES = """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE files (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE,
        size INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, inode INTEGER NOT NULL,
        hash BLOB NOT NULL,
        seen INTEGER NOT NULL           -- day on which it was last in a library that is searched
    );
    CREATE TABLE components (
        id INTEGER PRIMARY KEY,
        file INTEGER NOT NULL,
        name TEXT NOT NULL, folded TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, card TEXT NOT NULL,
        ports TEXT NOT NULL, roles TEXT NOT NULL,
        line INTEGER NOT NULL, last_line INTEGER NOT NULL,
        section TEXT NOT NULL, fault TEXT NOT NULL, letter TEXT NOT NULL
    );
    CREATE INDEX components_by_file ON components (file);
    CREATE INDEX components_by_name ON components (folded);
    CREATE TABLE figures (
        component INTEGER NOT NULL, quantity TEXT NOT NULL, value REAL NOT NULL,
        PRIMARY KEY (component, quantity)
    ) WITHOUT ROWID;
    CREATE INDEX figures_by_value ON figures (quantity, value);
    CREATE VIRTUAL TABLE grams USING fts5 (text, tokenize='trigram');
"""
_CACHE = Cache(
    file=COMPONENTS_FILE,
    kind=COMPONENTS,
    tables=_TABLES,
    bound_as="component index",
    forgets_for_good=False,
)
_NAMES_AT_ONCE = 500
"""SQLite takes no more than some thousand values in one question."""
_SMALL_LIBRARY = 300_000
"""Bytes; what is simulated of a larger one is the component alone."""
_COLUMNS = (
    "components.id, name, kind, title, card, ports, roles, files.path, line, last_line, section, fault, "
    "letter, (SELECT json_group_object(quantity, value) FROM figures WHERE component = components.id)"
)


@dataclass(frozen=True, slots=True)
class SqliteComponentIndex:
    """Implements application.ports.components.ComponentIndex."""

    home: Path
    """The user's folder."""

    def state(self, folders: Sequence[Path]) -> LibraryState:
        """How much is to be read."""
        return self._done(
            folders, lambda connection, problem: replace(indexing.state(connection, folders), problem=problem)
        )

    def update(self, folders: Sequence[Path], limit_s: float) -> LibraryState:
        """Bring the index up to date."""
        return self._done(
            folders,
            lambda connection, problem: (
                LibraryState(files=len(indexing.walk(folders).files), problem=problem)
                if problem
                else indexing.update(connection, folders, limit_s)
            ),
        )

    def search(
        self, query: ComponentQuery, folders: Sequence[Path], *, group: str = "", most: int, skip: int = 0
    ) -> FoundComponents:
        """Search; a name that is typed whole comes alone, one with a grade behind it as well."""
        return self._done(
            folders, lambda connection, _: _Search(connection, query, _Page(folders, group, most, skip)).run()
        )

    def holders(self, names: Sequence[str], folders: Sequence[Path]) -> Mapping[str, tuple[str, ...]]:
        """Which files have a component of a name."""
        return self._done(folders, lambda connection, _: _holders(connection, names, folders))

    def text(self, component: Component) -> str:
        """Its lines as they are now."""
        data = _read(component)
        if component.card == "file":
            return ""
        now = [each for each in read_components(data, component.file) if each.name == component.name]
        if not now:
            raise UserInputError(
                msg("{name} is not in {path} any more.", name=component.name, path=component.file),
                advice=msg("Search again; the library was changed."),
                file=Path(component.file),
            )
        found = min(now, key=lambda each: abs(each.line - component.line))
        lines = _decoded(data).split("\n")
        first = found.line - 1
        while first > 0 and lines[first - 1].lstrip().startswith("*") and found.line - first < 60:
            first -= 1
        return "\n".join(line.rstrip("\r") for line in lines[first : found.last_line])

    def library(self, component: Component) -> str:
        """The whole file, whose other parts it may be made of, while that is small."""
        text = self.text(component)
        data = _read(component)
        return _decoded(data) if len(data) <= _SMALL_LIBRARY and not component.section else text

    def _done(self, folders: Sequence[Path], work: Callable[[sqlite3.Connection, str], T]) -> T:
        """The work on the database; where there can be none, on one in memory that is read now, and why.

        A database that turns out damaged was removed when it failed: the second try begins a new one.
        """
        problem = ""
        for _ in range(2):
            try:
                confined.make_folder(self.home)
                with opened_at(self.home / _CACHE.file, _CACHE) as connection:
                    return work(connection, "")
            except (UnusableError, OSError, sqlite3.Error) as error:
                problem = str(error)
                _logger.info("no index of the libraries: %s", error)
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
            memory.executescript(_TABLES)
            indexing.update(memory, folders, float("inf"))
            return work(memory, problem)


def _read(component: Component) -> bytes:
    """The file of a component. Raises UserInputError where it cannot be read, or is gone."""
    try:
        return read_regular_file(Path(component.file), max_bytes=indexing.LARGEST_FILE)
    except OSError as error:
        raise UserInputError(
            msg("{path} cannot be read: {reason}", path=component.file, reason=error.strerror or "?"),
            advice=msg("Check the file and its permissions."),
            file=Path(component.file),
        ) from error


def _decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "gbk"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _holders(
    connection: sqlite3.Connection, names: Sequence[str], folders: Sequence[Path]
) -> dict[str, tuple[str, ...]]:
    scopes = list(indexing.scope_of(folders))
    scope = " OR ".join(each.condition for each in scopes) or "0"
    values = [value for each in scopes for value in each.values]
    found: dict[str, tuple[str, ...]] = {}
    wanted = sorted({name.casefold() for name in names})
    for first in range(0, len(wanted), _NAMES_AT_ONCE):
        some = wanted[first : first + _NAMES_AT_ONCE]
        marks = ", ".join("?" * len(some))
        rows = connection.execute(
            f"SELECT DISTINCT folded, files.path FROM components JOIN files ON files.id = components.file "  # noqa: S608
            f"WHERE folded IN ({marks}) AND ({scope}) AND card != 'file' ORDER BY files.path",
            [*some, *values],
        )
        for name, path in rows:
            found[name] = (*found.get(name, ()), os.fsdecode(path))
    return found


class _Page(NamedTuple):
    """Where a search looks, and which of what it finds is wanted."""

    folders: Sequence[Path]
    group: str
    most: int
    skip: int


class _Search:
    """One search as conditions of SQL: what is joined into it is text of ours, values are parameters."""

    def __init__(self, connection: sqlite3.Connection, query: ComponentQuery, page: _Page) -> None:
        self._connection, self._query, self._page = connection, query, page
        scopes = list(indexing.scope_of(page.folders))
        self._scope = f"({' OR '.join(scope.condition for scope in scopes) or '0'})"
        self._scope_values: list[Any] = [value for scope in scopes for value in scope.values]

    def run(self) -> FoundComponents:
        query = self._query
        if query.words and len(query.words) == 1 and not query.conditions and not query.kinds:
            for condition, values in (
                ("folded = ?", [query.key]),
                (_GRADED, [query.key, query.key, query.key]),
            ):
                named = self._found([condition], values, [], "length(name) DESC, name")
                if named.total:
                    return self._longest(named) if condition is _GRADED else named
        words, values = self._words()
        bounds, limits = self._bounds()
        order, ordering = self._order()
        begins = self._query.words[0] if self._query.words else ""
        found = self._found(
            [*words, *bounds],
            [*values, *limits],
            [len(begins), begins, *ordering],
            f"substr(folded, 1, ?) = ? DESC, {order}",
        )
        if not bounds:
            return found
        unstated = self._count([*words, f"NOT ({' AND '.join([_STATED] * len(bounds))})"],
                               [*values, *(each.quantity for each in query.conditions)])  # fmt: skip
        return FoundComponents(components=found.components, total=found.total, by_group=found.by_group,
                               unstated=unstated)  # fmt: skip

    def _longest(self, found: FoundComponents) -> FoundComponents:
        """The most special of the names that a name with a grade behind it begins with."""
        longest = max(len(each.name) for each in found.components)
        kept = tuple(each for each in found.components if len(each.name) == longest)
        counts = {key: sum(1 for each in kept if each.group == key) for key in GROUPS}
        return FoundComponents(components=kept, total=len(kept), by_group=counts)

    def _words(self) -> tuple[list[str], list[Any]]:
        conditions, values = [], []
        for word in self._query.words:
            # Three letters make an entry of the index; shorter words are looked for in every text.
            if len(word) >= 3:
                conditions.append("components.id IN (SELECT rowid FROM grams WHERE grams MATCH ?)")
                values.append('"' + word.replace('"', '""') + '"')
            else:
                conditions.append("components.id IN (SELECT rowid FROM grams WHERE instr(text, ?) > 0)")
                values.append(word)
        if self._query.kinds:
            conditions.append(f"kind IN ({', '.join('?' * len(self._query.kinds))})")
            values += self._query.kinds
        return conditions, values

    def _bounds(self) -> tuple[list[str], list[Any]]:
        conditions, values = [], []
        for each in self._query.conditions:
            conditions.append(_BEYOND if each.is_open else _WITHIN)
            slack = 0.0 if each.is_open else 1e-9
            values += [each.quantity, each.low * (1 - slack), min(each.high * (1 + slack), _HIGHEST)]
        return conditions, values

    def _order(self) -> tuple[str, list[Any]]:
        """What suffices with the least to spare comes first, then what comes with the program, then names."""
        shipped = os.fsencode(os.path.realpath(MODEL_LIBRARY))
        order, values = "(fault != ''), ", list[Any]()
        if self._query.conditions:
            each = self._query.conditions[0]
            order += f"{_FIGURE} {'ASC' if each.high >= _HIGHEST else 'DESC'}, "
            values.append(each.quantity)
        return f"{order}substr(files.path, 1, ?) = ? DESC, folded", [*values, len(shipped), shipped]

    def _count(self, conditions: list[str], values: list[Any]) -> int:
        where, all_values = self._where(conditions, values, in_group=True)
        return int(self._connection.execute(f"SELECT count(*) {where}", all_values).fetchone()[0])

    def _where(self, conditions: list[str], values: list[Any], *, in_group: bool) -> tuple[str, list[Any]]:
        every, all_values = [self._scope, *conditions], [*self._scope_values, *values]
        if in_group and self._page.group:
            kinds = GROUPS[self._page.group][1]
            every.append(f"kind IN ({', '.join('?' * len(kinds))})")
            all_values += kinds
        joined = " AND ".join(every)
        return f"FROM components JOIN files ON files.id = components.file WHERE {joined}", all_values

    def _found(
        self, conditions: list[str], values: list[Any], ordering: list[Any], order: str
    ) -> FoundComponents:
        where, all_values = self._where(conditions, values, in_group=False)
        counts: dict[str, int] = dict.fromkeys(GROUPS, 0)
        for kind, count in self._connection.execute(
            f"SELECT kind, count(*) {where} GROUP BY kind", all_values
        ):
            counts[next(key for key, (_, kinds) in GROUPS.items() if kind in kinds)] += count
        where, all_values = self._where(conditions, values, in_group=True)
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} {where} ORDER BY {order} LIMIT ? OFFSET ?",
            [*all_values, *ordering, self._page.most, self._page.skip],
        ).fetchall()
        total = counts[self._page.group] if self._page.group else sum(counts.values())
        return FoundComponents(components=tuple(map(self._component, rows)), total=total, by_group=counts)

    def _component(self, row: tuple[Any, ...]) -> Component:
        _, name, kind, title, card, ports, roles, path, line, last_line, section, fault, letter, figures = row
        return Component(
            name=name, kind=kind, title=title, card=card, ports=tuple(json.loads(ports)),
            roles=tuple(json.loads(roles)), figures=json.loads(figures), file=os.fsdecode(path),
            line=line, last_line=last_line, section=section, fault=fault, letter=letter,
        )  # fmt: skip


_GRADED = (
    "length(folded) > 2 AND substr(?, 1, length(folded)) = folded AND length(?) - length(folded) <= 4 "
    "AND substr(?, length(folded) + 1, 1) NOT BETWEEN '0' AND '9'"
)
"""A name with the letters of a package or grade behind it: ``2N2222A``, ``BC547B``, ``LM358N``."""
_WITHIN = "components.id IN (SELECT component FROM figures WHERE quantity = ? AND value >= ? AND value <= ?)"
_BEYOND = "components.id IN (SELECT component FROM figures WHERE quantity = ? AND value > ? AND value < ?)"
_FIGURE = "(SELECT value FROM figures WHERE component = components.id AND quantity = ?)"
_HIGHEST = 1e300
_STATED = "EXISTS (SELECT 1 FROM figures WHERE component = components.id AND quantity = ?)"
