"""What is told in a line above the panes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PyQt6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from presentation.ui.keys_back import KeysBack
from presentation.ui.parts import arrange
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message


class Notice(QWidget):
    """Told in a line above the panes, with buttons: it waits there, and takes no keys from anybody."""

    sign = "triangle-alert", "warn.icon"
    """Icon and its color."""

    def __init__(self, services: WindowServices, name: str, buttons: Mapping[QPushButton, Message]) -> None:
        super().__init__()
        self._services = services
        self._buttons = buttons
        self._icon, self.label = QLabel(), QLabel()
        self.label.setWordWrap(True)
        self._row = arrange(QHBoxLayout(self), self._icon, (self.label, 1))
        for button in buttons:
            self._row.addWidget(button)
        self.setObjectName(name)
        mark_area(self, surface="panel", line="bottom")
        KeysBack(self)

    def texts(self) -> Sequence[Message]:
        """What it tells, a line each."""
        raise NotImplementedError

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, gap, size = theme.size("space.3"), theme.size("space.1"), theme.size("icon.default")
        arrange(self._row, edges=(edge, gap, edge, gap), gap=theme.size("space.2"))
        icon = self._services.icons.get(*self.sign, size)
        self._icon.setPixmap(icon.pixmap(size, size))

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        self.label.setText("\n".join(language(text) for text in self.texts()))
        for button, text in self._buttons.items():
            button.setText(language(text))
