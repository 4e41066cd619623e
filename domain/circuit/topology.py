"""What a circuit's wiring makes impossible: nodes without a DC path to ground, loops of voltage sources.

Works block by block: a subcircuit is examined once, and its instances stand for what it connects among
its terminals, so that the cost grows with the text and not with the flattened circuit.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from domain.circuit.elements import GROUND, Element, canonical_node
from domain.circuit.hierarchy import Block, PlacedElement, instantiated
from domain.circuit.numbers import read_number
from shared.late_patterns import late_pattern


class DisjointSets:
    """Union-find over node names."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def find(self, node: str) -> str:
        """The representative of the set of `node`, which is added when it is new."""
        root = self._parents.setdefault(node, node)
        while root != self._parents[root]:
            root = self._parents[root]
        while node != root:
            self._parents[node], node = root, self._parents[node]
        return root

    def join(self, first: str, second: str) -> bool:
        """Unite two sets; False when they were one already."""
        a, b = self.find(first), self.find(second)
        self._parents[a] = b
        return a != b

    def groups(self) -> dict[str, list[str]]:
        """All sets by representative, nodes in the order they came in."""
        found: dict[str, list[str]] = {}
        for node in self._parents:
            found.setdefault(self.find(node), []).append(node)
        return found


class FloatingGroup(NamedTuple):
    """Nodes that no DC path ties to ground."""

    nodes: tuple[str, ...]
    element: PlacedElement
    """The first element that touches one of them."""
    is_singular: bool = True
    """No device puts anything on the diagonal of their rows of the matrix: gmin stepping cannot help."""
    is_passive: bool = False
    """Nothing but resistors and capacitors would: an operating point has no equation for them, and the one
    that ngspice finds roundabout is wrong at other nodes too."""


class Loop(NamedTuple):
    """A loop of voltage sources and inductors, closed by `element`."""

    element: PlacedElement
    has_inductor: bool
    voltage: float | None
    """Sum of the DC voltages around a loop with inductors; None when it cannot be known."""


@dataclass(slots=True, kw_only=True)
class BlockWiring:
    """What is known of a block after it was examined."""

    dc_groups: tuple[frozenset[str], ...]
    """Terminals (ports and global nodes) tied together by DC paths inside."""
    rigid_groups: tuple[frozenset[str], ...]
    """Terminals tied together by voltage sources inside."""
    touched: frozenset[str] = frozenset()
    """Terminals some device inside is connected to; the others exist in the text only."""
    driven: frozenset[str] = frozenset()
    """Terminals into which controlled currents flow."""
    looked_at: frozenset[str] = frozenset()
    """Terminals that control a source."""
    floating: list[FloatingGroup] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    shorted: list[PlacedElement] = field(default_factory=list)
    """Voltage sources with both ends on one node."""


def dc_edges(element: Element, nodes: list[str]) -> Iterator[tuple[str, str]]:
    """Pairs of its nodes (folded) between which `element` can carry a direct current.

    Devices whose insides are not known (XSPICE, Verilog-A, coupled lines) count as tied to ground, so
    that they never cause a false alarm.
    """
    letter = element.letter
    if letter in "rlvehdw" or letter == "s" or (letter == "b" and element.output == "voltage"):
        yield from itertools.pairwise(nodes[:2])
    elif letter in "qjz":
        yield from itertools.pairwise(nodes)
    elif letter == "m":
        channel = [nodes[0], *nodes[2:]] if len(nodes) > 2 else nodes[:1]
        yield from itertools.pairwise(channel)
    elif letter in "to" and len(nodes) == 4:
        yield from ((nodes[0], nodes[2]), (nodes[1], nodes[3]))
    elif letter in "uy":
        yield from ((nodes[0], node) for node in (nodes[1:2] if letter == "u" else nodes[1:]))
    elif letter in "anp":
        yield from ((node, GROUND) for node in nodes)
    elif letter in "gb" and len(nodes) == 2 and _controls_itself(element, nodes):
        yield nodes[0], nodes[1]


def _controls_itself(element: Element, nodes: list[str]) -> bool:
    """A current source controlled by its own voltage is a conductance."""
    controls = {canonical_node(node.text) for node in element.control_nodes} | set(expression_nodes(element))
    return bool(controls & (set(nodes) - {GROUND}))


_VOLTAGE = late_pattern(r"\bv\s*\(\s*([^\s(),]+)\s*(?:,\s*([^\s(),]+)\s*)?\)", re.IGNORECASE)


