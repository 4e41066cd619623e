"""The lines of a transcript: one JSON object each, ended by a newline, readable after any accident.

A line counts when its newline is there. What follows the last one was being written when the program
or the machine died: it is dropped, and so is a last line that is no event (blocks of zeros after a
power cut). A damaged line before others is stood in for by an event ``damaged``; nothing else is lost.

Each line ends with a signature over itself, all lines before it and the conversation's id. A transcript of
which a line was written elsewhere, changed, moved or taken out is history to be read; an event ``adopted``
says that the user has made what stands before it his. How far it was written here stands in the user's own
folder (`TranscriptEnds`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from domain.llm.adoption import ADOPTED
from domain.llm.transcript import role_of
from infrastructure.persistence import confined
from infrastructure.persistence.authenticity import SIGNATURE_LENGTH, Authenticity
from shared.safe_json import read_bounded

_log = logging.getLogger(__name__)

ENDS = "transcript_ends"
_DIGITS = 20
_END_BYTES = 4096
_LOOKED_AT = 4096
_BEFORE_SIGNATURE, _AFTER_SIGNATURE = b',"signature":"', b'"}'

_NEEDED_TEXTS = {"delta": ("message_id",), "renamed": ("name",), "replaced": ("message_id",)}
_TEXTS = (
    "message_id", "turn_id", "card_id", "compression_id", "until", "instead_of", "step", "state",
    "stop_reason", "name", "text", "reasoning", "kind", "answer", "reason",
)  # fmt: skip
"""What is text, or left out, in events of every kind: readers compare it, and look it up."""


class StoredEvent(Mapping[str, Any]):
    """An event as its line, read whenever it is asked: a long conversation is a fifth as large in memory."""

    __slots__ = ("_line",)

    def __init__(self, line: bytes) -> None:
        self._line = line

    def __getitem__(self, key: str) -> Any:
        return _event_of(self._line)[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_event_of(self._line))

    def __len__(self) -> int:
        return len(_event_of(self._line))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """What was read."""

    events: list[Mapping[str, Any]]
    damaged: tuple[int, ...]
    """Numbers of the lines that could not be read, from 1."""
    is_lost: bool = False
    """There are bytes, and not one event in them: no transcript that was cut off begins so."""
    end: int
    """Bytes up to the end of the last line that counts; what follows must be cut before writing."""


@dataclass(slots=True, kw_only=True)
class Chain:
    """The signatures of a transcript, followed from its first line on."""

    signer: Authenticity
    session_id: str
    count: int = 0
    """Lines so far."""
    link: str = ""
    """SHA-256 over the lines so far, each with the link before it."""
    is_ours: bool = True
    """Every line so far was written by this installation, or adopted."""

    def read(self, line: bytes) -> bytes:
        """Follow a line as it stands in the file, without its newline; returns it without its signature."""
        body, signature = _parted(line)
        self.link, self.count = _next_link(self.link, body), self.count + 1
        is_sound = self.signer.is_ours("transcript", signature, self.session_id, self.link)
        if not is_sound:
            self.is_ours = False
        elif not self.is_ours and _is_adoption(body):
            self.is_ours = True
        return body

    def signed(self, lines: Sequence[bytes]) -> tuple[list[bytes], Chain]:
        """Lines of events (as `write_line` makes them) with their signatures, and the chain behind them.

        Raises EnvironmentProblem when the project can't be signed for.
        """
        link, is_ours, signed = self.link, self.is_ours, []
        for line in lines:
            body = line[:-1]
            link = _next_link(link, body)
            signature = self.signer.sign("transcript", self.session_id, link).encode("ascii")
            signed.append(body[:-1] + _BEFORE_SIGNATURE + signature + _AFTER_SIGNATURE + b"\n")
            is_ours = is_ours or _is_adoption(body)
        return signed, replace(self, count=self.count + len(lines), link=link, is_ours=is_ours)


def _next_link(link: str, body: bytes) -> str:
    return hashlib.sha256(link.encode("ascii") + b"\n" + body).hexdigest()


def _is_adoption(body: bytes) -> bool:
    event = read_line(body) if ADOPTED.encode() in body[:40] else None
    return event is not None and event.get("event") == ADOPTED


def _parted(line: bytes) -> tuple[bytes, str]:
    """A line without its signature, and that; "" when it has none."""
    start = len(line) - len(_BEFORE_SIGNATURE) - SIGNATURE_LENGTH - len(_AFTER_SIGNATURE)
    if start < 1 or not line.endswith(_AFTER_SIGNATURE) or not line.startswith(_BEFORE_SIGNATURE, start):
        return line, ""
    signature = line[start + len(_BEFORE_SIGNATURE) : -len(_AFTER_SIGNATURE)]
    return line[:start] + b"}", signature.decode("ascii", "replace")


def write_line(event: Mapping[str, Any]) -> bytes:
    """The line of an event. Raises ValueError or TypeError for what JSON cannot hold.

    A line break within a text is escaped by JSON. A lone surrogate has no UTF-8: that line is ASCII.
    """
    text = json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(event, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def read_lines(data: bytes, *, name: str, chain: Chain | None = None, is_kept: bool = False) -> Lines:
    """All events in `data`, without their signatures; `name` is what the log calls the transcript.

    `chain` follows the lines that count. Events that are `is_kept` for long are `StoredEvent`s.
    """
    events: list[Mapping[str, Any]] = []
    damaged: list[int] = []
    end = 0
    for number, (stop, line) in enumerate(_whole_lines(data), 1):
        body, _ = _parted(line)
        event = read_line(body)
        if event is not None:
            events.append(StoredEvent(body) if is_kept else event)
        elif line.strip():
            if stop == len(data) and not is_whole(line):
                break  # nothing follows: the end of a write that was cut off
            # A damaged line of ours can't be told from one that was changed: the chain breaks here.
            damaged.append(number)
            events.append({"event": "damaged", "line": number})
            _log.warning("line %d of the transcript %s is damaged and left out", number, name)
        if chain is not None and line.strip():
            chain.read(line)
        end = stop
    start = data[:_LOOKED_AT].strip()
    is_blank = len(data) <= _LOOKED_AT and not start.strip(b"\0")  # made, and cut off before its first line
    is_lost = not (events or is_blank or start.startswith(b"{"))
    return Lines(events=events, damaged=tuple(damaged), end=end, is_lost=is_lost)


def read_line(line: bytes) -> Mapping[str, Any] | None:
    """The event of a line, None when there is none in it."""
    try:
        event = _json_of(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and _is_event(event) else None


def _json_of(line: bytes) -> Any:
    return read_bounded(line.decode().removeprefix("\ufeff"))


@lru_cache(maxsize=4)
def _event_of(line: bytes) -> dict[str, Any]:
    """Of a line that is one: whoever looks at an event asks for several of its keys."""
    found: dict[str, Any] = _json_of(line)
    return found


def is_whole(line: bytes) -> bool:
    """Whether somebody wrote this line to its end, whatever it means."""
    try:
        json.loads(line.decode().removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True


def _whole_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that have their newline, and where each ends."""
    start = 0
    while (newline := data.find(b"\n", start)) >= 0:
        yield newline + 1, data[start:newline]
        start = newline + 1


