"""Attached contents of a project: ``.circuit_ai/attachments/<sha256><suffix>``, as they were attached.

A content is on the disk before the message that names it. What a kill leaves between the two is named by
nobody; it is removed when the next conversation is deleted.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from infrastructure.persistence import confined
from infrastructure.persistence.confined import (
    TEMPORARY,
    InTheWay,
    read_regular_file,
    write_atomically,
    write_problem,
)
from shared.errors import EnvironmentProblem
from shared.message import msg

_NAME = re.compile(r"(?P<sha256>[0-9a-f]{64})(?:\.[a-z]{3,4})?")
"""As `write_atomically` names them."""
_LARGEST = 64 << 20
"""A larger file in the folder is not ours."""


class AttachmentFiles:
    """Implements application.ports.attachments.AttachmentStore; several processes may work at it."""

    def __init__(self, folder: Path) -> None:
        self._given_folder = folder

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """While contents are put and not yet named by a message: nobody removes anything."""
        with self._locked(fcntl.LOCK_SH):
            yield

    def keep(self, name: str, content: bytes) -> None:
        """Put a content under its name; equal ones are kept once."""
        digest = _digest_of(name)
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError("the content is not what its name says")
        folder = self._folder()
        path = folder / name
        try:
            confined.make_folder(folder)
            if self._load(path, digest) is None:
                write_atomically(path, content)
        except OSError as error:
            raise write_problem(error, path) from error

    def read(self, name: str) -> bytes:
        content = None
        if _NAME.fullmatch(name):
            content = self._load(self._folder() / name, _digest_of(name))
        if content is None:
            raise EnvironmentProblem(
                msg("The attached file {name} is missing or damaged.", name=name[:20]),
                advice=msg("Attach it again, or restore the project's .circuit_ai folder from a backup."),
                error_type="attachment_missing",
            )
        return content

    def sweep(self, named: Callable[[], frozenset[str]]) -> int:
        """Remove contents of which `named` does not know the hash, and leftovers of killed writers."""
        folder = self._folder()
        removed = 0
        try:
            confined.names_in(folder)
            with self._locked(fcntl.LOCK_EX):
                known = named()
                for name in confined.names_in(folder):
                    found = _NAME.fullmatch(name)
                    is_ours = found is not None and found["sha256"] not in known
                    if is_ours or TEMPORARY.fullmatch(name):
                        with contextlib.suppress(FileNotFoundError):
                            confined.unlink(folder / name)
                        removed += 1
        except FileNotFoundError:
            return removed
        except OSError as error:
            raise write_problem(error, folder) from error
        return removed

    def _load(self, path: Path, digest: str) -> bytes | None:
        try:
            content = read_regular_file(path, max_bytes=_LARGEST)
        except InTheWay as error:
            raise error.problem() from error
        except OSError:
            return None
        return content if hashlib.sha256(content).hexdigest() == digest else None

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """The system frees it when a process dies."""
        folder = self._folder()
        path = folder.with_name(folder.name + ".lock")
        try:
            descriptor = confined.open_file(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise write_problem(error, path) from error
        try:
            fcntl.flock(descriptor, how)
            yield
        finally:
            os.close(descriptor)

    def _folder(self) -> Path:
        """The folder's path. Nothing in it is reached through a link."""
        return confined.confined(self._given_folder)


def _digest_of(name: str) -> str:
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name!r} is no name of an attachment")
    return found["sha256"]
