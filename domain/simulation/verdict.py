"""What a run is worth, told by its end, its data and its figures, never by words of the simulator; and in
which words that is said, in rows, in the status line, in conversations and on a terminal alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from domain.simulation.reach import Reach, reach_words
from shared.message import Message, msg

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


_PARTIAL = {
    "cancelled": msg("partial, stopped"),
    "timeout": msg("partial, timed out"),
    "failed": msg("partial, an analysis failed"),
}


def verdict_words(verdict: Verdict, status: str, reach: Reach | None = None) -> Message:
    """``complete``, ``partial, stopped at 3.2 ms of 10 ms``, ``failed``.

    `status` is `SimulationRun.status`; an "ok" run is partial when a figure could not be had.
    """
    if verdict == "complete":
        return msg("complete")
    if verdict == "failed":
        return msg("failed, timed out") if status == "timeout" else msg("failed")
    if reach is not None:
        return msg("partial, {reach}", reach=reach_words(reach, status))
    return _PARTIAL.get(status, msg("partial, some values could not be measured"))


def told_partial(path: str, verdict: Message, reason: Message) -> Message:
    """A run that gave some of what it was asked for, in one sentence."""
    return msg("{path}: {verdict}. {reason}", path=path, verdict=verdict, reason=reason)


def tells_partial(message: Message | None) -> bool:
    """Whether a stored sentence is that of `told_partial`."""
    return message is not None and message.template == "{path}: {verdict}. {reason}"
