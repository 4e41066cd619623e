"""Finding a quoted passage in a text: exactly, by whole lines in looser forms, or what is most like it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

MatchLevel = Literal["exact", "trailing", "indent", "fuzzy"]
"""How loosely a passage was compared; see `domain.llm.tools.patching`."""
LooserReading = Literal["fuzzy", "case", "continuation"]
"""What would have matched: blanks apart, letter case apart, with ``+`` lines joined."""

MOST_TOLD = 50
"""How many of many places are told."""
_COMPARED_CHARACTERS = 400
"""Of a line, for likeness."""
_LEAST_LIKENESS = 55.0
_ANCHORS = 3
_CANDIDATES = 5
_COMPARED_LINES = 200
_MOST_COMPARED = 2_000_000
"""Hits times their length."""
_MOST_HITS = 20_000
_LINES_WITH_LIKENESS = 50_000
"""Of a longer text nothing similar is looked for: that would take seconds."""


class EndlessError(Exception):
    """A passage stands in so many places that not all of them were looked for."""

    def __init__(self, lines: tuple[int, ...]) -> None:
        super().__init__("too many places")
        self.lines = lines
        """Numbers of the first of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The passage most like what was looked for; lines count from 1."""

    first_line: int
    last_line: int
    text: str
    likeness: float
    """0..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Where a passage stands."""

    level: MatchLevel
    places: list[int]
    """Ascending, also those that overlap: positions in `Page.joined` for "exact", else indexes of lines."""
    height: int
    """How much each of them covers."""
    in_field: list[int]
    """Positions of an exact search that are inside a longer field."""

    def chosen(self, occurrence: int | None) -> list[int]:
        """The places to replace; none when that cannot be told."""
        if occurrence is None or (self.level == "fuzzy" and len(self.places) > 1):
            return self.places if len(self.places) == 1 else []
        chosen = _numbered(self.places, self.height, occurrence)
        if occurrence and self.in_field and self.level == "exact":
            # Whoever counted them may have counted those inside longer fields too.
            counted = _numbered(sorted(self.places + self.in_field), self.height, occurrence)
            return chosen if chosen == counted else []
        return chosen


def _numbered(places: Sequence[int], height: int, occurrence: int) -> list[int]:
    apart: list[int] = []
    for place in places:
        if not apart or place >= apart[-1] + height:
            apart.append(place)
    if occurrence == 0:
        return apart
    return apart[occurrence - 1 : occurrence] if occurrence > 0 else []


class Page:
    """A text as lines and their ends; ended by LF, and by CR only where there is no LF at all."""

    def __init__(self, text: str) -> None:
        self.text = text
        mark = "\r\n|\n" if "\n" in text else "\r"
        pieces = re.split(f"({mark})", text)
        self.lines: list[str] = pieces[::2]
        """Without their ends. The last one has none; it is empty when the text ends with a line end."""
        self.ends: list[str] = [*pieces[1::2], ""]

    @classmethod
    def of_lines(cls, lines: Sequence[str]) -> Page:
        """A page of these lines, whatever is in them."""
        page = cls("")
        page.lines, page.ends = [*lines, ""], [*("\n" for _ in lines), ""]
        page.text = "".join(line + "\n" for line in lines)
        return page

    @cached_property
    def joined(self) -> str:
        """The text with LF for every line end."""
        return "\n".join(self.lines)

    @cached_property
    def joined_starts(self) -> list[int]:
        """Where each line begins in `joined`."""
        starts, position = [], 0
        for line in self.lines:
            starts.append(position)
            position += len(line) + 1
        return starts

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins in `text`, and the text's end."""
        starts = [0]
        for line, end in zip(self.lines, self.ends, strict=True):
            starts.append(starts[-1] + len(line) + len(end))
        return starts

    @cached_property
    def count(self) -> int:
        """Number of lines; what follows the last line end is none when it is empty."""
        return len(self.lines) - (self.lines[-1] == "")

    @cached_property
    def usual_end(self) -> str:
        """The line end most lines have."""
        return max(("\n", "\r\n", "\r"), key=self.ends.count)

    def line_at(self, position: int) -> int:
        """Index of the line that holds `position` of `joined`."""
        return bisect_right(self.joined_starts, position) - 1

    def lines_of(self, positions: Sequence[int]) -> tuple[int, ...]:
        """Numbers of the lines that hold these positions of `joined`."""
        return tuple(self.line_at(position) + 1 for position in positions)

    def some_lines_of(self, positions: Sequence[int]) -> tuple[int, ...]:
        """The first of these lines, each once: for telling, not for counting."""
        return tuple(dict.fromkeys(self.lines_of(positions[:MOST_TOLD])))

    def place(self, position: int) -> int:
        """The position in `text` of a position in `joined`."""
        line = self.line_at(position)
        return self.starts[line] + position - self.joined_starts[line]

    def end_near(self, line: int) -> str:
        """The line end that a new line at this place gets."""
        return self.ends[line] or (self.ends[line - 1] if line else "") or self.usual_end


