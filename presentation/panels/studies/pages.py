"""The pages of studies of one window: one for each circuit, made when it is first wanted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from domain.studies.setup import SETUP_KINDS
from presentation.panels.editor.examination import is_spice
from presentation.ui.workspace import DragPhase, WindowServices
from shared.errors import CircuitAIError
from shared.message import msg

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
        workspace.value_dragged.connect(self._drag)
        workspace.study_wanted.connect(
            lambda path: self._services.start(self._open_result(path), kind="open study", scope="open study")
        )
        workspace.study_comparison_wanted.connect(
            lambda path: self._services.start(
                self._open_result(path, compares=True), kind="open study", scope="open study"
            )
        )
        workspace.file_moved.connect(self._follow)

    def open(self, circuit: Path | None = None, kind: str = "", quantity: str = "") -> None:
        """Show the page of a circuit, of a part of circuits that of the one that includes it (of several one
        is chosen); without one that of the circuit F5 means."""
        workspace = self._services.workspace
        known = workspace.run_target if circuit is None else circuit
        if known is not None and (known in self._pages or known == workspace.run_target):
            self._show(known, kind, quantity, circuit)
        elif (meant := circuit or workspace.shown_file) is not None:
            finding = self._find(meant, kind, quantity)
            self._services.start(finding, kind="open studies", scope="open studies")
        else:
            workspace.main_circuit_needed.emit()

    async def _find(self, file: Path, kind: str, quantity: str) -> None:
        workspace, browse = self._services.workspace, self._app.project.browse
        root, main = workspace.root, workspace.main_circuit
        if root is None or await browse.runnable(root, file) is not None:
            self._show(file, kind, quantity, file)
            return
        readers = await browse.circuits_reading(root, file) if is_spice(file) else ()
        if main in readers or len(readers) == 1:
            self._show(main if main in readers else readers[0], kind, quantity, file)
        elif readers:
            chosen = await self._chosen(root, file, readers)
            if chosen is not None:
                self._show(chosen, kind, quantity, file)
        elif quantity:
            workspace.status_changed.emit(
                msg("{name} is not a circuit by itself, and no circuit of the project includes it.",
                    name=file.name)
            )  # fmt: skip
        else:
            workspace.main_circuit_needed.emit()

    async def _chosen(self, root: Path, file: Path, readers: Sequence[Path]) -> Path | None:
        from presentation.ui.questions import choose_item

        names = {each.relative_to(root).as_posix(): each for each in readers}
        name = await choose_item(
            self._services,
            self._editor.window() or self._editor,
            title=msg("Studies"),
            label=msg("{name} is a part of several circuits. Which one is to be studied?", name=file.name),
            items=list(names),
        )
        return None if name is None else names[name]

    def _show(self, circuit: Path, kind: str, quantity: str, text: Path | None) -> None:
        """`text`: where the quantity stands."""
        page = self.page_of(circuit)
        page.came_from = text if quantity and kind == "tune" else None
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
            page.left.connect(self._editor.show_file)
        return page

    def _drag(self, circuit: Path, quantity: str, share: float, phase: DragPhase) -> None:
        page = self.page_of(circuit) if phase == "taken" else self._pages.get(circuit)
        if page is not None:
            page.follow_hand(quantity, share, phase)

    def _forget(self, circuit: Path) -> None:
        self._pages.pop(circuit, None)

    async def _open_result(self, path: Path, *, compares: bool = False) -> None:
        workspace = self._services.workspace
        try:
            study = await self._app.simulation.read_study(path)
            circuit = workspace.views.place_of(study.circuit, study.created)
            page = self.page_of(circuit)
            self._editor.show_page(page)
            await (page.compare_result if compares else page.show_result)(path)
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
