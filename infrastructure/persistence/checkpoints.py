"""LangGraph's checkpoints in a project's ``checkpoints.sqlite``.

The only module outside the graph that knows LangGraph; it is imported when a checkpointer is opened.
Graphs run with ``durability="sync"``: with LangGraph's default a killed program loses finished steps.

What is kept is signed for its thread. What was not signed here is as if lost when its thread is opened: the
transcript leads, and is itself proved to be ours.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import sqlite3
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from infrastructure.persistence.authenticity import SIGNATURE_LENGTH, Authenticity, UserKey
from infrastructure.persistence.confined import InTheWay, write_problem
from infrastructure.persistence.databases import CHECKPOINTS, check_before_opening, is_disk_full
from shared.errors import EnvironmentProblem
from shared.message import msg
from shared.uninterrupted import uninterrupted

if TYPE_CHECKING:
    import aiosqlite
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
    from langgraph.checkpoint.serde.base import SerializerProtocol
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

_logger = logging.getLogger(__name__)

_OF_LANGGRAPH = "__"
"""What its own channels begin with: interruptions, their answers, errors."""
_QUICKLY = 1
"""zlib's level."""
_BUSY_S = 5.0
"""How long to wait for another process's transaction."""


class SqliteCheckpointers:
    """Implements application.ports.conversation.Checkpointers."""

    def __init__(self, key: UserKey) -> None:
        self._key = key

    def __call__(self, path: Path, thread_id: str) -> AbstractAsyncContextManager[AsyncSqliteSaver]:
        """A saver on the database at `path` for one thread; see `open_checkpointer`."""
        return open_checkpointer(path, thread_id, signer=Authenticity(self._key, path.parent))

    async def prune(self, saver: BaseCheckpointSaver[str], thread_id: str) -> None:
        """Forget all steps of a thread but the newest."""
        await prune(cast("AsyncSqliteSaver", saver), thread_id, keep=1)


@asynccontextmanager
async def open_checkpointer(
    path: Path,
    thread_id: str,
    *,
    signer: Authenticity | None = None,
    allowed_types: Iterable[type | tuple[str, str]] = (),
) -> AsyncIterator[AsyncSqliteSaver]:
    """A saver for a thread on the database at `path` (made if missing), closed at the end whatever happens.

    `signer` is the project's; None: that of the folder the database is in, with the user's key. What it has
    not signed is removed from the thread.

    Checkpoints of a strange project must not run code: only plain types, LangChain's messages and
    `allowed_types` (classes, or module and name) come back from it; others come back as plain data.
    Raises EnvironmentProblem when the file cannot be used.
    """
    # Takes half a second the first time.
    await asyncio.to_thread(_import_langgraph)
    import aiosqlite
    from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    names = [
        (kind.__module__, kind.__qualname__) if isinstance(kind, type) else kind for kind in allowed_types
    ]
    signature = _Signature(signer or Authenticity.of_user(path.parent), thread_id)
    serializer = EncryptedSerializer(signature, JsonPlusSerializer(allowed_msgpack_modules=names or None))
    try:
        await asyncio.to_thread(check_before_opening, path, CHECKPOINTS)
    except sqlite3.Error as error:
        raise _unusable(path, error) from error
    except InTheWay as error:
        raise error.problem() from error
    except OSError as error:
        raise write_problem(error, path) from error
    connecting = asyncio.ensure_future(_connected(aiosqlite.connect(path, timeout=_BUSY_S)))
    try:
        connection = await uninterrupted(connecting)
    except sqlite3.Error as error:
        raise _unusable(path, error) from error
    except asyncio.CancelledError:
        # Its thread must not outlive us.
        if not connecting.cancelled() and connecting.exception() is None:
            await uninterrupted(connecting.result().close())
        raise
    try:
        saver = _saver(connection, serializer)
        await _set_up(saver)
        await asyncio.to_thread(signature.prepare)
        await _forget_unsigned(saver, thread_id, signature)
        yield saver
    except sqlite3.Error as error:  # also one that comes later, out of the graph: a full disk, say
        raise _unusable(path, error) from error
    finally:
        await uninterrupted(connection.close())


