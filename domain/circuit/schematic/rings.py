"""A ring of stages, each driving the next: cut where the signal is taken, so that it is drawn as a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from domain.circuit.schematic.parts import TRANSISTORS, Part

_FEWEST = 3
"""Stages of a ring; two are a latch."""


class Ring(NamedTuple):
    """Stages one behind the other, the last one's output led back to the first."""

    nets: tuple[str, ...]
    """Of the stages, in order: the last one is also what the first is driven by."""
    first: frozenset[int]
    """Transistors of the first stage: their input comes from the end."""


def rings_in(
    parts: Sequence[Part], drawn: Iterable[int], signs: Mapping[str, int], outputs: Sequence[str]
) -> tuple[Ring, ...]:
    """Cycles of inputs and outputs of transistors in which each net is driven from one net of the cycle.

    A ring ends at an output where it has one, else at the net the circuit names first.
    """
    ahead: dict[str, dict[str, list[int]]] = {}
    for at in drawn:
        part = parts[at]
        if part.kind in TRANSISTORS:
            base, out = part.net("in"), part.net("out")
            if base != out and base not in signs and out not in signs:
                ahead.setdefault(base, {}).setdefault(out, []).append(at)
    found: list[Ring] = []
    taken: set[str] = set()
    for start in ahead:
        cycle = _cycle(start, ahead) if start not in taken else []
        if len(cycle) >= _FEWEST and not taken & {*cycle}:
            taken |= {*cycle}
            ends = [net for net in outputs if net in cycle] or [cycle[0]]
            place = cycle.index(ends[0])
            nets = (*cycle[place + 1 :], *cycle[: place + 1])
            found.append(Ring(nets, frozenset(ahead[nets[-1]][nets[0]])))
    return tuple(found)


def _cycle(start: str, ahead: Mapping[str, Mapping[str, Sequence[int]]]) -> list[str]:
    """The nets on the shortest way from one back to it; none where a shortcut leads across it."""
    before: dict[str, str] = {}
    waiting = [start]
    for net in waiting:
        for other in ahead.get(net, ()):
            if other == start:
                way = [net]
                while way[-1] != start:
                    way.append(before[way[-1]])
                way.reverse()
                inside = {*way}
                is_simple = all(sum(far in inside for far in ahead.get(each, ())) == 1 for each in way)
                return way if is_simple else []
            if other not in before:
                before[other] = net
                waiting.append(other)
    return []
