"""Losses that other simulators write into a part's own line (``C1 a 0 10u Rser=20m``).

For ngspice they are elements of their own (`domain.circuit.translation`); nobody drew them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LOSS = re.compile(r"(?:r_rser|l_lser|r_rpar|c_cpar|r_rlshunt)_(?P<of>.+)", re.IGNORECASE)


def losses_of(parts: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[frozenset[str], dict[str, str]]:
    """Of parts as name and nets: the names of those that are losses of another, and for each net between a
    part and its losses the net that the part is drawn at."""
    names = {name.lower() for name, _ in parts}
    losses, outer = set[str](), dict[str, str]()
    for name, nets in parts:
        found = _LOSS.fullmatch(name)
        owner = found["of"].lower() if found else ""
        if owner not in names or len(nets) != 2:
            continue
        losses.add(name)
        if nets[1].lower().startswith(f"{owner}#"):
            outer[nets[1]] = outer.get(nets[0], nets[0])
    return frozenset(losses), outer
