"""The networks of passive parts around an op-amp: what lies between its output, its inputs and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from domain.circuit.recognition.finder import Finder
from domain.circuit.recognition.graph import Graph, Part


class Network(NamedTuple):
    """Passive parts that hang together through nodes of their own, and the nodes where they end."""

    parts: tuple[Part, ...]
    ends: frozenset[str]
    inner: frozenset[str]

    @property
    def kinds(self) -> str:
        """``crr``: letters of its parts, sorted."""
        return "".join(sorted(part.kind for part in self.parts))

    def of(self, kind: str) -> list[Part]:
        return [part for part in self.parts if part.kind == kind]


def networks_of(graph: Graph) -> list[Network]:
    """All passive parts (diodes too), grouped by the nodes that nothing else touches."""

    def is_inner(node: str) -> bool:
        return (
            node not in graph.fixed
            and node not in graph.inputs
            and all(part.kind in ["r", "c", "l", "d"] for part, _ in graph.at[node])
        )

    seen: set[str] = set()
    found: list[Network] = []
    for first in graph.of("r c l d"):
        if first.name in seen or first.ends[0] == first.ends[1]:
            continue
        parts, ends, inner, waiting = [], set(), set(), [first]
        seen.add(first.name)
        while waiting:
            part = waiting.pop()
            parts.append(part)
            for node in part.ends:
                if not is_inner(node):
                    ends.add(node)
                elif node not in inner:
                    inner.add(node)
                    for other, _ in graph.at[node]:
                        if other.name not in seen:
                            seen.add(other.name)
                            waiting.append(other)
        found.append(Network(tuple(parts), frozenset(ends), frozenset(inner)))
    return found


class Around:
    """The networks around one op-amp."""

    def __init__(self, found: Finder, amp: Part, networks: Sequence[Network]) -> None:
        self.graph = found.graph
        self.amp = amp
        self.p, self.n, self.out = (amp.pins[each] for each in ("p", "n", "out"))
        self.fixed = {*found.graph.fixed}
        self.networks = [each for each in networks if each.ends & {self.p, self.n, self.out}]

    def between(self, a: str, b: str) -> list[Network]:
        """Networks with these two ends only."""
        return [each for each in self.networks if each.ends == {a, b}]

    def to_still(self, node: str) -> list[Network]:
        """Networks from a node to nodes that stand still."""
        return [
            each
            for each in self.networks
            if node in each.ends and each.ends - {node} <= self.fixed and len(each.ends) > 1
        ]

    def to_signal(self, node: str) -> list[Network]:
        """Networks from an input pin to somewhere else that moves."""
        return [
            each
            for each in self.networks
            if node in each.ends and self.out not in each.ends and each.ends - {node} - self.fixed
        ]


def parts_of(networks: Sequence[Network]) -> list[Part]:
    return [part for each in networks for part in each.parts]


def resistance(networks: Sequence[Network]) -> float | None:
    """Of networks in parallel that are resistors in series each; capacitors and diodes left out."""
    paths = [
        sum(p.value for p in each.of("r") if p.value)
        for each in networks
        if each.of("r") and not each.of("c")
    ]
    return 1 / sum(1 / path for path in paths) if paths and all(paths) else None


def capacitance(parts: Sequence[Part]) -> float | None:
    """Capacitances in parallel."""
    values = [part.value for part in parts]
    return sum(v for v in values if v) if values and all(values) else None


def stands_still(around: Around) -> bool:
    """The + input is held by resistors and capacitors to rails alone: a reference, no signal."""
    reaching = [each for each in around.networks if around.p in each.ends]
    others = [p for p, pin in around.graph.at[around.p] if p is not around.amp and p.kind not in "rcld"]
    return bool(reaching) and not others and all(each.ends - {around.p} <= around.fixed for each in reaching)
