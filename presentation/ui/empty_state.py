"""What a pane says while it has nothing to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from presentation.ui.parts import arrange, push_button
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message

Action = tuple[Message, Callable[[], object]]


class EmptyNote(QWidget):
    """One sentence what appears here, and at most three actions as rows."""

    def __init__(self, services: WindowServices, text: Message, actions: Sequence[Action] = ()) -> None:
        super().__init__()
        self._services = services
        self._text = text
        self._label = QLabel()
        self._label.setWordWrap(True)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        mark(self._label, role="tertiary")
        self._buttons: list[tuple[QPushButton, Message]] = []
        self._column = QVBoxLayout(self)
        self._column.addWidget(self._label)
        for message, act in actions:
            button = push_button(clicked=lambda _checked=False, act=act: act(), kind="link")
            self._buttons.append((button, message))
            self._column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addStretch(1)
        services.dress(self)

    def set_text(self, text: Message) -> None:
        self._text = text
        self.retranslate()

    def offer(self, shown: Sequence[bool]) -> None:
        """Which of the actions can be done now; the others are not there."""
        for (button, _), is_shown in zip(self._buttons, shown, strict=True):
            button.setVisible(is_shown)

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge = theme.size("space.3")
        arrange(self._column, edges=(edge, theme.size("space.1"), edge, edge), gap=theme.size("space.2"))

    def retranslate(self) -> None:
        self._label.setText(self._services.language(self._text))
        for button, message in self._buttons:
            button.setText(self._services.language(message))
