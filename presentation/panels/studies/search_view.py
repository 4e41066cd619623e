"""What an optimization found: goals with their margins, values now and best, how the search went."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from application.optimization.documents import conflict_text
from application.studies.reading import StoredStudy, figure_of, figures_of
from domain.circuit.numbers import format_number
from domain.circuit.preferred_values import SeriesName, nearest
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from domain.studies.conflicts import Conflict
from presentation.panels.studies.charts import Limit, Line, LinesChart, LinesContent
from presentation.panels.studies.margin_bars import MarginBars
from presentation.panels.studies.result_parts import ResultView, shown
from presentation.panels.studies.scales import linear, padded
from presentation.search_words import ENDS
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

_LEAST_DRAWN = -2.0
"""Margins below say nothing but that; they are drawn at the edge."""
_MOST_DOTS = 4_000
_SERIES: Mapping[str, SeriesName] = {"r": "E24", "c": "E12", "l": "E12"}


class SearchView(ResultView):
    """The page's right side."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services)
        self._values: dict[str, str] = {}
        self._is_applied = False
        self._is_under_way = False
        self.setObjectName("search_view")
        self.verdict = text_label(role="strong", name="search_verdict")
        self.end = text_label(role="secondary", name="search_end", wraps=True)
        self.goals = MarginBars(services, "search_goals")
        self.table = FigureTable(services, "search_values")
        self.chart = LinesChart(services, "search_progress")
        self._chart_head = text_label(role="strong")
        self.apply_button = push_button(name="apply_values", clicked=self._on_apply, kind="primary")
        self.diff_button = push_button(
            name="show_diff", clicked=lambda _c=False: self.diff_wanted.emit(dict(self._values))
        )
        self.next_button = push_button(
            name="montecarlo_of_it", clicked=lambda _c=False: self.next_wanted.emit("montecarlo")
        )
        save = IconButton(services, "download", msg("Export the table"), name="export_study")
        save.clicked.connect(lambda _checked=False: self.file_wanted.emit())
        self._lay_out(save)

    def _lay_out(self, save: QWidget) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        head = QWidget()
        mark_area(head, surface="base", line="bottom")
        row = arrange(
            QHBoxLayout(head), self.verdict, (self.end, 1), save, edges=(edge, gap, gap, gap), gap=edge
        )
        row.setStretch(1, 1)
        left = QWidget()
        arrange(QVBoxLayout(left), self.goals, (self.table, 1), edges=0, gap=0)
        right = QWidget()
        mark_area(right, surface="base", line="left")
        heads = arrange(QVBoxLayout(), self._chart_head, edges=(edge, gap, edge, 0))
        arrange(QVBoxLayout(right), heads, (self.chart, 1), edges=(1, 0, 0, gap), gap=4)
        foot = QWidget()
        mark_area(foot, surface="base", line="top")
        arrange(QHBoxLayout(foot), self.apply_button, self.diff_button, self.next_button, 1,
                edges=(edge, gap, edge, gap), gap=gap)  # fmt: skip
        middle = arrange(QHBoxLayout(), (left, 1), (right, 1), edges=0, gap=0)
        arrange(QVBoxLayout(self), head, (middle, 1), foot, edges=0, gap=0)
        mark_area(self, surface="base")

    @property
    def values(self) -> Mapping[str, str]:
        """The best values as they are written."""
        return dict(self._values)

    def set_applied(self, *, is_applied: bool) -> None:
        """The values are in the circuit, and can be taken out again."""
        self._is_applied = is_applied
        self._name_buttons()

    def show_study(self, study: StoredStudy, nominals: Mapping[str, float]) -> None:
        """Everything of one search."""
        best = study.part("best")
        texts = best.get("values")
        self._values = (
            {str(name): str(text) for name, text in texts.items()} if isinstance(texts, Mapping) else {}
        )
        self._is_applied, self._is_under_way = False, study.is_under_way
        verdicts = list(_verdicts(best.get("goals")))
        self._show_verdict(study, verdicts)
        self.goals.show_verdicts(verdicts)
        self._show_values(study, nominals)
        self._show_progress(study)
        language = self._services.language
        self.table.setAccessibleName(language(msg("Values")))
        self.chart.setAccessibleName(language(msg("Progress of the search")))
        self._name_buttons()

    def _name_buttons(self) -> None:
        language = self._services.language
        word = msg("Undo the change") if self._is_applied else msg("Apply as one undoable change")
        self.apply_button.setText(language(word))
        mark(self.apply_button, kind="secondary" if self._is_applied else "primary")
        self.diff_button.setText(language(msg("Show as diff")))
        self.next_button.setText(language(msg("Monte Carlo of it")))
        self.next_button.setEnabled(self._is_applied)
        self.next_button.setToolTip(language(msg("Apply the values first.")) if not self._is_applied else "")
        for button in (self.apply_button, self.diff_button):
            button.setEnabled(bool(self._values) and not self._is_under_way)

    def _on_apply(self, _checked: bool = False) -> None:
        if self._is_applied:
            self.undo_wanted.emit()
        else:
            self.values_wanted.emit(dict(self._values))

    def _show_verdict(self, study: StoredStudy, verdicts: Sequence[GoalVerdict]) -> None:
        language = self._services.language
        met, count = sum(verdict.met for verdict in verdicts), len(verdicts)
        is_good = met == count
        text = msg("{met} of {count} {count:goal|goals} met", met=met, count=count)
        if not study.part("best"):
            text, is_good = msg("No simulation succeeded."), False
        elif not count:
            text = msg("Best value found")
        self.verdict.setText(language(text))
        mark(self.verdict, role="ok" if is_good else "warn")
        self.end.setText(" ".join(map(language, _end_words(study))))

    def _show_values(self, study: StoredStudy, nominals: Mapping[str, float]) -> None:
        language = self._services.language
        start = {**nominals, **figures_of(study.part("start", "parameters"))}
        written = {name.lower(): value for name, value in nominals.items()}
        best = figures_of(study.part("best", "parameters"))
        columns = [
            Column(title=language(msg("Parameter"))),
            Column(title=language(msg("Now")), is_number=True),
            Column(title=language(msg("Best")), is_number=True, is_strong=True),
            Column(title=language(msg("Series")), is_number=True),
        ]
        rows = []
        for name, text in self._values.items():
            now = written.get(name.lower(), start.get(name, math.nan))
            near = _in_series(name, best.get(name, math.nan))
            rows.append(
                [
                    Cell(text=name, style="mono_small"),
                    Cell(text="" if math.isnan(now) else format_number(now, 6), color="text.tertiary"),
                    Cell(text=text),
                    Cell(text=near[0], unit=near[1], color="text.secondary"),
                ]
            )
        for name, figure in figures_of(study.part("best", "metrics")).items():
            if name not in {goal.metric for goal in study.goals}:
                begun = figure_of(study.part("start", "metrics").get(name))
                unit = study.units.get(name, "")
                now_text = "" if math.isnan(begun) else shown(begun, unit)
                rows.append([Cell(text=name), Cell(text=now_text, color="text.tertiary"),
                             Cell(text=shown(figure, unit)), Cell(text="")])  # fmt: skip
        self.table.show_rows(columns, rows)

    def _show_progress(self, study: StoredStudy) -> None:
        """Least margin by simulation; without goals what is minimized or maximized."""
        language = self._services.language
        steps = [
            (int(run), item)
            for item in _objects(study.document.get("history"))
            if not math.isnan(run := figure_of(item.get("run")))
        ]
        count = max([row.run for row in study.rows] + [1])
        by_run = {row.run: row for row in study.rows}
        if study.goals:
            self._chart_head.setText(language(msg("Least margin by simulation")))
            pairs = [(row.run, study.margin(row)) for row in study.rows[:_MOST_DOTS]]
            dots = [(float(run), max(margin, _LEAST_DRAWN)) for run, margin in pairs if margin is not None]
            best = _running_best(dots)
            limits: Sequence[Limit] = (
                Limit(value=0.0, text=language(msg("all goals met above")), is_lower=True),
            )
            unit = ""
        else:
            metric = next(
                (str(item.get("metric")) for item in _objects(study.document.get("objectives"))), ""
            )
            unit = study.units.get(metric, "")
            self._chart_head.setText(language(msg("{metric} by simulation", metric=metric)))
            figures = [(row.run, row.metrics.get(metric, math.nan)) for row in study.rows[:_MOST_DOTS]]
            dots = [(float(run), value) for run, value in figures if math.isfinite(value)]
            best = [
                (float(run), value)
                for run, _ in steps
                if run in by_run and math.isfinite(value := by_run[run].metrics.get(metric, math.nan))
            ]
            limits = ()
        if not dots:
            self.chart.show_content(None)
            return
        if best:
            best = [*best, (float(count), best[-1][1])]
        values = [value for _, value in (*dots, *best)]
        low, high = padded(min([*values, *(each.value for each in limits)]),
                           max([*values, *(each.value for each in limits)]))  # fmt: skip
        self.chart.show_content(
            LinesContent(
                x=lambda room: linear(0, count, "", room=room),
                y=lambda room: linear(low, high, unit, room=room),
                lines=[Line(points=best, is_step=True)],
                dots=dots,
                limits=limits,
            )
        )


