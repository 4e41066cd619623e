"""Takes columns out of the rows of a raw file.

Binary rows are read by blocks that stay in the processor's cache, and the wanted columns are copied out
of each block: no page of the file is mapped, and the peak is the wanted columns and one block. A strided
view over a mapped file is five times slower for files of a gigabyte.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from infrastructure.waveforms.raw_header import bad_raw
from infrastructure.waveforms.raw_layout import SIZES, RawHeader, stretches
from shared.message import msg

if TYPE_CHECKING:
    from domain.simulation.waveform import Array, RealArray

_BLOCK_BYTES = 2**20
_MAX_BLOCK_BYTES = 2**23
_FEWEST_ROWS = 256
_WORTH_THREADS = 32 * 2**20
_MOST_THREADS = 4
_TEXT_BYTES = 2**20
_MAX_WORD = 64
_DTYPES: dict[str, np.dtype[np.generic]] = {
    "f4": np.dtype("<f4"),
    "f8": np.dtype("<f8"),
    "c16": np.dtype("<c16"),
}


@dataclass(frozen=True, slots=True)
class Rows:
    """The data of one plot in an open file."""

    file: BinaryIO
    path: Path
    header: RawHeader
    end: int
    """The first byte behind them."""


@dataclass(frozen=True, slots=True)
class Pick:
    """One wanted column of rows: where it lies in a row, what it is, and where it goes."""

    offset: int
    """Bytes from the start of a row."""
    dtype: np.dtype[np.generic]
    target: Array


def is_real(header: RawHeader, index: int) -> bool:
    """The variable's numbers have no imaginary part that means anything."""
    kind = header.variables[index][1]
    return not header.is_complex or _is_axis(header, index) or kind in ("decibel", "phase")


def read_columns(source: Rows, indices: Sequence[int], rows: range | None = None) -> list[Array]:
    """The variables `indices` as float64 or complex128, whole or (`rows`, of step 1) in part.

    The axis comes real, without LTspice's signs and with its shift. Raises UserInputError when the file
    is not what its header says.
    """
    header = source.header
    if not header.is_binary:
        columns = _ascii_columns(source, indices)
    elif len(set(header.lengths)) > 1:
        columns = _uneven_columns(source, indices)
    else:
        part = rows if rows is not None else range(header.points)
        read = _by_column if header.is_by_column else _by_row
        return [
            _axis_set_right(header, index, column)
            for index, column in zip(indices, read(source, indices, part), strict=True)
        ]
    chosen = slice(None) if rows is None else slice(rows.start, rows.stop)
    return [
        _axis_set_right(header, index, column)[chosen] for index, column in zip(indices, columns, strict=True)
    ]


def _is_axis(header: RawHeader, index: int) -> bool:
    return index == 0 and header.has_axis


def _axis_set_right(header: RawHeader, index: int, column: Array) -> Array:
    if _is_axis(header, index) and header.dialect in ("ltspice", "qspice") and header.analysis == "tran":
        # A negative time marks a point between which and the next the curve was compressed.
        np.abs(column, out=column)
        if header.axis_shift:
            column += header.axis_shift
    return column


def _empty(header: RawHeader, index: int, count: int) -> Array:
    if is_real(header, index):
        return np.empty(count, np.float64)
    return np.empty(count, np.complex128)


def _source_type(header: RawHeader, index: int) -> np.dtype[np.generic]:
    """The type to read: of a complex number that is real only its first half."""
    kind = header.type_of(index)
    found: np.dtype[np.generic] = _DTYPES["f8" if kind == "c16" and is_real(header, index) else kind]
    return found


def _by_row(source: Rows, indices: Sequence[int], rows: range) -> list[Array]:
    file, path, header = source.file, source.path, source.header
    first = SIZES[header.axis_type]
    other = SIZES[header.value_type]
    row_bytes = first + other * (len(header.variables) - 1)
    columns = [_empty(header, index, len(rows)) for index in indices]
    picks = [
        Pick(first + other * (index - 1) if index else 0, _source_type(header, index), column)
        for index, column in zip(indices, columns, strict=True)
    ]
    file.seek(header.data_offset + rows.start * row_bytes)
    gather(file, path, len(rows), row_bytes, picks)
    return columns


def _by_column(source: Rows, indices: Sequence[int], rows: range) -> list[Array]:
    file, path, header = source.file, source.path, source.header
    first = SIZES[header.axis_type] * header.points
    other = SIZES[header.value_type]
    columns = []
    for index in indices:
        size = SIZES[header.type_of(index)]
        start = header.data_offset + (first + other * header.points * (index - 1) if index else 0)
        column = _empty(header, index, len(rows))
        file.seek(start + size * rows.start)
        gather(file, path, len(rows), size, [Pick(0, _source_type(header, index), column)])
        columns.append(column)
    return columns


def _uneven_columns(source: Rows, indices: Sequence[int]) -> list[Array]:
    """Of an unpadded file, whose rows get shorter where a vector ends."""
    file, path, header = source.file, source.path, source.header
    columns = [_empty(header, index, header.lengths[index]) for index in indices]
    size = SIZES[header.value_type]
    file.seek(header.data_offset)
    for first, count, members in stretches(header.lengths):
        position_of = {index: position for position, index in enumerate(members)}
        picks = [
            Pick(size * position_of[index], _source_type(header, index), column[first : first + count])
            for index, column in zip(indices, columns, strict=True)
            if index in position_of
        ]
        gather(file, path, count, size * len(members), picks)
    return columns


