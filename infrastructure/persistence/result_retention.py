"""Stored results as things to be kept or removed: sizes, pins, who names them, who is writing them.

A result is removed by moving its folder into ``trash`` beside the results, which is one step, and emptying
that afterwards: killed in between, the result is gone for everybody and the next clean-up takes the rest.
"""

from __future__ import annotations

import json
import logging
import os
import re
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from domain.simulation.retention import CutOff, Origin, RetentionPolicy, StoredResult, to_be_removed
from infrastructure.persistence import confined
from infrastructure.persistence.confined import (
    open_regular_file,
    read_regular_file,
    write_atomically,
    write_problem,
)
from infrastructure.persistence.cut_off_results import forget_so_far, take_up
from infrastructure.persistence.process_locks import Holder, holder_of_this_process, is_running
from shared import paths
from shared.errors import CircuitAIError

_logger = logging.getLogger(__name__)

PIN_FILE = ".pinned"
RUNNING_FILE = ".running"
TRASH_FOLDER = "trash"
_ID = re.compile(r"\d{8}T\d{9}Z-[0-9A-HJKMNP-TV-Z]{8}")
_ID_IN_TEXT = re.compile(_ID.pattern.encode())
_READ_BYTES = 2**20
_LOOKED_AT_EVERY = 16
_OVERLAP = 64
_LONGEST_MARK = 4096
_GRACE_S = 3600.0
"""A folder without a word of who writes it is left alone for so long."""
_TEXTS = (".json", ".jsonl")


class ResultFolderShelf:
    """Implements application.project.cleaning.ResultShelf for one ``sim_results`` folder."""

    def __init__(
        self,
        results: Path,
        *,
        private: Path | None,
        origin_of: Callable[[Path], Origin] = lambda _result: "unknown",
    ) -> None:
        """`private`: the project's own folder, whose conversations name results; None when there is none."""
        self._origin_of = origin_of
        self._results = results
        self._private = private
        self._trash = results.with_name(TRASH_FOLDER)

    def results(self) -> tuple[StoredResult, ...]:
        """All there are, oldest first. Raises EnvironmentProblem."""
        names = self._names()
        named = self._referenced() if names else frozenset()
        found = [self._stored(name, is_referenced=name in named) for name in names]
        return tuple(
            replace(item, origin=self._origin_of(self._results / item.result_id))
            for item in sorted((item for item in found if item is not None), key=lambda item: item.result_id)
        )

    def protection_of(self, result_id: str) -> StoredResult | None:
        return self._stored(result_id, is_referenced=result_id in self._referenced())

    def remove(self, result_id: str) -> None:
        """Remove one. Raises EnvironmentProblem when it stays (half removed it is in the trash)."""
        self._move_to_trash(result_id)
        self.clear_trash()

    def clear_trash(self) -> int:
        """Empty the trash; the bytes it held. Raises EnvironmentProblem."""
        size = 0
        try:
            for name in sorted(confined.names_in(self._trash)):
                size += _size_of(self._trash / name)
                confined.remove_tree(self._trash / name)
        except FileNotFoundError:
            return size  # there is none, or another clean-up was quicker
        except OSError as error:
            raise write_problem(error, self._trash) from error
        with suppress(OSError):
            confined.remove_folder(self._trash)
        return size

    def take_up(self) -> tuple[CutOff, ...]:
        """Make of each result whose process was killed the study that was kept so far, oldest first; where
        nothing was kept, it stays unfinished. Raises EnvironmentProblem."""
        found = []
        for name in sorted(self._names()):
            folder = self._results / name
            try:
                mark = _mark_of(folder)
                if is_running(_holder_in(mark)):
                    continue
                circuit, kind = str(mark["circuit"]), str(mark["kind"])
            except (OSError, ValueError, TypeError, KeyError, RecursionError):
                continue  # whole, or a mark that says nothing: those a clean-up removes
            try:
                is_whole = confined.is_file(folder / paths.RESULT_FILE)  # killed behind its last step
                is_kept = is_whole or take_up(folder)
                if is_kept:
                    forget_so_far(folder)
                    for half in filter(confined.TEMPORARY.fullmatch, confined.names_in(folder)):
                        confined.unlink(folder / half)
                    mark_done(folder)
                if not is_whole:
                    found.append(CutOff(result_id=name, circuit=circuit, kind=kind, is_kept=is_kept))
            except OSError as error:
                raise write_problem(error, folder) from error
        return tuple(found)

    def pin(self, result_id: str, *, is_pinned: bool) -> None:
        mark = self._results / result_id / PIN_FILE
        try:
            if is_pinned:
                os.close(confined.open_file(mark, os.O_RDWR | os.O_CREAT))
            else:
                with suppress(FileNotFoundError):
                    confined.unlink(mark)
        except OSError as error:
            raise write_problem(error, mark) from error

    def hold_quota(self, policy: RetentionPolicy, *, newest: str) -> None:
        """Remove what is beyond a quota, never `newest`. What cannot be removed is logged.

        Looking at all results takes a tenth of a millisecond each, so it is done for every 16th result and
        for large ones: a quota is exceeded by a quarter at most. Conversations are only read when something
        has to go.
        """
        try:
            names = self._names()
            share = _size_of(self._results / newest) * _LOOKED_AT_EVERY * 4
            if policy.max_bytes is not None and share <= policy.max_bytes and len(names) % _LOOKED_AT_EVERY:
                return
            stored = [item for name in names if (item := self._stored(name)) is not None]
            if not _is_beyond(stored, policy):
                return
            for result, reason in to_be_removed(self.results(), policy, datetime.now(UTC)):
                if result.result_id != newest and reason != "unfinished":
                    self._move_to_trash(result.result_id)
            self.clear_trash()
        except CircuitAIError as error:
            _logger.warning("The quota of results could not be held: %s", error)

    # ---- looking ---------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        try:
            return [
                name
                for name, found in confined.entries_in(self._results).items()
                if _ID.fullmatch(name) and stat.S_ISDIR(found.st_mode)
            ]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise write_problem(error, self._results) from error

    def _stored(self, name: str, *, is_referenced: bool = False) -> StoredResult | None:
        folder = self._results / name
        try:
            changed = confined.look(folder).st_mtime
        except OSError:
            return None
        is_finished = confined.is_file(folder / paths.RESULT_FILE)
        return StoredResult(
            result_id=name,
            created=_created(name),
            size=_size_of(folder),
            is_finished=is_finished,
            is_running=not is_finished and _is_being_written(folder, changed),
            is_pinned=os.path.lexists(folder / PIN_FILE),
            is_referenced=is_referenced,
        )

    def _referenced(self) -> frozenset[str]:
        """Results that conversations, designs or snapshots name."""
        if self._private is None:
            return frozenset()
        found: set[str] = set()
        skipped = (self._results.name, TRASH_FOLDER, paths.OBJECTS_FOLDER)
        try:
            for path, _ in confined.walk(self._private, skipped=skipped):
                if path.name.endswith(_TEXTS):
                    found.update(_ids_in(path))
        except OSError as error:
            raise write_problem(error, self._private) from error
        return frozenset(found)

    def _move_to_trash(self, result_id: str) -> None:
        folder = self._results / result_id
        try:
            confined.make_folder(self._trash)
            confined.rename(folder, self._trash / f"{result_id}-{os.getpid()}-{time.monotonic_ns()}")
        except FileNotFoundError:
            return
        except OSError as error:
            raise write_problem(error, folder) from error


