"""What is known of what stands at a place of a netlist, in a few rows: for a card beside the pointer.

The circuit tells what a name is and where it is used (`CircuitNames`), a run its operating point.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from domain.circuit.cards import assignments_of
from domain.circuit.circuit_names import CircuitNames, Definition, Entry, Meaning, Place, Scope
from domain.circuit.completion import Facts
from domain.circuit.directive_forms import (
    DIRECTIVES,
    ELEMENTS,
    MEASUREMENTS,
    MODEL_TYPES,
    OPTIONS,
    PIN_WORDS,
    PINS,
    WAVEFORMS,
    Form,
)
from domain.circuit.elements import GROUND, Element, canonical_node, parse_element
from domain.circuit.names import Name
from domain.circuit.numbers import read_number
from domain.circuit.parameters import ExpressionError, UserFunction, definitions_of, expression_of
from domain.circuit.placed import Placed
from domain.circuit.statements import Source, Statement
from domain.simulation.operating_point import REGIONS, OperatingPoint
from shared.message import Message, msg

_MOST_USES = 8
_MOST_PARAMETERS = 10
_MOST_COMMENT = 6
_MOST_INSTANCES = 3


class Amount(NamedTuple):
    """A number with its unit, SI."""

    value: float
    unit: str


class Row(NamedTuple):
    """One line: what, and how much or where."""

    label: Message | str
    value: Message | str = ""
    amount: Amount | None = None


class Description(NamedTuple):
    """What a card shows."""

    title: str
    kind: Message
    rows: tuple[Row, ...] = ()
    words: tuple[str, ...] = ()
    """The author's own: the comment above a subcircuit."""
    note: Message | None = None
    """Where figures are from."""


class Observed(NamedTuple):
    """The operating point of the circuit's newest run."""

    point: OperatingPoint
    number: int
    """Of the run."""
    is_older: bool
    """The text was another then."""


def describe(facts: Facts, offset: int, observed: Observed | None = None) -> Description | None:
    """What stands at a byte of the file of `facts`; None for nothing that has more to tell than it shows."""
    if facts.names is None:
        return None
    names = facts.names
    place = names.at(facts.file, offset)
    if place is not None:
        return _Describer(names, observed, facts.file).of(place)
    entry = names.card_at(facts.file, offset)
    return _keyword(entry, offset) if entry is not None else None


def describe_named(names: CircuitNames, meaning: Meaning, observed: Observed | None) -> Description | None:
    """The same of an element or a node by its name; None where the circuit has none of it."""
    place = names.definition(meaning)
    return None if place is None else _Describer(names, observed, place.file).of(place)


