"""What can be plotted of a place in a netlist: the voltage of a node, current and power of an element."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from domain.circuit.circuit_names import CircuitNames, Meaning, Place, Scope
from domain.circuit.elements import GROUND, Element, canonical_node
from domain.circuit.hierarchy import read_circuit
from domain.circuit.instances import instances_of, node_outside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.circuit.hierarchy import Block, Circuit

_MOST_INSTANCES = 2000
WITHOUT_CURRENT = frozenset("ak")
"""Letters of elements whose currents nothing tells."""
PINS = {"q": ("c", "b", "e"), "m": ("d", "g", "s"), "j": ("d", "s"), "z": ("d", "s")}
"""Terminals whose currents are told, the usual one first, by the letter of the element."""


class Probe(NamedTuple):
    """What can be plotted of a node or an element."""

    name: str
    """As it is called in expressions: ``out``, ``x1.r1``."""
    voltage: str = ""
    """``v(out)``; "" of an element."""
    currents: tuple[tuple[str, str], ...] = ()
    """Terminal ("" of an element with two) and expression, the usual one first: ("", "i(r1)")."""
    power: str = ""
    """``p(r1)``; "" of a node."""

    @property
    def usual(self) -> str:
        """What is plotted when nobody says what."""
        return self.voltage or (self.currents[0][1] if self.currents and not self.has_pins else self.power)

    @property
    def has_pins(self) -> bool:
        """It is a subcircuit: none of its currents is the usual one."""
        return any("," in expression for _, expression in self.currents)


class Meant(NamedTuple):
    """A node or an element of a scope."""

    scope: Scope
    name: str
    """As written."""
    is_node: bool


def meant_at(
    names: CircuitNames, file: Path | None, line: int, *, offset: int | None = None, node: str = ""
) -> Meant | None:
    """The node or element at a byte of a file, or the `node` of that name on a line (from 1); else the line's
    element. None where neither is."""
    place = names.at(file, offset) if offset is not None else None
    if place is not None and place.name.kind in ("node", "element"):
        return Meant(place.owner, place.name.text, place.name.kind == "node")
    for entry in names.entries:
        card = entry.placed.statement
        if entry.placed.file != file or not card.line <= line <= card.last_line:
            continue
        if node:
            return Meant(entry.scope, node, is_node=True)
        if card.kind == "element" and card.fields:
            return Meant(entry.scope, card.fields[0].text, is_node=False)
    return None


def probe_of(names: CircuitNames, meant: Meant) -> Probe | None:
    """What can be plotted of it; in a subcircuit's own lines its first instance is meant."""
    if meant.is_node:
        return _probe(names, meant.scope, node=meant.name)
    return _probe(names, meant.scope, element=meant.name)


def _probe(names: CircuitNames, scope: Scope, *, node: str = "", element: str = "") -> Probe | None:
    circuit = read_circuit(names.tree)
    found = _first_instance(circuit, scope)
    if found is None:
        return None
    path, block, ports = found
    if node:
        whole = node_outside(canonical_node(node), path, ports, circuit.global_nodes)
        return None if whole == GROUND else Probe(whole, voltage=f"v({whole})")
    key = element.lower()
    read = next((each.element for each in block.elements if each.element.key == key), None)
    return None if read is None else _of_element(read, block, ".".join((*path, key)))


def _first_instance(
    circuit: Circuit, scope: Scope
) -> tuple[tuple[str, ...], Block, Mapping[str, str]] | None:
    for path, block, ports in instances_of(circuit, most=_MOST_INSTANCES):
        if tuple(each.name.lower() for each in block.lineage if each.parent is not None)[::-1] == scope:
            return path, block, ports
    return None


def _of_element(element: Element, block: Block, name: str) -> Probe | None:
    letter = element.letter
    if letter in WITHOUT_CURRENT or len(element.nodes) < 2:
        return None
    power = f"p({name})"
    if letter == "x":
        inner = block.find_block(element.model.text) if element.model else None
        pins = () if inner is None else inner.ports
        return Probe(name, currents=tuple((pin, f"i({name},{pin})") for pin in pins), power=power)
    if letter in PINS:
        return Probe(name, currents=tuple((pin, f"i{pin}({name})") for pin in PINS[letter]), power=power)
    return Probe(name, currents=(("", f"i({name})"),), power=power)


def places_of(names: CircuitNames, name: str, *, is_node: bool) -> list[Place]:
    """Where a node or element of the data stands in the text, by its name there (``x1.b``, ``q.x1.q1``), the
    places that define or connect it first. Empty for a name the circuit does not have."""
    parts = name.lower().split(".")
    if not is_node and len(parts) > 2 and len(parts[0]) == 1 and parts[0] != "x":
        parts = parts[1:]
    scope: Scope = ()
    for part in parts[:-1]:
        target = names.table(scope).calls.get(part)
        found = names.subcircuit(target, scope) if target is not None else None
        if found is None:
            return []
        scope = (*found[0], found[1].name.lower())
    key = parts[-1]
    owner = () if is_node and key in names.globals else scope
    kind: Literal["node", "element"] = "node" if is_node else "element"
    places = names.places(Meaning(kind, key, owner))
    return sorted(places, key=lambda place: place.usage not in ("definition", "connection"))
