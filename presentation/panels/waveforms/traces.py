"""What is drawn: expressions on a plot turned into curves, sorted into panes, with colours that stay.

Pure; the slow part (`make_trace`) is called off the loop. A pane holds what has one unit: over frequency
the gain in dB above the phase in degrees, else one pane for volts, one for amperes and so on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from domain.simulation.expressions import evaluate_vector
from domain.simulation.frequency_response import phase_deg
from domain.simulation.signals import Signal
from domain.simulation.waveform import Plot, RealArray
from presentation.panels.waveforms.decimation import Stretch
from shared.errors import CircuitAIError
from shared.message import Message

_OUTPUTS = ("v(out)", "v(output)", "v(vout)", "v(o)")
_INPUTS = ("v(in)", "v(input)", "v(vin)")
_SUPPLY = re.compile(r"v\((v?[cd]d|v?ss|v?ee|v[cd][cd]\w*|v\+|v-|vs[+-]?|vp|vn|gnd)\)")
_MOST_PLOTTED = 8
"""Curves of a `plot` command that are drawn unasked."""
_MOST_BY_DEFAULT = 4


@dataclass(frozen=True, slots=True)
class PaneKind:
    """What shares a pane, and how its axis goes."""

    unit: str
    is_log: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """One line in one pane."""

    pane: PaneKind
    stretches: tuple[Stretch, ...]
    """In coordinates of the axes (log10 where they are logarithmic); several for nested sweeps."""
    values: RealArray
    """(n,) at every sample of the plot's axis, in the pane's unit, for reading."""


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
    shade: float | None = None
    """In a family of stepped runs its place from 0 (the least value) to 1; the colour's shade."""
    run: str = ""
    """Of a family: which run, ``rload = 10k``."""


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

    def nearest(self, coordinate: float) -> int:
        """The index of the sample of the first sweep that is nearest to a place."""
        places = self.coordinates[self.usable]
        rising = places[::-1] if self._is_falling else places
        right = (
            min(max(int(np.searchsorted(rising, coordinate)), 1), len(rising) - 1) if len(rising) > 1 else 0
        )
        found = right
        if right and coordinate - rising[right - 1] <= rising[right] - coordinate:
            found = right - 1
        return int(self.usable.start) + (len(rising) - 1 - found if self._is_falling else found)

    def stepped(self, index: int, steps: int) -> int:
        """The sample so many places to the right (of larger values) of another, kept inside the sweep."""
        moved = index - steps if self._is_falling else index + steps
        return min(max(moved, int(self.usable.start)), int(self.usable.stop) - 1)

    @property
    def _is_falling(self) -> bool:
        places = self.coordinates[self.usable]
        return bool(places[-1] < places[0])


def axis_of(plot: Plot) -> Axis | None:
    """The axis of a plot; None when it has none and is read as a table."""
    if plot.axis is None or not plot.points:
        return None
    values = np.asarray(plot.axis.data.real, dtype=np.float64)
    is_log = plot.axis.unit == "Hz" and _spans_decades(values)
    coordinates = _log10(values) if is_log else values
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
    )


def drawable(plot: Plot, expressions: Sequence[str]) -> list[str]:
    """Those of the expressions that this plot can answer, at most as many as are drawn unasked."""
    found: list[str] = []
    for expression in expressions:
        if len(found) == _MOST_PLOTTED:
            break
        try:
            evaluate_vector(expression, [plot])
        except CircuitAIError:
            continue
        found.append(expression)
    return found


def make_trace(expression: str, plot: Plot, axis: Axis, color: int, *, is_ghost: bool = False) -> Trace:
    """The curves of an expression on one plot; what is wrong with it is in the trace's `error`."""
    try:
        signal = evaluate_vector(expression, [plot])
    except CircuitAIError as error:
        return Trace(expression=expression, color=color, error=error.message)
    with np.errstate(all="ignore"):
        curves = tuple(
            Curve(pane=pane, values=values, stretches=tuple(_stretches(axis, values, is_log=pane.is_log)))
            for pane, values in _lines(signal, plot)
        )
    return Trace(expression=expression, color=color, curves=curves, is_ghost=is_ghost)


