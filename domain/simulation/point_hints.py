"""What the operating point says of each line of a netlist: for hints behind the lines.

Of a line inside a subcircuit the first instance is told, and called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from domain.circuit.circuit_names import CircuitNames, Scope
from domain.circuit.elements import GROUND, Element, parse_element
from domain.circuit.hierarchy import read_circuit
from domain.circuit.instances import instances_of, node_outside, nodes_of
from domain.simulation.operating_point import DevicePoint, OperatingPoint, is_usual

_MOST_INSTANCES = 2000
_LEAST = {"V": 1e-6, "A": 1e-12, "W": 1e-15, "S": 1e-12}
"""ngspice's own tolerances: what is less is noise of the solver."""
_RELATIVE = 1e-9
"""Of the largest current of the circuit: what Kirchhoff's law leaves over of two equal ones."""
_BIPOLAR = (("ic", "A"), ("vbe", "V"), ("vce", "V"), ("gm", "S"))
_CHANNEL = (("id", "A"), ("vgs", "V"), ("vds", "V"), ("gm", "S"))
_DIODE = (("id", "A"), ("vd", "V"))


class Figure(NamedTuple):
    """One number of a hint."""

    name: str
    """IC, VBE, gm ...; "" where the unit says enough."""
    value: float
    """0 for what is below the noise of the solver."""
    unit: str


class Hint(NamedTuple):
    """What stands behind one line."""

    figures: tuple[Figure, ...]
    region: str = ""
    """A key of `REGIONS`."""
    is_unusual: bool = False
    """The region is none in which the device amplifies."""
    instance: str = ""
    """``x1``: whose figures they are, where the line stands in a subcircuit."""


def point_hints(names: CircuitNames, file: Path | None, point: OperatingPoint) -> dict[int, Hint]:
    """By line of a file (from 1, the last of an element's lines)."""
    found = _Hints(names, point)
    hints: dict[int, Hint] = {}
    for entry in names.entries:
        card = entry.placed.statement
        if entry.placed.file != file or card.kind != "element":
            continue
        hint = found.of(parse_element(card, names.models), entry.scope)
        if hint is not None:
            hints[card.last_line] = hint
    return hints


class _Hints:
    def __init__(self, names: CircuitNames, point: OperatingPoint) -> None:
        self._point = point
        self._elements = {each.name: each for each in point.elements}
        self._devices = {each.name.lower(): each for each in point.devices}
        currents = (abs(each.current) for each in point.elements if each.current is not None)
        self._least = {**_LEAST, "A": max(_LEAST["A"], _RELATIVE * max(currents, default=0.0))}
        circuit = read_circuit(names.tree)
        self._everywhere = circuit.global_nodes
        self._instances: dict[Scope, tuple[tuple[str, ...], Mapping[str, str]]] = {}
        for path, block, ports in instances_of(circuit, most=_MOST_INSTANCES):
            scope = tuple(each.name.lower() for each in block.lineage if each.parent is not None)[::-1]
            self._instances.setdefault(scope, (path, ports))

    def of(self, element: Element, scope: Scope) -> Hint | None:
        if scope not in self._instances:
            return None
        path, ports = self._instances[scope]
        name = ".".join((*path, element.key))
        device = self._devices.get(name)
        if device is not None:
            hint = Hint(tuple(self._of_device(device)), device.region, not is_usual(device))
        elif element.letter == "x":
            hint = Hint(tuple(self._of_subcircuit(name)))
        else:
            hint = Hint(tuple(self._of_element(element, name, path, ports)))
        return hint._replace(instance=".".join(path)) if hint.figures else None

    def _of_device(self, device: DevicePoint) -> Iterator[Figure]:
        wanted = _DIODE if device.kind == "diode" else _BIPOLAR if "vbe" in device.figures else _CHANNEL
        for key, unit in wanted:
            if key in device.figures:
                yield self._figure("gm" if key == "gm" else key.upper(), device.figures[key], unit)
        if "power" in device.figures:
            yield self._figure("", device.figures["power"], "W")

    def _of_subcircuit(self, name: str) -> Iterator[Figure]:
        start = name + "."
        inside = [each for key, each in self._elements.items() if key.startswith(start)]
        powers = [each.power for each in inside if each.power is not None]
        if inside and len(powers) == len(inside):
            yield self._figure("", sum(powers), "W")

    def _of_element(
        self, element: Element, name: str, path: tuple[str, ...], ports: Mapping[str, str]
    ) -> Iterator[Figure]:
        found = self._elements.get(name)
        volts = {GROUND: 0.0, **self._point.nodes}
        nodes = [node_outside(each, path, ports, self._everywhere) for each in nodes_of(element)]
        if element.letter in "vieghbcl" and len(nodes) == 2 and all(node in volts for node in nodes):
            yield self._figure("", volts[nodes[0]] - volts[nodes[1]], "V")
        if found is not None and found.current is not None and element.letter != "c":
            yield self._figure("", found.current, "A")
        if found is not None and found.power is not None and element.letter not in "cl":
            yield self._figure("", found.power, "W")

    def _figure(self, name: str, value: float, unit: str) -> Figure:
        return Figure(name, 0.0 if abs(value) < self._least[unit] else value, unit)
