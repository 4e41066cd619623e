"""Effects on files: logged before they happen, atomic, idempotent by call, undoable one by one.

The order is the design's: operation log (intent, both hashes) -> user file (atomic) -> operation log
(done). A later start can tell what happened from the log and the file alone.

The steps of one effect are taken in a worker thread under the project's write lock. So an intent that is
found under that lock was left by an interruption, and every effect begins with settling those.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from application.ports.project import ABSENT, OperationRecord
from domain.llm.tools.line_diff import LineDiff, diff_files
from shared.errors import CircuitAIError, CircuitError, Stopped, UserInputError
from shared.message import msg
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from application.ports.project import OperationLog, ProjectFiles

_logger = logging.getLogger(__name__)
_T = TypeVar("_T")
_GiveUp = Callable[[], bool]
"""Asked before an effect begins: whether it is still wanted."""

_UNCLEAR = {"error_type": "file_modified_externally"}
"""Stored result of an abandoned effect when the file was neither as before nor as after it."""


class Operations:
    """The effects of one project. Every method may be cancelled: an effect is then whole or none."""

    def __init__(self, *, log: OperationLog, project: ProjectFiles) -> None:
        self._log = log
        self._project = project

    async def change_file(
        self,
        *,
        op_id: str,
        session_id: str,
        tool: str,
        path: Path,
        content: bytes,
        expected_sha256: str | None = None,
        result: Mapping[str, Any] | None = None,
    ) -> OperationRecord:
        """Put `content` at `path` (absolute or relative to the project) and return the done record.

        Idempotent by `op_id`: one that is done (or was undone since) is returned as it is; an
        interrupted one is done anew when the file has the before-hash, marked done when it has the
        after-hash. `expected_sha256` (ABSENT for no file) refuses to write when the file has another
        content by now: CircuitError "file_modified_externally", as for an interrupted one whose file
        has neither hash. `result` is stored with the intent. Raises UserInputError,
        EnvironmentProblem.
        """
        wanted = OperationRecord(
            op_id=op_id,
            session_id=session_id,
            tool=tool,
            kind="file",
            state="intent",
            created=_now(),
            result=result,
        )
        return await _whole(lambda give_up: self._change(wanted, path, content, expected_sha256, give_up))

    async def begin_simulation(self, *, op_id: str, session_id: str, tool: str) -> OperationRecord:
        """Record that a run begins (or find that it had begun, or is done)."""
        wanted = OperationRecord(
            op_id=op_id, session_id=session_id, tool=tool, kind="simulation", state="intent", created=_now()
        )
        return await _whole(lambda _give_up: self._begin(wanted))

    async def finish(self, op_id: str, result: Mapping[str, Any]) -> OperationRecord:
        """Record a run's outcome; one that is recorded already stays. ValueError for an unknown id."""
        return await _whole(lambda _give_up: self._finish(op_id, result))

    async def find(self, op_id: str) -> OperationRecord | None:
        """The record of a call, if it had an effect."""
        return await _whole(lambda _give_up: self._log.find(op_id))

    async def settle(self, op_id: str) -> OperationRecord | None:
        """What became of a call that was interrupted: repairs its record, repeats nothing.

        done -> as it is; intent and the file has the after-hash -> done; intent and the file has the
        before-hash (or something else by now) -> abandoned; no record -> None.
        """
        return await _whole(lambda give_up: self._settle_call(op_id, give_up))

    async def repair(self, *, session_id: str = "") -> tuple[OperationRecord, ...]:
        """Settle everything interrupted (of one session) whose process is gone; as it is now.

        What another living process has under way is not touched.
        """
        return await _whole(lambda give_up: self._repair(session_id, give_up))

    async def undo(self, op_id: str, *, session_id: str = "") -> OperationRecord:
        """Put back what was there before an operation; the undo is an operation too, with a record.

        Undoing an undo is a redo. `session_id` "" = that of the undone one. Raises UserInputError
        ("no_operation"), CircuitError ("not_undoable", "already_undone", "file_modified_externally"
        when the file changed since), EnvironmentProblem.
        """
        return await _whole(lambda give_up: self._undo(op_id, session_id, give_up))

    async def list(self, *, session_id: str = "") -> tuple[OperationRecord, ...]:
        """All records (of one session), oldest first."""
        return await _whole(lambda _give_up: self._log.list(session_id=session_id))

    async def diff(self, op_id: str) -> LineDiff:
        """What an operation changed, from the object store; empty for a simulation.

        Raises UserInputError ("no_operation"), EnvironmentProblem when a stored content is lost.
        """
        return await _whole(lambda _give_up: self._diff(self._known(op_id)))

    @contextlib.contextmanager
    def _alone(self, give_up: _GiveUp) -> Iterator[None]:
        """Under the write lock, with nothing unsettled on files."""
        with self._log.write_lock(give_up=give_up):
            for record in self._log.interrupted():
                if record.kind != "simulation":
                    self._settle(record)
            if give_up():  # the last moment without any effect
                raise Stopped(msg("Stopped."))
            yield

    def _change(
        self,
        wanted: OperationRecord,
        path: Path,
        content: bytes,
        expected: str | None,
        give_up: _GiveUp,
    ) -> OperationRecord:
        with self._alone(give_up):
            known = self._log.find(wanted.op_id)
            if known is not None and known.kind != "file":
                raise ValueError(f"operation {wanted.op_id} is no change of a file")
            if known is not None and known.state != "abandoned":
                return known
            current = self._current(path)
            before = _hash(current)
            if known is not None and known.result == _UNCLEAR:
                raise _changed_after_interruption(known.path)
            if expected is not None and before != expected:
                raise _changed_meanwhile(path)
            intent = replace(
                wanted, path=self._project.place_of(path), before_sha256=before, after_sha256=_hash(content)
            )
            return self._carry_out(intent, current, content)

    def _carry_out(
        self, intent: OperationRecord, current: bytes | None, wanted: bytes | None
    ) -> OperationRecord:
        """Backup, intent, file, done; None = no file."""
        for content in (current, wanted):
            if content is not None:
                self._project.keep_object(content)
        self._log.record_intent(intent)
        path = self._project.root / intent.path
        try:
            if wanted is None:
                self._project.remove(path)
            elif wanted != current:
                self._project.write(path, wanted)
        except CircuitAIError:
            # Also a failed write may have put the file in place (its folder could not be flushed, say).
            settled = self._settle(intent)
            if settled.state != "done":
                raise
            return settled
        return self._close(intent)

    def _close(self, record: OperationRecord) -> OperationRecord:
        if record.kind == "undo":
            self._mark(record.undoes, stands=False)
        self._log.set_state(record.op_id, "done")
        return replace(record, state="done")

    def _mark(self, op_id: str, *, stands: bool) -> None:
        """Note that an operation's effect stands or not; when an undo falls, what it undid stands again."""
        record = self._log.find(op_id)
        if record is not None:
            self._log.set_state(op_id, "done" if stands else "undone")
            if record.kind == "undo":
                self._mark(record.undoes, stands=not stands)

    def _settle(self, record: OperationRecord) -> OperationRecord:
        """Close an interrupted intent by what is in the file now."""
        if record.kind != "simulation":
            with contextlib.suppress(CircuitAIError):  # its folder is no place of the project any more
                self._project.clear_leftovers(Path(record.path))
        try:
            found = ABSENT if record.kind == "simulation" else _hash(self._current(Path(record.path)))
        except UserInputError:  # a folder or a link to the outside has taken the file's place
            found = ""
        if record.kind != "simulation" and found == record.after_sha256:
            return self._close(record)
        is_unclear = record.kind != "simulation" and found != record.before_sha256
        result = _UNCLEAR if is_unclear else None
        self._log.set_state(record.op_id, "abandoned", result=result)
        return replace(record, state="abandoned", result=result or record.result)

    def _settle_call(self, op_id: str, give_up: _GiveUp) -> OperationRecord | None:
        record = self._log.find(op_id)
        if record is None or record.state != "intent":
            return record
        with self._log.write_lock(give_up=give_up):
            record = self._log.find(op_id)
            return self._settle(record) if record is not None and record.state == "intent" else record

    def _repair(self, session_id: str, give_up: _GiveUp) -> tuple[OperationRecord, ...]:
        if not self._log.interrupted():  # by far the usual case; a project that is only read stays untouched
            return ()
        with self._log.write_lock(give_up=give_up):
            return tuple(
                self._settle(record)
                for record in self._log.interrupted()
                if session_id in ("", record.session_id)
            )

    def _begin(self, wanted: OperationRecord) -> OperationRecord:
        known = self._log.find(wanted.op_id)
        if known is not None and known.kind != "simulation":
            raise ValueError(f"operation {wanted.op_id} is no simulation")
        if known is not None and known.state == "done":
            return known
        if known is not None and known.state == "intent":  # begun by a process that may be gone: now ours
            self._log.set_state(wanted.op_id, "abandoned")
        self._log.record_intent(wanted)
        return wanted

    def _finish(self, op_id: str, result: Mapping[str, Any]) -> OperationRecord:
        record = self._log.find(op_id)
        if record is None:
            raise ValueError(f"there is no operation {op_id}")
        if record.state == "done":
            return record
        self._log.set_state(op_id, "done", result=result)
        return replace(record, state="done", result=result)

    def _undo(self, op_id: str, session_id: str, give_up: _GiveUp) -> OperationRecord:
        with self._alone(give_up):
            record = self._known(op_id)
            _refuse_what_cannot_be_undone(record)
            current = self._current(Path(record.path))
            if _hash(current) != record.after_sha256:
                raise self._changed_since(record, _hash(current))
            before = (
                None if record.before_sha256 == ABSENT else self._project.read_object(record.before_sha256)
            )
            intent = OperationRecord(
                op_id=new_ulid(),
                session_id=session_id or record.session_id,
                tool="undo",
                kind="undo",
                state="intent",
                path=record.path,
                before_sha256=record.after_sha256,
                after_sha256=record.before_sha256,
                undoes=record.op_id,
                created=_now(),
            )
            return self._carry_out(intent, current, before)

    def _changed_since(self, record: OperationRecord, present: str) -> CircuitError:
        later = [item for item in self._log.list() if item.path == record.path and item.state == "done"]
        if later and later[-1].op_id != record.op_id and later[-1].after_sha256 == present:
            advice = msg("Undo operation {op_id} first; it changed the file later.", op_id=later[-1].op_id)
        else:
            advice = msg(
                "Compare the file with the operation's changes and take back by hand what you don't want."
            )
        return CircuitError(
            msg("{path} was changed since; it is not undone, so that nothing is lost.", path=record.path),
            advice=advice,
            error_type="file_modified_externally",
        )

    def _known(self, op_id: str) -> OperationRecord:
        record = self._log.find(op_id)
        if record is None:
            raise UserInputError(
                msg("There is no operation {op_id} in this project.", op_id=op_id),
                advice=msg("List them: python main.py operations PROJECT"),
                error_type="no_operation",
            )
        return record

    def _current(self, path: Path) -> bytes | None:
        """The file's bytes, None when there is no file."""
        try:
            return self._project.read(path)
        except UserInputError as error:
            if error.error_type != "file_not_found":
                raise
            return None

    def _diff(self, record: OperationRecord) -> LineDiff:
        if record.kind == "simulation":
            return LineDiff(added=0, removed=0)
        before, after = (
            None if sha256 == ABSENT else self._project.read_object(sha256)
            for sha256 in (record.before_sha256, record.after_sha256)
        )
        return diff_files(before, after, path=record.path)


