"""What corners, a worst case and a sensitivity found: spans with the worst marked, tornado charts, tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from application.studies.reading import StoredStudy, figure_of
from presentation.panels.studies.charts import BarsChart
from presentation.panels.studies.result_parts import (
    MetricBox,
    ResultView,
    RunsTable,
)
from presentation.study_charts import effect_bars, sensitivity_bars
from presentation.study_figures import (
    METHODS,
    bends_in,
    end_of,
    plain,
    sensitivities_of,
    shown,
    shown_or_dash,
    told,
)
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg


class _WithHead(ResultView):
    """A verdict, and the table as a file."""

    def __init__(self, services: WindowServices, name: str) -> None:
        super().__init__(services)
        self._study: StoredStudy | None = None
        self.setObjectName(name)
        mark_area(self, surface="base")
        self.verdict = text_label(role="strong", name="study_verdict")
        self.note = text_label(role="secondary", name="study_note", wraps=True)
        save = IconButton(services, "download", msg("Export the table"), name="export_study")
        save.clicked.connect(lambda _checked=False: self.file_wanted.emit())
        theme = services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        self.keep_button = IconButton(
            services, "flag", msg("Keep the worst run as a case that every run checks…"), name="keep_worst"
        )
        self.keep_button.clicked.connect(self._keep_worst)
        self.keep_button.hide()
        self._head = QWidget()
        mark_area(self._head, surface="base", line="bottom")
        arrange(QHBoxLayout(self._head), self.verdict, (self.note, 1), self.keep_button, save,
                edges=(edge, gap, gap, gap), gap=edge)  # fmt: skip

    def _keep_worst(self, _checked: bool = False) -> None:
        if self._study is not None and self._study.worst_first:
            self.keep_wanted.emit(self._study.worst_first[0].run)

    def _show_verdict(self, study: StoredStudy) -> None:
        language, met = self._services.language, study.document.get("goals_met")
        text, role = msg("{count} {count:run|runs}", count=len(study.rows)), "strong"
        if study.is_under_way:
            total = int(study.figure("runs", "total"))
            text = msg("{count} of {total} {total:run|runs}", count=len(study.rows), total=total)
        elif met is True:
            text, role = msg("All goals are met"), "ok"
        elif met is False:
            text, role = msg("Goals are missed"), "error"
        self.verdict.setText(language(text))
        mark(self.verdict, role=role)
        self.note.setText(told(study, language))
        can_keep = study.kind in ("corners", "worst-case") and bool(study.goals and study.rows)
        self.keep_button.setVisible(can_keep and not study.is_under_way)


class CornersView(_WithHead):
    """Each corner with its measurements; what is worst of each measurement stands above."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services, "corners_view")
        self.spans = FigureTable(services, "corner_spans")
        self.table = RunsTable(services, "corner_runs")
        self.table.run_wanted.connect(self.run_wanted)
        self.table.keep_wanted.connect(self.keep_wanted)
        arrange(QVBoxLayout(self), self._head, self.spans, (self.table, 1), edges=0, gap=0)

    def show_study(self, study: StoredStudy, nominals: Mapping[str, float]) -> None:
        """Everything of one study."""
        self._study = study
        self._show_verdict(study)
        language = self._services.language
        self.spans.setAccessibleName(language(msg("Extremes over the corners")))
        self.table.setAccessibleName(language(msg("Corners")))
        columns = [
            Column(title=language(msg("Measurement"))),
            Column(title=language(msg("Least")), is_number=True),
            Column(title=language(msg("at corner")), is_number=True),
            Column(title=language(msg("Greatest")), is_number=True),
            Column(title=language(msg("at corner")), is_number=True),
            Column(title=language(msg("Worst corner")), is_number=True),
        ]
        rows = []
        for metric, unit in study.units.items():
            span = study.part("corners", metric)
            worst = span.get("worst_corner")
            rows.append(
                [
                    Cell(text=metric),
                    Cell(text=shown(figure_of(span.get("min")), unit)),
                    Cell(text=str(span.get("min_corner", "")), color="text.secondary"),
                    Cell(text=shown(figure_of(span.get("max")), unit)),
                    Cell(text=str(span.get("max_corner", "")), color="text.secondary"),
                    Cell(text=str(worst) if isinstance(worst, str) else "–",
                         color="warn.text" if isinstance(worst, str) else "text.tertiary"),
                ]
            )  # fmt: skip
        self.spans.show_rows(columns, rows)
        self.spans.setFixedHeight(self.spans.wanted_height())
        self.table.show_runs(study, study.worst_first if study.goals else study.rows, nominals)


