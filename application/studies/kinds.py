"""What each kind of study simulates, and what it makes of it.

Each kind chooses its parameters and corners, then asks for runs (once, or more often when the next runs
depend on the last) and reads their rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from application.simulation.prepared_circuit import PreparedCircuit
from application.studies.hunting import NOMINAL_LABEL, bounds_at, hunt
from application.studies.input import Runs, StudyInput
from application.studies.mapping import judge_map, mapped, simulate_map
from application.studies.plan import Point, StudyPlan, usual_parameters
from domain.simulation.goals import DesignGoal
from domain.studies.assumptions import assumptions
from domain.studies.corners import Corner, usual_corners
from domain.studies.sampling import draw, sweep_grid
from domain.studies.sensitivity import Sensitivity, moved_values, ranked, sensitivity_of, tolerance_of
from domain.studies.spec_reader import spec_error
from domain.studies.statistics import MetricStatistics, Yield, metric_statistics, yield_of
from domain.studies.study import CornerSpan, StudyRow
from domain.studies.study_goals import goal_name
from domain.studies.study_spec import StudyKind, StudyParameter, StudySpec
from domain.studies.worst_case import Extreme, WorstCase, extreme_points, worst_case_of
from shared.message import msg

_RANDOM = re.compile(r"\b(?:a?gauss|a?unif)\s*\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a kind of study looks at of a specification."""

    parameters: Sequence[StudyParameter]
    corners: Sequence[Corner]


Findings = Mapping[str, Any]
"""Fields of `StudyResult` beside the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of study."""

    choose: Callable[[StudySpec, PreparedCircuit], Choice]
    """Raises UserInputError when the specification has nothing for it."""
    simulate: Callable[[StudyInput, Runs], Awaitable[object]]
    judge: Callable[[StudyInput, Sequence[StudyRow], Mapping[str, str]], Findings]
    """From the rows (of a stopped study: those that were done) and the metrics' units. CPU work."""
    has_nominal_beside: bool = False
    """It also simulates the circuit as written, which is none of its rows."""


# ---- sweep and Monte Carlo ---------------------------------------------------------------------------


def corners_too(spec: StudySpec, prepared: PreparedCircuit) -> Sequence[Corner]:
    """The corners at which every point is done; none unless it is asked for."""
    return (spec.corners.corners or usual_corners(prepared.tree)) if spec.at_corners else ()


def _choose_sweep(spec: StudySpec, prepared: PreparedCircuit) -> Choice:
    swept = [parameter for parameter in spec.parameters if parameter.is_swept]
    if not swept:
        raise spec_error(
            "parameters",
            msg("contain nothing to sweep"),
            advice=msg("Add {example}.",
                       example='{"name": "R1", "min": "1k", "max": "10k", "points": 10}'),
        )  # fmt: skip
    return Choice(parameters=swept, corners=corners_too(spec, prepared))


async def _sweep(study: StudyInput, runs: Runs) -> object:
    names = [parameter.name for parameter in study.plan.parameters]
    grid = sweep_grid(study.plan.parameters)
    return await runs.do([
        Point(values=dict(zip(names, values, strict=True)), corner=corner)
        for corner in study.plan.corners
        for values in grid
    ])  # fmt: skip


def _choose_monte_carlo(spec: StudySpec, prepared: PreparedCircuit) -> Choice:
    scattering = [parameter for parameter in spec.parameters if parameter.spread is not None]
    if not scattering and not _draws_itself(prepared):
        raise spec_error(
            "parameters",
            msg("contain no parameter with a spread"),
            advice=msg("Add {example}.", example='{"name": "R1", "tolerance": 0.01}'),
        )
    return Choice(parameters=scattering, corners=corners_too(spec, prepared))


def _draws_itself(prepared: PreparedCircuit) -> bool:
    """Whether the circuit's own values are drawn at random (`.param r=agauss(1k, 50, 1)`)."""
    return any(_RANDOM.search(item.statement.raw) for item in prepared.tree.expanded)


