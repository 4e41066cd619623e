"""Labels at places of curves: dragged, changed by a double click, removed by a middle click."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QObject, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen
from PyQt6.QtWidgets import QLineEdit, QStyleOptionGraphicsItem, QWidget

from application.project.window_state import PlotLabel
from presentation.panels.waveforms.overlay import OverlaidPlot
from presentation.ui.styles import mark
from presentation.ui.theme import Theme
from shared.message import msg

_GAP = 4.0


class LabelItem(pg.GraphicsObject):  # type: ignore[misc]
    """One label and the line to its place, in the coordinates of the scene."""

    moved = pyqtSignal(QPointF)
    """by so much"""
    edit_wanted = pyqtSignal()
    removed = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self._tip, self._box = QPointF(), QRectF()
        self.text = ""
        self._line, self._ground, self._ink = QColor(), QColor(), QColor()
        self._font = QFont()
        self.setZValue(980)
        self.setVisible(False)

    def use(self, theme: Theme) -> None:
        self._line, self._ground = theme.color("border.strong"), theme.color("plot.background")
        self._ink, self._font = theme.color("text.primary"), theme.font("small")

    def show_at(self, tip: QPointF, offset: QPointF, text: str, frame: QRectF) -> None:
        """Point at `tip`; the words stand `offset` from it, inside `frame`."""
        self.prepareGeometryChange()
        metrics = QFontMetricsF(self._font)
        size = metrics.size(0, text)
        width, height = size.width() + 3 * _GAP, size.height() + _GAP
        left = min(max(tip.x() + offset.x(), frame.left()), max(frame.right() - width, frame.left()))
        top = min(max(tip.y() + offset.y(), frame.top()), max(frame.bottom() - height, frame.top()))
        self._tip, self._box, self.text = tip, QRectF(left, top, width, height), text
        self.setVisible(True)
        self.update()

    @property
    def box(self) -> QRectF:
        return self._box

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        return self._box.united(QRectF(self._tip, self._tip).adjusted(-3, -3, 3, 3)).adjusted(-1, -1, 1, 1)

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self._box)
        return path

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._line, 1))
        near = QPointF(
            min(max(self._tip.x(), self._box.left()), self._box.right()),
            min(max(self._tip.y(), self._box.top()), self._box.bottom()),
        )
        painter.drawLine(self._tip, near)
        painter.setBrush(self._ground)
        painter.drawEllipse(self._tip, 2.5, 2.5)
        painter.drawRoundedRect(self._box, 2, 2)
        painter.setPen(self._ink)
        painter.setFont(self._font)
        painter.drawText(self._box, Qt.AlignmentFlag.AlignCenter, self.text)

    def mouseDragEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        event.accept()
        self.moved.emit(QPointF(event.scenePos() - event.lastScenePos()))

    def mouseClickEvent(self, event: Any) -> None:  # noqa: N802 - pyqtgraph's name
        """A double click writes it anew, a middle click takes it away."""
        if event.button() == Qt.MouseButton.MiddleButton:
            event.accept()
            self.removed.emit()
        elif event.button() == Qt.MouseButton.LeftButton:
            event.accept()
            if event.double():
                self.edit_wanted.emit()


class PlotLabels(QObject):
    """The labels of one plot."""

    changed = pyqtSignal(list)
    """they are others now"""

    def __init__(self, plot: OverlaidPlot) -> None:
        super().__init__(plot.view)
        self._plot = plot
        self._labels: list[PlotLabel] = []
        self._items: list[LabelItem] = []
        self._theme: Theme | None = None
        self._field = _Field(plot.view)
        self._written: Callable[[str], None] = lambda _text: None
        self._field.returnPressed.connect(self._take)

    @property
    def labels(self) -> Sequence[PlotLabel]:
        return self._labels

    def use(self, theme: Theme) -> None:
        self._theme = theme
        for item in self._items:
            item.use(theme)

    def show_labels(self, labels: Sequence[PlotLabel]) -> None:
        self._labels = list(labels)
        self.place()

    def place(self) -> None:
        """Where they are in what is shown now; items are used again and again, never deleted."""
        while len(self._items) < len(self._labels):
            self._items.append(self._new_item(len(self._items)))
        for item in self._items[len(self._labels) :]:
            item.setVisible(False)
        axis = self._plot.axis
        for label, item in zip(self._labels, self._items, strict=False):
            found = None
            if axis is not None:
                sample = axis.nearest(axis.coordinate(label.at))
                found = self._plot.place_of(label.expression, sample)
            if found is None:
                item.setVisible(False)
            else:
                pane, tip = found
                item.show_at(tip, QPointF(label.dx, label.dy), label.text, pane.box.sceneBoundingRect())

    def write(self, label: PlotLabel) -> None:
        """Ask for the words of a new label, beside its place."""
        axis = self._plot.axis
        if axis is None:
            return
        found = self._plot.place_of(label.expression, axis.nearest(axis.coordinate(label.at)))
        if found is not None:
            self._ask(found[1], label.text, partial(self._add, label))

    def remove_last(self) -> bool:
        """Take away the one that was added last; whether there was one."""
        if not self._labels:
            return False
        self._change(self._labels[:-1])
        return True

    def _ask(self, place: QPointF, text: str, written: Callable[[str], None]) -> None:
        self._written = written
        where = self._plot.view.mapFromScene(place)
        self._field.setAccessibleName(self._plot.say(msg("Label at the cursor…")))
        self._field.setText(text)
        self._field.adjustSize()
        width = max(QFontMetricsF(self._field.font()).horizontalAdvance(text) + 40, 120)
        self._field.setFixedWidth(round(width))
        room = self._plot.view.rect()
        left = min(max(where.x() + 8, 0), max(room.width() - self._field.width(), 0))
        top = min(max(where.y() - self._field.height() - 8, 0), max(room.height() - self._field.height(), 0))
        self._field.move(left, top)
        self._field.show()
        self._field.selectAll()
        self._field.setFocus(Qt.FocusReason.PopupFocusReason)

    def _take(self) -> None:
        text = self._field.text().strip()
        self._field.leave()
        if text:
            self._written(text)

    def _add(self, label: PlotLabel, text: str) -> None:
        label.text = text
        self._change([*self._labels, label])

    def _new_item(self, number: int) -> LabelItem:
        item = LabelItem()
        if self._theme is not None:
            item.use(self._theme)
        item.moved.connect(partial(self._move, number))
        item.edit_wanted.connect(lambda: self._edit(number))
        item.removed.connect(lambda: self._change([*self._labels[:number], *self._labels[number + 1 :]]))
        scene = self._plot.view.scene()
        assert scene is not None
        scene.addItem(item)
        return item

    def _move(self, number: int, by: QPointF) -> None:
        label = self._labels[number]
        label.dx, label.dy = label.dx + by.x(), label.dy + by.y()
        self._change(self._labels)

    def _edit(self, number: int) -> None:
        label = self._labels[number]

        def written(text: str) -> None:
            label.text = text
            self._change(self._labels)

        self._ask(self._items[number].box.topLeft(), label.text, written)

    def _change(self, labels: Sequence[PlotLabel]) -> None:
        self._labels = list(labels)
        self.place()
        self.changed.emit(self._labels)


class _Field(QLineEdit):
    """Enter takes what is written, Escape and a click elsewhere leave it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("label_text")
        mark(self, small=True)
        self.hide()
        self.editingFinished.connect(self.hide)

    def leave(self) -> None:
        self.hide()
        parent = self.parentWidget()
        if parent is not None:
            parent.setFocus()

    def keyPressEvent(self, event: pg.QtGui.QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """What is left of a key ends here: behind the field is the plot, whose keys are others."""
        if event is None:
            return
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)
        event.accept()
