"""The current of every element, from what a run has saved and Kirchhoff's current law.

What is known is taken first: branches of sources and inductors, a plain resistor's voltage over its
resistance (in ac a capacitor's admittance too), quantities that were saved for this. A node with a single
unknown current then tells it, whatever model stands there, and so does an element all of whose terminals but
one are known. That is the terminal current with charging currents and all, as an ammeter shows it; the
quantities of a transistor's model leave the gate's charge out.

Currents are between an element and a node, positive into the element: terminals at one node count together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

from domain.circuit.elements import GROUND
from domain.simulation.wiring import AT_REST, BRANCHES, Part, Wiring, own_vectors

Course = Literal["static", "tran", "ac"]
"""How the data go: at rest (operating points, sweeps), over time, as phasors over frequency."""
Key = tuple[int, str]
"""A part's place in the wiring, and one of its nodes."""


class FromVector(NamedTuple):
    """A vector of the data, turned round where `sign` is -1."""

    name: str
    sign: float


class ByAdmittance(NamedTuple):
    """The voltage between two nodes times something; `name` is of the vector that holds R or C where the
    value is none."""

    nodes: tuple[str, str]
    value: float | None
    name: str
    is_capacitor: bool
    sign: float


class ByKirchhoff(NamedTuple):
    """Minus the sum of others."""

    keys: tuple[Key, ...]


Source = FromVector | ByAdmittance | ByKirchhoff


class CurrentPlan:
    """Where each current of a circuit comes from, given the vectors there are."""

    def __init__(self, wiring: Wiring, has: Callable[[str], bool], course: Course) -> None:
        """`has`: whether there is a vector of this canonical name."""
        self.wiring = wiring
        self._has = has
        self._course = course
        self._sources: dict[Key, Source | None] = {}
        self._at_node: dict[str, list[Key]] = {}
        self._at_part: dict[int, list[Key]] = {}
        self._rough: set[Key] = set()
        for index, part in enumerate(wiring.parts):
            if part.letter != "x":
                self._place(index, part)
        self._settle([*self._at_node], [*self._at_part])
        if course != "ac":
            for key, name, sign in _queries(wiring):
                if self._sources[key] is None and has(name):
                    self.add_query(key, name, sign)

    def knows(self, key: Key) -> bool:
        return self._sources.get(key) is not None

    def is_rough(self, key: Key) -> bool:
        """Whether it is what a transistor's model leaves over: good enough for a large current or a power,
        but a gate's own current is lost in it."""
        return key in self._rough

    def keys_at(self, node: str) -> list[Key]:
        """Every current at a node."""
        return self._at_node.get(node, [])

    def keys_of(self, index: int) -> list[Key]:
        """Every current of an element, its first terminal's first."""
        return self._at_part.get(index, [])

    def add_query(self, key: Key, name: str, sign: float) -> None:
        """From now on this current is that vector; what follows from it is known too."""
        self._sources[key] = FromVector(name, sign)
        part = self.wiring.parts[key[0]]
        if part.letter == "m" and len([each for each in part.queries if each.strip("-0")]) == 1:
            self._rough.add(key)
        self._settle([key[1]], [key[0]])

    def source(self, key: Key) -> Source:
        """Where a current comes from that is known."""
        found = self._sources[key]
        assert found is not None, "asked for what is not known"
        return found

    # ---- finding out -----------------------------------------------------------------------------------

    def _place(self, index: int, part: Part) -> None:
        distinct = tuple(dict.fromkeys(part.nodes))
        self._at_part[index] = [(index, node) for node in distinct]
        base = self._base(part) if len(part.nodes) == 2 and len(distinct) == 2 else None
        for place, node in enumerate(distinct):
            key = (index, node)
            self._sources[key] = None if base is None else base[place]
            self._at_node.setdefault(node, []).append(key)
            if len(distinct) == 1 or self._is_idle(part, node):  # both ends at one node, or nothing flows
                self._sources[key] = ByKirchhoff(())

    def _is_idle(self, part: Part, node: str) -> bool:
        """Whether nothing flows at rest: through a capacitor, into a gate."""
        if self._course != "static":
            return False
        if part.letter == "c":
            return True
        is_gate = part.letter == "m" and part.nodes[1] == node and part.nodes.count(node) == 1
        return is_gate and part.queries[1:2] not in ((), ("",))

    def _base(self, part: Part) -> tuple[Source, Source] | None:
        """Where both currents of a two-terminal element come from; None where nothing tells."""
        name = f"i({part.vector})"
        if part.letter in BRANCHES and not part.queries and self._has(name):
            return FromVector(name, 1.0), FromVector(name, -1.0)
        first, second = part.nodes
        if part.letter in "rc" and self._has_voltage(first) and self._has_voltage(second):
            is_capacitor = part.letter == "c"
            asked = f"@{part.vector}[{'capacitance' if is_capacitor else 'resistance'}]"
            told = part.value is not None or (self._course == "ac" and self._has(asked))
            if told and (self._course == "ac" or not is_capacitor):
                return (
                    ByAdmittance((first, second), part.value, asked, is_capacitor, 1.0),
                    ByAdmittance((first, second), part.value, asked, is_capacitor, -1.0),
                )
        if self._course != "ac" and part.queries:
            query = f"@{part.vector}[{part.queries[0]}]"
            if self._has(query):
                return FromVector(query, 1.0), FromVector(query, -1.0)
        return None

    def _has_voltage(self, node: str) -> bool:
        return node == GROUND or self._has(f"v({node})")

    def _settle(self, nodes: list[str], parts: list[int]) -> None:
        """Draw every conclusion from what has become known at `nodes` and `parts`."""
        at_nodes, at_parts = deque(nodes), deque(parts)
        while at_nodes or at_parts:
            if at_parts:
                keys = self._at_part[at_parts.popleft()]
            else:
                node = at_nodes.popleft()
                if node == GROUND or self.wiring.is_shunted:
                    continue
                keys = self._at_node[node]
            unknown = [key for key in keys if self._sources[key] is None]
            if len(unknown) != 1:
                continue
            found = unknown[0]
            others = tuple(key for key in keys if key != found)
            self._sources[found] = ByKirchhoff(others)
            if any(key in self._rough for key in others):
                self._rough.add(found)
            at_nodes.append(found[1])
            at_parts.append(found[0])


