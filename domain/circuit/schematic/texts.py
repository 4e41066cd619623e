"""Where texts stand: beside their part or wire, over nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from domain.circuit.schematic.display import Anchor, Text, TextRole
from domain.circuit.schematic.symbols import CHAR, LINE, Box, text_width

_RING = 12
"""Half units to which a text goes in search of room."""


class Block(NamedTuple):
    """Lines that stay together, with places for their left upper corner, the best first."""

    lines: tuple[tuple[str, TextRole], ...]
    corners: tuple[tuple[float, float, Anchor], ...]
    element: str = ""
    net: str = ""
    is_row: bool = False
    """The lines stand one behind the other."""

    @property
    def width(self) -> float:
        return width_of(self.lines, is_row=self.is_row)

    @property
    def height(self) -> float:
        return LINE if self.is_row else LINE * len(self.lines)


def width_of(lines: Iterable[tuple[str, TextRole]], *, is_row: bool = False) -> float:
    """Of lines below each other, or in a row with a space between two."""
    widths = [text_width(line) for line, _ in lines]
    return sum(widths) + CHAR * (len(widths) - 1) if is_row else max(widths)


class Room:
    """What is taken."""

    def __init__(self, taken: Iterable[Box]) -> None:
        self._cells: dict[tuple[int, int], list[Box]] = {}
        for box in taken:
            self.take(box)

    def take(self, box: Box) -> None:
        for cell in _cells(box):
            self._cells.setdefault(cell, []).append(box)

    def is_free(self, box: Box) -> bool:
        for cell in _cells(box):
            for other in self._cells.get(cell, ()):
                if box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]:
                    return False
        return True

    def has_place(self, block: Block) -> bool:
        """Whether one of its corners is free."""
        return any(self.is_free((x, y, x + block.width, y + block.height)) for x, y, _ in block.corners)

    def put_beside(self, blocks: Sequence[Block], body: Box, others: Sequence[Box]) -> list[Text]:
        """The texts of an element, of several ways to write them the first that finds a place beside its
        body; else the first that finds one where none of the `others` is nearer; else as `put`."""
        for block in blocks:
            if self.has_place(block):
                return self.put(block)
        for block in blocks:
            for x, y, anchor in _places(block, far=_RING):
                box = (x, y, x + block.width, y + block.height)
                if self.is_free(box) and not _is_nearer(box, body, others):
                    return self._stand(block, box, anchor)
        return self.put(blocks[0])

    def put(self, block: Block, *, must: bool = True, far: int = _RING) -> list[Text]:
        """The block's texts at the first free place, up to `far` half units away if none is beside it.

        [] where nothing is free and it need not stand.
        """
        for x, y, anchor in _places(block, far=far):
            box = (x, y, x + block.width, y + block.height)
            if self.is_free(box):
                return self._stand(block, box, anchor)
        if not must:
            return []
        x, y, anchor = block.corners[0]
        return self._stand(block, (x, y, x + block.width, y + block.height), anchor)

    def _stand(self, block: Block, box: Box, anchor: Anchor) -> list[Text]:
        self.take(box)
        texts = []
        if block.is_row:
            left, middle = box[0], (box[1] + box[3]) / 2
            for line, role in block.lines:
                right = left + text_width(line)
                texts.append(Text(line, (round(left, 3), round(middle, 3)), "start", role, block.element,
                                  block.net, (left, box[1], right, box[3])))  # fmt: skip
                left = right + CHAR
            return texts
        for number, (line, role) in enumerate(block.lines):
            top = box[1] + number * LINE
            width = text_width(line)
            at = {"start": box[0], "middle": (box[0] + box[2]) / 2, "end": box[2]}[anchor]
            left = {"start": at, "middle": at - width / 2, "end": at - width}[anchor]
            texts.append(
                Text(line, (round(at, 3), round(top + LINE / 2, 3)), anchor, role, block.element, block.net,
                     (left, top, left + width, top + LINE))
            )  # fmt: skip
        return texts


def _places(block: Block, *, far: int) -> Iterator[tuple[float, float, Anchor]]:
    yield from block.corners
    for ring in range(1, far + 1):
        away = ring * 0.5
        for x, y, anchor in block.corners:
            for dx, dy in (
                (0, -away),
                (0, away),
                (away, 0),
                (-away, 0),
                (away, -away),
                (-away, -away),
                (away, away),
                (-away, away),
            ):
                yield x + dx, y + dy, anchor


def _is_nearer(box: Box, body: Box, others: Sequence[Box]) -> bool:
    """Whether another body than its own is as near to a box."""
    own = _apart(box, body)
    return any(_apart(box, other) <= own for other in others if other != body)


def _apart(one: Box, other: Box) -> float:
    across = max(one[0] - other[2], other[0] - one[2], 0.0)
    upward = max(one[1] - other[3], other[1] - one[3], 0.0)
    return max(across, upward)


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for x in range(int(box[0] // 4), int(box[2] // 4) + 1):
        for y in range(int(box[1] // 4), int(box[3] // 4) + 1):
            yield x, y


def beside(
    body: Box,
    lines: Sequence[tuple[str, TextRole]],
    *,
    upright: bool,
    left_first: bool,
    is_row: bool = False,
) -> list[tuple[float, float, Anchor]]:
    """Places for an element's lines: right or left of one that stands, above or below one that lies."""
    width, height = width_of(lines, is_row=is_row), LINE if is_row else LINE * len(lines)
    left, top, right, bottom = body
    middle, center = (top + bottom) / 2, (left + right) / 2
    sides: list[tuple[float, float, Anchor]] = []
    to_right: list[tuple[float, float, Anchor]] = [
        (right + 0.3, middle - height / 2 + shift, "start") for shift in (0, -0.6, 0.6, -1.2, 1.2)
    ]
    to_left: list[tuple[float, float, Anchor]] = [
        (left - 0.3 - width, middle - height / 2 + shift, "end") for shift in (0, -0.6, 0.6, -1.2, 1.2)
    ]
    above: list[tuple[float, float, Anchor]] = [
        (center - width / 2 + shift, top - 0.25 - height, "middle") for shift in (0, 0.5, -0.5, 1, -1)
    ]
    below: list[tuple[float, float, Anchor]] = [
        (center - width / 2 + shift, bottom + 0.25, "middle") for shift in (0, 0.5, -0.5, 1, -1)
    ]
    if upright:
        sides = [*to_left, *to_right] if left_first else [*to_right, *to_left]
        return [*sides, *above[:1], *below[:1]]
    return [*above, *below, *to_right[:1], *to_left[:1]]


