"""Which subcircuits and controlled sources are op-amps, told by the way of the signal from inputs to output.

Signs are followed from port to port: through a controlled source by its gain, through a transistor (base to
collector turns the sign), through resistors. Two ports sensed as a difference whose signals come out with
opposite signs at a third one make an amplifier, whatever it is called and in whatever order its ports stand.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from domain.circuit.cards import device_kind
from domain.circuit.elements import GROUND, Element, canonical_node
from domain.circuit.hierarchy import Block
from domain.circuit.numbers import read_number
from domain.circuit.parameters import Expression, ExpressionError, expression_of
from domain.circuit.topology import expression_nodes
from shared.late_patterns import late_pattern

_MOST_ELEMENTS = 400
_PORTS = range(3, 8)
"""Two of an offset null among them; a 555 has eight."""
_LONGEST = 400
_VOLTAGE = late_pattern(r"(?i)\bv\s*\(\s*([^\s(),]+)\s*(?:,\s*([^\s(),]+)\s*)?\)")
_NUMBERED = late_pattern(r"(?i)(?P<first>\d?)_?(?:in_?(?P<sign>[-+pn])|out)_?(?P<last>\d?)")
_SUPPLY = late_pattern(r"(?i)v(?:cc|dd|ee|ss|s|p|n|neg|pos)?[-+]?|gnd")
_OUTPUT = late_pattern(r"(?i)v?_?o(?:ut(?:put)?)?\d?")
_STEP, _ROUNDING = 1e-4, 1e-12
_ROUNDS = 42
_PLACES = tuple(((at * 0.61803) % 1) * 2 - 1 for at in range(1, 60))
"""Evenly spread, the same in every run."""


class AmplifierPorts(NamedTuple):
    """Places among a subcircuit's ports."""

    plus: int
    minus: int
    out: int


class Gain(NamedTuple):
    """A source that follows the difference of two nodes."""

    plus: str
    minus: str
    factor: float


def signal_gain(element: Element, value: float | None) -> Gain | None:
    """The difference a controlled source senses, None where it is none."""
    if element.control_nodes:
        plus, minus = (canonical_node(each.text) for each in element.control_nodes[:2])
        return (
            None if value is None else Gain(plus, minus, value) if value >= 0 else Gain(minus, plus, -value)
        )
    slopes = _slopes(element)
    rising = [(node, slope) for node, slope in slopes.items() if slope > 0]
    falling = [(node, slope) for node, slope in slopes.items() if slope < 0]
    best = max(rising, key=lambda each: each[1], default=(GROUND, 0.0))
    worst = min(falling, key=lambda each: each[1], default=(GROUND, 0.0))
    if max(best[1], -worst[1]) == 0:
        return None
    return Gain(best[0], worst[0], max(best[1], -worst[1]))


def amplifier_ports(block: Block) -> AmplifierPorts | None:
    """The inputs and the output of a subcircuit that is an op-amp or a comparator; None for any other."""
    if len(block.ports) not in _PORTS or len(block.elements) > _MOST_ELEMENTS:
        return None
    ways: dict[str, list[tuple[str, int]]] = {}
    for start, end, sign in _ways(block):
        ways.setdefault(start, []).append((end, sign))
    ports = block.ports
    # What comes to a supply through a stage's load is no output.
    by_name = sorted(ports, key=lambda port: _SUPPLY.fullmatch(port) is not None)
    if any(
        map(_OUTPUT.fullmatch, ports)
    ):  # nor is a supply where another port is called one: a gate driver's
        by_name = [port for port in by_name if not _SUPPLY.fullmatch(port)]
    for first, second in _sensed(block):
        if first not in ports or second not in ports:
            continue
        from_first, from_second = _reached(first, ways, ports), _reached(second, ways, ports)
        for out in by_name:
            signs = from_first.get(out, 0), from_second.get(out, 0)
            if out in (first, second) or signs[0] * signs[1] != -1:
                continue
            plus, minus = (first, second) if signs[0] > 0 else (second, first)
            return AmplifierPorts(ports.index(plus), ports.index(minus), ports.index(out))
    return None


