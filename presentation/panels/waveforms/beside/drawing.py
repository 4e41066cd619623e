"""What a drawing beside the curves is made of, and what comes out: curves, marks, figures, words.

Pure; whoever makes one is called off the loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from domain.simulation.distortion import Distortion
from domain.simulation.expressions import evaluate_vector, step_named_in
from domain.simulation.signals import Signal
from domain.simulation.spectrum import WindowName
from domain.simulation.waveform import Plot, RealArray
from presentation.panels.waveforms.family import drawn_of, shade_of, step_label, without
from presentation.panels.waveforms.plot_marks import Mark
from presentation.panels.waveforms.traces import Axis, Curve, PaneKind, Stretch, Trace
from shared.errors import CircuitAIError
from shared.message import Message

if TYPE_CHECKING:
    from presentation.panels.waveforms.shown_result import Measured, ShownResult

BesideKind = Literal["spectrum", "nyquist", "against", "histogram", "eye", "harmonics", "steps"]
Level = Literal["db", "dbc", "linear"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideOptions:
    """What somebody has chosen."""

    kind: BesideKind = "spectrum"
    window: WindowName = "blackman-harris"
    level: Level = "db"
    is_log: bool = True
    """Frequencies in decades."""
    has_whole_periods: bool = True
    """The shown span is cut to whole periods of the chosen trace."""
    against: str = ""
    """The expression across; "" for the first trace."""
    period: float = 0.0
    """The unit interval of an eye, s; 0: it is found from the edges."""
    figure: str = ""
    """The measurement that is drawn against the steps; "" for the first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SteppedFigure:
    """A measurement in each run of a `.step`."""

    name: str
    unit: str
    points: tuple[tuple[Mapping[str, float], float | None], ...]
    """The stepped values of a run, and what was measured; None where it could not be had."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """Which traces, of which run, over which part of the axis."""

    plot: Plot
    family: tuple[Plot, ...] = ()
    """All runs of a `.step`; () for a single plot."""
    left_out: frozenset[int] = frozenset()
    """The runs that are not drawn, by number."""
    traces: tuple[tuple[str, int], ...]
    """Expressions with their colours."""
    span: tuple[float, float] | None = None
    """In the axis' unit; None for all of it."""
    chosen: str | None = None
    """The trace that is meant where there is one only."""
    metrics: tuple[tuple[str, float, str], ...] = ()
    """Name, value and unit of the run's own figures."""
    measured: tuple[SteppedFigure, ...] = ()
    """What was measured in each run of a `.step`."""

    @property
    def first(self) -> str:
        """The chosen trace, else the first."""
        return self._chosen_or(0)

    @property
    def last(self) -> str:
        """The chosen trace, else the last: an output stands behind its input."""
        return self._chosen_or(-1)

    def _chosen_or(self, place: int) -> str:
        names = [expression for expression, _ in self.traces]
        return self.chosen if self.chosen in names else names[place] if names else ""


def subject_of(
    plot: Plot,
    runs: tuple[tuple[Plot, ...], frozenset[int]],
    traces: Sequence[Trace],
    axis: Axis | None,
    seen: tuple[float, float] | None,
    *,
    chosen: str | None,
    shown: ShownResult,
) -> Subject:
    """What is drawn, as a subject; `seen` in coordinates of the axis, None for all of it.

    `runs`: those of the family, and the numbers of those left out.
    """
    span = seen
    if seen is not None and axis is not None and axis.is_log:
        span = 10.0 ** seen[0], 10.0 ** seen[1]
    figures = None if shown.loaded is None else shown.loaded.figures
    metrics = {} if figures is None else figures.metrics
    return Subject(
        plot=plot,
        family=runs[0],
        left_out=runs[1],
        traces=tuple((trace.expression, trace.color) for trace in traces),
        span=span,
        chosen=chosen,
        metrics=tuple((name, each.value, each.unit) for name, each in metrics.items()),
        measured=tuple(_stepped(item) for item in shown.measurements if item.steps),
    )


