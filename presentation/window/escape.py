"""The key that ends a simulation."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6 import sip
from PyQt6.QtCore import QEvent, QObject, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QApplication, QWidget

from presentation.ui.workspace import Workspace


class EscapeStops(QObject):
    """While a run is under way Escape ends it, wherever the focus is but in a conversation at work.

    The editor would keep the key to itself, so a shortcut would not do. Only what has the focus is watched:
    a filter of the whole application would be asked for every event that a layout or a drawing sends.
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
        self._is_running = False
        self._watched: QWidget | None = None
        workspace.run_started.connect(lambda _path: self._begin())
        workspace.run_finished.connect(lambda _result: self.end())
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._follow)

    def _begin(self) -> None:
        self._is_running = True
        self._watch(QApplication.focusWidget())

    def end(self) -> None:
        self._watch(None)
        self._is_running = False

    def _follow(self, _old: QWidget | None, focused: QWidget | None) -> None:
        self._watch(focused)

    def _watch(self, focused: QWidget | None) -> None:
        if not self._is_running:
            return
        if self._watched is not None and not sip.isdeleted(self._watched):
            self._watched.removeEventFilter(self)
        self._watched = focused if focused is not None and self._window.isAncestorOf(focused) else None
        if self._watched is not None:
            self._watched.installEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Take the key, and let everything else pass."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Escape
            and self._watched is not None
            and not self._is_taken(self._watched)
            and QApplication.activePopupWidget() is None
        ):
            self._stop()
            return True
        return super().eventFilter(watched, event)
