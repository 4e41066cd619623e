"""What is said of yields that were estimated in idle time."""

from __future__ import annotations

import math

from application.studies.idle_yield import CircuitYield, GoalYield
from shared.message import Message, msg


def in_short(found: GoalYield) -> Message:
    """``97 % ± 2``; where every run meets the goal, or none does, the least or the most the yield may be."""
    low, high = found.share.interval
    if found.share.passed == found.share.total:
        return msg("≥ {share} %", share=math.floor(100 * low))
    if not found.share.passed:
        return msg("≤ {share} %", share=math.ceil(100 * high))
    half = max(1, round(50 * (high - low)))
    return msg("{share} % ± {half}", share=round(100 * found.share.value), half=half)


def in_full(circuit: CircuitYield, found: GoalYield) -> list[Message]:
    """How it was found, a line each."""
    low, high = found.share.interval
    return [
        msg(
            "Yield: {passed} of {count} {count:run|runs} meet the goal; 95 % confidence {low} to {high} %.",
            passed=found.share.passed, count=circuit.runs,
            low=f"{100 * low:.3g}", high=f"{100 * high:.3g}",
        ),
        *circuit.assumed,
    ]  # fmt: skip


def too_slow(circuit: CircuitYield) -> Message:
    return msg(
        "Yield not estimated: a run takes {seconds} s. Run a Monte Carlo of the circuit.",
        seconds=f"{circuit.run_s:.2g}",
    )
