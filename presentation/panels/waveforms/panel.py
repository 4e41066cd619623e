"""The waveforms of the shown result: which analysis, which traces, the drawing, and the figures beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QWidget

from application.groups.project import Project
from application.groups.simulation import Simulation
from application.project.window_state import CircuitView
from domain.simulation.expressions import step_named_in
from domain.simulation.waveform import Plot
from presentation.panels.waveforms.adornment import Adornment
from presentation.panels.waveforms.cursor_table import CursorStrip, CursorTable
from presentation.panels.waveforms.drawn_plot import DrawnPlot, named_with_analysis, plotted_of, siblings_of
from presentation.panels.waveforms.family import choices_of, names_of
from presentation.panels.waveforms.offered_run import OfferedRun
from presentation.panels.waveforms.plot_area import PlotArea
from presentation.panels.waveforms.plot_hands import PlotHands
from presentation.panels.waveforms.plot_looks import manner_of, styled
from presentation.panels.waveforms.plot_memory import PlotMemory
from presentation.panels.waveforms.plot_output import PlotOutput
from presentation.panels.waveforms.plot_rooms import PlotRooms
from presentation.panels.waveforms.plot_tools import PlotTools
from presentation.panels.waveforms.preview_curves import PreviewCurves
from presentation.panels.waveforms.pull_quantities import PullQuantities
from presentation.panels.waveforms.run_note import RunNote, notes_of
from presentation.panels.waveforms.run_overlay import RunOverlay
from presentation.panels.waveforms.shown_result import ShownResult
from presentation.panels.waveforms.shown_span import SeenInPlot
from presentation.panels.waveforms.trace_changes import TraceChanges
from presentation.panels.waveforms.traces import Axis, Trace, TraceColors, made_traces, suggestions
from presentation.ui.parts import once_after
from presentation.ui.workspace import WindowServices
from shared.message import msg

if TYPE_CHECKING:
    from presentation.panels.waveforms.beside.drawing import BesideKind, Subject

_AIR_S = 0.005
"""Between two steps of the first drawing: what Qt lays out and paints behind each, and whatever else is due
on the loop, comes before the next."""
_SLOW_MS = 300
"""A result that is read within this time is read without a word: a line that comes and goes at once would
only make the drawing jump."""


class WaveformsPanel(QWidget):
    """One plot of the shown result at a time; what draws it is made with the first."""

    measurements_wanted = pyqtSignal()
    """all of them, in their own tab"""
    drawn = pyqtSignal()
    """the curves of a result, or of more of it, have been drawn"""

    def __init__(
        self, services: WindowServices, project: Project, simulation: Simulation, shown: ShownResult
    ) -> None:
        super().__init__()
        self._services = services
        self._shown = shown
        self._now = now = DrawnPlot()
        self._memory = PlotMemory(services, now)
        self._request = 0
        self._area: PlotArea | None = None
        self._making = asyncio.Lock()
        self._slow = once_after(self, _SLOW_MS, self._show_note)
        self._zoomed = once_after(self, _SLOW_MS, self._note_view)
        self.setObjectName("waveforms")
        self.tools = tools = PlotTools(services)
        self.plot_choice, self.chips = tools.plot_choice, tools.chips
        self.cursor_button, self.fit_button = tools.cursors, tools.fit
        self.overlay = RunOverlay(services, project, simulation, shown, tools.overlay)
        self.offer = OfferedRun(services, shown, self.overlay)
        self._note = RunNote(services, "waveforms", lambda: shown.circuit)
        self._rooms = rooms = PlotRooms(
            self,
            services,
            project,
            shown,
            now,
            above=(tools, self.offer, self._note),
            subject=self._subject,
        )
        self.table, self.runs, self.beside = rooms.table, rooms.runs, rooms.beside
        self._hands = PlotHands(services, self)
        self._changes = TraceChanges(
            services, self, now, shown, self._memory, looked=self._hands.look, told=self._show_note
        )
        self._previews = PreviewCurves(services, shown)
        self._adornment = Adornment(
            services,
            self,
            now,
            shown,
            behind=(self.overlay, rooms.runs),
            previews=self._previews,
            told=self._show_note,
            redrawn=self.drawn.emit,
        )
        self.pulls = PullQuantities(services, self, now, shown)
        self.drawn.connect(self.pulls.look)
        self._output = PlotOutput(
            services, self, now, self.overlay, tools.plot_choice.currentText,
            left_out=lambda: self.runs.left_out,
        )  # fmt: skip
        services.workspace.seen = SeenInPlot(self, lambda: now.circuit)
        self._connect()
        services.dress(self)

    def _connect(self) -> None:
        tools, rooms, shown = self.tools, self._rooms, self._shown
        self.plot_choice.activated.connect(self.choose_plot)
        self.chips.trace_added.connect(self.add_trace)
        self.chips.trace_removed.connect(self.remove_trace)
        self.chips.trace_selected.connect(self._on_selected)
        self.cursor_button.toggled.connect(self._on_cursors_toggled)
        tools.beside.clicked.connect(lambda _checked: self.beside.toggle())
        self.fit_button.clicked.connect(lambda: None if self._area is None else self._area.fit())
        tools.export_asked.connect(self._output.export)
        self.overlay.changed.connect(self._adorn)
        self._previews.changed.connect(self._adorn)
        rooms.runs.drawn_changed.connect(self._adorn)
        rooms.runs.read_wanted.connect(self._read_run)
        rooms.measurements_wanted.connect(self.measurements_wanted)
        self.beside.shown_changed.connect(self._on_beside)
        self._services.workspace.file_moved.connect(self._follow)
        shown.changed.connect(self._on_result)
        shown.grown.connect(self._on_result)
        shown.under_way.connect(self._show_note)
        shown.loading.connect(self._slow.start)
        shown.stale_changed.connect(self._show_note)
        shown.measured.connect(self._on_measured)
        shown.steps_wanted.connect(lambda name: self.beside.show_kind("steps", figure=name))

    @property
    def area(self) -> PlotArea | None:
        """The drawing; None until the first result is there."""
        return self._area

    @property
    def shown(self) -> ShownResult:
        """The result that is drawn."""
        return self._shown

    @property
    def traces(self) -> Sequence[Trace]:
        return self._now.traces

    @property
    def widget(self) -> QWidget:
        return self

    @property
    def has_drawing(self) -> bool:
        """Whether curves are shown, and not a table or words."""
        return self._rooms.has_drawing

    @property
    def axis(self) -> Axis | None:
        """Of the drawing; None while there is none."""
        return self._now.axis

    @property
    def axis_unit(self) -> str:
        return "" if self.axis is None else self.axis.unit

    @property
    def selected(self) -> str | None:
        """The expression of the trace that is drawn stronger."""
        return self._now.selected

    @property
    def cursor_table(self) -> CursorTable | None:
        """What the cursors read; None until the first result is there."""
        return self._rooms.cursor_table

    @property
    def cursor_strip(self) -> CursorStrip | None:
        """The same below the plot, where there is no room beside it."""
        return self._rooms.strip

    @property
    def view(self) -> CircuitView:
        """How the shown circuit is looked at, to be changed in place."""
        return self._memory.view

    @property
    def analysis(self) -> str:
        """The kind that is shown; "" while there is none."""
        return "" if self._now.plot is None else self._now.plot.analysis

    @property
    def plot(self) -> Plot | None:
        return self._now.plot

    def choose_plot(self, index: int) -> None:
        now = self._now
        if 0 <= index < len(now.choices):
            chosen = now.choices[index]
            is_same_kind = now.plot is not None and now.plot.analysis == chosen.plot.analysis
            self._memory.keep_zoom(self._area)
            self._zoomed.stop()  # until the other is drawn the area shows the range of this one
            taken = self.beside.kind if self.beside.awaits_curves and not is_same_kind else None
            if (
                taken is not None
            ):  # it has asked for another analysis: it goes along to the one that is chosen
                self._memory.keep_beside("")
            now.plot, now.family, now.awaited = chosen.plot, chosen.family, None
            self._memory.keep_analysis(chosen.plot.analysis)
            if taken is not None:
                self._memory.keep_beside(taken)
            self._start(keep_view=is_same_kind)

    def add_trace(self, expression: str) -> None:
        """Draw one expression more; one that cannot be drawn is refused in words."""
        self._changes.add(expression)

    def remove_trace(self, expression: str) -> None:
        self._changes.remove(expression)

    def replace_trace(self, old: str, new: str) -> None:
        """Draw another expression in the place of one; one that cannot be drawn is refused in words."""
        self._changes.replace(old, new)

    def keep_traces(self, expressions: Sequence[str]) -> None:
        """Remove all others."""
        self._changes.keep(expressions)

    def show_in_text(self, expression: str) -> None:
        """Show where what it plots stands in the circuit."""
        if self._now.circuit is not None:
            self._services.workspace.trace_located.emit(self._now.circuit, expression)

    def show_trace(self, expression: str) -> None:
        """Draw an expression if it is not drawn yet, and put it in front of the others."""
        self.add_trace(expression)
        self.choose_trace(expression)

    def draw_expressions(self, expressions: Sequence[str]) -> None:
        """Draw just these, in this order."""
        if self._now.plot is not None:
            self._memory.keep_expressions(list(expressions))
            self._start(keep_view=True)

    def plots_of(self, expression: str) -> Sequence[Plot]:
        """What an expression is evaluated on: the shown plot, and the runs it may name."""
        plot = self._now.plot
        if plot is None:
            return ()
        siblings = siblings_of(plot, self._shown)
        return siblings if siblings and step_named_in(expression) is not None else (plot,)

    def choose_trace(self, expression: str) -> None:
        """Draw a trace stronger than the others."""
        self._on_selected(expression)
        self.show_chips()

    def draw_again(self) -> None:
        """The look of the plot is another."""
        self._memory.tell()
        if self._now.plot is not None and self.axis is not None:
            self._start(keep_view=True)

    def draw_as_kept(self) -> None:
        """How the circuit is looked at was changed as a whole: draw it so."""
        self._memory.tell()
        self._zoomed.stop()  # the range that is still seen is of the view before
        if self._now.plot is not None:
            self._start(keep_view=False)

    def put_cursor(self, name: Literal["a", "b"], place: float) -> None:
        """Show a cursor at a place of the axis (its coordinate)."""
        if self.axis is not None and self._area is not None:
            self.cursor_button.setChecked(True)
            self._area.move_cursor(name, self.axis.nearest(place))

    def named_with_analysis(self, expression: str) -> str:
        """An expression as it is measured: another analysis of the run may have the same signals."""
        return named_with_analysis(expression, self._now, self._shown)

    def measure(self, expression: str) -> None:
        """Measure it on this run and the next ones of the circuit."""
        self._shown.add_measurement(expression)

    def make_goal(self, expression: str) -> None:
        """Offer what an expression measures on this run as a goal of its circuit."""
        self._shown.goal_maker.of_expression(expression, self.window() or self)

    def draw_beside(self, kind: BesideKind, expression: str) -> None:
        """Choose a trace, and draw this of it beside the curves."""
        self.choose_trace(expression)
        self.beside.show_kind(kind)

    def copy_plot(self) -> None:
        """The picture, and the values of the shown part."""
        self._output.copy_plot()

    def copy_values(self, expression: str) -> None:
        """Those of one trace in the shown part."""
        self._output.copy_values(expression)

    def restyle(self, _theme: object = None) -> None:
        self.tools.restyle()
        self._note.restyle()
        self.offer.restyle()
        self._rooms.restyle()
        if self._area is not None:
            self._area.use(self._services.theme.theme)

    def retranslate(self, _name: object = None) -> None:
        self._note.retranslate()
        self.offer.retranslate()
        self.tools.retranslate()
        self._rooms.retranslate()
        self._fill_choice()
        self._show_note()
        self._rooms.show_body()
        if self._area is not None:
            self._area.use(self._services.theme.theme)  # goals are called by words

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Narrower than all that could be shown: the figures give way."""
        theme = self._services.theme.theme
        return QSize(theme.size("pane.editor_min"), theme.size("pane.bottom_min") // 2)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """The figures give way when there is little room."""
        super().resizeEvent(event)
        self._rooms.show_side()

    def _follow(self, _old: object, _new: object) -> None:
        """The shown circuit may have another name: its view has moved with it."""
        self._now.circuit = self._shown.circuit

    def _on_result(self) -> None:
        loaded, now = self._shown.loaded, self._now
        self._memory.keep_zoom(self._area)
        before, now.circuit = now.circuit, self._shown.circuit
        now.missing = ()
        is_same = before == now.circuit
        if loaded is None:
            now.forget()
            self._request += 1
        elif self._shown.error is None or loaded.plots:
            wanted = now.plot.analysis if now.plot is not None and is_same else self.view.analysis
            (now.choose_again if is_same else now.choose)(choices_of(loaded.plots), wanted)
        self._show_note()
        if now.plot is not None and loaded is not None:
            self._start(keep_view=is_same)
        else:
            self._fill_choice()
            self.show_chips()
            self._rooms.show_body()

    def _start(self, *, keep_view: bool) -> None:
        """Make the traces of the chosen plot off the loop, then draw them."""
        plot = self._now.plot
        assert plot is not None
        self._request += 1
        self._now.refused = None
        self._fill_choice()
        preparing = self._prepare(plot, self._request, keep_view=keep_view)
        self._services.start(preparing, kind="draw waveforms", scope="waveforms")

    async def _prepare(self, plot: Plot, request: int, *, keep_view: bool) -> None:
        is_first = self._area is None or not self._area.panes
        await self._make_area()
        now, view = self._now, self.view
        assert now.colors is not None
        wanted = view.traces.get(plot.analysis)
        if wanted is None:
            wanted = await asyncio.to_thread(plotted_of, plot, self._shown)
        runs, manner = siblings_of(plot, self._shown), manner_of(view, plot.analysis)
        axis, traces = await asyncio.to_thread(made_traces, plot, wanted, now.colors, runs, manner)
        missing = tuple(trace.expression for trace in traces if trace.error is not None)
        if missing and len(missing) == len(traces):
            axis, traces = await asyncio.to_thread(made_traces, plot, None, now.colors, (), manner)
        if request != self._request:
            return
        view = self.view
        now.axis = axis
        now.traces = tuple(styled(view, trace) for trace in traces if trace.error is None)
        now.missing = missing
        zoom = None if keep_view else view.zooms.get(plot.analysis, {})
        if not is_first:
            self._draw(keep_view=keep_view, zoom=zoom)
        elif not await self._draw_first(request, zoom):
            return
        is_log = axis is not None and axis.is_log
        self.beside.restore(view.beside.get(plot.analysis, ""))
        self._hands.drawn((now.circuit, plot.analysis, is_log), keep_view=keep_view)
        self._changes.add_waiting()
        self.drawn.emit()

    async def _make_area(self) -> None:
        """With the first result, in steps of some milliseconds."""
        self._now.colors = self._now.colors or TraceColors()
        async with self._making:
            if self._area is not None:
                return
            self._rooms.make_tables()
            await asyncio.sleep(_AIR_S)
            area = PlotArea(self._services.theme.theme, self._services.language)
            try:
                await asyncio.sleep(_AIR_S)
            except asyncio.CancelledError:
                area.close()
                area.deleteLater()
                raise
            self._take(area)

    def _take(self, area: PlotArea) -> None:
        self._area = area
        area.setAccessibleName(self._services.language(msg("Plot")))
        area.cursors_moved.connect(lambda *_samples: self._rooms.read_cursors())
        for changed in (area.range_changed, area.cursors_moved):
            changed.connect(lambda *_what: self._zoomed.start())
        area.box_zoomed.connect(self._rooms.hint.learned)
        self._hands.attach(area)
        self.pulls.attach(area)
        self._services.shortcuts.answer(area, self._acts(area))
        self._services.shortcuts.answer(self.runs.list, self.runs.acts)
        for left in (self.chips.keys_left, self.runs.left):
            left.connect(partial(area.setFocus, Qt.FocusReason.OtherFocusReason))
        area.range_changed.connect(self.beside.changed)
        area.set_cursors_shown(self.cursor_button.isChecked())
        self._rooms.take(area)

    def _acts(self, area: PlotArea) -> Mapping[str, Callable[[], object]]:
        """What keys and menus do in the plot."""
        workspace = self._services.workspace
        return {
            **area.acts,
            **self._hands.acts(),
            **self.pulls.acts,
            "plot.to_conversation": partial(self.tools.export_asked.emit, "conversation"),
            "plot.keys": partial(workspace.command_wanted.emit, "plot.keys"),
            "plot.run": workspace.run_requested.emit,
            "plot.group_delay": self._changes.add_group_delays,
            "plot.run_before": partial(self.overlay.walk, -1),
            "plot.run_after": partial(self.overlay.walk, 1),
            **self.beside.acts,
            **self.runs.acts,
        }

    async def _draw_first(self, request: int, zoom: Mapping[str, tuple[float, float]] | None) -> bool:
        """Draw a step at a time: little is seen of it yet, and all that it needs is made at its first use.

        Whether it came to its end: another request may come between.
        """
        assert self._area is not None
        self._area.setUpdatesEnabled(False)  # painted once, when everything has its place
        try:
            for _step in self._drawing(keep_view=False, zoom=zoom):
                await asyncio.sleep(_AIR_S)
                if request != self._request:
                    return False
        finally:
            self._area.setUpdatesEnabled(True)
        return True

    def draw(self, *, keep_view: bool) -> None:
        """Draw the traces as they are now; with `keep_view` a range that somebody chose stays."""
        self._draw(keep_view=keep_view)

    def _draw(self, *, keep_view: bool, zoom: Mapping[str, tuple[float, float]] | None = None) -> None:
        for _step in self._drawing(keep_view=keep_view, zoom=zoom):
            pass

    def _drawing(
        self, *, keep_view: bool, zoom: Mapping[str, tuple[float, float]] | None = None
    ) -> Iterator[None]:
        """Draw them in steps, those of the part `zoom` if it is given."""
        now, rooms = self._now, self._rooms
        self._changes.drawn()
        self.show_chips()
        yield
        rooms.take_places()
        yield
        if now.axis is not None and self._area is not None:
            self._area.show_traces(now.axis, now.in_shade(now.traces), ghosts=now.ghosts, keep_view=keep_view)
            self._area.select(now.selected)
            if zoom is not None:
                self._area.restore(zoom)
        yield
        self._show_note()
        yield from rooms.showing_body()
        yield
        rooms.take_places()
        self.beside.changed()
        self._adorn()

    def _adorn(self) -> None:
        self._adornment.adorn()

    def _note_view(self) -> None:
        """What somebody has done rests: it is kept, and can be undone."""
        self._memory.keep_zoom(self._area)
        self._hands.look()

    def _on_beside(self) -> None:
        """What is drawn beside the curves is kept for circuit and analysis, like traces and zoom."""
        self._rooms.show_side()
        self._memory.keep_beside(self.beside.kind or "")

    def _read_run(self, plot: Plot) -> None:
        """Another run of the family is the one that cursors and chips are of."""
        if plot in self._now.family:
            self._now.plot, self._now.awaited = plot, None
            self._start(keep_view=True)

    def _on_measured(self) -> None:
        self.beside.changed()
        self._adornment.adorn_if_new()

    def _subject(self) -> Subject | None:
        """What is drawn beside the curves is made of these traces, over the part that is seen."""
        now = self._now
        if now.plot is None:
            return None
        from presentation.panels.waveforms.beside.drawing import subject_of

        return subject_of(
            now.plot,
            (now.family, self.runs.left_out),
            now.traces,
            now.axis,
            self._area.view_range if self._area is not None and self._area.zoom else None,
            chosen=now.selected,
            shown=self._shown,
        )

    def show_chips(self) -> None:
        """Those of the traces."""
        now = self._now
        self.chips.show_chips(
            [(trace.expression, trace.color, trace.error) for trace in now.traces],
            now.selected,
            {trace.expression: (trace.name, trace.line, trace.is_right) for trace in now.traces},
        )
        if now.plot is not None and now.axis is not None:
            named = [trace.name for trace in now.traces if trace.name.isidentifier()]
            self.chips.suggest((*named, *suggestions(now.plot)))

    def _show_note(self, _stale: object = None) -> None:
        """One line under the tools: a refused expression, what is being read, what the drawing lacks."""
        is_reading = self._shown.is_loading and not self._slow.isActive()
        behind = self.overlay, self._previews
        self._note.show_notes(*notes_of(self._shown, self._now, *behind, is_reading=is_reading))

    def _fill_choice(self) -> None:
        loaded, now = self._shown.loaded, self._now
        figures = None if loaded is None else loaded.figures
        self.tools.show_choice(names_of(now.choices, figures, self._services.language), now.chosen)

    def _on_selected(self, expression: str | None) -> None:
        self._now.selected = expression
        if self._area is not None:
            self._area.select(expression)
            self.beside.changed()
            self._rooms.show_runs()
            self._rooms.read_cursors()

    def _on_cursors_toggled(self, is_on: bool) -> None:
        if self._area is not None:
            self._area.set_cursors_shown(is_on)
        self._rooms.show_body()
