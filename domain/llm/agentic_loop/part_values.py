"""What an answer says the value of a part is, and the circuit has another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from shared.late_patterns import late_pattern

_MOST_READ = 40_000
_MOST_TOLD = 60
_SLACK = 6e-3

SCALES = {"f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "meg": 1e6, "g": 1e9}
_VALUE_BEHIND = late_pattern(
    r"\b(?P<part>[RCL][a-z]?\w{0,4})\b(?P<between>[^.;。；\n]{0,40}?)(?<![\w.])"
    r"(?P<number>\d+(?:\.\d+)?)(?P<scale>[Mm]eg|MEG|[pnumkKM])(?![A-Za-z0-9_/]|\.\d)"
)
_VALUE_OF_PART = late_pattern(
    r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?P<scale>[Mm]eg|MEG|[pnumkKM])(?: (?:for|of|as)(?: the)? "
    r"| ?的 ?)(?P<part>[RCL]\d\w{0,4})\b"
)
PART_UNITS = {"R": "Ohm", "C": "F", "L": "H"}
_VALUE = (
    r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?\s?(?:[Mm]eg|MEG|[fpnumkKMG])?(?:Ω|[Oo]hms?|F|H|欧姆?)?(?![\w.%])"
)
_CARD = late_pattern(
    r"(?:^|\\n"
    r"|['\"])[-+ \t]*(?P<part>[RCL]\w*)[ \t]+\w+[ \t]+\w+[ \t]+(?P<value>\d+(?:\.\d+)?(?:e-?\d+)?\w*)",
    re.MULTILINE | re.IGNORECASE,
)
_CHANGED = late_pattern(
    r"^(?P<sign>[-+])(?P<part>[RCL]\w*)[ \t]+\w+[ \t]+\w+[ \t]+(?P<value>\d+(?:\.\d+)?(?:e-?\d+)?\w*)",
    re.MULTILINE | re.IGNORECASE,
)
"""A line of a difference."""
_IS_OLD = late_pattern(
    r"\b(?:before|was|were|had|from|earlier|previous\w*|original\w*|old|initial\w*|instead|than|first|still)\b"
    r"|原|之前|先前|旧|此前|从|由|比|[改调换]前|->|→|=>|若|如果|\bif\b|恢复|回到|\bback\b"
)
"""What may tell of the value a part had."""
_IS_WHERE = late_pattern(r"\s?时")
"""Behind a value: with it something is so."""
_SENTENCE_END = late_pattern(r"[。！!?？]|\.(?=\s)")
_IS_NOW = late_pattern(
    r"\b(?:now|final(?:ly)?|present(?:ly)?|currently)\b|现在|目前|最终|[改换调设]成?[为到至]", re.IGNORECASE
)
_GIVEN = late_pattern(
    r"\b(?P<part>[RCL]\w*)[^\w\n]{1,4}(?P<value>\d+(?:\.\d+)?(?:e-?\d+)?\w*)", re.IGNORECASE
)
_PARTS = r"[RCL](?:\d\w{0,3}|[A-Z]{1,3}\d?)"
_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?:meg|[fpnumkg])?"
_VALUED = late_pattern(
    rf"^(?P<sign>[-+])?[ \t]*(?P<part>[RCLVI]\w*)[ \t]+\S+[ \t]+\S+[ \t]+(?:DC[ \t]+)?(?P<value>{_NUMBER})(?![\w.]*[(\w])"  # noqa: E501
    rf"|^(?P<sign_of>[-+])?[ \t]*(?P<device>M\w*)[ \t](?P<rest>[^\n]*?\b[WL][ \t]*=[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_SIZE = late_pattern(rf"\b(?P<name>[WL])[ \t]*=[ \t]*(?P<value>{_NUMBER})", re.IGNORECASE)
_TOLD = late_pattern(
    rf"(?<![\w/])(?P<parts>{_PARTS}(?:\s?(?:,|、|/|\band\b|和|与)\s?{_PARTS}){{0,3}})(?:\s|=|:|~|≈"
    r"|\b(?:is|are|was|were|of|at|to|now|about|from|went|goes|still|has|have|been|be|the|value|set|changed|reduced|lowered|raised|increased)\b|由|从"
    r"|取|为|用|是|选|仍|还|现在|均|都|(?:换|改|调|设)(?:成|为|到|至)|(?:加大|增大|减小|提高|降低)(?:到"
    r"|至|为)|各|的值?)"
    rf"{{0,7}}(?P<one>{_VALUE})(?:\s?(?:\bto\b|->|→|=>|变为|改为|换成|换为|增大?到|减小?到|到"
    rf"|至)\s?(?P<other>{_VALUE}))?"
)
_WRITTEN = late_pattern(
    r"(?P<number>-?\d+(?:\.\d+)?(?:e-?\d+)?)\s?(?P<scale>meg"
    r"|[fpnumkMKG])?",
    re.IGNORECASE,
)


_FARADS = late_pattern(r"(?<=\d)\s?F\Z")
"""In words no femto: "C1 to 1.5 F"."""


def written(text: str) -> float | None:
    """A value as netlists write it; None where it is none."""
    found = _WRITTEN.match(text.strip().lstrip("+"))
    return None if found is None else float(found["number"]) * SCALES.get((found["scale"] or "").lower(), 1.0)


def cards_in(flat: str) -> Iterator[tuple[str, float, str]]:
    """Name in lower case, value (SI) and sign, in a difference, of the cards in a text in plain form."""
    for each in _VALUED.finditer(flat):
        if each["part"] is not None and (value := written(each["value"])) is not None:
            yield each["part"].lower(), value, each["sign"] or ""
        for size in _SIZE.finditer(each["rest"] or ""):
            if (value := written(size["value"])) is not None:
                yield f"{each['device']}.{size['name']}".lower(), value, each["sign_of"] or ""


def wrong_parts(flat: str, backing: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where an answer (in plain form, without code) gives a part a value that it never had.

    Parts that `backing` (results, what calls were given, the user's words) tells no value of are left alone.
    """
    told = [each for _, each in zip(range(_MOST_TOLD), _TOLD.finditer(flat), strict=False)]
    if not told:
        return
    known: dict[str, set[float]] = {}
    newest: dict[str, float] = {}
    replaced: dict[str, set[float]] = {}
    for text in backing:
        for each in _CHANGED.finditer(text[:_MOST_READ].replace("µ", "u").replace("μ", "u")):
            part, values = each["part"].lower(), _values(each["value"])
            if values and each["sign"] == "-":
                replaced.setdefault(part, set()).update(values)
            elif values:
                newest[part] = values[0]
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
            values = _values(_FARADS.sub("", written.replace(",", "")))
            line = _line(flat, each.start())
            is_old = which == "one" and (
                each["other"] is not None
                or _IS_OLD.search(_sentence(flat, each.start()))
                or _IS_WHERE.match(flat, each.end("one"))
                # a table's heads: "| RE = 68 Ω | RE = 36 Ω |"
                or (
                    line.lstrip().startswith("|")
                    and len(
                        {
                            one["one"]
                            for one in told
                            if line == _line(flat, one.start()) and one["parts"] == each["parts"]
                        }
                    )
                    > 1
                )
            )
            if any(
                not any(_is_like(one, other) for one in values for other in known[name])
                or (
                    not is_old
                    and name in newest
                    and (
                        _IS_NOW.search(flat, _clause_start(flat, each.start()), each.start("one"))
                        or any(_is_like(one, other) for one in values for other in replaced.get(name, ()))
                    )
                    and not any(_is_like(one, newest[name]) for one in values)
                )
                for name in names
            ):
                yield each.start(which), each.end(which)


