"""What a thread is handed is let go of on the window's thread, whoever needs it last."""

from __future__ import annotations

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QLabel

from tests.ground.qt_imports import QtEnds
from tests.gui.conftest import Until

HERE = threading.main_thread()


class Held:
    """Tells which thread has let go of it last."""

    def __init__(self, ends: list[threading.Thread]) -> None:
        self.ends = ends

    def __del__(self) -> None:
        self.ends.append(threading.current_thread())

    def wait(self, begun: threading.Event, go_on: threading.Event) -> None:
        begun.set()
        go_on.wait(30)

    def fail(self) -> None:
        raise ValueError("from the thread")


async def begin(held: Held, go_on: threading.Event) -> asyncio.Task[None]:
    """`held` at work on a thread, which goes on when it is told to."""
    begun = threading.Event()
    task = asyncio.create_task(asyncio.to_thread(held.wait, begun, go_on))
    while not begun.is_set():  # noqa: ASYNC110 - set by a thread
        await asyncio.sleep(0.001)
    return task


async def cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_work_whose_caller_has_gone_is_let_go_of_here(qapp: object, until: Until) -> None:
    """The thread alone has it then: a dialog that was closed, say, while its answer was being made."""
    ends: list[threading.Thread] = []
    go_on = threading.Event()
    task = await begin(Held(ends), go_on)
    await cancel(task)
    del task
    assert not ends
    go_on.set()
    await until(lambda: ends)
    assert ends == [HERE]


async def test_work_that_never_began_is_let_go_of_here(qapp: object, until: Until) -> None:
    ends: list[threading.Thread] = []
    go_on = threading.Event()
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1) as pool:
        begun = threading.Event()
        running = loop.run_in_executor(pool, Held(ends).wait, begun, go_on)
        waiting = loop.run_in_executor(pool, Held(ends).fail)
        while not begun.is_set():  # noqa: ASYNC110 - set by a thread
            await asyncio.sleep(0.001)
        waiting.cancel()
        await asyncio.sleep(0)
        before = len(ends)
        go_on.set()
        await running
    assert before == 1
    await until(lambda: len(ends) == 2)
    assert ends == [HERE, HERE]


async def test_values_and_errors_come_back_and_are_let_go_of_here(qapp: object, until: Until) -> None:
    ends: list[threading.Thread] = []
    for _ in range(50):
        assert await asyncio.to_thread(lambda held: held.ends, Held(ends)) is ends
        with pytest.raises(ValueError, match="from the thread"):
            await asyncio.to_thread(Held(ends).fail)
        with pytest.raises(RuntimeError, match="StopIteration"):
            await asyncio.to_thread(next, iter(()))
    gc.collect()  # the frames of an error hold it
    await until(lambda: len(ends) == 100)
    assert set(ends) == {HERE}


async def test_the_guard_sees_what_a_thread_destroys(qapp: object) -> None:
    guard = QtEnds()
    guard.watch()
    try:
        kept: list[QObject] = [QLabel(), QObject()]
        kept.pop(0)
        assert guard.take() == []
        pool = threading.Thread(target=kept.clear, name="elsewhere")
        pool.start()
        pool.join()
        assert guard.take() == ["a QObject was let go of in the thread elsewhere"]
        pool = threading.Thread(target=gc.collect, args=(0,), name="elsewhere")
        pool.start()
        pool.join()
        assert guard.take() == ["garbage was collected in the thread elsewhere"]
    finally:
        guard.unwatch()
