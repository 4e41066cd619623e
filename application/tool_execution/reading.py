"""Reading parts of text files of any size; runs in a worker process, so a stop ends it at once.

The file goes by in one pass that finds out its encoding, its length and its version, and in a second one
that keeps the wanted lines.
"""

from __future__ import annotations

import codecs
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from application.ports.project_view import ProjectView
from domain.llm.tokens import LineBudget, head_and_tail
from domain.llm.tools.text_files import (
    BinaryFileError,
    Encoding,
    LineEnds,
    VersionHash,
    decode,
    encoding_of,
    version_hash,
)

WHOLE_FILE_BYTES = 200_000
"""A file larger than this is read in parts only."""
HIT_MARGIN = 5
"""Lines shown before and behind a hit."""

_AT_ONCE = 4_000_000
_LARGEST_UTF_16 = 40_000_000
_CHUNK = 1 << 20
_LONGEST_LINE = 1 << 20
_MOST_HITS = 1000
_NOT_WORDS = re.compile(r"[\s,;:!?\"“”，。；：！？、]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """What is known of a text file without its lines."""

    encoding: Encoding
    line_ends: LineEnds
    total_bytes: int
    total_lines: int
    version: str
    """`domain.llm.tools.text_files.version_hash` of its bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Consecutive lines."""

    first: int
    """1-based number of the first line."""
    lines: tuple[str, ...]
    is_cut: bool = False
    """Its last line was too long and is not shown to its end."""

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Lines of a file."""

    facts: FileFacts
    segments: tuple[Segment, ...]
    is_truncated: bool
    """Less is shown than was asked for."""
    match: Literal["exact", "words"] | None = None
    """How a query was found; None when it was not, or there was none."""
    hits: tuple[int, ...] = ()
    """Lines a query was found on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """Why there are no lines."""

    reason: Literal["binary_file", "file_too_large"]
    total_bytes: int
    total_lines: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much may be shown."""

    tokens: int
    characters: int


def read_whole(view: ProjectView, path: Path, room: Room) -> Reading | Unreadable:
    """All lines, or head and tail where they are more than there is room for. Raises OSError."""
    file = _open(view, path)
    if isinstance(file, Unreadable):
        return file
    with file:
        if file.facts.total_bytes > WHOLE_FILE_BYTES:
            facts = file.facts
            return Unreadable(
                reason="file_too_large", total_bytes=facts.total_bytes, total_lines=facts.total_lines
            )
        return _head_and_tail(file.facts, tuple(file.lines()), room)


def read_range(
    view: ProjectView, path: Path, first: int, last: int | None, room: Room
) -> Reading | Unreadable:
    """The lines `first` to `last` (1-based, both included), from the beginning as far as there is room."""
    file = _open(view, path)
    if isinstance(file, Unreadable):
        return file
    with file:
        end = file.facts.total_lines if last is None else min(last, file.facts.total_lines)
        segment, is_whole = _as_many(_numbered(file.lines(), first, end), first, room)
        return Reading(
            facts=file.facts,
            segments=(segment,) if segment.lines else (),
            is_truncated=not is_whole or segment.is_cut,
        )


def read_query(view: ProjectView, path: Path, query: str, room: Room) -> Reading | Unreadable:
    """The lines around each place where `query` stands, letter case aside.

    Where the text as a whole is nowhere, lines with all its words are taken; where there are none either,
    the beginning of the file.
    """
    file = _open(view, path)
    if isinstance(file, Unreadable):
        return file
    with file:
        match, hits = _hits(file, query)
        if not hits:
            head, is_whole = _as_many(_numbered(file.lines(), 1, file.facts.total_lines), 1, room)
            return Reading(
                facts=file.facts, segments=(head,) if head.lines else (), is_truncated=not is_whole
            )
        spans = _widened(hits, file.facts.total_lines)
        segments, is_whole = _spans(file.lines(), spans, room)
        return Reading(facts=file.facts, segments=segments, is_truncated=not is_whole, match=match, hits=hits)


class _OpenText:
    """A text file whose facts are known; `lines` reads it from the beginning."""

    def __init__(self, file: io.BufferedReader | io.BytesIO, facts: FileFacts) -> None:
        self._file = file
        self.facts = facts

    def __enter__(self) -> _OpenText:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()

    def lines(self) -> Iterator[str]:
        """The lines without their ends; of one longer than a million characters only the beginning."""
        bom = {"utf-8-sig": 3, "utf-16-le": 2, "utf-16-be": 2}.get(self.facts.encoding, 0)
        self._file.seek(bom)
        codec = "utf-8" if self.facts.encoding == "utf-8-sig" else self.facts.encoding
        newline = "\r" if self.facts.line_ends == "cr" else "\n"
        text = io.TextIOWrapper(self._file, encoding=codec, errors="replace", newline=newline)
        try:
            is_new = True
            while piece := text.readline(_LONGEST_LINE):
                if is_new:
                    yield piece.removesuffix(newline).removesuffix("\r")
                is_new = piece.endswith(newline)
        finally:
            text.detach()


def _open(view: ProjectView, path: Path) -> _OpenText | Unreadable:
    file = view.open(path)
    try:
        size = os.fstat(file.fileno()).st_size
        start = file.read(_AT_ONCE + 1)
        is_utf_16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        if is_utf_16 and size > _LARGEST_UTF_16:
            file.close()
            return Unreadable(reason="file_too_large", total_bytes=size)
        if len(start) <= _AT_ONCE or is_utf_16:
            data = start + file.read()
            file.close()
            return _OpenText(io.BytesIO(data), facts_of(data))
        return _OpenText(file, _streamed_facts(file, start))
    except BinaryFileError:
        file.close()
        return Unreadable(reason="binary_file", total_bytes=size)
    except BaseException:
        file.close()
        raise


def facts_of(data: bytes) -> FileFacts:
    """The facts of a file whose bytes are `data`. Raises BinaryFileError."""
    file = decode(data)
    return FileFacts(
        encoding=file.encoding,
        line_ends=file.line_ends,
        total_bytes=len(data),
        total_lines=len(file.lines),
        version=version_hash(data),
    )


def _streamed_facts(file: io.BufferedReader, start: bytes) -> FileFacts:
    """The facts of a large file; its encoding is judged by its first megabytes when it is no UTF-8."""
    version, size, crlf, lf, cr = VersionHash(), 0, 0, 0, 0
    utf_8 = codecs.getincrementaldecoder("utf-8")()
    is_utf_8, last = True, b""
    file.seek(0)
    while chunk := file.read(_CHUNK):
        if b"\0" in chunk:
            raise BinaryFileError
        version.update(chunk)
        size += len(chunk)
        joined = last[-1:] + chunk
        crlf += joined.count(b"\r\n")
        lf += chunk.count(b"\n")
        cr += chunk.count(b"\r")
        last = chunk
        if is_utf_8:
            try:
                utf_8.decode(chunk)
            except UnicodeDecodeError:
                is_utf_8 = False
    encoding: Encoding = "utf-8-sig" if start.startswith(codecs.BOM_UTF8) else "utf-8"
    if not is_utf_8:
        encoding = encoding_of(start[: start.rfind(b"\n") + 1] or start)
        encoding = "latin-1" if encoding.startswith("utf-8") else encoding
    kinds = [name for name, count in (("crlf", crlf), ("lf", lf - crlf), ("cr", cr - crlf)) if count]
    ends: LineEnds = "mixed" if len(kinds) > 1 else kinds[0] if kinds else "none"  # type: ignore[assignment]
    count, mark = (cr, b"\r") if ends == "cr" else (lf, b"\n")
    return FileFacts(
        encoding=encoding,
        line_ends=ends,
        total_bytes=size,
        total_lines=count + (not last.endswith(mark)),
        version=version.hexdigest(),
    )


def _head_and_tail(facts: FileFacts, lines: Sequence[str], room: Room) -> Reading:
    if not lines:
        return Reading(facts=facts, segments=(), is_truncated=False)
    head, tail = head_and_tail(lines, tokens=room.tokens, characters=room.characters)
    first, is_whole = _as_many(iter(lines[:head]), 1, room)
    segments = [first]
    if tail:
        segments.append(Segment(first=len(lines) - tail + 1, lines=tuple(lines[-tail:])))
    shown = sum(len(segment.lines) for segment in segments)
    return Reading(facts=facts, segments=tuple(segments), is_truncated=shown < len(lines) or not is_whole)


def _numbered(lines: Iterable[str], first: int, last: int) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if number > last:
            return
        if number >= first:
            yield line


def _as_many(lines: Iterator[str], first: int, room: Room) -> tuple[Segment, bool]:
    """As many of the lines as there is room for, and whether that is all of them.

    A first line that is too long by itself is cut.
    """
    budget = LineBudget(tokens=room.tokens, characters=room.characters)
    taken: list[str] = []
    for line in lines:
        if budget.takes(line):
            taken.append(line)
        elif taken:
            return Segment(first=first, lines=tuple(taken)), False
        else:
            cut = line[: max(min(room.characters - 1, room.tokens), 1)]
            return Segment(first=first, lines=(cut,), is_cut=True), False
    return Segment(first=first, lines=tuple(taken)), True


def _hits(file: _OpenText, query: str) -> tuple[Literal["exact", "words"] | None, tuple[int, ...]]:
    wanted = query.strip().casefold()
    words = [word for word in _NOT_WORDS.split(wanted) if word]
    exact: list[int] = []
    loose: list[int] = []
    for number, line in enumerate(file.lines(), start=1):
        folded = line.casefold()
        if wanted in folded:
            exact.append(number)
        elif not exact and len(words) > 1 and all(word in folded for word in words):
            loose.append(number)
        if len(exact) >= _MOST_HITS or len(loose) >= _MOST_HITS * 10:
            break
    if exact:
        return "exact", tuple(exact)
    return ("words", tuple(loose[:_MOST_HITS])) if loose else (None, ())


def _widened(hits: Sequence[int], total: int) -> list[tuple[int, int]]:
    """The spans of lines around the hits, those that touch joined."""
    spans: list[tuple[int, int]] = []
    for hit in hits:
        first, last = max(hit - HIT_MARGIN, 1), min(hit + HIT_MARGIN, total)
        if spans and first <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    return spans


def _spans(
    lines: Iterator[str], spans: Sequence[tuple[int, int]], room: Room
) -> tuple[tuple[Segment, ...], bool]:
    """The lines of the spans as far as there is room, and whether that is all of them."""
    budget = LineBudget(tokens=room.tokens, characters=room.characters)
    segments: list[Segment] = []
    numbered = enumerate(lines, start=1)
    for first, last in spans:
        taken: list[str] = []
        for number, line in numbered:
            if number < first:
                continue
            if not budget.takes(line):
                if not taken and not segments:
                    taken.append(line[: max(min(room.characters - 1, room.tokens), 1)])
                if taken:
                    segments.append(Segment(first=first, lines=tuple(taken)))
                return tuple(segments), False
            taken.append(line)
            if number == last:
                break
        if not budget.takes("[lines 1000000-1000000]"):
            segments.append(Segment(first=first, lines=tuple(taken)))
            return tuple(segments), (first, last) == spans[-1]
        segments.append(Segment(first=first, lines=tuple(taken)))
    return tuple(segments), True