def along(points: Sequence[tuple[int, int]], text: str) -> list[tuple[float, float, Anchor]]:
    """Places for a net's name at a wire: above its lying pieces, right or left of the others."""
    width = text_width(text)
    found: list[tuple[float, float, Anchor]] = []
    pieces = sorted(itertools.pairwise(points), key=lambda each: -_length(each))
    for (x1, y1), (x2, y2) in pieces:
        if y1 == y2:
            low, high = min(x1, x2), max(x1, x2)
            if high - low >= width + 0.2:
                at = low + 0.3
                while at + width <= high:
                    found.append((at, y1 - LINE - 0.08, "start"))
                    at += 1
    for (x1, y1), (x2, y2) in pieces:
        if y1 == y2:
            low, high = min(x1, x2), max(x1, x2)
            middle = (low + high - width) / 2
            found += [(middle, y1 - LINE - 0.08, "start"), (middle, y1 + 0.1, "start")]
            found += [
                (low + 0.15, y1 - LINE - 0.08, "start"),
                (high - width - 0.15, y1 - LINE - 0.08, "start"),
            ]
        else:
            for y in range(min(y1, y2), max(y1, y2) + 1):
                found += [(x1 + 0.2, y - LINE / 2, "start"), (x1 - 0.2 - width, y - LINE / 2, "end")]
                found += [(x1 + 0.2, y - LINE, "start")]
    return found


def _length(piece: tuple[tuple[int, int], tuple[int, int]]) -> int:
    return abs(piece[0][0] - piece[1][0]) + abs(piece[0][1] - piece[1][1])
