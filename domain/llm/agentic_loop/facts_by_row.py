"""What an answer gives of one corner, device or point of a sweep and another has: "70 mV at 100 mA".

Read are the rows of the newest study, the devices of the newest operating point, and the runs. A clause, or
one before it in its sentence, names a row by a word ("ff", "M4") or by the value that was varied ("100 mA");
its figures then have to be of that row. Told of a quantity over a sweep is read which way it goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from domain.circuit.figures_in_text import TextFigure, figures_in, plain
from domain.circuit.said_figures import is_rounding
from domain.llm.agentic_loop.changes import DOWN, NOT, UP
from domain.llm.agentic_loop.facts_in_words import ALL_GOALS
from domain.llm.agentic_loop.pairs import pairs_in
from domain.llm.agentic_loop.quantities import (
    DEVICE,
    column_units,
    expressions_in,
    named_figures,
    named_quantity,
    row_of,
)
from shared.late_patterns import late_pattern

_MOST_RESULTS = 100_000
_MOST_READ = 8_000
_MOST_SENTENCES = 200
_LONGEST = 90

_ROW = late_pattern(r"^\d+\b(?P<place>[^>\n]{0,160}?) ?-> (?P<rest>[^\n]+)", re.MULTILINE)
_AT_PLACE = late_pattern(
    r"^(?P<what>\w[^\n=,]*), ?(?P<place>[\d.]+(?:e[-+]?\d+)?)(?P<scale>meg"
    r"|[fpnumkgt])?\w?\)+ = (?P<value>[^\n]+)",
    re.MULTILINE | re.IGNORECASE,
)
_AT_ITS_END = late_pattern(r"^(?P<what>min|max|peak)\((?P<of>[^\n=,]*)\) = (?P<value>[^\n]+)", re.MULTILINE)
_BARE = late_pattern(r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?P<scale>[Mm]eg|[pnumkKM])(?![A-Za-z0-9_])")
"""The value of a part as netlists write it: "5k"."""
_ALONE = late_pattern(r"^ *(?:alone:|variance from) (?P<rest>[^\n]+)", re.MULTILINE)
_OF_PART = late_pattern(r"(?P<part>[A-Za-z]\w*) \+?[±-]?(?P<value>\d[\d.]*(?:e[-+]?\d+)?)(?![\w.])")
_VARIED = late_pattern(
    r"(?P<name>[A-Za-z_][\w.]*)=(?P<number>[-+]?\d[\d.]*(?:e[-+]?\d+)?)(?P<scale>meg|[fpnumkgt])?",
    re.IGNORECASE,
)
_COLUMN = late_pattern(r"(?P<name>[A-Za-z_]\w*)=(?P<number>[-+]?\d[\d.]*(?:e[-+]?\d+)?)", re.IGNORECASE)
_WORD = late_pattern(r"[a-z]\w*")
_OF_ALL_ROWS = late_pattern(r"^\w+ \[[^\]\n]{1,8}\]: [^\n]*", re.MULTILINE)
_NUMBER = late_pattern(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d{1,3})?(?![\w.])")
_SCALES = {"f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "meg": 1e6, "g": 1e9, "t": 1e12}
_UNITS = {"i": "A", "v": "V", "r": "Ohm", "c": "F", "l": "H", "t": "degC", "f": "Hz"}
"""Of what is varied, by the first letter of its name."""

_VERDICT = late_pattern(r"\b(?:met|MISSED) (?P<name>\w+) = (?P<value>[^(;\n]+)(?:\([^()\n]*\))?")
_SUPPOSED = late_pattern(
    r"\b(?:if|were|would|should|could|might|may|suggest\w*|recommend\w*|propos\w+)\b"
    r"|如果|若|假设|建议|可以|应该?|预计|希望"
)
"""Nothing is told there of what was measured."""
_IF = late_pattern(r"^\W*(?:if|suppose|assuming)\b|^\W*(?:如果|若|假设)")
_TELLS = late_pattern(
    r"(?:\b(?:is|are|was|gives?|only|reads?|delivers?)|为|是|只?有|仅|达|[:,])\W{0,2}(?:only )?$"
)
_RUN = late_pattern(r"(?:\bData of|: ok,) run (?P<run>\d+)")
_RUN_SAID = late_pattern(
    r"\brun #?(?P<run>\d+)\b|第 ?(?P<zh>\d+) ?次|\b(?P<first>first) (?:run|simulation)\b"
    r"|第一(?=次(?:仿真|运行))"
)
_EVERY_RUN = late_pattern(
    r"\b(?:both|all|every|each)\b(?: of)?(?: the| them| \w+)? ?(?:simulations?|runs?)\b"
    r"|\b(?:simulations?|runs?)\b.{0,24}\b(?:both|all|each) of them\b|(?:两次|每次|各次)(?:仿真|运行)"
)
_EDGE = late_pattern(r"_?(?:(?P<up>lh|plh|rise|rising|up)|(?:hl|phl|fall|falling|dn|down))$")
_STATISTIC = late_pattern(
    r"\b(?P<name>mean|sigma|min|max|median|nominal|rss|to) (?P<number>[-+]?\d[\d.]*(?:e[-+]?\d+)?)"
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
    r"\W{0,3}(?:the |about |约)?$",
    re.IGNORECASE,
)
_LIMITS = late_pattern(
    r"(?:\b(?:within|between|inside|limits?|below|above)\b|[<>≤≥]|低于|高于|以内)[-\d.\s~…±]{0,12}$"
)
"""What follows bounds it."""
_REST = late_pattern(r"\b(?:others?|rest|remaining|elsewhere)\b|其余|其他|其它|另外", re.IGNORECASE)
_AT = late_pattern(r"(?:\b(?:at|for|with|when)|@|在|当)\W{0,3}$", re.IGNORECASE)
_ARRIVES = late_pattern(r"(?:\bto|到|至|为)\W{0,3}(?:about |约)?$", re.IGNORECASE)
_RANGE_ON = late_pattern(r"\s?(?:-|~|\bto\b|到|至)\s?\d")
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
    r"(?:[升增降减]|提高|变[大小]))|随着?[^,，。]{1,10}?(?=单调|而|[升增降减提])",
    re.IGNORECASE,
)
_WAY_DOWN = late_pattern(
    r"\b(?:falls|decreases|drops|falling|decreasing|lower|smaller)\b|减小|降低|下降|减少"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One of what was studied: by what it is named, and what it has."""

    words: frozenset[str]
    varied: tuple[tuple[str, float, str], ...]
    """Name, value and unit ("" where none is known)."""
    values: frozenset[float]
    columns: tuple[tuple[str, float], ...] = ()
    units: frozenset[str] = frozenset()
    """Of the values, where they are told."""


