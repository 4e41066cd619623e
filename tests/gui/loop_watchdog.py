"""Tells when the loop was held: for how long nothing else could run on it, and by what."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

LIMIT_S = 0.050
_TICK_S = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """One time the loop did not come round."""

    seconds: float
    stack: str
    """Where the loop's thread was, seen from outside while it held."""


class LoopWatchdog:
    """A tick on the loop and a thread that looks whether the tick comes.

    What counts is the time the loop's thread itself used or waited for something; the time it was ready
    but the machine gave its cores to others is taken off (`/proc/thread-self/schedstat`, where the
    kernel keeps it; elsewhere, the CPU time of the thread is what counts).
    """

    def __init__(self) -> None:
        self.holds: list[Hold] = []
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
                f"the loop was held {len(self.holds)} times, at most {worst.seconds * 1000:.0f} ms:\n"
                + worst.stack,
                pytrace=False,
            )

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    async def _tick(self) -> None:
        wall, excused = time.monotonic(), _excused_s(wall_s=time.monotonic())
        while True:
            await asyncio.sleep(_TICK_S)
            now = time.monotonic()
            now_excused = _excused_s(wall_s=now)
            held = now - wall - (now_excused - excused) - _TICK_S
            if held > self._limit_s:
                self.holds.append(Hold(seconds=held, stack=self._stack or "(no stack was taken in time)"))
            self._stack = ""
            wall, excused = now, now_excused
            self._last_tick = now

    def _look(self) -> None:
        while not self._stopping.wait(_TICK_S):
            if time.monotonic() - self._last_tick > self._limit_s and not self._stack:
                frame = sys._current_frames().get(self._owner)
                if frame is not None:
                    self._stack = "".join(traceback.format_stack(frame)[-12:])


_SCHEDSTAT = Path("/proc/thread-self/schedstat")


def _excused_s(*, wall_s: float) -> float:
    """Time this thread wanted to run and could not, s; only differences mean something."""
    try:
        used, waited, _ = map(int, _SCHEDSTAT.read_bytes().split())
    except (OSError, ValueError):
        used = waited = 0
    if used or waited:
        return waited / 1e9
    return wall_s - time.thread_time()
