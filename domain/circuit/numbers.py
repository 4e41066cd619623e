"""SPICE number text, read and printed: the one place that knows suffixes.

The rules are those of ngspice 39 (tried on the program, not taken from its manual): ``meg`` is 1e6 and
``mil`` 25.4e-6, ``m`` and ``M`` are both 1e-3, ``a`` is not a suffix; the micro sign (U+00B5) is 1e-6, but
the Greek letter that looks the same (U+03BC) is nothing: ``1μ`` is 1. Letters that follow are a unit and
ignored, so ``1F`` is a femto-something.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import NamedTuple

from shared.late_patterns import late_pattern

_NUMBER = late_pattern(
    r"(?P<mantissa>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?)"
    r"(?:[eEdD](?![a-zA-Z]))?"  # ngspice lets a lone exponent letter pass: "1e" is 1
    r"(?P<suffix>[mM][eE][gG]|[mM][iI][lL]|[tTgGkKmMuUnNpPfF]|µ)?"
    r"(?P<unit>(?:(?!μ)[^\W\d_])*|[%°Ω℃]+)"
)
_SCALES = {
    "t": 1e12,
    "g": 1e9,
    "meg": 1e6,
    "k": 1e3,
    "mil": 25.4e-6,
    "m": 1e-3,
    "u": 1e-6,
    "µ": 1e-6,
    "n": 1e-9,
    "p": 1e-12,
    "f": 1e-15,
}
_MOST_POWER = 300
_ENGINEERING = (
    (12, "T"),
    (9, "G"),
    (6, "Meg"),
    (3, "k"),
    (0, ""),
    (-3, "m"),
    (-6, "u"),
    (-9, "n"),
    (-12, "p"),
    (-15, "f"),
)


class NumberText(NamedTuple):
    """A number as it was written."""

    value: float
    """SI, the suffix applied."""
    suffix: str
    """Scale suffix as written: "k", "Meg", "M", "" ..."""
    unit: str
    """Letters after the suffix, which SPICE ignores: "Ohm", "F", "" ..."""
    rest: str
    """What ngspice silently ignores on an element line after number and unit: the "2" of "4k2"."""


_LONGEST_REMEMBERED = 32
"""Characters of a text whose number is remembered: the values of a circuit are few and stand in it often."""


def read_number(text: str) -> NumberText | None:
    """What an ngspice element line reads in `text`, or None when it does not begin with a number."""
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _read(text)


def _read(text: str) -> NumberText | None:
    match = _NUMBER.match(text)
    if match is None:
        return None
    mantissa = float(match["mantissa"].lower().replace("d", "e"))
    suffix = match["suffix"] or ""
    scale = _SCALES[suffix.lower()] if suffix else 1.0
    # Scaling by a division is exact where the factor is not a binary fraction: 100n is 1e-07.
    value = mantissa * scale if scale >= 1 or suffix.lower() == "mil" else mantissa / round(1 / scale)
    return NumberText(value=value, suffix=suffix, unit=match["unit"], rest=text[match.end() :])


_remembered = lru_cache(maxsize=8192)(_read)


def with_ascii_micro(text: str) -> str:
    """Micro signs behind digits as ``u``, which ngspice reads in any encoding (``1μ`` alone would be 1)."""
    return re.sub(r"(?<=[\d.])[µμ]", "u", text)


def parse_number(text: str) -> float:
    """The value of a SPICE number (``1k``, ``10Meg``, ``100nF``, ``1e-3``, ``1mil``), in SI.

    Raises ValueError when it is not a number, and for texts of which ngspice would drop a part
    (``2K2``, ``1,5k``, ``0x10``), because what was meant is not what would be computed.
    """
    number = read_number(text.strip())
    if number is None or number.rest:
        raise ValueError(f"not a SPICE number: {text!r}")
    return number.value


_BARE_UNITS = frozenset({"v", "a", "f", "h", "ohm", "ohms", "hz", "s", "volt", "volts"})


def joined_value(number: str, word: str) -> str | None:
    """How a value is written whose scale or unit stands apart, ``4.7k`` for ``4.7 k``; a unit alone goes.

    None where the two are no such value.
    """
    value = read_number(number)
    if value is None or value.suffix or value.unit or value.rest or not word[:1].isalpha():
        return None
    whole = read_number(number + word)
    if whole is not None and whole.rest:
        return None
    if word.lower() in _BARE_UNITS:
        return number
    is_scaled = whole is not None and bool(whole.suffix) and whole.unit.lower() in {"", *_BARE_UNITS}
    return number + word if is_scaled else None


def split_suffix(text: str) -> tuple[str, str, str]:
    """Cut a number into mantissa (with exponent), scale suffix and unit, as written.

    Raises ValueError like `parse_number`.
    """
    number = read_number(text.strip())
    if number is None or number.rest:
        raise ValueError(f"not a SPICE number: {text!r}")
    tail = len(number.suffix) + len(number.unit)
    stripped = text.strip()
    return stripped[: len(stripped) - tail], number.suffix, number.unit


def digits_times_power(text: str) -> float:
    """The number as ngspice reads it in measurements: its digits, a whole number, times a power of ten.

    That may be the double beside the nearest one: 0.000431 is 431 times 1e-6, a little less. A time that is
    printed at a round place is compared with it. Raises ValueError like `parse_number`.
    """
    mantissa, suffix, _ = split_suffix(text)
    digits, _, exponent = mantissa.lower().replace("d", "e").partition("e")
    whole, _, fraction = digits.partition(".")
    scale = _SCALES[suffix.lower()] if suffix else 1.0
    power = int(exponent or 0) - len(fraction) + round(math.log10(scale))
    if suffix.lower() == "mil" or abs(power) > _MOST_POWER:
        return parse_number(text)
    return int(whole + fraction) * math.pow(10.0, power)


def place_of(text: str) -> int | None:
    """The number of a place in a list, from 0, as a file writes it in digits; None for what is none. No list
    is longer than nine digits, and of thousands of digits Python makes no number."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


def format_number(value: float, digits: int = 6) -> str:
    """Engineering notation that SPICE reads back: ``4.7k``, ``10Meg``, ``100n`` (never ``M``).

    `digits` significant digits (17 give every double back to within its last bit). Values outside
    1f ... 999T are written with an exponent. Raises ValueError for NaN and infinity.
    """
    if not math.isfinite(value):
        raise ValueError(f"SPICE has no way to write {value}")
    if value == 0:
        return "0"
    mantissa_text, exponent_text = f"{value:.{digits - 1}e}".split("e")
    exponent = int(exponent_text)
    for power, suffix in _ENGINEERING:
        if power <= exponent < power + 3:
            shifted = _shift_point(mantissa_text, exponent - power)
            return shifted + suffix
    return _trimmed(mantissa_text) + f"e{exponent}"


def _shift_point(mantissa: str, places: int) -> str:
    """Move the decimal point of ``d.ddd`` right, on the digits themselves: no rounding happens twice."""
    sign = "-" if mantissa.startswith("-") else ""
    digits = mantissa.lstrip("-").replace(".", "").ljust(places + 1, "0")
    whole, fraction = digits[: places + 1], digits[places + 1 :]
    return sign + _trimmed(f"{whole}.{fraction}")


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
