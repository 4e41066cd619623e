"""What is painted over Scintilla's text: squiggles, the caret's row in the margin, a note behind its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PyQt6.Qsci import QsciScintilla
from PyQt6.QtCore import QPointF, QRect, QRectF, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from presentation.panels.editor.examination import Problem
from presentation.ui.theme import Theme

SQUIGGLES = {"error": 8, "warning": 9, "info": 10}
"""Indicators that hold the places of problems; they move with the text."""
_COLORS = {"error": "error.icon", "warning": "warn.icon", "info": "info.icon"}
_NUMBERS = 0
"""Margin of the line numbers."""
_PADDING = 3
"""Pixels Scintilla leaves at the right of a line number."""


@dataclass(frozen=True, slots=True)
class Note:
    """Words behind the end of the caret's line, with something to click on."""

    problem: Problem
    reason: str
    action: str


class Overlay:
    """Paints one editor's; its `note` is shown on the caret's line."""

    def __init__(self, editor: QsciScintilla) -> None:
        self._editor = editor
        self.note: Note | None = None
        self._action_area = QRectF()

    def action_at(self, point: QPointF) -> Problem | None:
        """The problem whose fix is offered at a point of the viewport."""
        return self.note.problem if self.note is not None and self._action_area.contains(point) else None

    def paint(self, painter: QPainter, theme: Theme) -> None:
        self._paint_squiggles(painter, theme)
        line = self._editor.getCursorPosition()[0]
        start = self._ask(QsciScintilla.SCI_POSITIONFROMLINE, line)
        top = self._ask(QsciScintilla.SCI_POINTYFROMPOSITION, 0, start)
        height = self._ask(QsciScintilla.SCI_TEXTHEIGHT, line)
        self._paint_row_of_margins(painter, theme, QRect(0, top, self._margins(), height))
        self._paint_number(painter, theme, line, QRect(0, top, self._editor.marginWidth(_NUMBERS), height))
        self._action_area = QRectF()
        if self.note is not None:
            end = self._ask(QsciScintilla.SCI_GETLINEENDPOSITION, line)
            left = self._ask(QsciScintilla.SCI_POINTXFROMPOSITION, 0, end) + theme.size("space.6")
            self._paint_note(painter, theme, self.note, QRect(left, top, 0, height))

    def _margins(self) -> int:
        return sum(self._editor.marginWidth(margin) for margin in range(self._editor.margins()))

    def _paint_row_of_margins(self, painter: QPainter, theme: Theme, row: QRect) -> None:
        """The caret's line through the margins; their signs stay as they are."""
        line, base = theme.color("surface.line"), theme.color("surface.base")
        is_darker = line.lightness() < base.lightness()
        mode = QPainter.CompositionMode
        painter.setCompositionMode(mode.CompositionMode_Darken if is_darker else mode.CompositionMode_Lighten)
        painter.fillRect(row, line)
        painter.setCompositionMode(mode.CompositionMode_SourceOver)

    def _paint_squiggles(self, painter: QPainter, theme: Theme) -> None:
        painter.save()
        painter.setClipRect(QRect(self._margins(), 0, self._editor.width(), self._editor.height()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = QFontMetricsF(theme.font("mono"))
        for severity, indicator in SQUIGGLES.items():
            painter.setPen(QPen(theme.color(_COLORS[severity]), 1.0))
            for start, end in self._visible_runs(indicator):
                left = self._ask(QsciScintilla.SCI_POINTXFROMPOSITION, 0, start)
                right = self._ask(QsciScintilla.SCI_POINTXFROMPOSITION, 0, end)
                top = self._ask(QsciScintilla.SCI_POINTYFROMPOSITION, 0, start)
                below = top + self._editor.extraAscent() + metrics.ascent() + metrics.descent() / 2 + 0.5
                painter.drawPolyline(_wave(left, max(right, left + 6), below))
        painter.restore()

    def _visible_runs(self, indicator: int) -> Iterator[tuple[int, int]]:
        """Start and end of each run of an indicator on the screen, cut at the ends of lines."""
        first = self._ask(QsciScintilla.SCI_GETFIRSTVISIBLELINE)
        count = self._ask(QsciScintilla.SCI_LINESONSCREEN) + 1
        seen = -1
        for shown in range(first, first + count):
            line = self._ask(QsciScintilla.SCI_DOCLINEFROMVISIBLE, shown)
            if line == seen:
                return
            seen = line
            position = self._ask(QsciScintilla.SCI_POSITIONFROMLINE, line)
            stop = self._ask(QsciScintilla.SCI_GETLINEENDPOSITION, line)
            while 0 <= position < stop:
                end = min(self._ask(QsciScintilla.SCI_INDICATOREND, indicator, position), stop)
                end = stop if end <= position else end
                if self._ask(QsciScintilla.SCI_INDICATORVALUEAT, indicator, position):
                    yield position, end
                position = end

    def _paint_number(self, painter: QPainter, theme: Theme, line: int, area: QRect) -> None:
        painter.fillRect(area, theme.color("surface.line"))
        font = theme.font("mono")
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(theme.color("syntax.line_number_current"))
        text = str(line + 1)
        baseline = area.top() + self._editor.extraAscent() + metrics.ascent()
        left = area.right() + 1 - _PADDING - metrics.horizontalAdvance(text)
        painter.drawText(QPointF(left, round(baseline)), text)

    def _paint_note(self, painter: QPainter, theme: Theme, note: Note, row: QRect) -> None:
        pieces: tuple[tuple[str, QFont, QColor], ...] = (
            (note.reason, theme.font("small"), theme.color("warn.text")),
            (note.action, theme.font("small", weight=500), theme.color("text.link")),
            ("Ctrl+.", theme.font("caption"), theme.color("text.tertiary")),
        )
        x = float(row.left() + theme.size("space.1"))
        for index, (text, font, color) in enumerate(pieces):
            width = QFontMetricsF(font).horizontalAdvance(text)
            area = QRectF(x, row.top(), width + 1, row.height())
            painter.setFont(font)
            painter.setPen(color)
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, text)
            if index == 1:
                self._action_area = area
            x += width + theme.size("space.3" if index == 0 else "space.2")

    def _ask(self, message: int, first: int = 0, second: int = 0) -> int:
        return self._editor.SendScintilla(message, first, second)


def _wave(left: float, right: float, y: float) -> QPolygonF:
    """A flat zigzag, 4 px a period."""
    points, x, is_low = [], left, False
    while x <= right:
        points.append(QPointF(x, y + (1 if is_low else -1)))
        x, is_low = x + 2, not is_low
    return QPolygonF(points)
