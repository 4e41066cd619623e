"""How long changes can be taken back: 30 days or 2 GB, and never less than a conversation under way needs.

A conversation's records are kept as long as it was added to within the 30 days, all of them; those of
calls by hand and of deleted conversations count by their own age. Contents that no record and no
conversation names are removed 30 days after they were last put; over 2 GB the oldest go first, down to a day.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from application.ports.project import ABSENT, FOLDER, OperationRecord, ProjectFiles, Projects
from shared.errors import CircuitAIError

KEPT_FOR = timedelta(days=30)
MOST_BYTES = 2 * 2**30
_GRACE = timedelta(days=1)
"""What was put or recorded within it always stays: somebody may be about to name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """What a clean-up removed (or would)."""

    operations: int = 0
    """Records: these changes can't be taken back any more."""
    freed_bytes: int = 0


class TidyUndoData:
    """The use case; safe beside other processes that change files of the project."""

    def __init__(self, *, projects: Projects) -> None:
        self._projects = projects

    async def __call__(
        self, folder: Path, *, open_sessions: Collection[str] = (), dry_run: bool = False
    ) -> UndoReport:
        """Remove what is beyond the retention; records of `open_sessions` stay, whatever their age.

        Raises UserInputError when `folder` is no project, EnvironmentProblem.
        """
        return await asyncio.to_thread(self.tidy, folder, open_sessions, dry_run)

    def tidy(self, folder: Path, open_sessions: Collection[str] = (), dry_run: bool = False) -> UndoReport:
        """The same; blocking."""
        project = self._projects.open(folder)
        try:
            if not dry_run:
                _clear_old_leftovers(project)
            return _tidy(project, frozenset(open_sessions), datetime.now(UTC), dry_run=dry_run)
        finally:
            project.close()


def _clear_old_leftovers(project: ProjectFiles) -> None:
    """What programs that were killed long ago left: in our own folder, and beside files they were changing,
    where nobody has gone on with that since."""
    project.clear_old_leftovers()
    for record in project.operations.interrupted():
        for change in record.changes:
            with contextlib.suppress(CircuitAIError):  # its folder is no place of the project any more
                project.clear_leftovers(Path(change.path), only_old=True)


def _tidy(
    project: ProjectFiles, open_sessions: frozenset[str], now: datetime, *, dry_run: bool
) -> UndoReport:
    objects = project.stored_objects()
    records = project.operations.list()
    total = sum(item.size for item in objects)
    oldest = min((item.put_at for item in objects), default=now.timestamp())
    ages = [_time_of(record.created, now) for record in records]
    limit = now - KEPT_FOR
    if total <= MOST_BYTES and oldest >= limit.timestamp() and min(ages, default=now) >= limit:
        return UndoReport()  # by far the usual case: nothing is that old
    begun = _begun_sessions(project, now) | open_sessions
    living = _living_sessions(project, limit) | begun
    gone = [
        record
        for record, age in zip(records, ages, strict=True)
        if record.is_ours  # what another installation recorded is history to be read
        and age < limit
        and record.session_id not in living
        and record.state != "intent"
    ]
    named = project.named_hashes()
    sizes = {item.sha256: item.size for item in objects}
    rest = [record for record in records if record not in gone]
    if total > MOST_BYTES:
        gone += _over_size(rest, sizes, named, begun, now)
    kept = named | _hashes(record for record in records if record not in gone)
    put_before = (now - (_GRACE if total > MOST_BYTES else KEPT_FOR)).timestamp()
    loose = [item.sha256 for item in objects if item.sha256 not in kept and item.put_at < put_before]
    if dry_run:
        return UndoReport(operations=len(gone), freed_bytes=sum(sizes[sha256] for sha256 in loose))
    if gone:
        with project.operations.write_lock():  # not while one of them is being undone
            project.operations.forget([record.op_id for record in gone])
    freed = project.remove_objects(loose, put_before=put_before)
    return UndoReport(operations=len(gone), freed_bytes=freed)


def _over_size(
    records: Sequence[OperationRecord],
    sizes: dict[str, int],
    named: frozenset[str],
    begun: frozenset[str],
    now: datetime,
) -> list[OperationRecord]:
    """The oldest records whose contents are too much, newest kept first."""
    kept = set(named)
    room = MOST_BYTES - sum(sizes.get(sha256, 0) for sha256 in kept)
    gone = []
    for record in reversed(records):
        new = _hashes([record]) - kept
        cost = sum(sizes.get(sha256, 0) for sha256 in new)
        is_young = _time_of(record.created, now) > now - _GRACE
        is_kept = record.state == "intent" or not record.is_ours
        if is_kept or record.session_id in begun or is_young or cost <= room:
            room -= cost
            kept |= new
        else:
            gone.append(record)
            room = min(room, 0)  # what is older goes too, so that no chain of undos has a hole
    return gone


def _begun_sessions(project: ProjectFiles, now: datetime) -> frozenset[str]:
    """Conversations with a turn that waits to go on, and those of today."""
    day_ago = (now - _GRACE).isoformat()
    return frozenset(
        info.session_id
        for info in project.sessions.list()
        if info.has_partial_response or info.updated_at >= day_ago
    )


def _living_sessions(project: ProjectFiles, limit: datetime) -> frozenset[str]:
    since = limit.isoformat()
    return frozenset(info.session_id for info in project.sessions.list() if info.updated_at >= since)


def _hashes(records: Iterable[OperationRecord]) -> frozenset[str]:
    states = {
        state for record in records for change in record.changes for state in (change.before, change.after)
    }
    return frozenset(states - {ABSENT, FOLDER})


def _time_of(created: str, now: datetime) -> datetime:
    try:
        time_of = datetime.fromisoformat(created)
    except ValueError:
        return now  # not ours to judge: it stays
    return time_of if time_of.tzinfo is not None else time_of.replace(tzinfo=UTC)
