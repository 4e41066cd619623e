"""A measured value becomes a goal of the shown circuit: looked over in its dialog, and taken back."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PyQt6.QtWidgets import QWidget

from domain.simulation.result import Quantity
from shared.errors import CircuitAIError
from shared.message import msg

if TYPE_CHECKING:
    from application.groups.project import Project
    from application.simulation.waveforms import LoadedWaveforms
    from domain.simulation.goals import DesignGoal
    from presentation.ui.workspace import WindowServices


class Item(Protocol):
    """A line of the measurements."""

    @property
    def name(self) -> str: ...
    @property
    def expression(self) -> str: ...
    @property
    def value(self) -> Quantity | None: ...
    @property
    def goal(self) -> DesignGoal | None: ...


class Shown(Protocol):
    """The shown result."""

    loaded: LoadedWaveforms | None

    @property
    def circuit(self) -> Path | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What the last dialog did."""

    circuit: Path
    before: tuple[DesignGoal, ...]
    after: tuple[DesignGoal, ...]


class GoalMaker:
    """Asks for the goals of the shown run's circuit, with one more proposed."""

    def __init__(self, services: WindowServices, project: Project, shown: Shown) -> None:
        self._services, self._project, self._shown = services, project, shown
        self._changes: list[_Change] = []
        """From the first to the last; each begins where the one before it ended."""

    @property
    def place(self) -> tuple[Path, Path] | None:
        """Project and circuit of the shown run, where that is one that can be asked something."""
        root, circuit = self._services.workspace.root, self._shown.circuit
        if root is None or circuit is None or not circuit.is_relative_to(root):
            return None
        return root, circuit

    @property
    def _last(self) -> _Change | None:
        return self._changes[-1] if self._changes else None

    @property
    def can_take_back(self) -> bool:
        """Whether the goals of the shown circuit were changed here last."""
        return self._last is not None and self.place is not None and self._last.circuit == self.place[1]

    def of_measured(self, item: Item, window: QWidget) -> None:
        """A measurement that is there; one that is a goal already only opens the goals."""
        value = Quantity(value=0.0, unit="") if item.value is None else item.value
        is_new = item.goal is None
        self._start(window, (item.name, item.expression, value) if is_new else None)

    def of_expression(self, expression: str, window: QWidget) -> None:
        """What is measured by an expression on the shown run."""
        self._services.start(self._measured(expression, window), kind="question")

    def take_back(self) -> None:
        """The goals as they were before the last dialog, unless they are others by now; then those before."""
        if self._last is not None and self.place is not None and self.can_take_back:
            work = self._take_back(self._last, self.place[0])
            self._services.start(work, kind="take back goals", scope="take back goals")
        else:
            self._services.workspace.status_changed.emit(msg("No change of goals to undo."))

    def _start(self, window: QWidget, measured: tuple[str, str, Quantity] | None) -> None:
        if self.place is not None:
            self._services.start(self._ask(window, *self.place, measured), kind="question")

    async def _measured(self, expression: str, window: QWidget) -> None:
        from domain.simulation.expressions import evaluate

        loaded, workspace = self._shown.loaded, self._services.workspace
        if loaded is None or self.place is None:
            return
        if loaded.growth is not None:
            workspace.error_occurred.emit(msg("Goals are made when the run has ended."))
            return
        try:
            value = await asyncio.to_thread(evaluate, expression, loaded.plots)
        except CircuitAIError as error:
            workspace.error_occurred.emit(error)
            return
        await self._ask(window, *self.place, (expression, expression, value))

    async def _ask(
        self, window: QWidget, root: Path, circuit: Path, measured: tuple[str, str, Quantity] | None
    ) -> None:
        from application.ports.events import GoalsUnderstood
        from presentation.dialogs.goal_drafts import draft_of_measurement
        from presentation.dialogs.goals import GoalsDialog

        goals = await self._project.browse.goals(root, circuit)
        added = []
        if measured is not None:
            name, expression, value = measured
            figure = value.value if math.isfinite(value.value) else 0.0
            taken = {goal.metric for goal in goals}
            added.append(draft_of_measurement(name, expression, figure, value.unit, taken))
        told = GoalsUnderstood(goals=goals, assumptions=())
        wanted = await GoalsDialog(self._services, told, window, circuit=circuit.name, added=added).ask()
        if wanted is not None and await self._keep(root, circuit, wanted):
            self._changes.append(_Change(circuit=circuit, before=goals, after=tuple(wanted)))

    async def _take_back(self, change: _Change, root: Path) -> None:
        now = await self._project.browse.goals(root, change.circuit)
        if now != change.after:
            self._changes.clear()
            told = msg("The goals of {circuit} have changed since; they stay.", circuit=change.circuit.name)
            self._services.workspace.error_occurred.emit(told)
        elif await self._keep(root, change.circuit, change.before):
            self._changes.remove(change)
            told = msg("The goals of {circuit} are as they were before.", circuit=change.circuit.name)
            self._services.workspace.status_changed.emit(told)

    async def _keep(self, root: Path, circuit: Path, goals: Sequence[DesignGoal]) -> bool:
        try:
            await self._project.browse.ask_of(root, circuit, goals)
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)
            return False
        self._services.workspace.goals_changed.emit(circuit)
        return True
