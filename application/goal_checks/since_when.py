"""Since when a goal is missed: the edit that did it, found by halving the history of a circuit's files.

The history is what the log of operations tells of every file the circuit reads. What somebody wrote by hand
between two operations, or two runs, is an edit too: it is seen by what the next one found there.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from application.ports.project import ABSENT, FOLDER
from application.simulation.other_texts import WithTexts
from application.studies.measures import study_measures
from application.studies.plan import Point, StudyPlan
from application.studies.studying import prepare_for_study, without_own_steps
from domain.circuit.changed_lines import first_change, parts_of
from domain.simulation.goals import DesignGoal
from domain.studies.halving import first_bad
from domain.studies.study_spec import read_study_spec
from shared.errors import CircuitAIError, CircuitError, UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.project import OperationRecord, ProjectFiles, Projects
    from application.ports.simulation import BatchSimulator, SimulatorSettingsStore, SourceReaders
    from application.simulation.prepared_circuit import PreparedCircuit
    from application.studies.measures import StudyMeasures

_MOST_STATES = 5_000
_TIMEOUT_S = 30.0
_MOST_CHANGES = 64
"""Of an edit that are told apart."""
State = Mapping[str, str]
"""SHA-256 of each file by its place in the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One step of the history."""

    before: State
    after: State
    op_id: str = ""
    """The operation; "" for what was written by hand."""
    tool: str = ""
    created: str = ""
    """ISO 8601, UTC; of what was written by hand when it was first seen, "" = now."""

    @property
    def changed(self) -> tuple[str, ...]:
        """The places of the files it changed."""
        return tuple(place for place, digest in self.after.items() if self.before.get(place) != digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run that tells what the circuit's file was at a time."""

    created: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit:
    """The edit since which a goal is missed."""

    edit: Edit
    goal: DesignGoal
    value_before: float
    value_after: float
    """NaN: with the edit it cannot be measured any more."""
    line: int
    """From 1, in the file as the edit left it: the one that lost the goal, else the first that it changed."""
    was: str
    """What stood there before; "" for a line that is new."""
    became: str
    """"" for a line that was taken out."""
    place: str
    """The file of the line, by its place in the project."""
    runs: int
    states: int
    texts: Mapping[str, tuple[bytes, bytes]] = field(default_factory=dict)
    """Of an edit of several changes the one that lost the goal: its file's text without it and with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """One of the changes of an edit."""

    place: str
    before: bytes
    after: bytes
    """The file's text with the changes above; those of later files are not made yet."""


def edits_of(
    records: Sequence[OperationRecord], runs: Iterable[Run], circuit: str, now: State
) -> tuple[Edit, ...]:
    """The history of the files of `now`, the oldest edit first; the last one ends with `now`."""
    steps = sorted(_steps(records, runs, circuit, now), key=lambda step: step.created)
    first: dict[str, str] = {}
    for step in steps:
        first = {**(step.before or step.after), **first}
    state = {**now, **first}
    found: list[Edit] = []

    def goes_on(change: State, step: _Step | None = None, created: str = "") -> None:
        after = {**state, **change}
        if after != state:
            named = Edit(before=dict(state), after=after, created=created)
            if step is not None:
                named = replace(named, op_id=step.op_id, tool=step.tool)
            found.append(named)
        state.update(change)

    for step in steps:
        goes_on(step.before, created=step.created)  # by hand, since the step before
        goes_on(step.after, step if step.op_id else None, step.created)
    goes_on(now)
    return tuple(found[-_MOST_STATES:])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """What an operation did to the circuit's files, or a run found there."""

    created: str
    before: State
    """Empty for a run."""
    after: State
    op_id: str = ""
    tool: str = ""


