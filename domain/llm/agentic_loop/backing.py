"""Which figures of an answer stand in nothing that was measured, read or asked for: in any language.

A figure counts when it has a unit ("19.8 dB", "150 kHz") or is the value of a part ("R1 = 2.2k"). Backing are
the results of the turn's tools and of earlier turns, what the calls that succeeded were given, and the data
that went with the message. The user's own words back a figure only where something of that unit was measured
or read: "500 Hz, the goal is met" behind no run repeats the wish. What is proposed, estimated or computed is
not doubted, nor what follows from two figures that are backed: a sum, a difference, a ratio, a share,
what Ohm's law or R·C makes of them, or a bound that a measured value keeps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

from domain.circuit.figures_in_text import TextFigure, figures_in, figures_in_words, plain
from domain.circuit.said_figures import (
    ABOVE,
    BELOW,
    ROUGHLY,
    SIGHT,
    is_by_hand,
    is_convention,
    is_rounding,
    is_thought,
    sentence_before,
)
from domain.llm.agentic_loop.claims import told_of_before
from domain.llm.agentic_loop.facts_in_words import came_from
from domain.llm.agentic_loop.pairs import pairs_in
from domain.llm.agentic_loop.part_values import changed_parts, wrong_parts
from domain.llm.agentic_loop.quantities import YIELD, Quantities, named_figures, named_quantity, row_of
from shared.late_patterns import late_pattern

_MOST_FIGURES = 120
_MOST_READ = 8_000
_MOST_BACKING = 400_000
"""Characters of results that are read, the newest first."""
_MOST_DERIVED_FROM = 30
_MOST_LINES = 400
_MOST_TOGETHER = 8
_MOST_BY_LAW = 16
_FEW = 6
_MEASURED_SO = 3
"""So many digits tell of a measurement, not of a wish."""
_NEAR = 1.5
"""How far from a measured value a bound may be that is told of it."""

_SCALES = {"f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "meg": 1e6, "g": 1e9, "t": 1e12}
_NUMBER = late_pattern(
    r"(?<![\w.])[-+]?(?P<number>\d+(?:\.\d+)?(?:e[-+]?\d{1,3})?|\.\d+)(?P<scale>meg"
    r"|[fpnumkgt])?(?P<rest>[a-zΩ°%]*)",
    re.IGNORECASE,
)
_SCALED = late_pattern(r"(\d+(?:\.\d+)?(?:e-?\d+)?|\.\d+)(meg|[fpnumkgt])?", re.IGNORECASE)
_PULSE = late_pattern(
    r"\bpulse\s?\(\s?(?:[-+.\w]+[ \t,]+){5}(?P<width>[.\d]\w*(?:\.\w+)?(?:e-\d+\w*)?)[ \t,]+"
    r"(?P<period>[.\d]\w*(?:\.\w+)?(?:e-\d+\w*)?)\s?\)",
    re.IGNORECASE,
)
_TEMPERATURE = late_pattern(r"\btemp\w*\s?=\s?-?(?P<number>\d+(?:\.\d+)?)(?![\w.])", re.IGNORECASE)
"""Of a corner or a point of a sweep."""
_RESISTOR = late_pattern(
    r"^[-+ ]?(?P<name>R\w*)[ \t]+\w+[ \t]+\w+[ \t]+(?P<number>\d+(?:\.\d+)?)(?P<scale>meg|[mkg])?\w*[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_WINDOW = late_pattern(
    r",\s?(?P<one>\d+(?:\.\d+)?)(?P<one_scale>[pnum])?,\s?(?P<other>\d+(?:\.\d+)?)(?P<other_scale>[pnum])?\)"
)
"""In which a value was measured: "pp(v(out),350u,400u)"."""
_PART_VALUE = late_pattern(
    r"\b(?P<part>[RCL][a-z]?\w{0,4})\b(?P<between>[^.;。；\n]{0,40}?)(?<![\w.])"
    r"(?P<number>\d+(?:\.\d+)?)(?P<scale>[Mm]eg|MEG|[pnumkKM])(?![A-Za-z0-9_/]|\.\d)"
)
_VALUE_OF_PART = late_pattern(
    r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?P<scale>[Mm]eg|MEG|[pnumkKM])(?: (?:for|of|as)(?: the)? "
    r"| ?的 ?)(?P<part>[RCL]\d\w{0,4})\b"
)
_OF_FREQUENCY = frozenset(("gain", "dcgain", "peak"))
"""Measured over frequency, where sources are 1 V or 1 A: a voltage is a ratio there, too."""
_PART_UNITS = {"R": "Ohm", "C": "F", "L": "H"}
_CODE = late_pattern(r"(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)", re.DOTALL)
_ASKED = late_pattern(
    r"(?:\b(?:at|@|your|goal|target|limit|required?|requirement|requested|asked(?: for)?|wanted"
    r"|instead of|against|misses"
    r"|missed|not reach|short of|wish)\b|@|在|要求|目标|指标|规定|需要|限值|上限|下限|达不到|未达到?"
    r"|没有?达到|离|距|相比)"
    r"(?:[^,，;；.。\n]{0,12}?[<>≤≥=:：]|[^,，;；.。\n\d]{0,8})\s*[(（]?$"
)
_CONDITION = late_pattern(
    r"\s*(?:处|时|下(?!降)|的(?:要求|目标|指标|上限|下限)|you (?:asked|need|want|allow)|(?:goal|target"
    r"|limit)\b)"
)
_PROMISES = late_pattern(
    r"\b(?:I['’]ll|I will|I can|let me|shall I|should I)\b|我(?:会|将|再|来|可以)|要我|是否需要|需要我"
)
"""What is told as done next."""
_MIDDLE = late_pattern(
    r"\b(?:centred?|centered?|middle|midpoint|mean|average|around)\b|中心|平均|中点"
    r"|中间"
)
_RMS = late_pattern(r"\W*(?:\brms\b|\beffective\b|\bpeak\b|\bamplitude\b|有效值|峰值?|幅度|振幅)")
_OF_SINE = (math.sqrt(0.5), math.sqrt(2), math.sqrt(0.125), math.sqrt(8))
"""Between peak, effective value and peak to peak."""
_CAME_FROM = late_pattern(r"(?:\b(?:from|was)|从|由|原来是?|原为)\s?(?:about |约)?$", re.IGNORECASE)
_PUT = late_pattern(r"取|(?:换|改|调|设)(?:成|为|到|至)")
_OFFERED = late_pattern(r"方案|推荐|备选|选项|考虑|不妨|下一步|接下来|建议|要不要|是否|如何")
_TOTAL = late_pattern(r"\b(?:total|together|sum|altogether|combined)\b|共|合计|总[共和计]|加起来")
_COMPARED = late_pattern(
    r"\b(?:more|less|higher|lower|above|below|over|under|off|away|apart|difference|slower|faster|by)\b"
    r"|[高低大小多少差]"
)
_OFF = late_pattern(
    r"[-+±][\d.]+ ?%|\b(?:errors?|excess|mismatch|deviat\w+|too (?:much|little))\b|误差|偏差|失配"
)
_EFFICIENCY = late_pattern(r"\befficien\w+|η|效率", re.IGNORECASE)
_POWER = late_pattern(r"^[^=\n]+ = (?P<value>\d[\d.]*(?:e[-+]?\d+)?) (?:W|[VA]\^2)$", re.MULTILINE)
_GOAL = late_pattern(r"\b(?:met|MISSED) (?P<name>\w+) = (?P<rest>[^;\n]+)")
_MOST_NEAR = 12
_FACTOR = late_pattern(
    r"(?<![\w.])(?P<factor>[1-9]\d*(?:\.\d+)?|0?\.\d+)(?: ?(?:x|times|倍"
    r"|V/V)(?![a-z]))?[^\w\n]{0,4}(?:i\.e\.|or|即|也就是|约|about)?[\s(,≈=]*$"
)
_SHARE_OF = late_pattern(r" (?:of|below|above|under|over|less|more|higher|lower)\b| ?的")
_EACH = late_pattern(r"\b(?:each|per|every)\b|每")
_HALF = late_pattern(r"\b(?:half|halved|twice|double)|一半|减半|两倍|加倍")
_ASKS = late_pattern(r"^[^.!。！\n]*[?？]")
_TOLD_AS_FOUND = late_pattern(
    r"\b(?:simulat(?:ed|ion)|measured|ngspice|verified|ran|results?|now|met|meets)\b|仿真|实测|测得|测量"
    r"|结果|运行|现在|达标|满足|[改调换设](?:成|为|到|至)",
    re.IGNORECASE,
)
"""Words of an answer that tells what a circuit does, though nothing was read or run."""
_DENIED = late_pattern(
    r"\b(?:not|never|nothing|haven't|hasn't)\b[^.\n]{0,24}|[没未][^。\n]{0,8}", re.IGNORECASE
)
_GENERAL = late_pattern(
    r"\b(?:typical\w*|usual\w*|common\w*|general\w*|data ?sheet|rule of thumb|for example|such as)\b|\d-bit\b"
    r"|典型|通常|一般|常见|常用|手册|数据表|经验|例如|比如"
)
_OLD = late_pattern(
    r"\b(?:before|was|were|had|from(?!\s+(?:the|an?|its|your)\b)|earlier|previous\w*|original\w*|old"
    r"|initial\w*|instead of|compared"
    r"|versus|vs|first|last|in between|interim|intermediate|at one point)\b"
    r"|原|之前|先前|中间|一度|起初|[改调换优][动改整换化]?前|旧|此前|上次|上一|从|由|相比|对比|比"
)
"""What is told of the state before."""
_NOW = late_pattern(r"\b(?:now|currently|at present)\b|现在|目前|当前")
_BECAME = late_pattern(r"\s*(?:→|->|=>|to\b|变|到)")
_SENTENCE_END = late_pattern(r"[!?。！？;；\n]|\.(?=\s|$)")
_UNITS_BEHIND = frozenset(("", "hz", "v", "a", "w", "ω", "ohm", "ohms", "f", "h", "s", "siemens"))
"""What may follow a number that is none of bytes, points or names."""
_SCIENTIFIC_UNITS = frozenset(("Hz", "V", "A", "W", "Ohm", "F", "H", "s", "S"))
"""Units of which a netlist or a card writes bare numbers."""


@dataclass(frozen=True, slots=True)
class Backing:
    """What figures may come from."""

    results: Sequence[str] = ()
    """Of tools that succeeded and what they were given; data of the message. The newest last."""
    words: Sequence[str] = ()
    """The user's own, all turns."""


