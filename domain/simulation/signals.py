"""A vector over its axis, and reading between its samples.

Straight lines over time and over swept sources; over frequency smooth curves in dB and degrees
against log f (a complex response by its magnitude and phase), see `interpolation`.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import Literal
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from domain.circuit.numbers import format_number
from domain.simulation import interpolation
from domain.simulation.waveform import Array, RealArray
from shared.errors import CircuitError
from shared.message import msg

Direction = Literal["rising", "falling", "both"]

_END_TOLERANCE = 1e-6
"""Of the axis' span: a run to 1 ms may end at 0.9999999 ms."""
_FIRST_POINTS = 10
"""Of a record over time, whose steps tell how long one was where it begins."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Signal:
    """A real or complex vector over a real axis."""

    x: RealArray
    """(n,) time in s, frequency in Hz or the swept source; n >= 1. Nested sweeps start again."""
    y: Array
    """(n,)"""
    unit: str
    axis_name: str
    axis_unit: str

    def with_data(self, data: Array, unit: str) -> Signal:
        """Other data (n,) in another unit over the same axis."""
        return Signal(x=self.x, y=data, unit=unit, axis_name=self.axis_name, axis_unit=self.axis_unit)

    @property
    def is_over_frequency(self) -> bool:
        """Whether the axis is frequency, so that dB and log f apply."""
        return self.axis_unit == "Hz"

    @property
    def real(self) -> RealArray:
        """The vector itself, or the magnitude of a complex one."""
        return np.abs(self.y) if np.iscomplexobj(self.y) else self.y.real

    @property
    def is_level(self) -> bool:
        """Already in dB or an angle: interpolated as it is."""
        return self.unit in ("dB", "deg", "rad")

    @property
    def ascends(self) -> bool:
        """Whether the axis only rises: no sweep downwards, no nested one that starts again."""
        return _axis_of(self.x).ascends

    def is_finite(self) -> bool:
        """Whether every sample and its place are finite numbers."""
        # A sum is finite only where all its parts are; one that is not may have overflowed.
        is_finite = cmath.isfinite(self.y.sum()) or bool(np.isfinite(self.y).all())
        return is_finite and _axis_of(self.x).is_finite

    def forward(self) -> NDArray[np.bool_]:
        """(n-1,) which steps follow the sweep; False where a nested sweep starts again."""
        steps = np.diff(self.x)
        if self.ascends:
            return np.asarray(steps > 0)
        moved = steps[steps != 0]  # edges without width, as of samples that are held
        return np.asarray(steps * np.sign(np.median(moved)) > 0) if len(moved) else steps > 0

    def value_at(self, position: float) -> complex:
        """The value at `position` on the axis (the first time the sweep passes it).

        Raises CircuitError outside the simulated range.
        """
        if (left := self._step_over(position)) is not None:
            return self._between(left, position)
        for end in (0, -1):
            room = _END_TOLERANCE * max(np.ptp(self.x), abs(self.x[end]))
            if end == 0 and self.axis_unit == "s" and len(self.x) > 1:
                # a record that begins late has the first point behind that time, up to a step of the run
                room = max(room, float(np.diff(self.x[:_FIRST_POINTS]).max()))
            if abs(position - self.x[end]) <= room:
                return complex(self.y[end])
        raise CircuitError(
            msg("{position} is outside the simulated range {start} - {stop}.",
                position=figure(position, self.axis_unit), **self._range())
        )  # fmt: skip

    def _step_over(self, position: float) -> int | None:
        """The sample before the first step of the sweep over `position`; None outside the range."""
        if self.ascends:
            right = int(self.x.searchsorted(position))
            is_first = right == 0 and len(self.x) > 1 and self.x[0] == position
            return 0 if is_first else right - 1 if 0 < right < len(self.x) else None
        inside = (self.x[:-1] - position) * (self.x[1:] - position) <= 0
        found = np.flatnonzero(inside & self.forward())
        return int(found[0]) if len(found) else None

    def _range(self) -> dict[str, str]:
        return {
            "start": figure(float(self.x.min()), self.axis_unit),
            "stop": figure(float(self.x.max()), self.axis_unit),
        }

    def _between(self, left: int, position: float) -> complex:
        x0, x1 = float(self.x[left]), float(self.x[left + 1])
        y0, y1 = complex(self.y[left]), complex(self.y[left + 1])
        if not self.is_over_frequency:
            return y0 + (position - x0) / (x1 - x0) * (y1 - y0)
        if position in (x0, x1):
            return y0 if position == x0 else y1
        if x0 <= 0:
            return y0 + (position - x0) / (x1 - x0) * (y1 - y0)
        near = slice(max(left - 1, 0), left + 3)
        at = left - near.start
        return _read_response(self.x[near].tolist(), self.y[near], at, position, is_level=self.is_level)

    def crossings(self, level: float, direction: Direction = "both") -> RealArray:
        """Every place on the axis where the (magnitude of the) vector passes `level`, in sweep order.

        A sample equal to the level counts as above it. Over frequency the place is found in
        log f and, for positive values that are not dB or degrees, in log magnitude, on a smooth curve.
        """
        y = self.real
        above = y >= level
        left = np.flatnonzero(above[1:] != above[:-1])
        if direction != "both":
            left = left[above[left + 1] == (direction == "rising")]
        if not len(left):
            return np.zeros(0)
        if not self.ascends:
            left = left[self.forward()[left]]
        if self.is_over_frequency:
            return np.array([self._passes(y, at, level) for at in left.tolist()], dtype=float)
        x0, y0 = self.x[left], y[left]
        return np.asarray(x0 + (level - y0) / (y[left + 1] - y0) * (self.x[left + 1] - x0))

    def _passes(self, y: RealArray, left: int, level: float) -> float:
        """Where `y` passes `level` between sample `left` and the next, over frequency."""
        first = max(left - 1, 0)
        # Plain numbers of these samples and their neighbours: arrays of four take ten times as long.
        x, values = self.x[first : left + 3].tolist(), y[first : left + 3].tolist()
        at = left - first
        part = (level - values[at]) / (values[at + 1] - values[at])
        if x[at] <= 0:
            return float(x[at] + part * (x[at + 1] - x[at]))
        is_log = not self.is_level and level > 0
        if not is_log or (values[at] > 0 and values[at + 1] > 0):
            u = [_log_or_nan(each) for each in x]
            w = [_log_or_nan(each) for each in values] if is_log else values
            step = u[at + 1] - u[at]
            slopes = (slope * step for slope in interpolation.slopes(u, w, at))
            part = interpolation.passing(math.log(level) if is_log else level, w[at], w[at + 1], *slopes)
        return float(x[at] * (x[at + 1] / x[at]) ** part)

    def window(self, start: float, stop: float) -> Signal:
        """The part between two places on the axis, its ends interpolated."""
        low, high = min(start, stop), max(start, stop)
        first, last = self.value_at(low), self.value_at(high)
        inside = (self.x > low) & (self.x < high)
        ascending = self.x[-1] >= self.x[0]
        ends = ((low, first), (high, last)) if ascending else ((high, last), (low, first))
        is_complex = np.iscomplexobj(self.y)
        tips = [value if is_complex else value.real for _, value in ends]
        return Signal(
            x=np.concatenate(([ends[0][0]], self.x[inside], [ends[1][0]])),
            y=np.concatenate((tips[:1], self.y[inside], tips[1:])),
            unit=self.unit,
            axis_name=self.axis_name,
            axis_unit=self.axis_unit,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Axis:
    """What is asked of an axis again and again."""

    ascends: bool
    is_finite: bool


_SHARED_AXES: dict[int, _Axis] = {}
"""Of the axes that nobody can change any more, such as the one all runs of a batch have in common, as long as
they live: one of a mapped file must not keep the file open."""


def _axis_of(x: RealArray) -> _Axis:
    if (known := _SHARED_AXES.get(id(x))) is not None:
        return known
    axis = _Axis(bool((x[1:] > x[:-1]).all()), bool(np.isfinite(x).all()))
    if not x.flags.writeable:
        _SHARED_AXES[id(x)] = axis
        finalize(x, _SHARED_AXES.pop, id(x), None)
    return axis


def _read_response(x: list[float], y: Array, left: int, position: float, *, is_level: bool) -> complex:
    """The value at a frequency between sample `left` and the next, from these and their neighbours."""
    u = [_log_or_nan(each) for each in x]
    step = u[left + 1] - u[left]
    part = (math.log(position) - u[left]) / step

    def read(w: list[float]) -> float:
        slope = interpolation.slopes(u, w, left)
        return interpolation.between(part, w[left], w[left + 1], slope[0] * step, slope[1] * step)

    y0, y1 = complex(y[left]), complex(y[left + 1])
    if np.iscomplexobj(y):
        if not (y0 and y1):
            return y0 + part * (y1 - y0)
        size = math.exp(read([_log_or_nan(each) for each in np.abs(y).tolist()]))
        return size * cmath.exp(1j * read(np.unwrap(np.angle(y)).tolist()))
    values = y.real.tolist()
    if is_level or not (y0.real > 0 and y1.real > 0):
        return complex(read(values))
    return complex(math.exp(read([_log_or_nan(each) for each in values])))


def _log_or_nan(value: float) -> float:
    return math.log(value) if value > 0 else math.nan


def figure(value: float, unit: str) -> str:
    """A number for a message: ``1.5kHz``, ``-2.5 dB``."""
    if not math.isfinite(value):
        return f"{value} {unit}".strip()
    if unit in ("dB", "deg", "rad", "degC"):
        return f"{value:.4g} {unit}"
    return format_number(value, 4) + ("" if unit == "1" else unit)
