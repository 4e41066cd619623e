"""How a circuit's plots were looked at: traces, zoom, what stands beside, kept per circuit and analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from application.project.window_state import CircuitView
from presentation.panels.waveforms.drawn_plot import DrawnPlot
from presentation.ui.workspace import WindowServices

if TYPE_CHECKING:
    from presentation.panels.waveforms.plot_area import PlotArea


class PlotMemory:
    """Of one panel; writing it down is the workspace's business, within a second."""

    def __init__(self, services: WindowServices, now: DrawnPlot) -> None:
        self._views = services.workspace.views
        self._now = now

    @property
    def view(self) -> CircuitView:
        """How the shown circuit is looked at, to be changed in place."""
        return self._views.of(self._now.circuit)

    def tell(self) -> None:
        """Something of it was changed."""
        self._views.tell()

    def keep_analysis(self, analysis: str) -> None:
        self.view.analysis = analysis
        self.tell()

    def keep_traces(self) -> None:
        """The traces that a person chose; those that this run does not have are given up with it."""
        now = self._now
        if now.plot is not None:
            now.missing = ()
            self.keep_expressions([trace.expression for trace in now.traces])

    def keep_expressions(self, expressions: list[str]) -> None:
        if self._now.plot is not None:
            self.view.traces[self._now.plot.analysis] = expressions
            self.tell()

    def keep_zoom(self, area: PlotArea | None) -> None:
        """The part of the drawing that somebody looks at is kept for its circuit."""
        now = self._now
        if now.plot is None or now.axis is None or area is None:
            return
        zoom, zooms = area.zoom, self.view.zooms
        if zoom != zooms.get(now.plot.analysis, {}):
            zooms[now.plot.analysis] = zoom
            if not zoom:
                del zooms[now.plot.analysis]
            self.tell()

    def keep_beside(self, kind: str) -> None:
        """What is drawn beside the curves; "" for nothing."""
        if self._now.plot is not None:
            kept, analysis = self.view.beside, self._now.plot.analysis
            if kept.get(analysis, "") != kind:
                kept[analysis] = kind
                self.tell()
