"""What every element of a circuit is connected to: with the data of a run it tells currents and powers.

Of the expanded circuit, subcircuits opened; names are those a user writes: ``r1``, ``x1.q2``, node ``x1.n``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from domain.circuit.cards import assignments_of
from domain.circuit.elements import GROUND, Element, canonical_node
from domain.circuit.instances import instances_of, node_outside
from domain.circuit.numbers import parse_number
from shared.late_patterns import late_pattern

if TYPE_CHECKING:
    from domain.circuit.hierarchy import Block, Circuit

MOST_PARTS = 20_000
"""Of a circuit with more elements none is told: a run of it needs its memory for itself."""
_LEAST_OHM = 1e-3
"""Smaller ones ngspice replaces."""
_SHUNTS = frozenset({"rshunt", "cshunt", "gshunt"})
"""Options that put an element of ngspice's own at every node, so that Kirchhoff's law misses one."""
_PINS: Mapping[str, tuple[str, ...]] = {
    "q": ("c", "b", "e", "s"),
    "m": ("d", "g", "s", "b"),
    "j": ("d", "g", "s"),
    "z": ("d", "g", "s"),
}
BRANCHES = frozenset("vlehb")
"""Letters of what ngspice solves the current of, a source of current by B left out: it is in the data."""
SOLVED = BRANCHES - {"b"}
"""Those of which every element has its current in the data."""
_THROUGH = ("i", "-i")
_QUERIES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys("rcgfswb", _THROUGH),
    "i": ("current", "-current"),
    "d": ("id", "-id"),
    "q": ("ic", "ib", "ie"),
    "j": ("id", "ig", "is"),
}
_OF_SUBSTRATE = frozenset({"cjs", "csub", "ccs", "iss"})
_NO_PART = frozenset("k")
"""Letters of lines that are no element with terminals."""
_PLAIN_LEVELS = frozenset({"", "1", "2", "3", "6", "9"})
"""Of MOSFET models that tell the current of every terminal; the others tell the drain's alone."""
_LOAD = late_pattern(r"[ri]_?(?:l|load)_?\d*")
AT_REST = "0"
"""Instead of a query: nothing flows there at rest."""


class Part(NamedTuple):
    """One element of the expanded circuit, or one subcircuit."""

    name: str
    """Lower case: ``r1``, ``x1.r1``, ``x1``."""
    vector: str
    """What ngspice calls it: ``r1``, ``r.x1.r1``; "" of a subcircuit."""
    letter: str
    nodes: tuple[str, ...]
    """By their names in the data; "0" is ground."""
    pins: tuple[str, ...]
    """What the terminals are called, as far as they have names: c, b, e, s; of a subcircuit its ports."""
    value: float | None = None
    """Of a resistor (Ohm) or capacitor (F) that is a plain number and has nothing that changes it."""
    queries: tuple[str, ...] = ()
    """Names of ngspice's quantities for the current into each terminal, with a minus before one that counts
    out of it; "" where there is none, `AT_REST` where nothing flows at rest (nor where a MOSFET's gate has a
    name here)."""

    def pin(self, word: str) -> int | None:
        """The place of a terminal by its name, or by its number from 1."""
        if word in self.pins:
            return self.pins.index(word)
        if word.isascii() and word.isdecimal() and 1 <= int(word) <= len(self.nodes):
            return int(word) - 1
        return self.nodes.index(word) if self.nodes.count(word) == 1 else None


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """The elements of a circuit with their nodes."""

    parts: tuple[Part, ...]
    is_shunted: bool = False
    """Every node has an element of the simulator's own besides."""
    saved: tuple[str, ...] = ()
    """The device quantities a run was told to save for this: ``@c1[i]``."""
    unknown: tuple[str, ...] = ()
    """Others it was told to save, which the simulator does not know and leaves as zeros."""
    left_out: int = 0
    """Elements whose current would have needed more than was saved."""
    step_values: tuple[Mapping[str, float], ...] = field(default=())
    """Of a stepped run: by step the values (as `Part.value`) that differ from the first step's."""

    @cached_property
    def by_name(self) -> Mapping[str, Part]:
        """Its parts by name."""
        return {part.name: part for part in self.parts}

    @property
    def hidden(self) -> tuple[str, ...]:
        """What is in the data for this alone, and no signal of the circuit's own."""
        return (*self.saved, *self.unknown)

    @property
    def loaded(self) -> tuple[str, ...]:
        """The nodes with a resistor or current source to ground that is called a load (RL, Rload, I_load),
        as far as no voltage source holds them."""
        held = {node for part in self.parts if part.letter == "v" for node in part.nodes}
        found = (
            node
            for part in self.parts
            if part.letter in "ri" and _LOAD.fullmatch(part.name) and GROUND in part.nodes
            for node in part.nodes
            if node != GROUND and node not in held
        )
        return tuple(dict.fromkeys(found))

    def inside(self, name: str) -> Sequence[Part]:
        """What is in a subcircuit, at any depth, subcircuits themselves left out."""
        start = name + "."
        return [part for part in self.parts if part.letter != "x" and part.name.startswith(start)]

    def at_step(self, number: int) -> Wiring:
        """The circuit of a step (from 1)."""
        if not 1 <= number <= len(self.step_values) or not self.step_values[number - 1]:
            return self
        values = self.step_values[number - 1]
        parts = (
            part._replace(value=None if math.isnan(values[part.name]) else values[part.name])
            if part.name in values
            else part
            for part in self.parts
        )
        return replace(self, parts=tuple(parts), step_values=())


