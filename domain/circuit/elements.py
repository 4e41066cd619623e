"""The grammar of SPICE element lines: which field is a node, the model, the value, a parameter.

One table row per element letter; letters whose lines have a shape of their own (sources, E/G, X, A)
have a reader of their own. Where a line can be read in two ways (``Q1 c b e s model``), the names of the
models in sight decide, as in ngspice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from domain.circuit.numbers import read_number
from domain.circuit.statements import BLANKS, Field, Statement
from shared.late_patterns import late_pattern

GROUND = "0"
GROUND_NAMES = frozenset({"0", "gnd"})
"""ngspice 39 reads `gnd` in any letter case as node 0 (but not `gnd!`)."""

Shortage = Literal["nodes", "value", "model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One element line, read."""

    name: str
    """As written: ``R1``."""
    letter: str
    """Lower case: what kind of element it is."""
    nodes: tuple[Field, ...] = ()
    """Its terminals in the order of the line; control nodes are in `control_nodes`."""
    control_nodes: tuple[Field, ...] = ()
    """Nodes it only looks at (E, G, S), besides those inside expressions."""
    controls: tuple[Field, ...] = ()
    """Names of elements it refers to: sources of F, H, W, inductors of K."""
    model: Field | None = None
    """Model or, for X, subcircuit name."""
    value: Field | None = None
    """Main value: resistance, DC value, gain, coupling; a number or an expression."""
    expressions: tuple[Field, ...] = ()
    """Behavioural expressions, which may look at nodes and currents."""
    output: Literal["voltage", "current", ""] = ""
    """For B, E and G: what the behavioural source drives."""
    params: dict[str, Field] = field(default_factory=dict)
    """``name=value`` pairs by lower-case name."""
    numbers: tuple[Field, ...] = ()
    """Further numbers and expressions of the line (waveform arguments, coefficients)."""
    words: tuple[str, ...] = ()
    """Keywords of the line, lower case: off, ac, pulse ..."""
    missing: Shortage | None = None
    """The first thing the line lacks."""
    statement: Statement

    @property
    def key(self) -> str:
        """The name folded for comparison."""
        return self.name.lower()

    @property
    def line(self) -> int:
        """1-based line of its first character."""
        return self.statement.line

    @property
    def scope(self) -> tuple[str, ...]:
        """Names of the enclosing subcircuits, outermost first, lower case."""
        return self.statement.scope


class Shape(NamedTuple):
    """How lines of one letter are built."""

    title: str
    """Word of the trade, for messages and hovers."""
    nodes: tuple[int, int]
    """Least and most terminals."""
    model: Literal["no", "optional", "required"] = "no"
    value_key: str | None = None
    """Key under which the value may be given too: ``R=``."""
    controls: int = 0
    """How many element names follow the nodes (W: 1)."""
    parameters: tuple[str, ...] = ()
    """Usual instance parameters, for completion and for `--set m1.w=...`."""


SHAPES: dict[str, Shape] = {
    "a": Shape(title="XSPICE code model", nodes=(1, 999), model="required"),
    "b": Shape(title="behavioural source", nodes=(2, 2)),
    "c": Shape(title="capacitor", nodes=(2, 2), model="optional", value_key="c",
               parameters=("ic", "m", "scale", "temp", "tc1", "tc2", "l", "w")),
    "d": Shape(title="diode", nodes=(2, 3), model="required", parameters=("area", "m", "pj", "ic", "temp")),
    "e": Shape(title="voltage-controlled voltage source", nodes=(2, 2)),
    "f": Shape(title="current-controlled current source", nodes=(2, 2)),
    "g": Shape(title="voltage-controlled current source", nodes=(2, 2)),
    "h": Shape(title="current-controlled voltage source", nodes=(2, 2)),
    "i": Shape(title="current source", nodes=(2, 2)),
    "j": Shape(title="JFET", nodes=(3, 3), model="required", parameters=("area", "m", "ic", "temp")),
    "k": Shape(title="inductor coupling", nodes=(0, 0)),
    "l": Shape(title="inductor", nodes=(2, 2), model="optional", value_key="l",
               parameters=("ic", "m", "nt", "temp", "scale", "tc1", "tc2")),
    "m": Shape(title="MOSFET", nodes=(3, 7), model="required",
               parameters=("l", "w", "m", "nf", "ad", "as", "pd", "ps", "nrd", "nrs", "ic", "temp")),
    "n": Shape(title="Verilog-A device", nodes=(1, 99), model="required"),
    "o": Shape(title="lossy transmission line", nodes=(4, 4), model="required"),
    "p": Shape(title="coupled transmission lines", nodes=(4, 99), model="required", parameters=("length",)),
    "q": Shape(title="bipolar transistor", nodes=(3, 5), model="required",
               parameters=("area", "areab", "areac", "m", "ic", "temp")),
    "r": Shape(title="resistor", nodes=(2, 2), model="optional", value_key="r",
               parameters=("ac", "m", "scale", "temp", "tc1", "tc2", "l", "w", "noisy")),
    "s": Shape(title="voltage-controlled switch", nodes=(4, 4), model="required"),
    "t": Shape(title="transmission line", nodes=(4, 4), parameters=("z0", "td", "f", "nl", "ic")),
    "u": Shape(title="distributed RC line", nodes=(3, 3), model="required", parameters=("l", "n")),
    "v": Shape(title="voltage source", nodes=(2, 2)),
    "w": Shape(title="current-controlled switch", nodes=(2, 2), model="required", controls=1),
    "x": Shape(title="subcircuit", nodes=(0, 9999), model="required"),
    "y": Shape(title="single lossy transmission line", nodes=(4, 4), model="required", parameters=("len",)),
    "z": Shape(title="MESFET", nodes=(3, 3), model="required", parameters=("area", "m", "ic")),
}  # fmt: skip

