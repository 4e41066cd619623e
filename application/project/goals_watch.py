"""Goals watched like tests: all goals of all circuits that an edit touches, measured without being asked.

Texts are measured as they are being written. What a circuit's goals were before tells whether one is lost,
and the texts of that time tell by which lines.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from application.design.circuit_goals import GoalBook
from application.goal_checks.goal_now import GoalNow
from application.goal_checks.judged_runs import judged_runs
from application.simulation.other_texts import WithTexts
from application.studies.studying import prepare_for_study, without_own_steps
from domain.circuit.changed_lines import changed_places
from domain.simulation.goals import DesignGoal
from domain.studies.study_spec import read_study_spec
from shared.errors import CircuitAIError, EnvironmentProblem, UserInputError
from shared.message import Message
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.project import Projects
    from application.ports.simulation import BatchSimulator, SimulatorSettingsStore, SourceReaders
    from application.simulation.prepared_circuit import PreparedCircuit

BUDGET_S = 15.0
"""How long the runs of all circuits together may take; those that do not fit are counted."""
_TIMEOUT_S = 5.0
"""Of one run: what takes longer is no work to be done beside others."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CircuitNow:
    """The goals of one circuit."""

    circuit: Path
    goals: tuple[GoalNow, ...] = ()
    problem: Message | None = None
    """Why nothing of it could be measured: a line that is half written, say."""
    texts: Mapping[Path, bytes] = field(default_factory=dict)
    """What its files of the project held."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Watched:
    """What one look found."""

    circuits: tuple[CircuitNow, ...] = ()
    left_out: int = 0
    """Circuits for which there was no time."""
    gone: tuple[Path, ...] = ()
    """Circuits of which nothing is asked any more."""


class WatchGoals:
    """The use case. Cancelled it ends its worker at once."""

    def __init__(
        self,
        *,
        projects: Projects,
        batch: BatchSimulator,
        sources: SourceReaders,
        settings: SimulatorSettingsStore,
        libraries: Callable[[], tuple[Path, ...]] = tuple,
    ) -> None:
        self._projects = projects
        self._batch = batch
        self._sources = sources
        self._settings = settings
        self._libraries = libraries
        self._files: dict[Path, frozenset[Path]] = {}
        """Of each circuit the files it was made of when it was read last."""

    async def __call__(
        self,
        root: Path,
        touched: Collection[Path] | None,
        *,
        texts: Mapping[Path, bytes] | None = None,
        first: Path | None = None,
        budget_s: float = BUDGET_S,
    ) -> Watched:
        """Measure the goals of every circuit that reads one of the `touched` files; None: of all circuits.

        `texts`: what stands in place of files on the disk; `first`: the circuit that is measured first. A
        circuit that cannot be simulated says so in its result. Raises EnvironmentProblem without a simulator.
        """
        asked = await off_loop(self._asked, root)
        gone = tuple(path for path in self._files if path not in asked)
        for path in gone:
            del self._files[path]
        home, changed, written = await off_loop(
            _resolved, root, asked if touched is None else touched, texts or {}
        )
        order = sorted(asked, key=lambda path: (path != first, path not in changed, str(path)))
        found: list[CircuitNow] = []
        started, longest, left_out = time.monotonic(), 0.0, 0
        for circuit in order:
            if changed.isdisjoint(self._files.get(circuit, changed)) and circuit not in changed:
                continue
            if found and time.monotonic() - started + longest > budget_s:
                left_out += 1
                continue
            began = time.monotonic()
            now = await self._measured(home, circuit, asked[circuit], written, changed)
            if now is not None:
                found.append(now)
                longest = max(longest, time.monotonic() - began)
        return Watched(circuits=tuple(found), left_out=left_out, gone=gone)

    def _asked(self, root: Path) -> dict[Path, tuple[DesignGoal, ...]]:
        try:
            project = self._projects.open(root)
        except CircuitAIError:  # a folder that is no project yet: nothing is asked there
            return {}
        try:
            book = GoalBook(project)
            return {
                (project.root / each.circuit).resolve(): each.goals
                for each in book.all
                if each.goals and (project.root / each.circuit).is_file()
            }
        finally:
            project.close()

    async def _measured(
        self,
        home: Path,
        circuit: Path,
        goals: Sequence[DesignGoal],
        written: Mapping[Path, bytes],
        touched: Collection[Path],
    ) -> CircuitNow | None:
        """None where the circuit turns out to read none of the touched files."""
        sources = WithTexts(self._sources, written)
        try:
            prepared = await off_loop(self._prepared, circuit, sources)
        except UserInputError as error:
            self._files.setdefault(circuit, frozenset({circuit}))
            return CircuitNow(circuit=circuit, problem=error.message) if circuit in touched else None
        files = frozenset({circuit, *prepared.tree.files})
        self._files[circuit] = files
        if files.isdisjoint(touched):
            return None
        try:
            found = await judged_runs(self._batch, prepared, goals, timeout_s=_TIMEOUT_S)
        except EnvironmentProblem:
            raise
        except CircuitAIError as error:
            return CircuitNow(circuit=circuit, problem=error.message)
        texts = {path: data for path, data in sources.seen.items() if path.is_relative_to(home)}
        return CircuitNow(circuit=circuit, goals=found.goals, texts=texts)

    def _prepared(self, circuit: Path, sources: SourceReaders) -> PreparedCircuit:
        asked = prepare_for_study(
            sources,
            circuit,
            read_study_spec({}),
            libraries=(),
            user_libraries=self._libraries(),
            settings=self._settings.of_circuit(circuit),
            dialect=None,
        )
        return without_own_steps(asked)[0]


def _resolved(
    root: Path, touched: Collection[Path], texts: Mapping[Path, bytes]
) -> tuple[Path, set[Path], dict[Path, bytes]]:
    others = {path.resolve(): data for path, data in texts.items()}
    return root.resolve(), {path.resolve() for path in touched}, others


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedGoal:
    """One that is not met now."""

    circuit: Path
    now: GoalNow
    was: float = math.nan
    """What it measured when it was met last; NaN: it was never seen met."""
    is_lost: bool = False
    """It was met before."""
    file: Path | None = None
    """Where the texts differ from those with which it was met; None: they do not."""
    lines: tuple[int, ...] = ()
    """The lines there, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How the goals stand."""

    met: int = 0
    missed: tuple[MissedGoal, ...] = ()
    """Those that were lost first."""
    not_judged: int = 0
    problems: tuple[tuple[Path, Message], ...] = ()
    """Circuits that could not be measured."""
    left_out: int = 0

    @property
    def lost(self) -> tuple[MissedGoal, ...]:
        return tuple(each for each in self.missed if each.is_lost)


class GoalsSeen:
    """The goals of a project as they were seen: what is met now, what was lost and by which lines."""

    def __init__(self) -> None:
        self._now: dict[Path, CircuitNow] = {}
        self._met: dict[tuple[Path, DesignGoal], tuple[float, Mapping[Path, bytes]]] = {}
        self._left_out = 0

    def take(self, watched: Watched) -> Standing:
        """Another look. Compares texts: off the loop."""
        for circuit in watched.gone:
            self._now.pop(circuit, None)
        self._left_out = watched.left_out
        for each in watched.circuits:
            self._now[each.circuit] = each
            for goal in each.goals:
                if goal.is_met:
                    self._met[each.circuit, goal.goal] = (goal.value, each.texts)
        return self.standing()

    def standing(self) -> Standing:
        """How everything that was measured stands now."""
        circuits = self._now.values()
        missed = [
            self._missed(each, goal) for each in circuits for goal in each.goals if goal.is_met is False
        ]
        return Standing(
            met=sum(goal.is_met is True for each in circuits for goal in each.goals),
            missed=tuple(sorted(missed, key=lambda each: not each.is_lost)),
            not_judged=sum(goal.is_met is None for each in circuits for goal in each.goals),
            problems=tuple((each.circuit, each.problem) for each in circuits if each.problem is not None),
            left_out=self._left_out,
        )

    def _missed(self, circuit: CircuitNow, goal: GoalNow) -> MissedGoal:
        known = self._met.get((circuit.circuit, goal.goal))
        if known is None:
            return MissedGoal(circuit=circuit.circuit, now=goal)
        was, texts = known
        file: Path | None = None
        lines: tuple[int, ...] = ()
        for path, text in circuit.texts.items():
            if path in texts and (found := changed_places(texts[path], text)):
                file, lines = path, found
                break
        return MissedGoal(circuit=circuit.circuit, now=goal, was=was, is_lost=True, file=file, lines=lines)
