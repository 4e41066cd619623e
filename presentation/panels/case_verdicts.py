"""The kept cases of a circuit are simulated after each run of it; each tells its verdict on its own line.

They begin when the run is over and its result is being shown, so that nobody waits for them; the next run
ends what is left of them.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, Qt
from PyQt6.QtWidgets import QLabel, QVBoxLayout, QWidget

from application.groups.program import Program
from application.groups.project import Project
from domain.simulation.result import SimulationResult
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message

if TYPE_CHECKING:
    from application.goal_checks.case_runs import CaseRun

SCOPE = "cases"


class CaseVerdicts(QObject):
    """Runs them, and tells everybody by `Workspace.cases_judged`."""

    def __init__(self, services: WindowServices, project: Project, program: Program, owner: QObject) -> None:
        super().__init__(owner)
        self._services = services
        self._project = project
        self._program = program
        self._request = 0
        self._is_at_work = False
        workspace = services.workspace
        workspace.run_started.connect(lambda _path: self._stop())
        workspace.run_finished.connect(self._on_finished)
        workspace.project_closed.connect(self._stop)

    def _stop(self) -> None:
        self._request += 1
        if self._is_at_work:
            stop = self._program.stop.stop("user", scope=SCOPE)
            self._services.start(stop, kind="stop cases", scope=f"stop {SCOPE}")

    def _on_finished(self, outcome: SimulationResult | CircuitAIError) -> None:
        if isinstance(outcome, SimulationResult) and outcome.ok and self._program.runs_cases:
            self._request += 1
            self._services.start(self._judge(outcome, self._request), kind="cases", scope=SCOPE)

    async def _judge(self, result: SimulationResult, request: int) -> None:
        workspace = self._services.workspace
        if workspace.root is None:
            return
        from application.simulation.simulating import SimulationRequest
        from presentation.case_words import verdict_in_short

        self._is_at_work = True
        asked = SimulationRequest(
            circuit=result.netlist_path, analysis=workspace.analysis_of(result.netlist_path)
        )
        try:
            found = await self._project.run_cases(workspace.root, asked)
        except CircuitAIError as error:  # the run itself has told what it could not do
            workspace.status_changed.emit(error.message)
            return
        finally:
            self._is_at_work = False
        if request != self._request or not found:
            return
        workspace.cases_judged.emit(result.result_path, found)
        told = verdict_in_short(found)
        if told is not None:
            is_missed = any(run.missed for run in found)
            (workspace.error_occurred if is_missed else workspace.status_changed).emit(told)


class CaseLines(QWidget):
    """A line for each case of the shown run; nothing where it has none."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._runs: tuple[CaseRun, ...] = ()
        self._column = QVBoxLayout(self)
        self._labels: list[QLabel] = []
        self.setObjectName("case_lines")
        services.dress(self)

    def show_runs(self, runs: tuple[CaseRun, ...]) -> None:
        self._runs = runs
        self.retranslate()

    @property
    def texts(self) -> list[str]:
        return [label.text() for label in self._labels]

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge = theme.size("space.3")
        arrange(self._column, edges=(edge, theme.size("space.1"), edge, 0), gap=theme.size("space.half"))

    def retranslate(self, _name: object = None) -> None:
        """A label each, made again: cases are few."""
        for label in self._labels:
            self._column.removeWidget(label)
            label.hide()
            label.deleteLater()
        self._labels = [self._label(run) for run in self._runs]
        for label in self._labels:
            self._column.addWidget(label)
        self.setVisible(bool(self._labels))

    def _label(self, run: CaseRun) -> QLabel:
        from presentation.case_words import verdict_of_case

        language = self._services.language
        label = text_label(language(verdict_of_case(run, language)), name="case_line", wraps=True)
        role = "warn" if run.problem is not None else "error" if run.missed else "ok"
        mark(label, role=role)
        label.setTextFormat(Qt.TextFormat.PlainText)  # names may have come with somebody's project
        label.setToolTip(f"<p>{html.escape(run.case.conditions)}</p>")
        return label


def told_of(result_path: Path, judged: tuple[Path, tuple[CaseRun, ...]] | None) -> tuple[CaseRun, ...]:
    """The cases that belong to a shown result; () for those of another run."""
    return judged[1] if judged is not None and judged[0] == result_path else ()


def message_of(run: CaseRun, services: WindowServices) -> tuple[Message, str]:
    """What the console writes of a case, and in which color."""
    from presentation.case_words import verdict_of_case

    color = "warn.text" if run.problem is not None else "error.text" if run.missed else "ok.text"
    return verdict_of_case(run, services.language), color
