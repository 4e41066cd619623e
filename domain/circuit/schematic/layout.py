"""A layout under way: where each part stands, and what it costs.

What is weighed, and how much, is known from trials on circuits of many kinds: length of wire, bends,
crossings, wires through bodies, boxes over each other, rails of one kind at one height, the signal from left
to right, pairs side by side.
"""

from __future__ import annotations

import functools
import itertools
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from domain.circuit.schematic.items import WINDING_WIDTH, Items
from domain.circuit.schematic.parts import TRANSISTORS, Page, Part
from domain.circuit.schematic.roles import Roles
from domain.circuit.schematic.symbols import (
    DOWN,
    LEFT,
    LINE,
    RIGHT,
    UP,
    Box,
    Shape,
    flag_box,
    rail_mark,
    shape_of,
    text_width,
)

CROSSING, ALONG, THROUGH, OVERLAP = 6.0, 20.0, 14.0, 4.0
TEXT = 1.5
"""A wire through a text."""
FLOW, RAIL_LINE, PAIR, MATE, WITHIN = 0.8, 0.5, 25.0, 1.2, 4.0
MIRROR = 26.0
"""Of a current mirror's transistors, a unit of height between them."""
LATCH = 3 * PAIR
"""Of two that drive each other: at one height their lines cross as they should, which looks dear here."""
STAGE = 3.0
"""Of stages of one make behind each other, a unit of height between them."""
PAGE_WIDTH, PAGE_HEIGHT = 0.3, 0.6
STUB_BEND, CORNER, BACKWARDS, SIDEWAYS = 4.0, 2.0, 7.0, 1.0
PAIR_WIDTH = 8
_RAIL = 4
"""Transistors whose sources or emitters are on one line: it is as good as a supply."""
_NEAR, _FAR = 6, 9
"""Of a pair: up to how far above or below it something stands in its row, and next to it."""
_GROUND_ABOVE = 2
"""In place of a rail's sign: ground drawn as a rail above."""
_MARGIN = 0.4
_LED_BACK = "\0back"
_NOWHERE = 1e9
"""Of boxes that do not stand yet."""


PinAt = tuple[int, int, int]
"""x, y, side."""


class Course(NamedTuple):
    """A net's cheapest trunk: lying or upright, at a row or column."""

    cost: float
    is_lying: bool
    place: int


def course_of(pins: Sequence[PinAt]) -> Course:
    """The best single trunk, lying or upright, with a stub to each pin."""
    xs = sorted({pin[0] for pin in pins})
    ys = sorted({pin[1] for pin in pins})
    best = Course(math.inf, True, 0)
    for lies, places, first, last in ((True, ys, xs[0], xs[-1]), (False, xs, ys[0], ys[-1])):
        middle = (places[0] + places[-1]) // 2
        for place in places if middle in places else [*places, middle]:
            found = _trunk_cost(pins, place, first, last, is_lying=lies, most=best.cost)
            if found < best.cost:
                best = Course(found, lies, place)
    return best


class Trunk:
    """A net's trunk with its stubs, where its pins are now."""

    def __init__(self, net: int, pins: Sequence[PinAt], course: Course) -> None:
        self.cost = course.cost
        self._net, self._pins, self._course = net, pins, course

    @functools.cached_property
    def lines(self) -> tuple[bytes, bytes]:
        """Lying ones, upright ones; of each five numbers (`_LINE_OF`): left, top, right, bottom, net."""
        net, best = self._net, self._course.place
        lying, upright = array("i"), array("i")
        if self._course.is_lying:
            left, right = min(x for x, _, _ in self._pins), max(x for x, _, _ in self._pins)
            if left != right:
                lying.extend((left, best, right, best, net))
            for x, y, _ in self._pins:
                if y != best:
                    upright.extend((x, y, x, best, net) if y < best else (x, best, x, y, net))
        else:
            high, low = min(y for _, y, _ in self._pins), max(y for _, y, _ in self._pins)
            if high != low:
                upright.extend((best, high, best, low, net))
            for x, y, _ in self._pins:
                if x != best:
                    lying.extend((x, y, best, y, net) if x < best else (best, y, x, y, net))
        return lying.tobytes(), upright.tobytes()


