"""The symbols: where their pins and bodies are, and the strokes they are drawn with (IEC 60617 or US)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from domain.circuit.schematic.parts import TRANSISTORS, TWO_POLES, Part

SymbolSet = Literal["iec", "us"]
LEFT, UP, RIGHT, DOWN = range(4)
STEPS = ((-1, 0), (0, -1), (1, 0), (0, 1))
"""By side."""
Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""left, top, right, bottom."""
CHAR = 0.46
"""Width of a letter in grid units, the widest usual one."""
LINE = 0.95
"""Height of a line of text."""


class Stroke(NamedTuple):
    """A polyline, or a filled polygon."""

    points: tuple[Point, ...]
    is_filled: bool = False
    is_bar: bool = False
    """Drawn thicker: plates, rails, channels."""


class PinPlace(NamedTuple):
    """Where a pin ends."""

    role: str
    x: int
    y: int
    side: int
    """The way its lead goes out."""


class Shape(NamedTuple):
    """A symbol's geometry in one orientation, around the part's place."""

    pins: tuple[PinPlace, ...]
    body: Box
    """Without leads."""


class Sides(NamedTuple):
    """Roles of pins of a box or amplifier by side; of a transistor the bulk, if it has a lead."""

    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    top: tuple[str, ...] = ()
    bottom: tuple[str, ...] = ()


def text_width(text: str) -> float:
    """Of a line; East Asian letters count twice."""
    return sum(CHAR * (1.9 if ord(char) > 0x2E7F else 1.0) for char in text)


def turned(point: Point, turn: int, *, flip: bool) -> Point:
    """Mirrored, then turned by quarters: 1 brings what is above to the left."""
    x, y = (-point[0] if flip else point[0]), point[1]
    for _ in range(turn % 4):
        x, y = y, -x
    return x, y


def shape_of(part: Part, turn: int, *, flip: bool, sides: Sides) -> Shape:
    """Pins and body of a part as it stands."""
    if part.kind in ("amp", "box", "port"):
        if part.kind == "amp":
            return _amp_shape(sides, flip=flip)
        return _box_shape(part, sides) if part.kind == "box" else _port_shape(part, flip=flip)
    pins, body = _canonical(part, sides)
    places = []
    for role, x, y, side in pins:
        at = turned((x, y), turn, flip=flip)
        step = turned(STEPS[side], turn, flip=flip)
        places.append(PinPlace(role, int(at[0]), int(at[1]), STEPS.index((int(step[0]), int(step[1])))))
    corners = [turned((body[at], body[to]), turn, flip=flip) for at, to in ((0, 1), (2, 3))]
    xs, ys = [each[0] for each in corners], [each[1] for each in corners]
    return Shape(tuple(places), (min(xs), min(ys), max(xs), max(ys)))


_RING_X, _RING = -0.4, 1.15
"""Center and radius of the circle the US set draws around a bipolar transistor."""


def drawn_body(part: Part, body: Box, turn: int, *, flip: bool, symbols: SymbolSet) -> Box:
    """A body with what a symbol set draws around it."""
    if symbols != "us" or part.kind != "q":
        return body
    x, y = turned((_RING_X, 0.0), turn, flip=flip)
    return union([body, (x - _RING, y - _RING, x + _RING, y + _RING)])


def _canonical(part: Part, sides: Sides) -> tuple[list[tuple[str, int, int, int]], Box]:
    if part.kind in TWO_POLES:
        wide = {"r": 0.5, "c": 0.85, "l": 0.5, "d": 0.6, "s": 0.7}.get(part.kind, 1.0)
        return [("a", 0, -2, UP), ("b", 0, 2, DOWN)], (-wide, -1.0, wide, 1.0)
    if part.kind in TRANSISTORS:
        up, down = ("out", "com") if part.polarity > 0 else ("com", "out")
        pins = [(up, 0, -2, UP), ("in", -2, 0, LEFT), (down, 0, 2, DOWN)]
        if any(pin.role == "bulk" for pin in part.pins) and sides.right:
            pins.append(("bulk", 1, 0, RIGHT))
        for at, pin in enumerate(pin for pin in part.pins if pin.role[:1] == "x"):
            pins.append((pin.role, 1, at + 1, RIGHT))
        return pins, (-1.25, -1.1, 0.35, 1.1)
    raise ValueError(part.kind)


