"""Curves that go where they like: Nyquist's locus, and a trace drawn against another one.

Samples keep their order: a cursor walks along the curve, not along the axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from domain.simulation.expressions import evaluate_vector
from domain.simulation.signals import Signal
from domain.simulation.waveform import Plot, RealArray
from presentation.panels.waveforms.beside.drawing import (
    BesideOptions,
    Drawing,
    Subject,
    place_reading,
    runs_of,
    signals_of,
)
from presentation.panels.waveforms.plot_marks import LineMark
from presentation.panels.waveforms.traces import Axis, Curve, PaneKind, Stretch, Trace
from shared.errors import CircuitAIError
from shared.message import Message, msg

_NEAR = 4.0
"""Around the critical point so much is shown at first where the locus is far larger."""
_FAR = 8.0
_CIRCLE = 181
_COARSE = 4096
"""Cells in each direction that are told apart when all of a line is seen."""


class Path(Stretch):
    """A line through samples in their own order; both directions are cut down together."""

    def __init__(self, x: RealArray, y: RealArray) -> None:
        """x, y: (n,) places; NaN where there is none."""
        super().__init__(x, y)
        known = x[np.isfinite(x)]
        self._ends = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        low, high = self.bounds or (0.0, 0.0)
        cell = (self._ends[1] - self._ends[0]) / _COARSE, (high - low) / _COARSE
        self._coarse = _moved(x, y, cell) if len(x) > _COARSE else (x, y)
        """For looking at all of it: of a million samples few are seen."""

    def visible(self, low: float, high: float, columns: int) -> tuple[RealArray, RealArray]:
        """(m,), (m,) what to draw of it: steps of less than half a pixel are left out, and what is outside;
        NaN stands where the line leaves the part that is shown."""
        first, last = self._ends
        low_y, high_y = self.bounds or (0.0, 0.0)
        # Zoomed in upward only the part along x is known: the finer cell of both is taken.
        cell = (high - low) / (2 * max(columns, 1))
        share = cell / (last - first) if last > first else 1.0
        cells = cell, share * (high_y - low_y)
        if share * _COARSE >= 1:
            return _moved(*self._coarse, cells)
        inside = (self.x >= low) & (self.x <= high)
        kept = inside.copy()
        kept[1:] |= inside[:-1]
        kept[:-1] |= inside[1:]
        places = np.flatnonzero(kept)
        x, y = self.x[places], self.y[places]
        gaps = np.flatnonzero(np.diff(places) > 1) + 1
        return _moved(np.insert(x, gaps, np.nan), np.insert(y, gaps, np.nan), cells)


def _moved(x: RealArray, y: RealArray, cell: tuple[float, float]) -> tuple[RealArray, RealArray]:
    """(m,), (m,) the samples at which a line enters another cell; its ends stay, and its gaps."""
    if len(x) < 3:
        return x, y
    wide, high = (max(each, 1e-300) for each in cell)
    across, upward = np.floor(x / wide), np.floor(y / high)
    moves = (across[1:] != across[:-1]) | (upward[1:] != upward[:-1])  # NaN is another than anything
    kept = np.concatenate(([True], moves))
    kept[-1] = True
    return x[kept], y[kept]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PathAxis(Axis):
    """What is drawn across; several samples may have one place."""

    def nearest(self, coordinate: float) -> int:
        """The sample whose place is nearest, of several the first."""
        away = np.abs(self.coordinates[self.usable] - coordinate)
        return int(self.usable.start) + int(np.nanargmin(away))

    def stepped(self, index: int, steps: int) -> int:
        """The sample so many further along the curve."""
        return min(max(index + steps, int(self.usable.start)), int(self.usable.stop) - 1)


def nyquist_drawing(subject: Subject, _options: BesideOptions) -> Drawing:
    """Imaginary over real part of complex traces, with the point -1 and the circle through it."""
    if subject.plot.axis is None or subject.plot.axis.unit != "Hz":
        return Drawing(
            problem=msg("A Nyquist plot needs a response over frequency: choose an AC analysis above.")
        )

    def of_run(plot: Plot) -> list[Trace]:
        return [
            path_of(expression, color, signal.y.real, signal.y.imag, PaneKind(signal.unit))
            for expression, color, signal in signals_of(subject, plot)
            if isinstance(signal, Signal) and np.iscomplexobj(signal.y)
        ]

    traces, ghosts = runs_of(subject, of_run)
    if not traces:
        return Drawing(problem=msg("No drawn trace is complex: a Nyquist plot needs v(out), not db(v(out))."))
    first = next((each for each in traces if each.expression == subject.first), traces[0])
    signal = next(
        each
        for name, _, each in signals_of(subject, subject.plot)
        if name == first.expression and isinstance(each, Signal)
    )
    axis = path_axis("re", signal.unit, signal.y.real, traces)
    mirrored = [_mirrored(trace) for trace in traces]
    pane = first.curves[0].pane
    critical = LineMark(pane=pane, at=-1.0, level=0.0, text="\N{MINUS SIGN}1", color=None)
    largest = max(float(np.nanmax(np.hypot(curve.stretches[0].x, curve.values)))
                  for trace in traces for curve in trace.curves)  # fmt: skip
    view = ((-_NEAR / 2, _NEAR / 2), (-_NEAR / 2, _NEAR / 2)) if largest > _FAR else None
    notes: list[Message] = [msg("Negative frequencies thin; the circle is a gain of 1")]
    if view is not None:
        notes.append(msg("Shown around {minus_one}; F shows everything", minus_one="\N{MINUS SIGN}1"))
    return Drawing(
        axis=axis,
        traces=traces,
        ghosts=(*ghosts, *mirrored, _unit_circle(pane)),
        marks=(critical,),
        notes=tuple(notes),
        view=view,
        is_square=True,
        readings=place_reading(subject.plot),
    )


def against_drawing(subject: Subject, options: BesideOptions) -> Drawing:
    """The traces over another vector of the same plot."""
    across = options.against or subject.first
    if not across:
        return Drawing(problem=msg("No trace is drawn."))
    try:
        horizontal = _real(evaluate_vector(across, [subject.plot]), across)
    except CircuitAIError as error:
        return Drawing(problem=error.message)
    if isinstance(horizontal, Message):
        return Drawing(problem=horizontal)
    problems: dict[str, Message] = {}

    def of_run(plot: Plot) -> Sequence[Trace]:
        try:
            over = _real(evaluate_vector(across, [plot]), across)
        except CircuitAIError:
            return []  # a run that broke off before
        if isinstance(over, Message):
            return []
        found: list[Trace] = []
        for expression, color, signal in signals_of(subject, plot):
            if expression == across or not isinstance(signal, Signal):
                continue
            values = _real(signal, expression)
            if isinstance(values, Message):
                problems[expression] = values
            else:
                found.append(path_of(expression, color, over.y.real, values.y.real, PaneKind(values.unit)))
        return found

    traces, ghosts = runs_of(subject, of_run)
    if not traces:
        nothing = msg("Draw another trace, or choose another one across than {name}.", name=across)
        return Drawing(problem=next(iter(problems.values()), nothing))
    axis = path_axis(across, horizontal.unit, horizontal.y.real, traces)
    return Drawing(
        axis=axis,
        traces=traces,
        ghosts=ghosts,
        notes=tuple(problems.values()),
        readings=place_reading(subject.plot),
    )


def _real(signal: Signal, expression: str) -> Signal | Message:
    """A vector that has one value at each sample."""
    if not np.iscomplexobj(signal.y):
        return signal
    return msg("{name} is complex here: choose db({name}), ph({name}), re({name}) or im({name}).",
               name=expression)  # fmt: skip


def path_of(expression: str, color: int, across: RealArray, upward: RealArray, pane: PaneKind) -> Trace:
    is_there = np.isfinite(across) & np.isfinite(upward)
    x, y = np.where(is_there, across, np.nan), np.where(is_there, upward, np.nan)
    return Trace(
        expression=expression, color=color, curves=(Curve(pane=pane, values=y, stretches=(Path(x, y),)),)
    )


def _mirrored(trace: Trace) -> Trace:
    curve = trace.curves[0]
    stretch = curve.stretches[0]
    return Trace(
        expression=trace.expression,
        color=trace.color,
        curves=(Curve(pane=curve.pane, values=-curve.values, stretches=(Path(stretch.x, -stretch.y),)),),
        is_ghost=True,
    )


def _unit_circle(pane: PaneKind) -> Trace:
    angle = np.linspace(0, 2 * np.pi, _CIRCLE)
    x, y = np.cos(angle), np.sin(angle)
    return Trace(
        expression="",
        color=7,
        curves=(Curve(pane=pane, values=y, stretches=(Path(x, y),)),),
        is_ghost=True,
    )


def path_axis(name: str, unit: str, across: RealArray, traces: Sequence[Trace]) -> PathAxis:
    """As wide as all of the curves; cursors walk along the first run's samples."""
    ends = [stretch.x for trace in traces for curve in trace.curves for stretch in curve.stretches]
    known = np.flatnonzero(np.isfinite(across))
    low = min(float(np.nanmin(each)) for each in ends)
    high = max(float(np.nanmax(each)) for each in ends)
    room = 0.03 * (high - low)
    return PathAxis(
        name=name,
        unit=unit,
        is_log=False,
        values=across,
        coordinates=across,
        parts=(slice(0, len(across)),),
        usable=slice(int(known[0]), int(known[-1]) + 1) if len(known) else slice(0, len(across)),
        low=low - room,
        high=high + room,
    )
