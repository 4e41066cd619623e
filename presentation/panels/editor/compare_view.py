"""What differs between the text on the disk and the one in the editor, to read before choosing."""

from __future__ import annotations

from typing import cast

from PyQt6.QtGui import QTextBlockFormat, QTextCharFormat, QTextCursor
from PyQt6.QtWidgets import QTextEdit, QVBoxLayout, QWidget

from domain.llm.tools.text_files import LineDiff
from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import msg


class CompareView(QWidget):
    """A unified difference, read only."""

    def __init__(self, services: WindowServices, diff: LineDiff) -> None:
        super().__init__()
        self._services = services
        self._diff = diff
        self.text = QTextEdit()
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QTextEdit.LineWrapMode.NoWrap)
        mark(self.text, plain=True)
        arrange(QVBoxLayout(self), self.text, edges=0)
        self.setFocusProxy(self.text)
        self.restyle()
        self.retranslate()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        mono, fixed = theme.font("mono_small"), cast(int, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        self.text.clear()
        cursor = QTextCursor(self.text.document())
        for number, line in enumerate(self._diff.text.splitlines()):
            if number:
                cursor.insertBlock()
            token = {"+": "add", "-": "del"}.get(line[:1]) if number > 1 else None
            block, letters = QTextBlockFormat(), QTextCharFormat()
            letters.setFont(mono)
            block.setLineHeight(theme.size("row.diff"), fixed)
            if token is not None:
                block.setBackground(theme.color(f"diff.{token}_bg"))
                letters.setForeground(theme.color(f"diff.{token}_text"))
            else:
                letters.setForeground(theme.color("text.secondary"))
            cursor.setBlockFormat(block)
            cursor.insertText(line, letters)
        self.text.moveCursor(QTextCursor.MoveOperation.Start)

    def retranslate(self) -> None:
        self.text.setAccessibleName(
            self._services.language(msg("Differences: the file on disk and your text"))
        )