def unbacked_figures(text: str, backing: Backing) -> tuple[str, ...]:
    """The figures of an answer that stand in nothing, as they are written, each once; () for none."""
    flat = plain(without_code(text[:_MOST_READ]))
    figures = [figure for figure in islice(figures_in(flat), _MOST_FIGURES) if figure.value]
    figures += islice(figures_in_words(flat), _MOST_FIGURES)
    parts = list(islice(_part_values(flat), _MOST_FIGURES))
    if not figures and not parts:
        return ()
    known = _Known(backing)
    if not known.has_any and not _TOLD_AS_FOUND.search(_DENIED.sub(" ", flat)):
        return ()  # of no circuit: knowledge, or worked out
    quantities = Quantities(backing.results)
    named = {figure.start: quantities.told_before(flat, figure) for figure in figures}
    named = {start: those for start, those in named.items() if those[1]}
    strange = {
        figure.start
        for figure in figures
        if (told := named.get(figure.start)) is not None
        and not _is_one_of(flat, figure, [(figure.unit, value) for value in told[1]])
        and not (
            _is_one_of(flat, figure, _values(known.asked))
            and (
                figure.digits < _MEASURED_SO
                or _CAME_FROM.search(flat[: figure.start][-SIGHT:])
                or _is_wish(flat[: figure.start][-SIGHT:], flat[figure.end :][:SIGHT])
            )
        )
    }
    backed = [
        figure
        for figure in figures
        if (
            figure.start not in strange
            and known.has(figure, _is_rough(flat, figure), named=named.get(figure.start, (0, ()))[1])
        )
        or known.keeps(figure, sentence_before(flat, figure.start)[-SIGHT:].lower())
    ]
    said = [*_values(backed), *((unit, value) for _, _, value, unit in parts if known.has_value(value))]
    asked = _values(known.asked)
    bounds = list(islice(known.bounds(), _MOST_DERIVED_FROM))
    derived = [*_derived(said, asked), *known.of_lines(asked), *bounds]
    # Of many values some two have nearly every share: those count that stand near, or have one name.
    derived = [each for each in derived if each[0] != "%"]
    derived += [
        (unit, abs(value - bound))
        for unit, value in (*said, *known.named())
        for same, bound in bounds
        if same == unit
    ]
    old, new = changed_parts(backing.results)
    derived += _derived([("", each[name]) for name in old for each in (old, new) if name in new], ())
    begins = {pair.second.start: pair.first for pair in pairs_in(flat, figures)}
    own = {
        figure.start: start
        for figure in figures
        if figure not in backed
        and not (figure.start in begins and _is_one_of(flat, begins[figure.start], derived))
        and (start := _measured_from(flat, figure, named.get(figure.start), asked)) is not None
    }
    said += _values(each for each in figures if each.start not in own and _is_one_of(flat, each, derived))
    loads = [
        ("A", value / ohms)
        for unit, value in (*said, *known.newest())
        if unit == "V"
        for ohms in known.resistances()
    ]
    said += _values(each for each in figures if each.start not in own and _is_one_of(flat, each, loads))
    derived += loads
    for turn in range(2):  # what follows from what followed
        more = [*_by_law(said), *(() if turn else _by_law(known.newest()))]
        follows = [
            each
            for each in figures
            if each not in backed and each.start not in own and _is_one_of(flat, each, more)
        ]
        backed, said = [*backed, *follows], [*said, *_values(follows)]
    derived += [each for each in _derived(_values(backed), asked) if each[0] != "%"]
    compared = [
        *_derived(_values(backed), ()),
        *known.differences(said),
        *(each for alike in known.alike() for each in _derived(alike, ())),
    ]
    derived += [(unit, abs(one - other)) for unit, one in said for same, other in asked if unit == same]
    off_whole = _off_whole(_values(backed))
    doubted: dict[int, str] = {}
    for figure in figures:
        before, after = sentence_before(flat, figure.start), flat[figure.end : figure.end + SIGHT]
        # "the gain rises to 40 dB" proposes nothing: what counts are the words before its name.
        mood = sentence_before(flat, own[figure.start]) if figure.start in own else before
        if (
            figure in backed
            or figure.unit == "?"
            or is_convention(figure, before, after)
            or is_thought(mood, after)
            or is_by_hand(flat, figure.start)
            or ((_is_wish(before, after) or _PROMISES.search(before)) and _is_one_of(flat, figure, asked))
            or _is_part_of(flat, figure, [*said, *known.named()], before, after, is_named=figure.start in own)
            or (_COMPARED.search(f"{before[-24:]} {after[:16]}") and _is_one_of(flat, figure, compared))
            or (figure.unit == "%" and figure.start not in own and _is_one_of(flat, figure, asked))
            or (figure.unit == "%" and figure.start not in own and _is_share(flat, figure, figures, known))
            or (
                _OFF.search(f"{before[-24:]}{figure.text} {after[:16]}")
                and _is_one_of(flat, figure, off_whole)
            )
            or (figure.unit == "dB" and _is_in_decibels(figure, before))
            or (figure.unit == "Ohm" and _is_one_of(flat, figure, known.joined(f"{before}{after}")))
            or _GENERAL.search(f"{before} {after.partition(chr(10))[0][:40]}".lower())
            or _ASKS.match(after)
            or (figure.start not in own and _is_one_of(flat, figure, derived))
        ):
            continue
        doubted[figure.start] = text[figure.start : figure.end].strip()
    for start, end in wrong_parts(flat, (*backing.results, *backing.words)):
        # "RG 换成 806 Ω，增益 49.7": told as done where nothing else proposes it.
        before = sentence_before(flat, start)
        before = before if _OFFERED.search(before) else _PUT.sub("为", before)
        if (
            not (is_thought(before, flat[end : end + SIGHT]) or _ASKS.match(flat[end : end + SIGHT]))
            and start not in doubted
        ):
            doubted[start] = text[start:end].strip()
    for start, end, value, _ in parts:
        before, after = sentence_before(flat, start), flat[end : end + SIGHT]
        is_operand = flat[max(0, start - 2) : start].strip()[-1:] in ("*", "/", "^")
        if not (known.has_value(value) or is_operand or is_thought(before, after) or _ASKS.match(after)):
            doubted[start] = flat[start:end].strip()
    return tuple(dict.fromkeys(doubted[start] for start in sorted(doubted)))


