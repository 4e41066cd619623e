"""A project's operations for people: what was done, what it changed, and taking it back."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from application.ports.project import ABSENT, OperationRecord, Projects
from application.tool_execution.operations import Operations
from application.tool_execution.taking_back import UndoChoice
from domain.llm.tools.text_files import LineDiff
from shared.errors import CircuitError, EnvironmentProblem, UserInputError
from shared.events import EventBus
from shared.message import msg
from shared.ulid import new_ulid

COPY_TOOL = "keep_round"
"""How the log names a circuit that was kept in a file of its own."""
INSERT_TOOL = "insert_file"
"""Likewise a code block of an answer that became a file; its result has the ``answer``'s id."""
VALUES_TOOL = "set_values"
"""Likewise values that a study found, written into the circuit."""
MOST_LISTED = 5_000
"""Operations, unless more are asked for: a stranger's log may hold millions, and each is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationEntry:
    """One operation of a list."""

    record: OperationRecord
    diff: LineDiff | None
    """What it changed; None for a simulation, and when the stored contents are lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """An undo that was carried out."""

    record: OperationRecord
    """Of the undo itself: it can be undone too."""
    target: OperationRecord
    """What was undone."""
    diff: LineDiff
    """What the undo changed in the file."""
    is_kept: bool = False
    """Everything was left as it is, as chosen; `record` is the operation's own."""


class ProjectOperations:
    """The use cases behind `operations` and `undo`."""

    def __init__(self, *, projects: Projects, events: EventBus | None = None) -> None:
        self._projects = projects
        self._events = events

    async def list(
        self, folder: Path, *, session_id: str = "", last: int = MOST_LISTED
    ) -> tuple[OperationEntry, ...]:
        """The newest operations of the project at `folder` (of one session), oldest first.

        Nothing is written: what an interruption left open is settled before the next change. Raises
        UserInputError, EnvironmentProblem.
        """
        async with self._opened(folder) as operations:
            records = await operations.list(session_id=session_id, last=last)
            return tuple([await _entry(operations, record) for record in records])

    async def diff(self, folder: Path, op_id: str) -> OperationEntry:
        """One operation with what it changed. Raises UserInputError ("no_operation"), EnvironmentProblem."""
        async with self._opened(folder) as operations:
            record = _chosen(await operations.list(), op_id)
            return OperationEntry(record=record, diff=await operations.diff(record.op_id))

    async def undo(
        self, folder: Path, op_id: str = "", *, session_id: str = "", choose: UndoChoice | None = None
    ) -> Undone:
        """Undo an operation: the named one, or the last change of a file that stands (of one session).

        `op_id` may be shortened as long as it is clear; `choose` decides about files that were changed
        since. Raises UserInputError ("no_operation"), UndoConflictError (what to choose from),
        CircuitError (see Operations.undo; "nothing_to_undo"), EnvironmentProblem.
        """
        async with self._opened(folder) as operations:
            await operations.repair()
            records = await operations.list(session_id=session_id)
            target = _chosen(records, op_id) if op_id else _last_standing(records)
            record = await operations.undo(target.op_id, session_id=session_id, choose=choose)
            if record.op_id == target.op_id:
                return Undone(record=record, target=target, diff=LineDiff(added=0, removed=0), is_kept=True)
            return Undone(record=record, target=target, diff=await operations.diff(record.op_id))

    async def add_file(
        self,
        folder: Path,
        name: str,
        content: bytes,
        *,
        session_id: str,
        tool: str = COPY_TOOL,
        result: Mapping[str, Any] | None = None,
    ) -> OperationRecord:
        """Write a new file beside others of the project at `folder`; it can be undone.

        `name`: relative to the project, in a folder that need not be there. Where it is taken, a number goes
        behind its stem. `tool` and `result` are kept in the log. Raises UserInputError, CircuitError,
        EnvironmentProblem.
        """
        async with self._opened(folder) as operations:
            await operations.repair()
            return await operations.change_file(
                op_id=new_ulid(),
                session_id=session_id,
                tool=tool,
                result=result,
                path=await asyncio.to_thread(_free, folder, Path(name)),
                content=content,
                expected_sha256=ABSENT,
            )

    async def rewrite(
        self, folder: Path, contents: Mapping[Path, bytes], *, expected: Mapping[Path, str], tool: str
    ) -> OperationRecord:
        """Give files of the project new contents as one operation that can be undone.

        `expected`: the SHA-256 each must still have. Raises UserInputError, CircuitError
        ("file_modified_externally"), EnvironmentProblem.
        """
        async with self._opened(folder) as operations:
            await operations.repair()
            return await operations.rewrite_files(
                op_id=new_ulid(), session_id="", tool=tool, contents=contents, expected=expected
            )

    @asynccontextmanager
    async def _opened(self, folder: Path) -> AsyncIterator[Operations]:
        project = await asyncio.to_thread(self._projects.open, folder)
        try:
            yield Operations(log=project.operations, project=project, events=self._events)
        finally:
            await asyncio.to_thread(project.close)


def _free(folder: Path, wanted: Path) -> Path:
    place = folder / wanted.parent
    taken = {path.name.casefold() for path in place.iterdir()} if place.is_dir() else set()
    names = (f"{wanted.stem}{f'_{n}' if n > 1 else ''}{wanted.suffix}" for n in itertools.count(1))
    return wanted.parent / next(name for name in names if name.casefold() not in taken)


async def _entry(operations: Operations, record: OperationRecord) -> OperationEntry:
    if record.kind == "simulation":
        return OperationEntry(record=record, diff=None)
    try:
        return OperationEntry(record=record, diff=await operations.diff(record.op_id))
    except EnvironmentProblem:  # a lost backup must not hide the list it would be found in
        return OperationEntry(record=record, diff=None)


def _chosen(records: Sequence[OperationRecord], op_id: str) -> OperationRecord:
    wanted = op_id.strip().upper()
    exact = [record for record in records if record.op_id == op_id]
    found = exact or [record for record in records if wanted and record.op_id.upper().startswith(wanted)]
    if len(found) == 1:
        return found[0]
    message = (
        msg("{op_id} could be any of {count} operations.", op_id=op_id, count=len(found))
        if found
        else msg("There is no operation {op_id} in this project.", op_id=op_id)
    )
    raise UserInputError(
        message,
        advice=msg("List them: python main.py operations PROJECT"),
        error_type="no_operation",
    )


def _last_standing(records: Sequence[OperationRecord]) -> OperationRecord:
    for record in reversed(records):
        is_standing = record.is_ours and record.kind == "file" and record.state == "done"
        if is_standing and record.before_sha256 != record.after_sha256:
            return record
    raise CircuitError(
        msg("Nothing to undo."),
        advice=msg("List the operations: python main.py operations PROJECT"),
        error_type="nothing_to_undo",
    )
