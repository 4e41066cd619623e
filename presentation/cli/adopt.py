"""`adopt PROJECT`: what another installation wrote into a project, and making it one's own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from application.app import Application
from application.project.adopting import StrangeHistory
from presentation.cli.terminal import read_line
from presentation.json_output import Output
from shared.errors import NeedsConfirmation
from shared.message import msg, one_line, visible

_YES = ("y", "yes", "是", "好", "确认")
_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT [--yes]."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("--yes", action="store_true")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Show what there is, ask, and adopt it; without a terminal --yes is needed."""
    history = await app.project.adopt.look(args.project)
    if not history.is_there:
        if out.as_json:
            out.json({"ok": True, "adopted": False, **_document(history)})
        else:
            out.say(msg("There is nothing to adopt: all of this project's history was written here."))
        return 0
    if not out.as_json:
        _show(history, out)
    if not args.yes and not await _is_agreed(out):
        if out.as_json:
            out.json({"ok": True, "adopted": False, **_document(history)})
        else:
            out.say(msg("Nothing was changed."))
        return 0
    await app.project.adopt(args.project)
    if out.as_json:
        out.json({"ok": True, "adopted": True, **_document(history)})
    else:
        out.say(msg("Adopted. What was in progress in it has been ended; none of it was run."))
    return 0


async def _is_agreed(out: Output) -> bool:
    if out.as_json:  # a look
        return False
    if not sys.stdin.isatty():
        raise NeedsConfirmation(
            msg("Nothing was changed: adopting a project's history must be confirmed."),
            advice=msg("Review it above, and add --yes if you know where it comes from."),
        )
    question = msg("Make this history your own? [y/N] ")
    return (await read_line(out.translate(question))).strip().casefold() in _YES


def _show(history: StrangeHistory, out: Output) -> None:
    first, last = history.first_and_last
    out.say(
        msg(
            "Written on another computer, or changed by another program (between {first} and {last}):",
            first=first[:10] or "?",
            last=last[:10] or "?",
        )
    )
    waiting = {info.session_id for info in history.waiting}
    out.say(
        msg(
            "Conversations: {count}, of which {waiting} were not finished.",
            count=len(history.conversations),
            waiting=len(waiting),
        )
    )
    for info in history.conversations[:_SHOWN]:
        mark = "*" if info.session_id in waiting else " "
        name = visible(" ".join(info.name.split()))
        out.line(f"{mark} {info.session_id}  {info.updated_at[:16]}  {info.message_count:4}  {name}")
    out.say(
        msg(
            "File changes and simulations: {count}, of which {unfinished} were not finished.",
            count=len(history.operations),
            unfinished=len(history.unfinished),
        )
    )
    for record in history.operations[-_SHOWN:]:
        out.line(f"  {one_line(record.created[:16])}  {one_line(record.tool):<16} {one_line(record.path)}")
    out.say(msg("Results: {count}.", count=history.results))
    out.say(
        msg(
            "Once adopted, conversations can be continued and changes undone. Work in progress is "
            "ended, the answers in it are ignored, and results stay marked as computed elsewhere."
        )
    )


def _document(history: StrangeHistory) -> dict[str, Any]:
    first, last = history.first_and_last
    return {
        "conversations": [
            {
                "id": info.session_id,
                "name": info.name,
                "updated_at": info.updated_at,
                "message_count": info.message_count,
                "was_never_ended": info.has_partial_response,
            }
            for info in history.conversations
        ],
        "operations": [
            {"id": record.op_id, "tool": record.tool, "path": record.path, "state": record.state}
            for record in history.operations
        ],
        "results": history.results,
        "first": first,
        "last": last,
    }
