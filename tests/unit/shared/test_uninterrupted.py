"""Work that runs to its end although who waits for it is cancelled."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.uninterrupted import hold_out, off_loop, uninterrupted


async def _ends_at(gate: asyncio.Event, done: list[str]) -> str:
    await gate.wait()
    done.append("whole")
    return "value"


async def test_a_result_and_an_error_come_through() -> None:
    gate = asyncio.Event()
    gate.set()
    assert await uninterrupted(_ends_at(gate, [])) == "value"
    with pytest.raises(ZeroDivisionError):
        await uninterrupted(asyncio.to_thread(lambda: 1 // 0))


async def test_a_cancellation_goes_on_when_the_work_has_ended_each_told_once() -> None:
    gate, done, told = asyncio.Event(), list[str](), list[str]()
    waiting = asyncio.create_task(
        uninterrupted(_ends_at(gate, done), on_cancel=lambda: told.append("cancelled"))
    )
    await asyncio.sleep(0)
    for _ in range(2):
        waiting.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert not waiting.done()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (done, told) == (["whole"], ["cancelled", "cancelled"])


async def test_what_fails_while_cancelled_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    gate = asyncio.Event()

    async def fails() -> None:
        await gate.wait()
        raise OSError("no room")

    with caplog.at_level(logging.INFO, "shared.uninterrupted"):
        waiting = asyncio.create_task(uninterrupted(fails()))
        await asyncio.sleep(0)
        waiting.cancel()
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert "no room" in caplog.text


async def test_holding_out_ends_with_its_time_and_hands_a_cancellation_back() -> None:
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    assert await hold_out(never, timeout_s=0.01) is None
    holding = asyncio.create_task(hold_out(never, timeout_s=0.05))
    await asyncio.sleep(0)
    holding.cancel()
    assert isinstance(await holding, asyncio.CancelledError)
    assert not never.done()


async def test_what_is_off_the_loop_is_waited_for_when_it_is_cancelled() -> None:
    begun, release, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        release.wait()
        ended.set()

    job = asyncio.create_task(off_loop(work))
    await asyncio.to_thread(begun.wait)
    job.cancel()
    await asyncio.sleep(0)
    assert not job.done()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert ended.is_set()


async def test_what_has_not_begun_off_the_loop_is_done_all_the_same() -> None:
    """It may be what puts a folder away."""
    with ThreadPoolExecutor(1) as pool:
        asyncio.get_running_loop().set_default_executor(pool)
        release = threading.Event()
        done: list[str] = []
        first = asyncio.create_task(off_loop(release.wait))
        second = asyncio.create_task(off_loop(done.append, "second"))
        await asyncio.sleep(0)
        second.cancel()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert await first
        assert done == ["second"]


async def test_what_goes_wrong_off_the_loop_comes_out() -> None:
    with pytest.raises(ValueError, match="not this"):
        await off_loop(int, "not this")
