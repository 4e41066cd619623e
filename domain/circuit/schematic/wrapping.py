"""Long chains in rows: a drawing much wider than high is cut where few nets pass, the rest goes below."""

from __future__ import annotations

import math
from collections.abc import Sequence

from domain.circuit.schematic.layout import Layout
from domain.circuit.schematic.symbols import Box, union

_WIDE, _WIDEST = 120, 3.0
"""Grid units, and the share of the height, up to which a drawing stays one row."""
_BETWEEN = 6
"""From row to row, with the room of a text and a wire."""


def wrap(layout: Layout) -> None:
    """Bring a layout of one long row into rows of about the same width, the signal to the right in each.

    What is moved as one stays whole. Nothing happens to a drawing of usual proportions.
    """
    rooms = [_room(layout, item.parts) for item in layout.items.items]
    if not rooms:
        return
    left, top, right, bottom = union(rooms)
    width, height = right - left, bottom - top
    if width < _WIDE or width <= _WIDEST * height:
        return
    count = max(2, round(math.sqrt(width / (1.6 * (height + _BETWEEN)))))
    share = width / count
    cuts = [_best_cut(layout, rooms, left + share * number, share / 4) for number in range(1, count)]
    edges = [left, *cuts]
    rows: list[list[int]] = [[] for _ in edges]
    for number, room in enumerate(rooms):
        middle = (room[0] + room[2]) / 2
        rows[sum(middle >= cut for cut in cuts)].append(number)
    down = 0
    for number, row in enumerate(row for row in rows if row):
        above, below = min(rooms[at][1] for at in row), max(rooms[at][3] for at in row)
        first = min(rooms[at][0] for at in row)
        step_x = math.floor(left - first)
        step_y = down - math.floor(above) if number else 0
        for at in row:
            for part in layout.items.items[at].parts:
                layout.x[part] += step_x
                layout.y[part] += step_y
        down = math.ceil(below) + step_y + _BETWEEN
    layout.touch(layout.moving)


def _room(layout: Layout, parts: Sequence[int]) -> Box:
    boxes = [
        (box[0] + int(layout.x[at]), box[1] + int(layout.y[at]),
         box[2] + int(layout.x[at]), box[3] + int(layout.y[at]))
        for at in parts for box, _ in layout.boxes(at, int(layout.flip[at]))
    ]  # fmt: skip
    return union(boxes)


def _best_cut(layout: Layout, rooms: Sequence[Box], wanted: float, reach: float) -> float:
    """Where fewest nets and items pass, near the wanted place."""
    spans = [
        (min(at[0] for at in places), max(at[0] for at in places))
        for places in map(layout.pin_places, range(len(layout.nets))) if places
    ]  # fmt: skip
    steps = [wanted + step for step in range(-int(reach), int(reach) + 1)]
    return min(
        steps,
        key=lambda x: (
            sum(low < x < high for low, high in spans) + 3 * sum(room[0] < x < room[2] for room in rooms),
            abs(x - wanted),
        ),
    )
