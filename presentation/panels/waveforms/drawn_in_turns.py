"""Many dense curves, drawn into one picture for each pane, a few in each turn of the window's loop.

Two traces of twenty runs take some 60 ms, and nobody's keys or clicks should wait for that. Until the picture
is made the one before is shown, moved to where its part of the axis is now.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar
from uuid import uuid4

import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QBuffer, QByteArray, QObject, QPointF, QRectF, Qt
from PyQt6.QtGui import QImage, QPainter, QTransform
from PyQt6.QtSvg import QSvgGenerator
from PyQt6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from presentation.panels.waveforms.curve_item import BoxItem, CurveItem, Line
from presentation.ui.parts import once_after

_TURN_S = 0.006
"""CPU time after which the loop goes on with what else there is."""

_EDGE = 1.0
"""Pixels around: a box shows half a one more than its range."""


class Canvas(Protocol):
    """What the lines of one box are drawn on, and what stands in their place then."""

    def draw(self, line: Line) -> None: ...

    def paint(self, painter: QPainter) -> None:
        """Painted in the box's coordinates."""


class PixelCanvas:
    """A picture: all of a box that is in sight, in whole pixels."""

    def __init__(self, box: pg.ViewBox, place: QTransform, ratio: float) -> None:
        """`place` leads from the box's coordinates to the window's, `ratio` are pixels of the screen in one
        of the window's."""
        inside, _ = place.inverted()
        frame = place.mapRect(QRectF(box.viewRect())).adjusted(-_EDGE, -_EDGE, _EDGE, _EDGE)
        left, top = (math.floor(edge * ratio) for edge in (frame.left(), frame.top()))
        right, bottom = (math.ceil(edge * ratio) for edge in (frame.right(), frame.bottom()))
        self._image = QImage(
            max(right - left, 1), max(bottom - top, 1), QImage.Format.Format_ARGB32_Premultiplied
        )
        self._image.setDevicePixelRatio(ratio)
        self._image.fill(Qt.GlobalColor.transparent)
        size = self._image.deviceIndependentSize()
        self._frame = QRectF(0, 0, size.width(), size.height())
        self._place = place * QTransform.fromTranslate(-left / ratio, -top / ratio)
        self._part = inside.mapRect(self._frame.translated(left / ratio, top / ratio))
        """Of the box, in its coordinates."""

    def draw(self, line: Line) -> None:
        painter = QPainter(self._image)
        line.draw(painter, self._place, self._frame)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        target = painter.worldTransform().mapRect(self._part)
        painter.resetTransform()
        size = self._image.deviceIndependentSize()
        if math.isclose(target.width(), size.width(), rel_tol=1e-6) and math.isclose(
            target.height(), size.height(), rel_tol=1e-6
        ):
            ratio = self._image.devicePixelRatio()
            corner = QPointF(round(target.left() * ratio) / ratio, round(target.top() * ratio) / ratio)
            painter.drawImage(corner, self._image)
        else:
            painter.drawImage(target, self._image)


class SvgCanvas:
    """Elements of an SVG. Painted is a word in their place: they come there when the document is made."""

    def __init__(self, box: pg.ViewBox, place: QTransform, _ratio: float) -> None:
        self._place, self._frame = place, place.mapRect(QRectF(box.viewRect()))
        self._elements: list[str] = []
        self._word = uuid4().hex

    def draw(self, line: Line) -> None:
        data = QByteArray()
        buffer = QBuffer(data)
        generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
        generator.setOutputDevice(buffer)
        painter = QPainter(generator)
        line.draw(painter, self._place, self._frame)
        painter.end()
        _, _, behind = data.data().decode().partition("</defs>")
        self._elements.append(behind.rpartition("</svg>")[0])

    def paint(self, painter: QPainter) -> None:
        inside, _ = self._place.inverted()
        painter.setWorldTransform(inside * painter.worldTransform())
        painter.drawText(QPointF(), self._word)

    def placed_in(self, document: str) -> str:
        """A document that this was painted into, with the lines."""
        lines = "".join(self._elements)
        return re.sub(rf"<text[^>]*>{self._word}</text>", lambda _word: lines, document)