def _is_in_decibels(figure: TextFigure, before: str) -> bool:
    """Whether it is a factor right before it, told anew: "≈ 96, i.e. 39.6 dB"."""
    factor = _FACTOR.search(before)
    return factor is not None and is_rounding(
        figure, abs(20 * math.log10(float(factor["factor"]))), is_rough=True
    )


def _is_wish(before: str, after: str) -> bool:
    """Whether a figure is told as what was asked, or as a condition: "at 1 kHz", "goal: 60 %"."""
    return _ASKED.search(before[-40:].lower()) is not None or _CONDITION.match(after.lower()) is not None


def _is_part_of(
    flat: str,
    figure: TextFigure,
    said: Sequence[tuple[str, float]],
    before: str,
    after: str,
    *,
    is_named: bool,
) -> bool:
    """Whether a figure is the half, the double, the middle or an equal part of others, and told so."""
    near, own = before[-SIGHT:].lower(), [value for unit, value in said if unit == figure.unit]
    found: list[float] = []
    if _HALF.search(near):
        found += [factor * value for value in own for factor in (0.5, 2.0)]
    if not is_named and (_RMS.search(near) or _RMS.match(after[:24].lower())):
        found += [factor * value for value in own for factor in (0.5, 2.0, *_OF_SINE)]
    if _TOTAL.search(near[-24:]):
        found += [factor * value for value in own for factor in (2, 3, 4)]
        found += [one + other for one, other in combinations(own[:_MOST_BY_LAW], 2)]
    if _MIDDLE.search(near) or _MIDDLE.match(after[:16].lower().lstrip(" -(")) or "average" in after[:16]:
        found += [(one + other) / 2 for one, other in combinations(own[:_MOST_BY_LAW], 2)]
    if _EACH.search(near[-24:]) or _EACH.match(after[:8].lower()):
        found += [value / count for value in own for count in range(2, 21)]
    return _is_one_of(flat, figure, [(figure.unit, value) for value in found])


