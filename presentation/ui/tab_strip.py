"""Tabs as words on a line, with a menu of those there is no room for."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QPoint, QRect, QSize, Qt
from PyQt6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PyQt6.QtWidgets import QMenu, QTabBar

from presentation.ui.frame import IconButton
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


class TabStrip(QTabBar):
    """The active tab has the accent's line below, and is always seen."""

    def __init__(self, services: WindowServices, titles: Sequence[Message], name: str) -> None:
        super().__init__()
        self._services = services
        self._titles = list(titles)
        self.setObjectName(name)
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        mark(self, kind="line")
        self.more = IconButton(services, "chevron-down", msg("More tabs"), name=f"{name}More")
        """Opens the menu of the tabs that are not seen; hidden while all are."""
        self.more.setParent(self)
        self.more.hide()
        self.more.clicked.connect(self._show_menu)
        for title in self._titles:
            self.addTab(services.language(title))
        self.currentChanged.connect(lambda _index: self.fit())
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.restyle()

    def restyle(self) -> None:
        self.setFixedHeight(self._services.theme.theme.size("row.tab"))
        self.fit()
        self.update()

    def retranslate(self) -> None:
        for index, title in enumerate(self._titles):
            self.setTabText(index, self._services.language(title))
        self.fit()

    def fit(self, front: int | None = None) -> None:
        """Show `front` (default: the active tab), what there is room for beside it, and a way to the others.

        It comes before Qt lays the tabs out: what does not fit would be scrolled, and stay so.
        """
        if not self.isVisible():
            return
        front = self.currentIndex() if front is None else front
        widths = [self.tabSizeHint(index).width() for index in range(self.count())]
        room = self.width()
        is_all = sum(widths) <= room
        room -= 0 if is_all else self.more.width() + widths[front]
        for index, width in enumerate(widths):
            is_seen = is_all or index == front or width <= room
            # Qt forgets that it has to lay out when it is told what it knows.
            if is_seen != self.isTabVisible(index) and (is_seen or index != self.currentIndex()):
                self.setTabVisible(index, is_seen)
            if index != front:
                room -= width if is_seen else max(room, 0)  # none behind one that is left out
        self.more.setVisible(not is_all)
        self.more.move(self.width() - self.more.width(), (self.height() - self.more.height()) // 2)

    def setCurrentIndex(self, index: int) -> None:  # noqa: N802 - Qt's name
        """Bring a tab to the front, and into sight."""
        self.fit(index)
        super().setCurrentIndex(index)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        self.fit()
        super().resizeEvent(event)

    def showEvent(self, event: QShowEvent | None) -> None:  # noqa: N802 - Qt's name
        """Only now the room is known."""
        super().showEvent(event)
        self.fit()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for all tabs, seen or not."""
        widths = sum(self.tabSizeHint(index).width() for index in range(self.count()))
        return QSize(widths, self._services.theme.theme.size("row.tab"))

    def tabSizeHint(self, index: int) -> QSize:  # noqa: N802 - Qt's name
        """As wide as its word, with the edge padding on both sides."""
        theme = self._services.theme.theme
        width = QFontMetrics(theme.font("ui")).horizontalAdvance(self.tabText(index)) + 2 * theme.size(
            "space.3"
        )
        return QSize(width, theme.size("row.tab"))

    def minimumTabSizeHint(self, index: int) -> QSize:  # noqa: N802 - Qt's name
        """Words are never cut."""
        return self.tabSizeHint(index)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """The pane may be narrower than all its tabs."""
        return QSize(0, self._services.theme.theme.size("row.tab"))

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        painter = QPainter(self)
        painter.setFont(theme.font("ui"))
        pad, line = theme.size("space.3"), theme.size("space.half")
        for index in filter(self.isTabVisible, range(self.count())):
            rect = self.tabRect(index)
            is_active = index == self.currentIndex()
            painter.setPen(theme.color("text.primary" if is_active else "text.secondary"))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self.tabText(index))
            if is_active:
                below = QRect(rect.left() + pad, rect.bottom() - line + 1, rect.width() - 2 * pad, line)
                painter.fillRect(below, theme.color("accent.base"))
            if is_active and self.hasFocus() and self.property("kbdFocus"):
                painter.setPen(theme.color("focus_ring"))
                painter.drawRect(rect.adjusted(2, 2, -3, -3))

    def menu_of_others(self) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for index in range(self.count()):
            if not self.isTabVisible(index):
                action = menu.addAction(self.tabText(index))
                assert action is not None
                action.triggered.connect(lambda _checked, index=index: self.setCurrentIndex(index))
        return menu

    def _show_menu(self) -> None:
        self.menu_of_others().popup(self.more.mapToGlobal(QPoint(0, self.more.height())))
