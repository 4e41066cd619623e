"""The index is built beside everything else: the loop stays free, a stop ends it, the next run goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from application.search import searching
from application.search.searching import SearchProject
from domain.search.query import SearchQuery
from infrastructure.search.project_index import SqliteProjectIndex
from shared.cpu_executor import CpuTaskExecutor
from shared.errors import CircuitError
from tests.gui.loop_watchdog import LoopWatchdog

FILES = 400


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".circuit_ai").mkdir()
    for number in range(FILES):
        cards = "\n".join(f"R{k} n{k} n{k + 1} {number}k" for k in range(40))
        (tmp_path / f"c{number}.cir").write_text(f"* {number}\n{cards}\n* needle{number:03d}\n")
    return tmp_path


@pytest.fixture
async def cpu() -> AsyncIterator[CpuTaskExecutor]:
    made = CpuTaskExecutor(max_workers=1)
    yield made
    await made.shutdown()


async def test_the_loop_is_not_held_and_a_stop_loses_little(root: Path, cpu: CpuTaskExecutor) -> None:
    search = SearchProject(index=SqliteProjectIndex, cpu=cpu)
    query = SearchQuery(text="needle399", kind="content")
    async with LoopWatchdog().watching():
        stopped = asyncio.create_task(search.refresh(root))
        while not (root / ".circuit_ai" / "search.sqlite-wal").exists():  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.01)
        stopped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopped
        assert cpu.worker_pids == ()
        state = await search.refresh(root)
        assert (state.files, state.pending) == (FILES, ())
        assert (await search.exact(root, query, is_fresh=True)).total == 1
        await asyncio.to_thread((root / "c399.cir").write_text, "* changed: needle999\n")
        assert (await search.exact(root, query)).total == 0
        assert (await search.exact(root, SearchQuery(text="needle999", kind="content"))).total == 1


class _Stuck:
    """Workers that never answer, as on a disk that does not."""

    async def run(self, *_call: object) -> None:
        await asyncio.Event().wait()


async def test_files_that_cannot_be_looked_through_in_time_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "_UPDATE_S", 0.01)
    monkeypatch.setattr(searching, "_HANGING_S", 0.01)
    search = SearchProject(index=SqliteProjectIndex, cpu=cast("CpuTaskExecutor", _Stuck()))
    with pytest.raises(CircuitError, match="Scanning the project's files") as told:
        await search.exact(tmp_path, SearchQuery(text="x", kind="content"))
    assert told.value.error_type == "search_too_slow"
