"""What a map of two values found: the plane with the goals' borders, and each goal's figures at a place."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence

from PyQt6.QtCore import QBuffer
from PyQt6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from application.studies.reading import StoredRow, StoredStudy, figures_of
from domain.circuit.numbers import format_number
from domain.simulation.goals import DesignGoal
from presentation.charts.plane import PlaneContent
from presentation.goal_margins import limit_text
from presentation.panels.studies.map_chart import MapChart
from presentation.panels.studies.result_parts import ResultView
from presentation.study_figures import percent, shown_or_dash
from presentation.study_map import axes_of, color_of, plane_of
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.frame import IconButton
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg

_DIGITS = 12
"""Values are written as they were simulated."""


class MapView(ResultView):
    """The page's right side."""

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services)
        self._study: StoredStudy | None = None
        self._present: Mapping[str, float] = {}
        self._is_applied = False
        self.setObjectName("map_view")
        self.verdict = text_label(role="strong", name="map_verdict")
        self.note = text_label(role="secondary", name="map_note", wraps=True)
        self.chart = MapChart(services, "value_map", self._tell)
        self.chart.chosen_changed.connect(lambda _run: self._show_choice())
        self.chart.opened.connect(self.run_wanted)
        self.table = FigureTable(services, "map_goals")
        self.place = text_label(role="secondary", name="map_place", wraps=True)
        self.take_button = push_button(name="take_values", clicked=self._on_take, kind="primary")
        self.open_button = push_button(name="open_place", clicked=self._on_open)
        self.diff_button = push_button(
            name="place_diff", clicked=lambda _c=False: self.diff_wanted.emit(self.values)
        )
        self.best_button = push_button(name="best_place", clicked=self._on_best, kind="link")
        self._picture = IconButton(services, "image", msg("Export the picture"), name="export_map")
        self._picture.clicked.connect(lambda _checked=False: self._on_picture())
        self._save = IconButton(services, "download", msg("Export the table"), name="export_study")
        self._save.clicked.connect(lambda _checked=False: self.file_wanted.emit())
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        head = QWidget()
        mark_area(head, surface="base", line="bottom")
        tools = (self.verdict, (self.note, 1), self._picture, self._save)
        arrange(QHBoxLayout(head), *tools, edges=(edge, gap, gap, gap), gap=edge)
        below = arrange(QHBoxLayout(), (self.place, 1), self.best_button, edges=(edge, 2, edge, 2), gap=gap)
        foot = QWidget()
        mark_area(foot, surface="base", line="top")
        buttons = (self.take_button, self.open_button, self.diff_button, 1)
        arrange(QHBoxLayout(foot), *buttons, edges=(edge, gap, edge, gap), gap=gap)
        arrange(QVBoxLayout(self), head, (self.chart, 1), below, self.table, foot, edges=0, gap=0)
        mark_area(self, surface="base")

    @property
    def values(self) -> dict[str, str]:
        """The values of the chosen run, as they are written."""
        row = self._row(self.chart.chosen)
        names = () if self._study is None else self._study.parameters
        if row is None:
            return {}
        return {n: format_number(row.parameters[n], _DIGITS) for n in names if n in row.parameters}

    def set_applied(self, *, is_applied: bool) -> None:
        """Values are in the circuit, and can be taken out again."""
        self._is_applied = is_applied
        self._name_buttons()

    def show_study(self, study: StoredStudy, nominals: Mapping[str, float]) -> None:
        """Everything of one map."""
        if self._study is not None and self._study.path != study.path:
            self.chart.chosen = None
        self._study, self._is_applied = study, False
        self._show_head(study)
        self.show_present(nominals)

    def show_present(self, nominals: Mapping[str, float]) -> None:
        """The circuit has these values now."""
        self._present = nominals
        if self._study is not None:
            self._services.start(self._draw(self._study), kind="draw map", scope=f"{id(self)}")
        self._show_choice()

    async def _draw(self, study: StoredStudy) -> None:
        content = await asyncio.to_thread(plane_of, study, self._present)
        if study is self._study:
            self._show_plane(study, content)

    def _show_plane(self, study: StoredStudy, content: PlaneContent | None) -> None:
        self.chart.show_plane(content)
        self._show_head(study)
        if self._row(self.chart.chosen) is None:
            self.chart.chosen = None
        self._show_choice()

    def _show_head(self, study: StoredStudy) -> None:
        language = self._services.language
        share, nodes = study.figure("map", "share_met"), study.figure("map", "nodes")
        text = msg(
            "All goals are met on {share} of the map", share="–" if math.isnan(share) else percent(share)
        )
        self.verdict.setText(language(text))
        mark(self.verdict, role="strong" if share > 0 else "warn")
        told = [language(msg("{count} {count:run|runs}", count=len(study.rows)))]
        if nodes > 1:
            told.append(language(msg("borders as of {count} × {count} runs", count=int(nodes))))
        if study.failed:
            told.append(language(msg("{count} failed", count=study.failed)))
        content = self.chart.content
        if content is not None and content.present is None:
            told.append(language(msg("the present design is outside the map")))
        self.note.setText(" · ".join([*told, *map(language, study.texts("warnings"))]))
        self.chart.setAccessibleName(language(msg("Map of two values")))
        self.table.setAccessibleName(language(msg("Goals at the selected point")))
        self.best_button.setText(language(msg("Go to the largest margin")))
        self.best_button.setVisible(study.row(self._best(study)) is not None)

    def _best(self, study: StoredStudy) -> int:
        best = study.figure("map", "best_run")
        return -1 if math.isnan(best) else int(best)

    # ---- one point -------------------------------------------------------------------------------

    def _row(self, run: int | None) -> StoredRow | None:
        return None if run is None or self._study is None else self._study.row(run)

    def _values_in_words(self, row: StoredRow) -> str:
        names = () if self._study is None else self._study.parameters
        return ", ".join(f"{n} = {format_number(row.parameters[n], 6)}" for n in names if n in row.parameters)

    def _tell(self, run: int) -> str:
        """The values and each goal's figure at a run."""
        row, study = self._row(run), self._study
        if row is None or study is None:
            return ""
        if not row.is_ok:
            return f"{self._values_in_words(row)}\n{row.reason}"
        lines = [self._values_in_words(row)]
        for goal in study.goals:
            value = row.metrics.get(goal.metric, math.nan)
            sign = "✓" if goal.is_met_by(value) else "✗"
            lines.append(f"{sign} {goal.metric} = {shown_or_dash(value, study.units.get(goal.metric, ''))}")
        return "\n".join(lines)

    def _show_choice(self) -> None:
        study, language = self._study, self._services.language
        if study is None:
            return
        row = self._row(self.chart.chosen)
        if row is None:
            self.place.setText(
                language(msg("Click a point to see its figures; double-click opens its circuit."))
            )
        else:
            text = msg("Run {number}: {values}", number=row.run, values=self._values_in_words(row))
            self.place.setText(language(text) + (f" · {row.reason}" if row.reason else ""))
        columns = [
            Column(title=language(msg("Goal"))),
            Column(title=language(msg("Limit")), is_number=True),
            Column(title=language(msg("Circuit as run")), is_number=True),
            Column(title=language(msg("Selected point")), is_number=True, is_strong=True),
        ]
        present = figures_of(study.part("nominal"))
        rows = [
            [
                Cell(text=goal.metric, swatch=color_of(place)),
                Cell(text=limit_text(goal), color="text.secondary"),
                self._figure(goal, present.get(goal.metric, math.nan), study),
                self._figure(
                    goal, math.nan if row is None else row.metrics.get(goal.metric, math.nan), study
                ),
            ]
            for place, goal in enumerate(_measured(study))
        ]
        self.table.show_rows(columns, rows)
        self.table.setFixedHeight(self.table.wanted_height(min(len(rows), 5)))
        self._name_buttons()

    def _figure(self, goal: DesignGoal, value: float, study: StoredStudy) -> Cell:
        is_bad = not math.isnan(value) and not goal.is_met_by(value)
        text = shown_or_dash(value, study.units.get(goal.metric, ""))
        return Cell(text=text, color="error.text" if is_bad else "text.primary")

    def _name_buttons(self) -> None:
        language, study = self._services.language, self._study
        word = msg("Undo the change") if self._is_applied else msg("Take these values")
        self.take_button.setText(language(word))
        mark(self.take_button, kind="secondary" if self._is_applied else "primary")
        self.open_button.setText(language(msg("Open the circuit of this run")))
        self.diff_button.setText(language(msg("Show as diff")))
        has_row = self._row(self.chart.chosen) is not None and study is not None and not study.is_under_way
        self.take_button.setEnabled(has_row or self._is_applied)
        for button in (self.open_button, self.diff_button):
            button.setEnabled(has_row)
            button.setToolTip("" if has_row else language(msg("Click a point of the map first.")))

    def _on_take(self, _checked: bool = False) -> None:
        if self._is_applied:
            self.undo_wanted.emit()
        else:
            self.values_wanted.emit(self.values)

    def _on_open(self, _checked: bool = False) -> None:
        if self.chart.chosen is not None:
            self.run_wanted.emit(self.chart.chosen)

    def _on_best(self, _checked: bool = False) -> None:
        if self._study is not None:
            self.chart.choose(self._best(self._study))
            self.chart.setFocus()

    # ---- picture ---------------------------------------------------------------------------------

    def _on_picture(self) -> None:
        if self._study is not None:
            self._services.start(self._export(self._study), kind="export")

    async def _export(self, study: StoredStudy) -> None:
        from presentation.ui.questions import choose_target
        from presentation.ui.whole_file import write

        workspace = self._services.workspace
        start = study.circuit.with_name(f"{study.circuit.stem}_map.png")
        target = await choose_target(self._services, self, msg("Export the picture"), start)
        if target is None:
            return
        buffer = QBuffer()
        buffer.open(QBuffer.OpenModeFlag.WriteOnly)
        self.chart.grab().save(buffer, "PNG")
        await asyncio.to_thread(write, target, buffer.data().data())
        workspace.status_changed.emit(msg("Exported {name}", name=target.name))


def _measured(study: StoredStudy) -> Sequence[DesignGoal]:
    """Its goals in the order of their colors."""
    return [goal for goal in study.goals if goal.metric in study.units] if axes_of(study) is not None else ()
