"""The worst case found with few runs: as bad as what corners and 2,000 draws find, on many shapes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import pytest

from domain.studies.worst_search import Case, at, most_runs, search_worst

Bad = Callable[[int, Sequence[float]], float]
SHAPES: dict[str, tuple[int, int, Bad]] = {
    "monotonic": (6, 1, lambda _, x: 1.0 * x[0] - 2 * x[1] + 0.1 * sum(x[2:])),
    "corner counts": (3, 5, lambda c, x: (0, 1, -1, 3, 2)[c] + x[0] * (1 if c == 4 else 0.2) - x[2]),
    "product": (4, 1, lambda _, x: x[0] * x[1] + 0.3 * x[2] * x[3]),
    "saddle with a slope": (5, 1, lambda _, x: x[0] * x[1] - 0.5 * x[2] + 0.2 * x[3] * x[4] + 0.05 * x[0]),
    "resonance between the ends": (2, 1, lambda _, x: 1 / (0.01 + (x[0] - 0.3) ** 2 + 0.1 * (1 - x[1]))),
    "mismatch": (2, 1, lambda _, x: abs(x[0] - x[1])),
    "both ends worse": (3, 1, lambda _, x: x[0] ** 2 + 0.4 * x[0] + abs(x[1]) + x[2]),
    "ripple": (1, 1, lambda _, x: math.sin(4 * x[0] + 0.4)),
    "worst in the middle": (4, 1, lambda _, x: -sum((each - 0.15) ** 2 for each in x)),
    "many parts": (30, 3, lambda c, x: sum((-1) ** n * each / (n + 1) for n, each in enumerate(x)) + 0.1 * c),
}


def found_by_search(parameters: int, corners: int, bad: Bad) -> tuple[float, Case, int]:
    search, runs = search_worst(parameters, corners), 0
    try:
        cases = next(search)
        while True:
            assert len(set(cases)) == len(cases)
            assert all(-1 <= share <= 1 for _, shares in cases for share in shares)
            runs += len(cases)
            cases = search.send([bad(corner, shares) for corner, shares in cases])
    except StopIteration as end:
        best: Case = end.value
    return bad(*best), best, runs


@pytest.mark.parametrize("name", SHAPES)
def test_as_bad_as_corners_and_two_thousand_draws(name: str) -> None:
    parameters, corners, bad = SHAPES[name]
    draw = random.Random(7)
    worst = max(bad(corner, [0.0] * parameters) for corner in range(corners))
    for _ in range(2000):
        shares = [draw.uniform(-1, 1) for _ in range(parameters)]
        worst = max(worst, *(bad(corner, shares) for corner in range(corners)))
    found, _, runs = found_by_search(parameters, corners, bad)
    assert found >= worst - 2e-3 * abs(worst)
    assert runs <= most_runs(parameters, corners) < 2000


def test_a_case_that_fails_ends_it() -> None:
    _, best, runs = found_by_search(4, 1, lambda _, x: math.inf if x[2] > 0.5 else x[0])
    assert best[1][2] == 1
    assert runs <= 9
    assert found_by_search(0, 3, lambda corner, _: -float(corner))[1:] == ((0, ()), 3)


def test_values_of_a_case() -> None:
    bounds = {"R1": (900.0, 1300.0), "temp": (-40.0, 125.0)}
    nominals = {"R1": 1000.0, "temp": 27.0}
    assert at((0, (0.0, 0.0)), nominals, bounds) == nominals
    assert at((0, (-1.0, 1.0)), nominals, bounds) == {"R1": 900.0, "temp": 125.0}
    assert at((0, (0.5, -0.5)), nominals, bounds) == {"R1": 1150.0, "temp": -6.5}
