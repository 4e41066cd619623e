"""Lines that are offered while somebody types: below the command box, above the message."""

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
    """A line that is offered."""

    text: str
    detail: str
    icon: str
    act: Callable[[], object]
    is_content: bool = False
    """A line of a file that has the text: below what has it in its name."""
    also: tuple[str, ...] = ()
    """Other names it is found by."""
    is_heading: bool = False
    """Of those below; it can't be taken."""


class HitList(QWidget):
    """The lines. The keyboard stays where one types."""

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

    def step(self, by: int) -> None:
        """Choose the next (1) or the one before (-1), headings left out; behind the last comes the first."""
        count, row = self._rows.rowCount(), self.chosen
        for _ in range(count):
            row = (row + by) % count
            item = self._rows.item(row)
            if item is not None and item.isEnabled():
                self.choose(row)
                return

    def offer(
        self,
        hits: Sequence[Hit],
        *,
        below: QPoint | None = None,
        above: QPoint | None = None,
        least_width: int,
        note: str = "",
        most_rows: int = 0,
    ) -> None:
        """Show these below or above a point of the window, the first one chosen; for none `note`.

        Of more than `most_rows` (0: as many as there are) the others are scrolled to.
        """
        theme = self._services.theme.theme
        self._rows.clear()
        if note and not hits:
            row = QStandardItem(note)
            row.setData(RowLook(color="text.secondary"), int(Role.LOOK))
            row.setEnabled(False)
            self._rows.appendRow(row)
        for hit in hits:
            row = QStandardItem(hit.text)
            row.setEnabled(not hit.is_heading)
            if hit.is_heading:
                row.setData(RowLook(color="text.tertiary"), int(Role.LOOK))
                self._rows.appendRow(row)
                continue
            values = (hit.detail,) if hit.detail else ()
            look = RowLook(icon=hit.icon, values=values, value_style="small", ends_with_place=hit.is_content)
            row.setData(look, int(Role.LOOK))
            row.setToolTip(joined((hit.text, hit.detail)))
            self._rows.appendRow(row)
        self.choose(-1)
        self.step(1)
        width = least_width if above is not None else max(least_width, theme.size("pane.left_default") * 2)
        count = self._rows.rowCount()
        height = self._list.sizeHintForRow(0) * (min(count, most_rows) if most_rows else count) + 2
        place = above or below or QPoint()
        left = min(place.x(), self._window.width() - width - theme.size("space.2"))
        gap = theme.size("space.1")
        top = place.y() - gap - height if above is not None else place.y() + gap
        self.setGeometry(QRect(max(left, 0), max(top, 0), width, height))
        self.setVisible(self._rows.rowCount() > 0)
        self.raise_()