def _saver(connection: aiosqlite.Connection, serializer: SerializerProtocol) -> AsyncSqliteSaver:
    """LangGraph's saver, which goes to the connection's thread once for what it keeps or reads, and not
    four times.

    A round of a design keeps some twenty things; each way there and back costs as much as the writing.

    What a node has given is kept with the checkpoint behind it and not a second time before: nodes run one
    after the other, so that no other's work is lost with it, and a node that was killed between the two finds
    in the transcript what it has done. Questions and their answers are kept.
    """
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    class Saver(AsyncSqliteSaver):
        async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
            return cast("CheckpointTuple | None", await self._kept(there.get_tuple, config))

        async def aput(self, *args: Any, **kwargs: Any) -> RunnableConfig:
            return cast("RunnableConfig", await self._kept(there.put, *args, **kwargs))

        async def aput_writes(
            self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], *args: Any, **kwargs: Any
        ) -> None:
            if any(channel.startswith(_OF_LANGGRAPH) for channel, _ in writes):
                await self._kept(there.put_writes, config, writes, *args, **kwargs)

        async def _kept(self, keep: Callable[..., object], *args: Any, **kwargs: Any) -> object:
            async with self.lock:
                return await _there(self.conn, keep, *args, **kwargs)

    there = SqliteSaver(connection._conn, serde=serializer)
    there.is_setup = True  # by the other's
    return Saver(connection, serde=serializer)


async def _there(
    connection: aiosqlite.Connection, do: Callable[..., object], *args: Any, **kwargs: Any
) -> object:
    """What `do` gives in the connection's thread."""
    return await cast("Any", connection)._execute(do, *args, **kwargs)


class _Signature:
    """LangGraph's way to put something around what it keeps (CipherProtocol): here a signature.

    And less room: a state repeats itself (the goals stand with each judged round), so that a tenth is left.
    """

    NAME = "signed"
    PACKED = "signed-zlib"

    def __init__(self, signer: Authenticity, thread_id: str) -> None:
        self._signer = signer
        self._thread_id = thread_id

    def prepare(self) -> None:
        """Make what a first signature makes, off the loop. Raises EnvironmentProblem."""
        self.encrypt(b"")

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        packed = zlib.compress(plaintext, _QUICKLY)
        signature = self._signer.sign("checkpoint", self._thread_id, packed)
        return self.PACKED, signature.encode("ascii") + packed

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """The content. Raises ValueError when it was not signed here for this thread."""
        signature, content = ciphertext[:SIGNATURE_LENGTH], ciphertext[SIGNATURE_LENGTH:]
        text = signature.decode("ascii", "replace")
        is_known = ciphername in (self.NAME, self.PACKED)
        if not is_known or not self._signer.is_ours("checkpoint", text, self._thread_id, content):
            raise ValueError("a checkpoint that was not written here")
        return zlib.decompress(content) if ciphername == self.PACKED else content

    def holds(self, kind: bytes, content: bytes) -> bool:
        """Whether a row's type and content were written here."""
        try:
            self.decrypt(kind.partition(b"+")[2].decode("ascii", "replace"), content)
        except ValueError:
            return False
        return True


async def _forget_unsigned(saver: AsyncSqliteSaver, thread_id: str, signature: _Signature) -> None:
    """Remove what others wrote into a thread; it is as if it had been lost."""
    connection = saver.conn
    for table, content in (("checkpoints", "checkpoint"), ("writes", "value")):
        rows = await connection.execute_fetchall(
            f"SELECT rowid, CAST(type AS BLOB), CAST({content} AS BLOB), typeof(type), typeof({content})"  # noqa: S608
            f" FROM {table} WHERE thread_id = ?",
            (thread_id,),
        )
        strange = [
            (row[0],)
            for row in rows
            if (row[3], row[4]) != ("text", "blob") or not signature.holds(row[1], row[2])
        ]
        if strange:
            _logger.warning(
                "%d %s of %s were not written here and are left out", len(strange), table, thread_id
            )
            await connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", strange)  # noqa: S608
            await connection.commit()


async def _connected(connection: aiosqlite.Connection) -> aiosqlite.Connection:
    return await connection


def _import_langgraph() -> None:
    # Read when langgraph is imported: also serialisers we do not make ourselves are to be strict.
    os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
    import langgraph.checkpoint.sqlite.aio  # noqa: F401 - for its cost, not its names


async def prune(saver: AsyncSqliteSaver, thread_id: str, *, keep: int) -> int:
    """Delete all but the newest `keep` checkpoints of a thread, and those of the sub-graphs run in them.

    Runs under the saver's lock, in one transaction, and gives the free pages back to the disk.
    Returns how many were deleted. For graphs without delta channels: these need their forerunners.
    """
    if keep < 1:
        raise ValueError("the newest checkpoint always stays: keep is at least 1")
    async with saver.lock:
        return cast("int", await _there(saver.conn, _pruned, saver.conn._conn, thread_id, keep))


