"""What a Dask worker does: runs of a parcel, on the confined batch of its own machine.

Imported there by name, so the worker's Python has to have this program.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import cache

from domain.simulation.batch import Batch, BatchRun, RunOutcome
from infrastructure.cluster.parcel import Parcel, unpack, without_folder
from infrastructure.ngspice.batch.simulator import NgspiceBatch
from infrastructure.ngspice.confined import ConfinedNgspice
from infrastructure.ngspice.scratch import make_scratch, remove_scratch
from shared.processes import ProcessManager


def do_runs(
    parcels: Sequence[Parcel], runs: Sequence[BatchRun], signals: tuple[str, ...] | None, timeout_s: float
) -> list[RunOutcome]:
    """The outcomes of some runs, in their order, with places instead of paths. Blocking.

    Raises EnvironmentProblem where ngspice or its confinement is missing.
    """
    return asyncio.run_coroutine_threadsafe(_do(parcels, runs, signals, timeout_s), _loop()).result()


async def _do(
    parcels: Sequence[Parcel], runs: Sequence[BatchRun], signals: tuple[str, ...] | None, timeout_s: float
) -> list[RunOutcome]:
    folder = await asyncio.to_thread(make_scratch, None)
    try:
        circuits = []
        for number, parcel in enumerate(parcels):
            place = folder / str(number)
            circuits.append((place, await asyncio.to_thread(unpack, parcel, place)))
        batch = Batch(
            circuits=tuple(circuit for _, circuit in circuits),
            runs=tuple(runs),
            signals=signals,
            timeout_s=timeout_s,
        )
        place_of = {run.run_id: circuits[run.circuit][0] for run in runs}
        found = {
            outcome.run_id: without_folder(outcome, place_of[outcome.run_id])
            async for outcome in _adapter().run(batch, workers=1)
        }
    finally:
        await asyncio.to_thread(remove_scratch, folder)
    return [found[run.run_id] for run in runs]


@cache
def _adapter() -> NgspiceBatch:
    """One for the life of the worker's process: what holds on its machine is found out once."""
    return NgspiceBatch(ConfinedNgspice(processes=ProcessManager()))


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """A loop in a thread of its own, which lives as long as the process: guests end with their thread."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="batches", daemon=True).start()
    return loop
