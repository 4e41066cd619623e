"""What the results of several kinds of studies are made of: figures in words, the table of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from PyQt6.QtCore import QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QComboBox, QLabel, QMenu, QVBoxLayout, QWidget

from application.studies.reading import StoredRow, StoredStudy
from domain.circuit.numbers import format_number
from domain.simulation.goals import DesignGoal
from domain.studies.corners import TEMPERATURE
from presentation.goal_margins import GoalRow
from presentation.study_figures import deviation, figure_text, metric_factors, run_label, with_unit
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.flow_layout import FlowLayout
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

MOST_SHOWN = 100
"""Rows of a table; all of them are in the file."""


class ResultView(QWidget):
    """What one kind of study found; `show_study` is called with each new one."""

    run_wanted = pyqtSignal(int)
    """the number of a run whose circuit is to be opened"""
    keep_wanted = pyqtSignal(int)
    """the number of a run that is to be kept as a case of the circuit"""
    values_wanted = pyqtSignal(object)
    """values by name: to be written into the circuit"""
    undo_wanted = pyqtSignal()
    """the values that were written are to be taken out again"""
    diff_wanted = pyqtSignal(object)
    """the same: to be shown as a difference first"""
    next_wanted = pyqtSignal(str)
    """another kind of study of the same circuit"""
    file_wanted = pyqtSignal()
    """the table as a file"""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services

    def show_study(self, study: StoredStudy, nominals: Mapping[str, float]) -> None:
        """`nominals`: the values parameters have in the circuit."""
        raise NotImplementedError


class FigureHead(QWidget):
    """Captions with large figures below them, from left to right, in as many lines as they need."""

    def __init__(self, services: WindowServices, name: str) -> None:
        super().__init__()
        self._services = services
        self.setObjectName(name)
        mark_area(self, surface="base", line="bottom")
        figures = QWidget()
        self._edges = arrange(QVBoxLayout(self), figures)
        self._flow = FlowLayout(figures, gap=0)
        self._pairs: list[tuple[QLabel, QLabel]] = []
        self.texts: list[tuple[str, str]] = []
        services.theme.changed.connect(self.restyle)
        self.restyle()

    def show_figures(self, figures: Sequence[tuple[Message, str]]) -> None:
        language = self._services.language
        self.texts = [(language(caption), value) for caption, value in figures]
        if len(figures) != len(self._pairs):
            self._make_pairs(len(figures))
        for (small, large), (caption_text, value) in zip(self._pairs, self.texts, strict=True):
            small.setText(caption_text)
            large.setText(value)

    def _make_pairs(self, count: int) -> None:
        while (item := self._flow.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._pairs = []
        for _ in range(count):
            cell = QWidget()
            small, large = text_label(role="caption"), text_label(role="title")
            self._pairs.append((small, large))
            arrange(QVBoxLayout(cell), small, large, edges=0, gap=0)
            self._flow.addWidget(cell)

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        edge, small = theme.size("space.3"), theme.size("space.2")
        arrange(self._edges, edges=(edge, small, edge, small))
        self._flow.setSpacing(theme.size("space.5"))
        self._flow.line_gap = theme.size("space.1")

    @property
    def line_width(self) -> int:
        """What the figures need beside each other."""
        return self._flow.line_width + 2 * self._services.theme.theme.size("space.3")


class MetricBox(QComboBox):
    """Which measurement charts speak of; what was chosen stays from study to study."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        mark(self, small=True)

    def offer(self, metrics: Sequence[str], labels: Mapping[str, str] | None = None) -> None:
        chosen = self.currentData()
        self.blockSignals(True)
        self.clear()
        for metric in metrics:
            self.addItem((labels or {}).get(metric, metric), metric)
        self.setCurrentIndex(max(self.findData(chosen), 0) if metrics else -1)
        self.blockSignals(False)

    @property
    def chosen(self) -> str:
        """The metric; "" for none."""
        return str(self.currentData() or "")


