"""One line of a plot, painted in pixels: smooth where it is a line, quick where it fills an area."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyqtgraph as pg  # type: ignore[import-untyped]
from numpy.typing import NDArray
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QPaintEngine, QPainter, QPen, QPolygonF, QTransform
from PyQt6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from domain.simulation.waveform import RealArray
from presentation.panels.waveforms.strokes import stroked

_MOST_TURNS = 400
"""A line that turns more often is an area of one colour, and is stroked as one."""
_FEW_TURNS = 4
"""With more, Qt's outline of a line costs more than an image of it (`strokes.py`)."""
_MOST_DASHED = 60
"""A dashed line that turns more often is drawn whole: gaps would look like pauses of what oscillates."""
_STEPS = 2_000
"""Of a line's height, by which its turns are counted: less is below a pixel."""
_GAP = 8
"""Pixels of the axis that are left out of a dashed area, and drawn."""
_LONG = 256
_SHORT = 16
"""Points stroked at once. Qt joins them into one outline, whose cost grows with the square of its turns;
every join of two outlines costs a little smoothness."""
_WRITTEN = 64
"""The same in a file of lines, where each part costs its words; whoever shows it joins them as Qt does."""
_STRAIGHT = 0.1
"""Pixels that a point may lie off the line between its neighbours and not be drawn."""
_RASTER = QPaintEngine.Type.Raster
_FURTHEST = 1e6
"""Pixels beyond which it does not matter where a line leads."""


class BoxItem(pg.GraphicsObject):  # type: ignore[misc]
    """Something drawn over the shown range of its box."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__()
        self._box = box

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        return QRectF(self._box.viewRect())

    def viewRangeChanged(self) -> None:  # noqa: N802 - pyqtgraph's name
        """Called by the view box: what is drawn is elsewhere."""
        self.prepareGeometryChange()
        self.update()


@dataclass(frozen=True, slots=True)
class Line:
    """Points to be drawn, in a box's coordinates, and how; NaN interrupts them."""

    x: RealArray = field(default_factory=partial(np.empty, 0))
    y: RealArray = field(default_factory=partial(np.empty, 0))
    pen: QPen = field(default_factory=QPen)
    pieces: tuple[slice, ...] = ()
    turns: int = 0
    goes_on: bool = True
    """Never goes back along the axis."""

    @classmethod
    def of(cls, x: RealArray, y: RealArray, pen: QPen) -> Line:
        """x, y: (m,); the pen's width in logical pixels."""
        turns = min(_turns(y, 0.0), _turns(y, 0.5))
        goes_on = bool((np.diff(x) >= 0).all())
        return cls(x, y, pen, tuple(_pieces(np.isfinite(y))), turns, goes_on)

    def draw(self, painter: QPainter, place: QTransform, shown: QRectF) -> None:
        """In pixels, so that large numbers with small differences keep their places.

        `place` leads from the box's coordinates to the painter's, of which only `shown` is wanted.
        """
        if not self.pieces:
            return
        x = self.x * place.m11() + place.dx()
        y = np.clip(self.y * place.m22() + place.dy(), -_FURTHEST, _FURTHEST)
        engine = painter.paintEngine()
        has_pixels = engine is not None and engine.type() == _RASTER
        most = _FEW_TURNS if self.pen.style() == Qt.PenStyle.SolidLine else _MOST_DASHED
        if has_pixels and self.goes_on and self.turns > most:
            for piece in self.pieces:
                self._draw_image(painter, x[piece], y[piece], shown)
        else:
            self._draw_lines(painter, x, y, has_pixels=has_pixels)

    def _draw_image(self, painter: QPainter, x: RealArray, y: RealArray, shown: QRectF) -> None:
        """One piece, as far as it lies in a rectangle; an area is as fine as can be, or in stripes."""
        device = painter.device()
        ratio = 1.0 if device is None else device.devicePixelRatio()
        width = 1.0 if self.turns > _MOST_TURNS else max(self.pen.widthF() * ratio, 1.0)
        x, y = x * ratio, y * ratio
        left = math.floor(max(shown.left() * ratio, x[0]) - width)
        columns = math.ceil(min(shown.right() * ratio, x[-1]) + width) - left
        top = math.floor(shown.top() * ratio)
        size = columns, math.ceil(shown.bottom() * ratio) - top
        if columns <= 0:
            return
        gaps = None
        if self.turns > _MOST_TURNS and self.pen.style() != Qt.PenStyle.SolidLine:
            gaps = (left + np.arange(columns)) // round(_GAP * ratio) % 2 == 1
        stroke = stroked(x - left, y - top, size, width, self.pen.color(), without=gaps)
        stroke.image.setDevicePixelRatio(ratio)
        painter.drawImage(QPointF(left / ratio, (top + stroke.top) / ratio), stroke.image)

    def _draw_lines(self, painter: QPainter, x: RealArray, y: RealArray, *, has_pixels: bool) -> None:
        """By Qt's outlines: what turns seldom, what goes back, and all of a picture that is made of lines."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        pen = QPen(self.pen)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if self.turns > _MOST_TURNS:
            pen = QPen(self.pen.color(), 0)  # as fine as the device can: an area needs no more
        painter.setPen(pen)
        is_dashed = pen.style() != Qt.PenStyle.SolidLine
        many = _SHORT if has_pixels else _WRITTEN
        length = _LONG if self.turns <= _FEW_TURNS else many
        for piece in self.pieces:
            walked = 0.0
            bends_x, bends_y = without_straight(x[piece], y[piece])
            for part in _parts(len(bends_x), length):
                if is_dashed:  # the dashes go on where the part before has left off
                    pen.setDashOffset(walked / pen.widthF())
                    painter.setPen(pen)
                    walked += float(np.hypot(np.diff(bends_x[part]), np.diff(bends_y[part])).sum())
                if len(bends_x) == 1:
                    painter.drawPoint(_polygon(bends_x, bends_y)[0])
                else:
                    painter.drawPolyline(_polygon(bends_x[part], bends_y[part]))


def _turns(y: RealArray, shift: float) -> int:
    """How often a line turns, in steps of its own height: noise about a level is seen as none, at one of two
    `shift`s at least."""
    known = y[np.isfinite(y)]
    step = float(known.max() / _STEPS - known.min() / _STEPS) if len(known) else 0.0
    if not step:
        return 0
    moves = np.diff(np.floor(known / step + shift))
    rises = np.signbit(moves[moves != 0])
    return int(np.count_nonzero(rises[1:] != rises[:-1]))


class CurveItem(BoxItem):
    """A line of a plot."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__(box)
        self._line = Line()
        self.setFlag(self.GraphicsItemFlag.ItemUsesExtendedStyleOption)  # tells what has to be painted

    @property
    def points(self) -> tuple[RealArray, RealArray]:
        """(m,), (m,) what is drawn, in the box's coordinates."""
        return self._line.x, self._line.y

    def show_line(self, line: Line) -> None:
        self._line = line
        self.update()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, _widget: QWidget | None) -> None:
        place = painter.worldTransform()
        painter.resetTransform()
        self._line.draw(painter, place, place.mapRect(self.boundingRect() & option.exposedRect))