_STATES = frozenset({"off", "on"})
"""What stands behind a model; in the place of a node each is the name of one."""


def parse_element(statement: Statement, models: Container[str] = ()) -> Element:
    """Read an element line. `models`: lower-case names of the models in sight.

    Never raises: what is lacking is said by `Element.missing`.
    """
    reader = _READERS.get(statement.keyword, _read_device)
    return reader(_Words(statement, models))


class _Words:
    """An element line cut into positional fields and `name=value` pairs."""

    def __init__(self, statement: Statement, models: Container[str]) -> None:
        self.statement = statement
        self.models = models
        self.letter = statement.keyword
        fields = statement.fields
        self.name = fields[0].text if fields else ""
        self.plain: list[Field] = []
        self.params: dict[str, Field] = {}
        self._split(fields[1:])

    def _split(self, fields: tuple[Field, ...]) -> None:
        index, count = 0, len(fields)
        while index < count:
            current = fields[index]
            following = fields[index + 1].text if index + 1 < count else ""
            if following == "=" and not current.is_punctuation and index + 2 < count:
                end = self._value_end(fields, index + 2)
                value = self.statement.field(fields[index + 2].start, fields[end - 1].end)
                self.params.setdefault(current.key, value)
                index = end
            else:
                if not current.is_punctuation:
                    self.plain.append(current)
                index += 1

    def _value_end(self, fields: tuple[Field, ...], start: int) -> int:
        """Where the value at `start` ends: one field, with its parenthesised arguments if it has some."""
        end = start + 1
        if fields[start].text == "=" or fields[start].text == ")":
            return end
        depth = 1 if fields[start].text == "(" else 0
        while end < len(fields):
            text = fields[end].text
            touches = fields[end].start == fields[end - 1].end
            if text == "," and depth == 0 and end + 2 < len(fields) and fields[end + 2].text == "=":
                break  # a comma between two pairs
            if depth == 0 and not (touches and text in "(,"):
                if not (touches and fields[end - 1].text in {")", ","}):
                    break
                if text == "=":
                    break
            depth += (text == "(") - (text == ")")
            end += 1
        return end

    def take(self, count: int) -> tuple[Field, ...]:
        """The next `count` positional fields (fewer at the line's end)."""
        taken, self.plain = self.plain[:count], self.plain[count:]
        return tuple(taken)

    def after(self, index: int) -> Field | None:
        """The rest of the card from `index` of its text on, as one field."""
        raw = self.statement.raw
        start = index + len(raw[index:]) - len(raw[index:].lstrip(BLANKS))
        end = len(raw.rstrip(BLANKS))
        return self.statement.field(start, end) if start < end else None

    def build(self, **values: object) -> Element:
        """The element, with what the caller found."""
        known: dict[str, object] = {"params": self.params, **values}
        return Element(name=self.name, letter=self.letter, statement=self.statement, **known)  # type: ignore[arg-type]


def is_value(text: str) -> bool:
    """A number, or an expression in braces or quotes."""
    return text[:1] in {"{", "'"} or read_number(text) is not None


def _is_plainly_value(text: str) -> bool:
    """A value and nothing else; ``1N4148`` and ``2N3904`` begin like numbers, but are models."""
    number = read_number(text)
    return text[:1] in {"{", "'"} or (number is not None and not number.rest)


