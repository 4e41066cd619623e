"""A SourceReader over files in memory or a plain folder: looks beside the including file only."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from pathlib import Path

from domain.circuit.dependencies import SourceFile, SourceRefusal

FOLDER = Path("/deck")


class MemorySources:
    """Files by path below FOLDER."""

    def __init__(self, files: Mapping[str, str | bytes | SourceRefusal] | None = None) -> None:
        self._files = {str(FOLDER / name): content for name, content in (files or {}).items()}
        self.asked: list[tuple[str, str]] = []

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        """The file, or why not."""
        path = os.path.normpath(including_file.parent / reference)
        self.asked.append((reference, including_file.name))
        content = self._files.get(path, SourceRefusal(path=Path(path), reason="missing"))
        if isinstance(content, SourceRefusal):
            return content
        return SourceFile(path=Path(path), data=content.encode() if isinstance(content, str) else content)

    def find(self, name: str) -> Path | None:
        """The first file of this name."""
        return next((Path(path) for path in self._files if Path(path).name.lower() == name.lower()), None)


class FolderSources:
    """Files on disk, not confined: for decks of our own."""

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        """The file, or why not."""
        path = including_file.parent / reference
        if not path.is_file():
            return SourceRefusal(path=path, reason="folder" if path.is_dir() else "missing")
        return SourceFile(path=path.resolve(), data=path.read_bytes())

    def find(self, name: str) -> Path | None:
        """Nothing is looked for by its name."""
        return None

    def defining(self, name: str, *, including_file: Path) -> None:
        """Nor by what it defines."""
