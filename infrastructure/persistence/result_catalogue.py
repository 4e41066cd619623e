"""The stored results of a project, as a list."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from application.project.browsing import ResultSummary, StoredResults
from domain.simulation.reach import reach_from_plain
from domain.simulation.verdict import stored_verdict
from domain.studies.setup import SETUP_KINDS
from infrastructure.persistence import confined
from infrastructure.persistence.confined import read_regular_file, write_atomically, write_problem
from infrastructure.persistence.result_circuit import circuit_of
from infrastructure.persistence.result_retention import PIN_FILE
from infrastructure.persistence.stored_results import ResultSeals
from shared import paths
from shared.message import Message, msg, one_line, stored_message
from shared.safe_json import read_bounded

_MAX_BYTES = 4 * 2**20
LONGEST_NOTE = 200
"""Characters."""


class ResultList:
    """Implements application.project.browsing.ResultCatalogue."""

    def __init__(self, seals: ResultSeals | None = None) -> None:
        self._seals = seals or ResultSeals()

    def newest(self, project: Path, most: int, *, with_studies: bool = False) -> tuple[ResultSummary, ...]:
        """The newest results, the newest first. A folder without a result (a run under way) counts not."""
        folder = project / paths.PROJECT_FOLDER / paths.RESULTS_FOLDER
        try:
            names = sorted(confined.names_in(folder))
        except OSError:
            return ()
        stored = [name for name in names if confined.is_file(folder / name / paths.RESULT_FILE)]
        first = max(len(stored) - most, 0)
        found = [
            _summary(folder / name / paths.RESULT_FILE, number, self._seals)
            for number, name in enumerate(stored[first:], start=first + 1)
        ]
        return tuple(
            summary
            for summary in reversed(found)
            if summary is not None and (with_studies or not summary.study)
        )

    def write_note(self, result: Path, text: str) -> None:
        place = result.with_name(paths.NOTE_FILE)
        line = " ".join(text.split())[:LONGEST_NOTE]
        try:
            if line:
                write_atomically(place, line.encode())
            else:
                with contextlib.suppress(FileNotFoundError):
                    confined.unlink(place)
        except OSError as error:
            raise write_problem(error, place) from error

    def stored(self, project: Path) -> StoredResults:
        """Folders with a result, and the bytes of every regular file in them; links are not followed."""
        top = project / paths.PROJECT_FOLDER / paths.RESULTS_FOLDER
        count = size = 0
        with contextlib.suppress(OSError):  # removed meanwhile, or no folder of ours
            for path, found in confined.walk(top):
                count += path.name == paths.RESULT_FILE and path.parent.parent == top
                size += found.st_size
        return StoredResults(count, size)


def _set_in(content: dict[str, Any]) -> dict[str, Any]:
    request = content.get("request")
    values = request.get("set") if isinstance(request, dict) else None
    return values if isinstance(values, dict) else {}


def _summary(path: Path, number: int, seals: ResultSeals) -> ResultSummary | None:
    try:
        content: Any = read_bounded(read_regular_file(path, max_bytes=_MAX_BYTES))
        is_study = content.get("kind") == "study"
        if is_study and content.get("study") not in SETUP_KINDS:  # tables of the program's own
            return None
        netlist = content["netlist"]
        return ResultSummary(
            path=path,
            number=number,
            created=str(content["created"]),
            ok=content["ok"] is True,
            is_ours=seals.is_ours(content, path.parent),
            status=str(content["status"]),
            verdict=stored_verdict(
                content.get("verdict"), ok=content["ok"] is True, has_data=bool(content.get("raw_paths"))
            ),
            reach=reach_from_plain(content.get("reach")),
            is_pinned=confined.is_file(path.with_name(PIN_FILE)),
            note=_note_of(path),
            circuit=circuit_of(content, path.parent),
            netlist_sha256=str(netlist["sha256"]),
            reason=None if content["ok"] is True else _reason(content.get("issues")),
            own=tuple((str(name), str(value)) for name, value in _set_in(content).items()),
            analysis=str((content.get("request") or {}).get("analysis") or ""),
            study=str(content["study"]) if is_study else "",
            yield_share=_yield_of(content) if is_study else None,
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _note_of(path: Path) -> str:
    try:
        data = read_regular_file(path.with_name(paths.NOTE_FILE), max_bytes=4 * LONGEST_NOTE)
    except (OSError, ValueError):
        return ""
    return one_line(data.decode("utf-8", "replace"))[:LONGEST_NOTE]


def _yield_of(content: dict[str, Any]) -> float | None:
    found = content.get("yield")
    value = found.get("value") if isinstance(found, dict) else None
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _reason(issues: object) -> Message | None:
    """What the first error says; of a result from before its words were stored as data, in English."""
    for issue in issues if isinstance(issues, list) else ():
        if isinstance(issue, dict) and issue.get("severity") == "error":
            text = issue.get("text")
            told = (
                stored_message(text.get("template"), text.get("params")) if isinstance(text, dict) else None
            )
            return told or msg("{text}", text=str(issue.get("message", "")))
    return None
