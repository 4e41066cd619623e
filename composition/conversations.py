"""What conversations are kept in, and what puts a design into words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from application.conversation.prompting import PromptStore
    from application.ports.attachments import AttachmentReader
    from application.ports.conversation import Checkpointers
    from application.ports.permissions import PermissionStore, UsedAnswers
    from application.ports.search import ConversationIndex
    from application.ports.tool_servers import ToolServerConnector
    from application.workflow.journal import Narrate
    from composition.program import ProgramAdapters
    from domain.design.known_requests import KnownRequests
    from domain.design.likeness import KnownTexts
    from domain.llm.tool_servers import ToolServer


class ConversationAdapters:
    """Implements application.groups.outside.ConversationParts."""

    def __init__(self, program: ProgramAdapters) -> None:
        self._program = program

    @cached_property
    def checkpointers(self) -> Checkpointers:
        from infrastructure.persistence.checkpoints import SqliteCheckpointers

        return SqliteCheckpointers(self._program.user_key)

    @property
    def narrators(self) -> Callable[[str], Narrate]:
        from presentation.narration import Narrator

        return Narrator.answering

    def checkpoint_texts(self) -> KnownTexts:
        from infrastructure.persistence.known_texts import checkpoint_texts

        return checkpoint_texts()

    def request_texts(self) -> KnownRequests:
        from infrastructure.persistence.known_texts import request_texts

        return request_texts()

    def forget_checkpoints(self, database: Path, thread: str) -> None:
        from infrastructure.persistence.checkpoint_rows import forget_thread

        forget_thread(database, thread)

    def index(self, root: Path) -> ConversationIndex:
        from infrastructure.search.conversations import SqliteConversationIndex

        return SqliteConversationIndex(root)

    @cached_property
    def permissions(self) -> PermissionStore:
        from infrastructure.persistence.permissions import PermissionFile

        return PermissionFile(user_home=self._program.home)

    @cached_property
    def used_answers(self) -> UsedAnswers:
        from infrastructure.persistence.spent_answers import SpentAnswers

        return SpentAnswers(self._program.home)

    def removed_days(self) -> int:
        return self._program.settings.removed_days

    @cached_property
    def prompts(self) -> PromptStore:
        from infrastructure.persistence.prompt_files import PromptFiles

        return PromptFiles(user_home=self._program.home)

    @cached_property
    def attachments(self) -> AttachmentReader:
        from infrastructure.attachments.reader import FileReader

        return FileReader()

    @property
    def tool_servers(self) -> ToolServerConnector:
        from infrastructure.tool_servers.client import ServerConnector
        from presentation import VERSION

        program = self._program
        return ServerConnector(
            processes=program.processes,
            environment=program.environment,
            network=program.network,
            version=VERSION,
        )

    @property
    def configured_servers(self) -> Mapping[str, ToolServer]:
        return self._program.settings.tool_servers
