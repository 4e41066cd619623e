"""What shows the messages: a web view where one can be made, rich text until then and elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PyQt6.QtCore import QTimer, pyqtSignal
from PyQt6.QtGui import QShowEvent
from PyQt6.QtWidgets import QStackedLayout, QWidget

from application.groups.project import Project
from application.groups.simulation import Simulation
from presentation.panels.conversation.empty import EmptyPage
from presentation.panels.conversation.folding import Folding
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import (
    END,
    Added,
    AnswerText,
    Change,
    Item,
    Reset,
    ScrollPlace,
    Streamed,
    Updated,
)
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.project_names import ProjectNames
from presentation.panels.conversation.simulation_charts import SimulationCharts
from presentation.panels.conversation.web_probe import WebProbe
from presentation.panels.conversation.web_view import WebConversation
from presentation.ui.late_imports import WEB_VIEW, import_qt
from presentation.ui.workspace import WindowServices
from shared.message import msg

_MOST_COMPARED = 300
_COMPARED_AT_ONCE = 10
Rows = Callable[[], tuple[Item, ...]]


class MessageView(QWidget):
    """Shows rows, or what stands in a conversation without any; tells what was clicked in them.

    `empty` gives None while it is not known yet whether there are any.
    """

    acted = pyqtSignal(str, str, str)
    """Action, item's key, argument."""
    menu_wanted = pyqtSignal(object)
    """`row_menu.Pointed`: a row's menu is asked for."""
    ready = pyqtSignal()
    """The web view shows the conversation (or it was decided that the plain one stays)."""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        simulation: Simulation,
        *,
        rows: Rows,
        is_live: Callable[[], bool],
        empty: Callable[[], EmptyPage | None],
        probe: WebProbe,
    ) -> None:
        super().__init__()
        self._services = services
        self._rows = rows
        self._is_live = is_live
        self._was_live = False
        self._folding = Folding()
        self._charts = SimulationCharts(services, simulation, self)
        self._charts.made.connect(self._on_chart)
        self._empty_page = empty
        self._probe = probe
        self._is_view_asked = False
        self._web: WebConversation | None = None
        self.is_empty = True
        """What stands in a conversation without messages is shown."""
        self._shown_page: EmptyPage | None = None
        self._plain = PlainConversation(services)
        self._plain.acted.connect(self.acted)
        self._plain.menu_wanted.connect(self.menu_wanted)
        self.project_names = ProjectNames(services, project, self)
        """What can be clicked in texts."""
        self.project_names.changed.connect(self._on_names)
        self._to_compare: list[Item] = []
        """Rows that may have other links with the names there are now."""
        self._before = HtmlItems(str)
        self._comparing = QTimer(self)
        self._comparing.setInterval(15)
        self._comparing.timeout.connect(self._compare)
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self._plain)

    @property
    def current(self) -> QWidget:
        """The web view, or the plain one."""
        return self._web if self._web is not None else self._plain

    def focus_field(self) -> None:
        """The keyboard goes to the row that is written in."""
        (self._web or self._plain).focus_field()

    def show_changes(self, changes: list[Change]) -> None:
        self.project_names.follow(change.item for change in changes if isinstance(change, Added | Updated))
        rows = self._rows()
        if not rows:
            self.show_all()
            return
        view, is_live = self._web or self._plain, self._is_live()
        if self.is_empty:  # what stood there goes; pieces of a stream are in no item yet
            self.is_empty = False
            rest = [change for change in changes if isinstance(change, Streamed)]
            place = next((change.place for change in changes if isinstance(change, Reset)), END)
            changes = [Reset(items=rows, place=place), *rest]
        view.apply(self._dressed(self._folding.changes(changes, is_live=is_live)))

    def fold(self) -> None:
        """The cards of a run that has ended become one line where they are many."""
        was_live, self._was_live = self._was_live, self._is_live()
        if was_live and not self._was_live and self._folding.would_fold(self._rows()):
            self.show_all(self.place)

    @property
    def place(self) -> ScrollPlace:
        """Which row is the first that is seen."""
        return (self._web or self._plain).place

    def show_all(self, place: ScrollPlace = END) -> None:
        view = self._web or self._plain
        items = self._rows()
        self.project_names.follow(items)
        self.is_empty = not items
        if items:
            shown = self._folding.rows(items, is_live=self._is_live())
            view.apply(self._dressed([Reset(items=shown, place=place)]))
        else:
            self._shown_page = self._empty_page()
            if self._shown_page is None:
                view.apply([Reset(items=())])
            else:
                view.show_empty(self._shown_page)

    def follow_empty_page(self) -> None:
        """Where nothing was said yet, offer what suits the mode and the circuit there are now."""
        if self.is_empty and self._shown_page is not None and self._shown_page != self._empty_page():
            self.show_all()

    def scroll_to_end(self) -> None:
        """Show the newest."""
        (self._web or self._plain).scroll_to_end()

    def restyle(self) -> None:
        self._plain.restyle()
        if self._web is not None:
            self._web.restyle()
        else:
            self.show_all()

    def retranslate(self) -> None:
        if self._web is not None:
            self._web.retranslate()
        self.show_all()

    def close_page(self) -> None:
        """Before the widget is deleted: the page goes before its profile."""
        self.project_names.close()
        self._comparing.stop()
        if self._web is not None:
            self._web.close_page()

    # --- pictures of runs ----------------------------------------------------------------------------

    def _dressed(self, changes: list[Change]) -> list[Change]:
        """The same with small pictures on the cards of simulations, as far as they are there."""
        on = self._charts.on
        return [
            replace(change, items=tuple(map(on, change.items)))
            if isinstance(change, Reset)
            else replace(change, item=on(change.item))
            if isinstance(change, Added | Updated)
            else change
            for change in changes
        ]

    def _on_chart(self, key: str) -> None:
        updates: list[Change] = [Updated(item=item) for item in self._rows() if item.key == key]
        (self._web or self._plain).apply(self._dressed(self._folding.changes(updates, is_live=False)))

    # --- names ---------------------------------------------------------------------------------------

    def _on_names(self) -> None:
        """The newest rows are compared in slices; in those that were not drawn yet the names are right."""
        names = self.project_names.names
        self._before = HtmlItems(str, lambda _name: "", (self._web or self._plain).names)
        self._plain.names = names
        if self._web is not None:
            self._web.names = names
        self._to_compare = list(self._rows()[-_MOST_COMPARED:])
        self._comparing.start()

    def _compare(self) -> None:
        part, self._to_compare = self._to_compare[-_COMPARED_AT_ONCE:], self._to_compare[:-_COMPARED_AT_ONCE]
        if not self._to_compare:
            self._comparing.stop()
        now = HtmlItems(str, lambda _name: "", self.project_names.names)
        known = {item.key: item for item in self._rows()}
        changed = [
            known[item.key]
            for item in part
            if item.key in known
            and not (isinstance(item, AnswerText) and item.is_streaming)  # drawn anew at its end
            and self._before(item) != now(item)
        ]
        if changed:
            updates = self._folding.changes([Updated(item=item) for item in changed], is_live=False)
            (self._web or self._plain).apply(self._dressed(updates))

    # --- the web view --------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        """The web view is made when the panel is first seen, and only if a child process could make one."""
        super().showEvent(event)
        if not self._is_view_asked:
            self._is_view_asked = True
            self._services.start(self._bring_web_view(), kind="web view")

    async def _bring_web_view(self) -> None:
        if not await self._probe.works():
            self._services.workspace.status_changed.emit(
                msg("Messages are shown as plain text: a web view cannot be created here.")
            )
            self.ready.emit()
            return
        await import_qt(WEB_VIEW)
        from presentation.panels.conversation.web_view import WebConversation

        web = WebConversation(self._services)
        web.names = self.project_names.names
        web.acted.connect(self.acted)
        web.menu_wanted.connect(self.menu_wanted)
        web.ready.connect(self._on_web_ready)
        web.crashed.connect(self._on_web_crashed)
        self._stack.addWidget(web)
        self._web = web
        self.show_all()

    def _on_web_ready(self) -> None:
        if self._web is None:
            return
        self._stack.setCurrentWidget(self._web)
        self._web.take_place_behind(self._plain.surface)
        self._plain.apply([Reset(items=())])
        self._services.start(self._probe.confirm(), kind="web view")
        self.ready.emit()

    def _on_web_crashed(self) -> None:
        web, self._web = self._web, None
        if web is not None:
            self._stack.setCurrentWidget(self._plain)
            self._stack.removeWidget(web)
            web.close_page()
            web.deleteLater()
            self.show_all()
