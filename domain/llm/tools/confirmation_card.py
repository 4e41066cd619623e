"""The one question that is put to the user about all calls of an answer, and his answers to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from domain.llm.tools.confirmation import Reason, Rule, rule_from_plain, rule_to_plain
from domain.llm.tools.effect import ComputedEffect, effect_from_plain, effect_to_plain
from domain.llm.tools.result import ToolResult, failure
from shared.message import Message, msg

AnswerWord = Literal["allow", "always", "refuse", "unasked"]
"""unasked: there was nobody to ask."""

LONGEST_REASON = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOnCard:
    """One call that has to be confirmed."""

    call_id: str
    tool: str
    effect: ComputedEffect
    reasons: tuple[Reason, ...]
    always: tuple[Rule, ...] = ()
    """The rules "always allow" would add; () where it is not offered."""
    arguments: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Of the call, while it is asked about; they are no part of what is kept of the card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationCard:
    """All calls of one answer that have to be confirmed, in their order."""

    card_id: str
    calls: tuple[CallOnCard, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardAnswer:
    """The user's answer to one call."""

    word: AnswerWord
    reason: str = ""
    """Why he refused, in his words; the model reads it."""

    @property
    def is_allowed(self) -> bool:
        return self.word in ("allow", "always")


Answers = Mapping[str, CardAnswer]
"""By call id; a call that is missing is refused."""


def same_answer(card: ConfirmationCard, word: AnswerWord, reason: str = "") -> dict[str, CardAnswer]:
    """One answer to all calls of a card; "always" where it is offered, else "allow"."""
    return {
        call.call_id: CardAnswer(
            word="allow" if word == "always" and not call.always else word, reason=reason
        )
        for call in card.calls
    }


def refusal(tool: str, answer: CardAnswer, *, way_to_allow: Message | None = None) -> ToolResult:
    """The result of a call that was not allowed; `way_to_allow`: what helps where nobody could be asked."""
    if answer.word == "unasked":
        return failure(
            "needs_confirmation",
            msg("{tool} needs the user's confirmation, and there is nobody to ask; nothing was changed.",
                tool=tool),
            suggestions=(
                way_to_allow
                or msg("Say what you wanted to do and why; it can be allowed with --yes or in the window."),
            ),
            told=msg("This needs your confirmation, and there was nobody to ask; nothing was changed."),
        )  # fmt: skip
    reason = " ".join(answer.reason.split())[:LONGEST_REASON]
    if reason:
        message = msg("The user refused {tool}: {reason}", tool=tool, reason=reason)
        told = msg("You refused this: {reason}", reason=reason)
    else:
        message = msg("The user refused {tool}; nothing was changed.", tool=tool)
        told = msg("You refused this; nothing was changed.")
    return failure(
        "refused_by_user",
        message,
        suggestions=(
            msg("Do not try the same thing another way; continue without it, or ask what the user wants."),
        ),
        told=told,
    )


def refused_already(tool: str) -> ToolResult:
    """The result of a call that the user refused in this turn, and is not asked about again."""
    return failure(
        "refused_by_user",
        msg(
            "The user has already refused this {tool} in this turn; the question was not repeated.", tool=tool
        ),
        suggestions=(
            msg("Do not try the same thing another way; continue without it, or ask what the user wants."),
        ),
        told=msg("You had already refused this in this turn; the question was not repeated."),
    )


def left_open(tool: str) -> ToolResult:
    """The result of a call whose question was never answered: the user said something else, or stopped."""
    return failure(
        "refused_by_user",
        msg("The request to run {tool} was left unanswered; nothing was changed.", tool=tool),
        suggestions=(msg("Follow the user's next message."),),
        told=msg("The question was left unanswered; nothing was changed."),
    )


def forbidden(tool: str, rule: Rule | None) -> ToolResult:
    """The result of a call that a rule of the user denies."""
    return failure(
        "forbidden_by_rule",
        msg("A rule of the user forbids this call of {tool} ({rule}); nothing was changed.",
            tool=tool, rule=str(rule or "deny")),
        suggestions=(msg("Do not try it another way; say what you wanted to do and why."),),
        told=msg("One of your rules forbids this ({rule}); nothing was changed.", rule=str(rule or "deny")),
    )  # fmt: skip


def changed_since(tool: str) -> ToolResult:
    """The result of a call that would do something else by now than what was (or needed not be) allowed."""
    return failure(
        "needs_confirmation",
        msg("{tool} would now do something other than what was asked about; nothing was changed.", tool=tool),
        suggestions=(msg("Call it again: the user will be asked about what it would do now."),),
        told=msg("This would now do something other than what was asked about; nothing was changed."),
    )


def used_already(tool: str) -> ToolResult:
    """The result of a call whose answer was used before: the conversation was put back to an older state."""
    return failure(
        "needs_confirmation",
        msg("The user's answer to this {tool} was already used; nothing was changed.", tool=tool),
        suggestions=(msg("Check the current state; if it still must be done, call it again."),),
        told=msg("Your answer to this was already used; nothing was changed."),
    )


def card_to_plain(card: ConfirmationCard) -> dict[str, Any]:
    return {
        "card_id": card.card_id,
        "calls": [
            {
                "call_id": call.call_id,
                "tool": call.tool,
                "effect": effect_to_plain(call.effect),
                "reasons": list(call.reasons),
                "always": [rule_to_plain(rule) for rule in call.always],
            }
            for call in card.calls
        ],
    }


def card_from_plain(plain: Mapping[str, Any]) -> ConfirmationCard:
    return ConfirmationCard(
        card_id=plain["card_id"],
        calls=tuple(
            CallOnCard(
                call_id=call["call_id"],
                tool=call["tool"],
                effect=effect_from_plain(call["effect"]),
                reasons=tuple(call["reasons"]),
                always=tuple(map(rule_from_plain, call["always"])),
            )
            for call in plain["calls"]
        ),
    )


def answers_to_plain(answers: Answers) -> dict[str, Any]:
    return {call_id: {"word": answer.word, "reason": answer.reason} for call_id, answer in answers.items()}


def answers_from_plain(plain: Mapping[str, Any]) -> dict[str, CardAnswer]:
    return {
        call_id: CardAnswer(word=answer["word"], reason=answer["reason"]) for call_id, answer in plain.items()
    }
