"""Who broke a goal: the answer in one line, and its edit taken back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QWidget

from application.project.since_when import Culprit, Run
from presentation.goal_words import name_of
from presentation.study_figures import shown
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, CircuitError
from shared.local_time import local_time
from shared.message import Message, msg

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
        place = root / culprit.edit.changed[0]
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
            await self._app.design.since_when.take_back(root, culprit)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        for place in culprit.edit.changed:
            workspace.file_changed.emit(root / place)
        workspace.status_changed.emit(
            msg("The edit of line {line} in {name} was undone; later edits stay.",
                line=culprit.line, name=Path(culprit.edit.changed[0]).name)
        )  # fmt: skip


def in_words(culprit: Culprit) -> Message:
    """The answer in one line."""
    unit = culprit.goal.unit
    when = local_time(culprit.edit.created) if culprit.edit.created else None
    who = (
        msg("an operation ({tool})", tool=culprit.edit.tool) if culprit.edit.op_id else msg("an edit by hand")
    )
    time = "" if when is None else f" ({when:%Y-%m-%d %H:%M})"
    return msg(
        "{name}:{line}, {who}{time}: “{was}” became “{became}”; {goal} went from {before} to {after}.",
        name=Path(culprit.edit.changed[0]).name,
        line=culprit.line,
        who=who,
        time=time,
        was=culprit.was or "–",
        became=culprit.became or "–",
        goal=name_of(culprit.goal),
        before=shown(culprit.value_before, unit),
        after=shown(culprit.value_after, unit),
    )
