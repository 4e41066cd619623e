"""A small picture of a run's first curves for its card, as SVG of our own: numbers and escaped words only."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from domain.circuit.figures import digits_apart
from shared.errors import CircuitAIError
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from pathlib import Path

    from application.ports.simulation import WaveformSource
    from application.simulation.waveforms import LoadWaveforms
    from domain.simulation.waveform import Plot, RealArray

WIDTH, HEIGHT = 400, 116
LEFT, RIGHT, TOP, BOTTOM = 56, 392, 6, 94
_COLUMNS = 160
"""A curve has at most a few points for each."""
_MOST_LINES = 4
MOST_POINTS = 1_000_000
"""Samples of a run that is drawn; a longer one is looked at in the plot."""
TRACE_COLORS = 8
_LEAST_SHARE = 1e-9
_MOST_DIGITS = 5
"""Of a value at the end of an axis: what there is room for beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLine:
    """One curve."""

    expression: str
    color: int
    strokes: tuple[tuple[tuple[float, float], ...], ...]
    """Points in the picture."""
    is_filled: bool = False
    """What it encloses is tinted: a bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """The first curves of a run; texts have their units."""

    lines: tuple[ChartLine, ...]
    x_ends: tuple[str, str]
    y_ends: tuple[str, str]
    grid: tuple[float, ...] = ()
    """Places of lines of the grid across."""


async def stored_chart(waveforms: LoadWaveforms, result: Path) -> Chart | None:
    """The picture of a stored run; None where it was cleaned up, or there is nothing to draw."""
    try:
        source = await waveforms.open(result)
        return await off_loop(_drawn, source)
    except (CircuitAIError, OSError):  # without its data: the card does without
        return None


def _drawn(source: WaveformSource) -> Chart | None:
    with source:
        return chart_of([plot for plot in source.plots if plot.axis_name is not None])


def chart_of(plots: Sequence[Plot]) -> Chart | None:
    """The picture of the first analysis with an axis; None when there is nothing to draw. Blocking."""
    from presentation.panels.waveforms.traces import TraceColors, bounds_of, made_traces, panes_of

    plot = next((plot for plot in plots if plot.axis is not None and plot.points > 1), None)
    if plot is None or plot.points > MOST_POINTS:
        return None
    axis, traces = made_traces(plot, None, TraceColors())
    drawn = [trace for trace in traces if trace.error is None and trace.curves][:_MOST_LINES]
    panes = panes_of(drawn)
    if axis is None or not panes or not axis.high > axis.low:
        return None
    pane = panes[0]
    curves = [curve for trace in drawn for curve in trace.curves if curve.pane == pane]
    bounds = bounds_of(curves)
    if bounds is None or not all(map(math.isfinite, bounds)):
        return None
    low, high = bounds
    room = (high - low) * 0.06 or abs(high) * 0.1 or 1.0

    def x_of(value: float) -> float:
        return LEFT + (value - axis.low) / (axis.high - axis.low) * (RIGHT - LEFT)

    def y_of(value: float) -> float:
        return BOTTOM - (value - low + room) / (high - low + 2 * room) * (BOTTOM - TOP)

    lines = []
    for trace in drawn:
        strokes = [
            stroke
            for curve in trace.curves
            if curve.pane == pane
            for stretch in curve.stretches
            for stroke in _strokes(*stretch.visible(axis.low, axis.high, _COLUMNS), x_of, y_of)
        ]
        lines.append(
            ChartLine(expression=trace.expression, color=trace.color % TRACE_COLORS, strokes=tuple(strokes))
        )
    if axis.is_log:
        grid = [float(decade) for decade in range(math.ceil(axis.low), math.floor(axis.high) + 1)]
    else:
        grid = [axis.low + (axis.high - axis.low) * part / 4 for part in (1, 2, 3)]
    return Chart(
        lines=tuple(lines),
        x_ends=shown_ends(axis.low, axis.high, axis.unit, is_log=axis.is_log),
        y_ends=shown_ends(low, high, pane.unit, is_log=pane.is_log),
        grid=tuple(x_of(place) for place in grid[:40]),
    )


def _strokes(
    x: RealArray, y: RealArray, x_of: Callable[[float], float], y_of: Callable[[float], float]
) -> list[tuple[tuple[float, float], ...]]:
    """Points in the picture; where there is no number a curve is broken."""
    found: list[list[tuple[float, float]]] = [[]]
    for one, other in zip(x, y, strict=True):
        if math.isfinite(other):
            found[-1].append((round(x_of(float(one)), 1), round(y_of(float(other)), 1)))
        elif found[-1]:
            found.append([])
    return [tuple(stroke) for stroke in found if len(stroke) > 1]


def shown_ends(low: float, high: float, unit: str, *, is_log: bool = False) -> tuple[str, str]:
    """The values at both ends of an axis, with as many digits as tell them apart: a ripple's are alike.

    An end that is nothing beside the other one is 0.
    """
    if not is_log:
        least = _LEAST_SHARE * (high - low)
        low, high = (0.0 if abs(end) < least else end for end in (low, high))
    show = partial(shown_end, unit=unit, is_log=is_log)
    digits = min(digits_apart(low, [high], lambda value, count: show(value, digits=count), 3), _MOST_DIGITS)
    return show(low, digits=digits), show(high, digits=digits)


def shown_end(coordinate: float, unit: str, *, is_log: bool = False, digits: int = 3) -> str:
    """The value at a place of an axis, with its unit."""
    from presentation.panels.waveforms.figures import joined, quantity

    return joined(*quantity(10**coordinate if is_log else coordinate, unit, digits))


def svg_of(chart: Chart, ink: Callable[[str], str]) -> str:
    """The picture; `ink` gives what stands for a colour of the theme, as an attribute has it."""
    frame, middle = ink("border.divider"), (TOP + BOTTOM) / 2
    parts = [
        f'<path d="M{x:.1f} {TOP}V{BOTTOM}" stroke="{ink("plot.grid_major")}"/>'
        for x in chart.grid
        if LEFT < x < RIGHT
    ]
    parts.append(f'<path d="M{LEFT} {middle:.1f}H{RIGHT}" stroke="{ink("plot.grid_major")}"/>')
    parts.append(f'<path d="M{LEFT} {TOP}H{RIGHT}V{BOTTOM}H{LEFT}Z" stroke="{frame}"/>')
    for line in chart.lines:
        path = "".join("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in stroke) for stroke in line.strokes)
        color = ink(f"trace.{line.color}")
        tint = f' fill="{color}" fill-opacity="0.3"' if line.is_filled else ""
        parts.append(f'<path d="{path}" stroke="{color}" stroke-width="1.5"{tint}/>')
    words = (
        (LEFT, BOTTOM + 15, "start", chart.x_ends[0]),
        (RIGHT, BOTTOM + 15, "end", chart.x_ends[1]),
        (LEFT - 5, TOP + 10, "end", chart.y_ends[1]),
        (LEFT - 5, BOTTOM, "end", chart.y_ends[0]),
    )
    parts += [
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" stroke="none" fill="{ink("plot.axis_text")}" '
        f'font-size="11">{html.escape(text)}</text>'
        for x, y, anchor, text in words
    ]
    told = html.escape(told_of(chart))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" fill="none" role="img" aria-label="{told}">{"".join(parts)}</svg>'
    )


def told_of(chart: Chart) -> str:
    """The picture in a line: ``v(out): −48 dB … 0 dB, 10 Hz … 1 MHz``."""
    names = ", ".join(line.expression for line in chart.lines)
    return f"{names}: {chart.y_ends[0]} … {chart.y_ends[1]}, {chart.x_ends[0]} … {chart.x_ends[1]}"
