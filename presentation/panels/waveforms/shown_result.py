"""The result the bottom pane shows: loaded off the loop, with the figures measured on it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from domain.simulation.goal_conditions import is_set_by, runs_of
from presentation.goal_margins import SHARES, is_share
from presentation.panels.waveforms.family import step_label
from presentation.panels.waveforms.goal_maker import GoalMaker
from presentation.panels.waveforms.step_figures import (
    StepFigure,
    beside_earlier,
    of_cards,
    over_steps,
    steps_of,
)
from shared.errors import CircuitAIError
from shared.message import Message

if TYPE_CHECKING:
    from application.goal_checks.case_runs import CaseRun
    from application.groups.project import Project
    from application.groups.simulation import Simulation
    from application.ports.simulation import Growth
    from application.simulation.waveforms import LoadedWaveforms, StoredFigures
    from application.studies.idle_yield import CircuitYield
    from domain.simulation.goals import DesignGoal
    from domain.simulation.result import Quantity
    from domain.simulation.waveform import Plot
    from presentation.ui.workspace import WindowServices

_PATIENCE_S = 0.3
"""The figures of the result before stand until the new ones are there, but no longer than this: then those
that need no measuring come first."""
_NONSENSE = frozenset({"bad_expression", "stays_vector"})
"""Errors of an expression itself: it does not parse, names what is not there, or is a curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One line of the measurements."""

    name: str
    """Of a `.meas`, or the expression itself."""
    value: Quantity | None
    """None when it could not be had."""
    previous: Quantity | None = None
    problem: Message | None = None
    """Why there is no value."""
    is_added: bool = False
    """By the user; it can be taken away."""
    goal: DesignGoal | None = None
    """What is asked of it."""
    is_judged: bool = True
    """False: the goal has to hold in a condition that this run did not have."""
    expression: str = ""
    """What was evaluated; "" for a `.meas`."""
    step: str = ""
    """Of a stepped circuit: in which run it was measured, ``rload = 10k``."""
    steps: tuple[StepFigure, ...] = ()
    """Of a stepped circuit: what it is in each run, in the order of the values."""
    goal_steps: tuple[StepFigure, ...] = ()
    """The same of a goal, which holds for the first run alone."""

    @property
    def shown_name(self) -> str:
        """Its name; of a stepped circuit without the number of the run."""
        is_of_run = self.step and not self.expression and "@" in self.name
        return self.name.rpartition("@")[0] if is_of_run else self.name

    def as_shown(self, value: Quantity) -> tuple[float, str]:
        """Number and unit of one of its values; a share in percent."""
        of_goal = self.goal is not None and is_share(self.goal)
        is_in_percent = value.unit == "1" and (of_goal or SHARES.fullmatch(self.expression or self.name))
        return (value.value * 100, "%") if is_in_percent else (value.value, value.unit)


class ShownResult(QObject):
    """What is shown, and for whom it changes. Everything slow happens off the loop."""

    loading = pyqtSignal()
    """another result is being read; the old one stays until it is there"""
    changed = pyqtSignal()
    """another result is shown, or none"""
    grown = pyqtSignal()
    """the shown run, which is under way, has more points"""
    under_way = pyqtSignal()
    """the run that is under way stands still or goes on, or has no curves before its end"""
    measured = pyqtSignal()
    """the measurements are others"""
    steps_wanted = pyqtSignal(str)
    """somebody wants to see a measurement, by its name, against what is stepped"""
    offer_changed = pyqtSignal()
    """another run of the assistant waits to be looked at, or none"""
    stale_changed = pyqtSignal(bool)
    """the circuit was changed since the shown run"""

    def __init__(self, services: WindowServices, project: Project, simulation: Simulation) -> None:
        super().__init__()
        self._services = services
        self._project = project
        self._simulation = simulation
        self._request = 0
        self._measured: tuple[Measured, ...] = ()
        self._measured_on: LoadedWaveforms | None = None
        self.loaded: LoadedWaveforms | None = None
        self.error: Message | None = None
        """Why the last result could not be shown."""
        self.goals: tuple[DesignGoal, ...] = ()
        """What was asked of the circuit when it was simulated."""
        self.goal_maker = GoalMaker(services, project, self)
        self.is_loading = False
        self.offered: StoredFigures | None = None
        """A run of the assistant's that waits: the curves that are shown are the user's."""
        self._is_own = True
        """What is shown was run or chosen by the user."""
        self.is_paused = False
        """The run that is under way stands still."""
        self.awaited: Path | None = None
        """The circuit of the run that is under way, where its curves come at its end only."""
        self.is_stale = False
        self.is_compared = False
        """Somebody asked for the run that the figures are compared with."""
        self.cases: tuple[Path, tuple[CaseRun, ...]] | None = None
        """The newest result whose circuit has kept cases, and how the goals stand in them."""
        services.workspace.cases_judged.connect(self._on_cases)
        self._yield: CircuitYield | None = None
        services.workspace.yield_estimated.connect(self._on_yield)
        self._before: tuple[LoadedWaveforms | None, Message | None, tuple[DesignGoal, ...]] | None = None
        """What was shown before the run that is under way."""
        services.workspace.run_paused.connect(self._on_paused)
        services.workspace.run_finished.connect(lambda _outcome: self._on_paused(False))
        services.workspace.run_silent.connect(self._await)
        services.workspace.run_finished.connect(lambda _outcome: self._await(None))
        services.workspace.result_selected.connect(self.show)
        services.workspace.result_offered.connect(self._show_offered)
        services.workspace.run_made.connect(self._consider)
        services.workspace.file_changed.connect(self._on_file_changed)
        services.workspace.goals_changed.connect(self._on_goals_changed)
        services.workspace.project_closed.connect(self.clear)

    def _on_paused(self, is_paused: bool) -> None:
        if is_paused != self.is_paused:
            self.is_paused = is_paused
            self.under_way.emit()

    def _await(self, circuit: Path | None) -> None:
        if circuit != self.awaited:
            self.awaited = circuit
            self.under_way.emit()

    def _on_yield(self, found: CircuitYield | None) -> None:
        if found is not self._yield:
            self._yield = found
            self.measured.emit()

    @property
    def yields(self) -> CircuitYield | None:
        """Of the goals of the shown circuit as it is now; None where they were not estimated."""
        found = self._yield
        return found if found is not None and found.circuit == self.circuit and not self.is_stale else None

    def _on_cases(self, result_path: Path, runs: tuple[CaseRun, ...]) -> None:
        self.cases = result_path, runs
        self.measured.emit()

    @property
    def measurements(self) -> tuple[Measured, ...]:
        """`.meas` figures first, then the goals, the usual ones of the analyses, those that were added."""
        return self._measured

    @property
    def circuit(self) -> Path | None:
        """Of the shown run, where it is now; None while nothing is shown, and of data without a circuit."""
        figures = None if self.loaded is None else self.loaded.figures
        if figures is None:
            return None
        return self._services.workspace.views.place_of(figures.circuit, figures.created)

    @property
    def _added(self) -> list[str]:
        """The custom measurements of the shown circuit."""
        return self._services.workspace.views.of(self.circuit).measurements

    @property
    def expressions(self) -> tuple[str, ...]:
        """What the user measures beside the circuit's own figures."""
        return tuple(self._added)

    @property
    def previous_number(self) -> int | None:
        previous = None if self._measured_on is None else self._measured_on.previous
        return None if previous is None else previous.number

    def _consider(self, result_path: Path) -> None:
        """A run of a conversation: it is shown, unless it would take the place of the user's curves."""
        self._services.start(self._show_or_offer(result_path), kind="offer run", scope="waveforms")

    async def _show_or_offer(self, result_path: Path) -> None:
        workspace = self._services.workspace
        figures = await self._simulation.waveforms.figures_of(result_path)
        shown = None if self.loaded is None or self.is_loading else self.loaded.figures
        if figures is None or (shown is not None and shown.result_path == figures.result_path):
            return  # its folder is gone; or nothing had changed, and its answer was the run that is shown
        circuit = workspace.views.place_of(figures.circuit, figures.created)
        has_curves = self.loaded is not None and bool(self.loaded.plots) and circuit == self.circuit
        if self._is_own and (has_curves or self.is_loading):
            self.offered = figures
            self.offer_changed.emit()
            workspace.result_waits.emit(result_path)
            return
        workspace.result_offered.emit(result_path)

    def drop_offer(self) -> None:
        """No run waits any more."""
        if self.offered is not None:
            self.offered = None
            self.offer_changed.emit()

    def show(self, result_path: Path) -> None:
        """Load a result and show it; a later call wins over an earlier one."""
        self._is_own = True
        self.drop_offer()
        self._load_soon(result_path)

    def _show_offered(self, result_path: Path) -> None:
        """The same, of a run nobody chose: the newest of an opened project, one of the assistant's."""
        self.show(result_path)
        self._is_own = False

    def _load_soon(self, result_path: Path) -> None:
        self._request += 1
        self.is_loading = True
        self.loading.emit()
        self._services.start(self._load(result_path, self._request), kind="load waveforms", scope="waveforms")

    @property
    def growth(self) -> Growth | None:
        """What has come of the shown run while it is under way; None when a stored result is shown."""
        return None if self.loaded is None or self.is_loading else self.loaded.growth

    def show_growing(self, circuit: Path, growth: Growth) -> None:
        """Show what a run of a circuit has computed so far. Nothing is measured on it."""
        from application.simulation.waveforms import LoadedWaveforms, StoredFigures

        is_first = self.growth is None
        self._is_own = True
        if is_first:
            self._request += 1
            self.is_loading = False
            self._before = self.loaded, self.error, self.goals
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        figures = StoredFigures(
            result_path=circuit,
            circuit=circuit,
            netlist_sha256="",
            number=0,
            ok=False,
            created=now,
            metrics={},
        )
        self.loaded = LoadedWaveforms(source=circuit, plots=growth.plots, figures=figures, growth=growth)
        self.error, self.goals = None, ()
        if not is_first:
            self.grown.emit()
            return
        self._set_stale(False)
        self.changed.emit()
        self._show_figures(())

    def end_growing(self) -> None:
        """The run has left nothing to be shown: what was shown before it is shown again."""
        if self.growth is None or self._before is None:
            return
        self._request += 1
        (self.loaded, self.error, self.goals), self._before = self._before, None
        self.changed.emit()
        self._services.start(self._measure(self._request), kind="measure", scope="waveforms")
        self._services.start(
            self._compare_with_file(self._request), kind="compare circuit", scope="waveforms"
        )

    def compare_with(self, result_path: Path) -> None:
        """Tell how the figures differ from those of another run, in place of the one before."""
        self._services.start(
            self._compare_runs(result_path, self._request), kind="compare runs", scope="waveforms"
        )

    async def _compare_runs(self, result_path: Path, request: int) -> None:
        figures = await self._simulation.waveforms.figures_of(result_path)
        if figures is None or self.loaded is None or request != self._request or self.growth is not None:
            return
        self.loaded, self.is_compared = replace(self.loaded, previous=figures), True
        await self._measure(request)

    def clear(self) -> None:
        """Show nothing (the project was closed)."""
        self._request += 1
        self.loaded, self.error, self.is_loading, self.goals = None, None, False, ()
        self.drop_offer()
        self._set_stale(False)
        self.changed.emit()
        self._show_figures(())

    def add_measurement(self, expression: str) -> None:
        """Measure one expression more, on this result and the next ones of its circuit."""
        expression = expression.strip()
        if expression and expression not in self._added:
            self._added.append(expression)
            self._services.workspace.views.tell()
            self._services.start(self._measure(self._request), kind="measure", scope="waveforms")

    async def refusal(self, expression: str) -> Message | None:
        """Why an expression can't be measured on any result like the shown one; None when it can.

        One that merely has no value here (a gain that never falls) is measured: the next run may have it.
        """
        loaded = self.loaded
        if loaded is None or not loaded.plots:
            return None
        outcome = (await asyncio.to_thread(_evaluated, loaded, (), (expression,)))[expression]
        is_nonsense = isinstance(outcome, CircuitAIError) and outcome.error_type in _NONSENSE
        return outcome.message if isinstance(outcome, CircuitAIError) and is_nonsense else None

    def remove_measurement(self, expression: str) -> None:
        if expression in self._added:
            self._added.remove(expression)
            self._services.workspace.views.tell()
            self._measured = tuple(
                item for item in self._measured if not (item.is_added and item.expression == expression)
            )
            self.measured.emit()

    async def _load(self, result_path: Path, request: int) -> None:
        try:
            loaded = await self._simulation.waveforms(result_path)
            goals = await self._goals(loaded)
        except CircuitAIError as error:
            if request == self._request:
                self.is_loading, self.error = False, error.message
                self.changed.emit()
            return
        if request != self._request:
            return
        self.loaded, self.goals, self.is_compared = loaded, goals, False
        self.error = None if loaded.error is None else loaded.error.message
        self.is_loading = False
        self._set_stale(False)
        self.changed.emit()
        cards_due = asyncio.get_running_loop().call_later(_PATIENCE_S, self._show_cards, request)
        try:
            await self._measure(request)
        except Exception:
            self._show_cards(request)  # not those of another result
            raise
        finally:
            cards_due.cancel()
        await self._compare_with_file(request)

    def _show_cards(self, request: int) -> None:
        """The figures that are there without measuring: those of the `.meas` cards."""
        if request == self._request and self.loaded is not None:
            self._show_figures(_of_cards(self.loaded, self.goals))

    def _show_figures(self, figures: tuple[Measured, ...]) -> None:
        self._measured, self._measured_on = figures, self.loaded
        self.measured.emit()

    async def _measure(self, request: int) -> None:
        """Evaluate the expressions on the shown result and on the one before it."""
        loaded = self.loaded
        if loaded is None or loaded.growth is not None:
            return
        if not loaded.plots:
            self._show_cards(request)
            return
        added, goals = tuple(self._added), self.goals
        steps = steps_of(loaded.plots)
        earlier = await self._steps_before(loaded) if len(steps) > 1 else ()
        cards = _of_cards(loaded, goals, earlier)
        # A goal that a .meas of its name answers has its line already.
        asked = [goal for goal in goals if not any(card.goal is goal for card in cards)]
        now = await asyncio.to_thread(_evaluated, loaded, [goal.expression for goal in asked], added)
        everywhere: Mapping[str, tuple[StepFigure, ...]] = {}
        if len(steps) > 1:
            everywhere = await asyncio.to_thread(over_steps, loaded.plots, steps, list(now))
        if steps_there := steps_of(earlier):
            there = await asyncio.to_thread(over_steps, earlier, steps_there, list(everywhere))
            everywhere = {
                text: beside_earlier(figures, there.get(text, ())) for text, figures in everywhere.items()
            }
        before: Mapping[str, Quantity | CircuitAIError] = {}
        if loaded.previous is not None and now and _are_alike(loaded.plots, earlier, loaded.previous):
            try:
                before = await self._simulation.measure(
                    loaded.previous.result_path,
                    [text for text, value in now.items() if not isinstance(value, CircuitAIError)],
                )
            except CircuitAIError:  # its data were cleaned up: there is nothing to compare with
                before = {}
        if request == self._request:
            first = next((plot.step for plot in loaded.plots), None)  # what expressions are measured on
            step = step_label(first) if first is not None and first.values else ""
            here = _held(loaded, goals)
            found = _of_expressions(now, before, added, asked, here, step=step)
            self._show_figures((*cards, *(_in_steps(each, everywhere) for each in found)))

    async def _steps_before(self, loaded: LoadedWaveforms) -> tuple[Plot, ...]:
        """The data of the run before, where that was stepped too; () where they are gone."""
        if loaded.previous is None or not loaded.previous.is_stepped:
            return ()
        try:
            return (await self._simulation.waveforms(loaded.previous.result_path)).plots
        except CircuitAIError:  # its data were cleaned up: there is nothing to compare with
            return ()

    async def _goals(self, loaded: LoadedWaveforms) -> tuple[DesignGoal, ...]:
        root, figures = self._services.workspace.root, loaded.figures
        if root is None or figures is None or not figures.is_ours:  # nobody has run it here
            return ()
        return await self._project.browse.goals(root, figures.circuit, created=figures.created)

    def _on_goals_changed(self, circuit: Path) -> None:
        if self.loaded is not None and self.growth is None and circuit == self.circuit:
            self._load_soon(self.loaded.source)

    def _on_file_changed(self, path: Path) -> None:
        if path == self.circuit:
            self._services.start(
                self._compare_with_file(self._request), kind="compare circuit", scope="waveforms"
            )

    async def _compare_with_file(self, request: int) -> None:
        """Whether the circuit's file is still the one that was simulated."""
        figures, circuit = None if self.loaded is None else self.loaded.figures, self.circuit
        if figures is None or circuit is None or self.growth is not None:
            return
        digest = await self._simulation.waveforms.digest_of(circuit)
        if request == self._request:
            self._set_stale(digest is not None and digest != figures.netlist_sha256)

    def _set_stale(self, is_stale: bool) -> None:
        if is_stale != self.is_stale:
            self.is_stale = is_stale
            self.stale_changed.emit(is_stale)


