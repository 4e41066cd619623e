"""From one voltage to another: the input (or its range) and the output of a converter in a sentence.

`12 V -> 5 V`, `9-15 V input, 5 V`, `12 V ± 10 % to 5 V ± 1 %`, `12 V battery (9 to 16 V), 5 V at 2 A`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from domain.design.sentence import Mention, Sentence
from domain.design.understanding import Slot, fill_slots
from shared.message import Message, msg

INPUT, OUTPUT = "vin", "vout"
"""Names of the slots of the two voltages."""


_NO_SUPPLY = re.compile(r"ripple|纹波|波纹|峰峰|diode|drop|forward|压降|二极管", re.IGNORECASE)
"""In front of a voltage that is none of the two."""

_FROM_ONE_TO_ANOTHER = re.compile(r"(?<![a-z])to(?![a-z])|[到至]", re.IGNORECASE)
"""Between the ends of a range that is the only voltage: a converter makes the one of the other."""
_ONLY_ASKS = re.compile(
    r"[\W_]|[设计一个款做搭给来要想请帮我把将从由用能的直流电路模块]|"
    r"(?<![a-z])(?:an?|the|i|we|me|want|need|please|design|make|build|get|give|convert|converts|turn|from|dc|circuit|"
    r"module)(?![a-z])",
    re.IGNORECASE,
)
"""Beside two voltages: words that only ask for a circuit."""
_JOINS = re.compile(r"(?:[\s>-]|to|into|from|down|up|[转变换降升压成为到至])+", re.IGNORECASE)
_LEAST_V, _MAINS_V = 0.5, 60.0
"""Between them a voltage is a supply of electronics."""
_MADE_FROM = re.compile(
    r"(?:,?\s*(?:at\s|@\s?)?[\d.]+\s?m?a(?:mps?)?(?![a-z]))?\s*(?:out(?:put)?\s)?from\s(?:an?\s|the\s)?\+?",
    re.IGNORECASE,
)
"""Between the output and the input: "5.1 V from 12 V", "9 V 1 A from 12 V"."""
_HAS = re.compile(
    r"(?:(?<![a-z])(?:have|has|got|given)(?![a-z])|brick|adapt[eo]r|battery|(?<![a-z])usb(?![a-z])|"
    r"[有用](?:一个)?|适配器|电池)[^\d,;。]{0,16}$",
    re.IGNORECASE,
)
_WANTED = re.compile(
    r"[^\d]{0,24}(?:(?<![a-z])(?:needs?|wants?|gets?|requires?|makes?|gives?)(?![a-z])|要|需要|得到|变成|想要)[^\d]{0,12}",
    re.IGNORECASE,
)
"""`I have a 19 V brick and need 12 V`: what stands in front of the input, and between it and the output."""
_CALLED_INPUT = re.compile(
    r"\s*(?:in(?:put)?(?![a-z])\s*(?:$|[,.;:/(]|and\b|voltage|range)|输入)", re.IGNORECASE
)
"""Behind a range of voltages: "9 to 16 V in, 12 V out"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """What a sentence about a converter says."""

    values: dict[str, Mention]
    """By slot; the two voltages only where the sentence says them."""
    input_range: tuple[float, float] | None
    """Least and greatest input (V)."""
    unused: tuple[Mention, ...]
    notes: tuple[Message, ...]


def read_conversion(sentence: Sentence, slots: Sequence[Slot]) -> Conversion:
    """The two voltages and every other slot; the percentage behind the output is its ``tolerance``."""
    sentence = _ranges_joined(sentence)
    known = _linked(sentence)
    spreads = _spreads(sentence)
    rest = [mention for mention in sentence.mentions if mention not in known.values()]
    span = next((mention for mention in rest if mention.dimension == "V" and mention.upper is not None), None)
    if span is not None and _is_from_to(sentence, span):
        known |= {
            INPUT: replace(span, upper=None),
            OUTPUT: replace(span, value=span.upper or 0.0, upper=None),
        }
        rest.remove(span)
        span = None
    if span is not None:
        rest.remove(span)
    filled = fill_slots(sentence, [slot for slot in slots if slot.name not in known], rest)
    known |= {name: filled.values[name] for name in (INPUT, OUTPUT) if name in filled.values}
    spare = [mention for mention in filled.unused if mention.dimension == "V"]
    if span is not None:
        _use_span(known, span, spare)
    notes = _use_spare(known, spare)
    values = {**filled.values, **known}
    low = high = None
    if (source := known.get(INPUT)) is not None:
        reach = source if span is None or source.upper is not None else span
        low, high = reach.value, reach.value if reach.upper is None else reach.upper
        if (spread := spreads.get(source)) is not None and low == high:
            low, high = low * (1 - spread.value), high * (1 + spread.value)
            values = {name: mention for name, mention in values.items() if mention != spread}
    if OUTPUT in known and (spread := spreads.get(known[OUTPUT])) is not None:
        values["tolerance"] = spread
    used = {*known.values(), *spreads.values()}
    return Conversion(
        values=values,
        input_range=None if low is None or high is None else (low, high),
        unused=tuple(
            mention
            for mention in filled.unused
            if mention not in used and not any(_is_same(mention, each) for each in values.values())
        ),
        notes=tuple(notes),
    )


def _is_same(one: Mention, other: Mention) -> bool:
    """Whether a figure is said twice: "a 5 V booster, 3 V to 5 V"."""
    return one.dimension == other.dimension and one.middle == other.middle


def is_linked(sentence: Sentence) -> bool:
    """`12 V -> 5 V`, `5 V from 12 V`, `I have 12 V and need 5 V`: two voltages in one expression."""
    return any(each.dimension == "V" for each in _linked(sentence).values())


