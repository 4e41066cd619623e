"""The whole window, as tests make and end it. It costs a quarter of a second of the processor: a test of one
panel makes that panel.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from application.project.window_state import WindowState
from presentation.ui.workspace import WindowServices
from presentation.window.main_window import MainWindow
from tests.gui.conftest import Until


class NoWebView:
    """A machine without a web view: messages are shown as plain text."""

    async def works(self) -> bool:
        return False


def without_web_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting one takes a second, and is looked at elsewhere."""
    monkeypatch.setattr("presentation.panels.conversation.panel.WebProbe", NoWebView)


async def open_window(
    services: WindowServices,
    until: Until,
    project: Path | None,
    *,
    state: WindowState | None = None,
    size: tuple[int, int] = (1440, 900),
) -> MainWindow:
    """A window on a project, without one on the start page, that has come to rest."""
    window = MainWindow(services, services.app, state, first="all" if project is None else "project")
    window.resize(*size)
    window.show()
    await window.fill(project)
    await until(lambda: not services.app.program.tasks.handles)
    return window


async def end_window(window: MainWindow, services: WindowServices, until: Until) -> None:
    """As the program ends it. Tests end with it: what Qt handles after a test has no loop."""
    await services.app.program.stop.stop_all("app_shutdown")
    await window.release()
    await until(lambda: not services.app.program.tasks.handles)