def extremes(x: RealArray, y: RealArray, low: float, high: float) -> list[float]:
    """Least and greatest of a line ((m,), (m,)) between two places of the axis, its edges included."""
    shown = y[(x >= low) & (x <= high)]
    inside = (edge for edge in (low, high) if len(x) and x[0] <= edge <= x[-1])
    edges = [float(np.interp(edge, x, y)) for edge in inside]
    found = np.concatenate((shown, edges))
    found = found[np.isfinite(found)]
    return [float(found.min()), float(found.max())] if len(found) else []


def _parts(count: int, length: int) -> list[slice]:
    """`count` points by `length` strokes, each part from where the one before ends."""
    return [slice(first, first + length + 1) for first in range(0, max(count - 1, 1), length)]


def without_straight(x: RealArray, y: RealArray) -> tuple[RealArray, RealArray]:
    """(m,), (m,) pixels -> (k,), (k,) the same line without points that lie on it; its ends stay.

    Every second point is looked at, three times over, so no point of what is left out is further than three
    times `_STRAIGHT` from what is drawn.
    """
    for _ in range(3):
        if len(x) < 3:
            break
        chord_x, chord_y = x[2::2] - x[:-2:2], y[2::2] - y[:-2:2]
        off_x, off_y = x[1:-1:2] - x[:-2:2], y[1:-1:2] - y[:-2:2]
        length2 = chord_x * chord_x + chord_y * chord_y
        along = np.clip(np.divide(off_x * chord_x + off_y * chord_y, length2, where=length2 > 0,
                                  out=np.zeros_like(length2)), 0.0, 1.0)  # fmt: skip
        is_kept = np.ones(len(x), dtype=bool)
        is_kept[1:-1:2] = np.hypot(off_x - along * chord_x, off_y - along * chord_y) > _STRAIGHT
        x, y = x[is_kept], y[is_kept]
    return x, y


def _pieces(is_there: NDArray[np.bool_]) -> list[slice]:
    """The runs without gaps."""
    if is_there.all():
        return [slice(0, len(is_there))] if len(is_there) else []
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_there, [False])).astype(np.int8)))
    return [slice(int(first), int(stop)) for first, stop in edges.reshape(-1, 2)]


def _polygon(x: RealArray, y: RealArray) -> QPolygonF:
    polygon: QPolygonF = pg.functions.create_qpolygonf(len(x))
    memory = pg.functions.ndarray_from_qpolygonf(polygon)
    memory[:, 0], memory[:, 1] = x, y
    return polygon
