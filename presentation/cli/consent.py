"""The question before a project is sent to a server on the network, on the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from domain.llm.consent import PARTS_KEPT, PARTS_SENT, ConsentAnswer, ConsentQuestion
from presentation.cli.terminal import read_line
from shared.message import msg

if TYPE_CHECKING:
    from application.conversation.consents import AskConsent
    from presentation.json_output import Output

_YES = ("y", "yes", "是", "好", "允许", "同意")
_ALWAYS = ("a", "always", "总是", "始终")


def consent_asker(out: Output, *, always_yes: bool) -> AskConsent | None:
    """Who answers: `--yes`, a person on the terminal, or None for nobody."""

    async def agree(_question: ConsentQuestion) -> ConsentAnswer:
        return "once"

    async def ask(question: ConsentQuestion) -> ConsentAnswer:
        out.line()
        out.say(
            msg(
                "This project has not been sent to {destination} before (set up as {provider}). There go:",
                provider=question.provider,
                destination=question.destination,
            )
        )
        for part in PARTS_SENT:
            out.line(f"  - {out.translate(part)}")
        out.say(msg("Kept back are:"))
        for part in PARTS_KEPT:
            out.line(f"  - {out.translate(part)}")
        if not question.is_encrypted:
            out.say(msg("The connection is not encrypted: all of it, and the key, can be read on the way."))
        reply = await read_line(
            out.translate(msg("Send it? [y = this time / a = always for this project / N] "))
        )
        return "once" if reply in _YES else "always" if reply in _ALWAYS else "no"

    if always_yes:
        return agree
    return None if out.as_json or not sys.stdin.isatty() else ask