def mark_running(folder: Path, circuit: Path, kind: str) -> None:
    """Say in a new result's folder that this process is writing it; `kind`: of study, "" for one run."""
    mark = {**asdict(holder_of_this_process()), "circuit": circuit.name, "kind": kind}
    write_atomically(folder / RUNNING_FILE, json.dumps(mark).encode(), is_durable=False)


def mark_done(folder: Path) -> None:
    """Take the mark away: the result is whole."""
    with suppress(FileNotFoundError):
        confined.unlink(folder / RUNNING_FILE)


def _is_being_written(folder: Path, changed: float) -> bool:
    try:
        return is_running(_holder_in(_mark_of(folder)))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return time.time() - changed < _GRACE_S


def _mark_of(folder: Path) -> Any:
    return json.loads(read_regular_file(folder / RUNNING_FILE, max_bytes=_LONGEST_MARK))


def _holder_in(mark: Any) -> Holder:
    return Holder(pid=int(mark["pid"]), started=str(mark["started"]), host=str(mark["host"]))


def _is_beyond(stored: list[StoredResult], policy: RetentionPolicy) -> bool:
    """Whether a policy would remove finished results, if none were named by a conversation."""
    return any(reason != "unfinished" for _, reason in to_be_removed(stored, policy, datetime.now(UTC)))


def _created(name: str) -> datetime:
    try:
        return datetime.strptime(name[:18], "%Y%m%dT%H%M%S%f").replace(tzinfo=UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def _size_of(folder: Path) -> int:
    """Bytes of the files in a folder and below; links are not followed; 0 for one nobody can read."""
    size = 0
    with suppress(OSError):
        for _, found in confined.walk(folder):
            size += found.st_size
    return size


def _ids_in(path: Path) -> set[str]:
    found: set[str] = set()
    try:
        with open_regular_file(path) as file:
            tail = b""
            while block := file.read(_READ_BYTES):
                text = tail + block
                found.update(match.decode() for match in _ID_IN_TEXT.findall(text))
                tail = text[-_OVERLAP:]
    except FileNotFoundError:
        return found  # removed meanwhile
    except OSError as error:
        raise write_problem(error, path) from error
    return found
