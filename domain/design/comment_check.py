"""A model's comment on a round held against the table: which of its figures are not what was measured.

A figure is doubted when its unit is that of a goal (or percent), and it is no sensible rounding of anything
known in that unit: value, limits, target, margin, change, the rounds before, what follows from two of them,
a part of the netlist. Where the operating point is known, a voltage, current, power or transconductance
that no goal is about is held against it in the way of free work (`backing`). Proposals, predictions and
calculations ("should come down to 995 Hz", "若 R1 取 12k，约 995 Hz") say nothing that was measured and are
not marked, and neither is what is said of another quantity ("VBE = 0.7 V") or at a condition ("at 5 kHz").
English and Chinese words are read, figures in any language.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from domain.circuit.figures_in_text import TextFigure, figures_in, plain, unit_name
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import parse_number, read_number
from domain.circuit.said_figures import (
    ABOVE,
    BELOW,
    ROUGHLY,
    SIGHT,
    is_convention,
    is_rounding,
    is_thought,
    sentence_before,
)
from domain.design.round_table import RoundTable, TableRow
from domain.llm.agentic_loop.backing import unbacked_figures
from domain.llm.agentic_loop.known import Backing
from domain.simulation.result import Quantity
from shared.late_patterns import late_pattern

Values = Mapping[str, frozenset[float]]
"""What is known, by unit; "" has what may stand for any."""

_SEPARATORS = late_pattern(r"[\s(),=*/+]+")
_CLAUSE_ENDS = late_pattern(r"[,;，；、]|(?<![vViI])[(（]")
_NODE = late_pattern(r"\b[vi]\s?\(\s?[\w#.]+\s?\)")
_UNITS_OF_POINT = frozenset(("V", "A", "W", "S"))
_NO_UNIT_OF_NETLISTS = frozenset(("%", "dB", "deg"))
"""A bare number of a netlist is none of these."""
_MOST_CHARACTERS = 2000
_MOST_FIGURES = 200


def short_comment(text: str, lines: int = 10) -> str:
    """The first `lines` lines of a comment that hold anything; "…" tells that there was more."""
    kept: list[str] = []
    found = [line.rstrip() for line in text.strip().splitlines()]
    count = 0
    for line in found:
        if line and count == lines:
            break
        count += bool(line)
        kept.append(line)
    short = "\n".join(kept).rstrip()
    is_cut = count == lines and sum(map(bool, found)) > lines
    if len(short) > _MOST_CHARACTERS:
        short, is_cut = short[:_MOST_CHARACTERS].rstrip(), True
    if is_cut:
        short += " …"
    return f"{short}\n```" if short.count("```") % 2 else short


def netlist_quantities(data: bytes) -> dict[str, Quantity]:
    """The figures of a netlist that a comment may name: parts, parameters, sources, analyses.

    The unit is "" where the place does not tell it.
    """
    netlist = Netlist.parse(data)
    units = {"R": "Ohm", "C": "F", "L": "H"}
    found: dict[str, Quantity] = {}
    for element in netlist.elements:
        number = None if element.value is None else read_number(element.value.text)
        if number is not None:
            unit = units.get(element.letter.upper(), "")
            found[element.name.lower()] = Quantity(value=number.value, unit=unit)
        if element.letter.upper() in ("V", "I"):
            found |= _numbers(element.name.lower(), element.statement.text)
    for parameter in netlist.parameters:
        found |= _numbers(f".param {parameter.name.lower()}", parameter.value.text)
    for analysis in netlist.analyses:
        found |= _numbers(f".{analysis.kind}", analysis.text)
    return found


def _numbers(name: str, text: str) -> dict[str, Quantity]:
    words = text.replace("(", " ").replace(")", " ").replace(",", " ").replace("=", " ").split()
    numbers = ((place, read_number(word)) for place, word in enumerate(words))
    return {
        f"{name} {place}": Quantity(value=number.value, unit="")
        for place, number in numbers
        if number is not None
    }


def doubtful_figures(
    text: str,
    table: RoundTable,
    known: Mapping[str, Quantity] | None = None,
    *,
    netlist: str = "",
    operating_point: str = "",
) -> tuple[str, ...]:
    """The figures of a comment that contradict the table or the operating point, as written, each once.

    `known` are other quantities that were measured or stand in the netlist (`netlist_quantities`). What is
    inside a fenced block is not read, and no more than 200 figures are. Linear in the text.
    """
    doubted = _against_table(text, table, known)
    if not operating_point:
        return doubted
    backing = Backing(results=(netlist, table.markdown(), operating_point))
    return tuple(dict.fromkeys([*doubted, *_of_point(text, table, backing)]))


def _of_point(text: str, table: RoundTable, backing: Backing) -> Iterator[str]:
    """Voltages, currents, powers and transconductances that follow from no figure a model was given.

    Those of a goal's unit are the table's.
    """
    judged = {unit_name(row.unit) for row in table.rows}
    for written in unbacked_figures(text, backing):
        if any(
            each.unit in _UNITS_OF_POINT and each.unit not in judged for each in figures_in(plain(written))
        ):
            yield written


def _against_table(text: str, table: RoundTable, known: Mapping[str, Quantity] | None) -> tuple[str, ...]:
    checked = {unit_name(row.unit) for row in table.rows} | {"%"}
    own = " ".join(f"{row.goal.metric} {row.goal.expression} {row.goal.words}" for row in table.rows).lower()
    flat = plain(_without_fences(text))
    figures = [
        each for each in islice(figures_in(flat), _MOST_FIGURES) if each.unit in checked and each.value
    ]
    if not figures:
        return ()
    beside: Values = _magnitudes((unit_name(each.unit), each.value) for each in (known or {}).values())
    by_row = [(_names_of(row), _known_values(row, beside)) for row in table.rows]
    values: dict[str, frozenset[float]] = {}
    for _, own_values in by_row:
        values = {
            unit: values.get(unit, frozenset()) | own_values.get(unit, frozenset())
            for unit in {*values, *own_values}
        }
    metrics = [name for names, _ in by_row for name in names]
    doubted: dict[str, None] = {}
    for figure in figures:
        before, after = sentence_before(flat, figure.start), flat[figure.end : figure.end + SIGHT]
        if not (
            _agrees(figure, before, _those_of_one(before, by_row, figure.unit) or values)
            or is_convention(figure, before, after)
            or is_thought(before, after)
            or _is_elsewhere(figure, before, own, metrics)
        ):
            doubted[text[figure.start : figure.end].strip()] = None
    return tuple(doubted)


def _without_fences(text: str) -> str:
    """Fenced blocks as blanks, so that places stay."""
    parts = text.split("```")
    return "   ".join(" " * len(part) if place % 2 else part for place, part in enumerate(parts))


# --- what is known --------------------------------------------------------------------------------------


def _known_values(row: TableRow, beside: Values) -> Values:
    found: defaultdict[str, set[float]] = defaultdict(set)
    unit, own, ratios = unit_name(row.unit), set(_of_row(row)), set(_ratios(row))
    found[unit] |= own
    found["%"] |= {100 * share for share in _shares(row)}
    found["1"] |= ratios
    if unit == "1":
        found["%"] |= {100 * value for value in own}
        found["dB"] |= {20 * math.log10(abs(value)) for value in own if value}
    elif unit == "dB":
        found["1"] |= {10 ** (value / 20) for value in own if abs(value) < 1000}
    else:
        found["dB"] |= {20 * math.log10(abs(share)) for share in ratios if share}
    if unit in ("Hz", "s"):
        found["s" if unit == "Hz" else "Hz"] |= {1 / value for value in own if value}
    for figure in figures_in(f"{row.goal.words} {row.goal.condition}"):
        found[figure.unit].add(figure.value)
    found[""] |= set(_in_expression(row.goal.expression))
    own_values = _magnitudes((unit, value) for unit, values in found.items() for value in values)
    return {
        unit: own_values.get(unit, frozenset()) | beside.get(unit, frozenset()) for unit in {*found, *beside}
    }


def _magnitudes(figures: Iterable[tuple[str, float]]) -> dict[str, frozenset[float]]:
    """The finite ones of figures, by their units, without their signs."""
    found: defaultdict[str, set[float]] = defaultdict(set)
    for unit, value in figures:
        if math.isfinite(value):
            found[unit].add(abs(value))
    return {unit: frozenset(values) for unit, values in found.items()}


_CHINESE = {
    "gain": "增益", "cutoff": "截止", "bandwidth": "带宽", "phase": "相位裕度", "overshoot": "过冲",
    "thd": "失真", "efficiency": "效率", "ripple": "纹波", "noise": "噪声", "rise": "上升时间",
    "settling": "调整时间",
    "current": "电流", "vout": "输出电压", "power": "功率",
}  # fmt: skip
"""What goals are called in Chinese, by a part of their name."""


def _names_of(row: TableRow) -> tuple[str, ...]:
    metric = " ".join(row.goal.metric.lower().replace("_", " ").split())
    return (metric, *(word for part, word in _CHINESE.items() if part in metric))


def _those_of_one(before: str, by_row: Sequence[tuple[tuple[str, ...], Values]], unit: str) -> Values | None:
    """What is known of the one goal that a clause names, when the figure may be said of it; else None."""
    clause = _clause_of(before)
    named = [values for names, values in by_row if any(_names(name, clause) for name in names)]
    return named[0] if len(named) == 1 and unit in named[0] else None


def _clause_of(before: str) -> str:
    return _CLAUSE_ENDS.split(before)[-1].lower().replace("_", " ")


def _bounds(row: TableRow) -> list[float]:
    goal = row.goal
    return [bound for bound in (goal.minimum, goal.maximum, goal.target) if bound is not None]


def _measured(row: TableRow) -> list[float]:
    found = (row.value, row.last, row.best, *row.earlier)
    return [value for value in found if value is not None and math.isfinite(value)]


def _of_row(row: TableRow) -> Iterator[float]:
    """What is said of a goal in its own unit: its figures, and what lies between two of them."""
    bounds, measured = _bounds(row), _measured(row)
    yield from (*bounds, *measured)
    yield from (one - other for one in measured for other in (*bounds, *measured))
    low, high = row.goal.minimum, row.goal.maximum
    if low is not None and high is not None:
        yield from (high - low, (high - low) / 2, (high + low) / 2)


def _ratios(row: TableRow) -> Iterator[float]:
    measured = [value for value in dict.fromkeys(_measured(row)) if value]
    bounds = [bound for bound in _bounds(row) if bound]
    for number, one in enumerate(measured, 1):
        for other in (*bounds, *measured[number:]):
            if other != one:
                yield from (one / other, other / one)


def _shares(row: TableRow) -> Iterator[float]:
    """What is said of a goal in percent, as fractions."""
    if row.margin_share is not None:
        yield row.margin_share
    goal = row.goal
    if goal.minimum is not None and goal.maximum is not None:
        middle = (goal.minimum + goal.maximum) / 2 if goal.target is None else goal.target
        if middle:
            yield (goal.maximum - goal.minimum) / 2 / middle
    if unit_name(row.unit) == "dB":
        return
    pairs = [(row.value, other) for other in (*_bounds(row), row.last, row.best) if other]
    pairs += [(row.last, other) for other in _bounds(row)] if row.last is not None else []
    for value, other in pairs:
        if value and other and math.isfinite(value):
            yield from (value / other, value / other - 1)
    yield from (other / row.value - 1 for other in _bounds(row) if row.value and math.isfinite(row.value))


def _in_expression(expression: str) -> Iterator[float]:
    """The numbers of a measurement, which are conditions: the 10k of ``gain(v(out),10k)``."""
    for word in _SEPARATORS.split(expression):
        try:
            yield parse_number(word)
        except ValueError:
            continue


# --- what a figure is held against ----------------------------------------------------------------------


def _agrees(figure: TextFigure, before: str, values: Values) -> bool:
    known = values.get(figure.unit, frozenset())
    if figure.unit not in _NO_UNIT_OF_NETLISTS:
        known |= values.get("", frozenset())
    words = before[-SIGHT:].rstrip("+-± ").lower()
    is_rough = ROUGHLY.search(words) is not None
    if any(is_rounding(figure, value, is_rough=is_rough) for value in known):
        return True
    measured = values.get(figure.unit, frozenset())
    if ABOVE.search(words):
        return any(figure.value <= value <= 2 * figure.value for value in measured)
    return bool(BELOW.search(words)) and any(figure.value / 2 <= value <= figure.value for value in measured)


_CONDITION = late_pattern(r"(?:\bat|@|\bnear|在|于)\s*(?:f\s*=\s*)?$")
_SAID_OF_FREQUENCY = late_pattern(
    r"cut|band|corner|freq|cross|resonan|pole|unity|f_?[c0t]\b|gbw|截止|带宽|频率|转折|谐振|极点|穿越|中心"
)
_OTHER_SUBJECTS = (
    ("V", ("supply", "vcc", "vdd", "vee", "vss", "rail", "供电", "电源")),
    ("V A", ("collector", "集电极", "vce", "ic")),
    ("V A", ("base", "基极", "vbe", "diode", "二极管", "发射结", "threshold", "阈值", "vth", "vgs")),
    ("V A", ("emitter", "发射极", "thermal voltage", "热电压", "vt")),
    ("V A", ("drain", "漏极", "vds", "gate", "栅极")),
    ("V A", ("bias", "偏置", "quiescent", "静态", "headroom", "reference", "参考", "基准")),
    ("Hz s", ("gain-bandwidth", "gbw", "ft", "transition", "特征频率", "增益带宽积")),
    ("Hz s", ("switching", "开关频率", "fsw", "clock", "时钟")),
    ("A", ("load", "负载", "average", "peak", "peaks", "rms", "峰值", "平均", "有效值")),
    ("%", ("duty", "占空比")),
    ("V A", ("esr", "contributes", "contribution", "贡献")),
)
"""What comments name beside the goals, with the units of such figures."""


def _is_elsewhere(figure: TextFigure, before: str, own: str, metrics: Iterable[str]) -> bool:
    """Whether a figure is a condition, or said of a quantity that no goal measures."""
    clause = _clause_of(before)
    if figure.unit in ("Hz", "s", "degC") and _CONDITION.search(clause):
        return not _SAID_OF_FREQUENCY.search(clause)
    node = _NODE.search(clause)
    if node is not None and node[0].replace(" ", "") not in own.replace(" ", ""):
        return True
    if any(_names(name, clause) for name in metrics):
        return False
    return any(
        figure.unit in units.split() and any(_names(word, clause) and not _names(word, own) for word in group)
        for units, group in _OTHER_SUBJECTS
    )


def _names(word: str, text: str) -> bool:
    if not word.isascii():
        return word in text
    if len(word) < 2:
        return False
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        if not (text[place - 1 : place].isalnum() and place) and not text[end : end + 1].isalnum():
            return True
        place = text.find(word, end)
    return False
