"""Paints the marks of one pane: forbidden sides and dashed limits behind the curves, margins before them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QLineF, QPointF, QRectF, QSizeF, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PyQt6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from domain.simulation.goals import DesignGoal
from domain.simulation.waveform import RealArray
from presentation.look import tokens
from presentation.panels.waveforms.curve_item import BoxItem
from presentation.panels.waveforms.figures import SPACE, fixed
from presentation.panels.waveforms.plot_marks import LevelMark, LineMark, MarginMark, Mark, PlaceMark
from presentation.panels.waveforms.traces import PaneKind
from presentation.ui.theme import Theme

Curves = Callable[[], Iterable[tuple[RealArray, RealArray]]]
"""Gives (m,), (m,) the points of each curve, in the box's coordinates."""
Runs = Callable[[], Iterable[tuple[str, RealArray, RealArray]]]
"""Gives the same of the runs of a family, each behind what it is called."""

_BAR = 3.0
_HALF_SPOT = 14.0
"""Half the width of a limit that holds for one place of the axis only."""
_HALF_HEIGHT = 10.0
"""Half the height of the gate a curve has to pass."""
_GAP = 5.0
_MOST_NAMED = 8
"""Runs of a family that are named on their curves; the mouse names one of more."""
_SAMPLES = 400
"""Of each curve across the box, to see where names would lie over it."""
_WHERE_NAMED = tuple(0.9 - 0.04 * number for number in range(21))
"""Places across the box where they may be: a resonance tells the runs apart in a few of them only."""


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


