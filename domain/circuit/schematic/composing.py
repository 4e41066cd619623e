"""From places to a display list: obstacles, wires, marks, joints, texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from domain.circuit.numbers import read_number
from domain.circuit.schematic.display import (
    Dot,
    Drawing,
    DrawnPin,
    Entry,
    Mark,
    Score,
    Symbol,
    Text,
    TextRole,
    Wire,
)
from domain.circuit.schematic.items import WINDING_WIDTH, Items
from domain.circuit.schematic.judging import bends_of, crossings_of, length_of, spans_of
from domain.circuit.schematic.layout import Layout, stands_left, text_place
from domain.circuit.schematic.parts import Page
from domain.circuit.schematic.placing import Place
from domain.circuit.schematic.roles import Roles
from domain.circuit.schematic.routing import Cell, NetPin, Obstacles, Routed, route
from domain.circuit.schematic.symbols import (
    DOWN,
    LEFT,
    LINE,
    RIGHT,
    STEPS,
    UP,
    Box,
    Stroke,
    SymbolSet,
    circle,
    drawn_body,
    flag_box,
    rail_mark,
    strokes_of,
    text_width,
    union,
)
from domain.circuit.schematic.texts import Block, Room, along, beside, width_of

_FAR = 12
"""Half units to which the name of a net that somebody looks at goes in search of room."""
_LABEL = 60.0
"""What a pin joined by name counts in the score, in units of wire."""
_SHORT = 8
"""Characters of a value that has no place as it is."""


class PinPoint(NamedTuple):
    """A terminal on the page."""

    part: int
    role: str
    net: str
    terminal: int
    at: Cell
    side: int


def compose(layout: Layout, symbols: SymbolSet, routed: Routed | None = None) -> Drawing:
    """Wires found (or those that are given), texts placed: the drawing of a layout."""
    composer = _Composer(layout, symbols)
    return composer.drawing(routed or composer.route())


class _Composer:
    def __init__(self, layout: Layout, symbols: SymbolSet) -> None:
        self.layout, self.set = layout, symbols
        self.page: Page = layout.page
        self.roles: Roles = layout.roles
        self.items: Items = layout.items
        self.parts = [*layout.moving, *self.items.apart]
        self.parts.sort()
        self.pins = [pin for at in self.parts for pin in self._pins(at)]
        self.alone = self._alone()
        self.marks: list[Mark] = []
        self.texts: list[Text] = []

    def name(self, net: str) -> str:
        return self.page.names.get(net, net)

    def _pins(self, at: int) -> list[PinPoint]:
        part, shape = self.page.parts[at], self.layout.shape(at)
        by_role = {pin.role: pin for pin in part.pins}
        x, y = int(self.layout.x[at]), int(self.layout.y[at])
        found = [
            PinPoint(at, place.role, by_role[place.role].net, by_role[place.role].terminal,
                     (x + place.x, y + place.y), place.side)
            for place in shape.pins if place.role in by_role
        ]  # fmt: skip
        shown = {place.role: place for place in shape.pins}
        for pin in part.pins:  # joined within the symbol
            ends = ("com", "out") if part.kind == "q" else ("com",)
            mates = [shown[role] for role in ends if role in shown and by_role[role].net == pin.net]
            if pin.role == "bulk" and pin.role not in shown and mates:
                mate = mates[0]
                found.append(
                    PinPoint(at, pin.role, pin.net, pin.terminal, (x + mate.x, y + mate.y), mate.side)
                )
        return found

    def _alone(self) -> set[str]:
        """Nets with one pin only: drawn with their name, not left in the air."""
        count: dict[str, int] = {}
        for pin in self.pins:
            count[pin.net] = count.get(pin.net, 0) + 1
        return {
            pin.net for pin in self.pins
            if count[pin.net] == 1 and pin.net not in self.roles.rails.signs
            and self.page.parts[pin.part].kind != "port"
        }  # fmt: skip

    def drawing(self, routed: Routed) -> Drawing:
        wires = _wires(routed)
        self._add_marks(routed)
        symbols = tuple(self._symbol(at) for at in self.parts)
        dots = tuple(self._dots(wires))
        self._add_texts(symbols, wires, dots)
        boxes = (
            [each.body for each in symbols]
            + [each.box for each in self.marks]
            + [each.box for each in self.texts]
        )
        boxes += [(x1, y1, x2, y2) for _, (x1, y1, x2, y2) in spans_of(wires)]
        bounds = union(boxes) if boxes else (0.0, 0.0, 20.0, 4.0)
        legend = self._legend()
        bounds = self._add_legend(legend, bounds)
        labels = sum(len(pins) for pins in routed.loose.values())
        crossings, bends, length = crossings_of(wires), bends_of(wires), length_of(wires)
        cost = self.layout.cost_without_wires() + length + 8 * crossings + 3 * bends + _LABEL * labels
        return Drawing(
            title=self.page.title,
            scope=self.page.scope,
            symbols=symbols,
            wires=wires,
            dots=dots,
            marks=tuple(self.marks),
            texts=tuple(self.texts),
            legend=legend,
            bounds=bounds,
            score=Score(crossings, bends, length, labels, round(cost, 2)),
            topology_key=self.page.topology_key,
            places={
                self.page.parts[at].key: Place(
                    int(self.layout.x[at]),
                    int(self.layout.y[at]),
                    bool(self.layout.flip[at]),
                    self.roles.turns[at],
                    self.roles.upright[at],
                    self.roles.sides[at],
                )
                for at in self.parts
            },
            loose=routed.loose,
            undrawn=self.page.undrawn,
            nets=tuple(sorted({pin.net for pin in self.pins})),
        )

    # ---- wires

    def route(self) -> Routed:
        signs, labelled = self.roles.rails.signs, self.roles.labelled
        blocked: set[Cell] = set()
        texts: list[Box] = []
        ends: dict[Cell, str] = {pin.at: pin.net for pin in self.pins}
        for at in self.parts:
            blocked |= self._covered(at)
            shape = self.layout.shape(at)
            place = text_place(self.page, self.roles, at, shape, int(self.layout.flip[at]))
            if place is not None:
                texts.append(self._at(at, place))
        for pin in self.pins:
            if pin.net in signs:
                mark = rail_mark(pin.side, signs[pin.net], self.name(pin.net))
                blocked |= {(pin.at[0] + dx, pin.at[1] + dy) for dx, dy in mark.cells}
                texts.append(
                    (
                        mark.box[0] + pin.at[0],
                        mark.box[1] + pin.at[1],
                        mark.box[2] + pin.at[0],
                        mark.box[3] + pin.at[1],
                    )
                )
            elif pin.net in labelled or pin.net in self.alone:
                blocked |= _cells_in(_moved(flag_box(self.name(pin.net), pin.side), pin.at))
        blocked -= ends.keys()
        nets: dict[str, list[NetPin]] = {}
        for pin in self.pins:
            if pin.net not in signs and pin.net not in labelled and pin.net not in self.alone:
                known = nets.setdefault(pin.net, [])
                if all(pin.at != other.cell for other in known):
                    known.append(NetPin(pin.at, pin.side))
        wired = {net: pins for net, pins in nets.items() if len(pins) > 1}
        return route(wired, Obstacles(frozenset(blocked), texts, ends))

    def _covered(self, at: int) -> set[Cell]:
        """Grid points under a body and its leads."""
        shape = self.layout.shape(at)
        x, y = int(self.layout.x[at]), int(self.layout.y[at])
        cells = _cells_in(self._at(at, shape.body))
        for pin in shape.pins:
            dx, dy = STEPS[pin.side]
            px, py = pin.x - dx, pin.y - dy
            left, top, right, bottom = shape.body
            while not (left <= px <= right and top <= py <= bottom) and abs(px) + abs(py) > 0:
                cells.add((x + px, y + py))
                px, py = px - dx, py - dy
        return cells

    def _body(self, at: int) -> Box:
        """As it is drawn."""
        part, flip = self.page.parts[at], bool(self.layout.flip[at])
        body = self.layout.shape(at).body
        return self._at(at, drawn_body(part, body, self.roles.turns[at], flip=flip, symbols=self.set))

    def _at(self, at: int, box: Box) -> Box:
        return _moved(box, (int(self.layout.x[at]), int(self.layout.y[at])))

    # ---- marks

    def _add_marks(self, routed: Routed) -> None:
        signs = self.roles.rails.signs
        named: list[tuple[Cell, int, str]] = []
        for pin in self.pins:
            if pin.net in signs:
                self._rail(pin.net, pin.at, pin.side)
            elif pin.net in self.roles.labelled or pin.net in self.alone:
                named.append((pin.at, pin.side, pin.net))
        for net, pins in routed.loose.items():
            named += [(pin.cell, pin.side, net) for pin in pins]
        if not named:
            return
        room = Room(self._taken(_wires(routed)))
        for at, side, net in sorted(set(named)):
            self._flag(room, at, side, net)

    def _taken(self, wires: tuple[Wire, ...]) -> list[Box]:
        taken = [self._body(at) for at in self.parts]
        taken += [mark.box for mark in self.marks]
        taken += [_around_span(span) for _, span in spans_of(wires)]
        for at in self.parts:
            x, y = int(self.layout.x[at]), int(self.layout.y[at])
            for pin in self.layout.shape(at).pins:
                span = (min(x + pin.x, x), y + pin.y, max(x + pin.x, x), y + pin.y)
                if pin.side in (UP, DOWN):
                    span = (x + pin.x, min(y + pin.y, y), x + pin.x, max(y + pin.y, y))
                taken.append(_around_span(span))
        return taken

    def _rail(self, net: str, at: Cell, side: int) -> None:
        if any(mark.at == at and mark.net == net for mark in self.marks):
            return
        mark = rail_mark(side, self.roles.rails.signs[net], self.name(net))
        self.marks.append(Mark(net, at, _strokes_at(mark.strokes, at), _moved(mark.box, at)))
        if mark.text_at is not None:
            text, (x, y) = self.name(net), (mark.text_at[0] + at[0], mark.text_at[1] + at[1])
            width = text_width(text)
            self.texts.append(Text(text, (x, y), "middle", "rail", "", net,
                                   (x - width / 2, y - LINE / 2, x + width / 2, y + LINE / 2)))  # fmt: skip

    def _flag(self, room: Room, at: Cell, side: int, net: str) -> None:
        """The net's name in a frame, at the pin or a few steps of wire away from it."""
        name = self.name(net)
        best: tuple[int, int] | None = None
        others = [turn for turn in (side, UP, DOWN, RIGHT, LEFT) if turn != (side + 2) % 4]
        for turn in dict.fromkeys(others):
            if room.is_free(_grown(_moved(flag_box(name, turn), at), turn)):
                best = (turn, 0)
                break
        turn = best[0] if best is not None else side
        box = _moved(flag_box(name, turn), at)
        room.take(box)
        self.marks.append(Mark(net, at, (_flag_stroke(name, turn, at),), box))
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        width = text_width(name)
        self.texts.append(
            Text(
                name,
                (x, y),
                "middle",
                "flag",
                "",
                net,
                (x - width / 2, y - LINE / 2, x + width / 2, y + LINE / 2),
            )
        )

    # ---- symbols

    def _symbol(self, at: int) -> Symbol:
        part = self.page.parts[at]
        flip = bool(self.layout.flip[at])
        strokes = strokes_of(
            part, self.roles.turns[at], flip=flip, sides=self.roles.sides[at], symbols=self.set
        )
        place = (int(self.layout.x[at]), int(self.layout.y[at]))
        strokes += self._core(at)
        return Symbol(
            element=part.name,
            key=part.key,
            line=part.line,
            file=part.file,
            kind=part.kind,
            strokes=_strokes_at(tuple(strokes), place),
            pins=tuple(DrawnPin(pin.terminal, pin.at, pin.net) for pin in self.pins if pin.part == at),
            body=self._body(at),
            value_at=part.value_at,
            hint=part.full,
            value=part.value,
            is_model=part.is_model,
            inside=self.page.inside.get(part.name, ""),
        )

    def _core(self, at: int) -> list[Stroke]:
        """A winding's dot at its first terminal; the iron between two that stand side by side."""
        for left, right in self.roles.windings:
            if at not in (left, right):
                continue
            inward = 0.55 if at == left else -0.55
            first = next(pin for pin in self.layout.shape(at).pins if pin.role == "a")
            found = [circle(inward, 1.25 if first.y > 0 else -1.25, 0.14)._replace(is_filled=True)]
            dx = int(self.layout.x[right] - self.layout.x[left])
            if at == left and dx == WINDING_WIDTH and self.layout.y[left] == self.layout.y[right]:
                found += [Stroke(((dx / 2 + side, -1.1), (dx / 2 + side, 1.1))) for side in (-0.15, 0.15)]
            return found
        part = self.page.parts[at]
        coupled = {name.lower() for each in self.page.couplings for name in each.inductors}
        if part.kind == "l" and part.name.lower() in coupled:  # one more on that core
            first = next(pin for pin in self.layout.shape(at).pins if pin.role == "a")
            x, y = (-0.55, math.copysign(1.25, first.y)) if first.y else (math.copysign(1.25, first.x), 0.55)
            return [circle(x, y, 0.14)._replace(is_filled=True)]
        return []

    def _dots(self, wires: tuple[Wire, ...]) -> list[Dot]:
        """Where three ends of a net or more meet."""
        ways: dict[tuple[str, Cell], set[tuple[int, int]]] = {}
        leads: dict[tuple[str, Cell], int] = {}
        spans = spans_of(wires)
        points: dict[str, set[Cell]] = {}
        for wire in wires:
            points.setdefault(wire.net, set()).update(wire.points)
        for pin in {(pin.net, pin.at, (pin.side + 2) % 4, pin.part) for pin in self.pins}:
            leads[(pin[0], pin[1])] = leads.get((pin[0], pin[1]), 0) + 1
            points.setdefault(pin[0], set()).add(pin[1])
        for net, (x1, y1, x2, y2) in spans:
            for at in points[net]:
                if x1 <= at[0] <= x2 and y1 <= at[1] <= y2:
                    found = ways.setdefault((net, at), set())
                    if y1 == y2:
                        found |= ({(-1, 0)} if at[0] > x1 else set()) | ({(1, 0)} if at[0] < x2 else set())
                    else:
                        found |= ({(0, -1)} if at[1] > y1 else set()) | ({(0, 1)} if at[1] < y2 else set())
        return [
            Dot(net, at)
            for (net, at), found in sorted(ways.items())
            if len(found) + leads.get((net, at), 0) >= 3
        ]

    # ---- texts

    def _add_texts(self, symbols: tuple[Symbol, ...], wires: tuple[Wire, ...], dots: tuple[Dot, ...]) -> None:
        taken = self._taken(wires)
        taken += [(dot.at[0] - 0.2, dot.at[1] - 0.2, dot.at[0] + 0.2, dot.at[1] + 0.2) for dot in dots]
        room = Room(taken)
        bodies = [symbol.body for symbol in symbols]
        waiting: list[tuple[Box, list[Block]]] = []
        for at, symbol in zip(self.parts, symbols, strict=True):
            if self.page.parts[at].kind == "port":
                self._name_port(at, symbol)
            else:
                waiting.append((symbol.body, self._names_of(at, symbol)))
        # Those without a place beside them as they are go first: where they stand, others still can give way.
        waiting.sort(key=lambda each: room.has_place(each[1][0]))
        for body, blocks in waiting:
            self.texts += room.put_beside(blocks, body, bodies)
        self._name_nets(room, wires)

    def _name_port(self, at: int, symbol: Symbol) -> None:
        part = self.page.parts[at]
        width = text_width(part.name)
        x = symbol.body[0] + (0.6 if self.layout.flip[at] else 0.2)
        y = (symbol.body[1] + symbol.body[3]) / 2
        self.texts.append(Text(part.name, (x, y), "start", "pin", part.name, part.pins[0].net,
                               (x, y - LINE / 2, x + width, y + LINE / 2)))  # fmt: skip

    def _names_of(self, at: int, symbol: Symbol) -> list[Block]:
        """Name and values of a part, and the ways to write them that need less room."""
        part = self.page.parts[at]
        if part.kind == "box":
            self._name_pins(at)
        short = tuple(value if len(value) <= _SHORT else f"{value[: _SHORT - 1]}…" for value in part.values)
        found = [self._names(at, symbol, part.values)]
        if short != tuple(part.values):
            found.append(self._names(at, symbol, short))
        if len(short) == 1:
            found.append(self._names(at, symbol, short, is_row=True))
        return found

    def _names(self, at: int, symbol: Symbol, values: Sequence[str], *, is_row: bool = False) -> Block:
        part = self.page.parts[at]
        lines: list[tuple[str, TextRole]] = [(part.shown, "name"), *((value, "value") for value in values)]
        left_first = stands_left(part, self.roles, at, flip=bool(self.layout.flip[at]))
        upright = self.roles.upright[at]
        corners = beside(symbol.body, lines, upright=upright, left_first=left_first, is_row=is_row)
        if part.kind == "amp" and not is_row:
            width, height = width_of(lines), LINE * len(lines)
            x, y = int(self.layout.x[at]), int(self.layout.y[at])
            corners = [
                (x + 0.6, y - 2.2 - height + LINE, "start"), (x + 0.6, y + 2.2 - LINE, "start"),
                (x - width / 2, y - 2.3 - height, "middle"), *corners,
            ]  # fmt: skip
        if part.kind == "box" and not is_row:
            left, top = symbol.body[0], symbol.body[1]
            corners = [(left, top - LINE * len(lines) - 0.1, "start"), *corners]
        return Block(tuple(lines), tuple(corners), element=part.name, is_row=is_row)

    def _name_pins(self, at: int) -> None:
        """Inside a box."""
        for pin in self._pins(at):
            dx, dy = STEPS[pin.side]
            x, y = pin.at[0] - 1.25 * dx, pin.at[1] - dy * 1.6
            width = text_width(pin.role)
            if pin.side == LEFT:
                box = (x, y - LINE / 2, x + width, y + LINE / 2)
            elif pin.side == RIGHT:
                box = (x - width, y - LINE / 2, x, y + LINE / 2)
            else:
                box = (x - width / 2, y - LINE / 2, x + width / 2, y + LINE / 2)
            anchor = {LEFT: "start", RIGHT: "end"}.get(pin.side, "middle")
            self.texts.append(Text(pin.role, (x, y), anchor, "pin", self.page.parts[at].name, pin.net, box))  # type: ignore[arg-type]

    def _name_nets(self, room: Room, wires: tuple[Wire, ...]) -> None:
        """Each net's name once, at its longest wire, where there is room."""
        of: dict[str, list[Wire]] = {}
        for wire in wires:
            of.setdefault(wire.net, []).append(wire)
        watched = {control for at in self.parts for control in self.page.parts[at].controls} | {
            *self.page.observed
        }
        flagged = {mark.net for mark in self.marks}
        ports = {self.page.parts[at].pins[0].net for at in self.parts if self.page.parts[at].kind == "port"}
        for net in sorted(of, key=lambda net: (net not in watched, net)):
            if net in flagged or net in ports:
                continue
            name = self.name(net)
            corners = [
                corner
                for wire in sorted(of[net], key=lambda wire: -_extent(wire))
                for corner in along(wire.points, name)
            ]
            if corners:
                block = Block(((name, "net"),), tuple(corners), net=net)
                self.texts += room.put(block, must=net in watched, far=_FAR if net in watched else 0)

    # ---- legend

    def _legend(self) -> tuple[Entry, ...]:
        entries = [
            Entry(
                part.name,
                tuple((part.name, pin.terminal, pin.net) for pin in part.pins),
                f"{part.name}: {self._told(part.nets, ', '.join(part.values) or '0')}",
                part.line,
            )
            for part in self.roles.rails.sources
        ]
        entries += [
            Entry(each.name, (), f"{each.name}: {' '.join(each.inductors)} {each.text}".rstrip(), each.line)
            for each in self.page.couplings
        ]
        bulks: dict[str, list[tuple[str, int, str]]] = {}
        tied: list[str] = []
        for at in self.parts:
            part = self.page.parts[at]
            for pin in part.pins:
                if pin.role != "bulk" or pin.net == part.net("com"):
                    continue
                if part.kind == "q" and pin.net == part.net("out"):
                    tied.append(part.name)
                elif pin.net in self.roles.rails.signs:
                    bulks.setdefault(pin.net, []).append((part.name, pin.terminal, pin.net))
        for net, pins in bulks.items():
            names = " ".join(name for name, _, _ in pins)
            entries.append(Entry(pins[0][0], tuple(pins), f"B = {self.name(net)}: {names}", 0))
        if tied:
            entries.append(Entry(tied[0], (), f"B = C: {' '.join(tied)}", 0))
        return tuple(entries)

    def _told(self, nets: tuple[str, ...], value: str) -> str:
        """What a supply holds at what: against ground where one end is that."""
        plus, minus = nets
        signs = self.roles.rails.signs
        if signs.get(minus) == 0:
            return f"{self.name(plus)} = {value}"
        if signs.get(plus) == 0 and (number := read_number(value)) is not None and not number.rest:
            turned = value[1:] if value.startswith("-") else f"-{value.removeprefix('+')}"
            return f"{self.name(minus)} = {turned}"
        return f"{self.name(plus)} - {self.name(minus)} = {value}"

    def _add_legend(self, legend: tuple[Entry, ...], bounds: Box) -> Box:
        """Title and legend above the drawing."""
        lines: list[tuple[str, TextRole, str]] = [(entry.text, "legend", entry.element) for entry in legend]
        if self.page.title:
            lines.insert(0, (self.page.title, "title", ""))
        top = bounds[1] - 1.2 - 1.2 * len(lines)
        right = bounds[2]
        for number, (text, role, element) in enumerate(lines):
            y = top + 1.2 * number + 0.6
            width = text_width(text)
            box = (bounds[0], y - LINE / 2, bounds[0] + width, y + LINE / 2)
            self.texts.append(Text(text, (bounds[0], y), "start", role, element, "", box))
            right = max(right, bounds[0] + width)
        return (bounds[0], top if lines else bounds[1], right, bounds[3])