# ---- what a run has to save ------------------------------------------------------------------------


def with_saves(wiring: Wiring, analyses: Collection[str], *, is_bounded: bool = True) -> Wiring:
    """The wiring with what a run of these kinds of analysis has to save, so that every current is told.

    As many vectors at most as the simulator saves by itself (where `is_bounded`), which doubles the data of
    a run and no more.
    """
    saved: list[str] = []
    if "ac" in analyses:
        saved += [
            f"@{part.vector}[{'resistance' if part.letter == 'r' else 'capacitance'}]"
            for part in wiring.parts
            if part.letter in "rc" and part.value is None
        ]
    room = own_vectors(wiring) + 1 if is_bounded else 10 * len(wiring.parts)  # with the axis
    left_out: set[int] = set()
    if len(saved) > room:
        saved = saved[:room]
    room -= len(saved)
    if {"op", "dc", "tran"} & set(analyses):
        plan = CurrentPlan(wiring, _saved_by_itself, "tran" if "tran" in analyses else "static")
        for key, name, sign in _queries(wiring):
            if plan.knows(key):
                continue
            if room <= 0:
                left_out.add(key[0])
                continue
            room -= 1
            saved.append(name)
            plan.add_query(key, name, sign)
        left_out = {index for index in left_out if not all(map(plan.knows, plan.keys_of(index)))}
    return replace(wiring, saved=tuple(saved), left_out=len(left_out))


def _saved_by_itself(name: str) -> bool:
    """Without a `.save` all node voltages and all branches are there."""
    return not name.startswith("@")


def _queries(wiring: Wiring) -> Iterator[tuple[Key, str, float]]:
    """What ngspice can be asked for, the exact ones first, outer levels first."""
    parts = sorted(
        enumerate(wiring.parts), key=lambda item: (item[1].letter in "dqmjz", item[1].name.count("."))
    )
    for index, part in parts:
        asked = list(zip(part.nodes, part.queries, strict=False))
        if part.letter == "m":  # the gate and the bulk before the drain, which then follows from a node
            asked.sort(key=lambda each: each[1].lstrip("-") not in ("ig", "ib"))
        for node, query in asked:
            if query not in ("", AT_REST) and part.nodes.count(node) == 1:
                sign = -1.0 if query.startswith("-") else 1.0
                yield (index, node), f"@{part.vector}[{query.lstrip('-')}]", sign
