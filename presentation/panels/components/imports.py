"""Imports of the Components panel: files that are asked for or dropped, one after the other, and the line
that tells of the last one and takes it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtGui import QDropEvent
from PyQt6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from domain.circuit.netlist import CIRCUIT_SUFFIXES, LIBRARY_SUFFIXES
from presentation.ui.new_project import short_path
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.questions import choose_files
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from application.components.importing import ImportedLibrary
    from application.groups.program import Program
    from application.groups.project import Project
    from presentation.panels.components.import_page import ImportPage
    from presentation.ui.workspace import WindowServices

_TAKEN = LIBRARY_SUFFIXES | CIRCUIT_SUFFIXES | {".txt", ".bjt", ".dio", ".jft", ".mos"}
"""Files that may be libraries."""
_FILTERS = ("SPICE (*.lib *.LIB *.mod *.MOD *.sub *.SUB *.cir *.CIR *.inc *.model *.mdl *.txt)", "*")


class Imports(QWidget):
    """The line; the pages of an import take the place of the rest of the panel while there is one."""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        program: Program,
        pages: QStackedWidget,
        *,
        is_over: Callable[[ImportedLibrary | None], object],
    ) -> None:
        """`pages`: the panel's, the first of which is shown without an import; `is_over` hears what the last
        of the files became (None: no import any more)."""
        super().__init__()
        self._services, self._project, self._program = services, project, program
        self._pages, self._is_over = pages, is_over
        self.page: ImportPage | None = None
        self._waiting: list[Path] = []
        self._done: ImportedLibrary | None = None
        self._told = text_label(name="components_imported", wraps=True, role="secondary")
        self.undo = push_button(name="undoImport", clicked=lambda _on=False: self._take_back(), kind="link")
        self._row = arrange(QHBoxLayout(self), (self._told, 1), self.undo, edges=0)
        services.workspace.project_closed.connect(self._forget)
        self.setVisible(False)

    def choose(self) -> None:
        """Ask for library files, and import them."""
        self._services.start(self._choose(), kind="question")

    async def _choose(self) -> None:
        start = self._services.workspace.root or Path.home()
        title, window = msg("Import a model library"), self.window() or self
        if found := await choose_files(self._services, window, title, start, filters=_FILTERS):
            self.begin(found)

    def begin(self, files: Sequence[Path]) -> None:
        """Lead through the import of files, one after the other."""
        first, *self._waiting = files
        page = self.page
        if page is None:
            from presentation.panels.components.import_page import ImportPage

            page = self.page = ImportPage(self._services, self._project, self._program)
            page.ended.connect(self._on_ended)
            self._pages.addWidget(page)
        self._pages.setCurrentWidget(page)
        page.begin(first)

    def _on_ended(self, done: ImportedLibrary | None) -> None:
        if done is not None:
            self._done = done
            self.retranslate()
            if self._waiting:
                self.begin(self._waiting)
                return
        self._waiting = []  # who cancels means all of them
        self._pages.setCurrentIndex(0)
        self._is_over(done)

    def _take_back(self) -> None:
        self._services.start(self._undo_import(), kind="undo")

    async def _undo_import(self) -> None:
        done, workspace = self._done, self._services.workspace
        if done is None or workspace.root is None or not done.op_id:
            return
        try:
            await self._project.import_library.undo(workspace.root, done)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        self._done = None
        self.retranslate()
        for path in (done.path, *done.copied):
            workspace.file_changed.emit(path)
        workspace.status_changed.emit(msg("Import undone: {path}", path=done.path.name))
        self._is_over(None)

    def _forget(self) -> None:
        self._done = None
        self.retranslate()
        if self.page is not None and self._pages.currentWidget() is self.page:
            self.page.end()

    def restyle(self) -> None:
        self._row.setSpacing(self._services.theme.theme.size("space.2"))

    def retranslate(self) -> None:
        language, done, root = self._services.language, self._done, self._services.workspace.root
        self.setVisible(done is not None)
        if done is None:
            return
        is_inside = root is not None and done.path.is_relative_to(root)
        place = done.path.relative_to(root).as_posix() if root and is_inside else short_path(done.path)
        told = (
            msg("{path} was there already, with the same text.", path=place)
            if done.was_there
            else msg("Imported: {path}", path=place)
        )
        self._told.setText(language(told))
        self.undo.setText(language(msg("Undo")))
        self.undo.setVisible(bool(done.op_id))


def libraries_in(event: QDropEvent) -> list[Path]:
    """The files of a drop that may be libraries."""
    data = event.mimeData()
    urls = [] if data is None else data.urls()
    files = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
    return [path for path in files if path.suffix.lower() in _TAKEN]
