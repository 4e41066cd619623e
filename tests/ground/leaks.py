"""What a test left behind in this process: threads, children, open files, files on disk, tasks.

A `Snapshot` is taken before and compared after. The comparison costs microseconds when all is
well; only when something looks left over are garbage collection and a short grace spent on it.
Children and open files are seen through /proc, so on Linux only.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.ground.parked_workers import parked_files, parked_pids

GRACE_S = 0.25
"""For threads that are about to end and children that are about to be reaped."""

_HAS_PROC = sys.platform.startswith("linux")
_OF_LIBRARIES = frozenset(("/dev/urandom", "anon_inode:[eventfd]", "/usr/share/mime/mime.cache"))
"""The kernel's random source is opened once and kept by several libraries, the system's kinds of files by
Qt's dialogs; each thread of Qt's own pools for drawing, which come and go, has an event descriptor.
Python opens none."""
_CACHES = frozenset({"__pycache__", ".hypothesis", "htmlcov", "build"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What this process holds at one moment."""

    threads: frozenset[threading.Thread]
    children: frozenset[tuple[int, str]]
    """Process id and start time: ids are used again."""
    open_files: frozenset[tuple[int, str]]
    """Number and what it stands for."""
    folder: Path
    entries: frozenset[str]
    """Names in the current folder, less those of caches."""

    @classmethod
    def take(cls) -> Snapshot:
        """Look around."""
        folder = Path.cwd()
        return cls(
            threads=frozenset(threading.enumerate()),
            children=frozenset(_children()),
            open_files=frozenset(_open_files()),
            folder=folder,
            entries=frozenset(_entries(folder)),
        )

    def left_over(self) -> list[str]:
        """What is there now and was not there then, in words."""
        if not self._new():
            return []
        gc.collect()
        end = time.monotonic() + GRACE_S
        while (found := self._new()) and time.monotonic() < end:
            time.sleep(0.005)
        return found

    def _new(self) -> list[str]:
        now = Snapshot.take()
        found = [f"thread {thread.name!r} still runs" for thread in now.threads - self.threads]
        found += [_describe_child(pid) for pid, _ in now.children - self.children]
        found += [f"open file {number}: {what}" for number, what in now.open_files - self.open_files]
        if now.folder != self.folder:
            found.append(f"the current folder is now {now.folder}")
        else:
            found += [f"file {name!r} in the current folder" for name in now.entries - self.entries]
        return found


def _children() -> Iterator[tuple[int, str]]:
    if not _HAS_PROC:
        return
    standing = _standing_children()
    for task in os.listdir("/proc/self/task"):  # noqa: PTH208 (a Path per file is what costs here)
        try:
            with open(f"/proc/self/task/{task}/children") as file:  # noqa: PTH123
                text = file.read()
        except FileNotFoundError:  # the thread ended meanwhile
            continue
        for pid in map(int, text.split()):
            if pid not in standing and (started := _start_time(pid)):
                yield pid, started


def _start_time(pid: int) -> str:
    fields = _stat_fields(pid)
    return fields[19] if fields else ""


def _stat_fields(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third (state) on; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _describe_child(pid: int) -> str:
    fields = _stat_fields(pid)
    if fields and fields[0] == "Z":
        return f"child process {pid} has ended but nobody waited for it (zombie)"
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        command = ""
    return f"child process {pid} still runs: {command.strip()[:200]}"


def _standing_children() -> set[int]:
    """multiprocessing starts these once per process and keeps them, by design; `parked_workers` keep some."""
    tracker = getattr(sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker", None)
    server = getattr(sys.modules.get("multiprocessing.forkserver"), "_forkserver", None)
    found = (getattr(tracker, "_pid", None), getattr(server, "_forkserver_pid", None))
    return {pid for pid in found if pid is not None} | parked_pids()


def _standing_files() -> set[int]:
    tracker = getattr(sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker", None)
    server = getattr(sys.modules.get("multiprocessing.forkserver"), "_forkserver", None)
    found = (getattr(tracker, "_fd", None), getattr(server, "_forkserver_alive_fd", None))
    return {number for number in found if number is not None} | parked_files()


def _open_files() -> Iterator[tuple[int, str]]:
    if not _HAS_PROC:
        return
    standing = _standing_files()
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 (a Path per file is what costs here)
        if int(name) in standing:
            continue
        try:
            what = os.readlink(f"/proc/self/fd/{name}")  # noqa: PTH115
        except FileNotFoundError:  # the listing's own
            continue
        if what not in _OF_LIBRARIES:
            yield int(name), what


def _entries(folder: Path) -> Iterator[str]:
    for name in os.listdir(folder):  # noqa: PTH208
        if name not in _CACHES and not name.endswith("_cache") and not name.startswith(".coverage"):
            yield name


class AbandonedTasks:
    """Tasks that still ran when their loop's runner was closed (which cancels them in silence).

    Watches every `asyncio.Runner`: those of pytest-asyncio and those under `asyncio.run`.
    """

    def __init__(self) -> None:
        self._seen: list[str] = []
        self._close = asyncio.Runner.close

    def watch(self) -> None:
        """Start looking at runners that close."""
        original, seen = self._close, self._seen

        def close(runner: asyncio.Runner) -> None:
            loop = getattr(runner, "_loop", None)  # `get_loop()` would make one
            if loop is not None and not loop.is_closed():
                seen.extend(
                    f"task {task.get_name()!r} still runs: {task.get_coro()!r}"
                    for task in asyncio.all_tasks(loop)
                )
            original(runner)

        asyncio.Runner.close = close  # type: ignore[method-assign]

    def unwatch(self) -> None:
        """Stop looking."""
        asyncio.Runner.close = self._close  # type: ignore[method-assign]

    def take(self) -> list[str]:
        """What was seen since the last call."""
        found = list(self._seen)
        self._seen.clear()
        return found
