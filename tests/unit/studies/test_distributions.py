"""Quantiles and intervals against printed tables and closed forms."""

import math
from collections.abc import Callable

import pytest

from domain.studies.statistics import (
    chi_square_quantile,
    mean_interval,
    normal_quantile,
    sigma_interval,
    student_quantile,
    wilson_interval,
)
from tests.ground.cases import for_each


@pytest.mark.parametrize(
    ("degrees", "probability", "value"),
    [  # NIST e-Handbook 1.3.6.7.2
        (1, 0.975, 12.706),
        (2, 0.95, 2.920),
        (10, 0.975, 2.228),
        (30, 0.995, 2.750),
        (100, 0.90, 1.290),
    ],
)
def test_student_quantiles_are_those_of_the_table(degrees: int, probability: float, value: float) -> None:
    assert student_quantile(probability, degrees) == pytest.approx(value, abs=0.0006)
    assert student_quantile(1 - probability, degrees) == pytest.approx(-value, abs=0.0006)


def test_student_has_closed_forms_for_one_and_two_degrees() -> None:
    for p in (0.6, 0.9, 0.99, 0.9999):
        assert student_quantile(p, 1) == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-12)
        assert student_quantile(p, 2) == pytest.approx(
            (2 * p - 1) * math.sqrt(2 / (4 * p * (1 - p))), rel=1e-12
        )


@pytest.mark.parametrize(
    ("degrees", "probability", "value"),
    [  # NIST e-Handbook 1.3.6.7.4
        (1, 0.95, 3.841),
        (10, 0.975, 20.483),
        (10, 0.025, 3.247),
        (30, 0.01, 14.953),
        (100, 0.99, 135.807),
    ],
)
def test_chi_square_quantiles_are_those_of_the_table(degrees: int, probability: float, value: float) -> None:
    assert chi_square_quantile(probability, degrees) == pytest.approx(value, abs=0.0006)


def test_chi_square_of_two_degrees_is_exponential() -> None:
    for p in (0.001, 0.3, 0.99):
        assert chi_square_quantile(p, 2) == pytest.approx(-2 * math.log1p(-p), rel=1e-12)


@for_each(
    ("quantile", "degrees", "probability", "value"),
    [  # the incomplete beta and gamma functions inverted with 40 digits (mpmath)
        (student_quantile, 3, 0.975, 3.1824463052837096),
        (student_quantile, 10, 0.975, 2.2281388519862747),
        (student_quantile, 99, 0.975, 1.9842169515864175),
        (student_quantile, 999, 0.995, 2.5807596372676368),
        (student_quantile, 1_000_000, 0.975, 1.959966356814107),
        (chi_square_quantile, 1, 0.975, 5.023886187314889),
        (chi_square_quantile, 9, 0.025, 2.7003894999803579),
        (chi_square_quantile, 9, 0.975, 19.022767798641635),
        (chi_square_quantile, 999, 0.025, 913.30099830211337),
        (chi_square_quantile, 999, 0.975, 1088.4870677259353),
    ],
)
def test_quantiles_hold_to_twelve_digits(
    quantile: Callable[[float, float], float], degrees: float, probability: float, value: float
) -> None:
    assert quantile(probability, degrees) == pytest.approx(value, rel=1e-12)


def test_student_becomes_normal() -> None:
    assert student_quantile(0.5, 3) == 0
    assert student_quantile(0.975, 1e7) == pytest.approx(normal_quantile(0.975), rel=1e-6)


def test_wilson_interval_of_known_counts() -> None:
    # Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson_interval(0, 20) == pytest.approx((0, 0.1611), abs=5e-5)
    assert wilson_interval(1, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    assert wilson_interval(20, 20) == pytest.approx((1 - 0.1611, 1), abs=5e-5)
    assert wilson_interval(0, 0) == (0, 1)


def test_intervals_of_a_sample() -> None:
    # ten values with mean 5 and sigma 2: half width 2.262 * 2 / sqrt(10)
    assert mean_interval(5, 2, 10) == pytest.approx((5 - 1.4307, 5 + 1.4307), abs=1e-3)
    assert sigma_interval(2, 10) == pytest.approx(
        (2 * math.sqrt(9 / 19.023), 2 * math.sqrt(9 / 2.700)), rel=1e-3
    )
    assert all(math.isnan(end) for end in mean_interval(5, math.nan, 1))
