"""The card beside a resting pointer: what stands there, its value, its uses, what the last run says."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from domain.simulation.description import Amount, Description
from presentation.panels.waveforms.figures import joined, quantity
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message

_DIGITS = 4
_AWAY = 24
"""Pixels the pointer may move from where it rested before the card goes."""


class HoverCard(QFrame):
    """Shown over the window; the keyboard stays where it is."""

    def __init__(self, services: WindowServices, window: QWidget) -> None:
        super().__init__(window)
        self._services = services
        self._window = window
        self._rested = QPoint()
        self.setObjectName("hoverCard")
        mark_area(self, card=True)
        self._column = arrange(QVBoxLayout(self))
        self._content: QWidget | None = None
        self.hide()

    @property
    def text(self) -> str:
        """All of its words, row by row."""
        labels = self._content.findChildren(QLabel) if self._content is not None else []
        return "\n".join(label.text() for label in labels)

    def show_at(self, place: QPoint, problems: Sequence[Message], card: Description | None) -> None:
        """Show problems and what is known at a global place; above it where there is no room below."""
        self._rested = place
        self.hide()  # the layout leaves out what is put into a widget that is seen, until the loop turns
        if self._content is not None:
            self._column.removeWidget(self._content)
            self._content.setParent(None)
            self._content.deleteLater()
        self._content = QWidget()
        rows = arrange(QVBoxLayout(self._content), edges=0)
        for problem in dict.fromkeys(self._services.language(each) for each in problems):
            rows.addWidget(text_label(problem, wraps=True))
        if card is not None:
            self._fill(rows, card)
        self._column.addWidget(self._content)
        self._move_to(place)

    def leave(self, place: QPoint | None = None) -> None:
        """Go, unless the pointer (global) is still near where it rested."""
        if place is None or (place - self._rested).manhattanLength() > _AWAY:
            self.hide()

    def _fill(self, column: QVBoxLayout, card: Description) -> None:
        language = self._services.language
        column.addWidget(text_label(card.title, role="strong", wraps=len(card.title) > 60))
        column.addWidget(text_label(language(card.kind), role="secondary"))
        grid = QGridLayout()
        theme = self._services.theme.theme
        grid.setHorizontalSpacing(theme.size("space.3"))
        grid.setVerticalSpacing(theme.size("space.half"))
        grid.setColumnStretch(1, 1)
        for at, row in enumerate(card.rows):
            grid.addWidget(text_label(self._words(row.label), role="secondary"), at, 0)
            if row.value:
                value = text_label(self._words(row.value), name="hoverValue")
                value.setTextFormat(Qt.TextFormat.PlainText)
                grid.addWidget(value, at, 1)
            if row.amount is not None:
                amount = text_label(self._amount(row.amount), role="strong")
                amount.setAlignment(Qt.AlignmentFlag.AlignRight)
                grid.addWidget(amount, at, 2)
        column.addLayout(grid)
        for words in card.words:
            column.addWidget(text_label(words, role="tertiary"))
        if card.note is not None:
            column.addWidget(text_label(language(card.note), role="small"))

    def _words(self, text: Message | str) -> str:
        return text if isinstance(text, str) else self._services.language(text)

    def _amount(self, amount: Amount) -> str:
        unit = "" if amount.unit == "1" else amount.unit
        return joined(*quantity(amount.value, unit, _DIGITS))

    def _move_to(self, place: QPoint) -> None:
        theme = self._services.theme.theme
        gap = theme.size("space.2")
        widest = min(self._window.width() - 2 * gap, theme.size("pane.left_default") * 2)
        self.setMaximumWidth(widest)
        for label in self.findChildren(QLabel):
            if label.sizeHint().width() > widest - 4 * gap and not label.wordWrap():
                label.setWordWrap(True)
                label.setMinimumWidth(min(label.sizeHint().width(), widest // 2))
        self.adjustSize()
        at = self._window.mapFromGlobal(place)
        left = max(min(at.x(), self._window.width() - self.width() - gap), gap)
        below = at.y() + 2 * gap
        is_low = below + self.height() > self._window.height()
        self.move(left, max(at.y() - gap - self.height(), 0) if is_low else below)
        self.show()
        self.raise_()
