"""The built-in designer: circuits from a plain sentence without network, key or language model.

It is deterministic code over `domain.design`: a sentence is matched to a circuit family, sized by
the family's published equations and corrected by what was measured. What it does not know it says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

from domain.design.catalogue import FAMILIES, understand
from domain.design.deck import Say
from domain.design.designer import DesignIntent, Proposal
from domain.simulation.goals import DesignGoal, GoalVerdict
from shared.errors import CircuitError
from shared.message import Message


def _english(_language: Literal["en", "zh"]) -> Say:
    return str


class BuiltinDesigner:
    """Adapter of `application.ports.conversation.Designer`.

    `speaker(language)` gives the function that puts the comments of a netlist into that language;
    without it they are English.
    """

    def __init__(self, speaker: Callable[[Literal["en", "zh"]], Callable[[Message], str]] = _english) -> None:
        self._speaker = speaker

    async def understand(self, text: str) -> DesignIntent:
        """Family, requirement and goals of a sentence.

        Raises CircuitError: "unknown_circuit" (with the list of what is known), "missing_goal" (a value it
        cannot do without) or "impossible_goal" (demands that contradict each other or physics).
        """
        return await asyncio.to_thread(understand, text)

    async def follow(self, intent: DesignIntent, goals: Sequence[DesignGoal]) -> DesignIntent:
        """The intent with confirmed goals, and with what the circuit is sized for changed with them."""
        return FAMILIES[intent.family].follow(intent, goals)

    async def propose(self, intent: DesignIntent) -> Proposal:
        """The first shot, by design equations. Raises CircuitError ("impossible_goal")."""
        return await asyncio.to_thread(self._propose, intent)

    async def revise(
        self, intent: DesignIntent, previous: Proposal, verdicts: Sequence[GoalVerdict]
    ) -> Proposal | None:
        """The circuit corrected by what was measured, or None when nothing is left to try."""
        return await asyncio.to_thread(self._revise, intent, previous, verdicts)

    def _propose(self, intent: DesignIntent) -> Proposal:
        return FAMILIES[intent.family].propose(intent, self._speaker(intent.language))

    def _revise(
        self, intent: DesignIntent, previous: Proposal, verdicts: Sequence[GoalVerdict]
    ) -> Proposal | None:
        family, say = FAMILIES[intent.family], self._speaker(intent.language)
        try:
            return family.revise(intent, previous, verdicts, say)
        except CircuitError:
            # The corrected aim is beyond what parts can do: the miss of the last round is the answer.
            return None
