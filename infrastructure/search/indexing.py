"""Bringing an index up to date with the files.

A file counts as unchanged while size, both times and inode are those of its row; else its bytes are hashed,
and only other bytes are indexed anew. A file that was changed within the clock's grain of being read is
looked at again the next time. The newest files come first: what somebody works on is found at once.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from application.ports.search import IndexState
from domain.search.query import fold, spread
from infrastructure.persistence.confined import TooLarge, open_regular_file, read_regular_file
from infrastructure.persistence.path_rules import printable
from infrastructure.persistence.process_locks import LockInUse, ProcessLock
from infrastructure.search import parts
from infrastructure.search.database import UnusableError, is_busy, opened, path_of, transaction
from infrastructure.search.walking import Stamp, Walk, walk

_logger = logging.getLogger(__name__)

FILLER = "\ue000\ue000"
"""Behind each Chinese character in the index of three-letter groups, so that one character makes a group."""

_COMMIT_S = 1.0
_GRAIN_NS = 50_000_000
"""File times move in steps of up to 10 ms on common kernels; 50 to be sure."""
_SNIFFED = 8192
_MOST_TRIES = 2
"""A file whose reading ended its process (a hostile PDF) so many times is left alone until it changes."""
_RISKY_BYTES = 1_000_000
_POLL_S = 0.05
_NO_ROW: tuple[Any, ...] = ()


def update(root: Path, limit_s: float) -> IndexState:
    """Read what is new or changed, for about `limit_s` seconds; forget what is gone."""
    end = time.monotonic() + limit_s
    try:
        with opened(root) as connection:
            return _update(root, connection, end)
    except (UnusableError, sqlite3.Error) as error:
        if isinstance(error, sqlite3.Error) and not is_busy(error):
            _logger.info("%s cannot be used: %s", path_of(root), error)
        found = walk(root)
        return IndexState(
            files=len(found.files), pending=tuple(found.files), skipped=found.skipped, problem=str(error)
        )


def _update(root: Path, connection: sqlite3.Connection, end: float) -> IndexState:
    while True:
        found, gone, stale = _compare(root, connection)
        if not gone and not stale:
            return _state(connection, found, (), 0)
        try:
            lock = ProcessLock(path_of(root).with_suffix(".lock"))
        except LockInUse:
            if time.monotonic() >= end:  # another process is at it
                return _state(connection, found, tuple(stale), 0)
            time.sleep(_POLL_S)
            continue
        except OSError as error:
            raise UnusableError(error.strerror or str(error)) from error
        try:
            # Until we had the lock somebody else may have done it, and given the rows other numbers.
            found, gone, stale = _compare(root, connection)
            done = _read_files(root, connection, found, gone, end=end, stale=_newest_first(stale, found))
        finally:
            lock.release()
        return _state(connection, found, tuple(path for path in stale if path not in done), len(done))


def _compare(root: Path, connection: sqlite3.Connection) -> tuple[Walk, list[int], list[str]]:
    """What is on the disk; numbers of the rows whose file is gone; files that are new or changed."""
    known = _known(connection)
    found = walk(root, lambda path: known[path][4] if path in known else None)
    gone = [known[path][5] for path in known.keys() - found.files.keys()]
    stale = [path for path, stamp in found.files.items() if known.get(path, _NO_ROW)[:5] != stamp]
    return found, gone, stale


def _known(connection: sqlite3.Connection) -> dict[str, tuple[Any, ...]]:
    """Path -> the fields of its stamp, and the number of its row; plain tuples, for there are many."""
    rows = connection.execute("SELECT path, size, mtime, ctime, inode, rules, id FROM files")
    return {row[0].decode("utf-8", "surrogateescape"): row[1:] for row in rows}


def _newest_first(stale: list[str], found: Walk) -> list[str]:
    """What takes long, or could end the process, comes last."""
    return sorted(stale, key=lambda path: (_is_risky(path, found.files[path]), -found.files[path].mtime_ns))


def _read_files(
    root: Path,
    connection: sqlite3.Connection,
    found: Walk,
    gone: Sequence[int],
    *,
    stale: Sequence[str],
    end: float,
) -> set[str]:
    """Index the stale files until the time is over. Returns those done."""
    done: set[str] = set()
    if gone:
        with transaction(connection):
            for number in gone:
                _forget(connection, number)
    waiting = list(reversed(stale))
    while waiting and time.monotonic() < end:
        pause = time.monotonic() + _COMMIT_S
        if _is_risky(waiting[-1], found.files[waiting[-1]]):
            _begin_risk(connection, waiting[-1], found.files[waiting[-1]])
        with transaction(connection):
            while True:
                path = waiting.pop()
                _index_file(root, connection, path, found.files[path])
                done.add(path)
                if not waiting or time.monotonic() >= pause:
                    break
                if _is_risky(waiting[-1], found.files[waiting[-1]]):
                    break
    if done or gone:
        _drop_unused_vectors(connection)
    return done


def _index_file(root: Path, connection: sqlite3.Connection, path: str, stamp: Stamp) -> None:
    key = os.fsencode(path)
    row = connection.execute(
        "SELECT id, hash, status, size, mtime, ctime, inode FROM files WHERE path = ?", (key,)
    ).fetchone()
    if row is not None and row[3:] == stamp[:4]:  # the ignore rules are others, and let it pass again
        connection.execute("UPDATE files SET rules = ? WHERE id = ?", (stamp.rules, row[0]))
        return
    now_ns = time.time_ns()
    status, data = ("unreadable", b"") if _was_fatal(connection, key, stamp) else _read(root / path, stamp)
    # Should this process end before the transaction does, the note is there again.
    connection.execute("DELETE FROM attempts WHERE path = ?", (key,))
    digest = hashlib.blake2b(data, digest_size=20).digest()
    if stamp.ctime_ns > now_ns - _GRAIN_NS:
        stamp = Stamp(stamp.size, stamp.mtime_ns, 0, stamp.inode, stamp.rules)
    numbers = (stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode, stamp.rules)
    if row is not None and row[1] == digest and status == "" == row[2]:
        connection.execute(
            "UPDATE files SET size = ?, mtime = ?, ctime = ?, inode = ?, rules = ? WHERE id = ?",
            (*numbers, row[0]),
        )
        return
    if row is not None:
        _forget(connection, row[0])
    content = parts.FileParts(())
    if not status:
        try:
            content = parts.parts_of(path, data)
        except parts.NoTextError as error:
            status = str(error)
    name = printable(path)
    file = connection.execute(
        "INSERT INTO files (path, name, folded, suffix, scope, size, mtime, ctime, inode, rules, hash,"
        " status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (key, name, fold(name), parts.suffix_of(path), parts.scope_of(path), *numbers, digest, status),
    ).lastrowid
    assert file is not None
    _store(connection, file, content, parts.has_meaning(path))


def _read(path: Path, stamp: Stamp) -> tuple[str, bytes]:
    """Why it has no text ("" when it may have one), and its bytes."""
    most = parts.largest(str(path))
    if stamp.size > most:
        return "too_large", b""
    try:
        if parts.suffix_of(str(path)) != parts.PDF:
            with open_regular_file(path) as file:
                head = file.read(_SNIFFED)
            # UTF-16 has zero bytes too, behind its mark.
            if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
                return "binary", b""
        return "", read_regular_file(path, max_bytes=most)
    except TooLarge:
        return "too_large", b""
    except OSError:
        return "unreadable", b""


def _store(connection: sqlite3.Connection, file: int, content: parts.FileParts, has_meaning: bool) -> None:
    for part in content.parts:
        text = storable(part.text)
        digest = None
        if has_meaning and len(text.strip()) > 1:
            digest = hashlib.blake2b(
                f"{part.section}\n{text}".encode("utf-8", "replace"), digest_size=16
            ).digest()
        number = connection.execute(
            "INSERT INTO parts (file, line, page, section, text, digest) VALUES (?, ?, ?, ?, ?, ?)",
            (file, part.line, part.page, storable(part.section), text, digest),
        ).lastrowid
        connection.execute("INSERT INTO grams (rowid, text) VALUES (?, ?)", (number, grams_text(text)))
    connection.executemany(
        "INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (file, number, storable(fold(s.name)), s.kind, s.line, storable(s.scope), s.is_definition)
            for number, s in enumerate(content.symbols)
        ],
    )


def grams_text(text: str) -> str:
    """A text as the index of three-letter groups has it."""
    return spread(fold(text), FILLER).replace("\0", " ")


def storable(text: str) -> str:
    """Without halves of characters, which no database takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _forget(connection: sqlite3.Connection, file: int) -> None:
    """Remove a file; the index of groups has to be told the very text it was given."""
    for number, text in connection.execute("SELECT id, text FROM parts WHERE file = ?", (file,)).fetchall():
        connection.execute(
            "INSERT INTO grams (grams, rowid, text) VALUES ('delete', ?, ?)", (number, grams_text(text))
        )
    connection.execute("DELETE FROM parts WHERE file = ?", (file,))
    connection.execute("DELETE FROM symbols WHERE file = ?", (file,))
    connection.execute("DELETE FROM files WHERE id = ?", (file,))


