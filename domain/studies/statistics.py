"""Statistics of a metric over many runs: moments with their intervals, quantiles, capability, yield.

Sources: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5 (intervals) and 6.1.6 (capability);
D. Freedman and P. Diaconis, Z. Wahrscheinlichkeitstheorie 57 (1981) 453 (histogram). A run without a value
counts as failed: it is left out of the moments, and it is not a good run. scipy is imported where a quantile
of a distribution is asked for: who only reads the rest of this module does not wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from domain.simulation.goals import DesignGoal
from domain.simulation.waveform import RealArray

_NORMAL = NormalDist()


def normal_quantile(probability: float) -> float:
    """Where the standard normal distribution reaches `probability` (0 < p < 1)."""
    return _NORMAL.inv_cdf(probability)


def normal_probability(value: float) -> float:
    """The share of the standard normal distribution below `value`."""
    return _NORMAL.cdf(value)


def student_quantile(probability: float, degrees: float) -> float:
    """Where Student's t distribution with `degrees` of freedom reaches `probability` (0 < p < 1)."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # not scipy.stats: it takes a second

    return float(stdtrit(degrees, probability))


def chi_square_quantile(probability: float, degrees: float) -> float:
    """Where the chi-square distribution with `degrees` of freedom reaches `probability` (0 < p < 1)."""
    from scipy.special import gammaincinv  # chdtri takes the share above, which rounds small ones away

    return 2 * float(gammaincinv(degrees / 2, probability))


