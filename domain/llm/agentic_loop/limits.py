"""What was asked of a circuit, and what results give of it: one table for verdicts to be held against.

A limit is a bound of one quantity, under the conditions it was set for: from the user's words ("ripple
below 30 mV", "3.3 V ±1 %", "增益至少 40 dB") and from the goals that tools were given ("bw >= 20meg"). A fact
is one value of a quantity, with the row of the study, or the file, that it is of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from math import isclose

from domain.circuit.figures_in_text import TextFigure, figures_in, plain, unit_name
from domain.llm.agentic_loop.part_values import written
from domain.llm.agentic_loop.quantities import (
    MOST_READ,
    column_units,
    expressions_in,
    places_named,
    row_of,
    row_of_label,
)
from domain.llm.agentic_loop.quantities import Row as QuantityName
from domain.llm.agentic_loop.rows import Row, study_rows
from shared.late_patterns import late_pattern

_MOST_RESULTS = 40
_MOST_LIMITS = 60
"""Of one message: each clause of an answer is held against them."""
_BEST = "(best)"
"""Where what an optimizer found is of: the file may not have it."""
_EQUAL = 1e-5
"""Values nearer to a bound than this (a share) keep it."""
_SAME = 0.01
_NEAR_AIM = 0.5
_ALIKE = 6.0
"""A quantity that no name ties to a limit is at most so many times off it."""

_NOT_ABOVE = (
    r"(?:不[得能可应要]?|别|勿|未)(?:再)?(?:超过|超出|高于|大于|多于)|\b(?:not?|never) (?:\w+ )?(?:more"
    r"|above|over|greater|higher"
    r"|larger|exceed\w*|longer)(?: than)?"
)
_NOT_BELOW = (
    r"(?:不[得能可应要]?|别|勿)(?:再)?(?:低于|小于|少于|短于)|\b(?:not?|never) (?:be )?(?:\w+ )?(?:below"
    r"|under|less|lower"
    r"|smaller"
    r"|fewer|shorter)(?: than)?"
)
_BOUND = late_pattern(
    rf"(?:(?P<most>{_NOT_ABOVE}|\b(?:(?:stay|keep|remain|be|is|are)\w* within"
    rf"|at most|below|under|(?:less|lower|smaller|shorter|faster) than"
    rf"|max(?:imum)?(?: of)?"
    r"|no worse than|limit(?:ed)?(?: (?:of|to|is))?|<=?)|<=?|≤|小于等于|小于|低于|少于|短于|最多|最大"
    r"|至多|上限)"
    rf"|(?P<least>{_NOT_BELOW}|\b(?:at least|above|over|(?:more|greater|higher|larger|better) than"
    rf"|min(?:imum)?(?: of)?"
    r"|exceeding)|>=?|≥|大于等于|大于|高于|至少|最少|最小|起码|下限))"
    r"(?: ?(?:of|is|为|是|:|the|a|about|约|衰减|抑制|有|达到?))*\s?[-±]?$"
)
_BEHIND = late_pattern(
    r"\s?(?:(?P<most>(?:max(?:imum)?|or (?:less|lower|smaller|below|faster)|at most)\b|以下|以内|之内|之下"
    r"|内(?![阻部置])|封顶)"
    r"|(?P<least>(?:min(?:imum)?|or (?:more|higher|better|above|larger)|at least)\b|以上|之上"
    r"|起))(?!\s?[\d.])"
)
_WITHIN_BEFORE = late_pattern(r"(?:\bwithin|\binside|±|\bin under|在)\s?(?:a )?±?\s?$")
_OF = late_pattern(r"\s?(?:of|around|from|about) (?:the )?")
_PARTS = late_pattern(
    r"[;；。?？!！\n:：]|，|(?<!\d),|,(?!\d{3}\b)|\.(?=\s|$)|\b(?:with|but|while|also)\b|\band\b(?! ?[-±\d])"
    r"|并且?|同时|而且?|但"
    r"|(?<=[\w%Ω])\s?、(?=[^、，。；;\d]{1,12}(?:不[超低高小大少多]|至少|至多|最[多少高低大小]|[小大低高少多]于|[<>≤≥]))"
)
_ASIDE = late_pattern(r"\([^()±\n]{0,80}\)")
"""Conditions, mostly: no limit of what stands before it."""
_BETWEEN = late_pattern(r"\bbetween\s?$")
_BETWEEN_ZH = late_pattern(r"\s?之间")
_TO = late_pattern(r"\s?(?:-|~|…|\.\.\.?|\bto\b|\band\b|到|至|和)\s?")
_COVERS = late_pattern(r"覆盖|可?调|cover|tun|from|从|由")
_NAMED_BEFORE = 6
"""Characters between a quantity and the range that it has to be in."""
_GOAL = late_pattern(
    r"['\"](?:(?P<first>[-+.\w]+) ?<=? ?)?(?P<name>[A-Za-z_]\w*) ?(?P<sign>[<>])=? ?(?P<number>[-+.\w]+)['\"]"
)
_SET_GOAL = late_pattern(r"\{'metric': '(?P<name>\w+)'(?P<rest>[^{}]*)\}")
_ENDS = late_pattern(r"'(?P<end>minimum|maximum)': '?(?P<number>[-+.\w]+)")
_GIVEN = late_pattern(
    r"^[ \t-]*+(?P<label>-?[A-Za-z_][^=\n;<>≥≤|]{0,90}?) = (?P<value>[-+]?\d[^;\n]{0,30})$", re.MULTILINE
)
_VERDICT = late_pattern(r"\b(?P<how>met|MISSED|missed) (?P<name>\w+) = (?P<value>(?:[^(;\n]|\(Hz\))+)")
_JUDGED = late_pattern(
    r"\b(?:met|MISSED) (?P<name>\w+) = [^(;\n]{1,40}"
    r"\((?P<bound>(?:(?P<sign>[≥≤<>])=? ?)?[-+\d][^();\n]{0,40})\)"
)
_OF_FILE = late_pattern(r"^(?:Data of run \d+ of (?P<file>\S+)|(?P<ran>\S+?): ok, run \d+)", re.MULTILINE)
_DELIVER = late_pattern(r"^sources deliver [^:\n]+: (?P<each>[^\n]+)$", re.MULTILINE)
"""At the operating point; what a source takes up is told with a minus."""
_STUDY = late_pattern(r"^(?P<kind>[\w-]+) of (?P<file>\S+): \d+ runs", re.MULTILINE)
_STATISTICS = late_pattern(
    r"^(?P<name>\w+)(?: \[(?P<unit>[^\]\n]{1,12})\])?: (?P<rest>[^\n]*\bmin [^\n]*)",
    re.MULTILINE,
)
_STATISTIC = late_pattern(
    r"\b(?P<what>min|max|mean|median|nominal) (?P<number>[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)"
)
_WORD = late_pattern(r"[a-z]\w*")
_NODE = late_pattern(r"\b[vi]\((\w+)\)")
_PLACE = late_pattern(r", ?(?P<number>\d+(?:\.\d*)?(?:e[-+]?\d+)?)(?P<scale>meg|[fpnumkgt])?[\w)]*\)")


@dataclass(frozen=True, slots=True)
class Limit:
    """What was asked of one quantity; magnitudes in SI units."""

    quantity: QuantityName | None
    unit: str
    low: float | None
    high: float | None
    at: frozenset[float] = frozenset()
    """The other figures that its words give: where it is to hold."""
    units: frozenset[str] = frozenset()
    """Of these figures."""
    words: frozenset[str] = frozenset()
    """Of the part of a sentence that it stands in."""
    aim: float | None = None
    """The middle that was named."""
    off: tuple[str, float] | None = None
    """How far from it, as it was said: unit and size."""

    def is_kept_by(self, value: float, slack: float = 0.0) -> bool:
        """Whether a value of the quantity is inside."""
        low, high = self.low, self.high
        if low is not None and value < low - _EQUAL * abs(low) - slack:
            return False
        return high is None or value <= high + _EQUAL * abs(high) + slack

    @property
    def bounds(self) -> tuple[float, ...]:
        """Its ends."""
        return tuple(each for each in (self.low, self.high) if each is not None)


@dataclass(frozen=True, slots=True)
class Fact:
    """One value of a quantity."""

    quantity: QuantityName
    unit: str
    value: float
    """Magnitude."""
    at: frozenset[float] = frozenset()
    """The places that its expression names: 1000 of gain(v(out),1k)."""
    row: Row | None = None
    """Of a study."""
    file: str = ""
    age: int = 0
    """How many results are newer."""
    statistic: str = ""
    """Which one of a study's ("min", "nominal"); "" for a value of its own."""


