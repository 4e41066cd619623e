"""What the recognisers of all kinds of stages share: the graph, the way of the signal, what was found."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping

from domain.circuit.elements import GROUND
from domain.circuit.recognition.graph import Graph, Part
from domain.circuit.recognition.recognised import Figure, Stage

PASSIVE = "r c l"
THERMAL_V = 0.02585
"""kT/q at 300 K."""
JUNCTION_V = 0.65
"""Across a junction that conducts."""


def parallel(parts: Iterable[Part]) -> float | None:
    """Of resistances; None where one is not known or none is there."""
    values = [part.value for part in parts]
    if not values or any(value is None or value <= 0 for value in values):
        return None
    return 1 / sum(1 / value for value in values if value)


class Finder:
    """Collects stages; an element belongs to one of them, unless it is shared knowingly."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.stages: list[Stage] = []
        self.used: set[str] = set()
        self.order = self._signal_order()
        """Node -> how many steps the signal needs to it, from the inputs."""

    def steps_to(self, node: str) -> float:
        """From the inputs; infinite where no signal comes."""
        return self.order.get(node, math.inf)

    def is_still(self, node: str) -> bool:
        """For signals: a rail, a bias, or held by a capacitor to one of them and by nothing that moves."""
        if node in self.graph.fixed:
            return True
        held = any(far in self.graph.fixed for _, far in self.graph.two(node, "c"))
        return held and node not in self.order

    def add(
        self,
        kind: str,
        elements: Mapping[str, Iterable[Part | str]],
        nodes: Mapping[str, str] | None = None,
        figures: Iterable[Figure | None] = (),
    ) -> Stage:
        named = {
            role: tuple(part if isinstance(part, str) else part.name for part in parts)
            for role, parts in elements.items()
        }
        stage = Stage(
            kind=kind,
            elements={role: names for role, names in named.items() if names},
            nodes=dict(nodes or {}),
            figures=tuple(figure for figure in figures if figure is not None),
        )
        self.stages.append(stage)
        self.used.update(stage.members)
        return stage

    def free(self, kinds: str) -> list[Part]:
        """The parts of these kinds that are in no stage yet."""
        return [part for part in self.graph.of(kinds) if part.name not in self.used]

    def _signal_order(self) -> dict[str, int]:
        """Breadth first from the inputs, through passive parts and from inputs of devices to outputs."""
        graph = self.graph
        order = dict.fromkeys(graph.inputs, 0)
        waiting = deque(graph.inputs)
        while waiting:
            at = waiting.popleft()
            for part, pin in graph.at.get(at, ()):
                ends: tuple[str, ...]
                if part.kind in PASSIVE.split():
                    ends = (part.other(at),)
                elif part.kind in "qmj":
                    ends = {"in": ("out", "com"), "com": ("out",), "out": ()}.get(pin, ())
                    ends = tuple(part.pins[each] for each in ends)
                elif part.kind == "amp":
                    ends = (part.pins["out"],) if pin in ("p", "n") else ()
                elif part.kind in "ds" and not pin.startswith("control"):
                    ends = (part.other(at),)
                else:
                    ends = ()
                for end in ends:
                    if end not in order and end not in graph.fixed and end != GROUND:
                        order[end] = order[at] + 1
                        waiting.append(end)
        return order
