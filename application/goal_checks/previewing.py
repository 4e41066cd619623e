"""What a change would do, before anybody makes it: the circuits that read the changed files, simulated with
the texts as they are and as they would be.

Nothing is written: both states are read through `WithTexts` and run on a batch worker, in its box, of which
nothing is kept. The state before is measured once for all changes that are looked at one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from application.design.circuit_goals import GoalBook
from application.goal_checks.goal_now import GoalNow
from application.goal_checks.judged_runs import TOO_SLOW, JudgedRuns, judged_runs
from application.simulation.other_texts import WithTexts
from application.studies.studying import prepare_for_study, without_own_steps
from domain.simulation.result import Quantity
from domain.simulation.usual_measurements import usual_measurements
from domain.studies.study_spec import read_study_spec
from shared.errors import CircuitAIError, CircuitError, UserInputError
from shared.message import Message
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.project import Projects
    from application.ports.simulation import BatchSimulator, SimulatorSettingsStore, SourceReaders
    from application.simulation.prepared_circuit import PreparedCircuit
    from domain.simulation.goals import DesignGoal
    from domain.simulation.waveform import Plot

QUICK_S = 1.0
"""A run that takes longer is not done for each look at a change, unless somebody asks for it."""
_PATIENCE_S = 3.0
"""So long a run is waited for whose time nobody knows yet."""
_LONGEST_S = 120.0
"""Of one run that somebody asked for."""
MOST_CIRCUITS = 3
_MOST_READ = 30
"""Circuits that are read to tell whether the change is one of theirs."""
_MOST_KEPT = 2
"""States before; each holds the curves of a run."""

_MOST_BYTES = 64_000_000
"""Of the curves of a state that is kept."""

Texts = Mapping[Path, bytes]
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalChange:
    """A goal before and after."""

    before: GoalNow | None
    """None: before, the circuit did not simulate, or there was none."""
    after: GoalNow

    @property
    def goal(self) -> DesignGoal:
        return self.after.goal

    @property
    def is_lost(self) -> bool:
        was_met = self.before is not None and self.before.is_met is True
        return was_met and self.after.is_met is False

    @property
    def is_won(self) -> bool:
        was_missed = self.before is not None and self.before.is_met is False
        return was_missed and self.after.is_met is True


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureChange:
    """Of a circuit without goals: a measurement before and after, None where it could not be had."""

    name: str
    """Of a `.meas` card, or the expression itself."""
    before: Quantity | None
    after: Quantity | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CircuitPreview:
    """What the change does to one circuit."""

    circuit: Path
    is_changed: bool = False
    """It is one of the changed files itself; else it reads one."""
    goals: tuple[GoalChange, ...] = ()
    figures: tuple[FigureChange, ...] = ()
    before: tuple[Plot, ...] = ()
    after: tuple[Plot, ...] = ()
    """The curves, all vectors; () where that state does not simulate."""
    is_same: bool = False
    """The results are the same before and after: another comment, another title."""
    problem: Message | None = None
    """Why it does not simulate with the change."""
    was_failing: bool = False
    """It does not simulate as it is now."""
    slow_s: float | None = None
    """It was not simulated with the change: a run takes so many seconds; NaN: longer than was waited."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangePreview:
    """What a change does to the circuits that read the changed files."""

    circuits: tuple[CircuitPreview, ...]
    left_out: int = 0
    """Further circuits with goals that read them."""
    is_live: bool = False
    """Somebody moves values at this moment: what is drawn follows the hand."""
    is_undo: bool = False
    """It takes back what was changed before."""