def _wires(routed: Routed) -> tuple[Wire, ...]:
    return tuple(Wire(net, path) for net in sorted(routed.wires) for path in routed.wires[net])


def _extent(wire: Wire) -> int:
    return sum(
        abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in zip(wire.points, wire.points[1:], strict=False)
    )


def _cells_in(box: Box) -> set[Cell]:
    left, top, right, bottom = box
    return {
        (x, y)
        for x in range(-int(-left // 1), int(right // 1) + 1)
        for y in range(-int(-top // 1), int(bottom // 1) + 1)
    }


def _moved(box: Box, by: tuple[int, int]) -> Box:
    return (box[0] + by[0], box[1] + by[1], box[2] + by[0], box[3] + by[1])


def _around_span(span: tuple[int, int, int, int]) -> Box:
    return (span[0] - 0.06, span[1] - 0.06, span[2] + 0.06, span[3] + 0.06)


def _grown(box: Box, turn: int) -> Box:
    """Without the edge that touches the pin's own wire."""
    dx, dy = STEPS[turn]
    return (
        box[0] + max(dx, 0) * 0.2,
        box[1] + max(dy, 0) * 0.2,
        box[2] + min(dx, 0) * 0.2,
        box[3] + min(dy, 0) * 0.2,
    )


def _strokes_at(strokes: tuple[Stroke, ...], at: Cell) -> tuple[Stroke, ...]:
    return tuple(
        stroke._replace(points=tuple((x + at[0], y + at[1]) for x, y in stroke.points)) for stroke in strokes
    )


def _flag_stroke(name: str, turn: int, at: Cell) -> Stroke:
    left, top, right, bottom = _moved(flag_box(name, turn), at)
    x, y = float(at[0]), float(at[1])
    if turn == LEFT:
        points = [(x, y), (right - 0.2, top), (left, top), (left, bottom), (right - 0.2, bottom), (x, y)]
    elif turn == RIGHT:
        points = [(x, y), (left + 0.2, top), (right, top), (right, bottom), (left + 0.2, bottom), (x, y)]
    else:
        near, far = (bottom, top) if turn == UP else (top, bottom)
        inner = near - 0.15 if turn == UP else near + 0.15
        points = [(x, y), (left, inner), (left, far), (right, far), (right, inner), (x, y)]
    return Stroke(tuple(points))
