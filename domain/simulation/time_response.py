"""Measurements of a waveform in time: edges, settling, periods, distortion.

Levels. A record that ends settled (its last 5 % moves by less than a tenth of the whole) away from
where it began is a step: from its first value to the mean of those last 5 %. Any other record has two
states, the most frequent values of its lower and of its upper half (the histogram method of
IEEE Std 181), or its extremes when no value stands out.

All return floats in SI units and raise CircuitError, with figures, when the record does not show
what is asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from domain.simulation.resampling import resampled
from domain.simulation.signals import Signal, figure
from domain.simulation.waveform import RealArray
from shared.errors import CircuitError, UserInputError
from shared.message import msg

_TAIL = 0.05
_LEAST = float(np.finfo(float).tiny)
"""Below it half of a value may be nothing."""
_SETTLED = 0.1
_HISTOGRAM_BINS = 256
_HISTOGRAM_SAMPLES = 16384
_PROMINENT = 3.0
_STARTED = 1e-4
_HYSTERESIS = 0.1
_RIPPLE_PERIODS = 10
_SAMPLES_PER_PERIOD = 1024
_MOST_PERIODS = 256
THD_HARMONICS = 9
"""Highest harmonic counted by default, as ngspice's .four."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """The two levels between which a waveform moves."""

    low: float
    high: float
    initial: float
    final: float
    """Mean of the last 5 % of the record."""
    is_step: bool
    """It went once from `initial` to `final` and settled there."""

    @property
    def swing(self) -> float:
        return self.high - self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    start: float
    stop: float


def levels_of(signal: Signal) -> Levels:
    """The levels of a waveform; the rule is in the module's docstring. Raises when it is constant."""
    x, y = signal.x, signal.real
    extent = float(np.ptp(y))
    if len(x) < 3 or extent <= max(1e-12 * float(np.abs(y).max()), _LEAST):
        raise CircuitError(
            msg("The waveform is constant at {value}.", value=figure(float(y[0]), signal.unit))
        )
    tail = signal.window(float(x[-1]) - _TAIL * float(np.ptp(x)), float(x[-1]))
    initial, final = float(y[0]), average(tail)
    is_settled = float(np.ptp(tail.real)) <= _SETTLED * extent
    if is_settled and abs(final - initial) > _SETTLED * extent:
        low, high = min(initial, final), max(initial, final)
        return Levels(low=low, high=high, initial=initial, final=final, is_step=True)
    low, high = _states(x, y)
    return Levels(low=low, high=high, initial=initial, final=final, is_step=False)


def _states(x: RealArray, y: RealArray) -> tuple[float, float]:
    """The most frequent values of the lower and the upper half of the range, by time."""
    samples = np.interp(np.linspace(x[0], x[-1], _HISTOGRAM_SAMPLES), x, y)
    edges = np.linspace(float(y.min()), float(y.max()), _HISTOGRAM_BINS + 1)
    counts, _ = np.histogram(samples, edges)
    half = _HISTOGRAM_BINS // 2
    found = []
    for first, stop, extreme in ((0, half, edges[0]), (half, _HISTOGRAM_BINS, edges[-1])):
        best = first + int(np.argmax(counts[first:stop]))
        if counts[best] < _PROMINENT * _HISTOGRAM_SAMPLES / _HISTOGRAM_BINS:
            found.append(float(extreme))
            continue
        inside = (samples >= edges[best]) & (samples <= edges[best + 1])
        found.append(float(samples[inside].mean()))
    return found[0], found[1]


def average(signal: Signal) -> float:
    """Mean over the axis by trapezoids (steps need not be equal; nested sweeps each by itself)."""
    return _mean(signal, signal.real)


def rms(signal: Signal) -> float:
    """Root of the mean square over the axis, by trapezoids."""
    return math.sqrt(_mean(signal, signal.real**2))


def _mean(signal: Signal, values: RealArray) -> float:
    steps = np.abs(np.diff(signal.x)) * signal.forward()
    span = float(steps.sum())
    if span == 0:
        return float(values.mean())
    return float((steps * (values[1:] + values[:-1])).sum()) / (2 * span)


def rise_time(signal: Signal) -> float:
    """Time of the first rising edge from 10 % to 90 % of the way between the levels."""
    edge = _edge(signal, levels_of(signal), "rising")
    return edge.stop - edge.start


def fall_time(signal: Signal) -> float:
    """Time of the first falling edge from 90 % to 10 % of the way between the levels."""
    edge = _edge(signal, levels_of(signal), "falling")
    return edge.stop - edge.start


def slew_rate(signal: Signal) -> float:
    """Slope between 10 % and 90 % of the first edge, rising or falling (positive), unit/s."""
    levels = levels_of(signal)
    edges = [edge for way in ("rising", "falling") if (edge := _find_edge(signal, levels, way)) is not None]
    if not edges:
        raise _no_edge(signal, levels)
    first = min(edges, key=lambda edge: edge.start)
    return 0.8 * levels.swing / (first.stop - first.start)


