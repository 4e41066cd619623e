"""What is painted over Scintilla's text: squiggles, the caret's row in the margin, a note behind its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from PyQt6.Qsci import QsciScintilla
from PyQt6.QtCore import QPointF, QRect, QRectF, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PyQt6.QtWidgets import QScrollBar

from presentation.panels.editor.examination import Problem
from presentation.ui.theme import Theme
from presentation.ui.workspace import WindowServices

SQUIGGLES = {"error": 8, "warning": 9, "info": 10}
"""Indicators that hold the places of problems; they move with the text."""
_COLORS = {"error": "error.icon", "warning": "warn.icon", "info": "info.icon"}
_NUMBERS = 0
"""Margin of the line numbers."""
BARS = 4
"""Margin of the bars that tell what a line does to a goal; it has no width without them."""
_PADDING = 3
"""Pixels Scintilla leaves at the right of a line number."""


@dataclass(frozen=True, slots=True)
class Note:
    """Words behind the end of the caret's line, with something to click on."""

    problem: Problem
    reason: str
    action: str


@dataclass(frozen=True, slots=True)
class LineHint:
    """Figures behind a line."""

    text: str
    is_unusual: bool = False


@dataclass(frozen=True, slots=True)
class LineBar:
    """What a line does to the chosen goal."""

    share: float
    """From -1 to 1 of what the strongest does; 0: nothing worth telling."""
    tip: str


class Overlay:
    """Paints one editor's; its `note` is shown on the caret's line, its `hints` behind others."""

    def __init__(self, editor: QsciScintilla) -> None:
        self._editor = editor
        self.note: Note | None = None
        self._action_area = QRectF()
        self.hints: Mapping[int, LineHint] = {}
        """By line, from 0."""
        self.are_hints_stale = False
        """They are of an older text."""
        self.bars: Mapping[int, LineBar] = {}
        """By line, from 0, in the margin `BARS`."""
        self.are_bars_stale = False

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
        self._paint_hints(painter, theme)
        self._paint_bars(painter, theme)
        if self.note is not None:
            end = self._ask(QsciScintilla.SCI_GETLINEENDPOSITION, line)
            left = self._ask(QsciScintilla.SCI_POINTXFROMPOSITION, 0, end) + theme.size("space.6")
            self._paint_note(painter, theme, self.note, QRect(left, top, 0, height))

    def _paint_hints(self, painter: QPainter, theme: Theme) -> None:
        """Behind the ends of the lines, so that nothing is ever covered; the caret's line keeps its note."""
        if not self.hints:
            return
        font = theme.font("small")
        font.setItalic(self.are_hints_stale)
        noted = self._editor.getCursorPosition()[0] if self.note is not None else -1
        painter.setFont(font)
        for line in self._visible_lines():
            hint = self.hints.get(line)
            if hint is None or line == noted:
                continue
            end = self._ask(QsciScintilla.SCI_GETLINEENDPOSITION, line)
            left = self._ask(QsciScintilla.SCI_POINTXFROMPOSITION, 0, end) + theme.size("space.6")
            top = self._ask(QsciScintilla.SCI_POINTYFROMPOSITION, 0, end)
            height = self._ask(QsciScintilla.SCI_TEXTHEIGHT, line)
            usual = "text.disabled" if self.are_hints_stale else "text.tertiary"
            is_warned = hint.is_unusual and not self.are_hints_stale
            painter.setPen(theme.color("warn.text" if is_warned else usual))
            area = QRectF(left, top, QFontMetricsF(font).horizontalAdvance(hint.text) + 1, height)
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, hint.text)

    def _paint_bars(self, painter: QPainter, theme: Theme) -> None:
        """From the middle of their margin to the side of their sign; a dot where a line matters nothing."""
        width = self._editor.marginWidth(BARS)
        if not self.bars or not width:
            return
        left = sum(self._editor.marginWidth(margin) for margin in range(BARS))
        middle, reach = left + width / 2, width / 2 - theme.size("space.1")
        thick = theme.size("margin_bar.height")
        painter.setPen(Qt.PenStyle.NoPen)
        for line in self._visible_lines():
            bar = self.bars.get(line)
            if bar is None:
                continue
            start = self._ask(QsciScintilla.SCI_POSITIONFROMLINE, line)
            top = self._ask(QsciScintilla.SCI_POINTYFROMPOSITION, 0, start)
            center = top + self._ask(QsciScintilla.SCI_TEXTHEIGHT, line) / 2
            color = "text.disabled" if self.are_bars_stale or not bar.share else "trace.0"
            long = bar.share * reach
            long = long if abs(long) >= 1 else 0.0
            area = QRectF(min(middle, middle + long), center - thick / 2, max(abs(long), 2), thick)
            painter.fillRect(area, theme.color(color))
            tall = theme.size("margin_bar.tick_height")
            painter.fillRect(QRectF(middle - 0.5, center - tall / 2, 1, tall), theme.color("border.divider"))

    def _visible_lines(self) -> Iterator[int]:
        """The lines on the screen, from 0."""
        first = self._ask(QsciScintilla.SCI_GETFIRSTVISIBLELINE)
        seen = -1
        for shown in range(first, first + self._ask(QsciScintilla.SCI_LINESONSCREEN) + 1):
            line = self._ask(QsciScintilla.SCI_DOCLINEFROMVISIBLE, shown)
            if line == seen:
                return
            seen = line
            yield line

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
        for line in self._visible_lines():
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


_BAR_COLORS = {"error": "error.icon", "warning": "warn.icon", "info": "info.icon"}


class OverviewBar(QScrollBar):
    """Marks on the groove: a line a problem, a bar a changed block."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._services = services
        self._lines = 1
        self._problems: tuple[tuple[int, str], ...] = ()
        self._changes: tuple[tuple[int, int], ...] = ()

    def set_problems(self, marks: Sequence[tuple[int, str]], lines: int) -> None:
        """Line (from 1) and severity of each problem, in a text of `lines` lines."""
        self._problems, self._lines = tuple(marks), max(lines, 1)
        self.update()

    def set_changes(self, changes: Sequence[tuple[int, int]], lines: int) -> None:
        """First and last line of each changed block."""
        self._changes, self._lines = tuple(changes), max(lines, 1)
        self.update()

    def restyle(self) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        super().paintEvent(event)
        theme = self._services.theme.theme
        painter = QPainter(self)
        painter.fillRect(0, 0, 1, self.height(), theme.color("border.subtle"))
        thin = theme.size("space.half")
        for first, last in self._changes:
            top, bottom = self._y(first), self._y(last + 1)
            area = QRectF(thin, top, thin + 1, max(bottom - top, thin))
            painter.fillRect(area, theme.color("info.icon"))
        for line, severity in self._problems:
            area = QRectF(thin, self._y(line), self.width() - thin, thin)
            painter.fillRect(area, theme.color(_BAR_COLORS[severity]))
        painter.end()

    def _y(self, line: int) -> float:
        return (line - 1) / self._lines * self.height()
