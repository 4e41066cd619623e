"""Of which kind a text is, by its likeness to texts whose kind is known.

Naive Bayes over words and pairs of neighbors (Chinese: characters), each counted once a text: Manning,
Raghavan and Schütze, Introduction to Information Retrieval, 13.2. Kinds are taken to be equally frequent: how
often one is among the known texts says nothing of how often people type it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_NON = re.compile(r"\bnon[\s-]+(?=[a-z])")
"""Of one word: what inverts speaks for nothing that does not."""
_ELEMENT = re.compile(r"\b[rcldqumjvx]\d{1,3}\b")
_ASKED_FIGURE = re.compile(
    r"[-+±]?\s?\d+(?:[.,]\d+)?\s*(%|percent|db[mcvu]?\b|[kmg]?hz|[mu]?v(?:pp|rms|ac)?\b|[munp]?a\b|[mu]?w\b|度|deg\w*|伏|安|赫|毫\w)"
)
"""With a unit in which goals are given."""
_PART_VALUE = re.compile(r"\d+(?:\.\d+)?\s*([kmunp]?(?:ohms?|f|h)\b|[kmunp]\b|meg\b|欧|千欧)")
"""With a unit of resistors, capacitors and inductors, or with a prefix alone."""
_FIGURE = re.compile(r"\d+(?:\.\d+)?")
_WORD = re.compile(r"[a-z']+|[@#]\w*%?|[\u4e00-\u9fff]|[?!%.,，。？！±]")
_LONGEST = 400
"""Characters that are looked at."""
_SMOOTHING = 1.0
"""By how much of its share among all texts a feature is taken to occur in each kind besides."""
_LEAST = 0.005


class Likeness(NamedTuple):
    """The likeliest kind of a text."""

    kind: str
    lead: float
    """By how many nats it is more likely than the next."""


class KnownTexts:
    """Texts whose kind is known; what is counted of them is kept, not they themselves."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        """`texts` are pairs of a kind and a text, of at least two kinds. Takes some 30 us a text."""
        self._texts: Counter[str] = Counter()
        self._with: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """By feature: how many texts of each kind have it."""
        for kind, text in texts:
            self._texts[kind] += 1
            for feature in features(text):
                self._with[feature][kind] += 1
        if len(self._texts) < 2:
            raise ValueError("texts of at least two kinds are needed")

    def likeness(self, text: str) -> Likeness:
        """The kind whose known texts `text` is most like; of a text with nothing known any, with lead 0."""
        scores = dict.fromkeys(self._texts, 0.0)
        for feature in features(text):
            if (found := self._with.get(feature)) is not None:
                for kind, chance in self._chances(found).items():
                    scores[kind] += math.log(chance)
        (kind, best), (_, second) = sorted(scores.items(), key=lambda each: -each[1])[:2]
        return Likeness(kind, best - second)

    def _chances(self, found: Mapping[str, int]) -> dict[str, float]:
        """How likely a feature is in a text of each kind."""
        everywhere = sum(found.values()) / self._texts.total()
        return {
            kind: (found.get(kind, 0) + _SMOOTHING * everywhere + _LEAST) / (number + _SMOOTHING)
            for kind, number in self._texts.items()
        }


def features(text: str) -> set[str]:
    """What is looked at of a text: its words and pairs of neighbors, figures by their units."""
    shown = text[:_LONGEST].lower().replace("’", "'")
    shown = _NON.sub("non", shown)
    shown = _ELEMENT.sub(" @element ", shown)
    shown = _ASKED_FIGURE.sub(r" #asked\1 ", shown)
    shown = _PART_VALUE.sub(r" #value\1 ", shown)
    words = ["<", *_WORD.findall(_FIGURE.sub(" # ", shown)), ">"]
    return {*words, *(f"{first} {second}" for first, second in itertools.pairwise(words))}
