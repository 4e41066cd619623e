"""Runs that would write more than a run may: what is saved of them then.

LTspice saves no voltages within subcircuits unless it is told to; ngspice saves all. Where a circuit of
LTspice's would pass the limit by that, it is run as LTspice runs it, which is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from domain.circuit.hierarchy import read_circuit
from domain.circuit.instances import instances_of, nodes_of
from domain.circuit.numbers import parse_number
from domain.simulation.request import DEFAULT_RUN_BYTES

if TYPE_CHECKING:
    from domain.circuit.analyses import Analysis
    from domain.circuit.dependencies import DependencyTree
    from domain.circuit.hierarchy import Block

_BYTES_OF_A_VALUE = 8
_FEW_POINTS = 100_000
"""So many fit, whatever is saved of them."""
_MOST_INSTANCES = 2_000
_WITH_BRANCH = frozenset("velh")
"""Elements whose current ngspice solves for and saves."""


def signals_that_fit(tree: DependencyTree, analyses: Sequence[Analysis]) -> tuple[str, ...]:
    """The circuit's own voltages and its sources' currents, where those within its subcircuits besides would
    be too much; () where all fit, or these would not either, or the circuit says itself what is saved."""
    points = max((_points(analysis) for analysis in analyses), default=0.0)
    if points < _FEW_POINTS or any(each.statement.keyword in ("save", "probe") for each in tree.expanded):
        return ()
    circuit = read_circuit(tree)
    own = _signals(circuit.top)
    count = sum(
        len(_signals(block)) for path, block, _ in instances_of(circuit, most=_MOST_INSTANCES) if path
    )
    room = DEFAULT_RUN_BYTES / _BYTES_OF_A_VALUE / points
    return tuple(own) if len(own) < room < len(own) + count else ()


def _points(analysis: Analysis) -> float:
    """How many a transient analysis has at least, by its greatest step; 0 where that is not said."""
    words = analysis.text.split()[1:]
    if analysis.kind != "tran" or len(words) < 4:
        return 0.0
    try:
        _, stop, start, most = map(parse_number, words[:4])
    except ValueError:  # an expression
        return 0.0
    return (stop - start) / most if most > 0 else 0.0


def _signals(block: Block) -> list[str]:
    found: dict[str, None] = {}
    for element, _ in block.elements:
        nodes = (node for node in nodes_of(element) if node != "0" and node not in block.ports)
        found |= dict.fromkeys(f"v({node})" for node in nodes)
        if element.letter in _WITH_BRANCH:
            found[f"i({element.key})"] = None
    return list(found)
