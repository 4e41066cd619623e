"""Stored runs as answers to a run that was asked for again, and which of a circuit's results is its newest.

A result that serves again gets a file ``.used`` with the moment, in the form of a result's name, so that it
stands before results made in between: its circuit is as it was then.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from domain.simulation.notes import SimulationNote
from domain.simulation.operating_point import operating_point_from_plain
from domain.simulation.result import Quantity, SimulationIssue, SimulationResult, SimulationRun, StepResult
from infrastructure.persistence.atomic import write_atomically
from infrastructure.persistence.confined import is_file, look, names_in, open_regular_file, read_regular_file
from infrastructure.persistence.result_circuit import circuit_of
from infrastructure.persistence.result_seals import HASHES, ResultSeals
from shared import paths
from shared.errors import CircuitAIError
from shared.message import Message, msg, stored_message
from shared.safe_json import read_bounded
from shared.ulid import new_ulid

USED_FILE = ".used"
_LOOKED_AT = 500
_HEAD_BYTES = 1024
"""The fingerprint stands at the beginning of a ``result.json``."""
_MOST_BYTES = 64 * 2**20


def newest_first(results: Path) -> list[str]:
    """Names of the results in a folder, by when they were made or last used; none when it cannot be read."""
    try:
        names = names_in(results)
    except OSError:
        return []
    return sorted(names, key=lambda name: (max(name, _used(results / name)), name), reverse=True)


def reusable_result(results: Path, fingerprint: str, seals: ResultSeals) -> SimulationResult | None:
    """The newest whole, successful result with this fingerprint; it counts as just used. None without one."""
    if not fingerprint:
        return None
    for name in newest_first(results)[:_LOOKED_AT]:
        path = results / name / paths.RESULT_FILE
        if _head_has(path, fingerprint) and (found := _loaded(path, fingerprint, seals)) is not None:
            try:
                write_atomically(results / name / USED_FILE, paths.result_name(new_ulid()).encode())
            except CircuitAIError:  # it may not be found as the newest: then it cannot stand for a run of now
                return None
            return found
    return None


def former_searches(results: Path, key: str, seals: ResultSeals) -> Iterator[tuple[Mapping[str, Any], bytes]]:
    """See application.ports.simulation.ResultStore. The seal covers the table by its hash."""
    for name in newest_first(results)[:_LOOKED_AT] if key else ():
        folder = results / name
        if not _head_has(folder / paths.RESULT_FILE, key):
            continue
        try:
            content = read_bounded(read_regular_file(folder / paths.RESULT_FILE, max_bytes=_MOST_BYTES))
            rows = read_regular_file(folder / paths.ROWS_FILE, max_bytes=_MOST_BYTES)
            is_whole = content["search_key"] == key and content["rows_sha256"] == sha256(rows).hexdigest()
            is_ours = is_whole and seals.is_ours(content, folder)
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            continue
        if is_ours:
            yield content, rows


def _used(folder: Path) -> str:
    """When a result was used last, "" when never."""
    if not os.path.lexists(folder / USED_FILE):  # most were not; the safe way there is long
        return ""
    try:
        return read_regular_file(folder / USED_FILE, max_bytes=100).decode("ascii")
    except (OSError, ValueError):
        return ""


def _head_has(path: Path, fingerprint: str) -> bool:
    try:
        found = os.lstat(path)
        return fingerprint.encode() in _head(str(path), found.st_ino, found.st_mtime_ns, found.st_size)
    except OSError:
        return False


@lru_cache(maxsize=2 * _LOOKED_AT)
def _head(path: str, _inode: int, _changed: int, _size: int) -> bytes:
    """The beginning of a file, read once as it stands: each run looks at all before it. Raises OSError."""
    with open_regular_file(Path(path)) as file:
        return file.read(_HEAD_BYTES)


def _loaded(path: Path, fingerprint: str, seals: ResultSeals) -> SimulationResult | None:
    """The result as it was when it was saved here; None when any of it is missing, changed or damaged."""
    folder = path.parent
    try:
        content = read_bounded(read_regular_file(path, max_bytes=_MOST_BYTES))
        if content["fingerprint"] != fingerprint or content["ok"] is not True:
            return None
        raws = [folder / name for name in content["raw_paths"]]
        is_whole = [look(raw).st_size for raw in raws] == content["raw_bytes"]
        if not raws or not is_whole or not all(_is_in(raw, folder) for raw in raws):
            return None
        if not seals.is_ours(content, folder) or [seals.digest_of(raw) for raw in raws] != content[HASHES]:
            return None
        return _result(content, folder, raws)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _is_in(raw: Path, folder: Path) -> bool:
    return raw.parent == folder and is_file(raw)


def _result(content: Mapping[str, Any], folder: Path, raws: list[Path]) -> SimulationResult:
    run = SimulationRun(
        status=content["status"],
        raw_paths=tuple(raws),
        issues=(),
        log_path=folder / paths.LOG_FILE,
        duration_s=content["simulator"]["duration_s"],
        simulator_version=content["simulator"]["version"],
        confinement=tuple(content["simulator"]["confinement"]),
    )
    return SimulationResult(
        result_id=str(content["id"]),
        netlist_path=circuit_of(content, folder),
        netlist_sha256=content["netlist"]["sha256"],
        fingerprint=content["fingerprint"],
        is_reused=True,
        run=run,
        metrics=_metrics(content["metrics"]),
        operating_point=operating_point_from_plain(content["operating_point"]),
        steps=tuple(
            StepResult(
                number=step["number"],
                values=step["values"],
                status=step["status"],
                metrics=_metrics(step["metrics"]),
            )
            for step in content["steps"]
        ),
        dialect=content["dialect"],
        notes=tuple(
            SimulationNote(message=_as_it_is(note["message"]), file=_path(note["file"]),
                           line=note["line"])
            for note in content["notes"]
        ),
        issues=tuple(_issue(issue) for issue in content["issues"]),
        request=content["request"],
        result_path=folder / paths.RESULT_FILE,
        created=str(content["created"]),
    )  # fmt: skip


def _metrics(stored: Mapping[str, Any]) -> dict[str, Quantity]:
    return {
        name: Quantity(value=_number(item["value"]), unit=str(item["unit"])) for name, item in stored.items()
    }


def _number(stored: float | None) -> float:
    return math.nan if stored is None else float(stored)


def _issue(stored: Mapping[str, Any]) -> SimulationIssue:
    text = stored["text"]
    message = stored_message(text["template"], text["params"])
    advice = stored["advice"]
    return SimulationIssue(
        severity=stored["severity"],
        code=stored["code"],
        message=message or _as_it_is(stored["message"]),
        file=_path(stored["file"]),
        line=stored["line"],
        element=stored["element"],
        node=stored["node"],
        advice=None if advice is None else _as_it_is(advice),
    )


def _as_it_is(text: str) -> Message:
    """A text that was stored without its template: in the language it was written in."""
    return msg("{text}", text=text)


def _path(stored: str | None) -> Path | None:
    return None if stored is None else Path(stored)
