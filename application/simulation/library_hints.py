"""What `check` says about the program's model library: which undefined model it has, which one is used."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from domain.circuit.dependencies import DependencyTree, SourceFile, SourceReader
from domain.circuit.diagnostics import Diagnostic
from domain.circuit.netlist import Netlist
from shared.message import msg
from shared.paths import MODEL_LIBRARY

UNDEFINED = frozenset({"undefined-model", "undefined-subcircuit"})
"""Codes of what names a definition that is nowhere."""


def hinted(found: Sequence[Diagnostic], reader: SourceReader) -> tuple[Diagnostic, ...]:
    """The findings; one of an undefined model that a library has says so. Blocking."""
    return tuple(_hinted(each, reader) if each.code in UNDEFINED else each for each in found)


def _hinted(found: Diagnostic, reader: SourceReader) -> Diagnostic:
    name = found.message.params.get("name")
    if not isinstance(name, str) or not name or Path(name).name != name:
        return found
    source = reader.read(f"{name}.lib", including_file=found.file or Path(name))
    if not isinstance(source, SourceFile) or source.path.parent != MODEL_LIBRARY:
        return found
    file = source.path.name
    message = msg(
        "{name} is not defined. The model library has it: add .include {file}.", name=name, file=file
    )
    return found._replace(message=message)


def found_elsewhere(netlist: Netlist, tree: DependencyTree) -> Iterator[Diagnostic]:
    """A note at each include of the main file that ngspice, started beside it, would not find: the program's
    library answers it, or a folder above the circuit's."""
    if netlist.path is None:
        return
    for include in netlist.includes:
        target = tree.target_of(netlist.path, include.line)
        if target is None:
            continue
        if target.parent == MODEL_LIBRARY:
            code, message = "library-model", msg(
                "{file} comes from the model library of this program; ngspice alone needs a copy of it.",
                file=target.name,
            )  # fmt: skip
        elif (above := _started_in(include.path, target, netlist.path)) is not None:
            code, message = "include-above", msg(
                "{path} is found from the folder {folder}; start ngspice itself there.",
                path=include.path,
                folder=above,
            )  # fmt: skip
        elif _is_written_otherwise(include.path, target):
            code, message = "include-otherwise", msg(
                "{path} is the file {file} here: letter case or slashes differ. ngspice alone needs the "
                "exact path.",
                path=include.path,
                file=target.name,
            )  # fmt: skip
        else:
            continue
        yield Diagnostic(severity="info", code=code, message=message, file=netlist.path, line=include.line)


def _started_in(reference: str, target: Path, circuit: Path) -> Path | None:
    """The folder above the circuit's that a relative path was followed from."""
    if PurePath(reference).is_absolute():
        return None
    beside, *above = (Path(os.path.normpath(folder / reference)) for folder in circuit.parents)
    if target in (beside, Path(os.path.realpath(beside))):
        return None
    return next((f for f, there in zip(circuit.parents[1:], above, strict=True) if there == target), None)


def _is_written_otherwise(reference: str, target: Path) -> bool:
    """Whether the file was found by a path that only Windows takes for its own: letter case, slashes."""
    written = [part for part in PurePath(reference.replace("\\", "/")).parts if part not in (".", "..", "/")]
    there = list(target.parts[-len(written) :])
    is_same = written == there and "\\" not in reference
    return not is_same and [each.casefold() for each in written] == [each.casefold() for each in there]
