"""How far a simulation, a study or a search is: for a line of words, and for a bar with its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from application.ports.events import OptimizationProgressed, SimulationProgressed, StudyProgressed
from domain.circuit.numbers import format_number
from domain.simulation.steps_so_far import StepsSoFar
from shared.message import Message, msg

Progressed = SimulationProgressed | StudyProgressed | OptimizationProgressed
PROGRESSED: tuple[type[Progressed], ...] = (SimulationProgressed, StudyProgressed, OptimizationProgressed)
_MOST_NAMED = 3
_LEAST_SHARE = 0.02
"""Of a simulation that has to be done before it is told how long the rest takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a bar shows of a call under way."""

    share: float
    """0 to 1."""
    done: Message
    """What the bar stands for."""
    left: Message | None = None
    """How long it still takes; None until it can be told."""
    best: Message | None = None
    """The best run so far, or by how much the goals are missed."""
    failed: Message | None = None


def progress_of(event: Progressed, elapsed_s: float) -> Progress:
    """How far it is, `elapsed_s` behind its beginning."""
    if isinstance(event, SimulationProgressed):
        share = min(max(event.share, 0.0), 1.0)
        remaining = elapsed_s / share - elapsed_s if share >= _LEAST_SHARE else None
        return Progress(share=share, done=progress_text(event), left=left_text(remaining))
    total = event.total if isinstance(event, StudyProgressed) else event.budget
    runs = msg("{done} of {total} {total:run|runs}", done=event.done, total=total)
    if isinstance(event, OptimizationProgressed):
        runs = msg("{done} of {total} {total:simulation|simulations}", done=event.done, total=total)
    return Progress(
        share=min(event.done / total, 1.0) if total else 0.0,
        done=runs,
        left=left_text(event.remaining_s),
        best=best_text(event),
        failed=msg("{count} failed", count=event.failed) if event.failed else None,
    )


def left_text(remaining_s: float | None) -> Message | None:
    """How long something still takes; None where that cannot be told."""
    if remaining_s is None:
        return None
    seconds = round(remaining_s)
    if seconds < 120:
        return msg("{seconds} s left", seconds=seconds)
    return msg("{minutes} min left", minutes=round(seconds / 60))


def step_text(steps: StepsSoFar) -> Message:
    """Where a stepped circuit is: ``Step 3 of 11, 20 s left.``"""
    left = left_text(steps.left_s)
    if left is None:
        return msg("Step {number} of {count}.", number=steps.number, count=steps.count)
    return msg("Step {number} of {count}, {left}.", number=steps.number, count=steps.count, left=left)


def progress_text(event: Progressed) -> Message:
    """How many runs are done and how long the others take."""
    match event:
        case SimulationProgressed():
            return msg("{percent} % simulated", percent=round(100 * event.share))
        case StudyProgressed():
            return msg(
                "{done}/{total} {total:run|runs}, {rate} per second, {remaining} s left",
                done=event.done,
                total=event.total,
                rate=f"{event.rate_hz:.0f}",
                remaining=_seconds_left(event),
            )
        case OptimizationProgressed():
            return msg(
                "{done}/{total} {total:simulation|simulations}, {rate} per second, {remaining} "
                "s left, goals missed by {missed}",
                done=event.done,
                total=event.budget,
                rate=f"{event.rate_hz:.0f}",
                remaining=_seconds_left(event),
                missed="?" if event.violation is None else f"{event.violation:.3g}",
            )


def best_text(event: Progressed) -> Message | None:
    """The figures of the best run so far; None before there is one."""
    match event:
        case StudyProgressed(best=best) if best:
            return msg("Best so far, run {number}: {figures}", number=event.best_run, figures=_figures(best))
        case OptimizationProgressed() if event.best_run is not None:
            figures = _figures(event.best_parameters)
            return msg("Best so far, run {number}: {figures}", number=event.best_run, figures=figures)
        case _:
            return None


def _figures(named: Mapping[str, float]) -> str:
    shown = [f"{name} = {format_number(value, 4)}" for name, value in list(named.items())[:_MOST_NAMED]]
    return ", ".join([*shown, *(["…"] if len(named) > _MOST_NAMED else [])])


def _seconds_left(event: StudyProgressed | OptimizationProgressed) -> str:
    return "?" if event.remaining_s is None else f"{event.remaining_s:.0f}"
