"""The texts of a project as a model of another program is shown them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from domain.circuit.netlist import NETLIST_SUFFIXES
from domain.llm.tools.text_files import BinaryFileError, decode
from shared.errors import UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.project_view import ProjectView

_TEXTS = NETLIST_SUFFIXES | {".txt", ".md"}
_MOST_FILES = 200
_MOST_LOOKED_AT = 5000
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFile:
    """A text of the project."""

    name: str
    """Relative to the project, forward slashes."""
    size: int
    """Bytes."""
    is_netlist: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShareProject:
    """The use case. The model may be anywhere: what ``.circuitaiignore`` names is kept back."""

    views: Callable[[Path], ProjectView]

    async def files(self, root: Path) -> tuple[SharedFile, ...]:
        """The netlists, libraries and notes of a project, 200 at most."""
        return await off_loop(self._files, root)

    async def text(self, root: Path, name: str) -> str:
        """The text of a file, 1 MB at most.

        Raises UserInputError ("file_not_found", "outside_project", "ignored", "binary_file", "too_large").
        """
        return await off_loop(self._text, root, name)

    def _view(self, root: Path) -> ProjectView:
        return self.views(root).for_network()

    def _files(self, root: Path) -> tuple[SharedFile, ...]:
        view = self._view(root)
        found = []
        for entry in islice(view.walk(view.root), _MOST_LOOKED_AT):
            suffix = Path(entry.name).suffix.lower()
            if entry.kind == "file" and suffix in _TEXTS:
                is_netlist = suffix in NETLIST_SUFFIXES
                found.append(SharedFile(name=entry.name, size=entry.size, is_netlist=is_netlist))
                if len(found) == _MOST_FILES:
                    break
        return tuple(found)

    def _text(self, root: Path, name: str) -> str:
        view = self._view(root)
        path = view.locate(name)
        try:
            with view.open(path) as file:
                data = file.read(_MOST_BYTES + 1)
        except OSError as error:
            raise UserInputError(
                msg("{path} cannot be read: {reason}.", path=name, reason=error.strerror or str(error)),
                error_type="not_a_file",
            ) from error
        if len(data) > _MOST_BYTES:
            raise UserInputError(
                msg("{path} is longer than 1 MB.", path=name),
                advice=msg("Read a part of it with read_file."),
                error_type="too_large",
            )
        try:
            return decode(data).text
        except BinaryFileError as error:
            raise UserInputError(
                msg("{path} is not a text file.", path=name), error_type="binary_file"
            ) from error
