"""What a sweep found: each measurement against a parameter, a line for each value of the others."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence

from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from application.studies.reading import StoredStudy
from domain.circuit.numbers import format_number
from presentation.panels.studies.charts import Line, LinesChart, LinesContent
from presentation.panels.studies.result_parts import MetricBox, ResultView, RunsTable, limits_of
from presentation.panels.studies.scales import Scale, linear, logarithmic, padded
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg

_AT_ONCE = 1_000
"""Rows that are sorted into lines on the loop; those of more elsewhere."""
_MOST_LINES = 24
_COLORS = 8
_WIDE_RANGE = 20.0
"""From this ratio of the ends on an axis is logarithmic, where its values are spaced so."""


Family = tuple[str, list[tuple[float, float]]]
"""A line's name and its points."""


class SweepView(ResultView):
    """The page's right side."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services)
        self._study: StoredStudy | None = None
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
        self._study = study
        language = self._services.language
        self._against.setText(language(msg("against")))
        self.metric_box.setAccessibleName(language(msg("Measurement")))
        self.axis.setAccessibleName(language(msg("Parameter on the axis")))
        self.chart.setAccessibleName(language(msg("Measurement against parameter")))
        self.table.setAccessibleName(language(msg("Runs")))
        self.metric_box.offer(list(study.units))
        self.axis.offer(study.parameters)
        self.table.show_runs(study, study.rows, nominals)
        self._draw()

    def _draw(self) -> None:
        study = self._study
        if study is None:
            return
        metric, axis = self.metric_box.chosen, self.axis.chosen
        if len(study.rows) <= _AT_ONCE:
            self._show_families(study, metric, axis, families_of(study, metric, axis))
        else:
            self._services.start(
                self._draw_later(study, metric, axis), kind="draw sweep", scope=f"{id(self)}"
            )

    async def _draw_later(self, study: StoredStudy, metric: str, axis: str) -> None:
        found = await asyncio.to_thread(families_of, study, metric, axis)
        if (study, metric, axis) == (self._study, self.metric_box.chosen, self.axis.chosen):
            self._show_families(study, metric, axis, found)

    def _show_families(self, study: StoredStudy, metric: str, axis: str, families: Sequence[Family]) -> None:
        drawn = families[:_MOST_LINES]
        points = [point for _, line in drawn for point in line]
        values = [y for _, y in points if math.isfinite(y)]
        left_out = len(families) - len(drawn)
        language = self._services.language
        self.note.setText(
            language(msg("{count} more lines are in the table", count=left_out)) if left_out else ""
        )
        if not values:
            self.chart.show_content(None)
            return
        unit = study.units.get(metric, "")
        places = sorted({x for x, _ in points})
        limits = limits_of(study.goals, metric, unit)
        low, high = min(values), max(values)
        span = high - low or abs(high) or 1.0
        near = [each for each in limits if low - span <= each.value <= high + span]
        low, high = padded(
            min([low, *(each.value for each in near)]), max([high, *(each.value for each in near)])
        )
        lines = [
            Line(points=line, name=name, color=f"trace.{number % _COLORS}")
            for number, (name, line) in enumerate(drawn)
        ]
        self.chart.show_content(
            LinesContent(
                x=lambda room: _axis(places, unit_of(axis), room),
                y=lambda room: linear(low, high, unit, room=room),
                lines=lines,
                limits=near,
            )
        )


def _axis(places: Sequence[float], unit: str, room: int) -> Scale:
    low, high = places[0], places[-1]
    if low > 0 and high / low >= _WIDE_RANGE:
        return logarithmic(low, high, unit)
    return linear(low, high, unit, room=room)


def unit_of(name: str) -> str:
    """Of a quantity by its name, where that says it: of the elements whose value has one."""
    key = name.lower()
    if key == "temp":
        return "degC"
    owner, _, member = key.partition(".")
    if member:
        return "m" if member in ("w", "l") and owner[:1] == "m" else ""
    return {"r": "Ω", "c": "F", "l": "H", "v": "V", "i": "A"}.get(owner[:1], "")


def families_of(study: StoredStudy, metric: str, axis: str) -> list[Family]:
    """A line for each setting of the other parameters and each corner: its name, its points as they rise."""
    found: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for row in study.rows:
        if axis in row.parameters:
            others = tuple(
                f"{name} = {format_number(row.parameters[name], 4)}"
                for name in study.parameters
                if name != axis and name in row.parameters
            )
            key = (*((row.corner,) if row.corner else ()), *others)
            found.setdefault(key, []).append((row.parameters[axis], row.metrics.get(metric, math.nan)))
    return [(", ".join(key), sorted(points)) for key, points in found.items()]