def _running_best(dots: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Where a point was better than all before it."""
    found: list[tuple[float, float]] = []
    for run, margin in dots:
        if not found or margin > found[-1][1]:
            found.append((run, margin))
    return found


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _verdicts(value: object) -> list[GoalVerdict]:
    found = []
    for item in _objects(value):
        low, high = figure_of(item.get(">=")), figure_of(item.get("<="))
        unit = str(item.get("unit") or "")
        goal = DesignGoal(
            metric=str(item.get("metric", "")),
            expression="",
            unit=unit,
            minimum=None if math.isnan(low) else low,
            maximum=None if math.isnan(high) else high,
            weight="wish" if item.get("weight") == "wish" else "must",
        )
        measured = Quantity(value=figure_of(item.get("value")), unit=unit)
        found.append(GoalVerdict(goal=goal, measured=measured, met=item.get("met") is True))
    return found


def _end_words(study: StoredStudy) -> list[Message]:
    """How it ended, and what stands in the way of goals that are missed."""
    end = "" if study.is_under_way else str(study.document.get("end"))
    said = [ENDS[end]] if end in ENDS else []
    simulations = len(study.rows)
    said.append(msg("{count} {count:simulation|simulations}.", count=simulations))
    best = study.part("best")
    if best and best.get("verified") is not True:
        said.append(msg("These values come from the search; no separate run has verified them."))
    elif best:
        said.append(msg("Verified by a separate run."))
    goals = {goal.metric: goal for goal in study.goals}
    for item in _objects(study.document.get("conflicts"))[:2]:
        names, met = item.get("goals"), item.get("met_by")
        if isinstance(names, list) and isinstance(met, list) and all(name in goals for name in names):
            conflict = Conflict(
                goals=tuple(goals[name] for name in names),
                met_by=tuple(int(figure_of(each)) for each in met if not math.isnan(figure_of(each))),
                nearest=figure_of(item.get("nearest")),
            )
            said.append(conflict_text(conflict, study.units))
    said.extend(study.texts("warnings"))
    ends = study.document.get("at_range_end")
    if isinstance(ends, list) and ends:
        said.append(msg("At the end of the allowed range: {names}", names=", ".join(map(str, ends))))
    return said


def _in_series(name: str, value: float) -> tuple[str, str]:
    """The nearest value of the series a part is bought in, and the series."""
    series = _SERIES.get(name[:1].lower()) if "." not in name else None
    if series is None or not value > 0:
        return "", ""
    return format_number(nearest(value, series), 6), series
