"""A layout of rows that break where there is no more room."""

from __future__ import annotations

from PyQt6.QtCore import QPoint, QRect, QSize, Qt
from PyQt6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """From left to right, and into the next row where there is no room."""

    def __init__(self, parent: QWidget, *, gap: int) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.line_gap = -1
        """Between rows, where that is another one than between what stands in them."""
        self.setSpacing(gap)
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem | None) -> None:  # noqa: N802 - Qt's name
        if item is not None:
            self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 - Qt's name
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        return self._arrange(QRect(0, 0, width, 0), is_real=False)

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802 - Qt's name
        super().setGeometry(rect)
        self._arrange(rect, is_real=True)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return self.minimumSize()

    @property
    def line_width(self) -> int:
        """What all of it needs on one line."""
        shown = [item for item in self._items if (widget := item.widget()) is None or not widget.isHidden()]
        return sum(item.sizeHint().width() for item in shown) + self.spacing() * max(len(shown) - 1, 0)

    def minimumSize(self) -> QSize:  # noqa: N802 - Qt's name
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _arrange(self, area: QRect, *, is_real: bool) -> int:
        x, y, row = area.x(), area.y(), 0
        line_gap = self.spacing() if self.line_gap < 0 else self.line_gap
        for item in self._items:
            widget = item.widget()
            if widget is not None and widget.isHidden():
                continue
            size = item.sizeHint()
            if x > area.x() and x + size.width() > area.x() + area.width():
                x, y, row = area.x(), y + row + line_gap, 0
            if is_real:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self.spacing()
            row = max(row, size.height())
        return y + row - area.y()
