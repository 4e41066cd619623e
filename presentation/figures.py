"""Numbers for people: engineering notation with units."""

from __future__ import annotations

import math

from domain.circuit.figures import without_rounding_noise
from domain.circuit.numbers import format_number
from domain.simulation.result import Quantity

_WITHOUT_PREFIX = ("1", "", "deg", "dB", "%")
_WRITTEN = {"1": "", "Ohm": "Ω"}


def figure(quantity: Quantity, digits: int = 4) -> str:
    """`quantity` as ``1.592 kHz``, ``-3.01 dB``, ``0.163``; an em dash for NaN."""
    return number(quantity.value, quantity.unit, digits)


def number(value: float, unit: str, digits: int = 4) -> str:
    """`value` in engineering notation with its unit (SI prefixes: M is mega)."""
    if math.isnan(value):
        return "—"
    shown_unit = _WRITTEN.get(unit, unit)
    value = without_rounding_noise(value, unit)
    if unit in _WITHOUT_PREFIX or value == 0 or math.isinf(value):
        return f"{value:.{digits}g} {shown_unit}".rstrip()
    text = format_number(value, digits)
    mantissa = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    suffix = {"Meg": "M", "meg": "M", "MEG": "M"}.get(text[len(mantissa) :], text[len(mantissa) :])
    return f"{mantissa} {suffix}{shown_unit}".rstrip()


def short_count(count: int) -> str:
    """``640``, ``3.1k``, ``12.4k``, ``144k``, ``1.05M``."""
    if count < 1_000:
        return str(count)
    if count < 99_950:
        return f"{count / 1_000:.1f}".removesuffix(".0") + "k"
    if count < 999_500:
        return f"{count / 1_000:.0f}k"
    return f"{count / 1_000_000:.2f}".rstrip("0").rstrip(".") + "M"
