"""Contents by their hash: backups and snapshots share one store, equal contents are kept once."""

from __future__ import annotations

import hashlib
import re
import zlib
from pathlib import Path

from infrastructure.persistence.atomic import write_atomically, write_problem
from shared.errors import EnvironmentProblem
from shared.message import msg

_HASH = re.compile(r"[0-9a-f]{64}")
_LARGEST = 1 << 31
"""No object unpacks to more bytes than this; a file that says otherwise is not ours."""


class ObjectStore:
    """Compressed contents under ``<root>/ab/cdef...``, named by the SHA-256 of the plain content.

    Writers may work at the same time, in several processes: each puts a complete file in place.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, content: bytes) -> str:
        """Keep `content`; returns its hash. Raises EnvironmentProblem when it cannot be written."""
        digest = hashlib.sha256(content).hexdigest()
        if self._load(digest) is None:
            path = self._path(digest)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise write_problem(error, path) from error
            write_atomically(path, zlib.compress(content))
        return digest

    def get(self, digest: str) -> bytes:
        """The content of this hash, verified. Raises EnvironmentProblem when it is lost or damaged."""
        content = self._load(digest)
        if content is None:
            raise EnvironmentProblem(
                msg("The stored content {digest} is missing or damaged.", digest=digest),
                advice=msg("Restore the project's folder .circuit_ai from a backup, if you have one."),
                error_type="object_missing",
            )
        return content

    def has(self, digest: str) -> bool:
        """Whether a content of this hash is kept (not whether it is sound)."""
        return _HASH.fullmatch(digest) is not None and self._path(digest).is_file()

    def _path(self, digest: str) -> Path:
        return self._root / digest[:2] / digest[2:]

    def _load(self, digest: str) -> bytes | None:
        if _HASH.fullmatch(digest) is None:
            return None
        try:
            packed = self._path(digest).read_bytes()
            content = zlib.decompressobj().decompress(packed, _LARGEST)
        except (FileNotFoundError, NotADirectoryError, zlib.error):
            return None
        except OSError as error:
            raise EnvironmentProblem(
                msg("The stored content {digest} cannot be read ({reason}).", digest=digest, reason=error),
                error_type="object_unreadable",
            ) from error
        return content if hashlib.sha256(content).hexdigest() == digest else None
