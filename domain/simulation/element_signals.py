"""What a result tells of a circuit's elements: ``i(R1)``, ``ic(Q1)``, ``i(X1,out)``, ``p(R1)``.

Currents count positive into the terminal that is named, of an element without a pin into its first; power is
what an element takes up (W), so that a source that delivers has a negative one.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from domain.circuit.elements import GROUND
from domain.simulation.branch_currents import ByAdmittance, Course, CurrentPlan, FromVector, Key, with_saves
from domain.simulation.expression_syntax import SignalRef
from domain.simulation.operating_point import MOST_ELEMENTS, ElementPoint
from domain.simulation.waveform import Array, Plot, Vector
from domain.simulation.wiring import BRANCHES, Part, Wiring
from shared.message import Message, msg

_TOLD_IN: Mapping[str, Course] = {"op": "static", "dc": "static", "tran": "tran", "ac": "ac"}
"""Analyses whose vectors are voltages and currents of the circuit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Elements:
    """The elements behind the plots of one result."""

    wiring: Wiring
    _plans: dict[tuple[frozenset[str], Course, int], CurrentPlan] = field(default_factory=dict)

    def plan(self, names: frozenset[str], course: Course, step: int) -> CurrentPlan:
        """How currents follow from vectors of these names; found out once."""
        key = (names, course, step if self.wiring.step_values else 0)
        if key not in self._plans:
            self._plans[key] = CurrentPlan(self.wiring.at_step(step), names.__contains__, course)
        return self._plans[key]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlotElements:
    """The elements of one plot. Implements domain.simulation.waveform.ElementSignals."""

    elements: Elements
    beside: Mapping[str, Vector]
    """What the run has saved for this besides the circuit's own signals."""

    def find(self, plot: Plot, reference: SignalRef) -> tuple[Array, str] | None:
        """The data and unit of a current or power; None when the plot does not tell it."""
        if plot.analysis not in _TOLD_IN or not plot.points:
            return None
        reader = _Reader(self, plot)
        if reference.kind == "p":
            part = self._part(reference.names[0]) if len(reference.names) == 1 else None
            if part is None or plot.analysis == "ac":
                return None
            power = reader.power(part)
            return None if power is None else (power, "W")
        meant = self._meant(reference)
        current = None if meant is None else reader.current(*meant)
        return None if current is None else (current, "A")

    def tells(self, plot: Plot, reference: SignalRef) -> bool:
        """Whether `find` has an answer, without reading data."""
        if plot.analysis not in _TOLD_IN:
            return False
        reader = _Reader(self, plot)
        if reference.kind == "p":
            part = self._part(reference.names[0]) if len(reference.names) == 1 else None
            return part is not None and plot.analysis != "ac" and reader.power_keys(part) is not None
        meant = self._meant(reference)
        return meant is not None and reader.sum_for(*meant) is not None

    def needed(self, plot: Plot, reference: SignalRef) -> set[str]:
        """The vectors that `find` would read; empty where it has no answer."""
        if plot.analysis not in _TOLD_IN:
            return set()
        reader = _Reader(self, plot)
        if reference.kind == "p":
            part = self._part(reference.names[0]) if len(reference.names) == 1 else None
            powers = reader.power_keys(part) if part is not None and plot.analysis != "ac" else None
            keys = [key for _, each, _ in powers or () for key in each]
            return {f"v({node})" for node, _, _ in powers or ()} | reader.leaves(keys)
        meant = self._meant(reference)
        found = None if meant is None else reader.sum_for(*meant)
        return set() if found is None else reader.leaves(found[0])

    def why_not(self, plot: Plot, reference: SignalRef) -> tuple[Message, Message]:
        """Why `find` has none, and what to do."""
        name = reference.names[-1] if reference.kind == "terminal" else reference.names[0]
        part = self._part(name)
        if part is None:
            close = difflib.get_close_matches(name, list(self.elements.wiring.by_name), n=5, cutoff=0.5)
            return (
                msg("There is no element {element} in this circuit.", element=name),
                msg("Similar names: {names}", names=", ".join(close) or "-"),
            )
        if reference.kind == "p" and plot.analysis == "ac":
            return (
                msg("The power of {element} is not defined in an ac analysis.", element=name),
                msg(
                    "Power is available over time, over a sweep and at the operating point: "
                    "add .tran, .dc or .op."
                ),
            )
        if self._meant(reference) is None and reference.kind != "p":
            return self._no_such_pin(part, reference)
        return self._not_told(plot, part)

    def _no_such_pin(self, part: Part, reference: SignalRef) -> tuple[Message, Message]:
        if part.letter == "x" and part.pins:
            return (
                msg("{element} has {count} pins; i({element}) does not say which current is meant.",
                    element=part.name, count=len(part.nodes)),
                msg("Write i({element},{pin}); its pins: {pins}.",
                    element=part.name, pin=part.pins[0], pins=", ".join(part.pins)),
            )  # fmt: skip
        return (
            msg("{element} has no terminal as in {signal}.", element=part.name, signal=reference.text),
            msg("Its terminals: {pins}.", pins=", ".join(part.pins or ("1", "2"))),
        )

    def _not_told(self, plot: Plot, part: Part) -> tuple[Message, Message]:
        query = next((each.lstrip("-") for each in part.queries if each), "i")
        card = f".save all @{part.vector or part.name}[{query}]"
        if plot.analysis == "ac" and part.letter != "x":
            return (
                msg("The ac analysis does not determine the current of {element}: at each of its nodes "
                    "another current is unknown, too.", element=part.name),
                msg("Put a source of 0 V in series with it and plot the current of that source."),
            )  # fmt: skip
        if self.elements.wiring.left_out:
            return (
                msg("The current of {element} was not saved: with those of all elements the data would be "
                    "more than twice as large.", element=part.name),
                msg("Save it in the circuit: {card}", card=card),
            )  # fmt: skip
        return (
            msg("The data of this run do not contain the current of {element}.", element=part.name),
            msg("Save it in the circuit, and all node voltages with it: {card}", card=card),
        )

    def _part(self, name: str) -> Part | None:
        wiring = self.elements.wiring
        found = wiring.by_name.get(name)
        if found is None and name.count(".") > 1 and name[1:2] == ".":  # as ngspice calls it: r.x1.r1
            found = wiring.by_name.get(name[2:])
        return found

    def _meant(self, reference: SignalRef) -> tuple[Part, int] | None:
        """The element and which of its terminals."""
        if reference.kind == "terminal":
            word, name = reference.names[0][1:], reference.names[-1]
            part = self._part(name) if len(reference.names) == 2 else None
            if part is None or word not in part.pins or part.letter == "x":
                return (part, 0) if part is not None and word == "d" and part.letter == "d" else None
            return part, part.pins.index(word)
        part = self._part(reference.names[0])
        if part is None or not part.nodes:
            return None
        if len(reference.names) == 2:
            place = part.pin(reference.names[1])
            return None if place is None else (part, place)
        if part.letter == "x" and len(part.nodes) > 2:
            return None
        return part, 0


