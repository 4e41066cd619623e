"""The loop of a charge-pump PLL in the phase domain: sources, the loop filter, an integrator, the divider."""

from __future__ import annotations

import math

from domain.circuit.elements import GROUND
from domain.circuit.recognition.finder import Finder
from domain.circuit.recognition.graph import Part
from domain.circuit.recognition.recognised import Figure


def find_phase_locked_loops(found: Finder) -> None:
    """A controlled current into C beside R and C; what they tune drives a current into a capacitor alone."""
    graph = found.graph
    sources = {letter: [p for p in graph.of("box") if p.element.letter == letter] for letter in "ge"}
    for pump in sources["g"]:
        tune = _driven(pump)
        zeros = [
            (r, c)
            for r, far in graph.two(tune, "r")
            for c, end in graph.two(far, "c")
            if end == GROUND != far
        ]
        poles = [c for c, end in graph.two(tune, "c") if end == GROUND]
        for vco in sources["g"]:
            phase = _driven(vco)
            store = [c for c, end in graph.two(phase, "c") if end == GROUND]
            dividers = [e for e in sources["e"] if _control(e) == phase]
            if _control(vco) != tune or phase == tune or len(zeros) != 1 or not poles or not store:
                continue
            (resistor, series), figures = zeros[0], []
            if resistor.value and series.value:
                zero = 1 / (2 * math.pi * resistor.value * series.value)
                figures = [Figure("corner", zero, "Hz", "1/(2 pi R2 C2)", "Gardner, 1980")]
            leaks = [r for at in (tune, phase) for r, end in graph.two(at, "r") if end == GROUND]
            elements = {"phase_detector": [pump], "loop_filter": [*poles, resistor, series],
                        "controlled_oscillator": [vco, *store], "divider": dividers,
                        "losses": leaks}  # fmt: skip
            nodes = {"in": _control(pump), "tuning": tune, "out": _driven(dividers[0]) if dividers else phase}
            found.add("pll_loop_filter", elements, nodes, figures)


def _driven(source: Part) -> str:
    return next((source.pins[each] for each in ("0", "1") if source.pins[each] != GROUND), GROUND)


def _control(source: Part) -> str:
    return next((source.pins[e] for e in ("2", "3") if source.pins.get(e, GROUND) != GROUND), GROUND)
