"""Many runs of loaded circuits on confined guests: the adapter of the BatchSimulator port.

A guest (guest.py) is a process in the box of sandbox.py that hosts libngspice; process.py
keeps one, pool.py a few, results.py says what their answers mean.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from pathlib import Path

from application.ports.simulation import Confinement
from domain.circuit.analyses import Analysis
from domain.simulation.batch import Batch, BatchCircuit, BatchRun, RunOutcome
from infrastructure.ngspice.batch.pool import BatchPool
from infrastructure.ngspice.batch.process import GuestPlan, start_up_text
from infrastructure.ngspice.confined import PROBE_DECK, Box, ConfinedNgspice, DoesNotRun
from infrastructure.ngspice.sandbox import Parts, Program, Sandbox
from shared.errors import CircuitError, EnvironmentProblem
from shared.message import msg

DEFAULT_MEMORY_BYTES = 2 * 2**30
_PROBE = BatchCircuit(
    deck=PROBE_DECK,
    deck_path=Path("/probe.cir"),
    varied=(),
    analyses=(Analysis(kind="op", text="op", line=4),),
)
_PROBE_S = 20.0


class NgspiceBatch:
    """BatchSimulator port; calls may overlap, each has guests of its own."""

    def __init__(self, ngspice: ConfinedNgspice) -> None:
        self._ngspice = ngspice

    async def confinement(self) -> Confinement:
        """What holds in the guests, found by running a small circuit (once)."""
        return (await self._box()).confinement

    async def library(self) -> tuple[Path, str]:
        """libngspice as it is used: its path and the version it tells ("ngspice-39").

        Raises EnvironmentProblem when there is none that runs a small circuit.
        """
        box = await self._box()
        return _library(box.parts).path, box.version

    async def run(self, batch: Batch, *, workers: int | None = None) -> AsyncGenerator[RunOutcome, None]:
        """Every run's outcome, as they end, in no order; see the port."""
        wanted = min(workers or default_workers(), max(1, len(batch.runs)))
        async with self.session(batch.circuits, workers=wanted, memory_bytes=batch.memory_bytes) as session:
            outcomes = session.run(batch.runs, signals=batch.signals, timeout_s=batch.timeout_s)
            async with contextlib.aclosing(outcomes):
                async for outcome in outcomes:
                    yield outcome

    @contextlib.asynccontextmanager
    async def session(
        self,
        circuits: Sequence[BatchCircuit],
        *,
        workers: int | None = None,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
    ) -> AsyncIterator[BatchPool]:
        """Guests that keep these circuits for several rounds of runs.

        Raises EnvironmentProblem, and NeedsConfirmation when nothing confines circuits that bring commands
        or files.
        """
        box = await self._box()
        self._ngspice.refuse_unconfined(box, circuits)
        scratch_root = self._ngspice.scratch_root
        plan = await asyncio.to_thread(_plan, box.sandbox, tuple(circuits), memory_bytes, scratch_root)
        pool = BatchPool(
            processes=self._ngspice.processes,
            plan=plan,
            circuits=circuits,
            guests=workers or default_workers(),
        )
        try:
            yield pool
        finally:
            await pool.close()

    @contextlib.asynccontextmanager
    async def live(self, circuit: BatchCircuit) -> AsyncIterator[LiveGuest]:
        """A guest that keeps `circuit` for single evaluations.

        Raises EnvironmentProblem, and CircuitError when the circuit does not load.
        """
        async with self.session((circuit,), workers=1) as pool:
            issues = await pool.load(0)
            if issues:
                raise CircuitError(issues[0].message, file=issues[0].file, line=issues[0].line)
            yield LiveGuest(pool)

    # ---- finding out what this machine has -------------------------------------------------------

    async def _box(self) -> Box:
        try:
            return await self._ngspice.box(self._probe, with_library=True)
        except DoesNotRun as error:
            raise EnvironmentProblem(
                msg("The ngspice library cannot run a simple circuit here: {reason}", reason=error.reason),
                advice=msg("Batch runs need Linux and the libngspice that matches your ngspice."),
                error_type="worker_failed",
            ) from error

    async def _probe(self, sandbox: Sandbox, _parts: Parts) -> str:
        root = self._ngspice.scratch_root
        plan = await asyncio.to_thread(_plan, sandbox, (_PROBE,), DEFAULT_MEMORY_BYTES, root)
        pool = BatchPool(processes=self._ngspice.processes, plan=plan, circuits=(_PROBE,), guests=1)
        run = BatchRun(run_id=0, circuit=0, values=())
        try:
            async with contextlib.aclosing(pool.run((run,), signals=None, timeout_s=_PROBE_S)) as outcomes:
                outcome = await anext(outcomes)
        except EnvironmentProblem as error:
            raise DoesNotRun(error.message) from error
        finally:
            await pool.close()
        if outcome.state != "ok":
            raise DoesNotRun(outcome.issues[0].message if outcome.issues else outcome.state)
        return pool.library_version


class LiveGuest:
    """LiveCircuit port: one circuit, loaded and waiting; replaced when an evaluation ends its guest."""

    def __init__(self, pool: BatchPool) -> None:
        self._pool = pool
        self._one_at_a_time = asyncio.Lock()
        self._count = 0

    async def evaluate(
        self, values: Sequence[float], *, signals: Sequence[str] | None = None, timeout_s: float = 10.0
    ) -> RunOutcome:
        async with self._one_at_a_time:
            run = BatchRun(run_id=0, circuit=0, values=tuple(values))
            outcomes = self._pool.run((run,), signals=signals, timeout_s=timeout_s)
            async with contextlib.aclosing(outcomes):
                return await anext(outcomes)


def default_workers() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _library(parts: Parts) -> Program:
    assert parts.library is not None  # they were asked for with it
    return parts.library


def _plan(
    sandbox: Sandbox, circuits: tuple[BatchCircuit, ...], memory_bytes: int, scratch_root: Path | None
) -> GuestPlan:
    """What the guests of these circuits may see. Looks at the file system."""
    files = {path for one in circuits for path in (*one.included_files, *one.data_files) if path.is_file()}
    folders = {folder for one in circuits for folder in one.readable_dirs}
    hidden = {Path(os.path.realpath(folder)) for one in circuits for folder in one.hidden_dirs}
    return GuestPlan(
        sandbox=sandbox,
        files=tuple(sorted(files)),
        folders=tuple(sorted(folders)),
        hidden=tuple(sorted(hidden)),
        input_folders=tuple(one.deck_path.parent for one in circuits),
        memory_bytes=memory_bytes,
        spinit=start_up_text(sandbox.data_folders),
        scratch_root=scratch_root,
    )
