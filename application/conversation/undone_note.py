"""What the model is told of its changes that were taken back: its own words in the history do not know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from application.ports.project import OperationRecord

_MOST = 10


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
        if record.kind == "undo" and record.created > since and (original := _original(record, by_id))
    }
    again = [record for record in records if record.op_id in fresh and record.state == "done"]
    lines = []
    if undone:
        lines.append("These changes of yours were taken back; the files no longer have them:")
        lines += [
            _line(record) + (", since your last answer" if record.op_id in fresh else "")
            for record in undone[-_MOST:]
        ]
    if again:
        lines.append("These changes of yours were taken back and then done again; the files have them now:")
        lines += [_line(record) for record in again[-_MOST:]]
    return "\n".join(lines)


def _original(record: OperationRecord, by_id: dict[str, OperationRecord]) -> OperationRecord | None:
    """The change at the beginning of a chain of undos."""
    seen = set()
    found: OperationRecord | None = record
    while found is not None and found.kind == "undo" and found.op_id not in seen:
        seen.add(found.op_id)
        found = by_id.get(found.undoes)
    return None if found is None or found.kind != "file" else found


def _line(record: OperationRecord) -> str:
    return f"- {record.tool} of {record.path} at {record.created[:19]}Z"