@dataclass(slots=True)
class _Table:
    rows: list[Row] = field(default_factory=list)
    others: set[float] = field(default_factory=set)
    """What the results give elsewhere."""
    goes_on: bool = True
    """What names a row holds for the clauses behind it, too."""

    is_rough: bool = False
    """"about equally" may be told of rows that differ a little."""

    @property
    def words(self) -> set[str]:
        return {word for row in self.rows for word in row.words}


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


def wrong_rows(flat: str, results: Sequence[str], earlier: Sequence[str] = ()) -> tuple[str, ...]:
    """The clauses of an answer, in plain form and without code, that give a row what others have."""
    found: dict[str, None] = dict.fromkeys(
        clause.strip()[-_LONGEST:] for clause in _wrong_verdicts(flat, (*earlier, *results))
    )
    of_before = _tables(tuple(earlier))[0] if earlier else _Table()
    for table in (*_tables(tuple(results)), of_before):
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


def _wrong_verdicts(flat: str, results: Sequence[str]) -> Iterator[str]:
    """Where all goals are said to be met in a run that missed some."""
    missed = {
        int(run["run"])
        for text in results
        if (run := _RUN.search(text)) is not None and re.search(r"\bMISSED \w", text)
    }
    for sentence in _SENTENCE_END.split(flat) if missed else ():
        runs = {int(each["run"] or each["zh"] or 1) for each in _RUN_SAID.finditer(sentence.lower())}
        is_of_one = (len(runs) == 1 and runs <= missed) or (not runs and _EVERY_RUN.search(sentence.lower()))
        if is_of_one and ALL_GOALS.search(sentence) and not NOT.search(sentence):
            yield sentence


