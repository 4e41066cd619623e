"""The box that the mouse draws over a plot: what it will show, how large it is, and its size in figures."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PyQt6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from presentation.panels.waveforms.figures import SPACE, fixed, joined, quantity
from presentation.panels.waveforms.traces import Axis, PaneKind
from presentation.ui.theme import Theme

_FLAT = 9.0
"""Pixels: a box that is lower zooms along the axis only, one that is narrower upward only."""
_FILL = 0.12
_GAP = 6.0
_DELTA = "Δ"
_SYMBOLS = {"time": "t", "frequency": "f"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a box takes in, in the coordinates of axis and pane; None for a direction it leaves alone."""

    across: tuple[float, float] | None
    upward: tuple[float, float] | None


def directions(start: QPointF, now: QPointF, factor: float) -> tuple[bool, bool]:
    """Whether a drag between two places (pixels at the scale `factor`) means x, and whether it means y."""
    wide, high = abs(now.x() - start.x()), abs(now.y() - start.y())
    least = _FLAT * factor
    if wide < least and high < least:
        return False, False
    return wide >= least, high >= least


def size_text(swept: Swept, axis: Axis, kind: PaneKind, decade: str) -> str:
    """The size of a box in figures: ``Δt 1.200 ms   1/Δt 833.3 Hz   Δ 2.000 V``."""
    parts = []
    if swept.across is not None:
        low, high = (10.0**each if axis.is_log else each for each in swept.across)
        name = f"{_DELTA}{_SYMBOLS.get(axis.name, axis.name)}"
        parts.append(f"{name} {joined(*quantity(high - low, axis.unit))}")
        if axis.unit == "s" and high > low:
            parts.append(f"1/{name} {joined(*quantity(1 / (high - low), 'Hz'))}")
        if axis.is_log:
            parts.append(f"{fixed(swept.across[1] - swept.across[0], 2)}{SPACE}{decade}")
    if swept.upward is not None:
        bottom, top = (10.0**each if kind.is_log else each for each in swept.upward)
        parts.append(f"{_DELTA} {joined(*quantity(top - bottom, kind.unit))}")
    return "   ".join(part for part in parts if math.isfinite(len(part)))


class SweepItem(pg.GraphicsObject):  # type: ignore[misc]
    """The box as it is drawn, in the coordinates of the scene."""

    def __init__(self) -> None:
        super().__init__()
        self._box = QRectF()
        self._whole = QRectF()
        self._pointer = QPointF()
        self._text = ""
        self._line, self._ground, self._ink = QColor(), QColor(), QColor()
        self._font = QFont()
        self.setZValue(1100)  # its words over the lines of cursors
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.setVisible(False)

    @property
    def text(self) -> str:
        """The size it says."""
        return self._text

    def use(self, theme: Theme) -> None:
        self._line, self._ground = theme.color("accent.base"), theme.color("surface.raised")
        self._ink, self._font = theme.color("text.primary"), theme.tabular("small")
        self.update()

    def show_box(self, box: QRectF, whole: QRectF, pointer: QPointF, text: str) -> None:
        """Draw `box`, the words beside the pointer and inside `whole`."""
        self.prepareGeometryChange()
        self._box, self._whole, self._pointer, self._text = box, whole, pointer, text
        self.setVisible(True)
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        return self._whole

    def shape(self) -> pg.QtGui.QPainterPath:
        """Nothing that the mouse could be on."""
        return pg.QtGui.QPainterPath()

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None) -> None:
        """The box, and the words on a ground of their own."""
        fill = QColor(self._line)
        fill.setAlphaF(_FILL)
        painter.fillRect(self._box, fill)
        painter.setPen(QPen(self._line, 1))
        painter.drawRect(self._box)
        metrics = QFontMetricsF(self._font)
        width, height = metrics.horizontalAdvance(self._text) + 2 * _GAP, metrics.height() + _GAP
        left = self._pointer.x() + 2 * _GAP
        if left + width > self._whole.right():
            left = self._pointer.x() - 2 * _GAP - width
        left = max(left, self._whole.left())
        top = min(max(self._pointer.y() + _GAP, self._whole.top()), self._whole.bottom() - height)
        label = QRectF(left, top, width, height)
        painter.fillRect(label, self._ground)
        painter.drawRect(label)
        painter.setPen(self._ink)
        painter.setFont(self._font)
        painter.drawText(label, Qt.AlignmentFlag.AlignCenter, self._text)
