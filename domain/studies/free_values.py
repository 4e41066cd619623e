"""Which values of a circuit may follow when something measured is wanted elsewhere: those of its parts.

What drives the circuit is no part of it: the values of sources stay, and with them every `.param` that a
source or an analysis is written with. What loads it is told apart: it follows where somebody asks for that.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from domain.circuit.elements import GROUND, Element, canonical_node
from domain.circuit.netlist import Netlist
from domain.studies.influence import PlacedValue, placed_values

if TYPE_CHECKING:
    from domain.circuit.dependencies import DependencyTree

_SOURCES = "vibefgh"
_WORD = re.compile(r"[a-z_]\w*")
_LOAD_NAME = re.compile(r"[rc]_?l(?:oad)?_?\d*")
_AMPLIFYING = frozenset({"transistor", "transistors"})
_NOT_PARTS = frozenset({"temp", "tnom", "temper"})
_OF_PARTS = frozenset({"param", "model", "subckt", "ends", "func", "include", "lib", "endl"})
"""Directives that may use a parameter of a part."""


def free_values(
    data: bytes, locked: Collection[str] = (), loads: Collection[str] = ()
) -> tuple[PlacedValue, ...]:
    """The numbers of parts and parameters at a netlist's top level, by their lines.

    `locked`: names of elements and parameters that are to stay as they are. `loads`: elements that are
    given; so is a parameter that only they are written with.
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
    given = {name.lower() for name in loads}
    of_parts = {word for each in netlist.elements if each.name.lower() not in given for word in _words(each)}
    of_loads = {word for each in netlist.elements if each.name.lower() in given for word in _words(each)}
    of_others = {word for each in netlist.parameters for word in _WORD.findall(each.value.text.lower())}
    given |= parameters & (of_loads - of_parts - of_others)
    return tuple(
        replace(each, is_given=each.name.lower() in given)
        for each in placed_values(data)
        if each.name.lower().partition(".")[0] not in kept
    )


def loads_of(tree: DependencyTree) -> tuple[str, ...]:
    """The resistors and capacitors that stand for what the circuit feeds, between a node and ground.

    A resistor at an output that belongs to no stage, that behind a converter or a rectifier, and what is
    named as a load (``RL``, ``Cload``).
    """
    from domain.circuit.recognition.recogniser import recognise  # with numpy: where a circuit is meant

    found = recognise(tree)
    behind = [
        name for stage in found.stages if not _AMPLIFYING & {*stage.elements}
        for name in stage.elements.get("load", ())
    ]  # fmt: skip
    at_outputs = {name.lower() for name in (*found.loads, *behind) if name[:1] in "rR"}
    return tuple(
        each.name
        for each in tree.root.elements
        if each.letter in "rc"
        and GROUND in {canonical_node(node.text) for node in each.nodes}
        and (each.name.lower() in at_outputs or _LOAD_NAME.fullmatch(each.name.lower()))
    )


def _words(element: Element) -> list[str]:
    return _WORD.findall(element.statement.text.lower())