def _edge(signal: Signal, levels: Levels, way: Literal["rising", "falling"]) -> _Edge:
    edge = _find_edge(signal, levels, way)
    if edge is None:
        raise _no_edge(signal, levels)
    return edge


def _find_edge(signal: Signal, levels: Levels, way: str) -> _Edge | None:
    near, far = levels.low + 0.1 * levels.swing, levels.low + 0.9 * levels.swing
    direction: Literal["rising", "falling"] = "rising"
    if way == "falling":
        near, far, direction = far, near, "falling"
    starts, stops = signal.crossings(near, direction), signal.crossings(far, direction)
    for stop in stops:
        before = starts[starts <= stop]
        if len(before):
            return _Edge(start=float(before[-1]), stop=float(stop))
    return None


def _no_edge(signal: Signal, levels: Levels) -> CircuitError:
    return CircuitError(
        msg("The waveform has no such edge between 10 % and 90 % of {low} - {high}: it begins at {initial} "
            "and ends at {final}.",
            low=figure(levels.low, signal.unit), high=figure(levels.high, signal.unit),
            initial=figure(levels.initial, signal.unit), final=figure(levels.final, signal.unit))
    )  # fmt: skip


def overshoot(signal: Signal) -> float:
    """How far the waveform goes beyond the level it moves to, as a fraction of the step; >= 0."""
    levels = levels_of(signal)
    y = signal.real
    if levels.is_step:
        is_rising = levels.final > levels.initial
    else:
        middle = (levels.low + levels.high) / 2
        rising, falling = signal.crossings(middle, "rising"), signal.crossings(middle, "falling")
        is_rising = not len(falling) or (len(rising) > 0 and rising[0] < falling[0])
    beyond = float(y.max()) - levels.high if is_rising else levels.low - float(y.min())
    return max(beyond, 0.0) / levels.swing


def settling_time(signal: Signal, tolerance: float = 0.02) -> float:
    """Time from the start of a step until it stays within `tolerance` * step of its final value.

    The step starts where the waveform has first moved by 1e-4 of it.
    """
    if not 0 < tolerance < 1:
        raise UserInputError(
            msg("The tolerance of settling_time is a fraction of the step, such as 0.01 for 1 %.")
        )
    levels = levels_of(signal)
    x, y = signal.x, signal.real
    if not levels.is_step:
        raise _not_settled(signal, levels)
    step = levels.final - levels.initial
    moved = (y - levels.initial) / step
    start = _first_passing(x, np.abs(moved), _STARTED)
    away = np.abs(y - levels.final) / abs(step)
    last_outside = int(np.flatnonzero(away > tolerance)[-1])
    if last_outside == len(x) - 1:
        raise _not_settled(signal, levels)
    pair = slice(last_outside, last_outside + 2)
    edge = levels.final + math.copysign(tolerance * step, y[last_outside] - levels.final)
    stop = x[last_outside] + (edge - y[last_outside]) / np.diff(y[pair])[0] * np.diff(x[pair])[0]
    return float(stop) - start


def _first_passing(x: RealArray, values: RealArray, level: float) -> float:
    after = int(np.argmax(values > level))
    if after == 0:
        return float(x[0])
    low, high = values[after - 1], values[after]
    return float(x[after - 1] + (level - low) / (high - low) * (x[after] - x[after - 1]))


def _not_settled(signal: Signal, levels: Levels) -> CircuitError:
    return CircuitError(
        msg("The waveform has not settled by the end of the record, {stop}: it began at {initial} and is "
            "about {final}.", stop=figure(float(signal.x[-1]), signal.axis_unit),
            initial=figure(levels.initial, signal.unit), final=figure(levels.final, signal.unit)),
        advice=msg("Simulate longer, with a single step as input."),
    )  # fmt: skip


def frequency(signal: Signal) -> float:
    """Mean frequency in Hz of the whole periods in the second half of the record (or in all of it,
    when the half has none). A period runs from one rise through the middle to the next; wiggles of
    less than a tenth of the swing do not count."""
    starts = period_starts(signal)
    return (len(starts) - 1) / float(starts[-1] - starts[0])


def period(signal: Signal) -> float:
    """1 / frequency, in s."""
    return 1 / frequency(signal)


def duty(signal: Signal) -> float:
    """Fraction of the time above the middle between the extremes, over the whole periods."""
    starts = period_starts(signal)
    part = signal.window(float(starts[0]), float(starts[-1]))
    above = part.real - _middle(_second_half(signal).real)
    d0, d1 = above[:-1], above[1:]
    rise = np.maximum(d0, 0) + np.maximum(d1, 0)
    size = np.abs(d0) + np.abs(d1)
    share = np.divide(rise, size, where=size > 0, out=np.ones_like(size))
    return float((share * np.diff(part.x)).sum() / np.ptp(part.x))


def ripple(signal: Signal) -> float:
    """Peak-to-peak value in the steady state: over the last whole periods (at most 10) of the second
    half of the record, or over that half when it has none."""
    half = _second_half(signal)
    starts = _rises(half)
    if len(starts) >= 2:
        first = starts[max(-len(starts), -_RIPPLE_PERIODS - 1)]
        half = half.window(float(first), float(starts[-1]))
    return float(np.ptp(half.real))


