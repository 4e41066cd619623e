"""The display list: what a painter paints, each piece with the element or the net it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from domain.circuit.schematic.parts import Undrawn
from domain.circuit.schematic.placing import Place
from domain.circuit.schematic.routing import NetPin
from domain.circuit.schematic.symbols import Box, Point, Stroke

TextRole = Literal["name", "value", "net", "flag", "rail", "pin", "title", "legend", "figure"]
Anchor = Literal["start", "middle", "end"]


class DrawnPin(NamedTuple):
    """Where a terminal ends."""

    terminal: int
    """Its place on the element's line, control nodes behind the others."""
    at: tuple[int, int]
    net: str = ""


class Symbol(NamedTuple):
    """An element."""

    element: str
    line: int
    file: Path | None
    kind: str
    strokes: tuple[Stroke, ...]
    pins: tuple[DrawnPin, ...]
    body: Box
    value_at: tuple[int, int]
    """Line and column of its value or model; line 0: none."""
    hint: str
    """Its whole card."""
    value: str = ""
    """What stands there."""
    is_model: bool = False
    """Whether that is a model's name."""
    inside: str = ""
    """The scope a double click opens; "" for none."""
    key: str = ""
    """Its own in `Drawing.places`: an element that is a package has several symbols."""


class Wire(NamedTuple):
    """A piece of a net, from end to end."""

    net: str
    points: tuple[tuple[int, int], ...]


class Dot(NamedTuple):
    """A joint."""

    net: str
    at: tuple[int, int]


class Mark(NamedTuple):
    """What joins a pin to a net by name: a supply's bar, a ground symbol, a flag."""

    net: str
    at: tuple[int, int]
    strokes: tuple[Stroke, ...]
    box: Box


class Text(NamedTuple):
    """One line."""

    text: str
    at: Point
    """Left end, middle or right end of its middle line."""
    anchor: Anchor
    role: TextRole
    element: str
    """"" where it belongs to a net."""
    net: str
    box: Box


class Entry(NamedTuple):
    """A line of the legend: elements and terminals that are told, not drawn."""

    element: str
    pins: tuple[tuple[str, int, str], ...]
    """(element, terminal, net) of what it tells."""
    text: str
    line: int


class Score(NamedTuple):
    """How a drawing reads."""

    crossings: int
    bends: int
    wire: int
    """Length in grid units."""
    labels: int
    """Pins joined by name in the place of a wire."""
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A page as it is painted."""

    title: str
    scope: str
    symbols: tuple[Symbol, ...]
    wires: tuple[Wire, ...]
    dots: tuple[Dot, ...]
    marks: tuple[Mark, ...]
    texts: tuple[Text, ...]
    legend: tuple[Entry, ...]
    bounds: Box
    score: Score
    topology_key: str
    places: Mapping[str, Place] = field(default_factory=dict)
    """By the key of the symbol: what a later drawing keeps."""
    loose: Mapping[str, tuple[NetPin, ...]] = field(default_factory=dict)
    """Net -> pins that no wire reaches."""
    undrawn: tuple[Undrawn, ...] = ()
    nets: tuple[str, ...] = ()
    """All that are shown, by canonical name."""

    @property
    def elements(self) -> tuple[str, ...]:
        """All that are drawn or told in the legend; a subcircuit's terminals are none."""
        drawn = [symbol.element for symbol in self.symbols if symbol.kind != "port"]
        return (*dict.fromkeys(drawn), *(entry.element for entry in self.legend if entry.line))
