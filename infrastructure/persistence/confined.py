"""The one way into a folder that a stranger may have prepared: by descriptors, never through a link.

A project's own folder ``.circuit_ai`` comes along with a cloned project, and with it links, pipes and
devices in the place of our files. Folders are opened one after the other, each in the one before (openat(2)
with O_NOFOLLOW), so what is read, written or removed lies in the folder that was named even if somebody
exchanges a part of the path meanwhile. In a path without a private folder no link is followed either: who
has a path of the user's resolves it first, and what comes to stand in it between the two is refused.

A FIFO, a socket, a device or a folder in place of a file is refused, and the file that was opened is the one
that was asked for even when somebody changes the folders meanwhile: nothing blocks, no device is read.
Files are written so that a reader, a crash or a full disk never meets half of one.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import stat
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Literal

from shared import paths
from shared.errors import CircuitAIError, EnvironmentProblem, UserInputError
from shared.message import msg
from shared.ulid import milliseconds_of, new_ulid

_DEEPEST = 32
"""Folders in each other that are looked into; a run's own `write` makes a few."""

Kind = Literal["link", "hard_link", "special", "not_folder", "folder"]

_ERRNO: dict[Kind, int] = {
    "link": errno.ELOOP,
    "hard_link": errno.EMLINK,
    "special": errno.EINVAL,
    "not_folder": errno.ENOTDIR,
    "folder": errno.EISDIR,
}


class NotRegular(OSError):
    """There is something by this name, but no regular file."""


class InTheWay(NotRegular):
    """Something else stands where a folder or file of ours belongs; nothing behind it was touched."""

    def __init__(self, place: Path | str, kind: Kind) -> None:
        super().__init__(_ERRNO[kind], os.strerror(_ERRNO[kind]), str(place))
        self.place = Path(place)
        """Which part of the path it is."""
        self.kind = kind

    def problem(self) -> EnvironmentProblem:
        """The error to raise: what is in the way, and what to do."""
        match self.kind:
            case "link":
                text = msg("{path} is a link; a project's own files and folders must be real ones.",
                           path=self.place)  # fmt: skip
                advice = msg("Remove the link, or put a copy of its target in its place.")
            case "hard_link":
                text = msg("{path} has another name elsewhere (a hard link) and is not used.",
                           path=self.place)  # fmt: skip
                advice = msg("Replace it with a copy of its own: cp FILE COPY, then mv COPY FILE.")
            case "not_folder":
                text = msg("{path} is a file where a folder is expected.", path=self.place)
                advice = msg("Move it elsewhere; a folder is then created in its place.")
            case _:
                text = msg("{path} is not a regular file.", path=self.place)
                advice = msg("Move it elsewhere; a file is then created in its place.")
        error_type = "not_a_file" if self.kind in ("special", "folder") else "bad_path"
        return EnvironmentProblem(text, advice=advice, file=self.place, error_type=error_type)


def is_private(path: Path) -> bool:
    """Whether a path leads into (or is) a project's own folder."""
    return paths.PROJECT_FOLDER in path.parts


def confined(path: Path) -> Path:
    """`path`, absolute, with links resolved in front of the private folder and nowhere else.

    The user's own folders may be links; from ``.circuit_ai`` on everything came with the project.
    """
    return Path(_confined(path))


def _absolute(path: Path) -> str:
    """As text: a round of a design asks hundreds of times, and a `Path` costs more than a stat."""
    return os.path.abspath(path)  # noqa: PTH100 - links stay as written


def _confined(path: Path | str) -> str:
    absolute = os.path.abspath(path)  # noqa: PTH100 - as above
    names = absolute.split(os.sep)  # noqa: PTH206 - see above
    if paths.PROJECT_FOLDER not in names:
        return absolute
    border = names.index(paths.PROJECT_FOLDER)
    return os.path.join(os.path.realpath(os.sep.join(names[:border]) or os.sep), *names[border:])  # noqa: PTH118


@contextlib.contextmanager
def opened_folder(folder: Path, *, create: bool = False) -> Iterator[int]:
    """A descriptor of a folder; with `create`, folders that are missing in it are made.

    Raises InTheWay for a link or a file on the way, FileNotFoundError, another OSError.
    """
    descriptor = open_folder(folder, create=create)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_folder(folder: Path, *, create: bool = False) -> int:
    """As `opened_folder`; the caller closes it."""
    try:
        descriptor = _LINKLESS.folder(_absolute(folder), _READ)
    except FileNotFoundError:
        if not create:
            raise
        descriptor = None
    return _walked(_confined(folder), create=create) if descriptor is None else descriptor


