"""Why a circuit does not converge: from what the simulator said, the wiring, the models and the options.

The rules follow ngspice's manual ("Convergence failure", "Matrix Conditioning info"), L. W. Nagel's "SPICE2:
A computer program to simulate semiconductor circuits" (1975) and K. S. Kundert's "The Designer's Guide to
SPICE and Spectre" (1995): first the wiring, which no option can mend, then tolerances nothing can meet, then
the elements whose equations jump or have no limit, the one the simulator names before the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from domain.circuit.cards import Model
from domain.circuit.dependencies import DependencyTree
from domain.circuit.elements import GROUND, canonical_node
from domain.circuit.hierarchy import Block, PlacedElement, read_circuit
from domain.circuit.numbers import read_number
from domain.circuit.topology import BlockWiring, examine, expression_nodes
from domain.simulation.result import SimulationIssue
from shared.message import Message, msg

CauseCode = Literal[
    "no-dc-path",
    "current-source-without-path",
    "voltage-source-loop",
    "inductor-loop",
    "tolerances-too-tight",
    "out-of-range-function",
    "algebraic-loop",
    "discontinuous-source",
    "steep-source",
    "ideal-switch",
    "no-series-resistance",
    "no-charge-storage",
    "no-operating-point",
    "time-step-too-small",
    "singular-matrix",
]

TROUBLES = frozenset({"singular-matrix", "no-convergence", "timestep-too-small", "transient-op"})
"""Codes of issues that mean there was no (single) solution, or only a guess."""

DEFAULTS = {"reltol": 1e-3, "abstol": 1e-12, "vntol": 1e-6, "gmin": 1e-12, "chgtol": 1e-14, "trtol": 7.0}
"""ngspice's own."""
_TIGHTEST = {"reltol": 1e-7, "abstol": 1e-16, "vntol": 1e-10, "gmin": 1e-16, "chgtol": 1e-19}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What keeps a circuit from converging."""

    code: CauseCode
    message: Message
    evidence: tuple[Message, ...]
    elements: tuple[PlacedElement, ...] = ()
    """Those it is about, the chief one first."""
    nodes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Of nodes without a direct current, one of each group that needs a path to ground."""
    options: tuple[str, ...] = ()
    """Names of options, lower case."""


def has_trouble(issues: Sequence[SimulationIssue]) -> bool:
    """A run of these issues has no solution that can be trusted."""
    return any(issue.code in TROUBLES for issue in issues)


def find_cause(tree: DependencyTree, issues: Sequence[SimulationIssue]) -> Cause | None:
    """The likeliest cause of a run's convergence trouble; None when there is no trouble."""
    if not has_trouble(issues):
        return None
    return next(_causes(_Case(tree, issues)))


class _Case:
    """Everything the rules look at."""

    def __init__(self, tree: DependencyTree, issues: Sequence[SimulationIssue]) -> None:
        self.tree = tree
        self.issues = [issue for issue in issues if issue.code in TROUBLES or issue.code == "math-domain"]
        circuit = read_circuit(tree)
        self.wiring: dict[Block, BlockWiring] = {}
        if circuit.top.elements:
            examine(circuit.top, circuit.global_nodes, self.wiring)
        named = {(issue.element or "").lower().split(".")[-1] for issue in self.issues} - {""}
        nodes = {canonical_node((issue.node or "").split(".")[-1]) for issue in self.issues if issue.node}
        placed = [element for block in self.wiring for element in block.elements]
        self.elements = sorted(placed, key=lambda item: self._distance(item, named, nodes))
        """The ones in trouble first."""
        self.blocks = {id(item): block for block in self.wiring for item in block.elements}
        self.is_transient = any(issue.code == "timestep-too-small" for issue in self.issues)
        self.is_solved_by_uic = any(
            card.statement.keyword == "tran" and card.statement.words[-1].key == "uic"
            for card in tree.expanded
            if card.statement.kind == "directive"
        )

    @staticmethod
    def _distance(item: PlacedElement, named: set[str], nodes: set[str]) -> int:
        if item.element.key in named:
            return 0
        touched = {canonical_node(node.text) for node in item.element.nodes}
        return 1 if touched & nodes else 2

    def said(self) -> tuple[Message, ...]:
        return tuple(issue.message for issue in self.issues)

    def model_of(self, item: PlacedElement) -> Model | None:
        name = item.element.model
        return None if name is None else self.blocks[id(item)].find_model(name.text)


