"""The drawing: panes above each other on one axis, curves cut down to the pixels there are, two cursors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QEvent, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QContextMenuEvent, QMouseEvent, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QGraphicsView, QWidget

from domain.simulation.goals import DesignGoal
from presentation.panels.waveforms.drawn_in_turns import (
    Canvas,
    CanvasOf,
    DrawingInTurns,
    Drawn_co,
    DrawnPane,
    PixelCanvas,
    drawn_between,
)
from presentation.panels.waveforms.level_cursors import LevelCursors
from presentation.panels.waveforms.overlay import Overlay
from presentation.panels.waveforms.pane_places import PanePlaces
from presentation.panels.waveforms.panes import Pane
from presentation.panels.waveforms.plot_box import PlotPlace
from presentation.panels.waveforms.plot_cursors import CursorName, PlotCursors, is_of_its_scale
from presentation.panels.waveforms.plot_labels import PlotLabels
from presentation.panels.waveforms.plot_marks import Mark
from presentation.panels.waveforms.plot_pointer import PlotPointer
from presentation.panels.waveforms.plot_ranges import PlotRanges
from presentation.panels.waveforms.pull_handles import PullHandles
from presentation.panels.waveforms.sweeper import Sweeper
from presentation.panels.waveforms.traces import Axis as CommonAxis
from presentation.panels.waveforms.traces import PaneKind, Trace, panes_of
from presentation.ui.parts import once_after
from presentation.ui.theme import Theme
from shared.message import Message

_MANY_POINTS = 24_000
"""Of all curves, as drawn: some twelve dense ones. More are drawn in several turns of the window's loop."""
_FEW_POINTS = 3_000
"""Fewer are drawn at once, however many curves they are of, and when they are seen for the first time."""
_MANY_CURVES = 12
_AIR_MS = 5
"""Behind what paints much for the first time, before the next turn of curves."""
_UNPAINTED_MS = 100
"""So long curves wait for the first painting of the room around them, from when on `_AIR_MS` counts."""


