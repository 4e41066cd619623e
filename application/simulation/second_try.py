"""A run whose operating point was not found is tried once more, with more iterations.

ngspice gives Newton's method 100 iterations for an operating point and 50 for each step towards one (manual,
"General Options": ITL1, ITL2). More of them cost time only: what counts as a solution stays the same, so this
needs nobody's consent. What changes the circuit or its tolerances does (`convergence.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain.simulation.convergence import has_trouble
from domain.simulation.result import SimulationIssue
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from application.ports.simulation import RunWatch, Simulator
    from domain.simulation.request import SimulationJob
    from domain.simulation.result import SimulationRun

_PATIENCE = "itl1=500 itl2=200"
_LEAST_LEFT_S = 1.0


async def run_patiently(
    simulator: Simulator,
    job: SimulationJob,
    *,
    on_progress: Callable[[float], None] | None = None,
    watch: RunWatch | None = None,
) -> SimulationRun:
    """Run `job`, and once more where it found no operating point and may need only more iterations for it.

    A run that succeeded in that way says so. Both together keep within the job's time. Raises as the
    simulator does.
    """
    run = await simulator.run(job, on_progress=on_progress, watch=watch)
    left = job.limits.wall_s - run.duration_s
    if not _may_need_more(job, run) or left < _LEAST_LEFT_S:
        return run
    await off_loop(_emptied, run)
    patient = replace(
        job,
        deck=job.deck.rstrip(b"\r\n") + f"\n.options {_PATIENCE}\n".encode(),
        limits=replace(job.limits, wall_s=left),
    )
    second = await simulator.run(patient, on_progress=on_progress, watch=watch)
    second = replace(second, duration_s=run.duration_s + second.duration_s)
    if second.status != "ok" or has_trouble(second.issues):
        return second  # which says so itself, also where it has only a guess
    told = SimulationIssue(
        severity="warning",
        code="more-iterations",
        message=msg(
            "The operating point was found only with more iterations than usual; the result is as accurate "
            "as any."
        ),
        advice=msg("Write “.options {options}” into the circuit to have them at once.", options=_PATIENCE),
    )
    return replace(second, issues=(*second.issues, told))


def _may_need_more(job: SimulationJob, run: SimulationRun) -> bool:
    is_unsolved = any(issue.code == "no-convergence" for issue in run.errors)
    is_told = any(word in job.deck.lower() for word in (b"itl1", b"itl2"))
    return run.status == "failed" and is_unsolved and not (run.raw_paths or is_told or job.has_control_block)


def _emptied(run: SimulationRun) -> None:
    """Make room for the second run's log: the first has left nothing else."""
    run.log_path.unlink(missing_ok=True)
