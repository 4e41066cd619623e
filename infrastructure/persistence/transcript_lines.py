"""The lines of a transcript: one JSON object each, ended by a newline, readable after any accident.

A line counts when its newline is there. What follows the last one was being written when the program
or the machine died: it is dropped, and so is a last line that is no event (blocks of zeros after a
power cut). A damaged line before others is stood in for by an event ``damaged``; nothing else is lost.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from domain.llm.transcript import role_of

_log = logging.getLogger(__name__)

_NEEDED_TEXTS = {"delta": ("message_id",), "renamed": ("name",), "replaced": ("message_id",)}
_OPTIONAL_TEXTS = {"delta": ("text", "reasoning")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """What was read."""

    events: list[Mapping[str, Any]]
    damaged: tuple[int, ...]
    """Numbers of the lines that could not be read, from 1."""
    end: int
    """Bytes up to the end of the last line that counts; what follows must be cut before writing."""


def write_line(event: Mapping[str, Any]) -> bytes:
    """The line of an event. Raises ValueError or TypeError for what JSON cannot hold.

    A line break within a text is escaped by JSON. A lone surrogate has no UTF-8: that line is ASCII.
    """
    text = json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(event, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def read_lines(data: bytes, *, name: str) -> Lines:
    """All events in `data`; `name` is what the log calls the transcript."""
    events: list[Mapping[str, Any]] = []
    damaged: list[int] = []
    end = 0
    for number, (stop, line) in enumerate(_whole_lines(data), 1):
        event = read_line(line)
        if event is not None:
            events.append(event)
        elif line.strip():
            if stop == len(data) and not _is_json(line):
                break  # nothing follows: the end of a write that was cut off
            damaged.append(number)
            events.append({"event": "damaged", "line": number})
            _log.warning("line %d of the transcript %s is damaged and left out", number, name)
        end = stop
    return Lines(events=events, damaged=tuple(damaged), end=end)


def read_line(line: bytes) -> Mapping[str, Any] | None:
    """The event of a line, None when there is none in it."""
    try:
        event = _json_of(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and _is_event(event) else None


def _json_of(line: bytes) -> Any:
    return json.loads(line.decode().removeprefix("\ufeff"))


def _is_json(line: bytes) -> bool:
    """Whether somebody wrote this line to its end, whatever it means."""
    try:
        _json_of(line)
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
        isinstance(event.get(key), str | None) for key in _OPTIONAL_TEXTS.get(kind, ())
    )
