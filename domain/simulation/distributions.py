"""Quantiles of the normal, Student's and the chi-square distribution, and the intervals made from them.

The incomplete gamma and beta functions are summed as in Press et al., Numerical Recipes (3rd ed., 6.2 and
6.4); the quantiles are found by bisection, to 12 digits, which is quick enough for a table of figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

_NORMAL = NormalDist()
_TINY = 1e-300
_PRECISION = 1e-15
_MOST_TERMS = 100_000


def normal_quantile(probability: float) -> float:
    """Where the standard normal distribution reaches `probability` (0 < p < 1)."""
    return _NORMAL.inv_cdf(probability)


def normal_probability(value: float) -> float:
    """The share of the standard normal distribution below `value`."""
    return _NORMAL.cdf(value)


def student_quantile(probability: float, degrees: float) -> float:
    """Where Student's t distribution with `degrees` of freedom reaches `probability` (0 < p < 1)."""
    if probability == 0.5:
        return 0.0
    if probability < 0.5:
        return -student_quantile(1 - probability, degrees)

    def below(t: float) -> float:
        return 1 - 0.5 * _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))

    return _inverse(below, probability)


def chi_square_quantile(probability: float, degrees: float) -> float:
    """Where the chi-square distribution with `degrees` of freedom reaches `probability` (0 < p < 1)."""
    return _inverse(lambda x: _incomplete_gamma(degrees / 2, x / 2), probability)


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


def _inverse(function: Callable[[float], float], target: float) -> float:
    """Where a rising function of x >= 0 reaches `target`."""
    low, high = 0.0, 1.0
    while function(high) < target:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if high - low <= 1e-13 * high:
            break
        if function(middle) < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _incomplete_gamma(a: float, x: float) -> float:
    """The regularised lower incomplete gamma function P(a, x)."""
    if x <= 0:
        return 0.0
    front = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for n in range(1, _MOST_TERMS):
            term *= x / (a + n)
            total += term
            if term < total * _PRECISION:
                break
        return total * front
    return 1 - front * _continued_gamma(a, x)


def _continued_gamma(a: float, x: float) -> float:
    b = x + 1 - a
    c = 1 / _TINY
    d = h = 1 / b
    for n in range(1, _MOST_TERMS):
        step = -n * (n - a)
        b += 2
        d = 1 / _not_zero(step * d + b)
        c = _not_zero(b + step / c)
        change = d * c
        h *= change
        if abs(change - 1) < _PRECISION:
            break
    return h


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _continued_beta(a, b, x) / a
    return 1 - front * _continued_beta(b, a, 1 - x) / b


def _continued_beta(a: float, b: float, x: float) -> float:
    c = 1.0
    d = h = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    for m in range(1, _MOST_TERMS):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _not_zero(1 + step * d)
            c = _not_zero(1 + step / c)
            change = d * c
            h *= change
        if abs(change - 1) < _PRECISION:
            break
    return h


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
