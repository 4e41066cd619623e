"""Unsaved text in ``unsaved/`` of the user's own folder: a folder for a project, a file for a text.

A project can bring none of its own: it may be a stranger's. The folder is named by a digest of the project's
place. A file is a line of JSON (path, encoding, version, digest) and the text behind it; written atomically,
readable for the user alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
from pathlib import Path
from typing import Any, get_args

from application.project.unsaved_texts import MOST_BYTES, KeptTexts, UnsavedText
from domain.llm.tools.text_files import Encoding
from infrastructure.persistence.confined import read_regular_file, write_atomically, write_problem
from infrastructure.persistence.process_locks import LockInUse, ProcessLock
from shared.errors import UserInputError
from shared.message import msg

FOLDER = "unsaved"
SUFFIX = ".text"
DAMAGED = ".damaged"
_LOCK = "window.lock"
_HEAD_BYTES = 100_000

_logger = logging.getLogger(__name__)


class UnsavedTextFiles:
    """Implements application.project.unsaved_texts.UnsavedTexts. Called from one thread at a time."""

    def __init__(self, *, user_home: Path) -> None:
        self._home = user_home
        self._locks: dict[Path, ProcessLock] = {}

    def claim(self, project: Path) -> KeptTexts:
        folder = self.folder_of(project)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if project not in self._locks:
                self._locks[project] = ProcessLock(folder / _LOCK)
        except LockInUse:
            return KeptTexts(is_owner=False)
        except OSError as error:
            raise write_problem(error, folder) from error
        texts, damaged = [], []
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            try:
                texts.append(_read(path))
            except (OSError, ValueError, RecursionError) as error:
                _logger.warning("The unsaved text in %s cannot be read: %s", path, error)
                damaged.append(_set_aside(path))
        return KeptTexts(is_owner=True, texts=tuple(texts), damaged=tuple(damaged))

    def keep(self, project: Path, text: UnsavedText) -> None:
        content = text.text.encode("utf-8", "surrogatepass")
        if len(content) > MOST_BYTES:
            raise UserInputError(
                msg(
                    "The unsaved text of {name} is too large to be kept (over 40 MB).",
                    name=text.path.name,
                ),
                advice=msg("Save the file."),
                file=text.path,
                error_type="too_large",
            )
        head = {
            "path": str(text.path),
            "encoding": text.encoding,
            "version": text.version,
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        data = json.dumps(head).encode() + b"\n" + content
        place = self._place_of(project, text.path)
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise write_problem(error, place) from error
        write_atomically(place, data, mode=0o600)

    def drop(self, project: Path, path: Path) -> None:
        place = self._place_of(project, path)
        try:
            place.unlink(missing_ok=True)
        except OSError as error:
            raise write_problem(error, place) from error

    def release(self, project: Path) -> None:
        lock = self._locks.pop(project, None)
        if lock is not None:
            lock.release()
            with contextlib.suppress(OSError):  # something is kept in it
                self.folder_of(project).rmdir()

    def folder_of(self, project: Path) -> Path:
        return self._home / FOLDER / hashlib.sha256(os.fsencode(project)).hexdigest()[:32]

    def _place_of(self, project: Path, path: Path) -> Path:
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
        return self.folder_of(project) / f"{name}{SUFFIX}"


def _read(place: Path) -> UnsavedText:
    """Raises ValueError for what is none of ours, or only half of one; OSError."""
    data = read_regular_file(Path(os.path.realpath(place)), max_bytes=MOST_BYTES + _HEAD_BYTES)
    first, _, content = data.partition(b"\n")
    head: Any = json.loads(first)
    if not isinstance(head, dict):
        raise ValueError("no object at the beginning")
    path, encoding, version = (head.get(name) for name in ("path", "encoding", "version"))
    if not isinstance(path, str) or "\0" in path or not Path(path).is_absolute():
        raise ValueError("no path")
    known: tuple[Encoding, ...] = get_args(Encoding)
    known_encoding = next((each for each in known if each == encoding), None)
    if known_encoding is None or not isinstance(version, str):
        raise ValueError("no known encoding, or no version")
    if head.get("sha256") != hashlib.sha256(content).hexdigest():
        raise ValueError("not the text that was written")
    text = content.decode("utf-8", "surrogatepass")
    return UnsavedText(path=Path(path), text=text, encoding=known_encoding, version=version)


def _set_aside(place: Path) -> Path:
    aside = place.with_suffix(DAMAGED)
    number = 1
    while aside.exists():
        number += 1
        aside = place.with_suffix(f"{DAMAGED}-{number}")
    try:
        place.rename(aside)
    except OSError as error:
        _logger.warning("%s cannot be renamed: %s", place, error)
        return place
    return aside