def delay(signal: Signal, later: Signal) -> float:
    """Time from the first passing of the middle level of one waveform to the next passing of the
    middle level of the other, whatever their directions."""
    first = _middle_crossings(signal)
    start = float(first[0])
    following = _middle_crossings(later)
    after = following[following >= start]
    if not len(after):
        raise CircuitError(
            msg("The second waveform does not cross its midpoint after {start}.",
                start=figure(start, signal.axis_unit))
        )  # fmt: skip
    return float(after[0]) - start


def thd(signal: Signal, fundamental_hz: float, harmonics: float = THD_HARMONICS) -> float:
    """Total harmonic distortion, a fraction: rms of harmonics 2 to 9 (or `harmonics`) over the
    fundamental, from the whole periods in the second half of the record (or its last period).

    The uneven time steps are brought to an even grid by cubic Hermite interpolation. The harmonics
    counted are those of ngspice's .four.
    """
    if not 2 <= harmonics <= _SAMPLES_PER_PERIOD // 4:
        raise UserInputError(
            msg("thd(x, f0) needs a positive fundamental frequency, and 2 or more harmonics.")
        )
    spectrum = harmonics_of(signal, fundamental_hz)
    return float(np.linalg.norm(spectrum[2 : int(harmonics) + 1]) / spectrum[1])


def harmonics_of(signal: Signal, fundamental_hz: float) -> RealArray:
    """(n,) peak amplitudes of the harmonics, the mean first and the fundamental second, from the whole
    periods in the second half of the record (or its last period).

    Raises CircuitError for a record shorter than a period and one without the fundamental.
    """
    if not fundamental_hz > 0:
        raise UserInputError(
            msg("thd(x, f0) needs a positive fundamental frequency, and 2 or more harmonics.")
        )
    record = float(np.ptp(signal.x)) * fundamental_hz
    if record < 1 - 1e-6:
        raise CircuitError(
            msg("The record of {length} is shorter than one period of {frequency}.",
                length=figure(float(np.ptp(signal.x)), "s"), frequency=figure(fundamental_hz, "Hz"))
        )  # fmt: skip
    periods = min(max(int(record / 2 + 1e-6), 1), _MOST_PERIODS)
    stop = float(signal.x[-1])
    count = periods * _SAMPLES_PER_PERIOD
    grid = stop - periods / fundamental_hz * (1 - np.arange(count) / count)
    spectrum = np.fft.rfft(resampled(signal.x, signal.real, grid))[::periods] / count
    amplitudes = 2 * np.abs(spectrum)
    if amplitudes[1] <= 1e-12 * amplitudes.max():
        raise CircuitError(
            msg("The waveform has no component at {frequency}.", frequency=figure(fundamental_hz, "Hz"))
        )
    amplitudes[0] = spectrum[0].real
    return np.asarray(amplitudes)


def _second_half(signal: Signal) -> Signal:
    x = signal.x
    return signal.window(float(x[0] + x[-1]) / 2, float(x[-1]))


def _middle(values: RealArray) -> float:
    return (float(values.min()) + float(values.max())) / 2


def _middle_crossings(signal: Signal) -> RealArray:
    levels = levels_of(signal)
    return signal.crossings((levels.low + levels.high) / 2)


def period_starts(signal: Signal) -> RealArray:
    """Where its whole periods begin and the last one ends: rises through the middle, of the second half of
    the record where it has two, else of all of it, else its falls. Raises when there is no whole period."""
    for part in (_second_half(signal), signal):
        starts = _rises(part)
        if len(starts) >= 2 and starts[-1] > starts[0]:
            return starts
    falls = _rises(replace(signal, y=-signal.real))
    if len(falls) >= 2 and falls[-1] > falls[0]:
        return falls
    y = signal.real
    raise CircuitError(
        msg("The waveform has no complete period between {start} and {stop}; it varies between {low} "
            "and {high}.",
            start=figure(float(signal.x[0]), signal.axis_unit),
            stop=figure(float(signal.x[-1]), signal.axis_unit),
            low=figure(float(y.min()), signal.unit), high=figure(float(y.max()), signal.unit)),
        advice=msg("Simulate at least two periods."),
    )  # fmt: skip


def _rises(signal: Signal) -> RealArray:
    """Rises through the middle that follow a stay well below it and lead well above it."""
    y = signal.real
    middle, margin = _middle(y), _HYSTERESIS * float(np.ptp(y))
    if margin <= 1e-9 * float(np.abs(y).max()):
        return np.zeros(0)
    side = np.where(y >= middle + margin, 1, np.where(y <= middle - margin, -1, 0))
    decided = np.flatnonzero(side)
    changes = np.flatnonzero((side[decided][:-1] < 0) & (side[decided][1:] > 0))
    arrivals = signal.x[decided[changes + 1]]
    crossings = signal.crossings(middle, "rising")
    if not len(crossings):  # numbers so large, or so small, that they cannot be reckoned with
        return crossings
    return crossings[np.searchsorted(crossings, arrivals, side="right") - 1]
