"""The editor's scroll bar, which shows where in the file problems and changes are."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QPainter, QPaintEvent
from PyQt6.QtWidgets import QScrollBar

from presentation.ui.workspace import WindowServices

_COLORS = {"error": "error.icon", "warning": "warn.icon", "info": "info.icon"}


class OverviewBar(QScrollBar):
    """Marks on the groove: a line a problem, a bar a changed block."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._services = services
        self._lines = 1
        self._problems: tuple[tuple[int, str], ...] = ()
        self._changes: tuple[tuple[int, int], ...] = ()

    def set_problems(self, marks: Sequence[tuple[int, str]], lines: int) -> None:
        """Line (from 1) and severity of each problem, in a text of `lines` lines."""
        self._problems, self._lines = tuple(marks), max(lines, 1)
        self.update()

    def set_changes(self, changes: Sequence[tuple[int, int]], lines: int) -> None:
        """First and last line of each changed block."""
        self._changes, self._lines = tuple(changes), max(lines, 1)
        self.update()

    def restyle(self) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        super().paintEvent(event)
        theme = self._services.theme.theme
        painter = QPainter(self)
        painter.fillRect(0, 0, 1, self.height(), theme.color("border.subtle"))
        thin = theme.size("space.half")
        for first, last in self._changes:
            top, bottom = self._y(first), self._y(last + 1)
            area = QRectF(thin, top, thin + 1, max(bottom - top, thin))
            painter.fillRect(area, theme.color("info.icon"))
        for line, severity in self._problems:
            area = QRectF(thin, self._y(line), self.width() - thin, thin)
            painter.fillRect(area, theme.color(_COLORS[severity]))
        painter.end()

    def _y(self, line: int) -> float:
        return (line - 1) / self._lines * self.height()
