"""One pane of a plot: what has one unit, over the common axis, with its grid and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyqtgraph as pg  # type: ignore[import-untyped]
from PyQt6.QtCore import QPointF, QRectF
from PyQt6.QtGui import QColor, QPen, QTransform

from domain.simulation.goals import DesignGoal
from domain.simulation.waveform import RealArray
from presentation.look import tokens
from presentation.panels.waveforms.axes import Axis, Grid, PlotStyle
from presentation.panels.waveforms.curve_item import CurveItem, Line, extremes
from presentation.panels.waveforms.drawn_in_turns import (
    Canvas,
    CanvasOf,
    CurvesPicture,
    Drawn_co,
    DrawnPane,
    PixelCanvas,
)
from presentation.panels.waveforms.mark_item import MarkItem, MarkLook
from presentation.panels.waveforms.plot_box import PlotBox
from presentation.panels.waveforms.plot_marks import Mark
from presentation.panels.waveforms.traces import Axis as CommonAxis
from presentation.panels.waveforms.traces import Curve, PaneKind, Stretch, Trace, bounds_of
from presentation.ui.theme import Theme

_PADDING = 0.06
_LEAST_SPAN = {"dB": 0.1, "deg": 1.0}
"""What all of a pane shows at least: a flat response is a flat line. By hand one comes closer."""
_MOST_SOLID = 4
TRACE_COLORS = 8
"""How many colours traces have before they begin again."""


def _in_shade(theme: Theme, color: QColor, shade: float) -> QColor:
    """One hue from dark to light by the stepped value, none so pale that it is lost."""
    dark, light = (0.25, 0.70) if theme.name == "light" else (0.42, 0.82)
    hue, saturation, _, _ = color.getHslF()
    return QColor.fromHslF(max(hue or 0.0, 0.0), saturation or 0.0, dark + (light - dark) * shade)


def family_colors(theme: Theme, color: int, shades: Iterable[float]) -> list[QColor]:
    """Those of the runs of a family by where each stands among them."""
    whole = theme.color(f"trace.{color % TRACE_COLORS}")
    return [_in_shade(theme, whole, shade) for shade in shades]


def trace_pen(theme: Theme, trace: Trace, *, is_selected: bool = False) -> QPen:
    """The line of a trace by its place in the order of colours: dashed from the fifth, then dotted.

    Traces of another run are thin and pale.
    """
    sizes = tokens()["plot_style"]
    color = theme.color(f"trace.{trace.color % TRACE_COLORS}")
    if trace.shade is not None:
        # The run that the cursors read stands out.
        width = float(sizes["line_width_selected" if is_selected or not trace.is_ghost else "line_width"])
        return QPen(_in_shade(theme, color, trace.shade), width * theme.scale)
    if trace.is_preview:
        pen = QPen(color, float(sizes["line_width"]) * theme.scale)
        if trace.line == "solid":
            return pen
        pen.setDashPattern([float(part) for part in sizes["dash"]["dash_pattern"]])
        return pen
    kind = "line_width_ghost" if trace.is_ghost else "line_width_selected" if is_selected else "line_width"
    if trace.is_ghost:
        color.setAlphaF(float(sizes["ghost_opacity"]))
    pen = QPen(color, float(sizes[kind]) * theme.scale)
    if trace.line:
        if trace.line != "solid":
            dash = [1.5, 3.0] if trace.line == "dotted" else sizes["dash"]["dash_pattern"]
            pen.setDashPattern([float(part) for part in dash])
    elif trace.color >= TRACE_COLORS:
        pen.setDashPattern([1.5, 3.0])
    elif trace.color >= _MOST_SOLID:
        pen.setDashPattern([float(part) for part in sizes["dash"]["dash_pattern"]])
    return pen


class Pane:
    """One pane: its box, axes, grid and lines.

    Panes and lines are used again and again, never deleted: what Python's collector deletes in another
    thread, or after its scene, takes the program along.
    """

    def __init__(self, scene: pg.GraphicsScene, theme: Theme) -> None:
        style = PlotStyle.of(theme)
        self.kind = PaneKind("")
        self.box = PlotBox()
        self.upward = Axis("left", style)
        self.across = Axis("bottom", style)
        self.upward.linkToView(self.box)
        self.across.linkToView(self.box)
        self._grid = Grid(self.across, self.upward, self.box, style)
        self.box.addItem(self._grid, ignoreBounds=True)
        look = MarkLook.of(theme)
        self._layers = [
            MarkItem(self.box, look, is_behind=is_behind, curves=self._drawn, runs=self._named)
            for is_behind in (True, False)
        ]
        for layer in self._layers:
            self.box.addItem(layer, ignoreBounds=True)
        self._picture = CurvesPicture(self.box)
        self.box.addItem(self._picture, ignoreBounds=True)
        for item in (self.box, self.upward, self.across):
            scene.addItem(item)
        self.lines: list[tuple[Trace, Curve, list[CurveItem]]] = []
        self._items: list[CurveItem] = []
        self._placed: tuple[QRectF, float, float, float, bool, bool] | None = None
        self.is_zoomed = False
        """Somebody chose what is shown from bottom to top."""
        self.is_right = False
        """It lies over the pane before it, with its axis at the right of that one's frame."""

    def become(self, kind: PaneKind, axis: CommonAxis, *, is_right: bool = False) -> None:
        """Serve for another quantity, over another axis."""
        if kind != self.kind:
            self.blank()
        self.kind, self.is_right = kind, is_right
        self.box.takes_mouse = not is_right
        self._grid.setVisible(not is_right)
        self.is_zoomed = False
        self.upward.measure(kind.unit, is_log=kind.is_log)
        self.across.measure(axis.unit, is_log=axis.is_log)

    def set_grid(self, *, is_shown: bool) -> None:
        """Show the lines of the grid, or the frame alone."""
        self._grid.set_lines(are_shown=is_shown)

    def set_visible(self, *, is_visible: bool, is_last: bool) -> None:
        """Show the pane; only the last one has the labels of the common axis."""
        self.box.setVisible(is_visible)
        self.upward.setVisible(is_visible)
        self.across.setVisible(is_visible and is_last)

    def use(self, theme: Theme) -> None:
        style = PlotStyle.of(theme)
        for layer in self._layers:
            layer.use(MarkLook.of(theme))
        self.upward.use(style)
        self.across.use(style)
        self._grid.use(style)

    def place(self, frame: QRectF, wide: float, away: float = 0.0) -> None:
        """Stand in `frame` (of the curves, in the scene), the labels `wide` before it.

        At a right axis they stand behind it, `away` from the frame.
        """
        below = self.across.label_height()
        start = frame.right() + away if self.is_right else frame.left() - wide
        wanted = (QRectF(frame), wide, start, below, self.box.isVisible(), self.across.isVisible())
        if wanted == self._placed:  # every geometry that is set is worked through by the scene
            return
        self._placed = wanted
        self.box.setGeometry(frame)
        self.upward.setWidth(wide)
        self.across.setHeight(below)
        self.upward.setGeometry(QRectF(start, frame.top(), wide, frame.height()))
        self.across.setGeometry(QRectF(frame.left(), frame.bottom(), frame.width(), below))

    def blank(self) -> None:
        """Show no curve until they are drawn again."""
        self._picture.drop()
        for item in self._items:
            item.setVisible(False)

    def show_curves(self, traces: Sequence[Trace]) -> None:
        free = iter(self._items)
        self.lines = []
        for trace in traces:
            for curve in trace.curves:
                if curve.pane == self.kind:
                    items = [next(free, None) or self._new_item() for _ in curve.stretches]
                    self.lines.append((trace, curve, items))
        for item in free:
            item.setVisible(False)

    def show_marks(self, marks: Sequence[Mark], limit_text: Callable[[DesignGoal], str]) -> None:
        """Mark the limits of goals and the margins."""
        for layer in self._layers:
            layer.show_marks(self.kind, marks, limit_text)

    def cut(self, pixel_ratio: float) -> tuple[float, float, int]:
        """The part of the axis that is shown, and its columns of pixels."""
        (low, high), _ = self.box.viewRange()
        return low, high, max(int(self.box.width() * pixel_ratio), 1)

    def points(self, pixel_ratio: float) -> int:
        """How many are to be drawn, about."""
        low, high, columns = self.cut(pixel_ratio)
        stretches = (stretch for _, curve, _ in self.lines for stretch in curve.stretches)
        return sum(min(stretch.count(low, high), 2 * columns) for stretch in stretches)

    def draw(self, theme: Theme, selected: str | None, pixel_ratio: float, *, forget: bool) -> None:
        """Cut the curves down to the pixels of the range that is shown; `forget` the picture of many."""
        self.dress(theme)
        for item, line in self._made(theme, selected, pixel_ratio):
            item.show_line(line)
            item.setVisible(True)
        self._picture.setVisible(False)
        if forget:
            self._picture.drop()
        self.note_drawn()

    def drawn_in_turns(
        self, theme: Theme, selected: str | None, pixel_ratio: float, in_window: QTransform
    ) -> DrawnPane[PixelCanvas]:
        """The same as a picture that is yet to be drawn; the one before is shown until then.

        `in_window` leads from the scene to the window.
        """
        self.dress(theme)
        if self._picture.is_drawn:
            self._picture.setVisible(True)
            for item in self._items:
                item.setVisible(False)
        return self.drawn_for(theme, selected, pixel_ratio, in_window, PixelCanvas)

    def drawn_for(
        self,
        theme: Theme,
        selected: str | None,
        pixel_ratio: float,
        in_window: QTransform,
        canvas_of: CanvasOf[Drawn_co],
    ) -> DrawnPane[Drawn_co]:
        """The same for a picture that leaves the window: what is shown stays as it is."""
        self.box.updateMatrix()  # pyqtgraph's own, else only when the scene is painted
        canvas = canvas_of(self.box, self._picture.deviceTransform(in_window), pixel_ratio)
        return DrawnPane(self._picture, canvas, self._made(theme, selected, pixel_ratio))

    @contextmanager
    def instead(self, canvas: Canvas) -> Iterator[None]:
        """Have what was drawn for elsewhere in place of what is shown."""
        shown = [item for item in self._items if item.isVisible()]
        was_visible, before = self._picture.isVisible(), self._picture.canvas
        for item in shown:
            item.setVisible(False)
        self._picture.show_canvas(canvas)
        try:
            yield
        finally:
            self._picture.show_canvas(before)
            self._picture.setVisible(was_visible)
            for item in shown:
                item.setVisible(True)

    def dress(self, theme: Theme) -> None:
        """Give the axis the colour of what is read at it."""
        colors = {trace.color for trace, _, _ in self.lines if not trace.is_ghost}
        edge = theme.color(f"trace.{colors.pop() % TRACE_COLORS}") if len(colors) == 1 else None
        self.upward.set_side(is_right=self.is_right, edge=edge)

    def note_drawn(self) -> None:
        """Runs are named where their curves are now."""
        self._layers[1].update()

    def _made(
        self, theme: Theme, selected: str | None, pixel_ratio: float
    ) -> Iterator[tuple[CurveItem, Line]]:
        """The lines from the back to the front, each cut down when it is asked for."""
        part = self.cut(pixel_ratio)
        ordered: list[tuple[int, Stretch, CurveItem, QPen]] = []
        for trace, curve, items in self.lines:
            is_selected = trace.expression == selected and (not trace.is_ghost or trace.shade is not None)
            pen = trace_pen(theme, trace, is_selected=is_selected)
            is_behind = trace.is_ghost and not trace.is_preview
            height = 2 if trace.is_preview else -1 if is_behind else 1 if is_selected else 0
            ordered.extend(
                (height, stretch, item, pen) for stretch, item in zip(curve.stretches, items, strict=True)
            )
        ordered.sort(key=lambda each: each[0])
        for height, stretch, item, pen in ordered:
            item.setZValue(height)
            yield item, Line.of(*stretch.visible(*part), pen)

    def nearest(self, place: QPointF, reach: float) -> Trace | None:
        """The trace of a family that runs within `reach` pixels above or below a place of the scene."""
        if not self.box.sceneBoundingRect().contains(place) or not self.box.isVisible():
            return None
        here = self.box.mapSceneToView(place)
        _, pixel = self.box.viewPixelSize()
        best, found = reach, None
        for trace, _, items in self.lines:
            for item in items if trace.run else ():
                x, y = item.points
                if len(x) and x[0] <= here.x() <= x[-1]:
                    away = abs(float(np.interp(here.x(), x, y)) - here.y()) / max(pixel, 1e-300)
                    if away < best:
                        best, found = away, trace
        return found

    def value_near(self, place: QPointF) -> tuple[Trace, float, float] | None:
        """The curve nearest above or below a place of the scene, its coordinate there, how far it is."""
        here = self.box.mapSceneToView(place)
        best: tuple[Trace, float, float] | None = None
        _, pixel = self.box.viewPixelSize()
        for trace, _, items in self.lines:
            for item in items if not trace.is_ghost else ():
                x, y = item.points
                if len(x) and x[0] <= here.x() <= x[-1]:
                    value = float(np.interp(here.x(), x, y))
                    away = abs(value - here.y()) / max(pixel, 1e-300)
                    if best is None or away < best[2]:
                        best = trace, value, away
        return best

    def _drawn(self) -> Iterator[tuple[RealArray, RealArray]]:
        """The points of every curve as it is drawn."""
        for _, _, items in self.lines:
            for item in items:
                yield item.points

    def _named(self) -> Iterator[tuple[str, RealArray, RealArray]]:
        """The runs of a family, as they are drawn."""
        for trace, _, items in self.lines:
            for item in items if trace.run else ():
                if len(item.points[0]):
                    yield trace.run, *item.points

    def _new_item(self) -> CurveItem:
        item = CurveItem(self.box)
        self.box.addItem(item, ignoreBounds=True)
        self._items.append(item)
        return item

    def fit(self) -> None:
        """Show all of the curves from bottom to top."""
        least = _LEAST_SPAN.get(self.kind.unit, 0.0)
        self._show_bounds(bounds_of([curve for _, curve, _ in self.lines]), least)

    def fit_shown(self, pixel_ratio: float) -> None:
        """Show all that the curves have between the left and the right edge."""
        low, high, columns = self.cut(pixel_ratio)
        stretches = (stretch for _, curve, _ in self.lines for stretch in curve.stretches)
        cut = (stretch.visible(low, high, columns) for stretch in stretches)
        found = [each for x, y in cut for each in extremes(x, y, low, high)]
        if found:
            self._show_bounds((min(found), max(found)))
            self.is_zoomed = True

    def _show_bounds(self, bounds: tuple[float, float] | None, least: float = 0.0) -> None:
        low, high = (0.0, 1.0) if bounds is None else bounds
        span = high - low
        if span <= 1e-9 * max(abs(low), abs(high)):  # a flat line, or the noise of the arithmetic
            span = 0.1 * abs(high) if high and self.kind.unit not in _LEAST_SPAN else 2.0
            low, high = low - span / 2, high + span / 2
        elif span < least:
            low, high, span = (low + high - least) / 2, (low + high + least) / 2, least
        self.box.setYRange(low - _PADDING * span, high + _PADDING * span, padding=0)
