"""What was changed in a file since a time, and by whom: from the log of operations and what runs found."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from application.ports.project import ABSENT
from application.tool_execution.definition import ToolContext
from application.tool_execution.reading import WHOLE_FILE_BYTES
from domain.llm.tools.result import ToolResult, failure
from domain.llm.tools.text_files import diff_files
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.goal_checks.since_when import Edit
    from application.ports.project import OperationRecord

_AGO = re.compile(r"\s*(\d{1,5})\s*(min|h|d|w)\w*(?:\s+ago)?\s*", re.IGNORECASE)
_UNITS = {"min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAYS = {"today": 0, "yesterday": 1}
_MOST_EDITS = 12
_LONGEST_DIFFERENCE = 1200


async def changes_of_file(path: Path, since: str, context: ToolContext) -> ToolResult:
    """Each edit of a file since then that is known, the newest last, with what it changed.

    Raises UserInputError ("bad_arguments") for a time that cannot be read.
    """
    from application.goal_checks.since_when import digest_of, edits_of

    begin, name = _time_of(since), context.view.name_of(path)
    records = [each for each in await context.operations.list() if each.kind != "simulation"]

    def find() -> tuple[bytes, tuple[Edit, ...]]:
        with context.view.open(path) as file:
            data = file.read(WHOLE_FILE_BYTES + 1)
        runs = context.services.since_when.runs_of(context.project.root, path)
        return data, edits_of(records, runs, name, {name: digest_of(data)})

    data, edits = await off_loop(find)
    if len(data) > WHOLE_FILE_BYTES:
        return failure("file_too_large", msg("{path} is too large for its changes to be told.", path=name))
    known = [edit for edit in edits if not edit.created or datetime.fromisoformat(edit.created) >= begin]
    by_id = {record.op_id: record for record in records}
    told = await off_loop(
        lambda: [_told(edit, by_id.get(edit.op_id), name, data, context) for edit in known[-_MOST_EDITS:]]
    )
    edits_known = f"{len(known) or 'no'} known {'edit' if len(known) == 1 else 'edits'}"
    head = f"{name}: {edits_known} since {begin:%Y-%m-%d %H:%M} UTC"
    if len(known) > len(told):
        head += f", the newest {len(told)}"
    if not edits:
        head += ". Edits are known since the first change by a tool or the first run of it."
    return ToolResult(
        success=True,
        content="\n".join([head, *told]),
        summary=msg("Looked up the changes of {path}: {count}.", path=name, count=len(known)),
        result={"path": name, "file_path": name, "edits": len(known)},
    )


def _time_of(text: str) -> datetime:
    now = datetime.now(UTC)
    if (ago := _AGO.fullmatch(text)) is not None:
        return now - timedelta(**{_UNITS[ago[2].lower()]: int(ago[1])})
    if (days := _DAYS.get(text.strip().lower())) is not None:
        midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        return (midnight - timedelta(days=days)).astimezone(UTC)
    try:
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except ValueError:
        raise UserInputError(
            msg("The time {text} cannot be read.", text=text[:40]),
            advice=msg("Give for example 1d, 3h, yesterday or 2026-03-14."),
            error_type="bad_arguments",
        ) from None


def _told(edit: Edit, record: OperationRecord | None, name: str, now: bytes, context: ToolContext) -> str:
    who = "by hand, or another program" if record is None else _author(record, context)
    time = f"{edit.created[:16].replace('T', ' ')} UTC" if edit.created else "now"
    when = time if record is not None else f"seen {time}"
    try:
        before, after = (_content(state[name], now, context) for state in (edit.before, edit.after))
    except CircuitAIError:
        return f"{when}, {who}: its text is not kept any more"
    found = diff_files(before, after, path=name, context=0, limit=_LONGEST_DIFFERENCE)
    lines = found.text.splitlines()[2:]  # without the names
    return "\n".join([f"{when}, {who}:", *lines, *(["[the difference goes on]"] if found.is_cut else [])])


def _author(record: OperationRecord, context: ToolContext) -> str:
    if record.tool == "undo":
        return "undo by the user"
    mine = " of this conversation" if record.session_id == context.session_id else " of another conversation"
    return f"{record.tool}{mine if record.session_id else ' of the window'}"


def _content(digest: str, now: bytes, context: ToolContext) -> bytes | None:
    from application.goal_checks.since_when import digest_of

    if digest == ABSENT:
        return None
    return now if digest_of(now) == digest else context.project.read_object(digest)