async def _monte_carlo(study: StudyInput, runs: Runs) -> object:
    spec, plan = study.spec, study.plan
    points: list[Point] = []
    for corner in plan.corners:
        drawn = draw(
            plan.parameters, plan.nominals(corner), runs=spec.runs, seed=spec.seed, sampling=spec.sampling
        )
        columns = {name: column.tolist() for name, column in drawn.items()}
        points += [
            Point(values={name: column[number] for name, column in columns.items()}, corner=corner)
            for number in range(spec.runs)
        ]
    return await runs.do([*points, Point(values={}, corner=plan.corners[0], label=NOMINAL_LABEL)])


def _judge_points(study: StudyInput, rows: Sequence[StudyRow], units: Mapping[str, str]) -> Findings:
    """Statistics, and the yield of each goal and of all."""
    nominal = next((row for row in rows if row.label == NOMINAL_LABEL), None)
    points = [row for row in rows if row is not nominal]
    found: dict[str, Any] = {"nominal": nominal, "statistics": _statistics(study, points, units)}
    if study.spec.at_corners:
        found["statistics_by_corner"] = {
            corner: _statistics(study, list(group), units)
            for corner, group in groupby(points, key=lambda row: row.corner or "")
        }
    if study.goals:
        found["yields"] = _yields(study.goals, points)
        found["total_yield"] = yield_of([bool(row.goals_met) for row in points])
    return found


def _judge_monte_carlo(study: StudyInput, rows: Sequence[StudyRow], units: Mapping[str, str]) -> Findings:
    found = {**_judge_points(study, rows, units), "assumed": assumptions(study.plan.parameters)}
    wanted, reached = study.spec.yield_target, found.get("total_yield")
    if wanted is not None and isinstance(reached, Yield):
        found["goals_met"] = reached.value >= wanted
    return found


def _statistics(
    study: StudyInput, rows: Sequence[StudyRow], units: Mapping[str, str]
) -> dict[str, MetricStatistics]:
    if not rows:
        return {}
    goals = _bounds_by_metric(study.goals)
    names = [name for name in rows[0].parameters if all(name in row.parameters for row in rows)]
    columns = {name: np.array([row.parameters[name] for row in rows]) for name in names}
    numbers = [row.run for row in rows]
    return {
        metric: metric_statistics(
            np.array([row.metrics.get(metric, math.nan) for row in rows]),
            numbers,
            unit=units.get(metric, ""),
            goal=goals.get(metric),
            parameters=columns,
        )
        for metric in study.metrics
    }


def _bounds_by_metric(goals: Sequence[DesignGoal]) -> dict[str, DesignGoal]:
    """One goal a metric, with the tightest bounds of those it has."""
    found: dict[str, DesignGoal] = {}
    for goal in goals:
        other = found.get(goal.metric, goal)
        lows = [bound for bound in (goal.minimum, other.minimum) if bound is not None]
        highs = [bound for bound in (goal.maximum, other.maximum) if bound is not None]
        found[goal.metric] = replace(goal, minimum=max(lows, default=None), maximum=min(highs, default=None))
    return found


def _yields(goals: Sequence[DesignGoal], rows: Sequence[StudyRow]) -> dict[str, Yield]:
    return {
        goal_name(goal): yield_of([goal.is_met_by(row.metrics.get(goal.metric, math.nan)) for row in rows])
        for goal in goals
    }


# ---- corners -----------------------------------------------------------------------------------------


def _choose_corners(spec: StudySpec, prepared: PreparedCircuit) -> Choice:
    return Choice(parameters=(), corners=spec.corners.corners or usual_corners(prepared.tree))


async def _corners(study: StudyInput, runs: Runs) -> object:
    return await runs.do([Point(values={}, corner=corner) for corner in study.plan.corners])


def _judge_corners(study: StudyInput, rows: Sequence[StudyRow], units: Mapping[str, str]) -> Findings:
    found: dict[str, Any] = {
        "statistics": _statistics(study, rows, units),
        "corners": {metric: _span(metric, rows, units, study.goals) for metric in study.metrics},
    }
    if study.goals:
        found["goals_met"] = all(row.goals_met for row in rows)
    return found


