"""Reads SPICE3 raw files: real and complex, binary and ASCII, padded and not, several plots a file.

Hides the format and its traps. The header is hostile input (a deck can write any file): counts are
believed only as far as the file has bytes for them, lines and headers are capped, and whatever is
wrong becomes a UserInputError that says what and where. Binary numbers are read in blocks and
transposed, so that the peak is little more than the vectors asked for. numpy is imported only where
data are read: commands that could read some, and don't, start without it.

Format: ngspice 39, src/frontend/rawfile.c and outitf.c (read, and tried).
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from shared.errors import UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from domain.simulation.waveform import Array, Plot, RealArray, Vector

MAX_DATA_BYTES = 4 * 2**30
"""Most data taken into memory from one file."""

_MAX_LINE = 64 * 1024
_MAX_HEADER = 32 * 2**20
_MAX_PLOTS = 100_000
_BLOCK_BYTES = 8 * 2**20
_MAX_DIGITS = 18
_MAX_LENGTHS = 64
_HEADER_KEYS = frozenset(
    ("title", "date", "plotname", "flags", "no. variables", "no. points", "dimensions", "command", "option",
     "offset", "backannotation", "output", "variables", "values", "binary")
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RawHeader:
    """What a raw file says of one plot, set right by what the file really holds."""

    plot_name: str
    title: str
    date: str
    points: int
    """Complete points in the file; not always what the header claims."""
    variables: tuple[tuple[str, str], ...]
    """(name, type word) as written, in order; the first is the axis of a swept analysis. None in the
    plot of a `.pz` that found neither poles nor zeros."""
    lengths: tuple[int, ...]
    """Points of each variable: short ones in unpadded files, else `points`."""
    is_complex: bool
    is_binary: bool
    data_offset: int
    """Byte where the numbers begin."""
    is_truncated: bool
    """The run or the copy ended early: fewer points than promised, or a promise never written."""

    @property
    def analysis(self) -> str:
        """op, dc, ac, tran, noise ... as in `Plot.analysis`."""
        from domain.simulation.waveform import analysis_of_plot

        return analysis_of_plot(self.plot_name)

    @property
    def has_data(self) -> bool:
        """An analysis has run: there are points, and not of ngspice's own table of constants, which is
        what `write` gives before any analysis."""
        return self.points > 0 and self.plot_name.lower() != "constants"


class RawFileReader:
    """The WaveformReader port: reads whole raw files, up to a memory cap."""

    def __init__(self, max_bytes: int = MAX_DATA_BYTES) -> None:
        self._max_bytes = max_bytes

    def read(self, path: Path) -> list[Plot]:
        """All plots with all vectors. Raises UserInputError when it is not a raw file."""
        return read_raw(path, max_bytes=self._max_bytes)


def read_headers(path: Path) -> list[RawHeader]:
    """The headers of all plots, without their data (binary data are jumped over).

    Raises UserInputError when the file is missing, no regular file or no raw file.
    """
    with _opened(path) as file:
        return [header for header, _ in _walk(file, path)]


def read_raw(
    path: Path, *, signals: Collection[str] | None = None, max_bytes: int = MAX_DATA_BYTES
) -> list[Plot]:
    """All plots of a raw file with their vectors, or only the axes and the canonical names in `signals`.

    Plots without points are kept, with empty vectors; those without variables are left out. Raises
    UserInputError when it is no raw file or holds more than `max_bytes` of data.
    """
    with _opened(path) as file:
        found = [(header, end) for header, end in _walk(file, path) if header.variables]
        chosen = [_chosen_variables(header, signals) for header, _ in found]
        needed = sum(_bytes_of(header, which) for (header, _), which in zip(found, chosen, strict=True))
        if needed > max_bytes:
            raise _too_large(path, needed, max_bytes)
        try:
            return [
                _read_plot(file, path, header, end, which)
                for (header, end), which in zip(found, chosen, strict=True)
            ]
        except MemoryError as error:
            raise _too_large(path, needed, max_bytes) from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file; a FIFO or device left in a scratch folder must neither block nor be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError as error:
        raise UserInputError(
            msg("There is no file {file}.", file=path), file=path, error_type="file_not_found"
        ) from error
    except (OSError, ValueError) as error:
        raise UserInputError(
            msg("{file} cannot be opened: {reason}", file=path, reason=error), file=path
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UserInputError(msg("{file} is not a regular file.", file=path), file=path)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def _bad(path: Path, reason: Message, offset: int) -> UserInputError:
    return UserInputError(
        msg("{file} is not a readable raw file: {reason} (at byte {offset})",
            file=path, reason=reason, offset=offset),
        advice=msg("Give the .raw file of a simulation, or run the simulation again."),
        file=path,
        error_type="bad_raw_file",
    )  # fmt: skip


def _too_large(path: Path, needed: int, allowed: int) -> UserInputError:
    return UserInputError(
        msg("{file} holds {size} MB of data, more than the {limit} MB that are read at once.",
            file=path, size=needed // 2**20, limit=allowed // 2**20),
        advice=msg("Save fewer signals with .save, or take a larger time step."),
        file=path,
        error_type="too_large",
    )  # fmt: skip


def _walk(file: BinaryIO, path: Path) -> Iterator[tuple[RawHeader, int]]:
    """Headers in order, each with the byte where its data end; a header cut off at the end of the
    file after a whole plot is what a killed run leaves, and is passed over."""
    size = os.fstat(file.fileno()).st_size
    offset = 0
    for count in range(_MAX_PLOTS + 1):
        parsing = _HeaderText(file, path, offset, size)
        if not parsing.read():
            if count == 0:
                raise _bad(path, msg("the file ends inside the header"), size)
            return
        if count == _MAX_PLOTS:
            raise _bad(path, msg("more than {limit} plots", limit=_MAX_PLOTS), offset)
        header, offset = _placed(file, path, parsing, size)
        yield header, offset
        offset = _after_blanks(file, offset, size)
        if offset >= size:
            return


class _HeaderText:
    """The lines of one header, with caps."""

    def __init__(self, file: BinaryIO, path: Path, start: int, size: int) -> None:
        self._file = file
        self._path = path
        self._size = size
        self.start = start
        self.fields: dict[str, str] = {}
        self.variables: list[tuple[str, str, tuple[int, ...]]] = []
        self.is_binary = False
        self.data_offset = start

    def read(self) -> bool:
        """Read up to the data. False when the file ends first; raises when it is no header."""
        self._file.seek(self.start)
        while (line := self._line()) is not None:
            key, colon, rest = line.partition(":")
            key = " ".join(key.split()).lower()
            if not line.strip():
                continue
            if not colon or key not in _HEADER_KEYS:
                raise self._wrong(msg("a header line was expected, not {text}", text=_shown(line)))
            if key == "variables":
                if not self._read_variables(rest):
                    return False
            elif key in ("binary", "values"):
                self._check_complete()
                self.is_binary = key == "binary"
                self.data_offset = self._file.tell()
                return True
            else:
                self.fields[key] = rest.strip()
        return False

    def count(self, key: str) -> int:
        """A whole number of the header."""
        text = self.fields.get(key)
        if text is None:
            raise self._wrong(msg("the header has no line {key}", key=_shown(key)))
        if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
            raise self._wrong(
                msg("{key} in the header is not a count: {text}", key=_shown(key), text=_shown(text))
            )
        return int(text)

    def _wrong(self, reason: Message) -> UserInputError:
        return _bad(self._path, reason, self._file.tell())

    def _line(self) -> str | None:
        """The next line, or None when the file ends before its newline."""
        raw = self._file.readline(_MAX_LINE)
        if not raw.endswith(b"\n"):
            if len(raw) == _MAX_LINE:
                raise self._wrong(msg("a header line is longer than {limit} bytes", limit=_MAX_LINE))
            if self.start == 0 and not _may_be_header(raw):
                raise self._wrong(_what_it_looks_like(raw))
            return None
        if b"\0" in raw:
            raise self._wrong(_what_it_looks_like(raw))
        if self._file.tell() - self.start > _MAX_HEADER:
            raise self._wrong(msg("the header is longer than {limit} bytes", limit=_MAX_HEADER))
        return raw.decode("utf-8", "replace").rstrip("\r\n")

    def _read_variables(self, rest: str) -> bool:
        wanted = self.count("no. variables")
        if wanted == 0:
            return True
        line: str | None = rest if rest.strip() else self._line()
        while True:
            if line is None:
                return False
            self._add_variable(line)
            if len(self.variables) >= wanted:
                return True
            line = self._line()

    def _add_variable(self, line: str) -> None:
        words = line.split()
        if len(words) < 3 or words[0] != str(len(self.variables)):
            number = len(self.variables)
            raise self._wrong(
                msg("variable {number} was expected, not {text}", number=number, text=_shown(line))
            )
        dims: tuple[int, ...] = ()
        for word in words[3:]:
            if word.startswith("dims="):
                parts = word.removeprefix("dims=").split(",")
                if all(part.isascii() and part.isdigit() and len(part) <= _MAX_DIGITS for part in parts):
                    dims = tuple(map(int, parts))
        self.variables.append((words[1], words[2], dims))

    def _check_complete(self) -> None:
        if not self.variables and self.count("no. variables") > 0:
            raise self._wrong(msg("the header names no variables"))
        self.count("no. points")
        if "flags" not in self.fields:
            raise self._wrong(msg("the header has no line {key}", key=_shown("flags")))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "...")


def _may_be_header(raw: bytes) -> bool:
    key = raw.partition(b":")[0].decode("utf-8", "replace").strip().lower()
    return any(known.startswith(key) for known in _HEADER_KEYS)


def _what_it_looks_like(raw: bytes) -> Message:
    if raw.startswith((b"T\0i\0t\0", b"\xff\xfe")):
        return msg("it looks like an LTspice file (UTF-16 header), which is not read")
    return msg("it has no text header")


def _placed(file: BinaryIO, path: Path, text: _HeaderText, size: int) -> tuple[RawHeader, int]:
    """The header with the points the file really holds, and the byte where its data end."""
    claimed = text.count("no. points")
    flags = text.fields["flags"].lower().split()
    is_complex = "complex" in flags
    is_padded = "unpadded" not in flags
    lengths = tuple(
        claimed if is_padded or not dims else min(math.prod(dims), claimed) for _, _, dims in text.variables
    )
    if len(set(lengths)) > _MAX_LENGTHS:
        raise _bad(
            path, msg("vectors of more than {limit} different lengths", limit=_MAX_LENGTHS), text.start
        )
    if not lengths:
        points, end = claimed, _after_indices(file, text.data_offset)
    elif text.is_binary:
        points, end = _binary_extent(file, text.data_offset, size, lengths, 16 if is_complex else 8)
    else:
        points, end = _ascii_extent(file, path, text.data_offset, lengths)
    header = RawHeader(
        plot_name=text.fields.get("plotname", ""),
        title=text.fields.get("title", ""),
        date=text.fields.get("date", ""),
        points=points,
        variables=tuple((name, kind) for name, kind, _ in text.variables),
        lengths=tuple(min(length, points) if claimed else points for length in lengths),
        is_complex=is_complex,
        is_binary=text.is_binary,
        data_offset=text.data_offset,
        is_truncated=points != claimed,
    )
    return header, end


def _stretches(lengths: Sequence[int]) -> Iterator[tuple[int, int, list[int]]]:
    """(first point, points, variables that have them): rows get shorter where a variable ends."""
    first = 0
    for stop in sorted(set(lengths)):
        if stop > first:
            yield first, stop - first, [i for i, length in enumerate(lengths) if length >= stop]
            first = stop


def _whole_points(words: int, lengths: Sequence[int], per_row: int) -> int:
    """Complete points among `words` numbers, `per_row` of each row being no value (an index)."""
    points = 0
    for _, count, members in _stretches(lengths):
        row = len(members) + per_row
        fit = min(count, words // row)
        points += fit
        words -= fit * row
        if fit < count:
            break
    return points


def _binary_extent(
    file: BinaryIO, start: int, size: int, lengths: Sequence[int], width: int
) -> tuple[int, int]:
    """(complete points, end byte) of binary data."""
    if max(lengths) == 0:
        # A killed run never wrote its count: the numbers go on to the next header or the end.
        row = width * len(lengths)
        end = _next_title(file, start, size, row)
        return (end - start) // row, end
    needed = width * sum(lengths)
    if start + needed <= size:
        return max(lengths), start + needed
    return _whole_points((size - start) // width, lengths, 0), size


def _next_title(file: BinaryIO, start: int, size: int, row: int) -> int:
    """Where the next header begins behind a whole number of rows; `size` when none does."""
    base = start
    kept = b""
    while True:
        file.seek(base + len(kept))
        chunk = file.read(_BLOCK_BYTES)
        if not chunk:
            return size
        text = kept + chunk
        at = text.find(b"Title:")
        while at >= 0:
            if (base + at - start) % row in (0, 1) and _is_title(file, base + at):
                return base + at
            at = text.find(b"Title:", at + 1)
        kept = text[-5:]
        base += len(text) - len(kept)


def _is_title(file: BinaryIO, offset: int) -> bool:
    file.seek(offset)
    file.readline(_MAX_LINE)
    return file.readline(_MAX_LINE).lower().startswith((b"date:", b"plotname:"))


def _after_indices(file: BinaryIO, offset: int) -> int:
    """The first byte behind what ngspice writes of a plot without variables: nothing, or a "0" in ASCII."""
    file.seek(offset)
    line = file.readline(_MAX_LINE)
    return offset + len(line) - len(line.lstrip(b"0123456789 \t\r\n"))


def _after_blanks(file: BinaryIO, offset: int, size: int) -> int:
    """The first byte that is no blank: ngspice leaves empty lines between plots."""
    while offset < size:
        file.seek(offset)
        chunk = file.read(4096)
        text = chunk.lstrip(b"\r\n\t ")
        offset += len(chunk) - len(text)
        if text:
            break
    return offset


def _ascii_extent(file: BinaryIO, path: Path, start: int, lengths: Sequence[int]) -> tuple[int, int]:
    """(complete points, end byte) of ASCII data: an index and the values of each point, in words."""
    claimed = max(lengths)
    wanted = claimed + sum(lengths)
    words = 0
    end = start
    file.seek(start)
    while (not claimed or words < wanted) and (line := file.readline(_MAX_LINE)):
        if not line.endswith(b"\n"):
            if len(line) == _MAX_LINE:
                raise _bad(path, msg("a line of numbers is longer than {limit} bytes", limit=_MAX_LINE), end)
            break
        if line[:1].isalpha() and line[:3].lower() not in (b"nan", b"inf"):
            break
        words += len(line.split())
        end = file.tell()
    if not claimed:
        return words // (len(lengths) + 1), end
    if words > wanted:
        raise _bad(path, msg("more numbers than {count} points have", count=claimed), end)
    return _whole_points(words, lengths, 1), end


def _chosen_variables(header: RawHeader, signals: Collection[str] | None) -> list[tuple[int, str]]:
    """(index, canonical name) of the axis and the wanted variables; names that come twice get #2 ..."""
    from domain.simulation.waveform import canonical_name

    chosen: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    has_axis = _has_axis(header)
    for index, (written, kind) in enumerate(header.variables):
        name = canonical_name(written, kind, header.analysis)
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            name = f"{name}#{seen[name]}"
        if signals is None or name in signals or (has_axis and index == 0):
            chosen.append((index, name))
    return chosen


