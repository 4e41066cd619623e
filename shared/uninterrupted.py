"""Waiting for what must not be cut in half, also while being cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def uninterrupted(work: Awaitable[T]) -> T:
    """The result of `work`, which runs to its end even when the caller is cancelled meanwhile.

    A cancellation goes on when the work has ended: an effect is then whole, never half. For short
    work only (a write, a commit), since a stop has to wait for it.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not report it as lost
        raise cancelled
    return task.result()
