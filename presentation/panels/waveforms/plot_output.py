"""What leaves the plot: the picture and its values, to the clipboard, to a file, into the conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from presentation.panels.waveforms.drawn_plot import DrawnPlot
from presentation.panels.waveforms.plot_host import PlotHost
from presentation.panels.waveforms.run_overlay import RunOverlay
from presentation.panels.waveforms.traces import Trace
from presentation.ui.workspace import WindowServices


class PlotOutput:
    """Of one panel."""

    def __init__(
        self,
        services: WindowServices,
        panel: PlotHost,
        now: DrawnPlot,
        overlay: RunOverlay,
        name: Callable[[], str],
        *,
        left_out: Callable[[], frozenset[int]],
    ) -> None:
        """`name` says circuit, run and analysis, `left_out` which runs of a family are not ticked."""
        self._services = services
        self._panel, self._now = panel, now
        self._overlay = overlay
        self._name = name
        self._left_out = left_out

    def copy_plot(self) -> None:
        """The picture, and the values of the shown part."""
        self._copy(self._now.traces, has_picture=True)

    def copy_values(self, expression: str) -> None:
        """Those of one trace in the shown part."""
        only = [trace for trace in self._now.traces if trace.expression == expression]
        self._copy(only, has_picture=False)

    def export(self, suffix: str) -> None:
        """Write the plot where somebody says, or offer it to the conversation."""
        area, now = self._panel.area, self._now
        if now.axis is None or area is None:
            return
        from presentation.panels.waveforms.export import export_plot

        saving = export_plot(
            self._services,
            area,
            now.axis,
            now.in_shade(now.traces),
            suffix=suffix,
            name=self._told(),
            folder=None if now.circuit is None else now.circuit.parent,
            behind=self._overlay.names if now.ghosts else (),
            others=self._other_runs(),
        )
        self._services.start(saving, kind="export plot", scope="export")

    def _told(self) -> str:
        """Circuit, run and analysis; of a family those of its runs that are drawn."""
        from presentation.panels.waveforms.family import runs_told, without

        name, family = self._name(), self._now.family
        drawn = without(family, self._left_out())
        if not drawn or len(drawn) == len(family):
            return name
        whole, part = (self._services.language(runs_told(each, family)) for each in (family, drawn))
        return name.replace(whole, part)

    def _other_runs(self) -> Callable[[], Sequence[Trace]]:
        """What is written beside the traces: of a family of more runs than are drawn all that are ticked."""
        from presentation.panels.waveforms.family import MOST_DRAWN, family_of

        now, ghosts = self._now, self._now.ghosts
        if now.plot is None or now.axis is None or len(now.family) <= MOST_DRAWN:
            return lambda: ghosts
        older = [each for each in ghosts if each.step is None]
        found = partial(
            family_of, now.plot, now.family, now.traces, self._left_out(), now.axis.manner, is_whole=True
        )
        return lambda: (*older, *found())

    def _copy(self, traces: Sequence[Trace], *, has_picture: bool) -> None:
        area, axis = self._panel.area, self._now.axis
        if axis is None or area is None:
            return
        from presentation.panels.waveforms.export import copy_plot

        copying = copy_plot(self._services, area, axis, traces, name=self._told(), has_picture=has_picture)
        self._services.start(copying, kind="copy plot", scope="export")
