"""What is moved as one: columns of standing elements, lying elements, amplifiers with feedback, boxes."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

from domain.circuit.schematic.figures import Crossed, Quad, load_of
from domain.circuit.schematic.parts import TRANSISTORS, TWO_POLES, Page
from domain.circuit.schematic.roles import Roles
from domain.circuit.schematic.symbols import DOWN, UP, Shape, shape_of, text_width

_BESIDE = 4
"""From an upright element to what is parallel to it."""
_ABOVE = 3
"""From a lying element to what is parallel to it."""
WINDING_WIDTH = 4
"""From winding to winding of a transformer."""
_LEG = 6
"""From leg to leg of a rectifier."""
_CROSSED = (3, 6, 16)
"""Of transistors coupled crosswise: from the left one to its coupling, to the other's load, to the other."""
_QUAD = (8, 22)
"""Of two pairs above a third: from the first transistor to its mate, to the last of the four."""
_SHORT = 5
"""Of texts: for which there is room between the two of a quad's pair."""
_AROUND = 4
"""From an amplifier's middle to the element that leads around it."""


class Member(NamedTuple):
    """A part within an item, away from its row's place."""

    part: int
    dx: int
    dy: int


class Item(NamedTuple):
    """Rows one below the other; the gaps between them can be stretched."""

    rows: tuple[tuple[Member, ...], ...]

    @property
    def parts(self) -> tuple[int, ...]:
        return tuple(member.part for row in self.rows for member in row)


class Items(NamedTuple):
    """All of a page, and where the rails' only elements go."""

    items: tuple[Item, ...]
    apart: tuple[int, ...]
    """Elements between rails only: a row at the end."""


def items_of(page: Page, roles: Roles) -> Items:
    return _Items(page, roles).found()


