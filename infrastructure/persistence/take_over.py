"""Projects of this user from before anything was signed: taken over once, without a question.

Whether one is his is told by what no project can bring along: the program was used here before it had a key,
the files are the user's own and older than the key, and his folder knew the project by its place (window,
permissions, simulator settings). The times of files tell nothing: who makes a project can foresee that of its
checkout. What such a project had under way ends all the same: nothing unsigned is ever gone on with.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

from infrastructure.persistence import confined
from infrastructure.persistence.authenticity import Authenticity, key_made, read_note
from infrastructure.persistence.process_locks import change_lock
from shared import paths
from shared.errors import CircuitAIError

_log = logging.getLogger(__name__)

_PASSING = ("busy", "disk_full", "session_in_use")
"""Problems that the next opening may not meet."""


def take_over(private: Path, signer: Authenticity, user_home: Path, *, adopt: Callable[[], None]) -> None:
    """Make the old project with this `.circuit_ai/` its user's, once; any other is left as it is. Blocking.

    `adopt` makes its conversations and operations his. One that can't be written to is left as it is too.
    """
    if signer.is_taken_over:
        return
    if not signer.is_being_taken_over and not (_has_history(private) and _is_his(private, user_home)):
        return
    try:
        with change_lock(private / "take_over"):
            if signer.is_taken_over:
                return  # another process has done it
            signer.begin_take_over()
            _adopt(private.parent, adopt)
            from infrastructure.persistence.result_seals import sign_unsigned  # once in a project's life

            sign_unsigned(private / paths.RESULTS_FOLDER, signer, older_than=key_made(user_home))
            signer.end_take_over()
    except CircuitAIError as error:
        _log.warning("The history of %s could not be taken over: %s", private.parent, error)


def _adopt(root: Path, adopt: Callable[[], None]) -> None:
    """Adopt what can be. What is damaged stays history: a take-over that never came to its end would go on to
    take in whatever comes into the project later."""
    try:
        adopt()
    except CircuitAIError as error:
        if error.error_type in _PASSING:
            raise
        _log.warning("Not all of the history of %s could be taken over: %s", root, error)


def _has_history(private: Path) -> bool:
    if confined.is_file(private / paths.OPERATIONS_FILE) or _transcripts(private):
        return True
    try:
        return bool(confined.names_in(private / paths.RESULTS_FOLDER))
    except OSError:
        return False


def _transcripts(private: Path) -> dict[Path, os.stat_result]:
    folder = private / paths.CONVERSATIONS_FOLDER
    try:
        found = confined.entries_in(folder)
    except OSError:
        return {}
    return {folder / name: status for name, status in found.items() if name.endswith(".jsonl")}


def _is_his(private: Path, user_home: Path) -> bool:
    noted = read_note(user_home)
    made, known = key_made(user_home), noted.get("projects")
    if not isinstance(known, list) or noted.get("was_used") is not True or str(private.parent) not in known:
        return False
    try:
        told = [*_transcripts(private).values()]
        if confined.is_file(private / paths.OPERATIONS_FILE):
            told.append(confined.look(private / paths.OPERATIONS_FILE))
        if any(status.st_ctime >= made for status in told):
            return False  # by far the usual case: looked at first
        found = [private.lstat(), *(status for _, status in confined.walk(private))]
    except OSError:
        return False
    return all(status.st_uid == os.getuid() for status in found)