def find(page: Page, wanted: str, block: Sequence[str], *, fuzzy: bool) -> Hits:
    """Where `wanted` stands: exactly, else its lines `block` in the first looser form that has hits.

    Raises EndlessError.
    """
    exact, in_field = _find_exact(page, wanted)
    if exact and not (
        _rests_on_indentation(page, wanted, exact, block) or _rests_on_last_end(page, wanted, exact, block)
    ):
        return Hits(level="exact", places=exact, height=len(wanted), in_field=in_field)
    level: MatchLevel = "trailing"
    places = _windows(page, [line.rstrip() for line in block], str.rstrip)
    if not places:
        alike = _windows(page, [line.strip() for line in block], str.strip)
        places = [place for place in alike if _uniform_shift(page, place, block) is not None]
        # Indentation alone does not choose among lines that are equal without it.
        level, places = ("fuzzy", alike) if 0 < len(places) < len(alike) else ("indent", places)
    if not places and fuzzy:
        level = "fuzzy"
        places = _windows(page, [_fields(line) for line in block], _fields, sieve=_squeezed)
    return Hits(level=level, places=places, height=len(block), in_field=in_field)


def indent_shift(page: Page, place: int, block: Sequence[str]) -> tuple[str, str]:
    """The indentation to take off the quoted lines and to put on instead at this place."""
    uniform = _uniform_shift(page, place, block)
    return uniform or (indent_of(block[0]), indent_of(page.lines[place]))


def shifted(line: str, off: str, on: str) -> str:
    """`line` with the indentation `on` in place of `off` (or of what it has of that)."""
    return on + line[len(_common_head([off, line])) :] if line.strip() else line


def blank_lines_apart(page: Page, block: Sequence[str]) -> list[list[int]]:
    """Where lines have the fields of `block`, blank lines in both left out: the indexes of those lines."""
    full = [index for index in range(page.count) if page.lines[index].strip()]
    wanted = [_fields(line) for line in block if line.strip()]
    bare = Page.of_lines([page.lines[index] for index in full])
    return [full[first : first + len(wanted)] for first in _windows(bare, wanted, _fields, sieve=_squeezed)]


def find_present(page: Page, new: str, block: Sequence[str]) -> tuple[int, ...]:
    """Lines on which `new` (its lines are `block`) stands already, indentation apart."""
    exact, _ = _find_exact(page, new)
    if exact:
        return page.some_lines_of(exact)
    return tuple(place + 1 for place in _windows(page, [line.strip() for line in block], str.strip))


def find_looser(page: Page, block: Sequence[str]) -> tuple[tuple[LooserReading, ...], tuple[int, ...]]:
    """Which looser readings would match, the mildest first, and the lines where that one would."""
    wanted = [_fields(line) for line in block]
    found: dict[LooserReading, list[int]] = {"fuzzy": _windows(page, wanted, _fields, sieve=_squeezed)}
    if not found["fuzzy"]:
        found["case"] = _windows(
            page,
            [line.casefold() for line in wanted],
            lambda line: _fields(line).casefold(),
            sieve=lambda line: _squeezed(line).casefold(),
        )
        found["continuation"] = _joined_windows(page, block)
    readings = tuple(reading for reading, places in found.items() if places)
    return readings, tuple(place + 1 for place in found[readings[0]]) if readings else ()


