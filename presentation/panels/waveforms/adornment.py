"""What is made off the loop after the curves are there: other runs, previews, limits, margins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PyQt6 import sip

from domain.simulation.waveform import Plot
from presentation.panels.waveforms.drawn_plot import DrawnPlot
from presentation.panels.waveforms.family_runs import FamilyRuns
from presentation.panels.waveforms.plot_host import PlotHost
from presentation.panels.waveforms.preview_curves import PreviewCurves
from presentation.panels.waveforms.run_overlay import RunOverlay
from presentation.panels.waveforms.shown_result import ShownResult
from presentation.panels.waveforms.traces import Axis, Trace
from presentation.ui.workspace import WindowServices


class Adornment:
    """Of one panel; what was made for an older drawing is thrown away."""

    def __init__(
        self,
        services: WindowServices,
        panel: PlotHost,
        now: DrawnPlot,
        shown: ShownResult,
        *,
        behind: tuple[RunOverlay, FamilyRuns],
        previews: PreviewCurves,
        told: Callable[[], None],
        redrawn: Callable[[], object],
    ) -> None:
        """`told` says in words what is drawn, once the older runs are known; `redrawn` is called when other
        runs stand beside the traces."""
        self._services = services
        self._panel, self._now, self._shown = panel, now, shown
        self._overlay, self._runs = behind
        self._previews = previews
        self._told, self._redrawn = told, redrawn
        self._count = 0
        self._adorned: tuple[object, ...] = ()
        """What the latest one answers to, beside the traces."""

    def adorn(self) -> None:
        """Make it anew."""
        now = self._now
        if now.plot is not None and now.axis is not None and self._panel.area is not None:
            self._count += 1
            self._adorned = (self._shown.goals, self._shown.expressions)
            making = self._make(now.plot, now.axis, now.traces, self._count)
            self._services.start(making, kind="mark plot", scope="waveforms")

    def adorn_if_new(self) -> None:
        """The same, where other goals or measurements are asked of the circuit."""
        if self._adorned != (self._shown.goals, self._shown.expressions):
            self.adorn()

    async def _make(self, plot: Plot, axis: Axis, traces: Sequence[Trace], count: int) -> None:
        from presentation.goal_words import limit_words
        from presentation.panels.waveforms.family import family_of, without
        from presentation.panels.waveforms.plot_marks import marks_of

        now, shown = self._now, self._shown
        left_out = self._runs.left_out if now.family else frozenset()
        drawn_runs = without(now.family or (plot,), left_out)
        are_all = bool(now.family) and not left_out
        ghosts = await self._overlay.ghosts(drawn_runs, traces, axis.manner, are_all=are_all)
        if now.family:
            others = await asyncio.to_thread(family_of, plot, now.family, traces, left_out, axis.manner)
            ghosts = (*ghosts, *others)
        ghosts = (*ghosts, *await self._previews.curves(plot, traces, axis.manner))
        if sip.isdeleted(self._panel.widget):  # the window went while the curves were read
            return
        self._told()
        marks = await asyncio.to_thread(marks_of, plot, axis, traces, shown.goals, shown.expressions)
        if sip.isdeleted(self._panel.widget):
            return
        area = self._panel.area
        if count != self._count or area is None or axis is not now.axis:
            return
        if ghosts or now.ghosts:
            now.ghosts = ghosts
            drawn = now.in_shade(traces)
            if self._previews.is_live:
                drawn = [replace(trace, is_ghost=True) for trace in drawn]
            area.show_traces(axis, drawn, ghosts=ghosts, keep_view=True)
            self._redrawn()
        area.show_marks(marks, partial(limit_words, self._services.language))
