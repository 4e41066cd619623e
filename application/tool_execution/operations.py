"""Effects on files: logged before they happen, atomic, idempotent by call, undoable one by one.

The order is the design's: operation log (intent, both hashes) -> user file (atomic) -> operation log
(done). A later start can tell what happened from the log and the file alone.

The steps of one effect are taken in a worker thread under the project's write lock. So an intent that is
found under that lock was left by an interruption, and every effect begins with settling those.

Which changes of a model were taken back is told to it: its words in the history do not know of that.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from application.ports.events import FileOperationDone, FileOperationUndone
from application.ports.project import ABSENT, FOLDER, FileChange, OperationLog, OperationRecord, ProjectFiles
from application.tool_execution.effects import Effects, changed_meanwhile, hash_of
from application.tool_execution.taking_back import UndoChoice, diff_of, plan_undo
from domain.llm.tools.text_files import LineDiff
from shared.errors import CircuitAIError, CircuitError, Stopped, UserInputError
from shared.events import EventBus
from shared.message import Message, msg
from shared.ulid import new_ulid
from shared.uninterrupted import uninterrupted

_T = TypeVar("_T")
_GiveUp = Callable[[], bool]
"""Asked before an effect begins: whether it is still wanted."""

_UNCLEAR = {"error_type": "file_modified_externally"}
"""Stored result of an abandoned effect when the file was neither as before nor as after it."""


class Operations:
    """The effects of one project. Every method may be cancelled: an effect is then whole or none."""

    def __init__(self, *, log: OperationLog, project: ProjectFiles, events: EventBus | None = None) -> None:
        """`events` is told of every change and every undo that is done."""
        self._log = log
        self._project = project
        self._events = events
        self._effects = Effects(project)

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

        Folders that are missing on the way are made, as a part of it: an undo removes them if they are empty.
        Idempotent by `op_id`: one that is done (or was undone since) is returned as it is; an
        interrupted one is done anew when the file has the before-hash, marked done when it has the
        after-hash. `expected_sha256` (ABSENT for no file) refuses to write when the file has another
        content by now: CircuitError "file_modified_externally", as for an interrupted one whose file
        has neither hash. `result` is stored with the intent. Raises UserInputError,
        EnvironmentProblem.
        """

        def changes() -> tuple[FileChange, ...]:
            before = hash_of(self._effects.content_of(path))
            if expected_sha256 is not None and before != expected_sha256:
                raise changed_meanwhile(path)
            place = self._project.place_of(path)
            mode = self._project.mode_of(path)
            change = FileChange(path=place, before=before, after=hash_of(content), mode=mode)
            return (change, *self._effects.folders_made_by(change))

        wanted = _wanted(op_id, session_id, tool, result)
        return await _whole(
            lambda give_up: self._change(wanted, changes, {hash_of(content): content}, give_up)
        )

    async def change_files(
        self,
        *,
        op_id: str,
        session_id: str,
        tool: str,
        changes: Sequence[FileChange],
        result: Mapping[str, Any] | None = None,
        undoes: Sequence[str] = (),
    ) -> OperationRecord:
        """Change several places as one operation: all of them or none, also when the process is killed.

        Files are made of contents that one of the changes takes away (a move, a folder that is moved) or
        that the object store has, and folders; see `change_file` for the rest. `undoes`: operations that do
        not stand any more when it is done. Refused ("file_modified_externally") when a path has not the
        state it is to have before; CircuitError "not_undoable" where tools may not write.
        """

        def checked() -> tuple[FileChange, ...]:
            if undoes and (forbidden := self._effects.forbidden(changes)):
                raise _not_for_tools(undoes[0], forbidden)
            for change in changes:
                path = Path(change.path)
                is_there = self._effects.state_of(change.path) == change.before
                if not is_there or self._project.place_of(path) != change.path:
                    raise changed_meanwhile(path)
            return tuple(changes)

        wanted = _wanted(op_id, session_id, tool, result)
        if undoes:
            wanted = replace(wanted, kind="undo", undoes=" ".join(undoes))
        return await _whole(lambda give_up: self._change(wanted, checked, {}, give_up))

    async def rewrite_files(
        self,
        *,
        op_id: str,
        session_id: str,
        tool: str,
        contents: Mapping[Path, bytes],
        expected: Mapping[Path, str],
        result: Mapping[str, Any] | None = None,
    ) -> OperationRecord:
        """Give several files new contents as one operation: all or none, also when the process is killed.

        Refused ("file_modified_externally") when one has not its `expected` SHA-256 (ABSENT for a new one);
        see `change_file`.
        """

        def changes() -> tuple[FileChange, ...]:
            found: dict[FileChange, None] = {}
            for path, content in contents.items():
                before = hash_of(self._effects.content_of(path))
                if before != expected[path]:
                    raise changed_meanwhile(path)
                place, mode = self._project.place_of(path), self._project.mode_of(path)
                change = FileChange(path=place, before=before, after=hash_of(content), mode=mode)
                found |= dict.fromkeys((change, *self._effects.folders_made_by(change)))
            return tuple(found)

        wanted = _wanted(op_id, session_id, tool, result)
        by_hash = {hash_of(content): content for content in contents.values()}
        return await _whole(lambda give_up: self._change(wanted, changes, by_hash, give_up))

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
        """The record of a call, if it had an effect here; what another installation recorded is none."""
        record = await _whole(lambda _give_up: self._log.find(op_id))
        return record if record is not None and record.is_ours else None

    async def settle(self, op_id: str) -> OperationRecord | None:
        """What became of a call that was interrupted: repairs its record, repeats nothing.

        done -> as it is; intent and the file has the after-hash -> done; intent and the file has the
        before-hash (or something else by now) -> abandoned; no record of ours -> None.
        """
        return await _whole(lambda give_up: self._settle_call(op_id, give_up))

    async def repair(self, *, session_id: str = "") -> tuple[OperationRecord, ...]:
        """Settle everything interrupted (of one session) whose process is gone; as it is now.

        What another living process has under way is not touched.
        """
        return await _whole(lambda give_up: self._repair(session_id, give_up))

    async def undo(
        self, op_id: str, *, session_id: str = "", choose: UndoChoice | None = None
    ) -> OperationRecord:
        """Put back what was there before an operation; the undo is an operation too, with a record.

        Undoing an undo is a redo. `session_id` "" = that of the undone one. `choose` decides about files
        that were changed since; with "current" all is left as it is and the operation's own record comes
        back. Raises UserInputError ("no_operation"), CircuitError ("not_undoable", "already_undone"),
        UndoConflictError when files were changed since and nothing was chosen, EnvironmentProblem.
        """
        return await _whole(lambda give_up: self._undo(op_id, session_id, choose, give_up))

    async def list(
        self,
        *,
        session_id: str = "",
        last: int | None = None,
        among: Collection[str] | None = None,
        undoing: bool = False,
    ) -> tuple[OperationRecord, ...]:
        """All records, oldest first; fewer as `OperationLog.list` says."""
        return await _whole(
            lambda _give_up: self._log.list(session_id=session_id, last=last, among=among, undoing=undoing)
        )

    async def diff(self, op_id: str) -> LineDiff:
        """What an operation changed, from the object store; empty for a simulation.

        Raises UserInputError ("no_operation"), EnvironmentProblem when a stored content is lost.
        """
        return await _whole(lambda _give_up: diff_of(self._known(op_id), self._project))

    @contextlib.contextmanager
    def _alone(self, give_up: _GiveUp) -> Iterator[None]:
        """Under the write lock, with nothing unsettled on files."""
        with self._log.write_lock(give_up=give_up):
            for record in self._log.interrupted():  # of ours only
                if record.kind != "simulation":
                    self._settle(record)
            if give_up():  # the last moment without any effect
                raise Stopped(msg("Stopped."))
            yield

    def _change(
        self,
        wanted: OperationRecord,
        changes: Callable[[], tuple[FileChange, ...]],
        contents: Mapping[str, bytes],
        give_up: _GiveUp,
    ) -> OperationRecord:
        with self._alone(give_up):
            known = self._log.find(wanted.op_id)
            _refuse_what_is_not_ours(known)
            if known is not None and known.kind == "simulation":
                raise ValueError(f"operation {wanted.op_id} is no change of a file")
            if known is not None and known.state != "abandoned":
                return known
            if known is not None and known.result == _UNCLEAR:
                raise _changed_after_interruption(known.path)
            return self._carry_out(wanted.with_changes(changes()), contents)

    def _carry_out(self, intent: OperationRecord, contents: Mapping[str, bytes]) -> OperationRecord:
        """Backups, intent, files, done."""
        for change in intent.changes:
            if not change.is_folder and change.before != ABSENT:
                self._back_up(change)
        for content in contents.values():
            self._project.keep_object(content)
        self._log.record_intent(intent)
        try:
            self._effects.apply(intent.changes, contents)
        except CircuitAIError:
            # Also a failed write may have put the file in place (its folder could not be flushed, say).
            settled = self._settle(intent)
            if settled.state != "done":
                raise
            return settled
        return self._close(intent)

    def _back_up(self, change: FileChange) -> None:
        content = self._effects.content_of(Path(change.path))
        if hash_of(content) == change.before and content is not None:
            self._project.keep_object(content)
        elif hash_of(content) != change.after:  # what is there already needs no backup of ours
            raise changed_meanwhile(Path(change.path))

    def _close(self, record: OperationRecord) -> OperationRecord:
        for op_id in record.undone_ids:
            self._mark(op_id, stands=False)
        self._log.set_state(record.op_id, "done")
        if self._events is not None:
            told = FileOperationUndone if record.kind == "undo" else FileOperationDone
            for op_id in record.undone_ids or (record.op_id,):
                self._events.publish(
                    told(
                        project=self._project.root,
                        op_id=op_id,
                        tool=record.tool,
                        paths=tuple(change.path for change in record.changes),
                    )
                )
        return replace(record, state="done")

    def _mark(self, op_id: str, *, stands: bool) -> None:
        """Note that an operation's effect stands or not; when an undo falls, what it undid stands again."""
        record = self._log.find(op_id)
        if record is not None:
            self._log.set_state(op_id, "done" if stands else "undone")
            for undone in record.undone_ids:
                self._mark(undone, stands=not stands)

    def _settle(self, record: OperationRecord) -> OperationRecord:
        """Close an interrupted intent by what is in the files now."""
        outcome = (
            "undone"
            if record.kind == "simulation"
            else self._effects.settle(record.changes, may_write=record.is_under_way)
        )
        if outcome == "done":
            return self._close(record)
        result = _UNCLEAR if outcome == "unclear" else None
        self._log.set_state(record.op_id, "abandoned", result=result)
        return replace(record, state="abandoned", result=result or record.result)

    def _settle_call(self, op_id: str, give_up: _GiveUp) -> OperationRecord | None:
        record = self._log.find(op_id)
        if record is None or not record.is_ours:
            return None
        if record.state != "intent":
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
        _refuse_what_is_not_ours(known)
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

    def _undo(
        self, op_id: str, session_id: str, choose: UndoChoice | None, give_up: _GiveUp
    ) -> OperationRecord:
        with self._alone(give_up):
            record = self._known(op_id)
            _refuse_what_is_not_ours(record)
            _refuse_what_cannot_be_undone(record)
            plan = plan_undo(
                record,
                self._project,
                choose=choose,
                advice=lambda path, state, can_join: self._advice(record, path, state, can_join=can_join),
            )
            if not plan.changes:
                return record
            if forbidden := self._effects.forbidden(plan.changes):
                raise _not_for_tools(op_id, forbidden)
            intent = OperationRecord(
                op_id=new_ulid(),
                session_id=session_id or record.session_id,
                tool="undo",
                kind="undo",
                state="intent",
                undoes=record.op_id,
                created=_now(),
            )
            for state in {change.after for change in plan.changes} - {ABSENT, FOLDER, *plan.contents}:
                if not any(state == change.before for change in plan.changes):
                    self._project.read_object(state)  # lost: said before anything is touched
            return self._carry_out(intent.with_changes(plan.changes), plan.contents)

    def _advice(self, record: OperationRecord, path: str, present: str, *, can_join: bool) -> Message:
        later = [
            (item.op_id, change.after)
            for item in self._log.list()
            if item.state == "done"
            for change in item.changes
            if change.path == path
        ]
        if later and later[-1][0] != record.op_id and later[-1][1] == present:
            return msg("Undo operation {op_id} first; it changed the file later.", op_id=later[-1][0])
        if can_join:
            return msg("Choose: keep the file as it is, restore the old content, or merge both changes.")
        return msg("Choose: keep the file as it is, or restore the old content.")

    def _known(self, op_id: str) -> OperationRecord:
        record = self._log.find(op_id)
        if record is None:
            raise UserInputError(
                msg("There is no operation {op_id} in this project.", op_id=op_id),
                advice=msg("List them: python main.py operations PROJECT"),
                error_type="no_operation",
            )
        return record


