"""What answers took, at the context meter: the last one, the conversation, the project's last 24 hours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from presentation.panels.conversation.items import AnswerText
from presentation.panels.conversation.words import with_advice
from presentation.ui.parts import arrange
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from presentation.use_words import spent_lines, use_lines
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.conversation.sessions import Sessions
    from presentation.panels.conversation.view_model import ConversationViewModel

Part = tuple[Message, tuple[Message, ...]]
"""A heading and the lines below it."""


class UsePopup(QFrame):
    """Goes with a click elsewhere or Escape; its text can be selected and copied."""

    def __init__(self, services: WindowServices, over: QWidget, parts: Iterable[Part]) -> None:
        super().__init__(over, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("usePopup")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        mark(self, surface="raised")
        theme, language = services.theme.theme, services.language
        column = QVBoxLayout(self)
        edge = theme.size("space.3")
        arrange(column, edges=(edge, edge, edge, edge), gap=theme.size("space.1"))
        for number, (title, lines) in enumerate(parts):
            if number:
                column.addSpacing(theme.size("space.2"))
            for text, role in ((title, "strong"), *((line, "small") for line in lines)):
                label = QLabel(language(text))
                label.setTextFormat(Qt.TextFormat.PlainText)
                label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                mark(label, role=role)
                column.addWidget(label)
        self.setAccessibleName(language(msg("Tokens and cost")))

    @property
    def text(self) -> str:
        return "\n".join(label.text() for label in self.findChildren(QLabel))

    def show_above(self, anchor: QWidget) -> None:
        """Its lower right corner at the upper right one of `anchor`."""
        self.adjustSize()
        corner = anchor.mapToGlobal(QPoint(anchor.width(), 0))
        self.move(max(0, corner.x() - self.width()), max(0, corner.y() - self.height()))
        self.show()
        self.setFocus(Qt.FocusReason.PopupFocusReason)


async def show_use(
    services: WindowServices, anchor: QWidget, model: ConversationViewModel, sessions: Sessions
) -> None:
    """Read it and show it above `anchor`."""
    parts: list[Part] = []
    answers = [item for item in model.items if isinstance(item, AnswerText) and item.use is not None]
    if answers and answers[-1].use is not None and (lines := tuple(use_lines(answers[-1].use))):
        parts.append((msg("Last answer"), lines))
    if model.root is not None and model.session_id:
        try:
            whole, day = await sessions.spent(model.root, model.session_id)
        except CircuitAIError as error:
            parts.append((msg("This conversation"), (with_advice(error),)))
        else:
            parts.append((msg("This conversation"), tuple(spent_lines(whole))))
            parts.append((msg("Last 24 hours in this project"), tuple(spent_lines(day))))
    UsePopup(services, anchor, parts).show_above(anchor)
