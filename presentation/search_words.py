"""How a search for values ended, in words."""

from __future__ import annotations

from collections.abc import Mapping

from shared.message import Message, msg

ENDS: Mapping[str, Message] = {
    "goals_met": msg("The goals are met."),
    "budget": msg("The simulation budget is used up."),
    "time": msg("The time is up."),
    "converged": msg("Several restarts found nothing better."),
    "exhausted": msg("Every combination has been tried."),
    "stopped": msg("Stopped; the best so far was kept."),
}