def _are_alike(plots: Sequence[Plot], earlier: Sequence[Plot], previous: StoredFigures) -> bool:
    """Whether expressions are measured under the same conditions in both runs: of a `.step` in the first step
    alone, which says nothing of a run without steps, or of other values."""
    now, there = (next((each.step for each in these), None) for these in (plots, earlier))
    if now is None or there is None:
        return now is None and not previous.is_stepped
    return now.values == there.values


def _held(loaded: LoadedWaveforms, goals: Sequence[DesignGoal]) -> tuple[DesignGoal, ...]:
    """The goals that have to hold in just this run; none of one that is not whole."""
    if loaded.figures is not None and not loaded.figures.ok:
        return ()
    values = {} if loaded.figures is None else loaded.figures.settings
    return tuple(
        goal for goal in goals if any(is_set_by(settings, values) for settings in runs_of(goal) or ())
    )


def _of_cards(
    loaded: LoadedWaveforms, goals: Sequence[DesignGoal], plots_before: Sequence[Plot] = ()
) -> tuple[Measured, ...]:
    """`plots_before`: data of the run before, which tell the values of its steps."""
    now, before = loaded.figures, loaded.previous
    if now is None:
        return ()
    earlier = {} if before is None else before.metrics
    here = _held(loaded, goals)
    steps = steps_of(loaded.plots)
    stepped = of_cards(now.metrics, steps)
    there = of_cards(earlier, steps_of(plots_before))
    by_name = {(goal.metric.lower(), goal.unit): goal for goal in goals}
    of_steps = tuple(
        _of_steps(name, beside_earlier(figures, there.get(name, ())), earlier)
        for name, figures in stepped.items()
    )
    return of_steps + tuple(
        Measured(
            name=name,
            value=quantity,
            previous=earlier.get(name),
            goal=(goal := by_name.get((name.lower(), quantity.unit))),
            is_judged=goal in here,
        )
        for name, quantity in now.metrics.items()
        if name.rpartition("@")[0] not in stepped
    )


