"""Before the first request of a project to a server on the network: does the user agree?"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from domain.llm.consent import ConsentAnswer, ConsentQuestion
from shared.errors import NeedsConfirmation
from shared.message import msg

if TYPE_CHECKING:
    from pathlib import Path

    from application.ports.conversation import ChatModels
    from application.ports.permissions import PermissionStore
    from domain.llm.chat import ProviderChoice

AskConsent = Callable[[ConsentQuestion], Awaitable[ConsentAnswer]]
"""Puts the question to the user."""


class Consents:
    """What may be sent where, project by project; "once" lasts as long as the program."""

    def __init__(self, *, models: ChatModels, store: PermissionStore) -> None:
        self._models = models
        self._store = store
        self._once: set[tuple[str, str, str]] = set()

    async def is_given(self, root: Path, choice: ProviderChoice, *, session_id: str) -> bool:
        """Whether a conversation may be sent to this provider without a question.

        Raises UserInputError for an address that can't be read, or damaged permissions.
        """
        destination = await asyncio.to_thread(self._models.destination, choice)
        if not destination or (_place(root), session_id, destination) in self._once:
            return True
        decided = await asyncio.to_thread(self._store.of_project, root)
        return destination in decided.consents

    async def obtain(
        self, root: Path, choice: ProviderChoice, *, session_id: str, ask: AskConsent | None
    ) -> Callable[[str], None]:
        """Return when the conversation may be sent; call what it returns with the conversation's id.

        Raises NeedsConfirmation: "needs_confirmation" with nobody to ask, "refused_by_user".
        """
        if await self.is_given(root, choice, session_id=session_id):
            return lambda _session_id: None
        destination = await asyncio.to_thread(self._models.destination, choice)
        titles = {info.name: info.title for info in await asyncio.to_thread(self._models.list)}
        question = ConsentQuestion(
            provider=titles.get(choice.provider, choice.provider), destination=destination
        )
        answer = await ask(question) if ask is not None else None
        if answer is None:
            raise NeedsConfirmation(
                msg("Nothing was sent: {destination} is on the network, and this project has not been sent "
                    "there before.", destination=destination),
                advice=msg("Your messages, the files that tools read, goals and results would be sent "
                           "there. Agree with --yes, or once on a terminal or in the window."),
            )  # fmt: skip
        if answer == "no":
            raise NeedsConfirmation(
                msg("Nothing was sent to {destination}.", destination=destination),
                advice=msg("Choose the built-in model or one on this computer, or agree when you are asked."),
                error_type="refused_by_user",
            )
        if answer == "always":
            await asyncio.to_thread(self._store.consent, root, destination, is_given=True)
            return lambda _session_id: None
        return lambda opened: self._once.add((_place(root), opened, destination))


def _place(root: Path) -> str:
    return os.path.realpath(root)