@dataclass(slots=True, eq=False)
class _State:
    """A circuit with certain texts: read, and not simulated yet; or why it cannot be."""

    prepared: PreparedCircuit | None
    files: frozenset[Path]
    problem: CircuitAIError | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PreviewChange:
    """The use case. Cancelled it ends its worker at once; nothing is stored."""

    projects: Projects
    batch: BatchSimulator
    sources: SourceReaders
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]] = tuple
    _known: dict[tuple[str, tuple[DesignGoal, ...]], JudgedRuns] = field(default_factory=dict, init=False)

    async def __call__(
        self,
        root: Path,
        then: Mapping[Path, bytes | None],
        *,
        now: Texts | None = None,
        circuits: Sequence[Path] = (),
        is_wanted: bool = False,
    ) -> ChangePreview | None:
        """Simulate what reads the files of `then`, with their contents there (None: the file is gone) and
        without; None where no circuit reads them.

        `now`: unsaved texts in place of files on the disk. `circuits`: those that are meant first (shown, in
        front), with or without goals; behind them come the changed files and every circuit with goals.
        `is_wanted`: also one whose run takes longer than `QUICK_S`. Of a circuit that itself goes nothing is
        said. What a circuit lacks is said in its
        result. Raises EnvironmentProblem without a simulator, NeedsConfirmation where nothing confines it.
        """
        asked, names = await off_loop(self._asked, root, (*(now or {}), *then, *circuits))
        home, written, changed = names[root], _by_real(names, now or {}), _by_real(names, then)
        given = {names[path]: path for path in (*then, *circuits)}
        later = {**written, **changed}
        meant = [names[path] for path in circuits]
        stays = (each for each in (*meant, *changed, *asked) if changed.get(each, b"") is not None)
        order = list(dict.fromkeys(stays))[:_MOST_READ]
        found: list[CircuitPreview] = []
        left_out = 0
        for circuit in order:
            if len(found) == MOST_CIRCUITS and circuit not in asked:
                continue
            states = await off_loop(self._states, circuit, written, later, frozenset(changed))
            if states is None or not circuit.is_relative_to(home):
                continue
            if len(found) == MOST_CIRCUITS:
                left_out += 1
                continue
            compared = await self._compared(circuit, states, asked.get(circuit, ()), is_wanted=is_wanted)
            named = given.get(circuit, circuit)
            found.append(replace(compared, circuit=named, is_changed=circuit in changed))
        return ChangePreview(circuits=tuple(found), left_out=left_out) if found else None

    def _asked(
        self, root: Path, paths: Sequence[Path]
    ) -> tuple[dict[Path, tuple[DesignGoal, ...]], dict[Path, Path]]:
        """The goals of circuits by their real paths, and the real paths of these and of the project."""
        goals: dict[Path, tuple[DesignGoal, ...]] = {}
        try:
            project = self.projects.open(root)
        except CircuitAIError:  # a folder that is no project yet: nothing is asked there
            pass
        else:
            try:
                book = GoalBook(project)
                goals = {(project.root / each.circuit).resolve(): each.goals for each in book.all}
            finally:
                project.close()
        return goals, {path: path.resolve() for path in (root, *paths)}

    def _states(
        self, circuit: Path, now: Texts, then: Mapping[Path, bytes | None], changed: frozenset[Path]
    ) -> tuple[_State, _State] | None:
        """The circuit before and after; None where it reads none of the changed files, or is no circuit."""
        before = self._state(circuit, WithTexts(self.sources, now))
        after = self._state(circuit, WithTexts(self.sources, then))
        if changed.isdisjoint(before.files | after.files):
            return None
        if before.prepared is None and after.prepared is None:  # a part of circuits, a note
            return None
        return before, after

    def _state(self, circuit: Path, sources: WithTexts) -> _State:
        try:
            asked = prepare_for_study(
                sources,
                circuit,
                read_study_spec({}),
                libraries=(),
                user_libraries=self.libraries(),
                settings=self.settings.of_circuit(circuit),
                dialect=None,
            )
            prepared = without_own_steps(asked)[0]
        except UserInputError as error:
            return _State(None, frozenset({circuit, *sources.seen}), error)
        missing = {each.refusal.path for each in prepared.tree.refusals}
        return _State(prepared, frozenset({circuit, *prepared.tree.files, *missing, *sources.seen}))

    async def _compared(
        self,
        circuit: Path,
        states: tuple[_State, _State],
        goals: tuple[DesignGoal, ...],
        *,
        is_wanted: bool,
    ) -> CircuitPreview:
        now, then = states
        before: JudgedRuns | None = None
        patience = _LONGEST_S if is_wanted else _PATIENCE_S
        if now.prepared is not None:
            try:
                before = await self._before(now.prepared, goals, patience)
            except (UserInputError, CircuitError) as error:
                if error.error_type == TOO_SLOW and not is_wanted:
                    return CircuitPreview(circuit=circuit, slow_s=math.nan)
        if before is not None and before.run_s > QUICK_S and not is_wanted:
            return CircuitPreview(circuit=circuit, slow_s=before.run_s)
        was_failing = before is None and (now.prepared is not None or circuit in now.files)
        problem = then.problem
        after: JudgedRuns | None = None
        if then.prepared is not None:
            try:
                after = await judged_runs(self.batch, then.prepared, goals, timeout_s=patience, is_whole=True)
            except (UserInputError, CircuitError) as error:
                if error.error_type == TOO_SLOW and not is_wanted:
                    return CircuitPreview(circuit=circuit, slow_s=math.nan)
                problem = error
        curves = () if before is None else before.plots
        if after is None:
            assert problem is not None
            return CircuitPreview(
                circuit=circuit, before=curves, problem=problem.message, was_failing=was_failing
            )
        earlier = {} if before is None else {each.goal: each for each in before.goals}
        changes = tuple(GoalChange(before=earlier.get(each.goal), after=each) for each in after.goals)
        figures = () if goals else await off_loop(_figures, before, after)
        is_same = not any(map(_moves, changes)) and all(each.before == each.after for each in figures)
        return CircuitPreview(
            circuit=circuit,
            goals=changes,
            figures=figures,
            before=curves,
            after=after.plots,
            is_same=is_same and await off_loop(_are_same, curves, after.plots),
            was_failing=was_failing,
        )

    async def _before(
        self, prepared: PreparedCircuit, goals: tuple[DesignGoal, ...], timeout_s: float
    ) -> JudgedRuns:
        """The circuit as it is: measured once, however many changes of it are looked at."""
        key = await off_loop(prepared.content_hash, str(prepared.circuit)), goals
        known = self._known.get(key)
        if known is None:
            known = await judged_runs(self.batch, prepared, goals, timeout_s=timeout_s, is_whole=True)
            if key[0] and _size(known) <= _MOST_BYTES:
                self._known[key] = known
                while len(self._known) > _MOST_KEPT:
                    del self._known[next(iter(self._known))]
        return known


