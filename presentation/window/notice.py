"""What is told in a line above the panes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PyQt6 import sip
from PyQt6.QtGui import QHideEvent
from PyQt6.QtWidgets import QApplication, QHBoxLayout, QLabel, QPushButton, QWidget

from presentation.ui.parts import arrange
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message


class Notice(QWidget):
    """Told in a line above the panes, with buttons: it waits there, and takes no keys from anybody.

    When it goes, the keys go where they went before one of its buttons was pressed.
    """

    sign = "triangle-alert", "warn.icon"
    """Icon and its color."""

    def __init__(self, services: WindowServices, name: str, buttons: Mapping[QPushButton, Message]) -> None:
        super().__init__()
        self._services = services
        self._buttons = buttons
        self._icon, self.label = QLabel(), QLabel()
        self.label.setWordWrap(True)
        self._row = arrange(QHBoxLayout(self), self._icon, (self.label, 1))
        for button in buttons:
            self._row.addWidget(button)
        self.setObjectName(name)
        mark_area(self, surface="panel", line="bottom")
        self._before: QWidget | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._note_focus)

    def _note_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        comes = now is not None and self.isAncestorOf(now)
        if comes and before is not None and not self.isAncestorOf(before):
            self._before = before

    def hideEvent(self, event: QHideEvent | None) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        focused, before = QApplication.focusWidget(), self._before
        is_here = focused is not None and self.isAncestorOf(focused)
        if is_here and before is not None and not sip.isdeleted(before) and before.isVisible():
            before.setFocus()  # Qt would hand them to the next widget: the button that runs a circuit

    def texts(self) -> Sequence[Message]:
        """What it tells, a line each."""
        raise NotImplementedError

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, gap, size = theme.size("space.3"), theme.size("space.1"), theme.size("icon.default")
        arrange(self._row, edges=(edge, gap, edge, gap), gap=theme.size("space.2"))
        icon = self._services.icons.get(*self.sign, size)
        self._icon.setPixmap(icon.pixmap(size, size))

    def retranslate(self, _name: object = None) -> None:
        language = self._services.language
        self.label.setText("\n".join(language(text) for text in self.texts()))
        for button, text in self._buttons.items():
            button.setText(language(text))
