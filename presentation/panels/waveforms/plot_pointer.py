"""What the pointer reads in a plot: its place, the nearest value there, which run of a family it is on."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QPoint, QPointF
from PyQt6.QtGui import QMouseEvent
from PyQt6.QtWidgets import QToolTip

from presentation.panels.waveforms.figures import joined, quantity
from presentation.panels.waveforms.overlay import OverlaidPlot
from presentation.panels.waveforms.plot_cursors import PlotCursors
from presentation.panels.waveforms.traces import Trace
from presentation.ui.parts import text_label
from presentation.ui.theme import Theme

_MARGIN = 4
_REACH = 6.0
"""Pixels from a curve within which the mouse is on it."""


class PlotPointer:
    """Of one plot: words at its right end, and beside the pointer."""

    def __init__(self, area: OverlaidPlot, cursors: PlotCursors, theme: Theme) -> None:
        self._area, self._cursors, self._theme = area, cursors, theme
        self._readout = text_label(name="plot_readout", role="small")
        self._readout.setParent(area.view)
        self._readout.setFont(theme.tabular("small"))
        self._readout.hide()
        self._place = QPointF()

    @property
    def text(self) -> str:
        """What the pointer reads; "" while it is elsewhere."""
        return self._readout.text() if self._readout.isVisible() else ""

    def use(self, theme: Theme) -> None:
        self._theme = theme

    def leave(self) -> None:
        self._readout.hide()

    def read_again(self) -> None:
        """Other curves are drawn under a pointer that rests: what was read of the former ones goes."""
        if self._readout.isVisible():
            self._read(self._place, has_button=False)

    def move(self, event: QMouseEvent, shown: Sequence[Trace]) -> None:
        """The pointer is elsewhere; `shown` is all that is drawn."""
        position = event.position().toPoint()
        place = self._area.view.mapToScene(position)
        self._read(place, has_button=bool(event.buttons()))
        if not event.buttons() and any(trace.run for trace in shown):
            self._name_run(place, event.globalPosition().toPoint())

    def _name_run(self, place: QPointF, on_screen: QPoint) -> None:
        """Over a curve of a family: say which run it is."""
        found = (pane.nearest(place, _REACH * self._theme.scale) for pane in self._area.panes)
        trace = next((each for each in found if each is not None), None)
        if trace is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(on_screen, f"{trace.expression}, {trace.run}", self._area.view)

    def _read(self, place: QPointF, *, has_button: bool) -> None:
        """At the right end: where the pointer is on the axis, and what the nearest curve has there."""
        self._place = place
        axis = self._area.axis
        panes = [each for each in self._area.panes if each.box.sceneBoundingRect().contains(place)]
        if not panes or axis is None or has_button:
            self._readout.hide()
            return
        across = float(panes[0].box.mapSceneToView(place).x())
        words = [joined(*quantity(10.0**across if axis.is_log else across, axis.unit))]
        near = ((pane, found) for pane in panes if (found := pane.value_near(place)) is not None)
        nearest = min(near, key=lambda each: each[1][2], default=None)
        if nearest is not None:
            pane, (trace, value, _) = nearest
            shown = 10.0**value if pane.kind.is_log else value
            words.append(f"{trace.shown_name} {joined(*quantity(shown, pane.kind.unit))}")
        self._readout.setText("   ".join(words))
        self._readout.adjustSize()
        self.settle()
        self._readout.show()

    def settle(self) -> None:
        """Keep the words clear of the cursors' letters, which keys and the wheel move as well."""
        self._readout.move(self._left_of_flags(self._readout.width()), _MARGIN)

    def _left_of_flags(self, width: int) -> int:
        """Where words this wide hide no cursor's letter, as far right as can be; at the right end where there
        is no such place."""
        view = self._area.view
        at_end = left = view.width() - width - 3 * _MARGIN
        flags = sorted((flag.left(), flag.right()) for flag in self._cursors.flags)
        for starts, ends in reversed(flags):
            if starts < left + width + _MARGIN and ends > left - _MARGIN:
                left = int(starts) - width - 2 * _MARGIN
        return left if left >= 0 else at_end
