"""Where the numbers of a raw file lie: plots in order, types of the numbers, points that are really there.

Counts are believed only as far as the file has bytes for them.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from domain.circuit.numbers import read_number
from infrastructure.waveforms.raw_header import (
    MAX_LINE,
    Dialect,
    Encoding,
    HeaderText,
    Lines,
    bad_raw,
)
from shared.message import msg

_MAX_PLOTS = 100_000
_MAX_LENGTHS = 64
_BLOCK_BYTES = 8 * 2**20
_XYCE_STEP = re.compile(r"^Step Analysis: Step (\d{1,18}) of (\d{1,18}) params:(.*)$", re.DOTALL)
_XYCE_VALUE = re.compile(r"name = (\S+) value = (\S+)\s*")
_XYCE_SWEEP = re.compile(r"DC Sweep: Step \d+ of \d+ params:\s*")

SIZES = {"f4": 4, "f8": 8, "c16": 16}
"""Bytes of a number of each type."""


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
    dialect: Dialect = "spice3"
    encoding: Encoding = "utf-8"
    axis_type: str = "f8"
    """Type of the first variable's numbers in a binary file: f8, c16."""
    value_type: str = "f8"
    """Type of the others': f4, f8, c16."""
    is_by_column: bool = False
    """LTspice's "fast access": one variable after the other, not one point after the other."""
    is_stepped: bool = False
    """The runs of a `.step` follow each other in one plot (LTspice, QSPICE)."""
    axis_shift: float = 0.0
    """To be added to the axis: where LTspice began to save."""
    step: int = 0
    """From 1 where a run of a `.step` is a plot of its own (Xyce), else 0."""
    steps: int = 0
    """How many there are to be."""
    step_values: Mapping[str, float] = field(default_factory=dict)
    """Of the stepped quantities, by lower-case name."""

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

    @property
    def has_axis(self) -> bool:
        """The first variable is what the others are given over."""
        if not self.variables:
            return False
        name, kind = self.variables[0]
        if self.analysis == "op" and self.is_stepped:
            return False
        is_axis_kind = kind in ("time", "frequency", "temp-sweep", "res-sweep", "parameter", "param")
        is_swept = self.analysis in ("dc", "ac", "tran", "noise", "disto")
        return is_axis_kind or is_swept or "-sweep" in name.lower()

    def type_of(self, index: int) -> str:
        """Type of the numbers of variable `index` in a binary file."""
        return self.value_type if index else self.axis_type


def walk(file: BinaryIO, path: Path, *, is_growing: bool = False) -> Iterator[tuple[RawHeader, int]]:
    """Headers in order, each with the byte where its data end; a header cut off at the end of the
    file after a whole plot is what a killed run leaves, and is passed over.

    `is_growing`: it is being written, so a plot without a count is the last one, and nothing is searched
    for behind it.
    """
    size = os.fstat(file.fileno()).st_size
    offset = 0
    encoding: Encoding | None = None
    for count in range(_MAX_PLOTS + 1):
        text = HeaderText(file, path, offset, encoding)
        if not text.read():
            if count == 0:
                raise bad_raw(path, msg("the file ends inside the header"), size)
            return
        if count == _MAX_PLOTS:
            raise bad_raw(path, msg("more than {limit} plots", limit=_MAX_PLOTS), offset)
        encoding = text.encoding
        header, offset = _placed(file, path, text, size, is_growing=is_growing)
        yield header, offset
        offset = _after_blanks(file, offset, size, encoding)
        if offset >= size:
            return


def stretches(lengths: Sequence[int]) -> Iterator[tuple[int, int, list[int]]]:
    """(first point, points, variables that have them): rows get shorter where a variable ends."""
    first = 0
    for stop in sorted(set(lengths)):
        if stop > first:
            yield first, stop - first, [i for i, length in enumerate(lengths) if length >= stop]
            first = stop


