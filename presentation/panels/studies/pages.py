"""The pages of studies of one window: one for each circuit, made when it is first wanted."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from domain.studies.setup import SETUP_KINDS
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.app import Application
    from presentation.panels.editor.editor_area import EditorArea
    from presentation.panels.studies.page import StudiesPage


class StudyPages(QObject):
    """Answers who wants to see the studies of a circuit, or a stored one."""

    def __init__(self, services: WindowServices, app: Application, editor: EditorArea) -> None:
        super().__init__(editor)
        self._services = services
        self._app = app
        self._editor = editor
        self._pages: dict[Path, StudiesPage] = {}

    def listen(self) -> None:
        """From now on."""
        workspace = self._services.workspace
        workspace.studies_wanted.connect(self.open)
        workspace.study_wanted.connect(
            lambda path: self._services.start(self._open_result(path), kind="open study", scope="open study")
        )
        workspace.file_moved.connect(self._follow)

    def open(self, circuit: Path | None = None, kind: str = "", quantity: str = "") -> None:
        """Show the page of a circuit; without one that of the circuit F5 means."""
        workspace = self._services.workspace
        circuit = circuit or workspace.run_target
        if circuit is None:
            workspace.main_circuit_needed.emit()
            return
        page = self.page_of(circuit)
        self._editor.show_page(page)
        wanted = next((each for each in SETUP_KINDS if each == kind), None)
        if wanted is not None:
            page.show_kind(wanted, quantity)

    def page_of(self, circuit: Path) -> StudiesPage:
        """The page of a circuit, which may not have a tab yet."""
        from presentation.panels.studies.page import StudiesPage

        page = self._pages.get(circuit)
        if page is None:
            page = self._pages[circuit] = StudiesPage(self._services, self._app, circuit)
            page.ended.connect(partial(self._forget, circuit))
            page.difference_wanted.connect(self._editor.show_difference)
            page.run_opened.connect(self._editor.show_changed)
        return page

    def _forget(self, circuit: Path) -> None:
        self._pages.pop(circuit, None)

    async def _open_result(self, path: Path) -> None:
        workspace = self._services.workspace
        try:
            study = await self._app.simulation.read_study(path)
            circuit = workspace.views.place_of(study.circuit, study.created)
            page = self.page_of(circuit)
            self._editor.show_page(page)
            await page.show_result(path)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)

    def _follow(self, old: Path, new: Path) -> None:
        """A circuit has another name: its page is made again under the new one."""
        for circuit in [path for path in self._pages if path.is_relative_to(old)]:
            page = self._pages[circuit]
            was_open = self._editor.tabs.index_of(page) >= 0
            self._editor.close_page(page)
            if was_open:
                self.open(new / circuit.relative_to(old) if circuit != old else new)
