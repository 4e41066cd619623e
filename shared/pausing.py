"""Holding programs where they are, and letting them go on: a run is paused, not ended.

A program that is held takes no time of the processor and keeps its memory and files. What may be done to it
stays: killed, by us or with us, it is gone like one that runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from pathlib import Path

Hold = Callable[[bool], Awaitable[None]]
"""Holds one program (True) or lets it go on (False)."""


def can_pause() -> bool:
    """Whether this system can hold a program (Windows has no signals for it)."""
    return hasattr(signal, "SIGSTOP")


class Pause:
    """Holds all programs that run under it; one that is started meanwhile is held from its beginning on."""

    def __init__(self) -> None:
        self._programs: set[Hold] = set()
        self._since: float | None = None
        self._before_s = 0.0
        self._changed = asyncio.Event()
        self._turn = asyncio.Lock()

    @property
    def is_held(self) -> bool:
        return self._since is not None

    @property
    def held_s(self) -> float:
        """How long it has held so far, all times together."""
        return self._before_s + (0.0 if self._since is None else time.monotonic() - self._since)

    async def hold(self) -> None:
        """Hold all programs. Raises RuntimeError where the system cannot (`can_pause`)."""
        if not can_pause():
            raise RuntimeError("this system cannot hold a program")
        async with self._turn:
            if self._since is None:
                self._since = time.monotonic()
                await self._tell(is_held=True)

    async def go_on(self) -> None:
        """Let them all go on."""
        async with self._turn:
            if self._since is not None:
                await self._tell(is_held=False)
                self._before_s, self._since = self.held_s, None
                self._wake()

    @contextlib.asynccontextmanager
    async def holding(self, program: Hold) -> AsyncIterator[None]:
        """Within it `program` is one of those that are held."""
        async with self._turn:
            self._programs.add(program)
            if self.is_held:
                await program(True)
        try:
            yield
        finally:
            self._programs.discard(program)

    def next_change(self) -> Coroutine[None, None, object]:
        """Awaited, it returns when it begins to hold, or holds no more; counted from this call."""
        return self._changed.wait()

    async def _tell(self, *, is_held: bool) -> None:
        await asyncio.gather(*(program(is_held) for program in tuple(self._programs)))
        if is_held:
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def hold_tree(leader: int, *, is_held: bool) -> None:
    """Stop a process, its group and all that descends from it, in whatever session, or let them go on.

    Blocking. What is gone meanwhile is passed over. Where the system does not tell who descends from whom
    (no /proc), the group is all.
    """
    wanted = signal.SIGSTOP if is_held else signal.SIGCONT
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, wanted)
    reached = {leader}
    while new := set(_descendants(leader)) - reached:  # one that is stopped has no further children
        for pid in new:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, wanted)
        reached |= new


def _descendants(leader: int) -> Iterator[int]:
    parents: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - names are what is wanted
            if name.isdigit() and (parent := _parent_of(name)) is not None:
                parents.setdefault(parent, []).append(int(name))
    waiting = [leader]
    while waiting:
        children = parents.get(waiting.pop(), [])
        yield from children
        waiting += children


def _parent_of(pid: str) -> int | None:
    """The fourth field of its status, behind the name, which may hold anything (proc_pid_stat(5))."""
    try:
        return int(Path("/proc", pid, "stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):  # it has ended
        return None
