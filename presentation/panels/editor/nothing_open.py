"""What the editor shows while no file is open: what the folder needs, with a circuit and without."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Protocol

from presentation.ui.empty_state import EmptyNote
from presentation.ui.workspace import WindowServices
from shared.message import msg


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
                (msg("New circuit"), partial(workspace.command_wanted.emit, "newCircuit")),
                (msg("Describe a design"), partial(workspace.command_wanted.emit, "describe_design")),
                (msg("Open an example"), partial(workspace.command_wanted.emit, "openExample")),
            ),
        )
        self._area = area
        workspace.main_circuit_changed.connect(self._offer)
        workspace.opening_changed.connect(self._offer)
        self._offer()

    def _offer(self, _main: object = None) -> None:
        workspace = self._services.workspace
        if workspace.opening is not None:
            self.set_text(msg("Opening {name}…", name=workspace.opening.name))
            self.offer((False,) * 4)
            return
        main = workspace.main_circuit
        self.set_text(msg("Project files open here."))
        self.offer((main is not None, True, main is None, main is None))

    def _open_main_circuit(self) -> None:
        circuit = self._services.workspace.main_circuit
        if circuit is not None:
            self._area.show_file(circuit)
        else:
            self._services.workspace.status_changed.emit(msg("No main circuit"))
