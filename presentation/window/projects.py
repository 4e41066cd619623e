"""The open project: opening and closing it, its main circuit, what changed in it, its problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from application.project.window_state import ProjectMemory
from domain.circuit.netlist import NETLIST_SUFFIXES
from presentation.panels.project.tree_model import Marks
from presentation.ui.parts import once_after
from presentation.ui.signals import Signal, signal
from presentation.ui.workspace import Place, WindowServices
from presentation.window.file_watch import FileWatch
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from application.groups.project import Project
    from application.groups.simulation import Simulation
    from application.project.browsing import OpenedProject


class ProjectDesk(QObject):
    """Drives the workspace. One project at a time; whoever opens another has asked before."""

    marks_changed: Signal[Marks] = signal(object)
    result_stored = pyqtSignal()
    conversation_stored: Signal[str] = signal(str)
    """As FileWatch has them"""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        simulation: Simulation,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._project = project
        self._simulation = simulation
        self._watch = FileWatch(self)
        self._accepted: Mapping[str, str] | None = None
        self._chosen = ""
        """The main circuit, relative; it stays that when circuits are added. "" = none yet."""
        self._changed: frozenset[Path] = frozenset()
        self._problems: dict[Path, tuple[int, int]] = {}
        self._stale: set[Path] = set()
        self._timer = once_after(self, 150, self._look_again)
        workspace = services.workspace
        self._watch.changed.connect(workspace.file_changed.emit)
        self._watch.moved.connect(workspace.file_moved.emit)
        self._watch.failed.connect(workspace.status_changed.emit)
        self._watch.result_stored.connect(self.result_stored)
        self._watch.conversation_stored.connect(self.conversation_stored.emit)
        workspace.file_changed.connect(self._on_file_changed)
        workspace.file_moved.connect(self._on_file_moved)
        workspace.changes_accepted.connect(self.accept)
        workspace.main_circuit_chosen.connect(self.set_main)
        workspace.main_circuit_changed.connect(lambda _path: self._examine())

    async def open(
        self,
        place: Path,
        memory: ProjectMemory | None = None,
        *,
        opening: Callable[[Path], None] = lambda _root: None,
    ) -> OpenedProject:
        """Open a folder (or a file's folder) in place of the open project.

        `memory` is what was left of it; `opening` is called with its folder before anybody hears that it is
        open. Raises UserInputError for a place that can't be one; the open
        project stays then.
        """
        memory = memory or ProjectMemory()
        opened = await self._project.browse.open(place, main=memory.main_circuit)
        await self.close()
        root, workspace = opened.root, self._services.workspace
        self._accepted, self._chosen = memory.accepted, memory.main_circuit
        workspace.root = root
        workspace.views.bring_back(root, memory.views)
        workspace.export_folder = Path(memory.export_folder) if memory.export_folder else None
        workspace.main_circuit = self._main_of(root, opened.circuits)
        self._keep_main()
        workspace.set_has_circuits(has_circuits=bool(opened.circuits))
        opening(root)
        workspace.project_opened.emit(root)
        workspace.main_circuit_changed.emit(workspace.main_circuit)
        if opened.warning is not None:
            workspace.status_changed.emit(opened.warning)
        await self._watch.start(root)
        if self._accepted is None:
            self._accepted = await self._project.browse.digests(root)
        await self._compare(root)
        return opened

    async def close(self) -> None:
        await self._watch.stop()
        workspace = self._services.workspace
        if workspace.root is None:
            return
        workspace.root = workspace.main_circuit = workspace.export_folder = None
        workspace.set_has_circuits(has_circuits=True)
        self._accepted, self._chosen = None, ""
        self._changed, self._problems = frozenset(), {}
        self._timer.stop()
        self._stale.clear()
        workspace.project_closed.emit()
        workspace.main_circuit_changed.emit(None)
        self._tell_marks()

    async def release(self) -> None:
        """The window closes: end the watch."""
        await self._watch.stop()

    def memory(self) -> ProjectMemory:
        workspace = self._services.workspace
        root, views, folder = workspace.root, workspace.views, workspace.export_folder
        return ProjectMemory(
            main_circuit=self._chosen,
            accepted=self._accepted,
            views={} if root is None else views.kept(root),
            export_folder="" if folder is None else str(folder),
        )

    def set_main(self, path: Path) -> None:
        """Make a circuit the main one; it is remembered."""
        workspace = self._services.workspace
        if workspace.root is not None and path.is_relative_to(workspace.root):
            self._change_main(path)

    def accept(self) -> None:
        """The files as they stand are the accepted state."""
        root = self._services.workspace.root
        if root is not None:
            self._services.start(self._accept(root), kind="accept changes")

    # ---- inside --------------------------------------------------------------------------------

    def _main_of(self, root: Path, circuits: Sequence[Path]) -> Path | None:
        """The one of before while it exists, else the only one, or the one all others are named after.

        `filter.cir` beside `filter_loop.cir` is the circuit, the other a view of it.
        """
        chosen = root / self._chosen if self._chosen else None
        if chosen is not None and chosen in circuits:
            return chosen
        shortest = min(circuits, key=lambda path: len(path.stem), default=None)
        if shortest is None:
            return None
        names = tuple(f"{shortest.stem}{mark}" for mark in ("_", "-", "."))
        are_views = all(
            other == shortest or (other.parent == shortest.parent and other.stem.startswith(names))
            for other in circuits
        )
        return shortest if are_views else None

    def _keep_main(self) -> None:
        """A circuit that comes later (a design writes one) is no reason to doubt the one there is."""
        root, main = self._services.workspace.root, self._services.workspace.main_circuit
        if root is not None and main is not None and main.is_relative_to(root):
            self._chosen = main.relative_to(root).as_posix()

    def _change_main(self, path: Path | None) -> None:
        workspace = self._services.workspace
        if path != workspace.main_circuit:
            workspace.main_circuit = path
            self._keep_main()
            workspace.main_circuit_changed.emit(path)

    def _on_file_changed(self, path: Path) -> None:
        self._stale.add(path)
        self._timer.start()

    def _on_file_moved(self, old: Path, new: Path) -> None:
        root = self._services.workspace.root
        if root is not None and old == self._services.workspace.main_circuit:
            self._change_main(new)
        if root is not None:
            self._services.start(self._take_goals_along(root, old, new), kind="move goals")
        self._on_file_changed(new)

    async def _take_goals_along(self, root: Path, old: Path, new: Path) -> None:
        try:
            await self._project.browse.follow_move(root, old, new)
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)

    def _look_again(self) -> None:
        root, stale = self._services.workspace.root, frozenset(self._stale)
        self._stale.clear()
        if root is not None and stale:
            self._services.start(self._refresh(root, stale), kind="look at changes")

    async def _refresh(self, root: Path, stale: frozenset[Path]) -> None:
        if any(path.suffix.lower() in NETLIST_SUFFIXES for path in stale):
            before = self._services.workspace.main_circuit
            circuits = await self._project.browse.circuits(root, (before,) if before else ())
            if root != self._services.workspace.root:
                return
            main = self._services.workspace.main_circuit
            self._services.workspace.set_has_circuits(has_circuits=bool(circuits))
            self._change_main(main if main in circuits else self._main_of(root, circuits))
            self._examine()
        await self._compare(root)

    def _examine(self) -> None:
        workspace = self._services.workspace
        if workspace.main_circuit is None:
            self._problems = {}
            self._tell_marks()
        else:
            self._services.start(self._check(workspace.main_circuit), kind="check main circuit")

    async def _check(self, circuit: Path) -> None:
        try:
            report = await self._simulation.check(circuit)
        except CircuitAIError:  # gone meanwhile: the watch tells
            return
        if circuit != self._services.workspace.main_circuit:
            return
        problems: dict[Path, tuple[int, int]] = {}
        for item in report.diagnostics:
            errors, warnings = problems.get(item.file or circuit, (0, 0))
            errors += item.severity == "error"
            warnings += item.severity == "warning"
            if errors or warnings:
                problems[item.file or circuit] = errors, warnings
        self._problems = problems
        self._tell_marks()

    async def _compare(self, root: Path) -> None:
        """Which files are not as they were accepted."""
        digests = await self._project.browse.digests(root)
        if root != self._services.workspace.root or self._accepted is None:
            return
        self._changed = frozenset(
            root / name for name, digest in digests.items() if self._accepted.get(name) != digest
        )
        self._tell_marks()

    async def _accept(self, root: Path) -> None:
        digests = await self._project.browse.digests(root)
        if root == self._services.workspace.root:
            self._accepted = digests
            await self._compare(root)
            self._services.workspace.status_changed.emit(msg("Changes accepted"))

    def _tell_marks(self) -> None:
        self.marks_changed.emit(Marks(changed=self._changed, problems=self._problems))


def joined_memory(
    desk: ProjectMemory,
    *,
    root: Path,
    open_files: Sequence[Path],
    shown: Path | None,
    expanded: Sequence[Path],
    places: Mapping[Path, Place],
) -> ProjectMemory:
    """What the desk knows together with what the panes show, all of it relative to the project."""

    def inside(path: Path) -> str:
        return path.relative_to(root).as_posix()

    return replace(
        desk,
        open_files=tuple(inside(path) for path in open_files if path.is_relative_to(root)),
        shown_file=inside(shown) if shown is not None and shown.is_relative_to(root) else "",
        expanded=tuple(inside(path) for path in expanded if path.is_relative_to(root)),
        places={inside(path): place for path, place in places.items() if path.is_relative_to(root)},
    )