class CurvesPicture(BoxItem):
    """The curves of one box as they were drawn for a part of it."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__(box)
        self._canvas: Canvas | None = None

    @property
    def is_drawn(self) -> bool:
        return self._canvas is not None

    @property
    def canvas(self) -> Canvas | None:
        """What is shown."""
        return self._canvas

    def show_canvas(self, canvas: Canvas | None) -> None:
        self._canvas = canvas
        self.setVisible(True)
        self.update()

    def drop(self) -> None:
        """Show nothing."""
        if self._canvas is not None:
            self._canvas = None
            self.update()

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None) -> None:
        if self._canvas is not None:
            self._canvas.paint(painter)


Drawn_co = TypeVar("Drawn_co", bound=Canvas, covariant=True)
CanvasOf = Callable[[pg.ViewBox, QTransform, float], Drawn_co]
"""Makes one for a box, from where that stands in the window and the pixels in one of the window's."""


class DrawnPane(Generic[Drawn_co]):
    """What is to be drawn of one pane: where, and its lines, each made when it is asked for."""

    def __init__(
        self, picture: CurvesPicture, canvas: Drawn_co, lines: Iterator[tuple[CurveItem, Line]]
    ) -> None:
        self.picture, self.canvas, self.lines = picture, canvas, lines


def lines_drawn(panes: Sequence[DrawnPane[Canvas]]) -> Iterator[tuple[CurveItem, Line]]:
    """Each line as soon as it is on its canvas."""
    for pane in panes:
        for item, line in pane.lines:
            pane.canvas.draw(line)
            yield item, line


async def drawn_between(panes: Sequence[DrawnPane[Canvas]]) -> None:
    """Draw all lines, and let the loop come round every few milliseconds."""
    until = time.thread_time() + _TURN_S
    for _ in lines_drawn(panes):
        if time.thread_time() > until:
            await asyncio.sleep(0)
            until = time.thread_time() + _TURN_S


class DrawingInTurns:
    """Of one plot: `begin` once, and again where what is to be drawn has changed meanwhile."""

    def __init__(
        self, owner: QObject, panes: Callable[[], Sequence[DrawnPane[Canvas]]], drawn: Callable[[], object]
    ) -> None:
        """`panes` says what there is to draw now; `drawn` is called when it is shown."""
        self._panes, self._drawn = panes, drawn
        self._turns: Iterator[None] | None = None
        """Those that are left of a drawing that has begun."""
        self._is_behind = False
        """What is to be drawn is not, or no longer, what the drawing began with."""
        self._next = once_after(owner, 0, self._go_on)

    @property
    def is_at_work(self) -> bool:
        return self._is_behind or self._turns is not None

    def begin(self, *, air_ms: int = 0) -> None:
        """Draw, in `air_ms` at the earliest; a drawing that is on its way is ended first, so that something
        is seen while hands move."""
        self._is_behind = True
        self._next.start(air_ms)

    def give_way(self, air_ms: int) -> None:
        """Go on in `air_ms` at the earliest: the loop has had enough to do just now."""
        if self._next.isActive():
            self._next.start(air_ms)

    def drop(self) -> None:
        """Forget what is on its way."""
        self._next.stop()
        self._turns, self._is_behind = None, False

    def _go_on(self) -> None:
        if self._turns is None:
            self._turns, self._is_behind = self._draw(), False
        until = time.thread_time() + _TURN_S
        for _ in self._turns:
            if time.thread_time() > until:
                self._next.start(0)
                return
        self._turns = None
        if self._is_behind:
            self._next.start(0)

    def _draw(self) -> Iterator[None]:
        panes = self._panes()
        yield
        made: list[tuple[CurveItem, Line]] = []
        for each in lines_drawn(panes):
            made.append(each)
            yield
        for item, line in made:
            item.show_line(line)
            item.setVisible(False)
        for pane in panes:
            pane.picture.show_canvas(pane.canvas)
        self._drawn()