async def _whole(work: Callable[[_GiveUp], _T]) -> _T:
    """Do `work` in a worker thread; when cancelled, wait for its end first.

    Until its effect begins it is told to give up; from there on it is brought to its end.
    """
    is_cancelled = False
    task = asyncio.ensure_future(asyncio.to_thread(work, lambda: is_cancelled))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        is_cancelled = True
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):  # goes on below, once the thread is through
                await asyncio.wait({task})
        if not task.cancelled() and (error := task.exception()) is not None:
            _logger.info("An operation failed while it was cancelled: %s", error)
        raise


def _hash(content: bytes | None) -> str:
    return ABSENT if content is None else hashlib.sha256(content).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _refuse_what_cannot_be_undone(record: OperationRecord) -> None:
    if record.kind == "simulation":
        raise CircuitError(
            msg("Operation {op_id} is a simulation: it changed no file.", op_id=record.op_id),
            advice=msg("Only changes of files can be undone."),
            error_type="not_undoable",
        )
    if record.state == "undone":
        raise CircuitError(
            msg("Operation {op_id} is undone already.", op_id=record.op_id),
            advice=msg("To do it again, undo the operation that undid it."),
            error_type="already_undone",
        )
    if record.state != "done":
        raise CircuitError(
            msg("Operation {op_id} was interrupted and has changed nothing.", op_id=record.op_id),
            advice=msg("Only changes of files can be undone."),
            error_type="not_undoable",
        )


def _changed_meanwhile(path: Path) -> CircuitError:
    return CircuitError(
        msg("{path} was changed by somebody else meanwhile; it was not written.", path=path),
        advice=msg("Read the file again and base the change on what it has now."),
        error_type="file_modified_externally",
    )


def _changed_after_interruption(path: str) -> CircuitError:
    return CircuitError(
        msg("A change of {path} was interrupted, and somebody changed the file since.", path=path),
        advice=msg("Read the file again; make the change anew if it is not there."),
        error_type="file_modified_externally",
    )
