"""The conversations that runs of this program write to just now: what else is to stand in one meanwhile goes
through its run, which has the transcript open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.uninterrupted import uninterrupted

if TYPE_CHECKING:
    from application.agent.conversation import Conversation


class ConversationsAtWork:
    """Of all projects; used on the loop of the program."""

    def __init__(self) -> None:
        self._open: dict[tuple[Path, str], Conversation] = {}

    @asynccontextmanager
    async def holding(self, root: Path, conversation: Conversation) -> AsyncIterator[None]:
        """Within it a run writes to the conversation of the project at `root`."""
        place = root, conversation.session_id
        self._open[place] = conversation
        try:
            yield
        finally:
            del self._open[place]
            await uninterrupted(conversation.written())

    async def write(self, root: Path, session_id: str, event: Mapping[str, Any]) -> bool:
        """Write a line into one; False, and nothing done, where no run has it open. Raises as
        `application.ports.conversation.Transcript.append`."""
        conversation = self._open.get((root, session_id))
        if conversation is None:
            return False
        await conversation.write(event)
        return True
