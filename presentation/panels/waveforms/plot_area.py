"""The drawing: panes above each other on one axis, curves cut down to the pixels there are, two cursors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QEvent, QPointF, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QContextMenuEvent, QMouseEvent, QResizeEvent
from PyQt6.QtWidgets import QGraphicsView, QToolTip, QWidget

from domain.simulation.goals import DesignGoal
from presentation.look import tokens
from presentation.panels.waveforms.cursors import CursorItem, CursorLook
from presentation.panels.waveforms.figures import joined, quantity
from presentation.panels.waveforms.level_cursors import LevelCursors
from presentation.panels.waveforms.overlay import Overlay
from presentation.panels.waveforms.panes import TRACE_COLORS, Pane
from presentation.panels.waveforms.plot_box import PlotPlace
from presentation.panels.waveforms.plot_labels import PlotLabels
from presentation.panels.waveforms.plot_marks import Mark
from presentation.panels.waveforms.sweeper import Sweeper
from presentation.panels.waveforms.traces import Axis as CommonAxis
from presentation.panels.waveforms.traces import PaneKind, Trace, panes_of
from presentation.ui.parts import once_after, text_label
from presentation.ui.theme import Theme
from shared.message import Message

CursorName = Literal["a", "b"]
_BEGINNINGS: tuple[tuple[CursorName, float], ...] = (("a", 1 / 3), ("b", 2 / 3))
"""Where the cursors stand at first, in parts of the axis."""

_ROOM_FOR_FLAGS = 18
_MARGIN = 4
_GAP = 10
_PANNED = 0.1
"""Of what is shown, by an arrow key."""
_REACH = 6.0
"""Pixels from a curve within which the mouse is on it."""


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
        self._left = 0.0
        self._is_zoomed_across = False
        """Somebody chose what is shown from left to right."""
        self._samples: dict[CursorName, int] = {"a": 0, "b": 0}
        self._active: CursorName = "a"
        self._has_cursors = True
        self._has_grid = True
        look = _cursor_look(theme)
        self._cursors = {name: self._make_cursor(name, look) for name, _ in _BEGINNINGS}
        self._sweeper = Sweeper(self)
        self.levels, self.labels = LevelCursors(self), PlotLabels(self)
        self._overlays: tuple[Overlay, ...] = (self.levels, self.labels)
        self._readout = text_label(name="plot_readout", role="small")
        self._readout.setParent(self)
        self._readout.setFont(theme.tabular("small"))
        self._readout.hide()
        self._sweeper.zoomed.connect(self.box_zoomed)
        self._before_click: int | None = None
        """Where the active cursor was before the latest click: a double click means something else."""
        self._soon = once_after(self, 0, self._redraw)
        self.use(theme)

    @property
    def cursor_samples(self) -> tuple[int, int]:
        return self._samples["a"], self._samples["b"]

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
        return self._has_cursors

    @property
    def swept_text(self) -> str:
        """The size of the box that is being drawn; "" without one."""
        return self._sweeper.text

    @property
    def active_sample(self) -> int:
        """Of the cursor the keyboard moves."""
        return self._samples[self._active]

    def move_active(self, sample: int) -> None:
        """Put that one on a sample, and bring it into sight."""
        self.move_cursor(self._active, sample)
        self._follow(sample)

    @property
    def cursor_places(self) -> tuple[float, float] | None:
        """Of A and B on the axis, SI; None while they are hidden."""
        if self._axis is None or not self._has_cursors:
            return None
        places = self._places()
        return places["a"], places["b"]

    @property
    def view_range(self) -> tuple[float, float] | None:
        """The shown part of the axis, in its coordinate; None while nothing is drawn."""
        if not self._panes:
            return None
        (low, high), _ = self._panes[0].box.viewRange()
        return float(low), float(high)

    @property
    def zoom(self) -> dict[str, tuple[float, float]]:
        """The ranges somebody chose: of the axis (""), of a pane by its unit; {} while all is shown."""
        found: dict[str, tuple[float, float]] = {}
        if self._axis is None:
            return found
        if self._is_zoomed_across and (across := self.view_range) is not None:
            found[""] = across
        for pane in self._panes:
            if pane.is_zoomed:
                low, high = pane.box.viewRange()[1]
                found[_key(pane.kind)] = float(low), float(high)
        return found

    def restore(self, zoom: Mapping[str, tuple[float, float]]) -> None:
        """Show ranges that were chosen before, as far as they are on the axis; {} shows everything."""
        if self._axis is None or not self._panes:
            return
        self.fit()
        across = zoom.get("")
        if across is not None:
            if across[1] < self._axis.low or across[0] > self._axis.high:
                return
            self.zoom_into(self._panes[0], across, None)
        for pane in self._panes:
            if (upward := zoom.get(_key(pane.kind))) is not None:
                self.zoom_into(pane, None, upward)
        self.redraw_now()

    def pane_rect(self, index: int) -> QRectF:
        """Where a pane's curves are, in the coordinates of this widget."""
        box = self._panes[index].box
        return QRectF(self.mapFromScene(box.mapRectToScene(box.rect())).boundingRect())

    def use(self, theme: Theme) -> None:
        self._theme = theme
        self.setBackground(theme.color("plot.background"))
        for pane in self._made:
            pane.use(theme)
        for cursor in self._cursors.values():
            cursor.use(_cursor_look(theme))
        self._sweeper.use(theme)
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
        places = self._places() if self._axis is not None and self._axis.unit == axis.unit else None
        is_same = (
            keep_view
            and self._axis is not None
            and (self._axis.unit, self._axis.is_log) == (axis.unit, axis.is_log)
        )
        before = self.view_range if is_same and self._is_zoomed_across else None
        heights = {pane.kind: pane.box.viewRange()[1] for pane in self._panes if is_same and pane.is_zoomed}
        self._axis, self._traces = axis, traces
        self._shown = (*ghosts, *traces)
        self._rebuild(panes_of(traces) or [PaneKind("")])
        self._set_cursors_from(places)
        for pane in self._panes:
            pane.show_curves([*ghosts, *traces])
            pane.fit()
            if (shown := heights.get(pane.kind)) is not None:
                pane.box.setYRange(*shown, padding=0)
                pane.is_zoomed = True
        if before is None:
            self.fit_across()
        else:
            self.zoom_into(self._panes[0], before, None)
        self.redraw_now()  # else what is painted first are the old points on the new axis
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
        if across is not None:
            self._panes[0].box.setXRange(*across, padding=0)
            self._is_zoomed_across = True
        if upward is not None:
            pane.box.setYRange(*upward, padding=0)
            pane.is_zoomed = True

    def select(self, expression: str | None) -> None:
        """Draw one trace stronger than the others."""
        if expression != self._selected:
            self._selected = expression
            self._soon.start()

    def fit(self) -> None:
        self.fit_across()
        for pane in self._panes:
            pane.fit()
            pane.is_zoomed = False

    def fit_pane(self, pane: Pane) -> None:
        """All of one pane from bottom to top."""
        pane.fit()
        pane.is_zoomed = False

    def fit_shown(self, pane: Pane | None = None) -> None:
        """Show from bottom to top what one pane (or each) has in the shown part of the axis."""
        self.redraw_now()  # what the panes have drawn is what they are asked for
        for each in self._panes if pane is None else [pane]:
            each.fit_shown()

    def set_cursor_places(self, places: tuple[float, float]) -> None:
        """Put both on the samples nearest to two places of the axis (SI)."""
        if self._axis is not None:
            self._set_cursors_from({"a": places[0], "b": places[1]})
            self._place_cursors()
            self.cursors_moved.emit(*self.cursor_samples)

    @property
    def has_grid(self) -> bool:
        return self._has_grid

    def set_grid_shown(self, is_shown: bool) -> None:
        self._has_grid = is_shown
        for pane in self._panes:
            pane.set_grid(is_shown=is_shown)

    def set_cursors_shown(self, is_shown: bool) -> None:
        """Show or hide both; one that is out of sight comes back into it."""
        self._has_cursors = is_shown
        if is_shown and self._axis is not None and (shown := self.view_range) is not None:
            low, high = shown
            for name, part in _BEGINNINGS:
                if not low <= self._axis.coordinates[self._samples[name]] <= high:
                    self._samples[name] = self._axis.nearest(low + part * (high - low))
            self.cursors_moved.emit(*self.cursor_samples)
        self._soon.start()

    def move_cursor(self, name: CursorName, sample: int) -> None:
        """Put a cursor on a sample, and make it the one the keyboard moves."""
        self._active = name
        self._samples[name] = sample
        self._place_cursors()
        self.cursors_moved.emit(*self.cursor_samples)

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
            "plot.cursor_a": partial(self._choose_cursor, "a"),
            "plot.cursor_b": partial(self._choose_cursor, "b"),
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
        if self._has_cursors:
            sample = self._axis.stepped(self._samples[self._active], count)
            self.move_active(sample)
        elif (shown := self.view_range) is not None:
            part = _PANNED * (shown[1] - shown[0]) * (1 if count > 0 else -1)
            self._panes[0].box.translateBy(x=part)
            self._is_zoomed_across = True

    def _choose_cursor(self, name: CursorName) -> None:
        if self._axis is not None and self._has_cursors:
            self.move_cursor(name, self._samples[name])

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Over a curve of a family: say which run it is."""
        super().mouseMoveEvent(event)
        if event is not None:
            self._read(event)
        if event is None or event.buttons() or not any(trace.run for trace in self._shown):
            return
        place = self.mapToScene(event.position().toPoint())
        found = (pane.nearest(place, _REACH * self._theme.scale) for pane in self._panes)
        trace = next((each for each in found if each is not None), None)
        if trace is None:
            QToolTip.hideText()
        else:
            words = f"{trace.expression}, {trace.run}"
            QToolTip.showText(event.globalPosition().toPoint(), words, self)

    def leaveEvent(self, event: QEvent | None) -> None:  # noqa: N802 - Qt's name
        super().leaveEvent(event)
        self._readout.hide()

    def _read(self, event: QMouseEvent) -> None:
        """At the right end: where the pointer is on the axis, and what the nearest curve has there."""
        place, axis = self.mapToScene(event.position().toPoint()), self._axis
        pane = next((each for each in self._panes if each.box.sceneBoundingRect().contains(place)), None)
        if pane is None or axis is None or event.buttons():
            self._readout.hide()
            return
        across = float(pane.box.mapSceneToView(place).x())
        words = [joined(*quantity(10.0**across if axis.is_log else across, axis.unit))]
        found = pane.value_near(place)
        if found is not None:
            trace, value = found
            shown = 10.0**value if pane.kind.is_log else value
            words.append(f"{trace.shown_name} {joined(*quantity(shown, pane.kind.unit))}")
        self._readout.setText("   ".join(words))
        self._readout.adjustSize()
        self._readout.move(self.width() - self._readout.width() - 3 * _MARGIN, _MARGIN)
        self._readout.show()

    @property
    def readout(self) -> str:
        """What the pointer reads; "" while it is elsewhere."""
        return self._readout.text() if self._readout.isVisible() else ""

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        # The base class resizes itself while it is made; once closed its scene is gone.
        if hasattr(self, "_soon") and not self.closed:
            self._arrange()
            self._soon.start()

    def _make_cursor(self, name: CursorName, look: CursorLook) -> CursorItem:
        cursor = CursorItem(name.upper(), look)
        cursor.picked.connect(lambda: self.move_cursor(name, self._samples[name]))
        cursor.dragged.connect(lambda x: self._drag(name, x))
        cursor.setVisible(False)
        self.scene().addItem(cursor)
        return cursor

    def _rebuild(self, kinds: Sequence[PaneKind]) -> None:
        assert self._axis is not None
        while len(self._made) < len(kinds):
            self._made.append(self._new_pane())
        self._panes = self._made[: len(kinds)]
        for number, pane in enumerate(self._made):
            is_visible = number < len(kinds)
            pane.set_visible(is_visible=is_visible, is_last=number == len(kinds) - 1)
            if is_visible:
                pane.set_grid(is_shown=self._has_grid)
                pane.become(kinds[number], self._axis)
            else:
                pane.show_curves(())
        self._made[0].box.setLimits(minXRange=self._least_span())
        self._arrange()

    def _new_pane(self) -> Pane:
        pane = Pane(self.scene(), self._theme)
        if self._made:
            pane.box.setXLink(self._made[0].box)
        pane.box.sigRangeChanged.connect(self._draw_soon)
        pane.box.sigResized.connect(self._draw_soon)
        pane.box.clicked.connect(self._on_clicked)
        pane.box.double_clicked.connect(self._on_double_clicked)
        pane.box.sigRangeChangedManually.connect(partial(self._on_zoomed, pane))
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

    def _draw_soon(self, *_what: object) -> None:
        self._soon.start()
        self._sweeper.note_range()
        self.range_changed.emit()

    def _arrange(self) -> None:
        """Panes below each other, their frames above each other; a phase gets less height than its gain."""
        if not self._panes:
            return
        whole = QRectF(self.rect())
        top, right = _ROOM_FOR_FLAGS * self._theme.scale + _MARGIN, whole.width() - 3 * _MARGIN
        bottom = whole.height() - self._panes[-1].across.label_height() - _MARGIN
        parts = [3 if row and pane.kind.unit == "deg" else 5 for row, pane in enumerate(self._panes)]
        room = max(bottom - top - _GAP * (len(parts) - 1), 1.0)
        left = self._left + _MARGIN
        for pane, part in zip(self._panes, parts, strict=True):
            height = max(room * part / sum(parts), 1.0)
            pane.place(QRectF(left, round(top), max(right - left, 1.0), round(height)), self._left)
            top += height + _GAP

    def _least_span(self) -> float:
        """Further in, doubles could not tell the ends of the axis apart."""
        assert self._axis is not None
        ends = abs(self._axis.low), abs(self._axis.high)
        return max(self._axis.high - self._axis.low, *ends) * 1e-9

    def fit_across(self) -> None:
        """All of the axis, at the heights that are shown."""
        self._is_zoomed_across = False
        if self._axis is None or not self._panes:
            return
        low, high = self._axis.low, self._axis.high
        if high <= low:
            low, high = low - 0.5, high + 0.5
        self._panes[0].box.setXRange(low, high, padding=0)

    def _zoom(self, factor: float) -> None:
        if self._panes:
            self._panes[0].box.scaleBy(x=factor)
            self._is_zoomed_across = True

    def _follow(self, sample: int) -> None:
        """Move the shown range so far that a sample is inside it."""
        assert self._axis is not None
        place, shown = float(self._axis.coordinates[sample]), self.view_range
        if shown is None or not math.isfinite(place) or shown[0] <= place <= shown[1]:
            return
        middle = (shown[0] + shown[1]) / 2
        self._panes[0].box.translateBy(x=place - middle)

    def _places(self) -> dict[CursorName, float]:
        assert self._axis is not None
        return {name: float(self._axis.values[sample]) for name, sample in self._samples.items()}

    def _set_cursors_from(self, places: dict[CursorName, float] | None) -> None:
        """The same places on another axis, or a third and two thirds of it."""
        assert self._axis is not None
        low, high = self._axis.low, self._axis.high
        for name, part in _BEGINNINGS:
            place = math.nan if places is None else self._axis.coordinate(places[name])
            if not low <= place <= high:
                place = low + part * (high - low)
            self._samples[name] = self._axis.nearest(place)

    def _on_clicked(self, x: float) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.drop()
        if self._has_cursors:
            self._before_click = self._samples[self._active]
            self._drag(self._active, x)

    def _on_double_clicked(self) -> None:
        if self._has_cursors and self._before_click is not None:
            self.move_cursor(self._active, self._before_click)
        self.fit()

    def _on_zoomed(self, pane: Pane, directions: Sequence[bool]) -> None:
        """By wheel or hand: along the axis, upward, or both."""
        self._is_zoomed_across |= bool(directions[0])
        pane.is_zoomed |= bool(directions[1])

    def _ask_for_menu(self, pane: Pane, place: QPointF) -> None:
        if pane in self._panes:
            self.drop()
            at = float(pane.box.mapSceneToView(place).x())
            on_screen = self.viewport().mapToGlobal(self.mapFromScene(place))
            self.menu_wanted.emit(PlotPlace(pane=self._panes.index(pane), at=at, on_screen=on_screen))

    def _drag(self, name: CursorName, x: float) -> None:
        if self._axis is not None and self._panes:
            box = self._panes[0].box
            self.move_cursor(name, self._axis.nearest(float(box.mapSceneToView(QPointF(x, 0.0)).x())))

    def redraw_now(self) -> None:
        """Draw what is waiting to be drawn, at once."""
        self._redraw()
        self._soon.stop()  # the drawing itself has moved the panes

    def _redraw(self) -> None:
        if self.closed:  # pyqtgraph has emptied the scene
            return
        if self._panes:
            # One width for all, in steps, so that panning does not make the frame tremble.
            wanted = max(pane.upward.wanted_width() for pane in self._panes)
            self._left = 8.0 * math.ceil(wanted / 8)
            self._arrange()
        for pane in self._panes:
            pane.draw(self._theme, self._selected, self.devicePixelRatioF())
        self._place_cursors()

    def _place_cursors(self) -> None:
        for name, cursor in self._cursors.items():
            self._place(name, cursor)
        for overlay in self._overlays:
            overlay.place()

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

    def _place(self, name: CursorName, cursor: CursorItem) -> None:
        shown = self.view_range
        if self._axis is None or shown is None or not self._has_cursors:
            cursor.setVisible(False)
            return
        sample = self._samples[name]
        coordinate = float(self._axis.coordinates[sample])
        is_inside = shown[0] <= coordinate <= shown[1]
        cursor.setVisible(is_inside)
        if not is_inside:
            return
        first, last = self._panes[0].box, self._panes[-1].box
        x = first.mapViewToScene(QPointF(coordinate, 0.0)).x()
        top = first.mapRectToScene(first.rect()).top()
        bottom = last.mapRectToScene(last.rect()).bottom()
        cursor.place(x, top, bottom, self._marks(sample, coordinate))
        cursor.set_active(name == self._active)

    def _marks(self, sample: int, coordinate: float) -> list[tuple[QPointF, QColor]]:
        """Where a cursor crosses the curves, as far as that is in sight."""
        marks = []
        for pane in self._panes:
            low, high = pane.box.viewRange()[1]
            for trace, curve, _ in pane.lines:
                if trace.is_ghost:
                    continue
                value = float(curve.values[sample])
                if pane.kind.is_log:
                    value = math.log10(value) if value > 0 else math.nan
                if low <= value <= high:
                    color = self._theme.color(f"trace.{trace.color % TRACE_COLORS}")
                    marks.append((pane.box.mapViewToScene(QPointF(coordinate, value)), color))
        return marks


def _key(kind: PaneKind) -> str:
    name = f"{kind.unit} log" if kind.is_log else kind.unit or "1"
    return f"{name} {kind.number}" if kind.number else name


def _cursor_look(theme: Theme) -> CursorLook:
    sizes = tokens()["plot_style"]
    return CursorLook(
        line=theme.color("plot.cursor"),
        on_flag=theme.color("plot.background"),
        background=theme.color("plot.background"),
        font=theme.font("caption", weight=600),
        dash=tuple(float(part) for part in sizes["cursor_dash"]),
        radius=float(sizes["marker_radius"]) * theme.scale,
        factor=theme.scale,
    )
