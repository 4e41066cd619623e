"""What is marked on a plot beside its curves: the limits of goals, the margins of a loop gain.

Pure; `marks_of` is called off the loop. A goal is drawn where one of the shown traces is what it measures:
`db(peak(v(out))/dcgain(v(out))) <= 0.1 dB` over `v(out)` is a line 0.1 dB above that trace's gain at the low
end. A goal on something else (a rise time, the noise of another analysis) is read from the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from domain.simulation.expression_syntax import Binary, Call, Node, Number, SignalRef, children, parse
from domain.simulation.expressions import evaluate_vector
from domain.simulation.frequency_response import (
    HALF_POWER_DB,
    dcgain,
    gain_margin_place,
    highcut,
    lowcut,
    phase_margin_place,
)
from domain.simulation.goals import DesignGoal
from domain.simulation.signals import Signal
from domain.simulation.waveform import Plot
from presentation.panels.waveforms.traces import Axis, Curve, PaneKind, Trace
from shared.errors import CircuitAIError

_AT_LIMIT = {"highcut": highcut, "bandwidth": highcut, "lowcut": lowcut, "ugf": None}
"""Measurements that give a frequency, and the corner whose level they are read at; None: 0 dB."""
_MARGINS = ("phase_margin", "gain_margin")


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelMark:
    """A value that must not be passed."""

    pane: PaneKind
    level: float
    """In the pane's coordinate."""
    is_upper: bool
    """What lies above is forbidden; else what lies below."""
    at: float | None
    """The place on the axis (its coordinate) it holds for; None: everywhere."""
    goal: DesignGoal


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceMark:
    """Where on the axis the curve has to pass a level."""

    pane: PaneKind
    level: float
    low: float | None
    """Coordinates on the axis; None for a side that is open."""
    high: float | None
    is_falling: bool
    """The curve falls there."""
    goal: DesignGoal


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginMark:
    """A margin of a loop gain: its crossing in one pane, its bar in the other."""

    kind: str
    """"PM" or "GM"."""
    at: float
    """Coordinate of the crossing on the axis."""
    crossed: PaneKind
    crossing: float
    """The level that is crossed: 0 dB, or the phase that stands for -180 degrees."""
    pane: PaneKind
    start: float
    """Of the bar: the curve."""
    end: float
    """Of the bar: what the margin is counted from."""
    value: float
    """Degrees or dB."""
    color: int
    """Place in the order of trace colours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMark:
    """A named point of a curve: a harmonic of a spectrum, the critical point of a locus."""

    pane: PaneKind
    at: float
    """Coordinate on the axis."""
    level: float
    """In the pane's coordinate."""
    text: str
    color: int | None
    """Place in the order of trace colours; None: of no trace."""


Mark = LevelMark | PlaceMark | MarginMark | LineMark


def marks_of(
    plot: Plot, axis: Axis, traces: Sequence[Trace], goals: Sequence[DesignGoal], measured: Sequence[str]
) -> tuple[Mark, ...]:
    """The marks of the traces: of goals, and of the margins that goals or `measured` expressions ask for."""
    known = [(trace, tree) for trace in traces if (tree := tree_of(trace.expression)) is not None]
    found: list[Mark] = []
    for goal in goals:
        tree = tree_of(goal.expression)
        if tree is not None:
            found.extend(_of_goal(goal, tree, known, plot, axis))
    asked = [tree for text in (*(goal.expression for goal in goals), *measured) if (tree := tree_of(text))]
    for trace, subject in known:
        for name in _MARGINS:
            if any(_asks(tree, name, subject) for tree in asked):
                found.extend(_margin(name, trace, plot, axis))
    return tuple(found)


def subject_of(expression: str) -> str | None:
    """The vector a measurement is made on, as an expression: ``v(out)`` of ``highcut(v(out))``."""
    tree = tree_of(expression)
    if tree is None:
        return None
    call = next((node for node in _walk(tree) if isinstance(node, Call) and not _is_elementwise(node)), None)
    return None if call is None or not call.arguments else _text(call.arguments[0])


def tree_of(expression: str) -> Node | None:
    try:
        return parse(expression)
    except CircuitAIError:
        return None


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _walk(child)


def _is_elementwise(call: Call) -> bool:
    return call.function in ("db", "ph", "mag", "re", "im", "abs", "sqrt")


def _text(node: Node) -> str | None:
    match node:
        case SignalRef():
            return node.text.rpartition(".")[2] if node.analysis and "(" not in node.text else _bare(node)
        case Call():
            inner = [_text(argument) for argument in node.arguments]
            return None if None in inner else f"{node.function}({','.join(map(str, inner))})"
        case Binary():
            left, right = _text(node.left), _text(node.right)
            return None if left is None or right is None else f"{left}{node.operator}{right}"
        case Number():
            return f"{node.value:g}"
    return None


def _bare(node: SignalRef) -> str:
    """Without the analysis before it."""
    begins = f"{node.analysis}{node.number if node.number > 1 else ''}." if node.analysis else ""
    return node.text[len(begins) :] if node.text.lower().startswith(begins) else node.text


def same_vector(one: Node, other: Node) -> bool:
    """Whether two trees mean the same vector, wherever it is taken from."""
    match one, other:
        case SignalRef(), SignalRef():
            return (one.kind, one.names) == (other.kind, other.names)
        case Number(), Number():
            return one.value == other.value
        case Call(), Call():
            is_alike = one.function == other.function and len(one.arguments) == len(other.arguments)
        case Binary(), Binary():
            is_alike = one.operator == other.operator
        case _:
            is_alike = type(one) is type(other)
    return is_alike and all(map(same_vector, children(one), children(other)))


