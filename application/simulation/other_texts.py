"""Circuits read as they were, or as they are being written: other contents in place of those on the disk."""

from __future__ import annotations

import os.path
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from domain.circuit.dependencies import SourceFile, SourceRefusal

if TYPE_CHECKING:
    from application.ports.simulation import SourceReaders
    from domain.circuit.dependencies import Definer, SourceReader


class WithTexts:
    """Readers that see files with these contents (real paths; None: as if there was no such file), also where
    there is none yet. Implements application.ports.simulation.SourceReaders."""

    def __init__(self, sources: SourceReaders, contents: Mapping[Path, bytes | None]) -> None:
        self._sources = sources
        self._contents = contents
        self.seen: dict[Path, bytes] = {}
        """What was read, by real path."""

    def for_circuit(self, circuit: Path, libraries: Sequence[Path]) -> SourceReader:
        return _Reader(self._sources.for_circuit(circuit, libraries), self._contents, self.seen)


class _Reader:
    """Implements domain.circuit.dependencies.SourceReader."""

    def __init__(
        self, reader: SourceReader, contents: Mapping[Path, bytes | None], seen: dict[Path, bytes]
    ) -> None:
        self._reader = reader
        self._contents = contents
        self._seen = seen

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        found = self._reader.read(reference, including_file=including_file)
        if isinstance(found, SourceRefusal) and found.reason != "missing":
            return found
        path = Path(os.path.normpath(found.path))
        if path not in self._contents:
            if isinstance(found, SourceFile):
                self._seen[path] = found.data
            return found
        other = self._contents[path]
        if other is None:
            return SourceRefusal(path=path, reason="missing")
        self._seen[path] = other
        if isinstance(found, SourceFile) and other == found.data:
            return found
        # A run takes the text itself along: what is on the disk is another.
        return SourceFile(path=path, data=other, rewritten=True)

    def find(self, name: str) -> Path | None:
        return self._reader.find(name)

    def defining(self, name: str, *, including_file: Path) -> Definer | None:
        return self._reader.defining(name, including_file=including_file)
