"""The stored results of a project, as a list."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from pathlib import Path
from typing import Any

from application.project.browsing import ResultSummary, StoredResults
from infrastructure.persistence.regular import read_regular_file
from shared import paths
from shared.message import Message, msg, stored_message

_MAX_BYTES = 4 * 2**20


class ResultList:
    """Implements application.project.browsing.ResultCatalogue."""

    def newest(self, project: Path, most: int) -> tuple[ResultSummary, ...]:
        """The newest results, the newest first. A folder without a result (a run under way) counts not."""
        folder = project / paths.PROJECT_FOLDER / paths.RESULTS_FOLDER
        try:
            names = sorted(entry.name for entry in folder.iterdir())
        except OSError:
            return ()
        stored = [name for name in names if os.path.lexists(folder / name / paths.RESULT_FILE)]
        first = max(len(stored) - most, 0)
        found = [
            _summary(folder / name / paths.RESULT_FILE, number)
            for number, name in enumerate(stored[first:], start=first + 1)
        ]
        return tuple(summary for summary in reversed(found) if summary is not None)

    def stored(self, project: Path) -> StoredResults:
        """Folders with a result, and the bytes of every regular file in them; links are not followed."""
        top = project / paths.PROJECT_FOLDER / paths.RESULTS_FOLDER
        count = size = 0
        for name_of_folder, _, files in os.walk(top):
            folder = Path(name_of_folder)
            count += paths.RESULT_FILE in files and folder.parent == top
            for name in files:
                with contextlib.suppress(OSError):  # removed meanwhile
                    found = (folder / name).lstat()
                    size += found.st_size if stat.S_ISREG(found.st_mode) else 0
        return StoredResults(count, size)


def _summary(path: Path, number: int) -> ResultSummary | None:
    try:
        content: Any = json.loads(read_regular_file(Path(os.path.realpath(path)), max_bytes=_MAX_BYTES))
        if content.get("kind") == "study":  # nothing to plot
            return None
        netlist = content["netlist"]
        return ResultSummary(
            path=path,
            number=number,
            created=str(content["created"]),
            ok=content["ok"] is True,
            status=str(content["status"]),
            circuit=Path(str(netlist["path"])),
            netlist_sha256=str(netlist["sha256"]),
            reason=None if content["ok"] is True else _reason(content.get("issues")),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


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
