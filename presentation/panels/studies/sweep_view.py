"""What a sweep found: each measurement against a parameter, a line for each value of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from application.studies.reading import StoredStudy
from presentation.panels.studies.charts import LinesChart
from presentation.panels.studies.result_parts import MetricBox, ResultView, RunsTable
from presentation.study_charts import MOST_LINES, Family, families_of, family_lines
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg

_AT_ONCE = 1_000
"""Rows that are shown in one turn of the loop; those of more are sorted into lines elsewhere, and their table
and chart come in turns of their own."""


class SweepView(ResultView):
    """The page's right side."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services)
        self._study: StoredStudy | None = None
        self._nominals: Mapping[str, float] = {}
        self._in_table: StoredStudy | None = None
        self.setObjectName("sweep_view")
        self.metric_box, self.axis = MetricBox("sweep_metric"), MetricBox("sweep_axis")
        for box in (self.metric_box, self.axis):
            box.activated.connect(lambda _index: self._draw())
        self._against = text_label(role="secondary")
        self.note = text_label(role="tertiary", name="sweep_note")
        self.chart = LinesChart(services, "sweep_chart")
        self.table = RunsTable(services, "sweep_runs")
        self.table.run_wanted.connect(self.run_wanted)
        self.table.keep_wanted.connect(self.keep_wanted)
        save = IconButton(services, "download", msg("Export the table"), name="export_study")
        save.clicked.connect(lambda _checked=False: self.file_wanted.emit())
        theme = services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        head = QWidget()
        mark_area(head, surface="base", line="bottom")
        bar = arrange(QHBoxLayout(head), self.metric_box, self._against, self.axis, (self.note, 1), save)
        arrange(bar, edges=(edge, 4, gap, 5), gap=gap)
        arrange(QVBoxLayout(self), head, (self.chart, 5), (self.table, 4), edges=0, gap=0)
        mark_area(self, surface="base")

    def show_study(self, study: StoredStudy, nominals: Mapping[str, float]) -> None:
        """Everything of one study."""
        self._study, self._nominals = study, nominals
        language = self._services.language
        self._against.setText(language(msg("against")))
        self.metric_box.setAccessibleName(language(msg("Measurement")))
        self.axis.setAccessibleName(language(msg("Parameter on the axis")))
        self.chart.setAccessibleName(language(msg("Measurement against parameter")))
        self.table.setAccessibleName(language(msg("Runs")))
        self.metric_box.offer(list(study.units))
        self.axis.offer(study.parameters)
        self._in_table = None
        self._draw()

    def _draw(self) -> None:
        study = self._study
        if study is None:
            return
        metric, axis = self.metric_box.chosen, self.axis.chosen
        if len(study.rows) <= _AT_ONCE:
            self._show_table(study)
            self._show_families(study, metric, axis, families_of(study, metric, axis))
        else:
            self._services.start(
                self._draw_later(study, metric, axis), kind="draw sweep", scope=f"{id(self)}"
            )

    def _show_table(self, study: StoredStudy) -> None:
        if study is self._study and study is not self._in_table:
            self._in_table = study
            self.table.show_runs(study, study.rows, self._nominals)

    async def _draw_later(self, study: StoredStudy, metric: str, axis: str) -> None:
        self._show_table(study)
        found = await asyncio.to_thread(families_of, study, metric, axis)
        if (study, metric, axis) == (self._study, self.metric_box.chosen, self.axis.chosen):
            self._show_families(study, metric, axis, found)

    def _show_families(self, study: StoredStudy, metric: str, axis: str, families: Sequence[Family]) -> None:
        left_out = max(len(families) - MOST_LINES, 0)
        language = self._services.language
        self.note.setText(
            language(msg("{count} more lines are in the table", count=left_out)) if left_out else ""
        )
        self.chart.show_content(family_lines(study, metric, axis, families))
