"""Who broke a goal: the answer in one line, and its edit taken back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QWidget

from application.goal_checks.since_when import Culprit, Run
from presentation.culprit_words import in_words
from presentation.goal_words import name_of
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, CircuitError
from shared.message import msg

if TYPE_CHECKING:
    from application.app import Application
    from domain.simulation.goals import DesignGoal

_SCOPE = "since when"


class SinceWhen(QObject):
    """Asks for the goals of a circuit, one after the other, until one is missed."""

    def __init__(self, services: WindowServices, app: Application, window: QWidget) -> None:
        super().__init__(window)
        self._services = services
        self._app = app
        self._window = window

    def ask(self) -> None:
        """Find the edit that lost a goal of the circuit that F5 means; asked again meanwhile: stop."""
        circuit = self._services.workspace.run_target
        program = self._app.program
        if any(each.scope == _SCOPE for each in program.tasks.handles):
            self._services.start(program.stop.stop("user", scope=_SCOPE), kind="stop since when")
            self._services.workspace.status_changed.emit(msg("Stopped."))
        elif circuit is None:
            self._services.workspace.main_circuit_needed.emit()
        else:
            self._services.start(self._find(circuit), kind="since when", scope=_SCOPE)

    async def _find(self, circuit: Path) -> None:
        workspace = self._services.workspace
        root, buffers = workspace.root, workspace.buffers
        if root is None or (buffers is not None and not await buffers.save_unsaved()):
            return
        goals = [goal for goal in await self._app.project.browse.goals(root, circuit) if not goal.condition]
        if not goals:
            workspace.status_changed.emit(msg("{name} has no goals.", name=circuit.name))
            return
        workspace.status_changed.emit(
            msg("Measuring earlier states of {name}…; the same command stops it.", name=circuit.name)
        )
        runs = await self._runs(root, circuit)
        try:
            culprit = await self._first_lost(root, circuit, goals, runs)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        if culprit is None:
            workspace.status_changed.emit(msg("All goals of {name} are met.", name=circuit.name))
        else:
            await self._tell(root, culprit)

    async def _runs(self, root: Path, circuit: Path) -> list[Run]:
        results = await self._app.project.browse.results(root, with_studies=True)
        views = self._services.workspace.views
        return [
            Run(created=each.created, sha256=each.netlist_sha256)
            for each in results
            if each.is_ours and views.place_of(each.circuit, each.created) == circuit
        ]

    async def _first_lost(
        self, root: Path, circuit: Path, goals: Sequence[DesignGoal], runs: Sequence[Run]
    ) -> Culprit | None:
        """Of the first goal that is missed and was met; None when all are met."""
        never: CircuitError | None = None
        for goal in goals:
            try:
                return await self._app.design.since_when(root, circuit, goal, runs)
            except CircuitError as error:
                if error.error_type == "never_met":
                    never = never or error
                elif error.error_type != "goal_met":
                    raise
        if never is not None:
            raise never
        return None

    async def _tell(self, root: Path, culprit: Culprit) -> None:
        from presentation.ui.questions import choose

        workspace = self._services.workspace
        said = in_words(culprit)
        workspace.status_changed.emit(said)
        answer = await choose(
            self._services,
            self._window,
            title=msg("Since when is {goal} lost?", goal=name_of(culprit.goal)),
            text=said,
            about=msg(
                "{runs} {runs:run|runs}, {states} {states:state|states} known.",
                runs=culprit.runs, states=culprit.states,
            ),
            options=(
                ("back", msg("Undo only this"), "primary"),
                ("show", msg("Show the line"), ""),
                ("", msg("Close"), ""),
            ),
            cancelled="",
        )  # fmt: skip
        place = root / culprit.place
        if answer == "show":
            workspace.file_activated.emit(place, culprit.line)
        elif answer == "back":
            await self._take_back(root, culprit)

    async def _take_back(self, root: Path, culprit: Culprit) -> None:
        workspace = self._services.workspace
        buffers = workspace.buffers
        if buffers is not None and not await buffers.save_unsaved():
            return
        try:
            await self._app.design.take_edit_back(root, culprit)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        for place in culprit.edit.changed:
            workspace.file_changed.emit(root / place)
        workspace.status_changed.emit(
            msg("The edit of line {line} in {name} was undone; later edits stay.",
                line=culprit.line, name=Path(culprit.place).name)
        )  # fmt: skip