def _placed(
    file: BinaryIO, path: Path, text: HeaderText, size: int, *, is_growing: bool
) -> tuple[RawHeader, int]:
    """The header with the points the file really holds, and the byte where its data end."""
    claimed = text.count("no. points")
    flags = text.fields["flags"].lower().split()
    is_padded = "unpadded" not in flags
    lengths = tuple(
        claimed if is_padded or not variable.dims else min(math.prod(variable.dims), claimed)
        for variable in text.variables
    )
    if len(set(lengths)) > _MAX_LENGTHS:
        raise bad_raw(
            path, msg("vectors of more than {limit} different lengths", limit=_MAX_LENGTHS), text.start
        )
    types = _types(text, flags, claimed, size - text.data_offset)
    is_by_column = "fastaccess" in flags and text.is_binary
    if not lengths:
        points, end = claimed, _after_indices(file, text.data_offset)
    elif text.is_binary:
        row = SIZES[types[0]] + (len(lengths) - 1) * SIZES[types[1]]
        if _is_text(file, text.data_offset):
            raise bad_raw(path, msg("the header says Binary, but numbers in text follow"), text.data_offset)
        if is_growing and max(lengths) == 0:
            points, end = (size - text.data_offset) // row, size
        else:
            points, end = _binary_extent(file, text.data_offset, size, lengths, row)
        if is_by_column and points != claimed:
            # The columns lie where the claimed count puts them; what is missing is missing at the end.
            points = 0
    else:
        points, end = _ascii_extent(file, path, text, lengths)
    name, step, steps, values = _xyce_step(text.fields.get("plotname", ""))
    header = RawHeader(
        plot_name=name,
        title=text.fields.get("title", ""),
        date=text.fields.get("date", ""),
        points=points,
        variables=tuple((variable.name, variable.kind) for variable in text.variables),
        lengths=tuple(min(length, points) if claimed else points for length in lengths),
        is_complex="complex" in flags,
        is_binary=text.is_binary,
        data_offset=text.data_offset,
        is_truncated=points != claimed,
        dialect=text.dialect,
        encoding=text.encoding,
        axis_type=types[0],
        value_type=types[1],
        is_by_column=is_by_column,
        is_stepped="stepped" in flags,
        axis_shift=text.number("offset") if text.dialect in ("ltspice", "qspice") else 0.0,
        step=step,
        steps=steps,
        step_values=values,
    )
    return header, end


def _types(text: HeaderText, flags: Sequence[str], claimed: int, there: int) -> tuple[str, str]:
    """Types of the first and of the other variables' numbers in a binary file."""
    if "complex" in flags:
        return ("f8", "c16") if text.dialect == "qspice" else ("c16", "c16")
    if text.dialect != "ltspice" or "double" in flags:
        return "f8", "f8"
    # Old versions wrote doubles without saying so; the size of the file tells.
    count = len(text.variables)
    is_all_doubles = count > 1 and claimed > 0 and there == claimed * count * 8
    return ("f8", "f8") if is_all_doubles else ("f8", "f4")


def _xyce_step(plot_name: str) -> tuple[str, int, int, dict[str, float]]:
    """(the plot's name without them, step, steps, values) of a name like ``Step Analysis: Step 2 of 3
    params:  name = R1 value = 2000  Transient Analysis``."""
    found = _XYCE_STEP.match(plot_name)
    if found is None:
        return _without_sweep(plot_name), 0, 0, {}
    pairs, rest = _leading_values(found[3].strip())
    values: dict[str, float] = {}
    for name, text in pairs:
        if (number := read_number(text)) is not None:
            values[name.lower()] = number.value
    return _without_sweep(rest), int(found[1]), int(found[2]), values


def _without_sweep(plot_name: str) -> str:
    sweep = _XYCE_SWEEP.match(plot_name)
    return plot_name if sweep is None else _leading_values(plot_name[sweep.end() :])[1]


def _leading_values(text: str) -> tuple[list[tuple[str, str]], str]:
    """(name, value) pairs at the start of a text, and the rest of it."""
    pairs = []
    while (pair := _XYCE_VALUE.match(text)) is not None:
        pairs.append((pair[1], pair[2]))
        text = text[pair.end() :]
    return pairs, text


