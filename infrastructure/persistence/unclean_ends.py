"""Marks of running windows and reports of those that faulted, in ``runs/`` of the user's own folder.

``NAME.run`` is locked by a window while it runs, and removed at its end; a killed one leaves it unlocked.
``NAME.trace`` is where Python's fault handler writes (a segmentation fault runs no code of ours); of both
the next start makes ``NAME.txt``.
"""

from __future__ import annotations

import faulthandler
import logging
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from application.project.unclean_ends import UncleanEnd
from infrastructure.persistence.confined import (
    read_regular_file,
    remove_leftovers,
    write_atomically,
    write_problem,
)
from infrastructure.persistence.process_locks import LockInUse, ProcessLock
from shared.errors import CircuitAIError
from shared.redaction import redact
from shared.ulid import milliseconds_of, new_ulid

FOLDER = "runs"
_MOST_TRACE_BYTES = 1_000_000
_LOG_BYTES = 1_500_000
_LOG_LINES = 60
_MOST_REPORTS = 5

_logger = logging.getLogger(__name__)


class UncleanEndFiles:
    """Implements application.project.unclean_ends.UncleanEnds."""

    def __init__(self, *, user_home: Path) -> None:
        self._folder = user_home / FOLDER
        self._lock: ProcessLock | None = None
        self._trace: IO[str] | None = None
        self._name = ""

    def begin(self, facts: str) -> None:
        self._name = new_ulid()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = ProcessLock(self._folder / f"{self._name}.run")
            self._trace = (self._folder / f"{self._name}.trace").open("x", encoding="utf-8")
            self._trace.write(f"{facts}\n\n")
            self._trace.flush()
        except OSError as error:
            _logger.warning("A fault of this run would leave no report: %s", error)
            return
        if not faulthandler.is_enabled():  # else somebody asked for it, and reads it elsewhere
            faulthandler.enable(self._trace, all_threads=True)

    def end(self) -> None:
        if self._trace is not None:
            faulthandler.disable()
            self._trace.close()
            with suppress(OSError):
                Path(self._trace.name).unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.release()
        self._trace = self._lock = None

    def untold(self, log: Path) -> tuple[UncleanEnd, ...]:
        remove_leftovers(self._folder.parent)
        found = []
        for mark in sorted(self._folder.glob("*.run"), reverse=True):
            if mark.stem == self._name:
                continue
            try:
                lock = ProcessLock(mark)
            except LockInUse:  # runs
                continue
            except OSError as error:
                _logger.info("%s cannot be looked at: %s", mark, error)
                continue
            try:
                found.append(self._report(mark.stem, log))
            except (OSError, CircuitAIError) as error:
                _logger.warning("The report of an unexpected end could not be written: %s", error)
            finally:
                lock.release()
        for old in sorted(self._folder.glob("*.txt"), reverse=True)[_MOST_REPORTS:]:
            with suppress(OSError):
                old.unlink()
        return tuple(found)

    def delete(self, found: UncleanEnd) -> None:
        try:
            found.path.unlink(missing_ok=True)
        except OSError as error:
            raise write_problem(error, found.path) from error

    def _report(self, name: str, log: Path) -> UncleanEnd:
        trace = self._folder / f"{name}.trace"
        facts, _, fault = _text_of(trace, _MOST_TRACE_BYTES).partition("\n\n")
        lines = _text_of(log, _LOG_BYTES).splitlines()[-_LOG_LINES:]
        parts = [
            f"Began: {_moment_of(name)}\n{facts}".strip(),
            fault.strip() or "No trace: the process was ended from outside, or the machine stopped.",
            "\n".join([f"The last lines of {log.name}:", *(lines or ["(none)"])]),
        ]
        report = redact("\n\n".join(parts)) + "\n"
        path = self._folder / f"{name}.txt"
        write_atomically(path, report.encode("utf-8", "replace"), mode=0o600)
        trace.unlink(missing_ok=True)
        return UncleanEnd(name=name, report=report, path=path)


def _text_of(path: Path, most: int) -> str:
    try:
        return read_regular_file(path.resolve(), max_bytes=most).decode("utf-8", "replace")
    except OSError as error:
        return "" if isinstance(error, FileNotFoundError) else f"({path.name}: {error.strerror})"


def _moment_of(name: str) -> str:
    try:
        return f"{datetime.fromtimestamp(milliseconds_of(name) / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return "?"
