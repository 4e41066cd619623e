"""Cells of transistors without a small signal: gates, rings, level shifters, crystal oscillators, VBE."""

from __future__ import annotations

import math
from collections.abc import Mapping

from domain.circuit.elements import GROUND
from domain.circuit.recognition.finder import JUNCTION_V, Finder, parallel
from domain.circuit.recognition.graph import Part
from domain.circuit.recognition.recognised import Figure


def find_switched_gates(found: Finder) -> None:
    """CMOS cells between rails: inverters and rings of them, gates, crossed pairs that shift levels."""
    p_rows, n_rows = _by_polarity(found)
    inverters = _inverters(found)
    _rings(found, inverters)
    for given, (p, n) in inverters.items():
        if p.name not in found.used:
            found.add(
                "cmos_inverter", {"pull_up": [p], "pull_down": [n]}, {"in": given, "out": p.pins["out"]}
            )
    _level_shifters(found, p_rows, n_rows)
    _series_gates(found, "nand_gate", p_rows, n_rows)
    _series_gates(found, "nor_gate", n_rows, p_rows)


def _by_polarity(found: Finder) -> tuple[list[Part], list[Part]]:
    """The free MOS transistors: p, n."""
    free = [each for each in found.free("q m j") if each.kind == "m"]
    return [each for each in free if each.polarity < 0], [each for each in free if each.polarity > 0]


def _inverters(found: Finder) -> dict[str, tuple[Part, Part]]:
    """Pairs with inputs and outputs tied, between rails, by their input."""
    inverters: dict[str, tuple[Part, Part]] = {}
    p_rows, n_rows = _by_polarity(found)
    for p in p_rows:
        for n in n_rows:
            tied = p.pins["in"] == n.pins["in"] and p.pins["out"] == n.pins["out"]
            if tied and p.pins["com"] in found.graph.rails and n.pins["com"] in found.graph.rails:
                inverters.setdefault(p.pins["in"], (p, n))
                break
    return inverters


def _rings(found: Finder, inverters: Mapping[str, tuple[Part, Part]]) -> None:
    """An odd number of inverters, each at the input of the next."""
    for start in inverters:
        ring, at = [start], inverters[start][0].pins["out"]
        while at in inverters and at != start and len(ring) <= len(inverters):
            ring.append(at)
            at = inverters[at][0].pins["out"]
        if at != start or len(ring) % 2 == 0 or len(ring) < 3 or inverters[start][0].name in found.used:
            continue
        loads = [c for node in ring for c, far in found.graph.two(node, "c") if far in found.graph.fixed]
        pairs = [inverters[node] for node in ring]
        elements = {"pull_up": [p for p, _ in pairs], "pull_down": [n for _, n in pairs], "load": loads}
        found.add("ring_oscillator", elements, {"out": start})


def find_crystal_oscillators(found: Finder) -> None:
    """An inverter biased by a resistor, with a coil, a capacitor and a resistance in series beside it."""
    graph = found.graph
    for given, (p, n) in _inverters(found).items():
        out = p.pins["out"]
        bias = graph.between(given, out, "r")
        for start, goal in ((given, out), (out, given)):
            for first, _ in graph.two(start, "r c l") if bias else ():
                arm, node = [first], first.other(start)
                while node != goal and len(graph.at[node]) == 2 and len(arm) < 4:
                    arm.append(next(each for each, _ in graph.at[node] if each is not arm[-1]))
                    node = arm[-1].other(node) if arm[-1].kind in "rcl" else goal
                if node != goal or {"l", "c"} - {each.kind for each in arm} or p.name in found.used:
                    continue
                loads = [c for at in (given, out) for c, far in graph.two(at, "c") if far in graph.fixed]
                elements = {
                    "pull_up": [p], "pull_down": [n], "crystal": [*arm, *graph.between(given, out, "c")],
                    "bias": bias, "load": loads,
                }  # fmt: skip
                found.add("pierce_oscillator", elements, {"in": given, "out": out}, [_resonance(arm)])


def _resonance(arm: list[Part]) -> Figure | None:
    values = {each.kind: each.value for each in arm}
    coil, capacitor = values["l"], values["c"]
    if not coil or not capacitor:
        return None
    hz = 1 / (2 * math.pi * math.sqrt(coil * capacitor))
    return Figure("frequency", hz, "Hz", "1/(2 pi sqrt(L C))", "STMicroelectronics AN2867")


def _series_gates(found: Finder, kind: str, beside: list[Part], series: list[Part]) -> None:
    """Transistors side by side from a rail to a node, and as many with the same inputs in series below."""
    for out in sorted({each.pins["out"] for each in beside} - found.graph.fixed):
        wide = [p for p in beside if p.pins["out"] == out and p.pins["com"] in found.graph.rails]
        wide = [p for p in wide if p.name not in found.used]
        chain, at = [], out
        while nexts := [n for n in series if n.pins["out"] == at and n.name not in found.used]:
            chain.append(nexts[0])
            at = nexts[0].pins["com"]
        inputs = [each.pins["in"] for each in chain]
        if len(wide) > 1 and at in found.graph.rails and sorted(inputs) == sorted(p.pins["in"] for p in wide):
            nodes = {"out": out} | {f"in{n}": node for n, node in enumerate(inputs, 1)}
            found.add(kind, {"series": chain, "parallel": wide}, nodes)


def _level_shifters(found: Finder, p_rows: list[Part], n_rows: list[Part]) -> None:
    """Two p devices, each gate at the drain of the other, and an n device below each."""
    for first in p_rows:
        for second in p_rows:
            a, b = first.pins["out"], second.pins["out"]
            crossed = a != b and first.pins["in"] == b and second.pins["in"] == a
            below = [n for node in (a, b) for n in n_rows if n.pins["out"] == node]
            if crossed and len(below) == 2 and first.name not in found.used:
                nodes = {"in": below[0].pins["in"], "in2": below[1].pins["in"], "out": b, "out2": a}
                found.add("level_shifter", {"crossed": [first, second], "pull_down": below}, nodes)


def find_multipliers(found: Finder) -> None:
    """A transistor whose base stands between its collector and emitter on two resistors."""
    for part in found.free("q"):
        c, b, e = (part.pins[each] for each in ("out", "in", "com"))
        upper, lower = found.graph.between(b, c, "r"), found.graph.between(b, e, "r")
        if (
            upper
            and lower
            and len(found.graph.at[b]) == 1 + len(upper) + len(lower)
            and not {c, e} & {GROUND, *(n for n in found.graph.rails)}
        ):
            top, bottom = parallel(upper), parallel(lower)
            figure = None
            if top and bottom:
                figure = Figure(
                    "voltage", JUNCTION_V * (1 + top / bottom), "V", "VBE (1 + R1/R2)", "Sedra, Smith, 12.5"
                )
            found.add(
                "vbe_multiplier",
                {"transistor": [part], "upper": upper, "lower": lower},
                {"top": c, "bottom": e},
                [figure],
            )
