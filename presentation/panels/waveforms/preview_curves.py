"""The curves of a change that somebody looks at, dashed over those of the shown run of its circuit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from presentation.panels.waveforms.run_overlay import ghosts_of
from presentation.panels.waveforms.shown_result import ShownResult
from presentation.ui.workspace import WindowServices

if TYPE_CHECKING:
    from application.goal_checks.previewing import ChangePreview
    from domain.simulation.waveform import Plot
    from presentation.panels.waveforms.traces import Manner, Trace


class PreviewCurves(QObject):
    """Of one panel."""

    changed = pyqtSignal()
    """there are others, or none any more"""

    def __init__(self, services: WindowServices, shown: ShownResult) -> None:
        super().__init__(shown)
        self._shown = shown
        self._change: ChangePreview | None = None
        services.workspace.change_previewed.connect(self._take)

    @property
    def plots(self) -> tuple[Plot, ...]:
        """Of the shown circuit with the change; () while none is looked at, it does not simulate or changes
        no result."""
        circuits = () if self._change is None else self._change.circuits
        shown = self._shown.circuit
        return next((each.after for each in circuits if each.circuit == shown and not each.is_same), ())

    def are_beside(self, plot: Plot) -> bool:
        """Whether they have that analysis, and stand where its curves do: not at other times."""
        spans = [
            (each.axis.data.real.min(), each.axis.data.real.max())
            for each in (plot, *(other for other in self.plots if other.analysis == plot.analysis))
            if each.axis is not None and len(each.axis.data)
        ]
        return any(low <= spans[0][1] and spans[0][0] <= high for low, high in spans[1:])

    @property
    def is_live(self) -> bool:
        """The curves follow a hand: they are the ones that are looked at, the shown run is behind."""
        return bool(self.plots) and self._change is not None and self._change.is_live

    @property
    def is_undo(self) -> bool:
        """They are those without a change that was made."""
        return self._change is not None and self._change.is_undo

    def _take(self, change: ChangePreview | None) -> None:
        had_some = bool(self.plots)
        self._change = change
        if had_some or self.plots:
            self.changed.emit()

    async def curves(self, plot: Plot, traces: Sequence[Trace], manner: Manner) -> tuple[Trace, ...]:
        """The drawn expressions on the same analysis with the change, as far as it has them."""
        other = next((each for each in self.plots if each.analysis == plot.analysis), None)
        if other is None:
            return ()
        made = await asyncio.to_thread(ghosts_of, other, tuple(traces), manner)
        line = "solid" if self.is_live else ""
        return tuple(replace(trace, is_preview=True, line=line) for trace in made)
