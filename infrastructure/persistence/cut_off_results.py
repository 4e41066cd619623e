"""Results whose process was killed: what a study had kept on its way, and that nothing of a run is left.

While a study runs its rows so far stand in its folder as ``so_far.json`` and the table that this names, which
nobody reads as a result. The next start makes a stopped study of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from infrastructure.persistence import confined
from infrastructure.persistence.confined import read_regular_file, write_atomically
from shared import paths

SO_FAR_FILE = "so_far.json"
_TABLE = "so_far-{digest}.csv"
_MOST_BYTES = 512 * 2**20


def keep_so_far(folder: Path, document: bytes, rows: bytes) -> None:
    """Replace what was kept: the table first, so that a kill leaves the one before whole."""
    name = _TABLE.format(digest=hashlib.sha256(rows).hexdigest()[:16])
    write_atomically(folder / name, rows)
    write_atomically(folder / SO_FAR_FILE, document)
    _remove_tables(folder, but=name)


def forget_so_far(folder: Path) -> None:
    """The study is whole, and its own table stands there. Raises OSError."""
    with suppress(FileNotFoundError):
        confined.unlink(folder / SO_FAR_FILE)
    _remove_tables(folder)


def take_up(folder: Path) -> bool:
    """Make the result of what was kept; whether there was anything. Goes on where a kill cut it off. Raises
    OSError."""
    if not confined.is_file(folder / SO_FAR_FILE):
        return False
    try:
        content: Mapping[str, Any] = json.loads(
            read_regular_file(folder / SO_FAR_FILE, max_bytes=_MOST_BYTES)
        )
        table = folder / _TABLE.format(digest=str(content["rows_sha256"])[:16])
    except (ValueError, KeyError, TypeError, RecursionError):
        return False  # somebody else's
    if confined.is_file(table):
        confined.rename(table, folder / paths.ROWS_FILE)
    elif not confined.is_file(folder / paths.ROWS_FILE):
        return False
    confined.rename(folder / SO_FAR_FILE, folder / paths.RESULT_FILE)
    _remove_tables(folder)
    return True


def _remove_tables(folder: Path, *, but: str = "") -> None:
    beginning, _, ending = _TABLE.partition("{digest}")
    for name in confined.names_in(folder):
        if name.startswith(beginning) and name.endswith(ending) and name != but:
            with suppress(FileNotFoundError):
                confined.unlink(folder / name)
