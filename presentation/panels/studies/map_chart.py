"""The plane of two values: where all goals are met, their borders, the runs, the design as it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from PyQt6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt, pyqtSignal
from PyQt6.QtGui import (
    QCursor,
    QFontMetrics,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
)
from PyQt6.QtWidgets import QToolTip

from presentation.charts.plane import Place, PlaceOfRun, PlaneContent
from presentation.charts.scales import Scale
from presentation.panels.studies.charts import Chart
from presentation.ui.workspace import WindowServices

_RUN, _DESIGN, _CHOSEN = 1.5, 4.5, 6.0
_NAMED_AT = (0.5, 0.3, 0.7, 0.15, 0.85, 0.0, 1.0)
"""Where along a border its name may stand, the best place first."""
_MOVES: dict[int, Place] = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}


class MapChart(Chart):
    """The nearest simulated circuit follows the pointer; a click chooses it, a double click or Enter opens
    it, the arrow keys go to its neighbors."""

    chosen_changed = pyqtSignal(int)
    """the number of a run"""
    opened = pyqtSignal(int)

    def __init__(self, services: WindowServices, name: str, tell: Callable[[int], str]) -> None:
        """`tell`: what is said about a run beside the pointer."""
        super().__init__(services, name)
        self.content: PlaneContent | None = None
        self.chosen: int | None = None
        self._pointed: int | None = None
        self._tell = tell
        self._inside = QRectF()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.CrossCursor)

    def show_plane(self, content: PlaneContent | None) -> None:
        self.content = content
        self._pointed = None
        self.update()

    def choose(self, run: int) -> None:
        """Ring a run, and tell."""
        self.chosen = run
        self.setAccessibleDescription(self._tell(run).replace("\n", "; "))
        self.chosen_changed.emit(run)
        self.update()

    # ---- pointer and keys ------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """The nearest run is marked, and told."""
        found = None if event is None else self._nearest(event.position())
        if event is None or found is None:
            return
        if found.run != self._pointed:
            self._pointed = found.run
            self.update()
        QToolTip.showText(event.globalPosition().toPoint(), self._tell(found.run), self)

    def leaveEvent(self, event: QEvent | None) -> None:  # noqa: N802 - Qt's name
        """Nothing is pointed at, unless it is the words beside the pointer that came between."""
        if not self.rect().contains(self.mapFromGlobal(QCursor.pos())):
            self._pointed = None
            self.update()
        super().leaveEvent(event)

    def hideEvent(self, event: QHideEvent | None) -> None:  # noqa: N802 - Qt's name
        """What was told of a run goes with the chart."""
        QToolTip.hideText()
        super().hideEvent(event)

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Choose the nearest run."""
        found = None if event is None else self._nearest(event.position())
        if event is not None and event.button() == Qt.MouseButton.LeftButton and found is not None:
            self.choose(found.run)

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Open the circuit of the run that the first click has chosen."""
        if event is not None and event.button() == Qt.MouseButton.LeftButton and self.chosen is not None:
            self.opened.emit(self.chosen)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Arrows, Enter."""
        if event is None or self.content is None:
            return
        if event.key() in _MOVES and self.content.runs:
            self._step(_MOVES[event.key()])
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.chosen is not None:
            self.opened.emit(self.chosen)
        else:
            super().keyPressEvent(event)

    def _step(self, way: Place) -> None:
        """Go to the nearest run that lies more this way than beside it."""
        runs = [] if self.content is None else self.content.runs
        here = next((each.place for each in runs if each.run == self.chosen), (0.5, 0.5))

        def far(each: PlaceOfRun) -> float:
            across, up = each.place[0] - here[0], each.place[1] - here[1]
            along = across * way[0] + up * way[1]
            beside = abs(across * way[1]) + abs(up * way[0])
            return along + 2 * beside if along > 1e-9 and beside <= along else math.inf

        nearest = min(runs, key=far)
        if math.isfinite(far(nearest)):
            self.choose(nearest.run)

    def _nearest(self, point: QPointF) -> PlaceOfRun | None:
        runs = [] if self.content is None else self.content.runs
        if not runs or not self._inside.adjusted(-8, -8, 8, 8).contains(point):
            return None

        def far(each: PlaceOfRun) -> float:
            there = self.at(each.place)
            return (there.x() - point.x()) ** 2 + (there.y() - point.y()) ** 2

        return min(runs, key=far)

    # ---- painting --------------------------------------------------------------------------------

    def at(self, place: Place) -> QPointF:
        """Where a place of the plane is painted."""
        inside = self._inside
        return QPointF(
            inside.left() + place[0] * inside.width(), inside.bottom() - place[1] * inside.height()
        )

    def draw(self, painter: QPainter) -> None:
        """Ground, grid, borders with their names, runs, the design, what is chosen."""
        content = self.content
        if content is None:
            return
        x, y = content.x(max(self.width() // 90, 2)), content.y(max(self.height() // 40, 2))
        self._inside = inside = self._room(painter, y)
        self._paint_good(painter, content)
        self._paint_axes(painter, x, y, content)
        painter.save()
        painter.setClipRect(inside)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for border in content.borders:
            painter.setPen(QPen(self.theme.color(border.color), 2))
            for line in border.lines:
                painter.drawPolyline(QPolygonF([self.at(place) for place in line]))
        self._paint_runs(painter, content)
        painter.restore()
        self._border(painter, inside)
        self._name_borders(painter, inside, content)

    def _room(self, painter: QPainter, upward: Scale) -> QRectF:
        """Where the plane belongs: beside the figures, below one name and above the other."""
        metrics, gap = QFontMetrics(painter.font()), self.theme.size("space.1")
        left = max((metrics.horizontalAdvance(text) for _, text in upward.ticks), default=0) + 3 * gap
        top, bottom = metrics.height() + gap, 2 * metrics.height() + 2 * gap
        width = max(self.width() - left - 6 * gap, 1)
        return QRectF(left, top, width, max(self.height() - top - bottom, 1))

    def _paint_good(self, painter: QPainter, content: PlaneContent) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.color("ok.subtle"))
        for area in content.good:
            path = QPainterPath()
            for ring in area:
                path.addPolygon(QPolygonF([self.at(place) for place in ring]))
            painter.drawPath(path)

    def _paint_axes(self, painter: QPainter, across: Scale, upward: Scale, content: PlaneContent) -> None:
        """Grid, figures, the names of the two values."""
        inside, metrics, gap = self._inside, QFontMetrics(painter.font()), self.theme.size("space.1")
        grid, words = QPen(self.theme.color("plot.grid_major"), 1), self.theme.color("plot.axis_text")
        last = -math.inf
        for share, text in across.ticks:
            x, width = round(inside.left() + share * inside.width()) + 0.5, metrics.horizontalAdvance(text)
            painter.setPen(grid)
            painter.drawLine(QPointF(x, inside.top()), QPointF(x, inside.bottom()))
            if x - width / 2 > last + gap and x + width / 2 <= self.width():
                painter.setPen(words)
                place = QRectF(x - width / 2 - 1, inside.bottom() + gap, width + 2, metrics.height())
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
                last = x + width / 2
        for share, text in upward.ticks:
            y = round(inside.bottom() - share * inside.height()) + 0.5
            painter.setPen(grid)
            painter.drawLine(QPointF(inside.left(), y), QPointF(inside.right(), y))
            painter.setPen(words)
            place = QRectF(0, y - metrics.height() / 2, inside.left() - 2 * gap, metrics.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        painter.setPen(self.theme.color("text.primary"))
        below = QRectF(
            inside.left(), inside.bottom() + gap + metrics.height(), inside.width(), metrics.height()
        )
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, content.x_name)
        above = QRectF(gap, 0, inside.right() - gap, metrics.height())
        painter.drawText(above, Qt.AlignmentFlag.AlignLeft, content.y_name)

    def _paint_runs(self, painter: QPainter, content: PlaneContent) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        for each in content.runs:
            painter.setBrush(self._faint("ok.text" if each.is_met else "text.secondary"))
            painter.drawEllipse(self.at(each.place), _RUN, _RUN)
        if content.present is not None:
            painter.setPen(QPen(self.theme.color("plot.background"), 1.5))
            painter.setBrush(self.theme.color("text.primary"))
            painter.drawEllipse(self.at(content.present), _DESIGN, _DESIGN)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for run, width in ((self._pointed, 1.0), (self.chosen, 2.0)):
            place = next((each.place for each in content.runs if each.run == run), None)
            if place is not None:
                painter.setPen(QPen(self.theme.color("accent.text"), width))
                painter.drawEllipse(self.at(place), _CHOSEN, _CHOSEN)

    def _name_borders(self, painter: QPainter, inside: QRectF, content: PlaneContent) -> None:
        """The name of each border beside it, where it stands on none of the others and on no dot."""
        metrics = QFontMetrics(painter.font())
        taken: list[QRectF] = []
        if content.present is not None:
            design = self.at(content.present)
            taken.append(QRectF(design.x() - _CHOSEN, design.y() - _CHOSEN, 2 * _CHOSEN, 2 * _CHOSEN))
        for border in content.borders:
            width = metrics.horizontalAdvance(border.name) + 6
            longest = max(border.lines, key=len, default=())
            found = self._free_place(longest, inside, QSizeF(width, metrics.height()), taken)
            if found is not None:
                taken.append(found)
                painter.fillRect(found, self._faint("plot.background", 0.8))
                painter.setPen(self.theme.color(border.color))
                painter.drawText(found, Qt.AlignmentFlag.AlignCenter, border.name)

    def _free_place(
        self, line: Sequence[Place], inside: QRectF, size: QSizeF, taken: Sequence[QRectF]
    ) -> QRectF | None:
        for share in _NAMED_AT if line else ():
            point = self.at(line[round(share * (len(line) - 1))])
            left = min(
                max(point.x() - size.width() / 2, inside.left() + 1), inside.right() - size.width() - 1
            )
            top = min(
                max(point.y() - size.height() / 2, inside.top() + 1), inside.bottom() - size.height() - 1
            )
            place = QRectF(QPointF(left, top), size)
            if not any(place.intersects(other) for other in taken):
                return place
        return None