def expression_nodes(element: Element) -> Iterator[str]:
    """Nodes the element's expressions look at, folded."""
    for expression in element.expressions:
        for match in _VOLTAGE.finditer(expression.text):
            yield from (canonical_node(name) for name in match.groups() if name)


def examine(block: Block, global_nodes: frozenset[str], known: dict[Block, BlockWiring]) -> BlockWiring:
    """Examine `block`, whose subcircuits are examined first; results are kept in `known`."""
    order: list[Block] = []
    _depth_first(block, order, set())
    for inner in order:
        if inner not in known:
            key = block_key(inner, global_nodes)
            found = _KEPT.get(key)
            if found is None:
                found = _Examiner(inner, global_nodes, known).run()
                if key and not (found.floating or found.loops or found.shorted):
                    if len(_KEPT) >= _MOST_KEPT:
                        _KEPT.clear()
                    _KEPT[key] = found
            known[inner] = found
    return known[block]


_KEPT: dict[bytes, BlockWiring] = {}
"""Of blocks as they were at an earlier look, those where nothing is wrong: nearly all at a keystroke."""
_MOST_KEPT = 2_000


def block_key(block: Block, global_nodes: frozenset[str]) -> bytes:
    """What the wiring of a block depends on, digested; empty for one with instances of others, on whose
    wiring it depends too."""
    parts = [",".join(sorted(global_nodes)), ",".join(block.ports), str(block.parent is None)]
    for placed in block.elements:
        element = placed.element
        if element.letter == "x":
            return b""
        parts.append(element.statement.raw)
        parts.append(str(len(element.nodes)))
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _depth_first(block: Block, order: list[Block], seen: set[Block]) -> None:
    """Blocks so that instances come after what they instantiate (a recursive one comes somewhere)."""
    stack: list[tuple[Block, Iterator[Block]]] = [(block, iter(instantiated(block)))]
    seen.add(block)
    while stack:
        current, inner = stack[-1]
        following = next((candidate for candidate in inner if candidate not in seen), None)
        if following is None:
            order.append(current)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(instantiated(following))))


_WITHOUT_DIAGONAL = frozenset("iglvehbfok")
"""Letters whose stamps leave the diagonal of a node's row empty, as tried with ngspice 39."""
_PASSIVE = frozenset("rc")


