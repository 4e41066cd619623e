"""A row of tabs that can be closed and put in another order: by pointer, menu and keys."""

from __future__ import annotations

from PyQt6.QtCore import QEvent, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QContextMenuEvent, QIcon, QMouseEvent, QPainter, QPixmap
from PyQt6.QtWidgets import QMenu, QTabBar, QToolButton, QWidget

from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


class ClosableTabs(QTabBar):
    """Each tab carries what it stands for as data."""

    close_wanted = pyqtSignal(object)
    """data"""
    close_others_wanted = pyqtSignal(object)
    """data of the one that stays"""

    def __init__(
        self, services: WindowServices, name: str, title: Message, *, is_narrow: bool = False
    ) -> None:
        """`is_narrow`: only the tab in front has room for its cross."""
        super().__init__()
        self._is_narrow = is_narrow
        self._services = services
        self._title = title
        self._hovered = -1
        self.setObjectName(name)
        self.setMovable(True)
        self.setExpanding(False)
        self.setDrawBase(False)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideNone)  # rather scrolled than too short to be read
        self.setMouseTracking(True)
        self.setSelectionBehaviorOnRemove(QTabBar.SelectionBehavior.SelectPreviousTab)
        self.currentChanged.connect(lambda _index: self.refresh_buttons())

    def tabSizeHint(self, index: int) -> QSize:  # noqa: N802 - Qt's name
        """As high as the row, whatever size the button had before the scale was changed."""
        return QSize(super().tabSizeHint(index).width(), self._services.theme.theme.size("row.tab"))

    def add(self, data: object, index: int) -> None:
        at = self.insertTab(index, "")
        self.setTabData(at, data)
        if not self._is_narrow:
            self._put_cross(at)
        self.refresh_buttons()

    def _put_cross(self, index: int) -> None:
        button = _CloseButton(self)
        button.clicked.connect(lambda: self._close_tab_of(button))
        button.ensurePolished()  # the style says how wide it is
        self.setTabButton(index, QTabBar.ButtonPosition.RightSide, button)
        self._name_cross(button)

    def _close_tab_of(self, button: QWidget) -> None:
        side = QTabBar.ButtonPosition.RightSide
        index = next(index for index in range(self.count()) if self.tabButton(index, side) is button)
        self.close_wanted.emit(self.tabData(index))

    def _keep_one_cross(self) -> None:
        """On the tab in front; a button of no size would still be as wide as the style wants it."""
        side = QTabBar.ButtonPosition.RightSide
        for index in range(self.count()):
            button = self.tabButton(index, side)
            if index == self.currentIndex() and button is None:
                self._put_cross(index)
            elif index != self.currentIndex() and button is not None:
                self.setTabButton(index, side, None)
                button.deleteLater()

    def index_of(self, data: object) -> int:
        """Where the tab of this is, -1 for none."""
        return next((i for i in range(self.count()) if self.tabData(i) is data), -1)

    def set_unsaved(self, index: int, *, is_unsaved: bool) -> None:
        """Show the dot or not."""
        button = self.tabButton(index, QTabBar.ButtonPosition.RightSide)
        if isinstance(button, _CloseButton):
            button.is_unsaved = is_unsaved
            self.refresh_buttons()

    def refresh_buttons(self) -> None:
        """A cross on the front tab and under the pointer, a dot where text is unsaved."""
        if self._is_narrow:
            self._keep_one_cross()
        self.refresh_icons()

    def refresh_icons(self) -> None:
        """The same, where no other tab came to the front."""
        theme, icons = self._services.theme.theme, self._services.icons
        size = theme.size("icon.small")
        for index in range(self.count()):
            button = self.tabButton(index, QTabBar.ButtonPosition.RightSide)
            if not isinstance(button, _CloseButton):
                continue
            if button.is_unsaved and not button.underMouse():
                icon = QIcon(dot(self._services, size, self.devicePixelRatioF()))
            elif index in (self.currentIndex(), self._hovered) or button.underMouse():
                icon = icons.get("x", "text.secondary", size)
            else:
                icon = QIcon()
            button.setIcon(icon)
            button.setIconSize(QSize(size, size))
            button.adjustSize()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        size = theme.size("icon.default")
        self.setIconSize(QSize(size, size))
        self.setFixedHeight(theme.size("row.tab"))
        self.refresh_buttons()

    def retranslate(self) -> None:
        self.setAccessibleName(self._services.language(self._title))
        for index in range(self.count()):
            button = self.tabButton(index, QTabBar.ButtonPosition.RightSide)
            if button is not None:
                self._name_cross(button)

    def _name_cross(self, button: QWidget) -> None:
        close = self._services.language(msg("Close"))
        button.setToolTip(f"{close} Ctrl+W")
        button.setAccessibleName(close)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.button() == Qt.MouseButton.MiddleButton:
            index = self.tabAt(event.position().toPoint())
            if index >= 0:
                self.close_wanted.emit(self.tabData(index))
                return
        super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        super().mouseMoveEvent(event)
        if event is not None:
            self._set_hovered(self.tabAt(event.position().toPoint()))

    def leaveEvent(self, event: QEvent | None) -> None:  # noqa: N802 - Qt's name
        super().leaveEvent(event)
        self._set_hovered(-1)

    def _set_hovered(self, index: int) -> None:
        if index != self._hovered:
            self._hovered = index
            self.refresh_icons()

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:  # noqa: N802 - Qt's name
        """Close this one, or the others."""
        index = self.tabAt(event.pos()) if event is not None else -1
        if event is None or index < 0:
            return
        data, language = self.tabData(index), self._services.language
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        close = menu.addAction(language(msg("Close")))
        others = menu.addAction(language(msg("Close others")))
        if close is not None and others is not None:
            close.triggered.connect(lambda: self.close_wanted.emit(data))
            others.triggered.connect(lambda: self.close_others_wanted.emit(data))
            others.setEnabled(self.count() > 1)
        menu.popup(event.globalPos())


class _CloseButton(QToolButton):
    """The right end of a tab."""

    def __init__(self, tabs: ClosableTabs) -> None:
        super().__init__(tabs)
        self._tabs = tabs
        self.is_unsaved = False
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAutoRaise(True)

    def event(self, event: QEvent | None) -> bool:
        """The dot becomes a cross under the pointer."""
        done = super().event(event)
        if event is not None and event.type() in (QEvent.Type.Enter, QEvent.Type.Leave):
            self._tabs.refresh_icons()
        return done


def dot(services: WindowServices, size: int, ratio: float, color: str = "accent.base") -> QPixmap:
    """A mark of 6 px: of unsaved text, unless it has another colour."""
    pixmap = QPixmap(round(size * ratio), round(size * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    diameter = services.theme.theme.size("control.scrollbar_thumb")
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(services.theme.theme.color(color))
    painter.drawEllipse(QRectF((size - diameter) / 2, (size - diameter) / 2, diameter, diameter))
    painter.end()
    return pixmap