def _is_event(event: dict[str, Any]) -> bool:
    """Whether whoever reads the event finds in it what its kind promises."""
    kind = event.get("event")
    if not isinstance(kind, str):
        return False
    if kind in ("message", "replaced"):
        message = event.get("message")
        if not isinstance(message, dict) or not role_of(message):
            return False
    return all(isinstance(event.get(key), str) for key in _NEEDED_TEXTS.get(kind, ())) and all(
        isinstance(event.get(key), str | None) for key in _TEXTS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The newest line that was written or adopted here."""

    count: int
    """Lines up to it."""
    link: str
    """Of the chain of signatures up to it."""

    def is_beyond(self, other: End) -> bool:
        """Whether a transcript of ours that ends at `other` lacks lines of one that ended here."""
        return other.count < self.count or (other.count == self.count and other.link != self.link)


class TranscriptEnds:
    """How far each conversation of a project was written here: a small file each, in the user's own folder.

    Each line is signed, but a beginning of a transcript is signed as well: one whose end was cut off, or that
    was emptied, looks like one that never had more. So the number of its lines and their last link are noted
    where no project can reach. They hold for the folder the project is in: a copy elsewhere may well be an
    older one.

    Blocking; whoever notes holds the conversation's lock.

    A note is not flushed: after a power cut an older one tells less, and nothing wrong. Where the user's
    folder can't be written nothing is known; the log says so.
    """

    def __init__(self, signer: Authenticity) -> None:
        self._signer = signer

    def known(self, session_id: str) -> End | None:
        """Where it ended when it was last written here; None when nobody knows. Writes nothing."""
        return self.known_of((session_id,)).get(session_id)

    def known_of(self, session_ids: Iterable[str]) -> dict[str, End]:
        """The same of many, without those of which nobody knows: a list asks for a thousand."""
        found = {}
        with contextlib.suppress(OSError), confined.opened_folder(self._folder()) as folder:
            for session_id in session_ids:
                with contextlib.suppress(OSError, ValueError):
                    count, link = confined.read_short(session_id, folder, _END_BYTES).decode("ascii").split()
                    found[session_id] = End(count=int(count), link=link)
        return found

    def note(self, session_id: str, end: End) -> None:
        """It was written up to there."""
        folder = self._folder()
        data = f"{end.count:0{_DIGITS}d} {end.link}\n".encode("ascii")
        try:
            try:
                descriptor = confined.open_file(folder / session_id, os.O_WRONLY | os.O_CREAT, 0o600)
            except FileNotFoundError:
                confined.make_folder(folder)
                descriptor = confined.open_file(folder / session_id, os.O_WRONLY | os.O_CREAT, 0o600)
            with contextlib.closing(os.fdopen(descriptor, "wb", buffering=0)) as file:
                file.write(data)  # always as long: in one piece in the place of the one before
        except OSError as error:
            _log.warning("%s can't be written (%s): that one was cut is not told", folder, error)

    def forget(self, session_id: str) -> None:
        """It was deleted by the user."""
        with contextlib.suppress(OSError):
            confined.unlink(self._folder() / session_id)

    def _folder(self) -> Path:
        place = f"{self._signer.project_id}\n{self._signer.private}"
        name = hashlib.sha256(os.fsencode(place)).hexdigest()[:32]
        return Path(os.path.realpath(self._signer.user_home)) / ENDS / name
