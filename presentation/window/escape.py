"""The key that ends a simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QApplication

if TYPE_CHECKING:
    from presentation.window.main_window import MainWindow


class EscapeStops(QObject):
    """While a run is under way Escape ends it, wherever the focus is but in a conversation at work.

    The editor would keep the key to itself, so a shortcut would not do.
    """

    def __init__(self, window: MainWindow, stop: Callable[[], None]) -> None:
        super().__init__(window)
        self._window = window
        self._stop = stop
        workspace = window.services.workspace
        workspace.run_started.connect(lambda _path: self._begin())
        workspace.run_finished.connect(lambda _result: self.end())

    def _begin(self) -> None:
        self.end()
        application = QApplication.instance()
        if application is not None:
            application.installEventFilter(self)

    def end(self) -> None:
        """Listen no more."""
        application = QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def _is_talking(self) -> bool:
        """A run of the conversation takes the key where it is written."""
        return bool(getattr(self._window.panes.conversation, "is_running", False))

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Take the key, and let everything else pass."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        window, focused = self._window, QApplication.focusWidget()
        is_ours = (
            focused is not None
            and window.isAncestorOf(focused)
            and not (self._is_talking() and window.panes.right.isAncestorOf(focused))
        )
        if event.key() == Qt.Key.Key_Escape and is_ours and QApplication.activePopupWidget() is None:
            self._stop()
            return True
        return super().eventFilter(watched, event)
