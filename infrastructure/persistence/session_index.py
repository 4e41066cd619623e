"""``sessions.json``: a cache of what a list of conversations shows. The transcripts are the truth.

Each entry knows the state of its transcript when it was made: size, times and inode, of which a stranger's
commit or archive can't put the time of change (ctime) back. When the state is another one, what was known is
hashed, and when it is as it was, only what follows is read; in every other case, or when anything about the
index is odd, the whole transcript is. It is signed: one that came with a stranger's project says nothing.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from io import BufferedReader
from operator import attrgetter
from pathlib import Path
from typing import Any

from domain.llm.transcript import NeedsWholeTranscript, Summary
from infrastructure.persistence.authenticity import SIGNATURE_LENGTH, Authenticity
from infrastructure.persistence.confined import TooLarge, open_regular_file, read_regular_file
from infrastructure.persistence.transcript_lines import Chain, End, is_whole, read_line

SCHEMA_VERSION = 7
_HEAD = f'{{"schema_version":{SCHEMA_VERSION},"signature":"'.encode("ascii")
_BETWEEN, _TAIL = b'","sessions":', b"}\n"
"""What is signed is the list as it stands: nothing has to be read before it is known whose it is."""
_MAX_INDEX_BYTES = 256 << 20
_CHUNK = 1 << 20


@dataclass(slots=True, kw_only=True)
class IndexEntry:
    """A conversation's summary, and the state of its transcript it holds for."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    read_to: int
    """Bytes of whole lines the summary is made from."""
    lines: int
    """Those of the chain of signatures, up to there."""
    sha256: str
    """Of the bytes before `read_to`."""
    link: str
    """Of the chain of signatures up to `read_to`."""
    is_ours: bool
    """This installation wrote, or the user adopted, all lines up to there."""
    summary: Summary

    def holds_for(self, found: os.stat_result) -> bool:
        state = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        return state == (self.size, self.mtime_ns, self.ctime_ns, self.inode)

    def is_cut(self, known: End | None) -> bool:
        """Whether it lacks lines that were written here."""
        end = End(count=self.lines, link=self.link)
        return self.is_ours and known is not None and known.is_beyond(end)


def read_index(path: Path, signer: Authenticity) -> dict[str, IndexEntry]:
    """The entries by conversation; none when the file is missing, damaged, of another version or somebody
    else's."""
    try:
        data = read_regular_file(path, max_bytes=_MAX_INDEX_BYTES)
    except OSError:
        return {}
    listed, signature = data[len(_HEAD) + SIGNATURE_LENGTH + len(_BETWEEN) : -len(_TAIL)], data[len(_HEAD) :]
    written = signature[:SIGNATURE_LENGTH].decode("ascii", "replace")
    if data != _document(listed, written) or not signer.is_ours("sessions", written, SCHEMA_VERSION, listed):
        return {}
    entries = map(_entry_from, json.loads(listed))
    return {entry.summary.session_id: entry for entry in entries}


def index_document(entries: Iterable[IndexEntry], signer: Authenticity) -> bytes:
    """The file's content. Raises EnvironmentProblem when the project can't be signed for."""
    listed = json.dumps([*map(_plain, entries)], separators=(",", ":")).encode("ascii")
    return _document(listed, signer.sign("sessions", SCHEMA_VERSION, listed))


def _document(listed: bytes, signature: str) -> bytes:
    return b"".join((_HEAD, signature.encode(), _BETWEEN, listed, _TAIL))


