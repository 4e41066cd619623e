"""Where a trace is in the text: the lines of its nodes and elements are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from application.groups.project import Project
from application.groups.simulation import Simulation
from presentation.panels.editor.opening import Opening
from presentation.panels.editor.probing import places_in_text
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg


class Area(Protocol):
    """Who has the texts."""

    def open_texts(self) -> dict[Path, str]: ...


class TracePlaces:
    """Answers those who ask where an expression is in a circuit."""

    def __init__(
        self, services: WindowServices, project: Project, simulation: Simulation, area: Area, opening: Opening
    ) -> None:
        self._services = services
        self._project = project
        self._simulation = simulation
        self._area = area
        self._opening = opening
        services.workspace.trace_located.connect(
            lambda circuit, expression: services.start(
                self._show(circuit, expression), kind="probe", scope="probe"
            )
        )

    async def _show(self, circuit: Path, expression: str) -> None:
        """The caret goes to the first line of what an expression plots; all its places glow."""
        texts = {**self._area.open_texts()}
        if circuit not in texts:
            try:
                texts[circuit] = (await self._project.edit.read(circuit)).content.text
            except CircuitAIError as error:  # moved or removed since the run
                self._services.workspace.error_occurred.emit(error)
                return
        places = await places_in_text(self._simulation, circuit, texts, expression)
        if not places:
            self._services.workspace.status_changed.emit(
                msg(
                    "{expression} contains no node or element of {name}.",
                    expression=expression,
                    name=circuit.name,
                )
            )
            return
        first = places[0]
        page = await self._opening.opened(first.file or circuit, first.line, first.column)
        if page is not None:
            page.editor.glow([span for each in places if each.file == first.file for span in each.spans])