def _wanted(op_id: str, session_id: str, tool: str, result: Mapping[str, Any] | None) -> OperationRecord:
    return OperationRecord(
        op_id=op_id,
        session_id=session_id,
        tool=tool,
        kind="file",
        state="intent",
        created=_now(),
        result=result,
    )


async def _whole(work: Callable[[_GiveUp], _T]) -> _T:
    """Do `work` in a worker thread; when cancelled, wait for its end first.

    Until its effect begins it is told to give up; from there on it is brought to its end.
    """
    cancelled = threading.Event()
    return await uninterrupted(asyncio.to_thread(work, cancelled.is_set), on_cancel=cancelled.set)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _refuse_what_is_not_ours(record: OperationRecord | None) -> None:
    if record is not None and not record.is_ours:
        raise CircuitError(
            msg("Operation {op_id} was recorded on another computer, or its record has been modified: "
                "it is not acted on.", op_id=record.op_id),
            advice=msg("Review the project's history and adopt it first."),
            error_type="not_adopted",
        )  # fmt: skip


def _refuse_what_cannot_be_undone(record: OperationRecord) -> None:
    if record.kind == "simulation":
        raise CircuitError(
            msg("Operation {op_id} is a simulation: it changed no file.", op_id=record.op_id),
            advice=msg("Only file changes can be undone."),
            error_type="not_undoable",
        )
    if record.state == "undone":
        raise CircuitError(
            msg("Operation {op_id} has already been undone.", op_id=record.op_id),
            advice=msg("To do it again, undo the operation that undid it."),
            error_type="already_undone",
        )
    if record.state != "done":
        raise CircuitError(
            msg("Operation {op_id} was interrupted and has changed nothing.", op_id=record.op_id),
            advice=msg("Only file changes can be undone."),
            error_type="not_undoable",
        )


