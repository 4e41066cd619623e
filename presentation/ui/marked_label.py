"""A label of plain text in which what was searched is marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil

from PyQt6.QtCore import QPointF, QSize
from PyQt6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QTextCharFormat, QTextLayout
from PyQt6.QtWidgets import QSizePolicy, QWidget

from presentation.ui.workspace import WindowServices


class MarkedLabel(QWidget):
    """Wraps its lines; the type and colours are tokens'."""

    def __init__(
        self, services: WindowServices, *, style: str = "ui", weight: int | None = None, color: str
    ) -> None:
        super().__init__()
        self._services = services
        self._style, self._weight, self._color = style, weight, color
        self._text = ""
        self._words: tuple[str, ...] = ()
        self._heights: dict[int, int] = {}
        """By width: layouts ask again and again."""
        services.theme.changed.connect(self._forget)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def text(self) -> str:
        return self._text

    @property
    def marked(self) -> tuple[str, ...]:
        """The pieces that are marked, in their order."""
        return tuple(self._text[start:end] for start, end in self._places())

    def show_text(self, text: str, words: Sequence[str] = ()) -> None:
        """A text, with the places of these words (whatever their case) marked."""
        marked = tuple(word for word in words if word)
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self._forget()
        if marked != self._words:
            self._words = marked
            self.update()

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        if width not in self._heights:
            self._heights[width] = self._laid_out(width)[1]
        return self._heights[width]

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        metrics = QFontMetricsF(self._font())
        return QSize(ceil(metrics.horizontalAdvance(self._text)) + 1, ceil(metrics.height()))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self._services.theme.theme.size("space.12"), self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        theme = self._services.theme.theme
        painter = QPainter(self)
        painter.setPen(theme.color(self._color))
        mark = QTextCharFormat()
        mark.setBackground(theme.color("warn.subtle"))
        mark.setUnderlineColor(QColor(theme.color("warn.icon")))
        mark.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        formats = []
        for start, end in self._places():
            place = QTextLayout.FormatRange()
            place.start, place.length, place.format = start, end - start, mark
            formats.append(place)
        self._laid_out(self.width())[0].draw(painter, QPointF(0, 0), formats)

    def _forget(self, _theme: object = None) -> None:
        self._heights.clear()
        self.updateGeometry()
        self.update()

    def _places(self) -> list[tuple[int, int]]:
        if not self._words:
            return []
        found = re.finditer("|".join(map(re.escape, self._words)), self._text, re.IGNORECASE)
        return [match.span() for match in found]

    def _font(self) -> QFont:
        return self._services.theme.theme.font(self._style, weight=self._weight)

    def _laid_out(self, width: int) -> tuple[QTextLayout, int]:
        """The lines at a width, and their height."""
        layout, height = QTextLayout(self._text, self._font()), 0.0
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(width, 1))
            line.setPosition(QPointF(0, height))
            height += line.height()
        layout.endLayout()
        return layout, ceil(height)
