"""Axes and grid in the colours of the theme: tidy ticks, the unit said once, lines on whole pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QLineF, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PyQt6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from presentation.panels.waveforms.curve_item import BoxItem
from presentation.panels.waveforms.figures import SPACE, Ticks, linear_ticks, log_ticks
from presentation.ui.theme import Theme

_GAP = 6
_EDGE = 2.0
"""Width of the line that says which curve a right axis is for."""
_ROOM_X = 54
_ROOM_Y = 21
"""Least distance between ticks in pixels."""
_LEAST_TICKS = 2
_OVERHANG = 40
"""How far the first label of a level axis may stand out to the left."""


@dataclass(frozen=True, slots=True)
class PlotStyle:
    """The theme's values for plots."""

    text: QColor
    frame: QColor
    major: QColor
    minor: QColor
    zero: QColor
    background: QColor
    font: QFont
    factor: float
    """On the distances between ticks: larger type needs more room."""

    @classmethod
    def of(cls, theme: Theme) -> PlotStyle:
        return cls(
            text=theme.color("plot.axis_text"),
            frame=theme.color("plot.zero"),
            major=theme.color("plot.grid_major"),
            minor=theme.color("plot.grid_minor"),
            zero=theme.color("plot.zero"),
            background=theme.color("plot.background"),
            font=theme.tabular("caption"),
            factor=theme.scale,
        )


class Axis(pg.AxisItem):  # type: ignore[misc]
    """An axis whose labels are ours; wheel and drag on it zoom and move that axis alone."""

    clicked = pyqtSignal()
    double_clicked = pyqtSignal()
    menu_wanted = pyqtSignal(QPointF)
    """the place in the scene"""

    def __init__(self, side: str, style: PlotStyle) -> None:
        super().__init__(side)
        self.setStyle(showValues=False, tickLength=0)
        self.setZValue(1)
        self._unit = ""
        self._is_log_axis = False
        self._look = style
        self._is_upright = side == "left"
        self._is_right = False
        self._edge: QColor | None = None
        self.use(style)

    def use(self, style: PlotStyle) -> None:
        """Take the colours and type of another theme."""
        self._look = style
        self.update()

    def set_side(self, *, is_right: bool, edge: QColor | None = None) -> None:
        """Stand at the right of its pane, with a line in the color of the one curve it is for."""
        self._is_right, self._edge = is_right, edge
        self.update()

    def measure(self, unit: str, *, is_log: bool) -> None:
        """Count in another unit, evenly or in decades."""
        self._unit, self._is_log_axis = unit, is_log
        self.update()

    def mouseDragEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        box = self.linkedView()
        if box is not None:
            box.mouseDragEvent(event, axis=1 if self._is_upright else 0)

    def mouseClickEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        event.accept()
        if event.button() == Qt.MouseButton.RightButton:
            self.menu_wanted.emit(QPointF(event.scenePos()))
        elif event.button() == Qt.MouseButton.LeftButton:
            (self.double_clicked if event.double() else self.clicked).emit()

    def label_height(self) -> float:
        """What one line of labels needs below a pane."""
        return QFontMetricsF(self._look.font).height() + _GAP

    def divisions(self) -> Ticks:
        """The lines of the range that is shown now."""
        low, high = self.range
        length = self.size().height() if self._is_upright else self.size().width()
        room = (_ROOM_Y if self._is_upright else _ROOM_X) * self._look.factor
        make = log_ticks if self._is_log_axis else linear_ticks
        most = max(int(length / room), 2)
        found = make(low, high, self._unit, most)
        if self._is_upright and not self._is_log_axis and len(found.ticks) < _LEAST_TICKS:
            return self._closer(found, low, high, most)
        return found

    def _closer(self, found: Ticks, low: float, high: float, most: int) -> Ticks:
        """Lines as close as their labels allow, where there would be one: that tells no scale."""
        length, height = self.size().height(), QFontMetricsF(self._look.font).height()
        for more in range(most + 1, 4 * most):
            ticks = linear_ticks(low, high, self._unit, more)
            places = [tick.position for tick in ticks.ticks]
            if len(places) >= _LEAST_TICKS:
                apart = (places[1] - places[0]) / (high - low) * length
                return ticks if apart >= height else found
        return found

    def wanted_width(self) -> float:
        metrics = QFontMetricsF(self._look.font)
        return max((metrics.horizontalAdvance(text) for _, text in self._texts()), default=0.0) + 2 * _GAP

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """With room for a first label that is centred under the frame's corner."""
        area = QRectF(super().boundingRect())
        return area if self._is_upright else area.adjusted(-_OVERHANG, 0, 0, 0)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None) -> None:
        """Labels only; the lines belong to the grid."""
        painter.setFont(self._look.font)
        painter.setPen(self._look.text)
        if self._is_upright:
            self._paint_upright(painter)
        else:
            self._paint_level(painter)

    def _texts(self) -> list[tuple[float, str]]:
        """Labels of a left axis by position; degrees at every number, other units at the topmost."""
        grid = self.divisions()
        labelled = [(tick.position, tick.text) for tick in grid.ticks if tick.text]
        if grid.unit == "°":
            return [(position, text + "°") for position, text in labelled]
        if labelled and grid.unit:
            position, text = labelled[-1]
            joined = text + grid.unit if SPACE in text else f"{text}{SPACE}{grid.unit}"
            labelled[-1] = (position, joined)
        return labelled

    def _paint_upright(self, painter: QPainter) -> None:
        area = QRectF(0, 0, self.size().width(), self.size().height())
        height = QFontMetricsF(self._look.font).height()
        low, high = self.range
        below = -math.inf
        for position, text in sorted(self._texts(), reverse=True):
            y = area.height() * (high - position) / (high - low)
            top = min(max(y - height / 2, 0.0), area.height() - height)
            if top < below:  # in a low pane one that would meet the one above is left out
                continue
            below = top + height
            side = Qt.AlignmentFlag.AlignLeft if self._is_right else Qt.AlignmentFlag.AlignRight
            room = QRectF(_GAP if self._is_right else 0, top, area.width() - _GAP, height)
            painter.drawText(room, side | Qt.AlignmentFlag.AlignVCenter, text)
        if self._is_right and self._edge is not None:
            painter.setPen(QPen(self._edge, _EDGE))
            painter.drawLine(QLineF(_EDGE / 2, 0, _EDGE / 2, area.height()))

    def _paint_level(self, painter: QPainter) -> None:
        metrics = QFontMetricsF(self._look.font)
        width = self.size().width()
        low, high = self.range
        grid = self.divisions()
        right_end = width
        if grid.unit:
            right_end -= metrics.horizontalAdvance(grid.unit)
            painter.drawText(QRectF(right_end, _GAP / 2, width, metrics.height()), 0, grid.unit)
            right_end -= 2 * _GAP
        for tick in grid.ticks:
            text_width = metrics.horizontalAdvance(tick.text)
            left = width * (tick.position - low) / (high - low) - text_width / 2
            # One that would meet the unit is left out.
            if tick.text and left + text_width <= right_end:
                painter.drawText(QRectF(left, _GAP / 2, text_width + 1, metrics.height()), 0, tick.text)


