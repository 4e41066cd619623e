"""What keys, menus and clicks do in the plot beyond the drawing itself: undo, cursors, traces, menus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QPoint

from presentation.panels.waveforms.axis_hands import AxisHands
from presentation.panels.waveforms.cursor_hands import CursorHands
from presentation.panels.waveforms.pane_moves import PaneMoves
from presentation.panels.waveforms.plot_box import PlotPlace
from presentation.panels.waveforms.plot_history import Part, PlotHistory, PlotState
from presentation.panels.waveforms.plot_host import PlotHost
from presentation.panels.waveforms.plot_looks import changed_look, look_of, set_style
from presentation.panels.waveforms.plot_menus import chip_menu, minus, plot_menu
from presentation.panels.waveforms.plot_views import PlotViews
from presentation.panels.waveforms.trace_list import TraceList
from presentation.ui.workspace import WindowServices

if TYPE_CHECKING:
    from presentation.panels.waveforms.plot_area import PlotArea


class PlotHands(QObject):
    """The hands of one panel."""

    def __init__(self, services: WindowServices, panel: PlotHost) -> None:
        super().__init__(panel.widget)
        self._services = services
        self._panel = panel
        self._history = PlotHistory()
        self._list: TraceList | None = None
        self._plot: tuple[object, ...] = ()
        """Circuit and analysis of the history."""
        panel.chips.menu_wanted.connect(self._show_chip_menu)
        panel.chips.place_wanted.connect(panel.show_in_text)
        panel.chips.difference_wanted.connect(lambda one, other: panel.add_trace(minus(one, other)))
        panel.chips.trace_edited.connect(panel.replace_trace)
        panel.chips.trace_renamed.connect(self._rename)
        self._axes = AxisHands(services, panel)
        self._cursors = CursorHands(services, panel)
        self.moves = PaneMoves(panel)
        self.moves.moved.connect(self.look)
        self.views = PlotViews(services, panel)

    def attach(self, area: PlotArea) -> None:
        """Answer what is asked of a drawing by the mouse."""
        area.menu_wanted.connect(self._show_plot_menu)
        self._axes.attach(area)
        self._list = TraceList(self._services, area)
        self._list.trace_added.connect(self._panel.add_trace)
        self._list.trace_removed.connect(self._panel.remove_trace)
        self._cursors.attach(area)
        self.moves.attach(area)
        self.views.attach(area)

    def acts(self) -> Mapping[str, Callable[[], object]]:
        """What is done by keys and from the menus, by names of the table of actions."""
        panel = self._panel
        return {
            "plot.undo": self.undo,
            "plot.redo": self.redo,
            "plot.zoom_back": self.zoom_back,
            "plot.cursors": panel.cursor_button.click,
            "plot.add_trace": self.list_traces,
            "plot.remove_trace": self._remove_selected,
            "plot.copy": panel.copy_plot,
            "plot.drop": self._drop,
            **self._cursors.acts(),
            "plot.log_x": self._axes.toggle_log_x,
            "plot.grid": self._axes.toggle_grid,
            "plot.new_pane": partial(self._move_chosen, self.moves.own_pane),
            "plot.right_axis": partial(self._move_chosen, self.moves.switch_right),
            "plot.keep_view": self.views.ask_to_keep,
            "plot.views": self.views.open_menu,
        }

    def drawn(self, plot: tuple[object, ...], *, keep_view: bool) -> None:
        """A plot (circuit and analysis) is drawn from other data: what differs is nobody's doing.

        Without `keep_view` it is looked at as it was the last time.
        """
        area, panel = self._panel.area, self._panel
        if area is not None:
            look = look_of(panel.view, panel.analysis)
            area.set_grid_shown(not look.hides_grid)
            area.labels.show_labels(look.labels)
            if not keep_view:
                panel.cursor_button.setChecked(not look.hides_cursors)
                if look.cursors is not None:
                    area.set_cursor_places(look.cursors)
        state = self._state()
        if plot == self._plot and state is not None:
            self._history.take(state)
        else:
            self._plot = plot
            self._history.begin(state)

    def list_traces(self) -> None:
        """The signals there are, to be ticked."""
        plot = self._panel.plot
        if plot is not None and self._list is not None:
            names = [name for name in plot.vectors if name != plot.axis_name]
            self._list.open_list(names, [trace.expression for trace in self._panel.traces])

    def look(self) -> None:
        """Note what somebody has changed."""
        if self._list is not None:
            self._list.show_drawn([trace.expression for trace in self._panel.traces])
        state = self._state()
        if state is not None and "cursors" in self._history.look(state):
            self._keep_cursors(state)

    def _keep_cursors(self, state: PlotState) -> None:
        look = changed_look(self._panel.view, self._panel.analysis)
        look.hides_cursors = state.cursors is None
        look.cursors = state.cursors or look.cursors
        self._services.workspace.views.tell()

    def undo(self) -> None:
        self._walk("undo")

    def redo(self) -> None:
        self._walk("redo")

    def zoom_back(self) -> None:
        self.look()
        step = self._history.undo("zoom")
        if step is not None:
            self._apply(step.part, step.before)

    def _walk(self, way: str) -> None:
        self.look()
        step = self._history.undo() if way == "undo" else self._history.redo()
        if step is not None:
            self._apply(step.part, step.before if way == "undo" else step.after)

    def _apply(self, part: Part, state: PlotState) -> None:
        area, panel = self._panel.area, self._panel
        if area is None:
            return
        if part == "zoom":
            area.restore(state.zoom)
        elif part == "cursors":
            panel.cursor_button.setChecked(state.cursors is not None)
            if state.cursors is not None:
                area.set_cursor_places(state.cursors)
            self._keep_cursors(state)
        elif part == "panes":
            look = changed_look(panel.view, panel.analysis)
            look.panes = {each: at for each, at in state.panes.items() if isinstance(at, int)}
            look.right = {each: at for each, at in state.panes.items() if isinstance(at, str)}
            panel.draw_again()
        else:
            panel.draw_expressions(state.traces)
        now = self._state()
        if now is not None:
            # Traces come later; what they are then is taken when they are drawn.
            self._history.take(now)

    def _state(self) -> PlotState | None:
        area = self._panel.area
        if area is None or not self._panel.has_drawing:
            return None
        traces = tuple(trace.expression for trace in self._panel.traces)
        look = look_of(self._panel.view, self._panel.analysis)
        panes: dict[str, int | str] = {**look.panes, **look.right}
        return PlotState(zoom=area.zoom, traces=traces, panes=panes, cursors=area.cursor_places)

    def _drop(self) -> None:
        """First what is pulled, then the box, then the cursors."""
        area = self._panel.area
        if area is not None and not area.pulls.drop() and not area.drop() and area.has_cursors:
            self._panel.cursor_button.click()

    def _remove_selected(self) -> None:
        if self._panel.selected is not None:
            self._panel.remove_trace(self._panel.selected)

    def show_figures(self, expression: str) -> None:
        self._cursors.show_figures(expression)

    def set_style(self, expression: str, *, color: int | None = None, line: str | None = None) -> None:
        set_style(self._panel.view, expression, color=color, line=line)
        self._panel.draw_again()

    def _rename(self, expression: str, name: str) -> None:
        set_style(self._panel.view, expression, name=name)
        self._panel.draw_again()

    def _move_chosen(self, move: Callable[[str], None]) -> None:
        """The chosen trace, else the last one, where there are several."""
        traces = [trace.expression for trace in self._panel.traces]
        if len(traces) > 1:
            move(self._panel.selected if self._panel.selected in traces else traces[-1])

    def _show_plot_menu(self, place: PlotPlace) -> None:
        back = self.zoom_back if self._history.can_undo("zoom") else None
        plot_menu(
            self._services,
            self._panel,
            self._axes,
            self._cursors,
            place,
            zoom_back=back,
            list_traces=self.list_traces,
            views=self.views,
        ).popup(place.on_screen)

    def _show_chip_menu(self, expression: str, place: QPoint) -> None:
        chip_menu(self._services, self._panel, self, expression).popup(place)
