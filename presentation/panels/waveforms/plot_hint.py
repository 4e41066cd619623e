"""One line under the plot that says what the mouse does there; it goes for good when somebody has done it."""

from __future__ import annotations

from PyQt6.QtWidgets import QHBoxLayout, QWidget

from presentation.ui.parts import ElidedLabel, arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg

HINT = msg("Drag zooms, a double click shows everything, a right click opens the menu.")


class PlotHint(QWidget):
    """The line. What the user knows of it is kept with the window."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.setObjectName("plot_hint")
        mark(self, surface="base", line="top")
        self._words = ElidedLabel()
        mark(self._words, role="small")
        self._row = arrange(QHBoxLayout(self), (self._words, 1))
        services.dress(self)

    @property
    def text(self) -> str:
        return self._words.text()

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        self.setFixedHeight(theme.size("row.table") + 1)
        self._row.setContentsMargins(theme.size("space.3"), 0, theme.size("space.3"), 0)

    def retranslate(self, _name: object = None) -> None:
        self._words.setText(self._services.language(HINT))

    def show_where_needed(self, *, has_room: bool) -> None:
        """While nobody has zoomed with the mouse."""
        self.setVisible(has_room and not self._services.workspace.views.knows_plot)

    def learned(self) -> None:
        """Somebody has done it."""
        views = self._services.workspace.views
        if not views.knows_plot:
            views.knows_plot = True
            views.tell()
            self.hide()
