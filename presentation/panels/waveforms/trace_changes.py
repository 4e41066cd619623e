"""Traces that are added to a drawing, taken from it, or put in the place of another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from PyQt6.QtCore import QObject

from domain.simulation.waveform import Plot
from presentation.panels.waveforms.drawn_plot import DrawnPlot, siblings_of
from presentation.panels.waveforms.plot_host import PlotHost
from presentation.panels.waveforms.plot_memory import PlotMemory
from presentation.panels.waveforms.shown_result import ShownResult
from presentation.panels.waveforms.traces import Axis
from presentation.ui.parts import once_after
from presentation.ui.workspace import WindowServices
from shared.errors import UserInputError

_FRAME_MS = 16
"""One picture of the screen: drawing twice within it is work that nobody sees."""


class TraceChanges(QObject):
    """Of one panel."""

    def __init__(
        self,
        services: WindowServices,
        panel: PlotHost,
        now: DrawnPlot,
        shown: ShownResult,
        memory: PlotMemory,
        *,
        looked: Callable[[], None],
        told: Callable[[], None],
    ) -> None:
        """`looked` notes what somebody has done, `told` says in words what is drawn or refused."""
        super().__init__(panel.widget)
        self._services = services
        self._panel, self._now, self._shown, self._memory = panel, now, shown, memory
        self._looked, self._told = looked, told
        self._waiting: list[str] = []
        """Expressions to be drawn as soon as the result is."""
        self._added = once_after(self, _FRAME_MS, self._draw_added)

    def add(self, expression: str) -> None:
        """Draw one expression more; one that cannot be drawn is refused in words."""
        now, chips = self._now, self._panel.chips
        expression = self._written_out(expression)
        if now.plot is None or any(trace.expression == expression for trace in now.traces):
            chips.end_adding(expression)
        elif now.axis is None:
            # Another result is being drawn: with this one too.
            self._waiting.append(expression)
            chips.end_adding(expression)
        else:
            self._start(expression, now.plot, now.axis)

    def add_waiting(self) -> None:
        """The result is drawn that expressions waited for."""
        waiting, self._waiting = self._waiting, []
        for expression in waiting:
            self.add(expression)

    def add_group_delays(self) -> None:
        """Of the chosen trace, else of all that are complex."""
        for trace in self._now.traces:
            is_meant = self._now.selected in (None, trace.expression)
            if is_meant and len(trace.curves) > 1:
                self.add(f"group_delay({trace.expression})")

    def remove(self, expression: str) -> None:
        self.keep([trace.expression for trace in self._now.traces if trace.expression != expression])

    def keep(self, expressions: Sequence[str]) -> None:
        """Remove all others."""
        now = self._now
        if now.plot is not None and now.axis is not None:
            now.traces = tuple(trace for trace in now.traces if trace.expression in expressions)
            self._remember()
            self._panel.draw(keep_view=True)

    def replace(self, old: str, new: str) -> None:
        """Draw another expression in the place of one; one that cannot be drawn is refused in words."""
        now = self._now
        if now.plot is None or now.axis is None or now.colors is None:
            return
        new = self._written_out(new)
        if any(trace.expression == new for trace in now.traces):
            self._panel.chips.end_adding()
            self.remove(old)
            return
        from presentation.panels.waveforms.plot_looks import move_style

        now.colors.pass_on(old, new)
        move_style(self._memory.view, old, new)
        self._start(new, now.plot, now.axis, instead_of=old)

    def _written_out(self, expression: str) -> str:
        """With the names of other traces as what they stand for."""
        from domain.simulation.expression_syntax import written_out
        from presentation.panels.waveforms.plot_looks import names_of_traces

        if self._now.plot is None:
            return expression
        try:
            written = written_out(expression, names_of_traces(self._memory.view, self._now.plot))
        except UserInputError:
            return expression  # what is wrong with it is said where it is drawn
        if written != expression:
            self._panel.chips.end_adding(expression)  # the field waits for what was typed
        return written

    def drawn(self) -> None:
        """All traces are being drawn: none waits for it any more."""
        self._added.stop()

    def _start(self, expression: str, plot: Plot, axis: Axis, *, instead_of: str | None = None) -> None:
        adding = self._add(expression, plot, axis, instead_of=instead_of)
        self._services.start(adding, kind="draw trace", scope="waveforms")

    async def _add(self, expression: str, plot: Plot, axis: Axis, *, instead_of: str | None) -> None:
        from presentation.panels.waveforms.plot_looks import styled
        from presentation.panels.waveforms.traces import make_trace

        now, chips = self._now, self._panel.chips
        assert now.colors is not None
        drawn = [trace.expression for trace in now.traces if trace.expression != instead_of]
        color, siblings = now.colors.of(expression, drawn), siblings_of(plot, self._shown)
        trace = await asyncio.to_thread(make_trace, expression, plot, axis, color, siblings=siblings)
        if plot is not now.plot or axis is not now.axis:
            self.add(expression)
            return
        now.refused = trace.error
        trace = styled(self._memory.view, trace)
        kept = [each.expression for each in now.traces]
        if expression in kept:
            chips.end_adding()
        elif trace.error is None:
            if instead_of in kept:
                at = kept.index(instead_of)
                now.traces = (*now.traces[:at], trace, *now.traces[at + 1 :])
            else:
                now.traces = (*now.traces, trace)
            self._remember()
            chips.end_adding(expression)
            self._panel.show_chips()
            if not self._added.isActive():  # several that are added at once are drawn together
                self._added.start()
        else:
            chips.refuse()
        self._told()

    def _remember(self) -> None:
        self._memory.keep_traces()
        self._looked()

    def _draw_added(self) -> None:
        if self._now.axis is not None:  # else another result is on its way, and will be drawn with them
            self._panel.draw(keep_view=True)
