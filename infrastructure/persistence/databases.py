"""The one way to open a project's SQLite databases.

What lies in ``.circuit_ai`` may be a stranger's. The file and its companions have to be real files under one
name, in real folders, and the database one of ours: by its application id, or (made before there was one) by
its tables. One with other tables, or with a view, a trigger or a virtual table that is not ours, never gets
a table.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from infrastructure.persistence import confined
from infrastructure.persistence.confined import InTheWay
from shared.errors import EnvironmentProblem
from shared.message import msg

COMPANIONS = ("", "-wal", "-shm", "-journal")
_LARGEST_COPY = 1 << 30
_NO_WRITING = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR)
"""What SQLite says of a WAL database in a folder it can't make files in."""
_OF_SQLITE = {"sqlite_sequence": "table", "sqlite_stat1": "table"}
_COMPUTING = re.compile(r"\b(?:CHECK|AS|LIKE|GLOB|GENERATED)\b|\bDEFAULT\s*\(", re.IGNORECASE)
_TEXT_OR_COMMENT = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)""", re.DOTALL)
"""As SQLite's tokenizer finds them, the one that begins first: none can hide what stands behind another."""
_LARGEST_VALUE = 256 << 20
_SCARCE_BYTES = 64 << 10
"""SQLite takes 32 kB at a time for the index of its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseKind:
    """What tells a database of ours from another."""

    application_id: int
    """Bytes 68 to 71 of the file (SQLite, "PRAGMA application_id"); 0 in those of earlier versions."""
    tables: frozenset[str]
    indexes: frozenset[str] = frozenset()
    virtual: frozenset[str] = frozenset()
    """Those of the tables that are virtual, and those these keep their data in."""


OPERATIONS = DatabaseKind(
    application_id=0x43444F50,  # "CDOP"
    tables=frozenset({"operations"}),
    indexes=frozenset({"operations_by_session", "operations_begun"}),
)
CHECKPOINTS = DatabaseKind(application_id=0x43444350, tables=frozenset({"checkpoints", "writes"}))  # "CDCP"
TRACES = DatabaseKind(
    application_id=0x43445452,  # "CDTR"
    tables=frozenset({"spans"}),
    indexes=frozenset({"spans_by_trace", "turns"}),
)
_GRAMS = frozenset({"grams", *(f"grams_{part}" for part in ("data", "idx", "content", "docsize", "config"))})
SEARCH = DatabaseKind(
    application_id=0x43445345,  # "CDSE"
    tables=frozenset({"meta", "files", "parts", "symbols", "attempts", "vectors"}),
    indexes=frozenset({"parts_by_file", "parts_by_digest", "symbols_by_key"}),
    virtual=_GRAMS,
)
CONVERSATION_SEARCH = DatabaseKind(
    application_id=0x43444353,  # "CDCS"
    tables=frozenset({"meta", "transcripts", "messages"}),
    indexes=frozenset({"messages_by_transcript"}),
    virtual=_GRAMS,
)
COMPONENTS = DatabaseKind(
    application_id=0x4344434F,  # "CDCO"
    tables=frozenset({"meta", "files", "components", "figures"}),
    indexes=frozenset({"components_by_file", "components_by_name", "figures_by_value"}),
    virtual=_GRAMS,
)


def is_disk_full(path: Path, error: sqlite3.Error) -> bool:
    """Whether there is no room for what was to be written: an I/O error may be SQLite's word for that."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code != sqlite3.SQLITE_IOERR:
        return code == sqlite3.SQLITE_FULL
    with contextlib.suppress(OSError):
        return shutil.disk_usage(path.parent).free < _SCARCE_BYTES
    return False


def check_files(path: Path) -> bool:
    """Whether there is a database. Raises InTheWay for what is no file of ours; OSError.

    Another name of one of the files (a hard link) counts too: SQLite writes in place.
    """
    place = confined.confined(path)
    try:
        found = confined.entries_in(place.parent)
    except FileNotFoundError:
        return False
    for companion in COMPANIONS:
        state = found.get(place.name + companion)
        if state is None:
            continue
        where = place.with_name(place.name + companion)
        if stat.S_ISLNK(state.st_mode):
            raise InTheWay(where, "link")
        if not stat.S_ISREG(state.st_mode):
            raise InTheWay(where, "special")
        if state.st_nlink > 1:
            raise InTheWay(where, "hard_link")
    return place.name in found


def can_be_written(path: Path) -> bool:
    """Whether SQLite could write a database there: the file, and new files beside it."""
    place = confined.confined(path)
    return os.access(place.parent, os.W_OK | os.X_OK) and (not place.exists() or os.access(place, os.W_OK))