def _open_parent(path: Path) -> tuple[int, str]:
    """A descriptor of the folder a path lies in, and the path as it was opened. Raises as `open_folder`."""
    place = _absolute(path)
    descriptor = _LINKLESS.folder(os.path.split(place)[0], _READ)
    if descriptor is not None:
        return descriptor, place
    place = _confined(place)
    return _walked(os.path.split(place)[0]), place


def _walked(place: str, *, create: bool = False) -> int:
    """A descriptor of a folder, opened one folder after the other."""
    names = [name for name in place.split(os.sep) if name]  # noqa: PTH206 - as `_confined`
    if not names:
        return os.open(os.sep, _READ)
    descriptor = os.open(os.sep, _WALK)
    for depth in range(1, len(names) + 1):
        try:
            inner = _step(descriptor, names, depth, create=create)
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def open_file(path: Path, flags: int, mode: int = 0o666, *, only_name: bool = False) -> int:
    """A descriptor of a regular file, opened with `flags` of open(2); never waits for a pipe or a device.

    `only_name`: a file that has another name (a hard link) is refused, for what is written in place.
    Raises InTheWay, FileNotFoundError, another OSError.
    """
    folder, place = _open_parent(path)
    name = os.path.split(place)[1]
    try:
        try:
            _refuse(os.stat(name, dir_fd=folder, follow_symlinks=False), place)
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
        try:
            descriptor = os.open(name, flags | _SAFE, mode, dir_fd=folder)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise InTheWay(place, "link") from error
            raise
    finally:
        os.close(folder)
    try:
        found = os.fstat(descriptor)
        _refuse(found, place)
        if only_name and found.st_nlink > 1:
            raise InTheWay(place, "hard_link")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def look(path: Path) -> os.stat_result:
    """What stands at a path, itself (lstat), reached without following a link. Raises InTheWay, OSError."""
    folder, place = _open_parent(path)
    try:
        return os.stat(os.path.split(place)[1], dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)


def is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(look(path).st_mode)
    except (OSError, ValueError):
        return False


def names_in(folder: Path) -> list[str]:
    """What lies in a folder. Raises InTheWay, FileNotFoundError, another OSError."""
    with opened_folder(folder) as descriptor:
        return os.listdir(descriptor)  # noqa: PTH208 - a descriptor


def entries_in(folder: Path) -> dict[str, os.stat_result]:
    """What lies in a folder, as lstat sees it; what vanished meanwhile is left out. Raises as `names_in`."""
    found = {}
    with opened_folder(folder) as descriptor:
        for name in os.listdir(descriptor):  # noqa: PTH208 - a descriptor
            with contextlib.suppress(FileNotFoundError):
                found[name] = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    return found


def make_folder(folder: Path, *, is_new: bool = False) -> None:
    """Make a folder and those it lies in; with `is_new` it must not be there yet (FileExistsError).

    Raises InTheWay, another OSError.
    """
    if is_new:
        place = confined(folder)
        with opened_folder(place.parent, create=True) as parent:
            os.mkdir(place.name, dir_fd=parent)
        return
    os.close(open_folder(folder, create=True))