def _span(
    metric: str, rows: Sequence[StudyRow], units: Mapping[str, str], goals: Sequence[DesignGoal]
) -> CornerSpan | None:
    good = [row for row in rows if math.isfinite(row.metrics.get(metric, math.nan))]
    if not good:
        return None
    low, high = (choose(good, key=lambda row: row.metrics[metric]) for choose in (min, max))
    own = [goal for goal in goals if goal.metric == metric]
    worst = (
        min(good, key=lambda row: min(_margin(goal, row.metrics[metric]) for goal in own)) if own else None
    )
    return CornerSpan(
        unit=units.get(metric, ""),
        minimum=low.metrics[metric],
        minimum_corner=low.corner or "",
        maximum=high.metrics[metric],
        maximum_corner=high.corner or "",
        worst_corner=worst.corner if worst is not None else None,
    )


def _margin(goal: DesignGoal, value: float) -> float:
    """How far inside its nearest bound a value is; negative outside."""
    low = value - goal.minimum if goal.minimum is not None else math.inf
    high = goal.maximum - value if goal.maximum is not None else math.inf
    return min(low, high)


# ---- worst case --------------------------------------------------------------------------------------


def _choose_worst_case(spec: StudySpec, prepared: PreparedCircuit) -> Choice:
    bounded = [item for item in spec.parameters if item.spread is not None or item.is_swept]
    if not bounded:
        raise spec_error(
            "parameters",
            msg("contain no parameter with a tolerance"),
            advice=msg("Add {example}.", example='{"name": "R1", "tolerance": 0.01}'),
        )
    corners = corners_too(spec, prepared) if spec.method == "search" else ()
    return Choice(parameters=bounded, corners=corners)


async def _worst_case(study: StudyInput, runs: Runs) -> object:
    plan = study.plan
    if study.spec.method == "search":
        return await hunt(study, runs)
    bounds = bounds_at(plan, plan.corners[0])
    rows = await runs.do(_one_at_a_time(plan, bounds))
    if study.spec.method == "rss":
        return rows
    ends = {metric: _ends(rows, list(bounds), metric) for metric in study.metrics}
    return await runs.do([
        Point(values=values, corner=plan.corners[0], label="extreme")
        for values in extreme_points(bounds, ends)
    ])  # fmt: skip


def _one_at_a_time(plan: StudyPlan, ends: Mapping[str, tuple[float, float]]) -> list[Point]:
    """The nominal circuit, then each parameter at its low and its high end."""
    corner = plan.corners[0]
    nominals = plan.nominals(corner)
    moved = [
        Point(values={**nominals, name: value}, corner=corner, label=f"{name} {sign}")
        for name, pair in ends.items()
        for sign, value in zip("-+", pair, strict=True)
    ]
    return [Point(values=nominals, corner=corner, label=NOMINAL_LABEL), *moved]


def _ends(rows: Sequence[StudyRow], names: Sequence[str], metric: str) -> dict[str, tuple[float, float]]:
    """A metric at the two ends of each parameter."""
    by_label = {row.label: row.metrics.get(metric, math.nan) for row in rows}
    return {
        name: (by_label.get(f"{name} -", math.nan), by_label.get(f"{name} +", math.nan)) for name in names
    }


