"""asyncio's loop turned by Qt's (qasync), with what it leaves undone. Imports Qt: only for a window.

Use `shared.async_runtime.fused_loop`, which makes one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Any, TypeVar

from qasync import QEventLoop, _SimpleTimer  # type: ignore[import-untyped]

T = TypeVar("T")


class _Timers(_SimpleTimer):  # type: ignore[misc]
    """Qt's timers of the callbacks that wait; those of cancelled ones end at once.

    qasync keeps them until they are due: a stream whose every piece is awaited with a time-out of a minute
    would fill Qt's list with a hundred thousand of them.
    """

    def add_callback(self, handle: asyncio.Handle, delay: float = 0) -> asyncio.Handle:
        timer = self.startTimer(int(max(0, delay) * 1000))
        self._SimpleTimer__callbacks[timer] = handle
        if isinstance(handle, _Waiting):
            handle.end = lambda: self._forget(timer)
        return handle

    def timerEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        handle = self._SimpleTimer__callbacks.get(event.timerId())
        if isinstance(handle, _Waiting):
            handle.end = None  # Qt gives the number to another timer as soon as this one is through
        super().timerEvent(event)

    def _forget(self, timer: int) -> None:
        del self._SimpleTimer__callbacks[timer]
        self.killTimer(timer)


class _Waiting(asyncio.Handle):
    """A callback that waits for its time."""

    __slots__ = ("end",)

    def __init__(
        self,
        callback: Callable[..., object],
        args: Any,
        loop: asyncio.AbstractEventLoop,
        context: Context | None,
    ) -> None:
        super().__init__(callback, args, loop, context)
        self.end: Callable[[], None] | None = None

    def cancel(self) -> None:
        """As asyncio's, and its timer ends."""
        super().cancel()
        end, self.end = self.end, None
        if end is not None:
            end()


class FusedLoop(QEventLoop):  # type: ignore[misc]
    """Turns only while it runs, and forgets what was cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self._timer = _Timers()

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """As asyncio's."""
        if delay <= 0:  # the turn after this one
            return super().call_later(delay, callback, *args, context=context)  # type: ignore[no-any-return]
        return self._timer.add_callback(_Waiting(callback, args, self, context), delay)

    def run_until_complete(self, future: Awaitable[T]) -> T:
        """As asyncio's: qasync would let Qt turn once more afterwards, when no loop counts as running,
        and a task whose turn it is then fails at whatever asks for the loop."""
        task = asyncio.ensure_future(future, loop=self)
        task.add_done_callback(self._stop_when_done)
        try:
            self.run_forever()
        finally:
            task.remove_done_callback(self._stop_when_done)
        if not task.done():
            raise RuntimeError("Event loop stopped before Future completed.")
        return task.result()

    def _stop_when_done(self, _task: asyncio.Future[Any]) -> None:
        self.stop()
