"""Draws the box that the mouse drags over a plot, and zooms into it when the button is let go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from PyQt6.QtCore import QObject, QPointF, QRectF, pyqtSignal
from PyQt6.QtWidgets import QGraphicsView

from presentation.panels.waveforms.panes import Pane
from presentation.panels.waveforms.sweep import SweepItem, Swept, directions, size_text
from presentation.panels.waveforms.traces import Axis
from presentation.ui.theme import Theme
from shared.message import Message, msg

_DECADE = msg("dec")


class SweptPlot(Protocol):
    """The plot it is drawn over."""

    @property
    def view(self) -> QGraphicsView: ...

    @property
    def panes(self) -> Sequence[Pane]: ...

    @property
    def axis(self) -> Axis | None: ...

    def say(self, message: Message) -> str:
        """A message in the language in force."""

    def zoom_box(
        self, pane: Pane, across: tuple[float, float] | None, upward: tuple[float, float] | None
    ) -> None:
        """Show a part of the axis, and of one pane with its right axes; None: as it is."""


class Sweeper(QObject):
    """The box of one plot."""

    zoomed = pyqtSignal()
    """somebody has zoomed into a box"""

    def __init__(self, area: SweptPlot) -> None:
        super().__init__(area.view)
        self._area = area
        self._item = SweepItem()
        scene = area.view.scene()
        assert scene is not None
        scene.addItem(self._item)
        self._factor = 1.0
        self._is_drawing = False

    @property
    def text(self) -> str:
        """The size of the box; "" without one."""
        return self._item.text if self._item.isVisible() else ""

    def use(self, theme: Theme) -> None:
        self._factor = theme.scale
        self._item.use(theme)

    def note_range(self) -> None:
        """Another part is shown: a measured box stood on what was shown before."""
        if not self._is_drawing:
            self._item.setVisible(False)

    def drop(self) -> bool:
        """Forget the box that is being drawn, or shown; whether there was one."""
        had_one = self._is_drawing or self._item.isVisible()
        for pane in self._area.panes:
            pane.box.drop()
        self._is_drawing = False
        self._item.setVisible(False)
        return had_one

    def sweep(self, pane: Pane, start: QPointF, now: QPointF, is_measured: bool, is_done: bool) -> None:
        """The mouse has drawn from `start` to `now` (scene) in a pane."""
        frame, axis = pane.box.sceneBoundingRect(), self._area.axis
        first, last = _inside(start, frame), _inside(now, frame)
        goes_across, goes_up = directions(first, last, self._factor)
        self._is_drawing = not is_done
        if axis is None or not (goes_across or goes_up):
            self._item.setVisible(False)
            return
        box = self._box(pane, first, last, goes_across=goes_across, goes_up=goes_up)
        corners = pane.box.mapSceneToView(box.topLeft()), pane.box.mapSceneToView(box.bottomRight())
        swept = Swept(
            across=(float(corners[0].x()), float(corners[1].x())) if goes_across else None,
            upward=(float(corners[1].y()), float(corners[0].y())) if goes_up else None,
        )
        if is_done and not is_measured:
            self.drop()
            self._area.zoom_box(pane, swept.across, swept.upward)
            self.zoomed.emit()
        else:
            view = self._area.view
            whole = QRectF(view.mapToScene(view.rect()).boundingRect())
            text = size_text(swept, axis, pane.kind, self._area.say(_DECADE))
            self._item.show_box(box, whole, last, text)

    def _box(self, pane: Pane, first: QPointF, last: QPointF, *, goes_across: bool, goes_up: bool) -> QRectF:
        box, frame = QRectF(first, last).normalized(), pane.box.sceneBoundingRect()
        if not goes_up:  # all panes have this axis
            box.setTop(self._area.panes[0].box.sceneBoundingRect().top())
            box.setBottom(self._area.panes[-1].box.sceneBoundingRect().bottom())
        if not goes_across:
            box.setLeft(frame.left())
            box.setRight(frame.right())
        return box


def _inside(place: QPointF, frame: QRectF) -> QPointF:
    return QPointF(
        min(max(place.x(), frame.left()), frame.right()), min(max(place.y(), frame.top()), frame.bottom())
    )
