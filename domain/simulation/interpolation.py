"""Smooth reading between the samples of a frequency response.

Over log f the dB and degrees of a response bend too much for straight lines when the sweep is coarse: at 5
points a decade the -3 dB point of a single pole comes out up to 2.7 % low. A cubic through the samples with
the slopes of the parabolas through three neighbours is right to 0.3 % there. The slopes are limited to three
times the smaller secant, which keeps a rise between two samples a rise (Fritsch, Carlson, "Monotone
piecewise cubic interpolation", SIAM J. Numer. Anal. 17, 1980), so that nothing swings beside a notch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_STEEPEST = 3.0
_STEPS = 60
_NEAR = 1e-15
"""Of a step: the last digit of a place in it."""


def slopes(u: Sequence[float], w: Sequence[float], left: int) -> tuple[float, float]:
    """The slopes at sample `left` and at the next, from places and values: these two and the sample to either
    side decide. NaN marks a value that cannot be used; 0 <= left < n - 1."""
    # Four plain numbers: arrays of them take ten times as long, and a search measures thousands of runs.
    step = u[left + 1] - u[left]
    if not step:
        return 0.0, 0.0
    secant = (w[left + 1] - w[left]) / step
    before = _inner(u, w, left - 1, step, secant) if left else None
    after = _inner(u, w, left + 1, step, secant) if left + 2 < len(u) else None
    return (
        _continued(secant, after) if before is None else before,
        _continued(secant, before) if after is None else after,
    )


def _inner(u: Sequence[float], w: Sequence[float], other: int, step: float, secant: float) -> float | None:
    """The slope where a step meets the one from sample `other` to the next; None when that cannot be used or
    belongs to another sweep."""
    beyond = u[other + 1] - u[other]
    rise = w[other + 1] - w[other]
    if step * beyond <= 0 or math.isnan(rise / beyond):
        return None
    further = rise / beyond
    limit = _STEEPEST * min(abs(secant), abs(further))
    return min(max((step * further + beyond * secant) / (step + beyond), -limit), limit)


def _continued(secant: float, neighbour: float | None) -> float:
    """The slope at an end, or beside an unusable sample: the parabola of the neighbour goes on."""
    outer = secant if neighbour is None else 2 * secant - neighbour
    return min(max(outer, min(0.0, _STEEPEST * secant)), max(0.0, _STEEPEST * secant))


def between(part: float, w0: float, w1: float, rise0: float, rise1: float) -> float:
    """Value of the cubic at `part` (0 to 1) of the way between two samples; `rise` is slope * step."""
    t = part
    return (
        w0 * (1 + 2 * t) * (1 - t) ** 2 + rise0 * t * (1 - t) ** 2
        + w1 * t**2 * (3 - 2 * t) + rise1 * t**2 * (t - 1)
    )  # fmt: skip


def passing(level: float, w0: float, w1: float, rise0: float, rise1: float) -> float:
    """The part of the way (0 to 1) at which the cubic passes `level`, which lies between w0 and w1."""
    linear, square, cubic = rise0, 3 * (w1 - w0) - 2 * rise0 - rise1, 2 * (w0 - w1) + rise0 + rise1
    low, high, is_rising, missing = 0.0, 1.0, w1 >= w0, level - w0
    at = missing / (w1 - w0) if w1 != w0 else 0.5
    for _ in range(_STEPS):
        error = ((cubic * at + square) * at + linear) * at - missing
        if not error:
            return at
        if (error < 0) == is_rising:
            low = at
        else:
            high = at
        slope = (3 * cubic * at + 2 * square) * at + linear
        # Newton's step while it stays between what is known to lie on either side, else halves.
        following = at - error / slope if slope else low
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - at) < _NEAR:
            return following
        at = following
    return at
