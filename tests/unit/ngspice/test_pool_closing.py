"""Guests of a pool are ended, however often who closes it is cancelled, and none is dropped for another."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from infrastructure.ngspice.batch.pool import BatchPool


class Guest:
    """One that takes a few turns of the loop to end."""

    is_closed = False

    async def close(self, *, gently: bool = False) -> None:
        del gently
        for _ in range(3):
            await asyncio.sleep(0)
        self.is_closed = True


def pool_of(*guests: Guest) -> BatchPool:
    made = BatchPool(processes=cast("Any", None), plan=cast("Any", None), circuits=(), guests=len(guests))
    made._idle = list(cast("Any", guests))
    return made


async def test_a_second_cancellation_leaves_no_guest() -> None:
    for turns in range(4):
        guests = Guest(), Guest()
        closing = asyncio.create_task(pool_of(*guests).close())
        for _ in range(turns):
            await asyncio.sleep(0)
        begun = turns > 0
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        assert [guest.is_closed for guest in guests] == [begun, begun], turns


async def test_a_guest_that_came_back_meanwhile_is_kept_and_the_other_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool, back, mine = pool_of(Guest()), Guest(), Guest()
    pool._idle = [None]

    async def start(_timeout_s: float) -> Guest:
        await asyncio.sleep(0)
        pool._idle[0] = cast("Any", back)  # another round leaves its own
        return mine

    class Probe:
        async def work(self, guest: Guest, _index: int) -> None:
            assert guest is mine

    cast("Any", pool)._start = start
    monkeypatch.setattr("infrastructure.ngspice.batch.pool._Round", lambda *_all, **_named: Probe())
    await pool.load(0)
    assert mine.is_closed
    assert not back.is_closed
    await pool.close()
    assert back.is_closed
