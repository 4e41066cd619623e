"""The two cursors of a plot: on which samples they stand, which one the keyboard moves, where they cross."""

from __future__ import annotations

import math
from typing import Literal

from PyQt6.QtCore import QObject, QPointF, QRectF, pyqtSignal
from PyQt6.QtGui import QColor

from presentation.look import tokens
from presentation.panels.waveforms.cursors import CursorItem, CursorLook
from presentation.panels.waveforms.overlay import OverlaidPlot
from presentation.panels.waveforms.panes import TRACE_COLORS
from presentation.panels.waveforms.plot_ranges import PlotRanges
from presentation.panels.waveforms.traces import Axis
from presentation.ui.theme import Theme

CursorName = Literal["a", "b"]
_BEGINNINGS: tuple[tuple[CursorName, float], ...] = (("a", 1 / 3), ("b", 2 / 3))
"""Where the cursors stand at first, in parts of the axis."""
_FAR_WIDER = 20
"""Places that were apart on an axis so many times narrower are one place."""


def is_of_its_scale(axis: Axis, before: Axis) -> bool:
    """Whether cursors of the axis `before` mean something on `axis`."""
    is_wider = axis.is_log == before.is_log and axis.high - axis.low > _FAR_WIDER * (before.high - before.low)
    return axis.unit == before.unit and not is_wider


