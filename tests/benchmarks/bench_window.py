"""From the start of the process to the first paint of the window, against two bare ones.

An empty PyQt6 window, and one with a web view in it, which ours has too (but makes later).

Both on Qt's offscreen platform, unless QT_QPA_PLATFORM names another.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.harness import Pair

ROOT = Path(__file__).parents[2]
OURS = """
import os, sys
sys.argv = ["main.py"]
import main
def open_window(app, path, signals):
    from presentation.window import application
    wait = application.first_paint
    async def leave(frame):
        await wait(frame)
        os._exit(0)
    application.first_paint = leave
    return application.run(app, path, signals)
main.open_window = open_window
sys.exit(f"ended with {main.main()} and was never painted")
"""
THEIRS = """
import os
from PyQt6.QtWidgets import QApplication, QWidget
class Window(QWidget):
    def paintEvent(self, event):
        os._exit(0)
application = QApplication([])
window = Window()
window.resize(1440, 900)
window.show()
application.exec()
"""

WITH_WEB_VIEW = """
import os
os.environ.setdefault("QTWEBENGINE_DISABLE_SANDBOX", "1")
os.environ.setdefault("QT_QUICK_BACKEND", "software")
from PyQt6.QtWebEngineWidgets import QWebEngineView
from PyQt6.QtWidgets import QApplication, QVBoxLayout, QWidget
class Head(QWidget):
    def paintEvent(self, event):
        os._exit(0)
application = QApplication(["bare"])
window = QWidget()
column, head = QVBoxLayout(window), Head()
head.setFixedHeight(36)
column.addWidget(head)
column.addWidget(QWebEngineView(), 1)
window.resize(1440, 900)
window.show()
application.exec()
"""


def pairs() -> list[Pair]:
    """The frame of a first start, with its welcome page; panes and panels come after it."""
    home = tempfile.mkdtemp(prefix="bench-window-")
    return [
        Pair(
            name="first paint",
            ours=lambda: _python(OURS, home),
            theirs=lambda: _python(THEIRS, home),
            theirs_name="an empty QWidget",
            note="at most 4 is the aim",
        ),
        Pair(
            name="first paint",
            ours=lambda: _python(OURS, home),
            theirs=lambda: _python(WITH_WEB_VIEW, home),
            theirs_name="a window with a web view",
        ),
    ]


def _python(program: str, home: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {"QT_QPA_PLATFORM": "offscreen", **environment, "CIRCUIT_DESIGN_AI_HOME": home}
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        check=True,
        stderr=subprocess.DEVNULL,
        timeout=60,
    )
