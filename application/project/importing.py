"""Schematics of other programs read into netlists: LTspice's, with symbols and sheets beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from domain.circuit.ltspice_schematic import Converted, NoSheet, netlist_of, read_sheet
from domain.llm.tools.text_files import BinaryFileError, decode
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.project_view import ProjectView

SCHEMATIC_SUFFIXES = (".asc",)
_MOST_BYTES = 4_000_000
_MOST_LOOKED_AT = 20_000
_MOST_BESIDE = 500
"""Files beside a sheet that are read for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A netlist that was made of a schematic."""

    path: Path
    missing: tuple[Message, ...]
    """Parts that are not in it, and why."""
    notes: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImportSchematic:
    """The use case."""

    views: Callable[[Path], ProjectView]
    write_file: Callable[[Path, bytes], None]

    async def __call__(self, source: Path, target: Path, *, overwrite: bool = False) -> Imported:
        """Write the netlist of the sheet `source` to `target`.

        Symbols and sheets it leans on are looked for in its folder and below. Raises UserInputError for what
        is no sheet, cannot be read, or would be written over; EnvironmentProblem when it can't be written.
        """
        return await off_loop(self._import, source, target, overwrite)

    def _import(self, source: Path, target: Path, overwrite: bool) -> Imported:
        if not overwrite and target.exists():
            raise UserInputError(
                msg("{path} exists already.", path=target),
                advice=msg("Choose another name."),
                file=target,
                error_type="target_exists",
            )
        found = self._converted(source)
        self.write_file(target, found.text.encode("utf-8"))
        return Imported(path=target, missing=found.missing, notes=found.notes)

    def _converted(self, source: Path) -> Converted:
        if source.suffix.lower() not in SCHEMATIC_SUFFIXES:
            raise UserInputError(
                msg("{name} is not an LTspice schematic (.asc).", name=source.name),
                advice=msg("Have its own program write a netlist, and open that."),
                file=source,
                error_type="unknown_format",
            )
        beside = _Beside(self.views(source.parent))
        text = beside.read(source.name)
        try:
            sheet = None if text is None else read_sheet(text)
        except NoSheet:
            sheet = None
        if sheet is None:
            raise UserInputError(
                msg("{path} cannot be read as an LTspice schematic.", path=source),
                advice=msg("Check that the file is there and begins with “Version”."),
                file=source,
                error_type="not_a_schematic",
            )
        return netlist_of(sheet, title=source.name, find=beside.find)


class _Beside:
    """The files in a sheet's folder and below, by their names in any letter case, the nearest first."""

    def __init__(self, view: ProjectView) -> None:
        self._view = view
        self._names: dict[str, str] | None = None
        self._left = _MOST_BESIDE

    def find(self, name: str) -> str | None:
        if self._names is None:
            walked = islice(self._view.walk(self._view.root), _MOST_LOOKED_AT)
            names = [
                entry.name
                for entry in walked
                if entry.kind == "file" and entry.name.lower().endswith((".asc", ".asy"))
            ]
            self._names = {}
            for each in sorted(names, key=lambda path: path.count("/")):
                self._names.setdefault(PurePosixPath(each).name.lower(), each)
        place = self._names.get(name.lower())
        return None if place is None else self.read(place)

    def read(self, name: str) -> str | None:
        if self._left == 0:
            return None
        self._left -= 1
        try:
            with self._view.open(self._view.locate(name)) as file:
                data = file.read(_MOST_BYTES + 1)
            return None if len(data) > _MOST_BYTES else decode(data).text
        except (UserInputError, OSError, BinaryFileError):  # told as missing by who looks for it
            return None
