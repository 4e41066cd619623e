"""The run, and what shows it and its result: curves, measurements, iterations, problems, console."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PyQt6.QtCore import QObject, pyqtSignal

from application.groups.program import Program
from application.groups.project import Project
from application.groups.simulation import Simulation
from domain.simulation.result import SimulationResult
from presentation.panels.console_view import ConsoleView
from presentation.panels.iterations import IterationsView
from presentation.panels.operating_point import OperatingPointView
from presentation.panels.problems_view import Finding, ProblemRow, ProblemsView
from presentation.panels.run_controller import RunController
from presentation.panels.waveforms.panel import WaveformsPanel
from presentation.panels.waveforms.results_view import MeasurementsView
from presentation.panels.waveforms.shown_result import ShownResult
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, Stopped
from shared.message import msg

WAVEFORMS, MEASUREMENTS, ITERATIONS = "waveforms", "measurements", "iterations"
PROBLEMS, CONSOLE = "problems", "console"
"""Keys of the views, as in the table of panels."""


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
        self.shown = ShownResult(services, project, simulation)
        self.controller = RunController(services, project, simulation, program)
        self.waveforms = WaveformsPanel(services, project, simulation, self.shown)
        self.waveforms.measurements_wanted.connect(lambda: self.wanted.emit(MEASUREMENTS))
        self.shown.steps_wanted.connect(lambda _name: self.wanted.emit(WAVEFORMS))
        self.measurements = MeasurementsView(services, project, self.shown)
        self.operating_point = OperatingPointView(services, project, simulation)
        self.iterations = IterationsView(services, project, simulation)
        self.problems = ProblemsView(services)
        self.console = ConsoleView(services, simulation)
        self.iterations.counted.connect(lambda count: self.counted.emit(ITERATIONS, count))
        self.problems.counted.connect(lambda count: self.counted.emit(PROBLEMS, count))
        self.shown.changed.connect(lambda: self.iterations.show_circuit(self.shown.circuit))
        self._seek: tuple[Path, str, bool] | None = None
        """What is to be seen of a result that is being loaded: result, name, whether a measurement."""
        self.shown.changed.connect(self._find)
        self.shown.measured.connect(self._find)
        self.shown.measured.connect(lambda: self.counted.emit(MEASUREMENTS, len(self.shown.measurements)))
        workspace = services.workspace
        workspace.run_started.connect(self._on_started)
        workspace.run_finished.connect(self._on_finished)
        workspace.result_selected.connect(lambda _path: self.curves_wanted.emit())
        workspace.trace_wanted.connect(lambda path, name: self._show_in(path, name, is_figure=False))
        workspace.measurement_wanted.connect(lambda path, name: self._show_in(path, name, is_figure=True))

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

    def _show_in(self, result: Path, name: str, *, is_figure: bool) -> None:
        """Show a curve or a figure of a result, as soon as that is shown."""
        self._seek = (result, name, is_figure)
        self.wanted.emit(MEASUREMENTS if is_figure else WAVEFORMS)
        loaded = self.shown.loaded
        if self.shown.is_loading or loaded is None or loaded.source != result:
            self.shown.show(result)
        else:
            self._find()

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

    def _on_started(self, circuit: Path) -> None:
        self.console.started(circuit)
        self._services.workspace.status_changed.emit(msg("Simulating {name}", name=circuit.name))

    def _on_finished(self, outcome: SimulationResult | CircuitAIError) -> None:
        self._services.start(self.console.finished(outcome), kind="console", scope="console")
        if isinstance(outcome, CircuitAIError):
            self._on_failure(outcome)
        else:
            self._on_result(outcome)

    def _on_failure(self, error: CircuitAIError) -> None:
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
        self.wanted.emit(PROBLEMS)

    def _on_result(self, result: SimulationResult) -> None:
        workspace = self._services.workspace
        self.problems.show_of_run(result.issues, result.netlist_path)
        seconds = f"{result.run.duration_s:.2f}"
        if result.ok:
            workspace.status_changed.emit(
                msg("Simulated {name} in {seconds} s", name=result.netlist_path.name, seconds=seconds)
            )
            self.shown.show(result.result_path)
            self.curves_wanted.emit()
        else:
            workspace.error_occurred.emit(
                msg("Simulation of {name} failed: see Problems.", name=result.netlist_path.name)
            )
            self.wanted.emit(PROBLEMS)