def _causes(case: _Case) -> Iterator[Cause]:
    yield from _wiring(case)
    yield from _tolerances(case)
    yield from _functions(case)
    yield from _switches(case)
    yield from _sources(case)
    yield from _junctions(case)
    yield from _otherwise(case)


# ---- wiring -----------------------------------------------------------------------------------------


def _wiring(case: _Case) -> Iterator[Cause]:
    loops = [(loop.element, loop.has_inductor) for wiring in case.wiring.values() for loop in wiring.loops]
    loops += [(item, False) for wiring in case.wiring.values() for item in wiring.shorted]
    sources = tuple(item for item, has_inductor in loops if not has_inductor)
    inductors = tuple(item for item, has_inductor in loops if has_inductor)
    if sources:
        yield Cause(
            code="voltage-source-loop",
            message=msg("{name} closes a loop of voltage sources: two equations for one voltage.",
                        name=_names(sources)),
            evidence=case.said(), elements=sources,
        )  # fmt: skip
    if inductors:
        yield Cause(
            code="inductor-loop",
            message=msg("{name} closes a loop of inductors and voltage sources: at DC nothing limits its "
                        "current.", name=_names(inductors)),
            evidence=case.said(), elements=inductors,
        )  # fmt: skip
    if case.is_solved_by_uic and case.is_transient:
        return  # the run did not need an operating point
    for wiring in case.wiring.values():
        yield from _floating_causes(case, [group.nodes for group in wiring.floating])


def _names(items: Sequence[PlacedElement]) -> str:
    return ", ".join(dict.fromkeys(item.element.name for item in items))


def _floating_causes(case: _Case, groups: Sequence[tuple[str, ...]]) -> Iterator[Cause]:
    """Groups a current source feeds each for itself, all others together; every one needs its path."""
    paths = tuple(nodes[0] for nodes in groups)
    found = [(_floating_cause(case, nodes), nodes) for nodes in groups]
    yield from (replace(cause, paths=paths) for cause, _ in found if cause.code != "no-dc-path")
    quiet = tuple(node for cause, nodes in found if cause.code == "no-dc-path" for node in nodes)
    if quiet:
        yield replace(_floating_cause(case, quiet), paths=paths)


def _floating_cause(case: _Case, nodes: tuple[str, ...]) -> Cause:
    touching = tuple(
        item
        for item in case.elements
        if {canonical_node(node.text) for node in item.element.nodes} & set(nodes)
    )
    drives = [item for item in touching if item.element.letter in "ifg" or item.element.output == "current"]
    names = ", ".join(nodes[:4])
    if drives:
        return Cause(
            code="current-source-without-path",
            message=msg("The current of {name} has no path at DC: only capacitors and current sources "
                        "are connected to {nodes}.", name=drives[0].element.name, nodes=names),
            evidence=case.said(), elements=(*drives, *touching), nodes=nodes,
        )  # fmt: skip
    return Cause(
        code="no-dc-path",
        message=msg("No DC current can reach {nodes}, so the voltage there is undefined.", nodes=names),
        evidence=case.said(), elements=touching, nodes=nodes,
    )  # fmt: skip


# ---- options ----------------------------------------------------------------------------------------


def option_values(tree: DependencyTree) -> dict[str, float]:
    """The numbers on `.options` cards, by lower-case name; the last one counts."""
    found: dict[str, float] = {}
    for placed in tree.expanded:
        card = placed.statement
        if card.kind == "directive" and card.keyword == "options":
            for match in re.finditer(r"(\w+)\s*=\s*([^\s,]+)", card.raw):
                number = read_number(match[2])
                if number is not None:
                    found[match[1].lower()] = number.value
    return found


def _tolerances(case: _Case) -> Iterator[Cause]:
    options = option_values(case.tree)
    tight = tuple(name for name, least in _TIGHTEST.items() if options.get(name, least) < least)
    if tight:
        values = ", ".join(f"{name}={options[name]:g}" for name in tight)
        yield Cause(
            code="tolerances-too-tight",
            message=msg("Double-precision numbers cannot meet these tolerances: {values}.", values=values),
            evidence=case.said(), options=tight,
        )  # fmt: skip


