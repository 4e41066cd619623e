"""A BatchSimulator whose runs are a formula: for tests of what is made of runs, not of simulating."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace

import numpy as np

from domain.simulation.batch import Batch, BatchCircuit, BatchRun, RunOutcome
from domain.simulation.waveform import Plot, Vector

Formula = Callable[[Mapping[str, float]], float]


class FormulaBatch:
    """``v(out)`` of every run is a formula of its values; outcomes come in reverse order.

    `outcome_of` may turn an outcome into another one; after `hangs_after` outcomes nothing more comes.
    """

    def __init__(
        self,
        formula: Formula,
        *,
        outcome_of: Callable[[BatchRun, RunOutcome], RunOutcome] = lambda _, outcome: outcome,
        hangs_after: int | None = None,
    ) -> None:
        self._formula = formula
        self._outcome_of = outcome_of
        self._hangs_after = hangs_after
        self.batches: list[Batch] = []
        self.is_closed = False
        self.is_hanging = asyncio.Event()

    async def run(self, batch: Batch, *, workers: int | None = None) -> AsyncIterator[RunOutcome]:
        """See the port."""
        self.batches.append(batch)
        try:
            for number, run in enumerate(reversed(batch.runs)):
                if number == self._hangs_after:
                    self.is_hanging.set()
                    await asyncio.Event().wait()
                await asyncio.sleep(0)
                yield self._outcome_of(run, self._outcome(batch.circuits[run.circuit], run))
        finally:
            self.is_closed = True

    def live(self, circuit: BatchCircuit) -> contextlib.AbstractAsyncContextManager[None]:
        """Not needed by studies."""
        raise NotImplementedError

    def _outcome(self, circuit: BatchCircuit, run: BatchRun) -> RunOutcome:
        values = {varied.name: value for varied, value in zip(circuit.varied, run.values, strict=True)}
        vector = Vector(name="v(out)", unit="V", data=np.array([self._formula(values)]))
        plot = Plot(analysis="op", name="Operating Point", title="", vectors={"v(out)": vector})
        return RunOutcome(run_id=run.run_id, state="ok", plots=(plot,))


def failed(outcome: RunOutcome, state: str = "crashed") -> RunOutcome:
    """The same run without data."""
    return replace(outcome, state=state, plots=())  # type: ignore[arg-type]
