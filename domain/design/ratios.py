"""A ratio that two quantities say: "20 mV full scale should become 4 V", "10 uA max gives 2.5 V".

For circuits whose gain or transimpedance nothing else in the sentence states.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from domain.design.sentence import Dimension, Mention, Sentence
from domain.design.understanding import Slot, fill_slots

_BECOMES = re.compile(
    r"(?<![a-z])(?:(?:in)?to|becomes?|gives?|makes?|get|yields?|wants?|needs?|for|out)(?![a-z])|->|=>"
    r"|[到成变为得要出]|对应|输出",
    re.IGNORECASE,
)
_LONGEST = 60
"""Characters between the two."""
_OF_SUPPLY = re.compile(
    r"(?:suppl\w+|rails?|powered|fed|runs?|vcc|vdd|供电|电源|单电源|电压为|±|\+/-)[^\d,;，；。]{0,12}$",
    re.IGNORECASE,
)
_SUPPLY_BEHIND = re.compile(
    r"\s*(?:single[\s-])?(?:suppl|rail|bridge|excit|powered|供电|电源|单电源|激励)", re.IGNORECASE
)


def with_ratio(
    sentence: Sentence, slot: Slot, of: Dimension, to: Dimension, dimension: Dimension
) -> Sentence:
    """The sentence with the only such pair as one quantity of `slot`; itself where the slot is filled anyhow.

    Of a range the upper end counts, and a sign is left out: a gain's is the circuit's own.
    """
    if slot.name in fill_slots(sentence, [slot]).values:
        return sentence
    found = [
        (first, second)
        for first, second in pairwise(_told(sentence, (of, to)))
        if first.dimension == of and second.dimension == to and _is_ratio(sentence.text, first, second)
    ]
    if len(found) != 1:
        return sentence
    ((low, high),) = found
    size = abs(high.upper or high.value) / abs(low.upper or low.value)
    text = f"{low.text} - {high.text}"
    ratio = replace(
        low, value=float(f"{size:.12g}"), upper=None, dimension=dimension, text=text, bound=None,
        is_tolerance=False,
    )  # fmt: skip
    mentions = tuple(ratio if each is low else each for each in sentence.mentions if each is not high)
    return replace(sentence, mentions=mentions, links=())


def _told(sentence: Sentence, dimensions: Sequence[Dimension]) -> list[Mention]:
    """Quantities of these units that are no supply."""
    return [
        each
        for each in sentence.mentions
        if each.dimension in dimensions
        and (each.upper or each.value)
        and not _OF_SUPPLY.search(sentence.text, max(0, each.start - 24), each.start)
        and not _SUPPLY_BEHIND.match(sentence.text, each.end)
    ]


def _is_ratio(text: str, low: Mention, high: Mention) -> bool:
    between = text[low.end : high.start]
    return len(between) <= _LONGEST and _BECOMES.search(between) is not None
