"""The drawing beside the curves: panes as of a plot; where it is meant with one scale in both directions."""

from __future__ import annotations

from PyQt6.QtGui import QResizeEvent

from presentation.panels.waveforms.beside.drawing import Drawing
from presentation.panels.waveforms.plot_area import PlotArea


class BesideArea(PlotArea):
    """A plot area that knows whether circles have to be round."""

    is_square = False

    def show_drawing(self, drawing: Drawing, *, keep_view: bool) -> None:
        """Draw it; with `keep_view` in the range somebody has chosen."""
        assert drawing.axis is not None
        self.is_square = drawing.is_square
        is_kept = keep_view and bool(self.zoom)
        self.show_traces(drawing.axis, drawing.traces, ghosts=drawing.ghosts, keep_view=keep_view)
        self.show_marks(drawing.marks, lambda _goal: "")
        if is_kept:
            return
        if drawing.view is not None:
            self.show_range(*drawing.view)
        if self.is_square:
            self._equalise()
        self.redraw()

    def fit(self) -> None:
        super().fit()
        if self.is_square:
            self._equalise()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """Circles stay round."""
        super().resizeEvent(event)
        if self.is_square and not self.closed:
            self._equalise()

    def _equalise(self) -> None:
        """Widen what is shown too finely, around its middle."""
        frame = self.pane_rect(0)
        across = self.view_range
        if across is None or frame.width() < 1 or frame.height() < 1:
            return
        low, high = self._panes[0].box.viewRange()[1]
        pixel = max((across[1] - across[0]) / frame.width(), (high - low) / frame.height())
        half_x, half_y = pixel * frame.width() / 2, pixel * frame.height() / 2
        middle_x, middle_y = (across[0] + across[1]) / 2, (low + high) / 2
        self.show_range((middle_x - half_x, middle_x + half_x), (middle_y - half_y, middle_y + half_y))
