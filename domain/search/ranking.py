"""Which passages of a project answer a sentence, and what of them is shown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from domain.circuit.netlist import CIRCUIT_SUFFIXES
from domain.search.query import Term, fold

_HYPHEN = re.escape("-")
_SATURATION = 1.2
_LENGTH = 0.5
_USUAL_LENGTH = 700
"""BM25's k1 and b (Robertson and Zaragoza, 2009), and the characters of a usual passage."""
_OF_PLACE = 1.5
_OF_DEFINITION = 2.0
"""A word in the file's name or the heading, and a name's definition, count as so many in the text."""
_LEAST_SHARE = 0.3
"""Of the sentence's weight that a passage must have: less is chance."""
_NAMED_BY = 2
"""So many words in a name, a title or a heading are no chance: half of it does."""
_LEAST_OF_BEST = 0.35
_LEAST_OF_NAME = 1.5
_LONGEST_TITLE = 120
_FEW = 2
_LONG_NAME = 4
"""Characters from which on the beginning of a circuit's name tells it."""
_MOST_MEANT = 6_000
"""Characters of circuits whose own names the sentence has, by a word that is not in every circuit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a file's text."""

    source: str
    """The file, relative to the project."""
    line: int
    """Its first line, from 1; in a PDF within the page."""
    text: str
    page: int | None = None
    section: str = ""
    defines: tuple[str, ...] = ()
    """Folded names that are defined in it, of those asked for."""
    is_meant: bool = False
    """It is of a circuit whose name is in the sentence."""


def rank(
    passages: Sequence[Passage], terms: Sequence[Term], *, counts: Mapping[str, int], total: int
) -> list[Passage]:
    """Those that speak of what was asked, the best first.

    `counts` is in how many of `total` passages of the project a spelling stands. What hardly has a share of
    the sentence is left out, so that a sentence about something else finds nothing; but not the circuits that
    are named in it ("the flyback" is flyback.net), since what is asked of them need not be said in its words.
    """
    if not terms or not passages:
        return []
    weights = [term.weight * _rarity(term, counts, total) for term in terms]
    whole = sum(weights)
    scored: list[tuple[float, int, Passage]] = []
    meant = _meant(passages, terms)
    for passage in passages:
        if not passage.text.strip():
            continue
        text, place = fold(passage.text), fold(f"{passage.source} {passage.section} {_title(passage)}")
        place += " " + place.replace("_", " ")  # pulse_gen3 is a name, and two words
        length = 1 - _LENGTH + _LENGTH * len(text) / _USUAL_LENGTH
        score = share = 0.0
        in_place = 0
        for term, weight in zip(terms, weights, strict=True):
            pattern = pattern_of(term)
            times = len(pattern.findall(text))
            is_there = pattern.search(place) is not None
            in_place += is_there
            named = _OF_PLACE * is_there
            named += _OF_DEFINITION * any(spelling in passage.defines for spelling in term.spellings)
            if times or named:
                share += weight
                score += weight * times * (_SATURATION + 1) / (times + _SATURATION * length)
                score += weight * named * (_SATURATION + 1) / (named + _SATURATION)
        is_meant = passage.source in meant
        least = _LEAST_SHARE if in_place < _NAMED_BY else _LEAST_SHARE / 2
        if is_meant or share >= least * whole:
            scored.append((score * share / whole, -passage.line, replace(passage, is_meant=is_meant)))
    scored.sort(key=lambda each: each[:2], reverse=True)
    room, kept = _MOST_MEANT, []
    for score, _, passage in scored:
        room -= len(passage.text) if passage.is_meant else 0
        if score >= _LEAST_OF_BEST * scored[0][0] or (passage.is_meant and room >= 0):
            kept.append(passage if room >= 0 else replace(passage, is_meant=False))
    return kept


def _meant(passages: Sequence[Passage], terms: Sequence[Term]) -> set[str]:
    """The circuits whose names the sentence has: "AD847" is ad847a.cir; by a plain word few have."""
    own = {source: name for source in {each.source for each in passages} if (name := _own_name(source))}
    found: set[str] = set()
    for term in terms:
        is_begin = term.is_name and any(len(each) >= _LONG_NAME for each in term.spellings)
        pattern = pattern_of(replace(term, is_name=False) if is_begin else term)
        those = {source for source, name in own.items() if pattern.search(name)}
        is_ordinary = term.weight >= 1 and max(map(len, term.spellings)) > _LONG_NAME
        if term.weight >= _LEAST_OF_NAME or (is_ordinary and len(those) <= _FEW):
            found |= those
    return found


def _title(passage: Passage) -> str:
    """A netlist's first words tell what it is, as a heading does."""
    is_head = passage.line == 1 and PurePosixPath(passage.source).suffix.lower() in CIRCUIT_SUFFIXES
    first = next((line for line in passage.text.split("\n") if line.strip(" *\t")), "") if is_head else ""
    return first[:_LONGEST_TITLE] if not first.startswith(".") or first.lower().startswith(".title") else ""


def _own_name(source: str) -> str:
    """The words of a circuit's name, folded; "" for other files."""
    path = PurePosixPath(source)
    if path.suffix.lower() not in CIRCUIT_SUFFIXES:
        return ""
    stem = fold(path.stem)
    return f"{stem} {path.name.lower()} {stem.replace('_', ' ')}"


def pattern_of(term: Term) -> re.Pattern[str]:
    """Finds a term in a folded text: names as whole words, other English words from their beginning.

    A type's number is found behind letters, too: "741" in ua741.
    """
    end = r"(?![a-z0-9_])" if term.is_name else ""
    spellings = (
        rf"(?<!{'[0-9]' if each.isdigit() else '[a-z0-9_]'}){re.escape(each).replace(_HYPHEN, '[- ]?')}{end}"
        if each.isascii()
        else re.escape(each)
        for each in term.spellings
    )
    return re.compile("|".join(spellings))


def _rarity(term: Term, counts: Mapping[str, int], total: int) -> float:
    """BM25's weight of a word by how few passages have it; a word nobody has counts as a rare one."""
    there = min(sum(counts.get(spelling, 0) for spelling in term.spellings), total)
    return math.log(1 + (total - there + 0.5) / (there + 0.5))


def excerpt(passage: Passage, terms: Sequence[Term], *, margin: int) -> list[tuple[int, str]]:
    """The passage's lines with one of the terms and `margin` around them, with their numbers."""
    lines = passage.text.split("\n")
    patterns = [*map(pattern_of, terms)]
    hits = [at for at, line in enumerate(lines) if any(pattern.search(fold(line)) for pattern in patterns)]
    shown = {near for at in hits for near in range(at - margin, at + margin + 1)} or {*range(3)}
    return [(passage.line + at, line) for at, line in enumerate(lines) if at in shown]