class _Describer:
    def __init__(self, names: CircuitNames, observed: Observed | None, file: Path | None) -> None:
        self._names = names
        self._observed = observed
        self._file = file

    def of(self, place: Place) -> Description | None:
        meaning = self._names.meaning(place)
        kinds: dict[str, Callable[[Place, Meaning], Description | None]] = {
            "node": self._node,
            "element": self._element,
            "model": self._model,
            "subcircuit": self._subcircuit,
            "parameter": self._parameter,
            "function": self._function,
        }
        return kinds[meaning.kind](place, meaning)

    # ---- nodes -------------------------------------------------------------------------------

    def _node(self, place: Place, meaning: Meaning) -> Description:
        voltages = list(self._voltages(meaning.key, meaning.owner))
        rows = [Row(path or msg("Voltage"), amount=amount) for path, amount in voltages]
        used = [each for each in self._names.places(meaning) if each.usage == "connection"]
        pins = dict.fromkeys(self._pin_of(each) for each in used)
        if meaning.key != GROUND:
            rows.append(Row(msg("Connected to"), _some(list(pins))))
        if meaning.key == GROUND:
            kind = msg("ground: every voltage is measured against it")
        elif meaning.owner:
            kind = msg("node of the subcircuit {name}", name=meaning.owner[-1])
        else:
            is_global = meaning.key in self._names.globals
            kind = msg("node, the same in all subcircuits") if is_global else msg("node")
        return Description(place.name.text, kind, tuple(rows), note=self._note(voltages))

    def _voltages(self, key: str, owner: Scope) -> Iterator[tuple[str, Amount]]:
        """Of the node itself, or of the node in each instance of its subcircuit, with its path."""
        if self._observed is None or key == GROUND:
            return
        nodes = self._observed.point.nodes
        if not owner:
            if key in nodes:
                yield "", Amount(nodes[key], "V")
            return
        found = 0
        for name, value in nodes.items():
            path, _, last = name.rpartition(".")
            if last == key and found < _MOST_INSTANCES and self._scope_of(path) == owner:
                found += 1
                yield name, Amount(value, "V")

    def _scope_of(self, path: str) -> Scope | None:
        """The subcircuit of an instance: ``x1.x2``."""
        scope: Scope = ()
        for part in path.split("."):
            target = self._names.table(scope).calls.get(part)
            found = self._names.subcircuit(target, scope) if target is not None else None
            if found is None:
                return None
            scope = (*found[0], found[1].name.lower())
        return scope

    def _pin_of(self, place: Place) -> str:
        """``R1``, ``Q1 base``: the element of a terminal, with the pin where it has a name of its own."""
        card = place.card
        name = card.head(1)[0].text
        pins = self._pins(card, place.owner)
        at = _index_of(card, place.name)
        return (
            f"{name} {pins[at]}" if at is not None and at < len(pins) and pins[at][-1:] not in "+-" else name
        )

    def _pins(self, card: Statement, scope: Scope) -> Sequence[str]:
        if card.keyword != "x":
            return PINS.get(card.keyword, ())
        element = self._parsed(card)
        found = self._names.subcircuit(element.model.text, scope) if element.model is not None else None
        return found[1].ports if found is not None else ()

    # ---- elements ----------------------------------------------------------------------------

    def _parsed(self, card: Statement) -> Element:
        return parse_element(card, self._names.models)

    def _element(self, _place: Place, meaning: Meaning) -> Description | None:
        definition = self._names.table(meaning.owner).elements.get(meaning.key)
        if definition is None:
            return None
        card, scope = definition.placed.statement, meaning.owner
        element = self._parsed(card)
        form = ELEMENTS.get(element.letter)
        kind = form.meaning if form is not None else msg("element")
        rows = [*self._value_rows(element, scope), *self._model_rows(element, scope)]
        for index, node in enumerate(element.nodes + element.control_nodes):
            pins = self._pins(card, scope)
            label: Message | str = pins[index] if index < len(pins) else str(index + 1)
            key = canonical_node(node.text)
            volts = [amount for path, amount in self._voltages(key, scope) if not path]
            shown = Amount(0.0, "V") if key == GROUND and self._observed is not None else None
            told = PIN_WORDS.get(str(label), label) if element.letter != "x" else label
            rows.append(Row(told, node.text, volts[0] if volts else shown))
        figures = [] if scope else list(self._figures(element))
        has_figures = figures or any(row.amount is not None and row.amount.unit == "V" for row in rows)
        words = self._comment_of(element, scope)
        return Description(definition.name, kind, (*rows, *figures), words, self._note(has_figures or None))

    def _value_rows(self, element: Element, scope: Scope) -> Iterator[Row]:
        if element.value is None:
            return
        value = self._value_of(element.value.text, scope)
        unit = {"r": "Ohm", "c": "F", "l": "H", "v": "V", "i": "A", "g": "S", "h": "Ohm"}.get(
            element.letter, "1"
        )
        is_bare = re.fullmatch(r"[\d.]+", element.value.text) is not None
        if value is not None:
            written = "" if is_bare and unit == "1" else element.value.text
            yield Row(msg("Value"), written, Amount(value, unit))
        elif element.value.text:
            yield Row(msg("Value"), element.value.text)

    def _model_rows(self, element: Element, scope: Scope) -> Iterator[Row]:
        if element.model is not None:
            model = self._model_in(element.model.text, scope)
            kind = _type_of(model.placed.statement) if model is not None else ""
            label = msg("Subcircuit") if element.letter == "x" else msg("Model")
            yield Row(label, f"{element.model.text} {kind}".strip())

    def _figures(self, element: Element) -> Iterator[Row]:
        """What the operating point says of an element at the top level."""
        if self._observed is None:
            return
        point = self._observed.point
        for device in point.devices:
            if device.name.lower() == element.key:
                if device.region in REGIONS:
                    yield Row(msg("Region"), REGIONS[device.region])
                for name, value in device.figures.items():
                    unit = {"i": "A", "v": "V", "g": "S", "p": "W"}[name[0]]
                    yield Row(msg("Power") if name == "power" else name, amount=Amount(value, unit))
        for source in point.sources:
            if source.name.lower() == element.key:
                yield Row(msg("Current delivered"), amount=Amount(source.current, "A"))
                yield Row(msg("Power delivered"), amount=Amount(source.power, "W"))
        if element.letter == "r" and element.value is not None:
            yield from self._of_resistor(element)

    def _of_resistor(self, element: Element) -> Iterator[Row]:
        assert element.value is not None
        assert self._observed is not None
        ohms = self._value_of(element.value.text, ())
        nodes = {GROUND: 0.0, **self._observed.point.nodes}
        ends = [nodes.get(canonical_node(node.text)) for node in element.nodes]
        if ohms and len(ends) == 2 and ends[0] is not None and ends[1] is not None:
            volts = ends[0] - ends[1]
            yield Row(msg("Current"), amount=Amount(volts / ohms, "A"))
            yield Row(msg("Power"), amount=Amount(volts * volts / ohms, "W"))

    def _comment_of(self, element: Element, scope: Scope) -> tuple[str, ...]:
        if element.letter != "x" or element.model is None:
            return ()
        found = self._names.subcircuit(element.model.text, scope)
        return comment_above(found[1].placed.netlist.source, found[1].placed.statement) if found else ()

    # ---- what is defined by cards ------------------------------------------------------------

    def _model(self, place: Place, meaning: Meaning) -> Description | None:
        model = self._model_in(meaning.key, meaning.owner)
        if model is None:
            return None
        card = model.placed.statement
        kind = _type_of(card)
        form = MODEL_TYPES.get(kind)
        parameters = [f"{pair.name}={_unclosed(pair.value.text)}" for pair in assignments_of(card)]
        rows = [Row(msg("Parameters"), _some(parameters, _MOST_PARAMETERS)), self._defined(model.placed)]
        users = [each.card.head(1)[0].text for each in self._names.places(meaning) if each.usage == "read"]
        rows.append(Row(msg("Used by"), _some(list(dict.fromkeys(users)))))
        return Description(place.name.text, form.meaning if form else msg("model of type {kind}", kind=kind),
                           tuple(rows))  # fmt: skip

    def _subcircuit(self, _place: Place, meaning: Meaning) -> Description | None:
        found = self._names.subcircuit(meaning.key, meaning.owner)
        if found is None:
            return None
        subcircuit = found[1]
        rows = [Row(msg("Pins"), " ".join(subcircuit.ports))]
        if subcircuit.params:
            parameters = [f"{name}={value}" for name, value in subcircuit.params.items()]
            rows.append(Row(msg("Parameters"), _some(parameters, _MOST_PARAMETERS)))
        card = subcircuit.placed.statement
        rows.append(self._defined(subcircuit.placed))
        users = [each.card.head(1)[0].text for each in self._names.places(meaning) if each.usage == "call"]
        rows.append(Row(msg("Used by"), _some(users)))
        words = comment_above(subcircuit.placed.netlist.source, card)
        return Description(subcircuit.name, msg("subcircuit"), tuple(rows), words)

    def _parameter(self, _place: Place, meaning: Meaning) -> Description | None:
        definition = self._names.table(meaning.owner).parameters.get(meaning.key)
        if definition is None:
            return None
        written = _written(definition, meaning.key)
        value = self._value_of(written, meaning.owner)
        reads = [each for each in self._names.places(meaning) if each.usage != "definition"]
        rows = [
            Row(msg("Value"), written, Amount(value, "1") if value is not None else None),
            Row(msg("Used by"), _some(list(dict.fromkeys(each.card.head(1)[0].text for each in reads)))),
            self._defined(definition.placed),
        ]
        of_what = msg("parameter of the subcircuit {name}", name=meaning.owner[-1]) if meaning.owner else None
        return Description(definition.name, of_what or msg("parameter"), tuple(rows))

    def _function(self, _place: Place, meaning: Meaning) -> Description | None:
        definition = self._names.table(meaning.owner).functions.get(meaning.key)
        if definition is None:
            return None
        text = " ".join(definition.placed.statement.text.split()[1:])
        return Description(
            definition.name, msg("function"), (Row("", text), self._defined(definition.placed))
        )

    # ---- helpers -----------------------------------------------------------------------------

    def _model_in(self, name: str, scope: Scope) -> Definition | None:
        key = name.lower()
        found = (
            table.models.get(key) or table.models.get(f"{key}.1") for _, table in self._names.outwards(scope)
        )
        return next((each for each in found if each is not None), None)

    def _defined(self, placed: Placed) -> Row:
        """Where: the line, with the file when it is another."""
        line, file = placed.statement.line, placed.file
        if file is None or file == self._file:
            return Row(msg("Defined in"), msg("line {line}", line=line))
        return Row(msg("Defined in"), f"{file.name}:{line}")

    def _value_of(self, text: str, scope: Scope) -> float | None:
        """The value of a number or an expression of parameters, SI."""
        number = read_number(text)
        if number is not None:
            return number.value
        expression = expression_of(text)
        if expression is None:
            return None
        known: dict[str, float] = {}
        functions: dict[str, UserFunction] = {}
        for length in range(len(scope) + 1):
            definitions = definitions_of(self._names.cards_of(scope[:length]))
            definitions.functions = functions = {**functions, **definitions.functions}
            for key, definition in self._names.table(scope[:length]).parameters.items():
                if definition.placed.statement.keyword == "subckt":
                    formal = expression_of(_written(definition, key))
                    definitions.expressions |= {key: formal} if formal is not None else {}
            known |= definitions.values(known)
        try:
            return expression.evaluate(known, functions)
        except ExpressionError:
            return None

    def _note(self, figures: object) -> Message | None:
        if self._observed is None or not figures:
            return None
        if self._observed.is_older:
            return msg("Figures of run {number}, of an older text", number=self._observed.number)
        return msg("Operating point of run {number}", number=self._observed.number)


