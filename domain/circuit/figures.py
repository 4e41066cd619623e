"""Figures in plain text: engineering notation, and as many digits as tell a value from its limit.

Units are those of `domain.simulation.units`; the texts are English and not SPICE (mega is M).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from shared.late_patterns import late_pattern

MOST_DIGITS = 10
"""More say nothing of a simulation: its own tolerances are far above."""
NOT_MEASURED = "not measured"

_PREFIXES = (
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "u"),
    (1e-9, "n"),
    (1e-12, "p"),
    (1e-15, "f"),
)
_DECIMALS = late_pattern(r"\.(\d*?)0*(?!\d)")
_WITHOUT_PREFIX = ("1", "", "dB", "deg", "degC", "%", "ppm/K")


_LEAST = 1e-18
_LEAST_VOLTS = 1e-15
"""Nodes are sums of volts; the arithmetic leaves that much of them."""
_MEASURED = frozenset({"V", "A", "W", "s", "Hz", "Ohm", "Ω"})


def without_rounding_noise(value: float, unit: str) -> float:
    """A measured value; 0 for one so small that only rounding left it there: below an atto of its unit,
    below a femtovolt."""
    least = _LEAST_VOLTS if unit == "V" else _LEAST
    return 0.0 if unit in _MEASURED and abs(value) < least else value


def with_unit(value: float, unit: str, digits: int = 4) -> str:
    """A number for people: ``15.9 kHz``, ``30 mV``, ``-3.01 dB``, ``0.163`` (unit "1")."""
    shown = "" if unit == "1" else unit
    value = without_rounding_noise(value, unit)
    if value == 0 or not math.isfinite(value) or unit in _WITHOUT_PREFIX or unit.startswith("1/"):
        return f"{value:.{digits}g} {shown}".rstrip()
    rounded = float(f"{value:.{digits}g}")
    scale, prefix = next(((s, p) for s, p in _PREFIXES if abs(rounded) >= s), _PREFIXES[-1])
    return f"{float(f'{rounded / scale:.{digits}g}'):.{max(digits, 6)}g} {prefix}{shown}"


def digits_apart(
    value: float, others: Iterable[float | None], show: Callable[[float, int], str], digits: int = 4
) -> int:
    """The digits, from `digits` to 10, with which `show(value, digits)` reads unlike all `others`.

    Others that are equal, None or NaN count for nothing. `digits` where 10 do not tell them apart either.
    """
    near = [each for each in others if each is not None and math.isfinite(each) and each != value]
    if not math.isfinite(value) or not near:
        return digits
    for count in range(digits, MOST_DIGITS + 1):
        if not any(_looks_like(value, each, show, count) for each in near):
            return count
    return digits


def beside(
    value: float, bounds: Iterable[float | None], show: Callable[[float, int], str], digits: int = 4
) -> tuple[str, int]:
    """The text of a value that stands beside its bounds, and the digits to show the bounds with.

    ``("999.97 Hz", 5)`` beside 1 kHz. What differs only beyond ten digits is written ``<1 kHz``.
    """
    known = [each for each in bounds if each is not None]
    count = digits_apart(value, known, show, digits)
    text = show(value, count)
    for bound in known:
        if value != bound and math.isfinite(value) and _looks_like(value, bound, show, count):
            return f"{'<' if value < bound else '>'}{text}", count
    return text, count


def told_apart(unit: str, *values: float, digits: int = 4) -> tuple[str, ...]:
    """Texts of values that are compared in one sentence: ``("999.97 Hz", "1 kHz")``."""

    def show(each: float, count: int) -> str:
        return with_unit(each, unit, count)

    count = max((digits_apart(each, values, show, digits) for each in values), default=digits)
    return tuple(show(each, count) for each in values)


def _looks_like(value: float, other: float, show: Callable[[float, int], str], digits: int) -> bool:
    """Whether two values read alike: ``1000 Hz`` and ``1.000 kHz`` do, though their texts differ."""
    if _bare(show(value, digits)) == _bare(show(other, digits)):
        return True
    return float(f"{value:.{digits}g}") == float(f"{other:.{digits}g}")


def _bare(text: str) -> str:
    """Without the zeros at the end of its decimals, which tell nothing apart: ``0.000 dB`` is ``0 dB``."""
    return _DECIMALS.sub(lambda found: f".{found[1]}" if found[1] else "", text)
