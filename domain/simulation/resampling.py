"""Samples at uneven steps brought to a grid of one's own, for what needs equal steps.

Cubic Hermite interpolation. Where the curve is smooth its slopes come from five samples, so that a sine of 50
samples a period is met within 1e-5 of its amplitude; beside an edge, where a short steep step meets a long
flat one, the slope is the flat one's, so that nothing overshoots.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from domain.simulation.waveform import RealArray

_UNEVEN = 5.0
"""Neighbouring steps that differ by more are a place where the simulator was surprised."""
_NEIGHBOURS = (-2, -1, 1, 2)


def resampled(x: RealArray, y: RealArray, grid: RealArray) -> RealArray:
    """(m,) the values of (n,) samples `y` at rising places `x`, n >= 2, on the places `grid` (m,)."""
    h = np.diff(x)
    slopes = _slopes(x, y, h)
    left_of = np.clip(np.searchsorted(x, grid, side="right") - 1, 0, len(h) - 1)
    t = (grid - x[left_of]) / h[left_of]
    return np.asarray(
        (2 * t**3 - 3 * t**2 + 1) * y[left_of]
        + (t**3 - 2 * t**2 + t) * h[left_of] * slopes[left_of]
        + (3 * t**2 - 2 * t**3) * y[left_of + 1]
        + (t**3 - t**2) * h[left_of] * slopes[left_of + 1]
    )


def _slopes(x: RealArray, y: RealArray, h: RealArray) -> RealArray:
    """(n,) the derivative at each sample."""
    secants = np.diff(y) / h
    if len(x) == 2:
        return np.repeat(secants, 2)
    left, right, hl, hr = secants[:-1], secants[1:], h[:-1], h[1:]
    smooth = (hr * left + hl * right) / (hl + hr)
    flat = np.where(np.abs(left) < np.abs(right), left, right)
    steep = np.where(np.abs(left) < np.abs(right), right, left)
    is_uneven = np.maximum(hl, hr) > _UNEVEN * np.minimum(hl, hr)
    is_edge = is_uneven & (np.abs(steep) > _UNEVEN * np.abs(flat))
    slopes = np.concatenate((secants[:1], np.where(is_edge, flat, smooth), secants[-1:]))
    if len(x) >= 5:
        is_calm = _calm(is_uneven, left, right)
        slopes[2:-2] = np.where(is_calm, _through_five(x, y), slopes[2:-2])
    return slopes


def _calm(is_uneven: NDArray[np.bool_], left: RealArray, right: RealArray) -> NDArray[np.bool_]:
    """(n - 4,) where the five samples around one are of a smooth stretch: even steps, no sudden turn."""
    turn, size = np.abs(right - left), np.maximum(np.abs(left), np.abs(right))
    # A corner turns as much as its sides rise; a sine of eight samples a period never so much at once,
    # but at its crests, where the sides themselves are low: there the neighbours are asked, too.
    around = np.maximum(np.maximum(size[:-2], size[1:-1]), size[2:])
    calm = ~is_uneven
    return np.asarray(calm[:-2] & calm[1:-1] & calm[2:] & (turn[1:-1] <= around))


def _through_five(x: RealArray, y: RealArray) -> RealArray:
    """(n - 4,) the derivative, in its middle, of the polynomial through each five samples."""
    middle = slice(2, len(x) - 2)
    away = [x[2 + step : len(x) - 2 + step] - x[middle] for step in _NEIGHBOURS]
    slope = np.zeros(len(x) - 4)
    for at, (own, step) in enumerate(zip(away, _NEIGHBOURS, strict=True)):
        weight = 1 / own
        for other_at, other in enumerate(away):
            if other_at != at:
                weight *= -other / (own - other)
        slope += weight * (y[2 + step : len(x) - 2 + step] - y[middle])
    return slope


def share_of_time(x: RealArray, y: RealArray, edges: RealArray) -> RealArray:
    """(k,) which part of the way along x the line through (n,) samples is between each two of (k + 1,) edges.

    Exact for straight lines between the samples; what lies beyond the edges is in no part. n >= 2.
    """
    low, high = np.minimum(y[:-1], y[1:]), np.maximum(y[:-1], y[1:])
    weight = np.abs(np.diff(x))
    total = float(weight.sum())
    if total == 0:
        return np.zeros(len(edges) - 1)
    flat = high <= low
    # Below each edge: all of the steps that end below it, and a part of those that pass it.
    below = np.zeros(len(edges))
    rise, start, end = weight[~flat] / (high - low)[~flat], low[~flat], high[~flat]
    for at, edge in enumerate(edges.tolist()):
        below[at] = float((rise * (np.clip(edge, start, end) - start)).sum())
        below[at] += float(weight[flat][low[flat] < edge].sum())
    found = np.diff(below)
    found[-1] += float(weight[flat][low[flat] == edges[-1]].sum())
    return np.asarray(found / total)
