"""A button with an icon before its words, and a key's name or a chevron behind them."""

from __future__ import annotations

from PyQt6.QtCore import QRect, QSize, Qt
from PyQt6.QtGui import QFont, QFontMetrics, QPaintEvent
from PyQt6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QStylePainter

from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices


class WordButton(QPushButton):
    """Words begin at the left; `hint` is dimmed, a chevron keeps to the right edge."""

    def __init__(self, services: WindowServices, name: str, *, weight: int = 400) -> None:
        super().__init__()
        self._services = services
        self._weight = weight
        self._icon = self._color = self._hint = ""
        self._has_chevron = False
        self.setObjectName(name)
        mark(self, small=True)

    def dress(self, *, icon: str = "", color: str = "text.secondary", hint: str = "") -> None:
        """The icon before the words, and the key behind them."""
        self._icon, self._color, self._hint = icon, color, hint
        self.updateGeometry()
        self.update()

    def set_chevron(self, *, has_chevron: bool) -> None:
        """A chevron at the right edge: a menu opens."""
        self._has_chevron = has_chevron
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        side, gap = theme.size("icon.small"), theme.size("space.2")
        parts = [side] if self._icon else []
        if self.text():
            parts.append(QFontMetrics(self._font()).horizontalAdvance(self.text()))
        if self._hint:
            parts.append(QFontMetrics(theme.font("caption")).horizontalAdvance(self._hint))
        if self._has_chevron:
            parts.append(side)
        width = sum(parts) + gap * max(len(parts) - 1, 0) + 2 * theme.size("control.padding_x_small") + 2
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Words are not cut; who has less room says so by a maximum width."""
        return self.sizeHint()

    def _font(self) -> QFont:
        return self._services.theme.theme.font("ui", weight=self._weight)

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """The style's frame, then icon, words, hint and chevron."""
        theme, icons = self._services.theme.theme, self._services.icons
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        side, gap, pad = (theme.size(n) for n in ("icon.small", "space.2", "control.padding_x_small"))
        rect = self.rect().adjusted(pad, 0, -pad, 0)
        top = rect.top() + (rect.height() - side) // 2
        color = self._color if self.isEnabled() else "text.disabled"
        if self._icon:
            icons.get(self._icon, color, side).paint(painter, rect.left(), top, side, side)
            rect.setLeft(rect.left() + side + gap)
        if self._has_chevron:
            chevron = "text.secondary" if self.isEnabled() else "text.disabled"
            place = QRect(rect.right() + 1 - side, top, side, side)
            icons.get("chevron-down", chevron, side).paint(painter, place)
            rect.setRight(place.left() - gap)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        if self._hint:
            painter.setFont(theme.font("caption"))
            painter.setPen(theme.color("text.tertiary" if self.isEnabled() else "text.disabled"))
            width = QFontMetrics(theme.font("caption")).horizontalAdvance(self._hint)
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._hint)
            rect.setRight(rect.right() - width - gap)
        painter.setFont(self._font())
        painter.setPen(theme.color("text.primary" if self.isEnabled() else "text.disabled"))
        metrics = QFontMetrics(self._font())
        shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, flags, shown)
