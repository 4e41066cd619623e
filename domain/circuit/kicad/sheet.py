"""What is on a sheet of KiCad's: symbols with their pins, wires, labels, junctions, sheets, texts.

Places are whole numbers of 100 nm, KiCad's own unit, x to the right and y down. Format: KiCad's developer
documentation, "Schematic file format" (versions 6 to 10; older `.sch` files are another one).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from domain.circuit.kicad.s_expressions import Node, NotReadable, first, lists, read, text_at
from domain.circuit.numbers import place_of

Place = tuple[int, int]
LabelKind = Literal["local", "global", "hierarchical"]
_UNITS_PER_MM = 10_000
_LARGEST_MM = 100_000
_LABELS: Mapping[str, LabelKind] = {
    "label": "local",
    "global_label": "global",
    "hierarchical_label": "hierarchical",
}


class NoSheet(ValueError):
    """The text is no schematic of KiCad's."""


class Pin(NamedTuple):
    """A pin of a symbol in a library."""

    number: str
    name: str
    """"" where it has none."""
    at: Place
    """From the symbol's origin, y up."""
    is_power_input: bool
    """Of a power symbol it gives its net a name; that of a flag (PWR_FLAG) does not."""
    is_hidden: bool
    """A hidden power input is on the net of its name, everywhere."""


class Drawing(NamedTuple):
    """A symbol of a library: what a placed one looks like."""

    pins: Mapping[tuple[int, int], Sequence[Pin]]
    """By unit and body style; 0 stands for all."""
    is_power: bool
    is_power_local: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A symbol on a sheet."""

    drawing: str
    at: Place
    angle: int
    """Degrees counterclockwise."""
    mirror: str
    """"", x or y."""
    unit: int
    style: int
    fields: Mapping[str, str]
    references: Mapping[str, tuple[str, int]]
    """Reference and unit by the path of the sheet's instance."""
    key: str
    is_excluded: bool


class Label(NamedTuple):
    """A name of a net."""

    text: str
    at: Place
    kind: LabelKind


