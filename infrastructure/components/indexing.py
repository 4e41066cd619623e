"""Bringing the index of the libraries up to date with their files.

A file counts as unchanged while size, times and inode are those of its row; else its bytes are hashed, and
only other bytes are read as a library. Each file is one transaction: a kill costs the file it fell into.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from application.ports.components import LibraryState
from domain.circuit.netlist import LIBRARY_SUFFIXES
from domain.components.component import KINDS, Component
from domain.components.reading import read_components
from infrastructure.persistence.confined import TooLarge, read_regular_file
from infrastructure.search.database import transaction
from infrastructure.search.walking import storable_time

_logger = logging.getLogger(__name__)

LARGEST_FILE = 20_000_000
"""Bytes; the largest libraries of vendors have some five million."""
SUFFIXES = LIBRARY_SUFFIXES | {".bjt", ".dio", ".jft", ".mos"}
_MOST_FILES, _DEEPEST = 20_000, 12
_KEPT_DAYS = 90
"""A library that was not searched for so long is forgotten."""
_DAY_S = 86_400


class Found(NamedTuple):
    """The library files below some folders."""

    files: dict[bytes, tuple[int, int, int, int]]
    """Absolute path -> size, mtime, ctime, inode."""
    skipped: dict[str, int]


def walk(folders: Sequence[Path]) -> Found:
    """The library files: regular files with their suffixes, in no hidden folder; links are not followed."""
    found = Found({}, {})
    for folder in folders:
        path = os.path.realpath(folder)
        if os.path.isdir(path):  # noqa: PTH112 - as text, many follow
            _enter(path, found, 0)
        else:
            _take(path, found)
    return found


def _enter(folder: str, found: Found, depth: int) -> None:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
            is_file = entry.is_file(follow_symlinks=False)
        except OSError:
            continue
        if is_folder:
            if depth < _DEEPEST:
                _enter(entry.path, found, depth + 1)
            else:
                found.skipped["too_deep"] = found.skipped.get("too_deep", 0) + 1
        elif is_file and os.path.splitext(entry.name)[1].lower() in SUFFIXES:  # noqa: PTH122
            _take(entry.path, found)


def _take(path: str, found: Found) -> None:
    if len(found.files) >= _MOST_FILES:
        found.skipped["too_many"] = found.skipped.get("too_many", 0) + 1
        return
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return
    times = storable_time(status.st_mtime_ns), storable_time(status.st_ctime_ns)
    found.files[os.fsencode(path)] = (status.st_size, *times, status.st_ino & (2**63 - 1))


def state(connection: sqlite3.Connection, folders: Sequence[Path]) -> LibraryState:
    """How much there is to be read; what is gone is forgotten at once, since no search may find it."""
    found = walk(folders)
    gone, stale = _compare(connection, found, folders)
    if gone:
        with transaction(connection):
            for number in gone:
                _forget(connection, number)
    return LibraryState(files=len(found.files), pending=len(stale), skipped=found.skipped)


def update(connection: sqlite3.Connection, folders: Sequence[Path], limit_s: float) -> LibraryState:
    """Read what is new or changed, for about `limit_s` seconds; forget what is gone."""
    end = time.monotonic() + limit_s
    found = walk(folders)
    gone, stale = _compare(connection, found, folders)
    today = int(time.time() // _DAY_S)
    if gone or stale:
        with transaction(connection):
            for number in gone:
                _forget(connection, number)
            old = connection.execute("SELECT id FROM files WHERE seen < ?", (today - _KEPT_DAYS,)).fetchall()
            for (number,) in old:
                _forget(connection, number)
            for place in scope_of(folders):
                connection.execute(_SEEN, (today, *place.values))
    waiting = list(reversed(stale))
    while waiting and time.monotonic() < end:
        path = waiting.pop()
        with transaction(connection):
            _read(connection, path, found.files[path], today)
    return LibraryState(files=len(found.files), pending=len(waiting), skipped=found.skipped)


class Scope(NamedTuple):
    """A folder (or a file) as a condition on `files`."""

    condition: str
    values: tuple[bytes, ...]


_BELOW = "(files.path = ? OR (files.path > ? AND files.path < ?))"
_KNOWN = f"SELECT path, size, mtime, ctime, inode, id FROM files WHERE {_BELOW}"  # noqa: S608 - our text
_SEEN = f"UPDATE files SET seen = ? WHERE {_BELOW}"  # noqa: S608 - our text


def scope_of(folders: Sequence[Path]) -> Iterator[Scope]:
    """What lies below each folder: its path with a slash is before, with the character behind it after."""
    for folder in folders:
        path = os.fsencode(os.path.realpath(folder))
        yield Scope(_BELOW, (path, path.rstrip(b"/") + b"/", path.rstrip(b"/") + b"0"))


def _compare(
    connection: sqlite3.Connection, found: Found, folders: Sequence[Path]
) -> tuple[list[int], list[bytes]]:
    """Rows whose file is gone, and files that are new or changed."""
    known: dict[bytes, tuple[int, ...]] = {}
    for place in scope_of(folders):
        known |= {bytes(row[0]): row[1:] for row in connection.execute(_KNOWN, place.values)}
    gone = [known[path][4] for path in known.keys() - found.files.keys()]
    stale = [path for path, stamp in found.files.items() if known.get(path, ())[:4] != stamp]
    return gone, stale


def _forget(connection: sqlite3.Connection, file: int) -> None:
    connection.execute("DELETE FROM grams WHERE rowid IN (SELECT id FROM components WHERE file = ?)", (file,))
    connection.execute(
        "DELETE FROM figures WHERE component IN (SELECT id FROM components WHERE file = ?)", (file,)
    )
    connection.execute("DELETE FROM components WHERE file = ?", (file,))
    connection.execute("DELETE FROM files WHERE id = ?", (file,))


def _read(connection: sqlite3.Connection, path: bytes, stamp: tuple[int, int, int, int], today: int) -> None:
    place = os.fsdecode(path)
    row = connection.execute("SELECT id, hash FROM files WHERE path = ?", (path,)).fetchone()
    digest, components = b"", tuple[Component, ...]()
    try:
        data = read_regular_file(Path(place), max_bytes=LARGEST_FILE)
    except TooLarge:
        components = (_faulty(place, f"too-large:{LARGEST_FILE // 1_000_000} MB"),)
    except FileNotFoundError:
        if row is not None:
            _forget(connection, row[0])
        return
    except OSError as error:
        components = (_faulty(place, f"unreadable:{error.strerror or type(error).__name__}"),)
    else:
        digest = hashlib.sha256(data).digest()
        if row is not None and row[1] == digest:
            connection.execute(
                "UPDATE files SET size = ?, mtime = ?, ctime = ?, inode = ?, seen = ? WHERE id = ?",
                (*stamp, today, row[0]),
            )
            return
        components = _components(data, place)
    if row is not None:
        _forget(connection, row[0])
    file = connection.execute(
        "INSERT INTO files (path, size, mtime, ctime, inode, hash, seen) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (path, *stamp, digest, today),
    ).lastrowid
    for component in components:
        _insert(connection, file, component)


def _components(data: bytes, place: str) -> tuple[Component, ...]:
    try:
        return read_components(data, place)
    except (RecursionError, ValueError, OverflowError):
        _logger.exception("%s cannot be read as a library", place)
        return (_faulty(place, "unreadable:the text"),)


def _faulty(place: str, fault: str) -> Component:
    return Component(place.rsplit("/", 1)[-1], "other", "", "file", (), (), {}, place, 1, 1, fault=fault)


def _insert(connection: sqlite3.Connection, file: int | None, component: Component) -> None:
    name, title = _storable(component.name), _storable(component.title)
    number = connection.execute(
        "INSERT INTO components (file, name, folded, kind, title, card, ports, roles, line, last_line, "
        "section, fault, letter) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            file, name, name.casefold(), component.kind, title, component.card,
            json.dumps(component.ports), json.dumps(component.roles), component.line, component.last_line,
            _storable(component.section), _storable(component.fault), component.letter,
        ),
    ).lastrowid  # fmt: skip
    kind = KINDS[component.kind].template
    words = f"{name} {kind} {title} {_storable(component.file_name)}".casefold()
    connection.execute("INSERT INTO grams (rowid, text) VALUES (?, ?)", (number, words))
    connection.executemany(
        "INSERT INTO figures (component, quantity, value) VALUES (?, ?, ?)",
        [(number, quantity, value) for quantity, value in component.figures.items()],
    )


def _storable(text: str) -> str:
    """SQLite takes no lone surrogates, which names of files may hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
