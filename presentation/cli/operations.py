"""`operations PROJECT`: what was done to its files. `undo PROJECT [OPERATION]`: take it back."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.app import Application
from application.tool_execution.taking_back import UndoConflictError
from presentation.json_output import Output
from shared.errors import UserInputError
from shared.message import Message, msg, one_line

if TYPE_CHECKING:
    from application.project.undoing import OperationEntry


_LISTED = 1_000
"""Operations, unless more are asked for: each is verified and compared, some milliseconds."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT [--session ID] [--last N]."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("--session", default="", metavar="ID")
    parser.add_argument("--last", type=_count, default=_LISTED, metavar="N")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    entries = await app.project.operations.list(args.project, session_id=args.session, last=args.last)
    root = args.project.absolute()
    if out.as_json:
        out.json({"ok": True, "operations": [_plain(entry, root) for entry in entries]})
        return 0
    for entry in entries:
        out.line(_row(entry, out))
    if len(entries) == args.last == _LISTED:
        out.note(msg("The latest {count} are listed; --last lists more.", count=_LISTED))
    if not entries:
        out.say(msg("Nothing has been done in {project} yet.", project=args.project))
    return 0


def add_undo_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT [OPERATION] [--session ID] [--diff] [--choose WAY]."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("operation", nargs="?", default="", metavar="OPERATION")
    parser.add_argument("--session", default="", metavar="ID")
    parser.add_argument("--diff", action="store_true")
    parser.add_argument("--choose", choices=("current", "restore", "merge"), default=None)


async def run_undo(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Undo one operation, by default the last change that stands; with --diff only show what it changed.

    Exit code 1 with both differences when a file was changed since and nothing was chosen.
    """
    root = args.project.absolute()
    if args.diff:
        return await _show(args, app, out)
    try:
        undone = await app.project.operations.undo(
            args.project, args.operation, session_id=args.session, choose=args.choose
        )
    except UndoConflictError as conflict:
        return _tell_conflict(conflict, args, out)
    if undone.is_kept:
        return _tell_kept(undone.target.op_id, root / undone.target.path, out)
    if out.as_json:
        out.json(
            {
                "ok": True,
                "undone": undone.target.op_id,
                "undo": undone.record.op_id,
                "path": root / undone.record.path,
                "added": undone.diff.added,
                "removed": undone.diff.removed,
                "diff": undone.diff.text,
            }
        )
        return 0
    out.say(
        msg(
            "Undone: {tool} of {path} (+{added}, -{removed} lines).",
            tool=undone.target.tool,
            path=undone.record.path,
            added=undone.diff.added,
            removed=undone.diff.removed,
        )
    )
    out.line(undone.diff.text.rstrip("\n"))
    command = f"python main.py undo {args.project} {undone.record.op_id}"
    out.say(msg("To do it again: {command}", command=command))
    return 0


def _tell_conflict(error: UndoConflictError, args: argparse.Namespace, out: Output) -> int:
    """Both differences of each file, and the ways on."""
    if out.as_json:
        out.json(
            {
                "ok": False,
                "errors": [
                    {
                        "message": out.translate(error.message),
                        "error_type": error.error_type,
                        "advice": out.translate(error.advice) if error.advice else None,
                    }
                ],
                "choices": list(error.ways),
                "conflicts": [
                    {
                        "path": args.project.absolute() / conflict.path,
                        "undo_diff": conflict.undo.text,
                        "since_diff": conflict.since.text,
                        "merged_diff": conflict.merged.text if conflict.merged else None,
                    }
                    for conflict in error.conflicts
                ],
            }
        )
        return error.exit_code
    for conflict in error.conflicts:
        out.say(msg("What undoing would change in {path}:", path=conflict.path))
        out.line(conflict.undo.text.rstrip("\n"))
        out.say(msg("Changes to it since then:"))
        out.line(conflict.since.text.rstrip("\n"))
    out.note(error.message)
    if error.advice:
        out.note(error.advice)
    for way in error.ways:
        command = f"python main.py undo {args.project} {args.operation} --choose {way}".replace("  ", " ")
        out.note(msg("{what}: {command}", what=_WAYS[way], command=command))
    return error.exit_code


def _tell_kept(op_id: str, path: Path, out: Output) -> int:
    if out.as_json:
        out.json({"ok": True, "undone": None, "kept": op_id, "path": path})
    else:
        out.say(msg("Left as it is: {path}.", path=path))
    return 0


async def _show(args: argparse.Namespace, app: Application, out: Output) -> int:
    if not args.operation:
        raise UserInputError(
            msg("--diff needs the operation to show."),
            advice=msg("List them: python main.py operations PROJECT"),
            error_type="bad_usage",
        )
    entry = await app.project.operations.diff(args.project, args.operation)
    if out.as_json:
        text = entry.diff.text if entry.diff else ""
        out.json({"ok": True, "operation": _plain(entry, args.project.absolute()), "diff": text})
    elif entry.diff is None or not entry.diff.text:
        out.say(msg("Operation {op_id} changed no file.", op_id=entry.record.op_id))
    else:
        out.line(entry.diff.text.rstrip("\n"))
    return 0


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("N has to be at least 1")
    return number


def _plain(entry: OperationEntry, root: Path) -> dict[str, Any]:
    record, diff = entry.record, entry.diff
    return {
        "id": record.op_id,
        "session_id": record.session_id,
        "time": record.created,
        "tool": record.tool,
        "kind": record.kind,
        "path": root / record.path if record.path else None,
        "added": diff.added if diff else None,
        "removed": diff.removed if diff else None,
        "state": record.state,
        "origin": "here" if record.is_ours else "elsewhere",
        "undoes": record.undoes or None,
    }


def _row(entry: OperationEntry, out: Output) -> str:
    record, diff = entry.record, entry.diff
    change = f"+{diff.added} -{diff.removed}" if diff else ""
    time = record.created[:19].replace("T", " ")
    state = out.translate(_STATES[record.state])
    row = one_line(
        f"{record.op_id}  {time}  {record.tool:<16} {record.path:<24} {change:<10} {state}"
    ).rstrip()
    return row if record.is_ours else f"{row}  {out.translate(msg('(written elsewhere)'))}"


_WAYS: dict[str, Message] = {
    "current": msg("Keep the file as it is"),
    "restore": msg("Restore the old content (the present content can be restored later)"),
    "merge": msg("Merge both changes"),
}
_STATES: dict[str, Message] = {
    "intent": msg("in progress"),
    "done": msg("done"),
    "undone": msg("undone"),
    "abandoned": msg("not carried out"),
}
