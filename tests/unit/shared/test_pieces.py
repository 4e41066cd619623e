"""Work in pieces: all of it in order, or no further piece once nobody waits for it."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from application.graph import AGENT, WORKFLOW
from shared.uninterrupted import imported, in_pieces


async def test_every_piece_is_done_in_order_off_the_loop() -> None:
    done: list[int] = []
    threads: set[int] = set()

    def pieces() -> Iterator[None]:
        for number in range(20):
            done.append(number)
            threads.add(threading.get_ident())
            yield

    await in_pieces(pieces())
    assert done == list(range(20))
    assert threading.get_ident() not in threads


async def test_the_error_of_a_piece_is_raised() -> None:
    def pieces() -> Iterator[None]:
        yield
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        await in_pieces(pieces())


async def test_who_is_cancelled_waits_for_no_further_piece() -> None:
    begun: list[int] = []
    in_second, go_on = threading.Event(), threading.Event()

    def pieces() -> Iterator[None]:
        for number in range(1000):
            begun.append(number)
            if number == 1:
                in_second.set()
                go_on.wait(30)
            yield

    task = asyncio.create_task(in_pieces(pieces()))
    while not in_second.is_set():  # noqa: ASYNC110 - set by a thread
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert begun == [0, 1]


def test_the_graph_comes_in_many_pieces() -> None:
    """A piece whose library has moved it fails here."""
    assert sum(1 for _ in imported((*AGENT, *WORKFLOW))) > 10
