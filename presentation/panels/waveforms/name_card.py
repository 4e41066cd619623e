"""A small card over a plot that asks for a name; Enter takes it, Escape leaves it."""

from __future__ import annotations

from collections.abc import Callable, Collection

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QApplication, QFrame, QLineEdit, QVBoxLayout, QWidget

from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_FIELD = 220
_EDGE = 12
_LONGEST = 60


class NameCard(QFrame):
    """One card for every name that a plot asks for."""

    def __init__(self, services: WindowServices, parent: QWidget) -> None:
        super().__init__(parent)
        self._services = services
        self._take: Callable[[str], object] | None = None
        self._taken: Collection[str] = ()
        self.setObjectName("name_card")
        mark(self, card=True, surface="raised")
        self._title = text_label(role="strong")
        self.field = QLineEdit()
        self.field.setObjectName("view_name")
        self.field.setMaxLength(_LONGEST)
        mark(self.field, small=True)
        self.field.setFixedWidth(round(_FIELD * services.theme.theme.scale))
        self.field.returnPressed.connect(self._on_entered)
        self.field.textEdited.connect(lambda _text: self._show_problem(None))
        self.problem = text_label(name="name_problem", role="error", wraps=True)
        edge = services.theme.theme.size("space.3")
        arrange(QVBoxLayout(self), self._title, self.field, self.problem, edges=edge, gap=edge // 2)
        services.language.changed.connect(self.hide)  # its words are made when it opens
        self.hide()
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    def ask(
        self, title: Message, text: str, take: Callable[[str], object], *, taken: Collection[str] = ()
    ) -> None:
        """Open; `take` gets the name, which is none of those that are `taken`."""
        self._take, self._taken = take, taken
        self._title.setText(self._services.language(title))
        self.field.setAccessibleName(self._services.language(title))
        self.field.setText(text)
        self._show_problem(None)
        room = self.parentWidget()
        if room is not None:
            self.move(max((room.width() - self.width()) // 2, 0), _EDGE)
        self.show()
        self.raise_()
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:  # noqa: N802 - Qt's name
        """What is left of a key ends here: behind the card is the plot, whose keys are others."""
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
        name = " ".join(self.field.text().split())
        if not name:
            self._show_problem(msg("Type a name."))
        elif name in self._taken:
            self._show_problem(msg("{name} is taken: type another name.", name=name))
        elif self._take is not None:
            self._close()
            self._take(name)

    def _show_problem(self, problem: Message | None) -> None:
        mark(self.field, state="" if problem is None else "error")
        self.problem.setVisible(problem is not None)
        self.problem.setText("" if problem is None else self._services.language(problem))
        self.adjustSize()

    def _on_focus(self, _old: QWidget | None, now: QWidget | None) -> None:
        if self.isVisible() and now is not None and now is not self and not self.isAncestorOf(now):
            self.hide()