def _is_share(flat: str, figure: TextFigure, figures: Sequence[TextFigure], known: _Known) -> bool:
    """Whether a percentage follows from figures near it, from the user's, or from those of one name.

    "2 % of the output" follows from one near it and any with a name; an efficiency from powers of one result.
    """
    end = flat.find("\n", figure.end)
    near = [
        each
        for each in figures
        if each.unit != "%"
        and figure.start - 3 * SIGHT
        <= each.start
        < min(end if end >= 0 else len(flat), figure.end + 2 * SIGHT)
    ]
    near = sorted(near, key=lambda each: abs(each.start - figure.start))[:_MOST_NEAR]
    before = sentence_before(flat, figure.start)
    said = f"{before}{_SENTENCE_END.split(flat[figure.end : figure.end + SIGHT])[0]}"
    if _EFFICIENCY.search(re.split(r"[,，(（]", before)[-1]) and any(
        len(powers) > 1 for powers in known.powers
    ):
        near = [each for each in near if each.unit == "W"]
        shares = [share for powers in [*known.powers, _values(near)] for share in _derived(powers, ())]
        return _is_one_of(flat, figure, shares)
    values = _values(near)
    asked = _values(known.asked)[:_MOST_NEAR]
    shares = _derived([*values, *asked], ())
    shares += [share for judged in known.judged for share in _derived(judged, ())]
    row = named_quantity(said)
    for name, alike in known.of_one_name():
        if (row is not None and row_of(name) == row) or any(
            is_rounding(each, value, is_rough=True)
            for each in near
            for unit, value in alike
            if unit == each.unit
        ):
            shares += _derived([*alike, *asked], ())
    if _SHARE_OF.match(flat[figure.end : figure.end + 8]) or flat[: figure.start].rstrip().endswith("的"):
        named = list(known.named())
        for each in values:
            shares += [share for other in named for share in _derived([each, other], ())]
    is_small = figure.digits < _MEASURED_SO
    return any(
        is_rounding(figure, share, is_rough=is_small or _is_rough(flat, figure))
        for unit, share in shares
        if unit == "%" and share
    )


