"""How far a simulation, a study or a search is, in words."""

from __future__ import annotations

from collections.abc import Mapping

from application.ports.events import OptimizationProgressed, SimulationProgressed, StudyProgressed
from domain.circuit.numbers import format_number
from shared.message import Message, msg

Progressed = SimulationProgressed | StudyProgressed | OptimizationProgressed
PROGRESSED: tuple[type[Progressed], ...] = (SimulationProgressed, StudyProgressed, OptimizationProgressed)
_MOST_NAMED = 3


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
