"""The scratch folder of a run: made private, emptied with care, removed whatever is in it.

A hostile deck (or code model) can leave links to the outside, FIFOs, devices, folders without
rights and very deep trees. Only plain files at the top are taken; nothing is followed. All of this
runs after the last process of the run is gone, so nobody can exchange a name under our hands.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from infrastructure.persistence.process_locks import start_of
from shared.errors import EnvironmentProblem
from shared.message import msg

_MAX_ENTRIES = 1000
_PLAIN_NAME = re.compile(r"[^\W_.\-][^\x00-\x1f\x7f/\\]{0,119}|_[^\x00-\x1f\x7f/\\]{0,119}")
_RESERVED = frozenset(("result.json", "ngspice.log"))
OTHER_FILES = "files"
"""Sub-folder of the output for written files that are no raw files (`wrdata`, `echo >` ...)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What was taken from a scratch folder."""

    raw: tuple[Path, ...]
    """Files that begin like a raw file, in name order."""
    other: tuple[Path, ...]
    ignored: tuple[str, ...]
    """Names left behind: links, FIFOs, sockets, devices, folders, unreadable or too large files."""


SCRATCH_NAME = re.compile(r"circuit-ai-(?P<space>\d+)-(?P<pid>\d+)-(?P<started>\d*)-\w+")
"""Names tell who made the folder, so that one left by a killed process is known for what it is."""


def make_scratch(root: Path | None) -> Path:
    """A new folder only we can enter."""
    pid = os.getpid()
    prefix = f"circuit-ai-{process_space()}-{pid}-{start_of(pid)}-"
    return Path(tempfile.mkdtemp(prefix=prefix, dir=root)).resolve()


def process_space() -> int:
    """What tells apart process ids of this machine and of containers on it; 0 where there is no /proc."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def folder_bytes(folder: Path, deepest: int = 4) -> int:
    """Space taken by the plain files in `folder` and in its folders, `deepest` levels of them."""
    total = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                total += entry.stat(follow_symlinks=False).st_size
                if deepest and entry.is_dir(follow_symlinks=False):
                    total += folder_bytes(Path(entry.path), deepest - 1)
    return total


def take_outputs(
    scratch: Path,
    output_dir: Path,
    *,
    largest: int,
    without: frozenset[str],
    first: str,
    folders: Sequence[str] = (),
) -> Taken:
    """Move the plain files of `scratch` (but those named in `without`) into `output_dir`.

    Raw files go to its top, others to its folder `files`, those of `folders` (inside `scratch`) to folders of
    the same names in there; of very many only the beginning is taken, `first` always. Raises OSError when
    the output folder cannot be written.
    """
    raw: list[Path] = []
    other: list[Path] = []
    ignored: list[str] = []
    folder = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        names = sorted(_names_in(folder), key=lambda name: name != first)
        for index, name in enumerate(names):
            if name in without:
                continue
            opened = open_plain(folder, name, largest) if index < _MAX_ENTRIES else None
            if opened is None:
                ignored.append(name)
                continue
            with os.fdopen(opened, "rb") as file:
                is_raw = _looks_raw(file.peek(64)[:64]) and name not in _RESERVED
                target = (output_dir if is_raw else output_dir / OTHER_FILES) / name
                _move(folder, name, opened, target)
                (raw if is_raw else other).append(target)
        for inner in folders:
            other += _take_folder(folder, inner, output_dir / OTHER_FILES, largest, _MAX_ENTRIES - len(other))
    finally:
        os.close(folder)
    return Taken(raw=tuple(raw), other=tuple(other), ignored=tuple(ignored))


