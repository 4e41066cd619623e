"""Find and replace in a prompt."""

from __future__ import annotations

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QKeyEvent, QTextCursor, QTextDocument
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QToolButton, QWidget

from presentation.dialogs.prompt_editor.content_editor import ContentEditor
from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg


class FindBar(QWidget):
    """Hidden until it is asked for; Escape hides it again."""

    def __init__(
        self, services: WindowServices, editor: ContentEditor, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._editor = editor
        self.setObjectName("promptFindBar")
        self.needle, self.replacement = QLineEdit(self), QLineEdit(self)
        self.needle.setObjectName("findText")
        self.replacement.setObjectName("replaceText")
        self.count = QLabel(self)
        self.replace_one, self.replace_all = QPushButton(self), QPushButton(self)
        self.replace_one.setObjectName("replaceOne")
        self.replace_all.setObjectName("replaceAll")
        self._back, self._on, self._close = QToolButton(self), QToolButton(self), QToolButton(self)
        mark(self.count, role="small")
        for field in (self.needle, self.replacement):
            mark(field, small=True)
        row = arrange(QHBoxLayout(self), edges=0, gap=services.theme.theme.size("space.1"))
        for widget, stretch in (
            (self.needle, 2),
            (self.count, 0),
            (self._back, 0),
            (self._on, 0),
            (self.replacement, 2),
            (self.replace_one, 0),
            (self.replace_all, 0),
            (self._close, 0),
        ):
            row.addWidget(widget, stretch)
        for button in (self.replace_one, self.replace_all):
            mark(button, small=True)
            button.setAutoDefault(False)
        self.needle.textChanged.connect(self._on_needle)
        self._back.clicked.connect(lambda: self.find_next(backward=True))
        self._on.clicked.connect(self.find_next)
        self.replace_one.clicked.connect(self._replace_one)
        self.replace_all.clicked.connect(self._replace_all)
        self._close.clicked.connect(self.end)
        editor.textChanged.connect(self._show_count)
        services.dress(self)
        self.hide()

    def begin(self, *, replace: bool = False) -> None:
        """Show the bar; a selected word is what is looked for."""
        selected = self._editor.textCursor().selectedText()
        if selected and "\u2029" not in selected:
            self.needle.setText(selected)
        for widget in (self.replacement, self.replace_one, self.replace_all):
            widget.setVisible(replace)
        self.show()
        self.needle.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.needle.selectAll()
        self._show_count()

    def end(self) -> None:
        self.hide()
        self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def find_next(self, *, backward: bool = False) -> bool:
        """Select the next occurrence, beginning anew at the end; whether there is one."""
        needle = self.needle.text()
        if not needle:
            return False
        flags = QTextDocument.FindFlag.FindBackward if backward else QTextDocument.FindFlag(0)
        if self._editor.find(needle, flags):
            return True
        before = self._editor.textCursor()
        around = QTextCursor(before)
        around.movePosition(QTextCursor.MoveOperation.End if backward else QTextCursor.MoveOperation.Start)
        self._editor.setTextCursor(around)
        if self._editor.find(needle, flags):
            return True
        self._editor.setTextCursor(before)
        return False

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """Enter finds on, with Shift back; Escape ends."""
        if event is None:
            return
        if event.key() == Qt.Key.Key_Escape:
            self.end()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.find_next(backward=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        else:
            super().keyPressEvent(event)

    def _replace_one(self) -> None:
        cursor = self._editor.textCursor()
        if self.needle.text() and cursor.selectedText().lower() == self.needle.text().lower():
            cursor.insertText(self.replacement.text())
        self.find_next()

    def _replace_all(self) -> None:
        """As one edit, so that one undo takes it back."""
        needle, document = self.needle.text(), self._editor.document()
        if not needle or document is None:
            return
        whole = QTextCursor(document)
        whole.beginEditBlock()
        found = document.find(needle, 0)
        while not found.isNull():
            found.insertText(self.replacement.text())
            found = document.find(needle, found)
        whole.endEditBlock()

    def _on_needle(self, _text: str) -> None:
        cursor = self._editor.textCursor()
        cursor.setPosition(cursor.selectionStart())
        self._editor.setTextCursor(cursor)
        self.find_next()
        self._show_count()

    def _show_count(self) -> None:
        if self.isHidden():
            return
        needle = self.needle.text().lower()
        found = self._editor.content().lower().count(needle) if needle else 0
        self.count.setText(self._services.language(msg("{count} found", count=found)) if needle else "")

    def restyle(self, _theme: object = None) -> None:
        size = self._services.theme.theme.size("icon.small")
        for button, icon in ((self._back, "arrow-up"), (self._on, "arrow-down"), (self._close, "x")):
            button.setIcon(self._services.icons.get(icon, size=size))
            button.setIconSize(QSize(size, size))

    def retranslate(self, _language: str = "") -> None:
        say = self._services.language
        self.needle.setPlaceholderText(say(msg("Find")))
        self.replacement.setPlaceholderText(say(msg("Replace with")))
        self.replace_one.setText(say(msg("Replace")))
        self.replace_all.setText(say(msg("Replace all")))
        tips: tuple[tuple[QToolButton, Message], ...] = (
            (self._back, msg("Find previous (Shift+Enter)")),
            (self._on, msg("Find next (Enter)")),
            (self._close, msg("Close (Escape)")),
        )
        for button, tip in tips:
            button.setToolTip(say(tip))
            button.setAccessibleName(say(tip))
        self._show_count()
