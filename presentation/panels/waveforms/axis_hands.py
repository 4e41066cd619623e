"""What is chosen of the axes of a plot: limits, linear or in decades, dB, the grid."""

from __future__ import annotations

import math
from itertools import takewhile
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QPoint

from presentation.panels.waveforms.axis_card import AxisCard, AxisState
from presentation.panels.waveforms.plot_host import PlotHost
from presentation.panels.waveforms.plot_looks import (
    changed_look,
    look_of,
    scale_key,
    scale_now,
    scales_of,
)
from presentation.ui.workspace import WindowServices
from shared.message import msg

if TYPE_CHECKING:
    from presentation.panels.waveforms.plot_area import PlotArea
    from presentation.panels.waveforms.traces import Axis, Curve

_BESIDE = 12
"""Pixels between an axis and its card: a second click on the axis is no click on the card."""


class AxisHands(QObject):
    """Of one panel."""

    def __init__(self, services: WindowServices, panel: PlotHost) -> None:
        super().__init__(panel.widget)
        self._services = services
        self._panel = panel
        self._card: AxisCard | None = None
        self._pane = 0
        self._is_upright = False

    def attach(self, area: PlotArea) -> None:
        self._card = AxisCard(self._services, area)
        area.axis_clicked.connect(self.show_card)
        area.axis_fitted.connect(self._card.close_card)
        self._card.limits_chosen.connect(self._set_limits)
        self._card.scale_chosen.connect(self._set_scale)
        self._card.fit_chosen.connect(self._fit)
        self._card.way_chosen.connect(self._show_way)

    @property
    def is_log_x(self) -> bool:
        axis = self._axis
        return axis is not None and axis.is_log

    @property
    def can_be_log_x(self) -> bool:
        axis = self._axis
        return axis is not None and bool((axis.values > 0).any())

    def toggle_log_x(self) -> None:
        """The common axis in decades, or evenly."""
        if self.is_log_x or self.can_be_log_x:
            self._change("x", "linear" if self.is_log_x else "log")

    def scale_choices(self, pane: int) -> tuple[str, tuple[str, ...], str]:
        """What the scale of a pane is kept by, those it can have, and the one it has."""
        curve = self._curve(pane)
        return ("", (), "") if curve is None else (scale_key(curve), scales_of(curve), scale_now(curve))

    def set_scale(self, key: str, scale: str) -> None:
        """Draw all that is kept by `key` in another scale."""
        self._change(key, scale)

    def toggle_grid(self) -> None:
        panel, area = self._panel, self._panel.area
        if area is not None:
            look = changed_look(panel.view, panel.analysis)
            look.hides_grid = area.has_grid
            area.set_grid_shown(not look.hides_grid)
            self._services.workspace.views.tell()

    def right_of(self, pane: int) -> list[int]:
        """The places of those at the right axes of a pane."""
        panes = [] if self._panel.area is None else self._panel.area.panes
        rest = list(enumerate(panes))[pane + 1 :]
        return [number for number, _ in takewhile(lambda each: each[1].is_right, rest)]

    def show_card(self, pane: int, is_upright: bool) -> None:
        """Open the card of an axis."""
        area, axis = self._panel.area, self._axis
        if area is None or axis is None or self._card is None:
            return
        self._pane, self._is_upright = pane, is_upright
        rect = area.pane_rect(pane)
        if area.panes[pane].is_right:
            self._card.adjustSize()
            place = QPoint(round(rect.right()) - self._card.width() - _BESIDE, round(rect.top()) + _BESIDE)
        elif is_upright:
            place = QPoint(round(rect.left()) + _BESIDE, round(rect.top()) + _BESIDE)
        else:
            self._card.adjustSize()
            place = QPoint(round(rect.left()), round(rect.bottom()) - self._card.height() - _BESIDE)
        self._card.show_axis(self._state(axis, pane, is_upright=is_upright), place)

    @property
    def _axis(self) -> Axis | None:
        return None if self._panel.area is None else self._panel.area.axis

    def _curve(self, pane: int) -> Curve | None:
        """One that stands for all of a pane."""
        area = self._panel.area
        if area is None or pane >= len(area.panes):
            return None
        return next((curve for _, curve, _ in area.panes[pane].lines), None)

    def _state(self, axis: Axis, pane: int, *, is_upright: bool) -> AxisState:
        area = self._panel.area
        assert area is not None
        box = area.panes[pane].box
        across, upward = box.viewRange()
        if is_upright:
            _, scales, now = self.scale_choices(pane)
            kind = area.panes[pane].kind
            low, high = (10.0**each if kind.is_log else each for each in upward)
            name = msg("Right y axis") if area.panes[pane].is_right else msg("y axis")
            return AxisState(
                name=name,
                unit=kind.unit,
                low=low,
                high=high,
                scale=now,
                scales=scales,
                ways=("nyquist", "group_delay") if self._complex_in(pane) else (),
            )
        low, high = (10.0**each if axis.is_log else each for each in across)
        return AxisState(
            name=msg("x axis"),
            unit=axis.unit,
            low=low,
            high=high,
            scale="log" if axis.is_log else "linear",
            scales=("linear", "log") if self.can_be_log_x else (),
            ways=("against",),
        )

    def _complex_in(self, pane: int) -> list[str]:
        """The traces of a pane that are responses over frequency: they have a phase too."""
        area = self._panel.area
        lines = [] if area is None or pane >= len(area.panes) else area.panes[pane].lines
        found = [trace for trace, _, _ in lines if not trace.is_ghost and len(trace.curves) > 1]
        return list(dict.fromkeys(trace.expression for trace in found))

    def _show_way(self, way: str) -> None:
        """Another drawing of the same, beside the curves or as a trace."""
        if self._card is not None:
            self._card.close_card()
        panel = self._panel
        if way == "group_delay":
            for expression in self._complex_in(self._pane):
                panel.add_trace(f"group_delay({expression})")
        elif way == "nyquist":
            panel.beside.show_kind("nyquist")
        else:
            panel.beside.show_kind("against")

    def _set_limits(self, low: float, high: float) -> None:
        area, axis = self._panel.area, self._axis
        if area is None or axis is None or self._pane >= len(area.panes):
            return
        pane = area.panes[self._pane]
        is_log = pane.kind.is_log if self._is_upright else axis.is_log
        limits = (math.log10(low), math.log10(high)) if is_log else (low, high)
        if self._is_upright:
            area.zoom_into(pane, None, limits)
        else:
            area.zoom_into(pane, limits, None)

    def _set_scale(self, scale: str) -> None:
        if self._card is not None:
            self._card.close_card()
        key = self.scale_choices(self._pane)[0] if self._is_upright else "x"
        self._change(key, scale)

    def _fit(self) -> None:
        area = self._panel.area
        if self._card is not None:
            self._card.close_card()
        if area is not None and self._pane < len(area.panes):
            if self._is_upright:
                area.fit_pane(area.panes[self._pane])
            else:
                area.fit_across()

    def _change(self, key: str, scale: str) -> None:
        panel = self._panel
        if look_of(panel.view, panel.analysis).scales.get(key) != scale and panel.has_drawing:
            changed_look(panel.view, panel.analysis).scales[key] = scale
            panel.view.zooms.pop(panel.analysis, None)  # its numbers are of the other scale
            panel.draw_again()
