"""What a study found, for its card: figures of each metric, a histogram or the reach of each parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from presentation.panels.conversation.charts import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    TRACE_COLORS,
    Chart,
    ChartLine,
    shown_end,
    shown_ends,
)
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from pathlib import Path

    from application.simulation.waveforms import LoadWaveforms

_MOST_METRICS = 3
_MOST_BARS = TRACE_COLORS
_MOST_BINS = 400
_LIMIT_COLOR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyMetric:
    """One metric over all runs; texts have their units."""

    name: str
    middle: str
    """Mean and sigma; of a worst case its nominal value."""
    span: str
    """From the lowest to the highest."""
    chart: Chart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPicture:
    """What stands on the card of a study that has ended."""

    metrics: tuple[StudyMetric, ...]
    good: Message | None = None
    """The share of good runs."""


async def stored_study(waveforms: LoadWaveforms, result: Path) -> StudyPicture | None:
    """The picture of a stored study; None where it was cleaned up, or there is nothing to show."""
    try:
        return picture_of(await waveforms.study(result))
    except (CircuitAIError, OSError):  # the card does without
        return None


def picture_of(document: Mapping[str, Any]) -> StudyPicture | None:
    """Of a study's ``result.json``, which may be a stranger's; None where it has no such figures."""
    found = _members(document.get("statistics"))
    metrics = tuple(
        metric
        for name, item in [*found.items()][:_MOST_METRICS]
        if (metric := _metric(name, _members(item), _limits(document, name))) is not None
    )
    return StudyPicture(metrics=metrics, good=_good(_members(document.get("yield")))) if metrics else None


def _good(found: Mapping[str, Any]) -> Message | None:
    numbers = _numbers([found.get(key) for key in ("passed", "n", "low", "high")])
    if len(numbers) < 4 or not numbers[1]:
        return None
    passed, count, low, high = numbers
    return msg(
        "Yield {share} ({passed} of {total}); with 95 % confidence between {low} and {high}.",
        share=_share(passed / count), passed=int(passed), total=int(count),
        low=_share(low), high=_share(high),
    )  # fmt: skip


def _share(value: float) -> str:
    return f"{100 * value:.4g} %"


def _metric(name: str, item: Mapping[str, Any], limits: Sequence[tuple[str, float]]) -> StudyMetric | None:
    ends = _numbers([item.get("min"), item.get("max")])
    unit = str(item.get("unit") or "1")
    middle = _numbers([item.get("nominal")]) or _numbers([item.get("mean"), item.get("sigma")])
    if len(ends) < 2 or not middle:
        return None
    histogram, effects = _members(item.get("histogram")), _members(item.get("effects"))
    chart = None
    if histogram:
        chart = _histogram(name, unit, histogram, limits)
    elif effects:
        chart = _reach(unit, middle[0], (ends[0], ends[1]), effects)
    return StudyMetric(
        name=name,
        middle=" ± ".join(shown_end(value, unit) for value in middle),
        span=f"{shown_end(ends[0], unit)} … {shown_end(ends[1], unit)}",
        chart=chart,
    )


def _histogram(
    name: str, unit: str, found: Mapping[str, Any], limits: Sequence[tuple[str, float]]
) -> Chart | None:
    """How many runs gave which value, and the limits of goals that are near."""
    edges, counts = (_numbers(found.get(key)) for key in ("edges", "counts"))
    width = edges[-1] - edges[0] if 1 < len(edges) == len(counts) + 1 <= _MOST_BINS else 0.0
    if not 0 < width < math.inf or max(counts) <= 0:
        return None
    near = [each for each in limits if edges[0] - width < each[1] < edges[-1] + width]
    places = (edges[0], edges[-1], *(at for _, at in near))
    low, high = min(places), max(places)
    x_of = _scale(low, high)
    points: list[tuple[float, float]] = [(x_of(edges[0]), BOTTOM)]
    for left, right, count in zip(edges, edges[1:], counts, strict=False):
        top = BOTTOM - count / max(counts) * (BOTTOM - TOP) * 0.94
        points += [(x_of(left), top), (x_of(right), top), (x_of(right), BOTTOM)]
    bars = ChartLine(expression=name, color=0, strokes=(tuple(points),), is_filled=True)
    lines = (
        ChartLine(
            expression=f"{sign} {shown_end(at, unit)}",
            color=_LIMIT_COLOR,
            strokes=(((x_of(at), TOP), (x_of(at), BOTTOM)),),
        )
        for sign, at in near
    )
    return Chart(lines=(bars, *lines), x_ends=shown_ends(low, high, unit), y_ends=("0", f"{max(counts):.0f}"))


def _reach(unit: str, nominal: float, ends: tuple[float, float], effects: Mapping[str, Any]) -> Chart | None:
    """How far each parameter alone moves the metric, the strongest on top; a line at the nominal value."""
    known = [(name, abs(_numbers([half])[0])) for name, half in effects.items() if _numbers([half])]
    known = sorted((each for each in known if each[1] > 0), key=lambda each: -each[1])[:_MOST_BARS]
    if not known:
        return None
    low, high = (edge(*ends, *(nominal + sign * half for _, half in known for sign in (-1, 1)))
                 for edge in (min, max))  # fmt: skip
    x_of, height = _scale(low, high), (BOTTOM - TOP) / len(known)

    def bar(place: int, half: float) -> tuple[tuple[float, float], ...]:
        left, right = x_of(nominal - half), x_of(nominal + half)
        top, bottom = TOP + (place + 0.15) * height, TOP + (place + 0.85) * height
        return (left, top), (right, top), (right, bottom), (left, bottom), (left, top)

    return Chart(
        lines=tuple(
            ChartLine(expression=name, color=place, strokes=(bar(place, half),), is_filled=True)
            for place, (name, half) in enumerate(known)
        ),
        x_ends=(shown_end(low, unit), shown_end(high, unit)),
        y_ends=("", ""),
        grid=(x_of(nominal),),
    )


def _scale(low: float, high: float) -> Callable[[float], float]:
    return lambda value: round(LEFT + (value - low) / (high - low) * (RIGHT - LEFT), 1)


def _limits(document: Mapping[str, Any], metric: str) -> list[tuple[str, float]]:
    """The bounds that goals set a metric."""
    goals = document.get("goals")
    return [
        (sign, value)
        for goal in map(_members, goals if isinstance(goals, list) else ())
        if goal.get("metric") == metric
        for key, sign in ((">=", "≥"), ("<=", "≤"))
        for value in _numbers([goal.get(key)])
    ]


def _members(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _numbers(values: object) -> list[float]:
    """Those of a list that are finite numbers."""
    found = values if isinstance(values, list) else []
    return [
        float(each)
        for each in found
        if isinstance(each, int | float) and not isinstance(each, bool) and math.isfinite(each)
    ]
