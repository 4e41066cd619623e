"""A circuit family whose circuits are decks that were written before, for tests of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pytest

from domain.design import catalogue
from domain.design.deck import Say
from domain.design.designer import DesignIntent, Proposal
from domain.design.engine.declared_family import Claim, DeclaredFamily
from domain.design.engine.device_cards import NO_TABLES, Tables
from domain.design.families import first_order
from domain.design.sentence import Sentence
from domain.simulation.goals import DesignGoal, GoalVerdict

CUTOFF = DesignGoal(
    metric="cutoff", expression="highcut(v(out))", unit="Hz", minimum=950.0, maximum=1050.0, target=1000.0
)


def rc_deck(resistance: str) -> str:
    """An RC low-pass with 159.155 nF: 1 kHz at 1k."""
    return f"RC\nVin in 0 DC 0 AC 1\nR1 in out {resistance}\nC1 out 0 159.155n\n.ac dec 50 10 100k\n.end\n"


class ScriptedFamily(DeclaredFamily):
    """Claims every sentence: one deck after the other, then None."""

    def __init__(self, *decks: str) -> None:
        super().__init__(replace(first_order.FAMILY, key="scripted"))
        self._decks = decks
        self.seen: list[tuple[str, tuple[float, ...]]] = []
        """(netlist, measured values) handed to each `revise`."""

    def claim(self, sentence: Sentence) -> Claim:
        return Claim(score=1.0)

    def understand(
        self, sentence: Sentence, claim: Claim, cards: Mapping[str, str] | None = None
    ) -> DesignIntent:
        return DesignIntent(family="scripted", parameters={}, goals=(CUTOFF,), language=sentence.language)

    def follow(self, intent: DesignIntent, goals: Sequence[DesignGoal]) -> DesignIntent:
        return replace(intent, goals=tuple(goals))

    def propose(self, intent: DesignIntent, say: Say, tables: Tables = NO_TABLES) -> Proposal:
        return self._proposal(0)

    def revise(
        self,
        intent: DesignIntent,
        previous: Proposal,
        verdicts: Sequence[GoalVerdict],
        say: Say,
        tables: Tables = NO_TABLES,
    ) -> Proposal | None:
        self.seen.append((previous.netlist, tuple(verdict.measured.value for verdict in verdicts)))
        number = int(previous.tuning["number"]) + 1
        return self._proposal(number) if number < len(self._decks) else None

    def _proposal(self, number: int) -> Proposal:
        return Proposal(file_stem="scripted", netlist=self._decks[number], tuning={"number": number})


def only(family: DeclaredFamily) -> Mapping[str, DeclaredFamily]:
    """A catalogue with this family alone."""
    return MappingProxyType({family.key: family})


def use(monkeypatch: pytest.MonkeyPatch, family: DeclaredFamily) -> None:
    """The built-in designer knows this family and no other one."""
    monkeypatch.setattr(catalogue, "FAMILIES", only(family))
