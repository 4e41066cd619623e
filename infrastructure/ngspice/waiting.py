"""Waiting for a run's end so that nothing of it is left, also when the waiting is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

from shared.errors import EnvironmentProblem
from shared.message import msg
from shared.uninterrupted import uninterrupted

_LAST_BREATH_S = 5.0
_PATIENCE_S = 0.25
_ACCESS_MODE = 3


@contextlib.asynccontextmanager
async def last_breath() -> AsyncIterator[int]:
    """A descriptor for a run to hold; on leaving, wait until its last holder is gone.

    bubblewrap's child is in another session, so its death is not seen by reaping bubblewrap. Where bubblewrap
    was killed before that child could ask to die with it, the child lives on: who still holds the descriptor
    after a moment is killed.
    """
    ours, theirs = os.pipe()
    open_ends = [ours, theirs]
    try:
        try:
            yield theirs
        finally:
            os.close(theirs)
            open_ends.remove(theirs)
            await uninterrupted(_wait_closed(ours))
    finally:
        for end in open_ends:
            os.close(end)


async def _wait_closed(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    closed = asyncio.Event()
    loop.add_reader(descriptor, closed.set)
    try:
        async with asyncio.timeout(_LAST_BREATH_S):
            while not closed.is_set():
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_PATIENCE_S):
                        await closed.wait()
                if not closed.is_set():
                    await asyncio.to_thread(_kill_holders, descriptor)
    except TimeoutError as error:
        raise EnvironmentProblem(msg("A process of the simulation could not be ended.")) from error
    finally:
        loop.remove_reader(descriptor)


def _kill_holders(descriptor: int) -> None:
    """Kill the processes that hold the writing end of the pipe whose reading end is `descriptor`.

    Those that hold the reading end too are no processes of the run but copies of us, about to become
    another program.
    """
    try:
        pipe = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - "pipe:[number]" is no path
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except OSError:  # a system without /proc
        return
    for pid in pids:
        with contextlib.suppress(OSError):
            folder = Path(f"/proc/{pid}/fd")
            held = [fd.name for fd in folder.iterdir() if _target(fd) == pipe]
            if held and pid != os.getpid() and all(_is_written_through(pid, name) for name in held):
                os.kill(pid, signal.SIGKILL)


def _target(link: Path) -> str:
    try:
        return os.readlink(link)  # noqa: PTH115 - as above
    except OSError:
        return ""


def _is_written_through(pid: int, descriptor: str) -> bool:
    for line in Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text().splitlines():
        if line.startswith("flags:"):
            return int(line.split()[1], 8) & _ACCESS_MODE != os.O_RDONLY
    return False