def unlink(path: Path) -> None:
    """Remove a name that is no folder: a link goes, what it leads to stays. Raises InTheWay, OSError."""
    place = confined(path)
    with opened_folder(place.parent) as folder:
        os.unlink(place.name, dir_fd=folder)


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it; a link is removed as a link. Raises InTheWay, OSError.

    Folders in it are first taken up to its top: they may lie in each other deeper than Python's stack, or
    than there are descriptors.
    """
    place = confined(folder)
    with opened_folder(place.parent) as parent:
        if not stat.S_ISDIR(os.stat(place.name, dir_fd=parent, follow_symlinks=False).st_mode):
            os.unlink(place.name, dir_fd=parent)
            return
        top = os.open(place.name, _READ, dir_fd=parent)
        try:
            waiting = _emptied(top, top)
            while waiting:
                name = waiting.pop()
                inner = os.open(name, _READ, dir_fd=top)
                try:
                    waiting += _emptied(inner, top)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=top)
        finally:
            os.close(top)
        os.rmdir(place.name, dir_fd=parent)


def _emptied(folder: int, top: int) -> list[str]:
    """Remove what lies in a folder, but take folders that hold something up to `top`; their names there."""
    left = []
    for name in os.listdir(folder):
        if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=folder)
            continue
        try:
            os.rmdir(name, dir_fd=folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            place = name if folder == top else new_ulid()
            if folder != top:
                os.rename(name, place, src_dir_fd=folder, dst_dir_fd=top)
            left.append(place)
    return left


def remove_folder(folder: Path) -> None:
    """Remove an empty folder. Raises InTheWay, OSError."""
    place = confined(folder)
    with opened_folder(place.parent) as parent:
        os.rmdir(place.name, dir_fd=parent)


def rename(source: Path, target: Path) -> None:
    """Give a file or folder another place; nothing is followed. Raises InTheWay, OSError."""
    source, target = confined(source), confined(target)
    with opened_folder(source.parent) as old, opened_folder(target.parent) as new:
        os.rename(source.name, target.name, src_dir_fd=old, dst_dir_fd=new)


def flush_folder(folder: Path) -> None:
    """Make the names in a folder as lasting as its files. Raises InTheWay, OSError."""
    with opened_folder(folder) as descriptor:
        os.fsync(descriptor)


def walk(folder: Path, *, skipped: Collection[str] = ()) -> Iterator[tuple[Path, os.stat_result]]:
    """Every regular file in a folder and below, links left alone; nothing for a folder that is not there.

    `skipped`: folders of it that are not looked into. What lies more than `_DEEPEST` folders deep is none of
    ours and left out. Raises InTheWay, another OSError.
    """
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        try:
            found = entries_in(here)
        except FileNotFoundError:
            continue
        for name, state in found.items():
            if stat.S_ISDIR(state.st_mode):
                if depth < _DEEPEST and not (depth == 0 and name in skipped):
                    waiting.append((here / name, depth + 1))
            elif stat.S_ISREG(state.st_mode):
                yield here / name, state


def _step(parent: int, names: Sequence[str], depth: int, *, create: bool) -> int:
    """A descriptor of the folder `depth` names down, in that of the one it lies in."""
    name = names[depth - 1]
    flags = _READ if depth == len(names) else _WALK
    for _ in range(2):
        try:
            return os.open(name, flags, dir_fd=parent)
        except FileNotFoundError:
            if not create:
                raise
            try:
                os.mkdir(name, dir_fd=parent)
            except FileExistsError:
                continue  # another was quicker
            _flush(parent)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            here = Path(os.sep, *names[:depth])
            raise InTheWay(here, "link" if stat.S_ISLNK(found.st_mode) else "not_folder") from error
    return os.open(name, flags, dir_fd=parent)


def _flush(parent: int) -> None:
    """fsync of a folder whose descriptor only names it (O_PATH)."""
    descriptor = os.open(".", _READ, dir_fd=parent)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse(found: os.stat_result, place: Path | str) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise InTheWay(place, "link")
    if stat.S_ISDIR(found.st_mode):
        raise InTheWay(place, "folder")
    if not stat.S_ISREG(found.st_mode):
        raise InTheWay(place, "special")


def _flag(name: str) -> int:
    """A flag of open(2), 0 where the system has none."""
    value: int = getattr(os, name, 0)
    return value


_O_PATH = _flag("O_PATH")
_SAFE = os.O_CLOEXEC | _flag("O_NOFOLLOW") | _flag("O_NONBLOCK") | _flag("O_NOCTTY")
_READ = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | _flag("O_NOFOLLOW")
_WALK = _READ | _O_PATH
"""Of folders on the way nothing is read: to pass through them is enough."""

_OPENAT2 = 437
"""Its number, the same on all kinds of processor."""
_AT_FDCWD = -100
_RESOLVE_NO_SYMLINKS = 0x04
"""Of linux/openat2.h: a link anywhere in the path is ELOOP."""


class _How(ctypes.Structure):
    """struct open_how."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class LinklessOpening:
    """Opens folders in one call that follows no link (openat2(2), Linux 5.6), where the system lets us.

    Eight folders deep that takes a tenth of the time of a walk, and a round of a design opens some eighty.
    """

    def __init__(self) -> None:
        self._is_there = sys.platform.startswith("linux")
        self._call = ctypes.CDLL(None, use_errno=True).syscall if self._is_there else None

    def folder(self, place: str, flags: int) -> int | None:
        """A descriptor of the folder at this absolute path, opened with `flags`.

        None where there is no such call, or where it did not succeed for another reason than a missing name:
        which part of the path is in the way, only a walk can tell. Raises FileNotFoundError.
        """
        if self._call is None or "\0" in place:
            return None
        how = _How(flags, 0, _RESOLVE_NO_SYMLINKS)
        descriptor: int = self._call(
            _OPENAT2, _AT_FDCWD, os.fsencode(place), ctypes.byref(how), ctypes.sizeof(how)
        )
        if descriptor >= 0:
            return descriptor
        code = ctypes.get_errno()
        if code == errno.ENOENT:
            raise FileNotFoundError(code, os.strerror(code), place)
        if code in (errno.ENOSYS, errno.EPERM, errno.EINVAL):  # an old kernel, or a box that forbids it
            self._call = None
        return None


