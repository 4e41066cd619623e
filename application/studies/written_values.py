"""A circuit with the values a study found: what would be written, before anything is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from application.simulation.circuit_files import load_circuit
from domain.circuit.dependencies import DependencyTree, resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import format_number
from domain.studies.corners import Process, with_process
from domain.studies.variation import with_values
from shared.errors import UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import SimulatorSettingsStore, SourceReaders

DIGITS = 6
"""Significant digits of a value that is written for a person to keep."""
RUN_DIGITS = 12
"""Of one that repeats a run exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueChange:
    """One file with other values."""

    path: Path
    before: bytes
    after: bytes
    lines: tuple[int, ...]
    """Of `after`, from 1: those that are another than before."""

    @property
    def before_sha256(self) -> str:
        return hashlib.sha256(self.before).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteValues:
    """The use case; it writes nothing itself."""

    sources: SourceReaders
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]] = tuple

    async def __call__(self, circuit: Path, values: Mapping[str, float | str]) -> ValueChange:
        """The circuit's file with these values where they stand. Raises UserInputError for names it does not
        have, and for values that an included file has: other circuits may include it too.
        """
        return await off_loop(self._change, circuit, _texts(values, DIGITS))

    async def of_run(
        self, circuit: Path, values: Mapping[str, float], *, corner: str = "", title: str = ""
    ) -> tuple[ValueChange, Mapping[str, bytes]]:
        """The circuit as a run had it, to be kept in a file of its own beside it, with the copies of included
        files that belong to it, by name. `title`: in place of its first line. Raises UserInputError.
        """
        return await off_loop(self._of_run, circuit, _texts(values, RUN_DIGITS), corner, title)

    async def section_of(self, circuit: Path, corner: str) -> str:
        """The library section that a corner of this name simulated; "" for one without. Raises
        UserInputError."""
        return await off_loop(self._section_of, circuit, corner)

    def _section_of(self, circuit: Path, corner: str) -> str:
        written = self._tree(circuit)
        found, tree = _with_section(written, corner)
        # A name is likened to that of a section: what stands behind it is no part of it.
        shorter = (
            name for name in reversed(_sections_in(found)) if _same(_with_section(written, name)[1], tree)
        )
        return next(shorter, "")

    def _tree(self, circuit: Path) -> DependencyTree:
        folders = (*self.libraries(), *self.settings.of_circuit(circuit).readable)
        netlist, reader = load_circuit(self.sources, circuit, folders)
        return resolve_dependencies(netlist, reader)

    def _change(self, circuit: Path, texts: Mapping[str, str]) -> ValueChange:
        tree = self._tree(circuit)
        changed = with_values(tree, texts)
        elsewhere = sorted(path.name for path in changed.changed - tree.changed)
        if elsewhere:
            raise UserInputError(
                msg("Some of these values are in included files: {names}.", names=", ".join(elsewhere)),
                advice=msg("Enter them there by hand; other circuits may include these files too."),
                file=circuit,
            )
        return _change_of(circuit, tree.root, changed.root)

    def _of_run(
        self, circuit: Path, texts: Mapping[str, str], corner: str, title: str
    ) -> tuple[ValueChange, Mapping[str, bytes]]:
        written = self._tree(circuit)
        _, tree = _with_section(written, corner)
        original = written.root
        changed = with_values(tree, texts)

        def is_free(name: str) -> bool:
            return not (circuit.parent / name).exists()

        root, included = changed.kept_in(circuit.parent, circuit.stem, is_free)
        found = _change_of(circuit, original, root)
        if title:
            first, separator, rest = found.after.partition(original.line_ending.encode())
            found = replace(found, after=f"* {title}".encode() + separator + rest) if first else found
        return found, included


def _with_section(tree: DependencyTree, corner: str) -> tuple[str, DependencyTree]:
    """The section of the process in a corner's name, and the circuit with it; the same where it has none."""
    for section in _sections_in(corner):
        try:
            netlist, copies = with_process(tree, Process(name=section, sections=(("", section),)))
        except UserInputError:  # a part of the corner's name that is none
            continue
        files = {
            path: Netlist.parse(text, path=path, has_title=False)
            for path, text in copies.items()
            if path in tree.files
        }
        return section, tree.with_texts(netlist, files)
    return "", tree


def _same(one: DependencyTree, other: DependencyTree) -> bool:
    return one.root.to_bytes() == other.root.to_bytes()


def _sections_in(corner: str) -> list[str]:
    """What of a corner's name (``ss_1.62_125C``) may be a process, the longest first."""
    pieces = corner.split("_")
    return ["_".join(pieces[:count]) for count in range(len(pieces), 0, -1)] if corner else []


def _texts(values: Mapping[str, float | str], digits: int) -> dict[str, str]:
    return {
        name: value if isinstance(value, str) else format_number(value, digits)
        for name, value in values.items()
    }


def _change_of(circuit: Path, before: Netlist, after: Netlist) -> ValueChange:
    old, new = before.to_bytes().splitlines(), after.to_bytes().splitlines()
    lines = tuple(
        number for number, line in enumerate(new, start=1) if number > len(old) or line != old[number - 1]
    )
    return ValueChange(path=circuit, before=before.to_bytes(), after=after.to_bytes(), lines=lines)
