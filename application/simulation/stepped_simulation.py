"""Simulating a circuit at every step of its `.step` and `.temp` cards: single runs, put together as one."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from application.ports.simulation import RunWatch
from application.simulation.growing_steps import GrowingSteps
from application.simulation.second_try import run_patiently
from domain.circuit.stepping import (
    StepPoint,
    at_point,
    model_values,
    step_axes,
    step_points,
    without_steps,
)
from domain.simulation.stepped_run import SteppedRun
from domain.simulation.steps_so_far import StepsSoFar
from domain.simulation.wiring import with_steps
from shared.errors import Stopped, UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.ports.simulation import Simulator
    from application.simulation.prepared_circuit import PreparedCircuit
    from domain.simulation.result import SimulationRun

MOST_AT_ONCE = 8


def steps_of(prepared: PreparedCircuit) -> tuple[StepPoint, ...]:
    """Every step of a circuit; () for one that is simulated once. Raises UserInputError."""
    axes = step_axes(prepared.netlist)
    try:
        return step_points(axes) if axes else ()
    except UserInputError as error:
        error.file = prepared.circuit
        raise


async def run_steps(
    simulator: Simulator,
    prepared: PreparedCircuit,
    points: Sequence[StepPoint],
    folder: Path,
    *,
    timeout_s: float,
    on_progress: Callable[[float], None] | None = None,
    watch: RunWatch | None = None,
) -> list[tuple[PreparedCircuit, SteppedRun]]:
    """Run every step in a folder of its own inside `folder`, a few at once, in all within `timeout_s`.

    Cancelling ends them all. Steps that find the time used up are left out, the last that ran is then one
    with status timeout; once the `watch` halts them those that run are ended and no other begins. Raises as
    the simulator does, and Stopped when no step has begun.
    """
    halt = None if watch is None else watch.halt
    pause = None if watch is None else watch.pause
    plain = await asyncio.to_thread(lambda: prepared.edited(without_steps(prepared.netlist)))
    slots = asyncio.Semaphore(min(os.cpu_count() or 1, MOST_AT_ONCE))
    deadline = time.monotonic() + timeout_s
    followed = _Followed(points, watch, on_progress)

    async def run_one(number: int, point: StepPoint) -> tuple[PreparedCircuit, SteppedRun] | None:
        async with slots:
            left = deadline - time.monotonic() + (0.0 if pause is None else pause.held_s)
            is_halted = halt is not None and halt.is_set()
            if is_halted or (left <= 0 and number > 1):
                return None
            at = await asyncio.to_thread(_at, plain, point)
            await asyncio.to_thread(lambda: at.wiring)
            own = folder / f"step{number:04d}"
            await asyncio.to_thread(own.mkdir)
            run = await run_patiently(
                simulator,
                at.job(own, timeout_s=max(left, 0.1)),
                on_progress=partial(followed.progress, number),
                watch=followed.watch(number, at),
            )
            if run.status == "timeout":
                run = _out_of_time(run, number, len(points), timeout_s)
            followed.end(number)
            stepped = SteppedRun(
                number=number, count=len(points), point=point, circuit=at.circuit, run=run, folder=own
            )
            return at, stepped

    tasks = [asyncio.ensure_future(run_one(number, point)) for number, point in enumerate(points, start=1)]
    try:
        found = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    begun = [run for run in found if run is not None]
    if not begun:
        raise Stopped(msg("The run was stopped before it had computed anything."))
    return begun


class _Followed:
    """Tells who watches how far the steps are, and offers him their data."""

    def __init__(
        self,
        points: Sequence[StepPoint],
        watch: RunWatch | None,
        on_progress: Callable[[float], None] | None,
    ) -> None:
        self._count = len(points)
        self._watch, self._on_progress = watch, on_progress
        self._shares: dict[int, float] = {}
        self._done = 0
        self._began = time.monotonic()
        self._data: GrowingSteps | None = None
        if watch is not None and watch.on_growing is not None:
            self._data = GrowingSteps(points, self.so_far)
            watch.on_growing(self._data)

    def so_far(self) -> StepsSoFar:
        return StepsSoFar(
            done=self._done,
            count=self._count,
            elapsed_s=time.monotonic() - self._began - self._held_s,
            share=min(sum(self._shares.values()) / self._count, 1.0),
        )

    @property
    def _held_s(self) -> float:
        pause = None if self._watch is None else self._watch.pause
        return 0.0 if pause is None else pause.held_s

    def watch(self, number: int, at: PreparedCircuit) -> RunWatch | None:
        """Of the run of one step, which begins now."""
        self._tell()
        if self._watch is None:
            return None
        offered = None if self._data is None else partial(self._data.add, number)
        wiring = None if at.wiring is None else with_steps([at.wiring])
        return replace(self._watch, on_growing=offered, on_step=None, wiring=wiring, beside=self._count)

    def progress(self, number: int, share: float) -> None:
        self._shares[number] = share
        if self._on_progress is not None:
            self._on_progress(self.so_far().share)

    def end(self, number: int) -> None:
        """A step is through, whatever became of it."""
        self._done += 1
        if self._data is not None:
            self._data.end(number)
        self.progress(number, 1.0)
        self._tell()

    def _tell(self) -> None:
        if self._watch is not None and self._watch.on_step is not None:
            self._watch.on_step(self.so_far())


def _out_of_time(run: SimulationRun, number: int, count: int, timeout_s: float) -> SimulationRun:
    """The run, told that it had what the steps before it left of the time."""
    message = msg(
        "The time limit of {seconds} s for all steps ran out at step {number} of {count}.",
        seconds=f"{timeout_s:.3g}",
        number=number,
        count=count,
    )
    issues = (replace(each, message=message) if each.code == "time-limit" else each for each in run.issues)
    return replace(run, issues=tuple(issues))


def _at(plain: PreparedCircuit, point: StepPoint) -> PreparedCircuit:
    found = plain.edited(at_point(plain.netlist, point))
    if not (of_models := model_values(point)):
        return found
    from domain.studies.variation import with_values  # it needs numpy

    tree = with_values(found.tree, of_models)
    return replace(found, netlist=tree.root, tree=tree)
