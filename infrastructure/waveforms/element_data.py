"""What a run has left of its circuit's elements beside its raw file: their wiring."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from infrastructure.persistence.confined import read_regular_file
from shared.paths import WIRING_FILE
from shared.safe_json import read_bounded

if TYPE_CHECKING:
    from domain.simulation.element_signals import Elements

_MOST_BYTES = 32 * 2**20


def elements_beside(raw: Path) -> Elements | None:
    """The elements of the circuit a raw file is of; None where nothing tells them."""
    try:
        data = read_regular_file(raw.parent / WIRING_FILE, max_bytes=_MOST_BYTES)
    except OSError:  # a raw file of another program, a result of an earlier version
        return None
    from domain.simulation.element_signals import Elements
    from domain.simulation.wiring import wiring_from_plain

    try:
        return Elements(wiring=wiring_from_plain(read_bounded(data)))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):  # not as we write it
        return None
