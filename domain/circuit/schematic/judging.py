"""How a drawing reads, and what must not be in it: counted from its geometry alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from domain.circuit.schematic.display import Drawing, Wire
from domain.circuit.schematic.symbols import Box

Span = tuple[int, int, int, int]
"""x1, y1, x2, y2, the first the smaller."""


class Fault(NamedTuple):
    """Something that must not be."""

    kind: str
    """overlap, pin on pin, wire through body, wire along wire, text over text, over wire, over body."""
    first: str
    second: str


def spans_of(wires: Iterable[Wire]) -> list[tuple[str, Span]]:
    """Straight pieces with their nets."""
    found = []
    for wire in wires:
        for (x1, y1), (x2, y2) in zip(wire.points, wire.points[1:], strict=False):
            found.append((wire.net, (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))))
    return found


def crossings_of(wires: Sequence[Wire]) -> int:
    """Places where lines of different nets cross."""
    spans = spans_of(wires)
    lying = [(net, span) for net, span in spans if span[1] == span[3]]
    upright = [(net, span) for net, span in spans if span[0] == span[2]]
    return sum(
        one != other and a[0] < b[0] < a[2] and b[1] < a[1] < b[3] for one, a in lying for other, b in upright
    )


def bends_of(wires: Sequence[Wire]) -> int:
    return sum(max(0, len(wire.points) - 2) for wire in wires)


def length_of(wires: Sequence[Wire]) -> int:
    return sum(span[2] - span[0] + span[3] - span[1] for _, span in spans_of(wires))


def faults_of(drawing: Drawing) -> list[Fault]:
    """Bodies over bodies, pins of two nets at one place, wires through bodies or along others, texts over any
    of them."""
    found: list[Fault] = []
    bodies = [(each.key or each.element, shrunk(each.body, 0.05)) for each in drawing.symbols]
    bodies += [(f"{each.net} at {each.at}", shrunk(each.box, 0.05)) for each in drawing.marks]
    spans = spans_of(drawing.wires)
    ends: dict[tuple[int, int], str] = {}
    for pin in (pin for each in drawing.symbols for pin in each.pins):
        if ends.setdefault(pin.at, pin.net) != pin.net:  # as drawn, they are joined
            found.append(Fault("pin on pin", ends[pin.at], pin.net))
    for number, (name, box) in enumerate(bodies):
        found += [Fault("overlap", name, other) for other, room in bodies[number + 1 :] if _meet(box, room)]
        found += [Fault("wire through body", net, name) for net, span in spans if _meet(_thin(span), box)]
    for number, (net, span) in enumerate(spans):
        found += [
            Fault("wire along wire", net, other) for other, room in spans[number + 1 :]
            if net != other and _runs_along(span, room)
        ]  # fmt: skip
    texts = [
        (each.text, shrunk(each.box, 0.04))
        for each in drawing.texts
        if each.role not in ("pin", "rail", "flag")
    ]
    for number, (name, box) in enumerate(texts):
        found += [
            Fault("text over text", name, other) for other, room in texts[number + 1 :] if _meet(box, room)
        ]
        found += [Fault("text over wire", name, net) for net, span in spans if _meet(_thin(span), box)]
        found += [Fault("text over body", name, other) for other, room in bodies if _meet(room, box)]
    return found


def _thin(span: Span) -> Box:
    return (span[0] - 0.01, span[1] - 0.01, span[2] + 0.01, span[3] + 0.01)


def shrunk(box: Box, by: float) -> Box:
    return (box[0] + by, box[1] + by, box[2] - by, box[3] - by)


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _runs_along(one: Span, other: Span) -> bool:
    if one[1] == one[3] == other[1] == other[3]:
        return one[0] <= other[2] and other[0] <= one[2]
    return one[0] == one[2] == other[0] == other[2] and one[1] <= other[3] and other[1] <= one[3]
