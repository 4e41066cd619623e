"""The write-ahead log of effects: ``operations.sqlite``.

SQLite in WAL mode with ``synchronous=FULL``: what a method recorded is on the disk when it returns, and
several processes (window, command line, MCP) work on it with short transactions. Beside it lies
``operations.lock``, which one process at a time holds around intent, file and done.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import random
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from application.ports.project import FileChange, OperationKind, OperationRecord, OperationState
from infrastructure.persistence.atomic import write_problem
from shared.errors import CircuitAIError, EnvironmentProblem, Stopped
from shared.message import msg

_SCHEMA_VERSION = 2
_BUSY_S = 5.0
"""How long to wait for another process's transaction."""
_LOCK_S = 30.0
"""How long to wait for another process's effect."""
_POLL_S = (0.001, 0.02)

_COLUMNS = (
    "op_id, session_id, tool, kind, state, path, before_sha256, after_sha256, undoes, created, result,"
    " mode, further"
)
_CREATE_TABLE = """
    CREATE TABLE IF NOT EXISTS operations (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        op_id TEXT NOT NULL UNIQUE,
        session_id TEXT NOT NULL,
        tool TEXT NOT NULL,
        kind TEXT NOT NULL,
        state TEXT NOT NULL,
        path TEXT NOT NULL,
        before_sha256 TEXT NOT NULL,
        after_sha256 TEXT NOT NULL,
        undoes TEXT NOT NULL,
        created TEXT NOT NULL,
        result TEXT,
        owner TEXT NOT NULL,
        mode INTEGER,
        further TEXT NOT NULL DEFAULT '[]'
    )
"""
_ADDED_IN_2 = (
    "ALTER TABLE operations ADD COLUMN mode INTEGER",
    "ALTER TABLE operations ADD COLUMN further TEXT NOT NULL DEFAULT '[]'",
)
_CREATE_INDEXES = (
    "CREATE INDEX IF NOT EXISTS operations_by_session ON operations (session_id, number)",
    "CREATE INDEX IF NOT EXISTS operations_begun ON operations (number) WHERE state = 'intent'",
)
_INSERT = f"INSERT INTO operations ({_COLUMNS}, owner) VALUES ({', '.join('?' * 14)})"  # noqa: S608 - our names
_SELECT = f"SELECT {_COLUMNS} FROM operations"  # noqa: S608 - our names


