"""Which names stand in one card of a netlist, where and as what: elements, nodes, models, parameters ...

Positions are those of the card's joined text (`Statement.raw`), whose bytes in the file `Statement.span_of`
tells. What a name stands for is decided by the scope it stands in (`circuit_names`); here a card is read by
itself.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from domain.circuit.analyses import ANALYSIS_KINDS
from domain.circuit.cards import assignments_of, subcircuit_of
from domain.circuit.elements import Element
from domain.circuit.statements import Field, Statement
from shared.late_patterns import late_pattern

NameKind = Literal["element", "node", "model", "subcircuit", "parameter", "function"]
Usage = Literal["definition", "read", "write", "call", "connection"]
"""connection: a terminal of an element is on the node; write: an X line sets a parameter."""


class Name(NamedTuple):
    """A name in a card."""

    kind: NameKind
    usage: Usage
    text: str
    """As written."""
    start: int
    end: int
    is_inside: bool = False
    """It belongs to the inside of the subcircuit that the card opens."""
    of: str = ""
    """The subcircuit (lower case) whose parameter an X line sets."""


_CALL_OF_SIGNAL = late_pattern(r"([vi])(?:m|db|p|r|i)?\s*\(([^()]*)\)", re.IGNORECASE)
_DEVICE = late_pattern(r"@([^\s\[\]()]+)\[[^\]]*\]?", re.IGNORECASE)
_VALUE_PARTS = late_pattern(r"\{[^{}]*\}|'[^']*'")
_WORD = late_pattern(r"(?<![\w.#$@\x80-\xff])([A-Za-z_\x80-\xff][\w.#$\x80-\xff]*)\s*(\()?")
_NAME = late_pattern(r"[^\s,]+")
_OUTPUTS = frozenset({"save", "print", "plot", "probe"})
"""Directives that may name nodes without v( )."""


def names_in(card: Statement, element: Element | None = None) -> Iterator[Name]:
    """The names of a card; of an element line its parsed `element` is needed."""
    if card.kind == "element":
        if element is not None:
            yield from _in_element(card, element)
    elif card.kind == "directive":
        reader = _DIRECTIVES.get(card.keyword)
        yield from reader(card) if reader is not None else _in_directive(card)
    elif card.kind == "control":
        yield from _in_signals(card, 0, len(card.raw))


def _of_field(kind: NameKind, usage: Usage, field: Field, card: Statement) -> Name:
    start = field.start
    if len(field.text) != field.end - field.start:  # a piece, as of [a ~b]; or not ASCII, where it is whole
        start = max(card.raw.find(field.text, field.start, field.end), field.start)
        is_piece = card.raw[start : start + len(field.text)] == field.text
        return Name(kind, usage, field.text, start, start + len(field.text) if is_piece else field.end)
    return Name(kind, usage, field.text, start, field.end)


def _in_element(card: Statement, element: Element) -> Iterator[Name]:
    if card.fields:
        yield _of_field("element", "definition", card.fields[0], card)
    for node in element.nodes:
        yield _of_field("node", "connection", node, card)
    for node in element.control_nodes:
        yield _of_field("node", "read", node, card)
    for control in element.controls:
        yield _of_field("element", "read", control, card)
    if element.model is not None:
        is_instance = element.letter == "x"
        kind: NameKind = "subcircuit" if is_instance else "model"
        yield _of_field(kind, "call" if is_instance else "read", element.model, card)
        if is_instance:
            for name in _set_names(card):
                if name.key in element.params:
                    found = _of_field("parameter", "write", name, card)
                    yield found._replace(of=element.model.key)
    for value in _values(element):
        yield from _in_expression(card, value.start, value.end)


def _set_names(card: Statement) -> Iterator[Field]:
    """The names before the equals signs of a card."""
    fields = card.fields
    for index in range(2, len(fields)):
        if fields[index].text == "=" and not fields[index - 1].is_punctuation:
            yield fields[index - 1]


def _values(element: Element) -> Iterator[Field]:
    if element.value is not None:
        yield element.value
    yield from element.expressions
    yield from element.numbers
    yield from element.params.values()


def _in_directive(card: Statement) -> Iterator[Name]:
    yield from _in_signals(card, 0, len(card.raw))
    yield from _in_braces(card)
    calls = [match.span() for match in _CALL_OF_SIGNAL.finditer(card.raw)]

    def is_bare(field: Field) -> bool:
        return not any(start <= field.start < end for start, end in calls)

    if card.keyword in _OUTPUTS:
        for word in card.words[1:]:
            if is_bare(word):
                yield _of_field("node", "read", word, card)
    elif card.keyword in ANALYSIS_KINDS:
        # .dc V1 ..., .noise v(out) V1 ..., .tf v(out) V1; .pz names nodes
        kind: NameKind = "node" if card.keyword == "pz" else "element"
        for word in card.words[1:]:
            if is_bare(word):
                yield _of_field(kind, "read", word, card)
    elif card.keyword == "step":
        for before, word in itertools.pairwise(card.words):
            if before.key == "param":
                yield _of_field("parameter", "read", word, card)


def _in_model(card: Statement) -> Iterator[Name]:
    words = card.head(3)
    if len(words) > 1:
        yield _of_field("model", "definition", words[1], card)
    yield from _in_braces(card)


def _in_parameters(card: Statement) -> Iterator[Name]:
    names = {field.end: field for field in _set_names(card)}
    for pair in assignments_of(card):
        before = [field for end, field in names.items() if end <= pair.value.start and field.key == pair.name]
        if before:
            yield _of_field("parameter", "definition", before[-1], card)
        yield from _in_expression(card, pair.value.start, pair.value.end)


def _in_function(card: Statement) -> Iterator[Name]:
    words = card.words
    if len(words) > 1:
        yield _of_field("function", "definition", words[1], card)
    head = card.raw.partition(")")[0].partition("(")[2].lower()
    arguments = {name.strip() for name in head.split(",")}
    for name in _in_braces(card):
        if name.kind != "parameter" or name.text.lower() not in arguments:
            yield name


def _in_global(card: Statement) -> Iterator[Name]:
    for word in card.words[1:]:
        yield _of_field("node", "definition", word, card)


def _in_ends(card: Statement) -> Iterator[Name]:
    for word in card.words[1:]:
        yield _of_field("subcircuit", "read", word, card)


def _in_condition(card: Statement) -> Iterator[Name]:
    start = len(card.raw) - len(card.raw[1:].lstrip(".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    yield from _in_expression(card, start, len(card.raw))


def _in_nothing(_card: Statement) -> Iterator[Name]:
    yield from ()


def _in_subcircuit(card: Statement) -> Iterator[Name]:
    subcircuit = subcircuit_of(card)
    words = card.head(2)
    if len(words) > 1:
        yield _of_field("subcircuit", "definition", words[1], card)
    for port in subcircuit.ports:
        yield _of_field("node", "definition", port, card)._replace(is_inside=True)
    for name in _set_names(card):
        if name.key in subcircuit.params:
            yield _of_field("parameter", "definition", name, card)._replace(is_inside=True)
    for value in subcircuit.params.values():
        for read in _in_expression(card, value.start, value.end):
            yield read._replace(is_inside=True)


_DIRECTIVES: dict[str, Callable[[Statement], Iterator[Name]]] = {
    "subckt": _in_subcircuit,
    "ends": _in_ends,
    "model": _in_model,
    "param": _in_parameters,
    "csparam": _in_parameters,
    "func": _in_function,
    "global": _in_global,
    **dict.fromkeys(("if", "elseif"), _in_condition),
    **dict.fromkeys(("include", "lib", "endl", "end", "title"), _in_nothing),
}


def _in_braces(card: Statement) -> Iterator[Name]:
    for part in _VALUE_PARTS.finditer(card.raw):
        yield from _in_expression(card, part.start(), part.end())


def _in_expression(card: Statement, start: int, end: int) -> Iterator[Name]:
    """Signals, parameters and functions of an expression."""
    raw = card.raw
    if not any(character.isalpha() for character in raw[start:end]):
        return
    skipped = [(m.start(), m.end()) for m in _CALL_OF_SIGNAL.finditer(raw, start, end)]
    skipped += [(m.start(), m.end()) for m in _DEVICE.finditer(raw, start, end)]
    if skipped:
        yield from _in_signals(card, start, end)
    for match in _WORD.finditer(raw, start, end):
        first, last = match.span(1)
        if not any(low <= first < high for low, high in skipped):
            kind: tuple[NameKind, Usage] = ("function", "call") if match[2] else ("parameter", "read")
            yield Name(*kind, card.field(first, last).text, first, last)


def _in_signals(card: Statement, start: int, end: int) -> Iterator[Name]:
    """``v(node)``, ``v(a,b)``, ``i(element)`` and ``@element[quantity]``."""
    for match in _CALL_OF_SIGNAL.finditer(card.raw, start, end):
        kind: NameKind = "node" if match[1] in "vV" else "element"
        for name in _NAME.finditer(card.raw, *match.span(2)):
            yield Name(kind, "read", card.field(*name.span()).text, *name.span())
    for match in _DEVICE.finditer(card.raw, start, end):
        yield Name("element", "read", card.field(*match.span(1)).text, *match.span(1))
