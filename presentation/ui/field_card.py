"""A small card over a drawing that asks for one line; Enter takes it, Escape leaves it."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QApplication, QFrame, QLineEdit, QVBoxLayout, QWidget

from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message

_FIELD = 220
_EDGE = 12
_LONGEST = 60


class FieldCard(QFrame):
    """One card for every line that the widget under it asks for."""

    def __init__(
        self, services: WindowServices, parent: QWidget, *, name: str, longest: int = _LONGEST
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._take: Callable[[str], object] | None = None
        self._check: Callable[[str], Message | None] = lambda _text: None
        self.setObjectName(f"{name}_card")
        mark(self, card=True, surface="raised")
        self._title = text_label(role="strong")
        self.field = QLineEdit()
        self.field.setObjectName(f"{name}_field")
        self.field.setMaxLength(longest)
        mark(self.field, small=True)
        self.field.setFixedWidth(round(_FIELD * services.theme.theme.scale))
        self.field.returnPressed.connect(self._on_entered)
        self.field.textEdited.connect(lambda _text: self._show_problem(None))
        self.problem = text_label(name=f"{name}_problem", role="error", wraps=True)
        edge = services.theme.theme.size("space.3")
        arrange(QVBoxLayout(self), self._title, self.field, self.problem, edges=edge, gap=edge // 2)
        services.language.changed.connect(self.hide)  # its words are made when it opens
        self.hide()
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    def ask(
        self,
        title: Message | str,
        text: str,
        take: Callable[[str], object],
        *,
        check: Callable[[str], Message | None],
        at: QPoint | None = None,
    ) -> None:
        """Open, at a place of the widget or above its middle; `take` gets a line that `check` has nothing
        against."""
        self._take, self._check = take, check
        words = title if isinstance(title, str) else self._services.language(title)
        self._title.setText(words)
        self.field.setAccessibleName(words)
        self.field.setText(text)
        self._show_problem(None)
        room = self.parentWidget()
        if room is not None:
            wanted = at or QPoint((room.width() - self.width()) // 2, _EDGE)
            self.move(
                max(min(wanted.x(), room.width() - self.width()), 0),
                max(min(wanted.y(), room.height() - self.height()), 0),
            )
        self.show()
        self.raise_()
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """What is left of a key ends here: behind the card is the drawing, whose keys are others."""
        if event is None:
            return
        event.accept()
        if event.key() == Qt.Key.Key_Escape:
            self._close()

    def _close(self) -> None:
        self.hide()
        parent = self.parentWidget()
        if parent is not None:
            parent.setFocus()

    def _on_entered(self) -> None:
        text = " ".join(self.field.text().split())
        problem = self._check(text)
        if problem is not None:
            self._show_problem(problem)
        elif self._take is not None:
            self._close()
            self._take(text)

    def _show_problem(self, problem: Message | None) -> None:
        mark(self.field, state="" if problem is None else "error")
        self.problem.setVisible(problem is not None)
        self.problem.setText("" if problem is None else self._services.language(problem))
        self.adjustSize()

    def _on_focus(self, _old: QWidget | None, now: QWidget | None) -> None:
        if self.isVisible() and now is not None and now is not self and not self.isAncestorOf(now):
            self.hide()