def _measured_from(
    flat: str,
    figure: TextFigure,
    named: tuple[int, list[float]] | None,
    asked: Sequence[tuple[str, float]],
) -> int | None:
    """Where words begin that tell a figure as measured which follows from none of its own values.

    It may follow from others by chance: with some dozen values nearly every figure does. None: no such words.
    """
    if named is not None:
        start, values = named
        given = [(figure.unit, value) for value in values]
        return None if _is_one_of(flat, figure, [*given, *_derived(given, asked)]) else start
    before = sentence_before(flat, figure.start)
    came = None if figure.unit == "%" else came_from(before)
    return None if came is None else figure.start - len(before) + came


def stale_figures(text: str, before: Sequence[str], now: Backing) -> tuple[str, ...]:
    """The figures of an answer that stand in results from `before` the last change only, each once.

    With them those that are told as of the other state than they are, in a column or in "from ... to". Left
    alone are those that are told as old, in their sentence or in a table that compares.
    """
    flat = plain(without_code(text[:_MOST_READ]))
    figures = [figure for figure in islice(figures_in(flat), _MOST_FIGURES) if figure.value]
    if not figures or not before:
        return ()
    old, known = _Known(Backing(results=before)), _Known(now)
    of_before = told_of_before(flat)
    compares = any(line.lstrip().startswith("|") and _OLD.search(line) for line in flat.lower().splitlines())
    current = [each for each in figures if known.has(each, is_rough=False)]
    parts = changed_parts((*before, *now.results))
    found = {text[each.start : each.end].strip(): None for each in _exchanged(flat, old, known, parts)}
    for figure in figures:
        start = flat.rfind("\n", 0, figure.start) + 1
        end = flat.find("\n", figure.end)
        beside = any(
            start <= each.start < (end if end >= 0 else len(flat)) and each.unit == figure.unit
            for each in current
        )  # old and new in one row
        line = flat[start : end if end >= 0 else len(flat)]
        if line.lstrip().startswith("|") and (compares or beside or _state_in(line.split("|")[1], parts)):
            continue
        said, after = sentence_before(flat, figure.start), flat[figure.end : figure.end + SIGHT]
        sentence = f"{said}{_SENTENCE_END.split(after)[0]}".lower()
        is_rough = _is_rough(flat, figure)
        if (
            figure.digits < 2  # so coarse, it is of anything
            or _OLD.search(sentence)
            or (figure.start < of_before and not _NOW.search(sentence))
            or _is_contrasted(flat, figure, current)
            or _BECAME.match(after)
            or is_convention(figure, said, after)
            or is_thought(said, after)
            or known.has(figure, is_rough)
            or not old.has(figure, is_rough)
        ):
            continue
        found[text[figure.start : figure.end].strip()] = None
    return tuple(found)


def _is_contrasted(flat: str, figure: TextFigure, current: Sequence[TextFigure]) -> bool:
    """Whether a figure is told beside the one of now: "48 dB at 50 Hz; with 16.5k it is now 53 dB"."""
    return any(
        figure.end <= each.start <= figure.end + 2 * SIGHT
        and each.unit == figure.unit
        and _NOW.search(flat[figure.end : each.start].lower())
        and "\n" not in flat[figure.end : each.start]
        for each in current
    )


_COLUMN_OLD = late_pattern(
    r"\b(?:before|old|original\w*|initial\w*|was|previous\w*)\b|[改调换优]\w?前|原|之前|先前|旧"
)
_COLUMN_NEW = late_pattern(
    r"\b(?:after|new|now|current(?:ly| (?:value|design|state|run))|final|is)\b|[改调换优]\w?后|现在|目前"
    r"|之后|当前|新"
)


def _state_in(cell: str, parts: Sequence[Mapping[str, float]]) -> bool | None:
    """Whether the head of a column or a row tells of the circuit as it was, by words or by a part's value."""
    is_old, is_new = (
        _COLUMN_OLD.search(cell.lower()) is not None,
        _COLUMN_NEW.search(cell.lower()) is not None,
    )
    if is_old == is_new:
        values = [figure.value for figure in figures_in(cell) if figure.unit in _PART_UNITS.values()]
        values += [value for _, _, value, _ in _part_values(cell)]
        is_old, is_new = (
            any(math.isclose(one, each, rel_tol=6e-3) for one in values for each in state.values())
            for state in parts
        )
    return None if is_old == is_new else is_old


