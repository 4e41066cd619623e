"""The eye diagram: a data signal laid over itself, two unit intervals wide."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from domain.simulation.eye import Eye, eye_of, folded
from domain.simulation.signals import Signal
from domain.simulation.waveform import Plot, RealArray
from presentation.panels.waveforms.beside.drawing import (
    BesideOptions,
    Drawing,
    Subject,
    runs_of,
    signals_of,
)
from presentation.panels.waveforms.beside.loci import path_axis, path_of
from presentation.panels.waveforms.figures import joined, quantity
from presentation.panels.waveforms.traces import Curve, PaneKind, Trace
from shared.errors import CircuitAIError
from shared.message import Message, msg


def eye_drawing(subject: Subject, options: BesideOptions) -> Drawing:
    """The shown span of the traces, folded by the clock of the chosen one, else of the last."""
    if subject.plot.axis is None or subject.plot.axis.unit != "s":
        return Drawing(
            problem=msg("An eye diagram needs curves over time: choose a transient analysis above.")
        )
    eye: Eye | None = None
    for expression, _, signal in signals_of(subject, subject.plot, is_real=True):
        if expression == subject.last:
            if isinstance(signal, Message):
                return Drawing(problem=signal)
            try:
                eye = eye_of(_seen(signal, subject), options.period or None)
            except CircuitAIError as error:
                return Drawing(problem=error.message)
    if eye is None:
        return Drawing(problem=msg("No trace is drawn."))
    times: RealArray = np.empty(0)
    places: RealArray = np.empty(0)

    def of_run(plot: Plot) -> Sequence[Trace]:
        nonlocal times, places
        found: list[Trace] = []
        for expression, color, signal in signals_of(subject, plot, is_real=True):
            if isinstance(signal, Signal):
                clock = eye
                if plot is not subject.plot:
                    with suppress(CircuitAIError):  # its own start; else that of the run that is read
                        clock = eye_of(_seen(signal, subject), eye.interval)
                x, y, at = folded(_seen(signal, subject), clock)
                if plot is subject.plot:
                    times, places = at, x
                found.append(path_of(expression, color, x, y, PaneKind(signal.unit)))
        return found

    traces, ghosts = runs_of(subject, of_run)
    reading = Trace(expression="t", color=7, curves=(Curve(pane=PaneKind("s"), stretches=(), values=times),))
    return Drawing(
        axis=path_axis("time", "s", places, traces),
        traces=traces,
        ghosts=ghosts,
        notes=tuple(_notes(eye, options, subject.last, traces)),
        readings=(reading,),
    )


def _seen(signal: Signal, subject: Subject) -> Signal:
    """The part of it that is shown."""
    if subject.span is None:
        return signal
    low, high = float(signal.x[0]), float(signal.x[-1])
    start, stop = max(subject.span[0], low), min(subject.span[1], high)
    return signal.window(start, stop) if low <= start < stop <= high else signal


def _notes(eye: Eye, options: BesideOptions, name: str, traces: Sequence[Trace]) -> list[Message]:
    unit = next(
        (curve.pane.unit for trace in traces if trace.expression == name for curve in trace.curves), ""
    )
    time = joined(*quantity(eye.interval, "s"))
    rate = joined(*quantity(1 / eye.interval, "Hz"))
    notes = [
        msg("{name}: unit interval {time} ({rate}), found from {count} edges",
            name=name, time=time, rate=rate, count=eye.edges)
        if not options.period
        else msg("{name}: unit interval {time}, {count} edges", name=name, time=time, count=eye.edges)
    ]  # fmt: skip
    if eye.height <= 0 or eye.width <= 0:
        notes.append(msg("The eye is closed."))
    else:
        height, width = joined(*quantity(eye.height, unit)), joined(*quantity(eye.width, "s"))
        notes.append(msg("Opening {height} high, {width} wide", height=height, width=width))
    rms, whole = joined(*quantity(eye.jitter_rms, "s")), joined(*quantity(eye.jitter_pp, "s"))
    notes.append(msg("Jitter {rms} RMS, {whole} peak to peak", rms=rms, whole=whole))
    return notes
