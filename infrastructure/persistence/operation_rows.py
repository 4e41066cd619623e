"""The rows of ``operations.sqlite``: their form, their signatures, and what stands in rows of older versions.

A row is signed over all that is in it, its number and state too, and signed again with each change of it.
One whose signature does not hold was written by another installation (or by a version that did not sign): it
is told as such, and nothing is done because of it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from application.ports.project import FileChange, OperationKind, OperationRecord, OperationState
from shared.safe_json import read_bounded

if TYPE_CHECKING:
    from infrastructure.persistence.authenticity import Authenticity

SCHEMA_VERSION = 4
TABLE = "operations"
_COLUMNS = (
    "op_id", "session_id", "tool", "kind", "state", "path", "before_sha256", "after_sha256", "undoes",
    "created", "result", "mode", "further", "owner", "number", "signature",
)  # fmt: skip
_SIGNED = _COLUMNS[:-1]
_MOST_NUMBERED = 2**62
"""Of a log's rows no number is larger."""
_TEXTS = (
    "op_id", "session_id", "tool", "before_sha256", "after_sha256", "undoes", "created", "further",
)  # fmt: skip
_KIND = "numbered operation"
_STORED = (str, bytes, int)
_KINDS, _STATES = get_args(OperationKind), get_args(OperationState)
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
        further TEXT NOT NULL DEFAULT '[]',
        signature TEXT NOT NULL DEFAULT ''
    )
