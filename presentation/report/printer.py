"""Prints a page to a PDF file: ``python -m presentation.report.printer PAGE.html FILE.pdf``.

A process of its own, without a display: a web view that cannot be made aborts its process. The page runs and
loads nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_LIMIT_MS = 60_000
_MARGINS_MM = (16.0, 16.0, 16.0, 18.0)
_FAILED, _TOO_LONG = 4, 5


def main(page_path: str, target: str) -> int:
    """Exit code 0: written; 4: it could not be; 5: it took longer than a minute."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # Chromium refuses to run as root in its own sandbox
        os.environ.setdefault("QTWEBENGINE_DISABLE_SANDBOX", "1")
    from PyQt6.QtCore import QMarginsF, QTimer, QUrl
    from PyQt6.QtGui import QPageLayout, QPageSize
    from PyQt6.QtWebEngineCore import QWebEnginePage, QWebEngineProfile, QWebEngineSettings
    from PyQt6.QtWidgets import QApplication

    application = QApplication(sys.argv[:1])
    profile = QWebEngineProfile()  # off the record
    page = QWebEnginePage(profile)
    settings = page.settings()
    assert settings is not None
    for attribute in (
        QWebEngineSettings.WebAttribute.JavascriptEnabled,
        QWebEngineSettings.WebAttribute.LocalContentCanAccessFileUrls,
    ):
        settings.setAttribute(attribute, False)

    layout = QPageLayout(
        QPageSize(QPageSize.PageSizeId.A4),
        QPageLayout.Orientation.Portrait,
        QMarginsF(*_MARGINS_MM),
        QPageLayout.Unit.Millimeter,
    )

    def print_it(is_loaded: bool) -> None:
        if is_loaded:
            page.printToPdf(target, layout)
        else:
            application.exit(_FAILED)

    page.loadFinished.connect(print_it)
    page.pdfPrintingFinished.connect(lambda _, is_done: application.exit(0 if is_done else _FAILED))
    page.load(QUrl.fromLocalFile(str(Path(page_path).resolve())))
    QTimer.singleShot(_LIMIT_MS, lambda: application.exit(_TOO_LONG))
    code = application.exec()
    page.deleteLater()  # before its profile, as Qt wants it
    application.processEvents()
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
