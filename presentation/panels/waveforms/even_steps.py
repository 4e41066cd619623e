"""The shown part of a plot at equal steps: what tables, spectra of other programs and colleagues ask for.

Pure; called off the loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from domain.simulation.resampling import resampled
from domain.simulation.waveform import RealArray
from presentation.panels.waveforms.traces import Axis, Curve, Stretch, Trace

_MOST = 1_000_000
_NICE = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True, slots=True, eq=False)
class EvenTable:
    """One grid, and every curve on it; of a family each run's."""

    head: tuple[str, ...]
    columns: tuple[RealArray, ...]
    """(n,) each, the axis first; NaN where a run has no value."""
    step: float
    """Along the axis; on a logarithmic one in decades."""


def at_even_steps(
    axis: Axis, traces: Sequence[Trace], others: Sequence[Trace], shown: tuple[float, float]
) -> EvenTable:
    """At least as many points as there are samples, a round step apart. `others`: further runs of a family;
    `shown` in coordinates of the axis."""
    low, high = max(shown[0], axis.low), min(shown[1], axis.high)
    places = axis.coordinates[axis.usable]
    inside = int(np.count_nonzero((places >= low) & (places <= high)))
    step = _round_step((high - low) / min(max(inside - 1, 1), _MOST // 3))
    first, last = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6)
    grid: RealArray = np.asarray(np.arange(first, last + 1) * step, dtype=np.float64)
    head = [f"{axis.name} [{axis.unit}]"]
    columns: list[RealArray] = [np.power(10.0, grid) if axis.is_log else grid]
    runs = [trace for trace in others if trace.run]
    for trace in (*traces, *runs):
        run = f" ({trace.run})" if trace.run else ""
        for curve in trace.curves:
            head.append(f"{trace.shown_name}{run} [{curve.pane.unit}]")
            columns.append(_on(grid, curve))
    return EvenTable(tuple(head), tuple(columns), step)


def _round_step(most: float) -> float:
    """1, 2 or 5 times a power of ten, at most so much."""
    power = 10.0 ** math.floor(math.log10(most))
    return max(each for each in _NICE if each * power <= most * (1 + 1e-9)) * power


def _on(grid: RealArray, curve: Curve) -> RealArray:
    """A curve's first stretch on the grid; nothing beyond its ends."""
    stretch: Stretch = curve.stretches[0]
    is_new = np.concatenate(([True], np.diff(stretch.x) > 0))
    x, y = stretch.x[is_new], stretch.y[is_new]
    if len(x) < 2:
        return np.full(len(grid), np.nan)
    values = resampled(x, y, grid)
    if curve.pane.is_log:
        values = 10.0**values
    room = 1e-9 * (x[-1] - x[0])
    return np.where((grid < x[0] - room) | (grid > x[-1] + room), np.nan, values)