@lru_cache(maxsize=16)
def _tables(results: tuple[str, ...]) -> tuple[_Table, ...]:
    """The rows of the newest study, and the devices of the newest operating point. Kept: to be read only."""
    studied, devices, runs, places = _Table(), _Table(), _Table(), _Table()
    further: dict[frozenset[str], _Table] = {}
    """Studies that varied something else than the newest."""
    edges, spread, shares = _Table(goes_on=False), _Table(goes_on=False), _Table(is_rough=True)
    room = _MOST_RESULTS
    for text in reversed(results):
        if room <= 0:
            break
        flat = plain(text[:room])
        room -= len(text)
        # Rows of older results are among the rest.
        for table, rows in (
            (studied, study_rows(flat)),
            (devices, _device_rows(flat)),
        ):
            if rows and not table.rows:
                table.rows = rows
                own = {value for row in rows for value in row.values}
                table.others |= _numbers(_without_rows(flat)) - own
            else:
                table.others |= _numbers(flat)
        if (number := _RUN.search(flat)) is not None:
            runs.rows.append(Row(frozenset({f"run{number['run']}"}), (), frozenset(_numbers(flat))))
        else:
            runs.others |= _numbers(flat)
        if (rows := study_rows(flat)) and rows is not studied.rows and rows != studied.rows:
            further.setdefault(frozenset(name for name, *_ in rows[0].varied), _Table(rows))
        edges.rows = edges.rows or _edge_rows(flat)
        shares.rows += _share_rows(flat)
        spread.rows += _spread_rows(flat)
    told = "\n".join(_by_expressions(plain(text[:_MOST_READ]), results) for text in results)
    places.rows = _place_rows(told)
    places.others = _numbers(_without_rows(told)) if places.rows else set()
    for table in (studied, places):  # the run before a study gives again what one of its rows has
        own = {value for row in table.rows for value in row.values}
        table.others = {
            each for each in table.others if not any(abs(each - value) <= 1e-3 * value for value in own)
        }
    for varied, table in further.items():
        own = {value for row in table.rows for value in row.values}
        table.others = (studied.others | {value for row in studied.rows for value in row.values}) - own
        if studied.rows and varied == frozenset(name for name, *_ in studied.rows[0].varied):
            table.rows = []
    return (
        studied,
        *further.values(),
        devices,
        places,
        _of_runs(runs),
        edges,
        _of_runs(spread),
        _of_runs(shares),
    )


def _by_expressions(flat: str, results: Sequence[str]) -> str:
    """Verdicts on goals as lines that tell what was measured: "met rej = -46 dB" is db(gain(v(out),50))."""
    names = expressions_in(results)
    return _VERDICT.sub(
        lambda each: f"\n{names[each['name']]} = {each['value']}\n" if each["name"] in names else each[0],
        flat,
    )


def _edge_rows(flat: str) -> list[Row]:
    """What was measured of rising and of falling edges."""
    found: dict[str, set[float]] = {}
    for name, values in named_figures(flat).items():
        if (edge := _EDGE.search(name)) is not None:
            found.setdefault("rising" if edge["up"] else "falling", set()).update(
                abs(each) for _, each in values
            )
    return [Row(frozenset({word}), (), frozenset(values)) for word, values in found.items()]


def _spread_rows(flat: str) -> list[Row]:
    """The statistics of the one quantity of a study: ends are told of as one, whatever their sign."""
    studies = list(_OF_ALL_ROWS.finditer(flat))
    if len(studies) != 1:
        return []
    found: dict[str, set[float]] = {}
    for each in _STATISTIC.finditer(studies[0][0]):
        word = {"min": "extreme", "max": "extreme", "to": "rss"}.get(each["name"], each["name"])
        found.setdefault(word, set()).add(abs(float(each["number"])))
    return [Row(frozenset({word}), (), frozenset(values)) for word, values in found.items()]


def _of_runs(table: _Table) -> _Table:
    """One row for each run or statistic: what was told of it at several places put together."""
    found: dict[frozenset[str], set[float]] = {}
    for row in table.rows:
        found.setdefault(row.words, set()).update(row.values)
    rows = [Row(words, (), frozenset(values)) for words, values in found.items()]
    return _Table(rows, table.others, goes_on=table.goes_on, is_rough=table.is_rough)