def _lines(signal: Signal, plot: Plot) -> Iterator[tuple[PaneKind, RealArray]]:
    """What an expression's vector is drawn as: gain and phase of a complex one, else itself."""
    if np.iscomplexobj(signal.y) and signal.is_over_frequency:
        yield PaneKind("dB"), 20 * np.log10(np.abs(signal.y))
        yield PaneKind("deg"), phase_deg(signal.y)
        return
    values = np.asarray(signal.real, dtype=np.float64)
    is_density = plot.analysis == "noise" and not signal.is_level and bool((values > 0).all())
    yield PaneKind(signal.unit, is_log=is_density), values


def _stretches(axis: Axis, values: RealArray, *, is_log: bool) -> Iterator[Stretch]:
    y = _log10(values) if is_log else np.where(np.isfinite(values), values, np.nan)
    for part in axis.parts:
        x, drawn = axis.coordinates[part], y[part]
        usable = np.isfinite(x)
        if not usable.all():
            x, drawn = x[usable], drawn[usable]
        if len(x):
            is_falling = x[-1] < x[0]
            yield Stretch(x[::-1].copy(), drawn[::-1].copy()) if is_falling else Stretch(x, drawn)


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
    return len(positive) > 1 and bool(positive.max() / positive.min() > 5)


def _log10(values: RealArray) -> RealArray:
    return np.log10(values, where=values > 0, out=np.full(len(values), np.nan))


def default_expressions(plot: Plot) -> list[str]:
    """What is worth seeing first: the output, over time the input too; else the first few nodes."""
    if plot.analysis == "noise":
        return [name for name in ("onoise_spectrum",) if name in plot.vectors] or _first(plot, 1)
    outputs = [name for name in _OUTPUTS if name in plot.vectors]
    inputs = [name for name in _INPUTS if name in plot.vectors and plot.analysis != "ac"]
    if outputs:
        return inputs + outputs
    nodes = [
        name
        for name in plot.vectors
        if name.startswith("v(") and name != plot.axis_name and not _SUPPLY.fullmatch(name)
    ]
    outer = [name for name in nodes if "." not in name and "#" not in name and name not in _INPUTS]
    return (outer or nodes)[:_MOST_BY_DEFAULT] or _first(plot, _MOST_BY_DEFAULT)


def _first(plot: Plot, count: int) -> list[str]:
    return [name for name in plot.vectors if name != plot.axis_name][:count]


def suggestions(plot: Plot) -> list[str]:
    """What may be typed to add a trace: every vector, and what is often made of them."""
    names = [name for name in plot.vectors if name != plot.axis_name]
    made = [
        f"{output}/{given}"
        for output in _OUTPUTS
        if output in plot.vectors
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
    """The panes needed, top to bottom: dB first, degrees last."""
    kinds = list(dict.fromkeys(curve.pane for trace in traces for curve in trace.curves))
    return sorted(kinds, key=lambda kind: {"dB": 0, "deg": 2}.get(kind.unit, 1))


class TraceColors:
    """Which colour an expression has: handed out in order, and kept as long as the project is open.

    Nodes and expressions look the same in every analysis, so a colour has one owner while there are enough.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, expression: str) -> int:
        """The colour of an expression, its place in the order from 0; a new one gets the next."""
        key = "".join(expression.split()).lower()
        return self._known.setdefault(key, len(self._known))


def made_traces(
    plot: Plot, wanted: Sequence[str] | None, colors: TraceColors
) -> tuple[Axis | None, tuple[Trace, ...]]:
    """Axis and traces of a plot: those that were chosen before, or the usual ones."""
    axis = axis_of(plot)
    if axis is None:
        return None, ()
    made: list[Trace] = []
    for expression in default_expressions(plot) if wanted is None else wanted:
        made.append(make_trace(expression, plot, axis, colors.of(expression)))
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
        slope = (curve.b - curve.a) / math.log10(axis.b / axis.a)
        found.append(("slope", slope, f"{curve.unit}/dec", curve.color))
    elif curve.unit and axis.unit:
        slope = (curve.b - curve.a) / (axis.b - axis.a)
        found.append(("slope", slope, f"{curve.unit}/{axis.unit}", curve.color))
    return found


def bounds_of(curves: Sequence[Curve]) -> tuple[float, float] | None:
    """Least and greatest drawn coordinate of the curves of a pane; None when nothing is finite."""
    found = [stretch.bounds for curve in curves for stretch in curve.stretches if stretch.bounds is not None]
    if not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)