def _exchanged(
    flat: str, old: _Known, new: _Known, parts: Sequence[Mapping[str, float]]
) -> Iterator[TextFigure]:
    """The figures told as old that only the circuit as it is has, and the other way round.

    Which they are told as is read from the heads of a table's columns and from "from 5 dB to 8 dB".
    """

    def is_wrong(figure: TextFigure, *, is_old: bool) -> bool:
        own, other = (old, new) if is_old else (new, old)
        return figure.digits > 1 and other.has(figure, is_rough=False) and not own.has(figure, is_rough=False)

    columns: list[bool | None] = []
    at = 0
    for line in flat.split("\n"):
        cells = line.split("|") if line.lstrip().startswith("|") else []
        if cells and not columns:
            columns = [_state_in(cell, parts) for cell in cells]
        elif not cells:
            columns = []
        place = at
        of_row = _state_in(cells[1], parts) if len(cells) > 2 else None
        for cell, of_column in zip(cells, columns, strict=False):
            end = place + len(cell)
            is_old = of_row if of_column is None else of_column
            if is_old is not None:
                yield from (
                    replace(each, start=each.start + place, end=each.end + place)
                    for each in figures_in(flat[place:end])
                    if is_wrong(each, is_old=is_old) and each.unit not in _PART_UNITS.values()
                )
            place = end + 1
        at += len(line) + 1
    for pair in pairs_in(flat, list(islice(figures_in(flat), _MOST_FIGURES))):
        if is_wrong(pair.second, is_old=False):
            yield pair.second


def figures_not_in(text: str, originals: Sequence[str]) -> tuple[str, ...]:
    """The figures of a text that stand in none of the others, not even rounded; nothing may be derived."""
    flat = plain(text)
    known = _Known(Backing(results=originals))
    strange = {
        figure.start: text[figure.start : figure.end].strip()
        for figure in islice(figures_in(flat), _MOST_FIGURES)
        if figure.value and not known.has(figure, is_rough=False)
    }
    strange |= {
        start: flat[start:end].strip()
        for start, end, value, _ in islice(_part_values(flat), _MOST_FIGURES)
        if not known.has_value(value)
    }
    return tuple(dict.fromkeys(strange[start] for start in sorted(strange)))


