"""The project's stored conversations: the dialog that lists them, and what is done with one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QWidget

from presentation.panels.conversation.tabs import ConversationTabs
from presentation.panels.conversation.view_model import ConversationViewModel
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.conversation.sessions import ExportFormat
    from presentation.panels.conversation.conversations_dialog import ConversationsDialog


class StoredList(QObject):
    """`open_session` shows a conversation by its id, `say` why something was not done."""

    def __init__(
        self,
        services: WindowServices,
        tabs: ConversationTabs,
        panel: QWidget,
        *,
        open_session: Callable[..., None],
        say: Callable[[Message | None], None],
    ) -> None:
        super().__init__(panel)
        self._services, self._tabs, self._panel = services, tabs, panel
        self._open_session, self._say = open_session, say
        self._dialog: ConversationsDialog | None = None

    def show(self) -> None:
        root = self._tabs.front.root
        if root is None:
            return
        from presentation.panels.conversation.conversations_dialog import ConversationsDialog

        self._dialog = dialog = ConversationsDialog(self._services, self._tabs.shelf, root, self._panel)
        dialog.opened.connect(lambda key, hit, beside: self._open_session(key, hit, beside=beside))
        dialog.deleted.connect(self._delete)
        dialog.renamed.connect(lambda key, name: self._say(self._tab_of(key).transcript.rename(key, name)))
        dialog.exported.connect(self._export)
        dialog.finished.connect(self._forget)
        self.refresh()
        dialog.open()
        self.read_again()

    def refresh(self) -> None:
        """The list of conversations is another."""
        if self._dialog is not None:
            self._dialog.show_sessions(self._tabs.front.sessions, shown=self._tabs.front.session_id)

    def read_again(self, *, is_adopted: bool = False) -> None:
        reading = self._tabs.shelf.relist(self._tabs.front.root, is_adopted=is_adopted)
        self._services.start(reading, kind="sessions")

    async def delete_after_question(self, tab: ConversationViewModel) -> None:
        from presentation.panels.conversation.conversations_dialog import ask_to_delete

        session_id, name = tab.session_id, tab.name or self._services.language(msg("New conversation"))
        way = await ask_to_delete(self._services, self._panel, name, days=self._tabs.shelf.kept_days)
        if way:
            self._delete(session_id, way == "for good")

    def _tab_of(self, session_id: str) -> ConversationViewModel:
        return self._tabs.holder(session_id) or self._tabs.front

    def _delete(self, session_id: str, for_good: bool) -> None:
        self._say(self._tab_of(session_id).transcript.delete(session_id, for_good=for_good))

    def _export(self, session_id: str, kind: ExportFormat, target: Path) -> None:
        root = self._tabs.front.root
        if root is not None:
            language = self._services.language.name
            exporting = self._tabs.shelf.export(root, session_id, kind, target, language=language)
            self._services.start(exporting, kind="sessions")

    def _forget(self) -> None:
        if self._dialog is not None:
            self._dialog.deleteLater()
        self._dialog = None
