"""Which values of a circuit may follow when something measured is wanted elsewhere: those of its parts.

What drives the circuit is no part of it: the values of sources stay, and with them every `.param` that a
source or an analysis is written with.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from domain.circuit.netlist import Netlist
from domain.studies.influence import PlacedValue, placed_values

_SOURCES = "vibefgh"
_WORD = re.compile(r"[a-z_]\w*")
_NOT_PARTS = frozenset({"temp", "tnom", "temper"})
_OF_PARTS = frozenset({"param", "model", "subckt", "ends", "func", "include", "lib", "endl"})
"""Directives that may use a parameter of a part."""


def free_values(data: bytes, locked: Collection[str] = ()) -> tuple[PlacedValue, ...]:
    """The numbers of parts and parameters at a netlist's top level, by their lines.

    `locked`: names of elements and parameters that are to stay as they are.
    """
    netlist = Netlist.parse(data)
    drives = [each.statement for each in netlist.elements if each.letter in _SOURCES]
    analyses = [
        each for each in netlist.statements if each.kind == "directive" and each.keyword not in _OF_PARTS
    ]
    words = {word for each in (*drives, *analyses) for word in _WORD.findall(each.text.lower())}
    sources = {each.name.lower() for each in netlist.elements if each.letter in _SOURCES}
    parameters = {each.name.lower() for each in netlist.parameters}
    kept = {name.lower() for name in locked} | _NOT_PARTS | sources | (parameters & words)
    return tuple(each for each in placed_values(data) if each.name.lower().partition(".")[0] not in kept)
