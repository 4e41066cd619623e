"""A stepped circuit that is followed: its steps are there as they come, its result is that of one unseen."""

import asyncio
import re
from pathlib import Path

from application.app import Application
from application.ports.simulation import GrowingData, Growth, RunWatch
from application.simulation.simulating import SimulationRequest
from domain.simulation.steps_so_far import StepsSoFar
from infrastructure.waveforms.raw_file import read_raw
from shared.pausing import Pause

FAMILY = """* a family
.param tend=1m
V1 in 0 SIN(0 1 1k)
R1 in out 1k
C1 out 0 1u
.tran 1u {{tend}} 0 1u
.step param tend list {values}
.meas tran top MAX v(out)
.end
"""


def written(folder: Path, values: str) -> Path:
    path = folder / "family.cir"
    path.write_text(FAMILY.format(values=values), encoding="utf-8")
    return path


async def test_steps_that_are_through_are_whole_and_a_stop_keeps_them(
    app: Application, tmp_path: Path
) -> None:
    circuit = await asyncio.to_thread(written, tmp_path, "30m 20m 10m 900 1000")
    halt, offered, told = asyncio.Event(), list[GrowingData](), list[StepsSoFar]()
    watch = RunWatch(halt=halt, on_growing=offered.append, on_step=told.append)
    shares: list[float] = []
    running = asyncio.create_task(
        app.simulation.run(SimulationRequest(circuit=circuit), on_progress=shares.append, watch=watch)
    )

    def is_seen(growth: Growth | None) -> bool:
        """The three that end are whole, and one of the endless grows."""
        if growth is None or growth.steps is None or growth.steps.done < 3:
            return False
        found = {plot.step.number: plot.points for plot in growth.plots if plot.step is not None}
        return all(found.get(number, 0) > 5_000 for number in (1, 2, 3)) and len(found) > 3

    growth: Growth | None = None
    async with asyncio.timeout(50):
        while not is_seen(growth):
            await asyncio.sleep(0.05)
            growth = await asyncio.to_thread(offered[0].read) if offered else None
    assert growth is not None
    assert growth.steps is not None
    assert (growth.steps.done, growth.steps.number, growth.steps.count) == (3, 4, 5)
    places = {plot.step.number: plot.step.place for plot in growth.plots if plot.step is not None}
    assert [places[number] for number in (1, 2, 3)] == [0.5, 0.25, 0.0], "as they stand in the end"
    halt.set()
    result = await running
    assert len(offered) == 1
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert shares == sorted(shares)
    assert shares[-1] >= 3 / 5
    assert result.run.status == "cancelled"
    assert [step.status for step in result.steps[:3]] == ["ok"] * 3
    assert {step.status for step in result.steps[3:]} == {"cancelled"}
    plots = await asyncio.to_thread(read_raw, result.run.raw_paths[0])
    whole = {plot.step.number: plot for plot in plots if plot.step is not None}
    for plot in growth.plots:
        assert plot.step is not None
        if plot.step.number <= 3:
            kept = whole[plot.step.number]
            assert plot.step.values == kept.step.values  # type: ignore[union-attr]
            every = 1 if plot.step.number == 3 else 2  # a fifth of 100,000 points are drawn of each
            for name, vector in plot.vectors.items():
                assert (vector.data == kept.vectors[name].data[::every]).all()
    assert (await asyncio.to_thread(offered[0].read)).rows >= growth.rows, (
        "the files are gone, what was read is not"
    )


async def test_who_is_watched_gives_the_same_bytes(app: Application, tmp_path: Path) -> None:
    circuit = await asyncio.to_thread(written, tmp_path, "3m 2m 1m")
    request = SimulationRequest(circuit=circuit)
    offered: list[GrowingData] = []
    unseen = await app.simulation.run(request)
    seen = await app.simulation.run(request, watch=RunWatch(on_growing=offered.append))

    def data(path: Path) -> bytes:
        return re.sub(rb"(?m)^Date: .*$", b"", path.read_bytes())

    first, second = [await asyncio.to_thread(data, each.run.raw_paths[0]) for each in (unseen, seen)]
    assert first == second
    assert seen.metrics == unseen.metrics
    assert len(seen.steps) == 3


async def test_a_run_that_is_paused_stands_still_and_its_limit_waits(
    app: Application, tmp_path: Path
) -> None:
    circuit = await asyncio.to_thread(written, tmp_path, "1m 1000")
    halt, pause, offered = asyncio.Event(), Pause(), list[GrowingData]()
    watch = RunWatch(halt=halt, pause=pause, on_growing=offered.append)
    request = SimulationRequest(circuit=circuit, timeout_s=100.0)
    running = asyncio.create_task(app.simulation.run(request, watch=watch))

    async def beyond(rows: int) -> int:
        async with asyncio.timeout(50):
            while True:
                growth = await asyncio.to_thread(offered[0].read) if offered else None
                if growth is not None and growth.steps is not None and growth.rows > rows:
                    return growth.rows
                await asyncio.sleep(0.05)

    await beyond(2_000)
    await pause.hold()
    held = (await asyncio.to_thread(offered[0].read)).rows
    await asyncio.sleep(0.3)
    assert (await asyncio.to_thread(offered[0].read)).rows == held
    await pause.go_on()
    await beyond(held)
    await pause.hold()
    halt.set()
    result = await running
    assert result.run.status == "cancelled"
    assert [step.status for step in result.steps] == ["ok", "cancelled"]
