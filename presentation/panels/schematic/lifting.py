"""An element moved by hand: what a press, a drag and a release on it mean, in steps of the grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PyQt6.QtCore import QObject, QPointF, QRectF, Qt
from PyQt6.QtGui import QPainter, QPen

from presentation.ui.signals import Signal, signal

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QWidget

    from presentation.ui.workspace import WindowServices

_BEGINS = 5
"""Pixels from which on a press is a drag."""


class Drawn(Protocol):
    """What the drawing tells of itself."""

    @property
    def widget(self) -> QWidget: ...
    def body_of(self, element: str, by: tuple[int, int] = (0, 0)) -> QRectF: ...
    def update(self) -> None: ...


class Lifting(QObject):
    """Of one drawing."""

    dropped: Signal[str, int, int] = signal(str, int, int)
    """element, columns and rows it goes"""

    def __init__(self, services: WindowServices, drawn: Drawn) -> None:
        super().__init__(drawn.widget)
        self._services, self._drawn = services, drawn
        self._element = ""
        self._from = QPointF()
        self.is_moving = False
        self.by = (0, 0)
        """Columns and rows from where it stands."""

    def press(self, element: str, at: QPointF) -> bool:
        """Whether a move may begin here."""
        self._element, self._from = element, at
        self.is_moving, self.by = False, (0, 0)
        return bool(element)

    def move(self, at: QPointF, step: float) -> bool:
        """The pointer is elsewhere; `step`: pixels of the grid. Whether an element is held."""
        if not self._element:
            return False
        way = at - self._from
        if self.is_moving or way.manhattanLength() > _BEGINS:
            self.is_moving = True
            self.by = (round(way.x() / step), round(way.y() / step))
            self._drawn.widget.setCursor(Qt.CursorShape.SizeAllCursor)
            self._drawn.update()
        return True

    def release(self) -> bool:
        """Whether the press was a move, which ends here."""
        element, by, was_moving = self._element, self.by, self.is_moving
        self.drop()
        if was_moving and by != (0, 0):
            self.dropped.emit(element, *by)
        return was_moving

    def drop(self) -> bool:
        """No move after all; whether there was one."""
        had = self.is_moving
        self._element, self.is_moving, self.by = "", False, (0, 0)
        self._drawn.update()
        return had

    def paint(self, painter: QPainter) -> None:
        """Where the element would stand."""
        box = self._drawn.body_of(self._element, self.by) if self.is_moving else QRectF()
        if not box.isEmpty():
            theme = self._services.theme.theme
            painter.setPen(QPen(theme.color("accent.base"), 1.5, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box, 3, 3)
