"""Tells when the loop was held: for how long nothing else could run on it, and by what."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

LIMIT_S = 0.050 if "PYTEST_XDIST_WORKER" not in os.environ else 0.120
"""50 ms, when this is the only test at work. Beside others the same step costs twice the processor time
(caches, the clock of the processor, the kernel's account of it), so there only the grave cases are caught:
run `pytest tests/gui/test_stories_on_screen.py` by itself for the rest."""
_TICK_S = 0.010


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """One time the loop did not come round."""

    seconds: float
    """What counts."""
    wall_s: float
    used_s: float
    """CPU time of the loop's thread."""
    idle_s: float
    """Of all cores together."""
    stack: str = ""
    """Where the loop's thread was, seen from outside while it held."""

    def __str__(self) -> str:
        return (
            f"{self.seconds * 1000:.0f} ms (wall {self.wall_s * 1000:.0f}, computed {self.used_s * 1000:.0f},"
            f" cores idle {self.idle_s * 1000:.0f})"
        )


class LoopWatchdog:
    """A tick on the loop and a thread that looks whether the tick comes.

    A hold is the larger of two figures, so that our code is judged and not the neighbours on the machine:

    - the CPU time that the loop's thread used between two ticks: what was computed on the loop;
    - the wall time between them in which a core of the machine was idle (`/proc/stat`): what the loop waited
      for though it could have gone on. With no core idle, the loop or what it waits for (a thread that has
      Python's lock, the X server, the page's process) may just not have had its turn.

    The first is taken in proportion to the time that the loop was not kept from running: while it was, timers
    and sockets went on, and all of that is due in the turn that follows.

    Where the kernel does not keep these figures the CPU time alone counts. That nothing of ours blocks the
    loop is besides left to the guard of every test (`tests/ground`), which needs no clock.
    """

    def __init__(self) -> None:
        self.holds: list[Hold] = []
        self.longest_s = 0.0
        self._last_tick = 0.0
        self._limit_s = LIMIT_S
        self._stack = ""
        self._owner = threading.get_ident()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @asynccontextmanager
    async def watching(self, *, limit_s: float = LIMIT_S) -> AsyncIterator[LoopWatchdog]:
        """Watch the running loop; at the end, fail if it was held longer than `limit_s`."""
        self._limit_s = limit_s
        self._owner = threading.get_ident()
        self._last_tick = time.monotonic()
        self._stopping.clear()
        self._thread = threading.Thread(target=self._look, name="loop watchdog")
        self._thread.start()
        ticking = asyncio.create_task(self._tick(), name="loop watchdog")
        try:
            yield self
            await asyncio.sleep(2 * _TICK_S)  # so that a hold at the very end is seen
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)
            self.stop()
        if self.holds:
            worst = max(self.holds, key=lambda hold: hold.seconds)
            pytest.fail(
                f"the loop was held {len(self.holds)} times, at most {worst}:\n{worst.stack}",
                pytrace=False,
            )

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    async def _tick(self) -> None:
        before = _Clocks.read()
        while True:
            await asyncio.sleep(_TICK_S)
            now = _Clocks.read()
            hold = now.held_since(before)
            if hold.seconds > self._limit_s:
                self.holds.append(replace(hold, stack=self._stack or "(no stack was taken in time)"))
            self.longest_s = max(self.longest_s, hold.seconds)
            self._stack = ""
            self._last_tick = now.wall
            before = now

    def _look(self) -> None:
        while not self._stopping.wait(_TICK_S):
            if time.monotonic() - self._last_tick > self._limit_s and not self._stack:
                frame = sys._current_frames().get(self._owner)
                if frame is not None:
                    self._stack = "".join(traceback.format_stack(frame)[-12:])


_STAT = Path("/proc/stat")
_JIFFIES_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clocks:
    """What the loop's thread and the machine's cores have done up to now, s."""

    wall: float
    used: float
    """CPU time of this thread."""
    idle: float
    """Of all cores together, since the machine was started; 0 where nobody knows."""

    @classmethod
    def read(cls) -> _Clocks:
        try:
            with _STAT.open("rb", buffering=0) as file:
                fields = file.read(200).split()
            idle = (int(fields[4]) + int(fields[5])) / _JIFFIES_PER_S  # those waiting for a disk are idle too
        except (OSError, ValueError, IndexError):
            idle = 0.0
        return cls(wall=time.monotonic(), used=time.thread_time(), idle=idle)

    def held_since(self, before: _Clocks) -> Hold:
        wall = max(self.wall - before.wall - _TICK_S, 0.0)
        used, idle = self.used - before.used, self.idle - before.idle
        kept = max(wall - used - idle, 0.0)
        computed = used * (1 - kept / wall) if wall > 0 else used
        return Hold(seconds=max(computed, min(wall, idle)), wall_s=wall, used_s=used, idle_s=idle)
