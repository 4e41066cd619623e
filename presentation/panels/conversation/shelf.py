"""The stored conversations of one project: read, renamed, exported, removed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from domain.llm.costs import Cost
from presentation.panels.conversation.attached import with_thumbnails
from presentation.panels.conversation.fields import KeptFields
from presentation.panels.conversation.items import Item, UserText
from presentation.panels.conversation.stored import context_tokens_of, is_resting, items_of, title_of
from presentation.panels.conversation.words import with_advice
from presentation.translation import Translator
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.conversation.sessions import ExportFormat
    from application.conversation.shown_session import ShownSession
    from application.groups.conversations import Conversations
    from application.groups.project import Project
    from application.groups.simulation import Simulation
    from application.ports.conversation import SessionInfo
    from application.ports.search import ConversationsFound
    from application.project.window_state import DraftGap
    from domain.llm.chat import ProviderChoice
    from presentation.panels.conversation.pending import PendingFile, Place

_TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConversation:
    """A conversation as it is shown."""

    session_id: str
    title: str
    mode: Literal["free", "workflow"]
    items: tuple[Item, ...]
    context_tokens: int
    """What its last answer filled of the model's window; 0 when nobody counted."""
    rests: bool = False
    """Whether a design in it was left in the middle."""
    model: str = ""
    """What answered last."""
    cost: Cost = field(default_factory=Cost)
    """What all its answers cost."""


