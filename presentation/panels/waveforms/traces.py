"""What is drawn: expressions on a plot turned into curves, sorted into panes, with colours that stay.

Pure; the slow part (`make_trace`) is called off the loop. A pane holds what has one unit: over frequency
the gain in dB above the phase in degrees, else one pane for volts, one for amperes and so on.

Long curves cut down to what a screen can show, without losing a peak.

A curve of a million samples on a pane 800 pixels wide becomes at most two samples a pixel column, its
least and its greatest there (min/max decimation, as oscilloscopes do). Where a column holds few samples
they are kept as they are. Coarse levels, made once, keep this quick for fifty million: where a column holds
many samples its border is moved to that of a bucket, by an eighth of the column at most.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from domain.simulation.expressions import evaluate_vector, step_named_in
from domain.simulation.frequency_response import phase_deg
from domain.simulation.output_names import named_first, outputs_of
from domain.simulation.plot_choice import is_step
from domain.simulation.ringing import alternates
from domain.simulation.signals import Signal
from domain.simulation.starting import grows_from_nothing
from domain.simulation.waveform import Plot, RealArray, Step
from shared.errors import CircuitAIError
from shared.message import Message

_BUCKET = 64
_FINE_BELOW = 8 * _BUCKET
"""Columns with fewer samples than this are searched sample by sample."""
_SAME = 1e-9
"""Of two figures: by less no solver's differ."""
_KEPT = 3
"""So many samples in a column, or fewer, are drawn as they are."""


