"""Projects of this user from before anything was signed: taken over once, without a question.

Whether one is his is told by what no project can bring along: the program was used here before it had a key,
the files are the user's own and older than the key, and his folder knew the project by its place (window,
permissions, simulator settings). The times of files tell nothing: who makes a project can foresee that of its
checkout. What such a project had under way ends all the same: nothing unsigned is ever gone on with.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infrastructure.persistence import confined
from infrastructure.persistence.atomic import write_atomically
from infrastructure.persistence.change_lock import change_lock
from infrastructure.persistence.regular import read_regular_file
from shared import paths
from shared.bounded_json import read_bounded
from shared.errors import CircuitAIError

if TYPE_CHECKING:
    from infrastructure.persistence.project import ProjectFolder

_log = logging.getLogger(__name__)

FILE = "trust.json"
SCHEMA_VERSION = 1
_MAX_BYTES = 4 << 20
_NAMING_PROJECTS = ("window.json", "permissions.json", "simulator_settings.json")
_PASSING = ("busy", "disk_full", "session_in_use")
"""Problems that the next opening may not meet."""


def note_known_projects(user_home: Path) -> None:
    """Write down, before there is a key, which projects the user's folder knows; once. Raises OSError."""
    place = user_home / FILE
    if os.path.lexists(place):
        return
    document = {
        "schema_version": SCHEMA_VERSION,
        "made": time.time(),
        "was_used": any(path.is_file() for path in user_home.rglob("*")),
        "projects": sorted(set(_named_in(user_home))),
    }
    text = json.dumps(document, indent=1) + "\n"
    write_atomically(place, text.encode("utf-8", "surrogateescape"), inside=user_home, mode=0o600)


def take_over(project: ProjectFolder, user_home: Path) -> None:
    """Make an old project of this user his, once; any other is left as it is. Blocking.

    One that can't be written to is left as it is too.
    """
    signer = project.authenticity
    if signer.is_taken_over:
        return
    if not signer.is_being_taken_over and not (_has_history(project) and _is_his(project, user_home)):
        return
    try:
        with change_lock(project.private / "take_over"):
            if signer.is_taken_over:
                return  # another process has done it
            signer.begin_take_over()
            _adopt(project)
            from infrastructure.persistence.result_seals import sign_unsigned  # once in a project's life

            sign_unsigned(project.results_folder, signer, older_than=_made(user_home))
            signer.end_take_over()
    except CircuitAIError as error:
        _log.warning("The history of %s could not be taken over: %s", project.root, error)


def _adopt(project: ProjectFolder) -> None:
    """Adopt what can be. What is damaged stays history: a take-over that never came to its end would go on to
    take in whatever comes into the project later."""
    try:
        project.adopt()
    except CircuitAIError as error:
        if error.error_type in _PASSING:
            raise
        _log.warning("Not all of the history of %s could be taken over: %s", project.root, error)


def _made(user_home: Path) -> float:
    """When the key was made, seconds since 1970; 0 where nobody knows."""
    made = _read(user_home / FILE).get("made")
    return made if isinstance(made, float) else 0.0


def _named_in(user_home: Path) -> Iterator[str]:
    for name in _NAMING_PROJECTS:
        projects = _read(user_home / name).get("projects")
        items: list[Any] = list(projects) if isinstance(projects, dict | list) else []
        for item in items:
            place = item.get("path") if isinstance(item, dict) else item
            if isinstance(place, str) and place.startswith("/") and "\0" not in place:
                yield os.path.realpath(place)


def _read(path: Path) -> dict[str, Any]:
    try:
        data = read_regular_file(Path(os.path.realpath(path)), max_bytes=_MAX_BYTES)
        content = read_bounded(data.decode("utf-8", "surrogateescape"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _has_history(project: ProjectFolder) -> bool:
    if confined.is_file(project.private / paths.OPERATIONS_FILE) or _transcripts(project):
        return True
    try:
        return bool(confined.names_in(project.results_folder))
    except OSError:
        return False


def _transcripts(project: ProjectFolder) -> dict[Path, os.stat_result]:
    folder = project.private / paths.CONVERSATIONS_FOLDER
    try:
        found = confined.entries_in(folder)
    except OSError:
        return {}
    return {folder / name: status for name, status in found.items() if name.endswith(".jsonl")}


def _is_his(project: ProjectFolder, user_home: Path) -> bool:
    noted = _read(user_home / FILE)
    made, known = _made(user_home), noted.get("projects")
    if not isinstance(known, list) or noted.get("was_used") is not True or str(project.root) not in known:
        return False
    try:
        told = [*_transcripts(project).values()]
        if confined.is_file(project.private / paths.OPERATIONS_FILE):
            told.append(confined.look(project.private / paths.OPERATIONS_FILE))
        if any(status.st_ctime >= made for status in told):
            return False  # by far the usual case: looked at first
        found = [project.private.lstat(), *(status for _, status in confined.walk(project.private))]
    except OSError:
        return False
    return all(status.st_uid == os.getuid() for status in found)