def summarise(
    path: Path, session_id: str, known: IndexEntry | None, signer: Authenticity, *, most: int
) -> IndexEntry:
    """The entry of the transcript at `path` as it is now, read from what is known on.

    Raises TooLarge for one of more than `most` bytes, OSError.
    """
    with open_regular_file(path) as file:
        found = os.fstat(file.fileno())
        if found.st_size > most:
            raise TooLarge(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        if known is not None and known.size <= found.st_size:
            entry = _go_on(file, found, known, signer)
            if entry is not None:
                return entry
        return _start_anew(file, found, session_id, signer)


def _start_anew(
    file: BufferedReader, found: os.stat_result, session_id: str, signer: Authenticity
) -> IndexEntry:
    summary = Summary(session_id=session_id, seen={})
    file.seek(0)
    chain = Chain(signer=signer, session_id=session_id)
    return _follow(file, found, hashlib.sha256(), 0, summary=summary, chain=chain)


def _go_on(
    file: BufferedReader, found: os.stat_result, known: IndexEntry, signer: Authenticity
) -> IndexEntry | None:
    """Read only what came since; None when what was known is not the beginning of what is there."""
    hashed = _hashed(file, known.read_to)
    if hashed.hexdigest() != known.sha256:
        return None
    session_id = known.summary.session_id
    chain = Chain(
        signer=signer, session_id=session_id, count=known.lines, link=known.link, is_ours=known.is_ours
    )
    try:
        return _follow(file, found, hashed, known.read_to, summary=known.summary, chain=chain)
    except NeedsWholeTranscript:
        return None


def _follow(
    file: BufferedReader,
    found: os.stat_result,
    hashed: hashlib._Hash,
    start: int,
    *,
    summary: Summary,
    chain: Chain,
) -> IndexEntry:
    """Add the events from byte `start` on, where `file` stands, to the summary; a piece of the file is in
    memory at a time. `hashed` has the bytes before."""
    read_to, rest, last = start, bytearray(), b""

    def take(line: bytes) -> None:
        event = read_line(chain.read(line)) if line.strip() else None
        if event is not None:
            summary.add(event)

    while chunk := file.read(_CHUNK):
        known = len(rest)
        rest += chunk  # grows in its place: a line may be as long as the file
        whole = rest.rfind(b"\n", known) + 1
        if not whole:
            continue
        lines = bytes(rest[:whole])
        hashed.update(lines)
        for line in lines.split(b"\n")[:-1]:
            take(last)
            last = line
        read_to += whole
        del rest[:whole]
    if is_whole(last):  # else the end of a write that was cut off, as `read_lines` has it
        take(last)
    return IndexEntry(
        size=found.st_size,
        mtime_ns=found.st_mtime_ns,
        ctime_ns=found.st_ctime_ns,
        inode=found.st_ino,
        read_to=read_to,
        lines=chain.count,
        sha256=hashed.hexdigest(),
        link=chain.link,
        is_ours=chain.is_ours,
        summary=summary,
    )


def _hashed(file: BufferedReader, end: int) -> hashlib._Hash:
    """Over the first `end` bytes; `file` stands behind them."""
    hashed = hashlib.sha256()
    file.seek(0)
    while piece := file.read(min(_CHUNK, end - file.tell())):
        hashed.update(piece)
    return hashed


# --- entries as JSON --------------------------------------------------------------------------------

_OF_ENTRY = (
    "size", "mtime_ns", "ctime_ns", "inode", "read_to", "lines", "sha256", "link", "is_ours",
)  # fmt: skip
_OF_SUMMARY = (
    "session_id", "name", "named_by", "work_mode", "created_at", "updated_at", "message_count", "preview",
    "newest_id", "last_answer_id", "turn_open", "design_open", "last_answer_partial", "streaming",
)  # fmt: skip
_entry_values, _summary_values = attrgetter(*_OF_ENTRY), attrgetter(*_OF_SUMMARY)


def _plain(entry: IndexEntry) -> list[Any]:
    return [*_summary_values(entry.summary), *_entry_values(entry)]


def _entry_from(row: list[Any]) -> IndexEntry:
    """What `_plain` made: who wrote it was told by its signature."""
    summary = Summary(**dict(zip(_OF_SUMMARY, row, strict=False)))
    return IndexEntry(**dict(zip(_OF_ENTRY, row[len(_OF_SUMMARY) :], strict=True)), summary=summary)
