"""The charts of studies, painted: histogram, bars from a line, lines over an axis. Data are few already."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF
from PyQt6.QtWidgets import QSizePolicy, QWidget

from presentation.charts.content import MOST_MARKS, Bar, BinsContent, Limit, Line, LinesContent
from presentation.charts.scales import Scale
from presentation.ui.theme import Theme
from presentation.ui.workspace import WindowServices

_TICK = 4
_LEAST = QSize(200, 96)


class Chart(QWidget):
    """What all have in common: the look, room for axes."""

    def __init__(self, services: WindowServices, name: str) -> None:
        super().__init__()
        self._services = services
        self.setObjectName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        services.theme.changed.connect(self._on_theme)  # a method: the connection ends with the widget

    def _on_theme(self, _theme: object) -> None:
        self.update()

    @property
    def theme(self) -> Theme:
        return self._services.theme.theme

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return _LEAST

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(480, 200)

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """The drawing on the plots' ground."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.theme.color("plot.background"))
        painter.setFont(self.theme.tabular("caption"))
        self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Paint what there is."""

    def _frame(self, painter: QPainter, across: Scale, upward: Scale) -> QRectF:
        """Axes with their figures and grid; returns where the curves belong."""
        metrics, gap = QFontMetrics(painter.font()), self.theme.size("space.1")
        figures = [text for _, text in upward.ticks]
        left = max((metrics.horizontalAdvance(text) for text in figures), default=0) + 2 * gap + _TICK
        bottom = metrics.height() + gap + _TICK
        top = metrics.height() + gap if upward.unit else metrics.height() // 2 + 1
        right = metrics.horizontalAdvance(across.unit) + 2 * gap if across.unit else 3 * gap
        inside = QRectF(left, top, max(self.width() - left - right, 1), max(self.height() - top - bottom, 1))
        grid, words = QPen(self.theme.color("plot.grid_major"), 1), self.theme.color("plot.axis_text")
        last = -math.inf
        for share, text in across.ticks:
            x, width = round(inside.left() + share * inside.width()) + 0.5, metrics.horizontalAdvance(text)
            painter.setPen(grid)
            painter.drawLine(QPointF(x, inside.top()), QPointF(x, inside.bottom()))
            has_room = not across.unit or x + width / 2 <= inside.right()
            if x - width / 2 > last + gap and has_room:
                painter.setPen(words)
                place = QRectF(x - width / 2 - 1, inside.bottom() + _TICK, width + 2, metrics.height())
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
                last = x + width / 2
        for share, text in upward.ticks:
            y = round(inside.bottom() - share * inside.height()) + 0.5
            painter.setPen(grid)
            painter.drawLine(QPointF(inside.left(), y), QPointF(inside.right(), y))
            painter.setPen(words)
            place = QRectF(0, y - metrics.height() / 2, left - gap - _TICK, metrics.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(words)
        if across.unit:
            place = QRectF(inside.right() + gap, inside.bottom() + _TICK, right, metrics.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft, across.unit)
        if upward.unit:
            painter.drawText(QRectF(0, 0, left - gap - _TICK, metrics.height()), Qt.AlignmentFlag.AlignRight,
                             upward.unit)  # fmt: skip
        return inside

    def _border(self, painter: QPainter, inside: QRectF) -> None:
        painter.setPen(QPen(self.theme.color("plot.axis"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(inside.adjusted(0.5, 0.5, -0.5, -0.5))

    def _faint(self, token: str, opacity: float = 0.55) -> QColor:
        color = QColor(self.theme.color(token))
        color.setAlphaF(opacity)
        return color

    def _dashed(self, token: str) -> QPen:
        pen = QPen(self.theme.color(token), 1)
        pen.setDashPattern([4, 3])
        return pen

    def _word(self, painter: QPainter, x: float, y: float, text: str, *, is_left: bool) -> None:
        """A word beside a line, on a ground that keeps what is behind it out of its letters."""
        metrics = QFontMetrics(painter.font())
        width, gap = metrics.horizontalAdvance(text), self.theme.size("space.1")
        left = min(x - width - gap if is_left else x + gap, self.width() - width)
        place = QRectF(max(left, 0), y, width, metrics.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)


class HistogramChart(Chart):
    """How many runs gave which value; what is beyond a limit is on the mask, in the color of errors."""

    def __init__(self, services: WindowServices, name: str) -> None:
        super().__init__(services, name)
        self.content = BinsContent()

    def show_bins(self, content: BinsContent) -> None:
        self.content = content
        self.update()

    def draw(self, painter: QPainter) -> None:
        """Mask, bars, bell, limits."""
        content = self.content
        if len(content.edges) < 2 or not any(content.counts):
            return
        x, y = content.scales(self.width() // 90, self.height() // 40)
        near = content.near
        inside = self._frame(painter, x, y)
        self._mask(painter, inside, x, near)
        self._bars(painter, inside, x, y)
        self._draw_bell(painter, inside, x, y)
        for each in near:
            at = round(inside.left() + x.share(each.value) * inside.width()) + 0.5
            painter.setPen(self._dashed("plot.goal"))
            painter.drawLine(QPointF(at, inside.top()), QPointF(at, inside.bottom()))
            painter.setPen(self.theme.color("plot.goal"))
            self._word(painter, at, inside.top() + 2, each.text, is_left=each.is_lower)
        self._border(painter, inside)

    def _mask(self, painter: QPainter, inside: QRectF, x: Scale, near: Sequence[Limit]) -> None:
        for each in near:
            at = inside.left() + x.share(each.value) * inside.width()
            left, right = (inside.left(), at) if each.is_lower else (at, inside.right())
            area = QRectF(left, inside.top(), max(right - left, 0), inside.height())
            painter.fillRect(area, self.theme.color("plot.mask"))

    def _bars(self, painter: QPainter, inside: QRectF, x: Scale, y: Scale) -> None:
        content = self.content
        good, bad = self.theme.color("trace.0"), self.theme.color("error.fill")
        for left, right, count in zip(content.edges, content.edges[1:], content.counts, strict=False):
            start = inside.left() + x.share(left) * inside.width()
            end = inside.left() + x.share(right) * inside.width()
            height = y.share(count) * inside.height()
            bar = QRectF(start + 0.5, inside.bottom() - height, max(end - start - 1, 1), height)
            painter.fillRect(bar, bad if content.is_bad((left + right) / 2) else good)

    def _draw_bell(self, painter: QPainter, inside: QRectF, x: Scale, y: Scale) -> None:
        line = QPolygonF()
        for value, count in self.content.curve(x):
            line.append(QPointF(inside.left() + x.share(value) * inside.width(),
                                inside.bottom() - min(y.share(count), 1.0) * inside.height()))  # fmt: skip
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.color("text.secondary"), 1))
        painter.drawPolyline(line)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)


class BarsChart(Chart):
    """Names, bars and figures, the strongest on top: shares from the left, or a tornado around a line."""

    def __init__(self, services: WindowServices, name: str) -> None:
        super().__init__(services, name)
        self.bars: Sequence[Bar] = ()

    def show_bars(self, bars: Sequence[Bar]) -> None:
        self.bars = bars
        self.setAccessibleDescription("; ".join(f"{bar.name} {bar.text}" for bar in bars))
        self.updateGeometry()
        self.update()

    def draw(self, painter: QPainter) -> None:
        """As many rows as there is room for."""
        if not self.bars:
            return
        theme, edge = self.theme, self.theme.size("space.3")
        names, figures = theme.font("mono_small"), theme.tabular("small")
        name_metrics, metrics = QFontMetrics(names), QFontMetrics(figures)
        row = max(metrics.height() + theme.size("space.1"), theme.size("space.5"))
        shown = self.bars[: max(self.height() // row, 1)]
        widest = max(name_metrics.horizontalAdvance(bar.name) for bar in shown) + 2
        name_width = min(widest, self.width() // 3)
        figure_width = max(metrics.horizontalAdvance(bar.text) for bar in shown)
        left, right = edge + name_width + edge, self.width() - edge - figure_width - edge
        reach = max(max(abs(bar.low), abs(bar.high)) for bar in self.bars) or 1.0
        is_centred = any(bar.low < 0 for bar in self.bars)
        zero = (left + right) / 2 if is_centred else left
        unit = ((right - left) / 2 if is_centred else right - left) / reach
        for number, bar in enumerate(shown):
            top = number * row
            painter.setFont(names)
            painter.setPen(theme.color("text.primary"))
            name = name_metrics.elidedText(bar.name, Qt.TextElideMode.ElideRight, name_width)
            flags = Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(edge, top, name_width + 2, row), flags | Qt.AlignmentFlag.AlignLeft, name)
            height = theme.size("margin_bar.height") + 2
            track = QRectF(left, top + (row - height) / 2, max(right - left, 1), height)
            if not is_centred:
                painter.fillRect(track, theme.color("surface.pressed"))
            start, end = sorted((zero + bar.low * unit, zero + bar.high * unit))
            filled = QRectF(start, track.top(), max(end - start, 1), height)
            painter.fillRect(filled, theme.color("trace.0"))
            painter.setFont(figures)
            place = QRectF(self.width() - edge - figure_width - 2, top, figure_width + 2, row)
            painter.drawText(place, flags | Qt.AlignmentFlag.AlignRight, bar.text)
        if is_centred:
            painter.setPen(QPen(theme.color("plot.axis"), 1))
            at = round(zero) + 0.5
            painter.drawLine(QPointF(at, 0), QPointF(at, len(shown) * row))


class LinesChart(Chart):
    """Lines over an axis: a family of a sweep, the progress of a search."""

    def __init__(self, services: WindowServices, name: str) -> None:
        super().__init__(services, name)
        self.content: LinesContent | None = None

    def show_content(self, content: LinesContent | None) -> None:
        self.content = content
        self.update()

    def draw(self, painter: QPainter) -> None:
        """Mask, dots, lines with their names at the right."""
        content = self.content
        if content is None:
            return
        x, y = content.x(max(self.width() // 90, 2)), content.y(max(self.height() // 40, 2))
        inside = self._frame(painter, x, y)

        def at(points: Iterable[tuple[float, float]]) -> list[QPointF]:
            across, up = zip(*points, strict=True)
            left, width, bottom, height = inside.left(), inside.width(), inside.bottom(), inside.height()
            return [
                QPointF(left + right * width, bottom - high * height)
                for right, high in zip(x.shares(across), y.shares(up), strict=True)
            ]

        painter.save()
        painter.setClipRect(inside)
        for limit in content.limits:
            line = inside.bottom() - y.share(limit.value) * inside.height()
            top, bottom = (line, inside.bottom()) if limit.is_lower else (inside.top(), line)
            if bottom > top:
                area = QRectF(inside.left(), top, inside.width(), bottom - top)
                painter.fillRect(area, self.theme.color("plot.mask"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._faint("text.secondary"))
        for dot in at(content.dots) if content.dots else ():
            painter.drawEllipse(dot, 1.5, 1.5)
        ends = [self._stroke(painter, each, at, has_marks=content.has_marks) for each in content.lines]
        painter.restore()
        for limit in content.limits:
            line = round(inside.bottom() - y.share(limit.value) * inside.height()) + 0.5
            if inside.top() <= line <= inside.bottom():
                painter.setPen(self._dashed("plot.goal"))
                painter.drawLine(QPointF(inside.left(), line), QPointF(inside.right(), line))
                painter.setPen(self.theme.color("plot.goal"))
                height = QFontMetrics(painter.font()).height()
                self._word(painter, inside.right(), line - height - 1 if limit.is_lower else line + 1,
                           limit.text, is_left=True)  # fmt: skip
        self._names(painter, inside, zip(content.lines, ends, strict=True))
        self._border(painter, inside)

    def _stroke(
        self,
        painter: QPainter,
        line: Line,
        at: Callable[[Iterable[tuple[float, float]]], list[QPointF]],
        *,
        has_marks: bool,
    ) -> QPointF | None:
        """Draw one line, with a gap where it has no value; returns its last place."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.theme.color(line.color), 1.5))
        last = None
        for is_there, points in groupby(line.points, lambda point: math.isfinite(point[1])):
            if is_there:
                places = at(points)
                last = places[-1]
                painter.drawPolyline(QPolygonF(_steps(places) if line.is_step else places))
                if has_marks and len(line.points) <= MOST_MARKS and not line.is_step:
                    self._mark(painter, line, places)
        return last

    def _mark(self, painter: QPainter, line: Line, places: Iterable[QPointF]) -> None:
        painter.save()
        painter.setBrush(self.theme.color(line.color))
        painter.setPen(Qt.PenStyle.NoPen)
        for place in places:
            painter.drawEllipse(place, 2.5, 2.5)
        painter.restore()

    def _names(self, painter: QPainter, inside: QRectF, lines: Iterable[tuple[Line, QPointF | None]]) -> None:
        """Names of lines at their right ends, where one does not stand on another."""
        height = QFontMetrics(painter.font()).height()
        taken: list[float] = []
        for line, end in lines:
            if not line.name or end is None:
                continue
            y = min(max(end.y() - height - 2, inside.top() + 1), inside.bottom() - height)
            if all(abs(y - other) >= height for other in taken):
                taken.append(y)
                painter.setPen(self.theme.color(line.color))
                self._word(painter, inside.right() - 2, y, line.name, is_left=True)


def _steps(places: Sequence[QPointF]) -> Iterator[QPointF]:
    """Across first, then up or down."""
    yield places[0]
    for last, place in pairwise(places):
        yield QPointF(place.x(), last.y())
        yield place
