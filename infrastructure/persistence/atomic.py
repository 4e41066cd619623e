"""Writing files so that a reader, a crash or a full disk never meets half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Collection
from pathlib import Path

from infrastructure.persistence.confined import InTheWay, confined, is_private, opened_folder, unlink, walk
from shared.errors import CircuitAIError, EnvironmentProblem, UserInputError
from shared.message import msg
from shared.ulid import milliseconds_of, new_ulid

_RENAME_NOREPLACE = 1
"""Of linux/fs.h."""
TEMPORARY = re.compile(r"\.([0-9A-HJKMNP-TV-Z]{26})\.tmp")
"""What `write_atomically` calls a file that is not whole yet."""
_LEFT_AFTER_MS = 3_600_000
"""Nobody writes one file for so long: whoever began it was killed."""


def write_atomically(
    path: Path,
    data: bytes,
    *,
    inside: Path | None = None,
    mode: int | None = None,
    is_durable: bool = True,
    is_resolved: bool = False,
) -> None:
    """Put `data` at `path`: all of it, or nothing.

    A temporary file in the same folder is written, flushed to the disk and renamed. An existing file
    keeps its mode (and owner, where we may set it); a new one gets the permission bits `mode` (None: those
    of any new file). Hard links to it are parted. A link is written
    through when its target lies in the folder `inside`, and refused otherwise; in a project's own folder, and
    in a path that `is_resolved`, no part may be one. Without `is_durable` nobody
    waits for the disk: a killed program leaves the old or the new file, a power cut perhaps a damaged one.
    Raises UserInputError for a place that cannot be a file, EnvironmentProblem when the disk is full,
    read-only or the place not ours to write; the old file is untouched then.
    """
    target = confined(path) if is_resolved or is_private(path) else _target_of(path, inside)
    try:
        with opened_folder(target.parent) as folder:
            before = _existing(target, folder)
            temporary = f".{new_ulid()}.tmp"
            try:
                _write_new(temporary, data, before, folder, mode, is_durable=is_durable)
                os.replace(temporary, target.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
                raise
            if is_durable:
                os.fsync(folder)
    except (OSError, ValueError) as error:
        raise write_problem(error, path) from error


def remove_leftovers(folder: Path, *, skipped: Collection[str] = ()) -> None:
    """Remove the temporary files that killed programs left in a folder and below more than an hour ago.

    What cannot be removed stays; it harms nobody. `skipped` as in `walk`.
    """
    with contextlib.suppress(OSError):
        for path, _ in walk(folder, skipped=skipped):
            found = TEMPORARY.fullmatch(path.name)
            if found is not None and is_long_ago(found[1]):
                with contextlib.suppress(OSError):
                    unlink(path)


def is_long_ago(ulid: str) -> bool:
    """Whether this id was made so long ago that nobody is still writing its file for the first time."""
    return milliseconds_of(ulid) < time.time() * 1000 - _LEFT_AFTER_MS


def rename_to_free_place(source: Path, target: Path) -> None:
    """Rename in one step, unless there is something at `target`: FileExistsError, nothing changed then.

    renameat2(2) with RENAME_NOREPLACE; where the system or the file system has no such call, a look
    comes right before the renaming. No part of the paths may be a link. Raises InTheWay, OSError.
    """
    with opened_folder(source.parent) as old, opened_folder(target.parent) as new:
        _rename_to_free_place(source, old, target, new)


def _rename_to_free_place(source: Path, old: int, target: Path, new: int) -> None:
    import ctypes  # quick commands must not pay for it

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None:
        if rename(old, os.fsencode(source.name), new, os.fsencode(target.name), _RENAME_NOREPLACE) == 0:
            return
        code = ctypes.get_errno()
        if code not in (errno.ENOSYS, errno.EINVAL):
            raise OSError(code, os.strerror(code), str(source), None, str(target))
    with contextlib.suppress(FileNotFoundError):
        os.stat(target.name, dir_fd=new, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    os.rename(source.name, target.name, src_dir_fd=old, dst_dir_fd=new)


def write_problem(error: OSError | ValueError, path: Path) -> CircuitAIError:
    """The error to raise when `path` could not be written because of `error`."""
    if isinstance(error, InTheWay) and (error.kind == "link" or is_private(error.place)):
        return error.problem()
    code = error.errno if isinstance(error, OSError) else None
    if code in (errno.ENOSPC, errno.EDQUOT):
        return EnvironmentProblem(
            msg("The disk is full: {path} was not written.", path=path),
            advice=msg("Free some space and try again; the previous content is unchanged."),
            file=path,
            error_type="disk_full",
        )
    if code in (errno.EROFS, errno.EACCES, errno.EPERM):
        return EnvironmentProblem(
            msg("{path} cannot be written: you have read-only access to the folder or the file.", path=path),
            advice=msg("Change the permissions, or work on a copy of the project in a folder of your own."),
            file=path,
            error_type="read_only",
        )
    if code in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, None):
        return UserInputError(
            msg("{path} cannot be written: a file of this name is not possible there.", path=repr(str(path))),
            advice=msg("Choose another name in an existing folder."),
            error_type="bad_path",
        )
    if code == errno.EXDEV:
        return EnvironmentProblem(
            msg("{path} cannot be moved: its new place is on another disk or file system.", path=path),
            advice=msg("Copy the file to the new location, then delete the old one."),
            file=path,
            error_type="cannot_write",
        )
    return EnvironmentProblem(
        msg("{path} cannot be written ({reason}).", path=path, reason=os.strerror(code)),
        file=path,
        error_type="cannot_write",
    )


def _target_of(path: Path, inside: Path | None) -> Path:
    """The place to write: `path` itself with its folder's links resolved, or a link's target."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links are looked at below
    try:
        if not absolute.is_symlink():
            return Path(os.path.realpath(absolute.parent)) / absolute.name
        target = Path(os.path.realpath(absolute))
    except (OSError, ValueError) as error:
        raise write_problem(error, path) from error
    if inside is None or not target.is_relative_to(os.path.realpath(inside)):
        raise UserInputError(
            msg("{path} is a link to {target}, outside the project.", path=path, target=target),
            advice=msg("Write to a file of the project, or replace the link with a copy."),
            file=path,
            error_type="outside_project",
        )
    return target


def _existing(target: Path, folder: int) -> os.stat_result | None:
    try:
        found = os.stat(target.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise InTheWay(target, "link")
    if not stat.S_ISREG(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "not a regular file")
    return found


def _write_new(
    name: str,
    data: bytes,
    before: os.stat_result | None,
    folder: int,
    new_mode: int | None,
    *,
    is_durable: bool,
) -> None:
    """Write the temporary file, with the mode and owner of the file it shall replace."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    # What is to become private must not be open to others even for a moment.
    mode = 0o666 if before is None and new_mode is None else 0o600
    with os.fdopen(os.open(name, flags, mode, dir_fd=folder), "wb") as file:
        file.write(data)
        file.flush()
        if before is not None:
            own = os.fstat(file.fileno())
            if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
                with contextlib.suppress(PermissionError):
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
        elif new_mode is not None:
            os.fchmod(file.fileno(), new_mode & 0o777)  # never set-user-id: the log is data, not a grant
        if is_durable:
            os.fsync(file.fileno())
