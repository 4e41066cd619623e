"""Questions about calls, put to the user of the other program ("elicitation").

Up to revision 2025-11-25 of the protocol the server asks while a call is under way. From 2026-07-28 on
it answers the call with the question; the client asks its user and sends the same call once more, with
the answer and a word of ours by which we know what was asked.
https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from application.tool_execution.executor import Confirm
from domain.llm.tools.confirmation_card import Answers, ConfirmationCard, same_answer
from domain.llm.tools.effect import ComputedEffect
from presentation.confirmation_words import deed_of, facts_of, reasons_of
from shared.message import Message, msg, one_line

Context = ServerRequestContext[Any, Any]
Call = types.CallToolRequestParams

_QUESTION = "confirm"
_ALLOW = "allow"
_MOST_OPEN = 100
"""Questions of which a client may owe the answer; the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A question that was sent: about which call, and what it would do."""

    name: str
    arguments: Mapping[str, Any]
    effect: ComputedEffect


@dataclass(slots=True, kw_only=True)
class Asking:
    """The questions of one client."""

    translate: Callable[[Message], str]
    _open: OrderedDict[str, _Open] = field(default_factory=OrderedDict)

    def about(self, context: Context, call: Call) -> Inquiry:
        """What is asked about a call, and by which way."""
        return Inquiry(self, context, call)

    def keep(self, about: _Open) -> str:
        """A word for a question that is sent, by which its answer is known."""
        state = secrets.token_urlsafe(24)
        self._open[state] = about
        while len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)
        return state

    def take(self, state: str | None) -> _Open | None:
        """The question that was sent with this word; a word is good once."""
        return self._open.pop(state or "", None)

    def question(self, card: ConfirmationCard) -> types.ElicitRequestFormParams:
        lines = [one_line(self.translate(deed_of(call))) + "?" for call in card.calls]
        for call in card.calls:
            lines += [f"- {one_line(self.translate(each))}" for each in (*reasons_of(call), *facts_of(call))]
        allow = {"type": "boolean", "title": self.translate(msg("Allow this action?")), "default": False}
        return types.ElicitRequestFormParams(
            message="\n".join(lines),
            requested_schema={"type": "object", "properties": {_ALLOW: allow}, "required": [_ALLOW]},
        )


class Inquiry:
    """The question about one call."""

    def __init__(self, asking: Asking, context: Context, call: Call) -> None:
        self._asking = asking
        self._context = context
        self._call = call
        self.question: types.InputRequiredResult | None = None
        """What the call has to be answered with, in place of its result: the question, once it is known."""

    @property
    def confirm(self) -> Confirm | None:
        """Who is asked; None where the client says that it cannot ask its user."""
        if not _can_ask(self._context):
            return None
        is_modern = self._context.protocol_version in MODERN_PROTOCOL_VERSIONS
        return self._answer_that_came if is_modern else self._ask_now

    async def _ask_now(self, card: ConfirmationCard) -> Answers:
        question = self._asking.question(card)
        reply = await self._context.session.elicit_form(
            question.message, question.requested_schema, related_request_id=self._context.request_id
        )
        return _answers(card, reply)

    async def _answer_that_came(self, card: ConfirmationCard) -> Answers:
        """It has to belong to the very call and effect that were asked about."""
        about = _Open(self._call.name, self._call.arguments or {}, card.calls[0].effect)
        reply = (self._call.input_responses or {}).get(_QUESTION)
        if self._asking.take(self._call.request_state) == about and isinstance(reply, types.ElicitResult):
            return _answers(card, reply)
        request = types.ElicitRequest(params=self._asking.question(card))
        self.question = types.InputRequiredResult(
            input_requests={_QUESTION: request}, request_state=self._asking.keep(about)
        )
        return same_answer(card, "unasked")


def _can_ask(context: Context) -> bool:
    """A bare ``elicitation: {}``, the only form there was before, means forms too."""
    capabilities = context.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _answers(card: ConfirmationCard, reply: types.ElicitResult) -> Answers:
    is_allowed = reply.action == "accept" and (reply.content or {}).get(_ALLOW) is True
    return same_answer(card, "allow" if is_allowed else "refuse")
