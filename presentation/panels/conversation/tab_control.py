"""What is done with the row of tabs: chosen, closed, put in order, listed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QWidget

from presentation.panels.conversation.tab_row import TabRow
from presentation.panels.conversation.tab_words import ask_to_close, look_of
from presentation.panels.conversation.tabs import ConversationTabs
from presentation.panels.conversation.view_model import ConversationViewModel
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg
from shared.tasks import StopController


class TabControl(QObject):
    """Keeps the row with the tabs. `new` makes one, `history` shows what is stored, `say` why something was
    not done."""

    def __init__(
        self,
        services: WindowServices,
        stop: StopController,
        tabs: ConversationTabs,
        panel: QWidget,
        *,
        new: Callable[[], None],
        history: Callable[[], None],
        say: Callable[[Message | None], None],
    ) -> None:
        super().__init__(panel)
        self._services = services
        self._stop = stop
        self._tabs = tabs
        self._panel = panel
        self._history = history
        self._say = say
        self.row = row = TabRow(services)
        row.chosen.connect(lambda key: tabs.show(self._tab_of(key)))
        row.close_wanted.connect(lambda key: self.close_tab(self._tab_of(key)))
        row.close_others_wanted.connect(self._close_others)
        row.moved.connect(lambda key, to: tabs.move(self._tab_of(key), to))
        row.renamed.connect(self._rename)
        row.new_clicked.connect(lambda _checked: new())
        row.list_clicked.connect(self._show_list)
        services.shortcuts.answer(
            panel,
            {
                "new_conversation": new,
                "close_conversation": self.close_tab,
                "conversation.next_tab": lambda: tabs.step(1),
                "conversation.previous_tab": lambda: tabs.step(-1),
            },
        )

    def show(self) -> None:
        """The tabs as they are."""
        self.row.show_tabs([look_of(tab) for tab in self._tabs.all], self._tabs.front.scope)

    def close_tab(self, tab: ConversationViewModel | None = None) -> None:
        """Close a tab (None: the one in front); of one that runs it is asked what becomes of the run."""
        self._services.start(self._close([tab or self._tabs.front]), kind="question")

    def _tab_of(self, key: str) -> ConversationViewModel:
        return next((tab for tab in self._tabs.all if tab.scope == key), self._tabs.front)

    def _close_others(self, key: str) -> None:
        others = [tab for tab in self._tabs.all if tab is not self._tab_of(key)]
        self._services.start(self._close(others), kind="question")

    async def _close(self, tabs: Sequence[ConversationViewModel]) -> None:
        for tab in tabs:
            wish = await ask_to_close(self._services, self._panel, tab.name) if tab.is_running else "stop"
            if wish == "stop":
                await self._stop.stop("user", scope=tab.scope)
            if wish != "stay":
                self._tabs.remove(tab, goes_on=wish == "background")

    def _rename(self, key: str, name: str) -> None:
        tab = self._tab_of(key)
        self._say(tab.transcript.rename(tab.session_id, name))

    def _show_list(self) -> None:
        """With one tab the stored conversations at once, else the tabs with their states above them."""
        if len(self._tabs.all) == 1 and not self._tabs.behind:
            self._history()
            return
        menu = self.row.menu_of_all([look_of(tab) for tab in self._tabs.behind])
        menu.addSeparator()
        earlier = menu.addAction(self._services.language(msg("Earlier conversations…")))
        assert earlier is not None
        earlier.setObjectName("earlierConversations")
        earlier.triggered.connect(lambda _checked: self._history())
        self.row.popup(menu)
