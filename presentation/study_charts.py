"""What the charts of stored studies show: the window paints them, a report draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

from application.studies.reading import StoredStudy, figure_of, figures_of
from domain.circuit.numbers import format_number
from domain.simulation.goals import DesignGoal
from presentation.charts.content import Bar, BinsContent, Limit, Line, LinesContent
from presentation.charts.scales import Scale, linear, logarithmic, padded
from presentation.study_figures import figure_text, objects, percent, sensitivities_of, shown, unit_of
from shared.message import Message, msg

Family = tuple[str, list[tuple[float, float]]]
"""A line's name and its points."""
MOST_LINES = 24
_COLORS = 8
_WIDE_RANGE = 20.0
"""From this ratio of the ends on an axis is logarithmic, where its values are spaced so."""
_LEAST_DRAWN = -2.0
"""Margins below say nothing but that; they are drawn at the edge."""
_MOST_DOTS = 4_000
_MOST_BINS = 400


def limits_of(goals: Sequence[DesignGoal], metric: str, unit: str) -> list[Limit]:
    """The bounds that goals set a metric."""
    return [
        Limit(value=bound, text=shown(bound, unit), is_lower=is_lower)
        for goal in goals
        if goal.metric == metric
        for bound, is_lower in ((goal.minimum, True), (goal.maximum, False))
        if bound is not None
    ]


def bins_of(study: StoredStudy, metric: str) -> BinsContent:
    """The distribution of a metric; without bins where there are none that can be drawn."""
    unit, found = study.units.get(metric, ""), study.part("statistics", metric)
    bins = study.part("statistics", metric, "histogram")
    edges, counts = bins.get("edges"), bins.get("counts")
    if not isinstance(edges, list) or not isinstance(counts, list):
        return BinsContent(unit=unit)
    places, numbers = [figure_of(each) for each in edges], [figure_of(each) for each in counts]
    is_whole = not any(map(math.isnan, (*places, *numbers))) and min(numbers, default=0) >= 0
    is_rising = all(low < high for low, high in pairwise(places))
    if not is_whole or not is_rising or not 0 < len(numbers) == len(places) - 1 < _MOST_BINS:
        return BinsContent(unit=unit)
    mean, sigma = figure_of(found.get("mean")), figure_of(found.get("sigma"))
    return BinsContent(
        edges=places,
        counts=[int(each) for each in numbers],
        unit=unit,
        limits=limits_of(study.goals, metric, unit),
        bell=(mean, sigma) if math.isfinite(mean) and sigma > 0 else None,
    )


def share_bars(study: StoredStudy, metric: str) -> list[Bar]:
    """What each parameter makes of a metric's variance, the most first."""
    shares = figures_of(study.part("statistics", metric).get("contributions"))
    return [
        Bar(name=name, low=0, high=max(share, 0), text=percent(round(share, 3) + 0.0).replace("-", "−"))
        for name, share in sorted(shares.items(), key=lambda each: -each[1])
    ]


def effect_bars(study: StoredStudy, metric: str) -> list[Bar]:
    """Of a worst case: how far each parameter alone moves a metric."""
    unit = study.units.get(metric, "")
    effects = figures_of(study.part("statistics", metric).get("effects"))
    return [
        Bar(name=name, low=-abs(half), high=abs(half), text=f"±{shown(abs(half), unit, 3)}")
        for name, half in sorted(effects.items(), key=lambda each: -abs(each[1]))
    ]


def sensitivity_bars(study: StoredStudy, metric: str) -> list[Bar]:
    """How strongly each parameter moves a metric: for its whole tolerance, else in percent per percent."""
    unit, items = study.units.get(metric, ""), sensitivities_of(study, metric)
    has_tolerance = any(not math.isnan(figure_of(item.get("per_tolerance"))) for item in items)
    bars = []
    for item in items:
        effect = figure_of(item.get("per_tolerance" if has_tolerance else "normalized"))
        if not math.isnan(effect):
            text = shown(effect, unit, 3) if has_tolerance else figure_text(effect, 3) + " %/%"
            low, high = sorted((0.0, effect))
            # Both sides have the same reach, so that a sign is seen as a side.
            bars.append(Bar(name=str(item.get("parameter", "")), low=low, high=high, text=text))
    return bars


