"""What `check` says about the program's model library: which undefined model it has, which one is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from domain.circuit.dependencies import DependencyTree, SourceFile, SourceReader
from domain.circuit.diagnostics import Diagnostic
from domain.circuit.netlist import Netlist
from shared.message import msg
from shared.paths import MODEL_LIBRARY

_UNDEFINED = frozenset({"undefined-model", "undefined-subcircuit"})


def hinted(found: Sequence[Diagnostic], reader: SourceReader) -> tuple[Diagnostic, ...]:
    """The findings; one of an undefined model that a library has says so. Blocking."""
    return tuple(_hinted(each, reader) if each.code in _UNDEFINED else each for each in found)


def _hinted(found: Diagnostic, reader: SourceReader) -> Diagnostic:
    name = found.message.params.get("name")
    if not isinstance(name, str) or not name or Path(name).name != name:
        return found
    file = f"{name.upper()}.lib"
    source = reader.read(file, including_file=found.file or Path(file))
    if not isinstance(source, SourceFile) or source.path.parent != MODEL_LIBRARY:
        return found
    message = msg(
        "{name} is not defined. The model library has it: add .include {file}.", name=name, file=file
    )
    return found._replace(message=message)


def shipped_models(netlist: Netlist, tree: DependencyTree) -> Iterator[Diagnostic]:
    """A note at each include of the main file that the program's library answers."""
    for include in netlist.includes:
        target = tree.target_of(netlist.path, include.line)
        if target is not None and target.parent == MODEL_LIBRARY:
            message = msg(
                "{file} comes from the model library of this program; ngspice alone needs a copy of it.",
                file=target.name,
            )
            yield Diagnostic(
                severity="info", code="library-model", message=message, file=netlist.path, line=include.line
            )
