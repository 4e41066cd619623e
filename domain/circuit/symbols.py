"""Where a name stands in a netlist, and as what: element, node, model, subcircuit, parameter, function.

Letter case does not count, every spelling of ground is one node. One file is looked at by itself; what a
model's name on a device line is can depend on other files, so their models' names are given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from domain.circuit.analyses import ANALYSIS_KINDS
from domain.circuit.cards import assignments_of, model_of, subcircuit_of
from domain.circuit.elements import Element, canonical_node
from domain.circuit.netlist import Netlist
from domain.circuit.statements import Field, Statement
from shared.late_patterns import late_pattern

SymbolKind = Literal["element", "node", "model", "subcircuit", "parameter", "function"]
Usage = Literal["definition", "read", "write", "call", "connection"]
"""connection: a terminal of an element is on the node; write: an X line sets a parameter."""

_CALL_OF_SIGNAL = late_pattern(r"([vi])(?:m|db|p|r|i)?\s*\(([^()]*)\)", re.IGNORECASE)
_DEVICE = late_pattern(r"@([^\s\[\]()]+)\[", re.IGNORECASE)
_QUOTED = late_pattern(r"^(?:[vi]\((.+)\)|@([^\[]+)\[.*\])$", re.IGNORECASE)
_VALUE_PARTS = late_pattern(r"\{[^{}]*\}|'[^']*'")
_OUTPUTS = frozenset({"save", "print", "plot", "probe"})
"""Directives that may name nodes without v( )."""


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
        found: Iterator[tuple[SymbolKind, Usage]]
        if statement.kind == "element" and statement.line in elements:
            found = _in_element(elements[statement.line], key, node)
        elif statement.kind == "directive":
            found = _in_directive(statement, key, node)
        elif statement.kind == "control":
            found = _in_signals(statement.text, key, node)
        else:
            continue
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


def _in_element(element: Element, key: str, node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    if element.key == key:
        yield "element", "definition"
    if any(canonical_node(item.text) == node for item in element.nodes):
        yield "node", "connection"
    if any(canonical_node(item.text) == node for item in element.control_nodes):
        yield "node", "read"
    if any(item.key == key for item in element.controls):
        yield "element", "read"
    if element.model is not None and element.model.key == key:
        yield ("subcircuit", "call") if element.letter == "x" else ("model", "read")
    if element.letter == "x" and key in element.params:
        yield "parameter", "write"
    for value in _values(element):
        yield from _in_expression(value.text, key, node)


def _values(element: Element) -> Iterator[Field]:
    if element.value is not None:
        yield element.value
    yield from element.expressions
    yield from element.numbers
    yield from element.params.values()


def _in_directive(card: Statement, key: str, node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    reader = _DIRECTIVES.get(card.keyword)
    if reader is not None:
        yield from reader(card, key, node)
        return
    yield from _in_signals(card.text, key, node)
    yield from _in_braces(card, key, node)
    if card.keyword in _OUTPUTS and any(canonical_node(word.text) == node for word in card.words[1:]):
        yield "node", "read"
    if card.keyword in ANALYSIS_KINDS and key in _CALL_OF_SIGNAL.sub(" ", card.text).lower().split()[1:]:
        # .dc V1 ..., .noise v(out) V1 ..., .tf v(out) V1; .pz names nodes
        yield ("node", "read") if card.keyword == "pz" else ("element", "read")


def _in_model(card: Statement, key: str, node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    model = model_of(card)
    if model is not None and model.name.lower() == key:
        yield "model", "definition"
    yield from _in_braces(card, key, node)


def _in_parameters(card: Statement, key: str, node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    for pair in assignments_of(card):
        if pair.name == key:
            yield "parameter", "definition"
        yield from _in_expression(pair.value.text, key, node)


def _in_function(card: Statement, key: str, node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    words = card.words
    if len(words) > 1 and words[1].key == key:
        yield "function", "definition"
    yield from _in_braces(card, key, node)


def _in_global(card: Statement, _key: str, node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    if any(canonical_node(word.text) == node for word in card.words[1:]):
        yield "node", "definition"


def _in_ends(card: Statement, key: str, _node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    if any(word.key == key for word in card.words[1:]):
        yield "subcircuit", "read"


def _in_nothing(_card: Statement, _key: str, _node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    yield from ()


def _in_subcircuit(card: Statement, key: str, node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    subcircuit = subcircuit_of(card)
    if subcircuit.name.lower() == key:
        yield "subcircuit", "definition"
    if any(canonical_node(port.text) == node for port in subcircuit.ports):
        yield "node", "definition"
    if key in subcircuit.params:
        yield "parameter", "definition"
    for value in subcircuit.params.values():
        yield from _in_expression(value.text, key, node)


_DIRECTIVES: dict[str, Callable[[Statement, str, str], Iterator[tuple[SymbolKind, Usage]]]] = {
    "subckt": _in_subcircuit,
    "ends": _in_ends,
    "model": _in_model,
    "param": _in_parameters,
    "csparam": _in_parameters,
    "func": _in_function,
    "global": _in_global,
    **dict.fromkeys(("include", "lib", "endl", "end", "title"), _in_nothing),
}


def _in_braces(card: Statement, key: str, node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    for part in _VALUE_PARTS.findall(card.text):
        yield from _in_expression(part, key, node)


def _in_expression(text: str, key: str, node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    """Signals, parameters and functions of an expression."""
    yield from _in_signals(text, key, node)
    if not (key[:1].isalpha() or key.startswith("_")):
        return
    rest = _DEVICE.sub(" ", _CALL_OF_SIGNAL.sub(" ", text))
    for match in re.finditer(rf"(?<![\w.#$@]){re.escape(key)}(?![\w.#$])\s*(\()?", rest, re.IGNORECASE):
        yield ("function", "call") if match[1] else ("parameter", "read")


def _in_signals(text: str, key: str, node: str) -> Iterator[tuple[SymbolKind, Usage]]:
    """``v(node)``, ``v(a,b)``, ``i(element)`` and ``@element[quantity]``."""
    for match in _CALL_OF_SIGNAL.finditer(text):
        names = [name.strip() for name in match[2].split(",")]
        if match[1].lower() == "v" and any(canonical_node(name) == node for name in names):
            yield "node", "read"
        if match[1].lower() == "i" and any(name.lower() == key for name in names):
            yield "element", "read"
    if any(match[1].lower() == key for match in _DEVICE.finditer(text)):
        yield "element", "read"