def _rests_on_indentation(page: Page, wanted: str, exact: Sequence[int], block: Sequence[str]) -> bool:
    """Whether the only hit begins within a line's indentation while the same text stands elsewhere too.

    Then a blank more or less would have chosen among equal lines, or ``.ends`` in ``.ends amp``.
    """
    if len(exact) > 1 or wanted[0] not in " \t":
        return False
    start, end = exact[0], exact[0] + len(wanted)
    first = page.joined.rfind("\n", 0, start) + 1
    if page.joined[first:start].strip():
        return False
    is_to_the_end = wanted[-1] == "\n" or page.joined[end : end + 1] in ("", "\n")
    if first == start and is_to_the_end:  # whole lines, letter by letter
        return False
    bare = wanted.lstrip(" \t")
    if bare.strip() and len(_find_exact(page, bare)[0]) > 1:
        return True
    return len(_windows(page, [line.strip() for line in block], str.strip)) > 1


def _rests_on_last_end(page: Page, wanted: str, exact: Sequence[int], block: Sequence[str]) -> bool:
    """Whether the only hit is one because the same lines at the end of the text lack the last line end."""
    if len(exact) > 1 or wanted[-1] != "\n" or not page.joined.endswith("\n" + wanted[:-1].lstrip("\n")):
        return False
    return len(_windows(page, [line.rstrip() for line in block], str.rstrip)) > 1


def _find_exact(page: Page, wanted: str) -> tuple[list[int], list[int]]:
    """Positions in the joined text, also overlapping ones: between fields, and inside one."""
    joined = page.joined
    between: list[int] = []
    inside: list[int] = []
    position = joined.find(wanted)
    while position >= 0:
        end = position + len(wanted)
        is_inside = _continues_left(joined, position) or _continues_right(joined, end)
        (inside if is_inside else between).append(position)
        hits = len(between) + len(inside)
        if hits > _MOST_HITS or hits * len(wanted) > _MOST_COMPARED:
            raise EndlessError(page.some_lines_of(between or inside))
        position = joined.find(wanted, position + 1)
    return between, inside


_SEPARATORS = frozenset(" \t\n\r\f\v,;(){}'\"=*")
_JOINERS = frozenset(".:/\\[]<>@#$%&|~?^")
"""Part of a field where a letter or digit follows, as in 1.5, x1:out, d[0], vdd#2, models/q.lib."""
_SIGNS = frozenset("+-!")
"""Part of a field always: nodes in+ and in-, -5, vdd!."""
_LINE_MARKS = frozenset("+*;/#$")


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _continues_left(text: str, start: int) -> bool:
    """Whether the field at `start` has begun before it."""
    if start == 0 or text[start] in _SEPARATORS:
        return False
    before = text[start - 1]
    if before in _LINE_MARKS:
        marks = text[text.rfind("\n", 0, start) + 1 : start].strip()
        if marks == "+":  # of a continuation line
            return False
        if marks and marks.strip("*;/#$") == "":  # of a comment: a card that was switched off is another text
            return True
    if _is_word(before) or before in _SIGNS or before in ".@#$":
        return True
    return before in _JOINERS and start > 1 and _is_word(text[start - 2])


def _continues_right(text: str, end: int) -> bool:
    """Whether the field that ends at `end` goes on."""
    if end == len(text) or text[end - 1] in _SEPARATORS:
        return False
    after = text[end]
    if _is_word(after) or after in _SIGNS:
        return True
    return after in _JOINERS and end + 1 < len(text) and _is_word(text[end + 1])


def _windows(
    page: Page,
    wanted: Sequence[str],
    form: Callable[[str], str],
    *,
    sieve: Callable[[str], str] | None = None,
) -> list[int]:
    """First lines of the places, also overlapping ones, whose lines are `wanted` in this form.

    `sieve` is a cheaper form in which equal lines are equal too. Raises EndlessError.
    """
    cheap = sieve or form
    have = [cheap(line) for line in page.lines[: page.count]]
    sought = [cheap(line) for line in wanted]
    counts = Counter(have)
    anchor = min(range(len(sought)), key=lambda index: counts[sought[index]])
    if not counts[sought[anchor]]:
        return []
    found: list[int] = []
    for first in range(len(have) - len(sought) + 1):
        if have[first + anchor] != sought[anchor] or have[first] != sought[0]:
            continue
        if have[first : first + len(sought)] == sought and (
            sieve is None or all(form(page.lines[first + k]) == line for k, line in enumerate(wanted))
        ):
            found.append(first)
            if len(found) > _MOST_HITS or len(found) * len(wanted) > _MOST_COMPARED:
                raise EndlessError(tuple(place + 1 for place in found[:MOST_TOLD]))
    return found


def _squeezed(line: str) -> str:
    return "".join(line.split())


