"""Paints the marks of one pane: forbidden sides and dashed limits behind the curves, margins before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QLineF, QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PyQt6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from domain.design.goals import DesignGoal
from presentation.panels.waveforms.figures import SPACE, fixed
from presentation.panels.waveforms.plot_marks import LevelMark, MarginMark, Mark, PlaceMark
from presentation.panels.waveforms.traces import PaneKind
from presentation.window.theme import Theme, tokens

_BAR = 3.0
_HALF_SPOT = 14.0
"""Half the width of a limit that holds for one place of the axis only."""
_HALF_HEIGHT = 10.0
"""Half the height of the gate a curve has to pass."""
_GAP = 5.0


@dataclass(frozen=True, slots=True)
class MarkLook:
    """Colours and type of the marks."""

    goal: QColor
    mask: QColor
    text: QColor
    halo: QColor
    traces: tuple[QColor, ...]
    font: QFont
    dash: tuple[float, ...]
    radius: float
    factor: float

    @classmethod
    def of(cls, theme: Theme) -> MarkLook:
        """Ask the theme."""
        sizes = tokens()["plot_style"]
        return cls(
            goal=theme.color("plot.goal"),
            mask=theme.color("plot.mask"),
            text=theme.color("text.primary"),
            halo=theme.color("plot.background"),
            traces=tuple(theme.color(f"trace.{number}") for number in range(8)),
            font=theme.tabular("caption"),
            dash=tuple(float(part) for part in sizes["dash"]["dash_pattern"]),
            radius=float(sizes["marker_radius"]) * theme.scale,
            factor=theme.scale,
        )


class MarkItem(pg.GraphicsObject):  # type: ignore[misc]
    """The marks of a pane, of one of two layers."""

    def __init__(self, box: pg.ViewBox, look: MarkLook, *, is_behind: bool) -> None:
        super().__init__()
        self._box = box
        self._look = look
        self._is_behind = is_behind
        self._kind = PaneKind("")
        self._marks: Sequence[Mark] = ()
        self._limit_text: Callable[[DesignGoal], str] = lambda _goal: ""
        self.setZValue(-150 if is_behind else 50)

    def use(self, look: MarkLook) -> None:
        """Take the colours of another theme."""
        self._look = look
        self.update()

    def show_marks(
        self, kind: PaneKind, marks: Sequence[Mark], limit_text: Callable[[DesignGoal], str]
    ) -> None:
        """Draw what of the marks belongs to a pane of this kind; goals are called what `limit_text` says."""
        self._kind, self._marks, self._limit_text = kind, marks, limit_text
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """All that is shown."""
        return QRectF(self._box.viewRect())

    def viewRangeChanged(self) -> None:  # noqa: N802 - pyqtgraph's name
        """Called by the view box: the marks are elsewhere."""
        self.prepareGeometryChange()
        self.update()

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None) -> None:
        """In pixels."""
        if not self._marks:
            return
        place = painter.worldTransform()
        frame = place.mapRect(QRectF(self._box.viewRect()))
        painter.resetTransform()
        painter.setFont(self._look.font)
        for mark in self._marks:
            match mark:
                case LevelMark() if mark.pane == self._kind:
                    self._paint_level(painter, mark, place.map(QPointF(mark.at or 0.0, mark.level)), frame)
                case PlaceMark() if mark.pane == self._kind and not self._is_behind:
                    middle = place.map(QPointF(0.0, mark.level)).y()
                    sides = [
                        None if side is None else place.map(QPointF(side, 0.0)).x()
                        for side in (mark.low, mark.high)
                    ]
                    self._paint_gate(painter, mark, middle, sides, frame)
                case MarginMark() if not self._is_behind:
                    if mark.crossed == self._kind:
                        self._paint_crossing(painter, mark, place.map(QPointF(mark.at, mark.crossing)), frame)
                    if mark.pane == self._kind:
                        start = place.map(QPointF(mark.at, mark.start))
                        end = place.map(QPointF(mark.at, mark.end))
                        self._paint_margin(painter, mark, start, end, frame)

    def _paint_level(self, painter: QPainter, mark: LevelMark, place: QPointF, frame: QRectF) -> None:
        half = _HALF_SPOT * self._look.factor
        left, right = frame.left(), frame.right()
        if mark.at is not None:
            left, right = max(place.x() - half, left), min(place.x() + half, right)
        if right <= left:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        y = int(place.y()) + 0.5
        if self._is_behind:
            top, bottom = (frame.top(), y) if mark.is_upper else (y, frame.bottom())
            if bottom > top:
                painter.fillRect(QRectF(QPointF(left, top), QPointF(right, bottom)), self._look.mask)
        elif frame.top() <= y <= frame.bottom():
            painter.setPen(self._goal_pen())
            painter.drawLine(QLineF(left, y, right, y))
            if mark.is_upper and mark.goal.minimum is not None:
                return  # the words of a range stand at its lower end
            height, width = self._words_size(mark)
            if mark.at is not None and left > frame.left():
                x = right + _GAP if right + _GAP + width < frame.right() else left - _GAP - width
                self._write(painter, mark, QPointF(x, y - height / 2), frame)
            else:
                above = y - height - 1 if mark.is_upper else y + 1
                self._write(painter, mark, QPointF(left + _GAP, above), frame)

    def _paint_gate(
        self, painter: QPainter, mark: PlaceMark, middle: float, sides: Sequence[float | None], frame: QRectF
    ) -> None:
        """A box the curve has to go through; an open side is the frame's."""
        if sides[0] is None and sides[1] is None:
            return
        half = _HALF_HEIGHT * self._look.factor
        left = frame.left() - 1 if sides[0] is None else int(sides[0]) + 0.5
        right = frame.right() + 1 if sides[1] is None else int(sides[1]) + 0.5
        if right < frame.left() or left > frame.right():
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(self._goal_pen())
        painter.setBrush(Qt.BrushStyle.NoBrush)
        box = QRectF(QPointF(left, int(middle - half) + 0.5), QPointF(right, int(middle + half) + 0.5))
        if sides[0] is not None and sides[1] is not None:
            painter.drawRect(box)
        else:
            x = right if sides[0] is None else left
            painter.drawLine(QLineF(x, box.top(), x, box.bottom()))
        _height, width = self._words_size(mark)
        # Below, on the side where the curve is high: there it leaves room.
        x = right - width if mark.is_falling else left
        self._write(painter, mark, QPointF(x, box.bottom() + 1), frame)

    def _paint_crossing(self, painter: QPainter, mark: MarginMark, point: QPointF, frame: QRectF) -> None:
        color = self._look.traces[mark.color % len(self._look.traces)]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(color, 1)
        pen.setDashPattern([1.0, 2.0])
        painter.setPen(pen)
        # Towards the pane with the bar: gain stands above phase.
        far = frame.bottom() if mark.crossed.unit == "dB" else frame.top()
        painter.drawLine(QPointF(point.x(), point.y()), QPointF(point.x(), far))
        painter.setPen(QPen(color, 1.5 * self._look.factor))
        painter.setBrush(self._look.halo)
        painter.drawEllipse(point, self._look.radius, self._look.radius)

    def _paint_margin(
        self, painter: QPainter, mark: MarginMark, start: QPointF, end: QPointF, frame: QRectF
    ) -> None:
        color = self._look.traces[mark.color % len(self._look.traces)]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(color, 1)
        pen.setDashPattern([1.0, 2.0])
        painter.setPen(pen)
        near = frame.top() if mark.pane.unit == "deg" else frame.bottom()
        painter.drawLine(QPointF(start.x(), near), start)
        width = _BAR * self._look.factor
        top, bottom = sorted((start.y(), end.y()))
        painter.fillRect(QRectF(start.x() - width / 2, top, width, max(bottom - top, 1.0)), color)
        unit = "°" if mark.pane.unit == "deg" else f"{SPACE}dB"
        text = f"{mark.kind} {fixed(mark.value, 1)}{unit}"
        metrics = QFontMetricsF(self._look.font)
        height = metrics.height()
        room = metrics.horizontalAdvance(text)
        x = start.x() - width / 2 - _GAP - room
        if x < frame.left() + _GAP:
            x = start.x() + width / 2 + _GAP
        y = min(max((top + bottom - height) / 2, frame.top() + 1), frame.bottom() - height - 1)
        painter.setPen(self._look.text)
        painter.drawText(QRectF(x, y, room + 1, height), Qt.AlignmentFlag.AlignVCenter, text)

    def _goal_pen(self) -> QPen:
        pen = QPen(self._look.goal, 1)
        pen.setDashPattern([4.0, 3.0])
        return pen

    def _words_size(self, mark: LevelMark | PlaceMark) -> tuple[float, float]:
        """Height and width of a goal's words."""
        metrics = QFontMetricsF(self._look.font)
        return metrics.height(), metrics.horizontalAdvance(self._limit_text(mark.goal))

    def _write(self, painter: QPainter, mark: LevelMark | PlaceMark, corner: QPointF, frame: QRectF) -> None:
        """The goal's words; not where they would lie over the frame: the table has them too."""
        height, width = self._words_size(mark)
        place = QRectF(corner.x(), corner.y(), width + 1, height)
        if frame.adjusted(0, -1, 0, 1).contains(place):
            painter.setPen(self._look.goal)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, self._limit_text(mark.goal))