@dataclass(slots=True)
class Facts:
    """What the newest results give of each quantity."""

    found: list[Fact] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    unsure: set[QuantityName] = field(default_factory=set)
    """Those that were measured to have other values as well."""
    studied_twice: set[QuantityName] = field(default_factory=set)

    def of(self, limit: Limit, limits: Sequence[Limit]) -> list[Fact]:
        """The values that a limit is of; () where that is not sure."""
        alike = [each for each in self.found if in_unit(each, limit.unit) is not None]
        own = [each for each in alike if limit.quantity is not None and each.quantity == limit.quantity]
        if not own:
            taken = {other.quantity for other in limits if other is not limit}
            own = [each for each in alike if each.quantity not in taken and each.unit == limit.unit]
            if placed := [each for each in own if each.at & limit.at]:
                own = placed
            elif limit.aim is None and any(
                other is not limit and other.unit == limit.unit and not self.has(other.quantity)
                for other in limits
                if other.aim is None
            ):
                return []  # of two that no name ties to a quantity, either may be meant
            else:
                own = [each for each in own if _is_alike(each.value, limit)]
            if len({each.quantity for each in own}) > 1:  # "less than 15 V at the IC": v(ic)
                own = [each for each in own if limit.words & set(_NODE.findall(str(each.quantity)))]
            if len({each.quantity for each in own}) != 1:
                return []
        own = _at_its_place(own, limit)
        return [_converted(each, limit.unit) for each in own]

    def has(self, quantity: QuantityName | None) -> bool:
        """Whether anything gives a quantity."""
        return quantity is not None and any(each.quantity == quantity for each in self.found)


