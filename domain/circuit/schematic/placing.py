"""The search for places: a constructive start, annealing on whole items, a polish that only gets better."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from domain.circuit.schematic.items import WINDING_WIDTH, Item
from domain.circuit.schematic.layout import PAIR_WIDTH, Layout
from domain.circuit.schematic.symbols import DOWN, LEFT, RIGHT, UP, Sides

ROW = 4
"""Height of an upright element with its leads."""
GAP = 2
_HOT, _COLD = 14.0, 0.25
_MOST_TRIED, _LEAST_TRIED = 160, 12
"""Places tried for an item of a small page, and of a large one."""


class Place(NamedTuple):
    """Where a part stands, and how."""

    x: int
    y: int
    flip: bool
    turn: int
    upright: bool
    sides: Sides


def put(layout: Layout, item: Item, x: int, y: int) -> None:
    """Stand an item with its first row at a place, its gaps at their least."""
    for number, row in enumerate(item.rows):
        for member in row:
            layout.x[member.part] = x + member.dx
            layout.y[member.part] = y + number * (ROW + GAP) + member.dy
            layout.placed[member.part] = True


def construct(layout: Layout, kept: Sequence[Item] = ()) -> None:
    """Item for item in the order of the signal, each where it costs least; `kept` ones stand already."""
    number = {id(item): at for at, item in enumerate(layout.items.items)}
    waiting = [item for item in layout.items.items if not any(item is each for each in kept)]
    waiting.sort(key=lambda item: (min(layout.ranks[at] for at in item.parts), number[id(item)]))
    done: list[Item] = list(kept)
    mates: dict[int, tuple[int, int]] = {}
    for groups, width in ((layout.roles.pairs, PAIR_WIDTH), (layout.roles.windings, WINDING_WIDTH)):
        for left, right in groups:
            mates |= {left: (right, -width), right: (left, width)}
    while waiting:
        item = _next(layout, waiting, done)
        waiting.remove(item)
        _insert(layout, item, done, mates)
        done.append(item)


def _next(layout: Layout, waiting: list[Item], done: list[Item]) -> Item:
    """The earliest of those that touch what stands; else the earliest."""
    known = {net for item in done for at in item.parts for net in layout.nets_of[at]}
    for item in waiting[:6]:
        if any(net in known for at in item.parts for net in layout.nets_of[at]):
            return item
    return waiting[0]


def _insert(layout: Layout, item: Item, done: Sequence[Item], mates: dict[int, tuple[int, int]]) -> None:
    if not done:
        put(layout, item, 0, 0)
        layout.touch(item.parts)
        return
    best: tuple[float, int, int] | None = None
    for x, y in _candidates(layout, item, mates):
        put(layout, item, x, y)
        layout.touch(item.parts)
        cost = layout.cost(best[0] if best is not None else math.inf)
        if best is None or cost < best[0] - 1e-9:
            best = (cost, x, y)
    assert best is not None
    put(layout, item, best[1], best[2])
    layout.touch(item.parts)


def _candidates(layout: Layout, item: Item, mates: dict[int, tuple[int, int]]) -> list[tuple[int, int]]:
    """Places that bring a pin of the item into line with a pin that stands; and free ones at the edge."""
    found: dict[tuple[int, int], None] = {}
    for at in item.parts:
        layout.placed[at] = False
    live = layout.placed
    put_at = {member.part: (member.dx, number * (ROW + GAP) + member.dy)
              for number, row in enumerate(item.rows) for member in row}  # fmt: skip
    for at in item.parts:
        if at in mates:
            other, step = mates[at]
            if live[other]:
                dx, dy = put_at[at]
                found[(int(layout.x[other]) + step - dx, int(layout.y[other]) - dy)] = None
        for net in layout.nets_of[at]:
            own = [(dx + put_at[at][0], dy + put_at[at][1], side)
                   for part, variants in layout.pins[net] if part == at
                   for dx, dy, side in (variants[layout.flip[at]],)]  # fmt: skip
            for x, y, side in layout.pin_places(net)[:6]:
                for dx, dy, own_side in own:
                    for gap in (2, 4, 7, 10):
                        for px, py in _facing(x, y, side, own_side, gap):
                            found[(px - dx, py - dy)] = None
    if live.any():
        xs, ys = layout.x[live], layout.y[live]
        right, left = int(xs.max()), int(xs.min())
        middle = int(np.median(ys))
        for y in (middle, middle - 6, middle + 6, int(ys.max()) + 6):
            found[(right + 8, y)] = None
        found[(left - 8, middle)] = None
        for x in range(left, right + 9, 4):
            found[(x, int(ys.max()) + 8)] = None
            found[(x, int(ys.min()) - 8 - (ROW + GAP) * (len(item.rows) - 1))] = None
    return list(found)[: max(_LEAST_TRIED, _MOST_TRIED - 2 * len(layout.items.items))]


def _facing(x: int, y: int, side: int, own: int, gap: int) -> list[tuple[int, int]]:
    """Where a pin may stand to be joined to one that goes out to `side`."""
    steps = {LEFT: (-1, 0), RIGHT: (1, 0), UP: (0, -1), DOWN: (0, 1)}
    dx, dy = steps[side]
    found = [(x + dx * gap, y + dy * gap)]
    if own in (UP, DOWN) or side in (UP, DOWN):
        found += [(x + gap, y), (x - gap, y)]
        found += [(x + gap, y + (2 if own == UP else -2)), (x - gap, y + (2 if own == UP else -2))]
    return found


# ---- moves --------------------------------------------------------------------------------------------


class Mover:
    """Makes moves on a layout, and takes them back."""

    def __init__(self, layout: Layout, rng: random.Random) -> None:
        self.layout, self.rng = layout, rng
        self.items = list(layout.items.items)
        self.item_of = {at: item for item in self.items for at in item.parts}
        self.row_of = {
            member.part: number
            for item in self.items
            for number, row in enumerate(item.rows)
            for member in row
        }
        self.wired = [net for net, pins in enumerate(layout.pins) if len({at for at, _ in pins}) > 1]
        self.tall = [item for item in self.items if len(item.rows) > 1]

    def any_move(self) -> list[tuple[int, int, int]]:
        """[(part, dx, dy)] of a move chosen by chance."""
        draw = self.rng.random()
        if draw < 0.45 and self.wired:
            return self._align()
        if draw < 0.65:
            return self._shift()
        if draw < 0.73 and len(self.items) > 1:
            return self._swap()
        if draw < 0.85 and self.tall:
            return self._stretch()
        return self._cut()

    def _align(self) -> list[tuple[int, int, int]]:
        layout, rng = self.layout, self.rng
        pins = layout.pins[rng.choice(self.wired)]
        (one, one_variants), (other, other_variants) = rng.sample(pins, 2)
        if self.item_of[one] is self.item_of[other]:
            return self._shift()
        ax, ay, side = one_variants[layout.flip[one]]
        bx, by, _ = other_variants[layout.flip[other]]
        dx = int(layout.x[other]) + bx - int(layout.x[one]) - ax
        dy = int(layout.y[other]) + by - int(layout.y[one]) - ay
        item, row = self.item_of[one], self.row_of[one]
        along_y = side in (LEFT, RIGHT) if rng.random() < 0.75 else side in (UP, DOWN)
        if rng.random() < 0.12:
            return _whole(item, dx + rng.choice((-3, -2, 2, 3)), dy)
        if along_y:
            if len(item.rows) > 1 and rng.random() < 0.5:
                return _from_row(item, row, dy) if rng.random() < 0.5 else _to_row(item, row, dy)
            return _whole(item, 0, dy)
        return _whole(item, dx, 0)

    def _shift(self) -> list[tuple[int, int, int]]:
        item = self.rng.choice(self.items)
        step = self.rng.choice((-4, -3, -2, -1, 1, 2, 3, 4))
        return _whole(item, step, 0) if self.rng.random() < 0.5 else _whole(item, 0, step)

    def _swap(self) -> list[tuple[int, int, int]]:
        one, other = self.rng.sample(self.items, 2)
        a, b = one.parts[0], other.parts[0]
        dx = int(self.layout.x[b] - self.layout.x[a])
        dy = int(self.layout.y[b] - self.layout.y[a])
        return _whole(one, dx, dy) + _whole(other, -dx, -dy)

    def _stretch(self) -> list[tuple[int, int, int]]:
        item = self.rng.choice(self.tall)
        row = self.rng.randrange(1, len(item.rows))
        step = self.rng.choice((-3, -2, -1, 1, 2, 3))
        return _from_row(item, row, step) if self.rng.random() < 0.5 else _to_row(item, row - 1, step)

    def _cut(self) -> list[tuple[int, int, int]]:
        """All that is right of a line, or below it, gives way or closes up."""
        layout, rng = self.layout, self.rng
        step = rng.choice((-3, -2, -1, 1, 2, 3))
        pivot = rng.choice(layout.moving)
        if rng.random() < 0.6:
            limit = int(layout.x[pivot])
            chosen = [item for item in self.items if int(layout.x[item.parts[0]]) >= limit]
            return [move for item in chosen for move in _whole(item, step, 0)]
        limit = int(layout.y[pivot])
        moves = []
        for item in self.items:
            for row in item.rows:
                if int(layout.y[row[0].part]) >= limit:
                    moves += [(member.part, 0, step) for member in row]
        return moves

    def apply(self, moves: Sequence[tuple[int, int, int]]) -> bool:
        """Make the moves; False (and nothing done) when a column would be too tight."""
        layout = self.layout
        for at, dx, dy in moves:
            layout.x[at] += dx
            layout.y[at] += dy
        for item in {id(self.item_of[at]): self.item_of[at] for at, _, _ in moves}.values():
            if len(item.rows) > 1 and not self._is_open(item):
                self.undo(moves)
                return False
        return True

    def undo(self, moves: Sequence[tuple[int, int, int]]) -> None:
        for at, dx, dy in moves:
            self.layout.x[at] -= dx
            self.layout.y[at] -= dy

    def _is_open(self, item: Item) -> bool:
        ys = [int(self.layout.y[row[0].part]) for row in item.rows]
        return all(low - high >= ROW + GAP for high, low in itertools.pairwise(ys))


def _whole(item: Item, dx: int, dy: int) -> list[tuple[int, int, int]]:
    return [(at, dx, dy) for at in item.parts]


def _from_row(item: Item, row: int, dy: int) -> list[tuple[int, int, int]]:
    return [(member.part, 0, dy) for each in item.rows[row:] for member in each]


def _to_row(item: Item, row: int, dy: int) -> list[tuple[int, int, int]]:
    return [(member.part, 0, dy) for each in item.rows[: row + 1] for member in each]


def anneal(layout: Layout, rng: random.Random, moves: int) -> float:
    """Improve by chance moves, worse ones taken while it is hot; then only better ones. The cost reached."""
    if not layout.moving:
        return 0.0
    mover = Mover(layout, rng)
    cost = layout.cost()
    best, best_places = cost, _snapshot(layout)
    for number in range(moves):
        heat = _HOT * (_COLD / _HOT) ** (number / max(moves, 1))
        if layout.can_flip and rng.random() < 0.03:
            cost = _try_flip(layout, rng, cost, heat)
        else:
            cost = _try(layout, mover, mover.any_move(), cost, heat=heat, rng=rng)
        if cost < best - 1e-9:
            best, best_places = cost, _snapshot(layout)
    restore(layout, best_places)
    return polish(layout, rng, max(moves // 3, 100))


def polish(layout: Layout, rng: random.Random, moves: int) -> float:
    """The same moves, only better ones taken."""
    if not layout.moving:
        return 0.0
    mover = Mover(layout, rng)
    cost = layout.cost()
    for _ in range(moves):
        cost = _try(layout, mover, mover.any_move(), cost, heat=0.0, rng=rng)
    return cost


def _try(
    layout: Layout,
    mover: Mover,
    moves: list[tuple[int, int, int]],
    cost: float,
    *,
    heat: float,
    rng: random.Random,
) -> float:
    if not moves or all(dx == dy == 0 for _, dx, dy in moves) or not mover.apply(moves):
        return cost
    old = layout.touch({at for at, _, _ in moves})
    most = _most(cost, heat, rng)
    found = layout.cost(most)
    if found <= most:
        return found
    mover.undo(moves)
    layout.put_back(old)
    return cost


def _try_flip(layout: Layout, rng: random.Random, cost: float, heat: float) -> float:
    at = rng.choice(layout.can_flip)
    layout.flip[at] ^= 1
    old = layout.touch([at])
    most = _most(cost, heat, rng)
    found = layout.cost(most)
    if found <= most:
        return found
    layout.flip[at] ^= 1
    layout.put_back(old)
    return cost


def _most(cost: float, heat: float, rng: random.Random) -> float:
    """What a move may cost: a worsening by d is taken with the chance exp(-d / heat) (Metropolis)."""
    return cost - heat * math.log(1.0 - rng.random()) if heat > 0 else cost


def _snapshot(layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return layout.x.copy(), layout.y.copy(), layout.flip.copy()


def restore(layout: Layout, places: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    layout.x[:], layout.y[:], layout.flip[:] = places
    layout.touch(layout.moving)


def rows_of(layout: Layout, apart: Iterable[int]) -> None:
    """Elements that no wire leads to, in a row: below a wide drawing, else right of it."""
    live = layout.placed
    left, top, right, bottom = (
        (
            int(layout.x[live].min()),
            int(layout.y[live].min()),
            int(layout.x[live].max()),
            int(layout.y[live].max()),
        )
        if live.any()
        else (0, 0, 0, -10)
    )
    is_below = right - left > bottom - top
    x, y = (left + 2, bottom + 10) if is_below else (right + 9, (top + bottom) // 2)
    for number, at in enumerate(apart):
        layout.x[at], layout.y[at], layout.placed[at] = x + 9 * (number % 8), y + 10 * (number // 8), True