class _Examiner:
    """One pass over one block."""

    def __init__(self, block: Block, global_nodes: frozenset[str], known: dict[Block, BlockWiring]) -> None:
        self._block = block
        self._known = known
        self._outside = (global_nodes | set(block.ports)) if block.parent is not None else {GROUND}
        self._borders = global_nodes | set(block.ports)
        self._dc = DisjointSets()
        self._rigid = DisjointSets()
        self._touched_by: dict[str, PlacedElement] = {}
        self._letters_at: dict[str, set[str]] = {}
        """Node -> letters of the elements with a terminal on it."""
        self._driven: set[str] = set()
        """Nodes into which controlled currents flow."""
        self._looked_at: set[str] = set()
        """Nodes that control a source."""
        self._sources_at: dict[str, list[tuple[str, str]]] = {}
        """Node -> the other end and the name of each voltage source on it."""

    def run(self) -> BlockWiring:
        for placed in self._block.elements:
            self._wire(placed)
        wiring = BlockWiring(dc_groups=self._borders_of(self._dc), rigid_groups=())
        wiring.touched = frozenset(self._borders & self._touched_by.keys())
        wiring.driven = frozenset(self._borders & self._driven)
        wiring.looked_at = frozenset(self._borders & self._looked_at)
        wiring.floating = list(self._floating())
        self._find_loops(wiring)
        wiring.rigid_groups = self._borders_of(self._rigid)
        return wiring

    def _wire(self, placed: PlacedElement) -> None:
        element = placed.element
        idle = self._idle_terminals(element) if element.letter == "x" else frozenset()
        names = [canonical_node(node.text) for node in element.nodes]
        controls = [canonical_node(node.text) for node in element.control_nodes]
        self._looked_at.update(controls)
        self._looked_at.update(expression_nodes(element))
        for name in names:
            self._letters_at.setdefault(name, set()).add(element.letter)
        if element.letter in "gf" or (element.letter == "b" and element.output != "voltage"):
            self._driven.update(names)
        for index, name in enumerate((*names, *controls)):
            self._dc.find(name)
            if index not in idle:
                self._touched_by.setdefault(name, placed)
        if element.letter == "x":
            self._wire_ports(element)
            for first, second in self._instance_edges(element, rigid=False):
                self._dc.join(first, second)
        for first, second in dc_edges(element, names):
            self._dc.join(first, second)

    def _wire_ports(self, instance: Element) -> None:
        """What drives the instance's nodes and looks at them inside."""
        target = self._block.find_block(instance.model.text) if instance.model is not None else None
        if target is None or target not in self._known or len(target.ports) != len(instance.nodes):
            return
        inside = self._known[target]
        for port, node in zip(target.ports, instance.nodes, strict=True):
            self._driven |= {canonical_node(node.text)} if port in inside.driven else set()
            self._looked_at |= {canonical_node(node.text)} if port in inside.looked_at else set()

    def _instance_edges(self, element: Element, *, rigid: bool) -> Iterator[tuple[str, str]]:
        nodes = [canonical_node(node.text) for node in element.nodes]
        target = self._block.find_block(element.model.text) if element.model is not None else None
        if target is None or target not in self._known or len(target.ports) != len(nodes):
            if not rigid:
                yield from ((node, GROUND) for node in nodes)
            return
        outer = dict(zip(target.ports, nodes, strict=True))
        wiring = self._known[target]
        for group in wiring.rigid_groups if rigid else wiring.dc_groups:
            first, *others = sorted(outer.get(node, node) for node in group)
            yield from ((first, other) for other in others)

    def _idle_terminals(self, instance: Element) -> frozenset[int]:
        """Indices of the terminals to which nothing inside the subcircuit is connected."""
        target = self._block.find_block(instance.model.text) if instance.model is not None else None
        if target is None or target not in self._known:
            return frozenset()
        touched = self._known[target].touched
        return frozenset(index for index, port in enumerate(target.ports) if port not in touched)

    def _borders_of(self, sets: DisjointSets) -> tuple[frozenset[str], ...]:
        groups = (frozenset(group) & self._borders for group in sets.groups().values())
        return tuple(group for group in groups if len(group) > 1)

    def _floating(self) -> Iterator[FloatingGroup]:
        for nodes in self._dc.groups().values():
            if any(node in self._outside for node in nodes):
                continue
            touching = [self._touched_by[node] for node in nodes if node in self._touched_by]
            letters = set().union(*(self._letters_at.get(node, ()) for node in nodes))
            if not touching or self._is_fed_back(nodes):
                continue
            # A node with current sources only has no row in the matrix: ngspice leaves it at 0 V.
            has_diagonal = bool(letters - _WITHOUT_DIAGONAL) or letters == {"i"}
            yield FloatingGroup(  # nodes stand in the order they were met
                nodes=tuple(nodes),
                element=touching[0],
                is_singular=not has_diagonal,
                is_passive=bool(letters & _PASSIVE) and letters <= _WITHOUT_DIAGONAL | _PASSIVE,
            )

    def _is_fed_back(self, nodes: list[str]) -> bool:
        """Controlled currents flow into the nodes, and something looks at them: an integrator in a loop."""
        return any(node in self._driven for node in nodes) and any(node in self._looked_at for node in nodes)

    # ---- loops

    def _find_loops(self, wiring: BlockWiring) -> None:
        shorts = _Potentials()
        late: list[PlacedElement] = []
        for placed in self._block.elements:
            element = placed.element
            if element.statement.branches:
                continue  # which arm of the .if holds is not known here
            if element.letter == "x":
                self._close_by_instance(placed, wiring)
            elif element.letter == "h" or (_is_rigid(element) and _follows_current(element)):
                late.append(placed)
            elif _is_rigid(element) or element.letter == "l":
                self._close(placed, shorts, wiring)
        for placed in late:
            self._close_late(placed, wiring)

    def _close_by_instance(self, placed: PlacedElement, wiring: BlockWiring) -> None:
        for first, second in self._instance_edges(placed.element, rigid=True):
            if not self._rigid.join(first, second) and first != second:
                wiring.loops.append(Loop(element=placed, has_inductor=False, voltage=None))
                return

    def _close(self, placed: PlacedElement, shorts: _Potentials, wiring: BlockWiring) -> None:
        element = placed.element
        first, second = _ends(element)
        if not first:
            return
        if first == second:
            if element.letter != "l":
                wiring.shorted.append(placed)
            return
        if element.letter != "l" and not self._rigid.join(first, second):
            wiring.loops.append(Loop(element=placed, has_inductor=False, voltage=None))
            return
        if element.letter != "l":
            self._sources_at.setdefault(first, []).append((second, element.key))
            self._sources_at.setdefault(second, []).append((first, element.key))
        if shorts.are_tied(first, second):
            around = shorts.around(first, second, _dc_voltage(element))
            wiring.loops.append(Loop(element=placed, has_inductor=True, voltage=around))
        else:
            shorts.join(first, second, _dc_voltage(element))

    def _close_late(self, placed: PlacedElement, wiring: BlockWiring) -> None:
        """Sources that follow a current: a loop has a solution when the current's own branch is in it."""
        element = placed.element
        first, second = _ends(element)
        if not first or element.letter != "h" or first == second:
            return
        names = {control.key for control in element.controls}
        around = self._sources_between(first, second)
        if around is not None and not names & around:
            wiring.loops.append(Loop(element=placed, has_inductor=False, voltage=None))

    def _sources_between(self, first: str, second: str) -> set[str] | None:
        """Names of the voltage sources on the way from `first` to `second`; None when there is none."""
        ways: dict[str, set[str]] = {first: set()}
        waiting = [first]
        while waiting:
            node = waiting.pop()
            for other, name in self._sources_at.get(node, ()):
                if other not in ways:
                    ways[other] = ways[node] | {name}
                    waiting.append(other)
        return ways.get(second)