def _is_alike(value: float, limit: Limit) -> bool:
    if limit.aim:
        return abs(value / limit.aim - 1) <= _NEAR_AIM
    return all(bound and 1 / _ALIKE <= value / bound <= _ALIKE for bound in limit.bounds)


def in_unit(fact: Fact, unit: str) -> float | None:
    """The value of a fact in a unit; None where it has another."""
    if fact.unit == unit:
        return fact.value
    if unit == "%" and fact.unit in ("", "1"):
        return 100 * fact.value
    if unit in ("1", "") and fact.unit in ("", "1"):
        return fact.value
    return None


def _converted(fact: Fact, unit: str) -> Fact:
    return replace(fact, unit=unit, value=in_unit(fact, unit) or 0.0)


def _at_its_place(facts: list[Fact], limit: Limit) -> list[Fact]:
    """Those that were measured where the limit is to hold; () where that is not sure."""
    if any(each.at for each in facts):
        placed = [each for each in facts if each.at & limit.at]
        if not placed and len({each.at for each in facts}) > 1:
            return []
        facts = placed or facts
    rows = [each for each in facts if each.row is not None]
    varied = {value for each in rows for _, value, _ in (each.row.varied if each.row else ())}
    if meant := varied & limit.at:
        facts = [
            each
            for each in facts
            if each.row is None or any(min(meant) <= value <= max(meant) for _, value, _ in each.row.varied)
        ]
        rows = [each for each in facts if each.row is not None]
    elif _is_of_another_point(rows, limit) and len({limit.is_kept_by(each.value) for each in rows}) > 1:
        return []  # where it is to hold is not known
    if limit.aim and any(not 1 / _ALIKE <= each.value / limit.aim <= _ALIKE for each in rows):
        return []  # it is of some of them
    return facts


def _is_of_another_point(rows: Sequence[Fact], limit: Limit) -> bool:
    """Whether the words of a limit may name a point of what was varied that is none of the rows."""
    varied = {unit for each in rows for _, _, unit in (each.row.varied if each.row else ())}
    return bool(limit.at) and ("" in varied or not varied.isdisjoint(limit.units))