def _pruned(connection: sqlite3.Connection, thread_id: str, keep: int) -> int:
    with connection:
        before = connection.total_changes
        rows = connection.execute(_CHECKPOINTS_OF_THREAD, (thread_id,)).fetchall()
        doomed = [(thread_id, *key) for key in _outdated(rows, keep)]
        connection.executemany(_DELETE_CHECKPOINT, doomed)
        connection.executemany(_DELETE_WRITES, doomed)
    # As a script: a plain execute stops after the first page.
    connection.executescript("PRAGMA incremental_vacuum")
    _logger.debug("Pruned %s: %d rows", thread_id, connection.total_changes - before)
    return len(doomed)


_CHECKPOINTS_OF_THREAD = """
    SELECT checkpoint_ns, checkpoint_id, metadata FROM checkpoints
    WHERE thread_id = ? ORDER BY checkpoint_id DESC
"""
_DELETE_CHECKPOINT = "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
_DELETE_WRITES = "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"


def _outdated(rows: Iterable[Any], keep: int) -> list[tuple[str, str]]:
    """Namespace and id of what may go; `rows` are (namespace, id, metadata), newest first.

    A checkpoint of a sub-graph names the checkpoint of the main graph (namespace "") it was run in.
    """
    rows = [(str(namespace), str(checkpoint), metadata) for namespace, checkpoint, metadata in rows]
    main = [checkpoint for namespace, checkpoint, _ in rows if not namespace]
    kept = set(main[:keep])
    outdated = [("", checkpoint) for checkpoint in main[keep:]]
    for namespace, checkpoint, metadata in rows:
        if namespace:
            parent = json.loads(metadata or b"{}").get("parents", {}).get("")
            if parent is not None and parent not in kept:
                outdated.append((namespace, checkpoint))
    return outdated


async def _set_up(saver: AsyncSqliteSaver) -> None:
    """Configure the database and make its tables.

    Tried again while it is locked: SQLite does not wait, whatever its busy_timeout, when two open a
    new database and both change its journal mode (measured: 5 % of such openings failed).
    """
    end = asyncio.get_running_loop().time() + _BUSY_S
    while True:
        try:
            await _configure(saver.conn)
            await saver.setup()
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or asyncio.get_running_loop().time() >= end:
                raise
            await asyncio.sleep(random.uniform(0.005, 0.02))  # noqa: S311 - only to part the two
        else:
            return


async def _configure(connection: aiosqlite.Connection) -> None:
    # Before the first table, and before WAL: later it has no effect.
    await connection.execute_fetchall("PRAGMA auto_vacuum = INCREMENTAL")
    await connection.execute_fetchall("PRAGMA trusted_schema = OFF")
    await connection.execute_fetchall(f"PRAGMA application_id = {CHECKPOINTS.application_id}")
    await connection.execute_fetchall("PRAGMA journal_mode = WAL")
    # What is committed survives the program; a power cut may cost the newest commits. The transcript, which
    # is on the disk before each of them, then leads, as it does for a lost database; half a step's time.
    await connection.execute_fetchall("PRAGMA synchronous = NORMAL")


def _unusable(path: Path, error: sqlite3.Error) -> EnvironmentProblem:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if is_disk_full(path, error):
        return EnvironmentProblem(
            msg("The disk is full: {path} was not written.", path=path),
            advice=msg("Free some space and try again; the previous content is unchanged."),
            file=path,
            error_type="disk_full",
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return EnvironmentProblem(
            msg("The checkpoint file {path} cannot be written ({reason}).", path=path, reason=error),
            advice=msg("Check that the project folder exists, is writable and has free space."),
            file=path,
            error_type="read_only",
        )
    if code == sqlite3.SQLITE_BUSY:
        return EnvironmentProblem(
            msg("The checkpoint file {path} is in use by another program.", path=path),
            advice=msg("Wait until the other run has finished, and try again."),
            file=path,
            error_type="busy",
        )
    return EnvironmentProblem(
        msg("The checkpoint file {path} is damaged ({reason}).", path=path, reason=error),
        advice=msg(
            "Move it elsewhere: designs then start over; conversations and circuits are not affected."
        ),
        file=path,
        error_type="damaged",
    )
