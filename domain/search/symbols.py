"""The names a netlist defines, for an index that is asked by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.circuit.elements import GROUND, SHAPES, canonical_node
from domain.circuit.netlist import Netlist
from domain.circuit.symbols import SymbolKind


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name at the place that defines it; of a node, the first place in its scope."""

    name: str
    kind: SymbolKind
    line: int
    """From 1."""
    scope: str
    """Names of the subcircuits around it, joined by dots."""
    card: str

    @property
    def is_definition(self) -> bool:
        """It is there by this card, not only used by it: every symbol but a node on an element."""
        return self.kind != "node" or self.card.startswith(".")


def symbols_of(netlist: Netlist) -> Iterator[Symbol]:
    """Elements, nodes (ground aside), models, subcircuits, parameters and functions, not in order."""
    nodes: set[tuple[str, str]] = set()

    def node(name: str, line: int, scope: str, card: str) -> Iterator[Symbol]:
        key = (scope, canonical_node(name))
        if key[1] != GROUND and key not in nodes:
            nodes.add(key)
            yield Symbol(name, "node", line, scope, card)

    for item in netlist.subcircuits:
        around, card = ".".join(item.statement.scope), item.statement.text
        yield Symbol(item.name, "subcircuit", item.line, around, card)
        inside = ".".join(item.path)
        for port in item.ports:
            yield from node(port.text, item.line, inside, card)
        for name in item.params:
            yield Symbol(name, "parameter", item.line, inside, card)
    for model in netlist.models:
        statement = model.statement
        yield Symbol(model.name, "model", model.line, ".".join(statement.scope), statement.text)
    for parameter in netlist.parameters:
        scope = ".".join(parameter.scope)
        yield Symbol(parameter.name, "parameter", parameter.line, scope, parameter.statement.text)
    for statement in netlist.directives("func"):
        if len(statement.words) > 1:
            name = statement.words[1].text.partition("(")[0]
            yield Symbol(name, "function", statement.line, ".".join(statement.scope), statement.text)
    for statement in netlist.directives("global"):
        for word in statement.words[1:]:
            yield from node(word.text, statement.line, "", statement.text)
    for statement in netlist.statements:
        if statement.kind == "element":
            scope, card = ".".join(statement.scope), statement.text
            name, *names = card.split()
            yield Symbol(name, "element", statement.line, scope, card)
            for text in _nodes_of(name[0].lower(), names):
                yield from node(text, statement.line, scope, card)


def _nodes_of(letter: str, words: Sequence[str]) -> Iterator[str]:
    """The nodes of an element that stand there for certain.

    Reading elements in full costs ten times as much, for an optional substrate or temperature node.
    """
    if letter == "x":
        end = next(
            (i for i, word in enumerate(words) if "=" in word or word.lower() == "params:"), len(words)
        )
        count = end - 1
    else:
        count = SHAPES[letter].nodes[0] if letter in SHAPES and letter != "a" else 0
    for word in words[: max(count, 0)]:
        if name := word.strip("(),"):
            yield name
