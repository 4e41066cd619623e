"""What stories share besides the fixtures of all window tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import QEventLoop, QMimeDatabase, QUrl
from PyQt6.QtWebEngineCore import QWebEnginePage
from PyQt6.QtWidgets import QApplication, QFileDialog

from tests.gui.conftest import flush_deletions

_PAGE = Path(__file__).resolve().parents[3] / "resources" / "web" / "conversation.html"


@pytest.fixture(scope="session")
def chromium(qapp: QApplication) -> None:
    """What Qt makes once and keeps is no story's leak: Chromium's helper processes, the kinds of files."""
    page, loop = QWebEnginePage(), QEventLoop()
    page.loadFinished.connect(loop.quit)
    page.load(QUrl.fromLocalFile(str(_PAGE)))
    loop.exec()
    page.deleteLater()
    QFileDialog().deleteLater()
    QMimeDatabase().mimeTypeForName("text/plain")
    flush_deletions()
