"""What a Monte Carlo found: yield, distribution, what makes the variance, the runs that are worst."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PyQt6.QtCore import QRectF, QSize
from PyQt6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from application.studies.reading import StoredStudy, figure_of, figures_of
from presentation.panels.studies.charts import BarsChart, HistogramChart
from presentation.panels.studies.result_parts import (
    FigureHead,
    MetricBox,
    ResultView,
    RunsTable,
)
from presentation.study_charts import bins_of, share_bars
from presentation.study_figures import metric_in, percent, shown, told
from presentation.ui.frame import IconButton
from presentation.ui.parts import ElidedLabel, arrange, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

SHARE_WIDTH = 272
_LEAST_TOLD = 0.3
"""Of the variance, made by one letter of parts: worth a sentence."""
_LETTERS = {"r": msg("resistors"), "c": msg("capacitors"), "l": msg("inductors")}


class YieldBar(QWidget):
    """The share of good runs as a bar, with its 95 % interval as a bracket."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self._found = (0.0, 0.0, 0.0)
        self.setObjectName("yield_bar")
        services.theme.changed.connect(self._on_theme)  # a method: the connection ends with the widget

    def _on_theme(self, _theme: object) -> None:
        self.update()

    def show_yield(self, value: float, low: float, high: float) -> None:
        self._found = (value, low, high)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(180, 14)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(60, 14)

    def paintEvent(self, _event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        """Track, share, bracket."""
        painter, theme = QPainter(self), self._services.theme.theme
        value, low, high = self._found
        height = theme.size("margin_bar.height")
        top = (self.height() - height) / 2
        painter.fillRect(QRectF(0, top, self.width(), height), theme.color("surface.pressed"))
        painter.fillRect(QRectF(0, top, value * self.width(), height), theme.color("trace.0"))
        painter.setPen(QPen(theme.color("text.primary"), 1))
        left, right = low * (self.width() - 1), high * (self.width() - 1)
        tick = theme.size("margin_bar.tick_height")
        painter.drawRect(QRectF(left, (self.height() - tick) / 2, max(right - left, 1), tick - 1))


class ScatterView(ResultView):
    """The page's right side."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services)
        self._study: StoredStudy | None = None
        self.setObjectName("scatter_view")
        self.head = FigureHead(services, "yield_head")
        self.bar = YieldBar(services)
        self.count = text_label(role="caption")
        self.metric_box = MetricBox("distribution_metric")
        self.metric_box.activated.connect(lambda _index: self._show_metric())
        self.summary = ElidedLabel()
        self.summary.setObjectName("distribution_summary")
        mark(self.summary, role="secondary")
        self.histogram = HistogramChart(services, "histogram")
        self.shares = BarsChart(services, "variance_shares")
        self.table = RunsTable(services, "worst_runs")
        self.table.run_wanted.connect(self.run_wanted)
        self.table.keep_wanted.connect(self.keep_wanted)
        self._distribution = ElidedLabel()
        mark(self._distribution, role="strong")
        self._share_head = text_label(role="strong")
        self._share_note = text_label(role="secondary", wraps=True, name="variance_note")
        self.assumed = text_label(role="tertiary", wraps=True, name="study_assumed")
        save = IconButton(services, "download", msg("Export the table"), name="export_study")
        save.clicked.connect(lambda _checked=False: self.file_wanted.emit())
        self._lay_out(save)

    def _lay_out(self, save: QWidget) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        self._side = QWidget()
        side = arrange(QVBoxLayout(self._side), self.count, self.bar, edges=(0, gap, edge, gap), gap=2)
        side.addStretch(1)
        head = QWidget()
        mark_area(head, surface="base", line="bottom")
        arrange(QHBoxLayout(head), (self.head, 1), self._side, edges=0, gap=0)
        bar = arrange(
            QHBoxLayout(),
            self._distribution,
            self.metric_box,
            (self.summary, 1),
            save,
            edges=(edge, 4, gap, 0),
            gap=gap,
        )
        left = QWidget()
        arrange(QVBoxLayout(left), bar, (self.histogram, 1), edges=0, gap=2)
        right = QWidget()
        right.setMaximumWidth(SHARE_WIDTH)
        mark_area(right, surface="base", line="left")
        heads = arrange(QVBoxLayout(), self._share_head, edges=(edge, gap, edge, 0))
        foot = arrange(QVBoxLayout(), self._share_note, edges=(edge, 0, edge, gap))
        arrange(QVBoxLayout(right), heads, (self.shares, 1), foot, edges=(1, 0, 0, 0), gap=gap)
        charts = arrange(QHBoxLayout(), (left, 3), (right, 2), edges=0, gap=0)
        below = arrange(QVBoxLayout(), self.assumed, edges=(edge, 2, edge, 2))
        arrange(QVBoxLayout(self), head, (charts, 5), (self.table, 4), below, edges=0, gap=0)
        mark_area(self, surface="base")

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        """In a narrow page the bar, whose figures stand in the head too, gives way first."""
        room = self.width() - self._side.sizeHint().width()
        self._side.setVisible(self.head.line_width <= room)

    def show_study(self, study: StoredStudy, nominals: Mapping[str, float]) -> None:
        """Everything of one study."""
        self._study = study
        self._name()
        self._show_head(study)
        self.metric_box.offer(list(study.units))
        self._show_metric()
        self.table.show_runs(study, study.worst_first, nominals)
        self.assumed.setText(told(study, self._services.language))
        self.assumed.setVisible(bool(self.assumed.text()))

    def _name(self) -> None:
        language = self._services.language
        self._distribution.setText(language(msg("Distribution of")))
        self._share_head.setText(language(msg("Share of variance")))
        self.metric_box.setAccessibleName(language(msg("Measurement")))
        self.histogram.setAccessibleName(language(msg("Distribution")))
        self.shares.setAccessibleName(language(msg("Share of variance")))
        self.table.setAccessibleName(language(msg("Worst runs")))

    def _show_head(self, study: StoredStudy) -> None:
        language, found = self._services.language, study.part("yield")
        total, passed = figure_of(found.get("n")), figure_of(found.get("passed"))
        has_yield = total > 0
        self.bar.setVisible(has_yield)
        self.count.setVisible(has_yield)
        figures: list[tuple[Message, str]] = []
        if has_yield:
            low, high = figure_of(found.get("low")), figure_of(found.get("high"))
            count = len(study.goals)
            figures.append((msg("Yield, {count} {count:goal|goals}", count=count), percent(passed / total)))
            figures.append((msg("95 % interval"), f"{100 * low:.1f}–{percent(high)}"))
            for text, each in list(study.part("yield", "goals").items())[:4]:
                share = figure_of(each.get("value")) if isinstance(each, Mapping) else math.nan
                if len(study.goals) > 1 and not math.isnan(share):
                    figures.append((msg("{text}", text=metric_in(str(text), study)), percent(share)))
            self.bar.show_yield(passed / total, low, high)
            self.count.setText(
                language(msg("{passed} of {total} good", passed=int(passed), total=int(total)))
            )
        else:
            figures.append((msg("Runs"), str(len(study.rows))))
        if study.failed:
            figures.append((msg("Failed runs"), str(study.failed)))
        self.head.show_figures(figures)
        self._make_room()

    def _show_metric(self) -> None:
        study, metric = self._study, self.metric_box.chosen
        if study is None:
            return
        unit = study.units.get(metric, "")
        found = study.part("statistics", metric)
        mean, sigma = figure_of(found.get("mean")), figure_of(found.get("sigma"))
        self.histogram.show_bins(bins_of(study, metric))
        told = msg("mean {mean}, σ {sigma}", mean=shown(mean, unit), sigma=shown(sigma, unit, 3))
        self.summary.setText("" if math.isnan(mean) else self._services.language(told))
        self.shares.show_bars(share_bars(study, metric))
        self._tell_shares(figures_of(found.get("contributions")))

    def _tell_shares(self, shares: Mapping[str, float]) -> None:
        language = self._services.language
        if not shares:
            self._share_note.setText(language(msg("More runs than three for each parameter are needed.")))
            return
        by_letter: dict[str, float] = {}
        for name, share in shares.items():
            by_letter[name[:1].lower()] = by_letter.get(name[:1].lower(), 0.0) + share
        letter, most = max(by_letter.items(), key=lambda each: each[1])
        word = _LETTERS.get(letter)
        if word is None or most < _LEAST_TOLD:
            self._share_note.setText(language(msg("From a linear fit.")))
        else:
            self._share_note.setText(
                language(
                    msg(
                        "The {parts} make {share} % of it (linear fit).",
                        parts=word,
                        share=f"{100 * most:.0f}",
                    )
                )
            )
