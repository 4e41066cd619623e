"""A page among the editor's tabs that is no file: it belongs to a circuit and shows something of it."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtWidgets import QWidget


class CentrePage(QWidget):
    """What a tab needs to know of it; `EditorArea.show_page` takes it."""

    icon = "file"
    circuit: Path
    """F5 means it while the page is in front."""

    def tab_title(self) -> str:
        """In the language in force."""
        raise NotImplementedError

    def restyle(self) -> None:
        """In the theme in force."""

    def retranslate(self) -> None:
        """In the language in force."""

    def end(self) -> None:
        """Its tab is closed: nothing of it goes on."""
