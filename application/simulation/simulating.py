"""Simulate a circuit file: read it and its includes, run it confined, compute its metrics, keep all of it."""

from __future__ import annotations

import asyncio
import hashlib
import os.path
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from application.ports.project import ABSENT
from application.simulation.failure_causes import with_causes
from application.simulation.growing_steps import values_of
from application.simulation.operating_points import FindOperatingPoint
from application.simulation.other_texts import WithTexts
from application.simulation.prepared_circuit import PreparedCircuit, prepare_circuit
from application.simulation.run_metrics import run_metrics
from application.simulation.second_try import run_patiently, without_promise
from application.simulation.stepped_simulation import run_steps, steps_of
from domain.circuit.dependencies import NOT_TO_BE_OPENED, DependencyTree, SourceFile
from domain.circuit.simulator_settings import Dialect
from domain.circuit.stepping import StepPoint
from domain.simulation.result import SimulationIssue, SimulationResult, SimulationRun, StepResult
from domain.simulation.stepped_run import SteppedRun
from domain.simulation.wiring import with_steps
from shared.errors import Stopped, UserInputError
from shared.message import msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import (
        ResultStore,
        RunJoiner,
        RunWatch,
        Simulator,
        SimulatorSettingsStore,
        SourceReaders,
        WaveformReader,
    )
    from domain.simulation.waveform import Plot
    from domain.simulation.wiring import Wiring
    from shared.events import EventBus

