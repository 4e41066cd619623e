"""The loop: how a coroutine becomes a program.

`run` serves the sub-commands on plain asyncio, `run_window` the window on a loop that is asyncio's and
Qt's at once. SIGINT, SIGTERM and SIGHUP cancel the main task, so that every `finally` closes what it
opened; whoever called decides what the exit code is.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from shared.stop_signals import StopSignals

_logger = logging.getLogger(__name__)

T = TypeVar("T")
_LoopFactory = Callable[[], asyncio.AbstractEventLoop]

_WORKERS = 8
"""Threads for blocking work of the window: files, SQLite, imports."""
_SWITCH_S = 0.001
"""So long a thread that computes keeps Python's lock (Python: 5 ms): the loop's thread gives it up at each
call of the system, some fifty times a turn while text streams in, and would wait so long each time."""


def run(main: Callable[[], Coroutine[Any, Any, T]], *, signals: StopSignals | None = None) -> T:
    """Run `main()` to its end on a new loop and return its value.

    A stop signal cancels it, also one that `signals` has heard before; unless `main` catches it,
    `asyncio.CancelledError` comes out of here. Without `signals` they are listened to while it runs.
    Left-over tasks are cancelled, async generators and the default executor shut down.
    """
    return _run(main, signals, None)


def run_window(main: Callable[[], Coroutine[Any, Any, T]], *, signals: StopSignals | None = None) -> T:
    """As `run`, on the fused loop. The QApplication has to exist, with `quitOnLastWindowClosed` off.

    Qt's events and asyncio's callbacks take turns on the one thread; nothing in either may wait.
    """
    return _run(main, signals, fused_loop)


def fused_loop() -> asyncio.AbstractEventLoop:
    """A new event loop of asyncio that is turned by Qt's; the process's threads give way to it more often."""
    from shared.fused_loop import FusedLoop

    sys.setswitchinterval(_SWITCH_S)

    # qasync's own executor starts ten QThreads, which Python only ever knows as dummies.
    executor = ThreadPoolExecutor(_WORKERS, thread_name_prefix="worker")
    loop: asyncio.AbstractEventLoop = FusedLoop()
    loop.set_default_executor(executor)
    # qasync keeps the executor to itself, and would wait for it with the loop standing still.
    loop._default_executor = executor  # type: ignore[attr-defined]
    return loop


def _run(
    main: Callable[[], Coroutine[Any, Any, T]],
    signals: StopSignals | None,
    loop_factory: _LoopFactory | None,
) -> T:
    own = None
    if signals is None and threading.current_thread() is threading.main_thread():
        signals = own = StopSignals()
    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            return runner.run(_supervised(main, signals))
    finally:
        if own is not None:
            own.release()


async def _supervised(main: Callable[[], Coroutine[Any, Any, T]], signals: StopSignals | None) -> T:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(log_loop_error)
    if signals is None:
        return await main()
    task = asyncio.current_task()
    assert task is not None
    with _waking(loop), signals.answered_by(lambda: _cancel_soon(task, loop)):
        await asyncio.sleep(0)  # with a stop that came before, nothing begins
        return await main()


def _cancel_soon(task: asyncio.Task[Any], loop: asyncio.AbstractEventLoop) -> None:
    loop.call_soon_threadsafe(task.cancel, "stop signal")


@contextlib.contextmanager
def _waking(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Within it a signal wakes the loop, whichever thread the system gives it to.

    The handler itself runs on the main thread, which may be asleep in the loop's selector then.
    """
    awake, waker = socket.socketpair()
    with awake, waker:
        awake.setblocking(False)
        waker.setblocking(False)
        loop.add_reader(awake, awake.recv, 4096)
        before = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(awake)


def log_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG001
    """Log what nobody awaited or caught on the loop; the loop goes on."""
    error = context.get("exception")
    details = {key: value for key, value in context.items() if key not in ("exception", "message")}
    _logger.error("%s %r", context.get("message"), details, exc_info=error)
