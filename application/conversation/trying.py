"""Try a model before it is used: is the key taken, does it answer, how fast, does it call tools?"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from application.ports.conversation import ChatClient, ChatModels
from domain.llm.chat import ChatRequest, ProviderChoice, ProviderError, WireMessage
from domain.llm.provider_settings import ProviderSettings

_NO_LISTING = frozenset({404, 405, 501})
"""HTTP statuses of servers that cannot list their models."""
_CHARACTERS_A_TOKEN = 4
_MOST_TOKENS = 512
_TOOL = {
    "type": "function",
    "function": {
        "name": "report_ready",
        "description": "Tell the program that you are ready.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
}
_ASKED = 'This is a test of the connection. Call the tool report_ready with the word "ready".'


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTrial:
    """What came of a trial that succeeded; times in seconds."""

    model: str
    """As the server names the one that answered."""
    models: tuple[str, ...]
    """What the server lists; empty when it lists none."""
    listed_s: float
    """Until the list of models was there (so the key was accepted)."""
    first_piece_s: float
    """From the question to the first piece of the answer."""
    tokens_per_s: float | None
    """Of the answer; None when it came in one piece."""
    calls_tools: bool
    """It did what it was asked to by a tool call."""


class TryModel:
    """The use case behind the test button; nothing of a project is sent."""

    def __init__(self, models: ChatModels) -> None:
        self._models = models

    async def list(
        self, choice: ProviderChoice, *, key: str = "", settings: ProviderSettings | None = None
    ) -> tuple[str, ...]:
        """The models the server lists. Raises UserInputError, ProviderError."""
        async with self._models.connect(choice, key=key, settings=settings) as client:
            return await client.models()

    async def __call__(
        self, choice: ProviderChoice, *, key: str = "", settings: ProviderSettings | None = None
    ) -> ModelTrial:
        """Ask for the list of models, then for one tool call. `key` and `settings` in place of those kept.

        Raises UserInputError, ProviderError; cancelling closes the connection.
        """
        clock = asyncio.get_running_loop().time
        async with self._models.connect(choice, key=key, settings=settings) as client:
            begin = clock()
            try:
                models = await client.models()
            except ProviderError as error:
                if error.status not in _NO_LISTING:
                    raise
                models = ()
            listed_s = clock() - begin
            return await _asked(client, choice.model, models, listed_s)


async def _asked(client: ChatClient, model: str, models: tuple[str, ...], listed_s: float) -> ModelTrial:
    clock = asyncio.get_running_loop().time
    request = ChatRequest(
        messages=(WireMessage(role="user", text=_ASKED),), tools=(_TOOL,), max_tokens=_MOST_TOKENS
    )
    begin, first, last = clock(), 0.0, 0.0
    characters = tokens = 0
    calls_tools = False
    async with aclosing(cast("Any", client.stream(request))) as chunks:
        async for chunk in chunks:
            characters += len(chunk.text) + len(chunk.reasoning)
            if chunk.usage is not None:
                tokens = chunk.usage.completion_tokens
            calls_tools |= any(call.name == "report_ready" for call in chunk.tool_calls)
            model = chunk.model or model
            last = clock()
            first = first or last
    streamed_s = last - first
    tokens = tokens or characters // _CHARACTERS_A_TOKEN
    return ModelTrial(
        model=model,
        models=models,
        listed_s=listed_s,
        first_piece_s=first - begin,
        tokens_per_s=tokens / streamed_s if streamed_s > 0.01 and tokens > 1 else None,
        calls_tools=calls_tools,
    )
