"""The runs of a `.step` as a family: what may be chosen, what a run is called, the curves of all its runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from application.simulation.waveforms import StoredFigures
from domain.circuit.stepping import step_value
from domain.simulation.expressions import step_named_in
from domain.simulation.waveform import Plot, Step, plot_labels
from presentation.panels.waveforms.traces import Manner, Trace
from shared.message import Message, msg

MOST_DRAWN = 60
"""Runs of a family that are drawn; more lines are one area, and each is chosen by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What can be shown: one plot, or the plots of one analysis in all runs of a `.step`."""

    plot: Plot
    """Of a family the one the cursors read."""
    family: tuple[Plot, ...] = ()
    """In the order of the stepped values; () for a single plot."""


def choices_of(plots: Sequence[Plot]) -> list[Choice]:
    """In the order of the results, a family before its single runs."""
    found: list[Choice] = []
    seen: set[str] = set()
    stepped: dict[str, list[Plot]] = {}
    for plot in plots:
        if plot.step is not None:
            stepped.setdefault(plot.analysis, []).append(plot)
    for plot in plots:
        runs = stepped.get(plot.analysis, [])
        if plot.step is None or len(runs) < 2:
            found.append(Choice(plot))
        elif plot.analysis not in seen:
            seen.add(plot.analysis)
            ordered = sorted(runs, key=_place)
            if plot.axis is not None:
                found.append(Choice(ordered[0], tuple(ordered)))
            found.extend(Choice(each) for each in ordered)
    return found


def _place(plot: Plot) -> tuple[object, ...]:
    step = plot.step
    return () if step is None else (*step.values.values(), step.number)


def step_label(step: Step) -> str:
    """``rload = 10k``; ``#3`` where nobody wrote down the values."""
    if not step.values:
        return f"#{step.number}"
    return ", ".join(f"{name} = {step_value(value)}" for name, value in step.values.items())


def stepped_names(family: Sequence[Plot]) -> str:
    """What is stepped: ``rload``, ``r1, temp``."""
    step = family[0].step if family else None
    return "" if step is None else ", ".join(step.values)


def _all_runs(family: Sequence[Plot]) -> Message:
    """``all 3 runs of rload``."""
    count, name = len(family), stepped_names(family)
    return (
        msg("all {count} runs of {name}", count=count, name=name)
        if name
        else msg("all {count} runs", count=count)
    )


def runs_told(drawn: Sequence[Plot], family: Sequence[Plot]) -> Message:
    """Which runs of a `.step` are drawn: ``rload = 10k``, ``2 of 3 runs``, ``all 3 runs of rload``."""
    step = drawn[0].step if len(drawn) == 1 else None
    if step is not None:
        return msg("{step}", step=step_label(step))
    if len(drawn) < len(family):
        return msg("{drawn} of {count} runs", drawn=len(drawn), count=len(family))
    return _all_runs(family)


def names_of(
    choices: Sequence[Choice], run: StoredFigures | None, translate: Callable[[Message], str]
) -> list[str]:
    """What each choice is called in the list of analyses, with its circuit and run where they are known."""
    labels = iter(plot_labels([choice.plot for choice in choices if not choice.family]))
    names: list[str] = []
    for choice in choices:
        kind = str(choice.plot.analysis)
        if choice.family:
            kind += f" · {translate(_all_runs(choice.family))}"
        else:
            label, step = next(labels), choice.plot.step
            kind = label if step is None else f"{kind} · {step_label(step)}"
        if run is not None and not run.number:
            kind = translate(msg("{circuit} · running · {analysis}", circuit=run.circuit.name, analysis=kind))
        elif run is not None:
            name, number = run.circuit.name, run.number
            kind = translate(
                msg("{circuit} · Run {number} · {analysis}", circuit=name, number=number, analysis=kind)
            )
        names.append(kind)
    return names


def drawn_of(family: Sequence[Plot]) -> Sequence[Plot]:
    """The runs that are drawn: all, or as many as can be told apart, from the least value to the greatest."""
    last = len(family) - 1
    if last < MOST_DRAWN:
        return family
    return [family[round(number * last / (MOST_DRAWN - 1))] for number in range(MOST_DRAWN)]


def counterparts(
    plots: Sequence[Plot], shown: Sequence[Plot], *, are_all: bool
) -> tuple[Sequence[Plot], Message | None]:
    """What is drawn behind the `shown` plots of one analysis of another run's `plots`, and how to call it.

    Of a `.step` all runs; where not all of the shown one's are drawn (`are_all` is false) those of the same
    values, if there are any. The name is None where there is nothing to tell: the other run was not stepped.
    """
    analysis = shown[0].analysis
    same = sorted((each for each in plots if each.analysis == analysis), key=_place)
    if not same:
        return (), msg("no {analysis}", analysis=analysis)
    stepped = [each for each in same if each.step is not None]
    if len(stepped) < 2:
        return same[:1], None
    values = [] if are_all else [each.step.values for each in shown if each.step is not None]
    alike = [each for each in stepped if each.step is not None and each.step.values in values]
    drawn = drawn_of(alike or stepped)
    return drawn, runs_told(drawn, stepped)


def without(family: Sequence[Plot], left_out: frozenset[int]) -> Sequence[Plot]:
    """The runs of a family that are drawn."""
    return [plot for plot in family if plot.step is None or plot.step.number not in left_out]


def shade_of(plot: Plot, family: Sequence[Plot]) -> float:
    """Where a run of a family stands by its values, 0 (the least) to 1, those to come counted."""
    if plot.step is not None and plot.step.place is not None:
        return plot.step.place
    return family.index(plot) / max(len(family) - 1, 1)


def with_shade(traces: Sequence[Trace], plot: Plot, family: Sequence[Plot]) -> tuple[Trace, ...]:
    """The traces of one run in its shade of their colours, with the run's name."""
    if plot not in family or plot.step is None:
        return tuple(traces)
    step = plot.step
    shade, run = shade_of(plot, family), step_label(step)
    # v(out)@2 is of the run it names.
    return tuple(
        trace
        if step_named_in(trace.expression) is not None
        else replace(trace, shade=shade, run=run, step=step)
        for trace in traces
    )


def family_of(
    plot: Plot,
    family: Sequence[Plot],
    traces: Sequence[Trace],
    left_out: frozenset[int],
    manner: Manner,
    *,
    is_whole: bool = False,
) -> tuple[Trace, ...]:
    """The same expressions in the other runs, but those left out (by number), each in its shade; slow.

    Those that are drawn, or where it `is_whole` also those that are too many to be told apart.
    """
    from presentation.panels.waveforms.traces import axis_of, make_trace

    traces = [trace for trace in traces if step_named_in(trace.expression) is None]
    found: list[Trace] = []
    kept = without(family, left_out)
    for other in kept if is_whole else drawn_of(kept):
        axis = axis_of(other, manner)
        if other is plot or axis is None:
            continue
        made = [
            replace(
                make_trace(trace.expression, other, axis, trace.color, is_ghost=True, beside=trace),
                name=trace.name,
                line=trace.line,
                samples=axis.values,
            )
            for trace in traces
        ]
        found.extend(with_shade([trace for trace in made if trace.error is None], other, family))
    return tuple(found)
