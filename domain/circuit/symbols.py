"""Where a name stands in a netlist, and as what: element, node, model, subcircuit, parameter, function.

Letter case does not count, every spelling of ground is one node. One file is looked at by itself; what a
model's name on a device line is can depend on other files, so their models' names are given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from domain.circuit.elements import canonical_node
from domain.circuit.names import Name, NameKind, Usage, names_in
from domain.circuit.netlist import Netlist
from shared.late_patterns import late_pattern

SymbolKind = NameKind

_QUOTED = late_pattern(r"^(?:[vi]\((.+)\)|@([^\[]+)\[.*\])$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolUse:
    """One place."""

    kind: SymbolKind
    usage: Usage
    line: int
    scope: tuple[str, ...]
    """Names of the enclosing subcircuits, outermost first, lower case."""
    last_line: int
    """Of a definition that spans lines (`.subckt` to `.ends`)."""
    text: str
    """The card."""


def bare_name(symbol: str) -> str:
    """The name meant by a signal: ``v(out)`` -> ``out``, ``@m1[id]`` -> ``m1``."""
    match = _QUOTED.match(symbol.strip())
    return (match[1] or match[2]) if match else symbol.strip()


def uses_of(netlist: Netlist, name: str, models: frozenset[str] = frozenset()) -> Iterator[SymbolUse]:
    """The places where `name` stands, by line. `models`: names (lower case) of models in other files."""
    key = name.lower()
    node = canonical_node(name)
    known = models | frozenset(model.name.lower() for model in netlist.models)
    ends = {item.line: item.end_line for item in netlist.subcircuits}
    elements = {element.line: element for element in netlist.elements_with(known)}
    for statement in netlist.statements:
        if key not in statement.text.lower() and node not in statement.text.lower() and node != "0":
            continue
        named = names_in(statement, elements.get(statement.line))
        found = ((each.kind, each.usage) for each in named if _is_meant(each, key, node))
        for kind, usage in dict.fromkeys(found):
            last = ends.get(statement.line) if (kind, usage) == ("subcircuit", "definition") else None
            yield SymbolUse(
                kind=kind,
                usage=usage,
                line=statement.line,
                scope=statement.scope,
                last_line=last or statement.last_line,
                text=statement.text,
            )


def _is_meant(name: Name, key: str, node: str) -> bool:
    return canonical_node(name.text) == node if name.kind == "node" else name.text.lower() == key