def wiring_of(circuit: Circuit) -> Wiring | None:
    """What a circuit is connected like; None for one with more than `MOST_PARTS` elements, and for one whose
    `.if` decides which of its elements there are."""
    if any(placed.statement.keyword == "if" for block in circuit.top.walk() for placed in block.cards):
        return None
    swept = _swept(circuit)
    parts: list[Part] = []
    multiplied: set[tuple[str, ...]] = set()
    for path, block, ports in instances_of(circuit, most=MOST_PARTS):
        is_multiplied = any(path[:depth] in multiplied for depth in range(1, len(path) + 1))
        for element, _ in block.elements:
            if element.letter in _NO_PART:
                continue
            nodes = tuple(
                node_outside(canonical_node(each.text), path, ports, circuit.global_nodes)
                for each in element.nodes
            )
            if element.letter == "x" and "m" in element.params:
                multiplied.add((*path, element.key))
            part = _part(element, block, path, nodes, is_multiplied=is_multiplied)
            parts.append(part._replace(value=None) if part.vector in swept else part)
            if len(parts) > MOST_PARTS:
                return None
    return Wiring(parts=tuple(parts), is_shunted=_is_shunted(circuit))


def with_steps(wirings: Sequence[Wiring]) -> Wiring:
    """The wiring of a stepped run, from those of its steps, which differ in values only."""
    first = wirings[0]
    known = first.by_name
    changes: list[dict[str, float]] = []
    for wiring in wirings:
        changes.append(
            {
                part.name: math.nan if part.value is None else part.value
                for part in wiring.parts
                if part.name in known and known[part.name].value != part.value
            }
        )
    saved = dict.fromkeys(name for wiring in wirings for name in wiring.saved)
    return replace(first, saved=tuple(saved), step_values=tuple(changes) if any(changes) else ())


def _part(
    element: Element, block: Block, path: tuple[str, ...], nodes: tuple[str, ...], *, is_multiplied: bool
) -> Part:
    letter = element.letter
    name = ".".join((*path, element.key))
    vector = ".".join((letter, *path, element.key)) if path else element.key
    if letter == "x":
        inner = block.find_block(element.model.text) if element.model else None
        return Part(name, "", letter, nodes, () if inner is None else inner.ports)
    if letter == "q" and len(nodes) == 3 and _has_substrate(element, block):
        nodes = (*nodes, GROUND)
    value = None if is_multiplied else _plain_value(element)
    pins = _PINS.get(letter, ())[: len(nodes)]
    return Part(name, vector, letter, nodes, pins, value, _queries(element, block, len(nodes)))


def _has_substrate(element: Element, block: Block) -> bool:
    """Whether a bipolar transistor's model lets something flow into its substrate."""
    model = block.find_model(element.model.text) if element.model else None
    given = () if model is None else assignments_of(model.statement)
    return any(pair.name in _OF_SUBSTRATE for pair in given)


def _plain_value(element: Element) -> float | None:
    if element.letter not in "rc" or element.value is None or element.model is not None:
        return None
    if (
        element.expressions
        or element.numbers
        or element.words
        or set(element.params) - {"ic", element.letter}
    ):
        return None
    try:
        value = parse_number(element.value.text)
    except ValueError:  # a parameter, a formula
        return None
    return None if element.letter == "r" and abs(value) < _LEAST_OHM else value