class PlotCursors(QObject):
    """A and B of one plot; all their places are samples of its axis."""

    moved = pyqtSignal(int, int)
    """samples of A and B"""

    def __init__(self, area: OverlaidPlot, ranges: PlotRanges, theme: Theme) -> None:
        super().__init__(area.view)
        self._area, self._ranges = area, ranges
        self._theme = theme
        self._samples: dict[CursorName, int] = {"a": 0, "b": 0}
        self._active: CursorName = "a"
        self._before_click: int | None = None
        """Where the active one was before the latest click: a double click means something else."""
        self._chosen_on: Axis | None = None
        """The axis on which somebody put them where they are; None: they stand where they begin."""
        self._ends: tuple[float, float] | None = None
        """Of the axis they stand on (SI)."""
        self._away: dict[CursorName, float] = {}
        """Places (SI) that the axis does not reach, as while a run grows: they come back."""
        self.are_shown = True
        look = _look(theme)
        self._items = {name: self._made(name, look) for name, _ in _BEGINNINGS}

    @property
    def samples(self) -> tuple[int, int]:
        return self._samples["a"], self._samples["b"]

    @property
    def active_sample(self) -> int:
        """Of the cursor the keyboard moves."""
        return self._samples[self._active]

    @property
    def places(self) -> tuple[float, float] | None:
        """Of A and B on the axis, SI; None without one."""
        axis = self._area.axis
        if axis is None:
            return None
        return float(axis.values[self._samples["a"]]), float(axis.values[self._samples["b"]])

    @property
    def flags(self) -> list[QRectF]:
        """Where the letters of those in sight stand, in the scene."""
        return [item.flag() for item in self._items.values() if item.isVisible()]

    def use(self, theme: Theme) -> None:
        self._theme = theme
        for item in self._items.values():
            item.use(_look(theme))

    def take_axis(self, places: tuple[float, float] | None) -> None:
        """The same places on another axis (SI), or a third and two thirds of it: these where nobody has
        chosen any, or on an axis of another scale, be it that many others were shown since (a run grows)."""
        axis = self._area.axis
        assert axis is not None
        before, self._ends = self._ends, (float(axis.values[0]), float(axis.values[-1]))
        chosen_on = self._chosen_on  # without one: the same points, in logarithms or not
        if not (before == self._ends if chosen_on is None else is_of_its_scale(axis, chosen_on)):
            places, self._chosen_on = None, None
            self._away.clear()
        for number, (name, part) in enumerate(_BEGINNINGS):
            wanted = math.nan if places is None else self._away.pop(name, places[number])
            place = axis.coordinate(wanted) if math.isfinite(wanted) else math.nan
            if not axis.low <= place <= axis.high:
                if math.isfinite(wanted):
                    self._away[name] = wanted
                place = axis.low + part * (axis.high - axis.low)
            self._samples[name] = axis.nearest(place)

    def put(self, places: tuple[float, float]) -> None:
        """Both on the samples nearest to two places of the axis (SI)."""
        if self._area.axis is not None:
            self._chosen_on = self._area.axis
            self._away.clear()
            self.take_axis(places)
            self.place()
            self.moved.emit(*self.samples)

    def show(self, *, are_shown: bool) -> None:
        """Show or hide both; one that is out of sight comes back into it."""
        self.are_shown = are_shown
        axis, shown = self._area.axis, self._ranges.across
        if are_shown and axis is not None and shown is not None:
            low, high = shown
            for name, part in _BEGINNINGS:
                if not low <= axis.coordinates[self._samples[name]] <= high:
                    self._samples[name] = axis.nearest(low + part * (high - low))
                    self._chosen_on = axis
            self.moved.emit(*self.samples)

    def move(self, name: CursorName, sample: int) -> None:
        """Put one on a sample, and make it the one the keyboard moves."""
        self._active = name
        self._samples[name] = sample
        self._away.pop(name, None)
        self._chosen_on = self._area.axis
        self.place()
        self.moved.emit(*self.samples)

    def move_active(self, sample: int) -> None:
        """Put that one on a sample, and bring it into sight."""
        axis = self._area.axis
        assert axis is not None
        self.move(self._active, sample)
        self._ranges.follow(float(axis.coordinates[sample]))

    def choose(self, name: CursorName) -> None:
        """The keyboard moves this one from now on."""
        if self._area.axis is not None and self.are_shown:
            self.move(name, self._samples[name])

    def click(self, x: float) -> None:
        """The active one comes to where the mouse was clicked (x in the scene)."""
        if self.are_shown:
            self._before_click = self._samples[self._active]
            self._drag(self._active, x)

    def take_click_back(self) -> None:
        """The click was the first of a double click."""
        if self.are_shown and self._before_click is not None:
            self.move(self._active, self._before_click)

    def place(self) -> None:
        """Stand where the samples are in what is shown now."""
        for name, item in self._items.items():
            self._place(name, item)

    def _made(self, name: CursorName, look: CursorLook) -> CursorItem:
        item = CursorItem(name.upper(), look)
        item.picked.connect(lambda: self.move(name, self._samples[name]))
        item.dragged.connect(lambda x: self._drag(name, x))
        item.setVisible(False)
        scene = self._area.view.scene()
        assert scene is not None
        scene.addItem(item)
        return item

    def _drag(self, name: CursorName, x: float) -> None:
        axis = self._area.axis
        if axis is not None and self._area.panes:
            box = self._area.panes[0].box
            self.move(name, axis.nearest(float(box.mapSceneToView(QPointF(x, 0.0)).x())))

    def _place(self, name: CursorName, item: CursorItem) -> None:
        axis, shown = self._area.axis, self._ranges.across
        if axis is None or shown is None or not self.are_shown:
            item.setVisible(False)
            return
        sample = self._samples[name]
        coordinate = float(axis.coordinates[sample])
        is_inside = shown[0] <= coordinate <= shown[1]
        item.setVisible(is_inside)
        if not is_inside:
            return
        first, last = self._area.panes[0].box, self._area.panes[-1].box
        x = first.mapViewToScene(QPointF(coordinate, 0.0)).x()
        top = first.mapRectToScene(first.rect()).top()
        bottom = last.mapRectToScene(last.rect()).bottom()
        item.place(x, top, bottom, self._marks(sample, coordinate))
        item.set_active(name == self._active)

    def _marks(self, sample: int, coordinate: float) -> list[tuple[QPointF, QColor]]:
        """Where a cursor crosses the curves, as far as that is in sight."""
        marks = []
        for pane in self._area.panes:
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


def _look(theme: Theme) -> CursorLook:
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
