"""Passive networks between a source and what follows it (filters, dividers, attenuators), and LC oscillators.

What a network does is told by its computed response, not by its looks: H(f) by nodal analysis over the whole
range of frequencies its parts allow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from domain.circuit.elements import GROUND
from domain.circuit.recognition.finder import Finder, parallel
from domain.circuit.recognition.graph import Graph, Part
from domain.circuit.recognition.recognised import Figure

_MOST_NODES = 40
_SS = "Sedra, Smith, appendix E"


def find_lc_oscillators(found: Finder) -> None:
    """A transistor, a coil, and a tapped capacitance (Colpitts, Clapp) or inductance (Hartley) around it."""
    graph = found.graph
    coils, caps = graph.of("l"), graph.of("c")
    if not coils or graph.inputs:
        return
    for part in found.free("q m j"):
        for kind, halves, whole in (
            ("colpitts_oscillator", caps, coils),
            ("hartley_oscillator", coils, caps),
        ):
            tank = _tank(found, part, halves, whole)
            if tank is not None:
                _lc_oscillator(found, kind, part, tank)
                return


def _lc_oscillator(found: Finder, kind: str, part: Part, parts: tuple[Part, Part, Part]) -> None:
    first, second, closing = parts
    graph = found.graph
    series = [
        c
        for node in closing.ends
        for c, _ in graph.two(node, "c")
        if kind == "colpitts_oscillator"
        and c not in (first, second)
        and len(graph.at[node]) == 2
        and node not in graph.fixed
    ]
    figures = []
    if first.value and second.value and closing.value:
        total, formula = first.value + second.value, "1/(2 pi sqrt((L1 + L2) C))"
        if kind == "colpitts_oscillator":
            total = 1 / (1 / first.value + 1 / second.value)
            formula = "1/(2 pi sqrt(L C1 C2/(C1 + C2)))"
        if series and series[0].value:
            kind, total = "clapp_oscillator", 1 / (1 / total + 1 / series[0].value)
            formula = "1/(2 pi sqrt(L C)), C of C1, C2, C3 in series"
        frequency = 1 / (2 * math.pi * math.sqrt(total * closing.value))
        figures.append(Figure("frequency", frequency, "Hz", formula, "Sedra, Smith, 18.3"))
    tank = [first, second, closing, *series]
    base = part.pins["in"]
    elements = {
        "transistor": [part],
        "tank": tank,
        "bias": [r for r, far in graph.two(base, "r")],
        "foot": [r for r, far in graph.two(part.pins["com"], "r")],
        "holds_base": [c for c, far in graph.two(base, "c") if c not in tank],
        "losses": [r for node in closing.ends for r, _ in graph.two(node, "r") if len(graph.at[node]) == 2],
    }
    found.add(kind, elements, {"out": part.pins["out"]}, figures)


def _tank(
    found: Finder, part: Part, halves: Sequence[Part], whole: Sequence[Part]
) -> tuple[Part, Part, Part] | None:
    """Two elements in series, their tap at the emitter, their ends at collector and base, closed by a third.

    Each of the transistor's pins may stand at ground for signals, held by a capacitor or a rail.
    """
    graph = found.graph
    base, out, com = (part.pins[each] for each in ("in", "out", "com"))
    held = [n for n in (base, com, out) if any(far in graph.fixed for _, far in graph.two(n, "c"))]
    for still in (None, *held):

        def place(node: str, still: str | None = still) -> str:
            return GROUND if node in graph.fixed or node == still else node

        def meets(node: str, pin: str, tank: Sequence[Part]) -> bool:
            """At a pin, or coupled to it by a capacitor."""
            return node == pin or any(c not in tank and place(far) == node for c, far in graph.two(pin, "c"))

        pins = [place(each) for each in (base, out, com)]
        for first, second in itertools.permutations(halves, 2):
            one, two = (
                [_past(graph, each, n, place) if each.kind == "l" else place(n) for n in each.ends]
                for each in (first, second)
            )
            for tap in sorted({*one} & {*two}):
                a, b = (each[1] if each[0] == tap else each[0] for each in (one, two))
                if a == b or tap in (a, b) or not meets(tap, pins[2], (first, second)):
                    continue
                closing = next(
                    (w for w in whole if {_past(graph, w, n, place) for n in w.ends} == {a, b}), None
                )
                if closing is None:
                    continue
                tank = (first, second, closing)
                if meets(a, pins[1], tank) and meets(b, pins[0], tank):
                    return tank
    return None


def _past(graph: Graph, third: Part, node: str, place: Callable[[str], str]) -> str:
    """Where an element leads to, past its own resistance or a capacitor in series."""
    came = third
    for _ in range(3):
        others = [p for p, _ in graph.at[node] if p is not came]
        if place(node) == GROUND or len(others) != 1 or others[0].kind not in "rc":
            break
        came = others[0]
        node = came.other(node)
    return place(node)


# ---- networks by their response ---------------------------------------------------------------------


def find_networks(found: Finder) -> None:
    graph = found.graph
    driven = {**dict.fromkeys(graph.inputs), **{p.pins["out"]: None for p in graph.of("amp")}}
    known = {*driven, *graph.fixed}
    seen: set[str] = set()
    for start in [*driven]:
        for first, far in [*graph.two(start)]:
            if far in seen or far in known or first.name in found.used:
                continue
            nodes, parts, is_passive = _component(found, far, known)
            seen |= nodes
            sources = {n for p in parts for n in p.ends if n in driven}
            fresh = [p for p in parts if p.name not in found.used]
            if is_passive and sources == {start} and len(fresh) == len(parts) and len(nodes) <= _MOST_NODES:
                _network(found, start, nodes, parts)
    _dividers(found)


def _component(found: Finder, start: str, known: set[str]) -> tuple[set[str], list[Part], bool]:
    """The passive parts that hang together around a node, and whether nothing else joins in."""
    graph = found.graph
    nodes, waiting = {start}, [start]
    parts: dict[str, Part] = {}
    is_passive = True
    while waiting:
        node = waiting.pop()
        for part, pin in graph.at[node]:
            if part.kind in ("r", "c", "l"):
                parts[part.name] = part
                far = part.other(node)
                if far not in known and far not in nodes:
                    nodes.add(far)
                    waiting.append(far)
            elif (
                part.kind != "i"
                and not (part.kind == "amp" and pin in ("p", "n"))
                and not pin.startswith("control")
                and not (part.kind in "mj" and pin == "in")
            ):
                is_passive = False
    return nodes, list(parts.values()), is_passive


def _network(found: Finder, start: str, nodes: set[str], parts: list[Part]) -> None:
    if any(not part.value or part.value < 0 for part in parts):
        return
    if len(parts) < 2:
        return
    out = _output(found, start, nodes, parts)
    kinds = {part.kind for part in parts}
    if kinds == {"r"}:
        response = _response(start, nodes, parts, out, np.array([1.0]))
        value = abs(float(response[0].real))
        kind = "attenuator" if len(parts) > 4 or len(nodes) > 1 else "voltage_divider"
        figures = [Figure("ratio", value, "1", "of the voltages, load included", "")]
        found.add(kind, {"resistors": parts}, {"in": start, "out": out}, figures)
        return
    frequency = np.logspace(-4, 13, 1361)
    response = np.abs(_response(start, nodes, parts, out, frequency))
    kind, corners = _shape(frequency, response)
    reactive = [part for part in parts if part.kind in "cl"]
    if not kind:
        return
    if kinds == {"c"} or len(reactive) == 1:
        family = "rc" if "c" in kinds else "rl"
        figures = [
            Figure(
                "corner",
                f,
                "Hz",
                "1/(2 pi R C), R as the capacitor sees it" if family == "rc" else "R/(2 pi L)",
                _SS,
            )
            for f in corners[:1]
        ]
        name = f"{family}_{kind}"
    else:
        family = "lc" if {"l", "c"} <= kinds else "rc" if "c" in kinds else "rl"
        names = ("corner",) if len(corners) == 1 else ("lower_corner", "upper_corner")
        figures = [
            Figure(n, f, "Hz", "where the response falls by 3 dB, by nodal analysis")
            for n, f in zip(names, corners, strict=False)
        ]
        name = {"band_stop": f"{family}_notch"}.get(
            kind, f"{family}_ladder_{kind}" if family == "lc" else f"{family}_{kind}"
        )
        if kind == "band_stop":
            deepest = float(frequency[int(np.argmin(response))])
            figures = [Figure("center", deepest, "Hz", "where the response is smallest, by nodal analysis")]
        figures.append(Figure("order", float(len(reactive)), "1", "number of capacitors and inductors"))
    by_kind = {"resistors": "r", "capacitors": "c", "inductors": "l"}
    found.add(
        name,
        {role: [p for p in parts if p.kind == k] for role, k in by_kind.items()},
        {"in": start, "out": out},
        figures,
    )


def _output(found: Finder, start: str, nodes: set[str], parts: Sequence[Part]) -> str:
    """The node others read, else the one farthest from the source."""
    graph = found.graph
    read = [n for n in nodes if n in graph.observed or any(p.kind not in "rcl" for p, _ in graph.at[n])]
    loaded = [n for n in nodes if any(far in graph.fixed for _, far in graph.two(n, "r"))]
    if loaded and not read:  # the middle of a trap to ground is no output
        nodes = {n for n in nodes if not _is_trap(graph, n)} or nodes
    steps = {start: 0}
    waiting = [start]
    while waiting:
        at = waiting.pop(0)
        for part in parts:
            if at in part.ends and (far := part.other(at)) in nodes and far not in steps:
                steps[far] = steps[at] + 1
                waiting.append(far)

    def rank(node: str) -> tuple[int, bool, str]:
        # of two alike the one that is not merely a loss in series with a capacitor
        return steps.get(node, 0), any(far in graph.fixed for _, far in graph.two(node, "r")), node

    return max(read or nodes, key=rank)


def _is_trap(graph: Graph, node: str) -> bool:
    """Whether a node is only the middle of a coil and a capacitor in series to a rail."""
    joined = list(graph.two(node))
    return sorted(part.kind for part, _ in joined) == ["c", "l"] and any(
        far in graph.fixed for _, far in joined
    )


def _response(start: str, nodes: set[str], parts: Sequence[Part], out: str, f: np.ndarray) -> np.ndarray:
    """V(out)/V(start) by nodal analysis; rails stand still."""
    places = {node: at for at, node in enumerate(sorted(nodes))}
    s = 2j * np.pi * f
    matrix = np.zeros((len(f), len(places), len(places)), dtype=complex)
    driven = np.zeros((len(f), len(places)), dtype=complex)
    for part in parts:
        value = part.value or 1.0
        admittance = 1 / value if part.kind == "r" else s * value if part.kind == "c" else 1 / (s * value)
        a, b = part.ends
        for one, two in ((a, b), (b, a)):
            if one in places:
                matrix[:, places[one], places[one]] += admittance
                if two in places:
                    matrix[:, places[one], places[two]] -= admittance
                elif two == start:
                    driven[:, places[one]] += admittance
    matrix += 1e-15 * np.eye(len(places))
    solved = np.linalg.solve(matrix, driven[..., None])[..., 0]
    return solved[:, places[out]]


def _shape(f: np.ndarray, h: np.ndarray) -> tuple[str, list[float]]:
    """low_pass, high_pass, band_pass, band_stop or "", and the frequencies 3 dB below the pass band."""
    top, low, high = float(h.max()), float(h[0]), float(h[-1])
    if top <= 1e-9:
        return "", []
    if low > 0.4 * top and high < 0.02 * top:
        kind, level = "low_pass", low
    elif high > 0.4 * top and low < 0.02 * top:
        kind, level = "high_pass", high
    elif low < 0.02 * top and high < 0.02 * top:
        kind, level = "band_pass", top
    elif low > 0.4 * top and high > 0.4 * top and h.min() < 0.25 * min(low, high):
        return "band_stop", []
    else:
        return "", []
    limit = level / math.sqrt(2)
    above = h >= limit
    crossings = [at for at in range(len(f) - 1) if above[at] != above[at + 1]]
    corners = []
    for at in crossings:
        share = (limit - h[at]) / (h[at + 1] - h[at])
        corners.append(float(f[at] * (f[at + 1] / f[at]) ** share))
    return kind, corners[-1:] if kind == "low_pass" else corners[:1] if kind == "high_pass" else corners[
        :1
    ] + corners[-1:]


def _dividers(found: Finder) -> None:
    """Two resistors between a rail and ground whose middle is read."""
    graph = found.graph
    for node in graph.at:
        if node in graph.fixed or node in graph.inputs:
            continue
        ends = [
            (r, far) for r, far in graph.two(node, "r") if far in graph.rails and r.name not in found.used
        ]
        rails = {far for _, far in ends}
        touching = [p for p, _ in graph.at[node] if p.kind not in "rc"]
        if len(rails) < 2 or not rails - {GROUND}:
            continue
        upper_end = max(rails, key=lambda far: (abs(graph.rails[far]), graph.rails[far]))
        upper = [r for r, far in ends if far == upper_end]
        lower = [r for r, far in ends if far != upper_end]
        top, bottom = parallel(upper), parallel(lower)
        figures = []
        if top and bottom and len(rails) == 2:
            base = graph.rails[next(far for far in rails if far != upper_end)]
            value = base + (graph.rails[upper_end] - base) * bottom / (top + bottom)
            figures.append(
                Figure("output_voltage", value, "V", "V R2/(R1 + R2), unloaded", "Horowitz, Hill, 1.2")
            )
        kind = "bias_divider" if touching else "voltage_divider"
        found.add(kind, {"upper": upper, "lower": lower}, {"in": upper_end, "out": node}, figures)
