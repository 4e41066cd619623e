"""A run that found no solution is tried again, with what leaves the meaning of a solution as it is.

ngspice gives Newton's method 100 iterations for an operating point and 50 for each step towards one
(manual, "General Options": ITL1, ITL2); more of them cost time only. Where a transient analysis gets stuck
between two states, Gear's integration often passes: it is as exact for what moves slowly, and damps what
rings fast (manual, "METHOD"), which is told; with a smaller error allowed for each step (TRTOL is 7 here, 1
in LTspice) it passes more often, and is more exact. It is tried for circuits of other programs, which pass
there, and after it a capacitance at each node that is less than any node has, where none has any.
Whatever changes the circuit or its tolerances is only proposed (`convergence.py`).
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from domain.simulation.convergence import has_trouble
from domain.simulation.result import SimulationIssue
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from application.ports.simulation import RunWatch, Simulator
    from domain.simulation.request import SimulationJob
    from domain.simulation.result import SimulationRun

_TRIES: dict[str, tuple[tuple[str, SimulationIssue], ...]] = {
    "no-convergence": (
        (
            "itl1=500 itl2=200",
            SimulationIssue(
                severity="warning",
                code="more-iterations",
                message=msg(
                    "The operating point was found only with more iterations than usual; the result is as "
                    "accurate as any."
                ),
            ),
        ),
    ),
    "timestep-too-small": (
        (
            "method=gear trtol=2",
            SimulationIssue(
                severity="warning",
                code="gear-integration",
                message=msg(
                    "The run got to its end only with Gear's integration, which damps fast ringing; the "
                    "trapezoidal rule got stuck."
                ),
            ),
        ),
        (
            "cshunt=1e-15",
            SimulationIssue(
                severity="warning",
                code="capacitance-everywhere",
                message=msg(
                    "The run got to its end only with 1 fF from each node to ground; without it the time "
                    "step became too small. That is less than any wire has; only nodes inside an integrated "
                    "circuit get noticeably slower by it."
                ),
            ),
        ),
    ),
}
"""By the code of what went wrong: options, one after the other, and what is told where they help."""
_AGAIN = "again"
_LEAST_LEFT_S = 1.0


async def run_patiently(
    simulator: Simulator,
    job: SimulationJob,
    *,
    on_progress: Callable[[float], None] | None = None,
    watch: RunWatch | None = None,
) -> SimulationRun:
    """Run `job`, and again where it found no operating point or got stuck.

    A run that succeeded in that way says so; where it does not help the first is the result. All together
    keep within the job's time. Raises as the simulator does.
    """
    run = await simulator.run(job, on_progress=on_progress, watch=watch)
    code = next((issue.code for issue in run.errors if issue.code in _TRIES), None)
    if code is None or run.status != "failed" or job.has_control_block:
        return run
    if code == "timestep-too-small" and job.compatibility is None:
        return run  # what is written for ngspice, ngspice alone has to run
    for options, told in _TRIES[code]:
        if job.limits.wall_s - run.duration_s < _LEAST_LEFT_S:
            return run
        if any(name in job.deck.lower() for name in re.findall(rb"\w+(?==)", options.encode())):
            continue  # the circuit says itself what it wants
        run = await _run_again(simulator, job, run, options, told=told, on_progress=on_progress, watch=watch)
        if run.status == "ok":
            return run
    return run


async def _run_again(
    simulator: Simulator,
    job: SimulationJob,
    run: SimulationRun,
    options: str,
    *,
    told: SimulationIssue,
    on_progress: Callable[[float], None] | None,
    watch: RunWatch | None,
) -> SimulationRun:
    """`job` with further options; `run`, the first one, with the time of both where they don't help."""
    folder = job.output_dir / _AGAIN
    second_job = replace(
        job,
        deck=job.deck.rstrip(b"\r\n") + f"\n.options {options}\n".encode(),
        limits=replace(job.limits, wall_s=job.limits.wall_s - run.duration_s),
        output_dir=folder,
    )
    await off_loop(lambda: folder.mkdir(exist_ok=True))
    try:  # who follows the data has seen those of the first
        quiet = None if watch is None else replace(watch, on_growing=None, on_silent=None)
        second = await simulator.run(second_job, on_progress=on_progress, watch=quiet)
        if second.status != "ok":
            return replace(run, duration_s=run.duration_s + second.duration_s)
        second = await off_loop(_in_place, second, job.output_dir)
    finally:
        await off_loop(shutil.rmtree, folder, ignore_errors=True)
    second = replace(second, duration_s=run.duration_s + second.duration_s)
    if has_trouble(second.issues):
        return second  # which says itself that it has only a guess
    advice = msg("Write “.options {options}” into the circuit and it runs so at once.", options=options)
    return replace(second, issues=(*second.issues, replace(told, advice=advice)))


def without_promise(issues: Sequence[SimulationIssue]) -> tuple[SimulationIssue, ...]:
    """Of steps of which some failed all the same: what helped one is no advice for all."""
    helped = {told.code for tries in _TRIES.values() for _, told in tries}
    return tuple(replace(each, advice=None) if each.code in helped else each for each in issues)


def _in_place(run: SimulationRun, folder: Path) -> SimulationRun:
    """Its files in place of those of the first run."""

    def moved(path: Path) -> Path:
        return path.replace(folder / path.name)

    return replace(run, raw_paths=tuple(map(moved, run.raw_paths)), log_path=moved(run.log_path))