class Stretch:
    """One curve over a rising axis, ready to be cut down again and again."""

    def __init__(self, x: RealArray, y: RealArray) -> None:
        """x: (n,) rising axis coordinates, n >= 1; y: (n,) values, NaN where there is none."""
        self.x = x
        self.y = y
        self._levels = [_level(y, y)]
        """Least and greatest values of buckets, each level of `_BUCKET` of the one before."""
        while len(self._levels[-1][0]) > _FINE_BELOW:
            self._levels.append(_level(*self._levels[-1]))
        self._least, self._greatest = self._levels[0]
        least, greatest = (
            float(np.fmin.reduce(self._levels[-1][0])),
            float(np.fmax.reduce(self._levels[-1][1])),
        )
        self.bounds = None if np.isnan(least) else (least, greatest)
        """Least and greatest value; None when there is none."""
        self._latest: tuple[tuple[float, float, int], tuple[RealArray, RealArray]] | None = None

    def visible(self, low: float, high: float, columns: int) -> tuple[RealArray, RealArray]:
        """(m,), (m,) what to draw between two places of the axis on so many pixel columns.

        One sample beyond each end is included, so that lines run to the edge; m <= 3 * columns + 8. The
        latest is kept.
        """
        key = low, high, columns
        latest = self._latest
        if latest is None or latest[0] != key:
            latest = self._latest = key, self._cut(low, high, columns)
        return latest[1]

    def count(self, low: float, high: float) -> int:
        """How many samples are between two places of the axis."""
        return int(np.searchsorted(self.x, high, "right") - np.searchsorted(self.x, low, "left"))

    def _cut(self, low: float, high: float, columns: int) -> tuple[RealArray, RealArray]:
        first = max(int(np.searchsorted(self.x, low, "left")) - 1, 0)
        stop = min(int(np.searchsorted(self.x, high, "right")) + 1, len(self.x))
        columns = max(columns, 1)
        if stop - first <= _KEPT * columns:
            return self.x[first:stop], self.y[first:stop]
        bounds = _bounds_of(self.x, low, high, columns)
        size = self._bucket_of((stop - first) // columns)
        if size > 1:
            bounds = bounds // size * size
            bounds = bounds[bounds > first]
        # Each once; `np.unique` would import masked arrays, for 10 ms of the first drawing.
        bounds = np.sort(np.concatenate(([first, min(first + 1, stop)], bounds, [max(stop - 1, 0)])))
        bounds = np.append(bounds[(np.diff(bounds, prepend=-1) > 0) & (bounds < stop)], stop)
        return self._reduced(bounds)

    def _bucket_of(self, samples: int) -> int:
        """The largest bucket of which a column of so many samples has eight or more; 1: none."""
        size = 1
        for _ in self._levels:
            if samples < _FINE_BELOW * size:
                break
            size *= _BUCKET
        return size

    def _reduced(self, bounds: NDArray[np.intp]) -> tuple[RealArray, RealArray]:
        starts, counts = bounds[:-1], np.diff(bounds)
        least, greatest = self._extremes(bounds)
        sizes = np.where(counts <= _KEPT, counts, 2)
        places = np.cumsum(sizes) - sizes
        x, y = np.empty(int(sizes.sum())), np.empty(int(sizes.sum()))
        many = counts > _KEPT
        at = places[many]
        left, right = self.x[starts[many]], self.x[bounds[1:][many] - 1]
        from_y, to_y = self.y[starts[many]], self.y[bounds[1:][many] - 1]
        low, high = least[many], greatest[many]
        # The order in which a curve rises or falls joins it to its neighbours without a false stroke.
        is_rising = to_y >= from_y
        # A column that only rises or falls has its extremes at its ends: anywhere else they would make steps.
        is_plain = (np.fmin(from_y, to_y) <= low) & (np.fmax(from_y, to_y) >= high)
        inset = np.where(is_plain, 0.0, (right - left) / 4)
        x[at], x[at + 1] = left + inset, right - inset
        y[at] = np.where(is_rising, low, high)
        y[at + 1] = np.where(is_rising, high, low)
        for offset in range(_KEPT):
            few = ~many & (counts > offset)
            x[places[few] + offset] = self.x[starts[few] + offset]
            y[places[few] + offset] = self.y[starts[few] + offset]
        return x, y

    def _extremes(self, bounds: NDArray[np.intp]) -> tuple[RealArray, RealArray]:
        """(k,) least and (k,) greatest value of each range between neighbouring bounds."""
        counts = np.diff(bounds)
        least, greatest = np.empty(len(counts)), np.empty(len(counts))
        sorts = np.where(counts < _FINE_BELOW, 1, 2)
        size = self._bucket_of(int(np.median(counts)))
        if size > 1:  # whole buckets are looked up, nothing beside them
            sorts[(counts >= size) & (bounds[:-1] % size == 0) & (bounds[1:] % size == 0)] = 3
        changes = (np.flatnonzero(np.diff(sorts)) + 1).tolist()
        # Neighbours of one sort at a time: what lies between two ranges would be searched for nothing.
        for first, stop in pairwise([0, *changes, len(sorts)]):
            if sorts[first] == 1:
                ends = bounds[first : stop + 1]
                least[first:stop] = _within(np.fmin, self.y, ends[:-1], ends[1:])
                greatest[first:stop] = _within(np.fmax, self.y, ends[:-1], ends[1:])
            elif sorts[first] == 3:
                begin, end = bounds[first:stop] // size, bounds[first + 1 : stop + 1] // size
                lows, highs = self._levels[round(math.log(size, _BUCKET)) - 1]
                least[first:stop] = _within(np.fmin, lows, begin, end)
                greatest[first:stop] = _within(np.fmax, highs, begin, end)
            elif sorts[first] == 2:
                begin, end = bounds[first:stop], bounds[first + 1 : stop + 1]
                inner, inner_end = -(-begin // _BUCKET), end // _BUCKET
                edges = self._edges(begin, end)
                least[first:stop] = np.fmin(
                    _within(np.fmin, self._least, inner, inner_end), np.fmin.reduce(edges, axis=1)
                )
                greatest[first:stop] = np.fmax(
                    _within(np.fmax, self._greatest, inner, inner_end), np.fmax.reduce(edges, axis=1)
                )
        return least, greatest

    def _edges(self, begin: NDArray[np.intp], end: NDArray[np.intp]) -> RealArray:
        """(k, 2 * bucket) the first and the last samples of each range: what its whole buckets leave out."""
        steps = np.arange(_BUCKET)
        return self.y[np.concatenate((begin[:, None] + steps, end[:, None] - 1 - steps), axis=1)]


def _within(reduce: np.ufunc, values: RealArray, begin: NDArray[np.intp], end: NDArray[np.intp]) -> RealArray:
    """`reduce` over values[begin[k]:end[k]] for each k; no range is empty, none begins before the last."""
    pairs = np.stack((begin, end), axis=1).ravel()
    # reduceat goes on to the end of the array after its last index.
    return np.asarray(reduce.reduceat(values[: int(end[-1])], pairs[:-1])[::2])


def _level(least: RealArray, greatest: RealArray) -> tuple[RealArray, RealArray]:
    """(ceil(n / bucket),) the least and the greatest of each bucket."""
    starts = np.arange(0, len(least), _BUCKET)
    return np.fmin.reduceat(least, starts), np.fmax.reduceat(greatest, starts)


_latest: list[tuple[tuple[int, int, int, float, float, int], RealArray, NDArray[np.intp]]] = []
"""The traces of a plot have one axis: its places are looked up once for all of them. The axis is held with
them, so that its place in memory is nobody else's."""


def _bounds_of(x: RealArray, low: float, high: float, columns: int) -> NDArray[np.intp]:
    """(columns - 1,) the samples of a rising axis at the borders between pixel columns."""
    key = (x.ctypes.data, len(x), x.strides[0], low, high, columns)
    found = next((bounds for known, _, bounds in _latest if known == key), None)
    if found is None:
        found = np.searchsorted(x, np.linspace(low, high, columns + 1)[1:-1])
        _latest[:] = [(key, x, found)]
    return found


_INPUTS = ("v(in)", "v(input)", "v(vin)")
_SUPPLY = re.compile(r"v\((v?[cd]d|v?ss|v?ee|v[cd][cd]\w*|v\+|v-|vs[+-]?|vp|vn|gnd)\)")
_MOST_PLOTTED = 8
"""Curves of a `plot` command that are drawn unasked."""
_MOST_TRIED = 64
"""Of those it names: a stranger's may name any number that are not there."""
_LEAST, _GREATEST = 1e-290, 1e290
"""Sizes of numbers that can be drawn."""
_MOST_BY_DEFAULT = 4
_MOST_LOOKED_AT = 12
"""Nodes whose data are read to find those: each may be large."""
_WHOLE_LINES = 4
"""Colours whose lines are not dashed."""


@dataclass(frozen=True, slots=True)
class PaneKind:
    """What shares a pane, and how its axis goes."""

    unit: str
    is_log: bool = False
    number: int = 0
    """0: the usual one of the unit; others are somebody's own, below it from 1, above from -1."""
    beside: str = ""
    """Drawn over the pane of this name, on an axis at its right; "" for a pane of its own."""

    @property
    def name(self) -> str:
        """Unit and number: by these a pane is known, however its axis goes."""
        return f"{self.unit or '1'} {self.number}" if self.number else self.unit or "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How the axes go, and what has a pane of its own, as somebody has chosen."""

    scales: Mapping[str, str] = field(default_factory=dict)
    """"log", "linear" or "dB" of the axis ("x"), of gains ("gain") and of units; else as is usual."""
    panes: Mapping[str, int] = field(default_factory=dict)
    """Numbers other than 0, by expression."""
    right: Mapping[str, str] = field(default_factory=dict)
    """Names of the panes at whose right axis something is drawn, by expression."""


USUAL = Manner()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """One line in one pane."""

    pane: PaneKind
    stretches: tuple[Stretch, ...]
    """In coordinates of the axes (log10 where they are logarithmic); several for nested sweeps."""
    values: RealArray
    """(n,) at every sample of the plot's axis, in the pane's unit, for reading."""
    is_gain: bool = False
    """The magnitude of a complex quantity over frequency, which is drawn in dB too."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """One expression on one plot: its curves, or why there are none."""

    expression: str
    color: int
    """Place in the order of trace colours, from 0; the same wherever the expression is shown."""
    curves: tuple[Curve, ...] = ()
    error: Message | None = None
    is_ghost: bool = False
    """Of another run, drawn thin and pale behind; its values are not those of the shown axis."""
    is_preview: bool = False
    """Likewise, but in front, and dashed unless its `line` is solid: what a change would make of it."""
    shade: float | None = None
    """In a family of stepped runs its place from 0 (the least value) to 1; the colour's shade."""
    run: str = ""
    """Of a family: which run, ``rload = 10k``."""
    step: Step | None = None
    """The same as numbers."""
    samples: RealArray | None = None
    """(n,) where its own run has its curves' values, SI; None: where the shown axis has its values."""
    name: str = ""
    """What it is called by its user; "" = the expression."""
    line: str = ""
    """"solid", "dashed", "dotted"; "" = by the place of its colour."""
    is_alternating: bool = False
    is_about_to_start: bool = False
    """Over time: it jumps from one computed point to the next, as no circuit does."""

    @property
    def shown_name(self) -> str:
        return self.name or self.expression

    @property
    def is_right(self) -> bool:
        """Whether it is read at a right axis."""
        return any(curve.pane.beside for curve in self.curves)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Axis:
    """The common axis of a plot's traces."""

    name: str
    unit: str
    is_log: bool
    values: RealArray
    """(n,) SI."""
    coordinates: RealArray
    """(n,) log10 of the values on a logarithmic axis; NaN where that has none."""
    parts: tuple[slice, ...]
    """The sweeps, one after the other."""
    usable: slice
    """The samples of the first sweep that have a place on the axis; cursors stand on these."""
    low: float
    high: float
    """The ends of the axis, as coordinates."""
    manner: Manner = USUAL
    """In which its traces are drawn."""

    def coordinate(self, value: float) -> float:
        """Where a value (SI) is on the axis; NaN where it has no place."""
        if not self.is_log:
            return value
        return math.log10(value) if value > 0 else math.nan

    def nearest(self, coordinate: float) -> int:
        """The index of the sample of the first sweep that is nearest to a place."""
        places = self.coordinates[self.usable]
        rising = places[::-1] if self.is_falling else places
        right = (
            min(max(int(np.searchsorted(rising, coordinate)), 1), len(rising) - 1) if len(rising) > 1 else 0
        )
        found = right
        if right and coordinate - rising[right - 1] <= rising[right] - coordinate:
            found = right - 1
        return int(self.usable.start) + (len(rising) - 1 - found if self.is_falling else found)

    def stepped(self, index: int, steps: int) -> int:
        """The sample so many places to the right (of larger values) of another, kept inside the sweep."""
        moved = index - steps if self.is_falling else index + steps
        return min(max(moved, int(self.usable.start)), int(self.usable.stop) - 1)

    @property
    def is_falling(self) -> bool:
        """Whether the first sweep goes from large values to small ones."""
        places = self.coordinates[self.usable]
        return bool(places[-1] < places[0])


def axis_of(plot: Plot, manner: Manner = USUAL) -> Axis | None:
    """The axis of a plot; None when it has none and is read as a table."""
    if plot.axis is None or not plot.points:
        return None
    values = np.asarray(plot.axis.data.real, dtype=np.float64)
    is_log = plot.axis.unit == "Hz" and _spans_decades(values)
    if (wanted := manner.scales.get("x")) is not None:
        is_log = wanted == "log" and bool((values > 0).any())
    coordinates = _log10(values) if is_log else _drawable(values)
    parts = _sweeps(values)
    known = np.flatnonzero(np.isfinite(coordinates[parts[0]]))
    if not len(known):
        return None
    usable = slice(parts[0].start + int(known[0]), parts[0].start + int(known[-1]) + 1)
    return Axis(
        name=plot.axis.name,
        unit=plot.axis.unit,
        is_log=is_log,
        values=values,
        coordinates=coordinates,
        parts=parts,
        usable=usable,
        low=float(np.nanmin(coordinates)),
        high=float(np.nanmax(coordinates)),
        manner=manner,
    )


def drawable(plot: Plot, expressions: Sequence[str]) -> list[str]:
    """Those of the expressions that this plot can answer, at most as many as are drawn unasked."""
    found: list[str] = []
    for expression in expressions[:_MOST_TRIED]:
        if len(found) == _MOST_PLOTTED:
            break
        try:
            evaluate_vector(expression, [plot])
        except CircuitAIError:
            continue
        found.append(expression)
    return found


def make_trace(
    expression: str,
    plot: Plot,
    axis: Axis,
    color: int,
    *,
    is_ghost: bool = False,
    siblings: Sequence[Plot] = (),
    beside: Trace | None = None,
) -> Trace:
    """The curves of an expression on one plot; what is wrong with it is in the trace's `error`.

    `beside`: the same in another run; a phase begins within half a turn of its.
    ``v(out)@2`` is of another run of the same `.step`, one of the `siblings`: it is drawn over its own
    samples and read, between them, at those of the axis.
    """
    step = step_named_in(expression) if siblings else None
    other = next((each for each in siblings if step is not None and is_step(each, step)), plot)
    own = (None if other is plot else axis_of(other, axis.manner)) or axis
    try:
        signal = evaluate_vector(expression, [plot] if step is None else siblings)
    except CircuitAIError as error:
        return Trace(expression=expression, color=color, error=error.message)
    number, right = axis.manner.panes.get(expression, 0), axis.manner.right.get(expression, "")
    former = {curve.pane: curve.values for curve in beside.curves} if beside is not None else {}
    with np.errstate(all="ignore"):
        curves = tuple(
            Curve(
                pane=pane,
                values=values if own is axis else np.interp(axis.values, own.values, values),
                stretches=tuple(_stretches(own, values, is_log=pane.is_log)),
                is_gain=is_gain,
            )
            for pane, whole, is_gain in _lines(signal, other, axis.manner, number, right)
            for values in (_within_half_a_turn(whole, former.get(pane)) if pane.unit == "deg" else whole,)
        )
    is_of_time = own.unit == "s" and not is_ghost
    return Trace(
        expression=expression,
        color=color,
        curves=curves,
        is_ghost=is_ghost,
        is_alternating=is_of_time and any(alternates(each.values) for each in curves),
        is_about_to_start=is_of_time
        and any(each.pane.unit == "V" and grows_from_nothing(each.values) for each in curves),
    )


def _within_half_a_turn(phase: RealArray, other: RealArray | None) -> RealArray:
    """A phase in degrees by whole turns, so that it begins within half a turn of another: what inverts begins
    at 180 as well as at -180."""
    if other is None or not len(phase) or not len(other) or not np.isfinite(other[0] - phase[0]):
        return phase
    return np.asarray(phase + 360.0 * np.round((other[0] - phase[0]) / 360.0))


def _lines(
    signal: Signal, plot: Plot, manner: Manner, number: int, beside: str
) -> Iterator[tuple[PaneKind, RealArray, bool]]:
    """What an expression's vector is drawn as: gain and phase of a complex one, else itself.

    With each whether it is a gain, which has three scales.
    """
    if np.iscomplexobj(signal.y) and signal.is_over_frequency:
        magnitude, scale = np.abs(signal.y), manner.scales.get("gain", "dB")
        if scale == "dB":
            yield PaneKind("dB", number=number, beside=beside), 20 * np.log10(magnitude), True
        else:
            yield PaneKind(signal.unit, is_log=scale == "log", number=number, beside=beside), magnitude, True
        yield PaneKind("deg", number=number), phase_deg(signal.y), False
        return
    values = np.asarray(signal.real, dtype=np.float64)
    is_log = plot.analysis == "noise" and not signal.is_level and bool((values > 0).all())
    if (wanted := manner.scales.get(signal.unit)) is not None and not signal.is_level:
        is_log = wanted == "log" and bool((values > 0).any())
    yield PaneKind(signal.unit, is_log=is_log, number=number, beside=beside), values, False


def _stretches(axis: Axis, values: RealArray, *, is_log: bool) -> Iterator[Stretch]:
    y = _log10(values) if is_log else _drawable(values)
    for part in axis.parts:
        x, drawn = axis.coordinates[part], y[part]
        usable = np.isfinite(x)
        if not usable.all():
            x, drawn = x[usable], drawn[usable]
        if len(x):
            is_falling = x[-1] < x[0]
            yield Stretch(x[::-1].copy(), drawn[::-1].copy()) if is_falling else Stretch(x, drawn)


def _drawable(values: RealArray) -> RealArray:
    """The same with NaN for what has no place in any drawing, and 0 for what cannot be told from it.

    A raw file may hold any double: of the greatest a range has no width any more, of the least no scale.
    """
    size = np.abs(values)
    placed = np.where(size <= _GREATEST, values, np.nan)
    return placed if (size >= _LEAST).all() else np.where(size < _LEAST, 0.0, placed)


def _sweeps(values: RealArray) -> tuple[slice, ...]:
    """The stretches in which the axis goes one way; nested sweeps start again."""
    steps = np.diff(values)
    if not len(steps) or (steps >= 0).all() or (steps <= 0).all():
        return (slice(0, len(values)),)
    restarts = np.flatnonzero(steps * np.sign(np.median(steps)) < 0) + 1
    bounds = [0, *restarts.tolist(), len(values)]
    return tuple(slice(first, stop) for first, stop in pairwise(bounds))


def _spans_decades(values: RealArray) -> bool:
    positive = values[values > 0]
    return len(positive) > 1 and bool(positive.max() / 5 > positive.min())


def _log10(values: RealArray) -> RealArray:
    return np.log10(values, where=(values > 0) & (values < np.inf), out=np.full(len(values), np.nan))


def plotted_of(plot: Plot, curves: Sequence[tuple[str, Sequence[str]]]) -> list[str] | None:
    """What a circuit's own commands show of this plot, as far as it can be drawn. Slow.

    `curves`: kinds of analysis ("" = any) and expressions."""
    for analysis, expressions in curves:
        if analysis in ("", plot.analysis) and (found := drawable(plot, expressions)):
            return found
    return None


def default_expressions(plot: Plot) -> list[str]:
    """What is worth seeing first: the output, over time the input too; else the first few nodes."""
    if plot.analysis == "noise":
        return [name for name in ("onoise_spectrum",) if name in plot.vectors] or _first(plot, 1)
    outputs = outputs_of(plot.vectors)[:_MOST_BY_DEFAULT]
    inputs = [name for name in _INPUTS if name in plot.vectors and plot.analysis != "ac"]
    if outputs:  # a supply that stands still would only press the output flat
        return [name for name in inputs if np.ptp(np.abs(plot.vectors[name].data)) > 0] + outputs
    nodes = [
        name
        for name in plot.vectors
        if name.startswith("v(") and name != plot.axis_name and not _SUPPLY.fullmatch(name)
    ]
    outer = named_first(name for name in nodes if "." not in name and "#" not in name and name not in _INPUTS)
    return _moving(plot, outer or nodes) or _first(plot, _MOST_BY_DEFAULT)


def _moving(plot: Plot, names: Sequence[str]) -> list[str]:
    """The first few in their order; those that stand still (supplies, references) only for want of others."""
    moving: list[str] = []
    still: list[str] = []
    for name in names[:_MOST_LOOKED_AT]:
        (moving if np.ptp(np.abs(plot.vectors[name].data)) > 0 else still).append(name)
        if len(moving) == _MOST_BY_DEFAULT:
            break
    rest = names[len(moving) + len(still) :] if moving else ()
    chosen = [*moving, *rest, *still][:_MOST_BY_DEFAULT]
    return [name for name in names if name in chosen]


def _first(plot: Plot, count: int) -> list[str]:
    return [name for name in plot.vectors if name != plot.axis_name][:count]


def suggestions(plot: Plot) -> list[str]:
    """What may be typed to add a trace: every vector, and what is often made of them."""
    names = [name for name in plot.vectors if name != plot.axis_name]
    made = [
        f"{output}/{given}"
        for output in outputs_of(plot.vectors)
        for given in _INPUTS
        if given in plot.vectors
    ]
    functions = (
        ("db", "ph", "mag") if plot.axis is not None and plot.axis.unit == "Hz" else ("deriv", "integ")
    )
    voltages = [name for name in names if name.startswith("v(")]
    return made + names + [f"{function}({name})" for name in voltages for function in functions]


def table_of(plot: Plot) -> list[tuple[str, complex, str]]:
    """(name, value, unit) of a plot without an axis: operating point, noise totals, transfer function."""
    return [
        (name, complex(vector.data[0]), vector.unit)
        for name, vector in plot.vectors.items()
        if len(vector.data)
    ]


def panes_of(traces: Sequence[Trace]) -> list[PaneKind]:
    """The panes needed, top to bottom: dB first, degrees last; behind each pane those at its right axis.

    What was to stand at the right of a pane that is not there stands at the first one's.
    """
    kinds = list(dict.fromkeys(curve.pane for trace in traces for curve in trace.curves))
    own = [kind for kind in kinds if not kind.beside] or kinds[:1]
    own.sort(key=lambda kind: (kind.number, {"dB": 0, "deg": 2}.get(kind.unit, 1)))
    names = [kind.name for kind in own]
    found: list[PaneKind] = []
    for kind in own:
        found.append(kind)
        for other in kinds:
            host = other.beside if other.beside in names else names[0]
            if other not in own and host == kind.name:
                found.append(other)
    return found


class TraceColors:
    """Which colour an expression has: handed out in order, and kept as long as the project is open.

    Nodes and expressions look the same in every analysis, so a colour has one owner while there are enough
    whole lines; after these a new one gets the first that nothing drawn beside it has.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, expression: str, beside: Iterable[str] = ()) -> int:
        """The colour of an expression, its place in the order from 0; `beside`: what is drawn with it."""
        key = _folded(expression)
        taken = {self._known.get(other) for other in map(_folded, beside) if other != key}
        if self._known.get(key) in (None, *taken):
            count = len(self._known)
            free = next(number for number in itertools.count() if number not in taken)
            self._known[key] = count if count < _WHOLE_LINES else free
        return self._known[key]

    def pass_on(self, old: str, new: str) -> None:
        """An expression that takes the place of another has its colour, unless it has one already."""
        self._known.setdefault(_folded(new), self.of(old))


def _folded(expression: str) -> str:
    return "".join(expression.split()).lower()


def made_traces(
    plot: Plot,
    wanted: Sequence[str] | None,
    colors: TraceColors,
    siblings: Sequence[Plot] = (),
    manner: Manner = USUAL,
) -> tuple[Axis | None, tuple[Trace, ...]]:
    """Axis and traces of a plot: those that were chosen before, or the usual ones."""
    axis = axis_of(plot, manner)
    if axis is None:
        return None, ()
    made: list[Trace] = []
    names = list(default_expressions(plot) if wanted is None else wanted)
    for expression in names:
        made.append(make_trace(expression, plot, axis, colors.of(expression, names), siblings=siblings))
    return axis, tuple(made)


@dataclass(frozen=True, slots=True)
class ReadoutRow:
    """One line of the cursors' table, still numbers."""

    name: str
    unit: str
    color: int | None
    """None for the axis."""
    a: float
    b: float
    shown: str = ""
    """What it is called by its user; "" = `name`."""

    @property
    def difference(self) -> float:
        """From A to B; 0 for what is left of two figures that are alike as far as anybody computes them."""
        apart = self.b - self.a
        return 0.0 if abs(apart) < _SAME * max(abs(self.a), abs(self.b)) else apart


def readout(axis: Axis, traces: Sequence[Trace], a: int, b: int) -> list[ReadoutRow]:
    """What the cursors at samples `a` and `b` read: the axis first, then every curve."""
    rows = [ReadoutRow(axis.name, axis.unit, None, float(axis.values[a]), float(axis.values[b]))]
    for trace in traces:
        for curve in trace.curves:
            rows.append(
                ReadoutRow(
                    trace.expression,
                    curve.pane.unit,
                    trace.color,
                    float(curve.values[a]),
                    float(curve.values[b]),
                    trace.shown_name,
                )
            )
    return rows


def slope_rows(
    rows: Sequence[ReadoutRow], chosen: str | None = None
) -> list[tuple[str, float, str, int | None]]:
    """(kind, value, unit, colour) of what two cursors say together: ``rate`` 1/dt, ``slope`` of a curve.

    The curve is that of the trace `chosen`, else the first; the colour says whose it is (None: nobody's).

    The slope is per decade over a logarithmic sweep of frequencies (dB/decade), else per unit of the axis
    (V/s). Nothing where the cursors stand on one place.
    """
    axis = rows[0]
    found: list[tuple[str, float, str, int | None]] = []
    if axis.a == axis.b or not math.isfinite(axis.b - axis.a):
        return []
    if axis.unit == "s":
        found.append(("rate", 1 / abs(axis.b - axis.a), "Hz", None))
    curves = [row for row in rows[1:] if math.isfinite(row.a) and math.isfinite(row.b)]
    curve = min(curves, key=lambda row: row.name != chosen, default=None)
    if curve is None:
        return found
    if axis.unit == "Hz" and axis.a > 0 and axis.b > 0:
        slope = curve.difference / math.log10(axis.b / axis.a)
        found.append(("slope", slope, f"{curve.unit}/dec", curve.color))
    elif curve.unit and axis.unit:
        slope = curve.difference / (axis.b - axis.a)
        found.append(("slope", slope, f"{curve.unit}/{axis.unit}", curve.color))
    return found


def bounds_of(curves: Sequence[Curve]) -> tuple[float, float] | None:
    """Least and greatest drawn coordinate of the curves of a pane; None when nothing is finite."""
    found = [stretch.bounds for curve in curves for stretch in curve.stretches if stretch.bounds is not None]
    if not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)
