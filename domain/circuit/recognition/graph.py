"""A circuit as a graph of parts: subcircuits opened, op-amps told, values read, rails and inputs found."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from domain.circuit.cards import device_kind
from domain.circuit.elements import GROUND, Element, canonical_node
from domain.circuit.hierarchy import Block, Circuit
from domain.circuit.numbers import read_number
from domain.circuit.parameters import ExpressionError, expression_of
from domain.circuit.recognition.amplifier_blocks import AmplifierPorts, amplifier_ports, signal_gain
from domain.circuit.topology import DisjointSets
from shared.late_patterns import late_pattern

MOST_PARTS = 600
"""Of a larger circuit nothing is told: its plan is no longer that of stages."""
_DEEPEST = 6
_LEAST_GAIN = 300.0
"""A controlled source with more, of the difference of two nodes, is an amplifier."""
_WAVES = frozenset({"sin", "pulse", "pwl", "exp", "sffm", "am", "trnoise", "trrandom"})
_OBSERVING = ("meas", "print", "plot", "save", "probe", "four", "noise", "tf")
_SWEEPING = ("dc", "tf", "noise")
_VOLTAGE = late_pattern(
    r"\bv(?:db|m|p|r|i|ph)?\s*\(\s*([^\s(),]+)\s*(?:,\s*([^\s(),]+)\s*)?\)", re.IGNORECASE
)


class Part(NamedTuple):
    """One element of the opened circuit."""

    name: str
    kind: str
    """r c l v i d q m j s (switch), amp, box, or the letter of anything else."""
    pins: Mapping[str, str]
    """Pin -> node. Two-terminals: a, b (a diode: a, k); transistors: in (base, gate), out (collector, drain),
    com (emitter, source); amp: p, n, out; boxes: 0, 1, 2 ..."""
    value: float | None
    polarity: int
    """Of transistors: 1 npn, n-channel; -1 pnp, p-channel."""
    element: Element
    block: Block

    @property
    def ends(self) -> tuple[str, str]:
        first, second, *_ = self.pins.values()
        return first, second

    def other(self, node: str) -> str:
        """The far end of a two-terminal."""
        a, b = self.ends
        return b if a == node else a

    def model_value(self, name: str) -> float | None:
        """A number of its model card."""
        from domain.circuit.cards import assignments_of

        model = self.block.find_model(self.element.model.text) if self.element.model else None
        pairs = assignments_of(model.statement) if model is not None else ()
        found = next((read_number(pair.value.text) for pair in pairs if pair.name == name), None)
        return found.value if found is not None else None


class Watched(NamedTuple):
    """What a circuit's own cards say is looked at."""

    nodes: tuple[str, ...]
    sources: frozenset[str]
    """Swept, or the input of a card: lower case."""