def _keyword(entry: Entry, offset: int) -> Description | None:
    """A directive, a waveform, a function of measurements, an option."""
    card = entry.placed.statement
    found = [f for f in card.fields if any(start <= offset < end for start, end in f.spans)]
    if not found or card.kind not in ("directive", "element"):
        return None
    word = found[0].key
    if card.kind == "directive" and found[0] is card.fields[0]:
        return _form(DIRECTIVES.get(card.keyword))
    if card.keyword == "options" and word in OPTIONS:
        return Description(word, OPTIONS[word])
    tables = {"meas": MEASUREMENTS, "model": MODEL_TYPES, "v": WAVEFORMS, "i": WAVEFORMS}
    return _form(tables.get(card.keyword, {}).get(word))


def _form(form: Form | None) -> Description | None:
    return Description(form.form, form.meaning) if form is not None else None


def comment_above(source: Source, card: Statement) -> tuple[str, ...]:
    """The comment lines right above a card, without their stars; some of many."""
    lines: list[str] = []
    at = card.line - 1
    while at > 0 and len(lines) < _MOST_COMMENT:
        text = source.decode(source.line_text(at)).strip()
        if not text.startswith("*"):
            break
        lines.append(text.strip("* \t"))
        at -= 1
    return tuple(line for line in reversed(lines) if line.strip("-= "))


def _index_of(card: Statement, name: Name) -> int | None:
    """Which terminal of its line a name is, from 0."""
    fields = [field for field in card.fields[1:] if not field.is_punctuation]
    return next((at for at, field in enumerate(fields) if field.start <= name.start < field.end), None)


def _written(definition: Definition, key: str) -> str:
    """The value of a parameter as it is written; the last one of its card counts."""
    pairs = [pair for pair in assignments_of(definition.placed.statement) if pair.name == key]
    return pairs[-1].value.text if pairs else ""


def _unclosed(text: str) -> str:
    """Without the closing parenthesis of the card around a list of parameters."""
    return text.rstrip(") ") if text.count(")") > text.count("(") else text


def _type_of(card: Statement) -> str:
    words = card.head(3)
    return words[2].key if len(words) > 2 else ""


def _some(texts: Sequence[str], most: int = _MOST_USES) -> Message | str:
    if not texts:
        return msg("nothing")
    shown = ", ".join(texts[:most])
    return (
        msg("{texts} and {count} more", texts=shown, count=len(texts) - most) if len(texts) > most else shown
    )
