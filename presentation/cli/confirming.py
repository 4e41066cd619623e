"""Questions on the command line, about calls, before a project is sent to a server on the network, and
before a conversation that a window or another command works on is taken over.

Answered by `--yes`, on the terminal, or by nobody.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from domain.llm.consent import PARTS_KEPT, PARTS_SENT, ConsentAnswer, ConsentQuestion
from domain.llm.tools.confirmation_card import (
    Answers,
    CallOnCard,
    CardAnswer,
    ConfirmationCard,
    answers_to_plain,
    same_answer,
)
from domain.llm.tools.effect import effect_to_plain
from presentation.cli.terminal import read_line
from presentation.confirmation_words import always_text, deed_of, facts_of, reasons_of
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.app import Application
    from application.conversation.consents import AskConsent
    from application.conversation.shown_session import ShownSession
    from application.ports.events import ConfirmationGiven, ConfirmationNeeded
    from application.tool_execution.executor import Confirm
    from presentation.json_output import Output

_YES = ("y", "yes", "是", "好", "允许", "同意", "确认")
_ALWAYS = ("a", "always", "总是", "始终")


def confirmer(out: Output, *, always_yes: bool) -> Confirm | None:
    """Who answers: `allow_all`, a person on the terminal, or None for nobody."""

    async def ask(card: ConfirmationCard) -> Answers:
        return {call.call_id: await _ask(call, out) for call in card.calls}

    if always_yes:
        return allow_all
    return None if out.as_json or not sys.stdin.isatty() else ask


async def allow_all(card: ConfirmationCard) -> Answers:
    """The answers of `--yes`: what a rule denies is never asked about, so it stays denied."""
    return same_answer(card, "allow")


async def _ask(call: CallOnCard, out: Output) -> CardAnswer:
    """One call. The shortest answer is the safe one: no."""
    out.line()
    out.row(out.translate(deed_of(call)))
    for text in (*reasons_of(call), *facts_of(call)):
        out.row(f"  {out.translate(text)}")
    if call.always:
        out.row(f"  a: {out.translate(always_text(call.always))}")
        prompt = msg("Allow it? [y/N/a] ")
    else:
        prompt = msg("Allow it? [y/N] ")
    reply = await read_line(out.translate(prompt))
    if reply in _YES:
        return CardAnswer(word="allow")
    if reply in _ALWAYS and call.always:
        return CardAnswer(word="always")
    # What is typed in place of a letter is why not, and the model reads it.
    return CardAnswer(word="refuse", reason=reply if len(reply) > len("no.") else "")


def needed_document(event: ConfirmationNeeded, out: Output) -> dict[str, object]:
    return {
        "type": "confirm",
        "state": "asked",
        "id": event.card.card_id,
        "calls": [
            {
                "id": call.call_id,
                "name": call.tool,
                "text": out.translate(deed_of(call)),
                "reasons": list(call.reasons),
                "effect": effect_to_plain(call.effect),
            }
            for call in event.card.calls
        ],
    }


def given_document(event: ConfirmationGiven) -> dict[str, object]:
    return {
        "type": "confirm",
        "state": "answered",
        "id": event.card_id,
        "answers": answers_to_plain(event.answers),
    }


def consent_asker(out: Output, *, always_yes: bool) -> AskConsent | None:
    """Who answers: `--yes`, a person on the terminal, or None for nobody."""

    async def agree(_question: ConsentQuestion) -> ConsentAnswer:
        return "once"

    async def ask(question: ConsentQuestion) -> ConsentAnswer:
        out.line()
        out.say(
            msg(
                "This project has not been sent to {destination} before (set up as {provider}). This "
                "will be sent:",
                provider=question.provider,
                destination=question.destination,
            )
        )
        for part in PARTS_SENT:
            out.line(f"  - {out.translate(part)}")
        out.say(msg("Not sent:"))
        for part in PARTS_KEPT:
            out.line(f"  - {out.translate(part)}")
        if not question.is_encrypted:
            out.say(
                msg(
                    "The connection is not encrypted: everything sent, including the key, can be "
                    "read in transit."
                )
            )
        reply = await read_line(
            out.translate(msg("Send it? [y = this time / a = always for this project / N] "))
        )
        return "once" if reply in _YES else "always" if reply in _ALWAYS else "no"

    if always_yes:
        return agree
    return None if out.as_json or not sys.stdin.isatty() else ask


_HEAD_LINES = 2
_LOOK_EVERY_S = 0.4
"""As often as a streaming answer is written down."""


def add_take_over_argument(parser: argparse.ArgumentParser) -> None:
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