def _read_passive(line: _Words) -> Element:
    """R, C, L: value and model in either order, ``R=`` for the value, ``tc=a,b``, ``TC a b`` and so on."""
    shape = SHAPES[line.letter]
    nodes = line.take(2)
    value = line.params.get(shape.value_key or "")
    model, numbers, words = None, [], []
    for word in line.plain:
        if word.key == "tc" and value is not None:  # of older SPICEs: two numbers follow it
            continue
        if word.key in line.models and model is None:
            model = word
        elif value is None and model is None and not is_value(word.text):
            value = word  # a parameter's bare name, or a model that does not exist
        elif is_value(word.text):
            value, extra = (word, None) if value is None else (value, word)
            numbers += [extra] if extra is not None else []
        else:
            words.append(word.key)
    behavioural = "q" if line.letter == "c" else "flux" if line.letter == "l" else ""
    expression = line.params.get(behavioural) or (
        value if value is not None and looks_at_circuit(value.text) else None
    )
    has_value = value is not None or model is not None or expression is not None
    return line.build(
        nodes=nodes,
        value=value,
        model=model,
        numbers=tuple(numbers),
        words=tuple(words),
        expressions=(expression,) if expression else (),
        missing=_shortage(nodes, 2, value=has_value),
    )


def looks_at_circuit(text: str) -> bool:
    """An expression that reads a voltage or a current."""
    return "(" in text and re.search(r"\b[vi]\s*\(", text, re.IGNORECASE) is not None


def _shortage(nodes: tuple[Field, ...], least: int, *, value: bool = True) -> Shortage | None:
    if len(nodes) < least:
        return "nodes"
    return None if value else "value"


def _read_source(line: _Words) -> Element:
    """V and I: DC value, AC magnitude, a waveform with its arguments."""
    nodes = line.take(2)
    value, numbers, words = line.params.get("dc"), [], []
    wants_dc, previous = True, ""
    for word in line.plain:
        if not is_value(word.text):
            words.append(word.key)
            wants_dc = word.key == "dc"
        elif (wants_dc and value is None) or previous == "dc":
            value, wants_dc = word, False
        else:
            numbers.append(word)
        previous = word.key
    return line.build(
        nodes=nodes, value=value, numbers=tuple(numbers), words=tuple(words), missing=_shortage(nodes, 2)
    )


def _read_device(line: _Words) -> Element:
    """Devices with a required model after a fixed or variable number of nodes."""
    shape = SHAPES.get(line.letter)
    if shape is None:
        return line.build()
    least, most = shape.nodes
    if shape.model == "no":
        nodes = line.take(least)
        return line.build(nodes=nodes, numbers=tuple(line.plain), missing=_shortage(nodes, least))
    position = _model_position(line, least + shape.controls, most + shape.controls)
    if position is None or len(line.plain) <= position:
        ends_in_model = bool(line.plain) and line.plain[-1].key in line.models
        enough = len(line.plain) >= least + shape.controls and not ends_in_model
        return line.build(nodes=line.take(least), missing="model" if enough else "nodes")
    taken = line.take(position)
    nodes, controls = taken[: position - shape.controls], taken[position - shape.controls :]
    model, *rest = line.plain
    control_nodes: tuple[Field, ...] = ()
    if line.letter == "s":
        nodes, control_nodes = nodes[:2], nodes[2:]
    return line.build(
        nodes=nodes,
        control_nodes=control_nodes,
        controls=controls,
        model=model,
        numbers=tuple(word for word in rest if is_value(word.text)),
        words=tuple(word.key for word in rest if not is_value(word.text)),
    )


def _model_position(line: _Words, least: int, most: int) -> int | None:
    """Index of the model's name: the first known model after the least nodes, else the likeliest place."""
    plain = line.plain
    places = range(least, min(most + 1, len(plain)))
    for index in places:
        if plain[index].key in line.models:
            return index
    usual = 4 if line.letter == "m" else least
    likely = [i for i in places if plain[i].key not in _STATES and not _is_plainly_value(plain[i].text)]
    if not likely:
        return None
    if line.letter in {"q", "p", "n"}:  # a substrate node may come before the model: the last name wins
        return likely[-1]
    return usual if usual in likely else likely[0] if likely[0] >= usual else likely[-1]


