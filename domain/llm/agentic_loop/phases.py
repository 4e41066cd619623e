"""The phases of a turn, and which may follow which.

    idle -> preparing -> calling -> streaming -> parsing -> executing -> aggregating -> calling ...
                            ^----------------------'|           ^  v
                            '--- goes on by itself  '-> waiting -'

Every phase but the last three may end in `cancelled` or `error`; from these and from `complete` a turn
goes back to `idle` only.
"""

from __future__ import annotations

from typing import Literal, get_args

Phase = Literal[
    "idle",
    "preparing",
    "calling",
    "streaming",
    "parsing",
    "executing",
    "waiting",
    "aggregating",
    "complete",
    "cancelled",
    "error",
]
PHASES: tuple[Phase, ...] = get_args(Phase)
ENDS: tuple[Phase, ...] = ("complete", "cancelled", "error")

_NEXT: dict[Phase, tuple[Phase, ...]] = {
    "idle": ("preparing",),
    # What was taken up may begin with calls that are open, with a question, or be over already.
    "preparing": ("calling", "executing", "waiting", "complete"),
    "calling": ("streaming", "parsing", "complete"),
    "streaming": ("parsing", "complete"),
    "parsing": ("executing", "waiting", "calling", "complete"),
    "executing": ("executing", "waiting", "aggregating"),
    "waiting": ("executing", "aggregating", "calling"),
    "aggregating": ("executing", "waiting", "calling", "complete"),
    "complete": (),
    "cancelled": (),
    "error": (),
}


class IllegalTransitionError(Exception):
    """A phase cannot follow another; whoever asked for it has lost count."""

    def __init__(self, old: Phase, new: Phase) -> None:
        super().__init__(f"the phase {new} cannot follow {old}")
        self.old = old
        self.new = new


class PhaseMachine:
    """The phase of one turn."""

    def __init__(self) -> None:
        self._phase: Phase = "idle"

    @property
    def phase(self) -> Phase:
        """Where the turn is."""
        return self._phase

    def may_enter(self, phase: Phase) -> bool:
        """Whether `phase` may come next."""
        if self._phase in ENDS:
            return phase == "idle"
        return phase in _NEXT[self._phase] or (phase in ("cancelled", "error") and self._phase != "idle")

    def enter(self, phase: Phase) -> None:
        """Go on to `phase`. Raises IllegalTransitionError, and stays where it is."""
        if not self.may_enter(phase):
            raise IllegalTransitionError(self._phase, phase)
        self._phase = phase
