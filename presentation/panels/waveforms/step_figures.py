"""What is measured in each run of a `.step`: one line of figures in the order of the values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from domain.simulation.result import Quantity
from domain.simulation.waveform import Plot, Step
from presentation.panels.waveforms.family import step_label
from shared.errors import CircuitAIError

_MOST_STEPS = 500
"""Runs in which expressions are measured; the cards have their figures anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFigure:
    """One run's value."""

    label: str
    """``rload = 10k``"""
    values: Mapping[str, float] = field(default_factory=dict)
    """Of the stepped quantities."""
    value: Quantity | None
    """None where it could not be had."""
    previous: Quantity | None = None
    """The same of the run before, in its step of the same values; None where there is none."""


def steps_of(plots: Iterable[Plot]) -> list[Step]:
    """The runs there are, each once, in the order of their values."""
    found = {plot.step.number: plot.step for plot in plots if plot.step is not None and plot.step.values}
    return sorted(found.values(), key=lambda step: (*step.values.values(), step.number))


def of_cards(metrics: Mapping[str, Quantity], steps: Sequence[Step]) -> dict[str, tuple[StepFigure, ...]]:
    """The figures that were measured in each run, ``att@1`` and ``att@2`` as ``att``."""
    marks = {f"@{step.number}": step for step in steps}
    names = dict.fromkeys(
        name.rpartition("@")[0] for name in metrics if f"@{name.rpartition('@')[2]}" in marks and "@" in name
    )
    return {
        base: tuple(
            StepFigure(label=step_label(step), values=step.values, value=metrics.get(base + mark))
            for mark, step in marks.items()
        )
        for base in names
    }


def over_steps(
    plots: Sequence[Plot], steps: Sequence[Step], expressions: Sequence[str]
) -> dict[str, tuple[StepFigure, ...]]:
    """Expressions measured in each run by itself. Slow."""
    from domain.simulation.expressions import evaluate, step_named_in

    chosen = [text for text in expressions if step_named_in(text) is None]
    found: dict[str, list[StepFigure]] = {text: [] for text in chosen}
    for step in steps[:_MOST_STEPS]:
        own = [plot for plot in plots if plot.step is not None and plot.step.number == step.number]
        for text, figures in found.items():
            value: Quantity | None = None
            try:
                value = evaluate(text, own)
            except CircuitAIError:
                value = None  # this run does not show it; others do
            figures.append(StepFigure(label=step_label(step), values=step.values, value=value))
    return {text: tuple(figures) for text, figures in found.items()}


def beside_earlier(
    figures: tuple[StepFigure, ...], earlier: tuple[StepFigure, ...]
) -> tuple[StepFigure, ...]:
    """Each with what it was in an earlier run's step of the same values, whatever its number was there."""
    return tuple(
        replace(each, previous=next((old.value for old in earlier if old.values == each.values), None))
        for each in figures
    )
