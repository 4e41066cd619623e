"""File > Import: what is made of files of other programs is shown, put into the project and opened.

Without a project one is made in the place of new projects, named after the first file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtWidgets import QWidget

from application.groups.project import Project
from application.project.importing import target_of
from application.project.window_state import NamedView, PlotLook
from presentation.ui.new_project import default_place, free_folder
from presentation.ui.questions import choose_files
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.project.window_state import CircuitView
    from domain.simulation.ltspice_plots import PlotSettings
    from presentation.window.project_switch import ProjectSwitch

_FILTERS = (
    "LTspice, KiCad, Touchstone, Qucs, PySpice (*.asc *.ASC *.kicad_sch *.s?p *.S?P *.net *.txt *.py)",
    "LTspice (*.asc *.ASC)",
    "KiCad (*.kicad_sch)",
    "Touchstone (*.s?p *.S?P)",
    "Qucs (*.net *.txt)",
    "PySpice (*.py)",
)

_LTSPICE = "LTspice"
"""The view that a sheet's plot settings become."""


class FileImport:
    """Asks for files, shows what each becomes, and writes it."""

    def __init__(
        self, services: WindowServices, project: Project, projects: ProjectSwitch, window: QWidget
    ) -> None:
        self._services, self._project, self._projects = services, project, projects
        self._window = window
        self._taken_from: Path | None = None
        """Where the last ones were: the next are there, mostly, and not in the project made for the first."""
        services.workspace.import_wanted.connect(self.take)

    def choose(self) -> None:
        """Ask which files."""
        self._services.start(self._choose(), kind="import")

    def take(self, source: Path) -> None:
        """Import this one."""
        self._services.start(self._import_all((source,)), kind="import")

    async def _choose(self) -> None:
        title = msg("Import files of other programs")
        start = self._taken_from or self._services.workspace.root or Path.home()
        sources = await choose_files(self._services, self._window, title, start, filters=_FILTERS)
        self._taken_from = sources[0].parent if sources else self._taken_from
        await self._import_all(sources)

    async def _import_all(self, sources: tuple[Path, ...]) -> None:
        for source in sources:
            try:
                if not await self._import(source):
                    return
            except CircuitAIError as error:
                self._services.workspace.error_occurred.emit(error)

    async def _import(self, source: Path) -> bool:
        """False when the person thinks better of it."""
        from presentation.dialogs.import_file import ImportDialog, told_path

        services, workspace = self._services, self._services.workspace
        root = workspace.root
        is_inside = root is not None and source.is_relative_to(root)
        # Symbols of a sheet of the project may lie anywhere in it.
        libraries = (root,) if is_inside and root is not None else ()
        found = await self._project.import_file.look(source, libraries=libraries)
        folder = await off_loop(free_folder, source.stem, default_place()) if root is None else root
        target = await off_loop(_free, folder, source, found.libraries)
        # In its own folder what it includes is there already.
        told = replace(found, libraries=()) if target.parent == source.parent else found
        dialog = ImportDialog(services, told, told_path(target, root), self._window)
        if not await dialog.ask():
            return False
        if root is None:
            made_in = await self._projects.make(source.stem)
            if made_in is None:
                return False
            target = await off_loop(_free, made_in, source, found.libraries)
        made = await self._project.import_file.write(found, target)
        for plot in found.plots:
            _look_as(plot, workspace.views.of(made.path))
        workspace.views.tell()
        for path in (*made.copied, made.path):
            workspace.file_changed.emit(path)
        workspace.file_activated.emit(made.path, None)
        workspace.status_changed.emit(msg("Imported: {path}", path=made.path.name))
        return True


def _look_as(plot: PlotSettings, view: CircuitView) -> None:
    """Draw the circuit's curves as they were drawn in LTspice, and keep that by name."""
    traces, panes, scales = list(plot.traces), dict(plot.panes), dict(plot.scales)
    look = view.looks.setdefault(plot.analysis, PlotLook())
    look.panes, look.scales = dict(panes), dict(scales)
    look.views[_LTSPICE] = NamedView(traces=traces, panes=panes, scales=scales)
    view.traces[plot.analysis] = list(traces)


def _free(root: Path, source: Path, libraries: Sequence[str]) -> Path:
    """Beside the sheet when it lies in the project, else at its top; under a name that is not taken, by
    what comes along neither."""
    folder = source.parent if source.parent.is_relative_to(root) else root
    usual = target_of(folder / source.name)
    number, target = 1, usual
    while target.exists() or target.relative_to(folder).as_posix() in libraries:
        number += 1
        target = usual.with_stem(f"{usual.stem}-{number}")
    return target