def has_other_value(flat: str, values: Mapping[str, float]) -> bool:
    """Whether a text in plain form gives a part that stands in a circuit another value than it has there."""
    return any(
        not any(_is_like(one, values[name.lower()]) for one in _values(each["one"]))
        for each in _TOLD.finditer(flat)
        if re.search(r"[a-zA-ZΩ欧]", each["one"])
        for name in re.findall(_PARTS, each["parts"])
        if name.lower() in values
    )


def changed_parts(backing: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """The first values of the parts that were changed, and those they have now, by name."""
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    for text in backing:
        for each in _CHANGED.finditer(text[:_MOST_READ].replace("µ", "u").replace("μ", "u")):
            if (values := _values(each["value"])) and each["sign"] == "-":
                first.setdefault(each["part"].lower(), values[0])
            elif values:
                last[each["part"].lower()] = values[0]
    return first, last


_RAISED = late_pattern(
    r"\b(?:increased|raised|enlarged|doubled)\b|(?:增大|加大|提高|调大)了?|(?P<down>\b(?:decreased"
    r"|lowered|reduced|halved|shrank)\b|(?:减小|降低|调小|缩小)了?)"
)
_KINDS = {
    "r": late_pattern(r"\bresistors?\b|电阻"),
    "c": late_pattern(r"\bcapacitors?\b|电容"),
    "l": late_pattern(r"\binductors?\b|电感"),
}
_OTHERWISE = late_pattern(
    r"\b(?:not|no|would|could|should|if|was|were|is|be|current|voltage|value of)\b|不|未|若|如果|可以"
    r"|建议|电流|电压|应"
)


def wrong_ways(flat: str, backing: Sequence[str]) -> Iterator[str]:
    """The clauses that say parts were raised that were lowered, or the other way round.

    Told by name or by kind ("both resistors"), when all changed parts of those went the one way.
    """
    first, last = changed_parts(backing)
    for clause in re.split(r"[,，;；。!！?？\n:：]|\.(?=\s|$)", flat) if first else ():
        told = list(_RAISED.finditer(clause.lower()))
        if len(told) != 1 or _OTHERWISE.search(clause.lower()):
            continue
        behind = clause[told[0].end() :] if clause[told[0].end() :].strip() else clause
        names = {name.lower() for name in re.findall(_PARTS, behind)} or {
            name
            for name in last
            for kind, words in _KINDS.items()
            if name[0] == kind and words.search(behind.lower())
        }
        ways = {
            last[name] > first[name]
            for name in names
            if name in first and name in last and last[name] != first[name]
        }
        if len(ways) == 1 and ways.pop() == bool(told[0]["down"]):
            yield clause.strip()


def _line(flat: str, at: int) -> str:
    """The line of a place, in lower case."""
    end = flat.find("\n", at)
    return flat[flat.rfind("\n", 0, at) + 1 : len(flat) if end < 0 else end].lower()


def _clause_start(flat: str, at: int) -> int:
    return max(flat.rfind(end, 0, at) for end in (",", ";", "。", "\n", ":", ". ")) + 1


def _sentence(flat: str, at: int) -> str:
    """The part of a place's line that is its sentence, in lower case."""
    start = flat.rfind("\n", 0, at) + 1
    end = flat.find("\n", at)
    ends = [found.end() for found in _SENTENCE_END.finditer(flat, start, at)]
    stop = _SENTENCE_END.search(flat, at, len(flat) if end < 0 else end)
    return flat[max(ends, default=start) : stop.start() if stop else (len(flat) if end < 0 else end)].lower()


def _values(written: str) -> list[float]:
    """What a value may be: "M" is milli in a netlist and mega in words."""
    found = _WRITTEN.match(written)
    if found is None:
        return []
    number, scale = float(found["number"]), found["scale"] or ""
    if scale == "M":
        return [number * 1e6, number * 1e-3]
    return [number * SCALES.get(scale.lower(), 1.0)]


def _is_like(one: float, other: float) -> bool:
    return abs(one - other) <= _SLACK * max(abs(one), abs(other))


def values_of_parts(flat: str) -> Iterator[tuple[int, int, float, str]]:
    """Where the values of parts stand, written as in a netlist, what they are and their units."""
    for found in (*_VALUE_BEHIND.finditer(flat), *_VALUE_OF_PART.finditer(flat)):
        scale = found["scale"]
        factor = 1e6 if scale.lower() == "meg" or scale == "M" else SCALES[scale.lower()]
        yield (
            found.start("number"),
            found.end("scale"),
            float(found["number"]) * factor,
            PART_UNITS[found["part"][0]],
        )