def _read_controlled(line: _Words) -> Element:
    """E, G, F, H: linear, POLY, and for E and G VALUE, TABLE, vol= and cur=."""
    output: Literal["voltage", "current"] = "voltage" if line.letter in "eh" else "current"
    nodes = line.take(2)
    behavioural = _behavioural(line)
    if behavioural is not None:
        line.params.pop("value", None)
        return line.build(nodes=nodes, expressions=(behavioural,), output=output, missing=_shortage(nodes, 2))
    per_control = 2 if line.letter in "eg" else 1
    is_poly = bool(line.plain) and line.plain[0].key.startswith("poly")
    count = per_control
    if is_poly:
        dimension = line.take(2)[-1].text if len(line.plain) > 1 else "1"
        is_count = dimension.isascii() and dimension.isdigit()
        count = per_control * (int(dimension[:_MOST_DIGITS]) if is_count else 1)
    controls = line.take(count)
    value = line.plain[0] if line.plain and not is_poly else None
    enough = len(nodes) == 2 and len(controls) == count
    return line.build(
        nodes=nodes,
        control_nodes=controls if per_control == 2 else (),
        controls=controls if per_control == 1 else (),
        value=value,
        numbers=tuple(line.plain[0 if is_poly else 1 :]),
        output=output,
        missing="nodes" if not enough else None if line.plain else "value",
    )


_MOST_DIGITS = 9
"""Of the dimension of a POLY: no line has so many fields."""
_BEHAVIOURAL_WORDS = frozenset({"value", "table", "vol", "cur", "laplace", "freq"})


def _behavioural(line: _Words) -> Field | None:
    """The expression part of an E or G line (also F and H with a value in braces is linear: None)."""
    if line.letter not in "eg":
        return None
    for word in line.statement.fields[1:]:
        if word.key in _BEHAVIOURAL_WORDS:
            rest = line.after(word.end)
            if rest is None:
                return None
            text = rest.text.lstrip("= ")
            start = rest.end - len(line.statement.raw[rest.start : rest.end].lstrip("= "))
            return line.statement.field(start, rest.end) if text else None
    return None


def _read_behavioural(line: _Words) -> Element:
    """B: everything after ``V=`` or ``I=`` is one expression (parameters like tc1= may follow it)."""
    nodes = line.take(2)
    match = re.search(r"(?<![\w.])([vViI])\s*=(?!=)", line.statement.raw)
    if match is None:
        return line.build(nodes=nodes, missing=_shortage(nodes, 2, value=False))
    line.params.pop(match.group(1).lower(), None)
    expression = line.after(match.end())
    if expression is not None:
        tail = re.search(
            r"\s(?:tc1|tc2|temp|dtemp|reciproctc|reciprocm|m|ac)\s*=(?!=)", expression.text, re.I
        )
        if tail:
            expression = line.statement.field(expression.start, expression.start + tail.start())
    return line.build(
        nodes=nodes,
        expressions=(expression,) if expression else (),
        output="voltage" if match.group(1) in "vV" else "current",
        missing=_shortage(nodes, 2, value=expression is not None),
    )


def _read_coupling(line: _Words) -> Element:
    """K: two or more inductors and a coupling."""
    names = [word for word in line.plain if not is_value(word.text)]
    values = [word for word in line.plain if is_value(word.text)]
    return line.build(
        controls=tuple(names),
        value=values[-1] if values else None,
        missing="nodes" if len(names) < 2 else None if values else "value",
    )


def _read_instance(line: _Words) -> Element:
    """X: nodes, then the subcircuit's name, then parameters."""
    plain = [word for word in line.plain if word.key != "params:"]
    if not plain:
        return line.build(missing="model")
    return line.build(nodes=tuple(plain[:-1]), model=plain[-1])


_PORT_TYPE = late_pattern(r"%\w+")
_NOT_A_NODE = frozenset({"", "null", "$d", "t"})


def _read_code_model(line: _Words) -> Element:
    """A: nodes singly or in ``[ ]`` vectors, ``%v`` style port types, ``~`` for inversion, then the model."""
    if not line.plain:
        return line.build(missing="nodes")
    *ports, model = line.plain
    nodes: list[Field] = []
    controls: list[Field] = []
    port_type = ""
    for port in ports:
        pieces = [piece for piece in re.split(r"[\[\]~]+|(%\w+)", port.text) if piece]
        for piece in pieces:
            if _PORT_TYPE.fullmatch(piece):
                port_type = piece.lower()
            elif piece.lower() not in _NOT_A_NODE:
                target = controls if port_type == "%vnam" else nodes
                target.append(port.part(piece))
                port_type = "" if port_type == "%vnam" else port_type
    return line.build(
        nodes=tuple(nodes),
        controls=tuple(controls),
        model=model,
        missing=None if nodes or controls else "nodes",
    )


_READERS: dict[str, Callable[[_Words], Element]] = {
    **dict.fromkeys("rcl", _read_passive),
    **dict.fromkeys("vi", _read_source),
    **dict.fromkeys("egfh", _read_controlled),
    "b": _read_behavioural,
    "k": _read_coupling,
    "x": _read_instance,
    "a": _read_code_model,
}


def canonical_node(text: str) -> str:
    """A node's name folded for comparison; every spelling of ground is "0"."""
    key = text.lower()
    return GROUND if key in GROUND_NAMES else key