def _stepped(item: Measured) -> SteppedFigure:
    points: list[tuple[Mapping[str, float], float | None]] = []
    unit = ""
    for step in item.steps:
        value = None
        if step.value is not None and math.isfinite(step.value.value):
            value, unit = item.as_shown(step.value)
        points.append((step.values, value))
    return SteppedFigure(name=item.shown_name, unit=unit, points=tuple(points))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToneFigures:
    """One line of figures: of one trace's spectrum, or why there are none."""

    expression: str
    color: int
    unit: str = ""
    distortion: Distortion | None = None
    problem: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawing:
    """What is shown beside the curves."""

    axis: Axis | None = None
    traces: tuple[Trace, ...] = ()
    ghosts: tuple[Trace, ...] = ()
    """Of the other runs of a family."""
    marks: tuple[Mark, ...] = ()
    figures: tuple[ToneFigures, ...] = ()
    notes: tuple[Message, ...] = ()
    problem: Message | None = None
    """Why there is nothing."""
    view: tuple[tuple[float, float], tuple[float, float]] | None = None
    """The part that is shown at first, across and upward; None for all."""
    is_square: bool = False
    """Both directions have one scale."""
    readings: tuple[Trace, ...] = ()
    """What the cursors read besides: where on the plot's own axis they are."""


def signals_of(
    subject: Subject, plot: Plot, *, is_real: bool = False
) -> Iterator[tuple[str, int, Signal | Message]]:
    """Expression, colour and vector (or what is wrong with it) of each trace on a plot."""
    for expression, color in subject.traces:
        is_of_one_run = step_named_in(expression) is not None
        if is_of_one_run and plot is not subject.plot:
            continue  # v(out)@2 is the same in every run
        try:
            signal = evaluate_vector(expression, (subject.family or [plot]) if is_of_one_run else [plot])
        except CircuitAIError as error:
            yield expression, color, error.message
        else:
            yield expression, color, signal.with_data(signal.real, signal.unit) if is_real else signal


def runs_of(
    subject: Subject, make: Callable[[Plot], Sequence[Trace]]
) -> tuple[tuple[Trace, ...], tuple[Trace, ...]]:
    """The traces of the run that is read, and those of the other runs of a family, each in its shade."""
    own = tuple(make(subject.plot))
    if subject.plot not in subject.family:
        return own, ()
    ghosts: list[Trace] = []
    for plot in drawn_of(without(subject.family, subject.left_out)):
        shade = shade_of(plot, subject.family)
        run = "" if plot.step is None else step_label(plot.step)
        if plot is subject.plot:
            own = tuple(
                each if step_named_in(each.expression) is not None else replace(each, shade=shade, run=run)
                for each in own
            )
        else:
            ghosts += [replace(each, shade=shade, run=run, is_ghost=True) for each in make(plot)]
    return own, tuple(ghosts)


def plain_axis(name: str, unit: str, values: RealArray, *, is_log: bool = False) -> Axis:
    """An axis over (n,) rising values; on a logarithmic one those that are not positive have no place."""
    coordinates = values
    if is_log:
        coordinates = np.log10(values, where=values > 0, out=np.full(len(values), np.nan))
    known = np.flatnonzero(np.isfinite(coordinates))
    return Axis(
        name=name,
        unit=unit,
        is_log=is_log,
        values=values,
        coordinates=coordinates,
        parts=(slice(0, len(values)),),
        usable=slice(int(known[0]), int(known[-1]) + 1),
        low=float(coordinates[known[0]]),
        high=float(coordinates[known[-1]]),
    )


def curve(axis: Axis, pane: PaneKind, values: RealArray) -> Curve:
    """A line over the usable part of an axis."""
    drawn = np.where(np.isfinite(values), values, np.nan)[axis.usable]
    return Curve(pane=pane, values=values, stretches=(Stretch(axis.coordinates[axis.usable], drawn),))


def place_reading(plot: Plot) -> tuple[Trace, ...]:
    """The plot's own axis as something to be read at each sample."""
    axis = plot.axis
    if axis is None:
        return ()
    values = np.asarray(axis.data.real, dtype=np.float64)
    names = {"frequency": "f", "time": "t"}
    return (
        Trace(
            expression=names.get(axis.name, axis.name),
            color=7,
            curves=(Curve(pane=PaneKind(axis.unit), stretches=(), values=values),),
        ),
    )
