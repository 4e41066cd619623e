"""A circuit simulated on a worker that nobody keeps: as it is, and once for each condition of its goals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from application.goal_checks.goal_now import GoalNow, measured_as
from application.studies.measures import StudyMeasures, study_measures
from application.studies.plan import Point, StudyPlan
from domain.circuit.numbers import parse_number
from domain.simulation.goal_conditions import AS_IT_IS, Settings, corner_in, runs_of
from domain.simulation.result import Quantity
from domain.studies.study_spec import read_study_spec
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import BatchSimulator
    from application.simulation.prepared_circuit import PreparedCircuit
    from domain.simulation.goals import DesignGoal
    from domain.simulation.waveform import Plot

TOO_SLOW = "run_too_slow"
"""The kind of the error of a first run that did not end in its time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedRuns:
    """What they gave."""

    goals: tuple[GoalNow, ...]
    """In the order in which they were asked."""
    plots: tuple[Plot, ...] = ()
    """Of the run as it is, with the vectors that were wanted; () where no goal needs it."""
    figures: Mapping[str, Quantity] = field(default_factory=dict)
    """Without goals: the circuit's own `.meas` cards, as far as they could be had."""
    run_s: float = 0.0
    """How long the longest run took."""


async def judged_runs(
    batch: BatchSimulator,
    prepared: PreparedCircuit,
    goals: Sequence[DesignGoal],
    *,
    timeout_s: float,
    is_whole: bool = False,
) -> JudgedRuns:
    """Simulate, each run for at most `timeout_s`; cancelled the worker ends at once.

    `is_whole`: a run of the circuit as it is comes first, whatever the goals need, with all vectors. Raises
    UserInputError for a circuit that does not simulate (`TOO_SLOW`: the first run did not end in its time),
    CircuitError for one that does not load, EnvironmentProblem without a simulator.
    """
    runs = {goal: _settable(goal) for goal in goals}
    asked = [each for found in runs.values() for each in found]
    wanted = list(dict.fromkeys([AS_IT_IS, *asked] if is_whole else asked))
    if not wanted:
        return JudgedRuns(goals=tuple(_not_judged(goal) for goal in goals))
    try:
        plan, measures = await off_loop(_planned, prepared, goals, wanted)
    except UserInputError:
        if wanted == [AS_IT_IS]:
            raise
        # A quantity of a condition is not in the circuit: what holds without conditions is judged.
        wanted = [AS_IT_IS]
        plan, measures = await off_loop(_planned, prepared, goals, wanted)
    values: dict[Settings, Mapping[str, float]] = {}
    problems: dict[str, Message] = {}
    figures: Mapping[str, Quantity] = {}
    plots: tuple[Plot, ...] = ()
    longest = 0.0
    async with batch.live(plan.circuits[0]) as live:
        for settings in wanted:
            run = plan.run(0, Point(values={name: parse_number(text) for name, text in settings}))
            signals = None if is_whole and settings == AS_IT_IS else measures.signals
            outcome = await live.evaluate(run.values, signals=signals, timeout_s=timeout_s)
            longest = max(longest, outcome.duration_s)
            if outcome.state == "ok":
                measured = await off_loop(measures.of_each, outcome.plots, {})
                values[settings] = measured[0]
                problems.update(measured[1])
                if settings == AS_IT_IS:
                    plots = outcome.plots
                if not goals:
                    figures = await off_loop(_figures, measures, outcome.plots)
            elif is_whole and settings == AS_IT_IS:
                break
    if not values:
        text = msg("The circuit did not simulate within {seconds} s.", seconds=f"{timeout_s:g}")
        raise UserInputError(
            next((each.message for each in outcome.issues if each.severity == "error"), text),
            file=prepared.circuit,
            error_type=TOO_SLOW if outcome.state == "timeout" else None,
        )
    return JudgedRuns(
        goals=tuple(_verdict(goal, runs[goal], values, problems) for goal in goals),
        plots=plots,
        figures=figures,
        run_s=longest,
    )


def _figures(measures: StudyMeasures, plots: Sequence[Plot]) -> dict[str, Quantity]:
    found = measures.of(plots, {})
    return {
        name: Quantity(value=value, unit=found.units.get(name, ""))
        for name, value in found.values.items()
        if not math.isnan(value)
    }


def _settable(goal: DesignGoal) -> tuple[Settings, ...]:
    """The runs in which a goal has to hold, () where one needs other devices or cannot be set at all."""
    runs = runs_of(goal)
    return () if runs is None or any(corner_in(each) for each in runs) else runs


def _planned(
    prepared: PreparedCircuit, goals: Sequence[DesignGoal], wanted: Sequence[Settings]
) -> tuple[StudyPlan, StudyMeasures]:
    names = dict.fromkeys(name for settings in wanted for name, _ in settings)
    document: dict[str, object] = {"parameters": [{"name": name} for name in names]}
    if goals:
        document["measure"] = {measured_as(goal): goal.expression or goal.metric for goal in goals}
    spec = read_study_spec(document)
    if goals or prepared.measures():
        measures, _, _ = study_measures(spec, prepared)
    else:
        measures = StudyMeasures(expressions={}, cards=())
    return StudyPlan(prepared, spec, parameters=spec.parameters, corners=()), measures


def _verdict(
    goal: DesignGoal,
    runs: Sequence[Settings],
    values: Mapping[Settings, Mapping[str, float]],
    problems: Mapping[str, Message],
) -> GoalNow:
    if not runs or any(settings not in values for settings in runs):
        return _not_judged(goal)
    key = measured_as(goal)
    found = [values[settings].get(key, values[settings].get(key.lower(), math.nan)) for settings in runs]
    worst = max(found, key=lambda value: math.inf if math.isnan(value) else goal.excess(value))
    reason = problems.get(key) if math.isnan(worst) else None
    return GoalNow(goal=goal, value=worst, is_met=goal.is_met_by(worst), reason=reason)


def _not_judged(goal: DesignGoal) -> GoalNow:
    return GoalNow(
        goal=goal,
        reason=msg("Its condition ({condition}) needs a run of its own.", condition=goal.condition),
    )
