"""Which answers of the user were acted on, in ``spent_answers`` of his own folder.

A transcript is signed, but an older copy of it is signed as well: one that ends behind the user's "allow",
with the record of the call taken out, would have the call made again. So an answer counts once, and what
tells it lies where no project can reach. It counts for a month, too: what was used longer ago needs no note.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from pathlib import Path

from infrastructure.persistence.confined import (
    open_file,
    open_regular_file,
    read_regular_file,
    write_atomically,
)
from infrastructure.persistence.process_locks import change_lock
from shared.errors import CircuitAIError
from shared.ulid import milliseconds_of

_log = logging.getLogger(__name__)

FILE = "spent_answers"
_PIECE = 1 << 20
_COUNTS_S = 30 * 86400.0
"""How long an answer counts: a turn that waited longer asks again."""
_KEPT_S = 31 * 86400.0
_NOTHING_OLDER_S = 60 * 86400.0
"""When the oldest of many notes is older, those older than `_KEPT_S` go: about once a month."""
_ALWAYS_KEPT = 5_000
"""The newest notes, whatever the clock says: one that ran ahead for a while would have all of them go."""


class SpentAnswers:
    """A line for each answer and call, the oldest first. Blocking; safe between threads and processes.

    Where the user's folder can't be written they are known for this run only; the log says so.
    """

    def __init__(self, user_home: Path) -> None:
        self._path = user_home / FILE
        self._of_this_run: set[str] = set()
        self._guard = threading.Lock()

    def is_spent(self, answer_id: str, call_id: str) -> bool:
        """Whether the call was made because of this answer, or it is too old to count. Writes nothing."""
        word = _word(answer_id, call_id)
        if word in self._of_this_run or _age_s(answer_id) > _COUNTS_S:
            return True
        try:
            return _holds(self._place(), word.encode())
        except FileNotFoundError:
            return False
        except OSError as error:
            _log.warning("%s can't be read (%s): whether an answer was used is not known", self._path, error)
            return True  # then it is asked again

    def spend(self, answer_id: str, call_id: str) -> bool:
        """Note, on the disk when it returns, that the call is made; False when it was before."""
        word = _word(answer_id, call_id)
        with self._guard:
            if word in self._of_this_run:
                return False
            try:
                with change_lock(self._path):
                    is_new = not self.is_spent(answer_id, call_id)
                    if is_new:
                        self._forget_what_is_old()
                        _append(self._place(), f"{word}\n".encode())
            except (OSError, CircuitAIError) as error:
                _log.warning("%s can't be written (%s): it is noted for this run only", self._path, error)
                is_new = not self.is_spent(answer_id, call_id)
            self._of_this_run.add(word)
            return is_new

    def _forget_what_is_old(self) -> None:
        try:
            data = read_regular_file(self._place())
        except FileNotFoundError:
            return
        lines = data.splitlines(keepends=True)
        if len(lines) > 2 * _ALWAYS_KEPT and _age_of_line(lines[0]) > _NOTHING_OLDER_S:
            older, newest = lines[:-_ALWAYS_KEPT], lines[-_ALWAYS_KEPT:]
            kept = [line for line in older if _age_of_line(line) <= _KEPT_S] + newest
            write_atomically(self._place(), b"".join(kept), mode=0o600)

    def _place(self) -> Path:
        return Path(os.path.realpath(self._path))


def _word(answer_id: str, call_id: str) -> str:
    return ascii(f"{answer_id} {call_id}")  # one line, whatever the ids hold, and its ends are known


def _age_s(answer_id: str) -> float:
    """Seconds since an answer was given, as its ULID says; endless for what is none."""
    try:
        return time.time() - milliseconds_of(answer_id) / 1000
    except ValueError:
        return math.inf


def _age_of_line(line: bytes) -> float:
    return _age_s(line[1:27].decode("ascii", "replace"))


def _holds(path: Path, word: bytes) -> bool:
    tail = b""
    with open_regular_file(path) as file:
        while piece := file.read(_PIECE):
            text = tail + piece
            if word in text:
                return True
            tail = text[-len(word) :]
    return False


def _append(path: Path, data: bytes) -> None:
    descriptor = open_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "ab", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())