# --- limits -------------------------------------------------------------------------------------------


def limits_in(words: Sequence[str], results: Sequence[str]) -> list[Limit]:
    """What the user's last messages ask for, and the goals that calls were given."""
    found: list[Limit] = []
    named: set[QuantityName] = set()
    for goal in (*_set_goals(results), *_goals_of_calls(results), *_judged_goals(results)):
        if goal.quantity is not None and goal.quantity not in named:
            found.append(goal)
            named.add(goal.quantity)
    names = tuple(sorted({each for result in results[-_MOST_RESULTS:] for each in _names_in(result)}))
    ends = {(each.unit, each.bounds) for each in found}
    for text in reversed(words[-3:]):
        own = _limits_of(text[:MOST_READ], names)
        found += [each for each in own if each.quantity not in named and (each.unit, each.bounds) not in ends]
        named |= {each.quantity for each in own if each.quantity is not None}
    return found


@lru_cache(64)
def _names_in(result: str) -> tuple[str, ...]:
    """What studies call quantities that the trade has no words for."""
    return tuple(each for each in column_units(plain(result[:MOST_READ])) if isinstance(row_of(each), str))


@lru_cache(16)
def _limits_of(text: str, names: tuple[str, ...]) -> tuple[Limit, ...]:
    flat = plain(text)
    found: list[Limit] = []
    outer = _ASIDE.sub(lambda aside: " " * len(aside[0]), flat)
    for whole in (outer, *(each[0][1:-1] for each in _ASIDE.finditer(flat))):
        at = 0
        for end in (*_PARTS.finditer(whole), None):
            found += _of_part(whole[at : end.start() if end else len(whole)], names)
            at = end.end() if end else at
    return tuple(dict.fromkeys(found))[:_MOST_LIMITS]


@dataclass(frozen=True, slots=True)
class _End:
    """What one or two figures of a text bound."""

    figure: TextFigure
    low: float | None
    high: float | None
    aim: float | None = None
    off: tuple[str, float] | None = None


def _of_part(part: str, names: tuple[str, ...]) -> list[Limit]:
    """The limits of one part of a sentence."""
    figures = list(figures_in(part))
    places = list(places_named(part, names))
    ends: list[_End] = []
    used: set[int] = set()
    for one, other in pairwise(figures):
        if (end := _of_two(part, one, other, places)) is not None:
            ends.append(end)
            used |= {one.start, other.start}
    for figure in figures:
        if figure.start not in used and (end := _of_one(part, figure)) is not None:
            ends.append(end)
            used.add(figure.start)
    rest = frozenset(each.value for each in figures if each.start not in used)
    units = frozenset(each.unit for each in figures if each.start not in used)
    words = frozenset(_WORD.findall(part.lower()))
    limits = []
    for end in ends:
        # the quantity named last before it, else the first behind it
        before = [row for row, _, stop in places if stop <= end.figure.start + 1]
        behind = [row for row, start, _ in places if start >= end.figure.end]
        row = next(iter((*before[-1:], *behind[:1])), None)
        limits.append(Limit(row, end.figure.unit, end.low, end.high, rest, units, words, end.aim, end.off))
    return limits


def _of_two(
    part: str, one: TextFigure, other: TextFigure, places: Sequence[tuple[QuantityName, int, int]]
) -> _End | None:
    """ "3.3 V ±1 %", "within 2 % of 1 kHz", "between 1 V and 2 V"."""
    lower = part.lower()
    is_off = other.text.startswith("±") or "±" in part[one.end : other.start]
    if is_off and other.unit in ("%", one.unit) and one.unit != "%":
        aim, share = one, other
    elif (
        _WITHIN_BEFORE.search(lower[: one.start])
        and one.unit in ("%", other.unit)
        and _OF.fullmatch(lower, one.end, other.start)
    ):
        aim, share = other, one
    elif other.unit != one.unit or other.value <= one.value or not _TO.fullmatch(lower, one.end, other.start):
        return None
    else:
        is_named = any(
            0 <= one.start - end <= _NAMED_BEFORE and not _COVERS.search(lower[end : one.start])
            for _, _, end in places
        )
        is_range = is_named or _BETWEEN.search(lower[: one.start]) or _BETWEEN_ZH.match(part, other.end)
        return _End(one, one.value, other.value) if is_range else None
    off = aim.value * share.value / 100 if share.unit == "%" else share.value
    return _End(aim, aim.value - off, aim.value + off, aim.value, (share.unit, share.value))


