"""Statistics of metrics against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from domain.simulation.goals import DesignGoal
from domain.studies.statistics import histogram, metric_statistics, yield_of


def goal(minimum: float | None = None, maximum: float | None = None) -> DesignGoal:
    return DesignGoal(metric="x", expression="", unit="V", minimum=minimum, maximum=maximum)


def test_moments_of_known_numbers() -> None:
    values = np.array([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])
    found = metric_statistics(values, range(10, 18), unit="V")
    assert (found.count, found.failed, found.mean, found.median) == (8, 0, 5.0, 4.5)
    assert found.sigma == pytest.approx(math.sqrt(32 / 7))
    assert (found.minimum, found.minimum_run, found.maximum, found.maximum_run) == (2.0, 10, 9.0, 17)


def test_failed_runs_are_counted_and_left_out() -> None:
    values = np.array([math.nan, 1.0, math.inf, 3.0])
    found = metric_statistics(values, [0, 1, 2, 3], unit="V")
    assert (found.count, found.failed, found.mean, found.minimum_run) == (2, 2, 2.0, 1)
    nothing = metric_statistics(np.array([math.nan]), [0], unit="V")
    assert (nothing.count, nothing.failed, nothing.minimum_run, nothing.histogram) == (0, 1, None, None)
    assert math.isnan(nothing.mean)


def test_a_single_value_has_no_sigma() -> None:
    found = metric_statistics(np.array([5.0]), [0], unit="V", goal=goal(4, 6))
    assert found.mean == 5
    assert math.isnan(found.sigma)
    assert math.isnan(found.cpk)


def test_quantiles_of_an_even_spread() -> None:
    found = metric_statistics(np.linspace(0, 1, 1001), range(1001), unit="V")
    assert found.quantiles[0.25] == pytest.approx(0.25)
    assert found.quantiles[0.99] == pytest.approx(0.99)


def test_capability_of_a_process() -> None:
    # NIST e-Handbook 6.1.6: USL 20, LSL 8, mean 16, sigma 2: Cp = 1.0, Cpk = 0.6667
    values = np.array([14.0, 18.0, 14.0, 18.0] * 500)
    sigma = float(np.std(values, ddof=1))
    found = metric_statistics(values, range(2000), unit="", goal=goal(8, 20))
    assert found.cp == pytest.approx(12 / (6 * sigma))
    assert found.cpk == pytest.approx(4 / (3 * sigma))
    one_sided = metric_statistics(values, range(2000), unit="", goal=goal(minimum=8))
    assert math.isnan(one_sided.cp)
    assert one_sided.cpk == pytest.approx(8 / (3 * sigma))


def test_histogram_follows_freedman_and_diaconis() -> None:
    values = np.linspace(0, 10, 1000)
    found = histogram(values)
    # IQR 5, width 2 * 5 / 10 = 1
    assert len(found.counts) == 10
    assert sum(found.counts) == 1000
    assert found.edges[0] == 0
    assert found.edges[-1] == 10


@pytest.mark.parametrize(
    "values",
    [
        [3.0] * 9,
        [1.0, math.nextafter(1.0, 2.0)],
        [0.0] * 99 + [1e9],
        [1.0],
        [-1e308, 1e308 / 2, 0.0],
    ],
)
def test_histogram_of_odd_values_keeps_them_all(values: list[float]) -> None:
    with np.errstate(all="ignore"):
        found = histogram(np.array(values))
    assert sum(found.counts) == len(values)
    assert len(found.edges) == len(found.counts) + 1


def test_correlation_with_parameters() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(5000), rng.standard_normal(5000)
    found = metric_statistics(
        3 * a + 4 * b, range(5000), unit="V", parameters={"a": a, "b": b, "fixed": np.ones(5000)}
    )
    assert found.correlations["a"] == pytest.approx(0.6, abs=0.03)
    assert found.correlations["b"] == pytest.approx(0.8, abs=0.03)
    assert math.isnan(found.correlations["fixed"])


def test_the_mean_lies_in_its_interval_95_times_of_100() -> None:
    rng = np.random.default_rng(11)
    inside = {"mean": 0, "sigma": 0}
    for _ in range(1000):
        found = metric_statistics(rng.normal(5, 2, 20), range(20), unit="")
        inside["mean"] += found.mean_interval[0] <= 5 <= found.mean_interval[1]
        inside["sigma"] += found.sigma_interval[0] <= 2 <= found.sigma_interval[1]
    assert inside["mean"] == pytest.approx(950, abs=25)
    assert inside["sigma"] == pytest.approx(950, abs=25)


def test_yield_counts_good_runs() -> None:
    found = yield_of([True] * 19 + [False])
    assert (found.passed, found.total, found.value) == (19, 20, 0.95)
    assert found.interval[0] < 0.95 < found.interval[1]
    assert math.isnan(yield_of([]).value)
