"""What stands on a page: the elements of one scope as parts with pins."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

from domain.circuit.cards import device_kind
from domain.circuit.dependencies import DependencyTree
from domain.circuit.elements import GROUND, SHAPES, Element, canonical_node
from domain.circuit.hierarchy import Block, Circuit, PlacedElement
from domain.circuit.parameters import resolve_parameters
from domain.circuit.recognition.amplifier_blocks import amplifier_ports, amplifiers_of_package
from domain.circuit.recognition.graph import value_of, watched_by
from domain.circuit.schematic.headings import heading_of
from domain.circuit.schematic.losses import losses_of, rising_of, without_rise
from domain.circuit.schematic.memories import Followed, followed_by
from domain.circuit.topology import expression_nodes
from shared.message import Message, msg

TWO_POLES = frozenset("rcldvisefghb")
"""Kinds drawn between two pins."""
TRANSISTORS = frozenset("qmj")
_TERMINALS = {
    "d": "out", "drain": "out", "c": "out", "collector": "out", "g": "in", "gate": "in", "base": "in",
    "s": "com", "source": "com", "e": "com", "emitter": "com", "b": "bulk", "bulk": "bulk", "body": "bulk",
}  # fmt: skip
"""What ports of subcircuits that are transistors are called; b is the base of a bipolar one."""
PORT = -1
"""In place of a place on a line: the terminal is a subcircuit's own."""
_WAVES = ("sin", "sine", "pulse", "pwl", "exp", "sffm", "am", "trnoise", "trrandom")
_SMALL_SIGNAL = re.compile(r"\)\s*ac\b.*$", re.IGNORECASE)
"""An amplitude that is written behind a waveform, which has a line of its own."""
_LONGEST_TEXT = 16


class Pin(NamedTuple):
    """A terminal of a part."""

    role: str
    """Two-poles: a, b; transistors: out (collector, drain), in, com, bulk; amp: p, n, out; else its name."""
    net: str
    terminal: int
    """Its place on the element's line, control nodes behind the others."""


class Part(NamedTuple):
    """One element that is drawn."""

    name: str
    kind: str
    """r c l d v i s e f g h b (two pins), q m j, amp, box, port."""
    pins: tuple[Pin, ...]
    values: tuple[str, ...]
    """Lines of text beside its name."""
    full: str
    """Its whole card, for a hint."""
    polarity: int
    """Of transistors: 1 npn, n-channel; -1 pnp, p-channel."""
    ohms: float | None
    """Of resistors; of sources the DC value."""
    style: str
    """Of sources: dc, ac, sin, pulse, wave, port (a load that gives no signal); else ""."""
    line: int
    file: Path | None
    value_at: tuple[int, int] = (0, 1)
    """Line and column of its value or model; line 0: none."""
    value: str = ""
    """Its value or model as written at `value_at`."""
    is_model: bool = False
    """Whether that is a model's name."""
    controls: tuple[str, ...] = ()
    """Nets it only looks at, told as text."""
    unit: str = ""
    """A, B and so on: which one of a package's amplifiers it is."""

    @property
    def key(self) -> str:
        """Its own among the parts of a page."""
        return f"{self.name}·{self.unit}".lower() if self.unit else self.name.lower()

    @property
    def shown(self) -> str:
        """Its name as it is written beside it."""
        return f"{self.name}{self.unit}"

    def net(self, role: str) -> str:
        return next((pin.net for pin in self.pins if pin.role == role), "")

    @property
    def nets(self) -> tuple[str, ...]:
        return tuple(pin.net for pin in self.pins)


class Undrawn(NamedTuple):
    """What can't be drawn as it should be, and why."""

    line: int
    message: Message


