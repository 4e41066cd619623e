"""Numbers and ticks as an engineer reads them: SI prefixes, a real minus, units that do not break off.

Pure: positions and texts only. A tick's position is in the axis' own coordinate, which is log10 of the
value on a logarithmic axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from domain.circuit.figures import without_rounding_noise
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from presentation.goal_margins import beside_limit, verdict_in_percent

MINUS = "\u2212"
SPACE = "\u00a0"
"""Between a number and its unit; it does not break."""

_SHOWN = {
    "deg": "°",
    "rad": "rad",
    "degC": "°C",
    "Ohm": "Ω",
    "V/sqrt(Hz)": "V/√Hz",
    "A/sqrt(Hz)": "A/√Hz",
    "V^2/Hz": "V²/Hz",
    "A^2/Hz": "A²/Hz",
    "1": "",
}
_WITHOUT_PREFIX = frozenset({"", "1", "%", "dB", "deg", "rad", "degC", "V^2/Hz", "A^2/Hz"})
_PREFIXES = {-18: "a", -15: "f", -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_DECIMAL_STEPS = (1.0, 2.0, 5.0)
_DEGREE_STEPS = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 90.0, 180.0, 360.0, 720.0, 1440.0, 3600.0)
_DECIBEL_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0, 200.0, 400.0, 1000.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """What a number is divided by before it is shown, and the unit it then has."""

    factor: float
    unit: str
    """As shown: "kHz", "µV", "°", "" for a plain number."""


@dataclass(frozen=True, slots=True)
class Tick:
    """One line of the grid; minor ones have no text."""

    position: float
    text: str = ""
    is_major: bool = True


@dataclass(frozen=True, slots=True)
class Ticks:
    """The grid of one axis."""

    ticks: tuple[Tick, ...]
    unit: str
    """What the texts are in, to be shown once."""


def shown_unit(unit: str) -> str:
    """A unit as people write it: "Ohm" is "Ω", "deg" is "°"."""
    return _SHOWN.get(unit, unit)


def scale_for(peak: float, unit: str) -> Scale:
    """The scale in which `peak` (the largest magnitude shown, SI) has one to three digits before the point.

    Units that take no prefix get a power of ten when their numbers would be unreadable.
    """
    name = shown_unit(unit)
    if not math.isfinite(peak) or peak <= 0:
        return Scale(1.0, name)
    exponent = 3 * math.floor(math.log10(peak * (1 + 1e-12)) / 3)
    if unit in _WITHOUT_PREFIX:
        least = 1e-6 if unit == "%" else 1e-3  # of a distortion zeros are read more easily than a power
        if least <= peak < 1e6 or unit in ("dB", "deg", "degC"):
            return Scale(1.0, name)
        return Scale(10.0**exponent, f"10{str(exponent).translate(_SUPERSCRIPT)}{SPACE}{name}".rstrip())
    exponent = min(max(exponent, min(_PREFIXES)), max(_PREFIXES))
    return Scale(10.0**exponent, _PREFIXES[exponent] + name)


def fixed(value: float, decimals: int) -> str:
    """`value` with so many decimals and a real minus; an em dash when it is not a number."""
    if math.isnan(value):
        return "—"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    text = f"{value:.{max(decimals, 0)}f}"
    if text.startswith("-"):
        text = text[1:] if float(text) == 0 else MINUS + text[1:]
    return text


def significant(value: float, digits: int = 4) -> str:
    """`value` with so many significant digits: ``9.976``, ``40.00``, ``1234``; no exponent if readable."""
    if value == 0 or not math.isfinite(value):
        return fixed(value, 0)
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if exponent < -4 or exponent > 9:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}e{int(power)}".replace("-", MINUS)
    return fixed(value, digits - 1 - exponent)


def quantity(value: float, unit: str, digits: int = 4) -> tuple[str, str]:
    """A single number and its unit as shown: ("9.976", "kHz"), ("−48.35", "dB"), ("53.0", "°")."""
    value = without_rounding_noise(value, unit)
    # As rounded: 0.99999 V is 1.000 V, not 1000 mV.
    rounded = float(f"{value:.{digits - 1}e}") if math.isfinite(value) else value
    scale = scale_for(abs(rounded), unit)
    return _number(value / scale.factor, unit, digits), scale.unit


def in_scale(value: float, scale: Scale, unit: str, digits: int = 4) -> str:
    """The number of a quantity in a scale that others are shown in too."""
    return _number(value / scale.factor, unit, digits)


def spread(values: Sequence[float], unit: str) -> tuple[str, str]:
    """From the least to the greatest of some numbers, and their unit: ("9.976 … 12.40", "kHz")."""
    low, high = min(values), max(values)
    scale = scale_for(max(abs(low), abs(high)), unit)
    first, last = (in_scale(each, scale, unit) for each in (low, high))
    return (first if first == last else f"{first} … {last}"), scale.unit


def beside_goal(goal: DesignGoal, measured: Quantity) -> tuple[str, int]:
    """Number and unit, a tab between them, with the digits that tell it from the goal's bounds; and those."""
    shown = verdict_in_percent(GoalVerdict(goal=goal, measured=measured, met=True))
    unit = shown.measured.unit
    return beside_limit(
        shown.goal, shown.measured.value, lambda each, digits: "\t".join(quantity(each, unit, digits))
    )


def joined(number: str, unit: str) -> str:
    """Both in one text: ``9.976 kHz``, ``53.0°``."""
    return number + unit if unit == "°" else f"{number}{SPACE}{unit}".rstrip()