def study_rows(flat: str) -> list[Row]:
    """The runs of a study: what was varied, and what was measured."""
    rows, units = [], column_units(flat)
    for row in _ROW.finditer(flat):
        varied = [
            (each["name"].lower(), float(each["number"]) * _SCALES.get((each["scale"] or "").lower(), 1.0),
             _UNITS.get(each["name"][0].lower(), ""))
            for each in _VARIED.finditer(row["place"])
        ]  # fmt: skip
        varied += [("temp", each.value, "degC") for each in figures_in(row["place"]) if each.unit == "degC"]
        words = {word.lower() for word in _WORD.findall(_VARIED.sub(" ", row["place"].lower()))} - {"c"}
        columns = tuple(
            (each["name"].lower(), float(each["number"])) for each in _COLUMN.finditer(row["rest"])
        )
        values = frozenset(abs(value) for _, value in columns)
        told = frozenset(units.get(name, "") for name, _ in columns)
        rows.append(Row(frozenset(words), tuple(varied), values, columns, told - {""}))
    return rows


def _place_rows(flat: str) -> list[Row]:
    """The values that one quantity was measured to have at several places."""
    found: dict[str, list[Row]] = {}
    for each in _AT_PLACE.finditer(flat):
        place = float(each["place"]) * _SCALES.get((each["scale"] or "").lower(), 1.0)
        units = frozenset(figure.unit for figure in figures_in(each["value"]))
        row = Row(frozenset(), (("at", place, ""),), frozenset(_numbers(each["value"])), (), units)
        found.setdefault(each["what"], []).append(row)
    rows = max(found.values(), key=len, default=[])
    ends = [
        Row(frozenset({each["what"].replace("peak", "max")}), (), frozenset(_numbers(each["value"])))
        for each in _AT_ITS_END.finditer(flat)
    ]
    return [*rows, *ends] if len(rows) > 1 else []


def _share_rows(flat: str) -> list[Row]:
    """What each part does alone."""
    return [
        Row(frozenset({each["part"].lower()}), (), frozenset({float(each["value"])}))
        for line in _ALONE.finditer(flat)
        for each in _OF_PART.finditer(line["rest"])
    ]


def _device_rows(flat: str) -> list[Row]:
    return [
        Row(frozenset({each["name"].lower()}), (), frozenset(_numbers(each["rest"])))
        for each in DEVICE.finditer(flat)
    ]


def _without_rows(flat: str) -> str:
    # Statistics are of all rows.
    return _OF_ALL_ROWS.sub("", DEVICE.sub("", _AT_ITS_END.sub("", _AT_PLACE.sub("", _ROW.sub("", flat)))))


def _numbers(text: str) -> set[float]:
    """Figures and bare numbers of a text in plain form, SI, without their signs."""
    figures = list(figures_in(text))
    at = {figure.start for figure in figures}
    return {abs(figure.value) for figure in figures} | {
        float(each[0]) for each in _NUMBER.finditer(text) if each.start() not in at
    }


def _clauses(sentence: str) -> Iterator[str]:
    whole = _ASIDE.sub(lambda aside: _CLAUSE_END.sub(" ", aside[0]), sentence)
    at = 0
    for end in (*_CLAUSE_END.finditer(whole), None):
        yield sentence[at : end.start() if end else len(sentence)]
        at = end.end() if end else at


def _of_other_row(sentence: str, table: _Table) -> Iterator[str]:
    meant: list[Row] | None = None
    for clause in _clauses(sentence):
        if _SUPPOSED.search(clause.lower()):
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
            if _REST.search(part) or (not table.goes_on and not each.words):
                meant = None
            elif each.words or each.varied:
                meant = [row for row in table.rows if each.words <= row.words and _has(row, each.varied)]
                if not meant and not each.varied and "/" in part:  # "M1/M2": of either
                    meant = [row for row in table.rows if each.words & row.words]
                if not meant and not (
                    each.words
                    and each.varied
                    and any(each.words <= row.words and row.varied for row in table.rows)
                ):
                    meant = None  # two rows are compared
            if meant is not None and any(
                _is_of_another(part, figure, meant, table) for figure in each.figures
            ):
                yield clause
        if each_names:
            meant = None


def _is_of_another(
    part: str, figure: TextFigure, meant: Sequence[Row], table: _Table, *, is_told_at: bool = False
) -> bool:
    """Whether a figure that is told of some rows is what others have."""
    own = {value for row in meant for value in row.values} | table.others
    return (
        len(meant) < len(table.rows)
        and (figure.digits > 1 or "." in figure.text)
        and (is_told_at or not _TO_OTHER.search(part[: figure.start]))
        and not _LIMITS.search(part[: figure.start].lower())
        and (table.goes_on or "±" not in part)
        and not any(is_rounding(figure, value, is_rough=table.is_rough) for value in own)
        and (
            any(_stands_in(row.values, figure) for row in table.rows)
            or (
                len(meant) == 1
                and figure.unit in meant[0].units
                and _TELLS.search(part[: figure.start].lower()) is not None
            )
        )
    )


