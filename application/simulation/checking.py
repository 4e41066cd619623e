"""Check a circuit file: read it, resolve what it includes, say what is wrong, without running it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from application.simulation.circuit_files import load_circuit
from domain.circuit.dependencies import resolve_dependencies
from domain.circuit.diagnostics import Diagnostic, diagnose
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from shared.message import Message

if TYPE_CHECKING:
    from application.ports.simulation import SourceReaders
    from domain.circuit.dependencies import SourceReader
    from shared.cpu_executor import CpuTaskExecutor


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


_LARGE = 40_000
"""Bytes of a circuit from which on it is checked in a worker process: in a thread, Python's collector of
garbage would stop the whole program for tens of milliseconds."""


class CheckCircuit:
    """The use case; one instance serves any number of checks at the same time."""

    def __init__(
        self,
        *,
        sources: SourceReaders,
        libraries: tuple[Path, ...] = (),
        cpu: CpuTaskExecutor | None = None,
    ) -> None:
        self._sources = sources
        self._libraries = libraries
        """The user's own, for every circuit."""
        self._cpu = cpu
        """Checks large texts of an editor; None: a thread does."""

    async def __call__(
        self, path: Path, libraries: Sequence[Path] = (), *, data: bytes | None = None
    ) -> CheckReport:
        """Diagnose the circuit (or library) at `path`; with `data`, that content in its place.

        An editor's unsaved text is given as `data`: `path` then need not exist, and only says what the
        text includes. Raises UserInputError when it is no regular, readable file of at most 20 MB.
        """
        if data is None or len(data) < _LARGE or self._cpu is None:
            return await asyncio.to_thread(self.check, path, libraries, data=data)
        real, reader = await asyncio.to_thread(self._reader, path, libraries)
        found = await self._cpu.run(_diagnostics_to_send, real, data, reader)
        return CheckReport(file=real, diagnostics=found)

    def check(self, path: Path, libraries: Sequence[Path] = (), *, data: bytes | None = None) -> CheckReport:
        """The same, blocking, here."""
        if data is None:
            netlist, reader = load_circuit(self._sources, path, (*libraries, *self._libraries))
            real, data = netlist.path or path, netlist.to_bytes()
        else:
            real, reader = self._reader(path, libraries)
        return CheckReport(file=real, diagnostics=_diagnostics(real, data, reader))

    def _reader(self, path: Path, libraries: Sequence[Path]) -> tuple[Path, SourceReader]:
        real = Path(os.path.realpath(path))
        return real, self._sources.for_circuit(real, (*libraries, *self._libraries))


def _diagnostics(path: Path, data: bytes, reader: SourceReader) -> tuple[Diagnostic, ...]:
    # A library is made to be included: its first line is no title.
    netlist = Netlist.parse(data, path=path, has_title=path.suffix.lower() not in LIBRARY_SUFFIXES)
    return diagnose(netlist, resolve_dependencies(netlist, reader))


def _diagnostics_to_send(path: Path, data: bytes, reader: SourceReader) -> tuple[Diagnostic, ...]:
    """In a worker process: what is found there has to travel by pickle."""
    found = _diagnostics(path, data, reader)
    return tuple(replace(each, message=_portable(each.message)) for each in found)


def _portable(message: Message) -> Message:
    params = {name: _portable(v) if isinstance(v, Message) else v for name, v in message.params.items()}
    return Message(message.template, params)  # the read-only mapping of `msg` cannot be pickled
