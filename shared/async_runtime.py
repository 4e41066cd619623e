"""The loop: how a coroutine becomes a program.

`run` serves the sub-commands on plain asyncio. SIGINT, SIGTERM and SIGHUP cancel the main task, so
that every `finally` closes what it opened; whoever called decides what the exit code is.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

_logger = logging.getLogger(__name__)

T = TypeVar("T")

_STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_PATIENCE = 3
"""So many stop signals are answered by cancelling; the next one ends the process the hard way."""


def run(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `main()` to its end on a new loop and return its value.

    A stop signal cancels it; unless `main` catches it, `asyncio.CancelledError` comes out of here.
    Left-over tasks are cancelled, async generators and the default executor shut down.
    """
    with asyncio.Runner() as runner:
        return runner.run(_supervised(main))


async def _supervised(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(log_loop_error)
    task = asyncio.current_task()
    assert task is not None
    with _stop_signals_cancel(task, loop):
        return await main()


def log_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG001
    """Log what nobody awaited or caught on the loop; the loop goes on."""
    error = context.get("exception")
    details = {key: value for key, value in context.items() if key not in ("exception", "message")}
    _logger.error("%s %r", context.get("message"), details, exc_info=error)


@contextlib.contextmanager
def _stop_signals_cancel(task: asyncio.Task[Any], loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Within it a stop signal cancels `task`; only the main thread can listen to signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived = 0
    before: dict[signal.Signals, Any] = {}

    def on_signal() -> None:
        nonlocal arrived
        arrived += 1
        if arrived == _PATIENCE:
            for number in before:
                _stop_listening(loop, number)
                signal.signal(number, signal.SIG_DFL)
        task.cancel("stop signal")

    for number in _STOP_SIGNALS:
        handler = signal.getsignal(number)
        if number == getattr(signal, "SIGHUP", None) and handler is signal.SIG_IGN:
            continue  # started by nohup
        before[number] = handler
        try:
            loop.add_signal_handler(number, on_signal)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(on_signal))
    try:
        yield
    finally:
        for number, handler in before.items():
            _stop_listening(loop, number)
            signal.signal(number, handler)


def _stop_listening(loop: asyncio.AbstractEventLoop, number: signal.Signals) -> None:
    with contextlib.suppress(NotImplementedError):  # Windows
        loop.remove_signal_handler(number)
