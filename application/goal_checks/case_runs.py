"""The kept cases of a circuit simulated beside a run of it: which of its goals each of them misses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.design.circuit_goals import place_in, read_goals
from application.goal_checks.goal_now import GoalNow, measured_as
from application.simulation.simulating import SimulationRequest
from application.studies.measures import study_measures
from application.studies.plan import Point, StudyPlan
from application.studies.studying import prepare_for_study, without_own_steps
from domain.simulation.batch import Batch
from domain.simulation.goal_conditions import AS_IT_IS, runs_of
from domain.simulation.goals import DesignGoal
from domain.studies.named_case import MOST_CASES, NamedCase, case_from_plain
from domain.studies.study_spec import read_study_spec
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.project import ProjectFiles, Projects
    from application.ports.simulation import BatchSimulator, SimulatorSettingsStore, SourceReaders
    from application.simulation.prepared_circuit import PreparedCircuit
    from application.studies.measures import StudyMeasures
    from domain.simulation.batch import RunOutcome
    from domain.studies.study_spec import StudySpec


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRun:
    """One case, and how the goals stand in it."""

    case: NamedCase
    goals: tuple[GoalNow, ...] = ()
    """Those without a condition of their own."""
    problem: Message | None = None
    """Why nothing of it could be judged."""

    @property
    def judged(self) -> tuple[GoalNow, ...]:
        return tuple(each for each in self.goals if each.is_met is not None)

    @property
    def missed(self) -> tuple[GoalNow, ...]:
        return tuple(each for each in self.goals if each.is_met is False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunCases:
    """The use case. Cancelled it ends its worker at once."""

    projects: Projects
    batch: BatchSimulator
    sources: SourceReaders
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]] = tuple

    async def __call__(self, root: Path | None, request: SimulationRequest) -> tuple[CaseRun, ...]:
        """Simulate every case of the circuit of `request`, with the request's own values and analysis.

        One run each, in one worker. () where none is kept; a case that does not simulate says so. Raises
        UserInputError for a circuit that cannot be read, EnvironmentProblem without a simulator.
        """
        cases, goals = await off_loop(self._asked, root, request.circuit)
        if not cases:
            return ()
        if not goals:
            nothing = msg("the circuit has no goal that holds without a condition")
            return tuple(CaseRun(case=each, problem=nothing) for each in cases)
        try:
            plan, measures, problems = await off_loop(self._planned, request, cases, goals)
        except UserInputError as error:
            return tuple(CaseRun(case=each, problem=error.message) for each in cases)
        planned = [each for each in cases if each.name not in problems]
        points = [Point(values={}, corner=corner) for corner in plan.corners]
        runs = tuple(plan.run(number, point) for number, point in enumerate(points[: len(planned)]))
        batch = Batch(
            circuits=plan.circuits, runs=runs, signals=measures.signals, timeout_s=request.timeout_s
        )
        outcomes: dict[int, RunOutcome] = {}
        if runs:
            async for outcome in self.batch.run(batch, workers=1):
                outcomes[outcome.run_id] = outcome
        found: dict[str, CaseRun] = {}
        for number, case in enumerate(planned):
            settings = plan.settings(points[number])
            found[case.name] = await off_loop(
                _judged, case, goals, measures, outcomes[number], settings
            )  # fmt: skip
        return tuple(
            found.get(each.name) or CaseRun(case=each, problem=problems[each.name]) for each in cases
        )

    async def values_of(self, circuit: Path, case: NamedCase) -> Mapping[str, float]:
        """What is set in a case, by name, with the circuit as it is now. Raises UserInputError."""
        return await off_loop(self._values_of, circuit, case)

    def _values_of(self, circuit: Path, case: NamedCase) -> Mapping[str, float]:
        spec = read_study_spec({})
        plan = _plan(self._prepared(SimulationRequest(circuit=circuit), spec), spec, [case])
        return plan.changed(Point(values={}, corner=plan.corners[0]))

    def _asked(
        self, root: Path | None, circuit: Path
    ) -> tuple[tuple[NamedCase, ...], tuple[DesignGoal, ...]]:
        if root is None:
            return (), ()
        try:
            project = self.projects.open(root)
        except CircuitAIError:  # a folder that is no project: nothing is kept there
            return (), ()
        try:
            cases = cases_of(project, circuit)
            goals = read_goals(project, place_in(project.root, circuit.resolve())).goals if cases else ()
        finally:
            project.close()
        return cases, tuple(goal for goal in goals if runs_of(goal) == (AS_IT_IS,))

    def _planned(
        self, request: SimulationRequest, cases: Sequence[NamedCase], goals: Sequence[DesignGoal]
    ) -> tuple[StudyPlan, StudyMeasures, Mapping[str, Message]]:
        """The runs of all cases the circuit has the quantities of, and why it has not those of the others."""
        spec = read_study_spec({
            "analysis": request.analysis,
            "set": dict(request.assignments),
            "measure": {measured_as(goal): measured_as(goal) for goal in goals},
        })  # fmt: skip
        prepared = self._prepared(request, spec)
        measures, _, _ = study_measures(spec, prepared)
        problems: dict[str, Message] = {}
        try:
            return _plan(prepared, spec, cases), measures, problems
        except UserInputError as error:
            if len(cases) == 1:
                problems[cases[0].name] = error.message
        for case in cases:
            try:
                _plan(prepared, spec, [case])
            except UserInputError as error:
                problems[case.name] = error.message
        good = [each for each in cases if each.name not in problems]
        return _plan(prepared, spec, good), measures, problems

    def _prepared(self, request: SimulationRequest, spec: StudySpec) -> PreparedCircuit:
        asked = prepare_for_study(
            self.sources,
            request.circuit,
            spec,
            libraries=request.libraries,
            user_libraries=self.libraries(),
            settings=self.settings.of_circuit(request.circuit),
            dialect=request.dialect,
        )
        return without_own_steps(asked)[0]


def cases_of(project: ProjectFiles, circuit: Path) -> tuple[NamedCase, ...]:
    """The cases of a circuit that can be understood. Blocking, never raises."""
    stored = read_goals(project, place_in(project.root, circuit.resolve())).cases
    found = [case for item in stored[:MOST_CASES] if (case := case_from_plain(item)) is not None]
    return tuple({each.name.casefold(): each for each in found}.values())


def _plan(prepared: PreparedCircuit, spec: StudySpec, cases: Sequence[NamedCase]) -> StudyPlan:
    return StudyPlan(prepared, spec, parameters=(), corners=[each.corner for each in cases])


def _judged(
    case: NamedCase,
    goals: Sequence[DesignGoal],
    measures: StudyMeasures,
    outcome: RunOutcome,
    settings: Mapping[str, float],
) -> CaseRun:
    if outcome.state != "ok":
        reason = next((each.message for each in outcome.issues if each.severity == "error"), None)
        return CaseRun(case=case, problem=reason or msg("it did not simulate"))
    values, problems = measures.of_each(outcome.plots, settings)
    found = []
    for goal in goals:
        key = measured_as(goal)
        value = values.get(key, values.get(key.lower(), math.nan))
        reason = problems.get(key) if math.isnan(value) else None
        found.append(GoalNow(goal=goal, value=value, is_met=goal.is_met_by(value), reason=reason))
    return CaseRun(case=case, goals=tuple(found))
