"""Axes of the charts of studies: from a value to a place, round ticks, one prefix for all figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from presentation.figures import number
from presentation.goal_margins import typeset

_PREFIXES = {12: "T", 9: "G", 6: "M", 3: "k", 0: "", -3: "m", -6: "µ", -9: "n", -12: "p", -15: "f"}
_WITHOUT_PREFIX = ("1", "", "dB", "deg", "degC", "%")
_MOST_TRIED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """One axis."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    """Share of the axis and figure, the least first."""
    unit: str
    is_log: bool = False

    def share(self, value: float) -> float:
        """Where a value is: 0 at the low end, 1 at the high one."""
        low, high = self.low, self.high
        if self.is_log:
            if value <= 0:
                return 0.0
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return (value - low) / (high - low) if high > low else 0.5

    def shares(self, values: Iterable[float]) -> list[float]:
        """Where many values are; the same as `share` of each, in a fraction of the time."""
        if self.is_log or not self.high > self.low:
            return [self.share(value) for value in values]
        low, span = self.low, self.high - self.low
        return [(value - low) / span for value in values]


def prefix_of(largest: float, unit: str) -> tuple[float, str]:
    """What figures are divided by, and the unit that then stands beside them."""
    shown = {"1": "", "deg": "°", "degC": "°C"}.get(unit, unit)
    if unit in _WITHOUT_PREFIX or not largest or not math.isfinite(largest):
        return 1.0, shown
    power = min(max(3 * math.floor(math.log10(abs(largest)) / 3 + 1e-9), -15), 12)
    return 10.0**power, f"{_PREFIXES[power]}{shown}"


def ticks_of(low: float, high: float, count: int) -> list[float]:
    """Round values from `low` to `high`, about so many."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    raw = span / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [
        each * step
        for each in range(first, first + 2 * max(count, 1) + 3)
        if each * step <= high + 1e-9 * span
    ]


def linear(low: float, high: float, unit: str, *, room: int) -> Scale:
    """A linear axis with about `room` figures."""
    if not high > low:
        low, high = low - (abs(low) or 1.0) * 0.5, high + (abs(high) or 1.0) * 0.5
    factor, shown = prefix_of(max(abs(low), abs(high)), unit)
    count = max(room, 2)
    found = ticks_of(low, high, count)
    while len(found) < 2 and count < _MOST_TRIED:  # one alone does not say how far things are apart
        count += 1
        found = ticks_of(low, high, count)
    step = (found[1] - found[0]) / factor if len(found) > 1 else 1.0
    digits = max(0, -math.floor(math.log10(abs(step)) + 1e-9)) if step else 0
    ticks = [
        ((value - low) / (high - low), f"{value / factor:.{min(digits, 9)}f}".replace("-", "−"))
        for value in found
    ]
    return Scale(low=low, high=high, ticks=ticks, unit=shown)


def logarithmic(low: float, high: float, unit: str) -> Scale:
    """A logarithmic axis: figures at the decades, or at 1, 2 and 5 where there are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    mantissas = (1,) if last - first > 3 else (1, 2, 5)
    values = [m * 10.0**power for power in range(first, last + 1) for m in mantissas]
    span = math.log10(high) - math.log10(low) or 1.0
    ticks = [
        ((math.log10(value) - math.log10(low)) / span, typeset(number(value, unit)))
        for value in values
        if low * 0.999 <= value <= high * 1.001
    ]
    return Scale(low=low, high=high, ticks=ticks, unit="", is_log=True)


def padded(low: float, high: float) -> tuple[float, float]:
    """A range with some room on both sides."""
    room = (high - low) * 0.06 or abs(high) * 0.05 or 1.0
    return low - room, high + room
