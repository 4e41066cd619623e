"""What an operation changed in a file, piece by piece: each can be taken back alone, and put back again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Container, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from application.ports.project import ABSENT, FOLDER, FileChange, OperationRecord, ProjectFiles, Projects
from application.project.editing import version_of
from application.tool_execution.operations import Operations
from domain.llm.tools.pieces import Piece, Pieces
from domain.llm.tools.text_files import BinaryFileError, NotEncodableError
from shared.errors import CircuitAIError, CircuitError
from shared.events import EventBus
from shared.message import msg
from shared.paths import PROJECT_FOLDER
from shared.ulid import new_ulid

PIECE_TOOL = "turn_piece"
"""How the log names a piece that was taken back or put back."""
MOST_BYTES = 2_000_000
"""Of a file that is looked at piece by piece; comparing takes about a second then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPieces:
    """The pieces of one operation."""

    path: Path
    """Absolute, as the log has it in the project's folder."""
    pieces: tuple[Piece, ...]
    op_ids: tuple[str, ...] = ()
    """Operations of which each went on from what the one before it left: their pieces are those of all."""


class ChangePieces:
    """The use case; one instance serves any number of projects."""

    def __init__(self, *, projects: Projects, events: EventBus | None = None) -> None:
        self._projects = projects
        self._events = events

    async def of(self, folder: Path, op_id: str, *, text: bytes | None = None) -> ChangedPieces | None:
        """The pieces of an operation of the project at `folder`, held against `text`, or else the file.

        None for what has no pieces: another than one change of one text of at most 2 MB that was there before
        and after, or an operation that another installation recorded. Raises UserInputError,
        EnvironmentProblem (a stored content is lost).
        """
        async with self._opened(folder) as (project, operations):
            record = await operations.find(op_id)
            change = None if record is None else _change_of(record)
            if change is None:
                return None
            pieces = await asyncio.to_thread(_pieces, project, folder, change, text)
            if pieces is None:
                return None
            return ChangedPieces(path=folder / change.path, pieces=pieces.all, op_ids=(op_id,))

    async def joined(
        self, folder: Path, op_ids: Sequence[str], *, apart: Container[str] = (), text: bytes | None = None
    ) -> tuple[ChangedPieces, ...]:
        """The pieces of operations of one file, the oldest first; together of those with none between them,
        as far as the text is still what one of them left.

        Nothing is joined behind one of `apart`; what has no pieces, or is kept no longer, is left out.
        """
        async with self._opened(folder) as (project, operations):
            records = [record for op_id in op_ids if (record := await operations.find(op_id)) is not None]
            return await asyncio.to_thread(_joined, project, folder, records, apart, text)

    async def turn(self, folder: Path, op_id: str, number: int, *, since: str = "") -> OperationRecord:
        """Take a piece (from 0) back, or put one back that was taken back; an operation that can be undone.

        The piece is one of all operations from `since` to `op_id` where these are `joined`. Raises
        CircuitError ("file_modified_externally") where its lines or those beside them were changed since,
        UserInputError, EnvironmentProblem.
        """
        async with self._opened(folder) as (project, operations):
            await operations.repair()
            record = await operations.find(op_id)
            change = None if record is None else _change_of(record)
            if change is not None and since not in {"", op_id}:
                first = await operations.find(since)
                begun = None if first is None else _change_of(first)
                change = None if begun is None else replace(change, before=begun.before)
            if change is None:
                raise _touched(folder, op_id)
            path = folder / change.path
            now = await asyncio.to_thread(project.read, path)
            new = await asyncio.to_thread(_turned, project, folder, change, now, number)
            if new is None:
                raise _touched(path, change.path)
            return await operations.rewrite_files(
                op_id=new_ulid(),
                session_id="",
                tool=PIECE_TOOL,
                contents={path: new},
                expected={path: version_of(now)},
            )

    @asynccontextmanager
    async def _opened(self, folder: Path) -> AsyncIterator[tuple[ProjectFiles, Operations]]:
        project = await asyncio.to_thread(self._projects.open, folder)
        try:
            yield project, Operations(log=project.operations, project=project, events=self._events)
        finally:
            await asyncio.to_thread(project.close)


def _change_of(record: OperationRecord) -> FileChange | None:
    """The one change of a text that was there before and after; ours are not looked at by pieces."""
    changes = [change for change in record.changes if change.before != change.after]
    if record.kind != "file" or len(changes) != 1 or changes[0].path.startswith(f"{PROJECT_FOLDER}/"):
        return None
    change = changes[0]
    return None if {change.before, change.after} & {ABSENT, FOLDER} else change


_Step = tuple[str, FileChange]
"""An operation with its one change."""


def _joined(
    project: ProjectFiles,
    folder: Path,
    records: Sequence[OperationRecord],
    apart: Container[str],
    now: bytes | None,
) -> tuple[ChangedPieces, ...]:
    found: list[ChangedPieces] = []
    for chain in _chains(records, apart):
        rest = chain
        while rest:
            pieces, count = _of_longest(project, folder, rest, now)
            if pieces is not None:
                ids = tuple(op_id for op_id, _change in rest[:count])
                found.append(ChangedPieces(path=folder / rest[0][1].path, pieces=pieces.all, op_ids=ids))
            rest = rest[count:]
    return tuple(found)


def _chains(records: Sequence[OperationRecord], apart: Container[str]) -> Iterator[list[_Step]]:
    """Operations that follow on one another, in the order in which they were made."""
    chain: list[_Step] = []
    for record in sorted(records, key=lambda each: each.created):
        change = _change_of(record)
        if change is None:
            continue
        if chain:
            last_id, last = chain[-1]
            if last_id in apart or (last.path, last.after) != (change.path, change.before):
                yield chain
                chain = []
        chain.append((record.op_id, change))
    if chain:
        yield chain


def _of_longest(
    project: ProjectFiles, folder: Path, chain: Sequence[_Step], now: bytes | None
) -> tuple[Pieces | None, int]:
    """The pieces of as many operations as leave none that was touched, and how many these are; else of all.

    The last of them may have been undone by themselves, each as a whole.
    """
    whole: Pieces | None = None
    for count in range(len(chain), 0, -1):
        change = replace(chain[count - 1][1], before=chain[0][1].before)
        try:
            pieces = _pieces(project, folder, change, now)
        except CircuitAIError:  # its contents are kept no longer: there is no way back
            pieces = None
        if pieces is not None and all(piece.standing != "touched" for piece in pieces.all):
            return pieces, count
        whole = pieces if count == len(chain) else whole
    return whole, len(chain)


def _pieces(project: ProjectFiles, folder: Path, change: FileChange, now: bytes | None) -> Pieces | None:
    before, after = project.read_object(change.before), project.read_object(change.after)
    now = project.read(folder / change.path) if now is None else now
    if max(map(len, (before, after, now))) > MOST_BYTES:
        return None
    try:
        return Pieces(before, after, now)
    except BinaryFileError:
        return None


def _turned(project: ProjectFiles, folder: Path, change: FileChange, now: bytes, number: int) -> bytes | None:
    pieces = _pieces(project, folder, change, now)
    try:
        return None if pieces is None else pieces.turned(number)
    except (IndexError, NotEncodableError):
        return None


def _touched(path: Path, name: object) -> CircuitError:
    return CircuitError(
        msg("This change in {path} cannot be undone by itself: the lines around it were edited since.",
            path=str(name)),
        advice=msg("Undo the whole change, or edit the lines yourself."),
        file=path,
        error_type="file_modified_externally",
    )  # fmt: skip
