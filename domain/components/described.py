"""Kinds and figures in the words people write: titles and comments of libraries, queries.

A number with its unit is a figure; a word in front of it says which (``GBW 3 MHz``, ``RDS(on) < 44 mOhm``),
else the unit does, by the kind of the part: the first voltage of an NPN transistor is its Vceo.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from shared.late_patterns import late_pattern

_KIND_WORDS: tuple[tuple[str, str], ...] = (
    ("comparator", r"comparators?|比较器"),
    ("opamp", r"op-?\s?amps?|opamps?|operational amplifiers?|运算放大器|运放"),
    ("regulator", r"regulators?|ldos?|low.dropout|稳压器"),
    ("reference", r"voltage references?|shunt references?|基准"),
    ("timer", r"timers?|定时器"),
    ("schottky", r"schottky|肖特基(?:二极管)?"),
    ("zener", r"zeners?(?: diodes?)?|稳压(?:二极)?管|齐纳(?:二极管)?"),
    ("pmos", r"p-?\s?ch(?:annel)?(?:[\s\w-]{0,20}?(?:mosfets?|mos|fet))|pmos|p ?沟道(?: ?mos(?:fet)?)?"),
    ("nmos", r"n-?\s?ch(?:annel)?(?:[\s\w-]{0,20}?(?:mosfets?|mos|fet))|nmos|n ?沟道(?: ?mos(?:fet)?)?"),
    ("pjf", r"p-?\s?ch(?:annel)? jfets?|pjf"),
    ("njf", r"n-?\s?ch(?:annel)? jfets?|njf"),
    ("npn", r"npn"),
    ("pnp", r"pnp"),
    ("diode", r"(?:rectifiers?|diodes?)(?: diodes?)?|二极管|整流管"),
    ("resistor", r"resistors?|电阻"),
    ("capacitor", r"capacitors?|caps?|电容"),
    ("inductor", r"inductors?|coils?|电感"),
    ("switch", r"switch(?:es)?|开关"),
)  # fmt: skip
_GROUP_WORDS = (
    ("bjt", r"bjts?|bipolars?|transistors?|三极管|晶体管"),
    ("mosfet", r"mosfets?|mos|场效应管"),
    ("jfet", r"jfets?"),
)


_WHOLE = r"(?<![a-z0-9])(?:%s)(?![a-z0-9])"
_KINDS = tuple((kind, late_pattern(_WHOLE % pattern, re.IGNORECASE)) for kind, pattern in _KIND_WORDS)
_GROUPS = tuple((group, late_pattern(_WHOLE % pattern, re.IGNORECASE)) for group, pattern in _GROUP_WORDS)


def kind_in(text: str) -> str:
    """The kind a text names first in it; "" for none. "JFET-input op-amp" is an op-amp."""
    text = text[:2_000]
    found = [(match.start(), kind) for kind, pattern in _KINDS if (match := pattern.search(text))]
    amplifiers = [
        place for place in found if place[1] in ("opamp", "comparator", "regulator", "reference", "timer")
    ]
    return min(amplifiers or found, default=(0, ""))[1]


def kinds_asked(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The text without words of kinds, the kinds it asks for, and the groups where it names only these."""
    kinds, groups = [], []
    for kind, pattern in _KINDS:
        if pattern.search(text):
            kinds.append(kind)
            text = pattern.sub(" ", text)
    for group, pattern in _GROUPS:
        if not (group == "jfet" and kinds) and pattern.search(text):
            text = pattern.sub(" ", text)
            if not kinds:
                groups.append(group)
    return text, tuple(kinds), tuple(groups)


QUANTITIES: tuple[tuple[str, str], ...] = (
    ("ron", r"r[_ ]?ds\s*\(?on\)?|ron|on.resistance|导通电阻"),
    ("vth", r"v[_ ]?gs\s*\(?th\)?|vth|vto|threshold(?: voltage)?|pinch.off|vp|阈值电压"),
    (
        "v",
        r"v\s?\(?br\)?\s?ceo|bvceo|vceo|vce|v\s?\(?br\)?\s?dss|vdss|vds|vrrm|vrwm|vrm|vr|bv|breakdown|耐压|电压",
    ),
    ("i", r"ic\s?\(?max\)?|ic|id|if\s?\(?av\)?|if|io|imax|电流"),
    (
        "f",
        r"gain.bandwidth(?: product)?|gbwp?|gbp|ugbw|ft|bandwidth|unity.gain|增益带宽(?:积)?|带宽|特征频率",
    ),
    ("slew", r"slew.?rate|sr|slew|压摆率"),
    ("hfe", r"hfe|h21e?|beta|bf|电流增益|放大倍数"),
    ("p", r"ptot|pd|power|功率"),
    ("vz", r"vz|zener voltage|稳压值"),
    ("trr", r"trr|recovery(?: time)?|恢复时间"),
)
"""The names figures go by."""

