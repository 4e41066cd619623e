"""A label whose text is shortened to the room it has."""

from __future__ import annotations

from math import ceil

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PyQt6.QtWidgets import QLabel, QStyle


class ElidedLabel(QLabel):
    """One line of plain text; the whole of it is in the tooltip."""

    def setText(self, text: str | None) -> None:  # noqa: N802 - Qt's name
        super().setText(text)
        self.setToolTip(text or "")

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(0, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        width = QFontMetricsF(self.fontMetrics()).horizontalAdvance(self.text())
        return QSize(ceil(width), super().sizeHint().height())  # a rounded width would lack a pixel

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        painter, style = QPainter(self), self.style()
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        if isinstance(style, QStyle):
            alignment = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            style.drawItemText(
                painter,
                self.rect(),
                alignment,
                self.palette(),
                self.isEnabled(),
                shown,
                self.foregroundRole(),
            )
