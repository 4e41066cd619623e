"""A filter's stage of the second order around an amplifier with positive feedback, after Sallen and Key.

Two elements lead to the input that is not inverting; from where they meet a third one leads around the
amplifier to its output, and a fourth one from that input to a rail below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from domain.circuit.schematic.parts import Part

Pins = Mapping[str, Sequence[tuple[int, str]]]
"""Of nets: parts, by their places, and the roles of their pins."""
_BEFORE, _SHUNT, _OVER = 11, 8, 5
"""From the amplifier's middle to what leads to its input, to what leads from there down, and up to what leads
around it."""
_SUPPLY = 2
"""Room of a supply's symbol."""


class FilterStage(NamedTuple):
    """What stands around one amplifier, whose inverting input is below."""

    amplifier: int
    before: int
    """To its input from the node where three meet."""
    shunt: int
    """From its input to a rail."""
    over: int
    """From that node to its output."""
    node: str

    @property
    def parts(self) -> frozenset[int]:
        return frozenset((self.amplifier, self.before, self.shunt, self.over))

    def turns(self, parts: Sequence[Part]) -> dict[int, int]:
        """Of those that lie: 1 their first pin left, 3 right."""
        return {at: 1 if parts[at].nets[0] == self.node else 3 for at in (self.before, self.over)}

    def places(self, *, is_supplied: bool) -> list[tuple[int, int, int]]:
        """(part, right of the amplifier, below it)."""
        over = -_OVER - (_SUPPLY if is_supplied else 0)
        return [
            (self.amplifier, 0, 0),
            (self.before, -_BEFORE, -1),
            (self.shunt, -_SHUNT, 2),
            (self.over, -_OVER, over),
        ]


def filter_stages_in(
    parts: Sequence[Part], drawn: Iterable[int], pins: Pins, signs: Mapping[str, int]
) -> tuple[FilterStage, ...]:
    """Each element in one at most."""
    found: list[FilterStage] = []
    taken: set[int] = set()
    for amplifier in drawn:
        part = parts[amplifier]
        if part.kind != "amp" or part.net("p") in signs or part.net("p") in (part.net("n"), part.net("out")):
            continue
        stage = _stage_at(amplifier, parts, pins, signs)
        if stage is not None and not stage.parts & taken:
            found.append(stage)
            taken |= stage.parts
    return tuple(found)


def _stage_at(
    amplifier: int, parts: Sequence[Part], pins: Pins, signs: Mapping[str, int]
) -> FilterStage | None:
    plus, out = parts[amplifier].net("p"), parts[amplifier].net("out")
    at_input = [at for at, _ in pins[plus] if at != amplifier]
    far = {at: next((net for net in parts[at].nets if net != plus), plus) for at in at_input}
    if any(parts[at].kind not in "rc" for at in at_input):
        return None
    shunts = [at for at in at_input if signs.get(far[at], 1) < 1]
    others = [at for at in at_input if far[at] not in signs]
    if len(shunts) != 1 or len(others) != 1 or len(pins[far[others[0]]]) < 3:
        return None
    node = far[others[0]]
    over = [at for at, _ in pins[node] if parts[at].kind in "rc" and {*parts[at].nets} == {node, out}]
    if len(over) != 1 or parts[over[0]].kind == parts[shunts[0]].kind == parts[others[0]].kind:
        return None
    return FilterStage(amplifier, others[0], shunts[0], over[0], node)