class SqliteOperationLog:
    """Implements application.ports.project.OperationLog.

    Opened at its first use; reading a log that is not there makes no file. Methods may be called from
    any thread.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._guard = threading.RLock()

    def record_intent(self, record: OperationRecord) -> None:
        """Add a record in state "intent"; one of the same id that was abandoned gives way to it.

        Raises ValueError when the id is taken, EnvironmentProblem.
        """
        values = (*_row_of(record), _this_process())
        with self._transaction() as connection:
            connection.execute("DELETE FROM operations WHERE op_id = ? AND state = 'abandoned'", values[:1])
            try:
                connection.execute(_INSERT, values)
            except sqlite3.IntegrityError as error:
                raise ValueError(f"there is an operation {record.op_id} already") from error

    def set_state(
        self, op_id: str, state: OperationState, *, result: Mapping[str, Any] | None = None
    ) -> None:
        """Change a record's state (and its result, when given).

        Raises ValueError for an unknown id, EnvironmentProblem.
        """
        text = None if result is None else json.dumps(result)
        with self._transaction() as connection:
            changed = connection.execute(
                "UPDATE operations SET state = ?, result = coalesce(?, result) WHERE op_id = ?",
                (state, text, op_id),
            )
            if changed.rowcount != 1:
                raise ValueError(f"there is no operation {op_id}")

    def find(self, op_id: str) -> OperationRecord | None:
        """One record. Raises EnvironmentProblem."""
        found = self._read(f"{_SELECT} WHERE op_id = ?", (op_id,))
        return found[0] if found else None

    def list(self, *, session_id: str = "") -> tuple[OperationRecord, ...]:
        """All records (of one session), oldest first. Raises EnvironmentProblem."""
        if session_id:
            return self._read(f"{_SELECT} WHERE session_id = ? ORDER BY number", (session_id,))
        return self._read(f"{_SELECT} ORDER BY number")

    def forget(self, op_ids: Sequence[str]) -> None:
        """Remove records, those in state "intent" excepted. Raises EnvironmentProblem."""
        with self._transaction() as connection:
            connection.executemany(
                "DELETE FROM operations WHERE op_id = ? AND state != 'intent'", [(op_id,) for op_id in op_ids]
            )

    def interrupted(self) -> tuple[OperationRecord, ...]:
        """Records in state "intent" nobody works on any more, oldest first. Raises EnvironmentProblem.

        A simulation's counts while its process is gone. An effect on a file counts always: its intent
        is only alive under the write lock, so the caller has to hold that to act on the answer.
        """
        owners = dict(
            self._rows("SELECT op_id, owner FROM operations WHERE state = 'intent' AND kind = 'simulation'")
        )
        begun = self._read(f"{_SELECT} WHERE state = 'intent' ORDER BY number")
        return tuple(
            record
            for record in begun
            if record.kind != "simulation" or not _is_running(owners.get(record.op_id, ""))
        )

    @contextlib.contextmanager
    def write_lock(self, *, give_up: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """The project-wide lock around intent, file and done; the system frees it when a process dies.

        Waits for other processes and threads, at most half a minute: then EnvironmentProblem "busy".
        While it waits, `give_up` is asked; yes is answered by Stopped. Not for taking twice in a thread.
        """
        path = self._path.with_suffix(".lock")
        descriptor = _open_lock_file(path)
        try:
            end = time.monotonic() + _LOCK_S
            while not _try_lock(descriptor, path):
                if give_up():
                    raise Stopped(msg("Stopped."))
                if time.monotonic() >= end:
                    raise _busy(path)
                time.sleep(random.uniform(*_POLL_S))  # noqa: S311 - only to part those who wait
            yield
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Close the database; a later use opens it again."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _read(self, query: str, values: Sequence[object] = ()) -> tuple[OperationRecord, ...]:
        try:
            return tuple(_record_of(row) for row in self._rows(query, values))
        except ValueError as error:
            raise _damaged(self._path, error) from error

    def _rows(self, query: str, values: Sequence[object] = ()) -> Sequence[tuple[Any, ...]]:
        with self._guard:
            if self._connection is None and not os.path.lexists(self._path):
                return ()
            with self._problems():
                return self._open().execute(query, values).fetchall()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._guard, self._problems():
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # SQLite has rolled back by itself when the disk is full
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _problems(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _unusable(self._path, error) from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            for suffix in ("", "-wal", "-shm", "-journal"):
                _refuse_special(self._path.with_name(self._path.name + suffix))
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            try:
                _set_up(connection, self._path)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    """Configure the database and make its table.

    Tried again while it is locked: SQLite does not wait, whatever its busy_timeout, when two open a
    new database and both change its journal mode.
    """
    end = time.monotonic() + _BUSY_S
    while True:
        try:
            _configure(connection, path)
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() >= end:
                raise
            time.sleep(random.uniform(*_POLL_S))  # noqa: S311 - only to part the two
        else:
            return


def _configure(connection: sqlite3.Connection, path: Path) -> None:
    # A database that came with a strange project must not run what its schema says.
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA synchronous = FULL")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > _SCHEMA_VERSION:
        raise EnvironmentProblem(
            msg("The log of operations {path} was written by a newer version of this program.", path=path),
            advice=msg("Update the program."),
            file=path,
            error_type="newer_version",
        )
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        connection.execute("PRAGMA journal_mode = WAL")
    if version == _SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]  # another may have been quicker
        for statement in _ADDED_IN_2 if version == 1 else ():
            connection.execute(statement)
        connection.execute(_CREATE_TABLE)
        for statement in _CREATE_INDEXES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _row_of(record: OperationRecord) -> tuple[str | bytes | int | None, ...]:
    return (
        record.op_id,
        record.session_id,
        record.tool,
        record.kind,
        "intent",
        _storable(record.path),
        record.before_sha256,
        record.after_sha256,
        record.undoes,
        record.created,
        None if record.result is None else json.dumps(record.result),
        record.mode,
        json.dumps([[item.path, item.before, item.after, item.mode] for item in record.further]),
    )


def _storable(path: str) -> str | bytes:
    """A file name that is no valid text goes in as its bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def _record_of(row: tuple[Any, ...]) -> OperationRecord:
    """Raises ValueError when the row was not written by us."""
    *texts, result, mode, further = row
    op_id, session_id, tool, kind, state, path, before, after, undoes, created = texts
    if kind not in get_args(OperationKind) or state not in get_args(OperationState):
        raise ValueError(f"an operation of kind {kind!r} in state {state!r}")
    return OperationRecord(
        op_id=op_id,
        session_id=session_id,
        tool=tool,
        kind=kind,
        state=state,
        path=os.fsdecode(path),
        before_sha256=before,
        after_sha256=after,
        undoes=undoes,
        created=created,
        result=None if result is None else json.loads(result),
        mode=mode,
        further=tuple(
            FileChange(path=place, before=old, after=new, mode=bits)
            for place, old, new, bits in json.loads(further)
        ),
    )