def _has_axis(header: RawHeader) -> bool:
    name, kind = header.variables[0]
    is_axis_kind = kind.lower() in ("time", "frequency", "temp-sweep", "res-sweep")
    return (
        is_axis_kind or "-sweep" in name.lower() or header.analysis in ("dc", "ac", "tran", "noise", "disto")
    )


def _bytes_of(header: RawHeader, chosen: Sequence[tuple[int, str]]) -> int:
    return (16 if header.is_complex else 8) * sum(header.lengths[index] for index, _ in chosen)


def _read_plot(
    file: BinaryIO, path: Path, header: RawHeader, end: int, chosen: Sequence[tuple[int, str]]
) -> Plot:
    from domain.simulation.waveform import Plot, Vector, unit_of

    indices = [index for index, _ in chosen]
    if header.is_binary:
        columns = _binary_columns(file, path, header, indices)
    else:
        columns = _ascii_columns(file, path, header, indices, end)
    vectors: dict[str, Vector] = {}
    has_axis = _has_axis(header)
    for (index, name), data in zip(chosen, columns, strict=True):
        kind = header.variables[index][1].lower()
        is_real = (has_axis and index == 0) or kind in ("decibel", "phase")
        values: Array = data.real.copy() if is_real and header.is_complex else data
        vectors[name] = Vector(name=name, unit=unit_of(name, kind, header.analysis), data=values)
    return Plot(
        analysis=header.analysis,
        name=header.plot_name,
        title=header.title,
        vectors=vectors,
        axis_name=chosen[0][1] if has_axis else None,
    )


