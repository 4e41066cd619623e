"""The curves of a run that is under way: what has come is drawn a few times a second.

Reading and drawing may take three hundredths of the run's time: the next picture comes when as many times
more has passed as the one before took of the processor. A run shorter than `_PATIENCE_S` draws nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from presentation.ui.workspace import WindowServices
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.simulation import GrowingData, Growth
    from presentation.panels.waveforms.panel import WaveformsPanel
    from presentation.panels.waveforms.shown_result import ShownResult

_PATIENCE_S = 0.4
_SHORTEST_S, _LONGEST_S = 0.2, 5.0
_SHARE = 33
"""The run gets so many times what its pictures cost."""
_DRAWN_S = 2.0
"""A picture that takes longer is not waited for."""


class LiveCurves(QObject):
    """Follows one run at a time, while its plot is seen and nobody has chosen another result."""

    def __init__(self, services: WindowServices, shown: ShownResult, panel: WaveformsPanel) -> None:
        super().__init__(panel)
        self._services, self._shown, self._panel = services, shown, panel
        self._data: GrowingData | None = None
        """Of the run that is under way."""
        self._drawn = asyncio.Event()
        self.pictures = 0
        """Of the run that is, or was last, under way."""
        panel.drawn.connect(self._on_drawn)
        services.workspace.run_growing.connect(self._follow)
        services.workspace.run_finished.connect(lambda _outcome: self._end())

    def _follow(self, circuit: Path, data: GrowingData) -> None:
        self._data, self.pictures = data, 0
        self._services.start(self._draw(circuit, data), kind="live curves", scope="live curves")

    def _end(self) -> None:
        self._data = None

    async def _draw(self, circuit: Path, data: GrowingData) -> None:
        await asyncio.sleep(_PATIENCE_S)
        is_shown = False
        rows = 0
        while data is self._data and (not is_shown or self._shown.growth is not None):
            began = time.process_time()
            if self._panel.isVisible():
                growth = await off_loop(data.read)
                is_wanted = not is_shown or self._shown.growth is not None
                if data is self._data and growth.rows > rows and is_wanted:
                    is_shown, rows = True, growth.rows
                    await self._show(circuit, growth)
            cost = time.process_time() - began
            await asyncio.sleep(min(max(_SHORTEST_S, _SHARE * cost), _LONGEST_S))

    async def _show(self, circuit: Path, growth: Growth) -> None:
        self._drawn.clear()
        self._shown.show_growing(circuit, growth)
        self.pictures += 1
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._drawn.wait(), _DRAWN_S)

    def _on_drawn(self) -> None:
        """The axis reaches to the end of the analysis from the beginning on, unless somebody has zoomed."""
        self._drawn.set()
        area, axis, data = self._panel.area, self._panel.axis, self._data
        if self._shown.growth is None or data is None or area is None or axis is None or "" in area.zoom:
            return
        ends = data.ends.get(self._panel.analysis)
        if ends is not None and not (axis.is_log and min(ends) <= 0):
            start, stop = map(math.log10, ends) if axis.is_log else ends
            area.show_range((min(start, stop), max(start, stop)))
            area.redraw()
