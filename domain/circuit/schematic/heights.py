"""How high nets stand: a pseudo operating point, rails at one, resistors by value, all devices conducting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from domain.circuit.elements import GROUND
from domain.circuit.schematic.parts import TRANSISTORS, Part

STRAIGHT = 1e-3
"""Conductance of channels, diodes and switches, siemens."""
_EMITTER, _WIRE, _LEAK, _UNKNOWN = 2e-5, 0.1, 1e-9, 1e-4
"""Of bases, of windings, from every net to ground, of resistors without a number."""


def heights_of(parts: Sequence[Part], signs: Mapping[str, int]) -> dict[str, float]:
    """Of each net, between -1 and 1. Without the values a feedback resistor would be taken for a load."""
    held = {**signs, **_held(parts, signs)}
    nets = sorted({net for part in parts for net in part.nets} - held.keys())
    place = {net: at for at, net in enumerate(nets)}
    matrix = np.eye(len(nets)) * _LEAK
    right = np.zeros(len(nets))
    for a, b, conductance in _conductances(parts):
        for one, other in ((a, b), (b, a)):
            if one in place:
                matrix[place[one], place[one]] += conductance
                if other in place:
                    matrix[place[one], place[other]] -= conductance
                else:
                    right[place[one]] += conductance * held.get(other, 0)
    solved = np.linalg.solve(matrix, right) if nets else right
    heights = {net: round(float(solved[at]), 6) for net, at in place.items()}
    return heights | {net: float(sign) for net, sign in held.items()}


def _held(parts: Sequence[Part], signs: Mapping[str, int]) -> dict[str, int]:
    """Nets that sources hold against ground, besides the rails: above where they are positive."""
    held: dict[str, int] = {}
    for part in parts:
        if part.kind in "vebh" and len(part.nets) == 2 and part.nets[1] == GROUND:
            value = part.ohms if part.kind == "v" else 1.0
            if value and part.nets[0] not in signs:
                held[part.nets[0]] = 1 if value > 0 else -1
    return held


def _conductances(parts: Sequence[Part]) -> Iterator[tuple[str, str, float]]:
    for part in parts:
        if part.kind in TRANSISTORS:
            yield part.net("out"), part.net("com"), STRAIGHT
            if part.kind == "q":
                yield part.net("in"), part.net("com"), _EMITTER
            continue
        known = 1 / part.ohms if part.kind == "r" and part.ohms and part.ohms > 1e-6 else _UNKNOWN
        conductance = {"r": known, "d": STRAIGHT, "s": STRAIGHT, "l": _WIRE, "i": STRAIGHT / 10}.get(
            part.kind
        )
        if conductance is not None:
            yield part.nets[0], part.nets[1], conductance
