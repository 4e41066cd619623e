"""Waiting for what must not be cut in half, also while being cancelled; slow work in pieces, which may be."""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_logger = logging.getLogger(__name__)


async def uninterrupted(work: Awaitable[T], *, on_cancel: Callable[[], object] = lambda: None) -> T:
    """The result of `work`, which runs to its end even when the caller is cancelled meanwhile.

    A cancellation calls `on_cancel` and goes on when the work has ended: an effect is then whole, never half;
    an error of the work is only logged then. For short work (a write, a commit), since a stop has to wait for
    it.
    """
    task = asyncio.ensure_future(work)
    cancelled = await hold_out(task, on_cancel=on_cancel)
    if cancelled is None:
        return task.result()
    if not task.cancelled() and (error := task.exception()) is not None:
        _logger.info("Failed while its caller was cancelled: %s", error, exc_info=error)
    raise cancelled


async def off_loop(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function` in a thread, to its end: a cancellation waits for it, also where it has not begun yet.

    So nothing it uses is closed under its hands, and nothing it was to put away stays.

    What may be left to end by itself (a look at something, an import) is called by `asyncio.to_thread`.
    """
    call = partial(contextvars.copy_context().run, function, *args, **kwargs)
    # Not by `to_thread`: that is a coroutine, which would need a task to run to its end.
    return await uninterrupted(asyncio.get_running_loop().run_in_executor(None, call))


async def hold_out(
    work: asyncio.Future[T], *, timeout_s: float | None = None, on_cancel: Callable[[], object] = lambda: None
) -> asyncio.CancelledError | None:
    """Wait until `work` is done, `timeout_s` at most, whatever happens to the waiting task.

    A cancellation met meanwhile calls `on_cancel` and is handed back.
    """
    loop = asyncio.get_running_loop()
    deadline = None if timeout_s is None else loop.time() + timeout_s
    cancelled = None
    while not work.done():
        left = None if deadline is None else deadline - loop.time()
        if left is not None and left <= 0:
            break
        try:
            await (_ended(work) if left is None else asyncio.wait([work], timeout=left))
        except asyncio.CancelledError as error:
            cancelled = error
            on_cancel()
    return cancelled


async def _ended(work: asyncio.Future[T]) -> None:
    """Wait for the end of `work`, whatever it is; what `asyncio.wait` does for many costs thrice as much."""
    waiter = asyncio.get_running_loop().create_future()

    def wake(_work: asyncio.Future[T]) -> None:
        if not waiter.done():
            waiter.set_result(None)

    work.add_done_callback(wake)
    try:
        await waiter
    finally:
        work.remove_done_callback(wake)


async def in_pieces(pieces: Iterator[None]) -> None:
    """Walk `pieces` to their end on threads, one piece after the other; each runs to its next `yield`.

    A thread cannot be stopped: a cancellation lets the present piece run, and no further one begins. Raises
    what a piece raises.
    """
    while not await asyncio.to_thread(_is_last, pieces):
        pass


def imported(modules: Iterable[str]) -> Iterator[None]:
    """Import modules, each a piece."""
    for name in modules:
        importlib.import_module(name)
        yield


def _is_last(pieces: Iterator[None]) -> bool:
    for _ in pieces:
        return False
    return True
