"""Whether a web view can be used here: asked of a child process, for where it can't it aborts its process.

A good answer is remembered in the user's folder, for this version of Qt and this kind of display. While
the first view of a start is being made the file says "trying": a start that finds this word knows that
the one before it ended there, and asks a child again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from PyQt6.QtCore import PYQT_VERSION_STR, QCoreApplication, Qt, qVersion
from PyQt6.QtGui import QGuiApplication

from shared.paths import user_home
from shared.processes import ProcessLimits, ProcessManager

_logger = logging.getLogger(__name__)

_TIMEOUT_S = 20.0
_OUTPUT_BYTES = 64 * 1024
_FILE = "webview.json"
_SOURCE = """
import sys
from PyQt6.QtCore import QTimer
from PyQt6.QtWebEngineWidgets import QWebEngineView
from PyQt6.QtWidgets import QApplication
application = QApplication(sys.argv)
view = QWebEngineView()
view.page().loadFinished.connect(
    lambda ok: view.page().runJavaScript(
        "6 * 7", lambda found: application.exit(0 if ok and found == 42 else 4)
    )
)
view.setHtml("<!doctype html><title>probe</title>")
QTimer.singleShot(15000, lambda: application.exit(5))
sys.exit(application.exec())
"""


def prepare_environment() -> None:
    """What Qt and Chromium read when they start; what somebody has set himself is kept.

    The page is put on the screen by the processor: a page of text gains nothing by OpenGL, and where that is
    itself done by the processor (a virtual machine, a remote display) each picture holds the loop until it is
    finished, 30 to 100 ms. Chromium refuses to run as root in its own sandbox; only then it is switched off.
    The page collects its garbage itself: left alone Chromium keeps 400 kB of each turn of a conversation.
    """
    os.environ.setdefault("QT_QUICK_BACKEND", "software")
    flags = os.environ.get("QTWEBENGINE_CHROMIUM_FLAGS", "")
    if "--js-flags" not in flags:
        os.environ["QTWEBENGINE_CHROMIUM_FLAGS"] = f"{flags} --js-flags=--expose-gc".strip()
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        os.environ.setdefault("QTWEBENGINE_DISABLE_SANDBOX", "1")


class WebProbe:
    """Asks once a process; the answer is kept on the disk."""

    def __init__(
        self, folder: Path | None = None, *, ask_child: Callable[[], Awaitable[bool]] | None = None
    ) -> None:
        self._folder = folder
        self._ask_child = ask_child or _child_succeeds
        self._answer: bool | None = None
        self._lock = asyncio.Lock()

    async def works(self) -> bool:
        """Whether a view can be made in this process."""
        if not QCoreApplication.testAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts):
            return False  # too late for this process: it has to be set before the QApplication
        async with self._lock:
            if self._answer is None:
                prepare_environment()
                known = await asyncio.to_thread(self._read)
                self._answer = True if known == "works" else await self._ask_child()
                await asyncio.to_thread(self._write, "trying" if self._answer else "fails")
        return self._answer

    async def confirm(self) -> None:
        await asyncio.to_thread(self._write, "works")

    def _file(self) -> Path:
        return (self._folder or user_home()) / _FILE

    def _read(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(self._file().read_text("utf-8"))
            if isinstance(found, dict) and found.get("of") == _surroundings():
                return str(found.get("state"))
        return ""

    def _write(self, state: str) -> None:
        path = self._file()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.{os.getpid()}")
            part.write_text(json.dumps({"of": _surroundings(), "state": state}), "utf-8")
            part.replace(path)
        except OSError as error:
            _logger.info("the answer of the web probe could not be kept: %s", error)


def _surroundings() -> list[str]:
    flags = os.environ.get("QTWEBENGINE_CHROMIUM_FLAGS", "")
    drawing = os.environ.get("QT_QUICK_BACKEND", "")
    return [PYQT_VERSION_STR, qVersion() or "", QGuiApplication.platformName(), flags, drawing]


async def _child_succeeds() -> bool:
    environment = {**os.environ, "QT_QPA_PLATFORM": QGuiApplication.platformName()}
    command = [sys.executable, "-c", _SOURCE]
    limits = ProcessLimits(wall_s=_TIMEOUT_S, output_bytes=_OUTPUT_BYTES)
    outcome = await ProcessManager().run(command, limits=limits, env=environment)
    return outcome.exit_code == 0 and not outcome.timed_out