def _amp_shape(sides: Sides, *, flip: bool) -> Shape:
    plus = -1 if flip else 1
    pins = [PinPlace("p", -3, plus, LEFT), PinPlace("n", -3, -plus, LEFT), PinPlace("out", 3, 0, RIGHT)]
    for roles, side, sign in ((sides.top, UP, -1), (sides.bottom, DOWN, 1)):
        for at, role in enumerate(roles):
            pins.append(PinPlace(role, (0, -1, 1, -2, 2)[at % 5], sign * (3 + 2 * at), side))
    return Shape(tuple(pins), (-2.0, -2.0, 2.0, 2.0))


def _port_shape(part: Part, *, flip: bool) -> Shape:
    width = text_width(part.name) + 0.8
    if flip:  # an output: its pin is on the left
        return Shape((PinPlace("a", 0, 0, LEFT),), (0.0, -0.55, width, 0.55))
    return Shape((PinPlace("a", 0, 0, RIGHT),), (-width, -0.55, 0.0, 0.55))


def box_size(part: Part, sides: Sides) -> tuple[int, int]:
    """Half width and half height of a box with its pins' names inside."""
    left = max((text_width(each) for each in sides.left), default=0.0)
    right = max((text_width(each) for each in sides.right), default=0.0)
    upright = max(len(sides.top), len(sides.bottom))
    label = max(text_width(part.name), *(text_width(each) for each in part.values), 0.0)
    inner = left + right + 1.5
    names = max(_apart(part, roles) * len(roles) for roles in (sides.top, sides.bottom))
    half_w = math.ceil(max(inner, names, label * 0.5, 2.0 * upright, 4.0) / 2)
    rows = max(len(sides.left), len(sides.right))
    half_h = max(rows + (1 if sides.top or sides.bottom else 0), 2)
    return half_w, half_h


def _apart(part: Part, roles: Sequence[str]) -> int:
    """From pin to pin above or below a box: the pins' names find room inside, the supplies' outside."""
    nets = (part.net(role) for role in roles)
    names = max((text_width(each) + 0.6 for each in roles), default=0.0)
    marks = max((text_width(net) + 0.6 for net in nets), default=0.0)
    return max(2, math.ceil(max(names, marks if len(roles) > 1 else 0.0)))


