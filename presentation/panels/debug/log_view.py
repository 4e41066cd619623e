"""The end of the window's log: warnings and errors, the newest below."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtWidgets import QPlainTextEdit

from presentation.panels.debug.tally import EventTally
from presentation.ui.log_file import log_path
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg
from shared.paths import user_home

if TYPE_CHECKING:
    from application.groups.program import Program

_MOST_BYTES = 64 * 1024


class LogView(QPlainTextEdit):
    """A DebugView."""

    def __init__(self, services: WindowServices, _program: Program, _tally: EventTally) -> None:
        super().__init__()
        self._services = services
        self._path = log_path(user_home())
        self._shown = ""
        self.setObjectName("debugLog")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        mark(self, plain=True)
        services.dress(self)

    @property
    def plain_text(self) -> str:
        """The path, then the lines that are shown."""
        return f"{self._path}\n{self._shown}"

    async def refresh(self) -> None:
        """Read the file's end; somebody who reads further up is left there."""
        text = await asyncio.to_thread(_tail, self._path)
        if text == self._shown:
            return
        self._shown = text
        bar = self.verticalScrollBar()
        assert bar is not None
        place, follows = bar.value(), bar.value() >= bar.maximum()
        self.setPlainText(text)
        bar.setValue(bar.maximum() if follows else place)

    async def examine(self) -> None:
        """The same: the file is all there is."""
        await self.refresh()

    def restyle(self) -> None:
        self.setFont(self._services.theme.theme.font("mono_small"))

    def retranslate(self) -> None:
        """What stands there while nothing was logged."""
        language = self._services.language
        self.setAccessibleName(language(msg("Log")))
        self.setPlaceholderText(
            language(
                msg(
                    "Warnings and errors of the program appear here and in {file}.",
                    file=self._path,
                )
            )
        )


def _tail(path: Path) -> str:
    """The last lines of a file, whole ones; "" without one."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - _MOST_BYTES, 0))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return (text.partition("\n")[2] if size > _MOST_BYTES else text).rstrip()
