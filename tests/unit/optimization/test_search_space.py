"""Parameters as a unit cube: bounds, scales, E-series, lists, grids."""

from __future__ import annotations

import math
from typing import Any

import pytest

from domain.circuit.preferred_values import is_preferred
from domain.studies.search_space import SearchSpace, search_space
from domain.studies.study_spec import read_study_spec
from shared.errors import UserInputError


def space(*parameters: dict[str, Any]) -> SearchSpace:
    return search_space(read_study_spec({"parameters": list(parameters)}).parameters)


def test_scales_reach_from_bound_to_bound() -> None:
    found = space(
        {"name": "a", "min": -1, "max": 3},
        {"name": "b", "min": 1, "max": "10k", "scale": "log"},
    )
    assert found.values_at((0, 0)) == (-1, 1)
    assert found.values_at((1, 1)) == (3, 10_000)
    assert found.values_at((0.5, 0.5)) == (1, 100)
    assert found.values_at((-7, 9)) == (-1, 10_000)
    assert found.combinations is None


def test_values_of_a_series_are_members_of_it() -> None:
    found = space({"name": "R1", "min": 950, "max": 10_500, "scale": "E24"})
    values = {found.values_at((place / 200,))[0] for place in range(201)}
    assert len(values) == found.combinations == 25
    assert all(is_preferred(value, "E24") for value in values)
    assert (min(values), max(values)) == (1000, 10_000)


def test_a_step_makes_a_grid_and_the_points_of_a_sweep_do_not() -> None:
    grid = space({"name": "w", "min": "1u", "max": "2u", "step": "0.1u"})
    assert grid.combinations == 11
    assert grid.values_at((0.31,)) == (1.3e-6,)
    assert space({"name": "w", "min": 1, "max": 2, "points": 3}).combinations is None


def test_lists_are_sorted_and_one_value_is_no_choice() -> None:
    found = space(
        {"name": "n", "values": [8, 2, 4, 2]}, {"name": "k", "values": [5]}, {"name": "f", "value": 7}
    )
    assert found.names == ("n", "k", "f")
    assert [dimension.name for dimension in found.free] == ["n"]
    assert [found.combination(number) for number in range(3)] == [(2, 5, 7), (4, 5, 7), (8, 5, 7)]


def test_all_combinations_are_different() -> None:
    found = space({"name": "a", "values": [1, 2, 3]}, {"name": "b", "min": 1, "max": 10, "scale": "E6"})
    assert found.combinations == 21
    assert len({found.combination(number) for number in range(21)}) == 21


@pytest.mark.parametrize("value", [math.nan, -5.0, 1e9, 4.2e3])
def test_the_place_of_a_value_is_that_of_the_nearest(value: float) -> None:
    found = space({"name": "R1", "min": "1k", "max": "10k", "scale": "log"})
    (again,) = found.values_at(found.places_of({"R1": value}))
    wanted = math.sqrt(1e7) if math.isnan(value) else min(max(value, 1e3), 1e4)
    assert math.isclose(again, wanted, rel_tol=1e-5)


def test_a_series_without_a_member_is_refused() -> None:
    with pytest.raises(UserInputError, match="no value of E3"):
        space({"name": "R1", "min": 1.1, "max": 2, "scale": "E3"})


def test_continuous_values_have_six_digits() -> None:
    (value,) = space({"name": "x", "min": 1, "max": 10}).values_at((1 / 3,))
    assert value == float(f"{value:.6g}")
