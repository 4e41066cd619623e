"""asyncio's loop turned by Qt's (qasync), with what it leaves undone. Imports Qt: only for a window.

Use `shared.async_runtime.fused_loop`, which makes one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextvars import Context
from functools import partial
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


class _Handed:
    """Work that a thread is handed, and what it gives back: the loop's thread lets go of both.

    Whoever lets go of an object last destroys it, there and then. By a bound method, a closure, a context or
    the frames of an exception that can be an object of Qt's, which only its own thread may destroy. A thread
    that held on a moment longer than the loop's would be the last.
    """

    __slots__ = ("_tell", "answer", "error", "result", "work")

    def __init__(
        self, work: Callable[[], Any], answer: asyncio.Future[Any], tell: Callable[[_Handed], object]
    ) -> None:
        self.work: Callable[[], Any] | None = work
        self.answer: asyncio.Future[Any] | None = answer
        self.result: Any = None
        self.error: BaseException | None = None
        self._tell: Callable[[_Handed], object] | None = tell

    def run(self) -> None:
        """On a thread. Everything of the work is gone from it before the loop is told."""
        work, tell = self.work, self._tell
        assert work is not None
        assert tell is not None
        try:
            self.result = work()
        except BaseException as error:  # noqa: BLE001 - raised where the work is awaited
            self.error = error
        del work
        tell(self)

    def deliver(self) -> None:
        """On the loop's thread: hand on what came out."""
        answer, result, error = self.answer, self.result, self.error
        self.clear()
        if answer is None or answer.cancelled():
            return
        if isinstance(error, StopIteration):  # asyncio's futures take none
            stopped, error = error, RuntimeError("work in a thread raised StopIteration")
            error.__cause__ = stopped
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)

    def clear(self) -> None:
        """On the loop's thread: let go of everything."""
        self.work = self.answer = self.error = self.result = self._tell = None


class FusedLoop(QEventLoop):  # type: ignore[misc]
    """Turns only while it runs, and forgets what was cancelled."""

    _default_executor: Executor | None

    def __init__(self) -> None:
        super().__init__()
        self._timer = _Timers()
        self._handed: set[_Handed] = set()

    def run_in_executor(
        self, executor: Executor | None, callback: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """As asyncio's; no thread is the last to let go of what it was handed."""
        executor = executor or self._default_executor
        if executor is None:
            raise RuntimeError("the loop has no default executor: make it by `async_runtime.fused_loop`")
        answer: asyncio.Future[T] = self.create_future()
        handed = _Handed(partial(callback, *args), answer, self._take_back_soon)
        job = executor.submit(handed.run)  # before it counts as handed: a pool that has ended refuses
        self._handed.add(handed)

        def on_answered(answer: asyncio.Future[T]) -> None:
            if answer.cancelled() and job.cancel():  # it waited for a thread, and will never run
                self._take_back(handed)

        answer.add_done_callback(on_answered)
        return answer

    def _take_back_soon(self, handed: _Handed) -> None:
        self.call_soon_threadsafe(self._take_back, handed)

    def _take_back(self, handed: _Handed) -> None:
        self._handed.discard(handed)
        handed.deliver()

    def call_soon(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """As asyncio's. qasync looks whether each callback is a coroutine function: a quarter of the cost."""
        return self._timer.add_callback(asyncio.Handle(callback, args, self, context))

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        if delay <= 0:  # the turn after this one
            return self.call_soon(callback, *args, context=context)
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
