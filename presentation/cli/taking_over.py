"""A conversation that a window or another command works on: taken over after asking, or followed as it is."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from presentation.cli.terminal import read_line
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.app import Application
    from application.conversation.sessions import ShownSession
    from presentation.json_output import Output

_YES = ("y", "yes", "是", "好", "确认")
_HEAD_LINES = 2
_LOOK_EVERY_S = 0.4
"""As often as a streaming answer is written down."""


def add_argument(parser: argparse.ArgumentParser) -> None:
    """[--take-over]"""
    parser.add_argument("--take-over", action="store_true")


async def take_over(args: argparse.Namespace, app: Application, out: Output) -> None:
    """Have the run elsewhere of the conversation that `--session` names stopped and saved.

    With `--take-over`, or a yes on the terminal. Else nothing is done, and what follows says "in use".

    Raises UserInputError ("session_in_use") when the other process does not answer.
    """
    sessions = app.conversations.sessions
    try:
        session_id = (await sessions.find(args.project, args.session)).session_id if args.session else ""
        is_in_use = bool(session_id) and await sessions.is_in_use(args.project, session_id)
    except UserInputError:  # whoever opens it says so, in the form of its command
        return
    if not is_in_use:
        return
    if not args.take_over:
        if out.as_json or not sys.stdin.isatty():
            return
        question = msg(
            "A window or another command is working on this conversation. Take it over? The run there is "
            "stopped and saved. [y/N] "
        )
        if await read_line(out.translate(question)) not in _YES:
            return
    await sessions.take_over(args.project, session_id)
    out.note(msg("The conversation was taken over."))


async def follow(args: argparse.Namespace, app: Application, out: Output) -> None:
    """Print a conversation and, as long as another process works on it, what comes, line by line."""
    from application.conversation.session_texts import plain_text

    sessions = app.conversations.sessions
    session_id = (await sessions.find(args.project, args.session)).session_id
    told: list[str] = []
    size, is_in_use, was_in_use = -1, True, True
    while is_in_use or was_in_use:  # between two owners nobody has it for a moment
        was_in_use, is_in_use = is_in_use, await sessions.is_in_use(args.project, session_id)
        info = await sessions.find(args.project, session_id)
        if info.size != size or not is_in_use:
            size = info.size
            session: ShownSession = await sessions.show(args.project, session_id)
            lines = plain_text(session, out.translate).rstrip("\n").split("\n")
            # The last line may still grow; of what was told, the name above all may be another by now.
            whole = lines[:-1] if is_in_use else lines
            for line in whole[_told_of(told, whole) :]:
                out.line(line)
            told = whole
        if is_in_use or was_in_use:
            await asyncio.sleep(_LOOK_EVERY_S)


def _told_of(told: list[str], lines: list[str]) -> int:
    """How many of the lines were told."""
    pairs = enumerate(zip(told, lines, strict=False))
    changed = (number for number, (old, new) in pairs if old != new and number >= _HEAD_LINES)
    return next(changed, min(len(told), len(lines)))
