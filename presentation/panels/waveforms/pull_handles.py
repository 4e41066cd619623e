"""Measured points and the lines of goals in a plot, taken by the mouse and pulled; words stand beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QLineF, QObject, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QPainter, QPainterPath, QPen
from PyQt6.QtWidgets import QFrame, QStyleOptionGraphicsItem, QVBoxLayout, QWidget

from presentation.look import tokens
from presentation.panels.waveforms.overlay import OverlaidPlot
from presentation.panels.waveforms.panes import TRACE_COLORS, Pane
from presentation.panels.waveforms.plot_marks import LevelMark, Mark, PlaceMark
from presentation.panels.waveforms.pull_points import PullPoint
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark
from presentation.ui.theme import Theme

_REACH = 5.0
_HALF_GATE, _HALF_SPOT = 10.0, 14.0
"""As the lines of goals are drawn."""
_BESIDE = 16
_MOST_LINES = 10
_SPAN = 6.0
"""Of the dashes of the line to the hand."""


class PullItem(pg.GraphicsObject):  # type: ignore[misc]
    """One point with the lines of its goal, in the coordinates of the scene. It paints the point alone: the
    lines are drawn with the marks."""

    pressed = pyqtSignal(QPointF)
    dragged = pyqtSignal(QPointF)
    let_go = pyqtSignal(QPointF)

    def __init__(self) -> None:
        super().__init__()
        self._spot = QPointF()
        self._lines: tuple[QLineF, ...] = ()
        self._hand: QPointF | None = None
        self._is_over = self._is_across = False
        self._color, self._ground = QColor(), QColor()
        self._radius = 3.5
        self.setZValue(980)
        self.setVisible(False)

    def stand(
        self, spot: QPointF, lines: Sequence[QLineF], color: QColor, ground: QColor, radius: float,
        *, is_across: bool,
    ) -> None:  # fmt: skip
        self.prepareGeometryChange()
        self._spot, self._lines, self._is_across = QPointF(spot), tuple(lines), is_across
        self._color, self._ground, self._radius = color, ground, radius
        self.update()

    def show_hand(self, hand: QPointF | None) -> None:
        """Where the quantity is wanted, while somebody pulls."""
        self.prepareGeometryChange()
        self._hand = hand
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        rect = self.shape().boundingRect()
        if self._hand is not None:
            rect = rect.united(QRectF(self._spot, self._hand).normalized())
        return rect.adjusted(-3, -3, 3, 3)

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)  # also where the point stands on its goal's line
        reach = self._radius + _REACH
        path.addEllipse(self._spot, reach, reach)
        for line in self._lines:
            path.addRect(QRectF(line.p1(), line.p2()).normalized().adjusted(-_REACH, -_REACH, _REACH, _REACH))
        return path

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._hand is not None:
            pen = QPen(self._color, 1)
            pen.setDashPattern([_SPAN / 2, _SPAN / 2])
            painter.setPen(pen)
            painter.drawLine(self._spot, self._hand)
            painter.drawEllipse(self._hand, self._radius + 2, self._radius + 2)
        painter.setPen(QPen(self._color, 1.5))
        is_full = self._is_over or self._hand is not None
        painter.setBrush(self._color if is_full else self._ground)
        painter.drawEllipse(self._spot, self._radius, self._radius)

    def hoverEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        is_over = not event.isExit() and event.acceptDrags(Qt.MouseButton.LeftButton)
        if is_over != self._is_over:
            self._is_over = is_over
            self.update()
        if is_over:
            shape = Qt.CursorShape.SizeHorCursor if self._is_across else Qt.CursorShape.SizeVerCursor
            self.setCursor(shape)
        else:
            self.unsetCursor()

    def mouseDragEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        if event.button() != Qt.MouseButton.LeftButton or event.modifiers():
            event.ignore()
            return
        event.accept()
        place = QPointF(event.scenePos())
        if event.isStart():
            self.pressed.emit(QPointF(event.buttonDownScenePos()))
        if event.isFinish():
            self.let_go.emit(place)
        else:
            self.dragged.emit(place)


class PullHandles(QObject):
    """Those of one plot; one is pulled at a time."""

    began = pyqtSignal(object)
    """`PullPoint`"""
    moved = pyqtSignal(float)
    """what the quantity is where the hand is"""
    released = pyqtSignal(float)
    dropped = pyqtSignal()

    def __init__(self, plot: OverlaidPlot, theme: Theme) -> None:
        super().__init__(plot.view)
        self._plot = plot
        self._theme = theme
        self._points: tuple[PullPoint, ...] = ()
        self._marks: tuple[Mark, ...] = ()
        self._items: list[PullItem] = []
        self._pulled: PullPoint | None = None
        self._number = 0
        """Of its item."""
        self._value = math.nan
        """Where the hand is."""
        self._reached = math.nan
        """What the live curve has come to."""
        self._hand = QPointF()
        self._card = QFrame(plot.view)
        self._card.setObjectName("pull_words")
        self._card.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        mark(self._card, card=True, surface="raised")
        self._lines = [text_label() for _ in range(_MOST_LINES)]
        arrange(QVBoxLayout(self._card), *self._lines, edges=theme.size("space.2"), gap=0)
        self._card.hide()

    @property
    def points(self) -> tuple[PullPoint, ...]:
        return self._points

    @property
    def is_pulling(self) -> bool:
        return self._pulled is not None

    @property
    def words(self) -> str:
        """What stands beside the pointer; "" while nothing does."""
        shown = [line.text() for line in self._lines if line.text()]
        return "\n".join(shown) if self._card.isVisible() else ""

    def place_of(self, point: PullPoint) -> QPointF:
        """Of a point in the scene; the corner where its pane is not shown."""
        pane = self._pane_of(point)
        return QPointF() if pane is None else self._spot(point, pane, math.nan)

    def show_points(self, points: Sequence[PullPoint], marks: Sequence[Mark]) -> None:
        """Offer these; one that is being pulled stays in the hand."""
        self._points, self._marks = tuple(points), tuple(marks)
        self.place()

    def show_words(self, lines: Sequence[tuple[str, str]]) -> None:
        """Lines beside the hand, each with its role in the style; none hides them."""
        kept = lines if len(lines) <= _MOST_LINES else (*lines[: _MOST_LINES - 1], lines[-1])
        shown = [*kept, *[("", "")] * (_MOST_LINES - len(kept))]
        for label, (text, role) in zip(self._lines, shown, strict=True):
            label.setText(text)
            label.setVisible(bool(text))
            mark(label, role=role)
        self._card.setVisible(bool(lines))
        if lines:
            self._place_words()

    def show_reached(self, value: float) -> None:
        """What the values give now: the point stands on the live curve."""
        self._reached = value
        self.place()

    def hold(self, point: PullPoint, value: float) -> None:
        """Show a point as pulled to a value that was typed."""
        self._pulled, self._value, self._reached = point, value, point.quantity.value
        self._number = self._points.index(point) if point in self._points else 0
        pane = self._pane_of(point)
        if pane is not None:
            self._hand = self._spot(point, pane, value)
        self.place()

    def let_go(self) -> None:
        """Nothing is pulled any more."""
        self._pulled, self._reached = None, math.nan
        self.show_words(())
        self.place()

    def drop(self) -> bool:
        """Leave what is being pulled, and everything as it was; whether something was."""
        if self._pulled is None:
            return False
        self.let_go()
        self.dropped.emit()
        return True

    def near(self, pane: Pane, place: QPointF) -> PullPoint | None:
        """The point within reach of a place of the scene."""
        found = [each for each in self._points if self._pane_of(each) is pane]
        reach = 3 * _REACH * self._theme.scale

        def away(point: PullPoint) -> float:
            spot = self._spot(point, pane, math.nan) - place
            return math.hypot(spot.x(), spot.y())

        nearest = min(found, key=away, default=None)
        return nearest if nearest is not None and away(nearest) <= reach else None

    def use(self, theme: Theme) -> None:
        self._theme = theme
        self.place()

    def place(self) -> None:
        """Where they are in what is shown now."""
        shown = dict(enumerate(self._points)) if self._pulled is None else {self._number: self._pulled}
        for number, item in enumerate(self._items):
            if number not in shown:
                item.setVisible(False)
        for number, point in shown.items():
            pane, item = self._pane_of(point), self._item(number)
            frame = None if pane is None else pane.box.sceneBoundingRect()
            spot = None if pane is None else self._spot(point, pane, self._reached)
            if pane is None or frame is None or spot is None or not frame.contains(spot):
                item.setVisible(False)
                continue
            color = self._theme.color(f"trace.{point.color % TRACE_COLORS}")
            ground = self._theme.color("plot.background")
            radius = float(tokens()["plot_style"]["marker_radius"]) * self._theme.scale
            is_across = point.direction == "across"
            lines = self._goal_lines(point, pane, frame)
            item.stand(spot, lines, color, ground, radius, is_across=is_across)
            item.show_hand(None if self._pulled is None else self._spot(point, pane, self._value))
            item.setVisible(True)
        if self._card.isVisible():
            self._place_words()

    def _item(self, number: int) -> PullItem:
        while len(self._items) <= number:
            item = PullItem()
            made = len(self._items)
            item.pressed.connect(partial(self._press, made))
            item.dragged.connect(self._drag)
            item.let_go.connect(self._finish)
            scene = self._plot.view.scene()
            assert scene is not None
            scene.addItem(item)
            self._items.append(item)
        return self._items[number]

    def _pane_of(self, point: PullPoint) -> Pane | None:
        return next((each for each in self._plot.panes if each.kind == point.pane), None)

    def _spot(self, point: PullPoint, pane: Pane, value: float) -> QPointF:
        """Where a point stands in the scene, with another value of its quantity unless that is NaN."""
        at, level = point.at, point.level
        moved = math.nan if math.isnan(value) else point.coordinate_of(value)
        if math.isfinite(moved):
            at, level = (moved, level) if point.direction == "across" else (at, moved)
        return QPointF(pane.box.mapViewToScene(QPointF(at, level)))

    def _goal_lines(self, point: PullPoint, pane: Pane, frame: QRectF) -> list[QLineF]:
        """Those of the goal of a point."""
        factor, found = self._theme.scale, []
        goal = point.quantity.goal
        for each in self._marks if goal is not None else ():
            if isinstance(each, PlaceMark) and each.goal == goal and each.pane == pane.kind:
                for side in (each.low, each.high):
                    if side is not None:
                        at = pane.box.mapViewToScene(QPointF(side, each.level))
                        half = QPointF(0, _HALF_GATE * factor)
                        found.append(QLineF(at - half, at + half))
            elif isinstance(each, LevelMark) and each.goal == goal and each.pane == pane.kind:
                at = pane.box.mapViewToScene(QPointF(each.at or 0.0, each.level))
                left, right = frame.left(), frame.right()
                if each.at is not None:
                    left, right = at.x() - _HALF_SPOT * factor, at.x() + _HALF_SPOT * factor
                found.append(QLineF(left, at.y(), right, at.y()))
        return [line for line in found if frame.contains(line.center())]

    def _value_at(self, place: QPointF) -> float:
        assert self._pulled is not None
        pane = self._pane_of(self._pulled)
        if pane is None:
            return math.nan
        here = pane.box.mapSceneToView(place)
        return self._pulled.value_at(float(here.x() if self._pulled.direction == "across" else here.y()))

    def _press(self, number: int, place: QPointF) -> None:
        if self._pulled is None and number < len(self._points):
            self._pulled, self._number, self._hand = self._points[number], number, QPointF(place)
            self._reached, self._value = self._pulled.quantity.value, self._pulled.quantity.value
            self._plot.view.setFocus(Qt.FocusReason.MouseFocusReason)
            self.began.emit(self._pulled)

    def _drag(self, place: QPointF) -> None:
        if self._pulled is not None:
            self._hand, self._value = QPointF(place), self._value_at(place)
            self.place()
            self.moved.emit(self._value)

    def _finish(self, place: QPointF) -> None:
        if self._pulled is not None:
            self._hand, self._value = QPointF(place), self._value_at(place)
            self.place()
            self.released.emit(self._value)

    def _place_words(self) -> None:
        """Below the hand to the right, wherever they hide nothing of it."""
        view = self._plot.view
        self._card.adjustSize()
        hand = view.mapFromScene(self._hand)
        x, y = hand.x() + _BESIDE, hand.y() + _BESIDE
        if x + self._card.width() > view.width():
            x = hand.x() - _BESIDE - self._card.width()
        if y + self._card.height() > view.height():
            y = hand.y() - _BESIDE - self._card.height()
        self._card.move(max(x, 0), max(y, 0))
        self._card.raise_()
