"""What an answer says of how a quantity changed: unchanged, doubled, risen by a third, from 7.6 V to 5.5 V.

Held against the values that results before and behind a change have, or against the figures it gives itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import isclose

from domain.circuit.figures_in_text import TextFigure, figures_in
from domain.circuit.said_figures import is_rounding, is_thought, sentence_before
from domain.llm.agentic_loop.pairs import pairs_in
from domain.llm.agentic_loop.quantities import Row, Value, better_way, named_quantity
from shared.late_patterns import late_pattern

_SAME_SHARE = 0.02
"""A quantity that moved by less has not changed."""
_NEARLY_SAME = 0.1
_STEP = 5e-4
"""A quantity that moved the other way by more is told wrongly."""
_RATIO_SLACK = 0.2

TO_BEFORE = late_pattern(
    r"\b(?:than|as|compared (?:to|with)) (?:before|originally|earlier|previously)\b|\b(?:it|they"
    r"|what) (?:was|were)\b"
    r"|(?:[比较为到了])?(?:原来|之前|原先|修改前|改前)的?",
    re.IGNORECASE,
)
"""What compares with the state before."""
NOT = late_pattern(
    r"\b(?:not|never|no|none|nor|neither|without|hardly|barely|yet to|out of|leaves?|left|no longer"
    r"|un(?!it|der|til|less)\w+)\b|n['’]t\b"
    r"|不|没|未|尚|无|非(?!常)|退出|脱离|离开",
    re.IGNORECASE,
)
_BOUND = late_pattern(
    r"\b(?:above|below|within|under|over|at least|at most|between|inside|range|limit)\b"
    r"|以上|以下|以内|之内|范围|高于|低于|大于|小于|超过|不到|左右",
    re.IGNORECASE,
)
_SAME = late_pattern(
    r"\b(?:unchanged|unaffected|identical|constant)\b|\b(?:stay|remain)(?:s|ed)?\b"
    r"|\b(?:the )?same\b(?! time)|\bno change\b"
    r"|\b(?:does|did|has|have)(?: not|n['’]t) (?:change|move|shift)|\b(?:is|was) kept\b|\bkeeps?\b"
    r"|不变|没有?变|未变|未改变|无变化|保持|维持|不受影响|相同|一样|仍(?:然|旧)?[为是]",
    re.IGNORECASE,
)
_NEARLY = late_pattern(
    r"\b(?:almost|nearly|practically|essentially|roughly|about|virtually|basically|largely|approximately)\b"
    r"|基本|几乎|大致|约|大体|差不多|略",
    re.IGNORECASE,
)
_MOVED = late_pattern(
    r"\b(?:rose|rises|risen|grew|grown|increase[sd]?|went up|higher|wider|larger|raised|fell|falls"
    r"|fallen|dropped|drops"
    r"|decrease[sd]?|went down|lower|narrower|smaller|shrank|reduced|shrunk|than before|as before"
    r"|of what it was"
    r"|of its (?:old|former|previous|original)|of the (?:old|former|previous|original)|compared|now|became"
    r"|up|down)\b"
    r"|原来|原先|之前|以前|先前|修改前|改前|[升增降减]|提高|变[大小宽窄高低]|缩[小短]",
    re.IGNORECASE,
)
_FACTORS: tuple[tuple[re.Pattern[str], float], ...] = (
    (
        late_pattern(
            r"\b(?:doubled|doubles|twice)\b|翻了?一?[倍番]|(?:原来|之前)的?(?:两|二|2) ?倍|加倍"
            r"|[增提加][加高大]了?一倍|\bfactor of (?:two|2)\b",
            re.IGNORECASE,
        ),
        2.0,
    ),
    (late_pattern(r"\b(?:halved|halves|half)\b|一半|减半|二分之一|对半", re.IGNORECASE), 0.5),
    (
        late_pattern(
            r"\b(?:tripled|three times|factor of (?:three|3))\b|(?:原来|之前)的?三倍", re.IGNORECASE
        ),
        3.0,
    ),
    (late_pattern(r"\b(?:a|one) third\b(?! of the (?:range|limit))|三分之一", re.IGNORECASE), 1 / 3),
    (late_pattern(r"\b(?:a|one) quarter\b|四分之一", re.IGNORECASE), 0.25),
    (late_pattern(r"\bfactor of (?:four|4)\b|(?:原来|之前)的?四倍", re.IGNORECASE), 4.0),
    (late_pattern(r"\bfactor of (?:five|5)\b|(?:原来|之前)的?五倍", re.IGNORECASE), 5.0),
    (
        late_pattern(
            r"\b(?:an? |one )?factor of ten\b|\b(?:an? |one )?order of magnitude\b|一个数量级|十倍"
            r"|ten ?times|tenfold",
            re.IGNORECASE,
        ),
        10.0,
    ),
)
_BY_SHARE = late_pattern(
    r"\bby (?:about |roughly |nearly |almost )?(?:an? |one )?(?:third|half|quarter)\b"
    r"|[了少低小大高](?:约|近)?(?:三分之一|一半|四分之一)",
    re.IGNORECASE,
)
_BY_ITSELF = late_pattern(
    r"\b(?:doubled|doubles|halved|halves|tripled)\b|翻了?一?[倍番]|减半|加倍", re.IGNORECASE
)
UP = late_pattern(
    r"比[^，。]{1,6}?(?:大|高|宽)了?(?:$|[一很])|"
    r"\b(?:rose|rises|grew|increase[sd]?|went up|climbed)\b|上升|升[至到]|升高|提高|提升|增[大加至到]"
    r"|变[大宽高深]|\bdeeper\b",
    re.IGNORECASE,
)
DOWN = late_pattern(
    r"比[^，。]{1,6}?(?:小|低|窄)了?(?:$|[一很])|"
    r"\b(?:fell|falls|dropped|drops|decrease[sd]?|went down|shrank|sank|declined)\b|下降|降[至到]|降低"
    r"|减[小少至到]|变[小窄低浅]|缩[小短]|\bshallower\b",
    re.IGNORECASE,
)
_CLAUSE = late_pattern(r"[,，:：(（]")
_NEGATIVE = late_pattern(r"(?<![\w.])-\d")
_FROM = late_pattern(r"(?:\bfrom|从|由)\s?(?:about |约)?$", re.IGNORECASE)
_WORSE = late_pattern(r"\b(?:worse|worsen\w*|degrad\w+|deteriorat\w+)\b|变差|恶化|变坏", re.IGNORECASE)
_BETTER = late_pattern(r"\b(?:better|improve[sd]?)\b|变好|改善", re.IGNORECASE)


def is_false_change(
    clause: str,
    states: Sequence[Mapping[Row, list[Value]]],
    count: int,
    named: Row | None = None,
) -> bool:
    """Whether a quantity is said to have stayed, doubled, risen ... and no two of its values did.

    `states` are what results tell, the newest first; the first `count` are of the circuit as it is.
    """
    clause = _FOLLOWS.sub("", clause)
    row = named_quantity(clause, {row for found in states[:count] for row in found})
    row = named if row is None and TO_BEFORE.search(clause) else row
    at = next((place for place, found in enumerate(states[:count]) if row in found), 0)
    new = [] if row is None or not count else _distinct(states[at].get(row, []))
    if row is None or len(new) != 1 or _BOUND.search(clause):
        return False
    unit, one = new[0]
    others = [
        value for found in states[at + 1 :] for own, value in found.get(row, ()) if own == unit and value
    ]
    if not others or not one:
        return False
    leads = next((each for each in figures_in(clause) if _FROM.search(clause[: each.start])), None)
    if leads is not None:
        others = [each for each in others if is_rounding(leads, each, is_rough=False)] or others
    if _SAME.search(clause):
        slack = _NEARLY_SAME if _NEARLY.search(clause) else _SAME_SHARE
        return all(abs(one - other) > slack * max(one, other) for other in others)
    if NOT.search(clause):
        return False
    # A verdict gives again, rounded, what was measured: that is no change.
    moved = [other for other in others if not isclose(one, other, rel_tol=_STEP / 2)] or others
    return _is_wrong_factor(clause, unit, [one / other for other in others]) or _is_wrong_way(
        clause, row, [one / other for other in moved]
    )


def _distinct(values: Sequence[Value]) -> list[Value]:
    """The values without those that are others, rounded: a verdict tells again what was measured."""
    return [
        one
        for place, one in enumerate(values)
        if not any(one[0] == unit and isclose(one[1], value, rel_tol=5e-3) for unit, value in values[:place])
    ]


def _is_wrong_factor(clause: str, unit: str, ratios: Sequence[float]) -> bool:
    factors = [factor for words, factor in _FACTORS if words.search(clause)]
    if not factors and TO_BEFORE.search(clause):  # "4 倍" of what it was
        factors = [figure.value for figure in figures_in(clause) if figure.unit == "1"]
    if len(factors) != 1 or unit in ("dB", "deg", "degC"):
        return False
    if not (_MOVED.search(clause) or _BY_ITSELF.search(clause)):
        return False
    is_down = DOWN.search(clause) is not None or re.search(r"\bdown\b", clause) is not None
    is_inverse = factors[0] > 2 and is_down
    factor = 1 / factors[0] if is_inverse else factors[0]
    own = [
        pair.second.value / pair.first.value
        for pair in pairs_in(clause, list(figures_in(clause)))
        if pair.first.value
    ]
    ratios = own or ratios  # the clause gives both itself
    if factor < 1 and _BY_SHARE.search(clause):  # "by a third"
        factor = 1 + factor if UP.search(clause) else 1 - factor
    return not any(abs(ratio - factor) <= _RATIO_SLACK * factor for ratio in ratios)


def _is_wrong_way(clause: str, row: Row, ratios: Sequence[float]) -> bool:
    up, down = _ways(clause)
    worse, better = _WORSE.search(clause) is not None, _BETTER.search(clause) is not None
    if up == down and worse != better and (good := better_way(row)):
        up = better == (good > 0)
        down = not up
    if (
        up == down
        or is_thought(clause, "")
        or (re.search(r"\bby\b|\bthan\b|比", clause) and not TO_BEFORE.search(clause))
    ):
        return False
    return all(ratio < 1 - _STEP if up else ratio > 1 + _STEP for ratio in ratios)


def _ways(clause: str) -> tuple[bool, bool]:
    """Whether it is told to go up, and down, in size: what is below zero grows downwards."""
    up, down = UP.search(clause) is not None, DOWN.search(clause) is not None
    return (down, up) if _NEGATIVE.search(clause) else (up, down)


_FOLLOWS = late_pattern(r"随着?[^,，。;；\n]{1,12}$")
"""What goes with it is told behind it."""
_WITH = late_pattern(
    r"随着?[^,，。;；\n]{1,12}?(?:而|时)|\b(?:with|as) [^,.;\n]{1,30}?\b(?:rising|falling|growing|rises|falls"
    r"|(?:in|de)creas(?:es|ing))\b",
    re.IGNORECASE,
)
"""What goes so is what the quantity depends on."""


def turned_pairs(flat: str, figures: Sequence[TextFigure]) -> Iterator[str]:
    """ "rose from 7.6 V to 5.5 V": where two figures go the other way than the words next to them tell.

    Those between the two count first, then those before them in their clause; where this begins with the two,
    the clause before it.
    """
    for pair in pairs_in(flat, figures):
        first, second = pair.first, pair.second
        if _NEGATIVE.search(flat[max(0, pair.start - 2) : pair.end]):
            continue
        between = flat[min(first.end, second.end) : max(first.start, second.start)]
        clauses = _CLAUSE.split(sentence_before(flat, pair.start))
        before = clauses[-1]
        if not _FROM.sub("", before).strip(" *-") and len(clauses) > 1:
            before = clauses[-2]
        before = _WITH.sub("", before[max((each.end for each in figures_in(before)), default=0) :])
        said = next((each for each in (between, before) if _ways(each)[0] != _ways(each)[1]), None)
        if (
            said is not None
            and not NOT.search(said)
            and "越" not in said
            and _ways(said)[0] == (second.value < first.value)
        ):
            yield flat[max(0, pair.start - len(before)) : pair.end]
