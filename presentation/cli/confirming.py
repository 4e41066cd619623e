"""Questions on the command line, about calls and before a project is sent to a server on the network.

Answered by `--yes`, on the terminal, or by nobody.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from domain.llm.consent import PARTS_KEPT, PARTS_SENT, ConsentAnswer, ConsentQuestion
from domain.llm.tools.confirmation_card import (
    CallOnCard,
    CardAnswer,
    ConfirmationCard,
    answers_to_plain,
    same_answer,
)
from domain.llm.tools.effect import effect_to_plain
from presentation.cli.terminal import read_line
from presentation.confirmation_words import always_text, deed_of, facts_of, reasons_of
from shared.message import msg

if TYPE_CHECKING:
    from application.conversation.consents import AskConsent
    from application.ports.events import ConfirmationGiven, ConfirmationNeeded
    from application.tool_execution.confirming import Confirm
    from domain.llm.tools.confirmation_card import Answers
    from presentation.json_output import Output

_YES = ("y", "yes", "是", "好", "允许", "确认")
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


_AGREED = ("y", "yes", "是", "好", "允许", "同意")


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
        return "once" if reply in _AGREED else "always" if reply in _ALWAYS else "no"

    if always_yes:
        return agree
    return None if out.as_json or not sys.stdin.isatty() else ask
