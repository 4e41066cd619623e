"""What results give by rows: runs of a study, devices, places, runs, edges, statistics, shares of parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from domain.circuit.figures_in_text import TextFigure, figures_in, plain
from domain.circuit.said_figures import is_rounding
from domain.llm.agentic_loop.quantities import DEVICE, column_units, expressions_in, named_figures
from shared.late_patterns import late_pattern

_MOST_RESULTS = 100_000
_MOST_READ = 8_000
_ROW = late_pattern(r"^\d+\b(?P<place>[^>\n]{0,160}?) ?-> (?P<rest>[^\n]+)", re.MULTILINE)
_AT_PLACE = late_pattern(
    r"^-?(?P<what>\w[^\n=,]*), ?(?P<place>(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)(?P<scale>meg"
    r"|[fpnumkgt])?\w?\)+ = (?P<value>[^\n]+)",
    re.MULTILINE | re.IGNORECASE,
)
_AT_ITS_END = late_pattern(r"^(?P<what>min|max|peak)\((?P<of>[^\n=,]*)\) = (?P<value>[^\n]+)", re.MULTILINE)
_ALONE = late_pattern(r"^ *(?:alone:|variance from) (?P<rest>[^\n]+)", re.MULTILINE)
_OF_PART = late_pattern(r"\b(?P<part>[A-Za-z]\w*) \+?[±-]?(?P<value>\d+(?:\.\d*)?(?:e[-+]?\d+)?)(?![\w.])")
VARIED = late_pattern(
    r"(?P<name>[A-Za-z_][\w.]*)=(?P<number>[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)(?P<scale>meg|[fpnumkgt])?",
    re.IGNORECASE,
)
_COLUMN = late_pattern(
    r"\b(?P<name>[A-Za-z_]\w*)=(?P<number>[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)", re.IGNORECASE
)
_OF_ALL_ROWS = late_pattern(r"^\w+ \[[^\]\n]{1,8}\]: [^\n]*", re.MULTILINE)
_NUMBER = late_pattern(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d{1,3})?(?![\w.])")
SCALES = {"f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "meg": 1e6, "g": 1e9, "t": 1e12}
UNITS = {"i": "A", "v": "V", "r": "Ohm", "c": "F", "l": "H", "t": "degC", "f": "Hz", "%": "%"}
"""Of what is varied, by the first letter of its name."""
_VERDICT = late_pattern(r"\b(?:met|MISSED) (?P<name>\w+) = (?P<value>[^(;\n]+)(?:\([^()\n]*\))?")
RUN = late_pattern(r"(?:\bData of|: ok,) run (?P<run>\d{1,9})\b")
_EDGE = late_pattern(r"_?(?:(?P<up>lh|plh|rise|rising|up)|(?:hl|phl|fall|falling|dn|down))$")
_STATISTIC = late_pattern(
    r"\b(?P<name>mean|sigma|min|max|median|nominal|rss|to) (?P<number>[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)"
)
WORD = late_pattern(r"[a-z]\w*")


_BARE = late_pattern(
    r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?:(?P<scale>[Mm]eg|[pnumkKM])| ?(?P<length>[nu])m)(?![A-Za-z0-9_])"
)
"""The value of a part as netlists write it: "5k"."""


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
    is_missed: bool | None = None
    """Whether a goal was missed there; None where none was judged."""


@dataclass(slots=True)
class Table:
    """Rows of one kind, and what the results give beside them."""

    rows: list[Row] = field(default_factory=list)
    others: set[float] = field(default_factory=set)
    """What the results give elsewhere."""
    nominal: set[float] = field(default_factory=set)
    """What rows have and the circuit as it is, too."""
    goes_on: bool = True
    """What names a row holds for the clauses behind it, too."""

    is_of_one: bool = False
    """The rows are of one quantity: where another is named, they are left."""

    is_of_states: bool = False
    """The rows are all that was measured, also before the circuit was changed."""

    is_rough: bool = False
    """"about equally" may be told of rows that differ a little."""

    @property
    def words(self) -> set[str]:
        return {word for row in self.rows for word in row.words}


@lru_cache(maxsize=2)
def tables_of(results: tuple[str, ...]) -> tuple[Table, ...]:
    """The rows of the newest study, and the devices of the newest operating point. Kept: to be read only."""
    studied, devices, runs, places = Table(), Table(), Table(), Table(is_of_one=True)
    further: dict[frozenset[str], Table] = {}
    """Studies that varied something else than the newest."""
    edges, spread, shares = Table(goes_on=False), Table(goes_on=False), Table(is_rough=True)
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
                table.others |= numbers(without_rows(flat)) - own
            else:
                table.others |= numbers(flat)
        if (number := RUN.search(flat)) is not None:
            runs.rows.append(Row(frozenset({f"run{number['run']}"}), (), frozenset(numbers(flat))))
        else:
            runs.others |= numbers(flat)
        if (rows := study_rows(flat)) and rows is not studied.rows and rows != studied.rows:
            further.setdefault(frozenset(name for name, *_ in rows[0].varied), Table(rows))
        edges.rows = edges.rows or _edge_rows(flat)
        shares.rows += _share_rows(flat)
        spread.rows += _spread_rows(flat)
    told = "\n".join(_by_expressions(plain(text[:_MOST_READ]), results) for text in results)
    places.rows = _place_rows(told)
    places.others = numbers(without_rows(told)) if places.rows else set()
    for table in (studied, places):  # the run before a study gives again what one of its rows has
        own = {value for row in table.rows for value in row.values}
        table.nominal = {
            value for value in own if any(abs(each - value) <= 1e-3 * value for each in table.others)
        }
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
    units = frozenset(column_units(studies[0][0]).values())
    return [Row(frozenset({word}), (), frozenset(values), (), units) for word, values in found.items()]


def _of_runs(table: Table) -> Table:
    """One row for each run or statistic: what was told of it at several places put together."""
    found: dict[frozenset[str], set[float]] = {}
    for row in table.rows:
        found.setdefault(row.words, set()).update(row.values)
    units = frozenset(unit for row in table.rows for unit in row.units)
    rows = [Row(words, (), frozenset(values), (), units) for words, values in found.items()]
    return Table(rows, table.others, goes_on=table.goes_on, is_rough=table.is_rough)


def stands_in(values: Iterable[float], figure: TextFigure) -> bool:
    """Whether a figure is a rounding of one of the values, a percentage of a share."""
    scale = 0.01 if figure.unit == "%" else 1.0
    return any(
        is_rounding(figure, each, is_rough=False) for value in values for each in {value, value / scale}
    )


def with_bare(text: str) -> list[TextFigure]:
    """The figures of a text, with those that are written as in a netlist: these have no unit."""
    figures = list(figures_in(text))
    at = {figure.start for figure in figures}
    for each in _BARE.finditer(text):
        if each.start() not in at and (
            each["scale"] != "m" or not each.string[: each.start()].endswith("| ")
        ):
            written = each["scale"] or each["length"]
            scale = 1e6 if written == "M" else SCALES[written.lower()]
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


def study_rows(flat: str) -> list[Row]:
    """The runs of a study: what was varied, and what was measured."""
    rows, units = [], column_units(flat)
    for row in _ROW.finditer(flat):
        varied = [
            (each["name"].lower(), float(each["number"]) * SCALES.get((each["scale"] or "").lower(), 1.0),
             UNITS.get(each["name"][0].lower(), ""))
            for each in VARIED.finditer(row["place"])
        ]  # fmt: skip
        varied += [("temp", each.value, "degC") for each in figures_in(row["place"]) if each.unit == "degC"]
        named = VARIED.sub(" ", row["place"].lower()).replace("_", " ")  # "ss_1.62V_125C"
        words = set(WORD.findall(named)) - {"c", "v"}
        columns = tuple(
            (each["name"].lower(), float(each["number"])) for each in _COLUMN.finditer(row["rest"])
        )
        values = frozenset(abs(value) for _, value in columns)
        told = frozenset(units.get(name, "") for name, _ in columns)
        rows.append(Row(frozenset(words), tuple(varied), values, columns, told - {""}))
    return rows


def courses_of(rows: Sequence[Row]) -> Iterator[tuple[tuple[str, float, str], str, float, float]]:
    """Of a study of two things, with one held: what is held, of what, the least and the most."""
    found: dict[tuple[tuple[str, float, str], str], list[float]] = {}
    for row in rows if rows and len(rows[0].varied) == 2 else ():
        for held in row.varied:
            for column, value in row.columns:
                found.setdefault((held, column), []).append(value)
    yield from (
        (held, column, min(course), max(course))
        for (held, column), course in found.items()
        if len(course) > 1
    )


def _place_rows(flat: str) -> list[Row]:
    """The values that one quantity was measured to have at several places."""
    found: dict[str, list[Row]] = {}
    for each in _AT_PLACE.finditer(flat):
        place = float(each["place"]) * SCALES.get((each["scale"] or "").lower(), 1.0)
        units = frozenset(figure.unit for figure in figures_in(each["value"]))
        row = Row(frozenset(), (("at", place, ""),), frozenset(numbers(each["value"])), (), units)
        found.setdefault(each["what"], []).append(row)
    rows = max(found.values(), key=len, default=[])
    ends = [
        Row(frozenset({each["what"].replace("peak", "max")}), (), frozenset(numbers(each["value"])))
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
        Row(frozenset({each["name"].lower()}), (), frozenset(numbers(each["rest"])))
        for each in DEVICE.finditer(flat)
    ]


def without_rows(flat: str) -> str:
    # Statistics are of all rows.
    return _OF_ALL_ROWS.sub("", DEVICE.sub("", _AT_ITS_END.sub("", _AT_PLACE.sub("", _ROW.sub("", flat)))))


def numbers(text: str) -> set[float]:
    """Figures and bare numbers of a text in plain form, SI, without their signs."""
    figures = list(figures_in(text))
    at = {figure.start for figure in figures}
    return {abs(figure.value) for figure in figures} | {
        float(each[0]) for each in _NUMBER.finditer(text) if each.start() not in at
    }
