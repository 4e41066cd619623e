"""The run, and what shows it and its result: curves, measurements, iterations, problems, console."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from PyQt6.QtCore import QObject, pyqtSignal

from application.groups.program import Program
from application.groups.project import Project
from application.groups.simulation import Simulation
from domain.simulation.notes import SimulationNote
from domain.simulation.result import SimulationResult
from domain.simulation.verdict import verdict_of, verdict_words
from presentation.panels.case_verdicts import CaseVerdicts
from presentation.panels.console_view import ConsoleView
from presentation.panels.iterations import IterationsView
from presentation.panels.operating_point import ChosenRun, OperatingPointView
from presentation.panels.problems_view import Finding, ProblemRow, ProblemsView
from presentation.panels.run_controller import RunController
from presentation.panels.waveforms.live_curves import LiveCurves
from presentation.panels.waveforms.panel import WaveformsPanel
from presentation.panels.waveforms.results_view import MeasurementsView
from presentation.panels.waveforms.shown_result import ShownResult
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, Stopped
from shared.message import msg

WAVEFORMS, MEASUREMENTS, ITERATIONS = "waveforms", "measurements", "iterations"
PROBLEMS, CONSOLE = "problems", "console"
"""Keys of the views, as in the table of panels."""


def against(expression: str, reference: str) -> str:
    """A plain node voltage against another node than ground; everything else as it is."""
    node = expression.removeprefix("v(").removesuffix(")")
    is_node = expression.startswith("v(") and "," not in node
    return f"v({node},{reference})" if is_node and reference and node != reference else expression


def _row_of(note: SimulationNote) -> ProblemRow:
    return ProblemRow(severity="info", message=note.message, file=note.file, line=note.line)


class RunViews(QObject):
    """Views of one result; what happens to a run leads each of them."""

    wanted = pyqtSignal(str)
    """The key of a view that has something to say."""
    curves_wanted = pyqtSignal()
    """Another result is shown: in curves, or in figures where somebody looks at those."""
    counted = pyqtSignal(str, int)
    """A view's key and how much there is in it."""

    def __init__(
        self, services: WindowServices, project: Project, simulation: Simulation, program: Program
    ) -> None:
        super().__init__()
        self._services = services
        self._project, self._simulation = project, simulation
        self.shown = ShownResult(services, project, simulation)
        self.controller = RunController(services, project, simulation, program)
        self.waveforms = WaveformsPanel(services, project, simulation, self.shown)
        self.live = LiveCurves(services, self.shown, self.waveforms)
        self.waveforms.measurements_wanted.connect(lambda: self.wanted.emit(MEASUREMENTS))
        self.shown.steps_wanted.connect(lambda _name: self.wanted.emit(WAVEFORMS))
        self.measurements = MeasurementsView(services, project, self.shown)
        self._chosen = ChosenRun(services)
        self.iterations = IterationsView(services, project, simulation)
        self.problems = ProblemsView(services)
        self.console = ConsoleView(services, simulation)
        self.iterations.counted.connect(lambda count: self.counted.emit(ITERATIONS, count))
        self.problems.counted.connect(lambda count: self.counted.emit(PROBLEMS, count))
        self.shown.changed.connect(lambda: self.iterations.show_circuit(self.shown.circuit))
        self.cases = CaseVerdicts(services, project, program, self)
        services.workspace.cases_judged.connect(lambda _path, runs: self.console.show_cases(runs))
        self._probed: tuple[Path, str] | None = None
        """What was pointed at of a circuit without a result."""
        self._seek: tuple[Path, str, bool] | None = None
        """What is to be seen of a result that is being loaded: result, name, whether a measurement."""
        self.shown.changed.connect(self._find)
        self.shown.measured.connect(self._find)
        self.shown.measured.connect(lambda: self.counted.emit(MEASUREMENTS, len(self.shown.measurements)))
        workspace = services.workspace
        workspace.run_started.connect(self._on_started)
        workspace.run_finished.connect(self._on_finished)
        self._running: Path | None = None
        """The circuit of the user's run that was the last one to begin."""
        self._made: Path | None = None
        """The result of a conversation's run that was the last one to begin or end."""
        workspace.run_reported.connect(self._on_made)
        self._has_run = False
        """Since the project was opened."""
        self._told: Path | None = None
        """The circuit whose last run had errors, as long as the problems tell of them."""
        workspace.problems_changed.connect(self._on_problems)
        workspace.project_opened.connect(self._on_opened)
        workspace.result_selected.connect(lambda _path: self.curves_wanted.emit())
        workspace.trace_wanted.connect(lambda path, name: self._show_in(path, name, is_figure=False))
        workspace.probe_wanted.connect(self._on_probe)
        workspace.measurement_wanted.connect(lambda path, name: self._show_in(path, name, is_figure=True))

    @cached_property
    def operating_point(self) -> OperatingPointView:
        """Made when somebody looks at it."""
        return OperatingPointView(self._services, self._project, self._simulation, self._chosen)

    def show_problems(self, problems: Sequence[Finding]) -> None:
        """The editor's findings about the file it shows."""
        self.problems.show_of_file(problems)

    def note_stored(self) -> None:
        """A result was stored by somebody: it may be of a new iteration."""
        self.iterations.note_changed()

    def draw_behind(self, result_path: Path) -> None:
        """Draw a run behind the shown one, or no more."""
        self.waveforms.overlay.toggle(result_path)
        self.wanted.emit(WAVEFORMS)

    def compare_with(self, result_path: Path) -> None:
        """Draw a run behind the shown one, and tell how its figures differ."""
        if result_path not in self.waveforms.overlay.chosen:
            self.waveforms.overlay.toggle(result_path)
        self.shown.compare_with(result_path)
        self.wanted.emit(WAVEFORMS)

    def _show_in(self, result: Path, name: str, *, is_figure: bool) -> None:
        """Show a curve or a figure of a result, as soon as that is shown."""
        self._seek = (result, name, is_figure)
        self.wanted.emit(MEASUREMENTS if is_figure else WAVEFORMS)
        loaded = self.shown.loaded
        if self.shown.is_loading or loaded is None or loaded.source != result:
            self.shown.show(result)
        else:
            self._find()

    def _on_probe(self, expression: str, is_alone: bool) -> None:
        """Somebody points at a node or element of the circuit in front."""
        self._services.start(self._probe(expression, is_alone=is_alone), kind="probe", scope="probe")

    async def _probe(self, expression: str, *, is_alone: bool) -> None:
        """Show it in the plot of the circuit's shown result, else of its newest; else after its next run."""
        workspace = self._services.workspace
        circuit, root = workspace.run_target, workspace.root
        if circuit is None or root is None:
            return
        expression = against(expression, workspace.reference_node)
        loaded = self.shown.loaded
        if loaded is not None and self.shown.circuit == circuit and not self.shown.is_loading:
            self.wanted.emit(WAVEFORMS)
            if is_alone:
                self.waveforms.draw_expressions([expression])
            else:
                self.waveforms.show_trace(expression)
            return
        results = await self._project.browse.results(root)
        newest = next(
            (
                each
                for each in results
                if each.ok and workspace.views.place_of(each.circuit, each.created) == circuit
            ),
            None,
        )
        if newest is not None:
            self._show_in(newest.path, expression, is_figure=False)
            return
        self._probed = (circuit, expression)
        workspace.status_changed.emit(
            msg(
                "{name} has no result yet: F5 runs it and plots {signal}.",
                name=circuit.name,
                signal=expression,
            )
        )

    def _find(self) -> None:
        loaded = self.shown.loaded
        if self._seek is None or self.shown.is_loading or loaded is None:
            return
        result, name, is_figure = self._seek
        if loaded.source != result:
            self._seek = None
            return
        if not is_figure:
            self._seek = None
            self.waveforms.show_trace(name)
        elif self.measurements.select(name):  # else they are still being measured
            self._seek = None

    def _on_made(self, result_path: Path) -> None:
        self._made, self._has_run = result_path, True
        self._services.start(self._tell_of(result_path), kind="problems of a run", scope="problems")

    async def _tell_of(self, result_path: Path) -> None:
        """What a conversation's run said is the last run's, whoever's curves are shown."""
        figures = await self._simulation.waveforms.figures_of(result_path)
        issues, notes = await self._simulation.waveforms.said(result_path)
        if figures is not None and self._made == result_path:
            self._told = None
            read = {figures.circuit: figures.netlist_sha256, **figures.read_beside}
            self.problems.show_of_stored([*issues, *map(_row_of, notes)], figures.circuit, read)

    def _on_opened(self, root: Path) -> None:
        self._has_run = False
        self._services.start(self._tell_of_last(root), kind="problems of a run", scope="problems")

    async def _tell_of_last(self, root: Path) -> None:
        """What the last run of an opened project said, of the files that are still as it read them."""
        newest = next(iter(await self._project.browse.results(root)), None)
        waveforms = self._simulation.waveforms
        figures = None if newest is None or not newest.is_ours else await waveforms.figures_of(newest.path)
        if figures is None:
            return
        issues, notes = await waveforms.said(figures.result_path)
        circuit = self._services.workspace.views.place_of(figures.circuit, figures.created)
        read = {circuit: figures.netlist_sha256, **figures.read_beside}
        same = {file for file, digest in read.items() if await waveforms.digest_of(file) == digest}
        every: list[Finding] = [*issues, *map(_row_of, notes)]
        said = [each for each in every if (each.file or circuit) in same]
        workspace = self._services.workspace
        if said and circuit in same and workspace.root == root and not self._has_run:
            self.problems.show_of_stored(said, circuit, read)

    def _on_problems(self, errors: int, _warnings: int) -> None:
        """“See Problems” is no word any more where none is left there."""
        circuit, workspace = self._told, self._services.workspace
        if circuit is None or errors:
            return
        self._told = None
        if workspace.root is not None and circuit.is_relative_to(workspace.root):
            changed = msg("{name} was changed since that run. F5 runs it again.", name=circuit.name)
            workspace.status_changed.emit(changed)

    def _on_started(self, circuit: Path) -> None:
        self._made = self._told = None
        self._running, self._has_run = circuit, True
        self.console.started(circuit)
        self._services.workspace.status_changed.emit(msg("Simulating {name}", name=circuit.name))

    def _on_finished(self, outcome: SimulationResult | CircuitAIError) -> None:
        self._services.start(self.console.finished(outcome), kind="console", scope="console")
        if isinstance(outcome, CircuitAIError):
            self._on_failure(outcome)
        else:
            self._on_result(outcome)

    def _on_failure(self, error: CircuitAIError) -> None:
        self.shown.end_growing()
        workspace = self._services.workspace
        if isinstance(error, Stopped):
            workspace.status_changed.emit(msg("The run was stopped."))
            return
        self.problems.show_of_run(
            [
                ProblemRow(
                    severity="error",
                    message=error.message,
                    file=error.file,
                    line=error.line,
                    advice=error.advice,
                )
            ]
        )
        workspace.error_occurred.emit(error)
        self._told = self._running
        self.wanted.emit(PROBLEMS)

    def _on_result(self, result: SimulationResult) -> None:
        workspace = self._services.workspace
        self.problems.show_of_run([*result.issues, *map(_row_of, result.notes)], result.netlist_path)
        seconds = f"{result.run.duration_s:.2f}"
        name, verdict = result.netlist_path.name, verdict_of(result)
        has_errors = any(issue.severity == "error" for issue in result.issues)
        self._told = result.netlist_path if has_errors else None
        if verdict == "failed":
            self.shown.end_growing()
            workspace.error_occurred.emit(msg("Simulation of {name} failed: see Problems.", name=name))
            self.wanted.emit(PROBLEMS)
            return
        told = msg("Simulated {name} in {seconds} s", name=name, seconds=seconds)
        if verdict == "partial":
            told = msg(
                "{name}: {verdict}",
                name=name,
                verdict=verdict_words(verdict, result.run.status, result.run.reach),
            )
        (workspace.error_occurred if has_errors else workspace.status_changed).emit(told)
        self.shown.show(result.result_path)
        if result.run.status == "failed":
            self.wanted.emit(PROBLEMS)
        else:
            self.curves_wanted.emit()
        probed, self._probed = self._probed, None
        if probed is not None and probed[0] == result.netlist_path:
            self._show_in(result.result_path, probed[1], is_figure=False)
