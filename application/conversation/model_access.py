"""What a run may ask beside its model, and what of the project may leave this computer for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.llm.provider_settings import BUILTIN
from domain.llm.service import Alternatives
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.conversation.consents import AskConsent
    from application.conversation.turn_deps import TurnDeps
    from application.ports.project import ProjectFiles
    from application.search.web_searching import SearchWeb
    from domain.llm.chat import ProviderChoice
    from domain.llm.web_search import WebSearchSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    """Of one run, found before it begins."""

    alternatives: Alternatives
    """The models that may take over; none from the built-in one, which does not fail."""
    is_on_network: bool
    """Whether its contents go to the network, be it to a model that takes over."""
    web_search: WebSearchSettings | None
    """What the general web search asks; None when it is off."""


class FindAccess:
    """Finds it, and asks for the user's consent where something leaves his computer."""

    def __init__(self, deps: TurnDeps, search_web: Callable[[], SearchWeb]) -> None:
        self._deps = deps
        self._search_web = search_web

    async def __call__(self, choice: ProviderChoice) -> ModelAccess:
        """Raises UserInputError for a provider that is not known, and for a search it does not have."""
        alternatives = await asyncio.to_thread(self._alternatives, choice)
        return ModelAccess(
            alternatives=alternatives,
            is_on_network=await asyncio.to_thread(self._leaves_this_computer, choice, alternatives),
            web_search=await asyncio.to_thread(self._web_search, choice),
        )

    async def consent(
        self, project: ProjectFiles, choice: ProviderChoice, *, session_id: str, ask: AskConsent | None
    ) -> Callable[[str], None]:
        """The user's yes, to be given the conversation's id. Raises NeedsConfirmation on a no."""
        return await self._deps.consents().obtain(project.root, choice, session_id=session_id, ask=ask)

    def _alternatives(self, choice: ProviderChoice) -> Alternatives:
        return Alternatives() if choice.provider == BUILTIN else self._deps.alternatives()

    def _leaves_this_computer(self, choice: ProviderChoice, alternatives: Alternatives) -> bool:
        others = alternatives.choices if alternatives.is_automatic else ()
        for other in others:
            with contextlib.suppress(CircuitAIError):  # one that can't be asked: told when it is tried
                if self._deps.models.destination(other):
                    return True
        return bool(self._deps.models.destination(choice))

    def _web_search(self, choice: ProviderChoice) -> WebSearchSettings | None:
        if choice.provider == BUILTIN:
            if choice.web_search is not None and choice.web_search.is_on:
                raise UserInputError(
                    msg("The built-in model cannot search the web."),
                    advice=msg("Choose a language model with --provider, or omit --web-search."),
                    error_type="bad_usage",
                )
            return None
        return self._search_web().of_choice(choice)
