"""The search on functions whose minimum is known; the same whoever simulates."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from domain.studies.search import Search
from domain.studies.search_cost import Cost, is_better
from domain.studies.search_space import SearchSpace, Values, search_space
from domain.studies.study_spec import read_study_spec
from domain.studies.trust_region import Aim

Function = Callable[..., float]


def space(*parameters: dict[str, Any]) -> SearchSpace:
    return search_space(read_study_spec({"parameters": list(parameters)}).parameters)


def solve(
    found: SearchSpace, function: Function, *, budget: int = 2000, seed: int = 1, **start: float
) -> tuple[Search, list[Values]]:
    """Search for the least value of `function`; the search and all that it asked for."""
    search = Search(found, seed=seed, budget=budget, start=start)
    asked: list[Values] = []
    while points := search.ask():
        asked += points
        search.tell({values: Cost(0, 0.0, function(*values)) for values in points})
    return search, asked


def box(count: int, low: float = -5, high: float = 5) -> SearchSpace:
    return space(*({"name": f"x{index}", "min": low, "max": high} for index in range(count)))


def rosenbrock(*x: float) -> float:
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in pairwise(x))


def test_a_curved_valley_is_followed_to_its_end() -> None:
    search, _ = solve(box(3), rosenbrock, budget=6000)
    assert search.best is not None
    assert all(math.isclose(value, 1, abs_tol=0.02) for value in search.best)


def test_a_minimum_on_the_edge_is_reached() -> None:
    search, _ = solve(box(4, 0.5, 2), lambda *x: sum(x))
    assert search.best == (0.5,) * 4


def test_mixed_choices_and_numbers() -> None:
    found = space(
        {"name": "R1", "min": 100, "max": "1Meg", "scale": "E24"},
        {"name": "n", "min": 1, "max": 64, "step": 1},
        {"name": "C1", "min": "1p", "max": "1u", "scale": "log"},
    )

    def distance(r: float, n: float, c: float) -> float:
        return abs(math.log(r / 4700)) + abs(n - 17) / 8 + abs(math.log(c / 3.3e-9))

    search, _ = solve(found, distance, budget=4000)
    assert search.best is not None
    r1, n, c1 = search.best
    assert (r1, n) == (4700, 17)
    assert c1 == pytest.approx(3.3e-9, rel=0.01)


def test_no_point_is_asked_for_twice_and_the_budget_holds() -> None:
    found = space(*({"name": f"R{index}", "min": 10, "max": 1000, "scale": "E12"} for index in range(3)))
    search, asked = solve(found, lambda *x: sum(abs(math.log(v / 150)) for v in x), budget=700)
    assert len(set(asked)) == len(asked) <= 700
    assert search.best == (150, 150, 150)
    assert search.repeated > 0


def test_where_the_budget_is_enough_every_combination_is_tried() -> None:
    found = space(*({"name": f"n{index}", "values": [1, 2, 3, 4, 5]} for index in range(4)))
    # A needle that nothing leads to.
    search, asked = solve(found, lambda *x: -float(x == (2, 5, 1, 4)), budget=625)
    assert (search.best, search.end, len(asked)) == ((2, 5, 1, 4), "exhausted", 625)


def test_it_begins_where_the_circuit_is() -> None:
    _, asked = solve(box(2), lambda *x: sum(x), x0=1.25, x1=-3.5)
    assert asked[0] == (1.25, -3.5)


@pytest.mark.parametrize("seed", [0, 1, 2**53])
def test_the_same_seed_asks_the_same(seed: int) -> None:
    first, again = (solve(box(3), rosenbrock, budget=500, seed=seed)[1] for _ in range(2))
    assert first == again
    assert first != solve(box(3), rosenbrock, budget=500, seed=seed + 1)[1]


def test_restarts_leave_a_local_minimum() -> None:
    def two_valleys(x: float, y: float) -> float:
        wide, narrow = (x - 2) ** 2 + (y - 2) ** 2, 25 * ((x + 4) ** 2 + (y + 4) ** 2) - 30
        return min(wide, narrow)

    search, _ = solve(box(2), two_valleys, budget=4000, x0=2.0, x1=2.0)
    assert search.best == pytest.approx((-4, -4), abs=0.05)
    assert search.restarts > 0


def test_a_flat_function_ends_by_itself() -> None:
    search, asked = solve(box(2), lambda *_: 1.0, budget=100_000)
    assert search.end == "converged"
    assert len(asked) < 100_000


def test_failed_and_infeasible_points_never_win() -> None:
    def cost(x: float, y: float) -> Cost:
        if x > 2:
            return Cost(1, 0.0, -100.0)
        missed = max(0.0, 1 - y)
        return Cost(0, missed, x + y)

    search = Search(box(2), seed=1, budget=2000, start={})
    while points := search.ask():
        search.tell({values: cost(*values) for values in points})
    assert search.best is not None
    assert search.cost_of(search.best).meets_goals
    assert search.best == pytest.approx((-5, 1), abs=0.01)


def test_a_stopped_generation_is_no_knowledge() -> None:
    search = Search(box(2), seed=1, budget=100, start={})
    points = search.ask()
    search.tell({values: Cost(0, 0.0, sum(values)) for values in points[:3]})
    search.finish("stopped")
    assert search.best == min(points[:3], key=sum)
    assert (search.ask(), search.end) == ([], "stopped")


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Cost(0, 0.5, 9), Cost(1, 0, 0)),
        (Cost(0, 0.1, 9), Cost(0, 0.2, 0)),
        (Cost(0, 0, 9), Cost(0, 1e-12, 0)),
        (Cost(0, 0, 1), Cost(0, 0, 1.1)),
        (Cost(0, 0, 1), Cost(0, 0, math.inf)),
    ],
)
def test_what_counts_as_better(better: Cost, worse: Cost) -> None:
    assert is_better(better, worse)
    assert not is_better(worse, better)
    assert better < worse
    assert not is_better(better, better)


def figures_of(x: float, y: float) -> tuple[float, float]:
    return (math.exp(3 * x - y), 100 - x * y)


@pytest.mark.parametrize(("lie", "believed"), [(1.0, True), (1.2, False)])
def test_an_archive_is_believed_once_its_best_points_give_the_same_again(lie: float, believed: bool) -> None:
    aims = (Aim(low=1.9, high=2.0), Aim(low=99, high=99.2))
    places = [(-1.0, 2.0), (0.8, 1.5), (0.5, 1.0), (2.0, 2.0), (-2.0, 1.0)]
    archive = {values: tuple(lie * figure for figure in figures_of(*values)) for values in places}
    search = Search(box(2), seed=1, budget=60, start={}, aims=aims, archive=archive)
    points, met = search.ask(), False
    assert set(places[:2]) < set(points)
    while points and not met:
        found = {values: figures_of(*values) for values in points}
        met = any(1.9 <= a <= 2.0 and 99 <= b <= 99.2 for a, b in found.values())
        search.tell({values: Cost(0, 1.0, 0.0) for values in points}, found)
        points = search.ask()
    assert met, "it comes to the goals either way"
    assert search.recalled == (3 if believed else 0)