def _moves(each: GoalChange) -> bool:
    return each.before is None or (each.before.is_met, each.before.value) != (
        each.after.is_met,
        each.after.value,
    )


def _are_same(before: Sequence[Plot], after: Sequence[Plot]) -> bool:
    from numpy import array_equal

    def is_same(one: Plot, other: Plot) -> bool:
        return one.vectors.keys() == other.vectors.keys() and all(
            array_equal(vector.data, other.vectors[name].data) for name, vector in one.vectors.items()
        )

    return len(before) == len(after) and all(map(is_same, before, after))


def _size(runs: JudgedRuns) -> int:
    return sum(vector.data.nbytes for plot in runs.plots for vector in plot.vectors.values())


def _by_real(names: Mapping[Path, Path], texts: Mapping[Path, _T]) -> dict[Path, _T]:
    return {names[path]: text for path, text in texts.items()}


def _figures(before: JudgedRuns | None, after: JudgedRuns) -> tuple[FigureChange, ...]:
    """The `.meas` cards of a circuit that has some, else what is usually measured of its analyses."""
    from domain.simulation.expressions import evaluate

    earlier = {} if before is None else before.figures
    if earlier or after.figures:
        names = dict.fromkeys((*earlier, *after.figures))
        return tuple(
            FigureChange(name=name, before=earlier.get(name), after=after.figures.get(name)) for name in names
        )

    def measured(plots: Sequence[Plot], text: str) -> Quantity | None:
        try:
            return evaluate(text, plots) if plots else None
        except CircuitAIError:  # a gain that never falls, say: it has no value here
            return None

    plots = () if before is None else before.plots
    found = [
        FigureChange(name=text, before=measured(plots, text), after=measured(after.plots, text))
        for text in usual_measurements(after.plots)
    ]
    return tuple(each for each in found if each.before is not None or each.after is not None)
