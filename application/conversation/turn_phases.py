"""The phases of one turn as its events pass by: checked against the order in which they may come."""

from __future__ import annotations

import logging
from dataclasses import replace

from application.ports.events import PhaseEntered, TurnEnd
from domain.llm.agentic_loop.phases import PHASES, IllegalTransitionError, Phase, PhaseMachine

_logger = logging.getLogger(__name__)


class TurnPhases:
    """Follows a turn's phases; what cannot be is refused and logged as the error of the program it is."""

    def __init__(self) -> None:
        self._machine = PhaseMachine()
        self._round = 0

    @property
    def phase(self) -> Phase:
        """Where the turn is."""
        return self._machine.phase

    def enter(self, phase: Phase, *, round_number: int | None = None, tokens: int = 0) -> PhaseEntered | None:
        """The event of a phase that begins; None for the one that is on, and for one that cannot come now."""
        if round_number is not None:
            self._round = round_number
        if phase == self._machine.phase:
            return None
        try:
            self._machine.enter(phase)
        except IllegalTransitionError as error:
            _logger.error("In round %d of the turn: %s", self._round, error)
            return None
        return PhaseEntered(phase=phase, round_number=self._round, tokens=tokens)

    def follow(self, event: PhaseEntered, *, tokens: int) -> PhaseEntered | None:
        """The event as it is shown, with the turn's tokens; None when it is refused or says nothing new."""
        phase = next((known for known in PHASES if known == event.phase), None)
        if phase is None:
            _logger.error("A turn has no phase named %s", event.phase)
            return None
        entered = self.enter(phase, round_number=event.round_number, tokens=tokens)
        return None if entered is None else replace(event, tokens=tokens)


def last_phase(stop_reason: TurnEnd) -> Phase:
    """The phase in which a turn with this end closes."""
    if stop_reason in ("error", "cut"):
        return "error"
    return "cancelled" if stop_reason == "stopped" else "complete"
