"""A chat client that streams what it was told to, for tests above the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from domain.llm.chat import ChatRequest, StreamChunk


class ScriptedChatClient:
    """Implements application.ports.conversation.ChatClient; a script is what one answer streams.

    A float in a script is a pause in seconds, an asyncio.Event is waited for, an exception is raised.
    """

    def __init__(self, *scripts: Sequence[StreamChunk | float | asyncio.Event | Exception]) -> None:
        self._scripts = list(scripts)
        self.requests: list[ChatRequest] = []
        self.opened = 0
        self.ended = 0
        """Streams that were closed, by their end or before it."""
        self.given = 0
        """Chunks handed out."""
        self.is_closed = False

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamChunk, None]:
        self.requests.append(request)
        self.opened += 1
        try:
            for item in self._scripts.pop(0):
                if isinstance(item, StreamChunk):
                    self.given += 1
                    yield item
                elif isinstance(item, asyncio.Event):
                    await item.wait()
                elif isinstance(item, Exception):
                    raise item
                else:
                    await asyncio.sleep(item)
        finally:
            await asyncio.sleep(0)  # closing a connection takes a turn of the loop, too
            self.ended += 1

    async def models(self) -> tuple[str, ...]:
        return ("scripted",)

    async def close(self) -> None:
        self.is_closed = True
