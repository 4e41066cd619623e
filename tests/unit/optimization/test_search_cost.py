"""What a point costs: failures, goals, wishes, objectives, corners."""

from __future__ import annotations

import math
from typing import Any

import pytest

from domain.simulation.batch import RunState
from domain.simulation.goals import DesignGoal
from domain.studies.search_cost import CostFunction, scales_of
from domain.studies.search_spec import Objective
from domain.studies.study import StudyRow
from domain.studies.study_spec import read_study_spec
from shared.errors import UserInputError


def row(state: RunState = "ok", **metrics: float) -> StudyRow:
    return StudyRow(run=0, parameters={}, metrics=metrics, state=state)


def goals(*texts: Any) -> tuple[DesignGoal, ...]:
    return read_study_spec({"goals": list(texts)}).goals


def test_meeting_is_free_and_missing_costs_more_the_further_away() -> None:
    cost = CostFunction(goals=goals("bw >= 1Meg"))
    assert cost([row(bw=1e6)]) == (0, 0, 0)
    costs = [cost([row(bw=value)]).violation for value in (1e6, 9e5, 1e5, 0, -1e6, -math.inf, math.nan)]
    assert costs == sorted(costs)
    assert costs[1] == pytest.approx(0.1 / 1.1)
    assert costs[-1] == 1


def test_a_failed_run_is_worse_than_any_other() -> None:
    cost = CostFunction(goals=goals("a >= 1"))
    assert cost([row("crashed", a=5)]) > cost([row(a=-1e9)])


def test_a_wish_does_not_stand_in_the_way_of_a_must() -> None:
    cost = CostFunction(goals=goals("a >= 1", {"metric": "b", "<=": 1, "weight": "wish"}))
    assert cost([row(a=1, b=1e6)]) < cost([row(a=0.999, b=0)])
    assert cost([row(a=1, b=1e6)]).meets_goals
    assert not cost.is_perfect(cost([row(a=1, b=1e6)]))
    assert cost.is_perfect(cost([row(a=1, b=1)]))


def test_the_worst_corner_counts() -> None:
    cost = CostFunction(goals=goals("a >= 1", "a <= 2"))
    assert cost([row(a=1.5), row(a=1.5)]).meets_goals
    one_off = cost([row(a=1.5), row(a=0.5)])
    assert one_off.violation == pytest.approx(0.5 / 1.5)
    assert cost([row(a=2.5), row(a=0.5)]).violation > one_off.violation


def test_objectives_are_measured_by_their_value_at_the_start() -> None:
    objectives = (Objective(metric="p"), Objective(metric="bw", maximize=True, weight=2))
    scales = scales_of(objectives, row(p=0.01, bw=1e6))
    cost = CostFunction(goals=(), objectives=objectives, scales=scales)
    assert cost([row(p=0.01, bw=1e6)]).rest == pytest.approx(1 - 2)
    assert cost([row(p=0.005, bw=2e6)]).rest == pytest.approx(0.5 - 4)
    assert cost([row(p=0.01, bw=math.nan)]).rest == math.inf
    assert not cost.is_perfect(cost([row(p=0, bw=1)]))
    assert scales_of(objectives, row(p=0.0, bw=math.nan)) == {"p": 1, "bw": 1}


def test_a_target_with_a_tolerance() -> None:
    cost = CostFunction(goals=goals({"metric": "f0", "target": 1000, "tolerance": "1%"}))
    assert cost([row(f0=1009)]).meets_goals
    assert not cost([row(f0=1011)]).meets_goals


def test_objectives_in_a_specification() -> None:
    search = read_study_spec({"minimize": ["p", "i(v1)"], "maximize": {"bw": 3}, "budget": 50}).search
    assert [(item.metric, item.maximize, item.weight) for item in search.objectives] == [
        ("p", False, 1), ("i(v1)", False, 1), ("bw", True, 3)
    ]  # fmt: skip
    assert (search.budget, search.time_limit_s) == (50, None)


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"minimize": [5]}, "minimize"),
        ({"maximize": {"bw": -1}}, "maximize.bw"),
        ({"budget": 0}, "budget"),
        ({"time_limit": "soon"}, "time_limit"),
        ({"minimise": "a", "minimize": "b"}, "minimise"),
    ],
)
def test_what_cannot_be_meant_is_refused(document: dict[str, Any], place: str) -> None:
    with pytest.raises(UserInputError, match=place) as caught:
        read_study_spec(document)
    assert caught.value.error_type == "bad_spec"