class _Known:
    """The numbers of the backing, by unit; bare ones may have any that numbers of a netlist have."""

    def __init__(self, backing: Backing) -> None:
        self._by_unit: dict[str, set[float]] = {}
        self._lines: list[list[tuple[str, float]]] = []
        """Figures that stand together in one line."""
        self._named: dict[str, list[tuple[str, float]]] = {}
        """Those behind one name ("gain = "), the newest first."""
        self.judged: list[list[tuple[str, float]]] = []
        """What a goal is of, with its limits."""
        self.powers: list[list[tuple[str, float]]] = []
        """Those of each result; a voltage's or a current's square over a number is one, too."""
        self._driven: set[float] = set()
        """What a source of 1 V or 1 A gives over frequency."""
        self._bare: set[float] = set()
        self._ohms: set[float] = set()
        self._resistors: dict[str, float] = {}
        """The newest value by name."""
        self._precise: set[float] = set()
        """Bare ones with so many digits that they are no count of points."""
        room = _MOST_BACKING
        for text in reversed(backing.results):
            if room <= 0:
                break
            self._read(re.sub(r"(?<=[\da-zA-Z])\.\.+(?=\d)", " to ", plain(text[:room])))
            room -= len(text)
        self.asked: list[TextFigure] = [
            figure for text in backing.words for figure in islice(figures_in(text), _MOST_FIGURES)
        ]

    def _read(self, text: str) -> None:
        for name, values in named_figures(text).items():
            self._named.setdefault(name, []).extend((unit, abs(number)) for unit, number in values)
            for unit, number in values:
                self._by_unit.setdefault(unit, set()).add(abs(number))
                if name in _OF_FREQUENCY and unit in ("V", "A") and number:
                    self._driven.add(abs(number))
        line: list[tuple[str, float]] = []
        end, own = -1, set[int]()
        for figure in figures_in(text):
            value = (figure.unit, abs(figure.value))
            own.add(figure.start)
            self._by_unit.setdefault(figure.unit, set()).add(value[1])
            if figure.start > end:
                end = text.find("\n", figure.start)
                end = len(text) if end < 0 else end
                line = []
                self._lines.append(line)
            line.append(value)
        self.powers.append([("W", float(each["value"])) for each in _POWER.finditer(text)][:_MOST_TOGETHER])
        for goal in _GOAL.finditer(text):
            self.judged.append(_values(figures_in(goal["rest"])))
        self._read_worked_out(text)
        for found in _NUMBER.finditer(text):
            number = abs(float(found["number"]))
            scale = (found["scale"] or "").lower()
            if found.start("number") in own:
                continue
            if math.isfinite(number) and number and found["rest"].lower() in _UNITS_BEHIND:
                self._bare.add(number * _SCALES.get(scale, 1.0))
                if found["scale"] == "M":  # milli in a netlist, mega in words
                    self._bare.add(number * 1e6)
                if (
                    not scale
                    and not found["rest"]
                    and len(found["number"].lstrip("0.").replace(".", "")) >= 3
                ):
                    self._precise.add(number)

    def _read_worked_out(self, text: str) -> None:
        """Resistances of cards, shares of samples, how long a window of time is, temperatures."""
        for card in _RESISTOR.finditer(text):
            ohms = float(card["number"]) * _SCALES.get((card["scale"] or "").lower(), 1.0)
            if ohms:
                self._ohms.add(ohms)
                self._resistors.setdefault(card["name"].lower(), ohms)
        for samples in YIELD.finditer(text):
            self._by_unit.setdefault("%", set()).add(100 * int(samples["good"]) / max(int(samples["all"]), 1))
        for each in _WINDOW.finditer(text):
            begin, end = (
                float(each[which]) * _SCALES.get(each[f"{which}_scale"] or "", 1.0)
                for which in ("one", "other")
            )
            self._by_unit.setdefault("s", set()).add(abs(end - begin))
        for each in _PULSE.finditer(text):
            width, period = (
                float(number) * _SCALES.get(scale.lower(), 1.0)
                for number, scale in (_SCALED.match(each[which]).groups() for which in ("width", "period"))  # type: ignore[union-attr]
            )
            if period:
                self._by_unit.setdefault("Hz", set()).add(1 / period)
                self._by_unit.setdefault("%", set()).add(100 * width / period)
                self._by_unit.setdefault("s", set()).update((width, period))
        for each in _TEMPERATURE.finditer(text):
            self._by_unit.setdefault("degC", set()).add(float(each["number"]))

    @property
    def has_any(self) -> bool:
        """Whether anything was read, measured or given that has a number."""
        return bool(self._by_unit or self._bare)

    def has(self, figure: TextFigure, is_rough: bool, *, named: Sequence[float] = ()) -> bool:
        """Whether a figure is a rounding of one of them.

        Of a quantity with these values only they and figures with its unit count: bare numbers are of others.
        """
        values = set(self._by_unit.get(figure.unit, ()))
        if values:  # where nothing of the kind was measured, the user's words are a wish
            values |= {abs(each.value) for each in self.asked if each.unit == figure.unit}
        if named:
            return any(is_rounding(figure, value, is_rough=is_rough) for value in (*values, *named))
        values |= self._bare if figure.unit in _SCIENTIFIC_UNITS else self._precise
        values.update(self._converted(figure.unit))
        return any(is_rounding(figure, value, is_rough=is_rough) for value in values)

    def _converted(self, unit: str) -> Iterator[float]:
        ratios = self._by_unit.get("1", set()) | self._precise | self._driven
        if unit == "%":
            yield from (100 * value for value in ratios if value < 10)
        elif unit == "dB":
            yield from (abs(20 * math.log10(value)) for value in ratios)
        elif unit == "1":
            yield from (10 ** (value / 20) for value in self._by_unit.get("dB", ()) if value < 400)
        elif unit in ("Hz", "s"):
            yield from (1 / value for value in self._by_unit.get("s" if unit == "Hz" else "Hz", ()) if value)

    def keeps(self, figure: TextFigure, before: str) -> bool:
        """Whether a figure is a bound that one of them keeps, not far from it."""
        values = self._by_unit.get(figure.unit, ())
        if ABOVE.search(before):
            return any(figure.value <= value <= _NEAR * figure.value for value in values)
        return bool(BELOW.search(before)) and any(
            figure.value / _NEAR <= value <= figure.value for value in values
        )

    def of_lines(self, asked: Sequence[tuple[str, float]]) -> Iterator[tuple[str, float]]:
        """What follows from two of one line, from two of one name, and from one and what the user asked."""
        for together in (*self._lines[:_MOST_LINES], *self._named.values()):
            if len(together) <= _MOST_TOGETHER:
                yield from _derived(together, ())
        for named in self._named.values():
            yield from _derived(named[:1], asked)
        few = [
            (unit, value) for unit, values in self._by_unit.items() if len(values) <= _FEW for value in values
        ]
        yield from (
            (unit, abs(one - other)) for unit, one in few for same, other in (*few, *asked) if same == unit
        )

    def bounds(self) -> Iterator[tuple[str, float]]:
        """What the user allowed: 40 Hz to each side, 960 Hz and 1040 Hz for "1 kHz within 4 %"."""
        for share in (each.value / 100 for each in self.asked if each.unit == "%" and each.value < 100):
            for unit, value in _values(self.asked):
                if unit != "%":
                    yield from (
                        (unit, value * share),
                        (unit, value * (1 - share)),
                        (unit, value * (1 + share)),
                    )

    def of_one_name(self) -> Iterator[tuple[str, list[tuple[str, float]]]]:
        """Names with values, a few of each."""
        yield from ((name, values[:_MOST_TOGETHER]) for name, values in self._named.items())

    def named(self) -> Iterator[tuple[str, float]]:
        """The values with names, of each name a few."""
        yield from (each for values in self._named.values() for each in values[:_FEW])

    def differences(self, said: Sequence[tuple[str, float]]) -> Iterator[tuple[str, float]]:
        """Of what an answer tells and what else stands in the results."""
        for unit, one in said:
            values = self._by_unit.get(unit, set())
            if len(values) <= _MOST_DERIVED_FROM:
                yield from ((unit, abs(one - other)) for other in values)

    def alike(self) -> Iterator[list[tuple[str, float]]]:
        """The newest values of names that begin alike: "tpd_lh" and "tpd_hl"."""
        by_begin: dict[str, list[tuple[str, float]]] = {}
        for name, values in self._named.items():
            if values:
                by_begin.setdefault(name[:3], []).append(values[0])
        yield from (values for values in by_begin.values() if 1 < len(values) <= _FEW)

    def joined(self, said: str) -> Iterator[tuple[str, float]]:
        """In series and in parallel, what resistors that words name are together."""
        named = [
            ohms for name, ohms in self._resistors.items() if re.search(rf"\b{name}\b", said, re.IGNORECASE)
        ]
        for one, other in combinations(named[:_MOST_BY_LAW], 2):
            yield from (("Ohm", one + other), ("Ohm", one * other / (one + other)))

    def resistances(self) -> list[float]:
        """Of the cards that were read, a few."""
        return sorted(self._ohms)[:_MOST_BY_LAW]

    def newest(self) -> list[tuple[str, float]]:
        """The newest values with names, a few."""
        return [values[0] for values in islice(self._named.values(), _FEW) if values]

    def has_value(self, value: float) -> bool:
        """Whether the value of a part stands somewhere in a result."""
        return any(math.isclose(value, each, rel_tol=6e-3) for each in self._bare)


