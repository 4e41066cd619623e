"""One measuring cursor: a dashed line through all panes with a flag on top, dragged along the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen
from PyQt6.QtWidgets import QStyleOptionGraphicsItem, QWidget

_REACH = 4.0
_FLAG = (16.0, 15.0)


@dataclass(frozen=True, slots=True)
class CursorLook:
    """Colours and type of a cursor."""

    line: QColor
    on_flag: QColor
    background: QColor
    font: QFont
    dash: tuple[float, ...]
    radius: float
    factor: float


class CursorItem(pg.GraphicsObject):  # type: ignore[misc]
    """Painted in the coordinates of the scene; whoever owns it says where it stands."""

    dragged = pyqtSignal(float)
    """x in the scene the line is drawn to"""
    picked = pyqtSignal()
    """somebody took hold of it"""

    def __init__(self, letter: str, look: CursorLook) -> None:
        super().__init__()
        self.letter = letter
        self._look = look
        self._x = 0.0
        self._top = 0.0
        self._bottom = 0.0
        self._marks: list[tuple[QPointF, QColor]] = []
        self._is_active = False
        self.setZValue(1000)

    def use(self, look: CursorLook) -> None:
        self._look = look
        self.prepareGeometryChange()
        self.update()

    def place(self, x: float, top: float, bottom: float, marks: list[tuple[QPointF, QColor]]) -> None:
        """Stand at `x` from `top` to `bottom` with circles where curves are crossed (scene coordinates)."""
        self.prepareGeometryChange()
        self._x, self._top, self._bottom, self._marks = x, top, bottom, marks
        self.update()

    def set_active(self, is_active: bool) -> None:
        """The one the keyboard moves has a filled flag."""
        self._is_active = is_active
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        flag = self.flag()
        half = max(flag.width() / 2, 2 * _REACH)
        return QRectF(self._x - half, flag.top(), 2 * half, self._bottom - flag.top() + 1)

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(QRectF(self._x - _REACH, self._top, 2 * _REACH, self._bottom - self._top))
        path.addRect(self.flag())
        return path

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None) -> None:
        """The line on a whole pixel, the circles round."""
        look = self._look
        x = int(self._x) + 0.5
        pen = QPen(look.line, 1)
        pen.setDashPattern(list(look.dash))
        painter.setPen(pen)
        painter.drawLine(QPointF(x, self._top), QPointF(x, self._bottom))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(look.background)
        for point, color in self._marks:
            painter.setPen(QPen(color, 1.5))
            painter.drawEllipse(point, look.radius, look.radius)
        flag = self.flag()
        painter.setPen(QPen(look.line, 1))
        painter.setBrush(look.line if self._is_active else look.background)
        painter.drawRoundedRect(flag.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
        painter.setPen(look.on_flag if self._is_active else look.line)
        painter.setFont(look.font)
        painter.drawText(flag, Qt.AlignmentFlag.AlignCenter, self.letter)

    def hoverEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        if not event.isExit() and event.acceptDrags(Qt.MouseButton.LeftButton):
            self.setCursor(Qt.CursorShape.SizeHorCursor)
        else:
            self.unsetCursor()

    def mouseDragEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        """Tell where the mouse is; the owner snaps to samples."""
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        event.accept()
        if event.isStart():
            self.picked.emit()
        self.dragged.emit(float(event.scenePos().x()))

    def mouseClickEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        """A double click is meant for the plot behind."""
        if event.button() == Qt.MouseButton.LeftButton and not event.double():
            event.accept()
            self.picked.emit()

    def flag(self) -> QRectF:
        """Where its letter stands (scene coordinates)."""
        width, height = _FLAG[0] * self._look.factor, _FLAG[1] * self._look.factor
        return QRectF(int(self._x) + 0.5 - width / 2, self._top - height - 1, width, height)
