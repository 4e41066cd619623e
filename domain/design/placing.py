"""Which quantity a figure is, by what stands around figures whose quantity is known.

A linear model over the words before and behind a figure, its size, and its place among the others of its
unit, for each family (a conditional logit: McFadden, "Conditional logit analysis of qualitative choice
behavior", 1974): only the quantities of the family that can have its unit are weighed against each other, and
none of them. `scripts/learn_requests.py` makes the weights.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from domain.design.learnt import Weights
from domain.design.sentence import Mention, Sentence
from domain.design.understanding import Slot

NOWHERE = ""
"""The quantity of a figure that is none of the circuit's."""
_WORD = re.compile(r"[a-z][a-z']*|[\u4e00-\u9fff]|\d+|[^\s\w]")
_BEFORE, _BEHIND = 48, 28
"""Characters around a figure that are looked at."""
_CLAUSE = re.compile(r"[,;。、:(\n]")
_NEAR = 3
"""Words whose place counts."""
_TINY = {"F", "H"}
"""Of these nobody writes a whole number without a scale."""
_SMALL = {"V", "A", "W", "s", *_TINY}
"""Of these nobody writes thousands without a unit: a cell of the 18650 type has no such voltage."""
_RATIOS = frozenset({"x", "dB", "none"})


def normalised(scores: Mapping[str, float]) -> dict[str, float]:
    """The logarithms of how likely each is, from what speaks for each."""
    most = max(scores.values())
    total = most + math.log(sum(math.exp(score - most) for score in scores.values()))
    return {name: score - total for name, score in scores.items()}


def may_be(mention: Mention, slot: Slot) -> bool:
    """Whether a figure's unit, or what may be meant where it has none, is one of a quantity's."""
    if mention.dimension in slot.dimensions:
        return True
    if slot.dimensions == ("%",) and mention.value >= 1:
        return False
    if (
        mention.dimension == "none"
        and not mention.may_be
        and set(slot.dimensions) <= _TINY
        and mention.value > 0.01
    ):
        return False
    if (
        mention.dimension == "none"
        and not mention.may_be
        and set(slot.dimensions) <= _SMALL
        and mention.value >= 1000
    ):
        return False
    if mention.dimension in _RATIOS and set(slot.dimensions) & {"x", "none"}:
        return mention.dimension != "dB" or "dB" in slot.dimensions
    return mention.dimension == "none" and (slot.takes_bare or bool(mention.may_be & set(slot.dimensions)))


def placed(sentence: Sentence, weights: Weights, family: str, slots: Sequence[Slot]) -> Sentence:
    """The sentence with what its words say of where its figures belong, read as a request for one family.
    `slots` are all quantities of the family."""

    @cache
    def costs(mention: Mention) -> Mapping[str, float]:
        names = [NOWHERE, *(slot.name for slot in slots if may_be(mention, slot))]
        scores = weights.scores(["", *figure_features(sentence, mention, family)], names)
        return {name: -nats for name, nats in normalised(scores).items()}

    return replace(sentence, unlikely=lambda mention, name: costs(mention).get(name))


def figure_features(sentence: Sentence, mention: Mention, family: str) -> set[str]:
    """What is looked at of a figure in a request for a family."""
    return {
        *_around(sentence, mention),
        *(each for kind in _of_figure(sentence, mention) for each in (kind, f"{family} {kind}")),
        family,
    }


def _of_figure(sentence: Sentence, mention: Mention) -> Iterator[str]:
    alike = [each for each in sentence.mentions if each.dimension == mention.dimension]
    yield f"={mention.dimension}"
    place = sum(each.start < mention.start for each in alike)
    yield f"#{mention.dimension}{min(place, 3)}/{min(len(alike), 4)}"
    sizes = sorted({abs(each.middle) for each in alike})
    rank = sizes.index(abs(mention.middle)) if abs(mention.middle) in sizes else 0
    yield f"^{mention.dimension}{min(rank, 3)}/{min(len(sizes), 4)}"
    size = abs(mention.middle)
    yield f"~{mention.dimension}{round(2 * math.log10(size)) if size > 0 else 0}"
    for is_so, sign in (
        (mention.value < 0, "-"),
        (mention.upper is not None, ".."),
        (mention.is_tolerance, "+-"),
        (mention.is_peak_to_peak, "pp"),
        (mention.is_rms, "rms"),
        (mention.bound is not None, f"{mention.bound}"),
    ):
        if is_so:
            yield f"{sign}{mention.dimension}"


def _around(sentence: Sentence, mention: Mention) -> Iterator[str]:
    text = sentence.text.lower()
    earlier = [each for each in sentence.mentions if each.end <= mention.start]
    later = [each for each in sentence.mentions if each.start >= mention.end]
    low = max(mention.start - _BEFORE, 0)
    if earlier and earlier[-1].end >= low:
        low = earlier[-1].end
        yield f"<{earlier[-1].dimension}"
    high = min(mention.end + _BEHIND, len(text))
    if later and later[0].start <= high:
        high = later[0].start
        yield f">{later[0].dimension}"
    yield from _words("<", _WORD.findall(text[low : mention.start])[::-1])
    yield from _words(">", _WORD.findall(text[mention.end : high]))
    unit = re.search(r"[a-zμΩ%°]+\S*$", mention.text)
    if unit:
        yield f"u{unit[0].lower()}"


def _words(side: str, words: Sequence[str]) -> Iterator[str]:
    """Nearest first; behind the end of a clause they count as of another one."""
    mark = side
    for place, word in enumerate(words):
        if place < _NEAR:
            yield f"{side}{place}{word}"
        yield f"{mark}{word}"
        if place:
            yield f"{mark}{word} {words[place - 1]}"
        if _CLAUSE.match(word):
            mark = f"{side}{side}"
