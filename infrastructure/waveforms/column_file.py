"""The column file: the vectors of a raw file one after the other, with their pyramids, beside it.

A raw file has its numbers point by point, so that one vector costs reading all. Here each vector lies in
one piece and is mapped: what LTspice calls fast access. It is ours alone, made after a run, and may vanish
at any time. A project may come from anywhere, so it is used only when this user's key signed its directory,
and the raw file is the very one it was made of (inode, size, times of change: nobody can choose a ctime);
each block of numbers is held against the directory's hash of it before it is first given out.

Layout, little endian: 8 bytes magic with the version, 8 bytes length of the directory, 32 bytes its
HMAC-SHA256, the directory (JSON), then columns and levels as float64 or complex128, each on a page of its
own, a large
column on a huge page of its own and written by whole ones: a file system that keeps files in large folios
(ext4 and xfs of recent kernels) then maps it by a table entry for 2 MB in place of 512.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import mmap
import os
import struct
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from infrastructure.persistence import confined
from infrastructure.persistence.authenticity import MAC_BYTES, UserKey
from infrastructure.waveforms.raw_header import opened
from shared.errors import UserInputError
from shared.paths import user_home
from shared.ulid import new_ulid

if TYPE_CHECKING:
    from domain.simulation.waveform import Array
    from infrastructure.waveforms.pyramid import Pyramid
    from infrastructure.waveforms.raw_data import Rows
    from infrastructure.waveforms.raw_layout import RawHeader

_MAGIC = b"CDAWAVE\x02"
_START = struct.Struct(f"<8sQ{MAC_BYTES}s")
_KIND = "column file"
_CHECKED_BYTES = 2**20
_PAGE = 4096
_HUGE_PAGE = 2**21
_WORTH_HUGE = 4 * _HUGE_PAGE
_MAX_DIRECTORY = 64 * 2**20
_MAX_BLOCK_BYTES = 128 * 2**20
_WORTH_MAPPING = 2**20
_NICE = 15
_POPULATE_READ = 22
"""Linux' MADV_POPULATE_READ, which Python has no name for; elsewhere and before 5.14 an error."""


def column_path(raw_path: Path) -> Path:
    return raw_path.with_name(raw_path.name + ".columns")


@dataclass(frozen=True, slots=True)
class _Column:
    """Where one variable lies in the file."""

    offset: int
    count: int
    is_complex: bool
    levels: tuple[tuple[int, int, int], ...]
    """Of the pyramid: (stretches, offset of the least values, offset of the greatest)."""

    @property
    def end(self) -> int:
        return self.offset + self.count * (16 if self.is_complex else 8)


@dataclass(frozen=True, slots=True)
class _Plot:
    """The variables of one plot."""

    is_monotonic: bool
    """The first one only rises or only falls."""
    columns: tuple[_Column, ...]


@dataclass(frozen=True, slots=True)
class _Directory:
    """What the file says of itself."""

    plots: tuple[_Plot, ...]
    start: int
    """Where the first block of numbers begins."""
    hashes: tuple[str, ...]
    """SHA-256 of each block of `_CHECKED_BYTES`, from there to the end."""


Checked = dict[tuple[int, ...], bytearray]
"""Of column files (by inode, size and times): which blocks are still to be held against their hashes."""


class ChangedColumns(Exception):
    """Numbers of a column file are not those that were written; the raw file has them all."""


