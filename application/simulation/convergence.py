"""The convergence doctor: names why a circuit does not converge, and tries remedies in copies of it."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from application.simulation.circuit_files import read_circuit_file
from application.simulation.prepared_circuit import PreparedCircuit, prepare_circuit
from domain.circuit.dialects import plain_text
from domain.circuit.netlist import Netlist
from domain.circuit.simulator_settings import Dialect
from domain.simulation.convergence import Cause, find_cause, has_trouble
from domain.simulation.remedies import Remedy, remedies_for
from domain.simulation.result import SimulationRun
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import ResultStore, Simulator, SimulatorSettingsStore, SourceReaders

LONGEST_TRIAL_S = 30.0
_AT_ONCE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A remedy that was tried."""

    remedy: Remedy
    diff: str
    """Unified difference to the user's file."""
    converges: bool
    run: SimulationRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What the doctor found."""

    circuit: Path
    cause: Cause | None
    """None: the circuit converges."""
    trials: tuple[Trial, ...] = ()
    """In the order they were tried, the least intrusive first."""

    @property
    def proposal(self) -> Trial | None:
        return next((trial for trial in self.trials if trial.converges), None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnalyzeConvergence:
    """The use case. Never changes the user's file."""

    simulator: Simulator
    sources: SourceReaders
    results: ResultStore
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]] = tuple

    async def __call__(
        self,
        circuit: Path,
        *,
        analysis: str | None = None,
        assignments: Sequence[tuple[str, str]] = (),
        libraries: Sequence[Path] = (),
        dialect: Dialect | None = None,
        timeout_s: float = 120.0,
        on_progress: Callable[[float], None] | None = None,
    ) -> Diagnosis:
        """Simulate, find the cause of trouble, and try remedies until one of each kind was tried.

        The general remedies are tried only when none that was made for the cause helps. Raises as
        `RunSimulation`.
        """

        def prepare(written: Netlist | None) -> PreparedCircuit:
            return prepare_circuit(
                self.sources,
                circuit,
                libraries=libraries,
                user_libraries=self.libraries(),
                assignments=assignments,
                analyses=None if analysis is None else (analysis,),
                settings=self.settings.of_circuit(circuit),
                dialect=dialect,
                data=None if written is None else written.to_bytes(),
            )

        trial_s = min(timeout_s, LONGEST_TRIAL_S)
        prepared = await off_loop(prepare, None)
        run = await self._run(prepared, timeout_s)
        if run.status == "ok" and not has_trouble(run.issues):
            return Diagnosis(circuit=prepared.circuit, cause=None)
        cause = await off_loop(find_cause, prepared.tree, run.issues)
        if cause is None:
            return Diagnosis(circuit=prepared.circuit, cause=None)
        data, real, _ = await off_loop(read_circuit_file, self.sources, circuit, ())
        written = Netlist.parse(plain_text(data), path=real)
        own, general = await off_loop(remedies_for, cause, written)
        trials: list[Trial] = []
        total = len(own) + len(general)
        slots = asyncio.Semaphore(_AT_ONCE)

        async def attempt(remedy: Remedy) -> Trial:
            async with slots:
                trial_run = await self._run(await off_loop(prepare, remedy.netlist), trial_s)
            return Trial(
                remedy=remedy,
                diff=_diff(written, remedy.netlist, real.name),
                converges=trial_run.status == "ok" and not has_trouble(trial_run.issues),
                run=trial_run,
            )

        for kind in (own, general):
            tasks = [asyncio.ensure_future(attempt(remedy)) for remedy in kind]
            try:
                for task in tasks:
                    trials.append(await task)
                    if on_progress is not None:
                        on_progress(len(trials) / max(total, 1))
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            if any(trial.converges for trial in trials):
                break
        return Diagnosis(circuit=prepared.circuit, cause=cause, trials=tuple(trials))

    async def _run(self, prepared: PreparedCircuit, timeout_s: float) -> SimulationRun:
        _, folder = await off_loop(self.results.new_result, prepared.circuit)
        try:
            return await self.simulator.run(prepared.job(folder, timeout_s=timeout_s))
        finally:
            await off_loop(self.results.discard, folder)


def _diff(old: Netlist, new: Netlist, name: str) -> str:
    before, after = (_lines(netlist) for netlist in (old, new))
    return "\n".join(difflib.unified_diff(before, after, name, name, lineterm=""))


def _lines(netlist: Netlist) -> list[str]:
    source = netlist.source
    return [source.decode(source.line_text(number)) for number in range(1, len(source.lines) + 1)]
