"""Finds the file and line of what ngspice complains about.

ngspice counts lines right in the top deck, but for a card of an included file it gives that file's
number without its name, and inside subcircuits none at all. So a place is believed only when the
text there agrees: first ngspice's number, then a search for the quoted card, the element, the word.
Better no line than a wrong one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from infrastructure.ngspice.findings import Finding

_MAX_FILE_BYTES = 20 * 2**20
_AT_THE_FIRST = frozenset(("no-data", "osdi-unavailable"))
_FIRST_OF_THESE = ((".control",), ("run",))
_COMMENT = re.compile(r"(?:\s\$|;|\s//).*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a card stands; `line` counts from 1."""

    file: Path
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    """A logical line: continuations joined, comment cut."""

    place: Place
    last_line: int
    written: str
    is_command: bool = False
    """It stands in a control block."""

    @property
    def text(self) -> str:
        return self.written.lower()

    @property
    def squeezed(self) -> str:
        return _squeeze(self.text)

    @property
    def name(self) -> str:
        return self.text.split(maxsplit=1)[0] if self.text else ""


class CardLocator:
    """Searches the deck and its included files; both are read only when something has to be found."""

    def __init__(self, deck: bytes, deck_path: Path, included: Sequence[Path]) -> None:
        self._deck_path = deck_path
        self._deck = deck
        self._included = tuple(included)
        self._is_read = False

    @cached_property
    def _known(self) -> list[_Card]:
        """The deck's cards, and once they are read those of what it includes. Most runs ask for none."""
        return _cards(self._deck, self._deck_path, is_deck=True)

    def place_of(self, finding: Finding) -> Place | None:
        """File and line of a finding, or None when they cannot be known."""
        if (
            finding.number is not None
            and (card := self._deck_card(finding.number))
            and _agrees(card, finding)
        ):
            return Place(file=self._deck_path, line=finding.number)
        self._read_included()
        for test in _tests(finding):
            places = [card.place for card in self._known if test(card)]
            if finding.number is not None:
                places = [place for place in places if place.line == finding.number] or places
            is_double = finding.code == "duplicate-element" and len({place.file for place in places}) == 1
            if len(places) == 1 or is_double:
                return places[-1]
            if places and (finding.code in _AT_THE_FIRST or finding.begins in _FIRST_OF_THESE):
                return places[0]  # of its commands; the copy has some of ours behind them
        if finding.number is not None and not self._included and not _names_something(finding):
            return Place(file=self._deck_path, line=finding.number)
        return None

    def as_written(self, word: str) -> str:
        """`word` in the letter case of the user's files (ngspice lowers everything)."""
        pattern = re.compile(rf"(?<![\w.]){re.escape(word)}(?![\w.])", re.IGNORECASE)
        for card in self._known:
            if match := pattern.search(card.written):
                return match[0]
        return word

    def analysis_line(self, kind: str) -> Place | None:
        """The deck's card of an analysis, or the command of a control block that does it, when there is just
        one of that kind."""
        places = [
            card.place
            for card in self._known
            if card.name == f".{kind}" or (card.is_command and card.name == kind)
        ]
        return places[0] if len(places) == 1 else None

    def analysis_kinds(self, known: frozenset[str]) -> list[str]:
        """The kinds of analysis the deck's cards and commands ask for, each once."""
        kinds = (card.name if card.is_command else card.name.removeprefix(".") for card in self._known
                 if card.is_command or card.name.startswith("."))  # fmt: skip
        return [kind for kind in dict.fromkeys(kinds) if kind in known]

    def _deck_card(self, number: int) -> _Card | None:
        for card in self._known:
            if card.place.file == self._deck_path and card.place.line <= number <= card.last_line:
                return card
        return None

    def _read_included(self) -> None:
        if self._is_read:
            return
        self._is_read = True
        for file in self._included:
            self._known += _cards(_read_regular(file), file, is_deck=False)


def _read_regular(file: Path) -> bytes:
    """The file's bytes, or none: what went away or turned into a FIFO since the run places nothing."""
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        return stream.read(_MAX_FILE_BYTES)


def _names_something(finding: Finding) -> bool:
    return bool(finding.card or finding.element or finding.word or finding.begins)


def _agrees(card: _Card, finding: Finding) -> bool:
    """The card at ngspice's number is the one it speaks of."""
    return not _names_something(finding) or any(test(card) for test in _tests(finding))


def _tests(finding: Finding) -> Iterator[Callable[[_Card], bool]]:
    if finding.card:
        wanted = _squeeze(finding.card.lower())
        yield lambda card: card.squeezed in (wanted, wanted.replace(".include", ".inc", 1))
    if finding.element:
        name = _own_name(finding.element)
        yield lambda card: card.name == name
    begins = tuple(word.lower() for word in finding.begins)
    if finding.word:
        word = re.compile(rf"(?<![\w.]){re.escape(finding.word.lower())}(?![\w.])")
        yield lambda card: word.search(card.text) is not None and card.text.startswith(begins or "")
    elif begins:
        yield lambda card: card.text.startswith(begins)


def _own_name(element: str) -> str:
    """``d.x1.d1`` (a flattened name) is ``d1`` in its subcircuit."""
    return element.lower().rpartition(".")[2]


def _squeeze(text: str) -> str:
    return "".join(text.split())


def _cards(data: bytes, file: Path, *, is_deck: bool) -> list[_Card]:
    """The logical lines of a file; the deck's first line is its title."""
    found: list[_Card] = []
    is_inside = False
    lines = data.decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, start=1):
        text = _COMMENT.sub("", line).strip()
        if (
            (is_deck and number == 1 and not text.lower().startswith((".inc", ".lib")))
            or not text
            or text.startswith("*")
        ):
            continue
        if text.startswith("+") and found:
            previous = found[-1]
            found[-1] = _Card(
                place=previous.place,
                last_line=number,
                written=f"{previous.written} {text[1:]}",
                is_command=previous.is_command,
            )
            continue
        word = text.split(maxsplit=1)[0].lower()
        is_inside = (is_inside or word == ".control") and word != ".endc"
        place = Place(file=file, line=number)
        found.append(_Card(place=place, last_line=number, written=text, is_command=is_inside))
    return found
