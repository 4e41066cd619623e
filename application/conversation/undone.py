"""Which changes of a model were taken back: its words in the history do not know of that."""

from __future__ import annotations

from collections.abc import Sequence

from application.ports.project import OperationRecord

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
