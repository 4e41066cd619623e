"""Which words of a sentence a goal was read from, to be shown beside it."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher

from domain.design.sentence import LONGEST_REQUEST, Mention, Sentence, read_sentence
from domain.simulation.goals import DesignGoal

_CLAUSE_END = re.compile(r"[,;:。、!?()]|\.(?!\d)|\b(?:and|with|but)\b|并且|而且|以及|且")
_NEAR_DB = 0.005
"""A gain that is measured where it has not quite come up is still the one that was said."""
_MOST = 28
"""Characters: longer clauses are cut to the words around the number."""


def with_words(goals: Iterable[DesignGoal], sentence: Sentence, said: str) -> tuple[DesignGoal, ...]:
    """The goals, each that was said with the words that hold its number (if one of its figures is there),
    as they stand in what was `said`, of which the sentence was made."""
    found = (_with_words(goal, sentence) if goal.stated else goal for goal in goals)
    return tuple(replace(goal, words=_as_written(goal.words, sentence.text, said)) for goal in found)


def _as_written(words: str, plain: str, said: str) -> str:
    """The part of `said` that became these words of the plain text: 2阶 was written 二阶."""
    place = re.search(r"\s+".join(map(re.escape, words.split())), plain)
    if words in said or place is None or not words:
        return words
    start, behind = place.span()
    begin, end = 0, len(said)
    for mine, its, length in SequenceMatcher(None, plain, said, autojunk=False).get_matching_blocks():
        if mine <= start:
            begin = its + min(start - mine, length)
        if mine + length >= behind:
            end = its + max(behind - mine, 0)
            break
    return " ".join(said[begin:end].split())


def in_words_of(goals: Iterable[DesignGoal], text: str) -> tuple[DesignGoal, ...]:
    """Goals that a model read from a text, none with words that do not stand there.

    In their place the words that hold its figure; a goal of which nothing stands there was not said.
    """
    sentence, plain = read_sentence(text[:LONGEST_REQUEST]), _plain(text)
    return tuple(
        _as_said(goal, sentence) if goal.stated and goal.words and not _stands_in(goal.words, plain) else goal
        for goal in goals
    )


def _stands_in(words: str, plain: str) -> bool:
    """Whether all that is quoted, from maybe two places, stands in a text."""
    return all(_plain(each) in plain for each in words.split(";"))


def _as_said(goal: DesignGoal, sentence: Sentence) -> DesignGoal:
    found = _with_words(replace(goal, words=""), sentence)
    return found if found.words else replace(found, stated=False)


def _plain(text: str) -> str:
    """As it is compared: what is quoted may differ in case, blanks, width and punctuation."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _with_words(goal: DesignGoal, sentence: Sentence) -> DesignGoal:
    for value in _figures(goal):
        for mention in sentence.mentions:
            if _says(mention, value, goal):
                return replace(goal, words=_clause(sentence, mention))
    return goal


def _figures(goal: DesignGoal) -> Iterator[float]:
    for value in (goal.target, goal.maximum, goal.minimum):
        if value is not None:
            yield value


def _says(mention: Mention, value: float, goal: DesignGoal) -> bool:
    """Whether a number in the sentence is this figure, perhaps as a ratio for decibels, in decibels for a
    gain, or of another sign."""
    unit = goal.unit
    if mention.is_tolerance:
        return False
    if mention.dimension == "dB" and unit == "1" and value:
        if "gain" not in goal.metric.lower():
            return False  # a Q of 10 is not the 20 dB beside it
        return math.isclose(20 * math.log10(abs(value)), mention.value, rel_tol=1e-6)
    if mention.dimension in ("x", "none") and unit == "dB" and mention.value > 0:
        return math.isclose(20 * math.log10(mention.value), value, rel_tol=1e-6)
    if mention.dimension not in (unit, "none") and not (mention.dimension in ("%", "x") and unit == "1"):
        return False
    said = [mention.value, mention.middle, *([] if mention.upper is None else [mention.upper])]
    near = _NEAR_DB if unit == "dB" else 0.0
    return any(math.isclose(abs(value), abs(number), rel_tol=1e-6, abs_tol=near) for number in said)


def _clause(sentence: Sentence, mention: Mention) -> str:
    """The words around a number, up to the next punctuation; no other figure is cut in two."""
    text = sentence.text
    start = max((found.end() for found in _CLAUSE_END.finditer(text, 0, mention.start)), default=0)
    following = _CLAUSE_END.search(text, mention.end)
    end = len(text) if following is None else following.start()
    if end - start > _MOST:
        place = max(start, mention.start - _MOST // 2)
        cut = next((each for each in sentence.mentions if each.start < place < each.end), None)
        start = _word_start(text, place) if cut is None or cut == mention else cut.end
        end = mention.end
    return " ".join(text[start:end].split())


def _word_start(text: str, place: int) -> int:
    """The beginning of the next whole word (Han characters are words)."""
    while 0 < place < len(text) and text[place - 1].isascii() and text[place - 1].isalnum():
        place += 1
    return place
