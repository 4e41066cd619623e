"""What the editor shows while no file is open: what the folder needs, with a circuit and without."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Protocol

from presentation.panels.editor.examination import is_schematic
from presentation.ui.empty_state import EmptyNote
from presentation.ui.workspace import WindowServices
from shared.message import msg
from shared.uninterrupted import off_loop

_MOST_NAMED = 3
"""Schematics whose names are said."""
_MOST_FOLDERS = 100
"""Of a project that are looked into."""


def _schematics(root: Path) -> tuple[Path, ...]:
    """Schematics of LTspice and KiCad at the top of a folder, else in its folders. Blocking."""
    inside = _inside(root)
    found = [path for path in inside if is_schematic(path)]
    if not found:
        folders = [path for path in inside if path.is_dir() and not path.name.startswith(".")]
        found = [path for folder in folders[:_MOST_FOLDERS] for path in _inside(folder) if is_schematic(path)]
    return tuple(found)


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # the watch tells of a folder that has gone
        return []


def _told(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


class Area(Protocol):
    """Who has the tabs."""

    def show_file(self, path: Path, line: int | None = None, column: int = 1) -> None: ...


class NothingOpen(EmptyNote):
    """Offers nothing while a project opens."""

    def __init__(self, services: WindowServices, area: Area) -> None:
        workspace = services.workspace
        super().__init__(
            services,
            msg("Project files open here."),
            (
                (msg("Open the main circuit"), self._open_main_circuit),
                (msg("Import…"), self._import),
                # The list of files is folded in a narrow window.
                (msg("Find a file"), partial(workspace.command_wanted.emit, "anything")),
                (msg("New circuit"), partial(workspace.command_wanted.emit, "newCircuit")),
                (msg("Describe a design"), partial(workspace.command_wanted.emit, "describe_design")),
                (msg("Open an example"), partial(workspace.command_wanted.emit, "openExample")),
                (msg("Import from LTspice, KiCad or Qucs"), self._import),
            ),
        )
        self._found: tuple[Path, ...] = ()
        self._area = area
        workspace.main_circuit_changed.connect(self._offer)
        workspace.run_target_changed.connect(self._offer)
        workspace.opening_changed.connect(self._offer)
        workspace.opening_changed.connect(self._look)
        workspace.file_changed.connect(self._look)
        self._offer()

    def _offer(self, _main: object = None) -> None:
        workspace = self._services.workspace
        if workspace.opening is not None:
            self.set_text(msg("Opening {name}…", name=workspace.opening.name))
            self.offer((False,) * 7)
            return
        main = workspace.main_circuit
        is_without = main is None and workspace.root is not None
        if main is None and workspace.root is not None and self._found:
            shown = [_told(path, workspace.root) for path in self._found[:_MOST_NAMED]]
            names = ", ".join([*shown, *["…"] * (len(self._found) > _MOST_NAMED)])
            self.set_text(msg("No circuit here yet. These files can become one: {names}", names=names))
        elif is_without and workspace.root is not None and workspace.has_circuits:
            self.set_text(
                msg("Open a circuit of {name} from the list of files, or:", name=workspace.root.name)
            )
        elif is_without and workspace.root is not None:
            self.set_text(msg("{name} has no main circuit yet.", name=workspace.root.name))
        else:
            self.set_text(msg("Project files open here."))
        has_found = is_without and bool(self._found)  # these first
        can_find = is_without and not has_found and workspace.has_circuits
        is_new = main is None
        self.offer((not is_new, has_found, can_find, True, is_new, is_new, is_without and not has_found))

    def _look(self, _changed: object = None) -> None:
        workspace = self._services.workspace
        root = workspace.root
        if root is not None and workspace.opening is None and workspace.main_circuit is None:
            self._services.start(self._find(root), kind="look for schematics")

    async def _find(self, root: Path) -> None:
        found = await off_loop(_schematics, root)
        if root == self._services.workspace.root:
            self._found = found
            self._offer()

    def _import(self) -> None:
        """The one that was found, else a question which."""
        workspace = self._services.workspace
        if len(self._found) == 1:
            workspace.import_wanted.emit(self._found[0])
        else:
            workspace.command_wanted.emit("importFiles")

    def _open_main_circuit(self) -> None:
        circuit = self._services.workspace.main_circuit
        if circuit is not None:
            self._area.show_file(circuit)
        else:
            self._services.workspace.status_changed.emit(msg("No main circuit"))
