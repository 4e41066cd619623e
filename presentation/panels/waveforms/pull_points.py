"""Where the measured quantities of a plot stand on its curves, and what they are when one is moved.

Pure; called off the loop. A corner stands on its curve and goes along the axis, a gain, a peak or a value at
a place goes up and down, the end of a margin likewise. What has no place on a curve (a rise time, a total
of noise) is not here: it is moved by a number that is typed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from domain.simulation.expression_syntax import Binary, Call, Node, Number
from domain.simulation.expressions import evaluate
from domain.simulation.goals import DesignGoal
from domain.simulation.waveform import Plot
from presentation.panels.waveforms.plot_marks import MarginMark, marks_of, read_at, same_vector, tree_of
from presentation.panels.waveforms.traces import Axis, Curve, PaneKind, Trace
from shared.errors import CircuitAIError
from shared.message import Message

Direction = Literal["across", "upward"]
Scale = Literal["linear", "log", "dB"]
_ACROSS = frozenset({"highcut", "bandwidth", "lowcut", "ugf"})
_LEVELS = frozenset({"avg", "rms"})
"""No point of the curve: they stand at its end. The rms of a wave is beside its curve, and stands nowhere."""
_SAME = 0.01
"""Two figures that differ by less are one, read twice."""
_MARGINS = {"phase_margin": ("PM", 1.0), "gain_margin": ("GM", -1.0)}
"""The mark of each, and whether it grows upward."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """Something measured that can be wanted elsewhere."""

    name: Message | str
    expression: str
    """A `.meas` card by its name."""
    value: float
    """NaN for one of a condition that the shown run did not have."""
    unit: str
    goal: DesignGoal | None = None
    at: Mapping[str, float] = field(default_factory=dict)
    """What is otherwise than in the file where it is measured: the values of a step, a temperature."""
    corner: str = ""
    """The process corner at which it is measured; "" = the circuit's own devices."""
    is_of_run: bool = True
    """A run of the circuit as it is written shows it."""
    is_first: bool = False
    """Of a stepped circuit the run that the goals hold for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullPoint:
    """A quantity at its place in the plot."""

    quantity: Quantity
    pane: PaneKind
    at: float
    level: float
    """Where it stands, in the coordinates of axis and pane."""
    direction: Direction
    scale: Scale = "linear"
    """What the coordinate it moves along is of the quantity."""
    sign: float = 1.0
    """-1 where it grows to the left or downward."""
    color: int = 0
    """Place in the order of trace colors."""

    def value_at(self, coordinate: float) -> float:
        """What the quantity is when its point is moved to a place of the axis (or of the pane)."""
        here = self.at if self.direction == "across" else self.level
        moved = _real(coordinate, self.scale) - _real(here, self.scale)
        return self.quantity.value + self.sign * moved

    def coordinate_of(self, value: float) -> float:
        """The place at which the quantity has a value; NaN for none."""
        here = self.at if self.direction == "across" else self.level
        real = _real(here, self.scale) + self.sign * (value - self.quantity.value)
        if self.scale == "linear":
            return real
        if real <= 0:
            return math.nan
        return math.log10(real) if self.scale == "log" else 20 * math.log10(real)


def _real(coordinate: float, scale: Scale) -> float:
    if scale == "linear":
        return coordinate
    return float(10.0**coordinate if scale == "log" else 10.0 ** (coordinate / 20))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """A measurement of one trace."""

    quantity: Quantity
    call: Call
    """The function that measures, its first argument the vector."""
    is_db: bool
    trace: Trace

    @property
    def curve(self) -> Curve:
        return self.trace.curves[0]


def pull_points(
    plot: Plot, axis: Axis, traces: Sequence[Trace], quantities: Sequence[Quantity]
) -> tuple[PullPoint, ...]:
    """Those of the quantities that have a place on one of the traces."""
    known = [(trace, tree) for trace in traces if trace.curves and (tree := tree_of(trace.expression))]
    margins = [
        mark
        for mark in marks_of(plot, axis, traces, (), [each.expression for each in quantities])
        if isinstance(mark, MarginMark)
    ]
    measured = (_measured(each, known, plot) for each in quantities if math.isfinite(each.value))
    points = (
        _margin_point(each, margins) if each.call.function in _MARGINS else _curve_point(each, plot, axis)
        for each in measured
        if each is not None
    )
    return tuple(point for point in points if point is not None)


def _measured(quantity: Quantity, traces: Sequence[tuple[Trace, Node]], plot: Plot) -> _Measured | None:
    tree = tree_of(quantity.expression)
    is_db = isinstance(tree, Call) and tree.function == "db" and len(tree.arguments) == 1
    inner = tree.arguments[0] if isinstance(tree, Call) and is_db else tree
    if isinstance(inner, Binary) and inner.operator == "/" and is_db:
        inner = inner.left
    inner = _without_size(inner)
    if not isinstance(inner, Call) or not inner.arguments:
        return None
    vector = _without_size(inner.arguments[0])
    trace = next((trace for trace, subject in traces if vector and same_vector(vector, subject)), None)
    if trace is None or not _is_of(plot, quantity):
        return None
    return _Measured(quantity=quantity, call=inner, is_db=is_db, trace=trace)


def _is_of(plot: Plot, quantity: Quantity) -> bool:
    """Whether the plot shows the figure: the same expression of another analysis is another figure."""
    try:
        here = evaluate(quantity.expression, [plot]).value
    except CircuitAIError:  # measured in an analysis of another kind
        return False
    return math.isclose(here, quantity.value, rel_tol=_SAME)


def _without_size(node: Node | None) -> Node | None:
    """``x`` of ``mag(x)``: what is drawn of a response is its size anyhow."""
    is_size = isinstance(node, Call) and node.function in ("mag", "abs") and len(node.arguments) == 1
    return node.arguments[0] if isinstance(node, Call) and is_size else node


def _margin_point(measured: _Measured, margins: Sequence[MarginMark]) -> PullPoint | None:
    kind, sign = _MARGINS[measured.call.function]
    mark = next((each for each in margins if (each.kind, each.color) == (kind, measured.trace.color)), None)
    if mark is None:
        return None
    return PullPoint(
        quantity=measured.quantity,
        pane=mark.pane,
        at=mark.at,
        level=mark.start,
        direction="upward",
        sign=sign,
        color=mark.color,
    )


def _curve_point(measured: _Measured, plot: Plot, axis: Axis) -> PullPoint | None:
    quantity, curve, function = measured.quantity, measured.curve, measured.call.function
    place = _band_end(measured.trace, plot, axis) if function == "bandwidth" else None
    place = _place(measured.call, quantity, curve, axis) if place is None else place
    if place is None or (measured.is_db and curve.pane.unit != "dB"):
        return None
    level = quantity.value if function in _LEVELS else read_at(axis, curve, place)
    if curve.pane.is_log:
        level = math.log10(level) if level > 0 else math.nan
    if not math.isfinite(level):
        return None
    is_across = function in _ACROSS
    scale: Scale = "log" if (axis.is_log if is_across else curve.pane.is_log) else "linear"
    if not is_across and curve.pane.unit == "dB" and not measured.is_db:
        scale = "dB"
    return PullPoint(
        quantity=quantity,
        pane=curve.pane,
        at=place,
        level=level,
        direction="across" if is_across else "upward",
        scale=scale,
        color=measured.trace.color,
    )


def _place(call: Call, quantity: Quantity, curve: Curve, axis: Axis) -> float | None:
    """Where on the axis a measurement stands; None for one that stands nowhere."""
    span = _span(call, axis)
    values, places = curve.values[axis.usable], axis.coordinates[axis.usable]
    known = np.isfinite(values)
    if span is not None:
        known &= (places >= span[0]) & (places <= span[1])
        values = np.where(known, values, math.nan)
    if not known.any():
        return None
    extremes: dict[str, Callable[[np.ndarray], np.intp]] = {
        "max": np.nanargmax, "peak": np.nanargmax, "min": np.nanargmin,
    }  # fmt: skip
    function = call.function
    if function in extremes and span is not None:
        return float(places[int(extremes[function](values))])
    if function in ("gain", "at") and len(call.arguments) == 2 and isinstance(call.arguments[1], Number):
        return _inside(axis, axis.coordinate(call.arguments[1].value))
    if function == "dcgain":
        return axis.low
    if function in _LEVELS and not (
        function == "rms" and np.nanmax(values) - np.nanmin(values) > abs(quantity.value)
    ):
        return axis.high if span is None else span[1]
    return _inside(axis, axis.coordinate(quantity.value)) if function in _ACROSS else None


def _span(call: Call, axis: Axis) -> tuple[float, float] | None:
    """From where to where on the axis a measurement looks; None where it says that otherwise."""
    match call.arguments[1:]:
        case []:
            return axis.low, axis.high
        case [Number(value=start)] if call.function in _LEVELS:
            return max(axis.coordinate(start), axis.low), axis.high
        case [Number(value=start), Number(value=end)]:
            return max(axis.coordinate(start), axis.low), min(axis.coordinate(end), axis.high)
    return None


def _band_end(trace: Trace, plot: Plot, axis: Axis) -> float | None:
    """The upper end of a band, on the axis: of a band-pass the width of the band is no place."""
    try:
        return _inside(axis, axis.coordinate(evaluate(f"highcut({trace.expression})", [plot]).value))
    except CircuitAIError:  # the curve has no upper end
        return None


def _inside(axis: Axis, place: float) -> float | None:
    return place if axis.low <= place <= axis.high else None
