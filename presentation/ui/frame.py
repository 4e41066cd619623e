"""Pieces the window's frame is built of: hair-line splitters, tab strips, pane headers, icon buttons."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QMargins, QSize, Qt
from PyQt6.QtGui import QMouseEvent, QPainter, QPaintEvent, QRegion, QResizeEvent
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QSplitterHandle,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from presentation.ui.parts import arrange, push_button
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message


class LineSplitter(QSplitter):
    """A splitter whose handle is a line of 1 px with a wider area to take hold of."""

    def __init__(self, orientation: Qt.Orientation, services: WindowServices, name: str) -> None:
        super().__init__(orientation)
        self.services = services
        self.setObjectName(name)
        self.setHandleWidth(services.theme.theme.size("control.splitter"))
        self.setChildrenCollapsible(False)
        services.theme.changed.connect(self.restyle)

    def createHandle(self) -> QSplitterHandle:  # noqa: N802 - Qt's name
        return _LineHandle(self.orientation(), self)

    def restyle(self) -> None:
        self.setHandleWidth(self.services.theme.theme.size("control.splitter"))
        for index in range(self.count()):
            handle = self.handle(index)
            if handle is not None:
                handle.update()


class _LineHandle(QSplitterHandle):
    """Drawn as a line, in the accent's colour while it is dragged."""

    def __init__(self, orientation: Qt.Orientation, parent: LineSplitter) -> None:
        super().__init__(orientation, parent)
        self._services = parent.services
        self._is_dragged = self._is_placing = False

    def resizeEvent(self, _event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """Qt's own makes the area of a thin handle 5 px wide; this one makes it as wide as the tokens say.

        The splitter lays out by the contents and the margins stand out over the neighbours; the mask
        keeps the painting to the line, the mouse is taken in all of it.
        """
        theme = self._services.theme.theme
        margin = (theme.size("control.splitter_hit") - theme.size("control.splitter")) // 2
        across = margin if self.orientation() == Qt.Orientation.Horizontal else 0
        margins = QMargins(across, margin - across, across, margin - across)
        if self._is_placing:  # margins and mask each send a resize event of their own
            return
        self._is_placing = True
        try:
            self.setAttribute(Qt.WidgetAttribute.WA_MouseNoMask)
            if self.contentsMargins() != margins:
                self.setContentsMargins(margins)
            self.setMask(QRegion(self.contentsRect()))
        finally:
            self._is_placing = False

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        painter = QPainter(self)
        painter.fillRect(
            self.contentsRect(), theme.color("accent.base" if self._is_dragged else "border.default")
        )

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        self._is_dragged = True
        self.update()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        self._is_dragged = False
        self.update()
        super().mouseReleaseEvent(event)


class IconButton(QToolButton):
    """A button that is an icon: with a tooltip, the key of its action, and a name for screen readers."""

    def __init__(
        self, services: WindowServices, icon: str, text: Message, *, action: str = "", name: str = ""
    ) -> None:
        super().__init__()
        self._services = services
        self._icon = icon
        self._text = text
        self._action = action
        self._color = ""
        self.setObjectName(name or icon)
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setProperty("kind", "icon")
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        services.shortcuts.changed.connect(self.retranslate)
        self.toggled.connect(self.restyle)
        self.restyle()
        self.retranslate()

    def set_icon(self, icon: str, text: Message, *, color: str = "") -> None:
        """Another icon and meaning; `color` in place of the usual one of the tokens."""
        self._icon, self._text, self._color = icon, text, color
        self.restyle()
        self.retranslate()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        color = self._color or ("text.primary" if self.isChecked() else "text.secondary")
        side = theme.size("control.icon_button")
        self.setIcon(self._services.icons.get(self._icon, color, theme.size("icon.default")))
        self.setIconSize(QSize(theme.size("icon.default"), theme.size("icon.default")))
        self.setFixedSize(side, side)

    def retranslate(self) -> None:
        text = self._services.language(self._text)
        self.setToolTip(self._services.with_key(text, self._action) if self._action else text)
        self.setAccessibleName(text)


def small_button(name: str, act: Callable[[], object]) -> QPushButton:
    """A small button of a line that tells something; its words are set by whoever owns it."""
    return push_button(name=name, clicked=lambda _checked=False: act(), small=True)


class PaneSection(QWidget):
    """A part of a side pane: a header with its title and tools, and what it shows (`fill`)."""

    def __init__(self, services: WindowServices, title: Message, name: str) -> None:
        super().__init__()
        self._services = services
        self._title = title
        self._body: QWidget | None = None
        self.setObjectName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._header = QWidget()
        self._label = QLabel()
        mark(self._label, role="strong")
        mark(self, surface="panel")
        row = QHBoxLayout(self._header)
        row.addWidget(self._label, 1)
        self._row = row
        self._column = arrange(QVBoxLayout(self), self._header, edges=0, gap=0)
        services.dress(self)

    def fill(self, body: QWidget) -> None:
        """Show a panel below the header; once."""
        self._body = body
        body.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        body.setAccessibleName(self._label.text())
        arrange(self._column, (body, 1))

    def add_tool(self, button: QWidget) -> None:
        """A button at the right end of the header."""
        self._row.addWidget(button)

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self._header.setFixedHeight(max(theme.size("row.panel_header"), theme.size("control.icon_button")))
        self._row.setContentsMargins(theme.size("space.3"), 0, theme.size("space.2"), 0)
        self._row.setSpacing(0)
        self.setMinimumHeight(self._header.height())

    def retranslate(self) -> None:
        title = self._services.language(self._title)
        self._label.setText(title)
        if self._body is not None:
            self._body.setAccessibleName(title)
