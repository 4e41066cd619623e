"""The list under the command box."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PyQt6.QtCore import QPoint, QRect, Qt, pyqtSignal
from PyQt6.QtGui import QStandardItem, QStandardItemModel
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from presentation.ui.parts import arrange
from presentation.ui.rows import Role, RowLook, RowTree, joined
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A line the command box offers."""

    text: str
    detail: str
    icon: str
    act: Callable[[], object]
    is_content: bool = False
    """A line of a file that has the text: below what has it in its name."""
    also: tuple[str, ...] = ()
    """Other names it is found by."""


class HitList(QWidget):
    """The lines below the box. The keyboard stays with the box."""

    taken = pyqtSignal(int)
    """row"""

    def __init__(self, services: WindowServices, window: QWidget) -> None:
        super().__init__(window)
        self._services = services
        self._window = window
        self.setObjectName("commandHits")
        mark_area(self, card=True)
        self._rows = QStandardItemModel(self)
        self._list = RowTree(services, "commandRows", is_list=True)
        self._list.setModel(self._rows)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.clicked.connect(lambda index: self.taken.emit(index.row()))
        arrange(QVBoxLayout(self), self._list, edges=1)

    @property
    def chosen(self) -> int:
        """The row Enter takes, -1 for none."""
        return self._list.currentIndex().row()

    def choose(self, row: int) -> None:
        self._list.setCurrentIndex(self._rows.index(row, 0))

    def offer(self, hits: Sequence[Hit], *, below: QPoint, least_width: int, note: str = "") -> None:
        """Show these below a point of the window, the first one chosen; for none `note`, "" = nothing."""
        theme = self._services.theme.theme
        self._rows.clear()
        if note and not hits:
            row = QStandardItem(note)
            row.setData(RowLook(color="text.secondary"), int(Role.LOOK))
            row.setEnabled(False)
            self._rows.appendRow(row)
        for hit in hits:
            row = QStandardItem(hit.text)
            values = (hit.detail,) if hit.detail else ()
            look = RowLook(icon=hit.icon, values=values, value_style="small", ends_with_place=hit.is_content)
            row.setData(look, int(Role.LOOK))
            row.setToolTip(joined((hit.text, hit.detail)))
            self._rows.appendRow(row)
        self.choose(0)
        width = max(least_width, theme.size("pane.left_default") * 2)
        height = self._list.sizeHintForRow(0) * self._rows.rowCount() + 2
        left = min(below.x(), self._window.width() - width - theme.size("space.2"))
        self.setGeometry(QRect(left, below.y() + theme.size("space.1"), width, height))
        self.setVisible(self._rows.rowCount() > 0)
        self.raise_()
