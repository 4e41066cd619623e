"""Two horizontal cursors in a pane, dragged up and down: each has its value, the second the difference."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QObject, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen
from PyQt6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from presentation.panels.waveforms.figures import joined, quantity
from presentation.panels.waveforms.overlay import OverlaidPlot
from presentation.panels.waveforms.panes import Pane
from presentation.panels.waveforms.traces import PaneKind
from presentation.ui.theme import Theme

_REACH = 4.0
_GAP = 4.0
_PARTS = (1 / 3, 2 / 3)
"""Where they stand at first, in parts of the pane's height."""


class LevelItem(pg.GraphicsObject):  # type: ignore[misc]
    """One line with its words at the right end, in the coordinates of the scene."""

    dragged = pyqtSignal(float)
    """y in the scene"""

    def __init__(self) -> None:
        super().__init__()
        self._frame = QRectF()
        self._y = 0.0
        self.text = ""
        self._line, self._ground = QColor(), QColor()
        self._font = QFont()
        self.setZValue(990)
        self.setVisible(False)

    def use(self, theme: Theme) -> None:
        self._line, self._ground = theme.color("plot.cursor"), theme.color("plot.background")
        self._font = theme.tabular("caption")
        self.update()

    def show_level(self, frame: QRectF, y: float, text: str) -> None:
        self.prepareGeometryChange()
        self._frame, self._y, self.text = QRectF(frame), y, text
        self.setVisible(frame.top() <= y <= frame.bottom())
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        height = QFontMetricsF(self._font).height() + 2 * _GAP
        return QRectF(self._frame.left(), self._y - height, self._frame.width(), 2 * height)

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(QRectF(self._frame.left(), self._y - _REACH, self._frame.width(), 2 * _REACH))
        return path

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None) -> None:
        """The line on a whole pixel; the words above it, or below at the top of the pane."""
        y = int(self._y) + 0.5
        pen = QPen(self._line, 1)
        pen.setDashPattern([4.0, 3.0])
        painter.setPen(pen)
        painter.drawLine(QPointF(self._frame.left(), y), QPointF(self._frame.right(), y))
        painter.setFont(self._font)
        metrics = QFontMetricsF(self._font)
        width, height = metrics.horizontalAdvance(self.text) + _GAP, metrics.height()
        top = y - height - 1 if y - height > self._frame.top() else y + 1
        label = QRectF(self._frame.right() - width - _GAP, top, width, height)
        painter.fillRect(label, self._ground)
        painter.setPen(self._line)
        painter.drawText(label, Qt.AlignmentFlag.AlignCenter, self.text)

    def hoverEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        if not event.isExit() and event.acceptDrags(Qt.MouseButton.LeftButton):
            self.setCursor(Qt.CursorShape.SizeVerCursor)
        else:
            self.unsetCursor()

    def mouseDragEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        event.accept()
        self.dragged.emit(float(event.scenePos().y()))


class LevelCursors(QObject):
    """The pair of one plot; it stands in one pane."""

    changed = pyqtSignal()
    """somebody moved one, or showed or hid them"""

    def __init__(self, plot: OverlaidPlot) -> None:
        super().__init__(plot.view)
        self._plot = plot
        self._kind: PaneKind | None = None
        self._levels = [0.0, 0.0]
        """In the pane's coordinate."""
        self._items = (LevelItem(), LevelItem())
        for number, item in enumerate(self._items):
            item.dragged.connect(partial(self._drag, number))
            scene = plot.view.scene()
            assert scene is not None
            scene.addItem(item)

    @property
    def texts(self) -> tuple[str, ...]:
        """What they say; () while they are hidden."""
        return () if self._kind is None else tuple(item.text for item in self._items)

    def toggle(self, pane: Pane) -> None:
        """Show them in a pane, or hide them."""
        if self._kind is not None:
            self._kind = None
        else:
            low, high = pane.box.viewRange()[1]
            self._kind = pane.kind
            self._levels = [low + part * (high - low) for part in _PARTS]
        self.place()
        self.changed.emit()

    def use(self, theme: Theme) -> None:
        for item in self._items:
            item.use(theme)

    def place(self) -> None:
        """Where they are in what is shown now."""
        pane = next((each for each in self._plot.panes if each.kind == self._kind), None)
        if pane is None:
            for item in self._items:
                item.setVisible(False)
            return
        frame = pane.box.sceneBoundingRect()
        first, second = (10.0**each if pane.kind.is_log else each for each in self._levels)
        unit = pane.kind.unit
        texts = (
            joined(*quantity(first, unit)),
            f"{joined(*quantity(second, unit))}   Δ {joined(*quantity(second - first, unit))}",
        )
        for item, level, text in zip(self._items, self._levels, texts, strict=True):
            item.show_level(frame, pane.box.mapViewToScene(QPointF(0.0, level)).y(), text)

    def _drag(self, number: int, y: float) -> None:
        pane = next((each for each in self._plot.panes if each.kind == self._kind), None)
        if pane is not None:
            self._levels[number] = float(pane.box.mapSceneToView(QPointF(0.0, y)).y())
            self.place()
            self.changed.emit()
