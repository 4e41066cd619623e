"""What another installation wrote into a project: looking at it, and making it one's own.

Until then it is history: it can be read, searched and exported, and nothing is done because of it. Adopting
ends what it had under way; answers and permissions in it never count, its results stay results of others.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shared.uninterrupted import uninterrupted

if TYPE_CHECKING:
    from application.ports.conversation import SessionInfo
    from application.ports.project import OperationRecord, ProjectFiles, Projects


@dataclass(frozen=True, slots=True, kw_only=True)
class StrangeHistory:
    """What in a project was not written by this installation (nor adopted)."""

    conversations: tuple[SessionInfo, ...]
    """The last changed first."""
    operations: tuple[OperationRecord, ...]
    """Oldest first."""
    results: int
    """Of the project, whoever ran them."""

    @property
    def is_there(self) -> bool:
        """Whether there is anything to be adopted."""
        return bool(self.conversations or self.operations)

    @property
    def waiting(self) -> tuple[SessionInfo, ...]:
        """Conversations with a turn that was never ended; adopting ends it."""
        return tuple(info for info in self.conversations if info.has_partial_response)

    @property
    def unfinished(self) -> tuple[OperationRecord, ...]:
        """Changes that were begun and never finished; adopting abandons them."""
        return tuple(record for record in self.operations if record.state == "intent")

    @property
    def first_and_last(self) -> tuple[str, str]:
        """When it was written, ISO 8601; "" where that is not known."""
        times = [record.created for record in self.operations]
        times += [time for info in self.conversations for time in (info.created_at, info.updated_at)]
        known = sorted(time for time in times if time)
        return (known[0], known[-1]) if known else ("", "")


class AdoptProject:
    """The use case."""

    def __init__(self, *, projects: Projects, count_results: Callable[[Path], int]) -> None:
        """`count_results` counts the stored results of a project."""
        self._projects = projects
        self._count_results = count_results

    async def look(self, folder: Path) -> StrangeHistory:
        """What there is to adopt. Raises UserInputError ("no_project"), EnvironmentProblem."""

        def work() -> StrangeHistory:
            project = self._projects.open(folder)
            try:
                return self._look(project)
            finally:
                project.close()

        return await asyncio.to_thread(work)

    async def is_needed(self, folder: Path) -> bool:
        """Whether there is anything to adopt: a conversation, or a change of a file. See `look`."""

        def work() -> bool:
            project = self._projects.open(folder)
            try:
                has_others = any(not info.is_ours for info in project.sessions.list())
                return has_others or any(not record.is_ours for record in project.operations.list())
            finally:
                project.close()

        return await asyncio.to_thread(work)

    async def __call__(self, folder: Path) -> None:
        """Adopt all of it.

        Cancelled, it ends soon: the operations are adopted all or none, the conversations as far as it came;
        the next time goes on. Raises UserInputError ("no_project", "session_in_use"), EnvironmentProblem for
        what can't be adopted; all else is.
        """
        cancelled = threading.Event()

        def work() -> None:
            project = self._projects.open(folder)
            try:
                project.adopt(give_up=cancelled.is_set)
            finally:
                project.close()

        await uninterrupted(asyncio.to_thread(work), on_cancel=cancelled.set)

    def _look(self, project: ProjectFiles) -> StrangeHistory:
        return StrangeHistory(
            conversations=tuple(info for info in project.sessions.list() if not info.is_ours),
            operations=tuple(record for record in project.operations.list() if not record.is_ours),
            results=self._count_results(project.root),
        )