def _values(figures: Iterable[TextFigure]) -> list[tuple[str, float]]:
    return [(figure.unit, abs(figure.value)) for figure in figures]


def _derived(
    backed: Sequence[tuple[str, float]], asked: Sequence[tuple[str, float]]
) -> list[tuple[str, float]]:
    """What two figures of one unit give: their difference, and their ratio in every form."""
    base = [*backed, *asked][:_MOST_DERIVED_FROM]
    found: list[tuple[str, float]] = []
    for place, (unit, one) in enumerate(base):
        for other_unit, other in base[place + 1 :]:
            if unit != other_unit or not one or not other:
                continue
            if unit == "degC":
                found.append((unit, abs(one - other)))
                continue
            high, low = max(one, other), min(one, other)
            found += [
                (unit, high - low),
                ("1", high / low),
                ("1", low / high),
                ("%", 100 * (high / low - 1)),
                ("%", 100 * (1 - low / high)),
            ]
            found.append(("%", 100 * low / high))
            if unit != "dB":
                found.append(("dB", 20 * math.log10(high / low)))
    return found


def _off_whole(said: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """How far ratios are from whole ones, in percent: "+2.5 %" of a mirror of 1:2."""
    pairs = [
        max(one, other) / min(one, other)
        for (unit, one), (same, other) in combinations(said[:_MOST_BY_LAW], 2)
        if unit == same and one and other
    ]
    return [("%", 100 * abs(ratio / round(ratio) - 1)) for ratio in pairs if ratio > _NEAR]


_LAWS = (("V", "A", "Ohm"), ("W", "V", "A"), ("W", "A", "V"), ("V", "Ohm", "A"), ("Ohm", "S", "1"))
"""First over second is the third."""


def _by_law(said: Sequence[tuple[str, float]]) -> Iterator[tuple[str, float]]:  # noqa: PLR0912 - a list
    """What two figures of different units give: current, voltage, resistance, power, time constant."""
    few = list(dict.fromkeys(said))[-_MOST_BY_LAW:]
    yield from ((unit, one + other) for unit, one in few for same, other in few if same == unit)
    yield from (("Hz" if unit == "s" else "s", 1 / one) for unit, one in few if unit in ("s", "Hz") and one)
    for unit, one in few:
        for other_unit, other in few:
            if not one or not other:
                continue
            for above, below, result in _LAWS:
                if (unit, other_unit) == (above, below):
                    yield result, one / other
                elif (unit, other_unit) == (below, result):
                    yield above, one * other
            match unit, other_unit:
                case "dB", "Hz" if one < 200:
                    yield "Hz", 10 ** (one / 20) * other
                case "S", "S":
                    yield "Ohm", 1 / one
                case "Ohm", "Ohm":
                    yield "Ohm", one * other / (one + other)
                case "F", "F":
                    yield "F", one * other / (one + other)
                case "Ohm", "F":
                    yield from (
                        ("s", one * other),
                        ("s", 2.2 * one * other),
                        ("Hz", 1 / (2 * math.pi * one * other)),
                    )
                case "H", "Ohm":
                    yield from (("s", one / other), ("Hz", other / (2 * math.pi * one)))
                case "H", "F":
                    yield "Ohm", math.sqrt(one / other)
                    yield "Hz", 1 / (2 * math.pi * math.sqrt(one * other))
                case "V", "Ohm":
                    yield "W", one * one / other
                case "A", "Ohm":
                    yield "W", one * one * other
                case _:
                    pass


def _is_one_of(flat: str, figure: TextFigure, values: Iterable[tuple[str, float]]) -> bool:
    is_rough = _is_rough(flat, figure)
    return any(
        is_rounding(figure, value, is_rough=is_rough)
        for unit, value in values
        if unit == figure.unit and value
    )


def _is_rough(flat: str, figure: TextFigure) -> bool:
    before = sentence_before(flat, figure.start)
    return ROUGHLY.search(before[-SIGHT:].rstrip("+-± ").lower()) is not None


def _part_values(flat: str) -> Iterator[tuple[int, int, float, str]]:
    """Where the values of parts stand, written as in a netlist, what they are and their units."""
    for found in (*_PART_VALUE.finditer(flat), *_VALUE_OF_PART.finditer(flat)):
        scale = found["scale"]
        factor = 1e6 if scale.lower() == "meg" or scale == "M" else _SCALES[scale.lower()]
        yield (
            found.start("number"),
            found.end("scale"),
            float(found["number"]) * factor,
            _PART_UNITS[found["part"][0]],
        )


def without_code(text: str) -> str:
    """Fenced blocks as blanks, so that places stay."""
    return _CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
