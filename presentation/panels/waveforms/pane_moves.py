"""Traces that move between panes: a chip is dragged onto a pane, beside one, or sent there by its menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QPoint, QRect, pyqtSignal
from PyQt6.QtWidgets import QRubberBand

from presentation.panels.waveforms.figures import shown_unit
from presentation.panels.waveforms.plot_host import PlotHost
from presentation.panels.waveforms.plot_looks import changed_look, look_of

if TYPE_CHECKING:
    from presentation.panels.waveforms.panes import Pane
    from presentation.panels.waveforms.plot_area import PlotArea

_STRIP = 24
"""Pixels at a pane's upper and lower end in which a new pane above or below all others is meant, at most."""


class PaneMoves(QObject):
    """Of one panel. A trace of another unit than its new pane's stands at the right axis of that."""

    moved = pyqtSignal()
    """a trace stands elsewhere from now on"""

    def __init__(self, panel: PlotHost) -> None:
        super().__init__(panel.widget)
        self._panel = panel
        self._band: QRubberBand | None = None
        panel.chips.chip_pulled.connect(self._show_target)
        panel.chips.pane_wanted.connect(self._drop)

    def attach(self, area: PlotArea) -> None:
        """The band marks over a drawing where a chip would go."""
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, area)

    def targets(self, expression: str) -> list[tuple[int, str]]:
        """The other panes by place, each called by its traces: ``v(out), v(in)``."""
        area = self._panel.area
        if area is None:
            return []
        found: list[tuple[int, str]] = []
        for number, pane in enumerate(area.panes):
            names = _names_in(pane)
            if not pane.is_right and names and expression not in [name for name, _ in names]:
                words = ", ".join(dict.fromkeys(shown for _, shown in names))
                unit = shown_unit(pane.kind.unit)
                found.append((number, f"{words} ({unit})" if unit else words))
        return found

    def is_right(self, expression: str) -> bool:
        """Whether a trace stands at a right axis."""
        return expression in look_of(self._panel.view, self._panel.analysis).right

    def has_right_axis(self, expression: str) -> bool:
        """Whether a trace can stand at one: something else has a left one."""
        return self.is_right(expression) or self._host_of(expression) is not None

    def switch_right(self, expression: str) -> None:
        """To the right axis of its own pane, where others are in it, else of the first; or to the left."""
        area = self._panel.area
        if area is not None and self.is_right(expression):
            at_right = look_of(self._panel.view, self._panel.analysis).right[expression]
            host = next((pane for pane in area.panes if pane.kind.name == at_right), None)
            trace = next((each for each in self._panel.traces if each.expression == expression), None)
            units = [curve.pane.unit for curve in trace.curves] if trace is not None else []
            is_same = host is not None and host.kind.unit in units[:1]
            self._put(expression, number=host.kind.number if host is not None and is_same else 0)
        elif (host := self._host_of(expression)) is not None:
            self._put(expression, right=host.kind.name)

    def own_pane(self, expression: str) -> None:
        """In a pane of its own below the others, or in the usual one again."""
        number = look_of(self._panel.view, self._panel.analysis).panes.get(expression, 0)
        self._put(expression, number=0 if number else self._new_number(is_above=False))

    def to_pane(self, expression: str, at: int) -> None:
        """Into the pane at a place of the drawing, at the axis whose unit is its own."""
        area = self._panel.area
        trace = next((each for each in self._panel.traces if each.expression == expression), None)
        if area is None or trace is None or not trace.curves or not 0 <= at < len(area.panes):
            return
        kind = area.panes[at].kind
        if trace.curves[0].pane.unit == kind.unit:
            self._put(expression, number=kind.number)
        else:
            self._put(expression, right=kind.name)

    def _put(self, expression: str, *, number: int = 0, right: str = "") -> None:
        look = changed_look(self._panel.view, self._panel.analysis)
        look.panes.pop(expression, None)
        look.right.pop(expression, None)
        if number:
            look.panes[expression] = number
        if right:
            look.right[expression] = right
        self.moved.emit()
        self._panel.draw_again()

    def _new_number(self, *, is_above: bool) -> int:
        numbers = look_of(self._panel.view, self._panel.analysis).panes.values()
        return min([0, *numbers]) - 1 if is_above else max([0, *numbers]) + 1

    def _host_of(self, expression: str) -> Pane | None:
        """The pane at whose right axis a trace would stand."""
        area = self._panel.area
        if area is None:
            return None
        left = [pane for pane in area.panes if not pane.is_right]
        others = [pane for pane in left if any(name != expression for name, _ in _names_in(pane))]
        own = [pane for pane in others if any(name == expression for name, _ in _names_in(pane))]
        return next(iter(own or others), None)

    def _target(self, place: QPoint) -> tuple[QRect, int | None, bool] | None:
        """What is at a place of the screen: its rectangle, the pane (None: a new one), whether above all."""
        area = self._panel.area
        if area is None or not area.isVisible() or not area.rect().contains(area.mapFromGlobal(place)):
            return None
        here = area.mapFromGlobal(place)
        rects = [area.pane_rect(number).toRect() for number in range(len(area.panes))]
        if not rects:
            return None
        strip = min(_STRIP, rects[0].height() // 4)
        if here.y() < rects[0].top() + strip:
            return QRect(rects[0].left(), rects[0].top(), rects[0].width(), strip), None, True
        lowest = rects[-1]
        if here.y() > lowest.bottom() - strip:
            return QRect(lowest.left(), lowest.bottom() - strip, lowest.width(), strip), None, False
        # Between two panes the nearer one is meant; what stands at a right axis lies over its pane.
        own = [number for number, pane in enumerate(area.panes) if not pane.is_right]
        nearest = min(own, key=lambda number: abs(rects[number].center().y() - here.y()))
        return rects[nearest], nearest, False

    def _show_target(self, _expression: str, place: QPoint) -> None:
        band, target = self._band, self._target(place)
        if band is not None:
            band.setVisible(target is not None)
            if target is not None:
                band.setGeometry(target[0])

    def _drop(self, expression: str, place: QPoint) -> None:
        if self._band is not None:
            self._band.hide()
        target = self._target(place)
        if target is None or all(trace.expression != expression for trace in self._panel.traces):
            return
        _, at, is_above = target
        if at is not None:
            self.to_pane(expression, at)
        elif len(self._panel.traces) > 1:
            self._put(expression, number=self._new_number(is_above=is_above))


def _names_in(pane: Pane) -> list[tuple[str, str]]:
    """Expression and shown name of what is drawn in a pane, without other runs."""
    return [(trace.expression, trace.shown_name) for trace, _, _ in pane.lines if not trace.is_ghost]
