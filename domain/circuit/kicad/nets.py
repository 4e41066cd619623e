"""Which pins of KiCad's sheets are one net, and what it is called.

KiCad's rules: wires join at their ends; a wire's end or a pin on the middle of a wire joins it only where
a junction is; a label joins the wire it lies on. Local and hierarchical labels hold in their sheet, a
sheet's pin joins the hierarchical label of its name inside, global labels and power symbols hold
everywhere. Names as KiCad gives them: ``GND``, ``/out``, ``/Filter/out``, ``Net-(R1-Pad2)``.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from domain.circuit.kicad.sheet import NoSheet, Place, Sheet
from shared.late_patterns import late_pattern

_FORBIDDEN = late_pattern(r"[(){}\[\]~,;='\"$\s]")
_MOST_SLANTING = 200
"""Wires that are neither level nor upright: nobody draws more, and each is held against every place."""
_MOST_COMPARED = 5_000_000
"""Places held against wires of one sheet, a second of work: only a sheet made for it has more on one line."""

At = tuple[int, Place]
"""A place on an instance of a sheet, by the instance's number."""


@dataclass(slots=True)
class Nets:
    """Joins places and names; afterwards tells the name of a place."""

    _above: dict[Hashable, Hashable] = field(default_factory=dict)
    _names: list[tuple[int, int, str, Hashable]] = field(default_factory=list)
    """Rank, depth and text of every name that was given, and where: the lowest is the net's."""
    _final: dict[Hashable, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def add_sheet(self, instance: int, sheet: Sheet, pins: Iterable[Place]) -> list[Place]:
        """The wires, junctions and labels of one instance of a sheet. Raises NoSheet for one of no sensible
        size.

        Gives the places of pins and wires' ends that lie on the middle of a wire without a junction.
        """
        for one, other in sheet.wires:
            self.join((instance, one), (instance, other))
        lines = _Lines(sheet.wires)
        joined = dict.fromkeys((*sheet.junctions, *(label.at for label in sheet.labels)))
        for place in joined:
            for wire in lines.at(place):
                self.join((instance, place), (instance, wire))
        ends = dict.fromkeys((*pins, *(end for wire in sheet.wires for end in wire)))
        return [
            place
            for place in ends
            if place not in joined and any(wire != place for wire in lines.middle(place))
        ]

    def join(self, one: Hashable, other: Hashable) -> None:
        self._above[self.root(other)] = self.root(one)

    def name(self, place: Hashable, text: str, *, rank: int, depth: int = 0) -> None:
        """Give the net at `place` a name; of several the lowest rank, then depth, then text counts."""
        self._names.append((rank, depth, text, place))

    def root(self, place: Hashable) -> Hashable:
        above = self._above.setdefault(place, place)
        while above != place:
            self._above[place] = self._above[above]
            place, above = above, self._above[above]
        return place

    def settle(self) -> None:
        """All names are given: each net gets its own, in a form ngspice reads."""
        for _, _, text, place in sorted(self._names, key=lambda each: each[:3]):
            root = self.root(place)
            if root in self._final:
                continue
            plain = _FORBIDDEN.sub("_", text) or "_"
            name, number = plain, 1
            while name.lower() in self._taken:  # names apart only by case or a sign ngspice does not take
                number += 1
                name = f"{plain}_{number}"
            self._taken.add(name.lower())
            self._final[root] = name

    def name_at(self, place: Hashable) -> str:
        return self._final[self.root(place)]


class _Lines:
    """Wires by the lines they lie on."""

    def __init__(self, wires: Sequence[tuple[Place, Place]]) -> None:
        self._upright: dict[int, list[tuple[int, int, Place]]] = {}
        self._level: dict[int, list[tuple[int, int, Place]]] = {}
        self._slanting: list[tuple[Place, Place]] = []
        self._left = _MOST_COMPARED
        for one, other in wires:
            if one[0] == other[0]:
                _keep(self._upright, one[0], one[1], other[1], one)
            elif one[1] == other[1]:
                _keep(self._level, one[1], one[0], other[0], one)
            elif len(self._slanting) < _MOST_SLANTING:
                self._slanting.append((one, other))

    def at(self, place: Place) -> Iterator[Place]:
        """An end of each wire that goes through a place or ends there."""
        return self._found(place, inner=0)

    def middle(self, place: Place) -> Iterator[Place]:
        """An end of each wire that goes through a place and on."""
        return self._found(place, inner=1)

    def _found(self, place: Place, *, inner: int) -> Iterator[Place]:
        x, y = place
        for lines, key, along in ((self._upright, x, y), (self._level, y, x)):
            self._left -= len(lines.get(key, ()))
            if self._left < 0:
                raise NoSheet
            for low, high, end in lines.get(key, ()):
                if low + inner <= along <= high - inner:
                    yield end
        for one, other in self._slanting:
            if _is_between(place, one, other) and not (inner and place in (one, other)):
                yield one


def _keep(lines: dict[int, list[tuple[int, int, Place]]], key: int, one: int, other: int, end: Place) -> None:
    lines.setdefault(key, []).append((min(one, other), max(one, other), end))


def _is_between(place: Place, one: Place, other: Place) -> bool:
    (x, y), (x1, y1), (x2, y2) = place, one, other
    is_on = (x2 - x1) * (y - y1) == (y2 - y1) * (x - x1)
    return is_on and min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2)


def in_order(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key that puts R2 before R10."""
    return tuple(
        (0, int(piece), "") if piece.isdecimal() else (1, 0, piece)
        for piece in re.split(r"(\d+)", text)
        if piece
    )