class Graph:
    """The parts, and what each node touches."""

    def __init__(self, circuit: Circuit, params: Mapping[str, float], watched: Watched) -> None:
        self._circuit = circuit
        self._swept = watched.sources
        self._known: dict[Block, AmplifierPorts | None] = {}
        self.parts: list[Part] = []
        self.is_too_large = False
        self._open(circuit.top, "", {}, dict(params), 0)
        self._tie_ammeters()
        self.at: dict[str, list[tuple[Part, str]]] = {GROUND: []}
        for part in self.parts:
            for pin, node in part.pins.items():
                self.at.setdefault(node, []).append((part, pin))
        self.rails: dict[str, float] = {GROUND: 0.0}
        """Nodes that feed the circuit, with their voltage."""
        self.bias: set[str] = set()
        """Nodes held at a DC voltage that feed inputs of devices only."""
        self.inputs: dict[str, str] = {}
        self.drives: dict[str, Part] = {}
        """Node -> the pulse source that only controls switches at it."""
        self.holders: set[str] = set()
        """Names of the sources that make rails and bias."""
        self._read_sources()
        self.observed = tuple(
            dict.fromkeys(
                node
                for node in map(self._tied.find, watched.nodes)
                if node in self.at and node not in self.fixed and node not in self.inputs
            )
        )

    @property
    def fixed(self) -> set[str]:
        """Nodes that stand still for signals."""
        return {*self.rails, *self.bias}

    @property
    def has_wave(self) -> bool:
        """Whether a source changes with time."""
        return any(self._signal_of(source.element) == "wave" for source in self.of("v i"))

    def of(self, kinds: str) -> list[Part]:
        return [part for part in self.parts if part.kind in kinds.split()]

    def two(self, node: str, kinds: str = "r c l") -> Iterator[tuple[Part, str]]:
        """The two-terminals at a node with their far ends; none with both ends there."""
        for part, _ in self.at.get(node, ()):
            if part.kind in kinds.split() and part.ends[0] != part.ends[1]:
                yield part, part.other(node)

    def between(self, a: str, b: str, kinds: str = "r c l d") -> list[Part]:
        return [part for part, far in self.two(a, kinds) if far == b]

    def diodes_above(self, node: str) -> list[Part]:
        """The string of diodes that conducts from a node that is fed down to this one; [] for none."""
        chain: list[Part] = []
        while node not in self.fixed and node not in self.inputs:
            into = [part for part, pin in self.at[node] if part.kind == "d" and pin == "k"]
            if len(into) != 1 or into[0] in chain:
                return []
            chain.append(into[0])
            node = into[0].pins["a"]
        return chain

    def through(self, node: str, came: Part) -> tuple[str, tuple[Part, ...]]:
        """Where a current goes on: past resistors in series (windings, sensing) to the next real node."""
        passed: list[Part] = []
        while True:
            others = [each for each, _ in self.at[node] if each is not came]
            if len(others) != 1 or others[0].kind != "r" or node in self.fixed or others[0] in passed:
                return node, tuple(passed)
            came = others[0]
            passed.append(came)
            node = came.other(node)

    # ---- parts

    def _open(
        self, block: Block, path: str, ports: Mapping[str, str], values: Mapping[str, float], depth: int
    ) -> None:
        values = {**values, **block.definitions().values(values)} if path else values
        for placed in block.elements:
            if len(self.parts) >= MOST_PARTS:
                self.is_too_large = True
                return
            element = placed.element
            nodes = [self._node(canonical_node(each.text), path, ports) for each in element.nodes]
            inner = block.find_block(element.model.text) if element.letter == "x" and element.model else None
            if inner is not None and len(inner.ports) == len(nodes) and depth < _DEEPEST:
                if inner not in self._known:
                    self._known[inner] = amplifier_ports(inner)
                ports_of = self._known[inner]
                if ports_of is not None and nodes[ports_of.out] != GROUND:
                    pins = {"p": nodes[ports_of.plus], "n": nodes[ports_of.minus], "out": nodes[ports_of.out]}
                    rest = [n for at, n in enumerate(nodes) if at not in ports_of]
                    pins |= {f"supply{at}": node for at, node in enumerate(rest)}
                    self.parts.append(Part(f"{path}{element.name}", "amp", pins, None, 1, element, block))
                    continue
                if _is_of_parts(inner):
                    outside = dict(zip(inner.ports, nodes, strict=True))
                    given = {**inner.defaults, **element.params}
                    own = {
                        **values,
                        **{k: v for k, f in given.items() if (v := value_of(f.text, values)) is not None},
                    }
                    self._open(inner, f"{path}{element.name}.", outside, own, depth + 1)
                    continue
            part = _read(path, element, block, values, lambda name: self._node(name, path, ports))
            if part is not None:
                self.parts.append(part)

    def _node(self, name: str, path: str, ports: Mapping[str, str]) -> str:
        if name in ports:
            return ports[name]
        return name if not path or name in self._circuit.global_nodes else f"{path.lower()}{name}"

    def _tie_ammeters(self) -> None:
        """Sources of 0 V that only measure join their nodes."""
        self._tied = DisjointSets()
        self._tied.find(GROUND)
        meters = {
            id(p) for p in self.parts if p.kind == "v" and not p.value and not self._signal_of(p.element)
        }
        for part in self.parts:
            for node in part.pins.values():
                self._tied.find(node)
        for part in self.parts:
            if id(part) in meters:
                a, b = part.ends
                first, second = (b, a) if self._tied.find(a) == GROUND else (a, b)
                self._tied.join(first, second)  # the second names both: ground where it is one of them
        self.parts = [
            part._replace(pins={pin: self._tied.find(node) for pin, node in part.pins.items()})
            for part in self.parts
            if id(part) not in meters
        ]

    # ---- sources

    def _read_sources(self) -> None:
        waiting = self.of("v")
        held: dict[str, float] = {GROUND: 0.0}
        while ready := [each for each in waiting if not held.keys().isdisjoint(each.ends)]:
            for source in ready:
                waiting.remove(source)
                self._hold(source, held)
        for source in waiting:  # between two nodes of which none is held
            if self._signal_of(source.element):
                self.inputs[source.ends[0]] = source.name
        for source in self.of("i"):
            if self._signal_of(source.element):
                a, b = source.ends
                self.inputs[a if b in held else b] = source.name

    def _hold(self, source: Part, held: dict[str, float]) -> None:
        """What a source makes of the node at its other end: a rail, a bias, or an input."""
        a, b = source.ends
        node, base, sign = (a, b, 1) if b in held else (b, a, -1)
        if node in held:
            return
        dc, signal = source.value or 0.0, self._signal_of(source.element)
        if signal and (signal == "wave" or not dc or not self._feeds(node)):
            self._signal(node, source)
            return
        held[node] = held[base] + sign * dc
        self.holders.add(source.name)
        if self._feeds(node):
            self.rails[node] = held[node]
        else:
            self.bias.add(node)
        if signal and not self.of("q m j amp s box"):
            self.inputs[node] = source.name

    def _signal_of(self, element: Element) -> str:
        """``wave``, ``ac`` (or swept) or "": what a source brings besides its DC value."""
        if not _WAVES.isdisjoint(element.words):
            return "wave"
        return "ac" if "ac" in element.words or element.key in self._swept else ""

    def _signal(self, node: str, source: Part) -> None:
        pins = [(p, pin) for p, pin in self.at[node] if p is not source]
        far = [node, *(far for _, far in self.two(node, "r"))]
        touched = [(p, pin) for each in far for p, pin in self.at[each] if p.kind not in "rv"]
        is_drive = (
            bool(touched)
            and bool(pins)
            and all(pin.startswith("control") or (p.kind in "mq" and pin == "in") for p, pin in touched)
        )
        if (
            is_drive
            and any(word in source.element.words for word in ("pulse", "pwl"))
            and (any(p.kind == "s" for p, _ in touched) or self.of("l"))
        ):
            self.drives[node] = source
        else:
            self.inputs[node] = source.name

    def _feeds(self, node: str) -> bool:
        """Whether a held node carries the current of devices: no signal goes in there."""
        seen = {node}
        waiting = [node]
        while waiting:
            at = waiting.pop()
            for part, pin in self.at.get(at, ()):
                if part.kind in ["q", "m", "j"] and pin != "in":
                    return True
                if part.kind == "amp" and pin.startswith("supply"):
                    return True
                if part.kind == "box" or (part.kind == "s" and pin in ("a", "b")) or part.kind == "d":
                    return True
                if part.kind in ["r", "l"] and len(seen) < 12 and (far := part.other(at)) not in seen:
                    pins = {pin for p, pin in self.at[far] if p.kind in "qmj"}
                    if pins == {"in"} and part.kind == "r":
                        continue
                    seen.add(far)
                    waiting.append(far)
        return False


