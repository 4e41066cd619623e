"""What an answer gives of one corner, device or point of a sweep and another has: "70 mV at 100 mA".

Read are the rows of the newest study, the devices of the newest operating point, and the runs. A clause, or
one before it in its sentence, names a row by a word ("ff", "M4") or by the value that was varied ("100 mA");
its figures then have to be of that row. Told of a quantity over a sweep is read which way it goes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from domain.circuit.figures_in_text import TextFigure, figures_in
from domain.circuit.said_figures import is_bound, is_rounding
from domain.llm.agentic_loop.changes import DOWN, NOT, UP
from domain.llm.agentic_loop.conditions import Measured, conditioned
from domain.llm.agentic_loop.facts_in_words import ALL_GOALS
from domain.llm.agentic_loop.pairs import pairs_in
from domain.llm.agentic_loop.part_values import written
from domain.llm.agentic_loop.quantities import DIFFERS, named_quantity, row_of
from domain.llm.agentic_loop.quantities import Row as QuantityRow
from domain.llm.agentic_loop.rows import RUN, WORD, Row, Table, stands_in, tables_of, with_bare
from shared.late_patterns import late_pattern

_MOST_SENTENCES = 200
_MOST_POINTS = 2
_LONGEST = 90

_SUPPOSED = late_pattern(r"\b(?:if|were|would|should|could|might|may)\b|如果|若|假设|应该?|预计|希望")
"""Nothing is told there of what was measured."""
_OFFERS = late_pattern(r"\b(?:suggest\w*|recommend\w*|propos\w+)\b|建议|可以")
"""What is told behind it is told of the row that it names."""
_IF = late_pattern(r"^\W*(?:if|suppose|assuming)\b|^\W*(?:如果|若|假设)")
_RUN_SAID = late_pattern(
    r"\brun #?(?P<run>\d{1,9})\b|第 ?(?P<zh>\d{1,9}) ?次|\b(?P<first>first) (?:run|simulation)\b"
    r"|第一(?=次(?:仿真|运行))"
)
_EVERY_RUN = late_pattern(
    r"\b(?:both|all|every|each)\b(?: of)?(?: the| them| \w+)? ?(?:simulations?|runs?)\b"
    r"|\b(?:simulations?|runs?)\b.{0,24}\b(?:both|all|each) of them\b|(?:两次|每次|各次)(?:仿真|运行)"
)
_SAID_SO: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (late_pattern(said), word)
    for said, word in (
        (r"\bris(?:e|es)\b|\blow[- ]to[- ]high\b|上升(?=沿|延迟|时间|边)", "rising"),
        (r"\bfalls?\b|\bhigh[- ]to[- ]low\b|下降(?=沿|延迟|时间|边)", "falling"),
        (r"[σ𝜎]|\bstandard deviation\b|标准差|均方差", "sigma"),
        (r"\baverage\b|平均值?|均值", "mean"),
        (r"\b(?:deepest|dip)\b|最深", "min"),
        (r"\b(?:minimum|lowest|least|smallest)\b|最[小低]值?", "extreme min"),
        (r"\b(?:maximum|highest|greatest|largest)\b|最[大高]值?", "extreme max"),
        (r"\bpeak\b|峰", "max"),
        (r"\bworst[- ]cases?\b|最坏(?:情况|值)?|\bextremes?\b", "extreme"),
        (r"均方根|方和根", "rss"),
        (r"标称值?|名义值?", "nominal"),
        (r"\btypical (?:corner|process)\b|典型(?:工艺)?角", "tt"),
        (r"\bslow (?:corner|process)\b|慢(?:工艺)?角", "ss"),
        (r"\bfast (?:corner|process)\b|快(?:工艺)?角", "ff"),
        (r"中位数", "median"),
    )
)
"""How answers say of which edge, or which statistic, a figure is."""
_SENTENCE_END = late_pattern(r"[。！!？?；;\n]|\.(?=\s|$)")
_ASIDE = late_pattern(r"\([^()\n]{0,60}\)")
_CLAUSE_END = late_pattern(r"[,|:]")
_AND = late_pattern(r"\band\b|和|与|、", re.IGNORECASE)
_TO_OTHER = late_pattern(
    r"(?:\b(?:from|than|vs\.?|versus|against|instead of|compared (?:to|with)|between)|从|由|比|较|相比|不是)"
    r"\W{0,3}(?:the |about |约\s?)?$|\bwhat it was[\s(]*$|\((?:it )?was $"
    r"|\b(?:original|old|former|previous|initial) (?:\w+ ){0,2}(?:of )?$",
    re.IGNORECASE,
)
_OF_SIZE = late_pattern(
    r"(?:\b(?:(?P<less>smaller|lower)|larger|bigger|higher)\b|(?P<less_zh>较小|更小)|较大"
    r"|更大)(?:[- ]?value)?\s?的?"
    r"(?:(?P<r>resistor|resistance|电阻)|(?P<c>capacitor|capacitance|电容)|(?P<l>inductor|inductance|choke|电感))",
    re.IGNORECASE,
)
_GOES_BY = late_pattern(
    r"\b(?:chang\w+|var(?:y|ies)|variation|mov(?:es|ed)|drift\w*|spread\w*)\b|变化|变动|漂移|波动",
    re.IGNORECASE,
)
"""What is told of a course is how far something went."""
_OF_OLD_ASIDE = late_pattern(
    r"\([^()\n]{0,12}(?:\b(?:was|were|before|instead of)\b|原|之前|[改调换]前)[^()\n]{0,60}\)"
    r"|(?<=%)\s?\([^()\n]{1,30}\)(?=\s?(?:之内|以内|范围))",
    re.IGNORECASE,
)
"""It tells of what was, or repeats a limit."""
_FIGURE_ASIDE = late_pattern(r"(?<=[a-z]),( [\d.]+ ?\S{1,4}),(?= (?:is|are|was|were|occurs|comes)\b)")
"""What is told between two commas of what is named before and behind it."""
_BECAME = late_pattern(r"[\s*_`]*(?:->|=>|→)")
"""It is told of what there was before."""
_LIMITS = late_pattern(
    r"(?:\b(?:within|between|inside|limits?|below|above|meets?)\b|满足|要求|目标|[上下]限|限值|指标|[<>≤≥]|低于|高于|以内)[-\d.\s~…±]{0,12}$"
)
"""What follows bounds it."""
_REST = late_pattern(r"\b(?:others?|rest|remaining|elsewhere)\b|其余|其他|其它|另外", re.IGNORECASE)
_AT = late_pattern(r"(?:\b(?:at|for|with|when)|@|在|当)\W{0,3}$", re.IGNORECASE)
_WORD_BEFORE = 24
"""Characters in which a word right before a figure stands."""
_BOUND_BEFORE = 12
_ARRIVES = late_pattern(r"(?:\bto|到|至|为)\W{0,3}(?:about |约)?$", re.IGNORECASE)
_RANGE_ON = late_pattern(r"\s?(?:-|~|…|\.\.\.?|\bto\b|到|至)\s?-?\d")
_RANGE_ENDS = late_pattern(
    r"\d ?[a-zA-ZΩ°%]{0,3}\s?(?:~|…|\.\.\.?|(?<=\d)-)\s?[-+]?$|(?<!from )(?<![\d.])\d[\d.]* to $"
)
"""Two figures with a range between them are of several rows."""
_BOUND_BEHIND = late_pattern(r"\s?以[上下内]")
_ADDS = late_pattern(
    r"\b(?:adds?|added|costs?|saves?|saved|gains?|loses|plus)\b(?: (?:just|only|about|another|some))*\s?$"
    r"|\((?:it )?was\s?$",
    re.IGNORECASE,
)
"""What follows is how much, or of before."""
_NEXT = 8
_AT_POINT = late_pattern(r"\s?(?:\b(?:at|for|with)\b|@|[(]|在)?\s?-?", re.IGNORECASE)
_IS = late_pattern(r"\b(?:is|be|was|are|gives?|delivers?)\W{0,3}$", re.IGNORECASE)
"""What follows is what was found, not where."""
_OVER = late_pattern(
    r"\b(?:as|with|when)\b(?P<over>[^,.;]{0,40}?\b(?:rises|increases|grows|goes up|climbs|increasing"
    r"|rising|growing"
    r"|higher|larger|falls|decreases|drops|falling|decreasing|lower|smaller)\b)"
    r"|\b(?:with|over) (?:the )?(?:temperature|load|supply|bias)\b"
    r"|随着?(?P<zh>[^,，。]{1,10}?)的?(?P<way>增大|增加|上升|升高|提高|加重|减小|降低|下降|减少)(?=而"
    r"|[,，、]|$|[^,，。]{0,6}"
    r"(?:[升增降减]|提高|变[大小]))|随着?[^,，。]{1,10}?(?=单调|而|[升增降减提])"
    r"|(?:负载|电源|输入|温度|电压|频率)(?P<then>增大|增加|上升|升高|提高|加重|减小|降低|下降|减少)时",
    re.IGNORECASE,
)
_WAY_DOWN = late_pattern(
    r"\b(?:falls|decreases|drops|falling|decreasing|lower|smaller|down)\b|↓|越[小低]|变小|减小|降低|下降|减少"
)


_SWEPT = {"temp": r"\btemp\w*\b|温度"}
_WAY = late_pattern(
    r"\s?(?:rises|increases|grows|goes up|up|larger|higher|rising|increasing|falls|decreases"
    r"|drops|down|smaller|lower"
    r"|falling|decreasing|↑|↓|越[大小高低]|增大|增加|上升|升高|提高|加大|变大|减小|降低|下降|减少|变小)",
    re.IGNORECASE,
)
_OF_ANY = late_pattern(r"\b(?:current|voltage|output)\b|电流|电压|输出", re.IGNORECASE)
"""How the one quantity of a study may be called."""
_MONOTONIC = late_pattern(r"\bmonoton\w*|\bsteadily\b|单调|一直[升降增减]", re.IGNORECASE)
_OF_HEAT = late_pattern(r"\btemperature\b|温度", re.IGNORECASE)
_BARE_VALUE = late_pattern(r"(?<![\d.\w=/*^-])0\.\d{2,5}(?![\d.]| ?[%A-Za-zΩ°/*])")
_COMPARES = late_pattern(r"\b(?:against|versus|vs|compared)\b|相比|\d ?\S{1,3} ?\+ ?\d")
_KINDS = {
    "%r": late_pattern(r"\s?的?(?:resistor|R\b|电阻)", re.IGNORECASE),
    "%c": late_pattern(r"\s?的?(?:capacitor|C\b|电容)", re.IGNORECASE),
    "%l": late_pattern(r"\s?的?(?:inductor|L\b|电感)", re.IGNORECASE),
}


@dataclass(slots=True)
class _Named:
    """What of a clause tells rows: words and, with their places, values that were varied; other figures."""

    words: set[str]
    keys: list[tuple[TextFigure, set[tuple[str, float]]]] = field(default_factory=list)
    figures: list[TextFigure] = field(default_factory=list)

    @property
    def varied(self) -> set[tuple[str, float]]:
        return {point for _, points in self.keys for point in points}

    @property
    def alone(self) -> set[tuple[str, float]]:
        """Of what is named at one point only."""
        names = [name for name, _ in self.varied]
        return {(name, value) for name, value in self.varied if names.count(name) == 1}


def wrong_rows(
    flat: str, results: Sequence[str], earlier: Sequence[str] = (), measured: Sequence[Measured] = ()
) -> tuple[str, ...]:
    """The clauses of an answer, in plain form and without code, that give a row what others have."""
    found: dict[str, None] = dict.fromkeys(
        clause.strip()[-_LONGEST:] for clause in _wrong_verdicts(flat, (*earlier, *results))
    )
    of_before = tables_of(tuple(earlier))[0] if earlier else Table()
    under, courses = conditioned(measured, _not_measured(results, measured))
    found |= dict.fromkeys(clause.strip()[-_LONGEST:] for clause in _under_others(flat, under, courses))
    for table in (*tables_of(tuple(results)), of_before):
        if len(table.rows) < 2:
            continue
        at = 0
        for count, end in enumerate((*_SENTENCE_END.finditer(flat), None)):
            sentence = flat[at : end.start() if end else len(flat)]
            at = end.end() if end else at
            if count >= _MOST_SENTENCES:
                break
            if _IF.search(sentence.lower()):
                continue
            for clause in (
                *_of_other_row(sentence, table),
                *_goes_other_way(sentence, table),
                *_turned_over(sentence, table),
            ):
                found[clause.strip()[-_LONGEST:]] = None
    return tuple(found)


def _not_measured(results: Sequence[str], measured: Sequence[Measured]) -> list[str]:
    texts = {each.text for each in measured}
    return [each for each in results if each not in texts]


def _wrong_verdicts(flat: str, results: Sequence[str]) -> Iterator[str]:
    """Where all goals are said to be met in a run that missed some."""
    missed = {
        int(run["run"])
        for text in results
        if (run := RUN.search(text)) is not None and re.search(r"\bMISSED \w", text)
    }
    for sentence in _SENTENCE_END.split(flat) if missed else ():
        runs = {int(each["run"] or each["zh"] or 1) for each in _RUN_SAID.finditer(sentence.lower())}
        is_of_one = (len(runs) == 1 and runs <= missed) or (not runs and _EVERY_RUN.search(sentence.lower()))
        if is_of_one and ALL_GOALS.search(sentence) and not NOT.search(sentence):
            yield sentence


def _clauses(sentence: str) -> Iterator[str]:
    whole = _ASIDE.sub(lambda aside: _CLAUSE_END.sub(" ", aside[0]), sentence)
    at = 0
    for end in (*_CLAUSE_END.finditer(whole), None):
        yield sentence[at : end.start() if end else len(sentence)]
        at = end.end() if end else at


def _with_asides(clause: str, table: Table) -> Iterator[str]:
    """A clause, and each aside that names a row of its own: "between 3.94 V and 4.43 V (nominal 4.19 V)"."""
    rest, asides = clause, []
    for aside in _ASIDE.finditer(clause):
        told = _names(aside[0], table)
        if told.words and told.figures:
            rest = f"{rest[: aside.start()]}{' ' * len(aside[0])}{rest[aside.end() :]}"
            asides.append(aside[0])
    yield rest
    yield from asides


def _of_other_row(sentence: str, table: Table) -> Iterator[str]:
    meant: list[Row] | None = None
    of: QuantityRow | None = None
    for clause in (each for whole in _clauses(sentence) for each in _with_asides(whole, table)):
        if _SUPPOSED.search(clause.lower()) or _OFFERS.search(clause.lower()):
            is_offered = not _SUPPOSED.search(clause.lower())
            meant, of = (_offered(clause, table), named_quantity(clause)) if is_offered else (meant, of)
            continue
        parts = _AND.split(clause)
        told = [_names(part, table) for part in parts]
        names = [{name for _, points in each.keys for name, _ in points} for each in told]
        each_names = len(parts) > 1 and all(
            each.words or (each.keys and own == names[0]) for each, own in zip(told, names, strict=True)
        )
        for part, each in zip(parts, told, strict=True) if each_names else [(clause, _names(clause, table))]:
            if len(each.varied) > len({name for name, _ in each.varied}):
                meant = None  # two points of one sweep: each figure is of the one next to it
                counts = Counter(name for name, _ in each.varied)
                if max(counts.values()) > _MOST_POINTS:
                    continue  # a list of them, and a list of figures
                if any(
                    (key := _key_of(part, figure, each)) is not None
                    and _is_of_another(
                        part,
                        figure,
                        [row for row in table.rows if _has(row, each.alone | key)],
                        table,
                        is_told_at=True,
                    )
                    for figure in each.figures
                ):
                    yield clause
                continue
            quantity = named_quantity(part)
            is_left = table.is_of_one and not each.varied and quantity not in (None, of)
            if _REST.search(part) or is_left or (not table.goes_on and not each.words):
                meant = None
            elif each.words or each.varied:
                of = quantity
                meant = [row for row in table.rows if each.words <= row.words and _has(row, each.varied)]
                if not meant and not each.varied and "/" in part:  # "M1/M2": of either
                    meant = [row for row in table.rows if each.words & row.words]
                if not meant and not (
                    each.words
                    and each.varied
                    and any(each.words <= row.words and row.varied for row in table.rows)
                ):
                    meant = None  # two rows are compared
            is_plain = each.varied or not each.words
            figures = each.figures if is_plain else _of_the_word(part, each, with_aside=table.is_rough)
            if meant is not None and any(_is_of_another(part, figure, meant, table) for figure in figures):
                yield clause
        if each_names:
            meant = None


def _offered(clause: str, table: Table) -> list[Row] | None:
    """The rows of the one point that is proposed: what is told behind it is told of them."""
    varied = _names(clause, table).varied
    if not varied or len(varied) > len({name for name, _ in varied}):
        return None
    return [row for row in table.rows if _has(row, varied)]


Mention = frozenset[tuple[str, float]]
"""What one figure of an answer may be the value of."""


def _under_others(flat: str, table: Table, courses: Table) -> Iterator[str]:
    """Where a figure is told under values with which none of the results that have it was measured."""
    heads: list[list[Mention]] = []
    for line in flat.split("\n"):
        if line.lstrip().startswith("|"):
            cells = line.strip().split("|")
            told = [_names(cell, table) for cell in cells]
            if not heads:
                heads = [_mentions(each) for each in told]
                continue
            of_row: list[Mention] = []
            for place, each in enumerate(told):
                of_row = _with(of_row, _mentions(each))
                named = _with(heads[place] if place < len(heads) else [], of_row)
                yield from _told_under(cells[place], each, named, table)
            continue
        heads = []
        for sentence in _SENTENCE_END.split(_OF_OLD_ASIDE.sub(lambda aside: " " * len(aside[0]), line)):
            if _IF.search(sentence.lower()):
                continue
            yield from _crossed(_ASIDE.sub(lambda aside: " " * len(aside[0]), sentence), table)
            yield from _for_other_size(sentence, table)
            named = []
            for clause in _clauses(_FIGURE_ASIDE.sub(r" \1 ", sentence)):
                if _SUPPOSED.search(clause.lower()) or _OFFERS.search(clause.lower()):
                    continue
                each = _names(clause, table)
                named = _with([] if _REST.search(clause) else named, _mentions(each))
                yield from _told_under(clause, each, named, table)
                if _GOES_BY.search(clause):
                    yield from _told_under(clause, each, named, courses)


def _crossed(sentence: str, table: Table) -> Iterator[str]:
    """Where one pair of a sentence goes from one result to another, and the next one back."""
    ways: list[set[tuple[int, int]]] = []
    for pair in pairs_in(sentence, list(figures_in(sentence))):
        ends = [
            {
                place
                for place, row in enumerate(table.rows)
                if figure.digits > 1 and _stands_in(row.values, figure)
            }
            for figure in (pair.first, pair.second)
        ]
        way = {(one, other) for one in ends[0] for other in ends[1] if one != other}
        if way:
            ways.append(way)
    if any({(other, one) for one, other in way} & first and not way & first for first, way in pairwise(ways)):
        yield sentence


def _for_other_size(sentence: str, table: Table) -> Iterator[str]:
    """Where what a smaller part does is told as what the larger one has, or the other way round."""
    told = _OF_SIZE.search(sentence)
    if told is None:
        return
    kind = "".join(each for each in "rcl" if told[each])
    values: dict[str, set[float]] = {}
    for row in table.rows:
        for name, value, _ in row.varied:
            if name[0] == kind:
                values.setdefault(name, set()).add(value)
    if len(values) != 1 or len(own := next(iter(values.values()))) != 2:
        return
    name, meant = next(iter(values)), min(own) if told["less"] or told["less_zh"] else max(own)
    for pair in pairs_in(sentence, list(figures_in(sentence))):
        ends = [
            {
                value
                for row in table.rows
                if _stands_in(row.values, figure)
                for each, value, _ in row.varied
                if each == name
            }
            for figure in (pair.first, pair.second)
        ]
        if ends == [{meant}, own - {meant}]:
            yield sentence


def _under(named: Sequence[Mention], table: Table) -> list[Row]:
    """The rows that have one of the values of each mention."""
    found: list[Row] = []
    for row in table.rows:
        own = {name: value for name, value, _ in row.varied}
        if all(any(own.get(name, value) == value for name, value in each) for each in named):
            found.append(row)
    return found


def _mentions(told: _Named) -> list[Mention]:
    """What the figures of a clause are values of; two values of one part are one mention."""
    found: list[Mention] = []
    for _, points in told.keys:
        found = _with(found, [frozenset(points)], is_either=True)
    return found


def _with(named: list[Mention], more: Sequence[Mention], *, is_either: bool = False) -> list[Mention]:
    """Mentions with further ones, which take the place of those of the same parts."""
    for each in more:
        names = {name for name, _ in each}
        same = [other for other in named if names & {name for name, _ in other}]
        together = each.union(*same) if is_either else each
        named = [*(other for other in named if other not in same), together]
    return named


def _told_under(clause: str, told: _Named, named: Sequence[Mention], table: Table) -> Iterator[str]:
    meant = _under(named, table)
    if named and meant and any(_is_of_another(clause, figure, meant, table) for figure in told.figures):
        yield clause


def _of_the_word(part: str, told: _Named, *, with_aside: bool) -> list[TextFigure]:
    """The figures of what words name: none before it where others follow, none of an aside behind it; of
    shares those of the aside where there are no others ("R4 matters most (43 %)")."""
    places = [found.end() for found in WORD.finditer(part.lower()) if found[0] in told.words]
    if not places:
        return told.figures
    behind = [each for each in told.figures if each.start >= max(places)]
    aside = part.find("(", max(places))
    is_compared = _COMPARES.search(part.lower()) is not None
    if is_compared and len(told.figures) > 1:
        return []
    plainly = [each for each in behind if aside < 0 or each.start < aside]
    return plainly or (behind if with_aside else []) if behind else told.figures


def _is_range_end(part: str, figure: TextFigure) -> bool:
    """Whether a figure is one end of a range: "0.15~0.28 V"."""
    is_first = _RANGE_ON.match(part, figure.end) is not None
    return is_first or _RANGE_ENDS.search(part[: figure.start]) is not None


def _is_of_another(
    part: str, figure: TextFigure, meant: Sequence[Row], table: Table, *, is_told_at: bool = False
) -> bool:
    """Whether a figure that is told of some rows is what others have."""
    own = {value for row in meant for value in row.values} | table.others
    own |= {  # what is left of what was varied: "at 3.4 V, with only 128 mV left"
        abs(abs(point) - value)
        for row in meant
        for _, point, unit in row.varied
        if unit == figure.unit and unit in row.units
        for value in row.values
    }
    return (
        len(meant) < len(table.rows)
        and not (table.goes_on and _is_range_end(part, figure))
        and not (_BOUND_BEHIND.match(part, figure.end) or _ADDS.search(part[: figure.start]))
        and not (table.is_of_states and (_BECAME.match(part, figure.end) or DIFFERS.match(part, figure.end)))
        and (figure.digits > 1 or "." in figure.text)
        and (is_told_at or not _TO_OTHER.search(part[: figure.start]))
        and not _LIMITS.search(part[: figure.start].lower())
        and not is_bound(part[: figure.start])
        and (table.goes_on or "±" not in part)
        and not _stands_in(own, figure)
        and not (table.is_rough and any(is_rounding(figure, value, is_rough=True) for value in own))
        and any(_stands_in(row.values, figure) for row in table.rows)
    )


def _key_of(part: str, figure: TextFigure, told: _Named) -> set[tuple[str, float]] | None:
    """The point at which a figure is told: the one right behind it, else the last one before it."""
    last: set[tuple[str, float]] | None = None
    before = 0
    for key, points in told.keys:
        if not points <= told.alone:
            if _RANGE_ON.match(part, key.end) and _RANGE_ENDS.search(part[: figure.start]):
                return None  # "3.4 to 7.5 MHz for 1 to 9 V"
            if 0 <= key.start - figure.end <= _NEXT and _AT_POINT.fullmatch(part, figure.end, key.start):
                return points
            between = [each for each in told.figures if key.end <= each.start < figure.start]
            if key.end <= figure.start and not between:
                is_next = any(before <= each.start < key.start for each in told.figures)
                last = points if is_next or not before else None  # else two points, then two figures
            before = key.end
    return last


@lru_cache(1024)  # each table is looked up by the same clauses
def _words_of(clause: str) -> frozenset[str]:
    named_runs = _RUN_SAID.sub(lambda run: f" run{run['run'] or run['zh'] or 1} ", clause.lower())
    for pattern, word in _SAID_SO:
        named_runs = pattern.sub(f" {word} ", named_runs)
    return frozenset(WORD.findall(named_runs))


def _names(clause: str, table: Table) -> _Named:
    """The words and the varied values by which a clause names rows, and its other figures."""
    named = _Named(set(_words_of(clause)) & table.words)
    for figure in with_bare(clause):
        is_below = clause[: figure.start + 1].rstrip(" 0123456789.").endswith("-")
        points = {
            (name, value)
            for row in table.rows
            for name, value, unit in row.varied
            if unit in ("", figure.unit) or not figure.unit
            if is_rounding(figure, abs(value), is_rough=False)
            if (value < 0) == (value != 0 and is_below)
        }
        nearest = min((abs(abs(value) - figure.value) for _, value in points), default=0.0)
        points = {(name, value) for name, value in points if abs(abs(value) - figure.value) <= nearest}
        before = clause[max(0, figure.start - _WORD_BEFORE) : figure.start]
        is_named_so = _AT.search(before) is not None
        is_told = _IS.search(before) is not None
        is_value = any(
            _stands_in(row.values, figure) for row in table.rows if not row.units or figure.unit in row.units
        )
        if figure.unit == "%":  # "with 0.1 % resistors"
            points = {
                point for point in points if (kind := _KINDS.get(point[0])) and kind.match(clause, figure.end)
            }
            is_value = is_value and not points
        is_told = is_told and (is_value or not table.is_of_states)
        if points and is_bound(clause[: figure.start]):
            continue  # "below 10 Ω" names several
        if points and (is_named_so or not (is_told or is_value)):
            named.keys.append((figure, points))
        elif figure.unit:
            named.figures.append(figure)
    at = {place for each in with_bare(clause) for place in range(each.start, each.end)}
    for bare in _BARE_VALUE.finditer(clause):  # a power factor, an efficiency that is told as a ratio
        if bare.start() not in at and any("1" in row.units for row in table.rows):
            named.figures.append(_as_figure(bare))
    return named


def _as_figure(bare: re.Match[str]) -> TextFigure:
    decimals = len(bare[0].partition(".")[2])
    return TextFigure(
        text=bare[0],
        value=float(bare[0]),
        unit="1",
        step=10.0**-decimals,
        digits=len(bare[0].replace(".", "").lstrip("0")),
        start=bare.start(),
        end=bare.end(),
    )


def _turned_over(sentence: str, table: Table) -> Iterator[str]:
    """Where a sweep is told from one point to another, and a quantity goes otherwise.

    From the other's value to the one's; to a value of where it began; or it is said to rise, and falls.
    """
    figures = with_bare(sentence)
    ends: tuple[Row, Row] | None = None
    told: list[tuple[TextFigure | None, TextFigure]] = []
    for pair in pairs_in(sentence, figures):
        at = [
            [
                row
                for row in table.rows
                if any(is_rounding(figure, abs(value), is_rough=False) for _, value, _ in row.varied)
            ]
            for figure in (pair.first, pair.second)
        ]
        if len(at[0]) == len(at[1]) == 1:
            ends = (at[0][0], at[1][0])
            figures = [each for each in figures if each not in (pair.first, pair.second)]
            rest = f"{sentence[: pair.start]} {sentence[pair.end :]}"
        else:
            told.append((pair.first, pair.second))
    if ends is None:
        return
    paired = {each.start for pair in told for each in pair if each is not None}
    told += [
        (None, each)
        for each in figures
        if each.start not in paired
        and _ARRIVES.search(sentence[: each.start])
        and not _RANGE_ON.match(sentence, each.end)
    ]
    for one, other in told:
        second = [_stands_in(row.values, other) for row in ends]
        first = [False, True] if one is None else [_stands_in(row.values, one) for row in ends]
        if first == [False, True] and second == [True, False]:
            yield sentence[one.start if one else 0 : other.end]
    clause = max(
        _clauses(rest), key=lambda each: UP.search(each) is not None or DOWN.search(each) is not None
    )
    is_up, is_down = UP.search(clause) is not None, DOWN.search(clause) is not None
    names = {row_of(name) for name, _ in ends[0].columns}
    quantity = named_quantity(clause, names) if len(names) > 1 else next(iter(names), None)
    for name, value in ends[0].columns:
        after = dict(ends[1].columns).get(name)
        is_told = is_up != is_down and row_of(name) == quantity and not NOT.search(clause)
        if is_told and after is not None and after != value and is_up != (after > value):
            yield clause


def _has(row: Row, varied: set[tuple[str, float]]) -> bool:
    return varied <= {(name, value) for name, value, _ in row.varied}


def _stands_in(values: frozenset[float] | set[float], figure: TextFigure) -> bool:
    return stands_in(values, figure)


def _goes_other_way(sentence: str, table: Table) -> Iterator[str]:
    """Where a quantity is said to rise over a sweep over which it falls, or the other way round."""
    names = {name for row in table.rows for name, _, _ in row.varied}
    if len(names) != 1 or any(len(row.varied) != 1 for row in table.rows):
        return
    rows = sorted(table.rows, key=lambda row: row.varied[0][1])
    yield from _listed_other_way(sentence, rows)
    if len(rows[0].columns) == 1 and _MONOTONIC.search(sentence) and not NOT.search(sentence):
        course = [value for row in rows for _, value in row.columns]
        if len({after > before for before, after in pairwise(course) if after != before}) > 1:
            yield sentence
    for clause in _clauses(sentence):
        over = _OVER.search(clause)
        quantity = (
            named_quantity(
                clause[: over.start()] + clause[over.end() :],
                {row_of(name) for name, _ in table.rows[0].columns},
            )
            if over
            else None
        )
        if over and quantity is None and len(rows[0].columns) == 1 and _OF_ANY.search(clause[over.end() :]):
            quantity = row_of(rows[0].columns[0][0])
        if over is None or quantity is None or (_OF_HEAT.search(over[0]) and names != {"temp"}):
            continue
        if named_quantity(over[0], {row_of(name) for name, _ in table.rows[0].columns}) is not None:
            continue  # over something that was measured itself
        rest = clause[: over.start()] + clause[over.end() :]
        is_up, is_down = UP.search(rest) is not None, DOWN.search(rest) is not None
        is_reverse = _WAY_DOWN.search(over["over"] or over["way"] or over["then"] or "") is not None
        values = [dict(row.columns) for row in rows]
        for column in {name for name, _ in rows[0].columns if row_of(name) == quantity}:
            course = [each[column] for each in values if column in each]
            ups = {after > before for before, after in pairwise(course) if after != before}
            if is_up != is_down and len(ups) == 1 and (is_up != is_reverse) != ups.pop():
                yield clause


def _listed_other_way(sentence: str, rows: Sequence[Row]) -> Iterator[str]:
    """Where two values are told against their order over a sweep: "W up: 1.2 V → 2.5 V"."""
    name = rows[0].varied[0][0]
    words = _SWEPT.get(name, rf"(?<![A-Za-z0-9]){re.escape(name.rpartition('.')[2])}(?![A-Za-z0-9])")
    ways = (_WAY.match(sentence, found.end()) for found in re.finditer(words, sentence, re.IGNORECASE))
    over = next((way for way in ways if way is not None), None)
    if over is None:
        return
    is_down = _WAY_DOWN.search(over[0].lower()) is not None
    for pair in pairs_in(sentence, list(figures_in(sentence))):
        ends = [
            [
                place
                for place, row in enumerate(rows)
                if _stands_in(row.values, figure) and not _is_rounding_of_point(row, figure)
            ]
            for figure in (pair.first, pair.second)
        ]
        if len(ends[0]) == len(ends[1]) == 1 and (ends[0][0] < ends[1][0]) == is_down and ends[0] != ends[1]:
            yield sentence


def _is_rounding_of_point(row: Row, figure: TextFigure) -> bool:
    return any(
        unit == figure.unit and is_rounding(figure, abs(value), is_rough=False)
        for _, value, unit in row.varied
    )


def rows_named(clause: str, table: Table) -> list[Row] | None:
    """The rows that a clause names, by words, by values that were varied; None where it names none.

    Of several words, or several values of one thing, each names rows of its own ("both 4.7 Ω and 10 Ω"), two
    with a range between them name all within.
    """
    told = _names(clause, table)
    values: dict[str, set[float]] = {}
    for name, value in told.varied:
        values.setdefault(name, set()).add(value)
    for name, own in _varied(table).items():
        if name not in values:  # "k = 4"
            said = re.finditer(
                rf"(?<![\w.]){re.escape(name)} ?(?:=|is|of|为|取|是) ?(?P<n>-?\d[\d.]*\w*)",
                clause,
                re.IGNORECASE,
            )
            found = {value for each in said for value in own if written(each["n"].rstrip(".")) == value}
            values |= {name: found} if found else {}
    if not told.words and not values:
        return None
    places = {name: key for key, points in told.keys for name, _ in points}
    ranges = {
        name: _range_of(_around(clause, places[name]) if name in places else clause, own)
        for name, own in values.items()
    }
    of_all = [row for row in table.rows if told.words <= row.words]
    of_words = of_all or [row for row in table.rows if told.words & row.words]
    return [
        row
        for row in of_words
        if all(
            _is_among(value, values[name], ranges[name]) for name, value, _ in row.varied if name in values
        )
    ] or None


def _around(clause: str, figure: TextFigure) -> str:
    """The words that may make a range of one value: "below 5 mV only from 470 nF upwards" is none below."""
    return f"{clause[: figure.start][-_BOUND_BEFORE:]}{figure.text}{clause[figure.end :][:_NEXT]}"


def _varied(table: Table) -> dict[str, set[float]]:
    found: dict[str, set[float]] = {}
    for row in table.rows:
        for name, value, _ in row.varied:
            found.setdefault(name, set()).add(value)
    return found


_UP_TO = late_pattern(
    r"\b(?:up to|until|below|under|at most)\b|直到|以[内下]|不超过|低于|小于|[≤<]", re.IGNORECASE
)
_FROM_ON = late_pattern(r"\b(?:from|above|over|at least|beyond)\b|以上|起|高于|大于|超过|[≥>]", re.IGNORECASE)
_RANGES = late_pattern(r"\d ?\S{0,4} ?(?:-|~|…|\.\.\.?|\bto\b|到|至) ?-?\d|\bbetween\b", re.IGNORECASE)


def _range_of(clause: str, own: set[float]) -> tuple[float, float]:
    if len(own) == 2 and _RANGES.search(clause):
        return min(own), max(own)
    if len(own) == 1 and _UP_TO.search(clause):
        return float("-inf"), max(own)
    return (min(own), float("inf")) if len(own) == 1 and _FROM_ON.search(clause) else (0.0, -1.0)


def _is_among(value: float, own: set[float], within: tuple[float, float]) -> bool:
    return value in own or within[0] <= value <= within[1]
