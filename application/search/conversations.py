"""Looking for words in all conversations of a project."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from application.ports.search import ConversationHit, ConversationIndex, ConversationsFound
from domain.search.query import fold, quoted_words

if TYPE_CHECKING:
    from application.ports.conversation import SessionInfo
    from application.ports.project import Projects
    from shared.cpu_executor import CpuTaskExecutor

MOST_CONVERSATIONS = 200
_UPDATE_S = 2.0
"""A piece of bringing the index up to date; other work gets a process in between."""
_LOOK_S = 8.0
"""For reading transcripts where there can be no index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConversations:
    """Messages that have all words of a text; what stands in quotes is one word."""

    projects: Projects
    index: Callable[[Path], ConversationIndex]
    cpu: CpuTaskExecutor

    async def __call__(
        self, project: Path, text: str, *, most: int = MOST_CONVERSATIONS, waits: bool = True
    ) -> ConversationsFound:
        """Search; with `waits` in all transcripts, else in what two seconds of reading brought in (what is
        left is counted, and the next search goes on with it).

        Raises UserInputError ("no_project").
        """
        index = self.index(await asyncio.to_thread(self._root_of, project))
        while (pending := await self.cpu.run(index.update, _UPDATE_S)) and waits:
            pass
        found = await self.cpu.run(index.find, text, most, _LOOK_S)
        return replace(found, pending=max(found.pending, pending))

    def _root_of(self, project: Path) -> Path:
        files = self.projects.open(project)
        try:
            return files.root
        finally:
            files.close()


def matching(
    infos: Sequence[SessionInfo], found: ConversationsFound, text: str
) -> list[tuple[SessionInfo, tuple[ConversationHit, ...]]]:
    """The conversations of a list, in its order, whose name or messages have all words, with their hits."""
    wanted = quoted_words(text)
    hits: dict[str, list[ConversationHit]] = {}
    for hit in found.hits:
        hits.setdefault(hit.session_id, []).append(hit)
    return [
        (info, tuple(hits.get(info.session_id, ())))
        for info in infos
        if info.session_id in hits or (wanted and all(word in fold(info.name) for word in wanted))
    ]