_LINKLESS = LinklessOpening()


class TooLarge(OSError):
    """The file has more bytes than allowed."""


class Moved(OSError):
    """What was opened is not what stands under the name any more: somebody exchanged it."""


def read_regular_file(path: Path, *, max_bytes: int | None = None) -> bytes:
    """All bytes of the regular file at the real path `path` (links resolved by the caller).

    Raises TooLarge, and what `open_regular_file` raises.
    """
    with open_regular_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if max_bytes is not None and size > max_bytes:
            raise TooLarge(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        data = file.read() if max_bytes is None else file.read(size + 1)  # room is made for all that is asked
        if max_bytes is not None and len(data) > size:  # it grows, or does not tell its size
            data += file.read(max_bytes + 1 - len(data))
    if max_bytes is not None and len(data) > max_bytes:
        raise TooLarge(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


def read_short(name: str, folder: int, most: int) -> bytes:
    """The first `most` bytes of the regular file `name` in the folder of this descriptor.

    Raises NotRegular, IsADirectoryError, FileNotFoundError, another OSError.
    """
    descriptor = os.open(name, os.O_RDONLY | _SAFE, dir_fd=folder)
    try:
        _refuse_special(os.fstat(descriptor))
        return os.read(descriptor, most)
    finally:
        os.close(descriptor)


def open_regular_file(path: Path) -> BufferedReader:
    """The regular file at the real path `path` (links resolved by the caller), open for reading.

    In a project's own folder nothing on the way may be a link (`confined`). Raises NotRegular, Moved,
    InTheWay, IsADirectoryError, FileNotFoundError, PermissionError or another OSError; a name no file can
    have counts as not found.
    """
    try:
        if is_private(path):
            return os.fdopen(open_file(path, os.O_RDONLY), "rb")
        _refuse_special(os.lstat(path))
        descriptor = os.open(path, os.O_RDONLY | _SAFE)
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
    if sys.platform.startswith("linux"):
        is_same = Path(f"/proc/self/fd/{descriptor}").readlink() == path
    else:
        is_same = os.path.samestat(os.fstat(descriptor), Path(os.path.realpath(path)).stat())
    if not is_same:
        raise Moved(errno.ESTALE, "exchanged while it was opened", str(path))


_RENAME_NOREPLACE = 1
"""Of linux/fs.h."""
TEMPORARY = re.compile(r"\.([0-9A-HJKMNP-TV-Z]{26})\.tmp")
"""What `write_atomically` calls a file that is not whole yet."""
_LEFT_AFTER_MS = 3_600_000
"""Nobody writes one file for so long: whoever began it was killed."""


def write_atomically(
    path: Path, data: bytes, *, inside: Path | None = None, mode: int | None = None,
    is_durable: bool = True, is_resolved: bool = False,
) -> None:  # fmt: skip
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
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    with opened_folder(source.parent) as old, opened_folder(target.parent) as new:
        if call is not None:
            if call(old, os.fsencode(source.name), new, os.fsencode(target.name), _RENAME_NOREPLACE) == 0:
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
    if code in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, None):
        return UserInputError(
            msg("{path} cannot be written: a file of this name is not possible there.", path=repr(str(path))),
            advice=msg("Choose another name in an existing folder."),
            error_type="bad_path",
        )
    error_type, advice = "cannot_write", None
    told = msg("{path} cannot be written ({reason}).", path=path, reason=os.strerror(code))
    if code in (errno.ENOSPC, errno.EDQUOT):
        told, error_type = msg("The disk is full: {path} was not written.", path=path), "disk_full"
        advice = msg("Free some space and try again; the previous content is unchanged.")
    elif code in (errno.EROFS, errno.EACCES, errno.EPERM):
        told = msg(
            "{path} cannot be written: you have read-only access to the folder or the file.", path=path
        )
        advice = msg("Change the permissions, or work on a copy of the project in a folder of your own.")
        error_type = "read_only"
    elif code == errno.EXDEV:
        told = msg("{path} cannot be moved: its new place is on another disk or file system.", path=path)
        advice = msg("Copy the file to the new location, then delete the old one.")
    return EnvironmentProblem(told, advice=advice, file=path, error_type=error_type)


def read_problem(error: OSError | ValueError, path: Path) -> EnvironmentProblem:
    """The error to raise when the system does not let `path` be read."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    told = msg("{path} cannot be read ({reason}).", path=path, reason=reason)
    return EnvironmentProblem(told, file=path, error_type="cannot_read")


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
    name: str, data: bytes, before: os.stat_result | None, folder: int, new_mode: int | None,
    *, is_durable: bool,
) -> None:  # fmt: skip
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
