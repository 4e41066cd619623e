"""What is tried when a model fails before anything of its answer has come: other models of the user."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from domain.llm.service import ELSEWHERE
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from types import TracebackType

    from langchain_core.language_models import BaseChatModel

    from application.ports.conversation import ChatModels
    from domain.llm.chat import ProviderChoice, ProviderError

_logger = logging.getLogger(__name__)

SMALLER_CONTEXTS = (10, 5)
"""Newest messages that are sent when a provider finds a conversation too long, one after the other."""


class OtherModels:
    """The models that may take over in one turn, each at most once; closed with the context.

    `may_use` says whether the conversation may be sent there without a question. Without `is_automatic`
    they are only offered.
    """

    def __init__(
        self,
        models: ChatModels,
        choices: Sequence[ProviderChoice],
        *,
        may_use: Callable[[ProviderChoice], Awaitable[bool]],
        is_automatic: bool,
    ) -> None:
        self._models = models
        self._left = list(choices)
        self._may_use = may_use
        self._is_automatic = is_automatic
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> OtherModels:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._opened.aclose()

    async def next(self, error: ProviderError) -> tuple[ProviderChoice, BaseChatModel] | None:
        """The next model that may answer in place of the one that failed; None when there is none."""
        if not self._is_automatic or error.error_type not in ELSEWHERE:
            return None
        while self._left:
            choice = self._left.pop(0)
            try:
                if await self._may_use(choice):
                    return choice, await self._opened.enter_async_context(self._models.open(choice))
                _logger.info("%s was not asked: nothing may be sent there", choice.provider)
            except CircuitAIError as problem:  # no key, an address that is none: the next one, then
                _logger.warning("%s was not asked: %s", choice.provider, problem)
        return None

    def offer(self, error: ProviderError) -> None:
        """Name the models that are left in the advice of an error that they might not have."""
        if self._is_automatic or error.error_type not in ELSEWHERE or not self._left:
            return
        error.offered = tuple(self._left)
        names = ", ".join(named(choice) for choice in self._left)
        if error.advice is None:
            error.advice = msg("Another model you have set up: {names}.", names=names)
        else:
            error.advice = msg(
                "{advice} Another model you have set up: {names}.", advice=error.advice, names=names
            )


def is_same(choice: ProviderChoice, asked: ProviderChoice) -> bool:
    """Whether an alternative is what was asked; what was left empty there may be any."""
    pairs = ((choice.model, asked.model), (choice.base_url, asked.base_url))
    return choice.provider == asked.provider and all(not now or now == other for other, now in pairs)


def named(choice: ProviderChoice) -> str:
    """Provider and model, as people write them."""
    return f"{choice.provider} {choice.model}".strip()


def shortened_text(reason: Message, kept: int) -> Message:
    """What is said when less is sent."""
    return msg("{reason} Asking again with the last {count} messages only.", reason=reason, count=kept)


def switched_text(reason: Message, choice: ProviderChoice) -> Message:
    """What is said when another model is asked."""
    return msg("{reason} Now {model} is asked.", reason=reason, model=named(choice))
