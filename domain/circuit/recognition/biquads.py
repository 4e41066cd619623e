"""State-variable filters: two integrators and a third op-amp in a loop.

Sources of the formulas: Sedra, Smith, *Microelectronic Circuits*, section 17.7.
"""

from __future__ import annotations

import itertools
import math

from domain.circuit.recognition.finder import Finder, parallel
from domain.circuit.recognition.graph import Graph, Part
from domain.circuit.recognition.recognised import Figure

_SOURCE = "Sedra, Smith, 17.7"


def find_biquads(found: Finder) -> None:
    """KHN (a summing amplifier before two integrators) and Tow-Thomas (the first of them damped)."""
    graph = found.graph
    amps = [amp for amp in graph.of("amp") if amp.name not in found.used]
    for first, second, third in itertools.permutations(amps, 3):
        if {first.name, second.name, third.name} & found.used:
            continue
        if _is_integrator(graph, first) and _is_integrator(graph, second) and _leads(graph, first, second):
            _biquad(found, first, second, third)


def _is_integrator(graph: Graph, amp: Part) -> bool:
    """A capacitor from the output to the inverting input, the other input still."""
    return bool(graph.between(amp.pins["n"], amp.pins["out"], "c")) and amp.pins["p"] in graph.fixed


def _leads(graph: Graph, amp: Part, other: Part) -> list[Part]:
    """The resistors from an output to the next inverting input."""
    return graph.between(amp.pins["out"], other.pins["n"], "r")


def _biquad(found: Finder, first: Part, second: Part, third: Part) -> None:
    graph = found.graph
    damping = graph.between(first.pins["n"], first.pins["out"], "r")
    own, closing = _leads(graph, third, third), _leads(graph, second, third)
    into = _leads(graph, third, first)
    quality = graph.between(first.pins["out"], third.pins["p"], "r")
    if not (own and closing and into) or bool(damping) == bool(quality):
        return
    feet = [part for part, far in graph.two(third.pins["p"], "r") if far in graph.fixed] if quality else []
    entry = third if quality else first
    fed = [
        (part, far)
        for part, far in graph.two(entry.pins["n"], "r")
        if far not in {amp.pins["out"] for amp in (first, second, third)}
    ]
    capacitors = [graph.between(amp.pins["n"], amp.pins["out"], "c")[0] for amp in (first, second)]
    between = _leads(graph, first, second)
    r1, r2, loop = parallel(into), parallel(between), (parallel(own), parallel(closing))
    values = [r1, r2, *loop, *(part.value for part in capacitors)]
    figures = []
    if all(values):
        a, b, r3, r4, c1, c2 = (value for value in values if value)
        w0 = math.sqrt(r3 / r4 / (a * b * c1 * c2))
        figures.append(
            Figure("center", w0 / (2 * math.pi), "Hz", "sqrt(R3/R4/(R1 C1 R2 C2))/(2 pi)", _SOURCE)
        )
        if damping and (damped := parallel(damping)):
            figures.append(Figure("q", w0 * damped * c1, "1", "w0 RQ C1", _SOURCE))
        share = _share(parallel(quality), parallel(feet))
        source = parallel([part for part, _ in fed])
        if share and source:
            noise = 1 + r3 / r4 + r3 / source
            figures.append(
                Figure("q", w0 * a * c1 / (share * noise), "1", "w0 R1 C1/(k (1 + R3/R4 + R3/RI))", _SOURCE)
            )
    found.add(
        "state_variable_filter",
        {
            "integrators": [first, second],
            "third": [third],
            "setting_frequency": [*into, *between, *capacitors, *own, *closing],
            "setting_q": [*damping, *quality, *feet],
            "input": [part for part, _ in fed],
        },
        {
            "in": fed[0][1] if fed else "",
            "band_pass": first.pins["out"],
            "low_pass": second.pins["out"],
            "out": third.pins["out"] if quality else second.pins["out"],
        },
        figures,
    )


def _share(top: float | None, foot: float | None) -> float | None:
    return foot / (top + foot) if top and foot else None