def _steps(
    records: Sequence[OperationRecord], runs: Iterable[Run], circuit: str, now: State
) -> Iterator[_Step]:
    for record in records:
        changes = [
            each for each in record.changes if each.path in now and FOLDER not in (each.before, each.after)
        ]
        if changes and record.state in ("done", "undone"):
            yield _Step(
                created=record.created,
                before={each.path: each.before for each in changes},
                after={each.path: each.after for each in changes},
                op_id=record.op_id,
                tool=record.tool,
            )
    for run in runs:
        yield _Step(created=run.created, before={}, after={circuit: run.sha256})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FindCulprit:
    """The use case."""

    projects: Projects
    batch: BatchSimulator
    sources: SourceReaders
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]] = tuple

    runs_of: Callable[[Path, Path], Sequence[Run]] = lambda _root, _circuit: ()
    """What is known of runs of a circuit in a project. Blocking."""

    async def __call__(
        self, root: Path, circuit: Path, goal: DesignGoal, runs: Iterable[Run] | None = None
    ) -> Culprit:
        """Measure the goal in states of the history, halving it; `runs` None: those that are known.

        Raises CircuitError when the goal is met now ("goal_met"), when there is no history, or none of it
        meets the goal ("never_met"); UserInputError for a circuit outside the project.
        """
        known = await off_loop(self.runs_of, root, circuit) if runs is None else tuple(runs)
        states, edits = await off_loop(self._history, root, circuit, known)
        values: dict[int, float] = {}

        async def value_at(place: int) -> float:
            if place not in values:
                values[place] = await self._value(root, circuit, goal, states[place])
            return values[place]

        if goal.is_met_by(await value_at(len(states) - 1)):
            raise CircuitError(
                msg("{metric} meets its goal.", metric=goal.metric), file=circuit, error_type="goal_met"
            )
        found = await _first_missed(goal, len(states), value_at)
        if found is None:
            raise CircuitError(
                msg(
                    "No earlier state of {name} meets the goal for {metric}: {count} {count:state|states} "
                    "looked at, {states} {states:state|states} known.",
                    name=circuit.name, metric=goal.metric, count=len(values), states=len(states),
                ),
                advice=msg("Edits are known since the project's first operation or run."),
                file=circuit,
                error_type="never_met",
            )  # fmt: skip
        edit, ends, part, looked = edits[found - 1], (values[found - 1], values[found]), None, 0
        changes = await off_loop(self._changes, root, edit)
        if 1 < len(changes) <= _MOST_CHANGES:
            value_of = partial(self._value, root, circuit, goal)
            part, ends, looked = await _narrowed(goal, edit, changes, ends, value_of)
        counts = (len(values) + looked, len(states))
        return await off_loop(partial(self._culprit, root, edit, goal, ends, counts, part=part))

    # ---- history ---------------------------------------------------------------------------------

    def _history(
        self, root: Path, circuit: Path, runs: Sequence[Run]
    ) -> tuple[tuple[State, ...], tuple[Edit, ...]]:
        prepared = self._prepared(self.sources, circuit)
        with self._opened(root) as project:
            files = [circuit.resolve(), *prepared.tree.files]
            places = {
                path.relative_to(project.root).as_posix(): path
                for path in files
                if path.is_relative_to(project.root)
            }
            main = next((place for place, path in places.items() if path == circuit.resolve()), "")
            if not main:
                raise UserInputError(
                    msg("{path} is outside the project {project}.", path=circuit, project=root), file=circuit
                )
            now = {place: digest_of(project.read(path)) for place, path in places.items()}
            records = [each for each in project.operations.list() if each.kind != "simulation"]
            kept = [run for run in runs if _is_kept(project, main, run.sha256)]
            edits = _readable(project, edits_of(records, kept, main, now), now)
        states = (edits[0].before, *(edit.after for edit in edits)) if edits else (now,)
        return states, edits

    @contextlib.contextmanager
    def _opened(self, root: Path) -> Iterator[ProjectFiles]:
        project = self.projects.open(root)
        try:
            yield project
        finally:
            project.close()

    # ---- measuring -------------------------------------------------------------------------------

    async def _value(
        self,
        root: Path,
        circuit: Path,
        goal: DesignGoal,
        state: State,
        texts: Mapping[str, bytes] | None = None,
    ) -> float:
        """What the goal measures in a state, with other `texts` of some files; NaN where it cannot be
        measured."""
        try:
            plan, measures = await off_loop(self._planned, root, circuit, goal, state, texts or {})
            async with self.batch.live(plan.circuits[0]) as live:
                run = plan.run(0, Point(values={}))
                outcome = await live.evaluate(run.values, signals=measures.signals, timeout_s=_TIMEOUT_S)
            if outcome.state != "ok":
                return math.nan
            found = await off_loop(measures.of, outcome.plots, {})
        except CircuitAIError:  # a text that could not be simulated: the goal was not met
            return math.nan
        return found.values.get(goal.metric, math.nan)

    def _planned(
        self, root: Path, circuit: Path, goal: DesignGoal, state: State, texts: Mapping[str, bytes]
    ) -> tuple[StudyPlan, StudyMeasures]:
        with self._opened(root) as project:
            contents = {
                project.root / place: texts[place] if place in texts else content_of(project, place, digest)
                for place, digest in state.items()
                if digest != ABSENT
            }
        spec = read_study_spec({"measure": {goal.metric: goal.expression or goal.metric}})
        prepared, _ = without_own_steps(self._prepared(WithTexts(self.sources, contents), circuit))
        measures, _, _ = study_measures(spec, prepared)
        return StudyPlan(prepared, spec, parameters=(), corners=()), measures

    def _prepared(self, sources: SourceReaders, circuit: Path) -> PreparedCircuit:
        return prepare_for_study(
            sources,
            circuit,
            read_study_spec({}),
            libraries=(),
            user_libraries=self.libraries(),
            settings=self.settings.of_circuit(circuit),
            dialect=None,
            needs_analysis=False,
        )

    # ---- the answer ------------------------------------------------------------------------------

    def _changes(self, root: Path, edit: Edit) -> list[_Change]:
        with self._opened(root) as project:
            return [
                _Change(place=place, before=before, after=after)
                for place in edit.changed
                for before, after in parts_of(*texts_of(project, edit, place))
            ]

    def _culprit(
        self,
        root: Path,
        edit: Edit,
        goal: DesignGoal,
        values: tuple[float, float],
        counts: tuple[int, int],
        *,
        part: _Change | None,
    ) -> Culprit:
        place = edit.changed[0] if part is None else part.place
        with self._opened(root) as project:
            before, after = texts_of(project, edit, place) if part is None else (part.before, part.after)
        line, was, became = first_change(before, after)
        texts = {} if part is None else {place: (part.before, part.after)}
        return Culprit(
            edit=edit, goal=goal, value_before=values[0], value_after=values[1],
            line=line, was=was, became=became, place=place, runs=counts[0], states=counts[1], texts=texts,
        )  # fmt: skip


