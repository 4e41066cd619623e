"""Whether a file is a circuit that can be simulated by itself, and what it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.simulation.circuit_files import load_circuit
from domain.circuit.analyses import ANALYSIS_KINDS
from domain.circuit.dependencies import resolve_dependencies
from domain.circuit.diagnostics import is_fragment
from domain.circuit.netlist import Netlist
from domain.circuit.sections import sections_of
from domain.circuit.structure_checks import misspelt_directive
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from application.ports.simulation import SourceReaders


@dataclass(frozen=True, slots=True)
class Runnable:
    """A circuit."""

    analyses: tuple[tuple[str, str], ...]
    """Kind ("ac") and card ("ac dec 20 1 10meg") of those in its own file, in the order of the file."""
    has_analysis: bool
    """Whether it asks for one at all: in its file, in one it includes, in a control block."""
    is_misspelt: bool = False
    """It asks for one by a name that ngspice does not know: ``.trans``. The run tells."""

    @property
    def is_whole(self) -> bool:
        """Whether nobody has to be asked for an analysis before it is run."""
        return self.has_analysis or self.is_misspelt


def runnable(sources: SourceReaders, file: Path, libraries: Sequence[Path]) -> Runnable | None:
    """What `file` asks for; None when it is no circuit: a text, a library, a part of another. Blocking.

    A complete netlist without an analysis is one; whether another includes it is for the caller to ask.
    """
    try:
        netlist, reader = load_circuit(sources, file, libraries)
    except CircuitAIError:  # gone, or too large: nothing that could be run
        return None
    if is_fragment(netlist) or not (netlist.elements or netlist.includes or netlist.has_control_block):
        return None
    analyses = tuple(
        (item.name, f"{item.name} {item.value}".strip())
        for section in sections_of(netlist)
        if section.kind == "analyses"
        for item in section.items
    )
    if analyses or netlist.has_control_block:
        return Runnable(analyses, has_analysis=True)
    included = resolve_dependencies(netlist, reader).files.values()
    if not netlist.elements and not any(part.elements for part in included):
        return None
    return Runnable(
        (),
        has_analysis=any(part.analyses or part.has_control_block for part in included),
        is_misspelt=_has_misspelt_analysis(netlist),
    )


def _has_misspelt_analysis(netlist: Netlist) -> bool:
    """``.trans 1u 1m``: whoever is asked for an analysis then would write a second one."""
    names = {card.keyword for card in netlist.statements if card.kind == "directive"}
    return any(misspelt_directive(name) in ANALYSIS_KINDS for name in names)