def elements_of_many(wiring: Wiring, analyses: Collection[str]) -> Elements:
    """The elements of runs that differ in values: of a resistor or capacitor the run itself has to tell its
    own, and each run saves what is measured alone."""
    bare = replace(wiring, parts=tuple(part._replace(value=None) for part in wiring.parts), saved=())
    return Elements(wiring=with_saves(bare, analyses, is_bounded=False))


def vectors_for(elements: Elements, reference: SignalRef) -> set[str]:
    """The vectors a run has to give so that this current or power is told, in whatever analysis it can be."""
    wiring, nothing = elements.wiring, Vector(name="", unit="", data=np.zeros(0))
    nodes = {f"v({node})" for part in wiring.parts for node in part.nodes} - {f"v({GROUND})"}
    branches = {f"i({part.vector})" for part in wiring.parts if part.letter in BRANCHES and not part.queries}
    vectors = dict.fromkeys(sorted(nodes | branches), nothing)
    beside = PlotElements(elements=elements, beside=dict.fromkeys(wiring.saved, nothing))
    plots = (Plot(analysis=analysis, name="", title="", vectors=vectors) for analysis in _TOLD_IN)
    return {name for plot in plots for name in beside.needed(plot, reference)}


def element_points(plot: Plot, wiring: Wiring) -> tuple[ElementPoint, ...]:
    """Every element of an operating point, its current and power; at most `MOST_ELEMENTS`."""
    elements = PlotElements(elements=Elements(wiring=wiring), beside={})
    reader = _Reader(elements, plot)
    points = []
    for part in [part for part in wiring.parts if part.letter != "x"][:MOST_ELEMENTS]:
        current, power = reader.current(part, 0), reader.power(part)
        points.append(
            ElementPoint(
                part.name,
                None if current is None else float(current.real[0]),
                None if power is None else float(power.real[0]),
            )
        )
    return tuple(points)