def _of_one(part: str, figure: TextFigure) -> _End | None:
    """ "at least 40 dB", "30 mV 以内", "within 5 ms"."""
    lower = part.lower()
    bound = _BOUND.search(lower[: figure.start]) or _BEHIND.match(lower, figure.end)
    if bound is None:
        is_time = figure.unit == "s" and _WITHIN_BEFORE.search(lower[: figure.start]) is not None
        return _End(figure, None, figure.value) if is_time else None
    # Magnitudes are compared: "below -30 dB" is more than 30 dB, "better than -30 dB" too.
    is_negative = figure.text.startswith("-") or part[: figure.start].endswith("-")
    is_most = (bound["most"] is not None) != is_negative
    if "better" in bound[0]:
        if figure.unit != "dB":
            return None
        is_most = False
    return _End(figure, None, figure.value) if is_most else _End(figure, figure.value, None)


def _goals_of_calls(results: Sequence[str]) -> Iterator[Limit]:
    for given in reversed(results[-_MOST_RESULTS:]):
        if not given.startswith("{"):
            continue
        for goal in _GOAL.finditer(given[:MOST_READ]):
            number, first = written(goal["number"]), written(goal["first"] or "")
            if number is None:
                continue
            name = row_of(goal["name"].lower())
            is_most = goal["sign"] == "<"
            low, high = (first, number) if is_most else (number, first)
            yield from _of_magnitude(name, _unit_of(goal["name"], results), low, high)


def _judged_goals(results: Sequence[str]) -> Iterator[Limit]:
    """What verdicts tell of the goals that they are on: "MISSED att = 36.4 dB (≥ 40 dB)"."""
    for result in reversed(results[-_MOST_RESULTS:]):
        if result.startswith("{"):
            continue
        for verdict in _JUDGED.finditer(plain(result[:MOST_READ])):
            bounds = list(figures_in(verdict["bound"]))
            ends: list[float | None] = [
                -each.value if each.text.startswith("-") else each.value for each in bounds
            ]
            if len(ends) == 1 and verdict["sign"]:
                ends.insert(0 if verdict["sign"] in "≤<" else 1, None)
            elif len(ends) != 2 or verdict["sign"]:
                continue
            yield from _of_magnitude(row_of(verdict["name"].lower()), bounds[0].unit, ends[0], ends[1])


def _set_goals(results: Sequence[str]) -> Iterator[Limit]:
    for given in reversed(results[-_MOST_RESULTS:]):
        if not given.startswith("{"):
            continue
        for goal in _SET_GOAL.finditer(given[:MOST_READ]):
            ends = {each["end"]: written(each["number"]) for each in _ENDS.finditer(goal["rest"])}
            unit = re.search(r"'unit': '([^']*)'", goal["rest"])
            if any(value is not None for value in ends.values()):
                name = row_of(goal["name"].lower())
                yield from _of_magnitude(
                    name, unit_name(unit[1]) if unit else "", ends.get("minimum"), ends.get("maximum")
                )


def _of_magnitude(name: QuantityName, unit: str, low: float | None, high: float | None) -> Iterator[Limit]:
    """A goal as a limit of magnitudes; none where values of both signs keep it."""
    if all(each is None or each >= 0 for each in (low, high)):
        yield Limit(name, unit, low, high)
    elif all(each is None or each < 0 for each in (low, high)):
        yield Limit(name, unit, None if high is None else -high, None if low is None else -low)


def _unit_of(name: str, results: Sequence[str]) -> str:
    for result in reversed(results[-_MOST_RESULTS:]):
        units = column_units(plain(result[:MOST_READ]))
        if name.lower() in units:
            unit = units[name.lower()]
            return unit if unit != "1" else ""
        for verdict in _VERDICT.finditer(result[:MOST_READ]):
            if verdict["name"] == name and (figure := next(figures_in(verdict["value"]), None)):
                return figure.unit
    return ""


