"""The circuit as a tree of blocks: the top level and its subcircuits, with what each defines and uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from domain.circuit.cards import Model, Subcircuit, assignments_of, model_of, subcircuit_of
from domain.circuit.dependencies import DependencyTree
from domain.circuit.elements import GROUND, Element, canonical_node
from domain.circuit.parameters import Definitions, definitions_of
from domain.circuit.placed import Placed
from domain.circuit.statements import DEEPEST, Field, Statement


class PlacedElement(NamedTuple):
    """An element and the file it stands in."""

    element: Element
    file: Path | None


class Definition(NamedTuple):
    """A second or later definition of a name (`.subckt` or `.model`)."""

    name: str
    file: Path | None
    statement: Statement


@dataclass(slots=True, kw_only=True, eq=False)
class Block:
    """The top level, or one subcircuit."""

    name: str
    parent: Block | None = None
    file: Path | None = None
    subcircuit: Subcircuit | None = None
    """None for the top level."""
    elements: list[PlacedElement] = field(default_factory=list)
    blocks: dict[str, Block] = field(default_factory=dict)
    """Subcircuits defined in it, by lower-case name; the first definition counts, as in ngspice."""
    models: dict[str, Model] = field(default_factory=dict)
    bins: dict[str, Model] = field(default_factory=dict)
    """The first model of each group ``name.1``, ``name.2`` ..., by the name without its number."""
    cards: list[Placed] = field(default_factory=list)
    """Its directives, `.subckt` and `.ends` left out."""
    repeated_models: list[Definition] = field(default_factory=list)
    repeated_blocks: list[Definition] = field(default_factory=list)
    is_used: bool = False
    """Reached from the top level through X elements; ngspice drops the others unread."""

    @property
    def ports(self) -> tuple[str, ...]:
        if self.subcircuit is None:
            return ()
        return tuple(canonical_node(port.text) for port in self.subcircuit.ports)

    @property
    def defaults(self) -> dict[str, Field]:
        return {} if self.subcircuit is None else self.subcircuit.params

    @property
    def lineage(self) -> Iterator[Block]:
        """Itself and the blocks around it, inmost first."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent

    def find_block(self, name: str) -> Block | None:
        """The subcircuit an X element in this block means."""
        key = name.lower()
        return next((block.blocks[key] for block in self.lineage if key in block.blocks), None)

    def find_model(self, name: str) -> Model | None:
        """The model a device in this block means; a binned model (``nch.1``, ``nch.2``) counts."""
        key = name.lower()
        for block in self.lineage:
            if key in block.models:
                return block.models[key]
        return next((b.models[f"{key}.1"] for b in self.lineage if f"{key}.1" in b.models), None) or next(
            (b.bins[key] for b in self.lineage if key in b.bins), None
        )

    def definitions(self) -> Definitions:
        """Parameters and functions its own cards define."""
        return definitions_of(placed.statement for placed in self.cards)

    def walk(self) -> Iterator[Block]:
        """Itself and all blocks defined in it."""
        waiting = [self]
        while waiting:
            block = waiting.pop()
            yield block
            waiting.extend(reversed(block.blocks.values()))


@dataclass(slots=True, kw_only=True)
class Circuit:
    """The whole circuit."""

    top: Block
    global_nodes: frozenset[str] = frozenset()
    """Nodes named by `.global`, ground among them."""


def read_circuit(tree: DependencyTree) -> Circuit:
    """Sort the statements of `tree` into blocks. Stray `.ends` and unclosed `.subckt` are borne with."""
    top = Block(name="", file=tree.root.path, is_used=True)
    models = frozenset(
        model.name.lower() for netlist in (tree.root, *tree.files.values()) for model in netlist.models
    )
    known = models | {name.rpartition(".")[0] for name in models if name.rpartition(".")[2].isdigit()}
    block = top
    depth = 0
    for placed in tree.expanded:
        statement = placed.statement
        if statement.kind == "element":
            element = placed.netlist.element_with(statement, known)
            block.elements.append(PlacedElement(element=element, file=placed.file))
        elif statement.kind == "directive" and statement.keyword == "subckt":
            depth += 1
            block = _open_block(block, placed) if depth <= DEEPEST else block
        elif statement.kind == "directive" and statement.keyword == "ends":
            block = (block.parent or block) if depth <= DEEPEST else block
            depth = max(depth - 1, 0)
        elif statement.kind == "directive":
            block.cards.append(placed)
            if statement.keyword == "model":
                _add_model(block, placed)
    _mark_used(top)
    return Circuit(top=top, global_nodes=_global_nodes(tree))