def check_kind(connection: sqlite3.Connection, path: Path, kind: DatabaseKind) -> None:
    """Raise EnvironmentProblem ("foreign_database") unless it is empty or of this kind; nothing is written.

    Raises sqlite3.Error for what is no database.
    """
    # Its schema must not be able to run what has side effects.
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
    made_by = connection.execute("PRAGMA application_id").fetchone()[0]
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master").fetchall()
    strange = [str(name) for form, name, sql in rows if not _is_ours(str(form), str(name), str(sql), kind)]
    if made_by not in (0, kind.application_id) or strange:
        raise EnvironmentProblem(
            msg("{path} is a database of another program; nothing was written to it.", path=path),
            advice=msg("Move it elsewhere; the program then creates its own."),
            file=path,
            error_type="foreign_database",
        )


def mark(connection: sqlite3.Connection, kind: DatabaseKind) -> None:
    """Write the application id into a database that was just made."""
    connection.execute(f"PRAGMA application_id = {kind.application_id}")


def check_before_opening(path: Path, kind: DatabaseKind) -> None:
    """For who opens the database by other means: files and kind are checked, nothing is made.

    Raises InTheWay, EnvironmentProblem, OSError, sqlite3.Error.
    """
    if check_files(path) and confined.look(path).st_size:
        with contextlib.closing(sqlite3.connect(confined.confined(path), timeout=5.0)) as connection:
            check_kind(connection, path, kind)


def connect_for_reading(path: Path, kind: DatabaseKind, *, timeout: float = 5.0) -> sqlite3.Connection:
    """A connection that writes nothing, also where nothing can be written: a read-only folder.

    There SQLite can't make the index of a write-ahead log. Without a log the file is all there is, and it is
    read as one nobody changes (``immutable``: nobody of this user can); with a log, a copy of both is read.
    Raises InTheWay, EnvironmentProblem, OSError, sqlite3.Error.
    """
    check_files(path)
    place = confined.confined(path)
    try:
        return _checked(f"{place.as_uri()}?mode=ro", path, kind, timeout)
    except sqlite3.OperationalError as error:
        if confined.is_file(place.with_name(place.name + "-journal")) and (
            error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_READONLY
        ):
            return _copied(place, kind)  # of a program that was killed: rolled back in the copy
        if error.sqlite_errorcode & 0xFF not in _NO_WRITING or can_be_written(place):
            raise
    log = place.with_name(place.name + "-wal")
    try:
        has_log = confined.look(log).st_size > 0
    except FileNotFoundError:
        has_log = False
    if not has_log:
        return _checked(f"{place.as_uri()}?mode=ro&immutable=1", path, kind, timeout)
    return _copied(place, kind)


def _copied(place: Path, kind: DatabaseKind) -> sqlite3.Connection:
    """What a database and its log or journal hold together, in memory."""
    from infrastructure.persistence.confined import read_regular_file

    memory = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    try:
        with tempfile.TemporaryDirectory(prefix="circuit-ai-") as folder:
            for companion in ("", "-wal", "-journal"):
                source = place.with_name(place.name + companion)
                if companion and not confined.is_file(source):
                    continue
                copy = Path(folder, place.name + companion)
                copy.write_bytes(read_regular_file(source, max_bytes=_LARGEST_COPY))
            with contextlib.closing(sqlite3.connect(Path(folder, place.name))) as connection:
                check_kind(connection, place, kind)
                connection.backup(memory)
    except BaseException:
        memory.close()
        raise
    return memory


def _checked(uri: str, path: Path, kind: DatabaseKind, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False
    )
    try:
        check_kind(connection, path, kind)
    except BaseException:
        connection.close()
        raise
    return connection


def _is_ours(form: str, name: str, sql: str, kind: DatabaseKind) -> bool:
    # Whoever writes the file itself can give a trigger any name, "sqlite_..." too.
    if name.startswith("sqlite_"):
        return form == "index" and not sql if name not in _OF_SQLITE else form == _OF_SQLITE[name]
    if form == "index":
        return name in kind.indexes and _is_plain(sql, most_parentheses=1)
    if form != "table":
        return False
    is_virtual = sql.lstrip().upper().startswith("CREATE VIRTUAL")
    return name in kind.virtual if is_virtual else name in kind.tables | kind.virtual and _is_plain(sql)


def _is_plain(sql: str, *, most_parentheses: int | None = None) -> bool:
    """Whether a table or an index only holds values: an expression in one could be worked on for ever."""
    words = _TEXT_OR_COMMENT.sub(" ", sql)
    is_short = most_parentheses is None or words.count("(") <= most_parentheses
    return is_short and not _COMPUTING.search(words)
