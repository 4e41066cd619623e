"""Transistors in a line: P-channel ones before a load, an N-channel one between two open-drain lines.

Sources: Horowitz, Hill, *The Art of Electronics*, section 3.5.4; Texas Instruments, SLVA139; NXP, AN10441.
"""

from __future__ import annotations

from domain.circuit.elements import GROUND
from domain.circuit.recognition.finder import Finder
from domain.circuit.recognition.graph import Part


def find_line_switches(found: Finder) -> None:
    for part in [each for each in found.free("m") if each.polarity < 0]:
        _high_side(found, part)
        _reverse_protection(found, part)
    for part in [each for each in found.free("m") if each.polarity > 0]:
        _between_lines(found, part)


def _high_side(found: Finder, part: Part) -> None:
    """Source at a supply; a resistor holds the gate there, a transistor that is driven pulls it down."""
    graph, gate, rail, out = found.graph, part.pins["in"], part.pins["com"], part.pins["out"]
    pull_up = graph.between(gate, rail, "r")
    if rail not in graph.rails or rail == GROUND or out in graph.fixed or not pull_up:
        return
    controls = {*graph.drives, *graph.inputs}
    lower = {gate: list[Part](), **{far: [each] for each, far in graph.two(gate, "r") if far != rail}}
    for node, resistors in lower.items():
        for driver in [p for p, pin in graph.at[node] if p.kind in "qm" and pin == "out" and p is not part]:
            base = driver.pins["in"]
            series = [each for each, far in graph.two(base, "r") if far in controls]
            if driver.pins["com"] != GROUND or not (series or base in controls):
                continue
            elements = {
                "transistor": [part], "pull_up": pull_up, "divider": resistors, "driver": [driver],
                "series": series, "pull_down": graph.between(base, GROUND, "r"),
                "load": _chain(found, out), "diodes": graph.between(out, GROUND, "d"),
            }  # fmt: skip
            found.add("high_side_switch", _free(found, elements), {"in": rail, "out": out})
            return


def _reverse_protection(found: Finder, part: Part) -> None:
    """Drain at the input, source at the load, gate at ground: the body diode points towards the load."""
    graph, gate, line, out = found.graph, part.pins["in"], part.pins["out"], part.pins["com"]
    to_ground = graph.between(gate, GROUND, "r")
    is_input = line in graph.inputs or (line in graph.rails and line != GROUND)
    if part.name in found.used or not is_input or out in graph.fixed or not (to_ground or gate == GROUND):
        return
    elements = {
        "transistor": [part], "series": to_ground, "zener": graph.between(gate, out, "d"),
        "load": _chain(found, out),
    }  # fmt: skip
    found.add("reverse_protection", _free(found, elements), {"in": line, "out": out})


def _between_lines(found: Finder, part: Part) -> None:
    """Gate and the source's pull-up at one supply, the drain's pull-up at another."""
    graph, low, high = found.graph, part.pins["com"], part.pins["out"]
    rail = part.pins["in"]
    if rail not in graph.rails or rail == GROUND or {low, high} & graph.fixed:
        return
    near = graph.between(low, rail, "r")
    far = [each for each, end in graph.two(high, "r") if end in graph.rails and end not in (rail, GROUND)]
    if near and far:
        elements = {
            "transistor": [part], "pull_ups": [*near, *far],
            "lines": [each for node in (low, high) for each in graph.between(node, GROUND, "c")],
            "drivers": [each for node in (low, high) for each, pin in graph.at[node] if each.kind == "s"],
        }  # fmt: skip
        found.add("line_level_shifter", _free(found, elements), {"in": low, "out": high})


def _chain(found: Finder, node: str) -> list[Part]:
    """The resistors and coils from a node to ground, one after the other."""
    chain: list[Part] = []
    while node != GROUND:
        onward = [(each, far) for each, far in found.graph.two(node, "r l") if each not in chain]
        if len(onward) != 1:
            break
        chain.append(onward[0][0])
        node = onward[0][1]
    return chain


def _free(found: Finder, elements: dict[str, list[Part]]) -> dict[str, list[Part]]:
    return {role: [each for each in parts if each.name not in found.used] for role, parts in elements.items()}