def families_of(study: StoredStudy, metric: str, axis: str) -> list[Family]:
    """A line for each setting of the other parameters and each corner: its name, its points as they rise."""
    found: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    told = cache(lambda name, value: f"{name} = {format_number(value, 4)}")  # few values in thousands of runs
    for row in study.rows:
        if axis in row.parameters:
            others = tuple(
                told(name, row.parameters[name])
                for name in study.parameters
                if name != axis and name in row.parameters
            )
            key = (*((row.corner,) if row.corner else ()), *others)
            found.setdefault(key, []).append((row.parameters[axis], row.metrics.get(metric, math.nan)))
    return [(", ".join(key), sorted(points)) for key, points in found.items()]


def family_lines(
    study: StoredStudy, metric: str, axis: str, families: Sequence[Family]
) -> LinesContent | None:
    """The first lines of a sweep with the limits near them; None where nothing was measured."""
    drawn = families[:MOST_LINES]
    points = [point for _, line in drawn for point in line]
    values = [y for _, y in points if math.isfinite(y)]
    if not values:
        return None
    unit = study.units.get(metric, "")
    places = sorted({x for x, _ in points})
    low, high = min(values), max(values)
    span = high - low or abs(high) or 1.0
    near = [each for each in limits_of(study.goals, metric, unit) if low - span <= each.value <= high + span]
    low, high = padded(
        min([low, *(each.value for each in near)]), max([high, *(each.value for each in near)])
    )
    lines = [
        Line(points=line, name=name, color=f"trace.{number % _COLORS}")
        for number, (name, line) in enumerate(drawn)
    ]
    return LinesContent(
        x=lambda room: _axis(places, unit_of(axis), room),
        y=lambda room: linear(low, high, unit, room=room),
        lines=lines,
        limits=near,
    )


def _axis(places: Sequence[float], unit: str, room: int) -> Scale:
    low, high = places[0], places[-1]
    if low > 0 and high / low >= _WIDE_RANGE:
        return logarithmic(low, high, unit)
    return linear(low, high, unit, room=room)


def progress_of(
    study: StoredStudy, translate: Callable[[Message], str]
) -> tuple[Message, LinesContent | None]:
    """What is drawn over the simulations of a search: the least margin; without goals what is minimized or
    maximized. None where no simulation has it."""
    count = max([row.run for row in study.rows] + [1])
    if study.goals:
        head = msg("Least margin by simulation")
        pairs = [(row.run, study.margin(row)) for row in study.rows[:_MOST_DOTS]]
        dots = [(float(run), max(margin, _LEAST_DRAWN)) for run, margin in pairs if margin is not None]
        best = _running_best(dots)
        limits = [Limit(value=0.0, text=translate(msg("all goals met above")), is_lower=True)]
        unit = ""
    else:
        metric = next((str(item.get("metric")) for item in objects(study.document.get("objectives"))), "")
        head, unit = msg("{metric} by simulation", metric=metric), study.units.get(metric, "")
        figures = [(row.run, row.metrics.get(metric, math.nan)) for row in study.rows[:_MOST_DOTS]]
        dots = [(float(run), value) for run, value in figures if math.isfinite(value)]
        by_run = dict(dots)
        steps = [figure_of(item.get("run")) for item in objects(study.document.get("history"))]
        best = [(run, by_run[run]) for run in steps if run in by_run]
        limits = []
    if not dots:
        return head, None
    beside = max(0.02 * count, 0.2)  # so that neither the first nor the last dot is on the frame
    if best:
        best = [*best, (count + beside, best[-1][1])]
    values = [value for _, value in (*dots, *best)] + [each.value for each in limits]
    low, high = padded(min(values), max(values))
    return head, LinesContent(
        x=lambda room: linear(-beside, count + beside, "", room=room),
        y=lambda room: linear(low, high, unit, room=room),
        lines=[Line(points=best, is_step=True)],
        dots=dots,
        limits=limits,
    )


def _running_best(dots: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Where a point was better than all before it."""
    found: list[tuple[float, float]] = []
    for run, margin in dots:
        if not found or margin > found[-1][1]:
            found.append((run, margin))
    return found