def amplifiers_of_package(block: Block) -> tuple[AmplifierPorts, ...]:
    """Of a subcircuit that is nothing but some amplifiers, each with ports of its own; () of any other.

    Where what is inside says nothing, by what the ports are called: 1IN+, 1IN-, 1OUT, 2IN+ and so on.
    """
    if not block.elements or any(element.letter != "x" for element, _ in block.elements):
        return ()
    found: list[AmplifierPorts] = []
    for element, _ in block.elements:
        inner = block.find_block(element.model.text) if element.model else None
        is_whole = inner is not None and len(inner.ports) == len(element.nodes)
        inside = amplifier_ports(inner) if inner is not None and is_whole else None
        if inside is None:
            return _called_as_a_package(block.ports)
        nodes = [canonical_node(each.text) for each in element.nodes]
        own = [nodes[at] for at in inside]
        if not {*own} <= {*block.ports}:
            return ()
        found.append(AmplifierPorts(*map(block.ports.index, own)))
    is_apart = len({at for each in found for at in each}) == 3 * len(found)
    return tuple(found) if len(found) > 1 and is_apart else ()


def _called_as_a_package(ports: Sequence[str]) -> tuple[AmplifierPorts, ...]:
    """By the number and the role in the ports' names; all others are supplies."""
    numbered: dict[str, dict[str, int]] = {}
    for at, port in enumerate(ports):
        told = _NUMBERED.fullmatch(port)
        if told is not None:
            role = {"+": "plus", "p": "plus", "-": "minus", "n": "minus"}.get(
                (told["sign"] or "").lower(), "out"
            )
            numbered.setdefault(told["first"] or told["last"] or "", {})[role] = at
        elif not _SUPPLY.fullmatch(port):
            return ()
    if len(numbered) < 2 or any(roles.keys() != {"plus", "minus", "out"} for roles in numbered.values()):
        return ()
    return tuple(AmplifierPorts(**roles) for roles in numbered.values())


def _ways(block: Block) -> Iterator[tuple[str, str, int]]:
    """(from, to, sign): how a signal passes each element."""
    sources = {each.element.key: each.element for each in block.elements if each.element.letter == "v"}
    known = _defaults(block)
    for element, _ in block.elements:
        nodes = [canonical_node(each.text) for each in element.nodes]
        letter = element.letter
        if letter in "rvl" and len(nodes) == 2:
            yield from ((nodes[0], nodes[1], 1), (nodes[1], nodes[0], 1))
        elif letter in "qmj" and len(nodes) >= 3:
            collector, base, emitter = nodes[:3]
            yield from ((base, collector, -1), (base, emitter, 1), (emitter, collector, 1))
        elif letter in "egb" and len(nodes) == 2:
            turn = -1 if letter == "g" or element.output == "current" else 1
            for node, sign in _senses(element, known):
                yield from ((node, nodes[0], sign * turn), (node, nodes[1], -sign * turn))
        elif letter == "f" and len(nodes) == 2:
            yield from _current_ways(element, nodes, block, sources)


def _current_ways(
    element: Element, nodes: list[str], block: Block, sources: dict[str, Element]
) -> Iterator[tuple[str, str, int]]:
    """Of a source that follows the currents of others: as the nodes move that feed these by resistors."""
    numbers = [number.value for field in element.numbers if (number := read_number(field.text))]
    value = read_number(element.value.text) if element.value is not None else None
    factor = value.value if value is not None else next((each for each in numbers[1:] if each), 1.0)
    meter = sources.get(element.controls[0].key) if element.controls else None
    if meter is None or len(meter.nodes) != 2:
        return
    sign = 1 if factor >= 0 else -1
    into, out_of = (canonical_node(each.text) for each in meter.nodes)
    for resistor, _ in block.elements:
        ends = [canonical_node(each.text) for each in resistor.nodes]
        for end, turn in ((into, sign), (out_of, -sign)):
            if resistor.letter == "r" and end in ends and end != GROUND:
                far = ends[1] if ends[0] == end else ends[0]
                yield from ((far, nodes[0], -turn), (far, nodes[1], turn))


def _defaults(block: Block) -> dict[str, float]:
    """What a subcircuit's parameters are where nobody sets them, as far as that is a number."""
    fields = {} if block.subcircuit is None else block.subcircuit.params
    numbers = {name: read_number(field.text) for name, field in fields.items()}
    return {name: number.value for name, number in numbers.items() if number is not None}


def _senses(element: Element, known: Mapping[str, float]) -> list[tuple[str, int]]:
    """The nodes a source follows, with the sign of each; `known`: parameters."""
    if element.control_nodes:
        value = read_number(element.value.text) if element.value is not None else None
        sign = -1 if value is not None and value.value < 0 else 1
        names = [canonical_node(each.text) for each in element.control_nodes]
        return [(name, sign if at % 2 == 0 else -sign) for at, name in enumerate(names)]
    return [(node, 1 if slope > 0 else -1) for node, slope in _slopes(element, known).items()]


