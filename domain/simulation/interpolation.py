"""Smooth reading between the samples of a frequency response.

Over log f the dB and degrees of a response bend too much for straight lines when the sweep is coarse: at 5
points a decade the -3 dB point of a single pole comes out up to 2.7 % low. A cubic through the samples with
the slopes of the parabolas through three neighbours is right to 0.3 % there. The slopes are limited to three
times the smaller secant, which keeps a rise between two samples a rise (Fritsch, Carlson, "Monotone
piecewise cubic interpolation", SIAM J. Numer. Anal. 17, 1980), so that nothing swings beside a notch.
"""

from __future__ import annotations

import numpy as np

from domain.simulation.waveform import RealArray

_STEEPEST = 3.0
_BISECTIONS = 48


def slopes(u: RealArray, w: RealArray) -> RealArray:
    """(n,) places and values -> (n,) slopes. NaN marks a sample that cannot be used; n >= 2."""
    steps = np.diff(u)
    with np.errstate(all="ignore"):
        secants = np.diff(w) / steps
        before = np.concatenate(([np.nan], secants))
        after = np.concatenate((secants, [np.nan]))
        left, right = np.concatenate(([np.nan], steps)), np.concatenate((steps, [np.nan]))
        inner = (right * before + left * after) / (left + right)
        limit = _STEEPEST * np.minimum(np.abs(before), np.abs(after))
        found = np.clip(inner, -limit, limit)
        # An end (or a sample beside an unusable one) continues the parabola of its neighbour.
        for missing, secant, neighbour in (
            (np.isnan(before), after, np.concatenate((found[1:], [np.nan]))),
            (np.isnan(after), before, np.concatenate(([np.nan], found[:-1]))),
        ):
            outer = np.where(np.isnan(neighbour), secant, 2 * secant - neighbour)
            low, high = np.minimum(0, _STEEPEST * secant), np.maximum(0, _STEEPEST * secant)
            found = np.where(missing & np.isfinite(secant), np.clip(outer, low, high), found)
    return np.asarray(found)


def between(
    part: RealArray | float,
    w0: RealArray | float,
    w1: RealArray | float,
    rise0: RealArray | float,
    rise1: RealArray | float,
) -> RealArray:
    """Value of the cubic at `part` (0 to 1) of the way between two samples; `rise` is slope * step."""
    t = np.asarray(part)
    return np.asarray(
        w0 * (1 + 2 * t) * (1 - t) ** 2 + rise0 * t * (1 - t) ** 2
        + w1 * t**2 * (3 - 2 * t) + rise1 * t**2 * (t - 1)
    )  # fmt: skip


def passing(
    level: RealArray | float, w0: RealArray, w1: RealArray, rise0: RealArray, rise1: RealArray
) -> RealArray:
    """(m,) part of the way (0 to 1) at which each cubic passes `level`, which lies between w0 and w1."""
    ends = zip(*(row.tolist() for row in np.broadcast_arrays(level, w0, w1, rise0, rise1)), strict=True)
    return np.array([_passing(*end) for end in ends], dtype=float)


def _passing(level: float, w0: float, w1: float, rise0: float, rise1: float) -> float:
    # Crossings are few, and bisecting plain numbers is forty times quicker than arrays of one.
    linear, square, cubic = rise0, 3 * (w1 - w0) - 2 * rise0 - rise1, 2 * (w0 - w1) + rise0 + rise1
    low, high, is_rising, missing = 0.0, 1.0, w1 >= w0, level - w0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if (((cubic * middle + square) * middle + linear) * middle < missing) == is_rising:
            low = middle
        else:
            high = middle
    return (low + high) / 2
