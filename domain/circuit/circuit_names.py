"""What the names of a circuit mean: which places belong together, over all files it includes.

SPICE does not tell letter cases apart. A node belongs to the subcircuit it stands in, unless `.global`
names it; models, subcircuits and parameters are looked for from the inside outwards; ``v(x1.out)`` means the
node of the subcircuit of X1.

A card that has been read before is not read again (`CardCache`), so that after a keystroke only what changed
costs: 5,000 lines are some 50 ms.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from domain.circuit.cards import subcircuit_of
from domain.circuit.dependencies import DependencyTree
from domain.circuit.elements import GROUND, canonical_node, parse_element
from domain.circuit.names import Name, NameKind, Usage, names_in
from domain.circuit.placed import Placed
from domain.circuit.statements import Statement
from shared.late_patterns import late_pattern

_DIGITS = late_pattern(r"([0-9]{1,9})")
Scope = tuple[str, ...]
"""Names of the enclosing subcircuits, outermost first, lower case."""


class Meaning(NamedTuple):
    """What a name stands for: places of the same meaning belong together."""

    kind: NameKind
    key: str
    """Lower case."""
    owner: Scope
    """Where it is defined."""


class Place(NamedTuple):
    """One place of a name."""

    name: Name
    file: Path | None
    card: Statement
    owner: Scope

    @property
    def line(self) -> int:
        return self.card.place_of(self.name.start)[0]

    @property
    def column(self) -> int:
        """From 1, in characters."""
        return self.card.place_of(self.name.start)[1]

    @property
    def usage(self) -> Usage:
        return self.name.usage

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Its bytes in the file, a span a physical line."""
        return self.card.span_of(self.name.start, self.name.end)


@dataclass(slots=True)
class CardCache:
    """The names of cards by their text; of those a circuit no longer has none are kept."""

    models: frozenset[str] = frozenset()
    """A line can be read otherwise when there are other models."""
    names: dict[str, tuple[Name, ...]] = field(default_factory=dict)


class Entry(NamedTuple):
    """A card of the circuit with its names."""

    placed: Placed
    scope: Scope
    names: tuple[Name, ...]


class Subcircuit(NamedTuple):
    """A `.subckt` card, where it stands, and what it has."""

    name: str
    ports: tuple[str, ...]
    params: Mapping[str, str]
    placed: Placed


class Definition(NamedTuple):
    """A model, parameter, function or element where it is defined."""

    name: str
    """As written."""
    placed: Placed
    place: Name


@dataclass(slots=True)
class Table:
    """What one scope has, by lower-case names."""

    nodes: dict[str, tuple[str, int]] = field(default_factory=dict)
    """The name as first written, and on how many terminals it is."""
    elements: dict[str, Definition] = field(default_factory=dict)
    models: dict[str, Definition] = field(default_factory=dict)
    subcircuits: dict[str, Subcircuit] = field(default_factory=dict)
    parameters: dict[str, Definition] = field(default_factory=dict)
    functions: dict[str, Definition] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    """X element -> subcircuit."""


_NOTHING = Table()


