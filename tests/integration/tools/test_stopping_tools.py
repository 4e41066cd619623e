"""Tools that are stopped or fail half-way: nothing goes on, the log tells what happened."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from application.tool_execution.tools._common import file_problem
from domain.llm.tools.result import ToolCall
from shared.errors import EnvironmentProblem
from shared.message import msg
from shared.ulid import new_ulid
from tests.ground.parked_workers import started_here
from tests.integration.tools.conftest import Bench

SLOW = "slow\nV1 a 0 SIN(0 1 1k)\nR1 a b 1k\nC1 b 0 1n\n.tran 10n 1000 0 10n\n.end\n"


@pytest.fixture
def workers_are_started_here() -> Iterator[None]:
    """One that was parked by another test is alive, and parked again, until its job has begun."""
    with started_here():
        yield


@pytest.mark.usefixtures("workers_are_started_here")
async def test_a_search_that_is_stopped_leaves_no_process(bench: Bench) -> None:
    bench.write("evil.txt", "a" * 60 + "!\n")
    call = ToolCall(call_id=new_ulid(), name="search_project", arguments={"query": "/(a+)+$/"})
    task = asyncio.ensure_future(bench.repeat(call))
    while not bench.cpu.worker_pids:
        assert not task.done()
        await asyncio.sleep(0.01)
    (pid,) = bench.cpu.worker_pids
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bench.cpu.worker_pids == ()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    settled = await bench.executor.settle(call, bench.context, reason="stopped")
    assert settled.error_type == "stopped"
    assert (await bench.call("search_project", query="aaa")).success


async def test_a_simulation_that_is_stopped_leaves_no_result_and_can_be_run_again(bench: Bench) -> None:
    path = bench.write("slow.cir", SLOW)
    call = ToolCall(call_id=new_ulid(), name="run_simulation", arguments={})
    task = asyncio.ensure_future(bench.repeat(call))
    results = bench.root / ".circuit_ai" / "sim_results"
    while not (bench.processes.running and results.exists()):
        assert not task.done()
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(results.iterdir()) == []
    settled = await bench.executor.settle(call, bench.context, reason="stopped")
    assert (settled.success, settled.error_type) == (False, "stopped")
    record = await bench.context.operations.find(call.call_id)
    assert record is not None
    assert record.state == "abandoned"

    path.write_text(SLOW.replace("1000 0 10n", "1u"))
    assert (await bench.repeat(call)).success
    assert len(list(results.iterdir())) == 1


async def test_a_simulation_past_its_time_keeps_what_it_has(bench: Bench) -> None:
    bench.write("slow.cir", SLOW)
    late = await bench.call("run_simulation", timeout_s=1)
    assert late.error_type == "simulation_failed"
    assert late.result["status"] == "timeout"
    assert late.result["errors"][0]["code"] == "time-limit"


@pytest.mark.parametrize(("kind", "comes_out"), [("disk_full", True), ("damaged", True), ("busy", False)])
async def test_a_disk_that_is_full_ends_the_run_and_a_busy_project_only_the_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, kind: str, comes_out: bool
) -> None:
    async def fail(**_arguments: object) -> None:
        raise EnvironmentProblem(msg("The query is empty."), error_type=kind)

    monkeypatch.setattr(bench.context.operations, "change_file", fail)
    if comes_out:
        with pytest.raises(EnvironmentProblem):
            await bench.call("rewrite_file", path="x.cir", content="x\n")
    else:
        result = await bench.call("rewrite_file", path="x.cir", content="x\n")
        assert (result.error_type, result.is_environment) == (kind, True)


@pytest.mark.parametrize(
    ("number", "kind"),
    [(2, "file_not_found"), (20, "file_not_found"), (21, "not_a_file"), (22, "not_a_file"),
     (40, "not_a_file"), (116, "outside_project"), (13, "cannot_read"), (5, "cannot_read")],
)  # fmt: skip
def test_problems_of_opening_are_told_apart(number: int, kind: str) -> None:
    assert file_problem(OSError(number, os.strerror(number)), str(Path("x.cir"))).error_type == kind