def _judge_worst_case(study: StudyInput, rows: Sequence[StudyRow], units: Mapping[str, str]) -> Findings:
    names = [item.name for item in study.plan.parameters]
    nominal = next((row for row in rows if row.label == NOMINAL_LABEL), None)
    wants_eva, wants_rss = study.spec.method != "rss", study.spec.method in ("rss", "both")
    cases: dict[str, WorstCase] = {}
    for metric in study.metrics:
        found = worst_case_of(
            unit=units.get(metric, ""),
            nominal=nominal.metrics.get(metric, math.nan) if nominal is not None else math.nan,
            ends=_ends(rows, names, metric),
            candidates=_extremes(rows, metric) if wants_eva else None,
        )
        cases[metric] = found if wants_rss else replace(found, rss=(math.nan, math.nan))
    assumed = assumptions(study.plan.parameters, ends_only=True)
    findings: dict[str, Any] = {"nominal": nominal, "worst_cases": cases, "assumed": assumed}
    if study.spec.method == "search" and study.goals:
        # A case that gives no figure fails, too.
        findings["goals_met"] = all(row.goals_met is not False for row in rows)
    elif study.goals:
        findings["goals_met"] = all(_holds(goal, cases[goal.metric]) for goal in study.goals)
    return findings


def _extremes(rows: Sequence[StudyRow], metric: str) -> list[Extreme]:
    """Every run counts: with a few parameters moved alone a metric may already be at its extreme."""
    return [
        Extreme(value=row.metrics.get(metric, math.nan), run=row.run, parameters=row.parameters)
        for row in rows
    ]


def _holds(goal: DesignGoal, case: WorstCase) -> bool:
    if goal.weight == "wish":
        return True
    if case.minimum is None or case.maximum is None:
        return all(goal.is_met_by(value) for value in case.rss)
    return goal.is_met_by(case.minimum.value) and goal.is_met_by(case.maximum.value)


# ---- sensitivity -------------------------------------------------------------------------------------


def _choose_sensitivity(spec: StudySpec, prepared: PreparedCircuit) -> Choice:
    return Choice(parameters=spec.parameters or usual_parameters(prepared), corners=())


async def _sensitivity(study: StudyInput, runs: Runs) -> object:
    return await runs.do(_one_at_a_time(study.plan, _moved(study)))


def _moved(study: StudyInput) -> dict[str, tuple[float, float]]:
    nominals = study.plan.nominals(study.plan.corners[0])
    return {
        item.name: moved_values(item, nominals[item.name], study.spec.perturbation)
        for item in study.plan.parameters
    }


def _judge_sensitivity(study: StudyInput, rows: Sequence[StudyRow], _: Mapping[str, str]) -> Findings:
    nominal = next((row for row in rows if row.label == NOMINAL_LABEL), None)
    if nominal is None:
        return {}
    nominals, moved = study.plan.nominals(study.plan.corners[0]), _moved(study)
    found: dict[str, tuple[Sensitivity, ...]] = {}
    for metric in study.metrics:
        ends = _ends(rows, list(moved), metric)
        found[metric] = ranked(
            sensitivity_of(
                item.name,
                nominals[item.name],
                ((moved[item.name][0], ends[item.name][0]), (moved[item.name][1], ends[item.name][1])),
                metric=nominal.metrics.get(metric, math.nan),
                tolerance=tolerance_of(item, nominals[item.name]),
            )
            for item in study.plan.parameters
        )
    assumed = assumptions(study.plan.parameters, ends_only=True)
    return {"nominal": nominal, "sensitivities": found, "assumed": assumed}


def _choose_map(spec: StudySpec, prepared: PreparedCircuit) -> Choice:
    return Choice(parameters=mapped(spec, prepared), corners=())


KINDS: Mapping[StudyKind, Kind] = {
    "sweep": Kind(choose=_choose_sweep, simulate=_sweep, judge=_judge_points),
    "montecarlo": Kind(
        choose=_choose_monte_carlo, simulate=_monte_carlo, judge=_judge_monte_carlo, has_nominal_beside=True
    ),
    "corners": Kind(choose=_choose_corners, simulate=_corners, judge=_judge_corners),
    "worst-case": Kind(choose=_choose_worst_case, simulate=_worst_case, judge=_judge_worst_case),
    "sensitivity": Kind(choose=_choose_sensitivity, simulate=_sensitivity, judge=_judge_sensitivity),
    "map": Kind(choose=_choose_map, simulate=simulate_map, judge=judge_map, has_nominal_beside=True),
}