def _empty_columns(header: RawHeader, indices: Sequence[int]) -> list[Array]:
    import numpy as np

    columns: list[Array] = []
    for index in indices:
        points = header.lengths[index]
        columns.append(np.empty(points, np.complex128) if header.is_complex else np.empty(points, np.float64))
    return columns


def _binary_columns(file: BinaryIO, path: Path, header: RawHeader, indices: Sequence[int]) -> list[Array]:
    """Read rows by blocks and turn them into columns."""
    import numpy as np

    columns = _empty_columns(header, indices)
    dtype = np.dtype("<c16" if header.is_complex else "<f8")
    file.seek(header.data_offset)
    for first, count, members in _stretches(header.lengths):
        position_of = {index: position for position, index in enumerate(members)}
        picked = [(columns[k], position_of[i]) for k, i in enumerate(indices) if i in position_of]
        row_bytes = dtype.itemsize * len(members)
        per_block = max(_BLOCK_BYTES // row_bytes, 1)
        for at in range(first, first + count, per_block):
            rows = min(per_block, first + count - at)
            raw = file.read(rows * row_bytes)
            if len(raw) < rows * row_bytes:
                raise _bad(path, msg("the file got shorter while it was read"), file.tell())
            block = np.frombuffer(raw, dtype=dtype).reshape(rows, len(members))
            for column, position in picked:
                column[at : at + rows] = block[:, position]
    return columns


def _ascii_columns(
    file: BinaryIO, path: Path, header: RawHeader, indices: Sequence[int], end: int
) -> list[Array]:
    numbers = _ascii_numbers(file, path, header.data_offset, end)
    columns = _empty_columns(header, indices)
    width = 2 if header.is_complex else 1
    offset = 0
    for first, count, members in _stretches(header.lengths):
        row = 1 + width * len(members)
        if offset + count * row > len(numbers):
            raise _bad(path, msg("complex numbers are written re,im: some have no imaginary part"), end)
        table = numbers[offset : offset + count * row].reshape(count, row)[:, 1:]
        offset += count * row
        position_of = {index: position for position, index in enumerate(members)}
        for k, index in enumerate(indices):
            if index in position_of:
                at = width * position_of[index]
                real = table[:, at]
                columns[k][first : first + count] = real + 1j * table[:, at + 1] if width == 2 else real
    return columns


def _ascii_numbers(file: BinaryIO, path: Path, start: int, end: int) -> RealArray:
    """All numbers of an ASCII plot in order, indices included."""
    import numpy as np

    file.seek(start)
    parts: list[RealArray] = []
    kept = b""
    while (at := file.tell()) < end:
        text = kept + file.read(min(_BLOCK_BYTES, end - at))
        cut = len(text) if file.tell() >= end else text.rfind(b"\n") + 1
        text, kept = text[:cut], text[cut:]
        try:
            parts.append(np.array(text.replace(b",", b" ").split(), dtype="S32").astype(np.float64))
        except ValueError as error:
            raise _bad(path, msg("not a number: {reason}", reason=error), at) from error
    return np.concatenate(parts) if parts else np.empty(0)
