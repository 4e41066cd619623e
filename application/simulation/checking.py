"""Check a circuit file: read it as a simulation would, resolve what it includes, say what is wrong, without
running it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from application.simulation.circuit_files import read_circuit_file
from application.simulation.library_hints import found_elsewhere, hinted
from application.simulation.translated_circuits import (
    CircuitTranslator,
    TranslatingReader,
    with_paths_to_ground,
    with_stand_ins,
)
from domain.circuit.dependencies import SourceFile, SourceReader, resolve_dependencies
from domain.circuit.diagnostics import Diagnostic, diagnose
from domain.circuit.dialects import functions_of_mode, plain_text
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from domain.circuit.simulator_settings import Dialect, SimulatorSettings
from domain.circuit.stepping import step_axes, unstepped
from shared.errors import UserInputError
from shared.message import Message

if TYPE_CHECKING:
    from application.ports.simulation import SimulatorSettingsStore, SourceReaders
    from shared.cpu_executor import CpuTaskExecutor


class CheckReport(NamedTuple):
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
        settings: SimulatorSettingsStore | None = None,
        libraries: Callable[[], tuple[Path, ...]] = tuple,
        cpu: Callable[[], CpuTaskExecutor] | None = None,
    ) -> None:
        self._sources = sources
        self._settings = settings
        """What the user set for the circuits of each project; None: plain ones."""
        self._libraries = libraries
        """The user's own, for every circuit."""
        self._cpu = cpu
        """Checks large texts of an editor; None: a thread does."""

    async def __call__(
        self,
        path: Path,
        libraries: Sequence[Path] = (),
        *,
        data: bytes | None = None,
        dialect: Dialect | None = None,
    ) -> CheckReport:
        """Diagnose the circuit (or library) at `path`; with `data`, that content in its place.

        It is read as `simulate` does: in its dialect (`dialect`: what the caller says it is), with the
        libraries, model files and variables of its project's settings. An editor's unsaved text is given as
        `data`: `path` then need not exist, and only says what the text includes. Raises UserInputError when
        it is no regular, readable file of at most 20 MB.
        """
        import asyncio

        if data is None or len(data) < _LARGE or self._cpu is None:
            return await asyncio.to_thread(self.check, path, libraries, data=data, dialect=dialect)
        real, reader, settings = await asyncio.to_thread(self.reader_of, path, libraries)
        found = await self._cpu().run(_diagnostics_to_send, real, data, reader, settings, dialect)
        return CheckReport(file=real, diagnostics=found)

    def check(
        self,
        path: Path,
        libraries: Sequence[Path] = (),
        *,
        data: bytes | None = None,
        dialect: Dialect | None = None,
    ) -> CheckReport:
        """The same, blocking, here: a command that does nothing else needs no loop, and no import of one."""
        if data is None:
            settings = self._settings_of(path)
            data, real, reader = read_circuit_file(self._sources, path, self._folders(libraries, settings))
        else:
            real, reader, settings = self.reader_of(path, libraries)
        return CheckReport(file=real, diagnostics=_diagnostics(real, data, reader, settings, dialect))

    def reader_of(
        self, path: Path, libraries: Sequence[Path] = ()
    ) -> tuple[Path, SourceReader, SimulatorSettings]:
        """The real path of a circuit, the reader of what it includes, and its settings. Blocking."""
        real = Path(os.path.realpath(path))
        settings = self._settings_of(path)
        return real, self._sources.for_circuit(real, self._folders(libraries, settings)), settings

    def _settings_of(self, path: Path) -> SimulatorSettings:
        return SimulatorSettings() if self._settings is None else self._settings.of_circuit(path)

    def _folders(self, libraries: Sequence[Path], settings: SimulatorSettings) -> tuple[Path, ...]:
        return (*libraries, *self._libraries(), *settings.readable)


def _diagnostics(
    path: Path, data: bytes, reader: SourceReader, settings: SimulatorSettings, dialect: Dialect | None
) -> tuple[Diagnostic, ...]:
    translator = CircuitTranslator(settings, dialect, reader)
    seen = TranslatingReader(reader, translator)
    try:
        if path.suffix.lower() in LIBRARY_SUFFIXES:  # made to be included: its first line is no title
            translator.dialect = dialect or settings.dialect or "ngspice"
            source = translator.included(SourceFile(path=path, data=data))
            netlist = Netlist.parse(source.data, path=path, has_title=False)
        else:
            netlist = translator.main(data, path)
        netlist, tree = with_stand_ins(netlist, resolve_dependencies(netlist, seen), translator, seen)
        netlist, tree = with_paths_to_ground(netlist, tree, translator, seen)
    except UserInputError as error:  # encrypted
        found = Diagnostic(
            severity="error", code="encoding", message=error.message, file=error.file, line=error.line or 1
        )
        return (found,)
    unread: list[Diagnostic] = list(found_elsewhere(netlist, tree))
    try:
        if axes := step_axes(netlist):  # we do the steps: ngspice does not see the cards
            netlist = unstepped(netlist, axes)
            tree = resolve_dependencies(netlist, seen)
    except UserInputError as error:
        unread.append(
            Diagnostic(
                severity="error", code="bad-analysis", message=error.message, file=path, line=error.line or 1
            )
        )
    found_here = hinted(
        diagnose(netlist, tree, functions=functions_of_mode(translator.compatibility)), seen, tree
    )
    written = Netlist.parse(plain_text(data), path=path)
    told = {each.line for each in unread if each.severity == "error"}
    ours = len(written.source.lines)  # behind them stand cards that the settings and the translation added
    kept = (
        each
        for each in found_here
        if each.file != path or (each.line not in told and (each.line <= ours or each.severity == "error"))
    )
    placed = (_placed(each, netlist, written) for each in kept)
    told_once = {(each.file, each.line, each.column, each.code, str(each.message)): each for each in placed}
    return (*unread, *told_once.values())  # a word that was written out twice is one fault of its line


def _placed(found: Diagnostic, read: Netlist, written: Netlist) -> Diagnostic:
    """A finding in what was `read`, at its place in what the user has `written`."""
    if found.file != written.path:
        return found
    count = len(written.source.lines)
    if found.line > count:  # a card that the settings or the translation added
        return found._replace(line=max(count, 1), column=None)
    is_same = read.source.line_text(found.line) == written.source.line_text(found.line)
    return found if is_same else found._replace(column=None)


def _diagnostics_to_send(
    path: Path, data: bytes, reader: SourceReader, settings: SimulatorSettings, dialect: Dialect | None
) -> tuple[Diagnostic, ...]:
    """In a worker process: what is found there has to travel by pickle."""
    found = _diagnostics(path, data, reader, settings, dialect)
    return tuple(each._replace(message=_portable(each.message)) for each in found)


def _portable(message: Message) -> Message:
    params = {name: _portable(v) if isinstance(v, Message) else v for name, v in message.params.items()}
    return Message(message.template, params)  # the read-only mapping of `msg` cannot be pickled
