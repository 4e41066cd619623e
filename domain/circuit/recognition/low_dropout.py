"""Low-dropout regulators: a p-type pass transistor that an error amplifier drives, closed over a divider.

Source of the formula: Rincon-Mora, *Analog IC Design with Low-Dropout Regulators*, chapter 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from domain.circuit.elements import GROUND
from domain.circuit.recognition.finder import Finder, parallel
from domain.circuit.recognition.graph import Graph, Part
from domain.circuit.recognition.recognised import Figure


def find_low_dropout(found: Finder) -> None:
    """Also with the loop opened by a coil and a capacitor, as for its measurement."""
    graph = found.graph
    for part in graph.of("m q"):
        out, gate = part.pins["out"], part.pins["in"]
        if part.polarity > 0 or part.pins["com"] not in graph.rails or out in graph.fixed:
            continue
        for sensed, reference in _compared(graph, gate):
            if reference in graph.fixed and _regulator(found, part, sensed, reference):
                break


def _compared(graph: Graph, gate: str) -> Iterator[tuple[str, str]]:
    """The inputs of an error amplifier whose output is `gate`, either one first."""
    for part, pin in graph.at[gate]:
        if part.kind == "amp" and pin == "out":
            pair = (part.pins["p"], part.pins["n"])
        elif part.kind in "mq" and pin == "out" and part.pins["com"] not in graph.fixed:
            mates = [
                other.pins["in"]
                for other, at in graph.at[part.pins["com"]]
                if other.kind == part.kind and at == "com" and other is not part
            ]
            if len(mates) != 1:
                continue
            pair = (mates[0], part.pins["in"])
        else:
            continue
        yield pair
        yield pair[1], pair[0]


def _regulator(found: Finder, part: Part, sensed: str, reference: str) -> bool:
    graph = found.graph
    out, gate = part.pins["out"], part.pins["in"]
    coils = list(graph.two(out, "l"))
    tops = {out, *(far for _, far in coils)}
    uppers = [(r, far) for r, far in graph.two(sensed, "r") if far in tops]
    lowers = [r for r, far in graph.two(sensed, "r") if far == GROUND]
    if not uppers or not lowers:
        return False
    top = uppers[0][1]
    breaking = [coil for coil, far in coils if far == top]
    if breaking:
        breaking += [c for c, _ in graph.two(top, "c")]
    reservoir = [c for c, far in graph.two(out, "c") if far in graph.fixed]
    for c, far in graph.two(out, "c"):
        feet = [r for r, end in graph.two(far, "r") if end in graph.fixed]
        reservoir += [c, *feet] if feet and far not in graph.fixed else []
    compensation = [
        each
        for c, far in graph.two(gate, "c")
        for each in ([c] if far in graph.fixed or far == out else [c, *(r for r, _ in graph.two(far, "r"))])
    ]
    r1, r2 = parallel([r for r, _ in uppers]), parallel(lowers)
    volts = graph.rails.get(reference)
    figure = None
    if r1 and r2 and volts:
        figure = Figure("output_voltage", volts * (1 + r1 / r2), "V", "VREF (1 + R1/R2)", "Rincon-Mora, 1")
    found.add(
        "low_dropout_regulator",
        {
            "pass": [part],
            "upper": [r for r, _ in uppers],
            "lower": lowers,
            "output_capacitor": reservoir,
            "compensation": compensation,
            "loop_break": breaking,
            "load": [r for r, far in graph.two(out, "r") if far == GROUND],
        },
        {"in": part.pins["com"], "out": out, "reference": reference},
        [figure],
    )
    return True
