"""Where everything of the panel stands: the drawing or a table, figures beside or below it; who yields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from application.groups.project import Project
from presentation.panels.waveforms.beside.pair import CurvesAndBeside
from presentation.panels.waveforms.cursor_table import CursorStrip, CursorTable
from presentation.panels.waveforms.drawn_plot import DrawnPlot
from presentation.panels.waveforms.family import shade_of
from presentation.panels.waveforms.family_runs import FamilyRuns
from presentation.panels.waveforms.plot_foot import PlotFoot
from presentation.panels.waveforms.plot_hint import PlotHint
from presentation.panels.waveforms.plot_tools import PlotTools
from presentation.panels.waveforms.results_view import MeasurementsView, ValueTable
from presentation.panels.waveforms.run_note import RunNote
from presentation.panels.waveforms.shown_result import ShownResult
from presentation.ui.parts import arrange, text_label
from presentation.ui.styles import mark, mark_area
from presentation.ui.workspace import WindowServices
from shared.message import msg

if TYPE_CHECKING:
    from presentation.panels.waveforms.beside.drawing import Subject
    from presentation.panels.waveforms.plot_area import PlotArea

_SIDE_WIDTH = 272
_NARROW = 720
"""Below this width the figures at the right make room for the drawing."""
_NARROW_BESIDE = 1200
"""The same while something is drawn beside the curves."""
_ROOM_FOR_LEGEND = 420
"""The curves of a family have a legend beside them from this width on."""
_LOW = 180
"""Below this height they would show no more than their heads."""


class PlotRooms(QObject):
    """All that a panel shows, in its places."""

    measurements_wanted = pyqtSignal()
    """all of them, in their own tab"""

    def __init__(
        self,
        panel: QWidget,
        services: WindowServices,
        project: Project,
        shown: ShownResult,
        now: DrawnPlot,
        *,
        above: tuple[PlotTools, QWidget, RunNote],
        subject: Callable[[], Subject | None],
    ) -> None:
        """`subject` tells what the curves show now, for what is drawn beside them."""
        super().__init__(panel)
        self._panel, self._services = panel, services
        self._shown, self._now = shown, now
        self._tools, _, self._note = above
        self._area: PlotArea | None = None
        self._has_side = False
        """Whether the cursors are read in the table beside the plot, not in the strip below it."""
        self.cursor_table: CursorTable | None = None
        self.strip: CursorStrip | None = None
        self.table = ValueTable(services)
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
        whole = QHBoxLayout(panel)
        for layout in (main, self._side_column, whole):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        self.runs = FamilyRuns(services)
        curves = QWidget()
        arrange(QHBoxLayout(curves), (self._body, 1), self.runs, edges=0, gap=0)
        self.beside = CurvesAndBeside(services, curves, subject)
        self.runs.drawn_changed.connect(self.beside.changed)
        arrange(main, *above, (self.beside, 1))
        self.foot = PlotFoot(services, shown)
        self.foot.all_wanted.connect(self.measurements_wanted)
        main.addWidget(self.foot)
        self.hint = PlotHint(services)
        main.addWidget(self.hint)
        self._side_column.setContentsMargins(1, 0, 0, 0)
        self._side_column.addWidget(MeasurementsView(services, project, shown, is_compact=True), 1)
        arrange(whole, (main, 1), self._side)
        mark_area(panel, surface="base")

    @property
    def has_drawing(self) -> bool:
        """Whether curves are shown, and not a table or words."""
        return self._now.axis is not None and self._area is not None

    @property
    def _reads_cursors(self) -> bool:
        return self._tools.cursors.isChecked()

    def make_tables(self) -> None:
        """Those of the cursors: with the first result, before there is a drawing."""
        from presentation.panels.waveforms.cursor_table import CursorStrip, CursorTable

        if self.cursor_table is not None:
            return
        self.cursor_table, self.strip = CursorTable(self._services), CursorStrip(self._services)
        for table in (self.cursor_table, self.strip):
            table.hide()  # until it is known which has room
        self.cursor_table.reshaped.connect(self.read_cursors)
        self._side_column.addWidget(self.cursor_table)
        self._main.insertWidget(self._main.indexOf(self.foot), self.strip)

    def take(self, area: PlotArea) -> None:
        """The drawing, which is made with the first result."""
        self._area = area
        self._body.addWidget(area)

    def restyle(self) -> None:
        theme = self._services.theme.theme
        self._side.setFixedWidth(round(_SIDE_WIDTH * theme.scale))
        edge = theme.size("space.3")
        self.beside.restyle(theme)
        self.runs.restyle(theme)
        self.show_runs()
        self._empty.setContentsMargins(edge, edge, edge, edge)

    def retranslate(self) -> None:
        self.beside.retranslate()
        self.runs.retranslate()
        if self.cursor_table is not None:
            self.cursor_table.retranslate()
        if self.strip is not None:
            self.strip.retranslate()
        self.foot.retranslate()

    def show_side(self) -> None:
        """The figures give way when there is little room."""
        scale = self._services.theme.theme.scale
        # Two drawings beside each other need the room of the figures.
        is_wide = self._panel.width() >= (_NARROW if self.beside.kind is None else _NARROW_BESIDE) * scale
        has_side = is_wide and self._panel.height() >= _LOW * scale and self._shown.loaded is not None
        self._side.setVisible(has_side)
        is_high = self._panel.height() >= _LOW * scale * 1.5
        has_below = self.has_drawing and not has_side
        if self.strip is not None:
            # Every number stays: where there is no room beside the plot, they stand below it.
            self.strip.setVisible(has_below and self._reads_cursors and is_high)
        has_curves_alone = self.has_drawing and self.beside.kind is None
        self.foot.setVisible(has_curves_alone and not has_side)
        self.hint.show_where_needed(has_room=has_curves_alone and is_high)
        if has_side != self._has_side:
            self._has_side = has_side
            self.read_cursors()
        self.show_runs()

    def show_runs(self) -> None:
        """The legend of a family, where there is room beside its curves."""
        now = self._now
        if not self.has_drawing or len(now.family) < 2 or not now.traces:
            self.runs.show_family((), None, (), has_room=False)
            return
        from presentation.panels.waveforms.panes import family_colors

        chosen = [trace.color for trace in now.traces if trace.expression == now.selected]
        hue = (chosen or [now.traces[-1].color])[0]  # an output stands behind its input
        theme = self._services.theme.theme
        colors = family_colors(theme, hue, (shade_of(plot, now.family) for plot in now.family))
        room = self._panel.width() - (_SIDE_WIDTH * theme.scale if self._has_side else 0)
        is_wide = room / (1 if self.beside.kind is None else 2) >= _ROOM_FOR_LEGEND * theme.scale
        self.runs.show_family(now.family, now.plot, colors, has_room=is_wide)

    def show_body(self) -> None:
        """The drawing, a table for values without an axis, or a sentence."""
        for _step in self.showing_body():
            pass

    def showing_body(self) -> Iterator[None]:
        """The same in steps: each takes some milliseconds where all is shown for the first time."""
        plot = self._now.plot
        self._tools.set_drawing(is_shown=self.has_drawing)
        self._tools.setVisible(plot is not None)
        yield
        self.show_side()
        yield
        if not self._reads_cursors:
            self.foot.show_slope("")
        elif self.strip is not None:
            self.foot.show_slope(self.strip.slope_text())
        if self.cursor_table is not None:
            self.cursor_table.setVisible(self.has_drawing and self._reads_cursors)
        if self.has_drawing:
            self._body.setCurrentWidget(self._area)
        elif plot is not None and plot.axis is None:
            self.table.show_plot(plot)
            self._body.setCurrentWidget(self.table)
        else:
            error = self._shown.error
            empty = msg("The waveforms of a run appear here. F5 simulates the current circuit.")
            self._empty.setText(self._services.language(empty if error is None else error))
            self._body.setCurrentWidget(self._empty)

    def take_places(self) -> None:
        """Take the sizes now that Qt would take after the drawing, and then everything is drawn once more."""
        for layout in (self._tools.layout(), self._side_column, self._panel.layout()):
            if layout is not None:
                layout.activate()

    def _height_above(self) -> int:
        """What the measurements above the cursors would like to have."""
        items = (self._side_column.itemAt(at) for at in range(self._side_column.count()))
        widgets = (item.widget() for item in items if item is not None)
        return sum(
            min(each.sizeHint().height(), each.maximumHeight())
            for each in widgets
            if each is not None and each is not self.cursor_table and not each.isHidden()
        )

    def read_cursors(self) -> None:
        """What the traces are where the cursors stand."""
        now = self._now
        if self._area is None or self.cursor_table is None or self.strip is None or now.axis is None:
            return
        shown = (now.axis, now.traces, *self._area.cursor_samples)
        if self._has_side:
            self.cursor_table.show_cursors(*shown, chosen=now.selected, run=now.read_run)
            room = max(self._panel.height() // 2, self._panel.height() - self._height_above())
            self.cursor_table.setFixedHeight(max(min(self.cursor_table.wanted_height(), room), 1))
        else:
            self.strip.show_cursors(*shown, chosen=now.selected, run=now.read_run)
            self.strip.setFixedHeight(self.strip.wanted_height())
            self.foot.show_slope(self.strip.slope_text() if self._reads_cursors else "")
