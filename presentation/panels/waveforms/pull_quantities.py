"""What of a plot can be pulled: the measured quantities of the shown run, kept at their places."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from PyQt6 import sip
from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QWidget

from presentation.panels.waveforms.drawn_plot import DrawnPlot
from presentation.panels.waveforms.shown_result import ShownResult
from presentation.ui.workspace import WindowServices

if TYPE_CHECKING:
    from presentation.panels.waveforms.plot_area import PlotArea
    from presentation.panels.waveforms.pull_points import PullPoint, Quantity


class Panel(Protocol):
    """The panel around the drawing."""

    @property
    def widget(self) -> QWidget: ...

    @property
    def area(self) -> PlotArea | None: ...


class PullQuantities(QObject):
    """Of one panel. Whoever makes values follow listens."""

    began = pyqtSignal(object)
    """`PullPoint` that somebody takes"""
    moved = pyqtSignal(float)
    released = pyqtSignal(float)
    dropped = pyqtSignal()
    asked = pyqtSignal(object)
    """`Quantity` that is to be moved to a number; None: one of those there are"""

    def __init__(self, services: WindowServices, panel: Panel, now: DrawnPlot, shown: ShownResult) -> None:
        super().__init__(panel.widget)
        self._services, self._panel, self._now, self._shown = services, panel, now, shown
        self._request = 0
        shown.measured.connect(self.look)

    @property
    def acts(self) -> Mapping[str, Callable[[], object]]:
        """By names of the table of actions."""
        return {"plot.move_to": lambda: self.asked.emit(None)}

    def attach(self, area: PlotArea) -> None:
        handles = area.pulls
        handles.began.connect(self.began)
        handles.moved.connect(self.moved)
        handles.released.connect(self.released)
        handles.dropped.connect(self.dropped)

    def offered(self) -> list[Quantity]:
        """What is measured of the shown run with a value, of a stepped circuit that of the run the cursors
        read; then the goals that hold in a condition of their own."""
        from presentation.panels.waveforms.pull_offers import in_conditions, of_the_run

        shown, loaded = self._shown, self._shown.loaded
        if loaded is None or shown.growth is not None or shown.circuit is None:
            return []
        plot = self._now.plot
        settings = {} if loaded.figures is None else loaded.figures.settings
        step = None if plot is None else plot.step
        return [*of_the_run(shown.measurements, settings, step), *in_conditions(shown.goals, settings)]

    def figure_of(self, quantity: Quantity) -> float | None:
        """What the shown run has of a quantity, NaN for nothing; None: not measured yet."""
        from presentation.panels.waveforms.pull_offers import figure_of

        return figure_of(self._shown.measurements, quantity)

    def look(self) -> None:
        """The curves, or what is measured, are others."""
        area, now = self._panel.area, self._now
        if area is None:
            return
        self._request += 1
        if now.plot is None or now.axis is None:
            area.pulls.show_points((), ())
            return
        self._services.start(self._find(area, self._request), kind="points of a plot", scope="waveforms")

    async def _find(self, area: PlotArea, request: int) -> None:
        from presentation.panels.waveforms.plot_marks import marks_of
        from presentation.panels.waveforms.pull_points import pull_points

        plot, axis, traces = self._now.plot, self._now.axis, self._now.traces
        quantities = self.offered()
        if plot is None or axis is None:
            return
        found: tuple[PullPoint, ...] = await asyncio.to_thread(pull_points, plot, axis, traces, quantities)
        goals = [each.goal for each in quantities if each.goal is not None and each.is_of_run]
        marks = await asyncio.to_thread(marks_of, plot, axis, traces, goals, ())
        if request == self._request and not sip.isdeleted(area):
            area.pulls.show_points(found, marks)
