"""Stopping work that waits for a program of its own."""

import asyncio

import pytest

from shared.events import EventBus
from shared.processes import ProcessManager
from shared.tasks import AsyncTaskRegistry, StopController

SAYS_WHEN_IT_RUNS = ["/bin/sh", "-c", "echo ready; exec sleep 1000"]


async def test_after_the_guard_the_programs_of_the_task_are_killed_and_only_those():
    """A task that waits for its program through a cancellation ends once the program is gone."""
    bus = EventBus()
    registry = AsyncTaskRegistry(bus)
    processes = ProcessManager()
    stop = StopController(registry=registry, processes=processes, events=bus, guard_s=0.05)
    ready: asyncio.Queue[str] = asyncio.Queue()

    async def program(name: str) -> int:
        outcome = await processes.run(SAYS_WHEN_IT_RUNS, on_line=lambda *_: ready.put_nowait(name))
        return outcome.exit_code

    async def waits_for_its_program() -> int:
        run = asyncio.create_task(program("of the task"))
        while not run.done():
            try:
                await asyncio.shield(run)
            except asyncio.CancelledError:
                continue
        return run.result()

    other = asyncio.create_task(program("other"))
    handle = registry.submit("run", "1", waits_for_its_program(), scope="tab")
    assert {await ready.get(), await ready.get()} == {"of the task", "other"}
    await stop.stop("user", scope="tab")
    assert await handle.result() == 137
    assert len(processes.running) == 1
    other.cancel()
    with pytest.raises(asyncio.CancelledError):
        await other
    stop.close()