class _Items:
    def __init__(self, page: Page, roles: Roles) -> None:
        self.parts, self.roles = page.parts, roles
        self.signs = roles.rails.signs
        self.beside: dict[int, list[Member]] = {}
        self.gone: set[int] = set()
        self.ends: dict[int, tuple[str, str]] = {}
        """Upper and lower net of what stands."""
        for at in roles.drawn:
            if roles.upright[at]:
                shape = shape_of(self.parts[at], roles.turns[at], flip=False, sides=roles.sides[at])
                self.ends[at] = _ends(shape, {pin.role: pin.net for pin in self.parts[at].pins})
        self.count: dict[str, int] = {}
        self.pins: dict[str, list[tuple[int, str]]] = {}
        for at in roles.drawn:
            for pin in self.parts[at].pins:
                self.count[pin.net] = self.count.get(pin.net, 0) + 1
                self.pins.setdefault(pin.net, []).append((at, pin.role))

    def found(self) -> Items:
        apart = [
            at for at in self.roles.drawn
            if self.parts[at].kind in TWO_POLES
            and all(map(self._is_told, self.parts[at].nets))
        ]  # fmt: skip
        self.gone |= set(apart)
        figures = self._figures()
        self._parallel()
        self._around_amplifiers()
        below = self._links()
        items: list[Item] = list(figures)
        heads = set(below.values())
        for at in self.roles.drawn:
            if at in self.gone or at in heads:
                continue
            rows = []
            walk: int | None = at
            while walk is not None:
                rows.append((Member(walk, 0, 0), *self.beside.get(walk, ())))
                walk = below.get(walk)
            items.append(Item(tuple(rows)))
        for windings in self.roles.windings:
            items = _with_transformer(items, *windings)
        return Items(tuple(items), tuple(apart))

    def _figures(self) -> list[Item]:
        """What stands as a whole: rectifiers' legs side by side, pairs coupled by elements."""
        found = []
        for bridge in self.roles.bridges:
            columns = [
                [Member(leg[row], _LEG * number, 0) for number, leg in enumerate(bridge.legs)]
                for row in (0, 1)
            ]
            found.append(Item(tuple(map(tuple, columns))))
        for quad in self.roles.quads:
            inner, width = self._quad_size(quad)
            across = (0, inner, width - inner, width)
            middles = (inner // 2, width - inner // 2)
            rows = [
                [Member(at, x, 0) for at, x in zip(group, xs, strict=False)]
                for group, xs in (
                    (quad.loads, across), (quad.upper, across), (quad.links, middles), (quad.lower, middles),
                ) if group
            ]  # fmt: skip
            order = self.parts[quad.lower[0]].polarity
            found.append(Item(tuple(map(tuple, rows[::order]))))
        for gate in self.roles.gates:
            found.append(Item(tuple(tuple(Member(at, x, 0) for at, x in row) for row in gate.rows)))
        for twin in self.roles.twin_tees:
            found.append(Item((tuple(Member(*place) for place in twin.places(self.signs)),)))
        for stage in self.roles.filter_stages:
            is_supplied = bool(self.roles.sides[stage.amplifier].top)
            members = [Member(*place) for place in stage.places(is_supplied=is_supplied)]
            found.append(Item(((*members, *self._below(stage.amplifier)),)))
        for pair in self.roles.crossed:
            found.append(self._crossed(pair))
        self.gone |= {at for item in found for at in item.parts}
        return found

    def _quad_size(self, quad: Quad) -> tuple[int, int]:
        """From the first to its mate, and to the last one; further apart where texts are long."""
        texts = [text for at in quad.upper for text in (self.parts[at].shown, *self.parts[at].values)]
        wide = math.ceil(max(map(text_width, texts)))
        inner, width = _QUAD
        return (inner, width) if wide <= _SHORT else (2 * wide + 3, 4 * wide + 12)

    def _crossed(self, pair: Crossed) -> Item:
        """Loads, couplings, transistors: the other way round where their outputs are below."""
        left, right = self.parts[pair.left], self.parts[pair.right]
        nets = (left.net("out"), right.net("in"), left.net("in"), right.net("out"))
        loads = [load_of(net, left.polarity, self.parts, self.pins, self.signs) for net in nets]
        outer, inner, width = _CROSSED
        columns = (0, inner, width - inner, width)
        rows = [
            [Member(at, x, 0) for at, x in zip(loads, columns, strict=True) if at is not None],
            [
                member
                for at, x in zip(pair.couplings, (outer, width - outer), strict=True)
                for member in (Member(at, x, 0), *self._over(at, x))
            ],
            [Member(pair.left, 0, 0), Member(pair.right, width, 0)],
        ]
        return Item(tuple(tuple(row) for row in rows[:: left.polarity] if row))

    def _over(self, coupling: int, x: int) -> list[Member]:
        """What is parallel to a lying element, above it."""
        ends = {*self.parts[coupling].nets}
        parallel = [
            at for at in self.roles.drawn
            if at != coupling and self.parts[at].kind in "rc" and {*self.parts[at].nets} == ends
        ]  # fmt: skip
        return [Member(at, x, -_ABOVE * number) for number, at in enumerate(parallel, start=1)]

    def _below(self, amplifier: int) -> list[Member]:
        """What leads from an amplifier's output to its inverting input, which is below."""
        part = self.parts[amplifier]
        back = [
            at for at in self.roles.drawn
            if self.parts[at].kind in "rcld" and {*self.parts[at].nets} == {part.net("n"), part.net("out")}
        ]  # fmt: skip
        room = _AROUND + (2 if self.roles.sides[amplifier].bottom else 0)
        return [Member(at, 0, room + _ABOVE * number) for number, at in enumerate(back)]

    def _is_told(self, net: str) -> bool:
        """No wire goes there."""
        return net in self.signs or self.count[net] == 1 or net in self.roles.labelled

    def _parallel(self) -> None:
        """Elements between the same two nodes: side by side, or one above the other."""
        groups: dict[tuple[frozenset[str], bool], list[int]] = {}
        for at in self.roles.drawn:
            part = self.parts[at]
            if at not in self.gone and part.kind in "rcld" and len({*part.nets}) == 2:
                groups.setdefault((frozenset(part.nets), self.roles.upright[at]), []).append(at)
        left, right = ({each[side] for each in self.roles.windings} for side in (0, 1))
        for (ends, upright), group in groups.items():
            wound = [at for at in group if at in left | right]
            main = (wound or group)[0]
            others = [at for at in group if at != main]
            beside = -_BESIDE if main in left else _BESIDE  # not between a transformer's windings
            if upright:
                across = self._channel(ends)
                if across is not None and not ends & self.signs.keys():
                    for number, at in enumerate(group, start=1):
                        self._attach(across, at, 4 * number, 0)
                    continue
            for number, at in enumerate(others, start=1):
                if upright:
                    self._attach(main, at, beside * number, 0)
                else:
                    self._attach(main, at, 0, -_ABOVE * number)

    def _channel(self, ends: frozenset[str]) -> int | None:
        """The one transistor whose channel lies between the two nodes."""
        found = [
            at for at in self.roles.drawn
            if self.parts[at].kind in TRANSISTORS
            and frozenset((self.parts[at].net("out"), self.parts[at].net("com"))) == ends
        ]  # fmt: skip
        return found[0] if len(found) == 1 and not self.roles.flips[found[0]] else None

    def _attach(self, main: int, at: int, dx: int, dy: int) -> None:
        self.beside.setdefault(main, []).append(Member(at, dx, dy))
        self.gone.add(at)
        for member in self.beside.pop(at, ()):
            self.beside[main].append(Member(member.part, member.dx + dx, member.dy + dy))

    def _around_amplifiers(self) -> None:
        """What leads from the output back to the inverting input lies above the amplifier."""
        for at in self.roles.drawn:
            part = self.parts[at]
            if part.kind != "amp" or part.net("n") == part.net("out"):
                continue
            for role in ("n", "p"):
                ends = {part.net(role), part.net("out")}
                above = (role == "n") != self.roles.flips[at]
                back = [
                    other for other in self.roles.drawn
                    if other not in self.gone and not self.roles.upright[other]
                    and self.parts[other].kind in "rcld" and set(self.parts[other].nets) == ends
                ]  # fmt: skip
                direction = -1 if above else 1
                supplied = self.roles.sides[at].top if above else self.roles.sides[at].bottom
                room = _AROUND + (2 if supplied else 0)
                for other in back[:1]:
                    own = list(self.beside.get(other, ()))
                    self._attach(at, other, 0, direction * room)
                    if direction > 0:  # its parallel ones go outward, too
                        members = self.beside[at]
                        for member in own:
                            place = members.index(Member(member.part, member.dx, member.dy + room))
                            members[place] = Member(member.part, member.dx, room - member.dy)

    def _links(self) -> dict[int, int]:
        """Upper -> lower element of one column."""
        tails = set()
        for left, _ in self.roles.pairs:
            tails.add(self.parts[left].net("com"))
        candidates: list[tuple[int, int, int, int]] = []
        standing = [at for at in self.roles.drawn if at in self.ends and at not in self.gone]
        for upper in standing:
            for lower in standing:
                net = self.ends[upper][1]
                if upper == lower or net != self.ends[lower][0] or net in self.signs or net in tails:
                    continue
                if net in self.roles.labelled:
                    continue
                both = sum(self.parts[at].kind in TRANSISTORS for at in (upper, lower))
                series = self.count[net] == 2
                pair = self._is_load_of(upper, lower)
                order = 0 if pair else 1 if series else 3 - both
                if self._is_folded(upper, lower, net):
                    order = 5
                candidates.append((order, self._source_last(upper, lower), upper, lower))
        below: dict[int, int] = {}
        above: dict[int, int] = {}
        for _, _, upper, lower in sorted(candidates):
            if upper in below or lower in above or self._is_above(lower, upper, below):
                continue
            below[upper], above[lower] = lower, upper
        return below

    def _is_load_of(self, upper: int, lower: int) -> bool:
        members = {at for pair in self.roles.pairs for at in pair}
        loads = {at for pair in self.roles.loads for at in pair}
        return (upper in loads and lower in members) or (upper in members and lower in loads)

    def _is_folded(self, upper: int, lower: int, net: str) -> bool:
        """A pair's output goes on into a cascode: that one stands on the source, not the pair."""
        members = {at for pair in self.roles.pairs for at in pair}
        for end, other in ((upper, lower), (lower, upper)):
            if end in members and other not in members:
                return any(
                    at not in (*members, other)
                    and self.parts[at].kind in TRANSISTORS
                    and self.parts[at].net("com") == net
                    and self.parts[at].polarity != self.parts[end].polarity
                    for at in self.ends
                )
        return False

    def _source_last(self, upper: int, lower: int) -> int:
        """Signal sources and capacitors stand on their own sooner than resistors do."""
        return sum({"v": 3, "c": 2, "i": 1}.get(self.parts[at].kind, 0) for at in (upper, lower))

    @staticmethod
    def _is_above(start: int, goal: int, below: dict[int, int]) -> bool:
        walk: int | None = start
        while walk is not None:
            if walk == goal:
                return True
            walk = below.get(walk)
        return False


def _with_transformer(items: list[Item], left: int, right: int) -> list[Item]:
    """The columns of two windings as one item, in which they are side by side; unless they are one column."""
    first, second = (next(item for item in items if at in item.parts) for at in (left, right))
    if first is second:
        return items
    (row, place), (other_row, other_place) = (
        next((number, member) for number, row in enumerate(item.rows) for member in row if member.part == at)
        for item, at in ((first, left), (second, right))
    )
    dx = place.dx + WINDING_WIDTH - other_place.dx
    shift, down = other_row - row, max(0, other_row - row)
    count = max(len(first.rows) + down, len(second.rows) - shift + down)
    rows: list[list[Member]] = [[] for _ in range(count)]
    for number, members in enumerate(first.rows):
        rows[number + down] += members
    for number, members in enumerate(second.rows):
        rows[number - shift + down] += [Member(at, x + dx, y) for at, x, y in members]
    if any(abs(a.dx - b.dx) < WINDING_WIDTH and a.dy == b.dy
           for group in rows for a, b in itertools.combinations(group, 2)):  # fmt: skip
        return items
    joined = Item(tuple(map(tuple, rows)))
    return [joined if item is first else item for item in items if item is not second]


def _ends(shape: Shape, nets: dict[str, str]) -> tuple[str, str]:
    upper = next(pin.role for pin in shape.pins if pin.side == UP)
    lower = next(pin.role for pin in shape.pins if pin.side == DOWN)
    return nets[upper], nets[lower]