def watched_by(cards: Iterable[tuple[str, Sequence[str]]]) -> Watched:
    """What cards (keyword, words) look at and sweep."""
    nodes: dict[str, None] = {}
    sources: set[str] = set()
    for keyword, words in cards:
        if keyword in _OBSERVING:
            for match in _VOLTAGE.finditer(" ".join(words)):
                nodes.update((canonical_node(name), None) for name in match.groups() if name)
        if keyword in _SWEEPING:
            sources.update(word.lower() for word in words[1:] if word[:1].lower() in ("v", "i"))
    return Watched(tuple(nodes), frozenset(sources))


def _read(
    path: str, element: Element, block: Block, values: Mapping[str, float], place: Callable[[str], str]
) -> Part | None:
    letter = element.letter
    nodes = [place(canonical_node(each.text)) for each in element.nodes]
    controls = [place(canonical_node(each.text)) for each in element.control_nodes]
    value = value_of(element.value.text, values) if element.value is not None else None
    pins: dict[str, str] = {str(at): node for at, node in enumerate([*nodes, *controls])}
    kind, polarity = "box", 1
    if letter == "k" or len(nodes) < 2:
        return None
    if letter in "rcl" and value is not None and not 0 < value < math.inf:
        value = None  # no part of the trade: nothing follows from it
    if letter in "rclvi":
        kind, pins = letter, {"a": nodes[0], "b": nodes[1]}
    elif letter == "d":
        kind, pins = "d", {"a": nodes[0], "k": nodes[1]}
    elif letter in "qmjz" and len(nodes) >= 3:
        model = block.find_model(element.model.text) if element.model else None
        polarity = -1 if model is not None and device_kind(letter, model)[:1] == "p" else 1
        kind, pins = "j" if letter == "z" else letter, {"out": nodes[0], "in": nodes[1], "com": nodes[2]}
    elif letter in "sw":
        kind = "s"
        pins = {"a": nodes[0], "b": nodes[1]} | {f"control{at}": node for at, node in enumerate(controls)}
    elif letter in "eb" and element.output == "voltage" and nodes[1] == GROUND:
        gain = signal_gain(element, value)
        if gain is not None and gain.factor >= _LEAST_GAIN:
            kind, pins = "amp", {"p": place(gain.plus), "n": place(gain.minus), "out": nodes[0]}
    return Part(f"{path}{element.name}", kind, pins, value, polarity, element, block)


def value_of(text: str, values: Mapping[str, float]) -> float | None:
    """The number a field stands for; None where it is none, or depends on what is not known."""
    number = read_number(text)
    if number is not None:
        return number.value
    expression = expression_of(text)
    if expression is None:
        return None
    try:
        return expression.evaluate(values)
    except ExpressionError:
        return None


def _is_of_parts(block: Block) -> bool:
    """Whether a subcircuit is made of real parts; a behavioural one stays a box."""
    return bool(block.elements) and all(
        placed.element.letter in "rclkvidqmjzxsw" for placed in block.elements
    )
