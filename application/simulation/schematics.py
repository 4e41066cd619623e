"""Draw the schematic of a circuit file, and write it as a picture."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol

from application.simulation.circuit_files import read_circuit_file
from application.simulation.translated_circuits import CircuitTranslator, TranslatingReader, with_stand_ins
from domain.circuit.dependencies import SourceReader, resolve_dependencies
from domain.circuit.hierarchy import Block, read_circuit
from domain.circuit.schematic.display import Drawing
from domain.circuit.schematic.drawing import FIRST, FULL, Effort, arranged, draw, moved
from domain.circuit.schematic.parts import Page, page_of
from domain.circuit.schematic.placing import Place
from domain.circuit.schematic.symbols import Sides, SymbolSet
from domain.circuit.simulator_settings import SimulatorSettings
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.ports.simulation import SimulatorSettingsStore, SourceReaders
    from shared.cpu_executor import CpuTaskExecutor

MOST_PARTS = 300
"""On one page: more take minutes to place, and nobody reads them at once."""

SchematicFormat = Literal["svg", "png", "pdf"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchematicTarget:
    """Where a drawing goes, and how it is written."""

    file: Path | BinaryIO
    format: SchematicFormat
    overwrite: bool = False
    is_dark: bool = False
    """In the colours of the dark theme."""


class SchematicWriter(Protocol):
    """Writes drawings as pictures. Blocking."""

    def write(self, drawing: Drawing, target: SchematicTarget) -> None:
        """Whole or not at all.

        Raises UserInputError when the target exists and is not to be overwritten or can be no file,
        EnvironmentProblem when it can't be written or a library is missing.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitPages:
    """A circuit as it is drawn: one page for the top level and one for each subcircuit."""

    page: Page
    scopes: tuple[str, ...]
    """Of all its subcircuits: ``opamp``, ``outer.inner``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawSchematic:
    """The use case behind `schematic` and the panel."""

    sources: SourceReaders
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]]
    """The user's own, for every circuit."""
    writer: SchematicWriter
    cpu: Callable[[], CpuTaskExecutor]
    """Searches for places, for those who have a loop."""

    async def read(self, path: Path, *, scope: str = "", data: bytes | None = None) -> CircuitPages:
        """As `pages`, without holding the loop."""
        import asyncio

        return await asyncio.to_thread(self.pages, path, scope=scope, data=data)

    async def followed(self, page: Page, previous: Drawing, *, symbols: SymbolSet) -> Drawing:
        """The drawing behind a change: some milliseconds where most of it stays."""
        import asyncio

        return await asyncio.to_thread(draw, page, symbols=symbols, effort=FIRST, previous=previous)

    async def arranged(
        self, page: Page, places: Mapping[str, Place], *, symbols: SymbolSet
    ) -> Drawing | None:
        """The page with its parts at kept places; None where they do not fit it."""
        import asyncio

        return await asyncio.to_thread(arranged, page, places, symbols=symbols)

    async def moved(
        self, page: Page, previous: Drawing, element: str, by: tuple[int, int], *, symbols: SymbolSet
    ) -> Drawing:
        """An element moved by hand. Raises UserInputError where it cannot stand there."""
        import asyncio

        return await asyncio.to_thread(moved, page, previous, element, by, symbols=symbols)

    async def searched(self, page: Page, *, symbols: SymbolSet, effort: Effort) -> Drawing:
        """The page drawn anew, in a worker process: a cancellation ends it at once."""
        found = await self.cpu().run(_drawn, replace(page, undrawn=()), symbols, effort)
        return replace(found, undrawn=page.undrawn)

    async def save(self, drawing: Drawing, target: SchematicTarget) -> None:
        """As `write`, without holding the loop."""
        from shared.uninterrupted import off_loop

        await off_loop(self.write, drawing, target)

    def pages(
        self, path: Path, *, scope: str = "", data: bytes | None = None, libraries: Sequence[Path] = ()
    ) -> CircuitPages:
        """What is drawn of the circuit at `path`; with `data`, that content in its place.

        It is read as `simulate` does, in its dialect, with the settings of its project. Raises UserInputError
        when it is no readable file, has no element to draw, or no such subcircuit.
        """
        settings = self.settings.of_circuit(path)
        folders = (*libraries, *self.libraries(), *settings.readable)
        if data is None:
            data, real, reader = read_circuit_file(self.sources, path, folders)
        else:
            real = Path(os.path.realpath(path))
            reader = self.sources.for_circuit(real, folders)
        return _pages(data, real, reader, settings, scope)

    def draw(
        self, page: Page, *, symbols: SymbolSet = "iec", places: Mapping[str, Place] | None = None
    ) -> Drawing:
        """The page's drawing, with its parts at kept `places` where they fit it, else searched for as long as
        it takes. Blocking."""
        kept = arranged(page, places, symbols=symbols) if places else None
        return kept or draw(page, symbols=symbols, effort=FULL)

    def write(self, drawing: Drawing, target: SchematicTarget) -> None:
        """Errors as of `SchematicWriter.write`."""
        self.writer.write(drawing, target)


def places_by_hand(kept: Mapping[str, tuple[int, int, int, bool, bool]]) -> dict[str, Place]:
    """Places as the window keeps them (`CircuitView.schematic`), by the element's name in lower case."""
    return {
        name: Place(x, y, flip, turn, upright, Sides()) for name, (x, y, turn, flip, upright) in kept.items()
    }


def _drawn(page: Page, symbols: SymbolSet, effort: Effort) -> Drawing:
    return draw(page, symbols=symbols, effort=effort)


def _pages(
    data: bytes, real: Path, reader: SourceReader, settings: SimulatorSettings, scope: str
) -> CircuitPages:
    translator = CircuitTranslator(settings, None, reader)
    seen = TranslatingReader(reader, translator)
    netlist = translator.main(data, real)
    netlist, tree = with_stand_ins(netlist, resolve_dependencies(netlist, seen), translator, seen)
    circuit = read_circuit(tree)
    scopes = tuple(_path(block) for block in circuit.top.walk() if block.subcircuit is not None)
    page = page_of(tree, circuit, scope)
    if page is None:
        raise UserInputError(
            msg("{path} has no subcircuit {name}.", path=real, name=scope),
            advice=msg("Subcircuits: {names}.", names=", ".join(scopes) or "-"),
            file=real,
            error_type="unknown_subcircuit",
        )
    if not page.parts and page.undrawn:
        first = page.undrawn[0]
        raise UserInputError(
            first.message,
            advice=msg("Correct the line; the rest is drawn then."),
            file=real,
            line=first.line,
            error_type="nothing_to_draw",
        )
    if not page.parts:
        raise UserInputError(
            msg("{path} has no element to draw.", path=real),
            advice=msg("Choose one of its subcircuits: {names}.", names=", ".join(scopes))
            if scopes
            else msg("Specify a SPICE netlist with elements, for example R1 in out 1k."),
            file=real,
            error_type="nothing_to_draw",
        )
    if len(page.parts) > MOST_PARTS:
        raise UserInputError(
            msg(
                "{path} has {count} elements on one page; at most {most} are drawn.",
                path=real,
                count=len(page.parts),
                most=MOST_PARTS,
            ),
            advice=msg("Choose one of its subcircuits: {names}.", names=", ".join(scopes))
            if scopes
            else msg("Put parts of the circuit into subcircuits; each has a page of its own."),
            file=real,
            error_type="too_large",
        )
    return CircuitPages(page=page, scopes=scopes)


def _path(block: Block) -> str:
    return ".".join(reversed([each.name.lower() for each in block.lineage if each.subcircuit is not None]))
