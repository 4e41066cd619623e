"""A twin T: two Ts between the same two nodes, one of resistors with a leg of capacitors, one the other way.

The Ts are drawn one above the other, their arms along the signal's way. Legs to a rail stand below their T;
legs to one node stand face to face, the node between the Ts.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from domain.circuit.schematic.parts import Part

Pins = Mapping[str, Sequence[tuple[int, str]]]
"""Of nets: parts, by their places, and the roles of their pins."""
_ARM = 8
"""From the middle of the first arm to that of the second."""
_LEG = 4
"""From leg to leg where one is made of parallel parts."""
_DOWN = 3
"""From the arms to the middle of their leg."""
_BELOW, _OPPOSITE = 10, 12
"""From T to T, with legs below each, and with legs face to face."""


class Tee(NamedTuple):
    """Two arms that meet, and what leads from there aside."""

    middle: str
    arms: tuple[int, int]
    """From the first end, from the second."""
    legs: tuple[int, ...]
    """Parallel ones."""
    foot: str


class TwinT(NamedTuple):
    """The upper T has arms of resistors."""

    ends: tuple[str, str]
    upper: Tee
    lower: Tee

    @property
    def parts(self) -> tuple[int, ...]:
        return tuple(at for tee in (self.upper, self.lower) for at in (*tee.arms, *tee.legs))

    def turned_to(self, ranks: Mapping[str, float]) -> TwinT:
        """The end nearer to the signal's start on the left."""
        if (ranks.get(self.ends[0], 0), self.ends[0]) <= (ranks.get(self.ends[1], 0), self.ends[1]):
            return self
        upper, lower = (each._replace(arms=each.arms[::-1]) for each in (self.upper, self.lower))
        return TwinT(self.ends[::-1], upper, lower)

    def turns(self, parts: Sequence[Part], signs: Mapping[str, int]) -> dict[int, int]:
        """How each of them is turned: 0 its first pin above, 2 below, 1 left, 3 right."""
        found: dict[int, int] = {}
        for tee, is_foot_below in ((self.upper, True), (self.lower, not self._is_face_to_face(signs))):
            found |= {tee.arms[0]: 3 if parts[tee.arms[0]].nets[0] == tee.middle else 1}
            found |= {tee.arms[1]: 1 if parts[tee.arms[1]].nets[0] == tee.middle else 3}
            for leg in tee.legs:
                found[leg] = 2 if (parts[leg].nets[0] == tee.foot) == is_foot_below else 0
        return found

    def _is_face_to_face(self, signs: Mapping[str, int]) -> bool:
        return self.upper.foot == self.lower.foot and self.upper.foot not in signs

    def places(self, signs: Mapping[str, int]) -> list[tuple[int, int, int]]:
        """(part, right of the first arm, below it)."""
        facing = self._is_face_to_face(signs)
        wide = _ARM + _LEG * (max(len(self.upper.legs), len(self.lower.legs)) - 1)
        found = []
        for tee, y, step in (
            (self.upper, 0, _DOWN),
            (self.lower, _OPPOSITE if facing else _BELOW, -_DOWN if facing else _DOWN),
        ):
            found += [(tee.arms[0], 0, y), (tee.arms[1], wide, y)]
            found += [(leg, _ARM // 2 + _LEG * number, y + step) for number, leg in enumerate(tee.legs)]
        return found


def twin_tees_in(parts: Sequence[Part], pins: Pins, signs: Mapping[str, int]) -> tuple[TwinT, ...]:
    """Each element in one at most."""
    tees = [tee for net in pins if net not in signs for tee in _tees_at(net, parts, pins)]
    found: list[TwinT] = []
    taken: set[int] = set()
    for one, other in itertools.product(tees, tees):
        kinds = [parts[tee.arms[0]].kind for tee in (one, other)]
        ends = [_ends(tee, parts) for tee in (one, other)]
        if kinds != ["r", "c"] or {*ends[0]} != {*ends[1]} or {*ends[0]} & {one.foot, other.foot}:
            continue
        twin = TwinT(ends[0], one, other if ends[0] == ends[1] else other._replace(arms=other.arms[::-1]))
        if not taken & {*twin.parts}:
            found.append(twin)
            taken |= {*twin.parts}
    return tuple(found)


def _ends(tee: Tee, parts: Sequence[Part]) -> tuple[str, str]:
    first, second = (next(net for net in parts[arm].nets if net != tee.middle) for arm in tee.arms)
    return first, second


def _tees_at(middle: str, parts: Sequence[Part], pins: Pins) -> list[Tee]:
    """Two of one kind to two nodes, and one or more of the other kind to a third."""
    here = [at for at, _ in pins[middle]]
    if len({*here}) != len(here) or any(parts[at].kind not in "rc" for at in here):
        return []
    far = {at: next((net for net in parts[at].nets if net != middle), middle) for at in here}
    found = []
    for kind in "rc":
        arms = [at for at in here if parts[at].kind == kind]
        legs = [at for at in here if parts[at].kind != kind]
        feet = {far[at] for at in legs}
        if len(arms) == 2 and far[arms[0]] != far[arms[1]] and len(feet) == 1:
            found.append(Tee(middle, (arms[0], arms[1]), tuple(legs), next(iter(feet))))
    return found
