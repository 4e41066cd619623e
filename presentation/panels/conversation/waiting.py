"""The message that was typed while a run was under way: it waits, and can be changed or dropped."""

from __future__ import annotations

from PyQt6.QtCore import QSize, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QWidget

from presentation.ui.elided import ElidedLabel
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange
from presentation.ui.workspace import WindowServices
from shared.message import msg


class WaitingRow(QWidget):
    """Shown only while something waits."""

    edit_clicked = pyqtSignal()
    drop_clicked = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._icon = QLabel()
        self._text = ElidedLabel()
        self._text.setObjectName("waitingText")
        self._edit = IconButton(services, "pencil", msg("Edit queued message"), name="editWaiting")
        self._edit.clicked.connect(self.edit_clicked)
        self._drop = IconButton(services, "x", msg("Discard queued message"), name="dropWaiting")
        self._drop.clicked.connect(self.drop_clicked)
        self._row = arrange(QHBoxLayout(self), self._icon, (self._text, 1), self._edit, self._drop)
        self.hide()

    def show_text(self, text: str, *, files: int = 0) -> None:
        """What waits, and how many files with it; "" when nothing does."""
        line = " ".join(text.split())
        shown = msg("Queued: “{text}”", text=line)
        if files:
            shown = msg("Queued, {count} attached: “{text}”", text=line, count=files)
        self._text.setText(self._services.language(shown))
        self.setVisible(bool(text))

    def restyle(self) -> None:
        theme = self._services.theme.theme
        side = theme.size("icon.small")
        gap = theme.size("space.1")
        arrange(self._row, edges=(gap, 0, 0, 0), gap=gap)
        self._text.setFont(theme.font("small"))
        icon = self._services.icons.get("clock", "text.secondary", side)
        self._icon.setPixmap(icon.pixmap(QSize(side, side), self.devicePixelRatioF()))