def _slopes(element: Element, known: Mapping[str, float] = MappingProxyType({})) -> dict[str, float]:
    """How steeply a behavioural source follows each node, at the steepest of some places near zero, where
    parameters are `known` or 1."""
    expressions = [each.text for each in element.expressions]
    if len(expressions) != 1 or len(expressions[0]) > _LONGEST:
        return {}
    nodes = list(dict.fromkeys(expression_nodes(element)))
    names = {node: f"zz{at}" for at, node in enumerate(nodes)}

    def named(match: object) -> str:
        groups = match.groups()  # type: ignore[attr-defined]
        ends = [names.get(canonical_node(each), "0") for each in groups if each]
        return f"({'-'.join(ends)})"

    text = expressions[0].strip().strip("'\"")
    text = _VOLTAGE.sub(named, text.replace("{", "(").replace("}", ")")).replace("uramp", "max(0,1)*")
    expression = expression_of(text)
    if expression is None:
        return {}
    free = {each: known.get(each.lower(), 1.0) for each in expression.names - set(names.values())}
    slopes: dict[str, float] = {}
    for node, name in names.items():
        rises = falls = False
        for round_ in range(_ROUNDS):
            # each node between 0.1 mV and 100 V: limits and saturation leave a slope at some of them only
            scale = 10.0 ** (round_ % 6 - 4)
            place = {
                each: _PLACES[(7 * round_ + 3 * at) % 59] * 10.0 ** ((round_ * (at + 2) + at) % 7 - 4)
                for at, each in enumerate(names.values())
            }
            place[name] = scale * _PLACES[(5 * round_ + 11) % 59]
            if (
                round_ >= _ROUNDS // 2
            ):  # small differences at a usual supply: within the limits of a high gain
                place = {
                    each: 5.0
                    if at == round_ % len(names) and each != name
                    else 1e-5 * _PLACES[(7 * round_ + 3 * at) % 59]
                    for at, each in enumerate(names.values())
                }
            slope = _slope(expression, {**free, **place}, name, scale)
            rises, falls = rises or slope > 0, falls or slope < 0
            if abs(slope) > abs(slopes.get(node, 0.0)):
                slopes[node] = slope
        if rises and falls:  # a product, a square: no amplifier of this node
            slopes.pop(node, None)
    return slopes


def _slope(expression: Expression, at: dict[str, float], name: str, scale: float) -> float:
    try:
        above = expression.evaluate({**at, name: at[name] + _STEP * scale})
        below = expression.evaluate({**at, name: at[name] - _STEP * scale})
    except ExpressionError:
        return 0.0
    if abs(above - below) <= _ROUNDING * max(abs(above), abs(below)):  # far within a limit
        return 0.0
    return (above - below) / (2 * _STEP * scale)


def _sensed(block: Block) -> Iterator[tuple[str, str]]:
    """Pairs of nodes whose difference something senses: a source, or two transistors on one tail."""
    gates: list[tuple[str, str, str]] = []
    known = _defaults(block)
    for element, _ in block.elements:
        if element.letter in "egb":
            names = _senses(element, known)
            ups, downs = [n for n, sign in names if sign > 0], [n for n, sign in names if sign < 0]
            yield from ((up, down) for up in ups for down in downs)
        elif element.letter in "qmj" and len(element.nodes) >= 3 and element.model is not None:
            model = block.find_model(element.model.text)
            kind = device_kind(element.letter, model) if model is not None else ""
            _, base, emitter = (canonical_node(each.text) for each in element.nodes[:3])
            gates.append((kind, base, emitter))
    tails: dict[str, str] = {}
    for element, _ in block.elements:  # emitter resistors of a pair lead to one tail
        if element.letter == "r" and len(element.nodes) == 2:
            a, b = (canonical_node(each.text) for each in element.nodes)
            tails.setdefault(a, b)
            tails.setdefault(b, a)
    for at, (kind, base, emitter) in enumerate(gates):
        for other_kind, other_base, other_emitter in gates[at + 1 :]:
            shared = emitter == other_emitter or tails.get(emitter, emitter) == tails.get(other_emitter, "")
            is_tail = emitter != GROUND and emitter not in block.ports
            if kind == other_kind and base != other_base and shared and is_tail:
                yield base, other_base


def _reached(start: str, ways: dict[str, list[tuple[str, int]]], ports: tuple[str, ...]) -> dict[str, int]:
    """The sign with which a node's signal comes to the others first; ports and ground lead nowhere."""
    signs = {start: 1}
    waiting = deque([start])
    while waiting:
        at = waiting.popleft()
        if at == GROUND or (at in ports and at != start):
            continue
        for end, sign in ways.get(at, ()):
            if end not in signs:
                signs[end] = signs[at] * sign
                waiting.append(end)
    return signs
