"""The plots a circuit's own commands have made, taken out of the scratch folder into the run's raw file.

The copy of the circuit that is run writes each into a file of its own (domain.circuit.control_blocks).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from domain.circuit.altered_plots import altered_values
from domain.circuit.control_blocks import ORDER_NAME, PIECE_PREFIX
from domain.circuit.netlist import Netlist
from infrastructure.ngspice.scratch import open_plain
from infrastructure.waveforms.raw_joining import append_plots
from shared.errors import UserInputError

_MAX_ORDER_BYTES = 2**20
_CONSTANTS = "const"


def pieces_in(scratch: Path) -> list[str]:
    """The names of the files that hold a plot each, in the order in which the plots were made."""
    with os.scandir(scratch) as entries:
        names = {entry.name for entry in entries if entry.name.startswith(PIECE_PREFIX)}
    places = {PIECE_PREFIX + name: place for place, name in enumerate(_order(scratch))}
    return sorted(names, key=lambda name: (places.get(name, len(places)), name))


def _order(scratch: Path) -> list[str]:
    folder = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        opened = open_plain(folder, ORDER_NAME, _MAX_ORDER_BYTES)
    finally:
        os.close(folder)
    if opened is None:
        return []
    with os.fdopen(opened, "rb") as file:
        return file.read().decode("utf-8", "replace").split()


def join_pieces(scratch: Path, pieces: Sequence[str], raw: Path, *, deck: bytes, largest: int) -> list[str]:
    """Append the plots of `pieces` to the file `raw`, each named ``Transient Analysis (tran2)``, or
    ``Transient Analysis (tran2: r1=2k)`` where the commands of `deck` tell what they had altered.

    Returns the names of those that were left out: no plain file, no raw data, or `raw` would pass `largest`
    bytes. ngspice's own table of constants is no result. The pieces stay where they are. Raises OSError when
    `raw` cannot be written.
    """
    left_out: list[str] = []
    names = [piece.removeprefix(PIECE_PREFIX) for piece in pieces]
    altered = altered_values(Netlist.parse(deck), [name for name in names if name != _CONSTANTS])
    folder = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with raw.open("ab") as out:
            for piece in pieces:
                plot = piece.removeprefix(PIECE_PREFIX)
                opened = None if plot == _CONSTANTS else open_plain(folder, piece, largest - out.tell())
                if opened is None:
                    left_out += [] if plot == _CONSTANTS else [piece]
                    continue
                os.close(opened)  # nobody can exchange the name: the run's last process is gone
                told = f"{plot}: {altered[plot]}" if plot in altered else plot
                try:
                    append_plots(out, scratch / piece, behind=f" ({told})")
                except UserInputError:
                    left_out.append(piece)
    finally:
        os.close(folder)
    if not raw.stat().st_size:
        raw.unlink()
    return left_out
