"""The waveforms of the shown result: which analysis, which traces, the drawing, and the figures beside it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PyQt6 import sip
from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from application.groups.project import Project
from application.groups.simulation import Simulation
from application.project.window_state import CircuitView
from domain.simulation.expressions import step_named_in
from domain.simulation.waveform import Plot, plot_prefixes
from presentation.panels.waveforms.beside.pair import CurvesAndBeside
from presentation.panels.waveforms.cursor_table import CursorStrip, CursorTable
from presentation.panels.waveforms.family import (
    Choice,
    choices_of,
    names_of,
    step_label,
    with_shade,
)
from presentation.panels.waveforms.family_runs import FamilyRuns
from presentation.panels.waveforms.plot_area import PlotArea
from presentation.panels.waveforms.plot_foot import PlotFoot
from presentation.panels.waveforms.plot_hands import PlotHands
from presentation.panels.waveforms.plot_hint import PlotHint
from presentation.panels.waveforms.plot_tools import PlotTools
from presentation.panels.waveforms.results_view import MeasurementsView, ValueTable
from presentation.panels.waveforms.run_note import RunNote, notes_of_drawing
from presentation.panels.waveforms.run_overlay import RunOverlay
from presentation.panels.waveforms.shown_result import ShownResult
from presentation.panels.waveforms.traces import Axis, Trace, TraceColors
from presentation.ui.late_imports import PLOT_AREA, PLOT_TRACES, import_qt
from presentation.ui.parts import arrange, once_after, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import Message, msg

if TYPE_CHECKING:
    from presentation.panels.waveforms.beside.drawing import BesideKind, Subject

_SIGNAL = re.compile(r"(?<![\w.])([vi]\()", re.IGNORECASE)
_SIDE_WIDTH = 272
_NARROW = 720
"""Below this width the figures at the right make room for the drawing."""
_NARROW_BESIDE = 1200
"""The same while something is drawn beside the curves."""
_ROOM_FOR_LEGEND = 420
"""The curves of a family have a legend beside them from this width on."""
_LOW = 180
"""Below this height they would show no more than their heads."""
_SLOW_MS = 300
"""A result that is read within this time is read without a word: a line that comes and goes at once would
only make the drawing jump."""

_FRAME_MS = 16
"""One picture of the screen: drawing twice within it is work that nobody sees."""


class WaveformsPanel(QWidget):
    """One plot of the shown result at a time. pyqtgraph and numpy are imported with the first result."""

    measurements_wanted = pyqtSignal()
    """all of them, in their own tab"""
    drawn = pyqtSignal()
    """the curves of a result, or of more of it, have been drawn"""

    def __init__(
        self, services: WindowServices, project: Project, simulation: Simulation, shown: ShownResult
    ) -> None:
        super().__init__()
        self._services = services
        self._project, self._simulation = project, simulation
        self._shown = shown
        self._plot: Plot | None = None
        self._axis: Axis | None = None
        self._traces: tuple[Trace, ...] = ()
        self._circuit: Path | None = None
        """Of the drawing; traces and zoom are kept for each circuit."""
        self._waiting: list[str] = []
        """Expressions to be drawn as soon as the result is."""
        self._missing: tuple[str, ...] = ()
        """Chosen expressions that the shown run does not have."""
        self._choices: list[Choice] = []
        self._family: tuple[Plot, ...] = ()
        """The runs of a `.step` that are drawn together; () while one plot is shown."""
        self._ghosts: tuple[Trace, ...] = ()
        """Of older runs."""
        self._selected: str | None = None
        self._request = self._adornment = 0
        self._adorned: tuple[object, ...] = ()
        """What the latest adornment answers to, beside the traces."""
        self._slow = once_after(self, _SLOW_MS, self._show_note)
        self._zoomed = once_after(self, _SLOW_MS, self._note_view)
        self._added = once_after(self, _FRAME_MS, self._draw_added)
        self._area: PlotArea | None = None
        self._has_side = False
        """Whether the cursors are read in the table beside the plot, not in the strip below it."""
        self._cursor_table: CursorTable | None = None
        self._strip: CursorStrip | None = None
        self._colors: TraceColors | None = None
        self.setObjectName("waveforms")
        self._build()
        self._hands = PlotHands(services, self)
        shown.changed.connect(self._on_result)
        shown.grown.connect(self._on_result)
        shown.loading.connect(self._slow.start)
        shown.stale_changed.connect(self._show_note)
        shown.measured.connect(self._on_measured)
        shown.steps_wanted.connect(lambda name: self.beside.show_kind("steps", figure=name))
        services.dress(self)

    @property
    def area(self) -> PlotArea | None:
        """The drawing; None until the first result is there."""
        return self._area

    @property
    def traces(self) -> Sequence[Trace]:
        return self._traces

    @property
    def widget(self) -> QWidget:
        return self

    @property
    def has_drawing(self) -> bool:
        """Whether curves are shown, and not a table or words."""
        return self._axis is not None and self._area is not None

    @property
    def axis_unit(self) -> str:
        return "" if self._axis is None else self._axis.unit

    @property
    def axis(self) -> Axis | None:
        """Of the drawing; None while there is none."""
        return self._axis

    @property
    def selected(self) -> str | None:
        """The expression of the trace that is drawn stronger."""
        return self._selected

    @property
    def cursor_table(self) -> CursorTable | None:
        """What the cursors read; None until the first result is there."""
        return self._cursor_table

    def choose_plot(self, index: int) -> None:
        if 0 <= index < len(self._choices):
            chosen = self._choices[index]
            is_same_kind = self._plot is not None and self._plot.analysis == chosen.plot.analysis
            self._keep_zoom()
            self._zoomed.stop()  # until the other is drawn the area shows the range of this one
            self._plot, self._family = chosen.plot, chosen.family
            self._view.analysis = self._plot.analysis
            self._services.workspace.views.tell()
            self._start(keep_view=is_same_kind)

    def add_trace(self, expression: str) -> None:
        """Draw one expression more; one that cannot be drawn is refused in words."""
        if self._plot is None or any(trace.expression == expression for trace in self._traces):
            self.chips.end_adding(expression)
        elif self._axis is None:
            # Another result is being drawn: with this one too.
            self._waiting.append(expression)
            self.chips.end_adding(expression)
        else:
            self._services.start(
                self._add(expression, self._plot, self._axis), kind="draw trace", scope="waveforms"
            )

    def show_in_text(self, expression: str) -> None:
        """Show where what it plots stands in the circuit."""
        if self._circuit is not None:
            self._services.workspace.trace_located.emit(self._circuit, expression)

    def show_trace(self, expression: str) -> None:
        """Draw an expression if it is not drawn yet, and put it in front of the others."""
        self.add_trace(expression)
        self._on_selected(expression)
        self._show_chips()

    def remove_trace(self, expression: str) -> None:
        if self._plot is None or self._axis is None:
            return
        self._traces = tuple(trace for trace in self._traces if trace.expression != expression)
        self._remember()
        self._draw(keep_view=True)

    def replace_trace(self, old: str, new: str) -> None:
        """Draw another expression in the place of one; one that cannot be drawn is refused in words."""
        if self._plot is not None and self._axis is not None and self._colors is not None:
            if any(trace.expression == new for trace in self._traces):
                self.chips.end_adding()
                self.remove_trace(old)
                return
            from presentation.panels.waveforms.plot_looks import move_style

            self._colors.pass_on(old, new)
            move_style(self._view, old, new)
            self._services.start(
                self._add(new, self._plot, self._axis, instead_of=old), kind="draw trace", scope="waveforms"
            )

    def keep_traces(self, expressions: Sequence[str]) -> None:
        """Remove all others."""
        if self._plot is not None and self._axis is not None:
            self._traces = tuple(trace for trace in self._traces if trace.expression in expressions)
            self._remember()
            self._draw(keep_view=True)

    def draw_expressions(self, expressions: Sequence[str]) -> None:
        """Draw just these, in this order."""
        if self._plot is not None:
            self._view.traces[self._plot.analysis] = list(expressions)
            self._services.workspace.views.tell()
            self._start(keep_view=True)

    @property
    def view(self) -> CircuitView:
        """How the shown circuit is looked at, to be changed in place."""
        return self._view

    @property
    def analysis(self) -> str:
        """The kind that is shown; "" while there is none."""
        return "" if self._plot is None else self._plot.analysis

    @property
    def plot(self) -> Plot | None:
        return self._plot

    def plots_of(self, expression: str) -> Sequence[Plot]:
        """What an expression is evaluated on: the shown plot, and the runs it may name."""
        if self._plot is None:
            return ()
        siblings = self._siblings(self._plot)
        return siblings if siblings and step_named_in(expression) is not None else (self._plot,)

    def choose_trace(self, expression: str) -> None:
        """Draw a trace stronger than the others."""
        self._on_selected(expression)
        self._show_chips()

    def draw_again(self) -> None:
        """The look of the plot is another."""
        self._services.workspace.views.tell()
        if self._plot is not None and self._axis is not None:
            self._start(keep_view=True)

    def put_cursor(self, name: Literal["a", "b"], place: float) -> None:
        """Show a cursor at a place of the axis (its coordinate)."""
        if self._axis is not None and self._area is not None:
            self.cursor_button.setChecked(True)
            self._area.move_cursor(name, self._axis.nearest(place))

    def named_with_analysis(self, expression: str) -> str:
        """An expression as it is measured: another analysis of the run may have the same signals."""
        loaded = self._shown.loaded
        if loaded is None or self._plot is None or self._family or len(loaded.plots) < 2:
            return expression
        prefixes = dict(zip(map(id, loaded.plots), plot_prefixes(loaded.plots), strict=True))
        prefix = prefixes.get(id(self._plot), "")
        if prefix == f"{self._plot.analysis}1":
            prefix = self._plot.analysis
        return _SIGNAL.sub(rf"{prefix}.\1", expression) if prefix else expression

    def measure(self, expression: str) -> None:
        """Measure it on this run and the next ones of the circuit."""
        self._shown.add_measurement(expression)

    def draw_beside(self, kind: BesideKind, expression: str) -> None:
        """Choose a trace, and draw this of it beside the curves."""
        self.choose_trace(expression)
        self.beside.show_kind(kind)

    def copy_plot(self) -> None:
        """The picture, and the values of the shown part."""
        self._copy(self._traces, has_picture=True)

    def copy_values(self, expression: str) -> None:
        """Those of one trace in the shown part."""
        self._copy([trace for trace in self._traces if trace.expression == expression], has_picture=False)

    def _copy(self, traces: Sequence[Trace], *, has_picture: bool) -> None:
        if self._axis is not None and self._area is not None:
            from presentation.panels.waveforms.export import copy_plot

            copying = copy_plot(
                self._services,
                self._area,
                self._axis,
                traces,
                name=self.plot_choice.currentText(),
                has_picture=has_picture,
            )
            self._services.start(copying, kind="copy plot", scope="export")

    def restyle(self, _theme: object = None) -> None:
        theme = self._services.theme.theme
        self.tools.restyle()
        self._side.setFixedWidth(round(_SIDE_WIDTH * theme.scale))
        edge = theme.size("space.3")
        self._note.restyle()
        self.beside.restyle(theme)
        self.runs.restyle(theme)
        self._show_runs()
        self._empty.setContentsMargins(edge, edge, edge, edge)
        if self._area is not None:
            self._area.use(theme)

    def retranslate(self, _name: object = None) -> None:
        self._note.retranslate()
        self.beside.retranslate()
        self.runs.retranslate()
        self.tools.retranslate()
        if self._cursor_table is not None:
            self._cursor_table.retranslate()
        if self._strip is not None:
            self._strip.retranslate()
        self._foot.retranslate()
        self._fill_choice()
        self._show_note()
        self._show_body()
        if self._area is not None:
            self._area.use(self._services.theme.theme)  # goals are called by words

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Narrower than all that could be shown: the figures give way."""
        theme = self._services.theme.theme
        return QSize(theme.size("pane.editor_min"), theme.size("pane.bottom_min") // 2)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """The figures give way when there is little room."""
        super().resizeEvent(event)
        self._show_side()

    def _show_side(self) -> None:
        scale = self._services.theme.theme.scale
        # Two drawings beside each other need the room of the figures.
        is_wide = self.width() >= (_NARROW if self.beside.kind is None else _NARROW_BESIDE) * scale
        has_side = is_wide and self.height() >= _LOW * scale and self._shown.loaded is not None
        self._side.setVisible(has_side)
        has_drawing = self._axis is not None and self._area is not None and not has_side
        if self._strip is not None:
            # Every number stays: where there is no room beside the plot, they stand below it.
            self._strip.setVisible(
                has_drawing and self.cursor_button.isChecked() and self.height() >= _LOW * scale * 1.5
            )
        self._foot.setVisible(has_drawing and self.beside.kind is None)
        has_curves = self._axis is not None and self._area is not None and self.beside.kind is None
        self._hint.show_where_needed(has_room=has_curves and self.height() >= _LOW * scale * 1.5)
        if has_side != self._has_side:
            self._has_side = has_side
            if self._area is not None:
                self._on_cursors_moved(*self._area.cursor_samples)
        self._show_runs()

    def _build(self) -> None:
        self._build_tools()
        self._note = RunNote(self._services, "waveforms", lambda: self._shown.circuit)
        self._refused: Message | None = None
        self.table = ValueTable(self._services)
        self._empty = text_label(name="waveforms_empty", wraps=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        mark(self._empty, role="tertiary")
        self._body = QStackedWidget()
        self._body.addWidget(self._empty)
        self._body.addWidget(self.table)
        self._main = main = QVBoxLayout()
        self._side = QWidget()
        mark_area(self._side, surface="base", line="left")
        self._side_column = QVBoxLayout(self._side)
        whole = QHBoxLayout(self)
        for layout in (main, self._side_column, whole):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        self.runs = FamilyRuns(self._services)
        self.runs.drawn_changed.connect(self._adorn)
        self.runs.read_wanted.connect(self._read_run)
        curves = QWidget()
        arrange(QHBoxLayout(curves), (self._body, 1), self.runs, edges=0, gap=0)
        self.beside = CurvesAndBeside(self._services, curves, self._subject)
        self.runs.drawn_changed.connect(self.beside.changed)
        self.beside.shown_changed.connect(self._on_beside)
        arrange(main, self.tools, self._note, (self.beside, 1))
        self._foot = PlotFoot(self._services, self._shown)
        self._foot.all_wanted.connect(self.measurements_wanted)
        main.addWidget(self._foot)
        self._hint = PlotHint(self._services)
        main.addWidget(self._hint)
        self._side_column.setContentsMargins(1, 0, 0, 0)
        self._side_column.addWidget(
            MeasurementsView(self._services, self._project, self._shown, is_compact=True), 1
        )
        arrange(whole, (main, 1), self._side)
        mark_area(self, surface="base")

    def _build_tools(self) -> None:
        self.tools = tools = PlotTools(self._services)
        self.plot_choice, self.chips = tools.plot_choice, tools.chips
        self.cursor_button, self.fit_button = tools.cursors, tools.fit
        self.plot_choice.activated.connect(self.choose_plot)
        self.chips.trace_added.connect(self.add_trace)
        self.chips.trace_removed.connect(self.remove_trace)
        self.chips.trace_selected.connect(self._on_selected)
        self.cursor_button.toggled.connect(self._on_cursors_toggled)
        tools.beside.clicked.connect(lambda _checked: self.beside.toggle())
        self.fit_button.clicked.connect(lambda: None if self._area is None else self._area.fit())
        self.overlay = RunOverlay(self._services, self._project, self._simulation, self._shown, tools.overlay)
        self.overlay.changed.connect(self._adorn)
        self._services.workspace.file_moved.connect(self._follow)
        tools.export_asked.connect(self._on_export)

    def _follow(self, _old: object, _new: object) -> None:
        """The shown circuit may have another name: its view has moved with it."""
        self._circuit = self._shown.circuit

    def _on_result(self) -> None:
        loaded = self._shown.loaded
        self._keep_zoom()
        before = self._circuit
        self._circuit = self._shown.circuit
        self._missing = ()
        is_same = before == self._circuit
        if loaded is None:
            self._plot, self._axis, self._traces = None, None, ()
            self._choices, self._family = [], ()
            self._colors = None
            self._request += 1
        elif self._shown.error is None or loaded.plots:
            wanted = self._plot.analysis if self._plot is not None and is_same else self._view.analysis
            self._choices = choices_of(loaded.plots)
            plots = [choice.plot for choice in self._choices]
            kinds = [plot.analysis for plot in plots]
            index = kinds.index(wanted) if wanted in kinds else _first_drawn(plots)
            self._plot = plots[index] if plots else None
            self._family = self._choices[index].family if plots else ()
            self._axis, self._traces = None, ()
            self._ghosts = ()
        self._fill_choice()
        self._show_note()
        if self._plot is not None and loaded is not None:
            self._start(keep_view=is_same)
        else:
            self._show_chips()
            self._show_body()

    def _start(self, *, keep_view: bool) -> None:
        """Make the traces of the chosen plot off the loop, then draw them."""
        assert self._plot is not None
        self._request += 1
        self._refused = None
        self._fill_choice()
        self._services.start(
            self._prepare(self._plot, self._request, keep_view=keep_view),
            kind="draw waveforms",
            scope="waveforms",
        )

    async def _prepare(self, plot: Plot, request: int, *, keep_view: bool) -> None:
        if self._area is None:
            await import_qt(PLOT_AREA, without_qt=PLOT_TRACES)
            if request != self._request:
                return
        self._make_area()
        from presentation.panels.waveforms.plot_looks import manner_of, styled
        from presentation.panels.waveforms.traces import made_traces

        assert self._colors is not None
        wanted = self._view.traces.get(plot.analysis)
        if wanted is None:
            wanted = await asyncio.to_thread(self._plotted, plot)
        runs, manner = self._siblings(plot), manner_of(self._view, plot.analysis)
        axis, traces = await asyncio.to_thread(made_traces, plot, wanted, self._colors, runs, manner)
        missing = tuple(trace.expression for trace in traces if trace.error is not None)
        if missing and len(missing) == len(traces):
            axis, traces = await asyncio.to_thread(made_traces, plot, None, self._colors, (), manner)
        if request != self._request:
            return
        self._axis = axis
        self._traces = tuple(styled(self._view, trace) for trace in traces if trace.error is None)
        self._missing = missing
        self._draw(keep_view=keep_view)
        if not keep_view and self._area is not None:
            self._area.restore(self._view.zooms.get(plot.analysis, {}))
        is_log = axis is not None and axis.is_log
        self.beside.restore(self._view.beside.get(plot.analysis, ""))
        self._hands.drawn((self._circuit, plot.analysis, is_log), keep_view=keep_view)
        waiting, self._waiting = self._waiting, []
        for expression in waiting:
            self.add_trace(expression)
        self.drawn.emit()

    def _siblings(self, plot: Plot) -> list[Plot]:
        """The runs of a `.step` that an expression may name."""
        loaded = self._shown.loaded
        if loaded is None or plot.step is None:
            return []
        return [each for each in loaded.plots if each.analysis == plot.analysis and each.step is not None]

    def _plotted(self, plot: Plot) -> list[str] | None:
        """What the circuit's own `plot` commands show of this plot, as far as it can be drawn."""
        from presentation.panels.waveforms.traces import drawable

        loaded = self._shown.loaded
        curves = () if loaded is None or loaded.figures is None else loaded.figures.curves
        for analysis, expressions in curves:
            if analysis in ("", plot.analysis) and (found := drawable(plot, expressions)):
                return found
        return None

    def _show_keys(self) -> None:
        self._services.workspace.command_wanted.emit("plot.keys")

    def _acts(self, area: PlotArea) -> Mapping[str, Callable[[], object]]:
        """What keys and menus do in the plot."""
        return {
            **area.acts,
            **self._hands.acts(),
            "plot.keys": self._show_keys,
            "plot.run": self._services.workspace.run_requested.emit,
            "plot.group_delay": self._add_group_delays,
            "plot.run_before": partial(self.overlay.walk, -1),
            "plot.run_after": partial(self.overlay.walk, 1),
            **self.beside.acts,
            **self.runs.acts,
        }

    def _on_beside(self) -> None:
        """What is drawn beside the curves is kept for circuit and analysis, like traces and zoom."""
        self._show_side()
        if self._plot is not None:
            kept, kind, analysis = self._view.beside, self.beside.kind or "", self._plot.analysis
            if kept.get(analysis, "") != kind:
                kept[analysis] = kind
                self._services.workspace.views.tell()

    def _read_run(self, plot: Plot) -> None:
        """Another run of the family is the one that cursors and chips are of."""
        if plot in self._family:
            self._plot = plot
            self._start(keep_view=True)

    def _show_runs(self) -> None:
        """The legend of a family, where there is room beside its curves."""
        has_curves = self._axis is not None and self._area is not None and len(self._family) > 1
        if not has_curves or not self._traces:
            self.runs.show_family((), None, (), has_room=False)
            return
        from presentation.panels.waveforms.panes import family_colors

        chosen = [trace.color for trace in self._traces if trace.expression == self._selected]
        hue = (chosen or [self._traces[-1].color])[0]  # an output stands behind its input
        colors = family_colors(self._services.theme.theme, hue, len(self._family))
        scale = self._services.theme.theme.scale
        room = self.width() - (_SIDE_WIDTH * scale if self._has_side else 0)
        is_wide = room / (1 if self.beside.kind is None else 2) >= _ROOM_FOR_LEGEND * scale
        self.runs.show_family(self._family, self._plot, colors, has_room=is_wide)

    def _add_group_delays(self) -> None:
        """Of the chosen trace, else of all that are complex."""
        for trace in self._traces:
            is_meant = self._selected in (None, trace.expression)
            if is_meant and len(trace.curves) > 1:
                self.add_trace(f"group_delay({trace.expression})")

    def _make_area(self) -> None:
        from presentation.panels.waveforms.cursor_table import CursorStrip, CursorTable
        from presentation.panels.waveforms.plot_area import PlotArea
        from presentation.panels.waveforms.traces import TraceColors

        self._colors = self._colors or TraceColors()
        if self._area is not None:
            return
        self._area = PlotArea(self._services.theme.theme, self._services.language)
        self._area.setAccessibleName(self._services.language(msg("Plot")))
        self._area.cursors_moved.connect(self._on_cursors_moved)
        for changed in (self._area.range_changed, self._area.cursors_moved):
            changed.connect(lambda *_what: self._zoomed.start())
        self._area.box_zoomed.connect(self._hint.learned)
        self._hands.attach(self._area)
        self._services.shortcuts.answer(self._area, self._acts(self._area))
        self._area.range_changed.connect(self.beside.changed)
        self._area.set_cursors_shown(self.cursor_button.isChecked())
        self._body.addWidget(self._area)
        self._cursor_table = CursorTable(self._services)
        self._side_column.addWidget(self._cursor_table)
        self._strip = CursorStrip(self._services)
        self._main.insertWidget(self._main.indexOf(self._foot), self._strip)

    async def _add(self, expression: str, plot: Plot, axis: Axis, *, instead_of: str | None = None) -> None:
        from presentation.panels.waveforms.plot_looks import styled
        from presentation.panels.waveforms.traces import make_trace

        assert self._colors is not None
        color = self._colors.of(expression)
        trace = await asyncio.to_thread(
            make_trace, expression, plot, axis, color, siblings=self._siblings(plot)
        )
        if plot is not self._plot or axis is not self._axis:
            self.add_trace(expression)
            return
        self._refused = trace.error
        trace = styled(self._view, trace)
        if any(known.expression == expression for known in self._traces):
            self.chips.end_adding()
        elif trace.error is None:
            kept = [each.expression for each in self._traces]
            if instead_of in kept:
                at = kept.index(instead_of)
                self._traces = (*self._traces[:at], trace, *self._traces[at + 1 :])
            else:
                self._traces = (*self._traces, trace)
            self._remember()
            self.chips.end_adding(expression)
            self._show_chips()
            if not self._added.isActive():  # several that are added at once are drawn together
                self._added.start()
        else:
            self.chips.refuse()
        self._show_note()

    @property
    def _view(self) -> CircuitView:
        return self._services.workspace.views.of(self._circuit)

    def _remember(self) -> None:
        """The traces that a person chose; those that this run does not have are given up with it."""
        if self._plot is not None:
            self._missing = ()
            self._hands.look()
            self._view.traces[self._plot.analysis] = [trace.expression for trace in self._traces]
            self._services.workspace.views.tell()

    def _note_view(self) -> None:
        """What somebody has done rests: it is kept, and can be undone."""
        self._keep_zoom()
        self._hands.look()

    def _keep_zoom(self) -> None:
        """The part of the drawing that somebody looks at is kept for its circuit."""
        if self._plot is None or self._axis is None or self._area is None:
            return
        zoom, zooms = self._area.zoom, self._view.zooms
        if zoom != zooms.get(self._plot.analysis, {}):
            zooms[self._plot.analysis] = zoom
            if not zoom:
                del zooms[self._plot.analysis]
            self._services.workspace.views.tell()

    def _draw_added(self) -> None:
        if self._axis is not None:  # else another result is on its way, and will be drawn with them
            self._draw(keep_view=True)

    def _draw(self, *, keep_view: bool) -> None:
        self._added.stop()
        self._show_chips()
        self._take_places()
        if self._axis is not None and self._area is not None:
            self._area.show_traces(
                self._axis, self._in_shade(self._traces), ghosts=self._ghosts, keep_view=keep_view
            )
            self._area.select(self._selected)
        self._show_note()
        self._show_body()
        self._take_places()
        self.beside.changed()
        self._adorn()

    def _take_places(self) -> None:
        """Take the sizes now that Qt would take after the drawing, and then everything is drawn once more."""
        for layout in (self.tools.layout(), self._side_column, self.layout()):
            if layout is not None:
                layout.activate()

    def _in_shade(self, traces: Sequence[Trace]) -> Sequence[Trace]:
        """Of a family the run the cursors read is one among others."""
        return with_shade(traces, self._plot, self._family) if self._plot is not None else traces

    def _adorn(self) -> None:
        """Add what is made off the loop after the curves are there: older runs, limits, margins."""
        if self._plot is not None and self._axis is not None and self._area is not None:
            self._adornment += 1
            self._adorned = (self._shown.goals, self._shown.expressions)
            self._services.start(
                self._make_adornment(self._plot, self._axis, self._traces, self._adornment),
                kind="mark plot",
                scope="waveforms",
            )

    def _on_measured(self) -> None:
        self.beside.changed()
        if self._adorned != (self._shown.goals, self._shown.expressions):
            self._adorn()

    async def _make_adornment(self, plot: Plot, axis: Axis, traces: Sequence[Trace], adornment: int) -> None:
        from presentation.goal_words import limit_words
        from presentation.panels.waveforms.plot_marks import marks_of

        ghosts = await self.overlay.ghosts(plot, traces, axis.manner)
        if self._family:
            from presentation.panels.waveforms.family import family_of

            ghosts = (
                *ghosts,
                *await asyncio.to_thread(
                    family_of, plot, self._family, traces, self.runs.left_out, axis.manner
                ),
            )
        if sip.isdeleted(self):  # the window went while the curves were read
            return
        self._show_note()
        shown = self._shown
        marks = await asyncio.to_thread(marks_of, plot, axis, traces, shown.goals, shown.expressions)
        if (
            sip.isdeleted(self)
            or adornment != self._adornment
            or self._area is None
            or axis is not self._axis
        ):
            return
        if ghosts or self._ghosts:
            self._ghosts = ghosts
            self._area.show_traces(axis, self._in_shade(traces), ghosts=ghosts, keep_view=True)
        self._area.show_marks(marks, partial(limit_words, self._services.language))

    def _on_export(self, suffix: str) -> None:
        if self._axis is not None and self._area is not None:
            from presentation.panels.waveforms.export import export_plot

            name = self.plot_choice.currentText()
            saving = export_plot(
                self._services,
                self._area,
                self._axis,
                self._in_shade(self._traces),
                suffix=suffix,
                name=name,
                behind=self.overlay.names if self._ghosts else (),
                others=self._ghosts,
            )
            self._services.start(saving, kind="export plot", scope="export")

    def _subject(self) -> Subject | None:
        """What is drawn beside the curves is made of these traces, over the part that is seen."""
        if self._plot is None:
            return None
        from presentation.panels.waveforms.beside.drawing import subject_of

        return subject_of(
            self._plot,
            (self._family, self.runs.left_out),
            self._traces,
            self._axis,
            self._area.view_range if self._area is not None and self._area.zoom else None,
            chosen=self._selected,
            shown=self._shown,
        )

    def _show_chips(self) -> None:
        self.chips.show_chips(
            [(trace.expression, trace.color, trace.error) for trace in self._traces],
            self._selected,
            {trace.expression: (trace.name, trace.line) for trace in self._traces},
        )
        if self._plot is not None and self._axis is not None:
            from presentation.panels.waveforms.traces import suggestions

            self.chips.suggest(suggestions(self._plot))

    def _show_body(self) -> None:
        """The drawing, a table for values without an axis, or a sentence."""
        has_drawing = self._axis is not None and self._area is not None
        self.tools.set_drawing(is_shown=has_drawing)
        self.tools.setVisible(self._plot is not None)
        self._show_side()
        if not self.cursor_button.isChecked():
            self._foot.show_slope("")
        elif self._strip is not None:
            self._foot.show_slope(self._strip.slope_text())
        if self._cursor_table is not None:
            self._cursor_table.setVisible(has_drawing and self.cursor_button.isChecked())
        if has_drawing:
            assert self._area is not None
            self._body.setCurrentWidget(self._area)
        elif self._plot is not None and self._plot.axis is None:
            self.table.show_plot(self._plot)
            self._body.setCurrentWidget(self.table)
        else:
            error = self._shown.error
            empty = msg("The waveforms of a run appear here. F5 simulates the current circuit.")
            self._empty.setText(self._services.language(empty if error is None else error))
            self._body.setCurrentWidget(self._empty)

    def _show_note(self, _stale: object = None) -> None:
        """One line under the tools: a refused expression, what is being read, what the drawing lacks."""
        shown = self._shown
        notes: list[Message] = []
        is_stale = False
        if self._refused is not None:
            notes = [self._refused]
        elif shown.is_loading and self._plot is not None and not self._slow.isActive():
            notes = [msg("Reading the result…")]
        elif shown.error is not None and self._plot is not None:
            notes = [shown.error]
        elif self._plot is not None:
            is_stale = shown.is_stale
            notes = notes_of_drawing(shown, self.overlay, missing=self._missing, family=len(self._family))
        tone: Literal["error", "tertiary"] = "error" if self._refused or shown.error else "tertiary"
        self._note.show_notes(notes, is_stale=is_stale, tone=tone)

    def _fill_choice(self) -> None:
        loaded, chosen = self._shown.loaded, 0
        figures = None if loaded is None else loaded.figures
        names = names_of(self._choices, figures, self._services.language)
        for at, choice in enumerate(self._choices):
            is_here = self._plot in choice.family if choice.family else choice.plot is self._plot
            if is_here and bool(choice.family) == bool(self._family):
                chosen = at
        self.tools.show_choice(names, chosen)

    def _on_selected(self, expression: str | None) -> None:
        self._selected = expression
        if self._area is not None:
            self._area.select(expression)
            self.beside.changed()
            self._show_runs()
            self._on_cursors_moved(*self._area.cursor_samples)

    def _on_cursors_toggled(self, is_on: bool) -> None:
        if self._area is not None:
            self._area.set_cursors_shown(is_on)
        self._show_body()

    def _on_cursors_moved(self, a: int, b: int) -> None:
        if self._cursor_table is None or self._strip is None or self._axis is None:
            return
        step = self._plot.step if self._plot is not None and self._family else None
        run = "" if step is None else step_label(step)
        if self._has_side:
            self._cursor_table.show_cursors(self._axis, self._traces, a, b, chosen=self._selected, run=run)
            rows = min(self._cursor_table.wanted_height(), self.height() // 2)
            self._cursor_table.setFixedHeight(max(rows, 1))
        else:
            self._strip.show_cursors(self._axis, self._traces, a, b, chosen=self._selected, run=run)
            self._strip.setFixedHeight(self._strip.wanted_height())
            self._foot.show_slope(self._strip.slope_text())


def _first_drawn(plots: Sequence[Plot]) -> int:
    """The first analysis with curves; else the first."""
    return next((index for index, plot in enumerate(plots) if plot.axis is not None), 0)
