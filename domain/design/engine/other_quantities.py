"""Figures of quantities that a circuit family does not know: 5 % of overshoot are no tolerance of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from domain.design.engine.declaration import Family
from domain.design.sentence import Mention, Sentence, in_any_case
from domain.design.understanding import not_understood
from shared.message import Message

EVENT = re.compile(
    r"load[\s-](?:steps?|jumps?|transients?|changes?|swings?)(?![a-z])|"
    r"load (?:current )?(?:suddenly )?(?:steps|jumps|changes|rises|drops|goes|swings)(?![a-z])|"
    r"\d\s?m?a (?:load )?(?:steps?|transients?)(?![a-z])|"
    r"负载(?:电流)?(?:[从由在][^,;，；。]{0,20}?)?(?:阶跃|突变|跳变|瞬变|突增|突减)",
    re.IGNORECASE,
)
"""What happens to a circuit: all figures beside it belong to it."""
_QUANTITY = re.compile(
    r"(?<![a-z])(?:over|under)[\s-]?shoots?|(?<![a-z])(?:dips?|droops?|sags?)(?![a-z])|过冲|超调|下冲|跌落|"
    r"(?<![a-z])thd(?:\+n)?(?![a-z])|(?<![a-z])(?:harmonic )?distortion|失真度?|"
    r"(?<![a-z])(?:input|output|integrated|total)?[\s-]?noise(?: density| floor)?(?![a-z])|噪声|噪音|"
    r"slew(?:[\s-]?rate)?|压摆率?|转换速率|settl\w*(?: time)?|建立时间|"
    r"(?<![a-z])(?:psrr?|power[\s-]supply rejection)(?![a-z])|电源抑制比?|"
    r"(?<![a-z])(?:rise|fall)[\s-]time|上升时间|下降时间|"
    r"(?<![a-z])(?:input )?offset(?: voltage)?(?![a-z])|失调(?:电压)?|"
    r"(?<![a-z])efficiency|效率|phase[\s-]margin|相位裕度",
    re.IGNORECASE,
)
"""Quantities that many circuits have and few of our families ask for."""
_STEP = "step_to_a"
"""Quantity of a family that knows load steps."""
CLAUSE_END = re.compile(
    r"[,;:。!，；]|\.(?=\s|$)|(?<![a-z])(?:and|with|but|having)(?![a-z])|并且|而且", re.IGNORECASE
)
_BEFORE = re.compile(r"\s?(?:max(?:imum)?|min(?:imum)?|or less|or more|of|的|以[下上内])*\s*$", re.IGNORECASE)
_AT = re.compile(r"\s?(?:at|@|在)\s?", re.IGNORECASE)
_BEHIND = re.compile(r"[^\d]{0,32}$")


def without_other_quantities(family: Family, sentence: Sentence) -> tuple[Sentence, tuple[Message, ...]]:
    """A sentence without the figures of quantities that the family has none for, and what has to be told of
    them."""
    words = [
        each for quantity in family.quantities for each in (quantity.words, quantity.before, quantity.after)
    ]
    known = [in_any_case(each) for each in words if each]
    is_stepped = knows_steps(family)
    gone: list[Mention] = []
    told: list[Message] = []
    for start, end in _clauses(sentence.text):
        named = [
            found
            for pattern in (EVENT, _QUANTITY)
            for found in pattern.finditer(sentence.text, start, end)
            if (pattern is EVENT and not is_stepped) or not any(each.search(found[0]) for each in known)
        ]
        figures = [each for each in sentence.mentions if start <= each.start < end and each not in gone]
        others = [
            each for each in figures if any(_belongs(each, found, figures, sentence) for found in named)
        ]
        if others:
            others += [
                each for each in figures if each not in others and _is_place(each, others, sentence.text)
            ]
            gone += others
            told.append(not_understood(" ".join(_span(sentence.text, start, end, named, others).split())))
    if not gone:
        return sentence, ()
    left = tuple(each for each in sentence.mentions if each not in gone)
    return replace(sentence, mentions=left), tuple(told)


def knows_steps(family: Family) -> bool:
    """Whether a family tries its circuits by a load step."""
    return any(quantity.name == _STEP for quantity in family.quantities)


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in CLAUSE_END.finditer(text):
        if not text[found.start() - 1 : found.end() + 1].replace(",", "").isdigit():
            yield start, found.start()
            start = found.end()
    yield start, len(text)


def _belongs(figure: Mention, named: re.Match[str], figures: list[Mention], sentence: Sentence) -> bool:
    """Whether a figure is that of the quantity that is named in its clause, or of what happens there."""
    text = sentence.text
    if named.re is EVENT and (figure.start >= named.start() or figure.end > named.start()):
        return True
    if figure.end <= named.start():
        between = text[figure.end : named.start()]
        is_next = not any(figure.end <= each.start < named.start() for each in figures)
        return is_next and (
            _BEFORE.match(between) is not None or (figure.bound is not None and named.re is EVENT)
        )
    if any(named.end() <= each.start < figure.start for each in figures):
        return False
    return _BEHIND.match(text[named.end() : figure.start]) is not None


def _is_place(figure: Mention, others: list[Mention], text: str) -> bool:
    """Whether a figure only says where another one holds: "60 dB at 1 kHz"."""
    return any(_AT.fullmatch(text[each.end : figure.start]) for each in others if each.end <= figure.start)


def _span(text: str, start: int, end: int, named: list[re.Match[str]], others: list[Mention]) -> str:
    """The words from the first to the last of these, with all of the last unit."""
    first = min(*(each.start() for each in named), *(each.start for each in others))
    last = max(*(each.end() for each in named), *(each.end for each in others))
    if unit := re.compile(r"/\w+").match(text, last):
        last = unit.end()
    return text[max(first, start) : min(last, end)]
