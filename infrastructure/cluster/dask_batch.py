"""The batch simulator on an existing Dask scheduler: the same port, the same results.

Runs are sent in chunks of plain data to the scheduler's workers, each of which runs them in the confined
guests of its machine. Trust goes both ways: workers run decks of ours, and what they answer is unpickled
here, so the scheduler has to be one's own (docs/cluster.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from application.ports.simulation import BatchSimulator, LiveCircuit
from domain.simulation.batch import Batch, BatchCircuit, BatchRun, RunOutcome
from domain.simulation.result import SimulationIssue
from infrastructure.cluster.parcel import Packed, at_home, pack
from infrastructure.cluster.worker import do_runs
from shared.errors import CircuitAIError, EnvironmentProblem
from shared.message import msg

_CONNECT_S = 10.0
_FIRST_CHUNK = 8
_CHUNK_S = 2.0
"""Work that goes out at once: much more than what a chunk costs by itself, little enough to stop soon."""
_LARGEST_CHUNK = 2000


class DaskBatch:
    """BatchSimulator port over ``tcp://host:port``."""

    def __init__(self, address: str, *, local: BatchSimulator, connect_s: float = _CONNECT_S) -> None:
        """`local` serves single evaluations, which gain nothing from a journey.

        `connect_s`: how long the scheduler, and then its first worker, are waited for, s.
        """
        self._address = address
        self._local = local
        self._connect_s = connect_s

    async def run(self, batch: Batch, *, workers: int | None = None) -> AsyncGenerator[RunOutcome, None]:
        """Every run's outcome, as chunks end; `workers` limits how many chunks are under way at once."""
        async with self.session(batch.circuits, workers=workers) as session:
            outcomes = session.run(batch.runs, signals=batch.signals, timeout_s=batch.timeout_s)
            async with contextlib.aclosing(outcomes):
                async for outcome in outcomes:
                    yield outcome

    @contextlib.asynccontextmanager
    async def session(
        self, circuits: Sequence[BatchCircuit], *, workers: int | None = None
    ) -> AsyncIterator[DaskSession]:
        """A connection with the circuits already sent. Raises EnvironmentProblem, UserInputError."""
        packed = [await asyncio.to_thread(pack, circuit) for circuit in circuits]
        client = await self._connect()
        try:
            slots = sum((await self._threads(client)).values())
            parcels = await client.scatter([item.parcel for item in packed], hash=False, broadcast=True)
            yield DaskSession(client, packed, parcels, slots=min(slots, workers or slots))
        finally:
            await client.close()

    def live(self, circuit: BatchCircuit) -> AbstractAsyncContextManager[LiveCircuit]:
        return self._local.live(circuit)

    async def _connect(self) -> Any:
        try:
            from distributed import Client
        except ImportError as error:
            raise EnvironmentProblem(
                msg("A cluster needs the package distributed, which is not installed."),
                advice=msg("Install it with {command}.", command="pip install distributed"),
                error_type="cluster_missing",
            ) from error
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what goes wrong is told by us
        connect: Any = Client  # untyped
        try:
            return await connect(
                self._address, asynchronous=True, timeout=self._connect_s, set_as_default=False
            )
        except (OSError, ValueError, TimeoutError) as error:
            raise EnvironmentProblem(
                msg("The scheduler {address} cannot be reached ({reason}).",
                    address=self._address, reason=str(error) or type(error).__name__),
                advice=msg("Check the address, and that a Dask scheduler of the same version is "
                           "running there."),
                error_type="cluster_unreachable",
            ) from error  # fmt: skip

    async def _threads(self, client: Any) -> dict[str, int]:
        """Tasks each worker does at once. Raises EnvironmentProblem when there is no worker."""
        try:
            await client.wait_for_workers(1, timeout=self._connect_s)
        except TimeoutError as error:
            raise EnvironmentProblem(
                msg("The scheduler {address} has no workers.", address=self._address),
                advice=msg("Start some with `dask worker {address}`.", address=self._address),
                error_type="cluster_empty",
            ) from error
        found: dict[str, int] = await client.nthreads()
        return found


class DaskSession:
    """BatchSession port: circuits that have been sent, for one round of runs after the other."""

    def __init__(self, client: Any, packed: Sequence[Packed], parcels: Sequence[Any], *, slots: int) -> None:
        self._client = client
        self._packed = packed
        self._parcels = parcels
        self._slots = slots

    async def run(
        self, runs: Sequence[BatchRun], *, signals: Sequence[str] | None, timeout_s: float
    ) -> AsyncGenerator[RunOutcome, None]:
        """The outcome of every run. Closing it takes back what has not begun. Raises EnvironmentProblem."""
        from distributed import as_completed

        waiting = deque(runs)
        spent = _Spent()
        under_way: dict[Any, Sequence[BatchRun]] = {}
        collect: Any = as_completed
        done = collect([], loop=self._client.loop)

        def send() -> None:
            fair = -(-len(waiting) // (2 * self._slots))
            chunk = [waiting.popleft() for _ in range(min(spent.chunk(), fair))]
            if chunk:
                future = self._client.submit(
                    do_runs,
                    self._parcels,
                    chunk,
                    None if signals is None else tuple(signals),
                    timeout_s,
                    pure=False,
                )
                under_way[future] = chunk
                done.add(future)

        try:
            for _ in range(2 * self._slots):  # the next chunk is there before the last is done
                send()
            while under_way:
                future = await anext(done)
                chunk = under_way.pop(future)
                outcomes = await self._outcomes(future, chunk)
                spent.add(outcomes)
                send()
                for outcome in outcomes:
                    yield outcome
        finally:
            if under_way:
                await self._client.cancel(list(under_way), force=True)

    async def _outcomes(self, future: Any, chunk: Sequence[BatchRun]) -> list[RunOutcome]:
        from distributed import KilledWorker

        try:
            found: list[RunOutcome] = await future.result()
        except KilledWorker:
            return [_crashed(run) for run in chunk]
        except CircuitAIError:
            raise
        except ModuleNotFoundError as error:
            raise EnvironmentProblem(
                msg("The workers of the cluster do not have this program ({reason}).", reason=str(error)),
                advice=msg("Start them in the program's folder, with its Python."),
                error_type="cluster_worker",
            ) from error
        except Exception as error:
            raise EnvironmentProblem(
                msg("A worker of the cluster failed: {reason}", reason=f"{type(error).__name__}: {error}"),
                advice=msg("See the worker's log."),
                error_type="cluster_worker",
            ) from error
        return [
            at_home(outcome, self._packed[run.circuit].places)
            for outcome, run in zip(found, chunk, strict=True)
        ]


class _Spent:
    """How long runs take there, and so how many of them make a chunk."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._runs = 0

    def add(self, outcomes: Sequence[RunOutcome]) -> None:
        self._seconds += sum(outcome.duration_s for outcome in outcomes)
        self._runs += len(outcomes)

    def chunk(self) -> int:
        if not self._runs or self._seconds <= 0:
            return _FIRST_CHUNK
        return max(1, min(int(_CHUNK_S * self._runs / self._seconds), _LARGEST_CHUNK))


def _crashed(run: BatchRun) -> RunOutcome:
    issue = SimulationIssue(
        severity="error",
        code="simulator-crashed",
        message=msg("The cluster's workers died during this run or one beside it."),
    )
    return RunOutcome(run_id=run.run_id, state="crashed", plots=(), issues=(issue,))
