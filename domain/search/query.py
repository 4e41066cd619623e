"""What a search looks for, and whether a line has it.

Texts are compared folded: letter case does not count, and the two Unicode spellings of an accented
letter are one. A pattern sees the lines as they are.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Scope = Literal["code", "docs", "all"]
SearchType = Literal["all", "name", "content", "regex", "symbol"]
"""all: symbols, names and contents; the others one of these."""
MatchType = Literal["symbol", "name", "exact", "regex", "words", "ranked"]
"""words: a line with all words of the query; ranked: a part of a file with most of them."""

_LONGEST_LINE = 2000
"""Characters of a line that a pattern sees."""
_PATTERN = re.compile(r"/(.+)/i?", re.DOTALL)
_WORD = re.compile(r"[^\W_][\w.#$@+\-]*|\S+")
_QUOTED_OR_WORD = re.compile(r'["“]([^"“”]+)["”]|(\S+)')
_CJK = re.compile(r"[\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_CJK_RUN = re.compile(f"{_CJK.pattern}+")
_TRIMMED = " \t\r\n.,;:!?\"'()。，；：！？“”（）、"


@dataclass(frozen=True)
class SearchQuery:
    """One search."""

    text: str
    kind: SearchType = "all"
    scope: Scope = "all"
    suffixes: tuple[str, ...] = ()
    """Lower case with their dot; only files that end so. () = all."""
    is_case_sensitive: bool = False
    most: int = 10
    """Matches to return."""

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """The regular expression, None for plain text. Raises what `pattern_of` raises."""
        if self.kind == "regex":
            return compiled(self.text, is_case_sensitive=self.is_case_sensitive)
        return pattern_of(self.text) if self.kind == "all" else None

    @cached_property
    def wanted(self) -> str:
        return self._shape(self.text.strip())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words, folded; Chinese characters as their pairs, since nothing parts those words."""
        return words_of(self.text)

    def in_name(self, name: str) -> bool:
        """Whether a file's name has it."""
        if self.pattern is not None:
            return self.pattern.search(name) is not None
        return self.wanted in self._shape(name)

    def may_be_in(self, text: str) -> bool:
        """Whether one of the text's lines can have it; False is certain."""
        return self.pattern is not None or self.wanted in self._shape(text)

    def lines(self, lines: Sequence[str]) -> Iterator[tuple[int, str, MatchType]]:
        """Places that have it: position in `lines`, the line (a piece of a long one), "exact" or "regex"."""
        pattern = self.pattern
        if pattern is not None:
            for position, line in enumerate(lines):
                if pattern.search(line[:_LONGEST_LINE]):
                    yield position, line, "regex"
            return
        for position, line in enumerate(lines):
            place = self._shape(line).find(self.wanted)
            if place >= 0:
                yield position, around(line, place), "exact"

    def lines_with_words(self, lines: Sequence[str]) -> Iterator[tuple[int, str, MatchType]]:
        """Lines with all of several blank-separated words."""
        words = fold(self.text).split()
        if len(words) < 2 or self.pattern is not None:
            return
        for position, line in enumerate(lines):
            folded = fold(line)
            if all(word in folded for word in words):
                yield position, line, "words"

    def best_line(self, lines: Sequence[str]) -> tuple[int, int]:
        """The line with most of the words: its position, and how many of them the lines have together.

        Of several the first that is no heading: what stands below one says more.
        """
        folded = [fold(line) for line in lines]
        there = [word for word in self.words if any(word in line for line in folded)]
        counts = [
            (sum(word in line for word in there), not line.lstrip().startswith("#")) for line in folded
        ] or [(0, True)]
        return counts.index(max(counts)), len(there)

    def _shape(self, text: str) -> str:
        return unicodedata.normalize("NFC", text) if self.is_case_sensitive else fold(text)


def fold(text: str) -> str:
    """`text` as it is compared: composed, letter case folded (µ and μ are one too)."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def words_of(text: str) -> tuple[str, ...]:
    """The folded words of a text, each once; runs of Chinese characters as their pairs."""
    found: dict[str, None] = {}
    for word in (item.strip(_TRIMMED) for item in _WORD.findall(fold(text))):
        for run in _CJK_RUN.findall(word):
            found.update(dict.fromkeys([run[i : i + 2] for i in range(len(run) - 1)] or [run]))
        for rest in _CJK_RUN.split(word):
            if rest.strip(_TRIMMED):
                found[rest.strip(_TRIMMED)] = None
    return tuple(found)


def quoted_words(text: str) -> tuple[str, ...]:
    """The folded words of a text, each once, as blanks part them; what stands in quotes is one."""
    found = ((quoted or word).strip() for quoted, word in _QUOTED_OR_WORD.findall(fold(text)))
    return tuple(dict.fromkeys(word for word in found if word.strip('"')))


def spread(text: str, filler: str) -> str:
    """`text` with `filler` behind each Chinese character."""
    return text if text.isascii() else _CJK.sub(lambda match: match[0] + filler, text)


def pattern_of(query: str) -> re.Pattern[str] | None:
    """The pattern of a query written ``/like this/``, None for plain text. Raises what `compiled` raises."""
    match = _PATTERN.fullmatch(query.strip())
    return None if match is None else compiled(match[1], is_case_sensitive=False)


def compiled(pattern: str, *, is_case_sensitive: bool) -> re.Pattern[str]:
    """A regular expression. Raises re.error, RecursionError, OverflowError."""
    with warnings.catch_warnings():  # "[[" may mean something else in a later Python
        warnings.simplefilter("ignore")
        return re.compile(pattern, 0 if is_case_sensitive else re.IGNORECASE)


def around(line: str, position: int, most: int = 200) -> str:
    """The piece of a very long line that shows the place."""
    return line if len(line) <= most else line[max(position - most // 4, 0) :]


_K = 60.0
"""Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet ...", SIGIR 2009."""


def reciprocal_rank_fusion(rankings: Iterable[Sequence[Hashable]]) -> dict[Hashable, float]:
    """The score of each item: the sum of 1 / (60 + rank) over the rankings it is in, ranks from 1.

    The best first; of equal ones the one that came first. An item counts once a ranking, at its best rank.
    """
    scores: dict[Hashable, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (_K + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))
