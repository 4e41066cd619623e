"""Names of conversations: the user's first words, or a title by the small model where one is set."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from domain.llm.chat import ProviderError
from domain.llm.prompts.fallbacks import TITLE_INSTRUCTION
from domain.llm.system_prompt import fence_data
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.ports.conversation import ChatModels
    from domain.llm.chat import ProviderChoice

_logger = logging.getLogger(__name__)

NAME_LENGTH = 40
_TIMEOUT_S = 15.0
_MOST_QUESTION = 1_500
_MOST_ANSWER = 1_500
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_LABEL = re.compile(r"\A(?:title|标题)\s*[:：]\s*", re.IGNORECASE)
_AROUND = " \t\"'`*#“”‘’「」《》."


def name_from(text: str) -> str:
    """A name from somebody's words: the first line, cut to `NAME_LENGTH`."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= NAME_LENGTH else line[: NAME_LENGTH - 1].rstrip() + "…"


async def title_by(models: ChatModels, choice: ProviderChoice, *, question: str, answer: str) -> str:
    """A title by the small model; "" when it has none to give (it fails, is slow, says nothing).

    What it gets is material: both texts are cut and fenced.
    """
    from langchain_core.messages import HumanMessage, SystemMessage

    from domain.llm.messages import get_text

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


def _title_in(text: str) -> str:
    line = name_from(_THINKING.sub("", text))
    return _LABEL.sub("", line.strip(_AROUND)).strip(_AROUND)
