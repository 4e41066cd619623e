"""What an answer says the value of a part is, and the circuit has another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shared.late_patterns import late_pattern

_MOST_READ = 40_000
_MOST_TOLD = 60
_SLACK = 6e-3

_SCALES = {"f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "meg": 1e6, "g": 1e9}
_VALUE = r"\d+(?:\.\d+)?\s?(?:[Mm]eg|MEG|[fpnumkKMG])?(?:Ω|[Oo]hms?|F|H|欧姆?)?(?![\w.%])"
_CARD = late_pattern(
    r"(?:^|\\n"
    r"|['\"])[-+ \t]*(?P<part>[RCL]\w*)[ \t]+\w+[ \t]+\w+[ \t]+(?P<value>\d+(?:\.\d+)?(?:e-?\d+)?\w*)",
    re.MULTILINE | re.IGNORECASE,
)
_GIVEN = late_pattern(
    r"\b(?P<part>[RCL]\w*)[^\w\n]{1,4}(?P<value>\d+(?:\.\d+)?(?:e-?\d+)?\w*)", re.IGNORECASE
)
_PARTS = r"[RCL](?:\d\w{0,3}|[A-Z]{1,3}\d?)"
_TOLD = late_pattern(
    rf"(?<![\w/])(?P<parts>{_PARTS}(?:\s?(?:,|、|/|\band\b|和|与)\s?{_PARTS}){{0,3}})(?:\s|=|:|~|≈"
    r"|\b(?:is|are|was|were|of|at|to|now|about|from|went|goes|still|has|have|been|be|the|value)\b|由|从|取|为|用|是|选|仍|还|现在|均|都|(?:换|改|调|设)(?:成|为|到|至)|各|的值?)"
    rf"{{0,7}}(?P<one>{_VALUE})(?:\s?(?:\bto\b|->|→|=>|变为|改为|换成|换为|增大?到|减小?到|到|至)\s?(?P<other>{_VALUE}))?"
)
_WRITTEN = late_pattern(r"(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?)\s?(?P<scale>meg|[fpnumkMKG])?", re.IGNORECASE)


def wrong_parts(flat: str, backing: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where an answer (in plain form, without code) gives a part a value that it never had.

    Parts that `backing` (results, what calls were given, the user's words) tells no value of are left alone.
    """
    told = [each for _, each in zip(range(_MOST_TOLD), _TOLD.finditer(flat), strict=False)]
    if not told:
        return
    known: dict[str, set[float]] = {}
    for text in backing:
        for pattern in (_CARD, _GIVEN):
            for each in pattern.finditer(text[:_MOST_READ].replace("µ", "u").replace("μ", "u")):
                known.setdefault(each["part"].lower(), set()).update(_values(each["value"]))
    for each in told:
        names = [name.lower() for name in re.findall(_PARTS, each["parts"])]
        if not all(known.get(name) for name in names):
            continue
        for which in ("one", "other"):
            written = each[which]
            if written is None or not re.search(r"[a-zA-ZΩ欧]", written):
                continue
            values = _values(written)
            if any(
                not any(_is_like(one, other) for one in values for other in known[name]) for name in names
            ):
                yield each.start(which), each.end(which)


def _values(written: str) -> list[float]:
    """What a value may be: "M" is milli in a netlist and mega in words."""
    found = _WRITTEN.match(written)
    if found is None:
        return []
    number, scale = float(found["number"]), found["scale"] or ""
    if scale == "M":
        return [number * 1e6, number * 1e-3]
    return [number * _SCALES.get(scale.lower(), 1.0)]


def _is_like(one: float, other: float) -> bool:
    return abs(one - other) <= _SLACK * max(abs(one), abs(other))
