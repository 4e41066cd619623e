"""What known requests teach of a new one: which circuit its words speak for, and where its figures belong."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from domain.design import placing
from domain.design.learnt import Weights
from domain.design.likeness import features
from domain.design.sentence import Sentence
from domain.design.understanding import Slot

NO_REQUEST = "-"
"""The kind of what asks for no circuit that can be designed."""
_SCALE = 4.0
_STEM = 5
"""Letters by which forms of a word are one."""
_LONG_WORD = re.compile(rf"[a-z]{{{_STEM},}}")
_WORD = re.compile(r"[a-z']{3,}")
_EMPTY = frozenset(
    ("the", "and", "for", "with", "from", "that", "need", "want", "please", "should", "this", "have", "into")
)
_LONGEST = 600
"""Characters in which words are looked for that stand apart."""
_LETTERS = re.compile(r"[a-z]{3,}")
_PART = 4
_RUN = re.compile(r"[\u4e00-\u9fff]{3,}")
_TOLD = re.compile(r"[a-z]{3,}(?: [a-z]{3,})?|[\u4e00-\u9fff]{3}|[\u4e00-\u9fff] [\u4e00-\u9fff]")
"""A feature that is a word to show."""


class KnownRequests:
    """What `scripts/learn_requests.py` found in ``resources/known_texts/request.*.tsv``."""

    def __init__(self, kinds: Weights, figures: Weights) -> None:
        self._kinds = kinds
        self._figures = figures

    def likely(self, text: str, sentence: Sentence) -> dict[str, float]:
        """By kind (the key of a family, `NO_REQUEST`) how likely it is, as the logarithm. `sentence`:
        the text as it was read."""
        found = kind_features(text, sentence)
        scale = weight_of(len(found))
        scores = self._kinds.scores([""], self._kinds.classes)
        for kind, nats in self._kinds.scores(found, self._kinds.classes).items():
            scores[kind] += scale * nats
        return placing.normalised(scores)

    def knows(self, kind: str) -> bool:
        """Whether something was learnt of a kind."""
        return kind in self._kinds.classes

    def telling(self, text: str, kind: str, most: int) -> list[str]:
        """The words of `text` that speak for a kind more than for any other, the clearest first."""
        found: list[tuple[float, str]] = []
        for feature in _of_words(text):
            weights = dict(self._kinds.of(feature))
            mine = weights.pop(kind, 0.0)
            if mine > max(weights.values(), default=0.0) and _TOLD.fullmatch(feature):
                found.append((mine, feature))
        words: list[str] = []
        for _, feature in sorted(found, key=lambda each: (-each[0], each[1])):
            word = feature if feature.isascii() else feature.replace(" ", "")
            if not any(word in other or other in word for other in words):
                words.append(word)
        return words[:most]

    def placed(self, sentence: Sentence, family: str, slots: Sequence[Slot]) -> Sentence:
        """The sentence with what its words say of where figures belong, read as a request for a family."""
        return placing.placed(sentence, self._figures, family, slots)


def kind_features(text: str, sentence: Sentence) -> set[str]:
    """What is looked at to tell which circuit is meant."""
    return {*_of_words(text), *_of_figures(sentence)}


def _of_words(text: str) -> set[str]:
    low = text.lower()
    words = [word for word in _WORD.findall(low[:_LONGEST]) if word not in _EMPTY]
    return {
        *features(text),
        *(f"~{word[:_STEM]}" for word in _LONG_WORD.findall(low)),
        *(f"%{each}" for word in _LETTERS.findall(low) for each in _parts(word)),
        *(f"{word}..{other}" for place, word in enumerate(words) for other in words[place + 2 : place + 4]),
        *(run[place : place + 3] for run in _RUN.findall(low) for place in range(len(run) - 2)),
    }


def _parts(word: str) -> Iterator[str]:
    """Of a word with its ends marked: misspelt and put together it has most of them still."""
    marked = f"_{word}_"
    return (marked[place : place + _PART] for place in range(len(marked) - _PART + 1))


def _of_figures(sentence: Sentence) -> Iterator[str]:
    """Units, how often each occurs, sizes, signs, and which of two is the larger."""
    for dimension, number in Counter(each.dimension for each in sentence.mentions).items():
        alike = [each for each in sentence.mentions if each.dimension == dimension]
        yield f"{min(number, 4)}x{dimension}"
        for one, other in pairwise(alike):
            yield f"{dimension}{'<' if abs(one.middle) < abs(other.middle) else '>='}"
            yield f"{number}x{dimension}{'<' if abs(one.middle) < abs(other.middle) else '>='}"
        for each in alike:
            size = abs(each.middle)
            yield f"{dimension}{'-' if each.value < 0 else ''}e{round(math.log10(size)) if size else 0}"
            if each.value < 0:
                yield f"-{dimension}"
            if each.upper is not None:
                yield f"..{dimension}"


def weight_of(number: int) -> float:
    """What each of a number of features counts: a long text does not speak louder than a short one."""
    return _SCALE / math.sqrt(max(number, 1))
