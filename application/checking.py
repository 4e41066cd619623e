"""Check a circuit file: read it, resolve what it includes, say what is wrong, without running it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.circuit_files import load_circuit
from domain.circuit.dependencies import resolve_dependencies
from domain.circuit.diagnostics import Diagnostic, diagnose
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist

if TYPE_CHECKING:
    from application.ports import SourceReaders


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What a check found."""

    file: Path
    """Real path of the checked file."""
    diagnostics: tuple[Diagnostic, ...]

    @property
    def has_errors(self) -> bool:
        """Something in it keeps ngspice from a result."""
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)


class CheckCircuit:
    """The use case; one instance serves any number of checks at the same time."""

    def __init__(self, *, sources: SourceReaders, libraries: tuple[Path, ...] = ()) -> None:
        self._sources = sources
        self._libraries = libraries
        """The user's own, for every circuit."""

    async def __call__(self, path: Path, libraries: Sequence[Path] = ()) -> CheckReport:
        """Diagnose the circuit (or library) at `path`.

        Raises UserInputError when it is no regular, readable file of at most 20 MB.
        """
        return await asyncio.to_thread(self.check, path, libraries)

    def check(self, path: Path, libraries: Sequence[Path] = ()) -> CheckReport:
        """The same, blocking."""
        netlist, reader = load_circuit(self._sources, path, (*libraries, *self._libraries))
        if path.suffix.lower() in LIBRARY_SUFFIXES:  # made to be included: its first line is no title
            netlist = Netlist.parse(netlist.to_bytes(), path=netlist.path, has_title=False)
        tree = resolve_dependencies(netlist, reader)
        return CheckReport(file=netlist.path or path, diagnostics=diagnose(netlist, tree))
