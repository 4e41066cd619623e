"""Values under sliders: curve, goals and figures follow; nothing is written before it is applied."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from presentation.goal_words import limit_words
from presentation.panels.studies.knob import DIGITS, Knob
from presentation.panels.studies.margin_bars import MarginBars
from presentation.panels.studies.result_parts import MetricBox, ResultView
from presentation.study_figures import shown_or_dash
from presentation.ui.figure_table import Cell, Column, FigureTable
from presentation.ui.parts import arrange, push_button, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg

if TYPE_CHECKING:
    from application.optimization.tuning import TunedPoint
    from domain.simulation.waveform import Plot
    from domain.studies.study_spec import StudySpec
    from presentation.panels.waveforms.plot_area import PlotArea
    from presentation.panels.waveforms.plot_marks import Mark
    from presentation.panels.waveforms.traces import Axis, Trace

SLOW_S = 0.5
"""A run that takes longer is done when the slider is let go."""
_LEAST_KNOBS = 3
"""So many stay in sight, however low the window is."""
_STEPS = 200


class TuneView(ResultView):
    """The page's right side; `wanted` has the values to be simulated."""

    wanted = pyqtSignal(object)

    def __init__(self, services: WindowServices) -> None:
        super().__init__(services)
        self._spec: StudySpec | None = None
        self._file_point: TunedPoint | None = None
        self._point: TunedPoint | None = None
        self._is_applied = self._is_live = False
        self._run_s = 0.0
        self._request = 0
        self.knobs: list[Knob] = []
        self.setObjectName("tune_view")
        self.head = text_label(role="secondary", name="tune_head")
        self.subject = MetricBox("tune_curve")
        self.subject.activated.connect(lambda _index: self._draw())
        self.goals = MarginBars(services, "tune_goals")
        self.table = FigureTable(services, "tune_figures")
        self.area: PlotArea | None = None
        self.traces: Sequence[Trace] = ()
        self._plots = QStackedWidget()
        self._problem = text_label(role="error", name="tune_problem", wraps=True)
        self._problem.hide()
        self._no_curve = text_label(role="tertiary", wraps=True)
        self._no_curve.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._knob_column = QVBoxLayout()
        self.apply_button = push_button(name="apply_tuned", clicked=self._on_apply, kind="primary")
        self.diff_button = push_button(
            name="tuned_diff", clicked=lambda _c=False: self.diff_wanted.emit(self.changed)
        )
        self.back_button = push_button(name="back_to_file", clicked=lambda _c=False: self.go_back())
        self.count = text_label(role="secondary", name="tuned_count")
        self._lay_out()
        services.theme.changed.connect(self._restyle)

    def _lay_out(self) -> None:
        theme = self._services.theme.theme
        edge, gap = theme.size("space.3"), theme.size("space.2")
        head = QWidget()
        mark_area(head, surface="base", line="bottom")
        arrange(QHBoxLayout(head), (self.head, 1), self.subject, edges=(edge, 4, gap, 5), gap=gap)
        knobs = QWidget()
        mark_area(knobs, surface="base")
        arrange(QVBoxLayout(knobs), self._knob_column, 1, edges=(edge, gap, edge, gap), gap=gap)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(knobs)
        left = QWidget()
        self._knobs = scroll
        below = (self._problem, self.goals, (self.table, 2), 1)
        arrange(QVBoxLayout(left), (scroll, 3), *below, edges=0, gap=0)
        self._no_curve.setContentsMargins(edge, gap, edge, gap)
        self._plots.addWidget(self._no_curve)
        right = QWidget()
        mark_area(right, surface="base", line="left")
        arrange(QVBoxLayout(right), self._plots, edges=(1, 0, 0, 0))
        foot = QWidget()
        mark_area(foot, surface="base", line="top")
        buttons = (self.apply_button, self.diff_button, self.back_button, 1, self.count)
        arrange(QHBoxLayout(foot), *buttons, edges=(edge, gap, edge, gap), gap=gap)
        middle = arrange(QHBoxLayout(), (left, 1), (right, 1), edges=0, gap=0)
        arrange(QVBoxLayout(self), head, (middle, 1), foot, edges=0, gap=0)
        mark_area(self, surface="base")

    # ---- what is tuned ---------------------------------------------------------------------------

    @property
    def changed(self) -> dict[str, str]:
        """Values that are others than the file's, as they are written."""
        return {knob.name: knob.text for knob in self.knobs if knob.is_changed}

    @property
    def values(self) -> dict[str, float]:
        return {knob.name: knob.value for knob in self.knobs if knob.is_changed}

    def begin(
        self, spec: StudySpec, written: Mapping[str, float], point: TunedPoint | None, run_s: float
    ) -> None:
        """The circuit is loaded: `written` are its values, `point` what they give. What was moved stays."""
        self._spec, self._file_point, self._point, self._run_s = spec, point, point, run_s
        wanted = []
        for parameter in spec.parameters:
            value = written.get(parameter.name, math.nan)
            steps = steps_of(parameter)
            wanted.append((parameter.name, steps, steps[len(steps) // 2] if math.isnan(value) else value))
        # One that is like before stays: it may be under somebody's hand.
        if wanted != [(knob.name, knob.steps, knob.written) for knob in self.knobs]:
            self._make_knobs(wanted)
        gap = self._services.theme.theme.size("space.2")
        height = sum(knob.height() + gap for knob in self.knobs) + gap
        self._knobs.setMaximumHeight(height)  # what is measured stands right below them
        self._knobs.setMinimumHeight(min(height, _LEAST_KNOBS * height // max(len(self.knobs), 1)))
        self._fill_subjects()
        self._show_all()
        if self.values:
            self.wanted.emit(self.values)

    def _make_knobs(self, wanted: Sequence[tuple[str, tuple[float, ...], float]]) -> None:
        """Names, steps and values as written; what was moved stays where it is."""
        before = {knob.name.lower(): knob.value for knob in self.knobs if knob.is_changed}
        for knob in self.knobs:
            self._knob_column.removeWidget(knob)
            knob.hide()
            knob.deleteLater()
        self.knobs = []
        for name, steps, value in wanted:
            knob = Knob(self._services, name, steps, value, before.get(name.lower(), value))
            knob.moved.connect(self._on_moved)
            self._knob_column.addWidget(knob)
            self.knobs.append(knob)

    def show_point(self, point: TunedPoint, run_s: float) -> None:
        """What the newest values give."""
        self._point, self._run_s = point, run_s
        self._show_all()

    def set_live(self, *, is_live: bool) -> None:
        """Whether the circuit is loaded, so that what is shown follows the sliders."""
        self._is_live = is_live
        self._name()

    def set_applied(self, *, is_applied: bool) -> None:
        self._is_applied = is_applied
        self._name()

    def retranslate(self) -> None:
        self._show_all()

    def _on_moved(self, is_held: bool) -> None:
        self._name()
        if not (is_held and self._run_s > SLOW_S):
            self.wanted.emit(self.values)

    def go_back(self) -> None:
        """Every slider to the file's value."""
        for knob in self.knobs:
            knob.set_value(knob.written)
        self._name()
        self.wanted.emit({})

    def _on_apply(self, _checked: bool = False) -> None:
        if self._is_applied and not self.changed:
            self.undo_wanted.emit()
        else:
            self.values_wanted.emit(self.changed)

    # ---- what follows ----------------------------------------------------------------------------

    def _show_all(self) -> None:
        self._name()
        self._show_figures()
        self._draw()

    def _name(self) -> None:
        language = self._services.language
        milliseconds = f"{1000 * self._run_s:.0f}"
        text = msg("live, {time} ms a run", time=milliseconds)
        if self._run_s > SLOW_S:
            text = msg("{time} ms a run: follows when the slider is released", time=milliseconds)
        if not self._is_live:
            text = msg("Stopped. Moving a slider starts tuning again.")
        self.head.setText(language(text) if self.knobs else "")
        is_undo = self._is_applied and not self.changed
        word = msg("Undo the change") if is_undo else msg("Apply as one undoable change")
        self.apply_button.setText(language(word))
        mark(self.apply_button, kind="secondary" if is_undo else "primary")
        self.diff_button.setText(language(msg("Show as diff")))
        self.back_button.setText(language(msg("Back to the file's values")))
        count = len(self.changed)
        self.count.setText(language(msg("{count} of {total} changed", count=count, total=len(self.knobs))))
        self.apply_button.setEnabled(bool(count) or is_undo)
        self.diff_button.setEnabled(bool(count))
        self.back_button.setEnabled(bool(count))
        self.subject.setAccessibleName(language(msg("Curve")))
        self.table.setAccessibleName(language(msg("Measurements")))
        self._no_curve.setText(language(msg("The circuit's analyses have no curve to draw.")))

    def _show_figures(self) -> None:
        spec, point, file_point = self._spec, self._point, self._file_point
        if spec is None or point is None:
            return
        language = self._services.language
        error = next((issue.message for issue in point.issues if issue.severity == "error"), None)
        self._problem.setVisible(point.state != "ok")
        if point.state != "ok":
            self._problem.setText(language(error or msg("The simulation failed")))
        goals = {goal.metric.lower(): goal for goal in spec.goals}
        verdicts = []
        for goal in spec.goals:
            name = next((each for each in point.metrics if each.lower() == goal.metric.lower()), goal.metric)
            value, unit = point.metrics.get(name, math.nan), point.units.get(name, "") or goal.unit
            judged = replace(goal, unit=unit)
            verdicts.append(
                GoalVerdict(goal=judged, measured=Quantity(value=value, unit=unit), met=goal.is_met_by(value))
            )
        self.goals.show_verdicts(verdicts)
        columns = [
            Column(title=language(msg("Measurement"))),
            Column(title=language(msg("File")), is_number=True),
            Column(title=language(msg("Now")), is_number=True, is_strong=True),
        ]
        rows = []
        for name, value in point.metrics.items():
            if name.lower() not in goals:
                unit = point.units.get(name, "")
                problem = point.problems.get(name)
                before = math.nan if file_point is None else file_point.metrics.get(name, math.nan)
                rows.append(
                    [
                        Cell(text=name, tip="" if problem is None else language(problem)),
                        Cell(text=shown_or_dash(before, unit), color="text.tertiary"),
                        Cell(text=shown_or_dash(value, unit)),
                    ]
                )
        self.table.show_rows(columns, rows)
        self.table.setVisible(bool(rows))

    def _fill_subjects(self) -> None:
        from presentation.panels.waveforms.traces import axis_of, default_expressions, drawable

        point = self._file_point
        found: dict[str, str] = {}
        for plot in () if point is None else point.plots:
            if axis_of(plot) is None:
                continue
            usual, asked = default_expressions(plot), self._asked_of()
            # The first is drawn unasked: what goals look at, in the way such a plot is usually drawn.
            looked_at = [each for each in usual if any(each in subject for subject in asked)]
            wanted = [*looked_at, *asked, *usual]
            for expression in drawable(plot, list(dict.fromkeys(wanted))):
                found.setdefault(f"{plot.analysis}\n{expression}", f"{expression} · {plot.analysis}")
        self.subject.offer(list(found), found)
        self.subject.setVisible(bool(found))

    def _asked_of(self) -> list[str]:
        """What goals look at: the vectors inside their expressions."""
        from presentation.panels.waveforms.plot_marks import subject_of

        goals = () if self._spec is None else self._spec.goals
        measures = {} if self._spec is None else self._spec.measures
        texts = (measures.get(goal.metric, goal.expression) for goal in goals)
        return [subject for text in texts if text and (subject := subject_of(text))]

    def _draw(self) -> None:
        self._request += 1
        self._services.start(self._prepare(self._request), kind="draw tuning", scope=f"draw {id(self)}")

    async def _prepare(self, request: int) -> None:
        point, file_point, chosen = self._point, self._file_point, self.subject.chosen
        if point is None or file_point is None or "\n" not in chosen:
            self._plots.setCurrentWidget(self._no_curve)
            return
        analysis, expression = chosen.split("\n", 1)
        goals = [] if self._spec is None else self._goals_with_expressions(self._spec, point.units)
        made = await asyncio.to_thread(
            _made, point.plots, file_point.plots, analysis, expression, goals, is_same=point is file_point
        )
        if request != self._request or made is None:
            return
        axis, traces, ghosts, marks = made
        if self.area is None:
            from presentation.panels.waveforms.plot_area import PlotArea

            self.area = PlotArea(self._services.theme.theme)
            self.area.setObjectName("tune_area")
            self.area.set_cursors_shown(False)
            self._plots.addWidget(self.area)
        self.traces = traces
        self.area.setAccessibleName(self._services.language(msg("Plot")))
        self.area.show_traces(axis, traces, ghosts=ghosts, keep_view=True)
        self.area.show_marks(marks, partial(limit_words, self._services.language))
        self._plots.setCurrentWidget(self.area)

    def _goals_with_expressions(self, spec: StudySpec, units: Mapping[str, str]) -> list[DesignGoal]:
        """The goals with what measures them, in the unit of what was measured."""
        return [
            replace(
                goal,
                expression=spec.measures.get(goal.metric, goal.expression),
                unit=units.get(goal.metric, "") or goal.unit,
            )
            for goal in spec.goals
        ]

    def _restyle(self, _theme: object = None) -> None:
        if self.area is not None:
            self.area.use(self._services.theme.theme)


def steps_of(parameter: Any) -> tuple[float, ...]:
    """The values a slider goes through: those of a series or a list, else 201 from end to end."""
    from domain.studies.sampling import sweep_values

    span = parameter.range
    if span is not None and span.scale in ("lin", "log"):
        parameter = replace(parameter, range=replace(span, points=_STEPS + 1))
        return _shortest(sorted(sweep_values(parameter)))
    return tuple(sorted(sweep_values(parameter)))


def _shortest(values: Sequence[float]) -> tuple[float, ...]:
    """With so few digits as keep them apart: nobody wants 4.63897 in the circuit where 4.64 is as good."""
    for digits in range(3, DIGITS):
        found = tuple(float(f"{value:.{digits - 1}e}") for value in values)
        if len(set(found)) == len(values):
            return found
    return tuple(values)


def _made(
    plots: Sequence[Plot],
    file_plots: Sequence[Plot],
    analysis: str,
    expression: str,
    goals: Sequence[DesignGoal],
    *,
    is_same: bool,
) -> tuple[Axis, list[Trace], list[Trace], tuple[Mark, ...]] | None:
    """The curve as it is now and, pale, as it is in the file; None where it cannot be drawn. Slow."""
    from presentation.panels.waveforms.plot_marks import marks_of
    from presentation.panels.waveforms.traces import axis_of, make_trace

    plot = next((each for each in plots if each.analysis == analysis), None)
    axis = None if plot is None else axis_of(plot)
    if plot is None or axis is None:
        return None
    trace = make_trace(expression, plot, axis, 0)
    if trace.error is not None:
        return None
    ghosts = []
    before = next((each for each in file_plots if each.analysis == analysis), None)
    before_axis = None if before is None else axis_of(before)
    if before is not None and before_axis is not None and not is_same:
        ghosts.append(make_trace(expression, before, before_axis, 0, is_ghost=True))
    return axis, [trace], ghosts, marks_of(plot, axis, (trace,), goals, ())