class ColumnFile:
    """An open column file; what it gives out stays valid for good."""

    def __init__(self, data: mmap.mmap, directory: _Directory, unchecked: bytearray) -> None:
        self._data = data
        self._plots = directory.plots
        self._directory = directory
        self._unchecked = unchecked

    @classmethod
    def beside(
        cls,
        raw_path: Path,
        headers: Sequence[RawHeader],
        key: UserKey | None = None,
        checked: Checked | None = None,
    ) -> ColumnFile | None:
        """That of a raw file with these headers, or None when there is none that belongs to it.

        `key`: of the user who has to have made it; None is the one of the environment. `checked` spares
        a file that is opened again the second look at its numbers.
        """
        try:
            source = raw_path.stat()
            with opened(column_path(raw_path)) as file:
                directory = _directory(file, source, headers, key or UserKey(user_home()))
                if directory is None:
                    return None
                fresh = bytearray(b"\1" * len(directory.hashes))
                found = os.fstat(file.fileno())
                state = (found.st_dev, *_state_of(found))
                unchecked = fresh if checked is None else checked.setdefault(state, fresh)
                return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), directory, unchecked)
        except (UserInputError, OSError):
            return None  # not there, or not to be read: the raw file has it all

    def column(self, plot: int, index: int, *, is_whole: bool = True) -> Array:
        """A variable, mapped and read-only; `is_whole`: all of it is going to be read.

        Raises ChangedColumns.
        """
        import numpy as np

        column = self._plots[plot].columns[index]
        if is_whole and column.end - column.offset >= _WORTH_MAPPING:
            # One call in place of a page fault every 64 kB.
            with contextlib.suppress(OSError, ValueError):
                start = column.offset // mmap.PAGESIZE * mmap.PAGESIZE
                self._data.madvise(_POPULATE_READ, start, column.end - start)
        self._check(column.offset, column.end)
        if column.is_complex:
            return np.frombuffer(self._data, np.complex128, column.count, column.offset)
        return np.frombuffer(self._data, np.float64, column.count, column.offset)

    def is_monotonic(self, plot: int) -> bool:
        """Whether the first variable of a plot only rises or only falls."""
        return self._plots[plot].is_monotonic

    def pyramid(self, plot: int, index: int) -> Pyramid | None:
        """Its levels; None for a complex or a short one. Raises ChangedColumns."""
        import numpy as np

        from infrastructure.waveforms.pyramid import Pyramid

        levels = self._plots[plot].columns[index].levels
        if not levels:
            return None
        for count, low, high in levels:
            self._check(low, low + 8 * count)
            self._check(high, high + 8 * count)
        return Pyramid(
            low=tuple(np.frombuffer(self._data, np.float64, count, low) for count, low, _ in levels),
            high=tuple(np.frombuffer(self._data, np.float64, count, high) for count, _, high in levels),
        )

    def _check(self, start: int, end: int) -> None:
        """Raise ChangedColumns unless the bytes from `start` to `end` are those that were written."""
        first, hashes = self._directory.start, self._directory.hashes
        with memoryview(self._data) as data:
            for block in range((start - first) // _CHECKED_BYTES, -(-(end - first) // _CHECKED_BYTES)):
                if self._unchecked[block]:
                    at = first + block * _CHECKED_BYTES
                    with data[at : at + _CHECKED_BYTES] as piece:
                        digest = hashlib.sha256(piece).hexdigest()
                    if digest != hashes[block]:
                        raise ChangedColumns
                    self._unchecked[block] = 0


def _state_of(raw: os.stat_result) -> list[int]:
    return [raw.st_ino, raw.st_size, raw.st_mtime_ns, raw.st_ctime_ns]


def _directory(
    file: IO[bytes], source: os.stat_result, headers: Sequence[RawHeader], key: UserKey
) -> _Directory | None:
    """The directory, when all of it is true and this user's program wrote it."""
    size = os.fstat(file.fileno()).st_size
    start = file.read(_START.size)
    if len(start) < _START.size:
        return None
    magic, length, signature = _START.unpack(start)
    if magic != _MAGIC or length > min(_MAX_DIRECTORY, size):
        return None
    text = file.read(length)
    if not hmac.compare_digest(key.mac(_KIND, text), signature):
        return None
    try:
        content = json.loads(text)
        is_of_source = content["source"] == _state_of(source) and content["size"] == size
        plots = tuple(_Plot(bool(flag), tuple(map(_column, columns))) for flag, columns in content["plots"])
        directory = _Directory(plots, _first_page(start=_START.size + length), tuple(content["blocks"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_whole = len(directory.hashes) == _block_count(directory.start, size)
    return directory if is_of_source and is_whole and _fits(plots, headers, size) else None


def _first_page(start: int) -> int:
    return -(-start // _PAGE) * _PAGE


def _block_count(start: int, size: int) -> int:
    return max(0, -(-(size - start) // _CHECKED_BYTES))


def _column(entry: Sequence[Any]) -> _Column:
    offset, count, is_complex, levels = entry
    numbers = [offset, count, *(number for level in levels for number in level)]
    if not all(type(number) is int and number >= 0 for number in numbers) or type(is_complex) is not bool:
        raise ValueError("not a directory of ours")
    return _Column(offset, count, is_complex, tuple((a, b, c) for a, b, c in levels))


def _fits(plots: Sequence[_Plot], headers: Sequence[RawHeader], size: int) -> bool:
    """The columns are those of the raw file, and lie in the file."""
    from infrastructure.waveforms.pyramid import level_sizes
    from infrastructure.waveforms.raw_data import is_real

    if len(plots) != len(headers):
        return False
    for plot, header in zip(plots, headers, strict=True):
        if len(plot.columns) != len(header.variables):
            return False
        for index, column in enumerate(plot.columns):
            wanted = level_sizes(column.count) if not column.is_complex else []
            if (
                column.count != header.lengths[index]
                or column.is_complex == is_real(header, index)
                or [count for count, _, _ in column.levels] != wanted
                or column.end > size
                or any(max(low, high) + 8 * count > size for count, low, high in column.levels)
            ):
                return False
    return True


class ColumnFileBuilder:
    """Makes column files; the port behind `LoadWaveforms`."""

    def __init__(self, key: UserKey | None = None) -> None:
        """`key` signs them; None is the one of the environment."""
        self._key = key

    def build(self, raw_path: Path, stop: threading.Event) -> bool:
        """Make the column file of a raw file, on a thread of low priority; ends early when `stop` is set.

        Returns whether it is there. Blocking. Raises UserInputError when the raw file can't be read,
        EnvironmentProblem when the column file can't be written.
        """
        outcome: list[bool | BaseException] = []

        def work() -> None:
            try:
                if sys.platform == "linux":  # only there a thread has a priority of its own
                    with contextlib.suppress(OSError):
                        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
                outcome.append(build_columns(raw_path, stop, self._key))
            except BaseException as error:  # noqa: BLE001 - raised below, on the caller's thread
                outcome.append(error)

        thread = threading.Thread(target=work, name="column-file")
        thread.start()
        thread.join()
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return outcome[0]


def build_columns(raw_path: Path, stop: threading.Event | None = None, key: UserKey | None = None) -> bool:
    """Make the column file of a raw file, when it has none; False when `stop` was set before the end.

    Nothing is left behind but the whole file. Raises UserInputError when the raw file can't be read,
    EnvironmentProblem when the column file can't be written.
    """
    from infrastructure.persistence.confined import write_problem
    from infrastructure.waveforms.raw_data import Rows
    from infrastructure.waveforms.raw_layout import walk

    key = key or UserKey(user_home())
    target = column_path(raw_path)
    if not confined.is_private(target):
        target = Path(os.path.realpath(target.parent)) / target.name
    with opened(raw_path) as file:
        source = os.fstat(file.fileno())
        found = [(header, end) for header, end in walk(file, raw_path) if header.variables]
        if ColumnFile.beside(raw_path, [header for header, _ in found], key) is not None:
            return True
        temporary = target.with_name(f".{new_ulid()}.tmp")
        try:
            new = confined.open_file(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            with os.fdopen(new, "r+b") as out:
                plots = _Writer(out, source, [header for header, _ in found], key)
                for number, (header, end) in enumerate(found):
                    if not plots.write_plot(number, Rows(file, raw_path, header, end), stop):
                        return False
                plots.write_directory()
                os.fsync(out.fileno())
            if _changed(source, raw_path):
                return False
            confined.rename(temporary, target)
        except OSError as error:
            raise write_problem(error, target) from error
        finally:
            with contextlib.suppress(OSError):
                confined.unlink(temporary)
    return True


def _changed(before: os.stat_result, path: Path) -> bool:
    after = path.stat()
    return _state_of(before) != _state_of(after)


class _Writer:
    """Writes directory and columns; where everything goes is known before the first number is read."""

    def __init__(
        self, out: IO[bytes], source: os.stat_result, headers: Sequence[RawHeader], key: UserKey
    ) -> None:
        from infrastructure.waveforms.raw_data import is_real

        shapes = [
            [(header.lengths[index], not is_real(header, index)) for index in range(len(header.variables))]
            for header in headers
        ]
        self._out = out
        self._key = key
        self._source = _state_of(source)
        self._hashes: list[str] = []
        self._turns = [_Turns() for _ in shapes]
        # The directory's length moves the offsets it holds: that of a second try fits.
        self._room = 0
        self._plots, self._size = _laid_out(shapes, _START.size)
        while self._room < len(text := self._directory()):
            self._room = len(text) + 64
            self._plots, self._size = _laid_out(shapes, _START.size + self._room)
            self._hashes = ["0" * 64] * _block_count(self._first, self._size)
        os.truncate(out.fileno(), self._size)

    def write_directory(self) -> None:
        """What tells what is where; last, so that a file without it is none."""
        self._hashes = [
            hashlib.sha256(os.pread(self._out.fileno(), _CHECKED_BYTES, at)).hexdigest()
            for at in range(self._first, self._size, _CHECKED_BYTES)
        ]
        text = self._directory().ljust(self._room)
        start = _START.pack(_MAGIC, len(text), self._key.mac(_KIND, text))
        os.pwrite(self._out.fileno(), start + text, 0)

    @property
    def _first(self) -> int:
        return _first_page(_START.size + self._room)

    def _directory(self) -> bytes:
        content: Mapping[str, object] = {
            "source": self._source,
            "size": self._size,
            "blocks": self._hashes,
            "plots": [
                [
                    int(turns.is_monotonic),
                    [[column.offset, column.count, column.is_complex, column.levels] for column in plot],
                ]
                for turns, plot in zip(self._turns, self._plots, strict=True)
            ],
        }
        return json.dumps(content, separators=(",", ":")).encode()

    def write_plot(self, number: int, source: Rows, stop: threading.Event | None) -> bool:
        """All columns of one plot and their pyramids; False when stopped."""
        from infrastructure.waveforms.raw_data import read_columns

        columns = self._plots[number]
        everything = range(len(columns))
        levels: dict[int, list[tuple[Array, Array]]] = {index: [] for index in everything}
        for rows in _blocks(source.header):
            if stop is not None and stop.is_set():
                return False
            parts = read_columns(source, everything, rows)
            base = 0 if rows is None else rows.start
            self._turns[number].look_at(parts[0])
            for index, (column, part) in enumerate(zip(columns, parts, strict=True)):
                self._put(column.offset + base * part.itemsize, part)
                if column.levels:
                    levels[index].append(_first_level(part))
        for index, column in enumerate(columns):
            if column.levels:
                self._put_levels(column, levels[index])
        return True

    def _put_levels(self, column: _Column, parts: Sequence[tuple[Array, Array]]) -> None:
        import numpy as np

        from infrastructure.waveforms.pyramid import next_level

        low = np.concatenate([part[0] for part in parts])
        high = np.concatenate([part[1] for part in parts])
        for place, (_, low_offset, high_offset) in enumerate(column.levels):
            if place:
                low, high = next_level(low, high)
            self._put(low_offset, low)
            self._put(high_offset, high)

    def _put(self, offset: int, values: Array) -> None:
        import numpy as np

        left = np.ascontiguousarray(values).view(np.uint8).data
        while left:
            done = os.pwrite(self._out.fileno(), left, offset)
            left, offset = left[done:], offset + done


class _Turns:
    """Whether an axis, which comes in pieces, only rises or only falls."""

    def __init__(self) -> None:
        self._last: Array | None = None
        self._rises = self._falls = False

    @property
    def is_monotonic(self) -> bool:
        return not (self._rises and self._falls)

    def look_at(self, piece: Array) -> None:
        import numpy as np

        values = piece.real
        with np.errstate(invalid="ignore"):
            moves = np.diff(values if self._last is None else np.concatenate((self._last, values)))
        # NaN neither rises nor falls, and cannot be searched: it counts as both.
        self._rises = self._rises or not (moves <= 0).all()
        self._falls = self._falls or not (moves >= 0).all()
        self._last = values[-1:].copy()


def _first_level(part: Array) -> tuple[Array, Array]:
    from infrastructure.waveforms.pyramid import first_level

    return first_level(part.real)


def _laid_out(shapes: Sequence[Sequence[tuple[int, bool]]], start: int) -> tuple[list[list[_Column]], int]:
    """The columns of all plots one after the other from `start` on, and the size of the file."""
    from infrastructure.waveforms.pyramid import level_sizes

    at = start

    def place(size: int) -> int:
        nonlocal at
        page = _HUGE_PAGE if size >= _WORTH_HUGE else _PAGE
        found = -(-at // page) * page
        at = found + size
        return found

    plots = []
    for shape in shapes:
        columns = []
        for count, is_complex in shape:
            offset = place(count * (16 if is_complex else 8))
            sizes = [] if is_complex else level_sizes(count)
            levels = tuple((size, place(8 * size), place(8 * size)) for size in sizes)
            columns.append(_Column(offset, count, is_complex, levels))
        plots.append(columns)
    return plots, at


def _blocks(header: RawHeader) -> list[range | None]:
    """The rows to read at a time; None for all at once, where they can't be parted."""
    if not header.is_binary or len(set(header.lengths)) > 1:
        return [None]
    row = sum(16 if header.type_of(index) == "c16" else 8 for index in range(len(header.variables)))
    rows = _HUGE_PAGE // 8  # a huge page of each column, or two
    while rows * row > _MAX_BLOCK_BYTES and rows > 64:
        rows //= 2
    return [range(at, min(at + rows, header.points)) for at in range(0, header.points, rows)]
