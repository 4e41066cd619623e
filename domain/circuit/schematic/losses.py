"""Losses that other simulators write into a part's own line (``C1 a 0 10u Rser=20m``).

For ngspice they are elements of their own (`domain.circuit.translation`); nobody drew them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from domain.circuit.schematic.parts import Part

_LOSS = re.compile(r"(?:r_rser|l_lser|r_rpar|c_cpar|r_rlshunt)_(?P<of>.+)", re.IGNORECASE)


def without_losses(parts: Sequence[Part]) -> list[Part]:
    """The parts as they were drawn: those with losses stand between the outer nodes."""
    names = {each.name.lower() for each in parts}
    outer: dict[str, str] = {}
    drawn: list[Part] = []
    for part in parts:
        found = _LOSS.fullmatch(part.name)
        owner = found["of"].lower() if found else ""
        if owner not in names or len(part.pins) != 2:
            drawn.append(part)
            continue
        first, second = part.nets
        if second.lower().startswith(f"{owner}#"):
            outer[second] = outer.get(first, first)
    if not outer:
        return drawn
    return [
        each._replace(pins=tuple(pin._replace(net=outer.get(pin.net, pin.net)) for pin in each.pins))
        for each in drawn
    ]