# --- facts --------------------------------------------------------------------------------------------


def facts_of(results: Sequence[str]) -> Facts:
    """What results give of each quantity: of the newest study its rows, of each file its newest values.

    What was studied twice, or measured to be otherwise, was so under conditions that are not told here.
    """
    facts = Facts()
    seen: dict[tuple[QuantityName, frozenset[float], str], float] = {}
    expressions = {name.lower(): each for name, each in expressions_in(results).items()}
    for age, result in enumerate(reversed(results[-_MOST_RESULTS:])):
        if result.startswith("{"):
            continue
        flat = plain(result[:MOST_READ])
        file = _OF_FILE.search(flat)
        name = ((file["file"] or file["ran"]) if file else "").lower()
        if (study := _STUDY.search(flat)) is not None:
            if study["kind"] == "optimization":
                name = _BEST
            facts.found += [replace(each, age=age) for each in _studied(facts, flat, expressions)]
            facts.rows = facts.rows or study_rows(flat)
        for each in _values_in(flat):
            key = (each.quantity, each.at, name)
            if key not in seen:
                seen[key] = each.value
                facts.found.append(replace(each, file=name, age=age))
            elif not isclose(seen[key], each.value, rel_tol=_SAME):
                facts.unsure.add(each.quantity)
    return facts


def _studied(facts: Facts, flat: str, expressions: dict[str, str]) -> list[Fact]:
    """The rows of a study, or where it tells none its statistics; of an older one only what is new."""
    units = column_units(flat)
    rows = study_rows(flat)
    known = {each.quantity for each in facts.found if (each.row is not None if rows else each.statistic)}
    facts.studied_twice |= {_quantity_of(name, expressions) for name in units} & known
    found = [
        Fact(quantity, units.get(name, ""), abs(value), _places(expressions.get(name, "")), row)
        for row in rows
        for name, value in row.columns
        if (quantity := _quantity_of(name, expressions)) not in known
    ]
    for each in _STATISTICS.finditer(flat) if not rows else ():
        name = each["name"].lower()
        quantity = _quantity_of(name, expressions)
        unit, places = unit_name(each["unit"] or ""), _places(expressions.get(name, ""))
        found += [
            Fact(quantity, unit, abs(float(one["number"])), places, statistic=one["what"])
            for one in _STATISTIC.finditer(each["rest"])
            if quantity not in known
        ]
    return found


def _quantity_of(name: str, expressions: dict[str, str]) -> QuantityName:
    """By its own name where the trade knows it, else by what it was measured with."""
    quantity = row_of(name)
    if isinstance(quantity, str) and (expression := expressions.get(name)):
        other = row_of_label(expression)
        if isinstance(other, int):
            return other
    return quantity


def _places(expression: str) -> frozenset[float]:
    return frozenset(
        value
        for each in _PLACE.finditer(expression)
        if (value := written(each["number"] + (each["scale"] or ""))) is not None
    )


def _values_in(flat: str) -> Iterator[Fact]:
    for given in _GIVEN.finditer(flat):
        quantity = row_of_label(given["label"])
        figure = next(figures_in(given["value"]), None)
        bare = re.match(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?", given["value"])
        if quantity is None:
            quantity = given["label"].strip().lower()
        if figure is not None and figure.start <= 1:
            yield Fact(quantity, figure.unit, abs(figure.value), _places(given["label"]))
        elif bare is not None:
            yield Fact(quantity, "", abs(float(bare[0].rstrip("."))), _places(given["label"]))
    if (supply := _DELIVER.search(flat)) is not None:
        taken = [each for each in figures_in(supply["each"]) if each.unit == "A" and each.text[:1] != "-"]
        if taken:
            yield Fact(row_of("supply_current"), "A", max(each.value for each in taken))
    for verdict in _VERDICT.finditer(flat):
        figure = next(figures_in(verdict["value"]), None)
        if figure is not None and figure.start <= 1:
            yield Fact(row_of(verdict["name"].lower()), figure.unit, abs(figure.value))