class MarkItem(BoxItem):
    """The marks of a pane, of one of two layers."""

    def __init__(
        self, box: pg.ViewBox, look: MarkLook, *, is_behind: bool, curves: Curves, runs: Runs
    ) -> None:
        """`curves` gives what is drawn in the box now, so that words keep off it, `runs` what is named."""
        super().__init__(box)
        self._curves = curves
        self._runs = runs
        self._taken: list[QRectF] = []
        """Where dots or words stand already."""
        self._look = look
        self._is_behind = is_behind
        self._kind = PaneKind("")
        self._marks: Sequence[Mark] = ()
        self._limit_text: Callable[[DesignGoal], str] = lambda _goal: ""
        self.setZValue(-150 if is_behind else 50)

    def use(self, look: MarkLook) -> None:
        self._look = look
        self.update()

    def show_marks(
        self, kind: PaneKind, marks: Sequence[Mark], limit_text: Callable[[DesignGoal], str]
    ) -> None:
        """Draw what of the marks belongs to a pane of this kind; goals are called what `limit_text` says."""
        self._kind, self._marks, self._limit_text = kind, marks, limit_text
        self.update()

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None) -> None:
        if not self._marks and self._is_behind:
            return
        place = painter.worldTransform()
        frame = place.mapRect(QRectF(self._box.viewRect()))
        painter.resetTransform()
        painter.setFont(self._look.font)
        dots = (
            place.map(QPointF(mark.at, mark.level))
            for mark in self._marks
            if isinstance(mark, LineMark) and mark.pane == self._kind
        )
        side = 2 * self._look.radius
        self._taken = [QRectF(dot - QPointF(side, side) / 2, QSizeF(side, side)) for dot in dots]
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
                case LineMark() if mark.pane == self._kind and not self._is_behind:
                    self._paint_point(painter, mark, place.map(QPointF(mark.at, mark.level)), frame)
        if not self._is_behind:
            self._paint_runs(painter, frame)

    def _paint_runs(self, painter: QPainter, frame: QRectF) -> None:
        """What each run of a family is called, on its curve, where the curves are farthest apart.

        Never over another run's curve: one that is nowhere by itself is named by the mouse.
        """
        runs = list(self._runs())
        if not 1 < len(runs) <= _MOST_NAMED:
            return
        (left, right), (bottom, top) = self._box.viewRange()
        metrics, scale = QFontMetricsF(self._look.font), frame.height() / (top - bottom)
        points = [
            (
                frame.left() + (x - left) / (right - left) * frame.width(),
                frame.bottom() - (y - bottom) * scale,
            )
            for _, x, y in runs
        ]
        sizes = [QSizeF(metrics.horizontalAdvance(name) + _GAP, metrics.height()) for name, _, _ in runs]
        shown = places_of_names(points, sizes, frame, self._taken)
        painter.setPen(self._look.text)
        for number, place in shown.items() if len(shown) > 1 else ():  # one name alone says nothing
            painter.fillRect(place, self._look.halo)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, runs[number][0])

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
                other = left - _GAP - width if x > left else right + _GAP
                corners = [QPointF(each, y - height / 2) for each in (x, other)]
                corners += [QPointF(left, y - height - 1), QPointF(left, y + 1)]
            else:
                above, below = y - height - 1, y + 1
                sides = (left + _GAP, right - _GAP - width)
                heights = (above, below) if mark.is_upper else (below, above)
                corners = [QPointF(x, each) for each in heights for x in sides]
            self._write(painter, mark, corners, frame)

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
        height, width = self._words_size(mark)
        # Below, on the side where the curve is high: there it leaves room.
        places = (right - width, left) if mark.is_falling else (left, right - width)
        corners = [QPointF(x, y) for y in (box.bottom() + 1, box.top() - height - 1) for x in places]
        self._write(painter, mark, corners, frame)

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

    def _paint_point(self, painter: QPainter, mark: LineMark, point: QPointF, frame: QRectF) -> None:
        """A dot, and its name above it where no other name is."""
        if not frame.contains(point):
            return
        color = (
            self._look.text if mark.color is None else self._look.traces[mark.color % len(self._look.traces)]
        )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color, 1.5 * self._look.factor))
        painter.setBrush(self._look.halo)
        painter.drawEllipse(point, self._look.radius, self._look.radius)
        metrics = QFontMetricsF(self._look.font)
        size = QSizeF(metrics.horizontalAdvance(mark.text) + 2, metrics.height())
        away = self._look.radius + 1
        above = QPointF(point.x() - size.width() / 2, point.y() - away - size.height())
        aside = QPointF(point.x() + away, point.y() - size.height() / 2)
        for corner in (above, aside):
            words = QRectF(corner, size)
            if frame.contains(words) and not any(map(words.intersects, self._taken)):
                self._taken.append(words)
                painter.setPen(self._look.text)
                painter.drawText(words, Qt.AlignmentFlag.AlignCenter, mark.text)
                return

    def _goal_pen(self) -> QPen:
        pen = QPen(self._look.goal, 1)
        pen.setDashPattern([4.0, 3.0])
        return pen

    def _words_size(self, mark: LevelMark | PlaceMark) -> tuple[float, float]:
        metrics = QFontMetricsF(self._look.font)
        return metrics.height(), metrics.horizontalAdvance(self._limit_text(mark.goal))

    def _write(
        self, painter: QPainter, mark: LevelMark | PlaceMark, corners: Sequence[QPointF], frame: QRectF
    ) -> None:
        """The goal's words, at the first corner where no curve runs through them, else at the first one.

        Not where they would lie over the frame, or over other words: the table has them too.
        """
        height, width = self._words_size(mark)
        places = [QRectF(corner.x(), corner.y(), width + 1, height) for corner in corners]
        free = [
            place
            for place in places
            if frame.adjusted(0, -1, 0, 1).contains(place) and not any(map(place.intersects, self._taken))
        ]
        if not free:
            return
        place = next((each for each in free if not self._is_met(each, frame)), free[0])
        self._taken.append(place)
        painter.setPen(self._look.goal)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, self._limit_text(mark.goal))

    def _is_met(self, place: QRectF, frame: QRectF) -> bool:
        """Whether a curve runs through a rectangle (device pixels, as the frame of the box)."""
        (left, right), (bottom, top) = self._box.viewRange()
        across, upward = (right - left) / frame.width(), (top - bottom) / frame.height()
        x_from, x_to = (left + (x - frame.left()) * across for x in (place.left(), place.right()))
        y_from, y_to = (top - (y - frame.top()) * upward for y in (place.bottom(), place.top()))
        return any(runs_through(x, y, (x_from, x_to), (y_from, y_to)) for x, y in self._curves())


