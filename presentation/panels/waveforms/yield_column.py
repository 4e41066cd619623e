"""Beside each goal the share of circuits that meet it, estimated in idle time; its worst run as a circuit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtWidgets import QMenu

from presentation.ui.figure_table import Cell
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.groups.project import Project
    from application.studies.idle_yield import CircuitYield, GoalYield
    from presentation.panels.waveforms.shown_result import Measured


def yield_cells(
    circuit: CircuitYield | None, items: Sequence[Measured], translate: Callable[[Message], str]
) -> list[Cell]:
    """A cell for each measurement, empty for what is no goal; none at all where nothing was estimated."""
    if circuit is None or not any(_of(circuit, each) is not None for each in items):
        return []
    return [_cell(circuit, _of(circuit, item), translate) for item in items]


def _of(circuit: CircuitYield, item: Measured) -> GoalYield | None:
    goal = item.goal
    return None if goal is None or goal.condition else circuit.of(goal)


def _cell(circuit: CircuitYield, found: GoalYield | None, translate: Callable[[Message], str]) -> Cell:
    from presentation.yield_words import in_full, in_short, too_slow

    if found is None:
        return Cell(text="")
    if circuit.is_too_slow:
        return Cell(text="—", color="text.tertiary", tip=translate(too_slow(circuit)))
    color = "text.secondary" if found.worst is None else "text.primary"
    tip = "\n".join(map(translate, in_full(circuit, found)))
    return Cell(text=translate(in_short(found)), color=color, tip=tip)


def add_outlier(
    menu: QMenu, services: WindowServices, project: Project, circuit: CircuitYield | None, item: Measured
) -> None:
    """Offer the run that misses the goal of a measurement most, where its yield is known."""
    found = None if circuit is None else _of(circuit, item)
    if circuit is None or found is None or circuit.is_too_slow:
        return
    outlier = menu.addAction(services.language(msg("Open the run that misses it most")))
    assert outlier is not None
    outlier.setObjectName("open_outlier")
    worst, place = found.worst, circuit.circuit
    outlier.setEnabled(worst is not None)
    if worst is not None:
        outlier.triggered.connect(
            lambda _checked=False: services.start(
                _open(services, project, place, worst), kind="open run", scope="open run"
            )
        )


async def _open(
    services: WindowServices, project: Project, circuit: Path, values: Mapping[str, float]
) -> None:
    workspace, buffers = services.workspace, services.workspace.buffers
    root = workspace.root
    if root is None or (buffers is not None and not await buffers.save_unsaved()):
        return
    title = services.language(msg("A run of the yield of {name}", name=circuit.name))
    try:
        made = await project.circuit_of_run(root, circuit, values, label="outlier", title=title)
    except CircuitAIError as error:
        workspace.error_occurred.emit(error)
        return
    workspace.file_changed.emit(made.path)
    workspace.file_activated.emit(made.path, made.line)
