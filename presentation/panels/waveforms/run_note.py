"""What has to be known of the shown run, in a line above its curves or tables; the way to run it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QWidget

from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


class RunNote(QWidget):
    """Hidden while there is nothing to say. `circuit` is that of the shown run, whatever the editor shows."""

    def __init__(self, services: WindowServices, name: str, circuit: Callable[[], Path | None]) -> None:
        super().__init__()
        self._services, self._circuit = services, circuit
        self._icon = QLabel()
        self._text = text_label(name=f"{name}_note", wraps=True)
        self._again = push_button(name=f"{name}_again", clicked=self._run_again, kind="link")
        self._row = arrange(QHBoxLayout(self), self._icon, (self._text, 1), self._again)
        self._row.setAlignment(self._icon, Qt.AlignmentFlag.AlignTop)

    @property
    def text(self) -> str:
        return self._text.text()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, small = theme.size("space.3"), theme.size("space.1")
        arrange(self._row, edges=(edge, small, edge, small), gap=theme.size("space.2"))

    def retranslate(self) -> None:
        self._again.setText(self._services.language(msg("Run again")))

    def show_notes(
        self, notes: Sequence[Message], *, is_stale: bool, tone: Literal["tertiary", "warn", "error"]
    ) -> None:
        """`is_stale`: the circuit has changed since, and may be run again."""
        self.setVisible(bool(notes))
        self._again.setVisible(is_stale)
        self._icon.setVisible(is_stale or tone == "warn")
        if notes:
            side = self._services.theme.theme.size("icon.small")
            icon, color = ("clock", "text.tertiary") if is_stale else ("triangle-alert", "warn.icon")
            self._icon.setPixmap(self._services.icons.get(icon, color, side).pixmap(QSize(side, side)))
            mark(self._text, role=tone)
            self._text.setText("   ".join(map(self._services.language, notes)))

    def _run_again(self, _checked: bool = False) -> None:
        if (circuit := self._circuit()) is not None:
            self._services.workspace.circuit_run_requested.emit(circuit)
