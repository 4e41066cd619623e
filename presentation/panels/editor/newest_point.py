"""The operating point of a circuit's newest run, and whether it is of the text as it stands."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path

from application.groups.project import Project
from application.groups.simulation import Simulation
from application.simulation.waveforms import StoredFigures
from domain.simulation.description import Observed
from presentation.ui.workspace import WindowServices


class NewestPoint:
    """Reads it once, and again when there may be another."""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        simulation: Simulation,
        open_bytes: Callable[[Path], bytes | None],
    ) -> None:
        """`open_bytes`: what would be saved of an open file; None for one that is not open."""
        self._services = services
        self._project = project
        self._simulation = simulation
        self._open_bytes = open_bytes
        self._known: dict[Path, StoredFigures | None] = {}
        workspace = services.workspace
        workspace.run_finished.connect(lambda _outcome: self._known.clear())
        workspace.result_offered.connect(lambda _path: self._known.clear())
        workspace.result_waits.connect(lambda _path: self._known.clear())
        workspace.project_closed.connect(self._known.clear)

    async def of(self, file: Path) -> Observed | None:
        """That of the circuit in a file; of a file that was not simulated by itself that of the circuit a
        run is meant for now, where it reads the file: another's parts have the same names."""
        figures = await self._figures(file)
        target = self._services.workspace.run_target
        if figures is None and target is not None and target != file:
            found = await self._figures(target)
            figures = found if found is not None and file in found.read_beside else None
        if figures is None or figures.operating_point is None:
            return None
        is_older = await self._is_older(figures)
        return Observed(point=figures.operating_point, number=figures.number, is_older=is_older)

    async def run_of(self, circuit: Path) -> tuple[StoredFigures, bool] | None:
        """A circuit's newest run, and whether the text was another then."""
        figures = await self._figures(circuit)
        return None if figures is None else (figures, await self._is_older(figures))

    async def knows_run(self, circuit: Path) -> bool:
        """Whether a circuit has a result."""
        return await self._figures(circuit) is not None

    async def _figures(self, circuit: Path) -> StoredFigures | None:
        root, views = self._services.workspace.root, self._services.workspace.views
        if root is None:
            return None
        if circuit not in self._known:
            results = await self._project.browse.results(root)
            newest = next(
                (each for each in results if views.place_of(each.circuit, each.created) == circuit), None
            )
            found = None if newest is None else await self._simulation.waveforms.figures_of(newest.path)
            self._known[circuit] = found
        return self._known.get(circuit)

    async def _is_older(self, figures: StoredFigures) -> bool:
        circuit = self._services.workspace.views.place_of(figures.circuit, figures.created)
        read = {circuit: figures.netlist_sha256, **figures.read_beside}
        return any([await self._digest(path) != digest for path, digest in read.items()])

    async def _digest(self, path: Path) -> str | None:
        data = self._open_bytes(path)
        if data is None:
            return await self._simulation.waveforms.digest_of(path)
        return await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
