"""Numbers as KiCad's fields have them, in SPICE's form.

In a field a number has an SI prefix, M for a million and m for a thousandth, and may have its unit or the
prefix in the place of the point (4k7, 100n, 10 kΩ, 4R7). SPICE takes M and m both for a thousandth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from shared.late_patterns import late_pattern

_PREFIXES: Mapping[str, str] = {
    "": "", "a": "a", "f": "f", "p": "p", "n": "n", "u": "u", "µ": "u", "μ": "u", "m": "m", "k": "k",
    "K": "k", "M": "Meg", "Meg": "Meg", "MEG": "Meg", "meg": "Meg", "G": "G", "g": "G", "T": "T",
}  # fmt: skip
_UNIT = r"(?:[FHVAsSW]|Hz|Ohms?|ohms?|Ω|Ω|R|Vs|As)?"
_NUMBER = late_pattern(
    rf"(?P<number>[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d+)?)\s*(?P<prefix>Meg|MEG|meg|[afpnuµμmkKMGgT])?\s*{_UNIT}"
)
_INSIDE = late_pattern(rf"(?P<whole>\d+)(?P<prefix>[fpnuµμmkKMGTR])(?P<part>\d+){_UNIT}")
_RATING = late_pattern(r"\s*(?:[/,;]\s*|\s)(?:±?\s*\d|[A-Za-z]\w*$|\().*")
"""What stands behind a part's value on a sheet: 1 %, 50 V, X7R, 0603."""
_PAIR = late_pattern(
    r"""(?P<name>[A-Za-z_][\w.]*)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>\S+))|(?P<flag>\S+)"""
)


def spice_number(text: str) -> str | None:
    """A number of a field as SPICE reads it: ``1Meg`` of ``1M``; None for what is no number."""
    text = text.strip()
    if (found := _INSIDE.fullmatch(text)) is not None:
        prefix = "" if found["prefix"] == "R" else _PREFIXES[found["prefix"]]
        return f"{found['whole']}.{found['part']}{prefix}"
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    return f"{found['number'].replace(',', '.')}{_PREFIXES[found['prefix'] or '']}"


def part_value(text: str) -> str | None:
    """The value of a resistor, capacitor or inductor in its field Value, without its ratings.

    An expression in braces stays as it is. None for what is no value.
    """
    text = text.strip()
    if re.fullmatch(r"\{[^{}]*\}", text):
        return text
    whole = spice_number(text)
    if whole is not None:
        return whole
    for length in range(len(text) - 1, 0, -1):
        value = spice_number(text[:length])
        if value is not None and _RATING.fullmatch(text[length:]):
            return value
    return None


def parameter_value(text: str) -> str:
    """A value of a parameter: a number in SPICE's form, anything else as it is."""
    return spice_number(text) or text.strip()


def pairs(text: str) -> dict[str, str]:
    """``dc=0 ampl=1 pwl="0 0 1m 5"``: values by name in lower case; a word without a value has "1"."""
    found = {}
    for each in _PAIR.finditer(text):
        if each["flag"] is not None:
            found[each["flag"].lower()] = "1"
        else:
            quoted = each["quoted"]
            value = each["plain"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            found[each["name"].lower()] = value
    return found
