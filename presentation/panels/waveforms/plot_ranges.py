"""Which part of a plot is shown: along the axis, and upward in each pane; what of it somebody has chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import takewhile

from presentation.panels.waveforms.overlay import OverlaidPlot
from presentation.panels.waveforms.panes import Pane
from presentation.panels.waveforms.traces import PaneKind

_PANNED = 0.1
"""Of what is shown, by an arrow key."""

Range = tuple[float, float]


class PlotRanges:
    """Of one plot. All ranges are in coordinates: log10 where an axis is logarithmic."""

    def __init__(self, area: OverlaidPlot) -> None:
        self._area = area
        self._is_zoomed_across = False
        """Somebody chose what is shown from left to right."""

    @property
    def across(self) -> Range | None:
        """The shown part of the axis; None while nothing is drawn."""
        if not self._area.panes:
            return None
        (low, high), _ = self._area.panes[0].box.viewRange()
        return float(low), float(high)

    @property
    def zoom(self) -> dict[str, Range]:
        """The ranges somebody chose: of the axis (""), of a pane by its unit; {} while all is shown."""
        found: dict[str, Range] = {}
        if self._area.axis is None:
            return found
        if self._is_zoomed_across and (across := self.across) is not None:
            found[""] = across
        for pane in self._area.panes:
            if pane.is_zoomed:
                low, high = pane.box.viewRange()[1]
                found[_key(pane.kind)] = float(low), float(high)
        return found

    def restore(self, zoom: Mapping[str, Range]) -> None:
        """Show ranges that were chosen before, as far as they are on the axis; {} shows everything."""
        axis, panes = self._area.axis, self._area.panes
        if axis is None or not panes:
            return
        self.fit()
        across = zoom.get("")
        if across is not None:
            if across[1] < axis.low or across[0] > axis.high:
                return
            self.zoom_into(panes[0], across, None)
        for pane in panes:
            if (upward := zoom.get(_key(pane.kind))) is not None:
                self.zoom_into(pane, None, upward)

    def chosen(self) -> tuple[Range | None, dict[PaneKind, Range]]:
        """What somebody chose, to be shown again with other traces: of the axis, and of each pane."""
        heights = {pane.kind: pane.box.viewRange()[1] for pane in self._area.panes if pane.is_zoomed}
        return (self.across if self._is_zoomed_across else None), heights

    def show_chosen(self, across: Range | None, heights: Mapping[PaneKind, Range]) -> None:
        """The same with the traces there are now; all of the rest."""
        for pane in self._area.panes:
            pane.fit()
            if (shown := heights.get(pane.kind)) is not None:
                pane.box.setYRange(*shown, padding=0)
                pane.is_zoomed = True
        if across is None:
            self.fit_across()
        else:
            self.zoom_into(self._area.panes[0], across, None)

    def zoom_into(self, pane: Pane, across: Range | None, upward: Range | None) -> None:
        """Show a part of the axis, and of one pane (None: as it is), as somebody has chosen it."""
        if across is not None:
            self._area.panes[0].box.setXRange(*across, padding=0)
            self._is_zoomed_across = True
        if upward is not None:
            pane.box.setYRange(*upward, padding=0)
            pane.is_zoomed = True

    def zoom_box(self, pane: Pane, across: Range | None, upward: Range | None) -> None:
        """The same of a box over the curves: what stands at right axes of the pane goes with it."""
        before = pane.box.viewRange()[1]
        self.zoom_into(pane, across, upward)
        if upward is not None:
            self.lift(pane, before, upward)

    def lift(self, pane: Pane, before: Range, after: Range) -> None:
        """A pane shows another part upward: its right axes show the same part of their own ranges."""
        span = before[1] - before[0]
        if span <= 0:
            return
        for other in self._right_of(pane):
            low, high = other.box.viewRange()[1]
            ends = (low + (each - before[0]) / span * (high - low) for each in after)
            other.box.setYRange(*ends, padding=0)
            other.is_zoomed = True

    def _right_of(self, pane: Pane) -> Sequence[Pane]:
        panes = self._area.panes
        rest = panes[panes.index(pane) + 1 :] if pane in panes and not pane.is_right else []
        return list(takewhile(lambda each: each.is_right, rest))

    def note_hand(self, pane: Pane, directions: Sequence[bool]) -> None:
        """Zoomed by wheel or hand: along the axis, upward, or both."""
        self._is_zoomed_across |= bool(directions[0])
        pane.is_zoomed |= bool(directions[1])

    def fit(self) -> None:
        """Show everything."""
        self.fit_across()
        for pane in self._area.panes:
            self.fit_pane(pane)

    def fit_pane(self, pane: Pane) -> None:
        """All of one pane from bottom to top."""
        pane.fit()
        pane.is_zoomed = False

    def fit_across(self) -> None:
        """All of the axis, at the heights that are shown."""
        self._is_zoomed_across = False
        axis, panes = self._area.axis, self._area.panes
        if axis is None or not panes:
            return
        low, high = axis.low, axis.high
        if high <= low:
            low, high = low - 0.5, high + 0.5
        panes[0].box.setXRange(low, high, padding=0)

    def zoom_by(self, factor: float) -> None:
        """Less than 1 shows a smaller part of the axis."""
        if self._area.panes:
            self._area.panes[0].box.scaleBy(x=factor)
            self._is_zoomed_across = True

    def pan(self, *, to_right: bool) -> None:
        """A tenth of what is shown."""
        if (shown := self.across) is not None:
            part = _PANNED * (shown[1] - shown[0]) * (1 if to_right else -1)
            self._area.panes[0].box.translateBy(x=part)
            self._is_zoomed_across = True

    def follow(self, place: float) -> None:
        """Move the shown range so far that a place of the axis is inside it."""
        shown = self.across
        if shown is None or not math.isfinite(place) or shown[0] <= place <= shown[1]:
            return
        middle = (shown[0] + shown[1]) / 2
        self._area.panes[0].box.translateBy(x=place - middle)

    def least_span(self) -> float:
        """Further in, doubles could not tell the ends of the axis apart."""
        axis = self._area.axis
        assert axis is not None
        ends = abs(axis.low), abs(axis.high)
        return max(axis.high - axis.low, *ends) * 1e-9


def _key(kind: PaneKind) -> str:
    name = f"{kind.unit} log" if kind.is_log else kind.unit or "1"
    name = f"{name} {kind.number}" if kind.number else name
    return f"{name} > {kind.beside}" if kind.beside else name