class Sub(NamedTuple):
    """A sheet in a sheet."""

    name: str
    file: str
    key: str
    pins: Sequence[tuple[str, Place]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What is on a sheet."""

    key: str
    drawings: Mapping[str, Drawing]
    symbols: Sequence[Placed]
    wires: Sequence[tuple[Place, Place]]
    junctions: Sequence[Place]
    labels: Sequence[Label]
    sheets: Sequence[Sub]
    texts: Sequence[str]
    buses: int
    """Bus lines and entries, which are not read."""
    old_references: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """KiCad 6: by the path of the symbol, in the file of the top sheet."""

    def pins_of(self, symbol: Placed, unit: int) -> list[tuple[Pin, Place]]:
        """The pins of a placed symbol's unit, and where they are on the sheet."""
        drawing = self.drawings.get(symbol.drawing)
        if drawing is None:
            return []
        found = [
            pin
            for (of_unit, style), pins in drawing.pins.items()
            if of_unit in (0, unit) and style in (0, symbol.style)
            for pin in pins
        ]
        return [(pin, _on_sheet(symbol, pin.at)) for pin in found]


def read_sheet(text: str) -> Sheet:
    """The sheet in `text`. Raises NoSheet; what only draws is passed over."""
    try:
        top = read(text.lstrip("\ufeff"))
    except NotReadable as error:
        raise NoSheet from error
    if text_at(top, 0) != "kicad_sch":
        raise NoSheet
    return Sheet(
        key=text_at(first(top, "uuid"), 1),
        drawings=_drawings(first(top, "lib_symbols")),
        symbols=tuple(map(_placed, lists(top, "symbol"))),
        wires=tuple(
            (places[0], places[1])
            for wire in lists(top, "wire")
            if len(places := [_place(each) for each in lists(first(wire, "pts"), "xy")]) == 2
        ),
        junctions=tuple(_place(first(each, "at")) for each in lists(top, "junction")),
        labels=tuple(
            Label(net_text(text_at(each, 1)), _place(first(each, "at")), _LABELS[text_at(each, 0)])
            for each in lists(top, *_LABELS)
        ),
        sheets=tuple(map(_sub, lists(top, "sheet"))),
        texts=tuple(text_at(each, 1) for each in lists(top, "text", "text_box")),
        buses=sum(1 for _ in lists(top, "bus", "bus_entry")),
        old_references={
            text_at(path, 1): (text_at(first(path, "reference"), 1), _number(first(path, "unit")))
            for path in lists(first(top, "symbol_instances"), "path")
        },
    )


def net_text(text: str) -> str:
    """A net's name as it is shown: KiCad writes some signs as words in braces."""
    for word, sign in (("slash", "/"), ("space", " "), ("colon", ":"), ("lt", "<"), ("gt", ">"),
                       ("dblquote", '"'), ("quote", "'"), ("backslash", "\\"), ("bar", "|")):  # fmt: skip
        text = text.replace(f"{{{word}}}", sign)
    return text


def _drawings(library: Node) -> dict[str, Drawing]:
    found: dict[str, Drawing] = {}
    parents: dict[str, str] = {}
    for each in lists(library, "symbol"):
        name = text_at(each, 1)
        pins: dict[tuple[int, int], list[Pin]] = {}
        for part in lists(each, "symbol"):
            *_, unit, style = ["0", "0", *text_at(part, 1).rsplit("_", 2)]
            of_unit, of_style = place_of(unit), place_of(style)
            place = (0, 0) if of_unit is None or of_style is None else (of_unit, of_style)
            pins.setdefault(place, []).extend(map(_pin, lists(part, "pin")))
        power = first(each, "power")
        found[name] = Drawing(pins, bool(power), text_at(power, 1) == "local")
        if parent := text_at(first(each, "extends"), 1):
            parents[name] = parent
    for name, parent in parents.items():
        if parent in found and not found[name].pins:
            found[name] = found[parent]
    return found


def _pin(node: Node) -> Pin:
    name = text_at(first(node, "name"), 1)
    is_hidden = "hide" in node or text_at(first(node, "hide"), 1) == "yes"
    return Pin(
        number=text_at(first(node, "number"), 1),
        name="" if name == "~" else net_text(name),
        at=_place(first(node, "at")),
        is_power_input=text_at(node, 1) == "power_in",
        is_hidden=is_hidden,
    )


def _placed(node: Node) -> Placed:
    at = first(node, "at")
    references = {
        text_at(path, 1): (text_at(first(path, "reference"), 1), _number(first(path, "unit")))
        for project in lists(first(node, "instances"), "project")
        for path in lists(project, "path")
    }
    angle = _mm(text_at(at, 3))
    return Placed(
        drawing=text_at(first(node, "lib_name"), 1) or text_at(first(node, "lib_id"), 1),
        at=_place(at),
        angle=round(angle) % 360,
        mirror=text_at(first(node, "mirror"), 1),
        unit=_number(first(node, "unit")),
        style=_number(first(node, "convert"))
        if first(node, "convert")
        else _number(first(node, "body_style")),
        fields={text_at(each, 1): text_at(each, 2) for each in lists(node, "property")},
        references=references,
        key=text_at(first(node, "uuid"), 1),
        is_excluded=text_at(first(node, "exclude_from_sim"), 1) == "yes",
    )


def _sub(node: Node) -> Sub:
    fields = {text_at(each, 1): text_at(each, 2) for each in lists(node, "property")}
    return Sub(
        name=fields.get("Sheetname", fields.get("Sheet name", "")),
        file=fields.get("Sheetfile", fields.get("Sheet file", "")),
        key=text_at(first(node, "uuid"), 1),
        pins=tuple((net_text(text_at(pin, 1)), _place(first(pin, "at"))) for pin in lists(node, "pin")),
    )


def _on_sheet(symbol: Placed, pin: Place) -> Place:
    """Turned first, then mirrored."""
    x, y = pin
    turned = {0: (x, y), 90: (-y, x), 180: (-x, -y), 270: (y, -x)}.get(symbol.angle, (x, y))
    across = -turned[0] if symbol.mirror == "y" else turned[0]
    up = -turned[1] if symbol.mirror == "x" else turned[1]
    return symbol.at[0] + across, symbol.at[1] - up


def _place(node: Node) -> Place:
    return round(_mm(text_at(node, 1)) * _UNITS_PER_MM), round(_mm(text_at(node, 2)) * _UNITS_PER_MM)


def _mm(text: str) -> float:
    """0 for what is no place on any sheet: nothing is connected there but by chance of its own making."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if math.isfinite(value) and abs(value) < _LARGEST_MM else 0.0


def _number(node: Node) -> int:
    text = text_at(node, 1)
    return int(text) if text.isdecimal() and len(text) < 6 else 1