class PlotArea(pg.GraphicsView):  # type: ignore[misc]
    """Panes, curves and cursors of one plot. All places are samples of its axis."""

    range_changed = pyqtSignal()
    """another part is shown"""
    cursors_moved = pyqtSignal(int, int)
    """samples of A and B"""
    menu_wanted = pyqtSignal(object)
    """at a PlotPlace"""
    axis_clicked = pyqtSignal(int, bool)
    """the pane; whether it is the upright axis"""

    axis_fitted = pyqtSignal()
    """by a double click on it"""
    box_zoomed = pyqtSignal()
    """somebody has zoomed into a box"""

    def __init__(
        self, theme: Theme, say: Callable[[Message], str] = str, parent: QWidget | None = None
    ) -> None:
        """`say` puts a message into the language in force."""
        super().__init__(parent)
        self._say = say
        # The items are arranged by us. pyqtgraph's empty layout for them would make Qt open a hidden window
        # of its own, which whoever tidies up the top-level widgets must not delete.
        self.centralWidget.setLayout(None)
        self.setCentralWidget(None)
        # The background is one colour: a picture of it costs memory and a copy at every paint.
        self.setCacheMode(self.CacheModeFlag.CacheNone)
        self.setObjectName("plot_area")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAntialiasing(False)
        self._theme = theme
        self._axis: CommonAxis | None = None
        self._traces: Sequence[Trace] = ()
        self._shown: tuple[Trace, ...] = ()
        """With those of other runs."""
        self._selected: str | None = None
        self._panes: list[Pane] = []
        """Those in use, top to bottom."""
        self._made: list[Pane] = []
        """All there are."""
        self._places = PanePlaces()
        self._has_grid = True
        self._ranges = PlotRanges(self)
        self._cursors = PlotCursors(self, self._ranges, theme)
        self._cursors.moved.connect(self.cursors_moved)
        self._sweeper = Sweeper(self)
        self.levels, self.labels = LevelCursors(self), PlotLabels(self)
        self.pulls = PullHandles(self, theme)
        self._overlays: tuple[Overlay, ...] = (self.levels, self.labels, self.pulls)
        self._pointer = PlotPointer(self, self._cursors, theme)
        self._sweeper.zoomed.connect(self.box_zoomed)
        self._soon = once_after(self, 0, self.redraw)
        self._is_new = False
        """The curves are, or the room for them: nothing follows a hand yet, and much is made with them."""
        self._in_turns = DrawingInTurns(self, self._to_draw, self._note_drawn)
        self.use(theme)

    @property
    def cursor_samples(self) -> tuple[int, int]:
        return self._cursors.samples

    @property
    def traces(self) -> Sequence[Trace]:
        """What is drawn, without the traces of other runs."""
        return self._traces

    @property
    def view(self) -> QGraphicsView:
        return self

    @property
    def panes(self) -> Sequence[Pane]:
        """Those in use, top to bottom."""
        return self._panes

    @property
    def axis(self) -> CommonAxis | None:
        return self._axis

    def say(self, message: Message) -> str:
        """A message in the language in force."""
        return self._say(message)

    @property
    def has_cursors(self) -> bool:
        return self._cursors.are_shown

    @property
    def swept_text(self) -> str:
        """The size of the box that is being drawn; "" without one."""
        return self._sweeper.text

    @property
    def active_sample(self) -> int:
        """Of the cursor the keyboard moves."""
        return self._cursors.active_sample

    def move_active(self, sample: int) -> None:
        """Put that one on a sample, and bring it into sight."""
        self._cursors.move_active(sample)

    @property
    def cursor_places(self) -> tuple[float, float] | None:
        """Of A and B on the axis, SI; None while they are hidden."""
        return self._cursors.places if self._cursors.are_shown else None

    @property
    def view_range(self) -> tuple[float, float] | None:
        """The shown part of the axis, in its coordinate; None while nothing is drawn."""
        return self._ranges.across

    @property
    def zoom(self) -> dict[str, tuple[float, float]]:
        """The ranges somebody chose: of the axis (""), of a pane by its unit; {} while all is shown."""
        return self._ranges.zoom

    def restore(self, zoom: Mapping[str, tuple[float, float]]) -> None:
        """Show ranges that were chosen before, as far as they are on the axis; {} shows everything."""
        self._ranges.restore(zoom)
        self.redraw()

    def pane_rect(self, index: int) -> QRectF:
        """Where a pane's curves are, in the coordinates of this widget."""
        box = self._panes[index].box
        return QRectF(self.mapFromScene(box.mapRectToScene(box.rect())).boundingRect())

    def use(self, theme: Theme) -> None:
        self._theme = theme
        self.setBackground(theme.color("plot.background"))
        for pane in self._made:
            pane.use(theme)
        self._cursors.use(theme)
        self._sweeper.use(theme)
        self._pointer.use(theme)
        for overlay in self._overlays:
            overlay.use(theme)
        self._soon.start()

    def show_traces(
        self,
        axis: CommonAxis,
        traces: Sequence[Trace],
        *,
        ghosts: Sequence[Trace] = (),
        keep_view: bool = False,
    ) -> None:
        """Draw traces over an axis, before those of other runs (`ghosts`, where their panes are shown).

        With `keep_view` a range that somebody chose, and the cursors, stay.
        """
        before = self._axis
        is_of_it = keep_view and before is not None and before.unit == axis.unit
        places = self._cursors.places if is_of_it else None
        is_same = (
            keep_view
            and before is not None
            and before.is_log == axis.is_log
            and is_of_its_scale(axis, before)
        )
        across, heights = self._ranges.chosen() if is_same else (None, {})
        self._in_turns.drop()
        if not is_same:  # else the old points would be seen on the new axis, and read there
            self._pointer.leave()
            for pane in self._made:
                pane.blank()
        self._axis, self._traces = axis, traces
        self._shown = (*ghosts, *traces)
        self._rebuild(panes_of(traces) or [PaneKind("")])
        self._cursors.take_axis(places)
        for pane in self._panes:
            pane.show_curves([*ghosts, *traces])
        self._ranges.show_chosen(across, heights)
        self._is_new = self._is_new or not is_same
        self.redraw()
        self._pointer.read_again()
        self.cursors_moved.emit(*self.cursor_samples)

    def show_marks(self, marks: Sequence[Mark], limit_text: Callable[[DesignGoal], str]) -> None:
        """Mark the limits of goals and the margins of loop gains; a goal is called what `limit_text` says."""
        for pane in self._panes:
            pane.show_marks(marks, limit_text)

    def show_range(self, across: tuple[float, float], upward: tuple[float, float] | None = None) -> None:
        """Show a part of the axis (its coordinate), and of the first pane; `fit` undoes it."""
        if self._panes:
            self._panes[0].box.setXRange(*across, padding=0)
            if upward is not None:
                self._panes[0].box.setYRange(*upward, padding=0)

    def zoom_into(
        self, pane: Pane, across: tuple[float, float] | None, upward: tuple[float, float] | None
    ) -> None:
        """Show a part of the axis, and of one pane (None: as it is), as somebody has chosen it."""
        self._ranges.zoom_into(pane, across, upward)

    def zoom_box(
        self, pane: Pane, across: tuple[float, float] | None, upward: tuple[float, float] | None
    ) -> None:
        """The same of a box over the curves: the pane's right axes go with it."""
        self._ranges.zoom_box(pane, across, upward)

    def select(self, expression: str | None) -> None:
        """Draw one trace stronger than the others."""
        if expression != self._selected:
            self._selected = expression
            self._soon.start()

    def fit(self) -> None:
        """Show everything."""
        self._ranges.fit()

    def fit_across(self) -> None:
        """All of the axis, at the heights that are shown."""
        self._ranges.fit_across()

    def fit_pane(self, pane: Pane) -> None:
        """All of one pane from bottom to top."""
        self._ranges.fit_pane(pane)

    def fit_shown(self, pane: Pane | None = None) -> None:
        """Show from bottom to top what one pane (or each) has in the shown part of the axis."""
        for each in self._panes if pane is None else [pane]:
            each.fit_shown(self.devicePixelRatioF())

    def set_cursor_places(self, places: tuple[float, float]) -> None:
        """Put both on the samples nearest to two places of the axis (SI)."""
        self._cursors.put(places)

    @property
    def has_grid(self) -> bool:
        return self._has_grid

    def set_grid_shown(self, is_shown: bool) -> None:
        self._has_grid = is_shown
        for pane in self._panes:
            pane.set_grid(is_shown=is_shown)

    def set_cursors_shown(self, is_shown: bool) -> None:
        """Show or hide both; one that is out of sight comes back into it."""
        self._cursors.show(are_shown=is_shown)
        self._soon.start()

    def move_cursor(self, name: CursorName, sample: int) -> None:
        """Put a cursor on a sample, and make it the one the keyboard moves."""
        self._cursors.move(name, sample)

    def contextMenuEvent(self, event: QContextMenuEvent | None) -> None:  # noqa: N802 - Qt's name
        """By key; the mouse's menu comes with the click, which a drag is not."""
        if event is not None and event.reason() == QContextMenuEvent.Reason.Keyboard and self._panes:
            centre = self._panes[0].box.sceneBoundingRect().center()
            self._ask_for_menu(self._panes[0], centre)

    @property
    def acts(self) -> Mapping[str, Callable[[], object]]:
        """What is done by keys and from the menus, by names of the table of actions."""
        return {
            "plot.fit": self.fit,
            "plot.fit_y": self.fit_shown,
            "plot.zoom_in": partial(self._zoom, 0.5),
            "plot.zoom_out": partial(self._zoom, 2.0),
            "plot.cursor_a": partial(self._cursors.choose, "a"),
            "plot.cursor_b": partial(self._cursors.choose, "b"),
            "plot.left": partial(self._step, -1),
            "plot.right": partial(self._step, 1),
            "plot.left_10": partial(self._step, -10),
            "plot.right_10": partial(self._step, 10),
            "plot.left_100": partial(self._step, -100),
            "plot.right_100": partial(self._step, 100),
            "plot.drop": self.drop,
        }

    def drop(self) -> bool:
        """Forget the box that is being drawn, or shown; whether there was one."""
        return self._sweeper.drop()

    def _step(self, count: int) -> None:
        """Move the active cursor by so many samples; without cursors, what is shown by a tenth."""
        if self._axis is None or not self._panes:
            return
        if self.has_cursors:
            self.move_active(self._axis.stepped(self.active_sample, count))
        else:
            self._ranges.pan(to_right=count > 0)

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Say where the pointer is, and over which run."""
        super().mouseMoveEvent(event)
        if event is not None:
            self._pointer.move(event, self._shown)

    def leaveEvent(self, event: QEvent | None) -> None:  # noqa: N802 - Qt's name
        super().leaveEvent(event)
        self._pointer.leave()

    @property
    def readout(self) -> str:
        """What the pointer reads; "" while it is elsewhere."""
        return self._pointer.text

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: N802 - Qt's name
        super().paintEvent(event)
        if self._is_new:
            self._in_turns.give_way(_AIR_MS)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        # The base class resizes itself while it is made; once closed its scene is gone.
        if hasattr(self, "_soon") and not self.closed:
            self._arrange()
            self._is_new = True
            self._place_over()  # what is painted before the drawing comes shows them with their curves
            self._soon.start()

    def _rebuild(self, kinds: Sequence[PaneKind]) -> None:
        assert self._axis is not None
        while len(self._made) < len(kinds):
            self._made.append(self._new_pane())
        self._panes = self._made[: len(kinds)]
        # At a right axis of its own, unless nothing has a left one.
        are_right = [bool(number and kind.beside) for number, kind in enumerate(kinds)]
        last = max(number for number, is_right in enumerate(are_right) if not is_right)
        for number, pane in enumerate(self._made):
            is_visible = number < len(kinds)
            pane.set_visible(is_visible=is_visible, is_last=number == last)
            if is_visible:
                pane.set_grid(is_shown=self._has_grid)
                pane.become(kinds[number], self._axis, is_right=are_right[number])
            else:
                pane.show_curves(())
        self._made[0].box.setLimits(minXRange=self._ranges.least_span())
        self._arrange()

    def _new_pane(self) -> Pane:
        pane = Pane(self.scene(), self._theme)
        if self._made:
            pane.box.setXLink(self._made[0].box)
        pane.box.sigRangeChanged.connect(self._on_range)
        pane.box.sigResized.connect(self._draw_soon)
        pane.box.clicked.connect(self._on_clicked)
        pane.box.double_clicked.connect(self._on_double_clicked)
        pane.box.sigRangeChangedManually.connect(partial(self._ranges.note_hand, pane))
        pane.box.lifted.connect(partial(self._ranges.lift, pane))
        pane.box.swept.connect(partial(self._sweeper.sweep, pane))
        for item in (pane.box, pane.upward, pane.across):
            item.menu_wanted.connect(partial(self._ask_for_menu, pane))
        pane.upward.double_clicked.connect(partial(self.fit_shown, pane))
        pane.across.double_clicked.connect(self.fit_across)
        for axis in (pane.upward, pane.across):
            axis.double_clicked.connect(self.axis_fitted)
        pane.upward.clicked.connect(lambda: self.axis_clicked.emit(self._panes.index(pane), True))
        pane.across.clicked.connect(lambda: self.axis_clicked.emit(self._panes.index(pane), False))
        return pane

    def _on_range(self, *_what: object) -> None:
        self._is_new = False
        self._draw_soon()

    def _draw_soon(self, *_what: object) -> None:
        self._soon.start()
        self._sweeper.note_range()
        self.range_changed.emit()

    def _arrange(self) -> None:
        self._places.place(self._panes, QRectF(self.rect()), self._theme.scale)

    def _zoom(self, factor: float) -> None:
        self._ranges.zoom_by(factor)

    def _on_clicked(self, x: float) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.drop()
        self._cursors.click(x)

    def _on_double_clicked(self) -> None:
        self._cursors.take_click_back()
        self.fit()

    def _ask_for_menu(self, pane: Pane, place: QPointF) -> None:
        if pane in self._panes:
            self.drop()
            at = float(pane.box.mapSceneToView(place).x())
            on_screen = self.viewport().mapToGlobal(self.mapFromScene(place))
            self.menu_wanted.emit(
                PlotPlace(pane=self._panes.index(pane), at=at, on_screen=on_screen, in_scene=place)
            )

    def close(self) -> None:
        """Also of a drawing that is on its way: pyqtgraph empties the scene."""
        self._in_turns.drop()
        super().close()

    def redraw(self, *, at_once: bool = False) -> None:
        """Draw; many curves in the next turns of the window's loop, unless each is to be drawn `at_once`, by
        itself."""
        if self.closed:  # pyqtgraph has emptied the scene
            return
        self._places.measure(self._panes)
        self._arrange()
        ratio = self.devicePixelRatioF()
        points, curves = (
            sum(pane.points(ratio) for pane in self._panes),
            sum(len(pane.lines) for pane in self._panes),
        )
        is_few = not (self._is_new or self._in_turns.is_at_work or curves > _MANY_CURVES)
        if not at_once and points > (_MANY_POINTS if is_few else _FEW_POINTS):
            self._in_turns.begin(air_ms=self._air_ms())
        else:
            self._in_turns.drop()
            for pane in self._panes:
                pane.draw(self._theme, self._selected, ratio, forget=not at_once)
        self._soon.stop()  # the drawing itself has moved the panes
        self._place_over()
        self._pointer.settle()

    def _air_ms(self) -> int:
        """Until the first turn."""
        if not self.updatesEnabled():
            return _UNPAINTED_MS
        return _AIR_MS if self._is_new else 0

    def _place_over(self) -> None:
        """Put what stands over the curves where they are now."""
        self._cursors.place()
        for overlay in self._overlays:
            overlay.place()

    def _to_draw(self) -> Sequence[DrawnPane[PixelCanvas]]:
        ratio = self.devicePixelRatioF()
        place = self.viewportTransform()
        return [pane.drawn_in_turns(self._theme, self._selected, ratio, place) for pane in self._panes]

    async def curves_for(
        self, theme: Theme, ratio: float, canvas_of: CanvasOf[Drawn_co]
    ) -> Sequence[Drawn_co]:
        """The curves of each pane in a theme's colours, with `ratio` pixels in one of the window's: for a
        picture that leaves the window.

        They are drawn in turns of the loop, and anew where what is shown has changed meanwhile.
        """
        while True:
            before, ranges, place = self._shown, self._ranges_shown(), self.viewportTransform()
            drawn = [pane.drawn_for(theme, self._selected, ratio, place, canvas_of) for pane in self._panes]
            await drawn_between(drawn)
            if self.closed or (before is self._shown and ranges == self._ranges_shown()):
                return [pane.canvas for pane in drawn]

    def _ranges_shown(self) -> list[object]:
        return [self.size(), *(each.box.viewRange() for each in self._panes)]

    @contextmanager
    def instead(self, curves: Sequence[Canvas], theme: Theme) -> Iterator[None]:
        """Everything in a theme's colours, with what `curves_for` has drawn in place of the curves."""
        usual = self._theme
        self.use(theme)
        try:
            with ExitStack() as stack:
                for pane, canvas in zip(self._panes, curves, strict=True):
                    pane.dress(theme)
                    stack.enter_context(pane.instead(canvas))
                self._place_over()  # circles have the colours of their curves
                yield
        finally:
            self.use(usual)
            self.redraw()

    def _note_drawn(self) -> None:
        for pane in self._panes:
            pane.note_drawn()

    def place_of(self, expression: str, sample: int) -> tuple[Pane, QPointF] | None:
        """Pane and place in the scene of a trace's sample; None where it is out of sight."""
        shown = self.view_range
        if self._axis is None or shown is None:
            return None
        across = float(self._axis.coordinates[sample])
        for pane in self._panes:
            low, high = pane.box.viewRange()[1]
            for trace, curve, _ in pane.lines:
                if trace.is_ghost or trace.expression != expression:
                    continue
                value = float(curve.values[sample])
                if pane.kind.is_log:
                    value = math.log10(value) if value > 0 else math.nan
                if shown[0] <= across <= shown[1] and low <= value <= high:
                    return pane, pane.box.mapViewToScene(QPointF(across, value))
        return None
