"""Tells when the loop was held: for how long nothing else could run on it, and by what."""

from __future__ import annotations

import asyncio
import ctypes
import faulthandler
import gc
import math
import os
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import NamedTuple, TextIO

import pytest

LIMIT_S = 0.050
_PATIENCE_S = 0.050
"""More for waiting where other tests run beside: what is waited for may itself be without a core."""
_CROWDED_S = 0.050
"""More for computing there: with caches and cores shared the same work takes more CPU time (drawing
a million points 33 ms alone, up to 61 beside a second suite; a key in a large circuit up to 93 in eight
forks on two cores). Alone the limit holds as it is."""
_TICK_S = 0.005
_USUAL_S = 0.040
"""CPU time of `_work` on a core of about 3 GHz, for which the limit is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """One time the loop did not come round, and what its thread did meanwhile."""

    wall_s: float
    computed_s: float
    """CPU time of the loop's thread."""
    queued_s: float
    """Ready to run, with every core given to others."""
    stolen_s: float = 0.0
    """Of a virtual machine: its core was given to another machine."""
    spare_s: float = math.inf
    """At most so long a core had nothing to do: what was waited for could have run there."""
    beside_s: float = 0.0
    """CPU time of the program's other threads: they may have held Python's lock, or one of ours."""
    slowness: float = 1.0
    """How many times as long as usual the core took right behind it."""
    stack: str = ""
    """Where the loop's thread was, seen from outside while it held."""

    @property
    def seconds(self) -> float:
        """What counts: computed or waited, never queued, nor waited for what was itself without a core."""
        return self.computed_s + min(
            self._asleep_s - min(self.stolen_s, self._asleep_s), self.spare_s + self.beside_s
        )

    @property
    def _asleep_s(self) -> float:
        """Neither computed nor queued; a guest's kernel takes stolen time for it."""
        return max(self.wall_s - self.queued_s - self.computed_s, 0.0)

    def is_over(self, limit_s: float) -> bool:
        """Whether it was longer than is allowed."""
        # Looked at now: a worker that is a fork has this module from the process that collected the tests.
        is_crowded = "PYTEST_XDIST_WORKER" in os.environ
        return (
            self.computed_s > limit_s + _CROWDED_S * is_crowded
            or self.seconds > limit_s + _PATIENCE_S * is_crowded
        )

    @property
    def waited_s(self) -> float:
        """Asleep: in a lock, in a call of the system, or in the tick's own pause."""
        return max(self.seconds - self.computed_s, 0.0)

    def __str__(self) -> str:
        parts = (self.seconds, self.computed_s, self.waited_s, self.wall_s - self.seconds)
        return "{:.0f} ms (computed {:.0f}, waited {:.0f}; another {:.0f} without a core)".format(
            *(part * 1000 for part in parts)
        )


class LoopWatchdog:
    """A tick on the loop and a thread that looks whether the tick comes.

    A hold is the whole time from one tick to the next, less the time in which the loop's thread was ready to
    run and the kernel had given every core to somebody else. Of the latter the kernel keeps exact account,
    the run delay of `/proc/thread-self/schedstat` (Documentation/scheduler/sched-stats.rst): on a machine at
    work it and the thread's CPU time make up the wall time to the microsecond. So a hold is

        wall - run delay = computed + waited

    and an upper bound of what we are to blame for: everything computed on the loop, every wait for a lock,
    for Python's lock, for a disk or for the X server, and the tick's own pause of 5 ms, whatever the
    neighbours do. Run delay that our own programs cause (ngspice, the page's process) is not in it.

    What is waited for (another thread, the X server, the process that draws the page) may itself be ready and
    without a core. Of a wait therefore only so much counts as can be ours: the time in which a core had
    nothing to do (idle and iowait of `/proc/stat`, in steps of 10 ms), and the CPU time of the program's
    other threads, who may have held what we waited for. On a machine with a core to spare that is all of it.

    On a virtual machine the time its core was given to other machines (steal, proc_stat(5), in steps of
    10 ms) is taken off what seems waited, never off what was computed.

    Where the kernel keeps no such account (no Linux) the wall time counts.
    """

    def __init__(self) -> None:
        self.holds: list[Hold] = []
        self.longest: Hold | None = None
        self._last_tick = 0.0
        self._limit_s = LIMIT_S
        self.most_computed_s = 0.0
        """In one turn: also on a machine at work this is ours alone."""
        self._stacks: tuple[float, list[str]] = (0.0, [])
        """What held the loop since the tick at this time: where it was at the limit, at four times it ..."""
        self._owner = threading.get_ident()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._clocks: _Clocks | None = None

    @asynccontextmanager
    async def watching(self, *, limit_s: float = LIMIT_S) -> AsyncIterator[LoopWatchdog]:
        """Watch the running loop; at the end, fail if it was held longer than `limit_s`, on a core that is
        slower than the usual one in proportion."""
        self._limit_s = limit_s
        self._owner = threading.get_ident()
        self._last_tick = time.monotonic()
        self._clocks = _Clocks()
        self._stopping.clear()
        self._thread = threading.Thread(target=self._look, name="loop watchdog")
        self._thread.start()
        ticking = asyncio.create_task(self._tick(self._clocks), name="loop watchdog")
        # A worker that has run some thousand tests takes half a second to look through what they left. The
        # program does the same once its panels are filled (`_fill` of presentation.window.application).
        gc.freeze()
        try:
            yield self
            await asyncio.sleep(2 * _TICK_S)  # so that a hold at the very end is seen
        finally:
            gc.unfreeze()
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)
            self.stop()
        if self.holds:
            slowness = _slowness()
            self.holds = [hold for hold in self.holds if hold.is_over(limit_s * max(slowness, hold.slowness))]
        if self.holds:
            worst = max(self.holds, key=_seconds)
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
        if self._clocks is not None:
            self._clocks.close()
            self._clocks = None

    async def _tick(self, clocks: _Clocks) -> None:
        before = clocks.read()
        while True:
            await asyncio.sleep(_TICK_S)
            now = clocks.read()
            hold = Hold(
                wall_s=now.wall_s - before.wall_s,
                computed_s=now.computed_s - before.computed_s,
                queued_s=now.queued_s - before.queued_s,
                stolen_s=clocks.stolen_between(before, now),
                spare_s=clocks.spare_between(before, now),
                beside_s=now.process_s - before.process_s - (now.computed_s - before.computed_s),
            )
            if hold.is_over(self._limit_s):
                since, stacks = self._stacks
                in_time = since == self._last_tick and stacks  # one that came late is of a turn that is over
                stack = "\nthen\n".join(stacks) if in_time else "(no stack was taken in time)"
                self.holds.append(replace(hold, stack=stack, slowness=_slowness(2)))
                now = clocks.read()  # what measuring took is no matter of the program
            self.most_computed_s = max(self.most_computed_s, hold.computed_s)
            self.longest = hold if self.longest is None else max(hold, self.longest, key=_seconds)
            before, self._last_tick = now, now.wall_s

    def _look(self) -> None:
        with TemporaryFile("w+") as stacks:
            while not self._stopping.wait(_TICK_S):
                since, (earlier, taken) = self._last_tick, self._stacks
                if since != earlier:
                    taken = []
                if time.monotonic() - since > self._limit_s * 4 ** len(taken):
                    self._stacks = (since, [*taken, _stack_of(self._owner, stacks)])


