"""What was found about nets and elements, written beside them: voltages, currents, what a device does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from domain.circuit.schematic.display import Anchor, Drawing, Text, TextRole
from domain.circuit.schematic.judging import spans_of
from domain.circuit.schematic.symbols import Box
from domain.circuit.schematic.texts import Block, Room, along, beside

_NEAR = 3
"""Half units to which a figure goes: further away it would seem another element's."""


class Annotations(NamedTuple):
    """Lines by element, as written there; one line by net, canonical."""

    elements: Mapping[str, Sequence[str]]
    nets: Mapping[str, str]


def annotate(drawing: Drawing, found: Annotations) -> tuple[Text, ...]:
    """Texts that lie over nothing; what finds no room is left out."""
    room = Room(_taken(drawing))
    texts: list[Text] = []
    by_key = {name.lower(): lines for name, lines in found.elements.items()}
    for symbol in drawing.symbols:
        lines: list[tuple[str, TextRole]] = [
            (line, "figure") for line in by_key.pop(symbol.element.lower(), ())
        ]
        if lines:
            own = [
                text.box for text in drawing.texts if text.element == symbol.element and text.role != "pin"
            ]
            corners = [*_under(own), *beside(symbol.body, lines, upright=True, left_first=False)]
            for shown in (lines, lines[:1]):  # where there is little room the first line alone
                block = Block(tuple(shown), tuple(corners), element=symbol.element)
                if placed := room.put(block, must=False, far=_NEAR):
                    texts += placed
                    break
    wires: dict[str, list[tuple[tuple[int, int], ...]]] = {}
    for wire in drawing.wires:
        wires.setdefault(wire.net, []).append(wire.points)
    for net, line in found.nets.items():
        corners = [corner for points in wires.get(net, ()) for corner in along(points, line)]
        if corners:
            texts += room.put(Block(((line, "figure"),), tuple(corners), net=net), must=False, far=0)
    return tuple(texts)


def _under(boxes: Sequence[Box]) -> Iterator[tuple[float, float, Anchor]]:
    """Right below an element's own texts."""
    if boxes:
        yield min(box[0] for box in boxes), max(box[3] for box in boxes), "start"


def _taken(drawing: Drawing) -> list[Box]:
    boxes = [symbol.body for symbol in drawing.symbols] + [mark.box for mark in drawing.marks]
    boxes += [text.box for text in drawing.texts]
    boxes += [(x1 - 0.06, y1 - 0.06, x2 + 0.06, y2 + 0.06) for _, (x1, y1, x2, y2) in spans_of(drawing.wires)]
    for symbol in drawing.symbols:
        left, top, right, bottom = symbol.body
        for pin in symbol.pins:
            x, y = pin.at
            foot_x, foot_y = max(left, min(x, right)), max(top, min(y, bottom))
            boxes.append(
                (min(x, foot_x) - 0.06, min(y, foot_y) - 0.06, max(x, foot_x) + 0.06, max(y, foot_y) + 0.06)
            )
    return boxes