def _box_shape(part: Part, sides: Sides) -> Shape:
    half_w, half_h = box_size(part, sides)
    pins: list[PinPlace] = []
    for roles, x, side in ((sides.left, -half_w - 1, LEFT), (sides.right, half_w + 1, RIGHT)):
        pins += [PinPlace(role, x, 2 * at - len(roles) + 1, side) for at, role in enumerate(roles)]
    for roles, y, side in ((sides.top, -half_h - 1, UP), (sides.bottom, half_h + 1, DOWN)):
        spacing = _apart(part, roles)
        pins += [
            PinPlace(role, spacing * at - spacing * (len(roles) - 1) // 2, y, side)
            for at, role in enumerate(roles)
        ]
    return Shape(tuple(pins), (-half_w, -half_h, half_w, half_h))


# ---- strokes ------------------------------------------------------------------------------------------


def strokes_of(part: Part, turn: int, *, flip: bool, sides: Sides, symbols: SymbolSet) -> list[Stroke]:
    """The lines a part is drawn with, around its place."""
    if part.kind == "amp":
        return _amp_strokes(sides, flip=flip)
    if part.kind == "box":
        return _box_strokes(part, sides)
    if part.kind == "port":
        return _port_strokes(part, flip=flip)
    drawn = _transistor(part, sides, symbols) if part.kind in TRANSISTORS else _two_pole(part, symbols)
    return [
        stroke._replace(points=tuple(turned(point, turn, flip=flip) for point in stroke.points))
        for stroke in drawn
    ]


def circle(x: float, y: float, radius: float, first: float = 0.0, last: float = 360.0) -> Stroke:
    """An arc as a polyline, degrees counted clockwise from the right."""
    count = max(6, int(abs(last - first) / 15))
    angles = [math.radians(first + (last - first) * at / count) for at in range(count + 1)]
    return Stroke(
        tuple((round(x + radius * math.cos(a), 3), round(y + radius * math.sin(a), 3)) for a in angles)
    )


def _line(*points: Point) -> Stroke:
    return Stroke(points)


def _bar(*points: Point) -> Stroke:
    return Stroke(points, is_bar=True)


def _fill(*points: Point) -> Stroke:
    return Stroke((*points, points[0]), is_filled=True)


def _leads(top: float, bottom: float) -> list[Stroke]:
    return [_line((0, -2), (0, top)), _line((0, bottom), (0, 2))]


def _plus(x: float, y: float, *, minus: bool = False) -> list[Stroke]:
    across = _line((x - 0.22, y), (x + 0.22, y))
    return [across] if minus else [across, _line((x, y - 0.22), (x, y + 0.22))]


def _two_pole(part: Part, symbols: SymbolSet) -> list[Stroke]:
    drawn = {
        "r": _resistor, "c": _capacitor, "l": _inductor, "d": _diode, "s": _switch, "v": _voltage_source,
        "i": _current_source,
    }.get(part.kind, _controlled_source)  # fmt: skip
    return drawn(part, symbols == "us")


def _resistor(_part: Part, us: bool) -> list[Stroke]:
    if not us:
        return [*_leads(-1, 1), _line((-0.4, -1), (0.4, -1), (0.4, 1), (-0.4, 1), (-0.4, -1))]
    zigzag = [(0.0, -1.0)]
    zigzag += [((0.4 if at % 2 else -0.4), round(-1 + (at + 0.5) / 3, 3)) for at in range(6)]
    return [*_leads(-1, 1), _line(*zigzag, (0.0, 1.0))]


def _capacitor(_part: Part, _us: bool) -> list[Stroke]:
    return [*_leads(-0.2, 0.2), *(_bar((-0.75, y), (0.75, y)) for y in (-0.2, 0.2))]


def _inductor(_part: Part, _us: bool) -> list[Stroke]:
    return [*_leads(-1.2, 1.2), *(circle(0, -0.9 + 0.6 * at, 0.3, -90, 90) for at in range(4))]


def _diode(_part: Part, _us: bool) -> list[Stroke]:
    triangle = _fill((-0.5, -0.45), (0.5, -0.45), (0, 0.4))
    return [*_leads(-0.45, 0.4), triangle, _bar((-0.5, 0.4), (0.5, 0.4))]


def _switch(_part: Part, _us: bool) -> list[Stroke]:
    contacts = [circle(0, -0.75, 0.1), circle(0, 0.75, 0.1)]
    return [*_leads(-0.75, 0.75), *contacts, _line((0, 0.65), (0.6, -0.7))]


def _current_source(_part: Part, us: bool) -> list[Stroke]:
    ring = [*_leads(-0.9, 0.9), circle(0, 0, 0.9)]
    if us:
        return [*ring, _line((0, -0.55), (0, 0.3)), _fill((-0.22, 0.1), (0.22, 0.1), (0, 0.6))]
    return [*ring, _line((-0.9, 0), (0.9, 0)), _fill((-0.22, 1.35), (0.22, 1.35), (0, 1.8))]


def _controlled_source(part: Part, _us: bool) -> list[Stroke]:
    diamond = _line((0, -1), (0.9, 0), (0, 1), (-0.9, 0), (0, -1))
    is_current = part.kind in "fg" or (part.kind == "b" and "I=" in part.full.upper().replace(" ", ""))
    if is_current:
        inner = [_line((0, -0.55), (0, 0.3)), _fill((-0.2, 0.1), (0.2, 0.1), (0, 0.55))]
    else:
        inner = [*_plus(0, -0.45), *_plus(0, 0.45, minus=True)]
    return [*_leads(-1, 1), diamond, *inner]


def _voltage_source(part: Part, us: bool) -> list[Stroke]:
    ring = [*_leads(-0.9, 0.9), circle(0, 0, 0.9)]
    wave: list[Stroke] = []
    if part.style in ("sin", "ac"):
        curve = [(x / 10, -0.3 * math.sin(x / 10 / 0.5 * math.pi)) for x in range(-5, 6)]
        wave = [_line(*((round(x, 3), round(y, 3)) for x, y in curve))]
    elif part.style in ("pulse", "wave"):
        wave = [_line((-0.5, 0.25), (-0.2, 0.25), (-0.2, -0.25), (0.2, -0.25), (0.2, 0.25), (0.5, 0.25))]
    sign = _plus(-0.5, -1.35)
    if wave:
        return [*ring, *wave, *sign]
    if us:
        return [*ring, *_plus(0, -0.45), *_plus(0, 0.45, minus=True)]
    return [*ring, _line((0, -0.9), (0, 0.9)), *sign]


def _transistor(part: Part, sides: Sides, symbols: SymbolSet) -> list[Stroke]:
    drawn = _n_type(part, sides, symbols)
    return [_mirrored(each) for each in drawn] if part.polarity < 0 else drawn


def _mirrored(stroke: Stroke) -> Stroke:
    """Upside down: a p-type has its emitter or source above."""
    return stroke._replace(points=tuple((x, -y) for x, y in stroke.points))


def _n_type(part: Part, sides: Sides, symbols: SymbolSet) -> list[Stroke]:
    """With the collector or drain above; a p-type's arrow the other way."""
    p = part.polarity < 0
    ring = [circle(_RING_X, 0, _RING)] if symbols == "us" and part.kind == "q" else []
    extra = [_line((1, 0), (-0.45, 0))] if sides.right else []
    extra += [
        _line((1, at + 1), (0, at + 1)) for at, pin in enumerate(x for x in part.pins if x.role[:1] == "x")
    ]
    if part.kind == "q":
        arrow = _arrow((0, 1.0), (-0.8, 0.3)) if p else _arrow((-0.8, 0.3), (0, 1.0))
        return [
            _line((-2, 0), (-0.8, 0)), _bar((-0.8, -0.75), (-0.8, 0.75)),
            _line((-0.8, -0.3), (0, -1.0), (0, -2)), _line((-0.8, 0.3), (0, 1.0), (0, 2)),
            arrow, *ring, *extra,
        ]  # fmt: skip
    if part.kind == "m":
        tip, foot = (-0.45, -0.02) if p else (0.0, -0.42)
        return [
            _line((-2, 0), (-0.8, 0)), _bar((-0.8, -0.7), (-0.8, 0.7)), _bar((-0.5, -0.9), (-0.5, 0.9)),
            _line((-0.45, -0.6), (0, -0.6), (0, -2)), _line((-0.45, 0.6), (0, 0.6), (0, 2)),
            _fill((tip, 0.6), (foot, 0.38), (foot, 0.82)), *extra,
        ]  # fmt: skip
    tip, foot = (-1.3, -0.9) if p else (-0.62, -1.05)
    return [
        _line((-2, 0), (-0.6, 0)), _bar((-0.6, -0.85), (-0.6, 0.85)), _line((-0.6, -0.6), (0, -0.6), (0, -2)),
        _line((-0.6, 0.6), (0, 0.6), (0, 2)), _fill((tip, 0), (foot, -0.22), (foot, 0.22)), *extra,
    ]  # fmt: skip


def _arrow(start: Point, end: Point) -> Stroke:
    """An arrow head in the middle of a line, towards its end."""
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    tip = (start[0] + 0.8 * (end[0] - start[0]), start[1] + 0.8 * (end[1] - start[1]))
    sides = [
        (
            round(tip[0] + 0.5 * math.cos(angle + math.pi + turn), 3),
            round(tip[1] + 0.5 * math.sin(angle + math.pi + turn), 3),
        )
        for turn in (0.42, -0.42)
    ]
    return _fill((round(tip[0], 3), round(tip[1], 3)), *sides)


def _amp_strokes(sides: Sides, *, flip: bool) -> list[Stroke]:
    plus = -1.0 if flip else 1.0
    strokes = [
        _line((-2, -2), (2, 0), (-2, 2), (-2, -2)), _line((-3, -1), (-2, -1)), _line((-3, 1), (-2, 1)),
        _line((2, 0), (3, 0)), *_plus(-1.45, plus), *_plus(-1.45, -plus, minus=True),
    ]  # fmt: skip
    for roles, sign in ((sides.top, -1), (sides.bottom, 1)):
        for at, _ in enumerate(roles):
            x = (0, -1, 1, -2, 2)[at % 5]
            strokes.append(_line((x, sign * (3 + 2 * at)), (x, sign * (2 - x) / 2)))
    return strokes


def _box_strokes(part: Part, sides: Sides) -> list[Stroke]:
    half_w, half_h = box_size(part, sides)
    frame = _line(
        (-half_w, -half_h), (half_w, -half_h), (half_w, half_h), (-half_w, half_h), (-half_w, -half_h)
    )
    shape = _box_shape(part, sides)
    leads = []
    for pin in shape.pins:
        dx, dy = STEPS[pin.side]
        leads.append(_line((pin.x, pin.y), (pin.x - dx, pin.y - dy)))
    return [frame, *leads]


def _port_strokes(part: Part, *, flip: bool) -> list[Stroke]:
    width = text_width(part.name) + 0.8
    points = [(0.0, 0.0), (-0.5, -0.55), (-width, -0.55), (-width, 0.55), (-0.5, 0.55), (0.0, 0.0)]
    return [_line(*(((-x if flip else x), y) for x, y in points))]


class RailMark(NamedTuple):
    """A supply's bar or a ground symbol at a pin."""

    strokes: tuple[Stroke, ...]
    box: Box
    text_at: Point | None
    """Where the name stands, centred; None for ground."""
    cells: tuple[tuple[int, int], ...]
    """Grid points it covers besides the pin's own."""


def rail_mark(side: int, sign: int, name: str) -> RailMark:
    """At a pin whose lead goes out to `side`; `sign` 0 is ground, 1 a supply above, -1 one below.

    Ground above a part is a rail with its name, as of circuits that have negative supplies only.
    """
    if sign == 0 and side == UP:
        sign = 1
    up = sign > 0
    half = max(0.7, text_width(name) / 2) if sign else 0.62
    foot: Point = (0.0, 0.0)
    lead: list[Stroke] = []
    if side != (UP if up else DOWN):  # to the side first, so that bars stand up and ground hangs
        away = math.ceil(half + 0.4) if sign else 1
        foot = (float(-away if side == LEFT else away), 0.0)
        lead = [_line((0.0, 0.0), foot)]
    x, y = foot
    if sign == 0:
        strokes = [
            *lead, _line((x, y), (x, y + 0.4)), _bar((x - 0.6, y + 0.4), (x + 0.6, y + 0.4)),
            _line((x - 0.38, y + 0.62), (x + 0.38, y + 0.62)),
            _line((x - 0.15, y + 0.84), (x + 0.15, y + 0.84)),
        ]  # fmt: skip
        return RailMark(tuple(strokes), (x - half, y, x + half, y + 0.9), None, _cells(foot, 1))
    d = -1 if up else 1
    strokes = [*lead, _line((x, y), (x, y + 0.5 * d)), _bar((x - 0.6, y + 0.5 * d), (x + 0.6, y + 0.5 * d))]
    top, bottom = (y - 1.5, y) if up else (y, y + 1.5)
    box = (x - half, top, x + half, bottom)
    return RailMark(tuple(strokes), box, (x, y + 1.05 * d), _cells(foot, d))


def _cells(foot: Point, d: int) -> tuple[tuple[int, int], ...]:
    x, y = int(foot[0]), int(foot[1])
    step = 1 if x > 0 else -1
    return (*((at, y) for at in range(step, x + step, step) if x), (x, y + d))


def flag_box(name: str, side: int) -> Box:
    """Room of a net's name that stands at a pin in the place of a wire."""
    width = text_width(name) + 0.5
    if side == LEFT:
        return (-width, -0.5, 0.0, 0.5)
    if side == RIGHT:
        return (0.0, -0.5, width, 0.5)
    return (-width / 2, -1.1, width / 2, 0.0) if side == UP else (-width / 2, 0.0, width / 2, 1.1)


def union(boxes: Sequence[Box]) -> Box:
    return (
        min(box[0] for box in boxes), min(box[1] for box in boxes),
        max(box[2] for box in boxes), max(box[3] for box in boxes),
    )  # fmt: skip
