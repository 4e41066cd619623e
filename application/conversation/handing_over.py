"""One conversation, several users: whoever works on it gives it up when another process asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from shared.errors import Stopped
from shared.message import msg
from shared.tasks import Breaking

_LOOK_EVERY_S = 0.25
TAKEN_OVER = msg(
    "The conversation was taken over in another window or command; the run was stopped and saved."
)
"""For who worked on it."""


class TakenOver(Stopped):
    """The run was stopped because another process goes on with its conversation."""

    error_type = "taken_over"

    def __init__(self) -> None:
        super().__init__(TAKEN_OVER)


@asynccontextmanager
async def until_taken_over(is_wanted: Callable[[], bool]) -> AsyncIterator[None]:
    """Within it the task is stopped (reason "taken_over") once `is_wanted`; TakenOver is raised then.

    `is_wanted` may block: it is asked on a thread.
    """
    stop = Breaking("taken_over")

    async def watch() -> None:
        while not await asyncio.to_thread(is_wanted):  # noqa: ASYNC110 - told by the disk
            await asyncio.sleep(_LOOK_EVERY_S)
        stop()

    watching = asyncio.create_task(watch())
    try:
        with stop:
            yield
    finally:
        watching.cancel()
    if stop.is_broken:
        raise TakenOver