def gather(file: BinaryIO, path: Path, rows: int, row_bytes: int, picks: Sequence[Pick]) -> None:
    """Read `rows` rows from where the file stands and copy the picked columns to their targets.

    Many rows are parted among threads: reading and numpy's copying let go of the interpreter's lock. The file
    stands behind the rows afterwards. Raises UserInputError when it ends first.
    """
    start = file.tell()
    threads = _threads_for(rows * row_bytes)

    def fill(part: memoryview, at: int) -> None:
        _fill(file, path, part, start + at)

    def work(first: int, stop: int) -> None:
        _gather_part(fill, range(first, stop), row_bytes, picks)

    if threads == 1:
        work(0, rows)
    else:
        bounds = [rows * number // threads for number in range(threads + 1)]
        with ThreadPoolExecutor(threads, thread_name_prefix="raw-rows") as pool:
            for _ in pool.map(work, bounds, bounds[1:]):
                pass  # what a thread raised is raised here
    file.seek(start + rows * row_bytes)


def _threads_for(size: int) -> int:
    if sys.platform != "linux" or size < _WORTH_THREADS:  # elsewhere a file has but one place to read at
        return 1
    return min(len(os.sched_getaffinity(0)), _MOST_THREADS)


def _gather_part(
    fill: Callable[[memoryview, int], None], rows: range, row_bytes: int, picks: Sequence[Pick]
) -> None:
    """`fill`: fills memory with what lies at a number of bytes behind the first row."""
    per_block = max(_BLOCK_BYTES // row_bytes, min(_FEWEST_ROWS, _MAX_BLOCK_BYTES // row_bytes), 1)
    per_block = min(per_block, max(len(rows), 1))
    block = bytearray(per_block * row_bytes)
    # A NaN of four bytes may be one that warns when it is made eight bytes long.
    with memoryview(block) as bytes_of_block, np.errstate(invalid="ignore"):
        views = [
            (pick.target, np.ndarray((per_block,), pick.dtype, block, pick.offset, (row_bytes,)))
            for pick in picks
        ]
        for at in range(rows.start, rows.stop, per_block):
            count = min(per_block, rows.stop - at)
            fill(bytes_of_block[: count * row_bytes], at * row_bytes)
            for target, view in views:
                target[at : at + count] = view[:count]


def _fill(file: BinaryIO, path: Path, part: memoryview, at: int) -> None:
    """Fill `part` with what the file has from byte `at` on."""
    done = 0
    while done < len(part):
        if sys.platform == "linux":  # without moving the place that threads share
            read = os.preadv(file.fileno(), [part[done:]], at + done)
        else:
            file.seek(at + done)
            read = file.readinto(part[done:])  # type: ignore[attr-defined]
        if not read:
            raise bad_raw(path, msg("the file became shorter while it was being read"), at + done)
        done += read


def _ascii_columns(source: Rows, indices: Sequence[int]) -> list[Array]:
    header = source.header
    columns = [_empty(header, index, header.lengths[index]) for index in indices]
    width = 2 if header.is_complex else 1
    numbers = _Numbers(source)
    for first, count, members in stretches(header.lengths):
        row = 1 + width * len(members)
        position_of = {index: position for position, index in enumerate(members)}
        at = first
        while at < first + count:
            table = numbers.rows(row, first + count - at)
            for column, index in zip(columns, indices, strict=True):
                if index not in position_of:
                    continue
                place = 1 + width * position_of[index]
                part = column[at : at + len(table)]
                part.real = table[:, place]
                if np.iscomplexobj(part):
                    part.imag = table[:, place + 1]
            at += len(table)
    return columns


class _Numbers:
    """The numbers of an ASCII plot in order, indices included, a piece of the text at a time."""

    def __init__(self, source: Rows) -> None:
        self._path = source.path
        self._pieces = self._parsed(source)
        self._kept: RealArray = np.empty(0)
        self._end = source.end

    def rows(self, width: int, most: int) -> RealArray:
        """(k, width) the next rows, 1 <= k <= `most`."""
        while len(self._kept) < width:
            piece = next(self._pieces, None)
            if piece is None:
                reason = msg("complex numbers are written re,im: some have no imaginary part")
                raise bad_raw(self._path, reason, self._end)
            self._kept = np.concatenate((self._kept, piece))
        count = min(len(self._kept) // width, most)
        table = self._kept[: count * width].reshape(count, width)
        self._kept = self._kept[count * width :]
        return table

    def _parsed(self, source: Rows) -> Iterator[RealArray]:
        file, header, end = source.file, source.header, source.end
        at = header.data_offset
        kept = b""
        while at < end:
            file.seek(at)
            raw = file.read(min(_TEXT_BYTES, end - at))
            if not raw:
                raise bad_raw(self._path, msg("the file became shorter while it was being read"), at)
            at += len(raw)
            text = kept + raw
            if header.encoding == "utf-16-le":
                text = kept + raw.decode("utf-16-le", "replace").encode("ascii", "replace")
            cut = len(text) if at >= end else max(text.rfind(b"\n"), text.rfind(b"\t"), text.rfind(b" ")) + 1
            text, kept = text[:cut], text[cut:]
            if len(kept) > 2 * _MAX_WORD:
                raise bad_raw(
                    self._path, msg("a number is longer than {limit} characters", limit=_MAX_WORD), at
                )
            words = text.replace(b",", b" ").split()
            try:
                yield np.fromiter(map(float, words), np.float64, len(words))
            except ValueError as error:
                raise bad_raw(self._path, msg("not a number: {reason}", reason=error), at) from error