def _not_for_tools(op_id: str, path: str) -> CircuitError:
    return CircuitError(
        msg("Operation {op_id} was not undone: tools may not write to {path}.", op_id=op_id, path=path),
        advice=msg("Only changes to files that tools may write can be undone."),
        error_type="not_undoable",
    )


def _changed_after_interruption(path: str) -> CircuitError:
    return CircuitError(
        msg("A change of {path} was interrupted, and the file has been modified since.", path=path),
        advice=msg("Read the file again; repeat the change if it is not there."),
        error_type="file_modified_externally",
    )


_MOST_CHANGES = 10


def undone_note(records: Sequence[OperationRecord], *, since: str) -> str:
    """A note on a conversation's operations, oldest first, or "".

    Told are the changes that are taken back now, as long as they are, and those that were done again after
    `since` (ISO 8601, UTC: the model's last answer of an earlier turn).
    """
    by_id = {record.op_id: record for record in records}
    undone = [record for record in records if record.kind == "file" and record.state == "undone"]
    fresh = {
        original.op_id
        for record in records
        if record.kind == "undo" and record.created > since
        for original in _originals(record, by_id)
    }
    again = [record for record in records if record.op_id in fresh and record.state == "done"]
    lines = []
    if undone:
        lines.append("These changes of yours were taken back; the files no longer have them:")
        lines += [
            _line(record) + (", since your last answer" if record.op_id in fresh else "")
            for record in undone[-_MOST_CHANGES:]
        ]
    if again:
        lines.append("These changes of yours were taken back and then done again; the files have them now:")
        lines += [_line(record) for record in again[-_MOST_CHANGES:]]
    return "\n".join(lines)


def _originals(record: OperationRecord, by_id: dict[str, OperationRecord]) -> list[OperationRecord]:
    """The changes at the beginning of chains of undos."""
    seen: set[str] = set()
    found: list[OperationRecord] = []
    left = [record]
    while left:
        each = left.pop()
        if each.kind == "file":
            found.append(each)
        elif each.op_id not in seen:
            seen.add(each.op_id)
            left += [by_id[op_id] for op_id in each.undone_ids if op_id in by_id]
    return found


def _line(record: OperationRecord) -> str:
    return f"- {record.tool} of {record.path} at {record.created[:19]}Z"