def _key_of(part: str, figure: TextFigure, told: _Named) -> set[tuple[str, float]] | None:
    """The point at which a figure is told: the one right behind it, else the last one before it."""
    last: set[tuple[str, float]] | None = None
    before = 0
    for key, points in told.keys:
        if not points <= told.alone:
            if 0 <= key.start - figure.end <= _NEXT and _AT_POINT.fullmatch(part, figure.end, key.start):
                return points
            between = [each for each in told.figures if key.end <= each.start < figure.start]
            if key.end <= figure.start and not between:
                is_next = any(before <= each.start < key.start for each in told.figures)
                last = points if is_next or not before else None  # else two points, then two figures
            before = key.end
    return last


def _names(clause: str, table: _Table) -> _Named:
    """The words and the varied values by which a clause names rows, and its other figures."""
    named_runs = _RUN_SAID.sub(lambda run: f" run{run['run'] or run['zh'] or 1} ", clause.lower())
    for pattern, word in _SAID_SO:
        named_runs = pattern.sub(f" {word} ", named_runs)
    named = _Named(set(_WORD.findall(named_runs)) & table.words)
    for figure in _with_bare(clause):
        is_below = clause[: figure.start + 1].rstrip(" 0123456789.").endswith("-")
        points = {
            (name, value)
            for row in table.rows
            for name, value, unit in row.varied
            if unit in ("", figure.unit) or not figure.unit
            if is_rounding(figure, abs(value), is_rough=False)
            if (value < 0) == (value != 0 and is_below)
        }
        is_named_so = _AT.search(clause[: figure.start]) is not None
        is_told = _IS.search(clause[: figure.start]) is not None
        is_value = any(
            _stands_in(row.values, figure) for row in table.rows if not row.units or figure.unit in row.units
        )
        if points and (is_named_so or not (is_told or is_value)):
            named.keys.append((figure, points))
        elif figure.unit:
            named.figures.append(figure)
    return named


def _with_bare(text: str) -> list[TextFigure]:
    """The figures of a text, with those that are written as in a netlist: these have no unit."""
    figures = list(figures_in(text))
    at = {figure.start for figure in figures}
    for each in _BARE.finditer(text):
        if each.start() not in at and (
            each["scale"] != "m" or not each.string[: each.start()].endswith("| ")
        ):
            scale = 1e6 if each["scale"] == "M" else _SCALES[each["scale"].lower()]
            decimals = len(each["number"].partition(".")[2])
            figures.append(
                TextFigure(
                    text=each[0],
                    value=float(each["number"]) * scale,
                    unit="",
                    step=10.0**-decimals * scale,
                    digits=len(each["number"].replace(".", "").lstrip("0")),
                    start=each.start(),
                    end=each.end(),
                )
            )
    return sorted(figures, key=lambda figure: figure.start)


def _turned_over(sentence: str, table: _Table) -> Iterator[str]:
    """Where a sweep is told from one point to another, and a quantity goes otherwise.

    From the other's value to the one's; to a value of where it began; or it is said to rise, and falls.
    """
    figures = _with_bare(sentence)
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
    return any(is_rounding(figure, value, is_rough=False) for value in values)


def _goes_other_way(sentence: str, table: _Table) -> Iterator[str]:
    """Where a quantity is said to rise over a sweep over which it falls, or the other way round."""
    names = {name for row in table.rows for name, _, _ in row.varied}
    if len(names) != 1 or any(len(row.varied) != 1 for row in table.rows):
        return
    rows = sorted(table.rows, key=lambda row: row.varied[0][1])
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
        if over is None or quantity is None:
            continue
        rest = clause[: over.start()] + clause[over.end() :]
        is_up, is_down = UP.search(rest) is not None, DOWN.search(rest) is not None
        is_reverse = _WAY_DOWN.search(over["over"] or over["way"] or "") is not None
        values = [dict(row.columns) for row in rows]
        for column in {name for name, _ in rows[0].columns if row_of(name) == quantity}:
            course = [each[column] for each in values if column in each]
            ups = {after > before for before, after in pairwise(course) if after != before}
            if is_up != is_down and len(ups) == 1 and (is_up != is_reverse) != ups.pop():
                yield clause