async def _narrowed(
    goal: DesignGoal,
    edit: Edit,
    changes: Sequence[_Change],
    ends: tuple[float, float],
    value_of: Callable[[State, Mapping[str, bytes]], Awaitable[float]],
) -> tuple[_Change | None, tuple[float, float], int]:
    """The change of an edit with which the goal is lost when they are made one by one, the goal's figures
    before and after it, and the number of runs. None: with some of them alone it cannot be measured."""
    values = {0: ends[0], len(changes): ends[1]}

    async def value_at(count: int) -> float:
        if count not in values:
            texts = {each.place: each.after for each in changes[:count]}
            state = {**edit.before, **{place: edit.after[place] for place in texts}}
            values[count] = await value_of(state, texts)
        return values[count]

    found = await _first_missed(goal, len(changes) + 1, value_at)
    looked = len(values) - 2
    if found is None or (math.isnan(values[found]) and not math.isnan(ends[1])):
        return None, ends, looked
    return changes[found - 1], (values[found - 1], values[found]), looked


async def _first_missed(
    goal: DesignGoal, count: int, value_at: Callable[[int], Awaitable[float]]
) -> int | None:
    """The first of `count` states since which the goal is missed, as it is in the last one; None where none
    of those looked at meets it."""
    search = first_bad(count)
    try:
        place = next(search)
        while True:
            place = search.send(goal.is_met_by(await value_at(place)))
    except StopIteration as end:
        found: int | None = end.value
        return found


def texts_of(project: ProjectFiles, edit: Edit, place: str) -> tuple[bytes, bytes]:
    """A file before and after an edit."""
    before, after = (
        content_of(project, place, each.get(place, ABSENT)) for each in (edit.before, edit.after)
    )
    return before, after


def _readable(project: ProjectFiles, edits: Sequence[Edit], now: State) -> tuple[Edit, ...]:
    """The newest edits back to one whose texts are not kept any more, or did not exist."""
    known = set(now.items())
    found: list[Edit] = []
    for edit in reversed(edits):
        wanted = [item for item in edit.before.items() if item not in known]
        try:
            for place, digest in wanted:
                content_of(project, place, digest)
        except CircuitAIError:
            break
        if any(digest == ABSENT for _, digest in wanted):
            break
        known.update(wanted)
        found.append(edit)
    return tuple(reversed(found))


def _is_kept(project: ProjectFiles, place: str, digest: str) -> bool:
    try:
        content_of(project, place, digest)
    except CircuitAIError:
        return False
    return True


def content_of(project: ProjectFiles, place: str, digest: str) -> bytes:
    """A file's content by its hash: stored, or as it is now. Raises EnvironmentProblem when it is lost."""
    if digest == ABSENT:
        return b""
    try:
        return project.read_object(digest)
    except CircuitAIError:
        now = project.read(project.root / place)
        if digest_of(now) != digest:
            raise
        return now


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
