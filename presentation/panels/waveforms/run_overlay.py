"""Older runs drawn behind the shown one: which were chosen, and their curves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QPoint, pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QAbstractButton, QMenu

from presentation.panels.waveforms.shown_result import ShownResult
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.groups.project import Project
    from application.groups.simulation import Simulation
    from application.project.browsing import ResultSummary
    from application.simulation.waveforms import LoadedWaveforms, StoredFigures
    from domain.simulation.waveform import Plot
    from presentation.panels.waveforms.traces import Manner, Trace

_MOST_OFFERED = 12
_MOST_CHOSEN = 4
"""More pale lines cannot be told apart."""


class RunOverlay(QObject):
    """Runs drawn pale behind a circuit's; chosen in a menu, kept for it until the project is closed.

    The menu offers runs of the same circuit. One of another circuit is drawn only when somebody asks for
    that very run, and is named then.
    """

    changed = pyqtSignal()
    """other runs are chosen"""

    def __init__(
        self,
        services: WindowServices,
        project: Project,
        simulation: Simulation,
        shown: ShownResult,
        button: QAbstractButton,
    ) -> None:
        super().__init__(button)
        self._services = services
        self._project = project
        self._simulation = simulation
        self._shown = shown
        self._button = button
        self._all: dict[Path | None, dict[Path, LoadedWaveforms | None]] = {}
        """Of each circuit, the runs drawn behind it; None until one is read."""
        self._parts: dict[Path, Message] = {}
        """Which of its runs are drawn of one that was stepped, or that none is."""
        self.menu = QMenu(button)
        button.clicked.connect(self._ask)
        services.workspace.project_closed.connect(self._forget)
        services.workspace.file_moved.connect(self._on_moved)
        shown.changed.connect(self._check)

    @property
    def _chosen(self) -> dict[Path, LoadedWaveforms | None]:
        return self._all.setdefault(self._shown.circuit, {})

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are drawn: the run, and the circuit of one that is another's."""
        return tuple(
            self._foreign_name(figures) if self._is_foreign(figures) else self._own_name(figures)
            for figures in self._figures
        )

    @property
    def strange(self) -> tuple[str, ...]:
        """Those that are drawn and that this installation has not computed."""
        return tuple(self._foreign_name(figures) for figures in self._figures if not figures.is_ours)

    @property
    def own(self) -> tuple[str, ...]:
        """Those of this circuit that are drawn, by run alone."""
        return tuple(
            self._own_name(figures)
            for figures in self._figures
            if figures.is_ours and not self._is_foreign(figures)
        )

    @property
    def foreign(self) -> tuple[str, ...]:
        """Those of another circuit that are drawn, by circuit and run."""
        return tuple(self._foreign_name(figures) for figures in self._figures if self._is_foreign(figures))

    @property
    def _figures(self) -> list[StoredFigures]:
        found = (None if loaded is None else loaded.figures for loaded in self._chosen.values())
        return [figures for figures in found if figures is not None]

    def _is_foreign(self, run: StoredFigures | ResultSummary) -> bool:
        place = self._services.workspace.views.place_of(run.circuit, run.created)
        return place != self._shown.circuit

    def _foreign_name(self, figures: StoredFigures) -> str:
        run = msg("Run {number} of {circuit}", number=figures.number, circuit=figures.circuit.name)
        return self._with_part(run, figures)

    def _own_name(self, figures: StoredFigures) -> str:
        return self._with_part(_run(figures.number, is_ours=figures.is_ours), figures)

    def _with_part(self, run: Message, figures: StoredFigures) -> str:
        """With what is drawn of it, where that is not all there is to say."""
        language, part = self._services.language, self._parts.get(figures.result_path)
        if part is None:
            return language(run)
        return language(msg("{run} ({part})", run=language(run), part=language(part)))

    @property
    def chosen(self) -> tuple[Path, ...]:
        return tuple(self._chosen)

    def toggle(self, result_path: Path) -> None:
        """Draw a run behind, or no more; beyond the most there can be, the first one goes."""
        if result_path in self._chosen:
            del self._chosen[result_path]
        else:
            while len(self._chosen) >= _MOST_CHOSEN:
                del self._chosen[next(iter(self._chosen))]
            self._chosen[result_path] = None
        self._check()
        self.changed.emit()

    def clear(self) -> None:
        had_some = bool(self._chosen)
        self._chosen.clear()
        self._check()
        if had_some:
            self.changed.emit()

    def _forget(self) -> None:
        self._all.clear()
        self._check()

    def _on_moved(self, old: Path, new: Path) -> None:
        """A circuit has another name: the runs behind it stay behind it."""
        for circuit in [path for path in self._all if path is not None and path.is_relative_to(old)]:
            self._all[new / circuit.relative_to(old)] = self._all.pop(circuit)
        self._check()

    async def ghosts(
        self, shown: Sequence[Plot], traces: Sequence[Trace], manner: Manner, *, are_all: bool
    ) -> tuple[Trace, ...]:
        """The same expressions on the same analysis of the chosen runs, where they have it.

        `shown`: what is drawn, of a `.step` `are_all` or some of its runs; see `counterparts`.
        """
        from presentation.panels.waveforms.family import counterparts

        found: list[Trace] = []
        parts: dict[Path, Message] = {}
        for path in self.chosen:
            plots = await self._plots(path)
            older, part = counterparts(plots, shown, are_all=are_all)
            if part is not None and plots:
                parts[path] = part
            for each in older:
                found.extend(await asyncio.to_thread(ghosts_of, each, tuple(traces), manner))
        self._parts = parts
        return tuple(found)

    async def _plots(self, path: Path) -> tuple[Plot, ...]:
        loaded = self._shown.loaded
        if loaded is not None and loaded.figures is not None and loaded.figures.result_path == path:
            return ()
        chosen = self._chosen
        known = chosen.get(path)
        if known is not None:
            return known.plots
        try:
            older = await self._simulation.waveforms(path)
        except CircuitAIError as error:
            chosen.pop(path, None)
            self._check()
            self._services.workspace.error_occurred.emit(error)
            return ()
        if path in chosen:
            chosen[path] = older
        return older.plots

    def walk(self, by: int) -> None:
        """Show an older (-1) or a newer run of the same circuit."""
        root = self._services.workspace.root
        if root is not None and self._shown.loaded is not None:
            self._services.start(self._walk(root, by), kind="list runs", scope="waveforms")

    async def _walk(self, root: Path, by: int) -> None:
        results = await self._project.browse.results(root)
        figures = None if self._shown.loaded is None else self._shown.loaded.figures
        if figures is None:
            return
        runs = [each for each in results if each.verdict != "failed" and not self._is_foreign(each)]
        runs.sort(key=lambda each: each.created)
        at = next((n for n, each in enumerate(runs) if each.path == figures.result_path), None)
        if at is not None and 0 <= at + by < len(runs):
            self._services.workspace.result_selected.emit(runs[at + by].path)
            return
        told = msg("This is the newest run.") if by > 0 else msg("There is no earlier run.")
        self._services.workspace.status_changed.emit(told)

    def _ask(self) -> None:
        self._check()
        root = self._services.workspace.root
        if root is not None:
            self._services.start(self._offer(root), kind="list runs", scope="waveforms")

    async def _offer(self, root: Path) -> None:
        results = await self._project.browse.results(root)
        figures = None if self._shown.loaded is None else self._shown.loaded.figures
        others = [
            result
            for result in results
            if figures is not None
            and result.verdict != "failed"
            and not self._is_foreign(result)
            and result.path != figures.result_path
        ]
        self._fill(others[:_MOST_OFFERED])
        self.menu.popup(self._button.mapToGlobal(QPoint(0, self._button.height())))

    def _fill(self, results: Sequence[ResultSummary]) -> None:
        language = self._services.language
        self.menu.clear()
        for result in results:
            action = QAction(language(_run(result.number, is_ours=result.is_ours)), self.menu)
            action.setCheckable(True)
            action.setChecked(result.path in self._chosen)
            action.triggered.connect(lambda _checked, path=result.path: self.toggle(path))
            self.menu.addAction(action)
        if not results:
            nothing = QAction(language(msg("No earlier run of this circuit")), self.menu)
            nothing.setEnabled(False)
            self.menu.addAction(nothing)
        if self._chosen:
            self.menu.addSeparator()
            none = QAction(language(msg("No overlay")), self.menu)
            none.triggered.connect(lambda _checked: self.clear())
            self.menu.addAction(none)

    def _check(self) -> None:
        """The button is down while a run is drawn behind, whatever a click did to it."""
        self._button.setChecked(bool(self._chosen))


def _run(number: int, *, is_ours: bool) -> Message:
    if is_ours:
        return msg("Run {number}", number=number)
    return msg("Run {number}, computed elsewhere", number=number)


def ghosts_of(plot: Plot, traces: Sequence[Trace], manner: Manner) -> list[Trace]:
    """The same expressions on another run, as far as it has them. Slow."""
    from presentation.panels.waveforms.traces import axis_of, make_trace

    axis = axis_of(plot, manner)
    if axis is None:
        return []
    made = [
        make_trace(trace.expression, plot, axis, trace.color, is_ghost=True, beside=trace) for trace in traces
    ]
    return [trace for trace in made if trace.error is None]
