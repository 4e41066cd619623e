"""The spectrum of the shown span of a transient: lines over frequency, harmonics marked, figures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from domain.simulation.distortion import Distortion, distortion_of, fundamental_of, settled_start
from domain.simulation.signals import Signal
from domain.simulation.spectrum import Spectrum, WindowName, periods_for, spectrum_of, whole_periods
from domain.simulation.waveform import Plot, RealArray
from presentation.panels.waveforms.beside.drawing import (
    BesideOptions,
    Drawing,
    Subject,
    ToneFigures,
    curve,
    plain_axis,
    runs_of,
    signals_of,
)
from presentation.panels.waveforms.figures import joined, quantity
from presentation.panels.waveforms.plot_marks import LineMark
from presentation.panels.waveforms.traces import Axis, PaneKind, Trace
from shared.errors import CircuitAIError, CircuitError
from shared.message import Message, msg

_DEEPEST_DB = 160.0
"""Under the highest line; what is deeper is arithmetic."""
_Span = tuple[float | None, float | None, tuple[int, float] | None]
"""Start, stop, and of whole periods how many there are, and of what frequency."""
_MARKED_DB = 120.0
"""Harmonics further under the fundamental are not marked."""


def spectrum_drawing(subject: Subject, options: BesideOptions) -> Drawing:
    """The spectra of the traces that are over time."""
    found: list[tuple[str, int, Spectrum]] = []
    figures: list[ToneFigures] = []
    signals = list(signals_of(subject, subject.plot, is_real=True))
    if subject.plot.axis is None or subject.plot.axis.unit != "s":
        return Drawing(
            problem=msg("A spectrum is made from waveforms over time: choose a transient analysis above.")
        )
    start, stop, tone = _span(subject, options, signals)
    for expression, color, signal in signals:
        if not isinstance(signal, Signal):
            continue
        try:
            spectrum = spectrum_of(signal, start=start, stop=stop, window=options.window)
        except CircuitAIError as error:
            figures.append(ToneFigures(expression=expression, color=color, problem=error.message))
            continue
        found.append((expression, color, spectrum))
        figures.append(_figures((expression, color), spectrum, signal, (start, stop, tone)))
    if not found:
        return Drawing(
            figures=tuple(figures),
            problem=next((each.problem for each in figures), None) or msg("No trace is drawn."),
        )
    first = found[0][2]
    axis = plain_axis("frequency", "Hz", first.frequencies, is_log=options.is_log)
    tones = {each.expression: each.distortion for each in figures}
    own = [
        _trace((expression, color), spectrum, tones[expression], axis, options)
        for expression, color, spectrum in found
    ]

    def of_run(plot: Plot) -> Sequence[Trace]:
        return own if plot is subject.plot else _other_run(subject, plot, options, (start, stop))

    traces, ghosts = runs_of(subject, of_run)
    chosen = next((each for each in traces if each.expression == subject.last), traces[0])
    return Drawing(
        axis=axis,
        traces=traces,
        ghosts=ghosts,
        marks=_marks(chosen, axis, tones[chosen.expression]),
        figures=tuple(figures),
        notes=tuple(_notes(first, options, tone, without=_start_up(subject, start, tone))),
    )


def _span(
    subject: Subject, options: BesideOptions, signals: Sequence[tuple[str, int, Signal | Message]]
) -> _Span:
    """Start and stop of what is transformed; of whole periods how many there are, and of what frequency.

    Of the whole record what has settled: a start-up fills the bins between the lines.
    """
    start, stop = subject.span or (None, None)
    if not options.has_whole_periods:
        return start, stop, None
    for expression, _, signal in signals:
        if expression == subject.last and isinstance(signal, Signal):
            low, high = float(signal.x[0]), float(signal.x[-1])
            low, high = max(start or low, low), min(high if stop is None else stop, high)
            with suppress(CircuitError):
                frequency = fundamental_of(signal, low, high)
                if subject.span is None:
                    low = settled_start(signal, frequency, low, high)
                    frequency = fundamental_of(signal, low, high)
                begin, end, count = whole_periods(low, high, frequency)
                if count:
                    return begin, end, (count, frequency)
    return start, stop, None


def _start_up(subject: Subject, start: float | None, tone: tuple[int, float] | None) -> float:
    """Seconds at the beginning of the record that are left out, more than its odd part of a period."""
    if subject.span is not None or start is None or tone is None or subject.plot.axis is None:
        return 0.0
    before = start - float(subject.plot.axis.data.real[0])
    return before if before * tone[1] > 1 else 0.0


def _figures(named: tuple[str, int], spectrum: Spectrum, signal: Signal, span: _Span) -> ToneFigures:
    """Of a span with too few periods for the window those of its whole periods with one that needs fewer."""
    start, stop, tone = span
    try:
        window = spectrum.window if tone is None else _window_for(spectrum, tone[0])
        if window == spectrum.window or tone is None:
            distortion = distortion_of(spectrum)
        else:
            plain = spectrum_of(signal, start=start, stop=stop, window=window)
            distortion = distortion_of(plain, tone[1])
    except CircuitAIError as error:
        return ToneFigures(expression=named[0], color=named[1], unit=spectrum.unit, problem=error.message)
    return ToneFigures(expression=named[0], color=named[1], unit=spectrum.unit, distortion=distortion)


def _window_for(spectrum: Spectrum, periods: int) -> WindowName:
    """That of a spectrum, or the best one that so few whole periods are enough for: without any, what does
    not quite repeat looks like distortion."""
    names: tuple[WindowName, ...] = (spectrum.window, "hann")
    return next((name for name in names if periods >= periods_for(name)), "rectangular")


def _other_run(
    subject: Subject, plot: Plot, options: BesideOptions, span: tuple[float | None, float | None]
) -> list[Trace]:
    """The same spectra in another run of a family; those that cannot be had are left out."""
    found: list[Trace] = []
    for expression, color, signal in signals_of(subject, plot, is_real=True):
        if isinstance(signal, Signal):
            with suppress(CircuitAIError):
                spectrum = spectrum_of(signal, start=span[0], stop=span[1], window=options.window)
                axis = plain_axis("frequency", "Hz", spectrum.frequencies, is_log=options.is_log)
                named = (expression, color)
                figures = _figures(named, spectrum, signal, (*span, None)) if options.level == "dbc" else None
                tone = None if figures is None else figures.distortion
                found.append(_trace(named, spectrum, tone, axis, options))
    return found


def _trace(
    named: tuple[str, int], spectrum: Spectrum, tone: Distortion | None, axis: Axis, options: BesideOptions
) -> Trace:
    pane = PaneKind(spectrum.unit if options.level == "linear" else "dB")
    values = _levels(spectrum.amplitudes, tone, options)
    return Trace(expression=named[0], color=named[1], curves=(curve(axis, pane, values),))


def _levels(amplitudes: RealArray, tone: Distortion | None, options: BesideOptions) -> RealArray:
    if options.level == "linear":
        return amplitudes
    reference = 1.0
    if options.level == "dbc":
        reference = tone.fundamental.amplitude if tone is not None else float(amplitudes[1:].max()) or 1.0
    least = float(amplitudes.max()) * 10 ** (-_DEEPEST_DB / 20) or 1e-30
    return np.asarray(20 * np.log10(np.maximum(amplitudes, least) / reference))


def _marks(trace: Trace, axis: Axis, tone: Distortion | None) -> tuple[LineMark, ...]:
    """The fundamental and its harmonics, where they stand on the curve."""
    if tone is None:
        return ()
    pane, values = trace.curves[0].pane, trace.curves[0].values
    least = tone.fundamental.amplitude * 10 ** (-_MARKED_DB / 20)
    step = float(axis.values[1])
    found: list[LineMark] = []
    for line in (tone.fundamental, *tone.harmonics):
        at = round(line.frequency_hz / step)
        if line.amplitude < least or at >= len(values):
            continue
        near = slice(max(at - 1, 1), at + 2)
        at = near.start + int(np.argmax(values[near]))
        found.append(
            LineMark(
                pane=pane,
                at=float(axis.coordinates[at]),
                level=float(values[at]),
                text=f"{line.order}",
                color=trace.color,
            )
        )
    return tuple(found)


def _notes(
    spectrum: Spectrum, options: BesideOptions, tone: tuple[int, float] | None, *, without: float
) -> list[Message]:
    start, stop = (joined(*quantity(each, "s")) for each in (spectrum.start, spectrum.stop))
    if tone is None:
        notes = [msg("{start} to {stop}", start=start, stop=stop)]
    else:
        notes = [
            msg("{start} to {stop}: {count} {count:period|periods} of {frequency}",
                start=start, stop=stop, count=tone[0], frequency=joined(*quantity(tone[1], "Hz")))
        ]  # fmt: skip
    if without:
        notes.append(msg("the first {time} left out: not settled", time=joined(*quantity(without, "s"))))
    if tone is not None and (window := _window_for(spectrum, tone[0])) != spectrum.window:
        needs = periods_for(spectrum.window)
        notes.append(
            msg("Figures without a window: it needs {count} periods", count=needs)
            if window == "rectangular"
            else msg("Figures with a Hann window: this one needs {count} periods", count=needs)
        )
    notes.append(msg("Resolution {step}", step=joined(*quantity(spectrum.resolution_hz, "Hz"))))
    if spectrum.is_interpolated:
        notes.append(
            msg("{samples} samples at uneven steps, interpolated to {points}",
                samples=f"{spectrum.samples:,}", points=f"{spectrum.points:,}")
        )  # fmt: skip
    else:
        notes.append(msg("{points} samples at equal steps", points=f"{spectrum.points:,}"))
    if options.level == "db":
        unit = joined("1", spectrum.unit)
        notes.append(msg("0 dB is an amplitude of {amplitude}", amplitude=unit))
    elif options.level == "dbc":
        notes.append(msg("0 dB is the fundamental"))
    else:
        notes.append(msg("Peak amplitudes"))
    return notes
