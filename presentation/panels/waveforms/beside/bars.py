"""Bars: how long a trace stays at which value, and the harmonics that a circuit's `.four` cards ask for."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from domain.simulation.resampling import share_of_time
from domain.simulation.signals import Signal
from domain.simulation.waveform import Plot, RealArray
from presentation.panels.waveforms.beside.drawing import (
    BesideOptions,
    Drawing,
    Subject,
    curve,
    plain_axis,
    runs_of,
    signals_of,
)
from presentation.panels.waveforms.traces import Axis, PaneKind, Trace
from shared.message import Message, msg

_BINS = 100
_WIDE = 0.8
"""Of the room of a bar, what all signals' bars take together."""
_DEEPEST_DB = 120.0
_HARMONIC = re.compile(
    r"(?P<card>four\d*)_(?P<signal>.+)_(?P<what>h(?P<order>\d+)|dc|thd)(?:@(?P<run>\d+))?", re.IGNORECASE
)


def histogram_drawing(subject: Subject, _options: BesideOptions) -> Drawing:
    """The share of the shown span (in time, or along the axis) that each trace spends at each value."""
    signals = [
        (expression, color, signal)
        for expression, color, signal in signals_of(subject, subject.plot, is_real=True)
        if isinstance(signal, Signal) and len(signal.x) > 1
    ]
    first = next((each for each in signals if each[0] == subject.first), None)
    if first is None:
        return Drawing(problem=msg("No trace is drawn."))
    unit = first[2].unit
    alike = [each for each in signals if each[2].unit == unit]
    parts = [(expression, color, _shown(signal, subject)) for expression, color, signal in alike]
    low = min(float(np.nanmin(part.real)) for _, _, part in parts)
    high = max(float(np.nanmax(part.real)) for _, _, part in parts)
    if not math.isfinite(high - low):
        return Drawing(problem=msg("{name} is not a finite number everywhere.", name=first[0]))
    if high <= low:
        low, high = low - max(abs(low), 1.0) * 0.01, high + max(abs(high), 1.0) * 0.01
    edges = np.linspace(low, high, _BINS + 1)
    axis = plain_axis(first[0], unit, np.repeat(edges, 2))

    def of_run(plot: Plot) -> Sequence[Trace]:
        found = []
        for expression, color, signal in signals_of(subject, plot, is_real=True):
            if isinstance(signal, Signal) and signal.unit == unit and len(signal.x) > 1:
                part = _shown(signal, subject)
                found.append(_steps(expression, color, axis, share_of_time(part.x, part.real, edges)))
        return found

    traces, ghosts = runs_of(subject, of_run)
    notes: list[Message] = [msg("Share of the shown span in {bins} classes", bins=_BINS)]
    others = [expression for expression, _, signal in signals if signal.unit != unit]
    if others:
        notes.append(msg("Of another unit and not drawn: {names}", names=", ".join(others)))
    return Drawing(axis=axis, traces=traces, ghosts=ghosts, notes=tuple(notes))


def _shown(signal: Signal, subject: Subject) -> Signal:
    """The part of it in the shown span."""
    if subject.span is None or not signal.ascends:
        return signal
    low, high = (min(max(end, float(signal.x[0])), float(signal.x[-1])) for end in subject.span)
    return signal.window(low, high) if low < high else signal


def _steps(expression: str, color: int, axis: Axis, shares: RealArray) -> Trace:
    """The outline of bars, (bins,) fractions, as percent."""
    outline = np.concatenate(([0.0], np.repeat(100 * shares, 2), [0.0]))
    return Trace(expression=expression, color=color, curves=(curve(axis, PaneKind("%"), outline),))


def harmonics_drawing(subject: Subject, options: BesideOptions) -> Drawing:
    """The harmonics of the circuit's `.four` cards as bars, a group for each order."""
    cards: dict[str, dict[int, float]] = {}
    units: dict[str, str] = {}
    shares: dict[str, float] = {}
    step = "" if subject.plot.step is None else f"{subject.plot.step.number}"
    for name, value, unit in subject.metrics:
        found = _HARMONIC.fullmatch(name)
        if found is None or found["run"] not in (None, step) or not math.isfinite(value):
            continue
        signal = found["signal"]
        if found["card"].lower() != "four":
            signal += f" ({found['card']})"
        if found["order"]:
            cards.setdefault(signal, {})[int(found["order"])] = value
            units[signal] = unit
        elif found["what"].lower() == "thd":
            shares[signal] = value
    if not cards:
        return Drawing(problem=msg("There are no .four harmonics in this run."))
    last = max(max(orders) for orders in cards.values())
    axis = plain_axis("n", "", _edges_of_bars(last, len(cards)))
    colors = dict(subject.traces)
    is_linear = options.level == "linear"
    levels = {}
    for signal, orders in cards.items():
        amplitudes = np.array([orders.get(order, 0.0) for order in range(1, last + 1)])
        levels[signal] = amplitudes if is_linear else _relative_db(amplitudes)
    least = min(float(np.nanmin(each)) for each in levels.values())
    ground = 0.0 if is_linear else 10 * math.floor(least / 10) - 10.0
    traces: list[Trace] = []
    for number, signal in enumerate(cards):
        pane = PaneKind(units[signal] if is_linear else "dB")
        heights = _outlines(levels[signal], number, len(cards), ground)
        color = colors.get(signal, len(colors) + number)
        traces.append(Trace(expression=signal, color=color, curves=(curve(axis, pane, heights),)))
    notes: list[Message] = [
        msg("THD of {signal}: {percent} %", signal=signal, percent=f"{100 * share:.3g}")
        for signal, share in shares.items()
    ]
    if options.level != "linear":
        notes.append(msg("0 dB is the fundamental"))
    return Drawing(axis=axis, traces=tuple(traces), notes=tuple(notes))


def _edges_of_bars(last: int, count: int) -> RealArray:
    """(5 * last * count,) where each order's bars begin and end, one signal beside the other; the fifth place
    of each is where the pen is lifted."""
    each = _WIDE / count
    lefts = np.arange(1, last + 1)[:, None] - _WIDE / 2 + each * np.arange(count)
    rights = lefts + each
    return np.stack((lefts, lefts, rights, rights, rights), axis=-1).ravel()


def _relative_db(levels: RealArray) -> RealArray:
    """What is too small to be one is no bar."""
    first = float(levels[0]) or float(levels.max()) or 1.0
    decibels = 20 * np.log10(np.maximum(levels, 1e-30) / first)
    return np.where(decibels < -_DEEPEST_DB, np.nan, decibels)


def _outlines(levels: RealArray, number: int, count: int, ground: float) -> RealArray:
    """(5 * n * count,) the outline of one signal's bars; where the others' are there is nothing."""
    found = np.full((len(levels), count, 5), np.nan)
    is_there = np.isfinite(levels)
    found[is_there, number, :4] = ground
    found[is_there, number, 1:3] = levels[is_there, None]
    return found.ravel()


def has_harmonics(names: Sequence[str]) -> bool:
    """Whether a run has figures of `.four` cards."""
    return any(_HARMONIC.fullmatch(name) for name in names)