_LEADING_MARK = re.compile(r"^([*+;])\s+")
_AROUND_MARKS = re.compile(r"\s*([(),=;{}])\s*")
_EXPRESSION = re.compile(r"\{[^{}]*\}|'[^']*'")
_AROUND_OPERATORS = re.compile(r"\s*([-+*/^<>&|!?:])\s*")
_NAMES_A_FILE = re.compile(r"\.(?:inc|lib)", re.IGNORECASE)


def _fields(line: str) -> str:
    """The line's fields with one blank between them, without the blanks that mean nothing in SPICE.

    ``W = 1u`` and ``W=1u`` are the same, ``+ L=1u`` and ``+L=1u``, ``* bias`` and ``*bias``, ``{a + b}`` and
    ``{a+b}``. Outside of expressions an operator may be part of a name, and a file's name is left alone.
    """
    text = _LEADING_MARK.sub(r"\1", " ".join(line.split()))
    if _NAMES_A_FILE.match(text):
        return text
    text = _EXPRESSION.sub(lambda found: _AROUND_OPERATORS.sub(r"\1", found[0]), text)
    head, equals, expression = text.partition("=") if text[:1] in "bB" else (text, "", "")
    return _AROUND_MARKS.sub(r"\1", head + equals + _AROUND_OPERATORS.sub(r"\1", expression))


def indent_of(line: str) -> str:
    """The white space a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def _common_head(texts: Sequence[str]) -> str:
    low, high = min(texts), max(texts)
    return low[: next((k for k, letter in enumerate(low) if letter != high[k]), len(low))]


def _uniform_shift(page: Page, window: int, wanted: Sequence[str]) -> tuple[str, str] | None:
    """The indentation to take off and to put on, the same for all lines; None when there is none."""
    pairs = [(line, page.lines[window + k]) for k, line in enumerate(wanted) if line.strip()]
    off = _common_head([indent_of(line) for line, _ in pairs])
    on = _common_head([indent_of(line) for _, line in pairs])
    if all(line.rstrip()[len(off) :] == found.rstrip()[len(on) :] for line, found in pairs):
        return off, on
    return None


def _joined_windows(page: Page, block: Sequence[str]) -> list[int]:
    """Where the block stands once continuation lines are joined to their cards, on both sides."""
    cards, firsts = _joined_cards(page.lines[: page.count])
    sought, _ = _joined_cards(block)
    places = _windows(Page.of_lines(cards), [_fields(card) for card in sought], _fields, sieve=_squeezed)
    return [firsts[place] for place in places]


def _joined_cards(lines: Sequence[str]) -> tuple[list[str], list[int]]:
    cards: list[list[str]] = []
    firsts: list[int] = []
    for index, line in enumerate(lines):
        if line.lstrip().startswith("+") and cards:
            cards[-1].append(line.lstrip()[1:])
        else:
            cards.append([line])
            firsts.append(index)
    return [" ".join(card) for card in cards], firsts


def find_nearest(page: Page, wanted: Sequence[str]) -> Nearest | None:
    """The most similar place of as many lines; None when nothing is similar.

    Its cost is bounded: only the longest lines of the block are looked for in the whole text.
    """
    if page.count > _LINES_WITH_LIKENESS:
        return None
    from rapidfuzz import fuzz, process

    lines = [line[:_COMPARED_CHARACTERS] for line in page.lines[: page.count]]
    sought = [line[:_COMPARED_CHARACTERS] for line in wanted]
    last = max(len(lines) - len(sought), 0)
    anchors = sorted(range(len(sought)), key=lambda index: -len(sought[index].strip()))[:_ANCHORS]
    firsts = {
        min(max(index - anchor, 0), last)
        for anchor in anchors
        for _, _, index in process.extract(
            sought[anchor], lines, scorer=fuzz.ratio, limit=_CANDIDATES, score_cutoff=_LEAST_LIKENESS
        )
    }
    height = min(len(sought), _COMPARED_LINES)
    block = "\n".join(sought[:height])
    scored = [(fuzz.ratio(block, "\n".join(lines[first : first + height])), -first) for first in firsts]
    if not scored:
        return None
    likeness, negative = max(scored)
    found = lines[-negative : -negative + len(sought)]
    return Nearest(
        first_line=1 - negative,
        last_line=len(found) - negative,
        text="\n".join(found),
        likeness=likeness / 100,
    )
