"""What a run was worth, in the same words in rows, in the status line, in conversations and on a terminal."""

from __future__ import annotations

from domain.simulation.reach import Reach, reach_words
from domain.simulation.verdict import Verdict
from shared.message import Message, msg

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
