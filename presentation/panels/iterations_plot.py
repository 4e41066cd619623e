"""What each round's circuit does, over each other: one line for a round, the limits of the goals behind."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from pathlib import Path

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QStackedLayout, QWidget

from application.design.rounds import DesignRound, DesignRounds
from application.groups.simulation import Simulation
from domain.simulation.waveform import Plot
from presentation.goal_words import limit_words
from presentation.panels.waveforms.plot_area import PlotArea
from presentation.panels.waveforms.plot_marks import Mark
from presentation.panels.waveforms.trace_chip import TraceChip
from presentation.panels.waveforms.traces import Axis, Trace
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import msg

_MOST_ROUNDS = 8
"""The newest; each has a colour of its own."""
_BELOW_DB, _ABOVE_DB = 1.5, 1.0


class IterationsPlot(QWidget):
    """The curves, and a bar (`bar`) to be put above them: what is drawn, and a chip for each round."""

    def __init__(self, services: WindowServices, simulation: Simulation) -> None:
        super().__init__()
        self._services = services
        self._simulation = simulation
        self._found: DesignRounds | None = None
        self._shown: DesignRounds | None = None
        """Those whose curves were read."""
        self._plots: dict[Path, tuple[Plot, ...]] = {}
        self.curves: list[tuple[DesignRound, Trace]] = []
        self._axis: Axis | None = None
        self._hidden: set[int] = set()
        self._chosen: int | None = None
        self._marks: tuple[Mark, ...] = ()
        self._request = 0
        self.area: PlotArea | None = None
        """The drawing; None until curves were read."""
        self._chips: list[TraceChip] = []
        self.bar = QWidget()
        self.subject = QComboBox()
        self.subject.setObjectName("iterations_subject")
        self.subject.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.subject.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        mark(self.subject, small=True)
        self.subject.activated.connect(lambda _index: self._start())
        self._chip_row = QHBoxLayout()
        self.tools = QHBoxLayout(self.bar)
        """Buttons may be added at its end."""
        arrange(self.tools, self.subject, self._chip_row)
        self.shift_note = text_label(name="iterations_shift", role="tertiary")
        self.shift_note.hide()
        arrange(self.tools, self.shift_note, 1)
        mark_area(self.bar, surface="base", line="bottom")
        self._note = QLabel()
        self._note.setWordWrap(True)
        self._note.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        mark(self._note, role="tertiary")
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._note)

    def show_rounds(self, found: DesignRounds | None) -> None:
        """Draw the curves of these rounds (None: of none), if they are not drawn already."""
        self._found = found
        if found is not self._shown:
            self._start()

    def choose(self, number: int | None) -> None:
        """Draw the round with this number stronger than the others; it need not be drawn yet."""
        self._chosen = number
        self._select()

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge = theme.size("space.3")
        arrange(self.tools, edges=(edge, 0, theme.size("space.2"), 0), gap=theme.size("space.2"))
        self._chip_row.setSpacing(theme.size("space.2"))
        self.bar.setFixedHeight(theme.size("row.toolbar") + 1)
        self._note.setContentsMargins(edge, edge, edge, edge)
        for chip in self._chips:
            chip.updateGeometry()
        if self.area is not None:
            self.area.use(theme)

    def retranslate(self) -> None:
        language = self._services.language
        self._note.setText(language(msg("The results of these rounds are gone or contain no curves.")))
        self.subject.setAccessibleName(language(msg("Plotted traces")))
        self.shift_note.setText(language(msg("time from the start of each window")))
        self.shift_note.setToolTip(
            language(msg("The rounds were measured at different times, so each begins at 0 here."))
        )
        self._show_chips()

    def _start(self) -> None:
        self._request += 1
        self._shown = self._found
        if self._found is None:
            self.curves, self._axis, self._plots, self._hidden = [], None, {}, set()
            self.subject.clear()
            self._show_chips()
            self._stack.setCurrentWidget(self._note)
            return
        self._services.start(
            self._prepare(self._found, self._request), kind="draw rounds", scope="iterations"
        )

    async def _prepare(self, found: DesignRounds, request: int) -> None:
        rounds = found.rounds[-_MOST_ROUNDS:]
        for each in rounds:
            await self._read(each)
        wanted = self.subject.currentData()
        subjects, made = await asyncio.to_thread(_made, found, self._plots, rounds, wanted)
        if request != self._request:
            return
        self._fill_subjects(subjects, None if made is None else made.subject)
        self._axis = None if made is None else made.axis
        self.shift_note.setVisible(made is not None and made.is_shifted)
        self.curves = [] if made is None else made.curves
        self._marks = () if made is None else made.marks
        self._show_chips()
        self._draw()

    async def _read(self, each: DesignRound) -> None:
        path = each.result_path
        if path is None or path in self._plots:
            return
        try:
            self._plots[path] = (await self._simulation.waveforms(path)).plots
        except CircuitAIError:  # deleted since: the round has its figures in the table
            self._plots[path] = ()

    def _fill_subjects(self, subjects: Sequence[tuple[str, str]], shown: tuple[str, str] | None) -> None:
        self.subject.clear()
        for analysis, expression in subjects:
            self.subject.addItem(f"{expression} · {analysis}", (analysis, expression))
        if shown is not None and shown in subjects:
            self.subject.setCurrentIndex(list(subjects).index(shown))
        self.subject.setVisible(bool(subjects))

    def _show_chips(self) -> None:
        for chip in self._chips:
            self._chip_row.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self._chips = []
        for each, trace in self.curves:
            name = self._services.language(msg("Round {number}", number=each.number))
            chip = TraceChip(self._services, name, trace.color, can_be_removed=False)
            chip.setObjectName(f"iteration:{each.number}")
            chip.set_hint(msg("{name}: click to show or hide it", name=name))
            chip.setChecked(each.number not in self._hidden)
            chip.toggled.connect(lambda is_on, number=each.number: self._on_toggled(number, is_on=is_on))
            self._chip_row.addWidget(chip)
            self._chips.append(chip)

    def _on_toggled(self, number: int, *, is_on: bool) -> None:
        (self._hidden.discard if is_on else self._hidden.add)(number)
        self._draw()

    def _draw(self) -> None:
        if self._axis is None or not self.curves:
            self._stack.setCurrentWidget(self._note)
            return
        if self.area is None:
            self.area = PlotArea(self._services.theme.theme)
            self._services.shortcuts.answer(self.area, self.area.acts)
            self.area.setObjectName("iterations_area")
            self.area.set_cursors_shown(False)
            self._stack.addWidget(self.area)
        self.area.setAccessibleName(self._services.language(msg("Plot")))
        seen = [trace for each, trace in self.curves if each.number not in self._hidden]
        self.area.show_traces(self._axis, seen, keep_view=True)
        self.area.show_marks(self._marks, partial(limit_words, self._services.language))
        self._look_at_limits()
        self._select()
        self._stack.setCurrentWidget(self.area)

    def _look_at_limits(self) -> None:
        """Where a frequency is asked for, the pass band is what one has to see."""
        from presentation.panels.waveforms.plot_marks import PlaceMark

        gate = next((found for found in self._marks if isinstance(found, PlaceMark)), None)
        if gate is None or self._axis is None or self.area is None or not self._axis.is_log:
            return
        sides = [side for side in (gate.low, gate.high) if side is not None]
        left, right = max(min(sides) - 1.0, self._axis.low), min(max(sides) + 0.3, self._axis.high)
        inside = (self._axis.coordinates >= left) & (self._axis.coordinates <= right)
        top = max((float(trace.curves[0].values[inside].max()) for _, trace in self.curves), default=0.0)
        if right > left:
            self.area.show_range((left, right), (gate.level - _BELOW_DB, top + _ABOVE_DB))

    def _select(self) -> None:
        if self.area is None:
            return
        name = next((trace.expression for each, trace in self.curves if each.number == self._chosen), None)
        self.area.select(name)


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """What was made off the loop."""

    subject: tuple[str, str]
    axis: Axis
    curves: list[tuple[DesignRound, Trace]]
    marks: tuple[Mark, ...]
    _: KW_ONLY
    is_shifted: bool = False
    """The windows lay at different times: each begins at 0."""


def _made(
    found: DesignRounds,
    plots: dict[Path, tuple[Plot, ...]],
    rounds: Sequence[DesignRound],
    wanted: tuple[str, str] | None,
) -> tuple[list[tuple[str, str]], _Made | None]:
    """What can be drawn, (analysis, expression) each, and the curves of one of these: slow."""
    import numpy as np

    from presentation.panels.waveforms.plot_marks import marks_of, subject_of
    from presentation.panels.waveforms.traces import axis_of, make_trace

    drawn = [each for each in rounds if each.result_path is not None and plots.get(each.result_path)]
    if not drawn:
        return [], None
    with_axis = {
        each.number: [(plot, axis) for plot in plots[path] if (axis := axis_of(plot)) is not None]
        for each in drawn
        if (path := each.result_path) is not None
    }
    expressions = dict.fromkeys(text for goal in found.goals if (text := subject_of(goal.expression)))
    subjects = [
        (plot.analysis, expression)
        for expression in expressions
        for plot, axis in with_axis[drawn[-1].number]
        if make_trace(expression, plot, axis, 0).error is None
    ]
    if not subjects:
        return [], None
    subject = wanted if wanted in subjects else subjects[0]
    analysis, expression = subject
    curves: list[tuple[DesignRound, Trace]] = []
    common: Axis | None = None
    marks: tuple[Mark, ...] = ()
    shown = {
        number: first
        for number, pairs in with_axis.items()
        if (first := next((pair for pair in pairs if pair[0].analysis == analysis), None)) is not None
    }
    axes = [axis for _, axis in shown.values()]
    is_shifted = _lie_apart(axes)
    for each in (each for each in reversed(drawn) if each.number in shown):
        its_plot, axis = shown[each.number]
        if is_shifted:
            axis = _from_zero(axis, max(other.high - other.low for other in axes))
        trace = make_trace(expression, its_plot, axis, each.number - 1)
        if trace.error is not None or not trace.curves:
            continue
        curve = trace.curves[0]
        if common is None:
            common = axis
            marks = marks_of(its_plot, axis, (trace,), found.goals, ())
        else:
            # Nothing is read, or exported, beyond what this round has simulated.
            values = np.interp(common.coordinates, axis.coordinates, curve.values, left=np.nan, right=np.nan)
            curve = replace(curve, values=values)
        curves.append((each, replace(trace, expression=f"{expression} #{each.number}", curves=(curve,))))
    curves.reverse()
    return subjects, (
        None if common is None else _Made(subject, common, curves, marks, is_shifted=is_shifted)
    )


def _lie_apart(axes: Sequence[Axis]) -> bool:
    """Whether stretches of time begin at different moments: on one axis each would be a sliver of it."""
    if len(axes) < 2 or any(axis.unit != "s" for axis in axes):
        return False
    begins = [axis.low for axis in axes]
    return max(begins) - min(begins) > 1e-3 * max(axis.high - axis.low for axis in axes)


def _from_zero(axis: Axis, longest: float) -> Axis:
    """The same stretch of time counted from its begin, as long as the longest of them."""
    return replace(
        axis,
        values=axis.values - axis.low,
        coordinates=axis.coordinates - axis.low,
        low=0.0,
        high=longest,
    )
