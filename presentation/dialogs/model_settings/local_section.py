"""How Ollama on this computer does: running, not running, not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QFrame, QLabel, QVBoxLayout

from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from domain.llm.local_server import LocalServerStatus

_STATES: dict[str, Message] = {
    "running": msg("Ollama is running."),
    "not_running": msg("Ollama is installed but not running."),
    "not_installed": msg("Ollama is not installed."),
}


class LocalSection(QFrame):
    """Shown for Ollama only."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._status: LocalServerStatus | None = None
        self.setObjectName("modelLocal")
        mark(self, card=True)
        self.state, self.advice = QLabel(), QLabel()
        self.state.setObjectName("modelLocalState")
        for label in (self.state, self.advice):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        mark(self.state, role="strong")
        mark(self.advice, role="small")
        self._column = arrange(QVBoxLayout(self), self.state, self.advice)
        self.hide()

    def show_looking(self) -> None:
        """It is not known yet."""
        self._status = None
        self.retranslate()

    def show_status(self, status: LocalServerStatus) -> None:
        self._status = status
        self.retranslate()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        self._column.setContentsMargins(edge, gap, edge, gap)

    def retranslate(self) -> None:
        language, status = self._services.language, self._status
        if status is None:
            self.state.setText(language(msg("Looking for Ollama…")))
            self.advice.hide()
            return
        told = _STATES.get(status.state) or status.message or msg("Ollama does not respond correctly.")
        if status.state == "running" and status.version:
            told = msg("Ollama {version} is running; models: {count}.", version=status.version,
                       count=len(status.models))  # fmt: skip
        self.state.setText(language(told))
        self.advice.setText("" if status.advice is None else language(status.advice))
        self.advice.setVisible(status.advice is not None)
