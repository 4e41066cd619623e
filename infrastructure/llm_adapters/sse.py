"""Frames out of a byte stream that arrives in arbitrary pieces: server-sent events and NDJSON.

Pure and incremental: `feed` takes whatever the network gave and yields the frames that became
complete, `end` the one that was not closed. Bytes are cut into lines before they are decoded, so a
character split over two pieces is never damaged; invalid UTF-8 becomes U+FFFD. Memory is bounded: a
frame above the cap raises `FrameTooLarge`.

Source: WHATWG HTML, section 9.2 "Server-sent events". Tolerated beyond it, because servers do it:
frames without a blank line between them, and lines without a field name ("stray", as an error object
written bare into the stream).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MAX_FRAME_BYTES = 8 * 1024 * 1024
_PORTION_BYTES = 4 * 1024

_BOM = b"\xef\xbb\xbf"
_FIELDS = frozenset({b"data", b"event", b"id", b"retry"})


class FrameTooLarge(ValueError):
    """A single frame is larger than the cap."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"a frame is larger than {limit} bytes")
        self.limit = limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One event of a stream."""

    data: str
    event: str = ""
    """The event's name, "" for none."""
    is_stray: bool = False
    """Its lines stood in an event stream without a field name."""


def portions_of(piece: bytes) -> Iterator[bytes]:
    """`piece` in parts that are read in no time, even when they are nothing but line ends."""
    for at in range(0, len(piece), _PORTION_BYTES):
        yield piece[at : at + _PORTION_BYTES]


class SSEReader:
    """Reads server-sent events; lines end in LF, CR LF or CR, a BOM at the start is skipped."""

    def __init__(self, *, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._lines = _LineSplitter(max_frame_bytes)
        self._limit = max_frame_bytes
        self._event = ""
        self._data: list[bytes] = []
        self._size = 0
        self._is_stray = False

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """Frames completed by `piece`. Lazy: iterate to the end. Raises FrameTooLarge."""
        for line in self._lines.feed(piece):
            yield from self._take(line)

    def end(self) -> Iterator[Frame]:
        """The frame left open at the end of the stream, if any."""
        for line in self._lines.end():
            yield from self._take(line)
        yield from self._dispatch()

    def _take(self, line: bytes) -> Iterator[Frame]:
        if not line:
            yield from self._dispatch()
            self._event = ""
            return
        name, _, value = line.partition(b":")
        if not name:  # a comment, used as a keep-alive
            return
        if name not in _FIELDS:
            yield from self._add(line, is_stray=True)
        elif name == b"data":
            yield from self._add(value.removeprefix(b" "), is_stray=False)
        elif name == b"event":
            self._event = value.removeprefix(b" ").decode(errors="replace").strip()

    def _add(self, line: bytes, *, is_stray: bool) -> Iterator[Frame]:
        if self._data and (is_stray != self._is_stray or _begins_anew(self._data[-1], line)):
            yield from self._dispatch()
        self._is_stray = is_stray
        self._data.append(line)
        self._size += len(line) + 1
        if self._size > self._limit:
            raise FrameTooLarge(self._limit)

    def _dispatch(self) -> Iterator[Frame]:
        data = b"\n".join(self._data)
        self._data.clear()
        self._size = 0
        if data:
            yield Frame(data=data.decode(errors="replace"), event=self._event, is_stray=self._is_stray)


class NDJSONReader:
    """Reads one JSON text per line; blank lines are keep-alives."""

    is_whole_body = False

    def __init__(self, *, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._lines = _LineSplitter(max_frame_bytes)

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """Frames completed by `piece`. Lazy: iterate to the end. Raises FrameTooLarge."""
        return self._frames(self._lines.feed(piece))

    def end(self) -> Iterator[Frame]:
        """The last line, when no line end follows it."""
        return self._frames(self._lines.end())

    def _frames(self, lines: Iterator[bytes]) -> Iterator[Frame]:
        for line in lines:
            if text := line.strip():
                yield Frame(data=text.decode(errors="replace"))


class BodyReader:
    """Reads the body of an answer that should be an event stream but may be one JSON text.

    It is one text when the content type says JSON and the first byte agrees; then the whole body is
    one stray frame. Anything else is read as an event stream.
    """

    def __init__(self, content_type: str, *, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        kind = content_type.partition(";")[0].strip().lower()
        self._may_be_json = kind.endswith("json") and "ndjson" not in kind
        self._limit = max_frame_bytes
        self._events = SSEReader(max_frame_bytes=max_frame_bytes)
        self._body = bytearray()
        self.is_whole_body = False
        """Whether the body turned out to be one JSON text."""

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """Frames completed by `piece`. Lazy: iterate to the end. Raises FrameTooLarge."""
        if not self._may_be_json:
            yield from self._events.feed(piece)
            return
        self._body += piece
        if len(self._body) > self._limit:
            raise FrameTooLarge(self._limit)
        if not self.is_whole_body:
            yield from self._decide()

    def _decide(self) -> Iterator[Frame]:
        head = bytes(self._body[:4096])
        begin = head.removeprefix(_BOM).lstrip()
        if not begin or _BOM.startswith(head):
            return
        self.is_whole_body = begin.startswith((b"{", b"[", b'"'))
        if not self.is_whole_body:
            self._may_be_json = False
            yield from self._events.feed(bytes(self._body))

    def end(self) -> Iterator[Frame]:
        if self.is_whole_body:
            text = bytes(self._body).removeprefix(_BOM).decode(errors="replace")
            yield Frame(data=text.strip(), is_stray=True)
            return
        if self._may_be_json:  # too little came to decide
            yield from self._events.feed(bytes(self._body))
        yield from self._events.end()


class _LineSplitter:
    """Cuts pieces into lines without their ends; never scans a byte twice."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open = bytearray()
        self._is_after_cr = False
        self._bom_seen = 0
        """How many bytes of a BOM the stream began with; -1 when that is settled."""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        piece = self._without_bom(piece)
        # CR LF split over two pieces: the line ended at the CR already.
        if self._is_after_cr and piece:
            piece = piece.removeprefix(b"\n")
            self._is_after_cr = False
        for line in piece.splitlines(keepends=True):
            self._open += line.rstrip(b"\r\n")
            if len(self._open) > self._limit:
                raise FrameTooLarge(self._limit)
            if line.endswith((b"\r", b"\n")):
                self._is_after_cr = line.endswith(b"\r")
                yield self._take_line()
            else:
                self._is_after_cr = False

    def end(self) -> Iterator[bytes]:
        if self._bom_seen > 0:
            self._open += _BOM[: self._bom_seen]
            self._bom_seen = -1
        if self._open:
            yield self._take_line()

    def _take_line(self) -> bytes:
        line = bytes(self._open)
        self._open.clear()
        return line

    def _without_bom(self, piece: bytes) -> bytes:
        """`piece` without the BOM at the stream's start, which may itself come byte by byte."""
        if self._bom_seen >= 0 and piece:
            rest = _BOM[self._bom_seen :]
            if piece.startswith(rest):
                self._bom_seen = -1
                return piece[len(rest) :]
            if rest.startswith(piece):
                self._bom_seen += len(piece)
                return b""
            piece = _BOM[: self._bom_seen] + piece
            self._bom_seen = -1
        return piece


def _begins_anew(before: bytes, line: bytes) -> bool:
    """Whether `line` starts a new JSON text after `before`: no JSON text has a line end there."""
    return before.rstrip().endswith((b"}", b"]")) and line.lstrip().startswith((b"{", b"["))
