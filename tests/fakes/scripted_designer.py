"""A designer that proposes what it was told to, for tests of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from domain.design.designer import DesignIntent, Proposal
from domain.simulation.goals import DesignGoal, GoalVerdict

CUTOFF = DesignGoal(
    metric="cutoff", expression="highcut(v(out))", unit="Hz", minimum=950.0, maximum=1050.0, target=1000.0
)


def rc_deck(resistance: str) -> str:
    """An RC low-pass with 159.155 nF: 1 kHz at 1k."""
    return f"RC\nVin in 0 DC 0 AC 1\nR1 in out {resistance}\nC1 out 0 159.155n\n.ac dec 50 10 100k\n.end\n"


class ScriptedDesigner:
    """Implements application.ports.conversation.Designer: one deck after the other, then None."""

    def __init__(self, *decks: str) -> None:
        self._decks = decks
        self.seen: list[tuple[str, tuple[float, ...]]] = []
        """(netlist, measured values) handed to each `revise`."""

    async def understand(self, text: str) -> DesignIntent:
        return DesignIntent(family="scripted", parameters={"text": text}, goals=(CUTOFF,))

    async def follow(self, intent: DesignIntent, goals: Sequence[DesignGoal]) -> DesignIntent:
        return replace(intent, goals=tuple(goals))

    async def propose(self, intent: DesignIntent) -> Proposal:
        return self._proposal(0)

    async def revise(
        self, intent: DesignIntent, previous: Proposal, verdicts: Sequence[GoalVerdict]
    ) -> Proposal | None:
        self.seen.append((previous.netlist, tuple(verdict.measured.value for verdict in verdicts)))
        number = int(previous.tuning["number"]) + 1
        return self._proposal(number) if number < len(self._decks) else None

    def _proposal(self, number: int) -> Proposal:
        return Proposal(file_stem="scripted", netlist=self._decks[number], tuning={"number": number})
