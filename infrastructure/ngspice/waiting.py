"""Waiting for a run's end so that nothing of it is left, also when the waiting is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from shared.errors import EnvironmentProblem
from shared.message import msg

_T = TypeVar("_T")
_LAST_BREATH_S = 5.0


async def to_the_end(work: Coroutine[Any, Any, _T]) -> _T:
    """Await work that must not be cut short; a cancellation meanwhile goes on afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    result = task.result()
    if cancelled is not None:
        raise cancelled
    return result


@contextlib.asynccontextmanager
async def last_breath() -> AsyncIterator[int]:
    """A descriptor for a run to hold; on leaving, wait until its last holder is gone.

    bubblewrap's child is in another session, so its death is not seen by reaping bubblewrap.
    """
    ours, theirs = os.pipe()
    open_ends = [ours, theirs]
    try:
        try:
            yield theirs
        finally:
            os.close(theirs)
            open_ends.remove(theirs)
            await to_the_end(_wait_closed(ours))
    finally:
        for end in open_ends:
            os.close(end)


async def _wait_closed(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    closed = asyncio.Event()
    loop.add_reader(descriptor, closed.set)
    try:
        async with asyncio.timeout(_LAST_BREATH_S):
            await closed.wait()
    except TimeoutError as error:
        raise EnvironmentProblem(msg("A process of the simulation could not be ended.")) from error
    finally:
        loop.remove_reader(descriptor)
