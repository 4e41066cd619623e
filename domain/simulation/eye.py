"""The eye of a data signal: its unit interval, found from the edges or given, how open it is, its jitter.

Sources: the usual definitions of sampling oscilloscopes. The level of decision is the middle between the 5th
and the 95th percentile of the values over time; the opening is measured in the middle of the unit intervals,
jitter where the edges pass that level, against the even clock that fits them best (least squares).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from domain.simulation.signals import Signal
from domain.simulation.waveform import RealArray
from shared.errors import CircuitError
from shared.message import msg

_FEWEST_EDGES = 4
_GRID = 4096
"""Even places at which the levels are read: samples stand closer on edges than between them."""
_SHORTEST_SHARE = 10
"""Percentile of the distances between edges near which one unit interval lies."""
_MOST_UNEVEN = 0.25
"""Of a unit interval: where edges are further from an even clock on average, there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Eye:
    """What an eye diagram tells."""

    interval: float
    """The unit interval in s: the time of one bit."""
    start: float
    """Where one of them begins, s."""
    edges: int
    """How many were seen."""
    level: float
    """Of decision, in the signal's unit."""
    height: float
    """Between the lowest one and the highest zero amid the unit intervals; 0 or less where it is closed."""
    width: float
    """Between the latest edge at the left and the earliest at the right, s; 0 or less where it is closed."""
    jitter_rms: float
    """Of the edges against an even clock, s."""
    jitter_pp: float
    """From the earliest to the latest, s."""


def eye_of(signal: Signal, interval: float | None = None) -> Eye:
    """Measure a real signal over time; `interval`: the unit interval in s, None to find it.

    Raises CircuitError where there are too few edges, no even clock fits them, or the given one cannot be.
    """
    span = float(signal.x[-1] - signal.x[0])
    if interval is not None and not span / len(signal.x) <= interval <= span:
        raise CircuitError(
            msg(
                "The unit interval must be shorter than the shown span and longer than the samples are apart."
            ),
            error_type="bad_interval",
        )
    values = np.interp(np.linspace(signal.x[0], signal.x[-1], _GRID), signal.x, signal.real)
    low, high = np.percentile(values, (5, 95))
    level = float(low + high) / 2
    edges = signal.crossings(level) if high > low else np.zeros(0)
    if len(edges) < _FEWEST_EDGES:
        raise CircuitError(
            msg(
                "An eye needs at least {needed} edges; {found} are in the shown span.",
                needed=_FEWEST_EDGES,
                found=len(edges),
            ),
            error_type="too_few_edges",
        )
    found, start, away = _clock(edges, interval)
    if float(np.abs(away).mean()) > _MOST_UNEVEN * found and interval is None:
        raise CircuitError(
            msg("The edges have no common clock; type the unit interval."), error_type="no_clock"
        )
    first = np.ceil((signal.x[0] - start) / found - 0.5)
    last = np.floor((signal.x[-1] - start) / found - 0.5)
    middles = start + (np.arange(first, last + 1) + 0.5) * found
    held = np.interp(middles, signal.x, signal.real)
    ones, zeros = held[held >= level], held[held < level]
    height = float(ones.min() - zeros.max()) if len(ones) and len(zeros) else 0.0
    spread = float(np.ptp(away))
    return Eye(
        interval=found,
        start=start,
        edges=len(edges),
        level=level,
        height=height,
        width=found - spread,
        jitter_rms=float(away.std()),
        jitter_pp=spread,
    )


def _clock(edges: RealArray, interval: float | None) -> tuple[float, float, RealArray]:
    """Unit interval, where one begins, and (n,) how far each edge is from the clock."""
    if interval is None:
        gaps = np.diff(edges)
        near = gaps[gaps <= 1.5 * np.percentile(gaps, _SHORTEST_SHARE)]
        interval = float(np.median(near))
        counts = np.concatenate(([0.0], np.cumsum(np.maximum(np.round(gaps / interval), 1))))
        slope, start = np.polyfit(counts, edges, 1)
        return float(slope), float(start), edges - (start + slope * counts)
    # The mean on the circle: edges on both sides of a border of intervals belong together.
    turns = np.exp(2j * np.pi * (edges - edges[0]) / interval)
    start = float(edges[0] + np.angle(turns.mean()) / (2 * np.pi) * interval)
    away = edges - start
    return interval, start, away - np.round(away / interval) * interval


def folded(signal: Signal, eye: Eye) -> tuple[RealArray, RealArray, RealArray]:
    """(m,) places within two unit intervals, (m,) values, (m,) times: the signal laid over itself.

    An edge lies at 0 and at one interval, the eye between them. NaN stands where the line begins anew; the
    ends of each piece are interpolated.
    """
    wide, left = 2 * eye.interval, eye.start - eye.interval / 2
    first, last = (int(np.floor((end - left) / wide)) for end in (signal.x[0], signal.x[-1]))
    borders = left + wide * np.arange(first + 1, last + 1)
    borders = borders[(borders > signal.x[0]) & (borders < signal.x[-1])]
    three = np.repeat(np.searchsorted(signal.x, borders), 3)
    ends = np.interp(borders, signal.x, signal.real)
    times = np.insert(signal.x, three, np.repeat(borders, 3))
    values = np.insert(signal.real, three, np.stack((ends, np.full(len(ends), np.nan), ends), 1).ravel())
    # The first of the three ends a piece, the last begins the next one.
    begun = np.arange(len(borders))
    border_turns = np.stack((begun, begun, begun + 1), 1).ravel()
    turns = first + np.insert(np.searchsorted(borders, signal.x, "right"), three, border_turns)
    places = times - left - turns * wide - eye.interval / 2
    return np.where(np.isnan(values), np.nan, places), values, times
