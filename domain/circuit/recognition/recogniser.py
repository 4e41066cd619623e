"""Recognises a circuit: supplies, roles of nodes, stages, feedback and loads."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Literal

from domain.circuit.dependencies import DependencyTree
from domain.circuit.elements import GROUND
from domain.circuit.hierarchy import read_circuit
from domain.circuit.parameters import resolve_parameters
from domain.circuit.recognition.biquads import find_biquads
from domain.circuit.recognition.finder import Finder
from domain.circuit.recognition.graph import Graph, watched_by
from domain.circuit.recognition.low_dropout import find_low_dropout
from domain.circuit.recognition.networks import find_lc_oscillators, find_networks
from domain.circuit.recognition.opamp_stages import find_opamp_stages
from domain.circuit.recognition.opamp_surroundings import Network, networks_of
from domain.circuit.recognition.phase_locked import find_phase_locked_loops
from domain.circuit.recognition.power_stages import find_power_stages
from domain.circuit.recognition.recognised import Feedback, NodeRole, Recognised
from domain.circuit.recognition.transistor_cells import find_crystal_oscillators
from domain.circuit.recognition.transistor_stages import find_transistor_stages
from shared.late_patterns import late_pattern

_OUTPUT_NAME = late_pattern(r"(?i)v?_?o(?:ut(?:put)?)?_?\d*")
_MOST_FEEDBACK = 12


def recognise(tree: DependencyTree) -> Recognised:
    """What the circuit with everything it includes is made of. Never raises for an odd circuit."""
    cards = (
        (placed.statement.keyword, [word.text for word in placed.statement.words])
        for placed in tree.expanded
        if placed.statement.kind == "directive" and not placed.scope
    )
    graph = Graph(read_circuit(tree), resolve_parameters(tree), watched_by(cards))
    if graph.is_too_large:
        return Recognised(
            roles={}, supplies={}, inputs={}, outputs=(), stages=(), feedback=(), loads=(), unrecognised=()
        )
    found = Finder(graph)
    find_power_stages(found)
    find_low_dropout(found)
    find_phase_locked_loops(found)
    find_biquads(found)
    find_opamp_stages(found)
    find_crystal_oscillators(found)
    find_lc_oscillators(found)
    find_transistor_stages(found)
    find_networks(found)
    outputs = _outputs(found)
    loads = [
        part.name
        for out in outputs
        for part, far in graph.two(out)
        if far in graph.fixed and part.name not in found.used
    ]
    decoupling = [p.name for p in graph.of("c") if p.ends[0] != p.ends[1] and set(p.ends) <= graph.fixed]
    if decoupling:
        found.add("decoupling", {"parts": decoupling})
    _small_parts(found)
    feedback = tuple(_feedback(found))
    _two_stages(found, feedback)
    told = {*found.used, *loads, *graph.holders, *graph.inputs.values()}
    told |= {source.name for source in graph.drives.values()} | {
        name for each in feedback for name in each.elements
    }
    return Recognised(
        roles=_roles(found, outputs),
        supplies={node: volts for node, volts in graph.rails.items() if node != GROUND},
        inputs=dict(graph.inputs),
        outputs=outputs,
        stages=tuple(found.stages),
        feedback=feedback,
        loads=tuple(dict.fromkeys(loads)),
        unrecognised=tuple(
            part.name for part in graph.parts if part.name not in told and part.kind not in "vi"
        ),
    )


def _outputs(found: Finder) -> tuple[str, ...]:
    """What the cards look at and stages drive; else by name; else the ends of the last stages."""
    graph = found.graph
    driven = [stage.nodes["out"] for stage in found.stages if "out" in stage.nodes]
    observed = [node for node in graph.observed if node not in graph.drives]
    if both := [node for node in observed if node in driven]:
        return tuple(dict.fromkeys(both))
    if observed:
        return tuple(observed)
    read = {node for stage in found.stages for role, node in stage.nodes.items() if role.startswith("in")}
    ends = [node for node in dict.fromkeys(driven) if node not in read and node not in graph.fixed]
    named = [
        node
        for node in graph.at
        if _OUTPUT_NAME.fullmatch(node) and node not in {*graph.fixed, *graph.inputs}
    ]
    return tuple([node for node in ends if node in named] or named or ends)


def _roles(found: Finder, outputs: tuple[str, ...]) -> dict[str, NodeRole]:
    graph = found.graph
    roles: dict[str, NodeRole] = dict.fromkeys(graph.at, "internal")
    roles |= dict.fromkeys(outputs, "output")
    roles |= dict.fromkeys(graph.inputs, "input")
    roles |= dict.fromkeys(graph.bias, "bias")
    roles |= dict.fromkeys(graph.rails, "supply")
    roles[GROUND] = "ground"
    for stage in found.stages:
        if (
            stage.kind in ("bias_divider", "current_mirror")
            and roles.get(stage.nodes.get("out", "")) == "internal"
        ):
            roles[stage.nodes["out" if stage.kind == "bias_divider" else "in"]] = "bias"
    return roles


def _small_parts(found: Finder) -> None:
    """Coupling capacitors and compensation between nodes of stages."""
    graph = found.graph
    for part in found.free("c"):
        a, b = part.ends
        for node, far in ((a, b), (b, a)):
            if far in graph.fixed and node not in graph.fixed and _is_stage_input(found, node):
                found.add("bypass", {"capacitor": [part]}, {"at": node})
            if far in graph.fixed or a == b:
                continue
            sides = [stage for stage in found.stages if far in stage.nodes.values()]
            if node in graph.inputs and sides and part.name not in found.used:
                found.add("coupling", {"capacitor": [part]}, {"in": node, "out": far})


def _is_stage_input(found: Finder, node: str) -> bool:
    return any(role.startswith("in") and at == node for s in found.stages for role, at in s.nodes.items())


def _two_stages(found: Finder, feedback: Sequence[Feedback]) -> None:
    """A pair whose output drives a stage with a capacitor from its output back to its input: told first."""
    capacitors = {part.name for part in found.graph.of("c")}
    for pair in [stage for stage in found.stages if stage.kind == "differential_pair"]:
        for second in [stage for stage in found.stages if stage.kind in ("common_source", "common_emitter")]:
            around = second.elements["transistor"]
            back = [
                each.elements
                for each in feedback
                if each.around == around and each.sign == "negative" and capacitors & {*each.elements}
            ]
            if back and second.nodes["in"] in (pair.nodes["out"], pair.nodes["out2"]):
                elements = {"transistors": pair.elements["transistors"], "second_stage": around}
                nodes = {"in": pair.nodes["in"], "in2": pair.nodes["in2"], "out": second.nodes["out"]}
                found.add("two_stage_amplifier", {**elements, "compensation": back[0]}, nodes)
                found.stages.insert(0, found.stages.pop())


def _feedback(found: Finder) -> Iterator[Feedback]:
    """Passive networks that lead from behind a stage to before it."""
    graph = found.graph
    driven = {part.pins["out"] for part in graph.of("amp q m j")} | {
        part.pins["com"] for part in graph.of("q m j")
    }
    told = 0
    for network in networks_of(graph):
        ends = sorted(node for node in network.ends if node not in graph.fixed)
        if len(ends) > 8 or told >= _MOST_FEEDBACK:
            continue
        ways = [
            (way, source, target)
            for source, target in itertools.permutations(ends, 2)
            if source in driven and (way := _active_way(found, target, source, network)) is not None
        ]
        if ways:
            (around, turned), source, target = min(ways, key=lambda each: len(each[0][0]))
            if not found.order and len(around) > 2:
                continue  # without a signal nothing tells the way: long ones lead anywhere
            parts = [p for p in network.parts if len(ends) == 2 or source in p.ends]
            sign: Literal["negative", "positive"] = "negative" if turned < 0 else "positive"
            yield Feedback(tuple(p.name for p in parts), source, target, around, sign)
            told += 1


def _active_way(found: Finder, start: str, goal: str, without: Network) -> tuple[tuple[str, ...], int] | None:
    """The amplifying elements from one node to another, ending with one, and the sign of the way."""
    graph = found.graph
    names = {part.name for part in without.parts}
    waiting: deque[tuple[str, int, tuple[str, ...]]] = deque([(start, 1, ())])
    seen = {start}
    while waiting:
        at, sign, around = waiting.popleft()
        steps: list[tuple[str, int, tuple[str, ...]]] = []
        for part, pin in graph.at.get(at, ()):
            if part.kind == "amp" and pin in ("p", "n"):
                steps.append((part.pins["out"], sign if pin == "p" else -sign, (*around, part.name)))
            elif part.kind in ("q", "m", "j") and part.pins["in"] != part.pins["out"]:
                if pin == "in":
                    steps.append((part.pins["com"], sign, (*around, part.name)))
                if pin in ("in", "com"):
                    steps.append((part.pins["out"], sign if pin == "com" else -sign, (*around, part.name)))
            elif part.kind in ("r", "c", "l") and part.name not in names and part.other(at) != goal:
                far = part.other(at)
                if found.order.get(far, 0) >= found.order.get(at, 0):
                    steps.append((far, sign, around))
        for node, turned, passed in steps:
            if node == goal and passed != around:
                return passed, turned
            if node not in seen and node not in graph.fixed and node not in graph.inputs:
                seen.add(node)
                waiting.append((node, turned, passed))
    return None
