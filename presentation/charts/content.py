"""What charts show, before anything is drawn: bins, bars, lines, bounds of goals. Data are few already."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from presentation.charts.scales import Scale, linear, padded

_CURVE_STEPS = 120
_LEAST_SPAN = 2e-3
"""Of an axis of spots, as a share of the values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A bound of a goal on an axis."""

    value: float
    text: str
    is_lower: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BinsContent:
    """How many runs gave which value; what is beyond a limit is bad."""

    edges: Sequence[float] = ()
    counts: Sequence[int] = ()
    unit: str = ""
    limits: Sequence[Limit] = ()
    bell: tuple[float, float] | None = None
    """Mean and sigma of the normal curve over it."""

    @property
    def near(self) -> list[Limit]:
        """The limits that are no further away than the bins are wide together."""
        span = self.edges[-1] - self.edges[0]
        return [each for each in self.limits if self.edges[0] - span <= each.value <= self.edges[-1] + span]

    def scales(self, across: int, upward: int) -> tuple[Scale, Scale]:
        """Both axes, with about so many figures each."""
        span = self.edges[-1] - self.edges[0]
        low = min([self.edges[0], *(each.value for each in self.near)]) - 0.06 * span
        high = max([self.edges[-1], *(each.value for each in self.near)]) + 0.06 * span
        top = max(*self.counts, min(self._peak, 2.0 * max(self.counts)))
        return linear(low, high, self.unit, room=across), linear(0, top * 1.12, "", room=upward)

    @property
    def _peak(self) -> float:
        """The height of the normal curve."""
        if self.bell is None or not self.bell[1] > 0:
            return 0.0
        width = (self.edges[-1] - self.edges[0]) / len(self.counts)
        return sum(self.counts) * width / (self.bell[1] * math.sqrt(2 * math.pi))

    def is_bad(self, value: float) -> bool:
        return any(value < each.value if each.is_lower else value > each.value for each in self.limits)

    def curve(self, across: Scale) -> list[tuple[float, float]]:
        """The normal curve over the axis: value and count; none without a bell."""
        if self.bell is None or not self.bell[1] > 0:
            return []
        (mean, sigma), peak = self.bell, self._peak
        step = (across.high - across.low) / _CURVE_STEPS
        values = [across.low + step * each for each in range(_CURVE_STEPS + 1)]
        return [(value, peak * math.exp(-(((value - mean) / sigma) ** 2) / 2)) for value in values]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One line of a chart of bars."""

    name: str
    low: float
    """Where it begins and ends, on the common scale; 0 is the line in the middle or at the left."""
    high: float
    text: str
    tip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A curve of a chart: points in the chart's own units."""

    points: Sequence[tuple[float, float]]
    name: str = ""
    color: str = "trace.0"
    is_step: bool = False
    """Each value holds until the next point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesContent:
    """What a chart of lines shows."""

    x: Callable[[int], Scale] = field(default=lambda room: linear(0, 1, "", room=room))
    y: Callable[[int], Scale] = field(default=lambda room: linear(0, 1, "", room=room))
    lines: Sequence[Line] = ()
    dots: Sequence[tuple[float, float]] = ()
    limits: Sequence[Limit] = ()
    """On the upward axis; what is beyond is on the mask."""
    has_marks: bool = True
    """A dot at each point of a line, where these are few."""


MOST_MARKS = 60
"""Points of a line that get a dot each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One value in a chart of spots."""

    name: str
    value: float
    text: str
    is_bad: bool = False
    """It misses a limit."""
    is_worst: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotsContent:
    """Named values over one axis, a row for each."""

    spots: Sequence[Spot]
    unit: str = ""
    limits: Sequence[Limit] = ()

    def scale(self, room: int) -> Scale:
        """The axis, with about so many figures; limits far away are not on it."""
        values = [each.value for each in self.spots if math.isfinite(each.value)]
        low, high = min(values), max(values)
        least = _LEAST_SPAN * max(abs(low), abs(high))
        if high - low < least:  # they are the same for all purposes
            low, high = (low + high - least) / 2, (low + high + least) / 2
        span = high - low or 1.0
        near = [each.value for each in self.limits if low - span <= each.value <= high + span]
        return linear(*padded(min([low, *near]), max([high, *near])), self.unit, room=room)