class Coupling(NamedTuple):
    """A K element: inductors on one core."""

    name: str
    inductors: tuple[str, ...]
    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One scope of a circuit."""

    title: str
    scope: str
    """Path of the subcircuit, "" for the top level."""
    parts: tuple[Part, ...]
    ports: tuple[str, ...]
    observed: tuple[str, ...]
    """Nets that the circuit's cards look at."""
    swept: frozenset[str]
    """Sources that are swept, lower case."""
    couplings: tuple[Coupling, ...]
    names: Mapping[str, str]
    """Net -> its name as first written."""
    inside: Mapping[str, str]
    """Element -> the scope its double click opens."""
    undrawn: tuple[Undrawn, ...]

    @property
    def topology_key(self) -> str:
        """The same for circuits whose drawings differ in texts only: values are not in it."""
        rows = [
            (each.name.lower(), each.kind, each.polarity, each.style, *each.nets, *each.controls)
            for each in self.parts
        ]
        seen = (self.scope, self.ports, self.observed, sorted(self.swept), self.couplings and [
            (each.name, each.inductors) for each in self.couplings
        ])  # fmt: skip
        return hashlib.sha256(repr((rows, seen)).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def page_of(tree: DependencyTree, circuit: Circuit, scope: str = "") -> Page | None:
    """The page of a scope: "" is the top level, ``outer.inner`` a subcircuit. None for an unknown one."""
    block: Block | None = circuit.top
    for name in filter(None, scope.lower().split(".")):
        block = block.blocks.get(name) if block is not None else None
    if block is None:
        return None
    watched = watched_by(
        (placed.statement.keyword, [word.text for word in placed.statement.words])
        for placed in tree.expanded
        if placed.statement.kind == "directive" and not placed.scope
    )
    reader = _Reader(block, resolve_parameters(tree))
    for placed in block.elements:
        reader.read(placed)
    top = block is circuit.top
    return Page(
        title=heading_of(tree.root) if top else block.name,
        scope="" if top else scope.lower(),
        parts=(*_without_losses(reader.parts), *_ports(block, reader)),
        ports=block.ports,
        observed=watched.nodes if top else (),
        swept=watched.sources if top else frozenset(),
        couplings=tuple(reader.couplings),
        names=reader.names,
        inside=reader.inside,
        undrawn=tuple(reader.undrawn),
    )


def _without_losses(parts: Sequence[Part]) -> list[Part]:
    """The parts as they were drawn: those with losses stand between the outer nodes."""
    helpers, followed = followed_by(parts)
    parts = [
        _following(each, followed[each.name.lower()]) if each.name.lower() in followed else each
        for each in parts if each.name not in helpers
    ]  # fmt: skip
    losses, outer = losses_of([(each.name, each.nets) for each in parts])
    rising = {rising_of(each.name, each.nets): each for each in parts if each.name in losses}
    rising.pop("", None)
    return [
        _as_written(each, rising.get(each.name.lower()), outer) for each in parts if each.name not in losses
    ]


def _as_written(part: Part, whole: Part | None, outer: Mapping[str, str]) -> Part:
    """A part between its outer nodes; `whole` has the waveform of a source that rises from 0."""
    pins = tuple(pin._replace(net=outer.get(pin.net, pin.net)) for pin in part.pins)
    part = part._replace(pins=pins, controls=tuple(outer.get(net, net) for net in part.controls))
    if whole is None:
        return part
    card = " ".join([part.name, *part.nets, *whole.full.split(None, 3)[3:]])
    return part._replace(
        values=whole.values, full=card, ohms=whole.ohms, style=whole.style, value_at=(0, 1), value=""
    )


def _following(part: Part, what: Followed) -> Part:
    """A source with what it follows, in place of the nets that only realise that."""
    card = f"{part.name} {' '.join(part.nets)} {what.text}"
    if part.kind != "amp":
        return part._replace(values=(cut(what.text),), controls=what.controls, full=card)
    output, reference = part.pins[2:]
    card = f"{part.name} {output.net} {reference.net} {what.text}"
    if what.seen is None:
        pins = (output._replace(role="a"), reference._replace(role="b"))
        return part._replace(kind="e", pins=pins, values=(cut(what.text),), controls=what.controls, full=card)
    plus, minus = (pin._replace(net=net) for pin, net in zip(part.pins, what.seen, strict=False))
    return part._replace(
        pins=(plus, minus, output, reference), values=(f"×{what.text.partition('·')[0]}",), full=card
    )


def _ports(block: Block, reader: _Reader) -> list[Part]:
    """The terminals of a subcircuit, as flags on its own page."""
    if block.subcircuit is None:
        return []
    for port in block.subcircuit.ports:
        reader.names.setdefault(canonical_node(port.text), port.text)
    return [
        Part(name=port.text, kind="port", pins=(Pin("a", canonical_node(port.text), PORT),), values=(),
             full=port.text, polarity=0, ohms=None, style="", line=block.subcircuit.line, file=block.file)
        for port in block.subcircuit.ports
        if canonical_node(port.text) != GROUND
    ]  # fmt: skip


class _Reader:
    """Turns the element lines of a block into parts."""

    def __init__(self, block: Block, values: Mapping[str, float]) -> None:
        self.parts: list[Part] = []
        self.couplings: list[Coupling] = []
        self.names: dict[str, str] = {}
        self.inside: dict[str, str] = {}
        self.undrawn: list[Undrawn] = []
        self._block = block
        defaults = {key: value_of(each.text, values) for key, each in block.defaults.items()}
        self._values = {**values, **{key: value for key, value in defaults.items() if value is not None}}
        self._taken: set[str] = set()

    def read(self, placed: PlacedElement) -> None:
        element = placed.element
        if element.letter == "k":
            names = tuple(each.text for each in element.controls)
            text = element.value.text if element.value is not None else ""
            self.couplings.append(Coupling(element.name, names, text, element.line))
            return
        shape = SHAPES.get(element.letter)
        if shape is None or element.missing == "nodes" or not element.nodes:
            self.undrawn.append(
                Undrawn(element.line, msg("Line {line} cannot be drawn: {name} has too few nodes.",
                                          line=element.line, name=element.name))
            )  # fmt: skip
            return
        if element.key in self._taken:
            self.undrawn.append(
                Undrawn(element.line, msg("Line {line} is not drawn: the name {name} is already taken.",
                                          line=element.line, name=element.name))
            )  # fmt: skip
            return
        self._taken.add(element.key)
        nodes = [*element.nodes, *element.control_nodes]
        for node in nodes:
            self.names.setdefault(canonical_node(node.text), node.text)
        part = self._part(placed, [canonical_node(node.text) for node in nodes])
        self.parts += self._amplifiers_of(element, part) or [part]

    def _amplifiers_of(self, element: Element, part: Part) -> list[Part]:
        """A package's amplifiers, the supplies at the first one; [] for any other element."""
        inner = self._block.find_block(element.model.text) if element.model else None
        if part.kind != "box" or element.letter != "x" or inner is None or len(inner.ports) != len(part.pins):
            return []
        found = amplifiers_of_package(inner)
        if any(part.pins[each.out].net == GROUND for each in found):
            return []
        used = {at for each in found for at in each}
        rest = tuple(pin._replace(role=f"s{at}") for at, pin in enumerate(part.pins) if at not in used)
        return [
            part._replace(
                kind="amp",
                unit=ascii_uppercase[number],
                pins=(
                    part.pins[each.plus]._replace(role="p"),
                    part.pins[each.minus]._replace(role="n"),
                    part.pins[each.out]._replace(role="out"),
                    *(() if number else rest),
                ),
            )
            for number, each in enumerate(found[: len(ascii_uppercase)])
        ]

    def _part(self, placed: PlacedElement, nodes: list[str]) -> Part:
        element = placed.element
        kind, pins, polarity = self._pins(element, nodes)
        shown = {pin.terminal for pin in pins}
        controls = [node for at, node in enumerate(nodes) if at not in shown]
        if element.expressions:
            controls += [node for node in expression_nodes(element) if node not in controls]
        value = value_of(element.value.text, self._values) if element.value is not None else None
        told = element.value or element.model or next(iter(element.expressions), None)
        return Part(
            name=element.name,
            kind=kind,
            pins=pins,
            values=self._texts(element, kind, nodes),
            full=_card(element),
            polarity=polarity,
            ohms=value,
            style=_style(element),
            line=element.line,
            file=placed.file,
            value_at=(told.line, told.column) if told is not None else (0, 1),
            value=told.text if told is not None else "",
            is_model=told is not None and told is element.model,
            controls=tuple(controls) if element.letter in "egsb" and kind != "amp" else (),
        )

    def _pins(self, element: Element, nodes: list[str]) -> tuple[str, tuple[Pin, ...], int]:
        letter, block = element.letter, self._block
        if letter in "qmjz" and len(element.nodes) >= 3:
            polarity = _polarity(element, block)
            roles = ("out", "in", "com", "bulk", "x4", "x5", "x6")
            return (
                "j" if letter == "z" else letter,
                tuple(Pin(role, node, at) for at, (role, node) in enumerate(zip(roles, nodes, strict=False))),
                polarity,
            )
        if letter == "x":
            return self._instance(element, nodes)
        if letter == "e" and len(nodes) == 4 and nodes[1] == GROUND and not element.expressions:
            amp = (
                Pin("p", nodes[2], 2),
                Pin("n", nodes[3], 3),
                Pin("out", nodes[0], 0),
                Pin("ref", GROUND, 1),
            )
            if nodes[0] != GROUND:
                return "amp", amp, 1
        if letter in "rcldviswefghb" and len(nodes) >= 2:
            kind = "s" if letter == "w" else letter
            return kind, (Pin("a", nodes[0], 0), Pin("b", nodes[1], 1)), 1
        if self._amplifies(element, nodes):
            return (
                "amp",
                tuple(Pin(*each) for each in zip(("p", "n", "out"), nodes, range(3), strict=True)),
                1,
            )
        return "box", tuple(Pin(str(at + 1), node, at) for at, node in enumerate(nodes)), 1

    def _amplifies(self, element: Element, nodes: list[str]) -> bool:
        """A code model that multiplies the voltage between its first two nodes."""
        model = self._block.find_model(element.model.text) if element.model else None
        if element.letter != "a" or model is None or model.type not in ("gain", "limit"):
            return False
        is_difference = re.match(r"\S+\s+%vd\s*[(\[]", element.statement.text, re.IGNORECASE) is not None
        return is_difference and len(nodes) == 3 and nodes[2] != GROUND

    def _instance(self, element: Element, nodes: list[str]) -> tuple[str, tuple[Pin, ...], int]:
        inner = self._block.find_block(element.model.text) if element.model else None
        if inner is None or len(inner.ports) != len(nodes):
            name = element.model.text if element.model else ""
            reason = (
                msg("Line {line}: {name} is drawn as a plain box: the subcircuit {model} is not defined.",
                    line=element.line, name=element.name, model=name)
                if inner is None
                else msg("Line {line}: {name} is drawn as a plain box: {model} has {count} terminals.",
                         line=element.line, name=element.name, model=name, count=len(inner.ports))
            )  # fmt: skip
            self.undrawn.append(Undrawn(element.line, reason))
            return "box", tuple(Pin(str(at + 1), node, at) for at, node in enumerate(nodes)), 1
        path = [each.name.lower() for each in inner.lineage if each.subcircuit is not None]
        self.inside[element.name] = ".".join(reversed(path))
        found = amplifier_ports(inner)
        if found is not None and nodes[found.out] != GROUND:
            roles = {found.plus: "p", found.minus: "n", found.out: "out"}
            pins = tuple(Pin(roles.get(at, f"s{at}"), node, at) for at, node in enumerate(nodes))
            return "amp", pins, 1
        written = inner.subcircuit.ports if inner.subcircuit is not None else ()
        names = [port.text for port in written]
        device = _device_in(inner, names)
        if device is not None:
            kind, roles_of_ports, polarity = device
            named = zip(roles_of_ports, nodes, strict=True)
            return kind, tuple(Pin(role, node, at) for at, (role, node) in enumerate(named)), polarity
        return (
            "box",
            tuple(Pin(name, node, at) for at, (name, node) in enumerate(zip(names, nodes, strict=True))),
            1,
        )

    def _texts(self, element: Element, kind: str, nodes: list[str]) -> tuple[str, ...]:
        """Its value lines: what it is worth, its model, what it follows."""
        value = cut(element.value.text) if element.value is not None else ""
        if element.letter in "vi":
            return _source_text(element)
        if kind == "amp" and element.letter == "e":
            return (f"×{value}",) if value else ()
        if element.letter in "egfhsw" and not element.expressions:
            return self._controlled(element, nodes, value or "poly")
        if element.expressions:
            return (cut(element.expressions[0].text.strip("{}'\" ")),)
        size = [element.params[key].text for key in ("w", "l") if key in element.params]
        if element.letter == "m" and len(size) == 2:
            return (*_model(element), "/".join(map(cut, size)))
        return (value,) if element.letter in "rcl" and value else _model(element)

    def _controlled(self, element: Element, nodes: list[str], gain: str) -> tuple[str, ...]:
        """``10·v(a,b)``, ``2·i(vs)``; of a switch its model and the same without a gain."""
        if element.letter in "egs":
            pair = [self.names.get(node, node) for node in nodes[2:4] if node != GROUND]
            told = f"v({','.join(pair)})"
        else:
            told = f"i({','.join(each.text.removeprefix('v_sensed_') for each in element.controls)})"
        return (*_model(element), told) if element.letter in "sw" else (f"{gain}·{told}",)


def _polarity(element: Element, block: Block) -> int:
    """1 for npn and n-channel, -1 for pnp and p-channel; by the model's name where it has no card."""
    model = block.find_model(element.model.text) if element.model else None
    word = device_kind(element.letter, model) if model is not None else ""
    name = element.model.text.lower() if element.model else ""
    looks_p = not word and (name.startswith("p") or "pmos" in name or "pnp" in name)
    return -1 if word[:1] == "p" or looks_p else 1


def _device_in(block: Block, ports: Sequence[str]) -> tuple[str, tuple[str, ...], int] | None:
    """(kind, roles of its ports, polarity) of a subcircuit that is one transistor with what belongs to it:
    its ports are called as a transistor's terminals are, and all transistors in it are of one kind."""
    names = [port.lower() for port in ports]
    is_bipolar = bool({*names} & {"c", "collector"})
    roles = tuple("in" if is_bipolar and name == "b" else _TERMINALS.get(name, "") for name in names)
    if not {"out", "in", "com"} <= {*roles} or "" in roles or len({*roles}) != len(roles):
        return None
    inside = {
        (element.letter, _polarity(element, block))
        for element, _ in block.elements if element.letter in TRANSISTORS
    }  # fmt: skip
    if len(inside) != 1:
        return None
    ((letter, polarity),) = inside
    return (letter, roles, polarity) if (letter == "q") == is_bipolar else None


def _model(element: Element) -> tuple[str, ...]:
    return (cut(element.model.text),) if element.model is not None else ()


def cut(text: str) -> str:
    """Long texts end with an ellipsis; the whole is in the hint."""
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


def _card(element: Element) -> str:
    text = " ".join(element.statement.text.split())
    return without_rise(text) if element.letter in "vi" else text


def _wave(element: Element) -> str:
    """The kind of a source's waveform; "" without one."""
    wave = next((word for word in element.words if word in _WAVES), "")
    return wave if wave and wave in _card(element).lower() else ""


def _style(element: Element) -> str:
    if element.letter not in "vi":
        return ""
    wave = _wave(element)
    if wave:
        return {"sine": "sin"}.get(wave, wave if wave in ("sin", "pulse") else "wave")
    port = re.search(r"portnum\s*=?\s*(\d+)", element.statement.text, re.IGNORECASE)
    if port is not None and int(port[1]) > 1:
        return "port"
    return "ac" if "ac" in element.words else "dc"


def _is_value(word: str) -> bool:
    return word[:1].isdigit() or word[:1] in ("+", "-", ".", "{", "'")


def _source_text(element: Element) -> tuple[str, ...]:
    """``AC 1`` and ``SIN(0 10m 1k)`` in lines of their own; the DC value where it says something."""
    words = [word.text for word in element.statement.words[3:]]
    text = _card(element)
    lines: list[str] = []
    dc = element.value.text if element.value is not None else ""
    wave = _wave(element)
    if dc and (dc not in ("0", "0V") or not (wave or "ac" in element.words)):
        lines.append(cut(dc))
    if "ac" in element.words:
        place = next((at for at, word in enumerate(words) if word.lower() == "ac"), None)
        behind = [] if place is None else words[place + 1 : place + 3]
        given = list(takewhile(_is_value, behind)) or ["1"]  # its size, and its phase in degrees
        lines.append(cut(" ".join(["AC", *given[:1], *(f"{phase}°" for phase in given[1:])])))
    if wave:
        start = text.lower().rfind(wave)
        told = text[start:].replace("( ", "(").replace(" )", ")").replace(" (", "(")
        lines.append(cut(_SMALL_SIGNAL.sub(")", told)))
    return tuple(lines) or ((cut(" ".join(words)),) if words else ())