def column(values: Sequence[float | None], unit: str, *, is_place: bool = False) -> tuple[str, list[str]]:
    """Numbers of one row in one unit, and that unit; "" for None.

    With `is_place` (they are places on an axis) the first two never look the same when they differ: digits
    are added until they don't.
    """
    digits = 4
    values = [None if value is None else without_rounding_noise(value, unit) for value in values]
    known = [value for value in values if value is not None and math.isfinite(value)]
    peak = max((abs(value) for value in known), default=0.0)
    scale = scale_for(peak, unit)
    scaled = [None if value is None else value / scale.factor for value in values]

    def texts(many: int) -> list[str]:
        return ["" if value is None else _number(value, unit, many) for value in pair]

    pair = scaled[:2]
    shown = texts(digits)
    for more in range(1, 7 if is_place else 1):
        if len(set(shown)) == len(set(pair)):
            break
        shown = texts(digits + more)
    return scale.unit, shown + [_difference(value, unit) for value in scaled[2:]]


def _difference(value: float | None, unit: str) -> str:
    """Beside numbers of its unit, so never with an exponent of its own."""
    if value is None:
        return ""
    return fixed(value, 4) if abs(value) < 1e-3 else _number(value, unit, 4)


def _number(value: float, unit: str, digits: int) -> str:
    """dB to hundredths, degrees to tenths, the rest by significant digits."""
    if unit == "dB" and abs(value) < 1e5:
        return fixed(value, digits - (1 if abs(value) < 1 else 3 if abs(value) >= 100 else 2))
    if unit in ("deg", "degC") and abs(value) < 1e5:
        return fixed(value, digits - 3)
    return significant(value, digits)


@lru_cache(maxsize=64)  # asked for by the grid, the labels and their width, at every paint
def linear_ticks(low: float, high: float, unit: str, most: int) -> Ticks:
    """At most about `most` tidy ticks between two values (SI) of a linear axis."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low or most < 1:
        return Ticks((), shown_unit(unit))
    scale = scale_for(max(abs(low), abs(high)), unit)
    step = _step((high - low) / most, unit, scale.factor)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if last - first > 10 * most:  # the range is below what doubles can tell apart
        return Ticks((), scale.unit)
    decimals = max(0, -math.floor(math.log10(step / scale.factor) + 1e-9))
    if decimals and abs(step / scale.factor * 10**decimals % 1) > 1e-6:
        decimals += 1
    return Ticks(
        tuple(
            Tick(number * step, fixed(number * step / scale.factor, decimals))
            for number in range(first, last + 1)
        ),
        scale.unit,
    )


def _step(least: float, unit: str, factor: float) -> float:
    """The smallest tidy step that is not below `least`."""
    if unit == "deg" and least > 0.5:
        return next((step for step in _DEGREE_STEPS if step >= least), 360.0 * math.ceil(least / 360.0))
    if unit == "dB" and least > 0.05:
        found = next((step for step in _DECIBEL_STEPS if step >= least), None)
        if found is not None:
            return found
    decade = 10.0 ** math.floor(math.log10(least / factor))
    for multiple in (*_DECIMAL_STEPS, 10.0):
        if multiple * decade * factor >= least * (1 - 1e-9):
            return multiple * decade * factor
    return 10.0 * decade * factor


@lru_cache(maxsize=64)
def log_ticks(low: float, high: float, unit: str, most: int) -> Ticks:
    """Ticks of a logarithmic axis between two log10 positions: decades, and what is between them.

    Each text carries its own prefix (``100``, ``1 k``, ``10 k``); the unit itself is bare. Under a decade
    and a half 2 and 5 are written too, under a third of a decade it is divided like a linear one.
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low or most < 1:
        return Ticks((), shown_unit(unit))
    decades = high - low
    if decades < 0.34:
        return _narrow_log_ticks(low, high, unit, most)
    every = max(1, math.ceil((decades + 0.01) / most))
    labelled = (1, 2, 5) if decades * 3 <= most + 1 else (1,)
    ticks = []
    for decade in range(math.floor(low), math.ceil(high) + 1):
        for digit in range(1, 10):
            position = decade + math.log10(digit)
            if low - 1e-9 <= position <= high + 1e-9:
                is_labelled = digit in labelled and decade % every == 0
                text = _prefixed(digit, decade, unit) if is_labelled else ""
                ticks.append(Tick(position, text, is_major=digit == 1))
    return Ticks(tuple(ticks), shown_unit(unit))


def _narrow_log_ticks(low: float, high: float, unit: str, most: int) -> Ticks:
    linear = linear_ticks(10.0**low, 10.0**high, unit, most)
    return Ticks(
        tuple(Tick(math.log10(tick.position), tick.text) for tick in linear.ticks if tick.position > 0),
        linear.unit,
    )


def _prefixed(digit: int, decade: int, unit: str) -> str:
    thousands = 3 * math.floor(decade / 3)
    if unit in _WITHOUT_PREFIX or thousands not in _PREFIXES:
        if -3 <= decade <= 3:
            return fixed(digit * 10.0**decade, max(0, -decade))
        power = f"10{str(decade).translate(_SUPERSCRIPT)}"
        return power if digit == 1 else f"{digit}·{power}"
    return f"{digit * 10 ** (decade - thousands)}{SPACE}{_PREFIXES[thousands]}".rstrip()
