"""Simulate a circuit file: read it and its includes, run it confined, compute its metrics, keep all of it."""

from __future__ import annotations

import math
import os.path
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from application.circuit_files import load_circuit
from domain.circuit.dependencies import (
    NOT_TO_BE_OPENED,
    DependencyTree,
    SourceFile,
    SourceReader,
    resolve_dependencies,
)
from domain.circuit.netlist import Measure, Netlist
from domain.circuit.numbers import parse_number
from domain.circuit.parameters import resolve_parameters
from domain.simulation.request import TAKEN_NAMES, Analysis, ResourceLimits, SimulationJob
from domain.simulation.result import Quantity, SimulationIssue, SimulationResult, SimulationRun
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg
from shared.paths import PROJECT_FOLDER, project_root_of

if TYPE_CHECKING:
    from application.ports import ResultStore, Simulator, SourceReaders, WaveformReader
    from domain.simulation.waveform import Plot
    from shared.cpu_executor import CpuTaskExecutor


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
    call_id: str | None = None
    """The ULID of the call that asks, from which the result's id is made: repeated, it leaves one result."""


class RunSimulation:
    """The use case; one instance serves any number of runs at the same time."""

    def __init__(
        self,
        *,
        simulator: Simulator,
        waveforms: WaveformReader,
        sources: SourceReaders,
        results: ResultStore,
        cpu: CpuTaskExecutor,
        libraries: tuple[Path, ...] = (),
    ) -> None:
        self._simulator = simulator
        self._waveforms = waveforms
        self._sources = sources
        self._results = results
        self._cpu = cpu
        self._libraries = libraries
        """The user's own, for every circuit."""

    async def __call__(
        self, request: SimulationRequest, *, on_progress: Callable[[float], None] | None = None
    ) -> SimulationResult:
        """Run `request` and store its result.

        A circuit that does not simulate is a result whose `ok` is False. Raises UserInputError for
        a file, an analysis or a value that cannot be used, EnvironmentProblem without ngspice.
        """
        prepared = await self._cpu.run_in_thread(self._prepare, request)
        result_id, folder = await self._cpu.run_in_thread(
            self._results.new_result, prepared.circuit, request.call_id
        )
        try:
            run = await self._simulator.run(prepared.job(folder, request), on_progress=on_progress)
            return await self._cpu.run_in_thread(
                self._keep, request, prepared, run, result_id=result_id, folder=folder
            )
        except BaseException:  # cancelled too: nothing half-made stays
            await self._cpu.run_in_thread(self._results.discard, folder)
            raise

    def _keep(
        self,
        request: SimulationRequest,
        prepared: _Prepared,
        run: SimulationRun,
        *,
        result_id: str,
        folder: Path,
    ) -> SimulationResult:
        metrics, metric_issues = self._measure(prepared, run)
        result = SimulationResult(
            result_id=result_id,
            netlist_path=prepared.circuit,
            netlist_sha256=prepared.sha256,
            run=run,
            metrics=metrics,
            issues=tuple(map(prepared.placed, (*_with_refusals(run, prepared.tree), *metric_issues))),
            request={
                "analysis": request.analysis,
                "set": dict(request.assignments),
                "timeout_s": request.timeout_s,
            },
            result_path=folder / "result.json",
            created=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        self._results.save(result)
        return result

    def _prepare(self, request: SimulationRequest) -> _Prepared:
        for folder in request.libraries:
            if not folder.is_dir():
                raise UserInputError(
                    msg("{path} is not a folder, so it can't serve as a library.", path=folder),
                    advice=msg("Name an existing folder with --library."),
                )
        libraries = (*request.libraries, *self._libraries)
        netlist, reader = load_circuit(self._sources, request.circuit, libraries)
        written = netlist
        for name, value in request.assignments:
            netlist = netlist.with_value(name, value)
        if request.analysis is not None:
            netlist = netlist.with_analyses([request.analysis])
        tree = resolve_dependencies(netlist, reader)
        circuit = request.circuit.resolve()
        return _Prepared(
            circuit=circuit,
            sha256=sha256(written.to_bytes()).hexdigest(),
            lines=len(written.source.lines),
            netlist=netlist,
            tree=tree,
            data_files=tuple(_data_files(tree, reader, circuit)),
            project=project_root_of(circuit),
            library_folders=tuple(path.resolve() for path in libraries if path.is_dir()),
        )

    def _measure(
        self, prepared: _Prepared, run: SimulationRun
    ) -> tuple[dict[str, Quantity], tuple[SimulationIssue, ...]]:
        cards = prepared.measures()
        if not cards:
            return {}, ()
        from domain.simulation.meas import evaluate_meas, parse_meas

        metrics: dict[str, Quantity] = {}
        issues: list[SimulationIssue] = []
        parsed = []
        places = {card.name: (file, card.line) for file, card in cards}
        for file, card in cards:
            try:
                parsed.append(parse_meas(card.text, card.line))
            except CircuitAIError as error:
                metrics[card.name] = Quantity(value=math.nan, unit="")
                issues.append(_meas_issue(file, card.line, error.message))
        plots = self._read_plots(run)
        for name, outcome in evaluate_meas(parsed, plots, resolve_parameters(prepared.tree)).items():
            if isinstance(outcome, Message):
                metrics[name] = Quantity(value=math.nan, unit="")
                file, line = places[name]
                issues.append(_meas_issue(file, line, outcome))
            else:
                metrics[name] = outcome
        return metrics, tuple(issues)

    def _read_plots(self, run: SimulationRun) -> list[Plot]:
        return [plot for path in run.raw_paths for plot in self._waveforms.read(path)]


@dataclass(frozen=True, kw_only=True)
class _Prepared:
    """A circuit ready to run."""

    circuit: Path
    sha256: str
    lines: int
    """How many the circuit's file has."""
    netlist: Netlist
    tree: DependencyTree
    data_files: tuple[Path, ...]
    project: Path | None
    library_folders: tuple[Path, ...]

    def job(self, output_dir: Path, request: SimulationRequest) -> SimulationJob:
        project = self.project
        deck, companions = self.tree.portable(TAKEN_NAMES)
        return SimulationJob(
            deck=deck.to_bytes(),
            data_files=self.data_files,
            companions=companions,
            deck_path=self.circuit,
            included_files=tuple(path for path in self.tree.files if path != self.circuit),
            readable_dirs=(*((project,) if project else ()), *self.library_folders),
            hidden_dirs=(project / PROJECT_FOLDER,) if project else (),
            analyses=self._analyses(),
            has_control_block=self.netlist.has_control_block
            or any(source.has_control_block for source in self.tree.files.values()),
            stop_time_s=self._stop_time(),
            output_dir=output_dir,
            limits=ResourceLimits(wall_s=request.timeout_s),
        )

    def placed(self, issue: SimulationIssue) -> SimulationIssue:
        """`issue` without a place behind the end of the file, where an analysis of the request stands."""
        if issue.file == self.circuit and issue.line is not None and issue.line > self.lines:
            return replace(issue, file=None, line=None)
        return issue

    def _analyses(self) -> tuple[Analysis, ...]:
        """Those of the included files too."""
        return tuple(
            analysis
            for source in self._sources()
            for analysis in source.analyses
            if (source.path, analysis.line) in self._places
        )

    def measures(self) -> list[tuple[Path, Measure]]:
        """The `.meas` cards of the circuit and of what it includes, with their files."""
        return [
            (source.path or self.circuit, card)
            for source in self._sources()
            for card in source.measures
            if (source.path, card.line) in self._places
        ]

    def _sources(self) -> tuple[Netlist, ...]:
        return (self.netlist, *self.tree.files.values())

    @cached_property
    def _places(self) -> frozenset[tuple[Path | None, int]]:
        """Where the statements stand that ngspice really reads (library sections picked out)."""
        return frozenset((placed.file, placed.statement.line) for placed in self.tree.expanded)

    def _stop_time(self) -> float | None:
        for analysis in self._analyses():
            fields = analysis.text.split()
            if analysis.kind == "tran" and len(fields) > 2:
                try:
                    return parse_number(fields[2]) or None
                except ValueError:  # an expression: progress is then not shown
                    return None
        return None


def _data_files(tree: DependencyTree, reader: SourceReader, circuit: Path) -> Iterator[Path]:
    """The data files beside the circuit that may be read; ngspice 39 looks for them in lower case."""
    for name in dict.fromkeys(spelt for written in tree.data_files for spelt in (written, written.lower())):
        path = Path(os.path.normpath(circuit.parent / name))
        found = reader.read(name, including_file=circuit)
        if isinstance(found, SourceFile) and found.path == path.resolve():
            yield path


def _meas_issue(file: Path, line: int, reason: Message) -> SimulationIssue:
    return SimulationIssue(
        severity="warning", code="measurement-failed", message=reason, file=file, line=line
    )


def _with_refusals(run: SimulationRun, tree: DependencyTree) -> Sequence[SimulationIssue]:
    """The run's issues; when it failed for want of a file we withheld, say that we did and why."""
    if run.status == "ok":
        return run.issues
    notes = [
        SimulationIssue(
            severity="error",
            code="include-refused",
            message=item.message,
            file=item.file,
            line=item.line,
            advice=msg("Copy the file into the project, or name its folder with --library.")
            if item.refusal.reason == "outside"
            else None,
        )
        for item in tree.refusals
        if item.refusal.reason != "missing"
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
    return [*notes, *others]