def _drop_unused_vectors(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        connection.execute(
            "DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM parts WHERE digest IS NOT NULL)"
        )


def _is_risky(path: str, stamp: Stamp) -> bool:
    return parts.suffix_of(path) == parts.PDF or stamp.size > _RISKY_BYTES


def _begin_risk(connection: sqlite3.Connection, path: str, stamp: Stamp) -> None:
    """Note that a file is being read that may end this process; forgotten when it is indexed."""
    connection.execute(
        "INSERT INTO attempts VALUES (?, ?, 1) ON CONFLICT (path) DO UPDATE SET"
        " count = CASE WHEN ctime = excluded.ctime THEN count + 1 ELSE 1 END, ctime = excluded.ctime",
        (os.fsencode(path), stamp.ctime_ns),
    )


def _was_fatal(connection: sqlite3.Connection, key: bytes, stamp: Stamp) -> bool:
    row = connection.execute("SELECT ctime, count FROM attempts WHERE path = ?", (key,)).fetchone()
    return row is not None and row[0] == stamp.ctime_ns and row[1] > _MOST_TRIES


def _state(connection: sqlite3.Connection, found: Walk, pending: tuple[str, ...], indexed: int) -> IndexState:
    skipped = dict(found.skipped)
    for status, count in connection.execute(
        "SELECT status, count(*) FROM files WHERE status != '' GROUP BY status"
    ):
        skipped[status] = skipped.get(status, 0) + count
    return IndexState(files=len(found.files), indexed=indexed, pending=pending, skipped=skipped)
