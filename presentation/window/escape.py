"""The key that ends a simulation."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QApplication, QWidget

from presentation.ui.workspace import Workspace


class EscapeStops(QObject):
    """While a run is under way Escape ends it, wherever the focus is but in a conversation at work.

    The editor would keep the key to itself, so a shortcut would not do.
    """

    def __init__(
        self,
        window: QWidget,
        workspace: Workspace,
        *,
        stop: Callable[[], None],
        is_taken: Callable[[QWidget], bool],
    ) -> None:
        """`is_taken`: whether the key means something else in the widget that has the focus."""
        super().__init__(window)
        self._window = window
        self._stop = stop
        self._is_taken = is_taken
        workspace.run_started.connect(lambda _path: self._begin())
        workspace.run_finished.connect(lambda _result: self.end())

    def _begin(self) -> None:
        self.end()
        application = QApplication.instance()
        if application is not None:
            application.installEventFilter(self)

    def end(self) -> None:
        application = QApplication.instance()
        if application is not None:
            application.removeEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Take the key, and let everything else pass."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        focused = QApplication.focusWidget()
        is_ours = focused is not None and self._window.isAncestorOf(focused) and not self._is_taken(focused)
        if event.key() == Qt.Key.Key_Escape and is_ours and QApplication.activePopupWidget() is None:
            self._stop()
            return True
        return super().eventFilter(watched, event)