_NUMBER = r"(?P<sign>[-+−]?)(?P<number>\d{1,9}(?:[.,]\d{1,9})?(?:e[+-]?\d{1,2})?)"
_UNIT = r"(?P<prefix>meg|[TGMkmuµμnp])?(?P<unit>V/(?:u|µ|μ)s|V/s|Hz|Ohms?|Ω|Ω|V|A|W|s|欧姆|伏|安)?"
FIGURE = late_pattern(rf"(?<![\w.]){_NUMBER}\s?{_UNIT}(?![\w/])")
_NAMED = late_pattern(
    r"(?<![\w])(?:" + "|".join(f"(?P<q_{key}>{pattern})" for key, pattern in QUANTITIES) + r")(?![\w])"
    r"[\s:=]*(?:is|of|at|typ(?:ically|\.)?|max\.?|min\.?|about|<=?|>=?|≤|≥)*[\s:=]*"
    + _NUMBER
    + r"\s?"
    + _UNIT
    + r"(?![\w/])",
    re.IGNORECASE,
)
_SCALES = {"T": 1e12, "G": 1e9, "M": 1e6, "meg": 1e6, "k": 1e3, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6,
           "n": 1e-9, "p": 1e-12}  # fmt: skip
BY_UNIT = {"V": "v", "伏": "v", "A": "i", "安": "i", "Hz": "f", "W": "p", "Ω": "ron", "V/us": "slew",
           "s": "trr", "": ""}  # fmt: skip
"""The quantity a unit tells, as `value_of` gives units."""
_LIMITS = {"v": 1e6, "i": 1e5, "f": 1e13, "slew": 1e12, "hfe": 1e6, "ron": 1e9, "vth": 1e3, "p": 1e6,
           "vz": 1e5, "trr": 1e3}  # fmt: skip


class Figure(NamedTuple):
    """A number in a text."""

    quantity: str
    """A key of `component.UNITS`; "" where neither a name nor a unit tells it."""
    value: float
    unit: str
    start: int
    end: int


def value_of(match: re.Match[str]) -> tuple[float, str]:
    """Value in SI and unit of a match with the groups number, prefix and unit."""
    unit = (match["unit"] or "").replace("μ", "u").replace("µ", "u").replace("Ω", "Ω")
    unit = (
        "V/us"
        if unit.lower() == "v/us"
        else {"ohm": "Ω", "ohms": "Ω", "欧姆": "Ω", "hz": "Hz"}.get(unit.lower(), unit)
    )
    unit = unit.upper() if unit.lower() in ("v", "a", "w") else unit.lower() if unit == "S" else unit
    prefix = match["prefix"] or ""
    if unit == "Hz" and prefix == "m":
        prefix = "M"  # nobody means thousandths
    scale = next((_SCALES[each] for each in (prefix, prefix.lower(), prefix.upper()) if each in _SCALES), 1.0)
    value = float(match["number"].replace(",", ".")) * scale
    if unit == "V/us":
        value *= 1e6
    elif unit == "V/s":
        unit = "V/us"
    return value, unit


def figures_in_text(kind: str, text: str) -> Iterator[Figure]:
    """The figures of a text: those with a name first, then those told by their unit alone."""
    taken: list[tuple[int, int]] = []
    for match in _NAMED.finditer(text):
        key = next(key for key, _ in QUANTITIES if match[f"q_{key}"])
        value, unit = value_of(match)
        if _fits(key, unit, value):
            taken.append(match.span())
            yield Figure(_of_kind(key, kind), value, unit, *match.span())
    for match in FIGURE.finditer(text):
        value, unit = value_of(match)
        if unit and not any(start <= match.start() < end for start, end in taken):
            yield Figure(_of_kind(BY_UNIT.get(unit, ""), kind), value, unit, *match.span())


def _of_kind(key: str, kind: str) -> str:
    if key == "v" and kind == "zener":
        return "vz"
    if key == "vth" and kind in ("npn", "pnp", "diode", "schottky", "zener", "opamp"):
        return "v"
    return key


def _fits(key: str, unit: str, value: float) -> bool:
    wanted = {"v": "V", "i": "A", "f": "Hz", "slew": "V/us", "hfe": "", "ron": "Ω", "vth": "V", "p": "W",
              "vz": "V", "trr": "s"}[key]  # fmt: skip
    return unit in (wanted, "") and value <= _LIMITS[key]


_OF_KINDS = {
    **dict.fromkeys(("npn", "pnp"), ("v", "i", "hfe", "f", "p")),
    **dict.fromkeys(("nmos", "pmos"), ("v", "i", "ron", "vth", "p")),
    **dict.fromkeys(("njf", "pjf"), ("v", "i", "vth")),
    **dict.fromkeys(("diode", "schottky"), ("v", "i", "p", "trr")),
    "zener": ("vz", "i", "p"),
    **dict.fromkeys(("opamp", "comparator"), ("f", "slew")),
    **dict.fromkeys(("regulator", "reference"), ("v", "i")),
}
"""The figures that mean something of a kind: a bias current of an op-amp is not what it is rated for."""


def figures_in(kind: str, lines: Sequence[str]) -> dict[str, float]:
    """The figures of a part that its title and comments tell; the first of each quantity counts."""
    wanted = _OF_KINDS.get(kind, ())
    found: dict[str, float] = {}
    for number, line in enumerate(lines):
        for figure in figures_in_text(kind, line[:500]):
            is_named = figure.quantity in ("f", "slew", "ron", "vth", "hfe", "trr") or number == 0
            if figure.quantity in wanted and is_named and figure.value > 0:
                found.setdefault(figure.quantity, figure.value)
    return {key: found[key] for key in wanted if key in found}