def _whole_points(items: int, lengths: Sequence[int], per_row: int) -> int:
    """Complete points among `items` numbers, `per_row` of each row being no value (an index)."""
    points = 0
    for _, count, members in stretches(lengths):
        row = len(members) + per_row
        fit = min(count, items // row)
        points += fit
        items -= fit * row
        if fit < count:
            break
    return points


def _binary_extent(
    file: BinaryIO, start: int, size: int, lengths: Sequence[int], row: int
) -> tuple[int, int]:
    """(complete points, end byte) of binary data; `row` = bytes of a full row."""
    if max(lengths) == 0:
        # A killed run never wrote its count: the numbers go on to the next header or the end.
        end = _next_title(file, start, size, row)
        return (end - start) // row, end
    if min(lengths) == max(lengths):
        fit = min(lengths[0], (size - start) // row)
        return fit, (start + fit * row if fit == lengths[0] else size)
    width = row // len(lengths)  # files with vectors of different lengths have numbers of one type
    needed = width * sum(lengths)
    if start + needed <= size:
        return max(lengths), start + needed
    return _whole_points((size - start) // width, lengths, 0), size


_TEXT_LOOKED_AT = 64
_OF_TEXT_NUMBERS = b"0123456789+-.,eE \t\r\n"


def _is_text(file: BinaryIO, offset: int) -> bool:
    """The data begin with numbers in text: so many bytes of binary numbers never look like that."""
    file.seek(offset)
    begin = file.read(_TEXT_LOOKED_AT)
    return len(begin) >= 16 and not begin.strip(_OF_TEXT_NUMBERS)


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
        for found in sorted((*_places(text, b"Title:"), *_places(text, b"Plotname:"))):
            at = base + found
            if (at - start) % row in (0, 1) and _is_title(file, at):
                return at
        kept = text[-8:]
        base += len(text) - len(kept)


def _places(text: bytes, word: bytes) -> Iterator[int]:
    """Where a word stands; ten times as quick as a regular expression, and files have a gigabyte."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _is_title(file: BinaryIO, offset: int) -> bool:
    file.seek(offset)
    file.readline(MAX_LINE)
    return file.readline(MAX_LINE).lower().startswith((b"date:", b"plotname:", b"flags:"))


def _after_indices(file: BinaryIO, offset: int) -> int:
    """The first byte behind what ngspice writes of a plot without variables: nothing, or a "0" in ASCII."""
    file.seek(offset)
    line = file.readline(MAX_LINE)
    return offset + len(line) - len(line.lstrip(b"0123456789 \t\r\n"))


def _after_blanks(file: BinaryIO, offset: int, size: int, encoding: Encoding) -> int:
    """The first byte that is no blank: ngspice leaves empty lines between plots."""
    blanks = b"\r\n\t " if encoding == "utf-8" else b"\r\n\t \0"
    while offset < size:
        file.seek(offset)
        chunk = file.read(4096)
        text = chunk.lstrip(blanks)
        offset += len(chunk) - len(text)
        if text:
            break
    return offset


def _ascii_extent(file: BinaryIO, path: Path, text: HeaderText, lengths: Sequence[int]) -> tuple[int, int]:
    """(complete points, end byte) of ASCII data: an index and the values of each point, in words."""
    claimed = max(lengths)
    wanted = claimed + sum(lengths)
    words = 0
    end = text.data_offset
    file.seek(end)
    lines = Lines(file, text.encoding)
    while (not claimed or words < wanted) and (line := lines.next()):
        if not line.endswith(b"\n"):
            if len(line) >= MAX_LINE:
                reason = msg("a line of numbers is longer than {limit} bytes", limit=MAX_LINE)
                raise bad_raw(path, reason, end)
            break
        if line[:1].isalpha() and line[:3].lower() not in (b"nan", b"inf"):
            break
        # A complex number is re,im, in some files with a blank behind the comma: one word all the same.
        words += len(line.replace(b", ", b",").split())
        end = lines.offset
    if not claimed:
        return words // (len(lengths) + 1), end
    if words > wanted:
        raise bad_raw(path, msg("more numbers than {count} points can have", count=claimed), end)
    return _whole_points(words, lengths, 1), end