class Grid(BoxItem):
    """The lines behind the curves of one pane, one device pixel wide."""

    def __init__(self, across: Axis, upward: Axis, box: pg.ViewBox, style: PlotStyle) -> None:
        super().__init__(box)
        self._across = across
        self._upward = upward
        self._look = style
        self._has_lines = True
        self.setZValue(-100)

    def set_lines(self, *, are_shown: bool) -> None:
        """Lines, or the frame alone."""
        self._has_lines = are_shown
        self.update()

    def use(self, style: PlotStyle) -> None:
        self._look = style
        self.update()

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None) -> None:
        """Minor lines first, so that major ones lie on top."""
        # Where it is painted, which in a picture that leaves the window is not where the window has it.
        area = painter.worldTransform().mapRect(QRectF(self._box.viewRect()))
        if area.isEmpty():
            return
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        across, upward = self._across.divisions().ticks, self._upward.divisions().ticks
        if not self._has_lines:
            across = upward = ()
        (left, right), (bottom, top) = self._box.viewRange()
        # Device pixels, because the transform was reset: half a pixel in is its middle.
        for is_major in (False, True):
            lines: list[QLineF] = []
            zero: list[QLineF] = []
            for tick in across:
                if tick.is_major == is_major:
                    x = _whole(area.left() + area.width() * (tick.position - left) / (right - left))
                    lines.append(QLineF(x, area.top(), x, area.bottom()))
            for tick in upward:
                if tick.is_major == is_major:
                    y = _whole(area.bottom() - area.height() * (tick.position - bottom) / (top - bottom))
                    (zero if tick.position == 0 and tick.text else lines).append(
                        QLineF(area.left(), y, area.right(), y)
                    )
            painter.setPen(QPen(self._look.major if is_major else self._look.minor, 1))
            if lines:
                painter.drawLines(*lines)
            painter.setPen(QPen(self._look.zero, 1))
            if zero:
                painter.drawLines(*zero)
        painter.setPen(QPen(self._look.frame, 1))
        painter.drawRect(
            QRectF(
                QPointF(math.ceil(area.left()) + 0.5, math.ceil(area.top()) + 0.5),
                QPointF(_whole(area.right()) - 1, _whole(area.bottom()) - 1),
            )
        )


def _whole(position: float) -> float:
    return int(position) + 0.5