def places_of_names(
    points: Sequence[tuple[RealArray, RealArray]],
    sizes: Sequence[QSizeF],
    frame: QRectF,
    taken: Sequence[QRectF],
) -> dict[int, QRectF]:
    """Where the names of curves may stand, by the curve's number: on the curve, over no other and no words.

    `points`: (m,), (m,) of each curve, in pixels. Below each other where that is possible.
    """
    across = frame.left() + np.array(_WHERE_NAMED) * frame.width()
    curves = np.array([np.interp(across, x, y) for x, y in points])
    fine = np.linspace(frame.left(), frame.right(), _SAMPLES)
    drawn = np.array([np.interp(fine, x, y) for x, y in points])
    edges, height = (frame.top(), frame.bottom()), sizes[0].height()
    rooms = [_room(column, height, edges) for column in curves.T.tolist()]
    best = sorted(range(len(across)), key=lambda place: rooms[place], reverse=True)
    shown: dict[int, QRectF] = {}
    for number in dict.fromkeys((0, len(points) - 1, *range(len(points)))):
        others = np.delete(drawn, number, axis=0)
        for column in best:
            place = QRectF(QPointF(), sizes[number])
            place.moveCenter(QPointF(float(across[column]), float(curves[number, column])))
            first, last = np.searchsorted(fine, (place.left(), place.right()))
            near = others[:, max(first - 1, 0) : last + 1]
            is_crossed = ((near.min(axis=1) < place.bottom()) & (near.max(axis=1) > place.top())).any()
            is_free = not any(map(place.intersects, (*taken, *shown.values())))
            if frame.contains(place) and is_free and not is_crossed:
                shown[number] = place
                break
    return shown


def _apart(heights: Sequence[float], least: float, edges: tuple[float, float]) -> list[int]:
    """Which of some words fit between the edges, below each other: the first and the last before others."""
    kept: list[int] = []
    for number in dict.fromkeys((0, len(heights) - 1, *range(len(heights)))):
        middle = heights[number]
        is_inside = edges[0] + least / 2 <= middle <= edges[1] - least / 2
        if is_inside and all(abs(middle - heights[other]) >= least for other in kept):
            kept.append(number)
    return kept


def _room(heights: Sequence[float], least: float, edges: tuple[float, float]) -> tuple[int, float]:
    """How good a place is: words that fit, and how far the nearest two curves are apart."""
    return len(_apart(heights, least, edges)), float(min(np.diff(sorted(heights))))


def runs_through(
    x: RealArray, y: RealArray, across: tuple[float, float], upward: tuple[float, float]
) -> bool:
    """Whether a line through the points x, y ((n,), x rising, NaN interrupts it) enters a rectangle.

    A stretch between two points counts with its part over the rectangle, interpolated.
    """
    first = max(int(np.searchsorted(x, across[0])) - 1, 0)
    stop = min(int(np.searchsorted(x, across[1], "right")) + 1, len(x))
    x, y = x[first:stop], y[first:stop]
    if len(x) < 2:
        return False
    start, end = np.maximum(x[:-1], across[0]), np.minimum(x[1:], across[1])
    slope = np.divide(np.diff(y), np.diff(x), out=np.zeros(len(x) - 1), where=np.diff(x) > 0)
    at_start, at_end = y[:-1] + slope * (start - x[:-1]), y[:-1] + slope * (end - x[:-1])
    upright = np.diff(x) == 0
    at_start, at_end = np.where(upright, y[:-1], at_start), np.where(upright, y[1:], at_end)
    low, high = np.minimum(at_start, at_end), np.maximum(at_start, at_end)
    return bool(((start <= end) & (low <= upward[1]) & (high >= upward[0])).any())
