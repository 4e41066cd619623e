"""The netlist a drawing shows, read from its geometry alone, and how it differs from the circuit's.

Ends that touch are joined; so is an end that stands on a line, where a dot says so; lines that cross without
a dot are not. Marks of one name are one net.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from domain.circuit.elements import canonical_node
from domain.circuit.hierarchy import Block
from domain.circuit.schematic.display import Drawing
from domain.circuit.schematic.judging import spans_of
from domain.circuit.schematic.parts import PORT
from domain.circuit.topology import DisjointSets

Terminal = tuple[str, int]
"""Element as written (of a subcircuit's terminal its name), place on its line."""


class Difference(NamedTuple):
    """A net that the drawing does not show as the circuit has it."""

    net: str
    missing: frozenset[Terminal]
    added: frozenset[Terminal]


def read_back(drawing: Drawing) -> list[frozenset[Terminal]]:
    """The nets of the drawing, as the terminals they join."""
    sets = DisjointSets()
    pins: list[tuple[Terminal, tuple[int, int]]] = [
        ((symbol.element, pin.terminal), pin.at) for symbol in drawing.symbols for pin in symbol.pins
    ]
    spans = [span for _, span in spans_of(drawing.wires)]
    dots = {dot.at for dot in drawing.dots}

    def name(at: tuple[int, int]) -> str:
        return f"{at[0]},{at[1]}"

    for number, (x1, y1, x2, y2) in enumerate(spans):
        sets.join(f"w{number}", name((x1, y1)))
        sets.join(f"w{number}", name((x2, y2)))
    ends = {at for _, at in pins} | {mark.at for mark in drawing.marks}
    ends |= {(span[0], span[1]) for span in spans} | {(span[2], span[3]) for span in spans}
    for at in sorted(ends | dots):
        for number, span in enumerate(spans):
            inside = span[0] <= at[0] <= span[2] and span[1] <= at[1] <= span[3]
            if inside and (at in dots or at in ((span[0], span[1]), (span[2], span[3]))):
                sets.join(f"w{number}", name(at))
    for terminal, at in pins:
        sets.join(f"{terminal}", name(at))
    for mark in drawing.marks:
        sets.join(f"net {mark.net}", name(mark.at))
    groups: dict[str, set[Terminal]] = {}
    for terminal, _ in pins:
        groups.setdefault(sets.find(f"{terminal}"), set()).add(terminal)
    marks = {mark.net for mark in drawing.marks}
    for entry in drawing.legend:
        for element, place, net in entry.pins:
            root = sets.find(f"net {net}") if net in marks else f"legend {net}"
            groups.setdefault(root, set()).add((element, place))
    return sorted(map(frozenset, groups.values()), key=sorted)


def nets_of(block: Block, leave_out: Iterable[str] = ()) -> dict[str, frozenset[Terminal]]:
    """The circuit's own nets: what each joins, its terminals as flags among them."""
    nets: dict[str, set[Terminal]] = {}
    gone = set(leave_out)
    seen: set[str] = set()
    for element, _ in block.elements:
        if element.letter == "k" or element.key in gone or element.key in seen:
            continue
        seen.add(element.key)
        shown = [
            *element.nodes,
            *(element.control_nodes if is_wired(element.letter, element.nodes[1:2]) else ()),
        ]
        for at, node in enumerate(shown):
            nets.setdefault(canonical_node(node.text), set()).add((element.name, at))
    return {net: frozenset(found) for net, found in nets.items()}


def is_wired(letter: str, second: Iterable[object]) -> bool:
    """Whether control nodes of such an element may be pins: of an amplifier, an E with a grounded output."""
    return letter == "e" and any(canonical_node(getattr(each, "text", "")) == "0" for each in second)


def differences(block: Block, drawing: Drawing) -> list[Difference]:
    """[] where the drawing is the circuit. Elements the drawing says it leaves out do not count."""
    shown = {symbol.element for symbol in drawing.symbols if symbol.kind != "port"}
    shown |= {entry.element for entry in drawing.legend}
    keys = {name.lower() for name in shown}
    wanted = nets_of(block, {element.key for element, _ in block.elements} - keys)
    for symbol in drawing.symbols:
        if symbol.kind == "port":
            net = canonical_node(symbol.element)
            wanted[net] = wanted.get(net, frozenset()) | {(symbol.element, PORT)}
    drawn_pins = {(symbol.element, pin.terminal) for symbol in drawing.symbols for pin in symbol.pins}
    drawn_pins |= {(element, terminal) for entry in drawing.legend for element, terminal, _ in entry.pins}
    found = read_back(drawing)
    of = {terminal: group for group in found for terminal in group}
    wrong = []
    for net, terminals in sorted(wanted.items()):
        told = {t for t in terminals if t in drawn_pins or not _is_control(block, t)}
        groups = {of.get(terminal, frozenset()) for terminal in told}
        if groups != {frozenset(told)} and told:
            joined = frozenset().union(*groups)
            first = max(groups, key=len)
            wrong.append(Difference(net, frozenset(told) - first, joined - told))
    return wrong


def left_out(block: Block, drawing: Drawing) -> list[str]:
    """Elements that are neither drawn, nor in the legend, nor said to be left out."""
    told = {name.lower() for name in drawing.elements}
    lines = {each.line for each in drawing.undrawn}
    return [each.name for each, _ in block.elements if each.key not in told and each.line not in lines]


def _is_control(block: Block, terminal: Terminal) -> bool:
    """A node an element only looks at: it may be told as text."""
    for element, _ in block.elements:
        if element.name == terminal[0]:
            return terminal[1] >= len(element.nodes)
    return False
