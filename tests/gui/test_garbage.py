"""Cyclic garbage goes on the window's thread, whichever thread has made it."""

import asyncio
import ctypes
import gc
import threading

import pytest

from presentation.window.application import GarbageCollector
from tests.gui.conftest import Until
from tests.gui.test_turns_memory import resident_kb


class Cycle:
    """Garbage that only the collector finds, and that tells which thread took it away."""

    def __init__(self, seen: list[int]) -> None:
        self.seen, self.itself = seen, self

    def __del__(self) -> None:
        self.seen.append(threading.get_ident())


async def test_what_a_thread_leaves_is_collected_on_the_windows_thread(qapp: object, until: Until) -> None:
    seen: list[int] = []

    def leave_garbage_and_allocate() -> list[list[int]]:
        for _ in range(10):
            Cycle(seen)
        return [[] for _ in range(100_000)]  # far beyond what makes Python collect

    collector = GarbageCollector()
    try:
        kept = await asyncio.to_thread(leave_garbage_and_allocate)
        await until(lambda: len(seen) == 10)
    finally:
        collector.end()
    assert len(kept) == 100_000
    assert set(seen) == {threading.get_ident()}


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="another C library")
def test_what_lies_free_goes_back_to_the_system(qapp: object, monkeypatch: pytest.MonkeyPatch) -> None:
    library = ctypes.CDLL(None)
    library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    *blocks, last = [library.malloc(4_000) for _ in range(10_000)]
    for block in blocks:
        ctypes.memset(block, 1, 4_000)
        library.free(block)
    before = resident_kb()
    collector = GarbageCollector()
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 1_000))
    collector.look()
    collector.end()
    assert resident_kb() < before - 30_000
    library.free(last)


@pytest.mark.parametrize("was_collecting", [True, False])
def test_python_collects_again_when_it_did_before(qapp: object, was_collecting: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if was_collecting else gc.disable)()
        collector = GarbageCollector()
        assert not gc.isenabled()
        collector.end()
        assert gc.isenabled() is was_collecting
    finally:
        (gc.enable if before else gc.disable)()
