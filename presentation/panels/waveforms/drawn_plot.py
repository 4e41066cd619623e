"""What a panel draws now: which plot of which circuit, its axis and traces, and the runs beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from domain.simulation.waveform import Plot, Step, plot_prefixes
from presentation.panels.waveforms.family import Choice, step_label, with_shade
from presentation.panels.waveforms.traces import Axis, Trace
from shared.message import Message

if TYPE_CHECKING:
    from presentation.panels.waveforms.shown_result import ShownResult
    from presentation.panels.waveforms.traces import TraceColors

_SIGNAL = re.compile(r"(?<![\w.])([vi]\()", re.IGNORECASE)


@dataclass(slots=True, kw_only=True, eq=False)
class DrawnPlot:
    """Of one panel; whoever draws changes it in place."""

    circuit: Path | None = None
    """Of the drawing; traces and zoom are kept for each circuit."""
    choices: list[Choice] = field(default_factory=list)
    plot: Plot | None = None
    family: tuple[Plot, ...] = ()
    """The runs of a `.step` that are drawn together; () while one plot is shown."""
    axis: Axis | None = None
    """None while the traces are being made, and of a plot that is read as a table."""
    traces: tuple[Trace, ...] = ()
    ghosts: tuple[Trace, ...] = ()
    """Of older runs."""
    missing: tuple[str, ...] = ()
    """Chosen expressions that the shown run does not have."""
    refused: Message | None = None
    """Why the expression that was added last cannot be drawn."""
    selected: str | None = None
    """The expression of the trace that is drawn stronger."""
    colors: TraceColors | None = None
    awaited: tuple[Step, str, bool] | None = None
    """The run of a `.step` that was chosen, its analysis, and whether among others: the run that is under
    way has not come to it."""

    @property
    def chosen(self) -> int:
        """Which of the choices is drawn."""
        found = 0
        for at, choice in enumerate(self.choices):
            is_here = self.plot in choice.family if choice.family else choice.plot is self.plot
            if is_here and bool(choice.family) == bool(self.family):
                found = at
        return found

    @property
    def read_run(self) -> str:
        """Which run of a family the cursors read; "" of a single plot."""
        step = self.plot.step if self.plot is not None and self.family else None
        return "" if step is None else step_label(step)

    def in_shade(self, traces: Sequence[Trace]) -> Sequence[Trace]:
        """Of a family the run the cursors read is one among others."""
        return with_shade(traces, self.plot, self.family) if self.plot is not None else traces

    def forget(self) -> None:
        """No result is shown."""
        self.plot, self.axis, self.traces = None, None, ()
        self.choices, self.family = [], ()
        self.colors = None

    def choose(self, choices: list[Choice], wanted: str) -> None:
        """Of another result the plot of the `wanted` analysis, else the first with curves; not drawn yet."""
        self.choices = choices
        kinds = [choice.plot.analysis for choice in choices]
        drawn = (index for index, choice in enumerate(choices) if choice.plot.axis is not None)
        index = kinds.index(wanted) if wanted in kinds else next(drawn, 0)
        self.plot = choices[index].plot if choices else None
        self.family = choices[index].family if choices else ()
        self.axis, self.traces, self.ghosts = None, (), ()
        self.awaited = None

    def choose_again(self, choices: list[Choice], wanted: str) -> None:
        """The same where a run has grown, or is another one of its circuit: the run of a `.step` that was
        chosen, or read, stays so."""
        before, had_family = self.plot, bool(self.family)
        kind = "" if before is None else before.analysis
        is_picked = had_family or sum(choice.plot.analysis == kind for choice in self.choices) > 1
        picked = self.awaited
        if picked is None and before is not None and before.step is not None and is_picked:
            picked = (before.step, kind, had_family)
        self.choose(choices, wanted)
        if picked is None:
            return
        step, kind, had_family = picked
        for choice in choices:
            for plot in choice.family or (choice.plot,):
                is_same = plot.step is not None and _is_same(plot.step, step)
                if is_same and plot.analysis == kind and bool(choice.family) == had_family:
                    self.plot, self.family = plot, choice.family
                    return
        self.awaited = picked


def _is_same(step: Step, before: Step) -> bool:
    return step.values == before.values if before.values else step.number == before.number


def siblings_of(plot: Plot, shown: ShownResult) -> list[Plot]:
    """The runs of a `.step` that an expression may name."""
    loaded = shown.loaded
    if loaded is None or plot.step is None:
        return []
    return [each for each in loaded.plots if each.analysis == plot.analysis and each.step is not None]


def plotted_of(plot: Plot, shown: ShownResult) -> list[str] | None:
    """What the circuit's own `plot` commands show of this plot, as far as it can be drawn. Slow."""
    from presentation.panels.waveforms.traces import plotted_of as plotted_by

    loaded = shown.loaded
    return plotted_by(plot, () if loaded is None or loaded.figures is None else loaded.figures.curves)


def named_with_analysis(expression: str, now: DrawnPlot, shown: ShownResult) -> str:
    """An expression as it is measured: another analysis of the run may have the same signals."""
    loaded, plot = shown.loaded, now.plot
    if loaded is None or plot is None or now.family or len(loaded.plots) < 2:
        return expression
    prefixes = dict(zip(map(id, loaded.plots), plot_prefixes(loaded.plots), strict=True))
    prefix = prefixes.get(id(plot), "")
    if prefix == f"{plot.analysis}1":
        prefix = plot.analysis
    return _SIGNAL.sub(rf"{prefix}.\1", expression) if prefix else expression
