"""Why a turn failed, as it is told and as its transcript keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domain.llm.chat import ProviderChoice
from domain.llm.provider_settings import BUILTIN
from shared.errors import CircuitAIError, internal_error
from shared.message import Message, message_from_plain, message_to_plain

_CHOICE = ("provider", "model")
"""What is stored of an offer: never an address. A stored one would name where the user's key goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFailure:
    """The error that ended a turn, and the models that could be asked instead."""

    error_type: str
    message: Message
    advice: Message | None = None
    offers: tuple[ProviderChoice, ...] = ()
    asked: str = ""
    """What was asked, for people; "" = the built-in designer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLimit:
    """The limit, or the guardrail, that ended a turn."""

    stop_reason: str
    note: Message
    """Which one, and how to go on."""


def failure_of(error: Exception, asked: ProviderChoice) -> TurnFailure:
    """The failure an error is; a ProviderError brings its offers, a bug is told as one."""
    name = "" if asked.provider == BUILTIN else asked.model or asked.provider
    if not isinstance(error, CircuitAIError):
        return TurnFailure(asked=name, error_type="internal", message=internal_error(error))
    return TurnFailure(
        asked=name,
        error_type=error.error_type,
        message=error.message,
        advice=error.advice,
        offers=tuple(getattr(error, "offered", ())),
    )


def failure_to_plain(failure: TurnFailure) -> dict[str, Any]:
    """A failure as plain JSON types; never a key: choices have none."""
    return {
        "error_type": failure.error_type,
        "message": message_to_plain(failure.message),
        "advice": None if failure.advice is None else message_to_plain(failure.advice),
        "asked": failure.asked,
        "offers": [{name: getattr(choice, name) for name in _CHOICE} for choice in failure.offers],
    }


def failure_from_plain(plain: object) -> TurnFailure | None:
    """What `failure_to_plain` wrote; None for anything else (a file of a stranger, or of a newer version)."""
    if not isinstance(plain, Mapping):
        return None
    message, error_type = message_from_plain(plain.get("message")), plain.get("error_type")
    if message is None or not isinstance(error_type, str):
        return None
    listed = plain.get("offers")
    asked = plain.get("asked")
    offers = (_choice(row) for row in (listed if isinstance(listed, list) else ()))
    return TurnFailure(
        error_type=error_type,
        message=message,
        advice=message_from_plain(plain.get("advice")),
        offers=tuple(choice for choice in offers if choice is not None),
        asked=asked if isinstance(asked, str) else "",
    )


def _choice(row: object) -> ProviderChoice | None:
    if not isinstance(row, Mapping):
        return None
    texts = {name: row.get(name, "") for name in _CHOICE}
    if not all(isinstance(text, str) for text in texts.values()) or not texts["provider"]:
        return None
    return ProviderChoice(**texts)