class WorstCaseView(_WithHead):
    """From where to where each measurement reaches, and what moves it."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services, "worst_case_view")
        self.spans = FigureTable(services, "worst_case_spans")
        self.metric_box = MetricBox("worst_case_metric")
        self.metric_box.activated.connect(lambda _index: self._draw())
        self._of = text_label(role="strong")
        self.chart = BarsChart(services, "tornado")
        self.table = RunsTable(services, "worst_case_runs")
        self.table.run_wanted.connect(self.run_wanted)
        self.table.keep_wanted.connect(self.keep_wanted)
        theme = services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        self.bends = text_label(role="warn", name="study_bends", wraps=True)
        bar = arrange(QHBoxLayout(), self._of, self.metric_box, (self.bends, 1))
        arrange(bar, edges=(edge, gap, edge, gap), gap=gap)
        arrange(
            QVBoxLayout(self), self._head, self.spans, bar, (self.chart, 4), (self.table, 4), edges=0, gap=0
        )

    def show_study(self, study: StoredStudy, nominals: Mapping[str, float]) -> None:
        """Everything of one study."""
        self._study = study
        self._show_verdict(study)
        language = self._services.language
        self._of.setText(language(msg("Each parameter alone at its limits, effect on")))
        self.metric_box.setAccessibleName(language(msg("Measurement")))
        self.chart.setAccessibleName(language(msg("Effects")))
        self.table.setAccessibleName(language(msg("Runs")))
        self.metric_box.offer(list(study.units))
        methods = [
            (key, ends)
            for key, ends in METHODS
            if any(study.part("statistics", metric, key) for metric in study.units)
        ]
        columns = [
            Column(title=language(msg("Measurement"))),
            Column(title=language(msg("Nominal")), is_number=True),
            *(Column(title=language(end), is_number=True) for _, ends in methods for end in ends),
        ]
        keys = [key for key, _ in methods]
        self.spans.show_rows(columns, [self._span(study, metric, keys) for metric in study.units])
        self.spans.setFixedHeight(self.spans.wanted_height())
        self.table.show_runs(study, study.worst_first if study.goals else study.rows, nominals)
        self._draw()

    def _span(self, study: StoredStudy, metric: str, methods: Sequence[str]) -> list[Cell]:
        unit, goals = study.units.get(metric, ""), [goal for goal in study.goals if goal.metric == metric]

        def cell(value: float) -> Cell:
            is_bad = not math.isnan(value) and any(not goal.is_met_by(value) for goal in goals)
            return Cell(text=shown_or_dash(value, unit), color="error.text" if is_bad else "text.primary")

        return [
            Cell(text=metric),
            cell(study.figure("statistics", metric, "nominal")),
            *(cell(end_of(study, metric, key, end)) for key in methods for end in ("min", "max")),
        ]

    def _draw(self) -> None:
        study, metric = self._study, self.metric_box.chosen
        if study is None:
            return
        self.chart.show_bars(effect_bars(study, metric))
        told = bends_in(study, metric)
        self.bends.setText("" if told is None else self._services.language(told))


class SensitivityView(_WithHead):
    """How strongly each parameter moves a measurement: a tornado and its figures."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services, "sensitivity_view")
        self.metric_box = MetricBox("sensitivity_metric")
        self.metric_box.activated.connect(lambda _index: self._draw())
        self._of = text_label(role="strong")
        self.chart = BarsChart(services, "tornado")
        self.table = FigureTable(services, "sensitivities")
        theme = services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        bar = arrange(QHBoxLayout(), self._of, self.metric_box, 1)
        arrange(bar, edges=(edge, gap, edge, gap), gap=gap)
        arrange(QVBoxLayout(self), self._head, bar, (self.chart, 5), (self.table, 4), edges=0, gap=0)

    def show_study(self, study: StoredStudy, nominals: Mapping[str, float]) -> None:  # noqa: ARG002
        """Everything of one study."""
        self._study = study
        self._show_verdict(study)
        language = self._services.language
        self._of.setText(language(msg("Change of")))
        self.metric_box.setAccessibleName(language(msg("Measurement")))
        self.chart.setAccessibleName(language(msg("Sensitivities")))
        self.table.setAccessibleName(language(msg("Sensitivities")))
        self.metric_box.offer(list(study.units))
        self._draw()

    def _draw(self) -> None:
        study, metric = self._study, self.metric_box.chosen
        if study is None:
            return
        language, unit = self._services.language, study.units.get(metric, "")
        items = sensitivities_of(study, metric)
        self.chart.show_bars(sensitivity_bars(study, metric))
        columns = [
            Column(title=language(msg("Parameter"))),
            Column(title=language(msg("Slope")), is_number=True),
            Column(title=language(msg("Percent per percent")), is_number=True),
            Column(title=language(msg("For the whole tolerance")), is_number=True),
        ]
        self.table.show_rows(
            columns,
            [
                [
                    Cell(text=str(item.get("parameter", "")), style="mono_small"),
                    Cell(text=plain(figure_of(item.get("slope")))),
                    Cell(text=plain(figure_of(item.get("normalized")))),
                    Cell(text=shown_or_dash(figure_of(item.get("per_tolerance")), unit)),
                ]
                for item in items
            ],
        )  # fmt: skip
