"""Opening files that a stranger may have prepared: never blocks, never reads a device, no surprises.

A FIFO, a socket, a device or a folder in place of a file is refused, a link is never followed at the
last step, and the file that was opened is the one that was asked for even when somebody changes the
folders meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from io import BufferedReader
from pathlib import Path

from infrastructure.persistence import confined
from infrastructure.persistence.confined import NotRegular

__all__ = ["Moved", "NotRegular", "TooLarge", "open_regular_file", "read_regular_file"]


class TooLarge(OSError):
    """The file has more bytes than allowed."""


class Moved(OSError):
    """What was opened is not what stands under the name any more: somebody exchanged it."""


def read_regular_file(path: Path, *, max_bytes: int | None = None) -> bytes:
    """All bytes of the regular file at the real path `path` (links resolved by the caller).

    Raises TooLarge, and what `open_regular_file` raises.
    """
    with open_regular_file(path) as file:
        if max_bytes is not None and os.fstat(file.fileno()).st_size > max_bytes:
            raise TooLarge(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        data = file.read() if max_bytes is None else file.read(max_bytes + 1)
    if max_bytes is not None and len(data) > max_bytes:
        raise TooLarge(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


def open_regular_file(path: Path) -> BufferedReader:
    """The regular file at the real path `path` (links resolved by the caller), open for reading.

    In a project's own folder nothing on the way may be a link (`confined`). Raises NotRegular, Moved,
    InTheWay, IsADirectoryError, FileNotFoundError, PermissionError or another OSError; a name no file can
    have counts as not found.
    """
    try:
        if confined.is_private(path):
            return os.fdopen(confined.open_file(path, os.O_RDONLY), "rb")
        _refuse_special(os.lstat(path))
        flags = os.O_RDONLY | os.O_CLOEXEC | _flag("O_NOFOLLOW") | _flag("O_NONBLOCK") | _flag("O_NOCTTY")
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from error
        raise
    try:
        _refuse_special(os.fstat(descriptor))
        _check_place(descriptor, path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _refuse_special(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(found.st_mode):
        raise NotRegular(errno.EINVAL, "not a regular file")


def _check_place(descriptor: int, path: Path) -> None:
    """Raise Moved when a folder of `path` was exchanged for a link while it was opened."""
    if not sys.platform.startswith("linux"):
        if not os.path.samestat(os.fstat(descriptor), Path(os.path.realpath(path)).stat()):
            raise Moved(errno.ESTALE, "exchanged while it was opened", str(path))
        return
    if Path(f"/proc/self/fd/{descriptor}").readlink() != path:
        raise Moved(errno.ESTALE, "exchanged while it was opened", str(path))


def _flag(name: str) -> int:
    """A flag of open(2), 0 where the system has none."""
    value: int = getattr(os, name, 0)
    return value
