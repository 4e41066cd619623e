"""Where the next message is written: grows to eight lines, Enter sends, an input method is left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from PyQt6.QtCore import QMimeData, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QResizeEvent, QTextCursor
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from application.groups.models import Models
from domain.llm.tokens import count_tokens
from presentation.figures import short_count
from presentation.panels.conversation.attachment_chips import AttachmentChips
from presentation.panels.conversation.pending import PendingFile
from presentation.panels.conversation.search_switch import SearchSwitch
from presentation.panels.conversation.taking_in import LONGEST_PASTED, can_take_in, take_in
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange, once_after
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

MOST_LINES = 8
_RECALLING = (Qt.Key.Key_Up, Qt.Key.Key_Down)
_COUNTED_AFTER_MS = 200
_LEAST_COUNTED = 50
"""Tokens of a text that are told while it is written."""


class MessageEdit(QPlainTextEdit):
    """The text; `submitted` when Enter means "send"."""

    submitted = pyqtSignal()
    height_changed = pyqtSignal()
    offered = pyqtSignal(object)
    """A `TakenIn`: files or a picture were pasted or dropped."""
    longest_text = LONGEST_PASTED
    """Characters that are pasted without a word; a longer text is offered as one to attach."""
    most_lines = 8
    """What it grows to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.is_composing = False
        """Whether an input method holds text that is not committed."""
        self.said: Callable[[], Sequence[str]] = lambda: ()
        """What the user has said in this conversation, the newest last."""
        self._recalled = 0
        """How far back the shown text was said; 0: it is a new one."""
        self.setObjectName("messageInput")
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        mark(self, plain=True)
        self.textChanged.connect(self.fit)
        document = self.document()
        layout = None if document is None else document.documentLayout()
        assert layout is not None, "an edit has one"
        layout.documentSizeChanged.connect(lambda _size: self.fit())  # lines are wrapped behind the change

    def inputMethodEvent(self, event: QInputMethodEvent | None) -> None:  # noqa: N802 - Qt's name
        """Follow whether something is being composed."""
        if event is not None:
            self.is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Enter sends, Shift+Enter makes a line; an Enter while something is composed belongs to that.

        Up in an empty field, or in what it brought, is the message said before, Down the one after.
        """
        if event is None or event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if event is None or event.modifiers() or not self._recall(event.key()):
                super().keyPressEvent(event)
            return
        if self.is_composing:
            event.ignore()
            return
        if event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier):
            self.insertPlainText("\n")
            return
        self.submitted.emit()

    def _recall(self, key: int) -> bool:
        by = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(key), 0) if key in _RECALLING else 0
        said, text = self.said(), self.toPlainText()
        if self._recalled and (self._recalled > len(said) or text != said[-self._recalled]):
            self._recalled = 0  # it was changed: a message of its own
        if not by or (text and not self._recalled) or not 0 <= self._recalled + by <= len(said):
            return False
        self._recalled += by
        self.setPlainText(said[-self._recalled] if self._recalled else "")
        self.moveCursor(QTextCursor.MoveOperation.End)
        return True

    def canInsertFromMimeData(self, source: QMimeData | None) -> bool:  # noqa: N802 - Qt's name
        return can_take_in(source) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData | None) -> None:  # noqa: N802 - Qt's name
        """Text goes into the text; files and pictures are attached."""
        found = take_in(source, longest_text=self.longest_text)
        if found is None:
            super().insertFromMimeData(source)
        else:
            self.offered.emit(found)

    def focusOutEvent(self, event: QFocusEvent | None) -> None:  # noqa: N802 - Qt's name
        """An input method that loses the focus commits or drops its text."""
        self.is_composing = False
        super().focusOutEvent(event)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        is_full = self._line_count() >= self.most_lines
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if is_full else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(policy)
        height = self.sizeHint().height()
        if height != self.height():
            self.setFixedHeight(height)
            self.height_changed.emit()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """The height of the lines as they are wrapped."""
        document = self.document()
        assert document is not None
        margins = self.contentsMargins()
        height = self._line_count() * self.fontMetrics().lineSpacing()
        extra = 2 * document.documentMargin() + margins.top() + margins.bottom()
        return QSize(super().sizeHint().width(), round(height + extra) + 1)

    def _line_count(self) -> int:
        """Lines as they are wrapped, at least one and at most the most."""
        document = self.document()
        assert document is not None
        lines, block = 0, document.firstBlock()
        while block.isValid() and lines < self.most_lines:
            layout = block.layout()
            lines += max(layout.lineCount() if layout is not None else 1, 1)
            block = block.next()
        return min(max(lines, 1), self.most_lines)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(0, self.fontMetrics().lineSpacing())


class Composer(QFrame):
    """Text, model and the send button in one frame; the button becomes the red stop while a run goes on."""

    submitted = pyqtSignal(str)
    stop_clicked = pyqtSignal()
    text_changed = pyqtSignal(str)
    offered = pyqtSignal(object)
    """A `TakenIn`: files or a picture were pasted or dropped."""
    attach_asked = pyqtSignal(bool)
    """A file is to be chosen; True: a picture."""

    def __init__(self, services: WindowServices, models: Models, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._state = "idle"
        self._has_files = False
        self._is_asking = False
        self._mode = "free"
        self._reads_only = False
        self._has_fields = False
        self.setObjectName("composer")
        self.edit = MessageEdit(self)
        self.edit.submitted.connect(self._submit)
        self.edit.textChanged.connect(self._on_text)
        self.edit.offered.connect(self.offered)
        self.chips = AttachmentChips(services, self)
        self.chips.emptied.connect(lambda: self.edit.setFocus(Qt.FocusReason.TabFocusReason))
        self.picture_button = IconButton(services, "image", msg("Attach a picture"), name="attachPicture")
        self.picture_button.clicked.connect(lambda: self.attach_asked.emit(True))
        self.file_button = IconButton(services, "paperclip", msg("Attach a file"), name="attachFile")
        self.file_button.clicked.connect(lambda: self.attach_asked.emit(False))
        self.mention_button = IconButton(
            services, "at-sign", msg("Name a file, node, result or goal"), name="mentionButton"
        )
        self.search_switch = SearchSwitch(services, models)
        self.model_button = QToolButton(self)
        self.model_button.setObjectName("modelButton")
        self.model_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.model_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        mark(self.model_button, text=True)
        self._tokens = QLabel(self)
        self._tokens.setObjectName("messageTokens")
        mark(self._tokens, role="caption")
        self._counted = once_after(self, _COUNTED_AFTER_MS, self._count)
        self._hint = QLabel(self)
        mark(self._hint, role="caption")
        self.send_button = QToolButton(self)
        self.send_button.setObjectName("sendButton")
        self.send_button.clicked.connect(self._on_button)
        row = QHBoxLayout()
        row.addWidget(self.picture_button)
        arrange(
            row,
            self.file_button,
            self.mention_button,
            self.search_switch,
            1,
            self._tokens,
            self._hint,
            self.model_button,
            self.send_button,
        )
        self._layout = arrange(QVBoxLayout(self), self.chips, self.edit, row)
        self._row = row
        self._order_tabs()
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # a click anywhere in the frame is meant for the text
        self.setFocusProxy(self.edit)
        services.dress(self)

    @property
    def text(self) -> str:
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Put a text in place of what is written, the cursor behind it."""
        if text == self.text:
            return
        self.edit.setPlainText(text)
        self.edit.moveCursor(QTextCursor.MoveOperation.End)

    def show_files(self, files: Sequence[PendingFile]) -> None:
        self.chips.show_files(files)
        parts = (part for chip in self.chips.chips for part in (chip.button, chip.cross))
        self._order_tabs(*parts)  # behind the text, before the buttons
        if bool(files) != self._has_files:
            self._has_files = bool(files)
            self.retranslate()

    def _order_tabs(self, *behind_text: QWidget) -> None:
        attaching = (self.picture_button, self.file_button, self.mention_button, self.search_switch)
        order = (self.edit, *behind_text, *attaching, self.model_button, self.send_button)
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    def show_fields(self, *, is_on: bool) -> None:
        """Whether a sentence with gaps is written, through which Tab leads."""
        self._has_fields = is_on
        self.retranslate()

    def show_model(self, name: str) -> None:
        language = self._services.language
        self.model_button.setText(f" {name}")
        self.model_button.setToolTip(language(msg("Model for this conversation")))

    def set_state(
        self, state: str, *, is_asking: bool = False, mode: str = "free", reads_only: bool = False
    ) -> None:
        """ "idle", "running" or "stopping"; what the button is, and what the empty field says."""
        told = (state, is_asking, mode, reads_only)
        if told != (self._state, self._is_asking, self._mode, self._reads_only):
            self._state, self._is_asking, self._mode, self._reads_only = told
            self.restyle()
            self.retranslate()

    def restyle(self) -> None:
        theme, icons = self._services.theme.theme, self._services.icons
        self.edit.setFont(theme.font("ui"))
        gap, edge = theme.size("space.1"), theme.size("space.2")
        inner = gap + theme.size("space.half")
        arrange(self._layout, edges=(edge, edge, inner, inner), gap=gap)
        self._row.setSpacing(gap)
        size = theme.size("icon.default")
        self.model_button.setIcon(icons.get("cpu", "text.secondary", size))
        self.model_button.setIconSize(QSize(size, size))
        self.model_button.setFont(theme.font("ui"))
        self._dress_button()
        self.edit.fit()

    def _dress_button(self) -> None:
        theme, icons = self._services.theme.theme, self._services.icons
        side, size = theme.size("control.send"), theme.size("icon.default")
        self.send_button.setFixedSize(side, side)
        self.send_button.setIconSize(QSize(size, size))
        if self._state == "idle":
            can_send = bool(self.text.strip())
            color = "accent.on" if can_send else "text.disabled"
            self.send_button.setIcon(icons.get("arrow-up", color, size))
            self.send_button.setEnabled(can_send)
            mark(self.send_button, kind="primary")
        elif self._state == "running":
            self.send_button.setIcon(icons.get("square", "error.on", theme.size("icon.small")))
            self.send_button.setEnabled(True)
            mark(self.send_button, kind="danger")
        else:
            self.send_button.setIcon(icons.get("loader-circle", "text.secondary", size))
            self.send_button.setEnabled(False)
            mark(self.send_button, kind="icon")

    def retranslate(self) -> None:
        language = self._services.language
        self.edit.setPlaceholderText(language(self._placeholder()))
        viewport = self.edit.viewport()
        if viewport is not None:
            viewport.update()  # Qt paints another text only when it was not seen before
        self.edit.setAccessibleName(language(msg("Message")))
        self.chips.retranslate()
        text = {
            "idle": msg("Send (Enter)"),
            "running": msg("Stop (Escape)"),
        }.get(self._state, msg("Stopping"))
        self.send_button.setToolTip(language(text))
        self.send_button.setAccessibleName(language(text))
        hint = msg("Tab: next field") if self._has_fields else None
        self._hint.setText(language(hint) if hint else "Esc" if self._state == "running" else "")

    def _placeholder(self) -> Message:
        if self._is_asking:
            return msg("Or say what you want instead")
        if self._state == "idle" and self._has_files:
            return msg("Say what to do with the attachments")
        if self._state == "idle" and self._mode == "workflow":
            return msg("Describe a circuit, or change a goal")
        if self._state == "idle" and self._reads_only:
            return msg("Ask about the circuit; nothing is changed")
        if self._state == "idle":
            return msg("Ask about the circuit, or describe a change")
        return msg("Message (sent when the current run finishes)")

    def _on_text(self) -> None:
        if self._state == "idle":
            self._dress_button()
        self._counted.start()
        self.text_changed.emit(self.text)

    def _count(self) -> None:
        """How much the message is for a model, by our estimate; nothing of a short one."""
        count = count_tokens(self.text)
        text = ""
        if count >= _LEAST_COUNTED:
            text = self._services.language(msg("{count} tokens", count=short_count(count)))
        self._tokens.setText(text)

    def _submit(self) -> None:
        if self.text.strip() and self._state != "stopping":
            self.submitted.emit(self.text)

    def _on_button(self) -> None:
        if self._state == "idle":
            self._submit()
        elif self._state == "running":
            self.stop_clicked.emit()