def wilson_interval(passed: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval a true share lies in, given `passed` of `total`; (0, 1) without any trial.

    E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209: right near 0 and 1 too, where the usual
    p +- z sqrt(p(1-p)/n) has no width.
    """
    if total <= 0:
        return 0.0, 1.0
    z = normal_quantile(0.5 + confidence / 2)
    share, weight = passed / total, z * z / total
    middle = (share + weight / 2) / (1 + weight)
    half = z / (1 + weight) * math.sqrt(share * (1 - share) / total + weight / (4 * total))
    low = 0.0 if passed == 0 else max(0.0, middle - half)
    high = 1.0 if passed == total else min(1.0, middle + half)
    return low, high


def mean_interval(mean: float, sigma: float, count: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval the true mean lies in (Student's t); NaN with fewer than two values."""
    if count < 2:
        return math.nan, math.nan
    half = student_quantile(0.5 + confidence / 2, count - 1) * sigma / math.sqrt(count)
    return mean - half, mean + half


def sigma_interval(sigma: float, count: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval the true standard deviation of normal values lies in; NaN with fewer than two."""
    if count < 2:
        return math.nan, math.nan
    degrees = count - 1
    high, low = (chi_square_quantile(p, degrees) for p in (0.5 - confidence / 2, 0.5 + confidence / 2))
    return sigma * math.sqrt(degrees / low), sigma * math.sqrt(degrees / high)


QUANTILES = (0.00135, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.99865)
"""The outermost are the -3 and +3 sigma points of a normal distribution."""
_MOST_BINS = 100
_NO_INTERVAL = (math.nan, math.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How many values lie in each of some bins of equal width."""

    edges: tuple[float, ...]
    """One more than the bins."""
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricStatistics:
    """One metric over all runs; NaN is what too few values can't tell."""

    unit: str
    count: int
    """Runs with a value."""
    failed: int
    """Runs without."""
    mean: float = math.nan
    mean_interval: tuple[float, float] = _NO_INTERVAL
    """Where the true mean lies, with 95 % confidence."""
    sigma: float = math.nan
    """Standard deviation (divisor n - 1)."""
    sigma_interval: tuple[float, float] = _NO_INTERVAL
    """Where the true one lies with 95 % confidence, if the metric is normally distributed."""
    median: float = math.nan
    minimum: float = math.nan
    minimum_run: int | None = None
    maximum: float = math.nan
    maximum_run: int | None = None
    quantiles: Mapping[float, float] = field(default_factory=dict)
    cp: float = math.nan
    """(upper - lower bound) / 6 sigma; needs a goal with both bounds."""
    cpk: float = math.nan
    """Distance of the mean to the nearer bound of the goal / 3 sigma."""
    histogram: Histogram | None = None
    correlations: Mapping[str, float] = field(default_factory=dict)
    """Pearson's coefficient with each parameter."""
    contributions: Mapping[str, float] = field(default_factory=dict)
    """Share of the variance each parameter makes, by a linear fit; the largest first. What is missing to 1 is
    curvature and interplay. Empty with too few runs, and where nothing varies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Yield:
    """The share of good runs, and the interval its true value lies in (Wilson, 95 %)."""

    passed: int
    total: int
    interval: tuple[float, float]

    @property
    def value(self) -> float:
        """The share; NaN without a run."""
        return self.passed / self.total if self.total else math.nan


def metric_statistics(
    values: RealArray,
    runs: Sequence[int],
    *,
    unit: str,
    goal: DesignGoal | None = None,
    parameters: Mapping[str, RealArray] | None = None,
) -> MetricStatistics:
    """The statistics of a metric's `values`, one for each of `runs`, NaN where it failed.

    `parameters` are the values each parameter took in the same runs.
    """
    good = np.isfinite(values)
    found = values[good]
    count, failed = len(found), int(len(values) - len(found))
    if not count:
        return MetricStatistics(unit=unit, count=0, failed=failed)
    mean = float(np.mean(found))
    sigma = float(np.std(found, ddof=1)) if count > 1 else math.nan
    lowest, highest = (int(np.flatnonzero(good)[place(found)]) for place in (np.argmin, np.argmax))
    cp, cpk = _capability(mean, sigma, goal)
    moved = {name: column[good] for name, column in (parameters or {}).items()}
    return MetricStatistics(
        unit=unit,
        count=count,
        failed=failed,
        mean=mean,
        mean_interval=mean_interval(mean, sigma, count),
        sigma=sigma,
        sigma_interval=sigma_interval(sigma, count),
        median=float(np.median(found)),
        minimum=float(values[lowest]),
        minimum_run=runs[lowest],
        maximum=float(values[highest]),
        maximum_run=runs[highest],
        quantiles=dict(zip(QUANTILES, map(float, np.quantile(found, QUANTILES)), strict=True)),
        cp=cp,
        cpk=cpk,
        histogram=histogram(found),
        correlations={name: _correlation(column, found) for name, column in moved.items()},
        contributions=contributions(moved, found),
    )


def _capability(mean: float, sigma: float, goal: DesignGoal | None) -> tuple[float, float]:
    if goal is None or not sigma > 0:
        return math.nan, math.nan
    low, high = goal.minimum, goal.maximum
    cp = (high - low) / (6 * sigma) if low is not None and high is not None else math.nan
    distances = [mean - low] if low is not None else []
    distances += [high - mean] if high is not None else []
    return cp, min(distances) / (3 * sigma) if distances else math.nan


def histogram(values: RealArray) -> Histogram:
    """Bins as wide as 2 IQR / cbrt(n) (Freedman and Diaconis), at most a hundred; one when all are equal."""
    low, high = float(values.min()), float(values.max())
    if not high > low:
        return Histogram(edges=(low, high), counts=(len(values),))
    quarter, three_quarters = np.quantile(values, (0.25, 0.75))
    width = 2 * float(three_quarters - quarter) / len(values) ** (1 / 3)
    wanted = math.ceil((high - low) / width) if width > (high - low) / _MOST_BINS else _MOST_BINS
    bins = max(1, min(wanted, _MOST_BINS, len(values)))
    edges = np.linspace(low, high, bins + 1)
    if not (np.diff(edges) > 0).all():  # values that differ in the last bits only
        return Histogram(edges=(low, high), counts=(len(values),))
    counts, _ = np.histogram(values, edges)
    return Histogram(edges=tuple(map(float, edges)), counts=tuple(map(int, counts)))


def _correlation(first: RealArray, second: RealArray) -> float:
    """Pearson's coefficient; NaN when one of them does not change."""
    if len(first) < 2:
        return math.nan
    a, b = first - first.mean(), second - second.mean()
    scale = math.sqrt(float(a @ a)) * math.sqrt(float(b @ b))
    return float(np.clip((a @ b) / scale, -1, 1)) if scale > 0 else math.nan


def contributions(parameters: Mapping[str, RealArray], values: RealArray) -> dict[str, float]:
    """The share of the variance of `values` that each parameter makes: with the slopes b of a linear fit over
    all parameters, b cov(p, v) / var(v), which add up to the fit's R squared also where parts of a lot move
    together. {} with fewer than three runs a parameter, and where nothing varies."""
    moving = {name: column for name, column in parameters.items() if np.ptp(column) > 0}
    if not moving or len(values) < 3 * len(moving) + 3:
        return {}
    centred = values - values.mean()
    total = float(centred @ centred)
    if not total > 0:
        return {}
    columns = np.column_stack([(column - column.mean()) / column.std() for column in moving.values()])
    slopes, *_ = np.linalg.lstsq(columns, centred, rcond=None)
    shares = slopes * (columns.T @ centred) / total
    found = {name: max(float(share), 0.0) for name, share in zip(moving, shares, strict=True)}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def yield_of(passed: Sequence[bool]) -> Yield:
    """The yield of runs that were good or not."""
    good = sum(passed)
    return Yield(passed=good, total=len(passed), interval=wilson_interval(good, len(passed)))
