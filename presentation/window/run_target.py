"""Which circuit F5 simulates: the file in front when it is one, else the main circuit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from presentation.ui.parts import once_after
from presentation.ui.signals import Signal, signal

if TYPE_CHECKING:
    from application.groups.project import Project
    from application.project.runnable import Runnable
    from presentation.ui.workspace import WindowServices

_SOON_MS = 150
"""An editor that saves, or a tool that writes, touches a file several times."""


class RunTarget(QObject):
    """Keeps `workspace.front_circuit` and tells the analyses of what F5 means."""

    analyses_changed: Signal[tuple[tuple[str, str], ...], bool] = signal(object, bool)
    """(kind, card) of each analysis of the circuit that F5 means, and whether it asks for any elsewhere (a
    control block, a file it includes)"""

    def __init__(self, services: WindowServices, project: Project, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._project = project
        self._request = 0
        self._timer = once_after(self, _SOON_MS, self._look)
        workspace = services.workspace
        workspace.file_shown.connect(lambda _path: self._look())
        workspace.main_circuit_changed.connect(lambda _path: self._look())
        workspace.file_changed.connect(lambda _path: self._timer.start())
        workspace.project_closed.connect(self._forget)

    def _forget(self) -> None:
        self._timer.stop()
        self._request += 1
        self._services.workspace.set_front_circuit(None)
        self.analyses_changed.emit((), False)

    def _look(self) -> None:
        self._request += 1
        if self._services.workspace.root is None:
            return
        self._services.start(self._examine(self._request), kind="look at front file")

    async def _examine(self, request: int) -> None:
        workspace = self._services.workspace
        root, shown, main = workspace.root, workspace.shown_file, workspace.main_circuit
        if root is None:
            return
        front, of_main = await asyncio.gather(self._of(root, shown), self._of(root, main))
        if request != self._request or root != workspace.root:
            return
        workspace.set_front_circuit(shown if front is not None else None)
        found = front if front is not None else of_main
        if found is None:
            self.analyses_changed.emit((), False)
        else:
            self.analyses_changed.emit(found.analyses, found.has_analysis and not found.analyses)

    async def _of(self, root: Path, file: Path | None) -> Runnable | None:
        return None if file is None else await self._project.browse.runnable(root, file)
