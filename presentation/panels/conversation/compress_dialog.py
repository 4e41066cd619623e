"""Compressing a conversation by hand: what goes, what stays, what is sent in its place, before it is done."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, HumanMessage
from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from application.conversation.compressing_by_hand import FEWEST_KEPT, MOST_KEPT, USUALLY_KEPT
from domain.llm.messages import get_text
from presentation.panels.conversation.words import with_advice
from presentation.ui.parts import arrange, once_after, push_button, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from application.conversation.compressing_by_hand import CompressConversation, CompressionPreview
    from presentation.panels.conversation.view_model import ConversationViewModel

_AFTER_CHANGE_MS = 250
_SHOWN = 100
"""Characters of a message in the list."""
_ID = Qt.ItemDataRole.UserRole


class CompressDialog(QDialog):
    """Shows figures, messages to keep and the text that will be sent; nothing is written before Compress."""

    def __init__(
        self,
        services: WindowServices,
        compress: CompressConversation,
        model: ConversationViewModel,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._compress = compress
        self._model = model
        self._place = (model.root, model.session_id)
        self._preview: CompressionPreview | None = None
        self._is_by_model = False
        """The preview has the summary that will be used."""
        self._number = 0
        """Of the newest preview that was wanted; older ones give way."""
        self._one_at_a_time = asyncio.Lock()
        """The conversation is open for one of them only."""
        self._busy: Message | None = None
        self._problem: Message | None = None
        self._is_closed = False
        self.finished.connect(self._on_finished)
        self.setObjectName("compressDialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._make_parts()
        self._later = once_after(self, _AFTER_CHANGE_MS, self._look_again)
        services.dress(self)
        self._want(asks_model=False)

    def _make_parts(self) -> None:
        self._figures = text_label(name="compressFigures", wraps=True)
        self._keep_label = text_label()
        self.keep = QSpinBox()
        self.keep.setObjectName("keepMessages")
        self.keep.setRange(FEWEST_KEPT, MOST_KEPT)
        self.keep.setValue(USUALLY_KEPT)
        self.keep.valueChanged.connect(lambda _value: self._later.start())
        self._keep_label.setBuddy(self.keep)
        self._list_label = text_label(wraps=True, role="small")
        self.messages = QListWidget()
        self.messages.setObjectName("pinMessages")
        self.messages.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.messages.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.messages.itemChanged.connect(lambda _item: self._later.start())
        self._list_label.setBuddy(self.messages)
        self._text_label = text_label(wraps=True, role="small")
        self.text = QPlainTextEdit()
        self.text.setObjectName("compressText")
        self.text.setReadOnly(True)
        mark(self.text, plain=True)
        self._text_label.setBuddy(self.text)
        self._note = text_label(name="compressNote", wraps=True, role="small")
        self._carry = push_button(name="carryOver", clicked=self._carry_over)
        self._cancel = push_button(name="cancelCompress", clicked=self.reject)
        self._draft = push_button(name="previewSummary", clicked=lambda: self._want(asks_model=True))
        self._do = push_button(name="doCompress", clicked=self._compress_now, kind="primary")
        self._do.setDefault(True)
        keep = arrange(QHBoxLayout(), self._keep_label, self.keep, 1)
        self._foot = arrange(QHBoxLayout(), self._carry, 1, self._cancel, self._draft, self._do)
        arrange(
            QVBoxLayout(self),
            self._figures,
            keep,
            self._list_label,
            (self.messages, 2),
            self._text_label,
            (self.text, 3),
            self._note,
            self._foot,
        )

    # --- what is shown -------------------------------------------------------------------------------

    def restyle(self, _theme: object = None) -> None:
        theme, layout = self._services.theme.theme, self.layout()
        assert layout is not None, "it has its parts"
        edge = theme.size("space.4")
        layout.setContentsMargins(edge, edge, edge, edge)
        layout.setSpacing(theme.size("space.2"))
        self._foot.setSpacing(theme.size("space.2"))
        self.text.setFont(theme.font("small"))
        self.messages.setFont(theme.font("small"))
        self.resize(50 * theme.size("space.3"), 52 * theme.size("space.3"))

    def retranslate(self) -> None:
        language = self._services.language
        self.setWindowTitle(language(msg("Compress this conversation")))
        self._keep_label.setText(language(msg("Newest messages to keep as they are")))
        self._list_label.setText(
            language(msg("Messages to be summarized. Select those to send unabridged beside the summary:"))
        )
        self._text_label.setText(language(msg("Sent in their place from the next message on:")))
        self._carry.setText(language(msg("Continue in a new conversation")))
        self._carry.setToolTip(
            language(msg("It begins with this summary; the goals of the circuits hold there too."))
        )
        self._cancel.setText(language(msg("Cancel")))
        self._draft.setText(language(msg("Preview summary")))
        self._do.setText(language(msg("Compress")))
        self._show()

    def _show(self) -> None:
        language, preview = self._services.language, self._preview
        is_ready = preview is not None and self._busy is None
        self._do.setEnabled(is_ready)
        self._draft.setEnabled(is_ready and not self._is_by_model)
        self._carry.setEnabled(self._busy is None)
        self._cancel.setEnabled(True)
        for part in (self.keep, self.messages):
            part.setEnabled(self._busy is None)
        note = self._busy or self._problem or self._about_summary()
        self._note.setText("" if note is None else language(note))
        if preview is None:
            self._figures.setText("" if self._problem is None else language(self._problem))
            self._note.setVisible(self._busy is not None)
            self.text.setPlainText("")
            return
        self._note.setVisible(True)
        done = preview.draft.compression
        self._figures.setText(
            language(
                msg(
                    "{count} of {all} messages become a summary: the conversation takes {before} tokens "
                    "now and about {after} then ({share} % of the context window).",
                    count=done.messages,
                    all=preview.messages_shown,
                    before=f"{preview.tokens_now:,}",
                    after=f"{preview.tokens_then:,}",
                    share=round(100 * preview.tokens_then / preview.window),
                )
            )
        )
        self.text.setPlainText(done.text)

    def _about_summary(self) -> Message | None:
        if self._preview is None:
            return None
        by = self._preview.draft.compression.by
        if by:
            return msg("The summary is by {model}. Figures and file names in it were checked.", model=by)
        if self._is_by_model:
            return msg("The summary is cut from the messages: no model for summaries could be used.")
        return msg(
            "The summary is cut from the messages. A model for titles and summaries may write a better one."
        )

    def _fill_list(self) -> None:
        """The messages that go; those that were selected stay selected."""
        language, preview = self._services.language, self._preview
        assert preview is not None, "whoever fills has one"
        pinned = set(self._pinned())
        self.messages.blockSignals(True)
        self.messages.clear()
        for message in preview.draft.plan.gone:
            text = " ".join(get_text(message).split())
            if not text or not isinstance(message, HumanMessage | AIMessage):
                continue
            who = msg("You") if isinstance(message, HumanMessage) else msg("Answer")
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            item = QListWidgetItem(f"{language(who)}: {shown}")
            item.setData(_ID, str(message.id))
            item.setSizeHint(QSize(0, self._services.theme.theme.size("row.table")))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            is_pinned = str(message.id) in pinned
            item.setCheckState(Qt.CheckState.Checked if is_pinned else Qt.CheckState.Unchecked)
            self.messages.addItem(item)
        self.messages.blockSignals(False)

    def _pinned(self) -> tuple[str, ...]:
        items = (self.messages.item(row) for row in range(self.messages.count()))
        return tuple(
            str(item.data(_ID))
            for item in items
            if item is not None and item.checkState() == Qt.CheckState.Checked
        )

    # --- what is done --------------------------------------------------------------------------------

    def _look_again(self) -> None:
        self._want(asks_model=False)

    def _want(self, *, asks_model: bool) -> None:
        self._number += 1
        if asks_model:
            self._busy = msg("Summarizing…")
            self._show()
        self._services.start(self._look(self._number, asks_model=asks_model), kind="sessions")

    async def _look(self, number: int, *, asks_model: bool) -> None:
        root, session_id = self._place
        assert root is not None, "whoever opens it has looked"
        found: CompressionPreview | None = None
        problem: Message | None = None
        async with self._one_at_a_time:
            if self._is_closed or number != self._number:
                return
            try:
                found = await self._compress.preview(
                    root,
                    session_id,
                    self._model.choice,
                    keep=self.keep.value(),
                    pinned=self._pinned(),
                    asks_model=asks_model,
                )
            except CircuitAIError as error:
                problem = with_advice(error)
        if self._is_closed or number != self._number:
            return
        self._preview, self._problem, self._busy = found, problem, None
        self._is_by_model = asks_model and found is not None
        if found is not None:
            self._fill_list()
        self._show()

    def _compress_now(self) -> None:
        self._do_it(
            self._model.transcript.compress(
                keep=self.keep.value(),
                pinned=self._pinned(),
                prepared=self._preview if self._is_by_model else None,
            )
        )

    def _carry_over(self) -> None:
        self._do_it(self._model.transcript.carry_over())

    def _do_it(self, work: Awaitable[Message | None]) -> None:
        self._number += 1  # a preview under way has no meaning any more
        self._busy, self._problem = msg("Summarizing…"), None
        self._show()
        self._services.start(self._finish(work), kind="sessions")

    async def _finish(self, work: Awaitable[Message | None]) -> None:
        async with self._one_at_a_time:
            problem = await work
        if self._is_closed:
            return
        self._busy, self._problem = None, problem
        if problem is None:
            self.accept()
        else:
            self._show()

    def _on_finished(self, _result: int) -> None:
        self._is_closed = True
