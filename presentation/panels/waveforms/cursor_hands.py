"""What keys do with the cursors of a plot beyond steps: other traces, peaks, valleys and edges."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from application.project.window_state import PlotLabel
from presentation.panels.waveforms.cursor_walk import Feature, next_feature
from presentation.panels.waveforms.figures import joined, quantity
from presentation.panels.waveforms.plot_host import PlotHost
from presentation.panels.waveforms.plot_looks import changed_look
from presentation.panels.waveforms.shown_span import shown_span
from presentation.panels.waveforms.span_card import SpanCard
from presentation.panels.waveforms.span_figures import span_figures
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg

if TYPE_CHECKING:
    from presentation.panels.waveforms.plot_area import PlotArea


def _none(feature: Feature, trace: str) -> Message:
    """That there is no other one."""
    match feature:
        case "peak":
            return msg("There is no other peak of {trace} on this side.", trace=trace)
        case "valley":
            return msg("There is no other valley of {trace} on this side.", trace=trace)
    return msg("There is no other edge of {trace} on this side.", trace=trace)


class CursorHands(QObject):
    """Of one panel."""

    def __init__(self, services: WindowServices, panel: PlotHost) -> None:
        super().__init__(panel.widget)
        self._services = services
        self._panel = panel
        self._card: SpanCard | None = None
        self._asked = ""
        panel.chips.figures_wanted.connect(self.show_figures)

    def acts(self) -> Mapping[str, Callable[[], object]]:
        """By names of the table of actions."""
        features: tuple[Feature, ...] = ("peak", "valley", "edge")
        return {
            "plot.trace_before": partial(self._choose_trace, -1),
            "plot.trace_after": partial(self._choose_trace, 1),
            **{f"plot.{each}": partial(self._walk, each, forward=True) for each in features},
            **{f"plot.{each}_before": partial(self._walk, each, forward=False) for each in features},
            "plot.levels": self.toggle_levels,
            "plot.label": self.add_label,
            "plot.figures": lambda: self.show_figures(self._expression()),
        }

    def toggle_levels(self, pane: int | None = None) -> None:
        """The pair of horizontal cursors, in the pane of the chosen trace."""
        area = self._panel.area
        if area is None or not area.panes:
            return
        expression = self._expression()
        kinds = [c.pane for t in self._panel.traces if t.expression == expression for c in t.curves[:1]]
        found = next((number for number, each in enumerate(area.panes) if each.kind in kinds), 0)
        area.levels.toggle(area.panes[found if pane is None else pane])

    def add_label(self) -> None:
        """Words at the active cursor on the chosen trace; its place and value are offered."""
        area, expression = self._panel.area, self._expression()
        axis = None if area is None else area.axis
        trace = next((each for each in self._panel.traces if each.expression == expression), None)
        if area is None or axis is None or trace is None or not trace.curves:
            return
        if not area.has_cursors:
            self._panel.cursor_button.setChecked(True)
        sample, curve = area.active_sample, trace.curves[0]
        at, value = float(axis.values[sample]), float(curve.values[sample])
        text = f"{joined(*quantity(at, axis.unit))}, {joined(*quantity(value, curve.pane.unit))}"
        area.labels.write(PlotLabel(expression=expression, at=at, text=text))

    def attach(self, area: PlotArea) -> None:
        area.labels.changed.connect(self._keep_labels)

    def _keep_labels(self, labels: list[PlotLabel]) -> None:
        changed_look(self._panel.view, self._panel.analysis).labels = list(labels)
        self._services.workspace.views.tell()

    def show_figures(self, expression: str) -> None:
        """The values of the shown part of a trace, in a card."""
        span = shown_span(self._panel)
        if span is None or self._panel.plot is None or not expression:
            return
        self._asked = expression
        self._services.start(
            self._show(expression, span.low, span.high, span.unit, is_whole=span.is_whole),
            kind="figures of a span",
            scope="waveforms",
        )

    async def _show(self, expression: str, low: float, high: float, unit: str, *, is_whole: bool) -> None:
        panel, plot = self._panel, self._panel.plot
        assert plot is not None
        try:
            found = await asyncio.to_thread(
                span_figures, expression, panel.plots_of(expression), low, high, is_whole=is_whole
            )
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)
            return
        area = panel.area
        if area is None or expression != self._asked or plot is not panel.plot:
            return
        if self._card is None:
            self._card = SpanCard(self._services, area)
            self._card.kept.connect(self._keep)
            self._card.asked.connect(self._ask)
        name = next((t.shown_name for t in panel.traces if t.expression == expression), expression)
        span = msg("{low} to {high}", low=joined(*quantity(low, unit)), high=joined(*quantity(high, unit)))
        if is_whole:
            span = msg("Everything")
        self._card.show_figures(name, self._services.language(span), found)

    def _keep(self, template: str) -> None:
        self._panel.measure(template.replace("{x}", self._panel.named_with_analysis(self._asked)))

    def _ask(self, template: str) -> None:
        self._panel.make_goal(template.replace("{x}", self._panel.named_with_analysis(self._asked)))

    def _expression(self) -> str:
        """The chosen trace, else the first."""
        known = [trace.expression for trace in self._panel.traces]
        chosen = self._panel.selected
        return chosen if chosen in known else next(iter(known), "")

    def _choose_trace(self, by: int) -> None:
        """The next one is drawn stronger, and the one that slopes and jumps are of."""
        known = [trace.expression for trace in self._panel.traces]
        if known:
            chosen = self._panel.selected
            at = known.index(chosen) + by if chosen in known else 0
            self._panel.choose_trace(known[at % len(known)])

    def _walk(self, feature: Feature, *, forward: bool) -> None:
        """Put the active cursor on the next peak, valley or edge of the chosen trace."""
        area, expression = self._panel.area, self._expression()
        axis = None if area is None else area.axis
        trace = next((each for each in self._panel.traces if each.expression == expression), None)
        if area is None or axis is None or trace is None or not trace.curves:
            return
        if not area.has_cursors:
            self._panel.cursor_button.setChecked(True)
        values = trace.curves[0].values[axis.usable]
        sample = area.active_sample - axis.usable.start
        found = next_feature(values, sample, feature, forward=forward != axis.is_falling)
        if found is None:
            self._services.workspace.status_changed.emit(_none(feature, trace.shown_name))
        else:
            area.move_active(int(axis.usable.start) + found)
