"""The case that fails, found by runs: the worst of each goal over tolerances, ranges and corners."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from application.studies.input import Runs, StudyInput
from application.studies.plan import Point, StudyPlan
from domain.simulation.goals import DesignGoal
from domain.studies.corners import Corner
from domain.studies.study import StudyRow
from domain.studies.worst_case import bounds_of
from domain.studies.worst_search import Case, at, search_worst

NOMINAL_LABEL = "nominal"
_SEARCHED = "search"

Badness = Callable[[StudyRow], float]
"""The larger the worse; infinite for a run that fails."""


def bounds_at(plan: StudyPlan, corner: Corner) -> dict[str, tuple[float, float]]:
    """The ends of every parameter at a corner."""
    nominals = plan.nominals(corner)
    return {item.name: bounds_of(item, nominals[item.name]) for item in plan.parameters}


@dataclass(frozen=True, slots=True)
class _Place:
    """A corner, and where the parameters lie there."""

    corner: Corner
    nominals: Mapping[str, float]
    bounds: Mapping[str, tuple[float, float]]


async def hunt(study: StudyInput, runs: Runs) -> list[StudyRow]:
    """Search for the worst case of each goal; of a metric without one for its least and its greatest value.

    What one search has simulated the others know.
    """
    plan = study.plan
    places = [_Place(corner, plan.nominals(corner), bounds_at(plan, corner)) for corner in plan.corners]
    known: dict[Case, StudyRow] = {}
    for badness in _wanted(study):
        search = search_worst(len(plan.parameters), len(places))
        try:
            cases = next(search)
            while True:
                new = [case for case in cases if case not in known]
                rows = await runs.do([_point(case, places[case[0]]) for case in new]) if new else []
                known.update(zip(new, rows, strict=True))
                cases = search.send([badness(known[case]) for case in cases])
        except StopIteration:
            continue
    return list(known.values())


def _point(case: Case, place: _Place) -> Point:
    values = at(case, place.nominals, place.bounds)
    return Point(values=values, corner=place.corner, label=_label(case, list(place.bounds)))


def _label(case: Case, names: list[str]) -> str:
    """``nominal``; ``R1 -`` where one parameter alone is at an end: these tell its effect."""
    corner, shares = case
    moved = [(name, share) for name, share in zip(names, shares, strict=True) if share]
    if corner == 0 and not moved:
        return NOMINAL_LABEL
    if corner == 0 and len(moved) == 1 and abs(moved[0][1]) == 1:
        return f"{moved[0][0]} {'+' if moved[0][1] > 0 else '-'}"
    return _SEARCHED


def _wanted(study: StudyInput) -> Iterator[Badness]:
    with_goals = set()
    for goal in study.goals:
        for one in (replace(goal, maximum=None), replace(goal, minimum=None)):
            if one.minimum is not None or one.maximum is not None:
                with_goals.add(goal.metric)
                yield _beyond(one)
    for metric in study.metrics:
        if metric not in with_goals:
            yield _farthest(metric, 1.0)
            yield _farthest(metric, -1.0)


def _beyond(goal: DesignGoal) -> Badness:
    def bad(row: StudyRow) -> float:
        value = row.metrics.get(goal.metric, math.nan)
        return math.inf if math.isnan(value) else goal.excess(value)

    return bad


def _farthest(metric: str, sign: float) -> Badness:
    def bad(row: StudyRow) -> float:
        value = sign * row.metrics.get(metric, math.nan)
        return -math.inf if math.isnan(value) else value

    return bad