def _asks(tree: Node, name: str, subject: Node) -> bool:
    return any(
        isinstance(node, Call) and node.function == name and same_vector(node.arguments[0], subject)
        for node in _walk(tree)
        if not isinstance(node, Call) or node.arguments
    )


def _of_goal(
    goal: DesignGoal, tree: Node, traces: Sequence[tuple[Trace, Node]], plot: Plot, axis: Axis
) -> Iterator[Mark]:
    is_db = isinstance(tree, Call) and tree.function == "db" and len(tree.arguments) == 1
    inner = tree.arguments[0] if isinstance(tree, Call) and is_db else tree
    is_relative = False
    if isinstance(inner, Binary) and inner.operator == "/" and is_db:
        low_end = inner.right
        is_relative = isinstance(low_end, Call) and low_end.function == "dcgain"
        inner = inner.left if is_relative else inner
    if not isinstance(inner, Call) or not inner.arguments:
        return
    for trace, subject in traces:
        if not trace.curves or not same_vector(inner.arguments[0], subject):
            continue
        curve = trace.curves[0]
        is_gain = curve.pane.unit == "dB"
        if inner.function in _AT_LIMIT and is_gain and not is_db:
            level = _corner_level(inner.function, trace, plot, axis)
            yield PlaceMark(
                pane=curve.pane,
                level=level,
                low=_coordinate(axis, goal.minimum),
                high=_coordinate(axis, goal.maximum),
                is_falling=inner.function != "lowcut",
                goal=goal,
            )
        elif is_gain == is_db:
            reference = _low_end(trace, plot) if is_relative else 0.0
            yield from _levels(goal, inner, curve, axis, reference)
        return


def _levels(goal: DesignGoal, call: Call, curve: Curve, axis: Axis, reference: float) -> Iterator[Mark]:
    """A line for each bound that a single value of the curve has."""
    at: float | None = None
    bounds = [(goal.maximum, True), (goal.minimum, False)]
    match call.function:
        case "gain" | "at" if len(call.arguments) == 2 and isinstance(call.arguments[1], Number):
            at = _coordinate(axis, call.arguments[1].value)
            if at is None:
                return
        case "dcgain":
            at = axis.low
        case "max" | "peak":
            bounds = bounds[:1]
        case "min":
            bounds = bounds[1:]
        case _:
            return
    for bound, is_upper in bounds:
        if bound is not None and math.isfinite(reference):
            level = bound + reference
            if curve.pane.is_log:
                level = math.log10(level) if level > 0 else math.nan
            if math.isfinite(level):
                yield LevelMark(pane=curve.pane, level=level, is_upper=is_upper, at=at, goal=goal)


def _coordinate(axis: Axis, value: float | None) -> float | None:
    if value is None or (axis.is_log and value <= 0):
        return None
    return math.log10(value) if axis.is_log else value


def _signal(trace: Trace, plot: Plot) -> Signal | None:
    try:
        return evaluate_vector(trace.expression, [plot])
    except CircuitAIError:
        return None


def _low_end(trace: Trace, plot: Plot) -> float:
    """Gain at the low end in dB; NaN when there is none."""
    signal = _signal(trace, plot)
    if signal is None:
        return math.nan
    try:
        value = dcgain(signal)
    except CircuitAIError:
        return math.nan
    return value if signal.unit == "dB" else 20 * math.log10(abs(value)) if value else math.nan


def _corner_level(measured: str, trace: Trace, plot: Plot, axis: Axis) -> float:
    """The gain in dB at which a corner is read: where the curve has it, else 3 dB below its end."""
    corner = _AT_LIMIT[measured]
    if corner is None:
        return 0.0
    signal, gain = _signal(trace, plot), trace.curves[0]
    try:
        at = None if signal is None else _coordinate(axis, corner(signal))
    except CircuitAIError:  # the curve has no such corner
        at = None
    if at is not None:
        return read_at(axis, gain, at)
    end = read_at(axis, gain, axis.high) if corner is lowcut else _low_end(trace, plot)
    return end - HALF_POWER_DB


def _margin(name: str, trace: Trace, plot: Plot, axis: Axis) -> Iterator[Mark]:
    """The margin of one trace, where gain and phase of it are shown."""
    by_unit = {curve.pane.unit: curve for curve in trace.curves}
    signal = _signal(trace, plot)
    if signal is None or not {"dB", "deg"} <= by_unit.keys():
        return
    try:
        place, value = phase_margin_place(signal) if name == _MARGINS[0] else gain_margin_place(signal)
    except CircuitAIError:  # it has no crossing: the table says so
        return
    at = _coordinate(axis, place)
    if at is None:
        return
    gain, phase = by_unit["dB"], by_unit["deg"]
    level, angle = read_at(axis, gain, at), read_at(axis, phase, at)
    if name == _MARGINS[0]:
        yield MarginMark(
            kind="PM",
            at=at,
            crossed=gain.pane,
            crossing=0.0,
            pane=phase.pane,
            start=angle,
            end=angle - value,
            value=value,
            color=trace.color,
        )
    else:
        yield MarginMark(
            kind="GM",
            at=at,
            crossed=phase.pane,
            crossing=angle,
            pane=gain.pane,
            start=level,
            end=level + value,
            value=value,
            color=trace.color,
        )


def read_at(axis: Axis, curve: Curve, at: float) -> float:
    places, values = axis.coordinates[axis.usable], curve.values[axis.usable]
    if places[-1] < places[0]:
        places, values = places[::-1], values[::-1]
    return float(np.interp(at, places, values))