class _Reader:
    """Reads one plot."""

    def __init__(self, of: PlotElements, plot: Plot) -> None:
        self._of = of
        self._plot = plot
        self._found: dict[Key, Array] = {}

    @cached_property
    def _plan(self) -> CurrentPlan:
        known = self._of.beside.keys() - set(self._of.elements.wiring.unknown)
        names = frozenset((*self._plot.vectors, *known))
        step = 1 if self._plot.step is None else self._plot.step.number
        return self._of.elements.plan(names, _TOLD_IN[self._plot.analysis], step)

    def current(self, part: Part, place: int) -> Array | None:
        """Into an element at one of its terminals (those at the same node together)."""
        keys = self.sum_for(part, place)
        return None if keys is None else self._whole(self._summed(*keys))

    def sum_for(self, part: Part, place: int) -> tuple[list[Key], float] | None:
        """The currents whose sum times the sign it is; None where one of them is not known well enough."""
        if place >= len(part.nodes):  # a card that was not understood to its end
            return None
        found = self._into(part, part.nodes[place])
        is_small = part.letter == "m" and part.pins[place : place + 1] in (("g",), ("b",))
        return None if found and is_small and any(map(self._plan.is_rough, found[0])) else found

    def power(self, part: Part) -> Array | None:
        """What an element takes up."""
        parts = self.power_keys(part)
        if parts is None:
            return None
        total: Array = np.zeros(1)
        for node, keys, sign in parts:
            total = total + self._voltage(node) * self._summed(keys, sign)
        return self._whole(total)

    def power_keys(self, part: Part) -> list[tuple[str, list[Key], float]] | None:
        found: list[tuple[str, list[Key], float]] = []
        for node in self._nodes_of(part):
            if node == GROUND:
                continue
            keys = self._into(part, node)
            if keys is None or f"v({node})" not in self._plot.vectors:
                return None
            found.append((node, *keys))
        return found

    def leaves(self, keys: list[Key]) -> set[str]:
        """The vectors that some currents are made of."""
        names: set[str] = set()
        seen: set[Key] = set()
        pending = list(keys)
        while pending:
            key = pending.pop()
            if key in seen:
                continue
            seen.add(key)
            source = self._plan.source(key)
            if isinstance(source, FromVector):
                names.add(source.name)
            elif isinstance(source, ByAdmittance):
                names |= {f"v({node})" for node in source.nodes if node != GROUND}
                names |= {source.name} if source.value is None else set()
            else:
                pending += source.keys
        return names

    def _nodes_of(self, part: Part) -> Iterator[str]:
        """The nodes an element shares with others."""
        if part.letter != "x":
            return iter(dict.fromkeys(part.nodes))
        own = part.name + "."
        inside = (node for each in self._inside(part) for node in each.nodes if not node.startswith(own))
        return iter(dict.fromkeys((*part.nodes, *inside)))

    def _inside(self, part: Part) -> list[Part]:
        return list(self._plan.wiring.inside(part.name))

    def _into(self, part: Part, node: str) -> tuple[list[Key], float] | None:
        plan = self._plan
        at = plan.keys_at(node)
        if part.letter != "x":
            own = [key for key in at if plan.wiring.parts[key[0]].name == part.name]
        else:
            start = part.name + "."
            own = [key for key in at if plan.wiring.parts[key[0]].name.startswith(start)]
        if all(map(plan.knows, own)) and (own or part.letter == "x"):
            return own, 1.0
        mine = set(own)
        others = [key for key in at if key not in mine]
        if node != GROUND and not plan.wiring.is_shunted and all(map(plan.knows, others)):
            return others, -1.0
        return None

    def _summed(self, keys: list[Key], sign: float) -> Array:
        total: Array = np.zeros(1)
        for key in keys:
            total = total + self._current(key)
        return sign * total

    def _current(self, key: Key) -> Array:
        """One current; without recursion, as a chain of nodes may be long."""
        found = self._found
        pending = [key]
        while pending:
            at = pending[-1]
            if at in found:
                pending.pop()
                continue
            source = self._plan.source(at)
            if isinstance(source, FromVector):
                found[at] = source.sign * self._vector(source.name)
            elif isinstance(source, ByAdmittance):
                found[at] = self._through(source)
            elif missing := [each for each in source.keys if each not in found]:
                pending.extend(missing)
            else:
                found[at] = np.negative(sum((found[each] for each in source.keys), np.zeros(1)))
        return found[key]

    def _through(self, source: ByAdmittance) -> Array:
        first, second = map(self._voltage, source.nodes)
        across = source.sign * np.subtract(first, second)
        value = self._vector(source.name).real if source.value is None else source.value
        if source.is_capacitor:
            assert self._omega is not None, "only in ac"
            return np.multiply(1j * self._omega * value, across)
        return np.divide(across, value)

    def _vector(self, name: str) -> Array:
        found = self._plot.vectors.get(name)
        return self._of.beside[name].data if found is None else found.data

    def _voltage(self, node: str) -> Array:
        return np.zeros(1) if node == GROUND else self._vector(f"v({node})")

    @property
    def _omega(self) -> Array | None:
        axis = self._plot.axis
        return 2 * math.pi * axis.data.real if axis is not None and self._plot.analysis == "ac" else None

    def _whole(self, data: Array) -> Array:
        points = self._plot.points
        return data if len(data) == points else np.full(points, data[0])