def _this_process() -> str:
    return f"{os.getpid()} {_start_of(os.getpid())}"


def _is_running(owner: str) -> bool:
    """Whether the process that wrote `owner` lives; its start tells it from a later one of that number."""
    number, _, start = owner.partition(" ")
    return number.isdecimal() and start != "" and _start_of(int(number)) == start


def _start_of(process: int) -> str:
    """When a process began, in a form of its own; "" when there is none.

    Field 22 of /proc/<pid>/stat (proc(5)), in ticks since the system's start.
    """
    try:
        stat_line = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
    fields = stat_line.rpartition(")")[2].split()  # the name before it may hold anything
    return "" if fields[0] in "ZX" else f"{fields[19]} {boot}"


def _open_lock_file(path: Path) -> int:
    """A descriptor of its own, so that threads of one process exclude each other too."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise _in_the_way(path) from error
        raise _unwritable(path, write_problem(error, path)) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _in_the_way(path)
    return descriptor


def _try_lock(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _unwritable(path, error) from error
    return True


def _refuse_special(path: Path) -> None:
    """A link, a pipe or a folder could be there in a project that came from somebody else."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable(path, error) from error
    if not stat.S_ISREG(found.st_mode):
        raise _in_the_way(path)


def _in_the_way(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg("{path} is not a regular file, so the log of operations cannot be used.", path=path),
        advice=msg("Remove it; the program then makes a file of its own."),
        file=path,
        error_type="damaged",
    )


def _busy(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg(
            "The project is busy: another program has held {path} for {seconds} s.",
            path=path,
            seconds=_LOCK_S,
        ),
        advice=msg("Wait until it has ended, or end it, and try again; nothing was changed."),
        file=path,
        error_type="busy",
    )


def _unwritable(path: Path, error: Exception) -> EnvironmentProblem:
    if isinstance(error, CircuitAIError):
        kind, reason = error.error_type, str(error)
    else:
        kind, reason = "read_only", getattr(error, "strerror", None) or str(error)
    return EnvironmentProblem(
        msg("The log of operations {path} cannot be written ({reason}).", path=path, reason=reason),
        advice=msg("Check that the project's folder exists, is writable and has space left."),
        file=path,
        error_type=kind,
    )


def _damaged(path: Path, error: Exception) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg("The log of operations {path} is damaged ({reason}).", path=path, reason=error),
        advice=msg(
            "Move it away: earlier changes can then no longer be undone; your files are not affected."
        ),
        file=path,
        error_type="damaged",
    )


def _unusable(path: Path, error: sqlite3.Error) -> EnvironmentProblem:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return EnvironmentProblem(
            msg("The disk is full: the log of operations {path} cannot be written.", path=path),
            advice=msg("Free some space and try again; what was there before is unchanged."),
            file=path,
            error_type="disk_full",
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM):
        return _unwritable(path, error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return EnvironmentProblem(
            msg("The log of operations {path} is in use by another program.", path=path),
            advice=msg("Wait until the other run has ended, and try again."),
            file=path,
            error_type="busy",
        )
    return _damaged(path, error)
