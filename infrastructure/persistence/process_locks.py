"""One holder at a time, over all processes: a lock file that a killed process gives back by itself.

The lock is the kernel's (flock) on `path`, so it ends with its process however that ends; the file's
content - process id, the process's start, host - only tells others who holds it. Where there is no
flock (Windows, some network drives) the content alone decides: a holder whose process is gone, or
whose id belongs to a process started at another time, holds nothing.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from infrastructure.persistence import confined
from infrastructure.persistence.confined import write_problem
from shared.errors import EnvironmentProblem
from shared.message import msg

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_TRIES = 10
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who holds a lock."""

    pid: int
    started: str
    """The process's start in the kernel's ticks, "" where it cannot be had."""
    host: str


class LockInUse(Exception):
    """Somebody else (or this process itself) holds the lock."""

    def __init__(self, holder: Holder | None) -> None:
        super().__init__(str(holder))
        self.holder = holder
        """None when it is just being taken."""


class ProcessLock:
    """A lock that is held from its making until `release`."""

    def __init__(self, path: Path) -> None:
        """Take the lock at `path` or raise LockInUse; OSError when there can be no such file."""
        self._path = path
        for _ in range(_TRIES):
            self._descriptor = _open(path)
            try:
                _take(self._descriptor)
                if _is_at(path, self._descriptor):
                    _write_holder(self._descriptor)
                    return
            except BaseException:
                os.close(self._descriptor)
                raise
            # Its holder removed the file between our opening and our locking it.
            os.close(self._descriptor)
        raise LockInUse(None)

    def release(self) -> None:
        """Give the lock back and remove its file; a second time does nothing."""
        if self._descriptor < 0:
            return
        descriptor, self._descriptor = self._descriptor, -1
        try:
            # While it is still locked: whoever opened it meanwhile finds out and opens a new one.
            if _is_at(self._path, descriptor):
                with contextlib.suppress(OSError):
                    confined.unlink(self._path)
        finally:
            os.close(descriptor)


def other_holder(path: Path) -> Holder | None:
    """Which other running process holds the lock at `path`, as far as it says; nothing is taken or made."""
    try:
        descriptor = confined.open_file(path, os.O_RDONLY, only_name=True)
    except OSError:  # nobody holds it
        return None
    try:
        holder = _read_holder(descriptor)
    finally:
        os.close(descriptor)
    is_other = holder is not None and holder != holder_of_this_process() and is_running(holder)
    return holder if is_other else None


def is_held_elsewhere(path: Path) -> bool:
    """Whether another process holds the lock: a file may say so, the kernel knows. Nothing is written.

    A file may come with a clone, or name a host that has another name since.
    """
    if other_holder(path) is None:
        return False
    try:
        descriptor = confined.open_file(path, os.O_RDONLY, only_name=True)
    except OSError:
        return False
    try:
        _take(descriptor)
    except (LockInUse, OSError):  # some network drives lock nothing that is open for reading
        return True
    finally:
        os.close(descriptor)
    return False


def _open(path: Path) -> int:
    return confined.open_file(path, os.O_RDWR | os.O_CREAT, only_name=True)


def _take(descriptor: int) -> None:
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LockInUse(_read_holder(descriptor)) from error
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
        else:
            return
    holder = _read_holder(descriptor)
    if holder is not None and is_running(holder):
        raise LockInUse(holder)


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether `descriptor` is the file that stands at `path` now."""
    try:
        return os.path.samestat(confined.look(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _write_holder(descriptor: int) -> None:
    holder = holder_of_this_process()
    # On a full disk the lock holds all the same; only its holder's name is missing.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(asdict(holder)).encode(), 0)


def _read_holder(descriptor: int) -> Holder | None:
    try:
        found = json.loads(os.pread(descriptor, 4096, 0))
        pid, started, host = found["pid"], found["started"], found["host"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    if not (type(pid) is int and pid > 0 and isinstance(started, str) and isinstance(host, str)):
        return None
    return Holder(pid=pid, started=started, host=host)


def start_of(pid: int) -> str:
    """In ticks since the machine's start (field 22 of proc(5) stat); "" when there is no such process,
    also where its parent has not heard of its end yet."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return ""


def holder_of_this_process() -> Holder:
    """What tells others that it is this process."""
    return Holder(pid=os.getpid(), started=start_of(os.getpid()), host=socket.gethostname())


def is_running(holder: Holder) -> bool:
    """Whether the holder's process is still there; one on another host counts as running."""
    if holder.host != socket.gethostname():
        return True
    started = start_of(holder.pid)
    if started or sys.platform.startswith("linux"):
        return started != "" and started == (holder.started or started)
    if sys.platform == "win32":
        return _is_windows_process(holder.pid)
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_windows_process(pid: int) -> bool:
    """os.kill(pid, 0) would end it there."""
    if sys.platform != "win32":
        return False
    import ctypes

    query_limited_information = 0x1000
    handle = ctypes.windll.kernel32.OpenProcess(query_limited_information, False, pid)
    if handle:
        ctypes.windll.kernel32.CloseHandle(handle)
    return bool(handle)


_WAIT_S = 5.0
_PAUSE_S = 0.02


@contextmanager
def change_lock(path: Path) -> Iterator[None]:
    """Within it nobody else changes `path`; its folder is made. Blocking, up to 5 s.

    Raises EnvironmentProblem: "busy", or what a folder that can't be written to says.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = _taken(path)
    except OSError as error:
        raise write_problem(error, path) from error
    try:
        yield
    finally:
        lock.release()


def _taken(path: Path) -> ProcessLock:
    last = time.monotonic() + _WAIT_S
    while True:
        try:
            return ProcessLock(Path(os.path.realpath(path.parent), f"{path.name}.lock"))
        except LockInUse as error:
            if time.monotonic() > last:
                raise EnvironmentProblem(
                    msg("{path} is being modified by another program.", path=path),
                    advice=msg("Try again in a moment."),
                    error_type="busy",
                ) from error
            time.sleep(_PAUSE_S)