_BESIDE = "operating-point"
"""The folder of the run of `.op`, in that of the result until it is over."""
_LEAST_PATIENCE_S = 2.0
"""How long a run that is done waits for it at least."""
_AFTER_HALT_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationRequest:
    """What a caller asks for."""

    circuit: Path
    analysis: str | None = None
    """Replaces the deck's analyses for this run: ``ac dec 20 1 10meg``."""
    assignments: tuple[tuple[str, str], ...] = ()
    """Values for this run: ``(("R1", "2k"), ("m1.w", "10u"))``."""
    timeout_s: float = 120.0
    libraries: tuple[Path, ...] = ()
    dialect: Dialect | None = None
    """What the circuit is written in; None = the project's settings, else told by its text."""
    call_id: str | None = None
    """The ULID of the call that asks, from which the result's id is made: repeated, it leaves one result."""
    reuse: bool = False
    """A stored run of the very same circuit is as good as a new one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunSimulation:
    """The use case; one instance serves any number of runs at the same time."""

    simulator: Simulator
    waveforms: WaveformReader
    sources: SourceReaders
    results: ResultStore
    joiner: RunJoiner
    events: EventBus
    settings: SimulatorSettingsStore
    libraries: Callable[[], tuple[Path, ...]] = tuple
    """The user's own, for every circuit."""

    async def __call__(
        self,
        request: SimulationRequest,
        *,
        on_progress: Callable[[float], None] | None = None,
        watch: RunWatch | None = None,
    ) -> SimulationResult:
        """Run `request` and store its result; of one with a `call_id` the bus gets `SimulationProgressed`.

        A circuit that does not simulate is a result whose `ok` is False, so is what came of one that its
        `watch` has halted. Raises UserInputError for a file, an analysis or a value that cannot be used,
        EnvironmentProblem without ngspice, Stopped when it was halted before there was any data.
        """
        if on_progress is None and request.call_id is not None:
            on_progress = partial(self._tell, request.call_id)
        prepared = await off_loop(self._prepared, request)
        if request.reuse and (stored := await self._stored(prepared)) is not None:
            return stored
        result_id, folder = await off_loop(self.results.new_result, prepared.circuit, request.call_id)
        try:
            result = await self._run(
                request, prepared, result_id, folder, on_progress=on_progress, watch=watch
            )
            if result.run.status == "cancelled" and not result.run.raw_paths:
                raise Stopped(msg("The run was stopped before it had computed anything."))
            await off_loop(self.results.keep_circuit, folder, prepared.text)
            await off_loop(self.results.save, result)
            # Not before: on a full disk the room it makes would let a result be saved whose data are cut off.
            await off_loop(shutil.rmtree, folder / _BESIDE, ignore_errors=True)
        except BaseException:  # cancelled too: nothing half-made stays
            await off_loop(self.results.discard, folder)
            raise
        return result

    def _tell(self, key: str, share: float) -> None:
        from application.ports.events import SimulationProgressed

        self.events.publish_throttled(SimulationProgressed(key=key, share=share), key=key)

    async def _run(
        self,
        request: SimulationRequest,
        prepared: PreparedCircuit,
        result_id: str,
        folder: Path,
        *,
        on_progress: Callable[[float], None] | None,
        watch: RunWatch | None,
    ) -> SimulationResult:
        """The circuit's own analyses, and beside them its operating point.

        What is done waits for the operating point as long again as it took itself, no longer.
        """
        halt = None if watch is None else watch.halt
        began = time.monotonic()
        beside = asyncio.ensure_future(
            self._operating_point(prepared, folder / _BESIDE, timeout_s=request.timeout_s)
        )
        try:
            points = await off_loop(steps_of, prepared)
            if points:
                result = await self._run_stepped(
                    request,
                    prepared,
                    points,
                    result_id=result_id,
                    folder=folder,
                    on_progress=on_progress,
                    watch=watch,
                )
            else:
                run = await run_patiently(
                    self.simulator,
                    prepared.job(folder, timeout_s=request.timeout_s),
                    on_progress=on_progress,
                    watch=None if watch is None else replace(watch, wiring=_whole_wiring(prepared)),
                )
                result = await off_loop(
                    self._result, request, prepared, run, result_id=result_id, folder=folder
                )
            patience = max(_LEAST_PATIENCE_S, time.monotonic() - began)
            if halt is not None and halt.is_set():  # somebody waits for it to end
                patience = _AFTER_HALT_S
            await asyncio.wait([beside], timeout=patience)
            return replace(result, operating_point=beside.result() if beside.done() else None)
        finally:
            beside.cancel()
            await asyncio.gather(beside, return_exceptions=True)

    @property
    def _operating_point(self) -> FindOperatingPoint:
        return FindOperatingPoint(simulator=self.simulator, waveforms=self.waveforms)

    async def files_of(self, circuit: Path) -> dict[Path, str]:
        """Every file a run of `circuit` reads, by depth: real paths with SHA-256 (hexadecimal).

        One that is named but not there has ABSENT. Raises UserInputError for a circuit that can't be read.
        """
        return await off_loop(self._files_of, circuit)

    def tree_with(self, circuit: Path, texts: Mapping[Path, bytes | None]) -> DependencyTree:
        """A circuit with all it includes, files with these contents (None: not there) in place of theirs.

        Blocking. Raises UserInputError for a circuit that can't be read.
        """
        return prepare_circuit(
            WithTexts(self.sources, texts),
            circuit,
            user_libraries=self.libraries(),
            settings=self.settings.of_circuit(circuit),
        ).tree

    async def process_corners(self, circuit: Path) -> tuple[str, ...]:
        """Those of TT, FF, SS, FS and SF that its libraries have; none of a circuit that can't be read."""
        try:
            prepared = await off_loop(self._read, SimulationRequest(circuit=circuit))
        except UserInputError:  # that is told by who simulates it
            return ()
        from domain.studies.corners import process_corners

        return process_corners(prepared.tree)

    def _files_of(self, circuit: Path) -> dict[Path, str]:
        prepared = self._read(SimulationRequest(circuit=circuit))
        reader = self.sources.for_circuit(prepared.circuit, prepared.library_folders)
        found = {prepared.circuit: prepared.sha256}
        for path in (*prepared.tree.files, *prepared.data_files):
            source = reader.read(str(path), including_file=prepared.circuit)
            found[path] = (
                hashlib.sha256(source.data).hexdigest() if isinstance(source, SourceFile) else ABSENT
            )
        for refusal in prepared.tree.refusals:
            if refusal.refusal.reason == "missing":
                folder = (refusal.file or prepared.circuit).parent
                found.setdefault(Path(os.path.normpath(folder / refusal.reference.strip("\"'"))), ABSENT)
        return found

    async def _stored(self, prepared: PreparedCircuit) -> SimulationResult | None:
        """The newest stored run that was just this one; it is the circuit's newest result from now on."""
        if not prepared.run_hash:
            return None
        key = prepared.fingerprint(await self.simulator.version())
        return await off_loop(self.results.reusable, prepared.circuit, key)

    def _prepared(self, request: SimulationRequest) -> PreparedCircuit:
        prepared = self._read(request)
        _ = prepared.wiring  # made now too: it takes its time
        assert (
            prepared.run_hash is not None
        )  # made now: what changes during the run must not pass for what was run
        return prepared

    def _read(self, request: SimulationRequest) -> PreparedCircuit:
        return prepare_circuit(
            self.sources,
            request.circuit,
            libraries=request.libraries,
            user_libraries=self.libraries(),
            assignments=request.assignments,
            analyses=None if request.analysis is None else (request.analysis,),
            settings=self.settings.of_circuit(request.circuit),
            dialect=request.dialect,
        )

    async def _run_stepped(
        self,
        request: SimulationRequest,
        prepared: PreparedCircuit,
        points: Sequence[StepPoint],
        *,
        result_id: str,
        folder: Path,
        on_progress: Callable[[float], None] | None,
        watch: RunWatch | None,
    ) -> SimulationResult:
        runs = await run_steps(
            self.simulator,
            prepared,
            points,
            folder,
            timeout_s=request.timeout_s,
            on_progress=on_progress,
            watch=watch,
        )
        return await off_loop(
            self._stepped_result, request, prepared, runs, result_id=result_id, folder=folder
        )

    def _result(
        self,
        request: SimulationRequest,
        prepared: PreparedCircuit,
        run: SimulationRun,
        *,
        result_id: str,
        folder: Path,
    ) -> SimulationResult:
        self._keep_wiring(folder, [(prepared, run)])
        metrics, issues = run_metrics(prepared, run, lambda: self._read_plots(run))
        result = _result(request, prepared, run, result_id, folder)
        return replace(result, metrics=metrics, issues=_told(prepared, run, issues))

    def _stepped_result(
        self,
        request: SimulationRequest,
        prepared: PreparedCircuit,
        runs: Sequence[tuple[PreparedCircuit, SteppedRun]],
        *,
        result_id: str,
        folder: Path,
    ) -> SimulationResult:
        for circuit, each in runs:
            self._keep_wiring(each.folder, [(circuit, each.run)])
        steps: list[StepResult] = []
        issues: list[SimulationIssue] = []
        for circuit, run in runs:
            metrics, more = run_metrics(circuit, run.run, lambda run=run: self._read_plots(run.run))  # type: ignore[misc]
            issues += [issue for issue in more if issue not in issues]
            values = values_of(run.point)
            steps.append(StepResult(number=run.number, values=values, status=run.run.status, metrics=metrics))
        joined = self.joiner.join([run for _, run in runs], folder)
        if joined.status != "ok":
            joined = replace(joined, issues=without_promise(joined.issues))
        self._keep_wiring(folder, [(circuit, run.run) for circuit, run in runs])
        return replace(
            _result(request, prepared, joined, result_id, folder),
            steps=tuple(steps),
            metrics={
                f"{name}@{step.number}": value for step in steps for name, value in step.metrics.items()
            },
            issues=_told(runs[0][0], joined, issues),
        )

    def _keep_wiring(self, folder: Path, runs: Sequence[tuple[PreparedCircuit, SimulationRun]]) -> None:
        """Put beside the data of a run, or of all steps, what tells the currents of its elements."""
        wirings = [circuit.wiring for circuit, _ in runs]
        known = [wiring for wiring in wirings if wiring is not None]
        if not known or len(known) < len(wirings) or not any(run.raw_paths for _, run in runs):
            return
        strange = {name for _, run in runs for name in run.unknown_signals}
        whole = with_steps(known)
        usable = tuple(name for name in whole.saved if name not in strange)
        self.results.keep_wiring(folder, replace(whole, saved=usable, unknown=tuple(sorted(strange))))

    def _read_plots(self, run: SimulationRun) -> list[Plot]:
        return [plot for path in run.raw_paths[:1] for plot in self.waveforms.read(path)]


