"""Wires: a search on the grid, pin by pin, short nets first; what finds no way is told by name."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from domain.circuit.schematic.symbols import STEPS, Box

Cell = tuple[int, int]
BEND, CROSSING, BESIDE, OVER_TEXT, NEAR_BODY = 3.0, 8.0, 0.6, 1.5, 0.2
_MARGIN = 5
_ROUNDS = 4
_MOST_STEPS = 60_000


class NetPin(NamedTuple):
    """A pin to be reached."""

    cell: Cell
    side: int


class Routed(NamedTuple):
    """What came of all nets."""

    wires: Mapping[str, tuple[tuple[Cell, ...], ...]]
    """Net -> its paths, from corner to corner."""
    loose: Mapping[str, tuple[NetPin, ...]]
    """Net -> pins without a wire: one for each piece that is not joined to the others."""


class Obstacles(NamedTuple):
    """What wires keep off."""

    blocked: frozenset[Cell]
    texts: Sequence[Box]
    pins: Mapping[Cell, str]
    """Ends of pins: only wires of their own net may come there."""


def route(nets: Mapping[str, Sequence[NetPin]], obstacles: Obstacles) -> Routed:
    """All nets; those that fail come first in the next of a few rounds, and the best round counts."""
    cells = [*obstacles.blocked, *obstacles.pins]
    if not cells:
        return Routed({}, {})
    order = sorted(nets, key=lambda net: (_span(nets[net]), net))
    best: Routed | None = None
    for _ in range(_ROUNDS):
        found = _Grid(cells, obstacles).route_all(order, nets)
        failed = [net for net in order if net in found.loose]
        if best is None or _failures(found) < _failures(best):
            best = found
        if not failed:
            break
        order = failed + [net for net in order if net not in failed]
    assert best is not None
    return best


def _failures(routed: Routed) -> int:
    return sum(len(pins) for pins in routed.loose.values())


def _span(pins: Sequence[NetPin]) -> int:
    xs, ys = [pin.cell[0] for pin in pins], [pin.cell[1] for pin in pins]
    return max(xs) - min(xs) + max(ys) - min(ys) + 2 * len(pins)


class _Direction(NamedTuple):
    """One of four, as a search looks at it."""

    turn: int
    step: int
    along: list[int]
    """Which net runs in this direction, by cell."""
    across: list[int]
    near: int
    other: int
    """Steps to the cells on both sides."""


class _Grid:
    """The page as cells: what is blocked, which net runs where."""

    def __init__(self, cells: Sequence[Cell], obstacles: Obstacles) -> None:
        self.x0 = min(cell[0] for cell in cells) - _MARGIN
        self.y0 = min(cell[1] for cell in cells) - _MARGIN
        self.width = max(cell[0] for cell in cells) + _MARGIN - self.x0 + 1
        self.height = max(cell[1] for cell in cells) + _MARGIN - self.y0 + 1
        size = self.width * self.height
        self.blocked = bytearray(size)
        self.node = [-1] * size
        self.lying = [-1] * size
        self.upright = [-1] * size
        self.extra = [0.0] * size
        self.steps = [dx + dy * self.width for dx, dy in STEPS]
        self.ids: dict[str, int] = {}
        for x in range(self.width):
            self.blocked[x] = self.blocked[x + (self.height - 1) * self.width] = 1
        for y in range(self.height):
            self.blocked[y * self.width] = self.blocked[y * self.width + self.width - 1] = 1
        for box in obstacles.texts:
            self._add_text(box)
        for cell in obstacles.blocked:
            at = self.index(cell)
            self.blocked[at] = 1
            for step in self.steps:
                if 0 <= at + step < size:
                    self.extra[at + step] += NEAR_BODY
        for cell, net in obstacles.pins.items():
            at = self.index(cell)
            self.blocked[at] = 0
            self.node[at] = self.id(net)

    def id(self, net: str) -> int:
        return self.ids.setdefault(net, len(self.ids))

    def index(self, cell: Cell) -> int:
        return (cell[1] - self.y0) * self.width + cell[0] - self.x0

    def cell(self, at: int) -> Cell:
        return at % self.width + self.x0, at // self.width + self.y0

    def _add_text(self, box: Box) -> None:
        for x in range(int(box[0] // 1), int(box[2] // 1) + 2):
            for y in range(int(box[1] // 1), int(box[3] // 1) + 2):
                inside = box[0] - 0.1 < x < box[2] + 0.1 and box[1] - 0.1 < y < box[3] + 0.1
                if inside and 0 <= x - self.x0 < self.width and 0 <= y - self.y0 < self.height:
                    self.extra[self.index((x, y))] += OVER_TEXT

    def route_all(self, order: Iterable[str], nets: Mapping[str, Sequence[NetPin]]) -> Routed:
        wires: dict[str, tuple[tuple[Cell, ...], ...]] = {}
        loose: dict[str, tuple[NetPin, ...]] = {}
        for net in order:
            paths, apart = self._route(net, nets[net])
            wires[net] = tuple(paths)
            if apart:
                loose[net] = tuple(apart)
        return Routed(wires, loose)

    def _route(self, net: str, pins: Sequence[NetPin]) -> tuple[list[tuple[Cell, ...]], list[NetPin]]:
        own = self.id(net)
        sides = {self.index(pin.cell): pin.side for pin in pins}
        waiting = {self.index(pin.cell): pin for pin in pins}
        paths: list[tuple[Cell, ...]] = []
        roots: list[NetPin] = []
        tree: set[int] = set()
        while waiting:
            if not tree:
                first = self._first(waiting)
                roots.append(waiting.pop(first))
                tree = {first}
                continue
            path = self._search(own, tree, set(waiting), sides)
            if path is None:  # another piece begins; names join them
                tree = set()
                continue
            self._lay(own, path)
            paths.append(tuple(self._corners(path)))
            tree |= set(path)
            for at in path:
                waiting.pop(at, None)
        return paths, roots if len(roots) > 1 else []

    def _first(self, waiting: Mapping[int, NetPin]) -> int:
        """Of the two pins nearest to each other."""
        if len(waiting) == 1:
            return next(iter(waiting))
        cells = {at: self.cell(at) for at in waiting}
        return min(
            waiting,
            key=lambda at: min(
                (
                    abs(cells[at][0] - x) + abs(cells[at][1] - y)
                    for other, (x, y) in cells.items()
                    if other != at
                ),
                default=0,
            ),
        )

    def _search(
        self, own: int, tree: set[int], goals: set[int], sides: Mapping[int, int]
    ) -> list[int] | None:
        """The cheapest way from the tree to one of the goals."""
        width = self.width
        marks = [(at % width, at // width) for at in goals]
        node, blocked, extra = self.node, self.blocked, self.extra
        directions = self._directions()

        @cache
        def ahead(at: int) -> int:
            y, x = divmod(at, width)
            return min([abs(x - gx) + abs(y - gy) for gx, gy in marks])

        # A cell and the way it was reached by are one number: this is the loop that drawings wait for.
        costs = {at * 5: 0.0 for at in tree if self._takes_joint(own, at)}
        heap = [(float(ahead(state // 5)), 0.0, state) for state in sorted(costs)]
        heapq.heapify(heap)
        came: dict[int, int] = {}
        steps = 0
        while heap:
            _, cost, state = heapq.heappop(heap)
            if cost > costs[state]:
                continue
            at, way = divmod(state, 5)
            way -= 1
            if at in goals:
                return self._path(came, state)
            steps += 1
            if steps > _MOST_STEPS:
                return None
            straight = way
            if way < 0 and at in sides and self._is_free(at):
                straight = sides[at]  # leaving a pin sideways is a bend, too
            crosses = way >= 0 and directions[way].across[at] not in (-1, own)
            for turn, step, along, across, near, other in directions:
                if way >= 0 and (turn == way ^ 2 or (crosses and turn != way)):
                    continue
                to = at + step
                if blocked[to] or node[to] not in (-1, own):
                    continue
                if along[to] not in (-1, own) or to in tree:
                    continue
                is_near = along[to + near] not in (-1, own), along[to + other] not in (-1, own)
                turning = BEND if straight not in (-1, turn) else 0.0
                turning += CROSSING if across[to] not in (-1, own) else 0.0
                more = 1.0 + extra[to] + (turning + BESIDE * sum(is_near))
                if to in goals and sides[to] != turn ^ 2:
                    more += BEND * 0.8
                total = cost + more
                key = to * 5 + turn + 1
                if total < costs.get(key, 1e18) - 1e-9:
                    costs[key] = total
                    came[key] = state
                    heapq.heappush(heap, (total + ahead(to), total, key))
        return None

    def _takes_joint(self, own: int, at: int) -> bool:
        """No other net crosses here."""
        return self.lying[at] in (-1, own) and self.upright[at] in (-1, own)

    def _directions(self) -> tuple[_Direction, ...]:
        """In the order of `STEPS`."""
        left, up, right, down = self.steps
        lying, upright = self.lying, self.upright
        return (
            _Direction(0, left, lying, upright, up, down),
            _Direction(1, up, upright, lying, left, right),
            _Direction(2, right, lying, upright, up, down),
            _Direction(3, down, upright, lying, left, right),
        )

    def _is_free(self, at: int) -> bool:
        """No wire has come to this pin yet."""
        return self.lying[at] < 0 and self.upright[at] < 0

    @staticmethod
    def _path(came: Mapping[int, int], end: int) -> list[int]:
        path = [end // 5]
        while end in came:
            end = came[end]
            path.append(end // 5)
        return path[::-1]

    def _lay(self, own: int, path: Sequence[int]) -> None:
        for number, at in enumerate(path):
            before = at - path[number - 1] if number else 0
            behind = path[number + 1] - at if number + 1 < len(path) else 0
            for step in (before, behind):
                if step:
                    (self.lying if abs(step) == 1 else self.upright)[at] = own
            if number in (0, len(path) - 1) or before != behind:
                self.node[at] = own

    def _corners(self, path: Sequence[int]) -> list[Cell]:
        kept = [
            at for number, at in enumerate(path)
            if number in (0, len(path) - 1) or at - path[number - 1] != path[number + 1] - at
        ]  # fmt: skip
        return [self.cell(at) for at in kept]
