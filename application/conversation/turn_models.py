"""The models of a turn beside the one it was begun with: those that take over, and the one that names it.

A conversation's name is the user's first words, or a title by the small model where one is set.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import HumanMessage, SystemMessage

from application.agent.alternatives import OtherModels, is_same
from application.search.web_searching import with_search_of
from domain.llm.chat import ProviderChoice, ProviderError
from domain.llm.context_block import fence_data
from domain.llm.messages import get_text
from domain.llm.prompts.fallbacks import TITLE_INSTRUCTION
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.conversation.turn_deps import TurnDeps
    from application.ports.conversation import ChatModels
    from application.ports.project import ProjectFiles
    from domain.llm.conversation_record import ConversationRecord
    from domain.llm.service import Alternatives

_logger = logging.getLogger(__name__)

NAME_LENGTH = 40
_TIMEOUT_S = 15.0
_MOST_QUESTION = 1_500
_MOST_ANSWER = 1_500
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_LABEL = re.compile(r"\A(?:title|标题)\s*[:：]\s*", re.IGNORECASE)
_AROUND = " \t\"'`*#“”‘’「」《》."


@dataclass(frozen=True, slots=True, eq=False)
class TurnModels:
    """Which other models a turn may ask."""

    deps: TurnDeps
    asked: ProviderChoice
    project: ProjectFiles
    record: ConversationRecord
    _: KW_ONLY
    is_on_network: bool
    is_searching: bool
    """With the general search of the web."""

    def others(self, alternatives: Alternatives) -> OtherModels:
        """The models that may take over, with the search that the turn was begun with."""
        return OtherModels(
            self.deps.models,
            [
                with_search_of(self.asked, choice, is_general=self.is_searching)
                for choice in alternatives.choices
                if not is_same(choice, self.asked)
            ],
            may_use=self.may_go_on_with,
            is_automatic=alternatives.is_automatic,
        )

    async def name(self) -> str:
        """What the conversation is called after its first whole answer."""
        question = self.record.first_words
        title = ""
        if self.deps.small_model is not None and await self._may_ask(self.deps.small_model):
            answer = self.record.answers_of_turn()[-1:]
            title = await title_by(
                self.deps.models,
                self.deps.small_model,
                question=question,
                answer="".join(map(get_text, answer)),
            )
        return title or name_from(question)

    async def may_go_on_with(self, choice: ProviderChoice) -> bool:
        """Whether another model may take over: what is on this computer stays there."""
        destination = await asyncio.to_thread(self.deps.models.destination, choice)
        if destination and not self.is_on_network:
            return False
        return await self._may_ask(choice)

    async def _may_ask(self, choice: ProviderChoice) -> bool:
        """Whether this conversation may be sent there; a title is not worth a question."""
        root, session_id = self.project.root, self.record.session_id
        with log_and_continue("The small model was not asked"):
            return await self.deps.consents().is_given(root, choice, session_id=session_id)
        return False


def name_from(text: str) -> str:
    """A name from somebody's words: the first line, cut to `NAME_LENGTH`."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= NAME_LENGTH else line[: NAME_LENGTH - 1].rstrip() + "…"


async def title_by(models: ChatModels, choice: ProviderChoice, *, question: str, answer: str) -> str:
    """A title by the small model; "" when it has none to give (it fails, is slow, says nothing).

    What it gets is material: both texts are cut and fenced.
    """
    texts = (("question", question[:_MOST_QUESTION]), ("answer", answer[:_MOST_ANSWER]))
    asked = "\n\n".join(fence_data(name, text) for name, text in texts)
    messages = [SystemMessage(content=TITLE_INSTRUCTION), HumanMessage(content=asked)]
    said: list[str] = []
    try:
        async with (
            asyncio.timeout(_TIMEOUT_S),
            models.open(choice) as model,
            aclosing(cast("Any", model.astream(messages))) as chunks,
        ):
            async for chunk in chunks:
                said.append(get_text(chunk))
    except (ProviderError, CircuitAIError, TimeoutError) as error:
        # The conversation has a name without it; the main model's answer is not to suffer from it.
        _logger.warning("The small model gave no title: %s", error or "it took too long")
        return ""
    return _title_in("".join(said))


def without_thinking(text: str) -> str:
    """A small model's answer without what some servers leave in it of its thoughts."""
    return _THINKING.sub("", text)


def _title_in(text: str) -> str:
    line = name_from(without_thinking(text))
    return _LABEL.sub("", line.strip(_AROUND)).strip(_AROUND)


@contextmanager
def log_and_continue(what: str) -> Iterator[None]:
    """For tidying up: its failure must not hide how the turn ended, and the next start does it again."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - a full disk, a database that is gone
        _logger.warning("%s: %s", what, error)
