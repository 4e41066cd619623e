"""A small dialog in our own dress: a title that is never cut, words, perhaps a field, a row of buttons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message

ButtonKind = Literal["", "primary", "danger"]
_NARROWEST, _WIDEST = 380, 560
"""Pixels at the scale 1."""
_MOST_OF_SCREEN = 0.85


class SmallDialog(QDialog):
    """What does nothing but ask or tell. Buttons stand at the right, the filled one last; Escape is a no.

    It is opened, never executed; `finished` tells that it is over, `chosen` which button was pressed.
    """

    def __init__(
        self,
        services: WindowServices,
        parent: QWidget | None,
        name: str,
        *,
        title: Message,
        text: str = "",
        about: Message | None = None,
    ) -> None:
        """`about` stands above the title: which of several things it concerns."""
        super().__init__(parent)
        self._services = services
        self._filled: QPushButton | None = None
        self.chosen: object = None
        """The value of the pressed button; None when the dialog was closed otherwise."""
        self.setObjectName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(services.language(title))
        self.head = text_label(services.language(title), wraps=True, role="title")
        self.words = QLabel(text)
        """What it says, beside the title."""
        self.words.setWordWrap(True)
        self.words.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.LinksAccessibleByMouse
        )
        self.words.setVisible(bool(text))
        self._content = QWidget()
        self._content.setObjectName("smallDialogContent")
        mark(self._content, surface="raised")
        self._column = arrange(QVBoxLayout(self._content), self.head, self.words, 1)
        if about is not None:
            concerned = text_label(services.language(about), name="dialogAbout", wraps=True, role="small")
            self._column.insertWidget(0, concerned)
        self._scroll = QScrollArea()
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(self._content)
        footer = QWidget()
        mark_area(footer, part="footer")
        self._footer = QHBoxLayout(footer)
        self._footer.addStretch(1)
        self._foot = footer
        arrange(QVBoxLayout(self), (self._scroll, 1), footer, edges=0, gap=0)
        services.theme.changed.connect(self.restyle)
        self.restyle()

    def add(self, widget: QWidget) -> None:
        is_link = isinstance(widget, QPushButton)
        self._column.insertWidget(
            self._column.count() - 1,
            widget,
            alignment=Qt.AlignmentFlag.AlignLeft if is_link else Qt.AlignmentFlag(0),
        )

    def add_button(
        self,
        words: Message,
        value: object = None,
        *,
        kind: ButtonKind = "",
        act: Callable[[], object] | None = None,
        is_left: bool = False,
    ) -> QPushButton:
        """A button: it closes the dialog and gives `value`, or does `act` and leaves the dialog open.

        The first that is "primary" or "danger" is filled, and no other is. `is_left` puts it at the left end.
        """
        button = QPushButton(self._services.language(words))
        button.setAutoDefault(False)
        if kind and self._filled is None:
            mark(button, kind=kind, wide=True)
            self._filled = button
            self._footer.addWidget(button)
            if kind == "primary":
                button.setDefault(True)
        else:
            mark(button, kind="danger-text" if kind == "danger" else "secondary", wide=True)
            before = self._footer.count() - (0 if self._filled is None else 1)
            self._footer.insertWidget(0 if is_left else before, button)
        button.clicked.connect(lambda _checked: self._close_with(value) if act is None else act())
        return button

    def buttons(self) -> list[QPushButton]:
        found = [self._footer.itemAt(index) for index in range(self._footer.count())]
        widgets = [None if item is None else item.widget() for item in found]
        return [widget for widget in widgets if isinstance(widget, QPushButton)]

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.4"), theme.size("space.2")
        arrange(self._column, edges=edge, gap=theme.size("space.3"))
        arrange(self._footer, edges=(edge, theme.size("space.3"), edge, theme.size("space.3")), gap=gap)

    def open(self) -> None:
        """Show it as large as what it says, in front of its window."""
        scale = self._services.theme.theme.scale
        self.ensurePolished()
        for part in self.findChildren(QWidget):
            part.ensurePolished()
        natural = max(
            self.head.fontMetrics().horizontalAdvance(self.head.text()),
            *(self.words.fontMetrics().horizontalAdvance(line) for line in self.words.text().splitlines()),
            self._content.minimumSizeHint().width() - 2 * self._services.theme.theme.size("space.4"),
            0,
        )
        wanted = natural + 3 * self._services.theme.theme.size("space.4")
        least, most = round(_NARROWEST * scale), round(_WIDEST * scale)
        needed = max(self._foot.sizeHint().width(), self._content.minimumSizeHint().width())
        width = max(min(max(wanted, least), most), needed)
        height = self._column.totalHeightForWidth(width) if self._column.hasHeightForWidth() else 0
        height = max(height, self._column.totalMinimumSize().height()) + self._foot.sizeHint().height() + 2
        screen = self.screen()
        if screen is not None:
            room = screen.availableSize()
            if height > room.height() * _MOST_OF_SCREEN:
                height = round(room.height() * _MOST_OF_SCREEN)
                width += self._scroll.verticalScrollBar().sizeHint().width()  # type: ignore[union-attr]
            width = min(width, room.width())
        self.resize(width, height)
        super().open()

    def _close_with(self, value: object) -> None:
        self.chosen = value
        self.accept()