def is_bare_conversion(sentence: Sentence) -> bool:
    """`12V转3.3V`, `convert 12 V to 5 V`: a supply made of another, and not a word of a circuit."""
    ends = _linked(sentence)
    if len(sentence.mentions) != 2 or any(
        each.dimension != "V" or each.upper is not None or not _LEAST_V <= abs(each.value) < _MAINS_V
        for each in ends.values()
    ):
        return False
    first, second = sentence.mentions
    beside = f"{sentence.text[: first.start]} {sentence.text[second.end :]}"
    is_joined = _JOINS.fullmatch(sentence.text, first.end, second.start)
    return bool(ends and is_joined) and not _ONLY_ASKS.sub("", beside)


def _linked(sentence: Sentence) -> dict[str, Mention]:
    """`12 V -> 5 V`, `12V转5V`, `12-5 V`: input and output in one expression."""
    for index, _ in sentence.links:
        left, right = sentence.mentions[index], sentence.mentions[index + 1]
        if left.dimension == right.dimension and left.dimension in ("V", "none"):
            return {INPUT: left, OUTPUT: right}
    volts = sentence.of("V")
    for output, source in pairwise(volts):
        if (
            len(volts) == 2
            and source.upper is None
            and _MADE_FROM.fullmatch(sentence.text, output.end, source.start)
        ):
            return {INPUT: source, OUTPUT: output}
    for source, output in pairwise(volts):
        if (
            len(volts) == 2
            and output.upper is None
            and _HAS.search(sentence.text, 0, source.start)
            and _WANTED.fullmatch(sentence.text, source.end, output.start)
        ):
            return {INPUT: source, OUTPUT: output}
    return {}


def _is_from_to(sentence: Sentence, span: Mention) -> bool:
    """`a converter from 3.3 V to 5 V`: no range of the input when nothing else is in volts."""
    is_alone = len(sentence.of("V")) == 1 and not sentence.has(r"input|输入|range|范围")
    is_said = re.search(r"(?:from|由|从|将|把)\s*$", sentence.text[: span.start], re.I) is not None
    return is_alone and (
        is_said or _FROM_ONE_TO_ANOTHER.search(sentence.text, span.start, span.end) is not None
    )


def _ranges_joined(sentence: Sentence) -> Sentence:
    """The sentence with "9 to 16 V" as one range: with a third, lower voltage beside it, or called the input,
    it is not from one to the other."""
    for index, kind in sentence.links:
        left, right = sentence.mentions[index], sentence.mentions[index + 1]
        others = [
            mention
            for mention in sentence.of("V")
            if mention not in (left, right)
            and not _NO_SUPPLY.search(sentence.text, max(0, mention.start - 20), mention.start)
            and not _NO_SUPPLY.match(sentence.text, mention.end + _gap(sentence.text, mention.end))
        ]
        is_rising = left.dimension == right.dimension == "V" and left.value < right.value
        is_input = _CALLED_INPUT.match(sentence.text, right.end) is not None and bool(others)
        is_range = is_input or any(
            mention.value < left.value or left.value < mention.value < right.value for mention in others
        )
        if kind == "to" and is_rising and is_range:
            span = replace(left, upper=right.value, end=right.end, bound=None)
            mentions = (*sentence.mentions[:index], span, *sentence.mentions[index + 2 :])
            links = tuple((i - (i > index), k) for i, k in sentence.links if i != index)
            return replace(sentence, mentions=mentions, links=links)
    return sentence


def _gap(text: str, start: int) -> int:
    """Characters between a number and the word behind it."""
    return re.match(r"\s*(?:p-?p|of|output|的)*\s*", text[start:]).end()  # type: ignore[union-attr]


def _spreads(sentence: Sentence) -> dict[Mention, Mention]:
    """The percentage written straight behind a voltage: `12 V ± 10 %`."""
    pairs = zip(sentence.mentions, sentence.mentions[1:], strict=False)
    return {
        left: right
        for left, right in pairs
        if left.dimension == "V"
        and right.dimension == "%"
        and right.is_tolerance
        and not sentence.text[left.end : right.start].strip("±+/-( ")
    }


def _use_span(known: dict[str, Mention], span: Mention, spare: Sequence[Mention]) -> None:
    """A range is the input; a voltage that was taken for the input is the output where it lies outside of the
    range ("9-36V input buck 5V"), or nothing else is left to be it ("8-16V in, steady 12 V out").
    """
    taken, upper = known.get(INPUT), span.upper or span.value
    is_within = taken is not None and span.value <= taken.value <= upper
    if taken is not None and OUTPUT not in known and not (is_within and spare):
        known[OUTPUT] = known.pop(INPUT)
    known.setdefault(INPUT, span)


def _use_spare(known: dict[str, Mention], spare: Sequence[Mention]) -> list[Message]:
    """Voltages no word names: the one that is missing, or the larger one is the input."""
    taken = known.get(INPUT)
    if taken is not None and taken.value < 0 and OUTPUT not in known:
        known[OUTPUT] = known.pop(INPUT)  # no converter of ours starts from less than nothing
    below = next((mention for mention in spare if mention.value < 0), None)
    if below is not None and OUTPUT not in known:
        known[OUTPUT] = below
        spare = [mention for mention in spare if mention is not below]
    missing = [name for name in (INPUT, OUTPUT) if name not in known]
    if len(missing) == 1 and spare:
        known[missing[0]] = spare[0]
    elif len(missing) == 2 and len(spare) >= 2:
        low, high = sorted(spare[:2], key=lambda mention: mention.value)
        known |= {INPUT: high, OUTPUT: low}
        return [
            msg(
                "{high} V is taken as the input and {low} V as the output.",
                high=f"{high.value:g}",
                low=f"{low.value:g}",
            )
        ]
    return []
