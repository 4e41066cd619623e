"""Reading a circuit file through the confined reader."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from domain.circuit.dependencies import RefusalReason, SourceReader, SourceRefusal
from domain.circuit.netlist import Netlist
from shared.errors import UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.ports.simulation import SourceReaders


def load_circuit(
    sources: SourceReaders, circuit: Path, libraries: Sequence[Path]
) -> tuple[Netlist, SourceReader]:
    """The parsed circuit and the reader through which its includes are seen.

    Raises UserInputError when `circuit` is no regular, readable file of at most 20 MB.
    """
    data, real, reader = read_circuit_file(sources, circuit, libraries)
    return Netlist.parse(data, path=real), reader


def read_circuit_file(
    sources: SourceReaders, circuit: Path, libraries: Sequence[Path]
) -> tuple[bytes, Path, SourceReader]:
    """The bytes of the circuit, its real path, and the reader of its includes. Raises as `load_circuit`."""
    real = Path(os.path.realpath(circuit))  # Path.resolve() raises on a loop of links
    reader = sources.for_circuit(real, libraries)
    source = reader.read(real.name, including_file=real)
    if isinstance(source, SourceRefusal):
        raise UserInputError(
            _refusal_message(source.reason, circuit),
            advice=msg("Specify a SPICE netlist, for example circuit.cir."),
            file=circuit,
            error_type="file_not_found" if source.reason == "missing" else None,
        )
    return source.data, real, reader


def _refusal_message(reason: RefusalReason, path: Path) -> Message:
    match reason:
        case "missing":
            return msg("File {path} does not exist.", path=path)
        case "folder":
            return msg("{path} is a folder, not a netlist.", path=path)
        case "too-large":
            return msg("{path} is larger than 20 MB, the limit for a netlist.", path=path)
        case "not-regular":
            return msg("{path} is not a regular file.", path=path)
        case "unreadable":
            return msg("{path} cannot be read: permission denied, or its links form a loop.", path=path)
        case "outside" | "url":
            return msg("{path} is outside the folders that may be read.", path=path)
