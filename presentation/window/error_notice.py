"""What a person sees of an error nobody expected: a line in the status bar and one small dialog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PyQt6.QtCore import QObject, Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QMessageBox, QPushButton, QWidget

from presentation.window.errors import Failure, LastResort
from presentation.window.styles import mark
from presentation.window.workspace import WindowServices
from shared.message import msg


class ErrorNotice(QObject):
    """Shows what the last resort caught; one dialog at a time, later errors in the status bar only."""

    def __init__(
        self, last_resort: LastResort, services: WindowServices, frame: QWidget | None, log: Path
    ) -> None:
        super().__init__(frame)
        self._services = services
        self._frame = frame
        self._log = log
        self._box: QMessageBox | None = None
        last_resort.failed.connect(self.show)

    def show(self, failure: Failure) -> None:
        """Tell it."""
        self._services.workspace.status_changed.emit(failure.text)
        if self._box is not None or self._frame is None or not self._frame.isVisible():
            return
        tr = self._services.language
        box = QMessageBox(self._frame)
        box.setObjectName("lastResort")
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle(tr(msg("Something went wrong")))
        box.setText(tr(failure.text))
        safe = tr(
            msg("The program goes on. Files on the disk are safe, and unsaved text is still in the editor.")
        )
        box.setInformativeText(f"{safe}\n{tr(msg('Details are in {path}.', path=str(self._log)))}")
        save = box.addButton(tr(msg("Save all")), QMessageBox.ButtonRole.ActionRole)
        copy = box.addButton(tr(msg("Copy details")), QMessageBox.ButtonRole.ActionRole)
        close = box.addButton(tr(msg("Close")), QMessageBox.ButtonRole.RejectRole)
        _dress(close, "primary")
        _reconnect(save, self._save_all)
        _reconnect(copy, lambda: _copy(failure.details))
        box.setDefaultButton(close)
        box.finished.connect(self._forget)
        self._box = box
        box.open()

    def _save_all(self) -> None:
        buffers = self._services.workspace.buffers
        if buffers is not None and not buffers.save_all():
            self._services.workspace.status_changed.emit(
                msg("Not every file could be saved; see the editor.")
            )

    def _forget(self, _result: int) -> None:
        self._box = None


def _dress(button: QPushButton | None, kind: str) -> None:
    if button is not None:
        mark(button, kind=kind)


def _reconnect(button: QPushButton | None, action: Callable[[], None]) -> None:
    """Have the button do something and leave the dialog open (QMessageBox would close at any button)."""
    if button is not None:
        button.clicked.disconnect()
        button.clicked.connect(action)


def _copy(text: str) -> None:
    clipboard = QGuiApplication.clipboard()
    if clipboard is not None:
        clipboard.setText(text)