def _of_steps(name: str, figures: tuple[StepFigure, ...], earlier: Mapping[str, Quantity]) -> Measured:
    """One line for what was measured in each run; in short it is the value of the least."""
    first = figures[0]
    return Measured(
        name=name, value=first.value, previous=earlier.get(f"{name}@1"), step=first.label, steps=figures
    )


def _of_expressions(
    now: Mapping[str, Quantity | CircuitAIError],
    before: Mapping[str, Quantity | CircuitAIError],
    added: Sequence[str],
    goals: Sequence[DesignGoal],
    here: Sequence[DesignGoal],
    *,
    step: str,
) -> tuple[Measured, ...]:
    asked_by: dict[str, list[DesignGoal | None]] = {}
    for each in sorted(goals, key=lambda goal: goal not in here):
        asked_by.setdefault(each.expression, []).append(each)
    found = []
    for text, outcome in now.items():
        is_error = isinstance(outcome, CircuitAIError)
        if is_error and text not in added:
            continue  # a usual one, or a goal, that this circuit does not show is of no interest
        earlier = before.get(text)
        found += [
            Measured(
                name=text if goal is None else goal.metric,
                value=None if isinstance(outcome, CircuitAIError) else outcome,
                previous=None if isinstance(earlier, CircuitAIError) else earlier,
                problem=outcome.message if isinstance(outcome, CircuitAIError) else None,
                is_added=text in added,
                goal=goal,
                is_judged=goal in here,
                expression=text,
                step=step,
            )
            for goal in asked_by.get(text, [None])
        ]
    return tuple(found)


def _in_steps(measured: Measured, everywhere: Mapping[str, tuple[StepFigure, ...]]) -> Measured:
    steps = everywhere.get(measured.expression, ())
    return replace(measured, steps=steps) if measured.goal is None else replace(measured, goal_steps=steps)


def _evaluated(
    loaded: LoadedWaveforms, goals: Sequence[str], added: Sequence[str]
) -> dict[str, Quantity | CircuitAIError]:
    """Values of the goals' expressions, the usual ones and the added ones."""
    from domain.simulation.expressions import evaluate
    from domain.simulation.usual_measurements import usual_measurements
    from presentation.panels.waveforms.traces import default_expressions, plotted_of

    values: dict[str, Quantity | CircuitAIError] = {}
    plots, curves = loaded.plots, () if loaded.figures is None else loaded.figures.curves

    def drawn(plot: Plot) -> list[str]:
        return plotted_of(plot, curves) or default_expressions(plot)

    # Goals ask for what is usual in their own words.
    usual = [] if goals else usual_measurements(plots, drawn)
    for text in dict.fromkeys((*goals, *usual, *added)):
        try:
            values[text] = evaluate(text, plots)
        except CircuitAIError as error:
            values[text] = error
    return values
