"""Who turns a sentence into goals: the rules of the built-in designer, or the chosen model by one call."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from application.workflow.goal_reading import read_goals
from application.workflow.journal import Said
from application.workflow.wording import LANGUAGE_NAMES, in_words, language_of
from domain.design import catalogue
from domain.design.designer import DesignIntent
from shared.errors import CircuitError
from shared.late_patterns import late_pattern
from shared.message import Message

if TYPE_CHECKING:
    from langchain_core.messages import SystemMessage

    from application.workflow.model_steps import ModelSteps
    from domain.design.goal_extraction import GoalsRead


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """A sentence that was read."""

    intent: DesignIntent | None
    """None when it asks for no circuit: it is answered by `reply`."""
    reply: Message | None = None
    said: Said = field(default_factory=Said)
    """What the reading took."""


_ASKS = late_pattern(r"\b(?:design|build|make|create|draw)\b|设计|[做搭画](?:出|一?[个下])", re.IGNORECASE)
_MOST_BEFORE = 8
"""Messages before a request that are read with it."""

Understand = Callable[[str], Awaitable[Understood]]
"""Reads a sentence. Raises CircuitError ("unknown_circuit", "missing_goal", "impossible_goal"),
ProviderError."""


class RuleGoals:
    """What the rules of the built-in designer read."""

    def __init__(self, said_before: Callable[[], Sequence[str]]) -> None:
        """`said_before`: what the user said before in this conversation, oldest first."""
        self._said_before = said_before

    async def __call__(self, text: str) -> Understood:
        return Understood(intent=await asyncio.to_thread(understand_by_rules, text, self._said_before()))


def understand_by_rules(text: str, before: Sequence[str]) -> DesignIntent:
    """The request by itself; one that has not all of its figures, with what was said before it.

    No more of that than is needed, the newest first. Raises CircuitError.
    """
    try:
        return catalogue.understand(text)
    except CircuitError as error:
        if error.error_type not in ("unknown_circuit", "missing_goal") or not _ASKS.search(text):
            raise
        for count in range(1, min(len(before), _MOST_BEFORE) + 1):
            with contextlib.suppress(CircuitError):
                intent = catalogue.understand(". ".join([*before[-count:], text]))
                return replace(intent, language=language_of(text))
        raise


class ModelGoals:
    """One structured call to the chosen model, checked by our own language of expressions."""

    def __init__(
        self,
        steps: Callable[[], Awaitable[ModelSteps]],
        system_message: Callable[[Mapping[str, Any]], Awaitable[SystemMessage]],
    ) -> None:
        self._steps = steps
        self._system_message = system_message
        """Made of the values of its template."""

    async def __call__(self, text: str) -> Understood:
        steps = await self._steps()
        language = language_of(text)
        system = await self._system_message(goals_values(text))
        read = await read_goals(steps.ask, system=str(system.content), text=text)
        if not read.goals:
            words = [str(read.reply), *read.questions]
            reply = read.reply if isinstance(read.reply, Message) else in_words("\n".join(words))
            return Understood(intent=None, reply=reply, said=steps.take_spent())
        intent = DesignIntent(
            family="",
            parameters={"circuit_type": read.circuit_type, "summary": read.summary},
            goals=read.goals,
            assumptions=_notes(read),
            language=language,
        )
        return Understood(intent=intent, said=steps.take_spent())


def goals_values(text: str) -> dict[str, str]:
    """What EXTRACT_DESIGN_GOALS is filled with, but for its context."""
    return {"user_requirement": text, "user_language": LANGUAGE_NAMES[language_of(text)]}


def _notes(read: GoalsRead) -> tuple[Message, ...]:
    """What was not understood, and what the model asks beside the goals it read."""
    replied = read.reply if isinstance(read.reply, Message) else in_words(read.reply)
    return tuple(note for note in (replied, *map(in_words, read.questions)) if str(note).strip())