# ---- elements ---------------------------------------------------------------------------------------

_JUMP = re.compile(r"\b(?:sgn|sign|u|stp|floor|ceil|int|nint|if|ternary_fcn|buf|inv)\s*\(|\?", re.IGNORECASE)
_LIMITED = re.compile(
    r"\b(?:sqrt|ln|log|log10|asin|acos|acosh|atanh)\s*\(|/\s*\(?\s*[vi]\s*\(", re.IGNORECASE
)
_TABLE = re.compile(r"\b(?:table|pwl)\b\s*[({]?(?P<rest>.*)", re.IGNORECASE)
_EXPONENTIAL = re.compile(r"\bexp\s*\(", re.IGNORECASE)
STEEP_PER_VOLT = 1e5
"""A table that rises faster than this is as good as a jump."""


def _expressions(item: PlacedElement) -> str:
    return " ".join(field.text for field in item.element.expressions)


def _functions(case: _Case) -> Iterator[Cause]:
    left_range = {
        (issue.element or "").lower().split(".")[-1] for issue in case.issues if issue.code == "math-domain"
    }
    for item in case.elements:
        if item.element.key in left_range and _LIMITED.search(_expressions(item)):
            yield Cause(
                code="out-of-range-function",
                message=msg("{name} has a function whose value or slope is unbounded where the circuit "
                            "operates: {expression}.",
                            name=item.element.name, expression=_expressions(item).strip()),
                evidence=case.said(), elements=(item,),
            )  # fmt: skip


def _switches(case: _Case) -> Iterator[Cause]:
    for item in case.elements:
        model = case.model_of(item)
        if item.element.letter not in "sw" or model is None:
            continue
        values = model_numbers(model)
        own = {canonical_node(node.text) for node in item.element.nodes} - {GROUND}
        controls = {canonical_node(node.text) for node in item.element.control_nodes} - {GROUND}
        is_bare = values.get("vh", values.get("ih", 0.0)) == 0
        ratio = values.get("roff", 1e12) / max(values.get("ron", 1.0), 1e-30)
        is_named = any((issue.element or "").lower() == item.element.key for issue in case.issues)
        if (is_bare and (own & controls or is_named)) or (is_named and ratio > 1e12):
            yield Cause(
                code="ideal-switch",
                message=msg("{name} switches without hysteresis between resistances a factor of "
                            "{ratio} apart.",
                            name=item.element.name, ratio=f"{ratio:.0e}"),
                evidence=case.said(), elements=(item,),
            )  # fmt: skip


def _sources(case: _Case) -> Iterator[Cause]:
    for item in case.elements:
        text = _expressions(item)
        if not text:
            continue
        if _looks_at_itself(item):
            yield Cause(
                code="algebraic-loop",
                message=msg("{name} depends instantly on the very voltage it sets: {expression}. Such "
                            "an equation may have no solution.",
                            name=item.element.name, expression=text.strip()),
                evidence=case.said(), elements=(item,),
            )  # fmt: skip
        if _JUMP.search(text):
            yield Cause(
                code="discontinuous-source",
                message=msg("{name} jumps from one value to another: {expression}. Newton's method "
                            "needs a continuous slope.", name=item.element.name, expression=text.strip()),
                evidence=case.said(), elements=(item,),
            )  # fmt: skip
        slope = table_slope(item.element.statement.raw)
        if slope is not None and slope > STEEP_PER_VOLT:
            yield Cause(
                code="steep-source",
                message=msg("The table of {name} rises by {slope} per volt, with nothing to slow it down.",
                            name=item.element.name, slope=f"{slope:.1e}"),
                evidence=case.said(), elements=(item,),
            )  # fmt: skip
        if _LIMITED.search(text):
            yield Cause(
                code="out-of-range-function",
                message=msg("{name} has a function whose value or slope is unbounded where the circuit "
                            "operates: {expression}.", name=item.element.name, expression=text.strip()),
                evidence=case.said(), elements=(item,),
            )  # fmt: skip
        if _EXPONENTIAL.search(text):
            yield Cause(
                code="steep-source",
                message=msg("{name} grows exponentially without limit: {expression}.",
                            name=item.element.name, expression=text.strip()),
                evidence=case.said(), elements=(item,),
            )  # fmt: skip


