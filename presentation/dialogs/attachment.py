"""An attached picture, or the text of an attached file, to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QPixmap
from PyQt6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from domain.llm.attachments import TEXT_SENT
from domain.llm.tools.result import cut_middle
from presentation.panels.conversation.attached import facts_of
from presentation.panels.conversation.elided import ElidedLabel
from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from presentation.panels.conversation.items import AttachedItem

_SIDE = 1600
"""Pixels of a picture that is shown; what a model is sent may be larger."""
_SHARE = 0.9
"""Of the window, at most."""
_SHARE_OF_TEXT = 0.7
_FRAME = QSize(32, 96)
"""About what is around the picture."""
_SMALLEST = QSize(360, 240)


class AttachmentDialog(QDialog):
    """Shows one; read off the loop."""

    def __init__(self, services: WindowServices, root: Path, item: AttachedItem, parent: QWidget) -> None:
        super().__init__(parent)
        self._behind = parent.window() or parent
        self._services = services
        self._root = root
        self._item = item
        self.setObjectName("attachmentDialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(item.attachment.name)
        theme = services.theme.theme
        self.picture = QLabel()
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setAccessibleName(item.attachment.name)
        self._area = QScrollArea()
        self._area.setWidget(self.picture)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(theme.font("mono"))
        self.text.setAccessibleName(item.attachment.name)
        mark(self.text, plain=True)
        body = QWidget()
        self._stack = QStackedLayout(body)
        self._stack.addWidget(self._area)
        self._stack.addWidget(self.text)
        self._facts = QLabel()
        mark(self._facts, role="caption")
        self._facts.setWordWrap(True)
        name = ElidedLabel()
        name.setText(item.attachment.name)
        mark(name, role="strong")
        close = QPushButton(services.language(msg("Close")))
        close.setDefault(True)
        close.clicked.connect(self.reject)
        foot = QHBoxLayout()
        foot.addWidget(self._facts, 1)
        foot.addWidget(close)
        layout = QVBoxLayout(self)
        edge = theme.size("space.3")
        layout.setContentsMargins(edge, edge, edge, edge)
        layout.setSpacing(theme.size("space.2"))
        layout.addWidget(name)
        layout.addWidget(body, 1)
        layout.addLayout(foot)
        self._take_place()
        services.start(self._fill(), kind="attachments")

    async def _fill(self) -> None:
        try:
            await (self._show_picture() if self._item.attachment.is_picture else self._show_text())
        except CircuitAIError as error:
            language = self._services.language
            advice = f"\n\n{language(error.advice)}" if error.advice is not None else ""
            self.picture.setText(language(error.message) + advice)
            self.picture.setWordWrap(True)

    async def _show_picture(self) -> None:
        attachments, item = self._services.app.attachments, self._item
        if item.prepared is not None and item.prepared.content is not None:
            data = await attachments.preview_of(item.prepared, _SIDE)
        else:
            data = await attachments.preview(self._root, item.attachment, _SIDE)
        shown = QPixmap()
        shown.loadFromData(data)
        most = self._most()
        if shown.width() > most.width() or shown.height() > most.height():
            shown = shown.scaled(
                most, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
        self.picture.setPixmap(shown)
        self._facts.setText(facts_of(item.attachment))

    async def _show_text(self) -> None:
        from application.conversation.attaching import read_text

        item, language = self._item, self._services.language
        prepared = item.prepared
        content = None if prepared is None else prepared.text or prepared.content
        if content is not None:
            text = read_text(content)
        else:
            text = await self._services.app.attachments.text(self._root, item.attachment)
        self.text.setPlainText(cut_middle(text, TEXT_SENT, TEXT_SENT))
        facts = facts_of(item.attachment)
        if item.attachment.is_shortened:
            told = language(msg("shown as a model is sent it: beginning and end"))
            facts = f"{facts} · {told}"
        self._facts.setText(facts)
        self._stack.setCurrentWidget(self.text)

    def _most(self) -> QSize:
        """What a picture may take of the window behind."""
        return self._behind.size() * _SHARE - _FRAME

    def _take_place(self) -> None:
        """Over the middle of the window, as large as its picture will be."""
        attachment = self._item.attachment
        size = self._most() * _SHARE_OF_TEXT
        if attachment.width and attachment.height:
            picture = QSize(attachment.width, attachment.height).boundedTo(QSize(_SIDE, _SIDE))
            size = QSize(attachment.width, attachment.height)
            size.scale(picture.boundedTo(self._most()), Qt.AspectRatioMode.KeepAspectRatio)
        self.resize((size + _FRAME).expandedTo(_SMALLEST))
        self.move(self._behind.frameGeometry().center() - self.rect().center())
