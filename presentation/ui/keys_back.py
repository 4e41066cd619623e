"""Where the keys go when a line with buttons has been answered and goes."""

from __future__ import annotations

from PyQt6 import sip
from PyQt6.QtCore import QEvent, QObject
from PyQt6.QtWidgets import QApplication, QWidget


class KeysBack(QObject):
    """Gives the keys back to who had them before they came into an area.

    Qt hands them to the next widget of the window, which may be the button that runs a circuit.
    """

    def __init__(self, area: QWidget) -> None:
        super().__init__(area)
        self._area = area
        self._before: QWidget | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._note)
        self.watch(area)

    def watch(self, part: QWidget) -> None:
        """A part of the area may go alone."""
        part.installEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        if event is not None and event.type() == QEvent.Type.Hide and isinstance(watched, QWidget):
            focused, before = QApplication.focusWidget(), self._before
            is_here = focused is not None and (focused is watched or watched.isAncestorOf(focused))
            if is_here and before is not None and not sip.isdeleted(before) and before.isVisible():
                before.setFocus()
        return False

    def _is_inside(self, widget: QWidget) -> bool:
        return widget is self._area or self._area.isAncestorOf(widget)

    def _note(self, before: QWidget | None, now: QWidget | None) -> None:
        if now is not None and self._is_inside(now) and before is not None and not self._is_inside(before):
            self._before = before
