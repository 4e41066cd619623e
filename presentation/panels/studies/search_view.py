"""What an optimization found: goals with their margins, values now and best, how the search went."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from application.studies.reading import StoredStudy, figure_of, figures_of
from domain.circuit.numbers import format_number
from domain.simulation.goals import GoalVerdict
from presentation.panels.studies.charts import LinesChart
from presentation.panels.studies.margin_bars import MarginBars
from presentation.panels.studies.result_parts import ResultView
from presentation.study_charts import progress_of
from presentation.study_figures import best_texts, best_verdicts, end_words, in_series, shown
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg


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
        self._values = best_texts(study)
        self._is_applied, self._is_under_way = False, study.is_under_way
        verdicts = best_verdicts(study)
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
        is_early = study.is_under_way and not study.part("best")  # nothing was chosen yet
        self.verdict.setText("" if is_early else language(text))
        mark(self.verdict, role="ok" if is_good else "warn")
        self.end.setText(" ".join(map(language, end_words(study))))

    def _show_values(self, study: StoredStudy, nominals: Mapping[str, float]) -> None:
        language = self._services.language
        begun_at = figures_of(study.part("start", "parameters"))
        start = {**nominals, **begun_at}
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
            near = in_series(name, best.get(name, math.nan))
            rows.append(
                [
                    Cell(text=name, style="mono_small"),
                    Cell(text="" if math.isnan(now) else format_number(now, 6), color="text.tertiary"),
                    Cell(text=text),
                    Cell(text=near[0], unit=near[1], color="text.secondary"),
                ]
            )
        # The search began at the nearest values it may write: figures of another circuit than the one now.
        is_begun_here = all(
            math.isclose(written.get(name.lower(), value), value, rel_tol=1e-5)
            for name, value in begun_at.items()
        )
        for name, figure in figures_of(study.part("best", "metrics")).items():
            if name not in {goal.metric for goal in study.goals}:
                begun = figure_of(study.part("start", "metrics").get(name)) if is_begun_here else math.nan
                unit = study.units.get(name, "")
                now_text = "" if math.isnan(begun) else shown(begun, unit)
                rows.append([Cell(text=name), Cell(text=now_text, color="text.tertiary"),
                             Cell(text=shown(figure, unit)), Cell(text="")])  # fmt: skip
        self.table.show_rows(columns, rows)

    def _show_progress(self, study: StoredStudy) -> None:
        """Least margin by simulation; without goals what is minimized or maximized."""
        head, content = progress_of(study, self._services.language)
        self._chart_head.setText(self._services.language(head))
        self.chart.show_content(content)