class CircuitNames:
    """The names of a circuit with everything it includes."""

    def __init__(self, tree: DependencyTree, cache: CardCache | None = None) -> None:
        self.tree = tree
        self.globals: set[str] = {GROUND}
        self.tables: dict[Scope, Table] = {(): Table()}
        self.entries: list[Entry] = []
        self.models: frozenset[str] = frozenset()
        """Lower-case names of all models, by which element lines are read."""
        self._sorted_nodes: dict[Scope, list[tuple[str, str, int]]] = {}
        self._sorted_elements: dict[Scope, list[tuple[str, Definition]]] = {}
        self._read(cache if cache is not None else CardCache())

    # ---- what a scope has --------------------------------------------------------------------

    def table(self, scope: Scope) -> Table:
        return self.tables.get(scope, _NOTHING)

    def sort(self) -> None:
        """Have all names in order, which takes milliseconds, before somebody asks for them."""
        for scope in self.tables:
            self.sorted_nodes(scope)
            self.sorted_elements(scope)

    def sorted_nodes(self, scope: Scope) -> list[tuple[str, str, int]]:
        """The nodes that can be named in a scope: lower case, as written, terminals; 2 before 10."""
        if scope not in self._sorted_nodes:
            nodes = dict(self.table(scope).nodes)
            nodes |= {key: (key, 0) for key in self.globals if key not in nodes}
            found = [(key, name, count) for key, (name, count) in nodes.items()]
            self._sorted_nodes[scope] = sorted(found, key=lambda node: _natural(node[0]))
        return self._sorted_nodes[scope]

    def sorted_elements(self, scope: Scope) -> list[tuple[str, Definition]]:
        """The elements of a scope by their lower-case names; R2 before R10."""
        if scope not in self._sorted_elements:
            elements = self.table(scope).elements.items()
            self._sorted_elements[scope] = sorted(elements, key=lambda element: _natural(element[0]))
        return self._sorted_elements[scope]

    def outwards(self, scope: Scope) -> Iterator[tuple[Scope, Table]]:
        """A scope and those around it, the inmost first."""
        for length in range(len(scope), -1, -1):
            if scope[:length] in self.tables:
                yield scope[:length], self.tables[scope[:length]]

    def subcircuit(self, name: str, scope: Scope) -> tuple[Scope, Subcircuit] | None:
        """The subcircuit an X line in a scope means, and the scope it is defined in."""
        key = name.lower()
        found = ((outer, table.subcircuits.get(key)) for outer, table in self.outwards(scope))
        return next(((outer, each) for outer, each in found if each is not None), None)

    def scope_at(self, file: Path | None, line: int) -> Scope:
        """The subcircuits around a line of a file; where a file is included twice, at its first place."""
        lines, entries = self._by_file.get(file, ((), ()))
        at = bisect.bisect_right(lines, line) - 1
        if at < 0:
            return ()
        entry = entries[at]
        card = entry.placed.statement
        is_opening = card.kind == "directive" and card.keyword == "subckt" and line > card.last_line
        return (*entry.scope, _opened(card)) if is_opening else entry.scope

    def cards_of(self, scope: Scope) -> Iterator[Statement]:
        """The directives of a scope."""
        for entry in self.entries:
            if entry.scope == scope and entry.placed.statement.kind == "directive":
                yield entry.placed.statement

    # ---- places ------------------------------------------------------------------------------

    def at(self, file: Path | None, offset: int) -> Place | None:
        """The name at a byte of a file (or right before it)."""
        for entry in self._entries_around(file, offset):
            for name in entry.names:
                for start, end in entry.placed.statement.span_of(name.start, name.end):
                    if start <= offset <= end:
                        return self._place(entry, name)
        return None

    def card_at(self, file: Path | None, offset: int) -> Entry | None:
        """The card a byte of a file lies in."""
        for entry in self._entries_around(file, offset):
            if any(c.start <= offset <= c.start + c.length for c in entry.placed.statement.chunks):
                return entry
        return None

    def meaning(self, place: Place) -> Meaning:
        return Meaning(place.name.kind, _key(place.name), place.owner)

    def places(self, meaning: Meaning) -> list[Place]:
        """All places of a meaning, each once, in the order of the files and lines."""
        found: dict[tuple[Path | None, int, int], Place] = {}
        plain = meaning.key.rpartition(".")[2]
        for entry in self.entries:
            for name in entry.names:
                if name.kind == meaning.kind and (
                    name.text.lower().endswith(plain) or meaning.key == GROUND or name.kind == "model"
                ):
                    place = self._place(entry, name)
                    if place is not None and self.meaning(place) == meaning:
                        key = (place.file, entry.placed.statement.line, place.name.start)
                        found.setdefault(key, place)
        return list(found.values())

    def definition(self, meaning: Meaning) -> Place | None:
        """Where it is defined; of a node its first place."""
        places = self.places(meaning)
        return next((place for place in places if place.usage == "definition"), None) or next(
            iter(places if meaning.kind == "node" else ()), None
        )

    def is_taken(self, kind: NameKind, key: str, place: Place) -> bool:
        """Whether something else of this kind would be meant by `key` (lower case) where a place stands, or
        something else there would be meant by the place's own name."""
        scope = self._scope_of(place)
        if kind == "node":
            return key in self.table(place.owner).nodes or (key in self.globals and key != GROUND)
        if kind == "element":
            return key in self.table(place.owner).elements
        is_seen = any(_defines(table, kind, key) for _, table in self.outwards(scope))
        return is_seen or _defines(self.table(place.owner), kind, key)

    def _scope_of(self, place: Place) -> Scope:
        """The scope a place stands in."""
        line = place.card.last_line + 1 if place.name.is_inside else place.card.line
        return self.scope_at(place.file, line)

    # ---- reading -----------------------------------------------------------------------------

    def _read(self, cache: CardCache) -> None:
        files = (self.tree.root, *self.tree.files.values())
        models = {model.name.lower() for netlist in files for model in netlist.models}
        models |= {name.rpartition(".")[0] for name in models if name.rpartition(".")[2].isdigit()}
        known = self.models = frozenset(models)
        old = cache.names if cache.models == known else {}
        new: dict[str, tuple[Name, ...]] = {}
        for placed in self.tree.expanded:
            card = placed.statement
            if card.kind in ("title", "unknown"):
                continue
            names = new.get(card.raw, old.get(card.raw))
            if names is None:
                element = parse_element(card, known) if card.kind == "element" else None
                names = tuple(names_in(card, element))
            new[card.raw] = names
            entry = Entry(placed, placed.scope, names)
            self.entries.append(entry)
            self._sort_in(entry)
        cache.models, cache.names = known, new

    def _sort_in(self, entry: Entry) -> None:
        card, scope = entry.placed.statement, entry.scope
        table = self.tables.get(scope) or self.tables.setdefault(scope, Table())
        if card.kind == "directive" and card.keyword == "subckt":
            self._open(entry, table)
            return
        for name in entry.names:
            kind, usage, text = name.kind, name.usage, name.text
            if usage == "connection":
                key = canonical_node(text)
                found = table.nodes.get(key)
                table.nodes[key] = (found[0], found[1] + 1) if found else (text, 1)
            elif usage == "call" and kind == "subcircuit":
                table.calls[entry.names[0].text.lower()] = text.lower()
            elif usage == "definition":
                if kind == "node":
                    self.globals.add(canonical_node(text))
                    continue
                definitions = {
                    "element": table.elements,
                    "model": table.models,
                    "parameter": table.parameters,
                    "function": table.functions,
                }[kind]
                key = text.lower()
                if kind == "parameter" or key not in definitions:  # the last .param counts, else the first
                    definitions[key] = Definition(text, entry.placed, name)

    def _open(self, entry: Entry, table: Table) -> None:
        card = subcircuit_of(entry.placed.statement)
        ports = tuple(port.text for port in card.ports)
        params = {key: value.text for key, value in card.params.items()}
        key = card.name.lower()
        if key not in table.subcircuits:
            table.subcircuits[key] = Subcircuit(card.name, ports, params, entry.placed)
        inside = self.tables.setdefault((*entry.scope, _opened(entry.placed.statement)), Table())
        for name in entry.names:
            if name.usage != "definition":
                continue
            if name.is_inside and name.kind == "node":
                inside.nodes.setdefault(canonical_node(name.text), (name.text, 0))
            elif name.is_inside:
                inside.parameters[name.text.lower()] = Definition(name.text, entry.placed, name)

    @cached_property
    def _by_file(self) -> dict[Path | None, tuple[list[int], list[Entry]]]:
        found: dict[Path | None, dict[int, Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.placed.file, {}).setdefault(entry.placed.statement.line, entry)
        return {
            file: (sorted(entries), [entries[line] for line in sorted(entries)])
            for file, entries in found.items()
        }

    def _entries_around(self, file: Path | None, offset: int) -> list[Entry]:
        """Cards that may hold a byte: the last one that begins before it."""
        _, entries = self._by_file.get(file, ((), []))
        at = bisect.bisect_right(entries, offset, key=lambda entry: entry.placed.statement.chunks[0].start)
        return list(entries[max(at - 1, 0) : at])

    def _place(self, entry: Entry, name: Name) -> Place | None:
        """A name with what it means; None for what has no meaning, as a function of ngspice's own."""
        scope = (*entry.scope, _opened(entry.placed.statement)) if name.is_inside else entry.scope
        name, scope = self._through_instances(name, scope)
        owner = self._owner(name, scope)
        if owner is None:
            return None
        return Place(name, entry.placed.file, entry.placed.statement, owner)

    def _through_instances(self, name: Name, scope: Scope) -> tuple[Name, Scope]:
        """``x1.out`` as the `out` of what X1 is an instance of, ``m.x1.m1`` as its M1."""
        parts = name.text.lower().split(".")
        if len(parts) < 2 or name.kind not in ("node", "element") or name.usage != "read":
            return name, scope
        if len(parts) > 2 and len(parts[0]) == 1 and parts[0] != "x":
            parts = parts[1:]
        inner = scope
        for part in parts[:-1]:
            target = self.table(inner).calls.get(part)
            found = self.subcircuit(target, inner) if target is not None else None
            if found is None:
                return name, scope
            inner = (*found[0], found[1].name.lower())
        last = name.text.rpartition(".")[2]
        return name._replace(text=last, start=name.end - len(last.encode())), inner

    def _owner(self, name: Name, scope: Scope) -> Scope | None:
        key = name.text.lower()
        if name.kind == "node":
            return () if canonical_node(name.text) in self.globals else scope
        if name.kind == "element":
            return scope if key in self.table(scope).elements else None
        if name.kind == "parameter" and name.of:
            instance = self.subcircuit(name.of, scope)
            inner = (*instance[0], instance[1].name.lower()) if instance is not None else scope
            return inner if instance is not None and key in self.table(inner).parameters else None
        return next((each for each, table in self.outwards(scope) if _defines(table, name.kind, key)), None)


def _defines(table: Table, kind: NameKind, key: str) -> bool:
    if kind == "model":
        return key in table.models or f"{key}.1" in table.models
    if kind == "subcircuit":
        return key in table.subcircuits
    return key in (table.parameters if kind == "parameter" else table.functions)


@lru_cache(maxsize=32_768)
def _natural(name: str) -> tuple[object, ...]:
    return tuple((0, int(piece), "") if piece.isdigit() else (1, 0, piece) for piece in _DIGITS.split(name))


def _opened(card: Statement) -> str:
    """The lower-case name of the subcircuit a card opens."""
    words = card.head(2)
    return words[1].key if len(words) > 1 else ""


def _key(name: Name) -> str:
    if name.kind == "node":
        return canonical_node(name.text)
    key = name.text.lower()
    if name.kind == "model":  # the bins of a model are called name.1, name.2 ...
        stem, _, number = key.rpartition(".")
        return stem if stem and number.isdigit() else key
    return key
