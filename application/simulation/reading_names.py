"""Read the names of a circuit and of what it includes, for somebody who edits it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from application.simulation.circuit_files import read_circuit_file
from domain.circuit.circuit_names import CardCache, CircuitNames
from domain.circuit.completion import Facts
from domain.circuit.dependencies import (
    Definer,
    SourceFile,
    SourceReader,
    SourceRefusal,
    resolve_dependencies,
)
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist

if TYPE_CHECKING:
    from application.ports.simulation import ModelLibrary, SourceReaders
    from application.simulation.checking import CheckCircuit

LARGEST = 2_000_000
"""Bytes of a text whose names are read at every pause of typing: about a second of computing."""


class ReadNames:
    """The use case; one instance serves any number of circuits at the same time."""

    def __init__(
        self, *, check: Callable[[], CheckCircuit], sources: SourceReaders, models: ModelLibrary
    ) -> None:
        self._check = check
        self._sources = sources
        self._models = models

    async def __call__(self, path: Path, texts: Mapping[Path, str], cache: CardCache | None = None) -> Facts:
        """The facts of the circuit (or library) at `path`.

        `texts` are those an editor has of files: they count in place of what is on the disk, and places in
        them are bytes of UTF-8. With the `cache` of the last time only cards that changed are read. Of a text
        over `LARGEST` there are no names. Raises UserInputError for a circuit that cannot be read.
        """
        return await asyncio.to_thread(self.read, path, texts, cache)

    def read(self, path: Path, texts: Mapping[Path, str], cache: CardCache | None = None) -> Facts:
        """The same, blocking."""
        real, reader, _settings = self._check().reader_of(path)
        has_title = real.suffix.lower() not in LIBRARY_SUFFIXES
        models = self._models.models
        open_texts = {Path(os.path.realpath(file)): text for file, text in texts.items()}
        if real in open_texts:
            data = utf8(open_texts[real])
        else:
            data, _, _ = read_circuit_file(self._sources, real, ())
        if len(data) > LARGEST:
            return Facts(file=real, library=models, has_title=has_title)
        netlist = Netlist.parse(data, path=real, has_title=has_title)
        tree = resolve_dependencies(netlist, _WithTexts(reader, open_texts))
        names = CircuitNames(tree, cache)
        names.sort()  # here, not at the first key that asks for it
        return Facts(names=names, file=real, library=models, has_title=has_title)


def utf8(text: str) -> bytes:
    """The bytes an editor counts in."""
    return text.encode("utf-8", "replace")


class _WithTexts:
    """Gives what an editor has of a file in place of what is on the disk."""

    def __init__(self, reader: SourceReader, texts: Mapping[Path, str]) -> None:
        self._reader = reader
        self._texts = texts

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        found = self._reader.read(reference, including_file=including_file)
        if isinstance(found, SourceFile) and found.path in self._texts:
            return SourceFile(path=found.path, data=utf8(self._texts[found.path]))
        return found

    def find(self, name: str) -> Path | None:
        return self._reader.find(name)

    def defining(self, name: str, *, including_file: Path) -> Definer | None:
        return self._reader.defining(name, including_file=including_file)