"""
_ADDED = {
    "mode": "ALTER TABLE operations ADD COLUMN mode INTEGER",
    "further": "ALTER TABLE operations ADD COLUMN further TEXT NOT NULL DEFAULT '[]'",
    "signature": "ALTER TABLE operations ADD COLUMN signature TEXT NOT NULL DEFAULT ''",
}
"""Columns that older versions had not."""
_IN_PLACE_OF = {"mode": "NULL", "further": "'[]'", "signature": "''"}
_CREATE_INDEXES = (
    "CREATE INDEX IF NOT EXISTS operations_by_session ON operations (session_id, number)",
    "CREATE INDEX IF NOT EXISTS operations_begun ON operations (number) WHERE state = 'intent'",
)
_OUR_NAMES = frozenset({TABLE, "operations_by_session", "operations_begun", "sqlite_sequence"})

Row = tuple[Any, ...]
"""The columns in the order of `_COLUMNS`."""


class ForeignDatabase(ValueError):
    """There is something in the database that no log of operations has."""


def require_own(connection: sqlite3.Connection) -> None:
    """Raise ForeignDatabase for tables, views and triggers of somebody else: neither read nor added to."""
    names = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master")]
    strange = [name for name in names if name not in _OUR_NAMES and not name.startswith("sqlite_autoindex_")]
    if strange:
        raise ForeignDatabase(f"it has {strange[0]!r}, which is not ours")
    if TABLE in names and not set(_COLUMNS) - set(_ADDED) <= _present(connection):
        raise ForeignDatabase("its table has other columns")


def make_table(connection: sqlite3.Connection) -> None:
    """Make the table, or give one of an older version what it lacks; within a transaction."""
    present = _present(connection)
    for column, statement in _ADDED.items() if present else ():
        if column not in present:
            connection.execute(statement)
    connection.execute(_CREATE_TABLE)
    for statement in _CREATE_INDEXES:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def selection(connection: sqlite3.Connection) -> str:
    """The SELECT of whole rows, also from the table of an older version; "" where there is no table."""
    present = _present(connection)
    if not present:
        return ""
    columns = [name if name in present else f"{_IN_PLACE_OF[name]} AS {name}" for name in _COLUMNS]
    return f"SELECT {', '.join(columns)} FROM {TABLE}"  # noqa: S608 - our names


def insert(connection: sqlite3.Connection, row: Row) -> None:
    """Add a row. Raises sqlite3.IntegrityError when its id is taken."""
    places = ", ".join("?" * len(_COLUMNS))
    connection.execute(f"INSERT INTO {TABLE} ({', '.join(_COLUMNS)}) VALUES ({places})", row)  # noqa: S608


def replace_rows(connection: sqlite3.Connection, rows: Iterable[tuple[Row, object]]) -> None:
    """Put rows in the places of those of their ids, each while that one has the signature named with it."""
    assigned = ", ".join(f"{name} = ?" for name in _COLUMNS[1:])
    values = ((*row[1:], row[0], signature) for row, signature in rows)
    statement = f"UPDATE {TABLE} SET {assigned} WHERE op_id = ? AND signature IS ?"  # noqa: S608 - our names
    connection.executemany(statement, values)


def next_number(connection: sqlite3.Connection) -> int:
    """The number of the next row, within a transaction. Raises ForeignDatabase for one that has none left."""
    number: int = connection.execute(f"SELECT coalesce(max(number), 0) + 1 FROM {TABLE}").fetchone()[0]  # noqa: S608
    if not 0 < number <= _MOST_NUMBERED:
        raise ForeignDatabase(f"a row has the number {number - 1}")
    return number


def begun(record: OperationRecord, owner: str, number: int, by: Authenticity) -> Row:
    values = (
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
        owner,
        number,
    )
    return (*values, by.sign(_KIND, *values))


def changed(row: Row, by: Authenticity, **values: Any) -> Row:
    """A row with other values in some columns, signed anew."""
    known = dict(zip(_COLUMNS, row, strict=True)) | values
    signed = tuple(known[name] for name in _SIGNED)
    return (*signed, by.sign(_KIND, *signed))


def is_ours(row: Row, by: Authenticity) -> bool:
    """Whether this installation wrote the row as it stands, where it stands."""
    if not all(value is None or isinstance(value, _STORED) for value in row):
        return False
    # A row of a version that did not sign its number is signed with it at its next change.
    return by.is_ours(_KIND, row[-1], *row[:-1]) or by.is_ours("operation", row[-1], *row[:-2])


def signature_of(row: Row) -> str:
    return str(row[-1])


def owner_of(row: Row) -> str:
    """Who began it; see `begun`."""
    return str(row[_COLUMNS.index("owner")])


def record_of(row: Row, by: Authenticity | None) -> OperationRecord:
    """What a row says; with no `by` it is not asked whose it is. Raises ValueError when it makes no sense."""
    values: Mapping[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    kind, state, mode = values["kind"], values["state"], values["mode"]
    if kind not in _KINDS or state not in _STATES:
        raise ValueError(f"an operation of kind {kind!r} in state {state!r}")
    if not all(isinstance(values[name], str) for name in _TEXTS) or not isinstance(mode, int | None):
        raise ValueError("an operation whose columns have other types")
    if not isinstance(values["path"], str | bytes) or not isinstance(values["result"], str | None):
        raise ValueError("an operation whose columns have other types")
    result = None if values["result"] is None else read_bounded(values["result"])
    if not isinstance(result, dict | None):
        raise ValueError("an operation whose result is no object")
    return OperationRecord(
        op_id=values["op_id"],
        session_id=values["session_id"],
        tool=values["tool"],
        kind=kind,
        state=state,
        path=os.fsdecode(values["path"]),
        before_sha256=values["before_sha256"],
        after_sha256=values["after_sha256"],
        undoes=values["undoes"],
        created=values["created"],
        result=result,
        mode=mode,
        further=tuple(_change(item) for item in _read_list(values["further"])),
        is_ours=by is not None and is_ours(row, by),
    )


def adopted(row: Row, by: Authenticity) -> Row:
    """The row of another installation as ours: what it had under way is not carried out, and nothing it
    recorded makes a file that can be run. Raises ValueError for one that makes no sense."""
    record = record_of(row, None)
    return changed(
        row,
        by,
        state="abandoned" if record.state == "intent" else record.state,
        mode=_plain_mode(record.mode),
        further=json.dumps(
            [[item.path, item.before, item.after, _plain_mode(item.mode)] for item in record.further]
        ),
        owner="",
    )


def _read_list(text: str) -> Any:
    return [] if text == "[]" else read_bounded(text)  # by far the most, of a hundred thousand rows


def _change(item: Sequence[Any]) -> FileChange:
    place, before, after, mode = item
    if not all(isinstance(text, str) for text in (place, before, after)) or not isinstance(mode, int | None):
        raise ValueError("a change whose parts have other types")
    return FileChange(path=place, before=before, after=after, mode=mode)


def _plain_mode(mode: int | None) -> int | None:
    return None if mode is None else mode & 0o666


def _present(connection: sqlite3.Connection) -> set[str]:
    return {str(row[1]) for row in connection.execute(f"PRAGMA table_info({TABLE})")}


def _storable(path: str) -> str | bytes:
    """A file name that is no valid text goes in as its bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path
