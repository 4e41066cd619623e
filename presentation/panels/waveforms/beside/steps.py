"""A measurement against what is stepped: a point for each run, a line for each value of what else is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from domain.circuit.numbers import format_number
from presentation.panels.waveforms.beside.drawing import (
    BesideOptions,
    Drawing,
    SteppedFigure,
    Subject,
    plain_axis,
)
from presentation.panels.waveforms.plot_marks import LineMark
from presentation.panels.waveforms.traces import Axis, Curve, PaneKind, Stretch, Trace
from shared.message import Message, msg

_DECADES = 8.0
"""Values that are further apart and positive stand in decades."""
_MOST_DOTS = 200
_EDGE = 0.03


def steps_drawing(subject: Subject, options: BesideOptions) -> Drawing:
    """The chosen measurement of a stepped circuit, else the first."""
    figure = next((each for each in subject.measured if each.name == options.figure), None)
    if figure is None and subject.measured:
        figure = subject.measured[0]
    if figure is None:
        return Drawing(problem=msg("There is no measurement of several steps: the circuit needs a .step."))
    across = _varied(figure)
    lines: dict[str, list[tuple[float, float]]] = {}
    missing = 0
    for values, value in figure.points:
        if value is None or across not in values:
            missing += 1
            continue
        others = [f"{name} = {format_number(each, 4)}" for name, each in values.items() if name != across]
        lines.setdefault(", ".join(others), []).append((values[across], value))
    if not lines:
        return Drawing(problem=msg("{name} has no value in any step.", name=figure.name))
    places = np.array(sorted({x for points in lines.values() for x, _ in points}))
    is_log = bool(places[0] > 0 and places[-1] / places[0] >= _DECADES)
    axis = plain_axis(across, "degC" if across == "temp" else "", places, is_log=is_log)
    room = _EDGE * (axis.high - axis.low)  # dots at the ends are seen whole
    axis = replace(axis, low=axis.low - room, high=axis.high + room)
    traces = [
        _line(figure, run, sorted(points), axis, number / max(len(lines) - 1, 1) if len(lines) > 1 else None)
        for number, (run, points) in enumerate(lines.items())
    ]
    notes: list[Message] = [msg("{name} against {across}", name=figure.name, across=across)]
    if missing:
        notes.append(msg("No value in {count} {count:step|steps}", count=missing))
    return Drawing(axis=axis, traces=tuple(traces), marks=tuple(_dots(traces, axis)), notes=tuple(notes))


def _varied(figure: SteppedFigure) -> str:
    """What is stepped in most values; of equal ones the first."""
    names = dict.fromkeys(name for values, _ in figure.points for name in values)
    return max(names, key=lambda name: len({values.get(name) for values, _ in figure.points}), default="")


def _line(
    figure: SteppedFigure, run: str, points: list[tuple[float, float]], axis: Axis, shade: float | None
) -> Trace:
    """Drawn through its own points, read at all places of the axis."""
    x, y = np.array([each for each, _ in points]), np.array([each for _, each in points])
    own = np.log10(x) if axis.is_log else x
    values = np.interp(axis.coordinates, own, y, left=np.nan, right=np.nan)
    shown = Curve(pane=PaneKind(figure.unit), values=values, stretches=(Stretch(own, y),))
    return Trace(expression=figure.name, color=0, curves=(shown,), shade=shade, run=run)


def _dots(traces: list[Trace], axis: Axis) -> list[LineMark]:
    if sum(len(trace.curves[0].stretches[0].x) for trace in traces) > _MOST_DOTS:
        return []
    return [
        LineMark(pane=trace.curves[0].pane, at=float(x), level=float(y), text="", color=trace.color)
        for trace in traces
        for stretch in trace.curves[0].stretches
        for x, y in zip(stretch.x, stretch.y, strict=True)
        if axis.low <= x <= axis.high
    ]
