"""Which circuit a tool means when the model names none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from application.ports.project_view import ProjectView
from application.tool_execution.definition import ToolContext
from application.tool_execution.tools._common import CIRCUIT_SUFFIXES, in_worker, locate
from domain.circuit.diagnostics import is_fragment
from domain.circuit.netlist import Netlist
from shared.errors import UserInputError
from shared.message import msg

_MOST_CIRCUITS = 500
"""That are read; those nearest to the project's folder."""
_MOST_FILES = 20_000
_MOST_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    path: Path


async def chosen_circuit(context: ToolContext, file_path: str | None) -> Path:
    """The named circuit, or the project's main circuit: the only one that no other file includes.

    Raises UserInputError ("no_circuit", "ambiguous_circuit" with their names, or what `locate` raises).
    """
    if file_path is not None:
        return await locate(context, file_path)
    view = context.view
    found = await in_worker(context, view.root, main_circuits, view)
    if len(found) == 1:
        return found[0].path
    if not found:
        raise UserInputError(
            msg("The project has no circuit."),
            advice=msg("Write one with rewrite_file, or specify the file with path."),
            error_type="no_circuit",
        )
    raise UserInputError(
        msg("The project has several circuits: {names}.", names=", ".join(item.name for item in found[:20])),
        advice=msg("Specify the one you mean with path."),
        error_type="ambiguous_circuit",
    )


def main_circuits(view: ProjectView, known: Sequence[Path] = ()) -> list[_Candidate]:
    """Circuits that are no fragments and that no other one includes; runs in a worker process.

    Of more than `_MOST_CIRCUITS` those of `known` are looked at in any case.
    """
    files = [
        entry
        for entry in islice(view.walk(view.root), _MOST_FILES)
        if entry.kind == "file" and PurePosixPath(entry.name).suffix.lower() in CIRCUIT_SUFFIXES
    ]
    files.sort(key=lambda entry: (entry.path not in known, entry.name.count("/"), entry.name))
    candidates: list[_Candidate] = []
    included: set[str] = set()
    for entry in files[:_MOST_CIRCUITS]:
        if entry.size > _MOST_BYTES:
            continue
        try:
            with view.open(entry.path) as file:
                netlist = Netlist.parse(file.read(_MOST_BYTES), path=entry.path)
        except OSError:
            continue
        included.update(PurePosixPath(item.path).name.casefold() for item in netlist.includes)
        if not is_fragment(netlist) and netlist.elements:
            candidates.append(_Candidate(entry.name, entry.path))
    unique = {item.path: item for item in candidates}
    return [item for item in unique.values() if item.path.name.casefold() not in included]
