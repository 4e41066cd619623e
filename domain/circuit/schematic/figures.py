"""What is drawn as one fixed figure: a rectifier's legs, two transistors coupled crosswise.

A bridge of diodes stands as legs side by side, its direct voltage above and below, its alternating one in the
middle of each leg. Two transistors of which each is led to the other's input by an element stand mirrored at
one height, inputs inward, their couplings above them and above these the loads: an astable multivibrator.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from domain.circuit.schematic.parts import TRANSISTORS, Part

Pins = Mapping[str, Sequence[tuple[int, str]]]
"""Of nets: parts, by their places, and the roles of their pins."""


class Bridge(NamedTuple):
    """Legs of two diodes each between the same two nets."""

    plus: str
    minus: str
    legs: tuple[tuple[int, int], ...]
    """Upper and lower diode."""

    @property
    def diodes(self) -> frozenset[int]:
        return frozenset(at for leg in self.legs for at in leg)


class Crossed(NamedTuple):
    """Two transistors, each led to the other's input."""

    left: int
    right: int
    couplings: tuple[int, ...]
    """From the left one's output and from the right one's; () where wires do it."""


def bridges_in(parts: Sequence[Part], drawn: Iterable[int], signs: Mapping[str, int]) -> tuple[Bridge, ...]:
    """Rectifiers of two legs or more, each diode in one."""
    free: dict[tuple[str, str], int] = {}
    for at in drawn:
        part = parts[at]
        if part.kind == "d" and part.nets[0] != part.nets[1]:
            free.setdefault((part.nets[0], part.nets[1]), at)
    found = []
    for plus, minus in itertools.product(
        dict.fromkeys(cathode for _, cathode in free), dict.fromkeys(anode for anode, _ in free)
    ):
        middles = [
            anode for anode, cathode in free
            if cathode == plus and anode not in signs and (minus, anode) in free and anode != minus
        ]  # fmt: skip
        if len(middles) > 1 and plus != minus:
            legs = tuple((free.pop((middle, plus)), free.pop((minus, middle))) for middle in middles)
            found.append(Bridge(plus, minus, legs))
    return tuple(found)


def crossed_in(
    parts: Sequence[Part], drawn: Iterable[int], pins: Pins, signs: Mapping[str, int]
) -> tuple[Crossed, ...]:
    """Each transistor in one pair at most; the left one is the first in the circuit."""
    found: list[Crossed] = []
    taken: set[int] = set()
    own = [
        at for at in drawn
        if parts[at].kind in TRANSISTORS and not {parts[at].net("in"), parts[at].net("out")} & signs.keys()
    ]  # fmt: skip
    for first, second in itertools.combinations(own, 2):
        a, b = parts[first], parts[second]
        alike = a.kind == b.kind and a.polarity == b.polarity and a.net("com") == b.net("com")
        if not alike or a.net("in") == b.net("in") or {first, second} & taken:
            continue
        to_second = _coupling(a.net("out"), b.net("in"), parts, pins)
        to_first = _coupling(b.net("out"), a.net("in"), parts, pins)
        if to_second is None or to_first is None or len(to_second) != len(to_first):
            continue
        found.append(Crossed(first, second, (*to_second, *to_first)))
        taken |= {first, second}
    return tuple(found)


def _coupling(out: str, base: str, parts: Sequence[Part], pins: Pins) -> tuple[int, ...] | None:
    """() for a wire, one resistor or capacitor between the two nets; None where nothing is."""
    if out == base:
        return ()
    found = [at for at, _ in pins.get(out, ()) if parts[at].kind in "rc" and {*parts[at].nets} == {out, base}]
    return (found[0],) if found else None


def load_of(
    net: str, sign_above: int, parts: Sequence[Part], pins: Pins, signs: Mapping[str, int]
) -> int | None:
    """The one resistor or inductor that leads from a net to a rail on that side."""
    found = [
        at for at, _ in pins.get(net, ())
        if parts[at].kind in "rli" and any(signs.get(far) == sign_above for far in parts[at].nets)
    ]  # fmt: skip
    return found[0] if len(found) == 1 else None
