"""The models of a turn beside the one it was begun with: those that take over, and the one that names it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from application.conversation.titles import name_from, title_by
from application.search.web_searching import with_search_of
from domain.llm.chat import ProviderChoice

if TYPE_CHECKING:
    from application.agent.alternatives import OtherModels
    from application.agent.conversation import Conversation
    from application.conversation.chatting import ChatWithModel
    from application.ports.project import ProjectFiles
    from domain.llm.service import Alternatives

_logger = logging.getLogger(__name__)


class TurnModels:
    """Which other models a turn may ask."""

    def __init__(
        self,
        chat: ChatWithModel,
        asked: ProviderChoice,
        project: ProjectFiles,
        conversation: Conversation,
        *,
        is_on_network: bool,
        is_searching: bool,
    ) -> None:
        self._chat = chat
        self._asked = asked
        self._project = project
        self._conversation = conversation
        self._is_on_network = is_on_network
        self._is_searching = is_searching
        """With the general search of the web."""

    def others(self, alternatives: Alternatives) -> OtherModels:
        """The models that may take over, with the search that the turn was begun with."""
        from application.agent.alternatives import OtherModels, is_same

        return OtherModels(
            self._chat.models,
            [
                with_search_of(self._asked, choice, is_general=self._is_searching)
                for choice in alternatives.choices
                if not is_same(choice, self._asked)
            ],
            may_use=self._may_go_on_with,
            is_automatic=alternatives.is_automatic,
        )

    async def name(self) -> str:
        """What the conversation is called after its first whole answer."""
        from domain.llm.messages import get_text

        question = self._conversation.first_words
        title = ""
        if self._chat.small_model is not None and await self._may_ask(self._chat.small_model):
            answer = self._conversation.answers_of_turn()[-1:]
            title = await title_by(
                self._chat.models,
                self._chat.small_model,
                question=question,
                answer="".join(map(get_text, answer)),
            )
        return title or name_from(question)

    async def _may_go_on_with(self, choice: ProviderChoice) -> bool:
        """Whether another model may take over: what is on this computer stays there."""
        destination = await asyncio.to_thread(self._chat.models.destination, choice)
        if destination and not self._is_on_network:
            return False
        return await self._may_ask(choice)

    async def _may_ask(self, choice: ProviderChoice) -> bool:
        """Whether this conversation may be sent there; a title is not worth a question."""
        root, session_id = self._project.root, self._conversation.session_id
        with left_to_the_next_start("The small model was not asked"):
            return await self._chat.consents.is_given(root, choice, session_id=session_id)
        return False


@contextmanager
def left_to_the_next_start(what: str) -> Iterator[None]:
    """For tidying up: its failure must not hide how the turn ended, and the next start does it again."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - a full disk, a database that is gone
        _logger.warning("%s: %s", what, error)
