"""Whether a circuit was simulated before just as it would be now: then the stored run is the answer.

What decides is everything a run depends on: the deck as the simulator reads it, the content of every file it
includes or reads numbers from, the compatibility mode, and the simulator's version. A circuit that draws
random numbers or has commands of its own (`.control`) gives something else each time, or does more than
compute: it is never taken from the store.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from domain.circuit.dependencies import SourceFile
from domain.circuit.parameters import RANDOM_FUNCTIONS
from domain.simulation.request import TAKEN_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from application.simulation.prepared_circuit import PreparedCircuit

_SCHEME = "2"
"""Raised when our own part of a result (metrics, steps) comes out differently: then older runs are redone."""
_ALSO_RANDOM = ("trnoise", "trrandom", "rnd", "sgauss", "sunif")
_RANDOM = re.compile(
    rf"\b(?:{'|'.join(sorted((*RANDOM_FUNCTIONS, *_ALSO_RANDOM)))})\b".encode(), re.IGNORECASE
)


def circuit_hash(prepared: PreparedCircuit) -> str:
    """SHA-256 (hexadecimal) of all a run of `prepared` depends on; "" when no run is like another.

    To be had before the run: a file with numbers that changes under way must not pass for what was run.
    Blocking: those files are read again.
    """
    deck, companions = prepared.tree.portable(TAKEN_NAMES)
    texts = {"": deck.to_bytes(), **companions}
    texts |= {str(path): netlist.to_bytes() for path, netlist in prepared.tree.files.items()}
    if prepared.has_control_block or any(_RANDOM.search(text) for text in texts.values()):
        return ""
    parts = [
        ["scheme", _SCHEME],
        ["compatibility", prepared.compatibility or ""],
        ["circuit", str(prepared.circuit), prepared.sha256],
        *(["text", name, hashlib.sha256(text).hexdigest()] for name, text in sorted(texts.items())),
        *(["data", name, digest] for name, digest in sorted(_data(prepared))),
    ]
    plain = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def fingerprint(of_circuit: str, simulator_version: str) -> str:
    """The key of a stored run: its circuit's hash with the simulator's version; "" stays ""."""
    if not of_circuit:
        return ""
    return hashlib.sha256(f"{of_circuit} {simulator_version}".encode()).hexdigest()


def _data(prepared: PreparedCircuit) -> Iterator[tuple[str, str]]:
    """The files with numbers and the hash of each."""
    for path in prepared.data_files:
        found = prepared.reader.read(str(path), including_file=prepared.circuit)
        digest = hashlib.sha256(found.data).hexdigest() if isinstance(found, SourceFile) else "unreadable"
        yield str(path), digest
