"""Quantiles of the normal, Student's and the chi-square distribution, and the intervals made from them.

scipy is imported where a quantile is asked for: who only reads the rest of this module does not wait for it.
"""

from __future__ import annotations

import math
from statistics import NormalDist

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
