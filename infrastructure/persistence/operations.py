"""The write-ahead log of effects: ``operations.sqlite``.

SQLite in WAL mode with ``synchronous=FULL``: what a method recorded is on the disk when it returns, and
several processes (window, command line, MCP) work on it with short transactions. Beside it lies
``operations.lock``, which one process at a time holds around intent, file and done.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from application.ports.project import OperationRecord, OperationState
from infrastructure.persistence import operation_rows
from infrastructure.persistence.authenticity import Authenticity
from infrastructure.persistence.begun_changes import BegunChanges
from infrastructure.persistence.confined import InTheWay, open_file, write_problem
from infrastructure.persistence.databases import (
    OPERATIONS,
    check_files,
    check_kind,
    connect_for_reading,
    is_disk_full,
    mark,
)
from shared.errors import CircuitAIError, EnvironmentProblem, Stopped
from shared.message import msg

_logger = logging.getLogger(__name__)

_BUSY_S = 5.0
"""How long to wait for another process's transaction."""
_LOCK_S = 30.0
"""How long to wait for another process's effect."""
_POLL_S = (0.001, 0.02)


class SqliteOperationLog:
    """Implements application.ports.project.OperationLog.

    Opened at its first use; reading a log that is not there makes no file. Methods may be called from
    any thread.
    """

    def __init__(self, path: Path, authenticity: Authenticity | None = None) -> None:
        """`authenticity` is the project's; None: that of the folder the log is in, with the user's key."""
        self._path = path
        self._signer = authenticity or Authenticity.of_user(path.parent)
        self._connection: sqlite3.Connection | None = None
        self._guard = threading.RLock()
        self._read_rows: dict[operation_rows.Row, OperationRecord] = {}

    @cached_property
    def _begun(self) -> BegunChanges:
        return BegunChanges(self._signer.user_home)

    def record_intent(self, record: OperationRecord) -> None:
        """Add a record in state "intent"; one of the same id that was abandoned gives way to it.

        Raises ValueError when the id is taken, EnvironmentProblem.
        """
        with self._transaction() as connection:
            try:
                number = operation_rows.next_number(connection)
            except operation_rows.ForeignDatabase as error:
                raise _damaged(self._path, error) from error
            row = operation_rows.begun(record, _this_process(), number, self._signer)
            if _may_be_half_done(record):
                self._begun.note(operation_rows.signature_of(row))
            connection.execute(
                "DELETE FROM operations WHERE op_id = ? AND state = 'abandoned'", (record.op_id,)
            )
            try:
                operation_rows.insert(connection, row)
            except sqlite3.IntegrityError as error:
                raise ValueError(f"there is an operation {record.op_id} already") from error

    def set_state(
        self, op_id: str, state: OperationState, *, result: Mapping[str, Any] | None = None
    ) -> None:
        """Change a record's state (and its result, when given).

        Raises ValueError for an id that is unknown or of a record that is not ours, EnvironmentProblem.
        """
        given = {} if result is None else {"result": json.dumps(result)}
        with self._transaction() as connection:
            row = connection.execute(
                f"{operation_rows.selection(connection)} WHERE op_id = ?", (op_id,)
            ).fetchone()
            if row is None or not operation_rows.is_ours(row, self._signer):
                raise ValueError(f"there is no operation {op_id} of this installation")
            if _may_be_half_done(operation_rows.record_of(row, self._signer)):
                self._begun.forget(operation_rows.signature_of(row))  # before: the files are as they will be
            changed = operation_rows.changed(row, self._signer, state=state, **given)
            operation_rows.replace_rows(connection, [(changed, row[-1])])

    def adopt(self, *, give_up: Callable[[], bool] = lambda: False) -> int:
        """Make the records of other installations ours, without their powers; how many there were.

        What they had under way is abandoned, and nothing they recorded makes a file that can be run; a row
        that makes no sense stays as it is. `give_up` is asked all along: after a yes nothing is changed.
        Raises Stopped, EnvironmentProblem.
        """
        replaced: list[tuple[operation_rows.Row, object]] = []
        for row in self._rows(""):
            if give_up():
                raise Stopped(msg("Stopped."))
            if operation_rows.is_ours(row, self._signer):
                continue
            try:
                adopted = operation_rows.adopted(row, self._signer)
            except (ValueError, TypeError, RecursionError) as error:
                _logger.warning("An operation in %s makes no sense and stays: %s", self._path, error)
            else:
                replaced.append((adopted, row[-1]))

        def still_wanted() -> Iterator[tuple[operation_rows.Row, object]]:
            for pair in replaced:
                if give_up():
                    raise Stopped(msg("Stopped."))
                yield pair

        if replaced:  # signed by now: what locks others out is short
            with self._transaction() as connection:
                operation_rows.replace_rows(connection, still_wanted())
        return len(replaced)

    def find(self, op_id: str) -> OperationRecord | None:
        found = self._read("WHERE op_id = ?", (op_id,))
        return found[0] if found else None

    def list(
        self,
        *,
        session_id: str = "",
        last: int | None = None,
        among: Collection[str] | None = None,
        undoing: bool = False,
    ) -> tuple[OperationRecord, ...]:
        """All records (of one session; only the newest), oldest first. Writes nothing.

        `among`: only those of these ids; `undoing`: only undos and what is taken back now. What is left out
        is neither read nor verified. Raises EnvironmentProblem.
        """
        asked: dict[str, Sequence[object]] = {"session_id = ?": [session_id]} if session_id else {}
        if among is not None:
            asked[f"op_id IN ({', '.join('?' * len(among))})"] = [*among]
        if undoing:
            asked["(kind = 'undo' OR state = 'undone')"] = ()
        condition = f"WHERE {' AND '.join(asked)}" if asked else ""
        values = [value for each in asked.values() for value in each]
        if last is None:
            return self._read(f"{condition} ORDER BY number", values)
        return self._read(f"{condition} ORDER BY number DESC LIMIT ?", [*values, last])[::-1]

    def forget(self, op_ids: Sequence[str]) -> None:
        """Remove records, those in state "intent" excepted. Raises EnvironmentProblem."""
        with self._transaction() as connection:
            connection.executemany(
                "DELETE FROM operations WHERE op_id = ? AND state != 'intent'", [(op_id,) for op_id in op_ids]
            )

    def interrupted(self) -> tuple[OperationRecord, ...]:
        """Records of ours in state "intent" nobody works on any more, oldest first. Writes nothing.

        Raises EnvironmentProblem.

        A simulation's counts while its process is gone. An effect on a file counts always: its intent
        is only alive under the write lock, so the caller has to hold that to act on the answer.
        """
        rows = self._rows("WHERE state = 'intent' ORDER BY number")
        owners = {str(row[0]): operation_rows.owner_of(row) for row in rows}
        return tuple(
            record
            for record in self._records(rows)
            if record.is_ours and (record.kind != "simulation" or not _is_running(owners[record.op_id]))
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

    def _read(self, condition: str, values: Sequence[object] = ()) -> tuple[OperationRecord, ...]:
        return self._records(self._rows(condition, values))

    def _records(self, rows: Sequence[operation_rows.Row]) -> tuple[OperationRecord, ...]:
        """What the rows say; of another installation's those that make no sense are left out."""
        records = []
        for row in rows:
            try:
                record = self._record_of(row)
                if record.is_ours and _may_be_half_done(record):
                    is_noted = self._begun.is_noted(operation_rows.signature_of(row))
                    record = replace(record, is_under_way=is_noted)
                records.append(record)
            except (ValueError, TypeError, RecursionError) as error:
                if operation_rows.is_ours(row, self._signer):
                    raise _damaged(self._path, error) from error
                _logger.warning("An operation in %s makes no sense and is left out: %s", self._path, error)
        return tuple(records)

    def _record_of(self, row: operation_rows.Row) -> OperationRecord:
        """Read and verified once for each row as it stands: a long design asks for all in each round."""
        record = self._read_rows.get(row)
        if record is None:
            record = operation_rows.record_of(row, self._signer)
            if record.state != "intent":
                self._read_rows[row] = record
        return record

    def _rows(self, condition: str, values: Sequence[object] = ()) -> Sequence[operation_rows.Row]:
        with self._guard, self._problems():
            if self._connection is None and not check_files(self._path):
                return ()
            with self._readable() as connection:
                select = operation_rows.selection(connection)
                return connection.execute(f"{select} {condition}", values).fetchall() if select else ()

    @contextlib.contextmanager
    def _readable(self) -> Iterator[sqlite3.Connection]:
        """The open database, or one opened for reading only: neither made nor brought up to date."""
        if self._connection is not None:
            yield self._connection
            return
        reading = connect_for_reading(self._path, OPERATIONS, timeout=_BUSY_S)
        with contextlib.closing(reading) as connection:
            _require_own(connection, self._path)
            yield connection

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
        except InTheWay as error:
            raise error.problem() from error
        except OSError as error:
            raise _unwritable(self._path, error) from error
        except sqlite3.Error as error:
            raise _unusable(self._path, error) from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            check_files(self._path)
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


def _require_own(connection: sqlite3.Connection, path: Path) -> int:
    """The version of our log's schema; 0 for an empty database. Raises EnvironmentProblem."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > operation_rows.SCHEMA_VERSION:
        raise EnvironmentProblem(
            msg("The operation log {path} was written by a newer version of this program.", path=path),
            advice=msg("Update the program."),
            file=path,
            error_type="newer_version",
        )
    try:
        operation_rows.require_own(connection)
    except operation_rows.ForeignDatabase as error:
        raise _damaged(path, error) from error
    return version


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
    check_kind(connection, path, OPERATIONS)
    connection.execute("PRAGMA synchronous = FULL")
    version = _require_own(connection, path)
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        connection.execute("PRAGMA journal_mode = WAL")
    if version == operation_rows.SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        operation_rows.make_table(connection)  # another may have been quicker: then there is nothing to do
        mark(connection, OPERATIONS)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _may_be_half_done(record: OperationRecord) -> bool:
    """Whether it is the intent of a change of several places: of one alone the files tell everything."""
    return record.state == "intent" and len(record.changes) > 1


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
    try:
        return open_file(path, os.O_RDWR | os.O_CREAT, 0o600)
    except InTheWay as error:
        raise error.problem() from error
    except OSError as error:
        raise _unwritable(path, write_problem(error, path)) from error


def _try_lock(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _unwritable(path, error) from error
    return True


def _busy(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg(
            "The project is busy: another program has held {path} for {seconds} s.",
            path=path,
            seconds=_LOCK_S,
        ),
        advice=msg("Wait until it has finished, or end it, and try again; nothing was changed."),
        file=path,
        error_type="busy",
    )


def _unwritable(path: Path, error: Exception) -> EnvironmentProblem:
    if isinstance(error, CircuitAIError):
        kind, reason = error.error_type, str(error)
    else:
        kind, reason = "read_only", getattr(error, "strerror", None) or str(error)
    return EnvironmentProblem(
        msg("The operation log {path} cannot be written ({reason}).", path=path, reason=reason),
        advice=msg("Check that the project folder exists, is writable and has free space."),
        file=path,
        error_type=kind,
    )


def _damaged(path: Path, error: Exception) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg("The operation log {path} is damaged ({reason}).", path=path, reason=error),
        advice=msg(
            "Move it elsewhere: earlier changes can then no longer be undone; your files are not affected."
        ),
        file=path,
        error_type="damaged",
    )


def _unusable(path: Path, error: sqlite3.Error) -> EnvironmentProblem:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if is_disk_full(path, error):
        return EnvironmentProblem(
            msg("The disk is full: the operation log {path} cannot be written.", path=path),
            advice=msg("Free some space and try again; the previous content is unchanged."),
            file=path,
            error_type="disk_full",
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM):
        return _unwritable(path, error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return EnvironmentProblem(
            msg("The operation log {path} is in use by another program.", path=path),
            advice=msg("Wait until the other run has finished, and try again."),
            file=path,
            error_type="busy",
        )
    return _damaged(path, error)