def element_at(circuit: Circuit, path: str) -> PlacedElement | None:
    """The element ngspice calls by `path`: ``r1``, ``m.x1.mp1`` for mp1 in the subcircuit of X1, ``b.x1.be2``
    for the source it makes of an E2 with a formula. None when there is none."""
    names = path.lower().split(".")
    names = names[1:] if len(names) > 2 and len(names[0]) == 1 else names
    block: Block | None = circuit.top
    for name in names[:-1]:
        found = _element(block, name) if block is not None else None
        model = found.element.model if found is not None and found.element.letter == "x" else None
        block = block.find_block(model.text) if block is not None and model is not None else None
    if block is None:
        return None
    last = names[-1]
    return _element(block, last) or (_element(block, last[1:]) if last[:1] == "b" else None)


def _element(block: Block, key: str) -> PlacedElement | None:
    return next((placed for placed in block.elements if placed.element.key == key), None)


def _open_block(parent: Block, placed: Placed) -> Block:
    subcircuit = subcircuit_of(placed.statement)
    block = Block(name=subcircuit.name, parent=parent, file=placed.file, subcircuit=subcircuit)
    key = subcircuit.name.lower()
    if key in parent.blocks:
        parent.repeated_blocks.append(
            Definition(name=block.name, file=placed.file, statement=placed.statement)
        )
    else:
        parent.blocks[key] = block
    return block


def _add_model(block: Block, placed: Placed) -> None:
    model = model_of(placed.statement)
    if model is None:
        return
    if model.name.lower() in block.models:
        repeated = Definition(name=model.name, file=placed.file, statement=placed.statement)
        block.repeated_models.append(repeated)
    else:
        key = model.name.lower()
        block.models[key] = model
        stem, _, number = key.rpartition(".")
        if number.isdigit():
            block.bins.setdefault(stem, model)


def _mark_used(top: Block) -> None:
    waiting = [top]
    while waiting:
        block = waiting.pop()
        for target in instantiated(block):
            if not target.is_used:
                target.is_used = True
                waiting.append(target)


def _global_nodes(tree: DependencyTree) -> frozenset[str]:
    names = {GROUND}
    for placed in tree.expanded:
        if placed.statement.kind == "directive" and placed.statement.keyword == "global":
            names.update(canonical_node(word.text) for word in placed.statement.words[1:])
    return frozenset(names)


def parameters_of(block: Block) -> frozenset[str]:
    """Names of the block's own parameters: its formal ones and those of its `.param` cards.

    ngspice 39 lets an X line set both.
    """
    names = set(block.defaults)
    for placed in block.cards:
        if placed.statement.keyword == "param":
            names.update(pair.name for pair in assignments_of(placed.statement))
    return frozenset(names)


_MOST_NAMES_PASSED = 1_000_000


def visible_parameters(top: Block) -> dict[Block, frozenset[str]]:
    """Parameter names that can be read in each block.

    Those of the blocks around it and, as ngspice 39 expands subcircuits textually, those of the blocks
    that instantiate it. In a circuit that hands on names without measure (thousands of blocks in a chain)
    every block sees all: no error is found there then, and none is made up.
    """
    own = {block: parameters_of(block) for block in top.walk()}
    visible = {block: frozenset().union(*(own[outer] for outer in block.lineage)) for block in own}
    rings = rings_of(own)
    members: dict[int, list[Block]] = {}
    for block in reversed(rings):  # each ring behind all those that instantiate it
        members.setdefault(rings[block], []).append(block)
    work = 0
    for ring in members.values():
        names = frozenset().union(*(visible[block] for block in ring))
        work += len(names) * len(ring)
        if work > _MOST_NAMES_PASSED:
            return dict.fromkeys(visible, frozenset().union(*own.values()))
        for block in ring:
            visible[block] = names
            for target in instantiated(block):
                if rings[target] != rings[block]:
                    work += len(names)
                    visible[target] |= names
    return visible


def rings_of(blocks: Iterable[Block]) -> dict[Block, int]:
    """The number of the ring each block is in: two have one number when each contains the other.

    In the order in which the rings are closed: what a block contains stands before it.

    Tarjan's strongly connected components, without recursion (SIAM J. Comput. 1, 1972).
    """
    order: dict[Block, int] = {}
    low: dict[Block, int] = {}
    rings: dict[Block, int] = {}
    still_open: list[Block] = []
    for first in blocks:
        if first in order:
            continue
        order[first] = low[first] = len(order)
        still_open.append(first)
        path = [(first, iter(instantiated(first)))]
        while path:
            block, targets = path[-1]
            target = next(targets, None)
            if target is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[block])
                if low[block] == order[block]:
                    while block not in rings:
                        rings[still_open.pop()] = order[block]
            elif target not in order:
                order[target] = low[target] = len(order)
                still_open.append(target)
                path.append((target, iter(instantiated(target))))
            elif target not in rings:
                low[block] = min(low[block], order[target])
    return rings


def instantiated(block: Block) -> list[Block]:
    """The subcircuits the X elements of `block` mean, each once."""
    names = [p.element.model for p in block.elements if p.element.letter == "x" and p.element.model]
    found = [block.find_block(name.text) for name in names]
    return list(dict.fromkeys(target for target in found if target is not None))
