"""Sensitivities and worst cases, as arithmetic."""

import math

import pytest

from domain.studies.sensitivity import moved_values, ranked, sensitivity_of, tolerance_of
from domain.studies.study_spec import StudyParameter, read_study_spec
from domain.studies.worst_case import Extreme, bounds_of, extreme_points, worst_case_of
from shared.errors import UserInputError


def parameter(**node: object) -> StudyParameter:
    return read_study_spec({"parameters": [{"name": "p", **node}]}).parameters[0]


def test_a_power_law_has_its_exponent_as_sensitivity() -> None:
    found = sensitivity_of("p", 2.0, ((1.999, 1.999**3), (2.001, 2.001**3)), metric=8.0, tolerance=0.1)
    assert found.normalised == pytest.approx(3, rel=1e-6)
    assert found.slope == pytest.approx(12, rel=1e-6)
    assert found.per_tolerance == pytest.approx(1.2, rel=1e-6)


def test_what_cannot_be_had_is_nan_and_ranks_last() -> None:
    dead = sensitivity_of("a", 1.0, ((0.9, math.nan), (1.1, 1.0)), metric=1.0, tolerance=None)
    zero = sensitivity_of("b", 1.0, ((0.9, 0.0), (1.1, 0.2)), metric=0.0, tolerance=None)
    assert math.isnan(zero.normalised)
    assert zero.slope == pytest.approx(1)
    assert [item.parameter for item in ranked([dead, zero])] == ["b", "a"]


def test_parameters_are_moved_by_a_share_of_themselves() -> None:
    assert moved_values(parameter(), -50.0, 0.01) == pytest.approx((-50.5, -49.5))
    assert moved_values(parameter(tolerance=0.1, absolute=True), 0.0, 0.01) == pytest.approx((-0.001, 0.001))
    with pytest.raises(UserInputError, match="is 0 in the circuit"):
        moved_values(parameter(), 0.0, 0.01)


def test_bounds_follow_the_tolerance_or_the_range() -> None:
    assert bounds_of(parameter(tolerance=0.1, lot=0.05), 100.0) == pytest.approx((85, 115))
    assert bounds_of(parameter(tolerance=0.1, distribution="lognormal"), 100.0) == pytest.approx(
        (100 * math.exp(-0.1), 100 * math.exp(0.1))
    )
    assert bounds_of(parameter(tolerance=5, absolute=True), 100.0) == (95, 105)
    assert bounds_of(parameter(min=1, max=3), 100.0) == (1, 3)
    assert bounds_of(parameter(min=1, max=3, distribution="uniform"), 100.0) == (1, 3)
    assert bounds_of(parameter(values=[5, 2, 9]), 100.0) == (2, 9)
    with pytest.raises(UserInputError, match="neither a tolerance nor a range"):
        bounds_of(parameter(), 1.0)
    assert tolerance_of(parameter(), 1.0) is None


def test_few_parameters_are_tried_at_all_ends() -> None:
    points = extreme_points({"a": (1, 2), "b": (3, 4)}, {})
    assert sorted((point["a"], point["b"]) for point in points) == [(1, 3), (1, 4), (2, 3), (2, 4)]


def test_many_parameters_go_by_the_sign_of_their_effect() -> None:
    names = [f"p{n}" for n in range(8)]
    bounds = dict.fromkeys(names, (-1.0, 1.0))
    rising = {name: (0.0, 1.0) if n % 2 else (1.0, 0.0) for n, name in enumerate(names)}
    falling = {name: (high, low) for name, (low, high) in rising.items()}
    points = extreme_points(bounds, {"m": rising, "minus_m": falling, "again": rising})
    assert len(points) == 2
    assert points[0] == {name: -1.0 if n % 2 else 1.0 for n, name in enumerate(names)}
    assert points[1] == {name: -value for name, value in points[0].items()}


def test_rss_adds_effects_as_independent() -> None:
    found = worst_case_of(
        unit="V",
        nominal=10.0,
        ends={"a": (7.0, 13.0), "b": (14.0, 6.0), "c": (11.0, 11.0)},
        candidates=[Extreme(value=v, run=n, parameters={}) for n, v in enumerate([3.0, math.nan, 17.0])],
    )
    assert found.rss == (5.0, 15.0)
    assert list(found.effects.items()) == [("b", -4.0), ("a", 3.0), ("c", 0.0)]
    assert found.not_monotonic == ("c",)
    assert found.minimum is not None
    assert found.maximum is not None
    assert (found.minimum.run, found.maximum.run) == (0, 2)