def _queries(element: Element, block: Block, terminals: int) -> tuple[str, ...]:
    """What ngspice can be asked for the current into each terminal."""
    if element.letter == "m":
        return _channel_queries(element, block, terminals)
    if element.letter == "b" and element.output != "current":
        return ()
    if element.letter in "sw" and element.model is not None:
        model = block.find_model(element.model.text)
        if model is not None and model.type in ("vswitch", "iswitch"):  # ngspice makes a code model of it
            return ()
    return _QUERIES.get(element.letter, ())


def _channel_queries(element: Element, block: Block, terminals: int) -> tuple[str, ...]:
    """Of a MOSFET, found by trying: a p-channel counts the other way round; of a power MOSFET only the gate's
    is the terminal's; BSIM tells the drain's alone, and its gate draws nothing at rest."""
    model = block.find_model(element.model.text) if element.model else None
    if model is None:
        return ()
    words = {word.key for word in model.statement.words}
    given = {pair.name: pair.value.text for pair in assignments_of(model.statement)}
    sign = "-" if model.type == "pmos" or "pchan" in words else ""
    if model.type == "vdmos":
        return ("", f"{sign}ig", "")
    if given.get("level", "").strip().split(".")[0] in _PLAIN_LEVELS and terminals == 4:
        return tuple(f"{sign}{query}" for query in ("id", "ig", "is", "ib"))
    leaks = any(given.get(name, "0").strip() != "0" for name in ("igcmod", "igbmod"))
    return (f"{sign}id", "" if leaks else AT_REST, "", "")[:terminals]


def _swept(circuit: Circuit) -> set[str]:
    """What `.dc` sweeps: a resistor too."""
    return {
        word.key for placed in circuit.top.cards if placed.statement.keyword == "dc"
        for word in placed.statement.words[1:]
    }  # fmt: skip


def _is_shunted(circuit: Circuit) -> bool:
    options = (
        each.statement for each in circuit.top.cards if each.statement.keyword in ("options", "option")
    )
    return any(pair.name in _SHUNTS for statement in options for pair in assignments_of(statement))


# ---- kept ----------------------------------------------------------------------------------------------


def wiring_to_plain(wiring: Wiring) -> dict[str, Any]:
    """It in JSON's types."""
    return {
        "parts": [
            [part.name, part.vector, part.letter, list(part.nodes), list(part.pins), part.value,
             list(part.queries)]
            for part in wiring.parts
        ],
        "is_shunted": wiring.is_shunted,
        "saved": list(wiring.saved),
        "unknown": list(wiring.unknown),
        "left_out": wiring.left_out,
        "step_values": [
            {name: None if math.isnan(value) else value for name, value in values.items()}
            for values in wiring.step_values
        ],
    }  # fmt: skip


def wiring_from_plain(stored: Mapping[str, Any]) -> Wiring:
    """The reverse. Raises KeyError, TypeError, ValueError for what it did not write."""
    rows = stored["parts"]
    if len(rows) > MOST_PARTS:
        raise ValueError(len(rows))
    parts = tuple(
        Part(
            str(name), str(vector), str(letter), _words(nodes), _words(pins), _number(value), _words(queries)
        )
        for name, vector, letter, nodes, pins, value, queries in rows
    )
    steps = stored["step_values"]
    return Wiring(
        parts=parts,
        is_shunted=bool(stored["is_shunted"]),
        saved=_words(stored["saved"]),
        unknown=_words(stored["unknown"]),
        left_out=int(stored["left_out"]),
        step_values=tuple(
            {str(name): math.nan if value is None else float(value) for name, value in values.items()}
            for values in steps
        ),
    )


def _words(stored: Iterable[object]) -> tuple[str, ...]:
    return tuple(str(each) for each in stored)


def _number(stored: object) -> float | None:
    return None if stored is None else float(stored)  # type: ignore[arg-type]


def own_vectors(wiring: Wiring) -> int:
    """How many vectors ngspice saves of such a circuit by itself: its nodes and the currents of sources."""
    nodes = {node for part in wiring.parts if part.letter != "x" for node in part.nodes} - {GROUND}
    return len(nodes) + sum(part.letter in BRANCHES and not part.queries for part in wiring.parts)
