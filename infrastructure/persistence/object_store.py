"""Contents by their hash: backups and snapshots share one store, equal contents are kept once."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from application.ports.project import StoredObject
from infrastructure.persistence import confined
from infrastructure.persistence.confined import InTheWay, open_regular_file, write_atomically, write_problem
from shared.errors import EnvironmentProblem
from shared.message import msg

_HASH = re.compile(r"[0-9a-f]{64}")
_FOLDER = re.compile(r"[0-9a-f]{2}")
_AT_ONCE = 100
_PIECE = 1 << 20
_LARGEST = 1 << 31
"""No object unpacks to more bytes than this; a file that says otherwise is not ours."""


class ObjectStore:
    """Compressed contents under ``<root>/ab/cdef...``, named by the SHA-256 of the plain content.

    Writers may work at the same time, in several processes: each puts a complete file in place. A content
    that is there already gets the present time, and removing looks at the time once more while no writer is
    at work (``objects.lock``): what somebody has just put, and is about to name, is never removed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, content: bytes) -> str:
        """Keep `content`; returns its hash. Raises EnvironmentProblem when it cannot be written."""
        digest = hashlib.sha256(content).hexdigest()
        path = self._path(digest)
        try:
            confined.make_folder(path.parent)
            with self._locked(fcntl.LOCK_SH):
                if self._load(digest) is None:
                    write_atomically(path, zlib.compress(content))
                else:
                    _touch(path)
        except OSError as error:
            raise write_problem(error, path) from error
        return digest

    def objects(self) -> tuple[StoredObject, ...]:
        """All there are. Raises EnvironmentProblem."""
        try:
            return tuple(self._objects())
        except OSError as error:
            raise write_problem(error, self._root) from error

    def remove(self, digests: Sequence[str], *, put_before: float) -> int:
        """Remove contents last put before a time; the bytes freed. Raises EnvironmentProblem."""
        freed = 0
        try:
            for first in range(0, len(digests), _AT_ONCE):
                with self._locked(fcntl.LOCK_EX):
                    freed += sum(
                        self._remove(digest, put_before) for digest in digests[first : first + _AT_ONCE]
                    )
        except OSError as error:
            raise write_problem(error, self._root) from error
        return freed

    def _remove(self, digest: str, put_before: float) -> int:
        path = self._path(digest)
        try:
            found = confined.look(path)
        except FileNotFoundError:
            return 0
        if found.st_mtime >= put_before:
            return 0
        confined.unlink(path)
        return found.st_size

    def _objects(self) -> Iterator[StoredObject]:
        try:
            folders = confined.entries_in(self._root)
        except FileNotFoundError:
            return
        for folder, state in folders.items():
            if not _FOLDER.fullmatch(folder) or not stat.S_ISDIR(state.st_mode):
                continue
            with contextlib.suppress(FileNotFoundError):
                for name, found in confined.entries_in(self._root / folder).items():
                    if _HASH.fullmatch(folder + name) and stat.S_ISREG(found.st_mode):
                        yield StoredObject(sha256=folder + name, size=found.st_size, put_at=found.st_mtime)

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """Writers share it, who removes has it alone; the system frees it when a process dies."""
        lock = self._root.with_name(self._root.name + ".lock")
        descriptor = confined.open_file(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, how)
            yield
        finally:
            os.close(descriptor)

    def get(self, digest: str) -> bytes:
        """The content of this hash, verified. Raises EnvironmentProblem when it is lost or damaged."""
        content = self._load(digest)
        if content is None:
            raise EnvironmentProblem(
                msg("The stored content {digest} is missing or damaged.", digest=digest),
                advice=msg("Restore the project's .circuit_ai folder from a backup, if you have one."),
                error_type="object_missing",
            )
        return content

    def has(self, digest: str) -> bool:
        """Whether a content of this hash is kept (not whether it is sound)."""
        return _HASH.fullmatch(digest) is not None and confined.is_file(self._path(digest))

    def _path(self, digest: str) -> Path:
        return self._root / digest[:2] / digest[2:]

    def _load(self, digest: str) -> bytes | None:
        if _HASH.fullmatch(digest) is None:
            return None
        try:
            with open_regular_file(self._path(digest)) as file:
                # Unpacked once without keeping it: what is not what its name says takes no memory.
                if _digest_of(_unpacked(file)) != digest:
                    return None
                file.seek(0)
                content = b"".join(_unpacked(file))
        except InTheWay as error:
            raise error.problem() from error
        except (FileNotFoundError, zlib.error):
            return None
        except OSError as error:
            raise EnvironmentProblem(
                msg("The stored content {digest} cannot be read ({reason}).", digest=digest, reason=error),
                error_type="object_unreadable",
            ) from error
        return content if _digest_of((content,)) == digest else None


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    """The content of a packed file, piece by piece. Raises zlib.error for what is none, or too large."""
    unpacker = zlib.decompressobj()
    size = 0
    while not unpacker.eof and (packed := unpacker.unconsumed_tail or file.read(_PIECE)):
        piece = unpacker.decompress(packed, _PIECE)
        size += len(piece)
        if size > _LARGEST:
            raise zlib.error("larger than any content of ours")
        yield piece


def _digest_of(pieces: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _touch(path: Path) -> None:
    descriptor = confined.open_file(path, os.O_RDONLY)
    try:
        os.utime(descriptor)
    finally:
        os.close(descriptor)