def _take_folder(scratch: int, inner: str, output: Path, largest: int, most: int) -> list[Path]:
    """Move the plain files of one folder; nothing else of it is taken, and no link on the way is followed."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    taken: list[Path] = []
    with contextlib.ExitStack() as opened:
        folder = scratch
        for part in inner.split("/"):
            try:
                folder = os.open(part, flags, dir_fd=folder)
            except OSError:
                return []
            opened.callback(os.close, folder)
        for name in _names_in(folder)[: max(most, 0)]:
            descriptor = open_plain(folder, name, largest)
            if descriptor is None:
                continue
            with os.fdopen(descriptor, "rb"):
                (output / inner).mkdir(parents=True, exist_ok=True)
                _move(folder, name, descriptor, output / inner / name)
                taken.append(output / inner / name)
    return taken


def _names_in(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries)


def open_plain(folder: int, name: str, largest: int) -> int | None:
    """A descriptor of a regular file with a harmless name, or None. Never blocks, never follows."""
    if not _PLAIN_NAME.fullmatch(name):
        return None
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError:
        return None
    found = os.fstat(descriptor)
    # A second name could be a file of the user that was linked into the scratch folder.
    if stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_size <= largest:
        return descriptor
    os.close(descriptor)
    return None


def _looks_raw(head: bytes) -> bool:
    return head.lstrip().lower().startswith((b"title:", b"plotname:"))


def _move(folder: int, name: str, descriptor: int, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    os.fchmod(descriptor, stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o666 | 0o600)
    try:
        os.rename(name, target, src_dir_fd=folder)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with os.fdopen(os.dup(descriptor), "rb") as source, target.open("wb") as copy:
            source.seek(0)
            shutil.copyfileobj(source, copy, 2**20)


def remove_scratch(scratch: Path) -> None:
    """Remove the folder with everything in it, without following a link.

    Folders are moved up to the top before they are emptied, so depth costs neither stack nor
    descriptors nor long paths. Raises OSError when something cannot be removed.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    top = os.open(scratch, flags)
    try:
        names = _fresh_names()
        while folders := _remove_files(top):
            for name in folders:
                inner = os.open(name, flags, dir_fd=top)
                try:
                    for deeper in _remove_files(inner):
                        os.rename(deeper, next(names), src_dir_fd=inner, dst_dir_fd=top)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    scratch.rmdir()


def _fresh_names() -> Iterator[str]:
    mark = secrets.token_hex(8)
    count = 0
    while True:
        count += 1
        yield f"{mark}-{count}"


def _remove_files(folder: int) -> list[str]:
    """Unlink all that is no folder in `folder`; the names of its folders, now open to us."""
    folders: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.name, 0o700, dir_fd=folder)
                folders.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return folders


_LEAST_AGE_S = 60.0
"""A folder is given its time: a process that has just ended may still be removing it."""


class TemporaryScratch:
    """Implements application.project.cleaning.ScratchFolders."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    def left(self) -> tuple[tuple[Path, int], ...]:
        """Folders of ours that were made by processes which are gone, with their bytes."""
        found = []
        root = Path(tempfile.gettempdir()) if self._root is None else self._root
        try:
            with os.scandir(root) as entries:
                for entry in entries:
                    path = Path(entry.path)
                    if _is_left(path):
                        found.append((path, folder_bytes(path)))
        except OSError:
            return ()  # no folder for temporary files, so nothing is left there
        return tuple(sorted(found))

    def remove(self, folder: Path) -> None:
        """Remove one, without following anything in it. Raises EnvironmentProblem."""
        if not _is_left(folder):
            return
        try:
            remove_scratch(folder)
        except OSError as error:
            raise EnvironmentProblem(
                msg("{path} cannot be removed ({reason}).", path=folder, reason=error.strerror),
                file=folder,
                error_type="cannot_remove",
            ) from error


def _is_left(path: Path) -> bool:
    """A real folder of this user, named by us, whose process is gone."""
    match = SCRATCH_NAME.fullmatch(path.name)
    if match is None:
        return False
    try:
        status = path.lstat()
    except OSError:
        return False
    is_ours = stat.S_ISDIR(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())
    is_old = time.time() - status.st_mtime > _LEAST_AGE_S
    is_of_this_machine = int(match["space"]) == process_space() != 0
    is_alive = start_of(int(match["pid"])) == match["started"]
    return is_ours and is_old and is_of_this_machine and not is_alive
