"""What a person sees of an error nobody expected: a line in the status bar and one small dialog."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QWidget

from presentation.ui.clipboard import copy_text
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from presentation.window.errors import Failure, LastResort
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
        self._box: SmallDialog | None = None
        last_resort.failed.connect(self.show)

    def show(self, failure: Failure) -> None:
        self._services.workspace.status_changed.emit(failure.text)
        if self._box is not None or self._frame is None or not self._frame.isVisible():
            return
        tr = self._services.language
        safe = tr(
            msg(
                "The program continues to run. Files on disk are safe, and unsaved text is still in "
                "the editor."
            )
        )
        details = tr(msg("Details are in {path}.", path=str(self._log)))
        text = f"{tr(failure.text)}\n\n{safe}\n{details}"
        box = SmallDialog(
            self._services, self._frame, "lastResort", title=msg("An error occurred"), text=text
        )
        box.add_button(msg("Copy details"), act=lambda: copy_text(failure.details), is_left=True)
        box.add_button(msg("Save all"), act=self._save_all)
        box.add_button(msg("Close"), kind="primary").setFocus()
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
