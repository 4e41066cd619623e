"""What the project calls its files, signals and figures, kept up to date for the rows of the conversation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PyQt6.QtCore import QObject, pyqtSignal

from application.groups.project import Project
from domain.circuit.netlist import NETLIST_SUFFIXES
from presentation.goal_words import name_of
from presentation.panels.conversation.items import Item, SimulationCard
from presentation.panels.conversation.names import CircuitNames, Names
from presentation.ui.parts import once_after
from presentation.ui.workspace import WindowServices
from shared.errors import UserInputError

_MOST_FILES = 5_000
_MOST_CIRCUITS = 8
"""Of those that the conversation has simulated, the newest; beside the main one."""
_AFTER_CHANGE_MS = 300
"""Files that change together are looked at once."""


class ProjectNames(QObject):
    """Reads them off the loop; `changed` when they are others."""

    changed = pyqtSignal()

    def __init__(self, services: WindowServices, project: Project, parent: QObject) -> None:
        super().__init__(parent)
        self.names = Names()
        self._services = services
        self._project = project
        self._simulated: dict[str, None] = {}
        self._request = 0
        self._soon = once_after(self, _AFTER_CHANGE_MS, self.read)
        workspace = services.workspace
        workspace.project_opened.connect(lambda _root: self.read())
        workspace.main_circuit_changed.connect(lambda _path: self.read())
        workspace.project_closed.connect(self._forget)
        for signal in (workspace.file_changed, workspace.goals_changed):
            signal.connect(lambda _path: self._soon.start())
        self.read()

    def close(self) -> None:
        """Nothing is read any more."""
        self._request += 1
        self._soon.stop()

    def follow(self, items: Iterable[Item]) -> None:
        """The circuits that a conversation simulates have names in it too."""
        before = tuple(self._simulated)
        for item in items:
            if isinstance(item, SimulationCard) and item.path:
                self._simulated.pop(item.path, None)
                self._simulated[item.path] = None
        for old in tuple(self._simulated)[:-_MOST_CIRCUITS]:
            del self._simulated[old]
        if set(before) != set(self._simulated):
            self._soon.start()

    def read(self) -> None:
        root = self._services.workspace.root
        if root is not None:
            self._request += 1
            self._services.start(self._read(root, self._request), kind="list names")

    def _forget(self) -> None:
        self._request += 1
        self._simulated.clear()
        self._take(Names())

    async def _read(self, root: Path, request: int) -> None:
        browse, main = self._project.browse, self._services.workspace.main_circuit
        files = await browse.files(root, _MOST_FILES)
        wanted = [root / place for place in self._simulated]
        wanted += [main] if main is not None else []
        circuits: dict[str, CircuitNames] = {}
        for path in wanted:
            if path.suffix.lower() in NETLIST_SUFFIXES and path.is_relative_to(root):
                circuits[path.relative_to(root).as_posix()] = await self._names_of(root, path)
        if request == self._request and root == self._services.workspace.root:
            places = frozenset(path.relative_to(root).as_posix() for path in files)
            self._take(Names(files=places, circuits=circuits))

    async def _names_of(self, root: Path, circuit: Path) -> CircuitNames:
        browse, language = self._project.browse, self._services.language
        try:
            parts = await browse.parts(circuit)
        except UserInputError:  # gone, or not to be read: the editor tells
            return CircuitNames()
        metrics = {name.casefold(): name for name in parts.measures}
        for goal in await browse.goals(root, circuit):
            metrics |= {goal.metric.casefold(): goal.metric, language(name_of(goal)).casefold(): goal.metric}
        nodes, elements = ({each.lower() for each in some} for some in (parts.nodes, parts.elements))
        return CircuitNames(nodes=frozenset(nodes), elements=frozenset(elements), metrics=metrics)

    def _take(self, names: Names) -> None:
        before, self.names = self.names, names
        if (names.files, names.circuits) != (before.files, before.circuits):
            self.changed.emit()
