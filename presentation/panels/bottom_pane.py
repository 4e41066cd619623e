"""The pane under the editor: waveforms, measurements, iterations, problems, console; and the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QStackedWidget, QVBoxLayout, QWidget

from presentation.panels.console_view import ConsoleView
from presentation.panels.iterations import IterationsView
from presentation.panels.problems_view import Finding, ProblemRow, ProblemsView
from presentation.panels.run_controller import RunController
from presentation.panels.waveforms.panel import WaveformsPanel
from presentation.panels.waveforms.results_view import MeasurementsView
from presentation.panels.waveforms.shown_result import ShownResult
from presentation.ui.frame import IconButton
from presentation.ui.styles import mark
from presentation.ui.tab_strip import TabStrip
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError, Stopped
from shared.message import msg

if TYPE_CHECKING:
    from domain.simulation.result import SimulationResult

WAVEFORMS, MEASUREMENTS, ITERATIONS, PROBLEMS, CONSOLE = range(5)


class _CountedTabs(TabStrip):
    """Tabs whose words are followed by a quiet number."""

    maximise_asked = pyqtSignal()

    def __init__(self, services: WindowServices) -> None:
        self._counts: dict[int, int] = {}
        super().__init__(
            services,
            [msg("Waveforms"), msg("Measurements"), msg("Iterations"), msg("Problems"), msg("Console")],
            "bottom_tabs",
        )

    def set_count(self, index: int, count: int) -> None:
        """Show how many; nothing for none."""
        self._counts[index] = count
        # The sizes of tabs are asked for again when a text is set.
        self.setTabText(index, self.tabText(index))
        self.setTabToolTip(index, "")
        self.updateGeometry()
        self.fit()
        self.update()

    def tabSizeHint(self, index: int) -> QSize:  # noqa: N802 - Qt's name
        """The word and its number."""
        size = super().tabSizeHint(index)
        return QSize(size.width() + self._count_width(index), size.height())

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """Words, numbers, and one line."""
        theme = self._services.theme.theme
        painter = QPainter(self)
        pad, line = theme.size("space.3"), theme.size("space.half")
        for index in filter(self.isTabVisible, range(self.count())):
            rect = self.tabRect(index)
            is_active = index == self.currentIndex()
            painter.setFont(theme.font("ui", weight=500 if is_active else None))
            painter.setPen(theme.color("text.primary" if is_active else "text.secondary"))
            inner = rect.adjusted(pad, 0, 0, 0)
            painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, self.tabText(index))
            if self._counts.get(index):
                painter.setPen(theme.color("text.tertiary"))
                painter.setFont(theme.tabular("small"))
                place = rect.adjusted(0, 0, -pad, 0)
                painter.drawText(
                    place,
                    Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight,
                    str(self._counts[index]),
                )
            if is_active:
                below = rect.adjusted(pad, rect.height() - line, -pad, 0)
                painter.fillRect(below, theme.color("accent.base"))
            if is_active and self.hasFocus() and self.property("kbdFocus"):
                painter.setPen(theme.color("focus_ring"))
                painter.drawRect(rect.adjusted(2, 2, -3, -3))

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """The pane takes all the room, or gives it back."""
        if event is not None and event.button() == Qt.MouseButton.LeftButton:
            self.maximise_asked.emit()

    def _count_width(self, index: int) -> int:
        count = self._counts.get(index)
        if not count:
            return 0
        theme = self._services.theme.theme
        width = QFontMetrics(theme.tabular("small")).horizontalAdvance(str(count))
        return width + theme.size("space.1") + theme.size("space.half")


class BottomPane(QWidget):
    """Tabs over one stack; it also runs the main circuit, because it shows what comes of it."""

    maximise_requested = pyqtSignal(bool)
    """True: take the editor's room too; False: give it back"""
    hide_requested = pyqtSignal()

    def __init__(self, services: WindowServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self.setObjectName("bottom_pane")
        self.shown = ShownResult(services)
        self.runs = RunController(services)
        self.waveforms = WaveformsPanel(services, self.shown)
        self.waveforms.measurements_wanted.connect(lambda: self.show_tab(MEASUREMENTS))
        self.measurements = MeasurementsView(services, self.shown)
        self.iterations = IterationsView(services)
        self.problems = ProblemsView(services)
        self.console = ConsoleView(services)
        self._is_maximised = False
        self._build()
        self._connect()
        self.restyle()
        self.retranslate()

    def show_problems(self, problems: Sequence[Finding]) -> None:
        """The editor's findings about the file it shows."""
        self.problems.show_of_file(problems)

    def note_stored(self) -> None:
        """A result was stored by somebody: it may be of a new iteration."""
        self.iterations.note_changed()

    def draw_behind(self, result_path: Path) -> None:
        """Draw a run behind the shown one, or no more."""
        self.waveforms.overlay.toggle(result_path)
        self.show_tab(WAVEFORMS)

    def show_tab(self, index: int) -> None:
        """Bring WAVEFORMS, MEASUREMENTS, ITERATIONS, PROBLEMS or CONSOLE to the front."""
        self.tabs.setCurrentIndex(index)

    def set_maximised(self, is_maximised: bool) -> None:
        """What the pane's button offers next."""
        self._is_maximised = is_maximised
        self._maximise.set_icon(
            "minimize-2" if is_maximised else "maximize-2",
            msg("Give the room back") if is_maximised else msg("Take all the room"),
        )

    def restyle(self, _theme: object = None) -> None:
        """Sizes and colours."""
        theme = self._services.theme.theme
        self._head_row.setContentsMargins(0, 0, theme.size("space.2"), 0)
        self._head_row.setSpacing(theme.size("space.1"))
        self._progress.setFixedSize(theme.size("margin_bar.width"), theme.size("space.1"))
        self._run_row.setSpacing(theme.size("space.2"))
        self._run_row.setContentsMargins(0, 0, theme.size("space.2"), 0)
        self.setMinimumHeight(theme.size("pane.bottom_min"))

    def retranslate(self, _name: object = None) -> None:
        """Texts of the run under way."""
        circuit = self.runs.circuit
        if circuit is not None:
            self._run_text.setText(self._services.language(msg("Simulating {name}", name=circuit.name)))

    def _build(self) -> None:
        services = self._services
        self.tabs = _CountedTabs(services)
        self._pages = QStackedWidget()
        for page in (self.waveforms, self.measurements, self.iterations, self.problems, self.console):
            self._pages.addWidget(page)
        self._run_bar = QWidget()
        self._run_bar.setObjectName("run_bar")
        self._run_text = QLabel()
        mark(self._run_text, role="small")
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setRange(0, 1000)
        self._stop = IconButton(services, "square", msg("Stop the run"), key="Esc", name="stop_run")
        self._stop.clicked.connect(self.runs.stop)
        self._run_row = QHBoxLayout(self._run_bar)
        for widget in (self._run_text, self._progress, self._stop):
            self._run_row.addWidget(widget)
        self._run_bar.hide()
        self._maximise = IconButton(services, "maximize-2", msg("Take all the room"), name="maximise_bottom")
        self._maximise.clicked.connect(self._on_maximise)
        self._close = IconButton(services, "x", msg("Hide this pane"), key="Ctrl+J", name="hide_bottom")
        self._close.clicked.connect(self.hide_requested)
        head = QWidget()
        mark(head, surface="panel", line="bottom")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._head_row = QHBoxLayout(head)
        self._head_row.addWidget(self.tabs, 1)
        for each in (self._run_bar, self._maximise, self._close):
            self._head_row.addWidget(each)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self._pages, 1)
        mark(self, surface="base")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)

    def _connect(self) -> None:
        workspace = self._services.workspace
        self.tabs.currentChanged.connect(self._pages.setCurrentIndex)
        self.tabs.maximise_asked.connect(self._on_maximise)
        self.iterations.counted.connect(lambda count: self.tabs.set_count(ITERATIONS, count))
        self.problems.counted.connect(lambda count: self.tabs.set_count(PROBLEMS, count))
        self.shown.changed.connect(lambda: self.iterations.show_circuit(self.shown.circuit))
        self.shown.measured.connect(lambda: self.tabs.set_count(MEASUREMENTS, len(self.shown.measurements)))
        workspace.run_started.connect(self._on_started)
        workspace.run_progressed.connect(self._on_progress)
        workspace.run_finished.connect(self._on_finished)
        workspace.result_selected.connect(lambda _path: self._show_result())
        self._services.theme.changed.connect(self.restyle)
        self._services.language.changed.connect(self.retranslate)

    def _on_maximise(self) -> None:
        self.set_maximised(not self._is_maximised)
        self.maximise_requested.emit(self._is_maximised)

    def _on_started(self, circuit: Path) -> None:
        self._run_bar.show()
        self._progress.setRange(0, 0)  # no figure yet: an analysis without a time has none
        self.retranslate()
        self.console.started(circuit)
        self._services.workspace.status_changed.emit(msg("Simulating {name}", name=circuit.name))

    def _on_progress(self, part: float) -> None:
        self._progress.setRange(0, 1000)
        self._progress.setValue(round(1000 * min(max(part, 0.0), 1.0)))

    def _on_finished(self, outcome: SimulationResult | CircuitAIError) -> None:
        self._run_bar.hide()
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
        self.show_tab(PROBLEMS)

    def _on_result(self, result: SimulationResult) -> None:
        workspace = self._services.workspace
        self.problems.show_of_run(result.issues, result.netlist_path)
        seconds = f"{result.run.duration_s:.2f}"
        if result.ok:
            workspace.status_changed.emit(
                msg("Simulated {name} in {seconds} s", name=result.netlist_path.name, seconds=seconds)
            )
            self.shown.show(result.result_path)
            if self.tabs.currentIndex() not in (WAVEFORMS, MEASUREMENTS):
                self.show_tab(WAVEFORMS)
        else:
            workspace.error_occurred.emit(
                msg("The run of {name} failed: see the problems.", name=result.netlist_path.name)
            )
            self.show_tab(PROBLEMS)

    def _show_result(self) -> None:
        if self.tabs.currentIndex() not in (WAVEFORMS, MEASUREMENTS):
            self.show_tab(WAVEFORMS)
