"""Which changes of several files are under way, in ``begun_changes`` of the user's own folder.

The log of operations is signed, but an older state of it is signed as well: one in which a change had been
begun would have the rest of it made once more, long after it had come to its end. So a change is only gone
on with while it is noted here, where no project can reach. A file for each, named by its row's signature; one
for each take-over of a project that is under way, too.
"""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

from infrastructure.persistence import confined

_log = logging.getLogger(__name__)

FOLDER = "begun_changes"
_MOST = 1000
"""Notes that are kept: a change that was interrupted in a project that is gone leaves its own."""


class BegunChanges:
    """Blocking; safe between threads and processes: a change is one process's at a time.

    Where the user's folder can't be written they are known for this run only; the log says so.
    """

    def __init__(self, user_home: Path) -> None:
        self._folder = user_home / FOLDER
        self._of_this_run: set[str] = set()

    def note(self, signature: str) -> None:
        """A change begins; on the disk when it returns."""
        try:
            folder = self._real_folder()
            confined.make_folder(folder)
            _thin_out(folder)
            os.close(confined.open_file(folder / signature, os.O_WRONLY | os.O_CREAT, 0o600))
            confined.flush_folder(folder)
        except OSError as error:
            _log.warning(
                "%s can't be written (%s): a change that is interrupted now is not gone on with",
                self._folder,
                error,
            )
            self._of_this_run.add(signature)

    def is_noted(self, signature: str) -> bool:
        """Whether the change was begun here and did not come to its end. Writes nothing."""
        return signature in self._of_this_run or confined.is_file(self._real_folder() / signature)

    def forget(self, signature: str) -> None:
        """The change has come to an end; on the disk when it returns."""
        self._of_this_run.discard(signature)
        folder = self._real_folder()
        try:
            confined.unlink(folder / signature)
            confined.flush_folder(folder)
        except FileNotFoundError:
            pass
        except OSError as error:
            _log.warning("%s can't be written (%s): a change that has ended stays noted", self._folder, error)

    def _real_folder(self) -> Path:
        return Path(os.path.realpath(self._folder))


def _thin_out(folder: Path) -> None:
    notes = confined.entries_in(folder)
    if len(notes) >= _MOST:
        for name in sorted(notes, key=lambda name: notes[name].st_mtime)[: len(notes) - _MOST + 1]:
            with contextlib.suppress(FileNotFoundError):
                confined.unlink(folder / name)
