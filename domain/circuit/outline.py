"""A netlist in outline: what stands where, for a reader who wants to look at the right lines only."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from domain.circuit.elements import SHAPES, canonical_node
from domain.circuit.netlist import Netlist
from domain.circuit.statements import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLines:
    """A subcircuit, model, parameter or card with its lines."""

    name: str
    text: str
    """Its terminals, type, value or whole card."""
    line: int
    last_line: int
    scope: str = ""
    """Names of the subcircuits around it, joined by dots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A netlist's parts, in the order of the file."""

    title: str
    subcircuits: tuple[NamedLines, ...]
    models: tuple[NamedLines, ...]
    parameters: tuple[NamedLines, ...]
    analyses: tuple[NamedLines, ...]
    measures: tuple[NamedLines, ...]
    includes: tuple[NamedLines, ...]
    """`name` is the path as written, `text` the library section."""
    elements: dict[str, int]
    """Kind in words ("resistor") -> how many."""
    sources: tuple[NamedLines, ...]
    """Independent voltage and current sources at the top level."""
    nodes: tuple[str, ...]
    """Nodes at the top level, as written first."""
    has_control_block: bool


def outline_of(netlist: Netlist) -> Outline:
    """The outline of a circuit or a library."""
    kinds = Counter(SHAPES[element.letter].title for element in netlist.elements if element.letter in SHAPES)
    return Outline(
        title=netlist.title,
        subcircuits=tuple(
            NamedLines(
                name=item.name,
                text=" ".join(port.text for port in item.ports),
                line=item.line,
                last_line=item.end_line or item.statement.last_line,
                scope=".".join(item.statement.scope),
            )
            for item in netlist.subcircuits
        ),
        models=tuple(_named(item.name, item.type, item.statement) for item in netlist.models),
        parameters=tuple(
            NamedLines(
                name=item.name,
                text=item.value.text,
                line=item.line,
                last_line=item.line,
                scope=".".join(item.scope),
            )
            for item in netlist.parameters
        ),
        analyses=tuple(
            NamedLines(name=item.kind, text=item.text, line=item.line, last_line=item.line)
            for item in netlist.analyses
        ),
        measures=tuple(
            NamedLines(name=item.name, text=item.text, line=item.line, last_line=item.line)
            for item in netlist.measures
        ),
        includes=tuple(
            NamedLines(name=item.path, text=item.section or "", line=item.line, last_line=item.line)
            for item in netlist.includes
        ),
        elements=dict(kinds.most_common()),
        sources=tuple(
            _named(element.name, element.statement.text.split(None, 1)[-1], element.statement)
            for element in netlist.elements
            if element.letter in "vi" and not element.scope
        ),
        nodes=_top_nodes(netlist),
        has_control_block=netlist.has_control_block,
    )


def _named(name: str, text: str, statement: Statement) -> NamedLines:
    return NamedLines(
        name=name,
        text=text,
        line=statement.line,
        last_line=statement.last_line,
        scope=".".join(statement.scope),
    )


def _top_nodes(netlist: Netlist) -> tuple[str, ...]:
    nodes: dict[str, str] = {}
    for element in netlist.elements:
        if not element.scope:
            for node in element.nodes:
                nodes.setdefault(canonical_node(node.text), node.text)
    return tuple(nodes.values())
