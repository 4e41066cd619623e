"""What of a drawing matches what is typed: elements by name, value and kind of source, nets by name."""

from __future__ import annotations

from typing import NamedTuple

from domain.circuit.schematic.display import Drawing


class Match(NamedTuple):
    """An element, or a net."""

    element: str = ""
    net: str = ""


def find(drawing: Drawing, wanted: str) -> tuple[Match, ...]:
    """Names that are it first, then those that begin with it, then what has it anywhere; each from left to
    right. None for nothing."""
    wanted = wanted.strip().lower()
    if not wanted:
        return ()
    found: list[tuple[int, float, float, Match]] = []
    for symbol in drawing.symbols:
        if symbol.kind == "port":
            continue
        rank = _rank(symbol.element.lower(), wanted)
        rank = 3 if rank is None and wanted in symbol.hint.lower() else rank
        if rank is not None:
            found.append((rank, symbol.body[0], symbol.body[1], Match(symbol.element)))
    for net in drawing.nets:
        rank = _rank(net.lower(), wanted)
        at = place_of_net(drawing, net)
        if rank is not None and at is not None:
            found.append((rank, *at, Match("", net)))
    return tuple(dict.fromkeys(each[3] for each in sorted(found)))


def _rank(name: str, wanted: str) -> int | None:
    if name == wanted:
        return 0
    if name.startswith(wanted):
        return 1
    return 2 if wanted in name else None


def place_of_net(drawing: Drawing, net: str) -> tuple[float, float] | None:
    """A point of it: its leftmost wire's middle, or what joins it by name. None for one that is not shown."""
    points = [wire.points for wire in drawing.wires if wire.net == net]
    if points:
        line = min(points)
        (x1, y1), (x2, y2) = line[len(line) // 2 - 1], line[len(line) // 2]
        return (x1 + x2) / 2, (y1 + y2) / 2
    marks = [mark.at for mark in drawing.marks if mark.net == net]
    return min(marks) if marks else None
