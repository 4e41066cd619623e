"""The frames between the application and its guests (guest.py), read without trusting them.

A guest has loaded a stranger's deck: every count is held against the bytes that are really there, and a
frame that does not add up is a `WireError`, which costs the guest its life and nothing else.
"""

from __future__ import annotations

import marshal
import operator
import os
import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from infrastructure.ngspice.batch.guest import HELLO, IDLE, LAYOUT, LOADED, QUIT, RESULT, SAME

_FRAME = struct.Struct("<IB")
_RESULT = struct.Struct("<IIdII")
_SIZE = struct.Struct("<Q")
_KINDS = frozenset((HELLO, LOADED, LAYOUT, RESULT, QUIT, IDLE))
_MOST_TEXT = 64 * 2**20
_CHUNK = 256 * 1024
_MOST_AT_ONCE = 4 * 2**20
"""Bytes read in one go, so that the loop is not held."""
_MOST_LAYOUTS = 10_000


class WireError(Exception):
    """A guest did not keep to the protocol."""


@dataclass(frozen=True, slots=True)
class PlotLayout:
    """One plot as a guest describes it."""

    name: str
    """ngspice's: "ac1", "noise2"."""
    vectors: tuple[tuple[str, int, int], ...]
    """Name, ngspice's type number, doubles a point (1 or 2)."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the results of a guest that name this layout hold."""

    plots: tuple[PlotLayout, ...]
    widths: tuple[int, ...]
    """Of all vectors of all plots."""
    data_offset: int
    """Where the numbers begin in a result."""


@dataclass(frozen=True, slots=True)
class RawResult:
    """What one run gave, as it came."""

    run_id: int
    layout: Layout
    duration_s: float
    setting: bytes
    """What ngspice said while the values were set."""
    said: bytes
    """What it said while it ran."""
    lengths: tuple[int, ...]
    """Points of each vector of the layout; SAME for an axis that is that of the result before."""
    data: memoryview
    """Their numbers, one vector behind the other."""


def order(name: str, *arguments: Any) -> bytes:
    """An order for a guest, which trusts us."""
    body = marshal.dumps((name, *arguments))
    return _SIZE.pack(len(body)) + body


def run_order(runs: Sequence[tuple[int, Sequence[float]]]) -> bytes:
    """The order to do these (run id, values)."""
    values = array("d")
    for _, numbers in runs:
        values.extend(numbers)
    return order("runs", [run_id for run_id, _ in runs], values.tobytes())


class FrameReader:
    """Cuts what comes out of a guest's pipe into frames of at most `most` bytes."""

    def __init__(self, descriptor: int, most: int) -> None:
        self._descriptor = descriptor
        self._most = most
        self._chunk = memoryview(bytearray(_CHUNK))
        self._head = bytearray()
        self._kind = 0
        self._body: bytearray | None = None
        self._filled = 0
        self.is_over = False
        """The pipe has no writer any more."""
        self.taken = 0
        """Bytes read until now."""

    def read(self) -> Iterator[tuple[int, memoryview]]:
        """The frames that are complete now. Raises WireError."""
        taken = 0
        while taken < _MOST_AT_ONCE:
            # What is large goes straight to its place; many small frames come in one call.
            missing = 0 if self._body is None else len(self._body) - self._filled
            is_direct = missing >= _CHUNK
            target = memoryview(self._body)[self._filled :] if is_direct and self._body else self._chunk
            try:
                count = os.readv(self._descriptor, [target])
            except BlockingIOError:
                return
            if count == 0:
                self.is_over = True
                return
            taken += count
            self.taken += count
            if is_direct:
                self._filled += count
                if count == missing:
                    yield self._finished()
            else:
                yield from self._cut(target[:count])

    def _cut(self, data: memoryview) -> Iterator[tuple[int, memoryview]]:
        while data:
            if self._body is None:
                taken = min(_FRAME.size - len(self._head), len(data))
                self._head += data[:taken]
                data = data[taken:]
                if len(self._head) < _FRAME.size:
                    return
                self._begin()
            assert self._body is not None
            taken = min(len(self._body) - self._filled, len(data))
            self._body[self._filled : self._filled + taken] = data[:taken]
            self._filled += taken
            data = data[taken:]
            if self._filled == len(self._body):
                yield self._finished()

    def _finished(self) -> tuple[int, memoryview]:
        assert self._body is not None
        body, self._body = self._body, None
        return self._kind, memoryview(body)

    def _begin(self) -> None:
        size, self._kind = _FRAME.unpack(self._head)
        self._head.clear()
        if self._kind not in _KINDS or size > (self._most if self._kind == RESULT else _MOST_TEXT):
            raise WireError(f"a frame of kind {self._kind} with {size} bytes")
        self._body = bytearray(size)
        self._filled = 0


def read_result(body: memoryview, layouts: Sequence[Layout]) -> RawResult:
    """A RESULT frame. Raises WireError when its parts do not add up."""
    if len(body) < _RESULT.size:
        raise WireError("a result without its head")
    run_id, number, duration, setting_size, said_size = _RESULT.unpack_from(body)
    if number >= len(layouts):
        raise WireError(f"layout {number} was not announced")
    layout = layouts[number]
    start = layout.data_offset
    if len(body) < start:
        raise WireError("a result without its lengths")
    lengths = struct.unpack_from(f"<{len(layout.widths)}I", body, _RESULT.size)
    sent = lengths if SAME not in lengths else [0 if length == SAME else length for length in lengths]
    size = 8 * sum(map(operator.mul, sent, layout.widths))
    if start + size + setting_size + said_size != len(body):
        raise WireError("the lengths of a result do not add up")
    end = start + size
    return RawResult(
        run_id=run_id,
        layout=layout,
        duration_s=duration,
        setting=bytes(body[end : end + setting_size]),
        said=bytes(body[end + setting_size :]),
        lengths=lengths,
        data=body[start:end],
    )


def read_layout(body: memoryview, known: int) -> Layout:
    """A LAYOUT frame, the next after `known` others. Raises WireError."""
    if known >= _MOST_LAYOUTS or len(body) < 4 or int.from_bytes(body[:4], "little") != known:
        raise WireError("layouts do not come in order")
    text = bytes(body[4:]).decode("latin-1")
    try:
        plots = tuple(_read_plot(part) for part in text.split("\f")) if text else ()
    except ValueError as error:
        raise WireError(f"a layout cannot be read: {error}") from error
    widths = tuple(width for plot in plots for _, _, width in plot.vectors)
    counts_size = 4 * len(widths)
    return Layout(plots, widths, _RESULT.size + counts_size + -counts_size % 8)


def _read_plot(text: str) -> PlotLayout:
    name, *lines = text.split("\n")
    vectors = []
    for line in lines:
        vector, kind, width = line.split("\t")
        if width not in ("1", "2") or not kind.isdigit():
            raise ValueError(line[:60])
        vectors.append((vector, int(kind), int(width)))
    return PlotLayout(name, tuple(vectors))


def read_quit(body: memoryview) -> tuple[int, bytes]:
    """A QUIT frame: ngspice's exit status and last words. Raises WireError."""
    if len(body) < 4:
        raise WireError("an end without a status")
    return int.from_bytes(body[:4], "little", signed=True), bytes(body[4:])