def _slowness(tries: int = 3) -> float:
    """How many times as long as usual this core takes now: 1 for one that is as fast, or faster. A virtual
    machine's core may have half its speed for minutes while its neighbors are at work."""
    taken = []
    for _ in range(tries):
        begun = time.thread_time()
        _work()
        taken.append(time.thread_time() - begun)
    return max(min(taken) / _USUAL_S, 1.0)


def _work() -> int:
    """A million steps of Python."""
    done = 0
    for step in range(1_000_000):
        done += step
    return done


def _stack_of(thread: int, file: TextIO) -> str:
    """Where a thread is, the innermost call first, written into `file` and read from it.

    Never by `sys._current_frames`: a frame that is kept here keeps the painter of a `paintEvent` that has
    returned, and ends it on this thread, in the middle of what the window draws: a segmentation fault.
    """
    file.seek(0)
    file.truncate()
    faulthandler.dump_traceback(file, all_threads=True)
    file.seek(0)
    blocks = file.read().split("\n\n")
    own = next((block for block in blocks if f"Thread 0x{thread:016x}" in block), "")
    return "\n".join(own.splitlines()[1:13])


def _seconds(hold: Hold) -> float:
    return hold.seconds


class _Reading(NamedTuple):
    """The clocks at one moment, s."""

    wall_s: float
    computed_s: float
    queued_s: float
    process_s: float
    """CPU time of the whole program."""
    stat: bytes
    """The head of `/proc/stat`."""


class _Clocks:
    """Wall time, CPU time and run delay of the thread that made it, and what was stolen of its core."""

    def __init__(self) -> None:
        self._delay = _opened("/proc/thread-self/schedstat")
        self._stat = _opened("/proc/stat")

    def read(self) -> _Reading:
        """All of them up to now."""
        queued_ns = 0 if self._delay is None else int(os.pread(self._delay, 100, 0).split()[1])
        stat = b"" if self._stat is None else os.pread(self._stat, 4_000, 0)
        return _Reading(time.monotonic(), time.thread_time(), queued_ns / 1e9, time.process_time(), stat)

    def stolen_between(self, before: _Reading, now: _Reading) -> float:
        """Of the core this thread is on, s."""
        if before.stat == now.stat or self._stat is None:
            return 0.0
        core = b"cpu%d " % ctypes.CDLL(None).sched_getcpu()
        return max(_stolen(now.stat, core) - _stolen(before.stat, core), 0.0)

    def spare_between(self, before: _Reading, now: _Reading) -> float:
        """How long cores had nothing to do, all together, s; without end where nobody keeps count."""
        return math.inf if self._stat is None else _idle(now.stat) - _idle(before.stat)

    def close(self) -> None:
        """Leave the kernel's files."""
        for file in (self._delay, self._stat):
            if file is not None:
                os.close(file)
        self._delay = self._stat = None


def _opened(path: str) -> int | None:
    try:
        return os.open(path, os.O_RDONLY)
    except OSError:  # no Linux, or one that keeps no account
        return None


def _idle(stat: bytes) -> float:
    """Idle and waiting for a disk, of all cores: the fourth and fifth figure of the first line, in 10 ms."""
    return sum(map(int, stat.split(maxsplit=6)[4:6])) / 100


def _stolen(stat: bytes, core: bytes) -> float:
    """The eighth figure of a core's line, in steps of 10 ms; 0 where there is none."""
    line = next((line for line in stat.splitlines() if line.startswith(core)), b"").split()
    return int(line[8]) / 100 if len(line) > 8 else 0.0
