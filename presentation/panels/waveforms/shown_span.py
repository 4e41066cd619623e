"""The part of a plot that is seen, and what a trace comes to there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from presentation.panels.waveforms.plot_host import PlotHost
from presentation.panels.waveforms.span_figures import SpanFigure, span_figures
from shared.errors import CircuitAIError


class ShownSpan(NamedTuple):
    """Two places of the axis (SI)."""

    low: float
    high: float
    unit: str
    is_whole: bool
    """Nothing of the axis is left out."""


def shown_span(panel: PlotHost) -> ShownSpan | None:
    """What is seen of the drawing; None without one."""
    area = panel.area
    axis = None if area is None else area.axis
    if area is None or axis is None:
        return None
    shown = area.view_range or (axis.low, axis.high)
    ends = max(shown[0], axis.low), min(shown[1], axis.high)
    low, high = (10.0**each if axis.is_log else each for each in ends)
    return ShownSpan(low, high, axis.unit, shown[0] <= axis.low and shown[1] >= axis.high)


class SeenInPlot:
    """Answers what is seen of a circuit's signals, for who stands elsewhere in the window."""

    def __init__(self, panel: PlotHost, circuit: Callable[[], Path | None]) -> None:
        """`circuit`: that of the shown run."""
        self._panel, self._circuit = panel, circuit

    async def figures(self, circuit: Path, expression: str) -> Sequence[SpanFigure]:
        """Those of an expression in the shown span; none of another circuit, or without a value."""
        panel, span = self._panel, shown_span(self._panel)
        if span is None or panel.plot is None or circuit != self._circuit():
            return ()
        plots = panel.plots_of(expression)
        try:
            return await asyncio.to_thread(
                span_figures, expression, plots, span.low, span.high, is_whole=span.is_whole
            )
        except CircuitAIError:  # this analysis does not have it, and nobody asked for it by name
            return ()
