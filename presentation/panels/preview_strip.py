"""A strip that says what a change would do, with the button that simulates it where that was not done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from presentation.preview_words import Tone, lines_of
from presentation.ui.flow_layout import FlowLayout
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.previews import Preview
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_ROLES: dict[Tone, str] = {
    "met": "ok",
    "missed": "error",
    "problem": "problem",
    "plain": "",
    "head": "secondary",
}


class PreviewStrip(QWidget):
    """Hidden until there is something to say."""

    preview_wanted = pyqtSignal()
    left = pyqtSignal()
    """Esc was pressed in it."""

    def __init__(
        self,
        services: WindowServices,
        name: str,
        ways: Sequence[tuple[str, Message, Callable[[], object]]] = (),
    ) -> None:
        """`ways`: name, words and act of what else can be done."""
        super().__init__()
        self._services = services
        self._head: Message | None = None
        self._preview: Preview | None = None
        self.setObjectName(name)
        self._title = text_label(role="strong", name=f"{name}_title")
        self.words = QWidget()
        self.words.setObjectName(f"{name}_words")
        self.words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._flow = FlowLayout(self.words, gap=services.theme.theme.size("space.3"))
        self._sentence = text_label(wraps=True, role="error")
        """What is too long for one line."""
        column = arrange(QVBoxLayout(), 1, self.words, self._sentence, 1, edges=0, gap=0)
        self.preview_button = push_button(
            name=f"{name}_preview", clicked=lambda _checked=False: self.preview_wanted.emit(), small=True
        )
        self.buttons: list[tuple[QPushButton, Message]] = [(self.preview_button, msg("Preview"))]
        for way, text, act in ways:
            button = push_button(
                name=f"{name}_{way}", clicked=lambda _checked=False, act=act: act(), small=True
            )
            self.buttons.append((button, text))
        buttons = [button for button, _ in self.buttons]
        self._row = arrange(QHBoxLayout(self), self._title, (column, 1), *buttons)
        mark_area(self, surface="panel", line="top")
        services.theme.changed.connect(self.restyle)
        services.language.changed.connect(self.retranslate)
        self.restyle()
        self.hide()

    @property
    def preview(self) -> Preview | None:
        return self._preview

    def begin(self, head: Message) -> None:
        """Another change is looked at, of which nothing is known yet."""
        self._head, self._preview = head, None
        self.retranslate()

    def show_preview(self, preview: Preview | None) -> None:
        """What is known of it; None: it concerns no circuit, and nothing is said."""
        self._preview = preview
        self.retranslate()
        self.setVisible(preview is not None)

    def show_ways(self, *, are_shown: bool) -> None:
        """What else can be done, where it can be reached."""
        for button, _ in self.buttons[1:]:
            button.setVisible(are_shown)

    def leave(self) -> None:
        self._head = self._preview = None
        self.hide()

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.1")
        arrange(self._row, edges=(edge, gap, edge, gap), gap=theme.size("space.2"))
        self.retranslate()

    def retranslate(self, _language: object = None) -> None:
        language, preview = self._services.language, self._preview
        for button, text in self.buttons:
            button.setText(language(text))
        self._title.setText("" if self._head is None else language(self._head))
        self.preview_button.setVisible(preview is not None and preview.state == "asks")
        pieces = self._pieces()
        while (item := self._flow.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for words, role in pieces:
            if role != "problem":
                self._flow.addWidget(text_label(words, role=role))
        self.words.setVisible(self._flow.count() > 0)
        sentence = " ".join(text for text, role in pieces if role == "problem")
        self._sentence.setText(sentence)
        self._sentence.setVisible(bool(sentence))
        spoken = ", ".join(text for text, _ in pieces)
        self.words.setAccessibleName(spoken)
        self.setAccessibleName(f"{self._title.text()}: {spoken}")

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        if event is not None and event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _pieces(self) -> list[tuple[str, str]]:
        """Texts with their roles in the style sheet; "problem" may be long."""
        language, preview = self._services.language, self._preview
        if preview is None:
            return []
        if preview.state == "working":
            return [(language(msg("Simulating the change…")), "secondary")]
        found: list[tuple[str, str]] = []
        if preview.change is not None:
            found += [(language(line.text), _ROLES[line.tone]) for line in lines_of(preview.change)]
        if preview.reason is not None:
            found.append((language(preview.reason), "secondary" if preview.state == "asks" else "problem"))
        return found
