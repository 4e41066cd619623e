"""The last resort: what no handler caught is logged, told to the person, and does not end the program.

An exception in a slot of Qt would abort the process, one in a thread or on the loop would be lost. They
all come here. Work on the disk is safe in any case: effects are recorded step by step; unsaved text stays
in its editor.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, QtMsgType, pyqtSignal, qInstallMessageHandler
from PyQt6.QtWidgets import QWidget

from presentation.ui.parts import copy_text
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, internal_error
from shared.message import Message, msg

if TYPE_CHECKING:
    import asyncio

_logger = logging.getLogger(__name__)
_qt_logger = logging.getLogger("Qt")

_SAME_AGAIN_S = 5.0
"""An error from the same place is told again only after so long: painting may fail sixty times a second."""

# What Qt says on machines without a graphics card, a system bus or a desktop; nothing follows from it.
_HARMLESS = (
    "QRhiGles2",
    "vkCreateInstance",
    "vulkan",
    "Unable to detect GPU vendor",
    "GPUInfo not initialized",
    "Vulkan",
    "GBM",
    "dbus",
    "propagateSizeHints",
    "This plugin does not support",
)
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What is told of an uncaught error."""

    text: Message
    details: str
    """Traceback, for a report."""


class LastResort(QObject):
    """Catches what nobody caught. `failed` carries a Failure and is emitted on the window's thread."""

    failed = pyqtSignal(object)

    _arrived = pyqtSignal(object)

    def __init__(self, on_interrupt: Callable[[], None]) -> None:
        """`on_interrupt`: a KeyboardInterrupt or SystemExit raised in a slot asks for the end."""
        super().__init__()
        self._on_interrupt = on_interrupt
        self._told: dict[tuple[str, str, int], float] = {}
        self._arrived.connect(self.failed.emit)  # queued when it comes from another thread

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Within it everything uncaught comes here; afterwards the hooks are what they were."""
        before = sys.excepthook, threading.excepthook
        sys.excepthook, threading.excepthook = self._on_exception, self._on_thread
        handler = qInstallMessageHandler(log_qt_message)
        try:
            yield
        finally:
            sys.excepthook, threading.excepthook = before
            qInstallMessageHandler(handler)

    def on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG002
        """For `loop.set_exception_handler`."""
        error = context.get("exception")
        if error is None:
            details = {key: value for key, value in context.items() if key != "message"}
            _logger.error("%s %r", context.get("message"), details)
            return
        self.report(error, str(context.get("message")))

    def report(self, error: BaseException, where: str) -> None:
        """Log an error and tell it, unless the same was told a moment ago. From any thread."""
        place = _place_of(error)
        now = time.monotonic()
        if now - self._told.get(place, -_SAME_AGAIN_S) < _SAME_AGAIN_S:
            return
        self._told[place] = now
        _logger.error("%s", where, exc_info=error)
        details = "".join(traceback.format_exception(error))
        self._arrived.emit(Failure(text=text_of(error), details=details))

    def _on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt | SystemExit):
            self._on_interrupt()
            return
        self.report(error.with_traceback(trace), "An exception was not caught")

    def _on_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is None or issubclass(args.exc_type, SystemExit):
            return
        name = args.thread.name if args.thread is not None else "?"
        self.report(args.exc_value, f"An exception was not caught in the thread {name}")


def text_of(error: BaseException) -> Message:
    return error.message if isinstance(error, CircuitAIError) else internal_error(error)


def _place_of(error: BaseException) -> tuple[str, str, int]:
    """Where it was raised, so that the same again is known."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return type(error).__name__, "", 0
    return type(error).__name__, Path(last.tb_frame.f_code.co_filename).name, last.tb_lineno


def log_qt_message(kind: QtMsgType, _context: object, text: str | None) -> None:
    """Qt's own messages go to the log; what is known to be harmless as debug."""
    text = text or ""
    is_harmless = any(part in text for part in _HARMLESS) and kind is not QtMsgType.QtFatalMsg
    _qt_logger.log(logging.DEBUG if is_harmless else _LEVELS.get(kind, logging.WARNING), "%s", text)


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
