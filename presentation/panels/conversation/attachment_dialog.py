"""An attached picture, or the text of an attached file, to look at."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QPixmap, QTextOption
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

from application.groups.conversations import Conversations
from domain.llm.attachments import TEXT_SENT
from domain.llm.tools.result import cut_middle
from presentation.panels.conversation.attached import facts_of
from presentation.panels.conversation.items import AttachedItem
from presentation.ui.parts import ElidedLabel, arrange, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg

_SIDE = 1600
"""Pixels of a picture that is shown; what a model is sent may be larger."""
_SHARE = 0.9
"""Of the window, at most."""
_SHARE_OF_TEXT = 0.7
_SMALLEST = QSize(360, 240)
_LONG_LINE = 4000
"""Characters; where to break one between words takes Qt ten times as long as anywhere."""


class AttachmentDialog(QDialog):
    """Shows one; read off the loop."""

    def __init__(
        self,
        services: WindowServices,
        conversations: Conversations,
        root: Path,
        item: AttachedItem,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._behind = parent.window() or parent
        self._services = services
        self._conversations = conversations
        self._root = root
        self._item = item
        self._problem: CircuitAIError | None = None
        self._is_closed = False
        self.finished.connect(self._on_finished)
        self.setObjectName("attachmentDialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(item.attachment.name)
        self.picture = QLabel()
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setAccessibleName(item.attachment.name)
        self._area = QScrollArea()
        self._area.setWidget(self.picture)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName(item.attachment.name)
        mark(self.text, plain=True)
        body = QWidget()
        self._stack = QStackedLayout(body)
        self._stack.addWidget(self._area)
        self._stack.addWidget(self.text)
        self._facts = text_label(wraps=True, role="caption")
        name = ElidedLabel()
        name.setText(item.attachment.name)
        mark(name, role="strong")
        self._close = QPushButton()
        self._close.setDefault(True)
        self._close.clicked.connect(self.reject)
        foot = arrange(QHBoxLayout(), (self._facts, 1), self._close)
        arrange(QVBoxLayout(self), name, (body, 1), foot)
        services.dress(self)
        self._take_place()
        services.start(self._fill(), kind="attachments")

    async def _fill(self) -> None:
        try:
            await (self._show_picture() if self._item.attachment.is_picture else self._show_text())
        except CircuitAIError as error:
            self._problem = error
        if not self._is_closed:
            self.retranslate()

    def _on_finished(self, _result: int) -> None:
        """What is still being read has no place any more."""
        self._is_closed = True

    async def _show_picture(self) -> None:
        attachments, item = self._conversations.attachments, self._item
        if item.prepared is not None and item.prepared.content is not None:
            data = await attachments.preview_of(item.prepared, _SIDE)
        else:
            data = await attachments.preview(self._root, item.attachment, _SIDE)
        if self._is_closed:
            return
        shown = QPixmap()
        shown.loadFromData(data)
        most = self._most()
        if shown.width() > most.width() or shown.height() > most.height():
            shown = shown.scaled(
                most, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
        self.picture.setPixmap(shown)

    async def _show_text(self) -> None:
        from application.agent.attachments import read_text

        item = self._item
        prepared = item.prepared
        content = None if prepared is None else prepared.text or prepared.content
        if content is not None:
            text = await asyncio.to_thread(read_text, content)
        else:
            text = await self._conversations.attachments.text(self._root, item.attachment)
        if self._is_closed:
            return
        shown = cut_middle(text, TEXT_SENT, TEXT_SENT)
        if any(len(line) > _LONG_LINE for line in shown.splitlines()):
            self.text.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.text.setPlainText(shown)
        self._stack.setCurrentWidget(self.text)

    def restyle(self, _theme: object = None) -> None:
        theme, layout = self._services.theme.theme, self.layout()
        assert layout is not None, "it has its parts"
        edge = theme.size("space.3")
        layout.setContentsMargins(edge, edge, edge, edge)
        layout.setSpacing(theme.size("space.2"))
        self.text.setFont(theme.font("mono"))

    def retranslate(self) -> None:
        language, attachment = self._services.language, self._item.attachment
        self._close.setText(language(msg("Close")))
        facts = facts_of(attachment)
        if attachment.is_shortened:
            facts += f" · {language(msg('shown as it is sent to a model: beginning and end'))}"
        self._facts.setText(facts)
        if self._problem is not None:
            said = (self._problem.message, self._problem.advice)
            self.picture.setText("\n\n".join(language(text) for text in said if text is not None))
            self.picture.setWordWrap(True)

    def _most(self) -> QSize:
        """What a picture may take of the window behind."""
        return self._behind.size() * _SHARE - self._frame()

    def _frame(self) -> QSize:
        """About what is around the picture: edges, the name above, a button below."""
        edge = self._services.theme.theme.size("space.3")
        return QSize(3 * edge, 8 * edge)

    def _take_place(self) -> None:
        """Over the middle of the window, as large as its picture will be."""
        attachment = self._item.attachment
        size = self._most() * _SHARE_OF_TEXT
        if attachment.width and attachment.height:
            picture = QSize(attachment.width, attachment.height).boundedTo(QSize(_SIDE, _SIDE))
            size = QSize(attachment.width, attachment.height)
            size.scale(picture.boundedTo(self._most()), Qt.AspectRatioMode.KeepAspectRatio)
        self.resize((size + self._frame()).expandedTo(_SMALLEST))
        self.move(self._behind.frameGeometry().center() - self.rect().center())