class RunsTable(FigureTable):
    """Runs with their measurements; Enter, a double click or the menu opens the circuit of one."""

    run_wanted = pyqtSignal(int)
    keep_wanted = pyqtSignal(int)

    def __init__(self, services: WindowServices, name: str) -> None:
        super().__init__(services, name)
        self.runs: list[int] = []
        self.setSelectionMode(FigureTable.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        self.activated.connect(lambda index: self._open(index.row()))

    def show_runs(self, study: StoredStudy, rows: Sequence[StoredRow], nominals: Mapping[str, float]) -> None:
        """One row each, at most `MOST_SHOWN`. A run that was selected stays so, at its new place."""
        selected = [self.runs[place] for place in self.selected_rows() if place < len(self.runs)]
        bar = self.verticalScrollBar()
        scrolled = 0 if bar is None else bar.value()
        shown = rows[:MOST_SHOWN]
        self.runs = [row.run for row in shown]
        language = self._services.language
        factors = metric_factors(study)
        names = [name for name in study.parameters if any(name in row.parameters for row in shown)]
        has_margin = bool(study.goals)
        first = _named_by(shown)
        columns = [
            Column(title=language(first)),
            *(Column(title=with_unit(metric, unit), is_number=True) for metric, (_, unit) in factors.items()),
            *([Column(title=language(msg("Margin")), is_number=True)] if has_margin else []),
            *(Column(title=_head_of(name, study), is_number=True) for name in names),
        ]
        goals = {goal.metric: goal for goal in study.goals}
        varied = [(name, _in_percent(name, study)) for name in names]
        cells = [
            self._row(study, row, factors=factors, goals=goals, varied=varied, nominals=nominals)
            for row in shown
        ]
        if len(rows) > len(shown):
            told = msg("{count} more: export the table", count=len(rows) - len(shown))
            empty = [Cell(text="")] * (len(columns) - 1)
            cells.append([Cell(text=language(told), color="text.tertiary"), *empty])
        self.show_rows(columns, cells)
        if selected and selected[0] in self.runs:
            self.selectRow(self.runs.index(selected[0]))
        elif selected:
            self.clearSelection()
        if bar is not None:
            bar.setValue(scrolled)

    def _row(
        self,
        study: StoredStudy,
        row: StoredRow,
        *,
        factors: Mapping[str, tuple[float, str]],
        goals: Mapping[str, DesignGoal],
        varied: Sequence[tuple[str, bool]],
        nominals: Mapping[str, float],
    ) -> list[Cell]:
        """`goals` by metric; `varied`: parameters, and whether they are told as a deviation."""
        label = row.corner or run_label(row, self._services.language)
        cells = [Cell(text=label, color="text.primary" if row.is_ok else "error.text", tip=row.reason)]
        for metric, (factor, _) in factors.items():
            value, goal = row.metrics.get(metric, math.nan), goals.get(metric)
            is_bad = goal is not None and not goal.is_met_by(value)
            text = "—" if math.isnan(value) else figure_text(value / factor)
            cells.append(Cell(text=text, color="error.text" if is_bad else "text.primary", tip=row.reason))
        if goals:
            cells.append(margin_cell(study.margin(row)))
        for name, is_deviation in varied:
            value = row.parameters.get(name, math.nan)
            if is_deviation:
                text = deviation(value, nominals.get(name, math.nan))
            else:
                text = "" if math.isnan(value) else format_number(value, 5).replace("-", "−")
            tip = "" if math.isnan(value) else f"{name} = {format_number(value, 6)}"
            cells.append(Cell(text=text, color="text.secondary", tip=tip))
        return cells

    def menu_for(self, place: int) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name, text, act in (
            ("open_run", msg("Open the circuit of this run"), lambda: self._open(place)),
            ("keep_case", msg("Keep as a case…"), lambda: self._keep(place)),
            ("copy_run", msg("Copy"), self.copy),
        ):
            action = QAction(self._services.language(text), menu)
            action.setObjectName(name)
            action.triggered.connect(lambda _checked, act=act: act())
            menu.addAction(action)
        return menu

    def _show_menu(self, place: QPoint) -> None:
        row, viewport = self.rowAt(place.y()), self.viewport()
        if row >= 0 and viewport is not None:
            self.menu_for(row).popup(viewport.mapToGlobal(place))

    def _open(self, place: int) -> None:
        if 0 <= place < len(self.runs):
            self.run_wanted.emit(self.runs[place])

    def _keep(self, place: int) -> None:
        if 0 <= place < len(self.runs):
            self.keep_wanted.emit(self.runs[place])


def _in_percent(name: str, study: StoredStudy) -> bool:
    """Whether a parameter is told as a deviation: a temperature and a load of a range are not."""
    shares = study.scattering
    return study.kind != "sweep" and (shares is None or name in shares)


def _head_of(name: str, study: StoredStudy) -> str:
    if _in_percent(name, study):
        return f"{name} / %"
    return f"{name} / °C" if name.lower() == TEMPERATURE else name


def _named_by(rows: Sequence[StoredRow]) -> Message:
    return msg("Corner") if rows and rows[0].corner else msg("Runs")


def margin_cell(margin: float | None) -> Cell:
    """By what share the goal met least is met."""
    text = GoalRow(value="", limit="", met=(margin or 0) >= 0, margin=margin).margin_text
    color = "text.tertiary" if margin is None else "ok.text" if margin >= 0 else "error.text"
    return Cell(text=text, color=color)