def _ends(element: Element) -> tuple[str, str]:
    if len(element.nodes) < 2:
        return "", ""
    return canonical_node(element.nodes[0].text), canonical_node(element.nodes[1].text)


def _is_rigid(element: Element) -> bool:
    return element.letter in "ve" or (element.letter == "b" and element.output == "voltage")


def _follows_current(element: Element) -> bool:
    return any(re.search(r"\bi\s*\(", expression.text, re.IGNORECASE) for expression in element.expressions)


_WAVEFORMS = frozenset({"sin", "sine", "pulse", "exp", "pwl", "sffm", "am", "trnoise", "trrandom"})


def _dc_voltage(element: Element) -> float | None:
    """DC voltage between the ends, in volts; None when not known."""
    if element.letter == "l":
        return 0.0
    if element.letter != "v":
        return None
    if element.value is not None:
        number = read_number(element.value.text)
        return None if number is None else number.value
    if not any(word in _WAVEFORMS for word in element.words):
        return 0.0
    fields = element.statement.words
    after = next((i for i, word in enumerate(fields) if word.key in _WAVEFORMS), 0)
    number = read_number(fields[after + 1].text) if after + 1 < len(fields) else None
    if fields[after].key not in {"sin", "sine", "pulse"} or number is None:
        return None
    return number.value


class _Potentials:
    """Union-find that knows the voltage between nodes of a set, where it can be known."""

    def __init__(self) -> None:
        self._links: dict[str, tuple[str, float | None]] = {}

    def _climb(self, node: str) -> tuple[str, float | None]:
        """Root of the set, and the voltage of `node` against it."""
        volts: float | None = 0.0
        while node in self._links:
            node, step = self._links[node]
            volts = None if volts is None or step is None else volts + step
        return node, volts

    def are_tied(self, first: str, second: str) -> bool:
        """Whether both are in one set."""
        return self._climb(first)[0] == self._climb(second)[0]

    def around(self, first: str, second: str, volts: float | None) -> float | None:
        """The voltage around the loop that v(first) - v(second) = volts closes; None when not known."""
        volts_a, volts_b = self._climb(first)[1], self._climb(second)[1]
        return None if volts is None or volts_a is None or volts_b is None else volts_a - volts_b - volts

    def join(self, first: str, second: str, volts: float | None) -> None:
        """Tie two sets: v(first) - v(second) = volts."""
        root_a, volts_a = self._climb(first)
        root_b, volts_b = self._climb(second)
        is_known = volts is not None and volts_a is not None and volts_b is not None
        step = (volts + volts_b - volts_a) if is_known else None  # type: ignore[operator]
        self._links[root_a] = (root_b, step)


def terminal_counts(elements: Iterable[PlacedElement]) -> dict[str, list[PlacedElement]]:
    """Node -> the elements with a terminal on it, once per terminal."""
    found: dict[str, list[PlacedElement]] = {}
    for placed in elements:
        for node in placed.element.nodes:
            found.setdefault(canonical_node(node.text), []).append(placed)
    return found
