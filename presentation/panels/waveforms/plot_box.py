"""The hands of the mouse in one pane: a box to zoom into, panning, the wheel, clicks and the menu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QPoint, QPointF, Qt, pyqtSignal

_NOTCH = 120
"""What a wheel tells of one notch."""
_PAN_SHARE = 0.1
"""Of what is shown, that one notch with Shift pans."""

_Drag = Literal["zoom", "measure", "pan", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotPlace:
    """Where somebody asks for a menu."""

    pane: int
    at: float
    """On the axis, in its coordinate."""
    on_screen: QPoint
    in_scene: QPointF = field(default_factory=QPointF)


class PlotBox(pg.ViewBox):  # type: ignore[misc]
    """Tells what the mouse wants; only panning and the wheel act here. The right button never drags."""

    clicked = pyqtSignal(float)
    """x in the scene"""
    double_clicked = pyqtSignal()
    menu_wanted = pyqtSignal(QPointF)
    """the place in the scene"""
    lifted = pyqtSignal(tuple, tuple)
    """the range upward before and after the hand moved it, not on an axis"""
    swept = pyqtSignal(QPointF, QPointF, bool, bool)
    """where a box began and where it is now, in the scene; whether it only measures; whether it is done"""

    def __init__(self) -> None:
        super().__init__(enableMenu=False)
        self.disableAutoRange()
        self._drag: _Drag = ""
        self.takes_mouse = True
        """False: it lies over another box, which is meant."""

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:  # noqa: N802 - Qt's name
        """Zoom along the axis, with Ctrl upward; Shift pans."""
        if not self.takes_mouse and axis is None:
            event.ignore()
            return
        modifiers = event.modifiers()
        if modifiers & Qt.KeyboardModifier.ShiftModifier:
            (low, high), (bottom, top) = self.viewRange()
            notches = event.delta() / _NOTCH
            if axis == 1:
                self.translateBy(y=notches * _PAN_SHARE * (top - bottom))
            else:
                self.translateBy(x=-notches * _PAN_SHARE * (high - low))
            self.sigRangeChangedManually.emit([axis != 1, axis == 1])
            event.accept()
            return
        before, is_on_axis = self.viewRange()[1], axis is not None
        if axis is None:
            axis = 1 if modifiers & Qt.KeyboardModifier.ControlModifier else 0
        super().wheelEvent(event, axis)
        self._tell_lift(before, is_on_axis=is_on_axis)

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:  # noqa: N802 - pyqtgraph's name
        """`axis`: the drag is on the labels of that axis, and pans it alone."""
        if not self.takes_mouse and axis is None:
            event.ignore()
            return
        event.accept()
        if event.isStart():
            self._drag = _meaning(event, axis)
        if self._drag == "pan":
            upward = self.viewRange()[1]
            before, now = self.mapSceneToView(event.lastScenePos()), self.mapSceneToView(event.scenePos())
            self.translateBy(
                x=None if axis == 1 else before.x() - now.x(), y=None if axis == 0 else before.y() - now.y()
            )
            self.sigRangeChangedManually.emit([axis != 1, axis != 0])
            self._tell_lift(upward, is_on_axis=axis is not None)
        elif self._drag:
            start, now = QPointF(event.buttonDownScenePos()), QPointF(event.scenePos())
            self.swept.emit(start, now, self._drag == "measure", event.isFinish())

    def _tell_lift(self, before: Sequence[float], *, is_on_axis: bool) -> None:
        after = self.viewRange()[1]
        if not is_on_axis and list(after) != list(before):
            self.lifted.emit(tuple(before), tuple(after))

    def drop(self) -> None:
        """What the mouse still drags means nothing any more."""
        self._drag = ""

    def mouseClickEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        if not self.takes_mouse:
            event.ignore()
        elif event.button() == Qt.MouseButton.RightButton:
            event.accept()
            self.menu_wanted.emit(QPointF(event.scenePos()))
        elif event.button() == Qt.MouseButton.LeftButton:
            event.accept()
            if event.double():
                self.double_clicked.emit()
            else:
                self.clicked.emit(float(event.scenePos().x()))


def _meaning(event: Any, axis: int | None) -> _Drag:
    modifiers = event.modifiers()
    if event.button() == Qt.MouseButton.RightButton:
        return ""
    if (
        axis is not None
        or event.button() == Qt.MouseButton.MiddleButton
        or modifiers & Qt.KeyboardModifier.ControlModifier
    ):
        return "pan"
    return "measure" if modifiers & Qt.KeyboardModifier.ShiftModifier else "zoom"
