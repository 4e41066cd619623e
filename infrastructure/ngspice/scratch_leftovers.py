"""Scratch folders that killed runs left in the folder for temporary files."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from pathlib import Path

from infrastructure.ngspice.scratch import SCRATCH_NAME, folder_bytes, process_space, remove_scratch
from shared.errors import EnvironmentProblem
from shared.message import msg
from shared.processes import start_of

_LEAST_AGE_S = 60.0
"""A folder is given its time: a process that has just ended may still be removing it."""


class TemporaryScratch:
    """Implements application.project.cleaning.ScratchFolders."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    def left(self) -> tuple[tuple[Path, int], ...]:
        """Folders of ours that were made by processes which are gone, with their bytes."""
        found = []
        root = Path(tempfile.gettempdir()) if self._root is None else self._root
        try:
            with os.scandir(root) as entries:
                for entry in entries:
                    path = Path(entry.path)
                    if _is_left(path):
                        found.append((path, folder_bytes(path)))
        except OSError:
            return ()  # no folder for temporary files, so nothing is left there
        return tuple(sorted(found))

    def remove(self, folder: Path) -> None:
        """Remove one, without following anything in it. Raises EnvironmentProblem."""
        if not _is_left(folder):
            return
        try:
            remove_scratch(folder)
        except OSError as error:
            raise EnvironmentProblem(
                msg("{path} cannot be removed ({reason}).", path=folder, reason=error.strerror),
                file=folder,
                error_type="cannot_remove",
            ) from error


def _is_left(path: Path) -> bool:
    """A real folder of this user, named by us, whose process is gone."""
    match = SCRATCH_NAME.fullmatch(path.name)
    if match is None:
        return False
    try:
        status = path.lstat()
    except OSError:
        return False
    is_ours = stat.S_ISDIR(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())
    is_old = time.time() - status.st_mtime > _LEAST_AGE_S
    is_of_this_machine = int(match["space"]) == process_space() != 0
    is_alive = start_of(int(match["pid"])) == match["started"]
    return is_ours and is_old and is_of_this_machine and not is_alive