class Shelf:
    """Reads and changes what is stored; nothing here blocks the loop. All tabs of a window have one.

    `told` says something that belongs to no conversation, `changed` that the list is another.
    """

    def __init__(
        self,
        conversations: Conversations,
        project: Project,
        simulation: Simulation,
        *,
        told: Callable[[Message, bool], None],
        changed: Callable[[], None],
    ) -> None:
        self._conversations = conversations
        self._project = project
        self._simulation = simulation
        self._told = told
        self._changed = changed
        self.drafts: dict[Place, str] = {}
        """What was written and not sent; of a tab that was closed before it was begun at ""."""
        self.fields: dict[Place, KeptFields] = {}
        """The gaps in it that are still filled in."""
        self.files: dict[Place, list[PendingFile]] = {}
        """What was attached to it."""
        self.reads_only: set[Place] = set()
        """Where the model has tools that read, and no others."""
        self.choices: dict[str, ProviderChoice] = {}
        """What answers, by conversation; "": the next new one."""
        self._listing = 0
        """Number of the newest request for the list."""
        self.sessions: tuple[SessionInfo, ...] = ()
        """The last changed first."""
        self.is_strange = False
        """Whether another installation wrote something into the project: a conversation, or a change."""
        self._looked_at: Path | None = None

    async def look_again(self, root: Path) -> tuple[SessionInfo, ...]:
        """What was a stranger's may be ours now. Raises CircuitAIError."""
        self._looked_at = None
        return await self.refresh(root)

    async def refresh(self, root: Path) -> tuple[SessionInfo, ...]:
        """Read the list anew. Raises CircuitAIError."""
        try:
            found = await self._conversations.sessions.list(root)
            if root != self._looked_at:  # once is enough: nobody else writes into an open project
                self.is_strange, self._looked_at = await self._project.adopt.is_needed(root), root
                await self.removed(root)  # what was kept its time is deleted
            return found
        except CircuitAIError as error:
            if error.error_type != "no_project":
                raise
            self.is_strange = False
            return ()  # no folder of ours yet: nothing was said here

    async def relist(self, root: Path | None, *, is_adopted: bool = False) -> tuple[SessionInfo, ...]:
        """The list read anew and kept; `is_adopted`: strangers' are ours now. Raises CircuitAIError."""
        if root is None:
            return ()
        self._listing += 1
        number = self._listing
        found = await (self.look_again(root) if is_adopted else self.refresh(root))
        if number == self._listing:  # an older answer may come later
            self.sessions = found
            self._changed()
        return found

    def gaps_in(self, place: Place, draft: str) -> tuple[DraftGap, ...]:
        """What is still to be filled in of a draft, as it is kept with it."""
        fields = self.fields.get(place)
        return () if fields is None else fields.in_draft(draft)

    def put_draft(self, place: Place, draft: str, gaps: Sequence[DraftGap]) -> None:
        """A draft as it was kept, unless there is one."""
        if place not in self.drafts:
            self.drafts[place] = draft
            if (fields := KeptFields.of_draft(draft, gaps)) is not None:
                self.fields[place] = fields

    def leave(self) -> None:
        """Another project: nothing is listed until it was read."""
        self._listing += 1
        self.sessions, self.is_strange = (), False

    def move_unsent(self, before: Place, after: Place) -> None:
        """What was written and attached there is the other's now, behind what that has of its own."""
        if before == after:
            return
        fields = self.fields.pop(before, None)
        if text := self.drafts.pop(before, ""):
            if fields is not None and not self.drafts.get(after):
                self.fields[after] = fields
            self.drafts[after] = "\n".join(filter(None, (self.drafts.get(after, ""), text)))
        if files := self.files.pop(before, []):
            self.files[after] = [*self.files.get(after, []), *files]
        if before in self.reads_only:
            self.reads_only.discard(before)
            self.reads_only.add(after)

    @property
    def kept_days(self) -> int:
        """How long what is removed can be restored."""
        return self._conversations.sessions.kept_days()

    async def removed(self, root: Path) -> tuple[SessionInfo, ...]:
        """Those that can be restored, the last removed first. Raises CircuitAIError, as the next three."""
        return await self._conversations.sessions.removed(root)

    async def restore(self, root: Path, session_id: str) -> None:
        await self._conversations.sessions.restore(root, session_id)

    async def delete_removed(self, root: Path, session_id: str) -> None:
        await self._conversations.sessions.delete_removed(root, session_id)

    async def import_file(self, root: Path, file: Path) -> str:
        return await self._conversations.sessions.import_file(root, file)

    async def read(
        self, root: Path, session_id: str, *, version: str = "", is_removed: bool = False
    ) -> StoredConversation:
        """One conversation; `version`: as it was when it last had this message. Raises CircuitAIError."""
        sessions = self._conversations.sessions
        session = await sessions.show(root, session_id, version=version, is_removed=is_removed)
        operations = await self._project.operations.list(root)
        items = await asyncio.to_thread(items_of, session, operations)
        items = await with_thumbnails(self._conversations.attachments, root, items)
        said = next((item.text for item in items if isinstance(item, UserText)), "")
        return StoredConversation(
            session_id=session.id,
            title=title_of(session.name, said[:_TITLE_LENGTH]),
            mode="free" if session.is_led_as_chat else "workflow",
            items=items,
            context_tokens=context_tokens_of(session),
            rests=is_resting(session),
            cost=session.cost,
            model=next((message.model for message in reversed(session.messages) if message.model), ""),
        )

    async def search(self, root: Path, text: str) -> ConversationsFound:
        """Messages that have the words, of the conversations that are indexed. Raises CircuitAIError."""
        return await self._conversations.search(root, text, waits=False)

    async def export(
        self, root: Path, session_id: str, kind: ExportFormat, target: Path, *, language: str
    ) -> None:
        """Write a conversation to a file, and say where; or why not."""
        try:
            session = await self._conversations.sessions.show(root, session_id)
            translate = await asyncio.to_thread(Translator, language)  # it reads its words
            text = await self._text_of(root, session, kind, translate)
            path = await self._conversations.sessions.save(text, target)
        except CircuitAIError as error:
            self._told(with_advice(error), True)
        else:
            self._told(msg("Written: {path}", path=path), False)

    async def _text_of(
        self, root: Path, session: ShownSession, kind: ExportFormat, translate: Translator
    ) -> str:
        from presentation.panels.conversation.document import html_document
        from presentation.session_export import export_text

        if kind != "html":
            return await asyncio.to_thread(export_text, session, kind, translate)
        return await html_document(
            root,
            session,
            translate,
            project=self._project,
            conversations=self._conversations,
            simulation=self._simulation,
        )

    async def rename(self, root: Path, session_id: str, name: str) -> tuple[str, Message | None]:
        """The name as it is kept; or why it was not ("" then)."""
        try:
            return await self._conversations.sessions.rename(root, session_id, name), None
        except CircuitAIError as error:
            return "", error.message
