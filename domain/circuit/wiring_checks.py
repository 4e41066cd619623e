"""Checks of the wiring: ground, nodes that float, loops of sources."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import NamedTuple

from domain.circuit.dependencies import DependencyTree
from domain.circuit.elements import GROUND, canonical_node
from domain.circuit.findings import Findings, Severity
from domain.circuit.hierarchy import Block, Circuit
from domain.circuit.sound_lines import SoundLines
from domain.circuit.statements import Statement
from domain.circuit.topology import (
    BlockWiring,
    FloatingGroup,
    Loop,
    block_key,
    examine,
    expression_nodes,
    terminal_counts,
)
from shared.late_patterns import late_pattern
from shared.message import msg

_SOUND = SoundLines()
"""Here: blocks."""


def check_wiring(circuit: Circuit, tree: DependencyTree, findings: Findings) -> None:
    """Every used block, the top level included."""
    top = circuit.top
    if not top.elements:
        return
    known: dict[Block, BlockWiring] = {}
    examine(top, circuit.global_nodes, known)
    has_ground = _has_ground(known)
    if not has_ground and not _has_code_model(known):
        message = msg("No node is ground. Name one node 0.")
        place = top.elements[0]  # ngspice computes many such circuits all the same
        findings.add("warning", "no-ground", message, file=place.file, at=place.element.statement)
    starts = _Start.of(tree)
    looked_at = _nodes_looked_at(tree)
    sound = _SOUND.among(looked_at)
    for block, wiring in known.items():
        _check_loops(wiring, starts, findings)
        if has_ground and not starts.needs_no_paths:
            for group in wiring.floating:
                if not any(node.partition(".")[0] in _instances(block) for node in group.nodes):
                    _note_floating(group, starts, findings)
        key = block_key(block, circuit.global_nodes)
        if not key or key not in sound:
            count = len(findings.all)
            _check_lone_nodes(block, wiring.floating, looked_at | circuit.global_nodes, findings)
            if key and len(findings.all) == count:
                sound.add(key)


def check_lone_nodes(circuit: Circuit, tree: DependencyTree, findings: Findings) -> None:
    """What of the wiring is seen although a subcircuit or model is missing: nodes with a single terminal."""
    looked_at = _nodes_looked_at(tree) | circuit.global_nodes
    for block in circuit.top.walk():
        if block.is_used:
            # Of an X line without its subcircuit's name the last node is taken for it.
            models = {p.element.model.key for p in block.elements if p.element.model is not None}
            _check_lone_nodes(block, (), looked_at | models, findings)


class FloatingNodes(NamedTuple):
    """Nodes without a DC path to ground; those of subcircuits by their own names."""

    of_top: tuple[str, ...]
    within: tuple[str, ...]
    """Those of subcircuits whose equations are singular; of others ngspice finds some voltage."""


def floating_nodes(circuit: Circuit, tree: DependencyTree) -> FloatingNodes:
    """Those that need a path: the equations are singular, or nothing but an operating point, which is found
    only roundabout, says what becomes of the node."""
    known: dict[Block, BlockWiring] = {}
    examine(circuit.top, circuit.global_nodes, known)
    starts = _Start.of(tree)
    if (starts.needs_no_paths and not starts.only_uic) or not _has_ground(known):
        return FloatingNodes((), ())
    of_top, within = (
        tuple(
            node
            for block, wiring in known.items()
            if (block is circuit.top) == is_top
            for group in wiring.floating
            if (
                group.is_singular
                or (group.is_passive and not starts.only_uic)
                or (is_top and not starts.is_transient)
            )
            and not any(node.partition(".")[0] in _instances(block) for node in group.nodes)
            for node in group.nodes
            if node not in starts.fixed_nodes
        )
        for is_top in (True, False)
    )
    return FloatingNodes(of_top, within)


def _instances(block: Block) -> frozenset[str]:
    """Names that begin the paths of nodes inside of subcircuits (`x1.out`), whose wiring is not seen here."""
    return frozenset(p.element.key for p in block.elements if p.element.letter == "x")


_NONLINEAR = frozenset("dqjmzbswanu")
"""Letters of elements that change with the operating point."""


class _Start:
    """How the analyses begin: what makes a missing DC path harmless."""

    def __init__(
        self,
        *,
        needs_no_paths: bool,
        fixed_nodes: frozenset[str],
        only_uic: bool,
        needs_no_point: bool,
        is_transient: bool,
    ) -> None:
        self.is_transient = is_transient
        self.needs_no_paths = needs_no_paths
        self.fixed_nodes = fixed_nodes
        self.only_uic = only_uic
        self.needs_no_point = needs_no_point
        """Small signals only, of linear elements: what ngspice invents of the operating point is unused."""

    @classmethod
    def of(cls, tree: DependencyTree) -> _Start:
        analyses: list[Statement] = []
        fixed: set[str] = set()
        has_shunt = False
        for placed in tree.expanded:
            card = placed.statement
            if card.kind != "directive" or placed.scope:
                continue
            if card.keyword in {"op", "dc", "ac", "tran", "noise", "tf", "sens", "pz", "disto", "sp"}:
                analyses.append(card)
            elif card.keyword == "ic":
                fixed.update(
                    canonical_node(name) for name in re.findall(r"[vV]\s*\(\s*([^\s(),]+)", card.text)
                )
            elif card.keyword == "options":
                has_shunt = has_shunt or re.search(r"\brshunt\s*=", card.raw, re.IGNORECASE) is not None
        only_uic = bool(analyses) and all(
            card.keyword == "tran" and card.words[-1].key == "uic" for card in analyses
        )
        is_linear = not any(
            placed.statement.kind == "control" or placed.statement.keyword in _NONLINEAR
            for placed in tree.expanded
            if placed.statement.kind in ("element", "control")
        )
        return cls(
            needs_no_paths=has_shunt or only_uic,
            fixed_nodes=frozenset(fixed),
            is_transient=any(card.keyword == "tran" for card in analyses),
            only_uic=only_uic,
            needs_no_point=is_linear and bool(analyses) and all(card.keyword == "ac" for card in analyses),
        )


def _has_ground(known: dict[Block, BlockWiring]) -> bool:
    return any(
        canonical_node(node.text) == GROUND
        for block in known
        for p in block.elements
        for node in p.element.nodes
    )


def _has_code_model(known: dict[Block, BlockWiring]) -> bool:
    """An XSPICE model: digital nodes need no ground, and its analog ports are voltages to ground."""
    return any(placed.element.letter == "a" for block in known for placed in block.elements)


def _note_floating(group: FloatingGroup, starts: _Start, findings: Findings) -> None:
    if any(node in starts.fixed_nodes for node in group.nodes):
        return
    element = group.element.element
    names = ", ".join(group.nodes[:4]) + (" ..." if len(group.nodes) > 4 else "")
    message = (
        msg("Node {nodes} has no DC path to ground. Add one, for example a 1G resistor.", nodes=names)
        if len(group.nodes) == 1
        else msg("Nodes {nodes} have no DC path to ground. Add one, for example a 1G resistor.", nodes=names)
    )
    # Where some device has an entry on the diagonal of the matrix, ngspice gets by with gmin, and the
    # voltage it then finds is its own invention; where none has, the matrix is singular for good.
    severity: Severity = "error" if group.is_singular else "info" if starts.needs_no_point else "warning"
    findings.add(severity, "no-dc-path", message, file=group.element.file, at=element.statement)


def _check_loops(wiring: BlockWiring, starts: _Start, findings: Findings) -> None:
    for placed in wiring.shorted:
        grounded = canonical_node(placed.element.nodes[0].text) == GROUND
        message = (
            msg("Both ends of {name} are ground: gnd is node 0 in ngspice. Remove this source.",
                name=placed.element.name)
            if grounded
            else msg("Both ends of {name} are connected to the same node.", name=placed.element.name)
        )  # fmt: skip
        findings.add("error", "shorted-source", message, file=placed.file, at=placed.element.statement)
    for loop in wiring.loops:
        name = loop.element.element.name
        if not loop.has_inductor:
            message = msg(
                "{name} closes a loop of voltage sources. Add a small series resistor to the loop.", name=name
            )
            findings.add(
                "error", "source-loop", message, file=loop.element.file, at=loop.element.element.statement
            )
            continue
        severity, code = _inductor_loop(loop, starts)
        message = msg(
            "{name} closes a loop of inductors and voltage sources. Add a small series resistor to the loop.",
            name=name,
        )
        findings.add(severity, code, message, file=loop.element.file, at=loop.element.element.statement)


def _inductor_loop(loop: Loop, starts: _Start) -> tuple[Severity, str]:
    """ngspice solves these by leakage: right as long as no DC voltage drives the loop."""
    if starts.only_uic or loop.voltage is None or abs(loop.voltage) < 1e-12:
        return "info", "inductor-loop"
    return "warning", "source-loop"


_WORD = late_pattern(r"[^\s(),={}'\"<>+*/-]+")


def _nodes_looked_at(tree: DependencyTree) -> frozenset[str]:
    """Words of output, measure, initial-condition and control cards: nodes named there are meant."""
    words: set[str] = set()
    for placed in tree.expanded:
        statement = placed.statement
        if statement.kind == "control" or (
            statement.kind == "directive" and statement.keyword not in {"model", "subckt", "ends", "param"}
        ):
            words.update(canonical_node(word) for word in _WORD.findall(statement.text))
    return frozenset(words)


_ELECTRICAL = {"d": 2, "q": 4, "j": 3, "m": 4}
"""How many terminals carry a current. Those behind are temperatures, which are only to be looked at."""


def _check_lone_nodes(
    block: Block, groups: Sequence[FloatingGroup], looked_at: Set[str], findings: Findings
) -> None:
    """Nodes with a single terminal on them, where that is likely a slip: R, L and semiconductors."""
    watched = looked_at | set(block.ports) | {GROUND}
    for placed in block.elements:
        watched |= {canonical_node(node.text) for node in placed.element.control_nodes}
        watched |= set(expression_nodes(placed.element))
    floating = {node for group in groups for node in group.nodes}
    for node, touching in terminal_counts(block.elements).items():
        placed = touching[0]
        if len(touching) > 1 or node in watched or node in floating or placed.element.letter not in "rldqjm":
            continue
        message = msg("Only {name} is connected to node {node}.", name=placed.element.name, node=node)
        nodes = placed.element.nodes
        place, at = next((n, field) for n, field in enumerate(nodes) if canonical_node(field.text) == node)
        if place >= _ELECTRICAL.get(placed.element.letter, len(nodes)):
            continue
        findings.add("warning", "floating-node", message, file=placed.file, at=at)