def _looks_at_itself(item: PlacedElement) -> bool:
    """A voltage source written with its own voltage, and without a jump (which is told by itself)."""
    own = {canonical_node(node.text) for node in item.element.nodes} - {GROUND}
    is_smooth = _JUMP.search(_expressions(item)) is None
    return is_smooth and item.element.output == "voltage" and bool(own & set(expression_nodes(item.element)))


def table_slope(raw: str) -> float | None:
    """The steepest rise of a TABLE or pwl() on a card, output a volt; None without one."""
    match = _TABLE.search(raw)
    if match is None:
        return None
    tail = match["rest"]
    tail = tail.split("=", 1)[1] if "=" in tail else tail.split(",", 1)[-1]
    numbers = [number.value for word in re.split(r"[(),\s]+", tail) if (number := read_number(word))]
    points = list(zip(numbers[::2], numbers[1::2], strict=False))
    slopes = [abs((y1 - y0) / (x1 - x0)) for (x0, y0), (x1, y1) in pairwise(points) if x1 != x0]
    return max(slopes, default=None)


def model_numbers(model: Model) -> dict[str, float]:
    """The parameters of a `.model` card that are plain numbers, by lower-case name."""
    found = {}
    for match in re.finditer(r"(\w+)\s*=\s*([^\s(),=]+)", model.statement.raw):
        number = read_number(match[2])
        if number is not None:
            found[match[1].lower()] = number.value
    return found


_CHARGES = {
    **dict.fromkeys(("npn", "pnp"), ("cje", "cjc", "tf", "tr", "cjs")),
    **dict.fromkeys(("nmos", "pmos"), ("cgso", "cgdo", "tox", "cbd", "cbs", "cj", "level")),
    **dict.fromkeys(("njf", "pjf"), ("cgs", "cgd")),
    "d": ("cjo", "tt", "cj0"),
}  # fmt: skip


def _junctions(case: _Case) -> Iterator[Cause]:
    for item in case.elements:
        model = case.model_of(item)
        if model is None or item.element.letter not in "dqmj":
            continue
        values = model_numbers(model)
        if item.element.letter == "d" and not values.get("rs") and _is_across_source(case, item):
            yield Cause(
                code="no-series-resistance",
                message=msg("{name} is directly across a voltage source and has no series resistance: "
                            "its current is unlimited.", name=item.element.name),
                evidence=case.said(), elements=(item,),
            )  # fmt: skip
        charges = _CHARGES.get(model.type, ())
        if case.is_transient and charges and not any(values.get(name) for name in charges):
            yield Cause(
                code="no-charge-storage",
                message=msg("The model {model} of {name} stores no charge, so the circuit has to "
                            "switch instantaneously.", model=model.name, name=item.element.name),
                evidence=case.said(), elements=(item,),
            )  # fmt: skip


def _is_across_source(case: _Case, item: PlacedElement) -> bool:
    ends = {canonical_node(node.text) for node in item.element.nodes[:2]}
    return any(
        other.element.letter in "ve"
        and {canonical_node(node.text) for node in other.element.nodes[:2]} == ends
        for other in case.blocks[id(item)].elements
    )


def _otherwise(case: _Case) -> Iterator[Cause]:
    codes = {issue.code for issue in case.issues}
    nodes = tuple(issue.node for issue in case.issues if issue.node)
    said = case.said()
    if "no-convergence" in codes or "transient-op" in codes:
        message = msg("No operating point was found; an initial guess or a more gradual approach may help.")
        yield Cause(code="no-operating-point", message=message, evidence=said, nodes=nodes)
    if "timestep-too-small" in codes:
        message = msg("A signal changes faster than the minimum time step.")
        yield Cause(code="time-step-too-small", message=message, evidence=said, nodes=nodes)
    message = msg("The equations have no unique solution.")
    yield Cause(code="singular-matrix", message=message, evidence=said, nodes=nodes)