def _whole_wiring(prepared: PreparedCircuit) -> Wiring | None:
    """Its wiring as it is kept of a run in which the simulator knows every signal."""
    return None if prepared.wiring is None else with_steps([prepared.wiring])


def _result(
    request: SimulationRequest, prepared: PreparedCircuit, run: SimulationRun, result_id: str, folder: Path
) -> SimulationResult:
    return SimulationResult(
        result_id=result_id,
        netlist_path=prepared.circuit,
        netlist_sha256=prepared.sha256,
        read_beside=dict(prepared.read_beside),
        fingerprint=prepared.fingerprint(run.simulator_version),
        run=run,
        dialect=prepared.dialect,
        notes=(*prepared.notes, *prepared.digital_notes()),
        curves=prepared.curves(),
        assigned=prepared.assigned(),
        request={
            "analysis": request.analysis,
            "set": dict(request.assignments),
            "timeout_s": request.timeout_s,
        },
        result_path=folder / "result.json",
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


def _told(
    prepared: PreparedCircuit, run: SimulationRun, issues: Sequence[SimulationIssue]
) -> tuple[SimulationIssue, ...]:
    """All that is said of a run, each at its place; of one that failed with the causes. `prepared` is the
    circuit as ngspice read it: of a stepped one, that of a step. Blocking."""
    found: tuple[SimulationIssue, ...] = (*_with_refusals(run, prepared.tree), *issues)
    if run.status != "ok":
        found = with_causes(tuple(map(prepared.placed, found)), prepared)
    return tuple(map(prepared.placed, found))


def _with_refusals(run: SimulationRun, tree: DependencyTree) -> Sequence[SimulationIssue]:
    """The run's issues; when it failed for want of a file we withheld, say that we did and why."""
    if run.status == "ok":
        return run.issues
    notes = [
        SimulationIssue(
            severity="error",
            code="missing-include" if item.refusal.reason == "missing" else "include-refused",
            message=item.message,
            file=item.file,
            line=item.line,
            advice=msg("Copy the file into the project, or name its folder with --library.")
            if item.refusal.reason == "outside" and not item.has_variable
            else None,
        )
        for item in tree.refusals
        if item.refusal.reason != "missing" or item.has_variable
    ]
    notes += [
        SimulationIssue(
            severity="error", code="include-cycle", message=item.message, file=item.file, line=item.line
        )
        for item in tree.cycles
    ]
    told = {(note.file, note.line) for note in notes}
    others = [
        issue
        for issue in run.issues
        if issue.code != "missing-include"
        or ((issue.file, issue.line) not in told and issue.message.params.get("file") != NOT_TO_BE_OPENED)
    ]
    return [*notes, *(_at_its_include(issue, tree) for issue in others)]


def _at_its_include(issue: SimulationIssue, tree: DependencyTree) -> SimulationIssue:
    """A missing file whose place ngspice does not tell, at the directive that names it."""
    if issue.code != "missing-include" or issue.line is not None:
        return issue
    name = str(issue.message.params.get("file", "")).replace("\\", "/").rpartition("/")[2].lower()
    lost = [item for item in tree.refusals if item.refusal.reason == "missing"]
    same = (item for item in lost if item.reference.replace("\\", "/").rpartition("/")[2].lower() == name)
    found = next(same, None)
    return issue if found is None else replace(issue, file=found.file, line=found.line)
