"""What is drawn as one fixed figure: a rectifier's legs, two transistors coupled crosswise.

A bridge of diodes stands as legs side by side, its direct voltage above and below, its alternating one in the
middle of each leg. Two pairs that switch the currents of a third one stand side by side above it: a mixer.
Two transistors of which each is led to the other's input by an element stand mirrored at
one height, inputs inward, their couplings above them and above these the loads: an astable multivibrator.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
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


class Quad(NamedTuple):
    """Two pairs on the outputs of a third: with the same inputs and crossed outputs a mixer's core, with a
    latch as the second one that of a flip-flop."""

    upper: tuple[int, int, int, int]
    """From left to right: the inner two share an input."""
    links: tuple[int, ...]
    """What leads from each of the lower two up to its pair; () where wires do it."""
    lower: tuple[int, int]
    is_latch: bool = False
    """The right one of the upper pairs holds what the left one gave it: its inputs are inward."""
    loads: tuple[int, ...] = ()
    """Of the left one's outputs, above it."""

    @property
    def flips(self) -> tuple[bool, ...]:
        """Of the upper four and the lower two, whether they face right."""
        return (False, True, *((True, False) if self.is_latch else (False, True)), False, True)

    def among(self, pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        """The pairs, with its own as they stand in it."""
        own = (self.upper[:2], self.upper[2:], self.lower)
        return (*(pair for pair in pairs if all({*pair} != {*each} for each in own)), *own)


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


def quads_in(
    parts: Sequence[Part], pairs: Sequence[tuple[int, int]], pins: Pins, rail_above: Callable[[str], bool]
) -> tuple[Quad, ...]:
    """Of pairs, those that stand two by two above a third: a mixer's, or a pair and the latch it feeds."""
    found: list[Quad] = []
    taken: set[int] = set()
    for one, other in itertools.combinations(pairs, 2):
        outs, inputs = (
            [{parts[at].net(role) for at in pair} for pair in (one, other)] for role in ("out", "in")
        )
        are_latches = [inputs[at] == outs[at] for at in (0, 1)]
        if outs[0] != outs[1] or len({*one, *other}) < 4 or all(are_latches):
            continue
        if inputs[0] != inputs[1] and not any(are_latches):
            continue
        first, second = (other, one) if are_latches[0] else (one, other)
        for lower in pairs:
            for left, right in (lower, lower[::-1]):
                quad = _quad(first, second, (left, right), parts, pins)
                if quad is None or taken & {*quad.upper, *quad.lower}:
                    continue
                if any(are_latches):
                    nets = [parts[at].net("out") for at in quad.upper[:2]]
                    loads = [_load_above(net, parts, pins, rail_above) for net in nets]
                    known = tuple(at for at in loads if at is not None)
                    quad = quad._replace(is_latch=True, loads=known if len(known) == 2 else ())
                found.append(quad)
                taken |= {*quad.upper, *quad.lower}
    return tuple(found)


def _quad(
    one: tuple[int, int], other: tuple[int, int], lower: tuple[int, int], parts: Sequence[Part], pins: Pins
) -> Quad | None:
    """The inner one of the second pair has the input, or of a latch the output, of its neighbor."""
    ways = [
        _way_up(parts[at].net("out"), parts[pair[0]].net("com"), parts, pins)
        for at, pair in zip(lower, (one, other), strict=True)
    ]
    if None in ways or parts[lower[0]].polarity != parts[one[0]].polarity:
        return None
    links = tuple(at for way in ways if way for at in way)
    is_latch = parts[other[0]].net("in") == parts[other[1]].net("out")
    role = "out" if is_latch else "in"
    mates = other if parts[other[0]].net(role) == parts[one[1]].net(role) else other[::-1]
    far = mates[1 if is_latch else 0]
    if len(links) not in (0, 2) or parts[one[0]].net("out") != parts[far].net("out"):
        return None
    return Quad((*one, *mates), links, lower)


def _load_above(net: str, parts: Sequence[Part], pins: Pins, rail_above: Callable[[str], bool]) -> int | None:
    """The one resistor from a net to the rail above."""
    found = [
        at for at, _ in pins.get(net, ()) if parts[at].kind == "r" and any(map(rail_above, parts[at].nets))
    ]
    return found[0] if len(found) == 1 else None


def _way_up(below: str, above: str, parts: Sequence[Part], pins: Pins) -> tuple[int, ...] | None:
    """() for a wire, the one resistor between the two nets; None where nothing is."""
    if below == above:
        return ()
    found = [at for at, _ in pins.get(below, ()) if parts[at].kind == "r" and above in parts[at].nets]
    return (found[0],) if len(found) == 1 else None
