"""Which stored data a tool means: a result by path or number, a raw file, or a circuit's newest result."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from application.tool_execution.definition import ToolContext
from application.tool_execution.tools._common import locate
from application.tool_execution.tools.circuit_choice import chosen_circuit
from domain.circuit.dependencies import SourceFile
from domain.simulation.retention import Origin
from shared import paths
from shared.errors import UserInputError
from shared.message import msg
from shared.safe_json import read_bounded
from shared.uninterrupted import off_loop

_DATA_SUFFIXES = frozenset({".raw", ".json"})
_MOST_BYTES = 20_000_000
_RUN = re.compile(r"(?:run|仿真)[ _#-]*(\d{1,9})", re.IGNORECASE)
"""How a run is named by its number: ``run 7``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSource:
    """Stored data."""

    path: Path
    """A result.json, its folder, or a raw file."""
    name: str
    is_stale: bool
    """Its circuit was changed since."""
    origin: Origin = "unknown"


OF_OTHERS = "computed elsewhere, not by this installation"


async def result_source(context: ToolContext, text: str | None) -> ResultSource:
    """As `_found`, with who computed it."""
    found = await _found(context, text)
    origin = await off_loop(context.services.results.origin_of, found.path)
    return replace(found, origin=origin)


async def _found(context: ToolContext, text: str | None) -> ResultSource:
    """The data meant by `text` (None: the project's only circuit) or by the number of a run.

    Raises UserInputError ("no_result", "bad_arguments", or what locating raises).
    """
    view = context.view
    if text is not None and (named := _RUN.fullmatch(text.strip())):
        number = int(named[1])
        numbered = await off_loop(view.numbered_result, number)
        if numbered is None:
            raise UserInputError(
                msg("There is no run number {number} in this project.", number=number),
                advice=msg("Runs count from 1, the oldest kept. Omit it for the latest."),
                error_type="no_result",
            )
        return ResultSource(path=numbered, name=view.name_of(numbered), is_stale=False)
    if text is not None:
        result = await off_loop(view.locate_result, text)
        if result is not None:
            return ResultSource(path=result, name=view.name_of(result), is_stale=False)
        path = await locate(context, text)
        if path.suffix.lower() in _DATA_SUFFIXES:
            return ResultSource(path=path, name=view.name_of(path), is_stale=False)
        circuit = path
    else:
        circuit = await chosen_circuit(context, None)
    newest = await off_loop(view.newest_result, circuit)
    if newest is None:
        others = await off_loop(view.newest_result, circuit, ours=False)
        raise UserInputError(
            msg("There is no simulation result of {path} yet.", path=view.name_of(circuit))
            if others is None
            else msg(
                "{path} has not been simulated here yet; {result} was computed on another computer, or "
                "changed by another program.",
                path=view.name_of(circuit),
                result=view.name_of(others),
            ),
            advice=msg("Run the circuit with run_simulation first."),
            error_type="no_result",
        )
    is_stale = await off_loop(_is_stale, context, circuit, newest)
    return ResultSource(path=newest, name=view.name_of(newest), is_stale=is_stale)


def _is_stale(context: ToolContext, circuit: Path, result: Path) -> bool:
    return bool(changed_since(context, circuit, result_content(context, result)))


def changed_since(context: ToolContext, circuit: Path, content: Mapping[str, Any]) -> list[str]:
    """The files of a stored run that are not any more as it read them: its circuit, what that includes."""
    view, netlist = context.view, content.get("netlist")
    if not isinstance(netlist, dict):
        return [view.name_of(circuit)]
    try:
        with view.open(circuit) as file:
            present = hashlib.sha256(file.read(_MOST_BYTES)).hexdigest()
    except OSError:
        present = ""
    changed = [] if netlist.get("sha256") == present else [view.name_of(circuit)]
    beside = netlist.get("read_beside")
    reader = context.services.sources.for_circuit(circuit, view.libraries)
    for place, digest in beside.items() if isinstance(beside, dict) else ():
        path = context.project.root / place
        found = reader.read(str(path), including_file=circuit)
        if isinstance(found, SourceFile):
            is_changed = hashlib.sha256(found.data).hexdigest() != digest
        else:  # of a library that only that run was given nothing is known
            is_changed = found.reason == "missing"
        if is_changed:
            changed.append(view.name_of(path))
    return changed


async def circuit_of_run(context: ToolContext, text: str) -> Path | None:
    """The circuit's text as the run that `text` names had it; None where it names none.

    Raises UserInputError ("no_result") for a run that is not there or whose circuit was not kept.
    """
    if (named := _RUN.fullmatch(text.strip())) is None:
        return None
    result = (await _found(context, text)).path
    place = result.with_name(paths.CIRCUIT_FILE)
    if await off_loop(_is_as_run, context, result, place):
        return place
    raise UserInputError(
        msg("The circuit of run {number} was not kept.", number=int(named[1])), error_type="no_result"
    )


def _is_as_run(context: ToolContext, result: Path, place: Path) -> bool:
    netlist = result_content(context, result).get("netlist")
    try:
        with context.view.open(place) as file:
            digest = hashlib.sha256(file.read(_MOST_BYTES)).hexdigest()
    except OSError:  # of an earlier version, or a large one
        return False
    return isinstance(netlist, dict) and netlist.get("sha256") == digest


def result_content(context: ToolContext, result: Path) -> dict[str, Any]:
    """The stored result.json of a result; {} where the data are a raw file alone."""
    path = result if result.suffix.lower() == ".json" else result / "result.json"
    try:
        with context.view.open(path) as file:
            content = read_bounded(file.read(_MOST_BYTES))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