_LINE_OF = np.dtype((np.intc, 5))
_NO_TRUNK = Trunk(0, [(0, 0, LEFT)], Course(0.0, True, 0))


def _trunk_cost(
    pins: Sequence[PinAt], place: int, first: int, last: int, *, is_lying: bool, most: float
) -> float:
    """Any cost from `most` on where it is not less."""
    cost = float(last - first)
    before, behind = (LEFT, RIGHT) if is_lying else (UP, DOWN)
    to_low, to_high = (UP, DOWN) if is_lying else (LEFT, RIGHT)
    for x, y, side in pins:
        if cost >= most:
            break
        at, to = (x, y) if is_lying else (y, x)
        away = place - to
        if away == 0:
            if side == before:
                cost += BACKWARDS if at == first and last > first else 0.0
            elif side == behind:
                cost += BACKWARDS if at == last and last > first else 0.0
            else:
                cost += SIDEWAYS
            continue
        cost += abs(away)
        if at in (first, last) and last > first:
            cost += CORNER
        if side == to_low:
            cost += BACKWARDS if away > 0 else 0.0
        elif side == to_high:
            cost += BACKWARDS if away < 0 else 0.0
        else:
            cost += STUB_BEND
    return cost


class Layout:
    """Places of all parts; what is not `placed` yet costs nothing."""

    def __init__(self, page: Page, roles: Roles, items: Items) -> None:
        self.page, self.roles, self.items = page, roles, items
        count = len(page.parts)
        self._places = np.zeros((2, count), dtype=np.int64)
        self.x, self.y = self._places  # two views: who moves a part writes into them
        self.flip = np.array(roles.flips, dtype=np.int64)
        self.placed = np.zeros(count, dtype=bool)
        self.moving = [at for item in items.items for at in item.parts]
        self.can_flip = [
            at for at in self.moving
            if page.parts[at].kind == "amp" and not self._has_around(at)
        ]  # fmt: skip
        self.shapes: dict[tuple[int, int], Shape] = {}
        self.nets: list[str] = []
        self.pins: list[list[tuple[int, tuple[PinAt, PinAt]]]] = []
        self.nets_of: list[list[int]] = [[] for _ in range(count)]
        self._prepare_pins()
        self._prepare_boxes()
        self._prepare_rules()
        self._trunks: list[Trunk | None] = [None] * len(self.nets)
        self._courses: dict[tuple[PinAt, ...], Course] = {}

    def _has_around(self, at: int) -> bool:
        return any(len(row) > 1 and row[0].part == at for item in self.items.items for row in item.rows)

    def shape(self, at: int) -> Shape:
        key = (at, int(self.flip[at]))
        if key not in self.shapes:
            self.shapes[key] = shape_of(
                self.page.parts[at], self.roles.turns[at], flip=bool(key[1]), sides=self.roles.sides[at]
            )
        return self.shapes[key]

    def _variant(self, at: int, flip: int) -> Shape:
        return shape_of(
            self.page.parts[at], self.roles.turns[at], flip=bool(flip), sides=self.roles.sides[at]
        )

    # ---- preparation

    def _prepare_pins(self) -> None:
        places: dict[str, int] = {}
        for at in sorted(self.moving):
            both = [{pin.role: pin for pin in self._variant(at, flip).pins} for flip in (0, 1)]
            for pin in self.page.parts[at].pins:
                if (
                    pin.role not in both[0]
                    or pin.net in self.roles.rails.signs
                    or pin.net in self.roles.labelled
                ):
                    continue
                name = pin.net
                if at in self.roles.led_back and pin.role == "in":
                    name += _LED_BACK  # the way back is found around the others
                if name not in places:
                    places[name] = len(self.nets)
                    self.nets.append(name)
                    self.pins.append([])
                net = places[name]
                variants = tuple((each[pin.role].x, each[pin.role].y, each[pin.role].side) for each in both)
                self.pins[net].append((at, (variants[0], variants[1])))
                if net not in self.nets_of[at]:
                    self.nets_of[at].append(net)

    def _prepare_boxes(self) -> None:
        """Bodies with leads, rail symbols and texts, for both ways a part may face."""
        owner: list[int] = []
        variants: list[list[Box]] = [[], []]
        is_text: list[bool] = []
        bodies: list[list[Box]] = [[], []]
        body_owner: list[int] = []
        rails: list[tuple[int, int, int]] = []
        item_of = {at: number for number, item in enumerate(self.items.items) for at in item.parts}
        for at in sorted(self.moving):
            rows = [self.boxes(at, flip) for flip in (0, 1)]
            for (box, text), (other, _) in zip(*rows, strict=True):
                owner.append(at)
                is_text.append(text)
                variants[0].append(box)
                variants[1].append(other)
            for flip in (0, 1):
                bodies[flip].append(_grown(self._variant(at, flip).body, -0.3))
            body_owner.append(at)
            for pin in self._variant(at, 0).pins:
                sign = self.roles.rails.signs.get(self.page.parts[at].net(pin.role))
                if sign is not None and pin.side in (UP, DOWN) and self.roles.upright[at]:
                    rails.append((at, pin.y, _GROUND_ABOVE if sign == 0 and pin.side == UP else sign))
        self._rails = [
            [(at, y) for at, y, own in rails if own == sign] for sign in sorted({sign for *_, sign in rails})
        ]
        self._item = np.array([item_of[at] for at in owner], dtype=np.int64)
        self._is_apart = self._item[:, None] != self._item
        texts = [number for number, text in enumerate(is_text) if text]
        self._owner = np.array([*owner, *body_owner], dtype=np.int64)
        self._boxes, self._bodies = len(owner), len(body_owner)
        both = np.concatenate([np.reshape(variants, (2, -1, 4)), np.reshape(bodies, (2, -1, 4))], axis=1)
        # To 1/64: areas and their sums are exact, however many moves they come by.
        self._rel = np.round(both.transpose(2, 0, 1) * 64.0) / 64.0
        self._rel_now, self._flips_now = np.zeros((2, 2, 0)), b"not yet"
        # What no wire is to go through: bodies, then texts.
        self._targets = np.array([*range(len(owner), len(self._owner)), *texts], dtype=np.int64)
        self._seen = np.full((4, len(owner)), _NOWHERE)
        self._overlap = 0.0

    def boxes(self, at: int, flip: int) -> list[tuple[Box, bool]]:
        """Room a part takes: (box around its place, whether it is text)."""
        part = self.page.parts[at]
        shape = self._variant(at, flip)
        xs = [pin.x for pin in shape.pins]
        ys = [pin.y for pin in shape.pins]
        body = shape.body
        found: list[tuple[Box, bool]] = [
            (_grown((body[0], min(body[1], *ys), body[2], max(body[3], *ys)), _MARGIN), False)
        ]
        if any(pin.side in (LEFT, RIGHT) for pin in shape.pins):
            found = [(_grown((min(body[0], *xs), body[1], max(body[2], *xs), body[3]), _MARGIN), False)]
            if any(pin.side in (UP, DOWN) for pin in shape.pins):
                found.append(
                    (_grown((body[0], min(body[1], *ys), body[2], max(body[3], *ys)), _MARGIN), False)
                )
        for pin in shape.pins:
            net = part.net(pin.role)
            sign = self.roles.rails.signs.get(net)
            name = self.page.names.get(net, net)
            box: Box | None = None
            if sign is not None:
                box = rail_mark(pin.side, sign, name).box
            elif net in self.roles.labelled:
                box = flag_box(name, pin.side)
            if box is not None:
                found.append((_moved(box, pin.x, pin.y), False))
        text = text_place(self.page, self.roles, at, shape, flip)
        if text is not None:
            found.append((text, True))
        else:
            found.append(((body[0], body[1], body[0], body[1]), True))
        return found

    def _prepare_rules(self) -> None:
        ranks = {}
        for at in self.moving:
            nets = [
                pin.net for pin in self.page.parts[at].pins
                if pin.net in self.roles.ranks and not (pin.role == "in" and at in self.roles.led_back)
            ]  # fmt: skip
            known = [self.roles.ranks[net] for net in nets]
            ranks[at] = (sum(known) / len(known) if known else 0.0) + _ends_at(self.page.parts[at])
        flows: set[tuple[int, int]] = set()
        for pins in self.pins:
            parts = sorted({at for at, _ in pins})
            for one in parts[:12]:
                for other in parts[:12]:
                    if ranks[one] < ranks[other] - 0.4:
                        flows.add((one, other))
        self._flows = np.array(sorted(flows), dtype=np.int64).reshape(-1, 2)
        self.ranks = ranks
        moving = set(self.moving)
        self._pairs = [pair for pair in self.roles.pairs if {*pair} <= moving]
        self._folds = self._folded()
        self._latches = {pair for pair in self._pairs if self._is_latch(*pair)}
        self._windings = [pair for pair in self.roles.windings if {*pair} <= moving]
        self._loads = [pair for pair in self.roles.loads if {*pair} <= moving]
        tails = []
        for left, right in self._pairs:
            com = self.page.parts[left].net("com")
            if com in self.roles.rails.signs:
                continue
            for at in self.moving:
                part = self.page.parts[at]
                if at not in (left, right) and com in part.nets and com == self.page.parts[right].net("com"):
                    tails.append((at, left, right))
        self._tails = tails
        self._legs = [(each.legs[0][0], each.legs[-1][1]) for each in self.roles.bridges]
        self._mates = self._sharing_inputs()
        own = {at for group in (*self._pairs, *self._loads, *tails) for at in group}
        self._strangers = np.array([at for at in self.moving if at not in own], dtype=np.int64)
        self._between = [
            *((*pair, self._strangers_of(*pair, PAIR + WITHIN, WITHIN)) for pair in self._pairs),
            *((*pair, self._strangers_of(*pair, 3 * WITHIN, 0.0)) for pair in self._loads),
        ]
        for quad in self.roles.quads:
            within = {*quad.upper, *quad.lower}
            others = [
                at for at in self.moving if at not in within and self.page.parts[at].kind in TRANSISTORS
            ]
            if within <= moving:
                self._between.append((quad.upper[0], quad.upper[-1], [(at, PAIR, PAIR) for at in others]))
        spines = [
            (high[0].part, low[0].part)
            for item in self.items.items for high, low in zip(item.rows, item.rows[1:], strict=False)
        ]  # fmt: skip
        self._spines = np.array(spines, dtype=np.int64).reshape(-1, 2)

    def _strangers_of(self, left: int, right: int, near: float, far: float) -> list[tuple[int, float, float]]:
        """What does not belong between two: parts, what they cost in the same row, and next to it.

        A third transistor on a pair's node does belong there.
        """
        parts = self.page.parts
        own = {parts[at].net("com") for at in (left, right)} - self.roles.rails.signs.keys()
        found = []
        for at in map(int, self._strangers):
            is_transistor = parts[at].kind in TRANSISTORS and parts[at].net("com") not in own
            if is_transistor or far:
                found.append((at, near if is_transistor else far, far))
        return found

    def _is_latch(self, one: int, other: int) -> bool:
        """Each drives the other by a wire."""
        a, b = self.page.parts[one], self.page.parts[other]
        return (a.net("in"), a.net("out")) == (b.net("out"), b.net("in"))

    def _sharing_inputs(self) -> np.ndarray:
        """Transistors on one gate or base line: side by side, so that the line is straight."""
        groups: dict[tuple[str, str, int], list[int]] = {}
        for at in self.moving:
            part = self.page.parts[at]
            if part.kind in TRANSISTORS and part.net("in") not in self.roles.rails.signs:
                groups.setdefault((part.net("in"), part.kind, part.polarity), []).append(at)
        found = [mates for group in groups.values() for mates in itertools.pairwise(group)]
        self._mate_weights = np.array([self._mate_weight(*mates) for mates in found], dtype=float)
        found += (behind := self._behind_each_other())
        facing = [
            (one, other) if self.roles.flips[one] else (other, one)
            for (one, other), weight in zip(found, self._mate_weights, strict=False)
            if weight == MIRROR and self.roles.flips[one] != self.roles.flips[other]
        ]  # fmt: skip
        facing += behind  # what drives stands left
        self._facing = np.array(facing, dtype=np.int64).reshape(-1, 2)
        self._mate_weights = np.concatenate([self._mate_weights, np.full(len(behind), STAGE)])
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def _folded(self) -> list[tuple[int, int]]:
        """A pair's right member, and the left column of the other polarity that takes its currents."""
        parts = self.page.parts
        found = []
        for left, right in self.roles.pairs:
            outs = parts[left].net("out"), parts[right].net("out")
            found += [
                (right, at) for at, mate in self.roles.loads
                if parts[at].polarity != parts[left].polarity
                and (parts[at].net("com"), parts[mate].net("com")) == outs
            ]  # fmt: skip
        return found

    def _behind_each_other(self) -> list[tuple[int, int]]:
        """Transistors of a kind on one rail, of which one drives the other: stages in a row."""
        driven: dict[tuple[str, str, int, str], list[int]] = {}
        own = [at for at in self.moving if self.page.parts[at].kind in TRANSISTORS]
        lines = Counter(self.page.parts[at].net("com") for at in own)
        rails = {net for net, count in lines.items() if net in self.roles.rails.signs or count >= _RAIL}
        for at in own:
            part = self.page.parts[at]
            if part.net("com") in rails and at not in self.roles.led_back:
                key = (part.net("in"), part.kind, part.polarity, part.net("com"))
                driven.setdefault(key, []).append(at)
        return [
            (at, other)
            for at in own for part in (self.page.parts[at],)
            for other in driven.get((part.net("out"), part.kind, part.polarity, part.net("com")), ())
            if other != at and part.net("in") != part.net("out")
        ]  # fmt: skip

    def _mate_weight(self, one: int, other: int) -> float:
        """More where they stand on one rail, too: a mirror."""
        parts = self.page.parts[one], self.page.parts[other]
        is_mirror = parts[0].net("com") == parts[1].net("com") and any(
            part.net("in") == self.page.parts[at].net("out")
            for part in parts for at in self.moving
            if self.page.parts[at].kind == part.kind and self.page.parts[at].net("in") == part.net("in")
        )  # fmt: skip
        return MIRROR if is_mirror else MATE

    # ---- cost

    def touch(self, parts: Iterable[int]) -> list[tuple[int, Trunk | None]]:
        """Forget the trunks of nets at these parts; what they were, to be put back."""
        nets = sorted({net for at in parts for net in self.nets_of[at]})
        old = [(net, self._trunks[net]) for net in nets]
        for net in nets:
            self._trunks[net] = None
        return old

    def put_back(self, old: Iterable[tuple[int, Trunk | None]]) -> None:
        for net, trunk in old:
            self._trunks[net] = trunk

    def pin_places(self, net: int) -> list[PinAt]:
        return self._pins_at(net, self._places.tolist())

    def _pins_at(self, net: int, places: Sequence[list[int]]) -> list[PinAt]:
        x, y = places
        found = []
        for at, variants in self.pins[net]:
            if self.placed[at]:
                dx, dy, side = variants[self.flip[at]]
                found.append((x[at] + dx, y[at] + dy, side))
        return found

    def _trunk(self, net: int, places: Sequence[list[int]]) -> Trunk:
        pins = self._pins_at(net, places)
        if len(pins) < 2:
            return _NO_TRUNK
        # What moves as a whole, or comes back, costs what it cost: two of three are known.
        x0, y0, _ = pins[0]
        key = tuple([(x - x0, y - y0, side) for x, y, side in pins])
        course = self._courses.get(key)
        if course is None:
            self._courses[key] = course = course_of(key)
        origin = y0 if course.is_lying else x0
        return Trunk(net, pins, course._replace(place=course.place + origin))

    def cost(self, most: float = math.inf) -> float:
        """What the layout costs; where that is more than `most`, any figure above `most`.

        What is dear to know comes last: of a move that is to be refused it is seldom needed.
        """
        live = None if self.placed[self._owner].all() else self.placed
        known = [trunk for trunk in self._trunks if trunk is not None]
        places = self._places.tolist()
        total = sum([trunk.cost for trunk in known]) + self._rule_cost(live, places)
        if total > most:
            return total
        boxes = self._boxes_now()
        shown = boxes[:, : self._boxes]
        if live is not None:
            shown = shown[:, live[self._owner[: self._boxes]]]
        total += _page_cost(shown)
        if len(known) < len(self._trunks):
            for net, trunk in enumerate(self._trunks):
                if trunk is None:
                    if total > most:
                        return total
                    self._trunks[net] = found = self._trunk(net, places)
                    total += found.cost
        if total > most:
            return total
        total += OVERLAP * self._overlap_of(boxes[:, : self._boxes], live)
        if total > most:
            return total
        trunks = [trunk.lines for trunk in self._trunks if trunk is not None]
        lying, upright = b"".join([each[0] for each in trunks]), b"".join([each[1] for each in trunks])
        lines = np.frombuffer(lying + upright, dtype=np.intc).reshape(-1, 5).T
        total += _crossings(lines, len(lying) // _LINE_OF.itemsize)
        return total if total > most else total + self._through_cost(lines, boxes, live)

    def cost_without_wires(self) -> float:
        """What places cost beside the wires to be."""
        return self.cost() - sum(trunk.cost for trunk in self._trunks if trunk is not None)

    def _boxes_now(self) -> np.ndarray:
        """Left, upper, right and lower ends of all boxes, then of all bodies."""
        if (flips := self.flip.tobytes()) != self._flips_now:
            self._flips_now = flips
            chosen = np.where(self.flip[self._owner] > 0, self._rel[:, 1], self._rel[:, 0])
            self._rel_now = chosen.reshape(2, 2, -1)
        return (self._rel_now + self._places[:, self._owner]).reshape(4, -1)

    def _through_cost(self, lines: np.ndarray, boxes: np.ndarray, live: np.ndarray | None) -> float:
        """Wires, and what joins the rows of a column, that go through a body or a text."""
        targets, bodies = boxes[:, self._targets], self._bodies
        upper, lower = self._spines[:, 0], self._spines[:, 1]
        if live is not None:
            bodies = int(np.count_nonzero(live[self._owner[self._boxes :]]))
            targets = targets[:, live[self._owner[self._targets]]]
            upper, lower = upper[live[upper]], lower[live[upper]]
        count = lines.shape[1]
        ends = lines[:4]
        if len(upper):
            x, y, to = self.x[upper], self.y[upper] + 2, self.y[lower] - 2
            ends = np.concatenate([ends, np.array((x, y, x, to))], axis=1)
        hits = _through(ends, targets)
        cost = THROUGH * float(np.count_nonzero(hits[:count, :bodies]))
        cost += THROUGH * float(np.count_nonzero(hits[count:, :bodies]))
        return cost + TEXT * float(np.count_nonzero(hits[:count, bodies:]))

    def _overlap_of(self, boxes: np.ndarray, live: np.ndarray | None) -> float:
        """The area in which boxes of different items lie over each other: what has moved is counted anew."""
        seen = boxes if live is None else np.where(live[self._owner[: self._boxes]], boxes, _NOWHERE)
        moved = np.nonzero((seen != self._seen).any(axis=0))[0]
        if len(moved):
            now, before = self._areas_at(moved, np.array((seen, self._seen)))
            self._overlap += now - before
            self._seen = seen
        return self._overlap

    def _areas_at(self, some: np.ndarray, boxes: np.ndarray) -> list[float]:
        """What some boxes cover of others of different items, in each of several arrangements."""
        left, top, right, bottom = boxes.transpose(1, 0, 2)[:, :, None]
        own = boxes.transpose(1, 0, 2)[:, :, some, None]
        wide = np.minimum(own[2], right)
        wide -= np.maximum(own[0], left)
        high = np.minimum(own[3], bottom)
        high -= np.maximum(own[1], top)
        is_over = np.minimum(wide, high) > 0
        is_over &= self._is_apart[some]
        wide += 0.5
        high += 0.5
        area = np.multiply(wide, high, out=wide)
        area *= is_over
        return [float(each.sum() - 0.5 * each[:, some].sum()) for each in area]

    def _rule_cost(self, live: np.ndarray | None, places: Sequence[list[int]]) -> float:
        cost = 0.0
        x, y = places
        for rail in self._rails:
            ys = sorted(y[at] + dy for at, dy in rail if live is None or live[at])
            if len(ys) > 1:
                level = ys[len(ys) // 2]
                cost += RAIL_LINE * float(sum(abs(each - level) for each in ys))
        if len(self._flows):
            one, other = self._flows[:, 0], self._flows[:, 1]
            against = np.maximum(0, self.x[one] - self.x[other] + 1)
            cost += FLOW * float(_of_live(against, one, other, live).sum())
        if len(self._mates):
            one, other = self._mates[:, 0], self._mates[:, 1]
            apart = np.abs(self.y[one] - self.y[other]) * self._mate_weights
            cost += float(_of_live(apart, one, other, live).sum())
        if len(self._facing):
            left, right = self._facing[:, 0], self._facing[:, 1]
            turned = np.maximum(0, self.x[left] + 6 - self.x[right])
            cost += 2 * FLOW * float(_of_live(turned, left, right, live).sum())
        return cost + self._pair_cost(x, y)

    def _pair_cost(self, x: list[int], y: list[int]) -> float:
        """Pairs, their loads and windings side by side at one height, nothing else between them."""
        cost = self._between_cost(x, y)
        placed = self.placed
        for left, right in (*self._pairs, *self._loads):
            if placed[left] and placed[right]:
                apart = x[right] - x[left]
                level = LATCH if (left, right) in self._latches else PAIR
                cost += level * abs(y[right] - y[left]) + PAIR * max(0, PAIR_WIDTH - apart) / 4
                cost += 0.5 * max(0, apart - PAIR_WIDTH)
        for right, column in self._folds:
            if placed[right] and placed[column]:
                cost += PAIR * max(0, x[right] - x[column] + PAIR_WIDTH) / 4
        for left, right in self._windings:
            if placed[left] and placed[right]:
                cost += PAIR * abs(y[right] - y[left]) / 2
                cost += PAIR * abs(x[right] - x[left] - WINDING_WIDTH) / 4
        for tail, left, right in self._tails:
            if placed[tail] and placed[left] and placed[right]:
                cost += abs(2 * x[tail] - x[left] - x[right])
                cost += 2.0 * max(0, y[left] + 4 - y[tail]) if self._is_below(tail, left) else 0.0
        return cost

    def _between_cost(self, x: list[int], y: list[int]) -> float:
        """What stands between the two of a pair, or among the legs of a rectifier."""
        cost = 0.0
        placed, strangers = self.placed, self._strangers
        for left, right, others in self._between:
            if placed[left] and placed[right]:
                low, high, level = x[left], x[right], y[left]
                for at, near, far in others:
                    if low < x[at] < high and placed[at]:
                        away = abs(y[at] - level)
                        cost += near if away < _NEAR else far if away < _FAR else 0.0
        for upper, lower in self._legs:  # what feeds a rectifier, and what it feeds, is outside
            if placed[upper]:
                xs, ys = self.x[strangers], self.y[strangers]
                inside = (xs > x[upper]) & (xs < x[lower]) & (ys >= y[upper] - 2) & (ys <= y[lower] + 2)
                cost += PAIR * float(np.count_nonzero(inside & placed[strangers]))
        return cost

    def _is_below(self, tail: int, left: int) -> bool:
        return self.page.parts[left].polarity > 0 and self.roles.upright[tail]


def _of_live(values: np.ndarray, one: np.ndarray, other: np.ndarray, live: np.ndarray | None) -> np.ndarray:
    return values if live is None else values[live[one] & live[other]]


def _crossings(lines: np.ndarray, first_upright: int) -> float:
    """Of different nets: where lines cross, and where they run over each other."""
    left, upper, right, lower, nets = lines
    beside, below = left[:, None] <= right, upper[:, None] <= lower
    meets = beside & beside.T & below & below.T & (nets[:, None] != nets)
    crossing = np.count_nonzero(meets[:first_upright, first_upright:])
    along = np.count_nonzero(meets) // 2 - crossing
    return CROSSING * float(crossing) + ALONG * float(along)


def _page_cost(boxes: np.ndarray) -> float:
    if not boxes.size:
        return 0.0
    width = float(boxes[2].max() - boxes[0].min())
    height = float(boxes[3].max() - boxes[1].min())
    return PAGE_WIDTH * width + PAGE_HEIGHT * height


def _through(lines: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Which line goes through the inside of which box."""
    left, top, right, bottom = boxes
    x1, y1, x2, y2 = lines[:, :, None]
    return (x2 > left) & (x1 < right) & (y2 > top) & (y1 < bottom)  # type: ignore[no-any-return]


def _ends_at(part: Part) -> float:
    """A source of a signal stands left of what else is at its net, a port that takes it right."""
    if part.kind not in "vi" or part.style == "dc":
        return 0.0
    return 0.5 if part.style == "port" else -0.5


def text_place(page: Page, roles: Roles, at: int, shape: Shape, flip: int) -> Box | None:
    """Where a part's texts stand by default, around its place."""
    part = page.parts[at]
    if part.kind == "port":
        return None
    lines = (part.shown, *part.values)
    width, height = max(text_width(line) for line in lines), LINE * len(lines)
    left, top, right, _bottom = shape.body
    if part.kind == "box":
        return (left, top - height - 0.1, left + width, top - 0.1)
    if part.kind == "amp":
        return (0.6, -2.2 - height + LINE, 0.6 + width, -2.2 + LINE)
    if roles.upright[at]:
        if stands_left(part, roles, at, flip=bool(flip)):
            return (left - 0.3 - width, -height / 2, left - 0.3, height / 2)
        return (right + 0.3, -height / 2, right + 0.3 + width, height / 2)
    return (-width / 2, top - 0.2 - height, width / 2, top - 0.2)


def stands_left(part: Part, roles: Roles, at: int, *, flip: bool) -> bool:
    """Whether a part's texts stand left: of a transistor that faces right, of the first of two windings."""
    return any(left == at for left, _ in roles.windings) if part.kind == "l" else flip


def _grown(box: Box, by: float) -> Box:
    return (box[0] - by, box[1] - by, box[2] + by, box[3] + by)


def _moved(box: Box, x: float, y: float) -> Box:
    return (box[0] + x, box[1] + y, box[2] + x, box[3] + y)
