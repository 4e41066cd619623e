"""What a run is worth, told by its end, its data and its figures, never by words of the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from domain.simulation.result import SimulationResult

Verdict = Literal["complete", "partial", "failed"]

_OF_FIGURES = "measurement-failed"


def verdict_of(result: SimulationResult) -> Verdict:
    """complete: every analysis ran to its end and every figure was had. partial: there are data, but an
    analysis, a step or a figure failed, or the run ended early. failed: there are no data."""
    if result.ok and not any(issue.code == _OF_FIGURES for issue in result.issues):
        return "complete"
    return "partial" if result.run.raw_paths else "failed"


def stored_verdict(stored: object, *, ok: bool, has_data: bool) -> Verdict:
    """The verdict a result.json says; of one from before there were verdicts, that of its end and data."""
    if stored == "complete":
        return "complete"
    if stored == "partial":
        return "partial"
    if stored == "failed":
        return "failed"
    if ok:
        return "complete"
    return "partial" if has_data else "failed"
