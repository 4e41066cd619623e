"""Puts raw files behind each other in one, the names of their plots made longer on the way."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from infrastructure.waveforms.raw_file import read_headers
from infrastructure.waveforms.raw_header import bad_raw
from shared.message import msg

_KEY = b"Plotname: "
_BLOCK = 4 * 2**20


def append_plots(out: BinaryIO, path: Path, *, before: str = "", behind: str = "") -> None:
    """The plots of the raw file `path` behind what `out` has, `before` and `behind` put around each name.

    Raises UserInputError for a file that cannot be read as raw data, OSError when the disk is full.
    """
    headers = read_headers(path)
    with path.open("rb") as file:
        names: list[tuple[int, int]] = []
        for header in headers:  # all of them first: of a file that cannot be read nothing is copied
            names.append(_name_before(file, names[-1][1] if names else 0, header.data_offset, path))
        done = 0
        for start, stop in names:
            _copy(file, out, done, start)
            out.write(before.encode("utf-8", "replace"))
            _copy(file, out, start, stop)
            out.write(behind.encode("utf-8", "replace"))
            done = stop
        _copy(file, out, done, path.stat().st_size)


def _name_before(file: BinaryIO, start: int, stop: int, path: Path) -> tuple[int, int]:
    """Where the plot's name lies in the header that ends at `stop`; data before it may hold anything.

    Raises UserInputError for a header that has none as ngspice writes it.
    """
    low = stop
    while True:
        low = max(start, low - _BLOCK)
        file.seek(low)
        block = file.read(stop - low)
        found = block.rfind(_KEY)
        if found >= 0:
            begin = found + len(_KEY)
            end = block.find(b"\n", begin)
            length = (end if end >= 0 else len(block)) - begin
            return low + begin, low + begin + length - block[begin : begin + length].endswith(b"\r")
        if low == start:
            raise bad_raw(path, msg("a plot has no name"), stop)


def _copy(file: BinaryIO, out: BinaryIO, start: int, stop: int) -> None:
    file.seek(start)
    while start < stop and (block := file.read(min(_BLOCK, stop - start))):
        out.write(block)
        start += len(block)
