"""Where a name of a circuit is defined and used, over all circuits of a project that share its files."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from application.simulation.reading_names import ReadNames
from domain.circuit.circuit_names import CircuitNames, Meaning, Place
from domain.circuit.names import Usage
from domain.circuit.renaming import refusal, renamed
from shared.errors import CircuitAIError
from shared.message import Message

_log = logging.getLogger(__name__)


class FoundPlace(NamedTuple):
    """One place of a name."""

    file: Path
    """Real path."""
    line: int
    column: int
    """From 1, in characters."""
    usage: Usage
    text: str
    """The line it stands on."""
    spans: tuple[tuple[int, int], ...]
    """Its bytes: of the UTF-8 text of an open file, of the file itself where it is not open."""
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class NamePlaces:
    """All places of one name."""

    meaning: Meaning
    name: str
    """As written where it was asked for."""
    places: tuple[FoundPlace, ...]
    """By file and line, those of the file that was asked about first."""
    definition: FoundPlace | None
    circuits: tuple[tuple[CircuitNames, tuple[Place, ...]], ...]
    contents: Mapping[Path, bytes]
    """What the places were found in, by file."""

    def refusal(self, new: str) -> Message | None:
        """Why it cannot be called `new`."""
        return refusal(self.meaning, new, self.circuits)

    def renamed_line(self, found: FoundPlace, new: str) -> str:
        """The line of a place with the new name in all of the name's places on it."""
        text = found.text
        on_line = [each for each in self.places if (each.file, each.line) == (found.file, found.line)]
        for each in sorted(on_line, key=lambda each: each.column, reverse=True):
            start = each.column - 1
            text = text[:start] + renamed(each.place, new) + text[start + len(each.place.name.text) :]
        return text


class FindPlaces:
    """The use case; one instance serves any number of questions at the same time."""

    def __init__(self, *, names: ReadNames) -> None:
        self._names = names

    async def __call__(
        self, file: Path, offset: int, texts: Mapping[Path, str], circuits: Iterable[Path]
    ) -> NamePlaces | None:
        """The name at a byte of `file` (open, with its text in `texts`); None where there is none.

        Looked for in the file by itself and in those of `circuits` that read a file the name stands in.
        """
        return await asyncio.to_thread(self._find, file, offset, texts, tuple(circuits))

    def _find(
        self, file: Path, offset: int, texts: Mapping[Path, str], circuits: tuple[Path, ...]
    ) -> NamePlaces | None:
        real = Path(os.path.realpath(file))
        own = self._read(file, texts)
        asked = own.at(real, offset) if own is not None else None
        read = [own] if own is not None else []
        for circuit in circuits:
            if Path(os.path.realpath(circuit)) != real and (names := self._read(circuit, texts)) is not None:
                read.append(names)
        if asked is None:
            elsewhere = (names.at(real, offset) for names in read)
            asked = next((place for place in elsewhere if place is not None), None)
        if asked is None:
            return None
        found = _spread(read, asked, real)
        if not found:
            return None
        places = {(each.file, *each.spans): each for _, group in found for each in map(_found, group)}
        ordered = sorted(
            places.values(), key=lambda each: (each.file != real, each.file, each.line, each.column)
        )
        definitions = [each for each in ordered if each.usage == "definition"]
        meaning = found[0][0].meaning(found[0][1][0])
        first = ordered[0] if meaning.kind == "node" else None
        return NamePlaces(
            meaning=meaning,
            name=asked.name.text,
            places=tuple(ordered),
            definition=next(iter(definitions), first),
            circuits=tuple((names, tuple(group)) for names, group in found),
            contents={each.file: each.place.card.source.data for each in ordered},
        )

    def _read(self, circuit: Path, texts: Mapping[Path, str]) -> CircuitNames | None:
        try:
            return self._names.read(circuit, texts).names
        except CircuitAIError as error:  # it cannot be read: the check says so where it is open
            _log.info("%s is not looked through: %s", circuit.name, error)
            return None


def _spread(read: list[CircuitNames], asked: Place, file: Path) -> list[tuple[CircuitNames, list[Place]]]:
    """The places of a name in every circuit; one that shares only its definition is found through that."""
    seeds: list[tuple[Path | None, int]] = [(file, asked.spans[0][0])]
    found: dict[int, tuple[CircuitNames, list[Place]]] = {}
    done = set[tuple[Path | None, int]]()
    while seeds:
        seed = seeds.pop()
        if seed in done:
            continue
        done.add(seed)
        for number, names in enumerate(read):
            place = names.at(*seed) if number not in found else None
            if place is not None and place.name.kind == asked.name.kind:
                places = names.places(names.meaning(place))
                found[number] = (names, places)
                seeds += [(each.file, each.spans[0][0]) for each in places if each.usage == "definition"]
    return [found[number] for number in sorted(found)]


def _found(place: Place) -> FoundPlace:
    source = place.card.source
    text = source.decode(source.line_text(place.line))
    assert place.file is not None
    return FoundPlace(place.file, place.line, place.column, place.usage, text, place.spans, place)
