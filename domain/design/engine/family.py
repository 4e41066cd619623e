"""What a circuit family can do; the built-in designer drives all of them through this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.design.deck import Say
from domain.design.designer import DesignIntent, Proposal
from domain.design.sentence import Sentence
from domain.simulation.goals import DesignGoal, GoalVerdict
from shared.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """How sure a family is that a sentence means it, and what it had to assume to think so."""

    score: float
    """0 = not mine; 0.5 = plausible; 1 = named by its own words."""
    assumptions: tuple[Message, ...] = ()


NOT_MINE = Claim(score=0.0)


class CircuitFamily(Protocol):
    """One kind of circuit: its words, its equations, its netlist and how to correct it."""

    key: str
    """Stable id, the `family` of a DesignIntent."""
    name: Message
    """What it covers, for the list of what is known."""
    examples: Mapping[str, str]
    """A sentence it understands, by language ("en", "zh")."""

    labels: Mapping[str, Message]
    """What its goals are called beside their figures, by metric."""
    goal_words: Mapping[str, str]
    """By which words a person names a goal to change it (regular expressions, by metric)."""

    def names_in(self, sentence: Sentence) -> Iterable[tuple[int, int]]:
        """Where (start, end) the sentence calls this circuit by a name of its own."""
        ...

    def claim(self, sentence: Sentence) -> Claim:
        """Whether this sentence asks for this family."""
        ...

    def understand(self, sentence: Sentence, claim: Claim) -> DesignIntent:
        """Requirement and goals. Raises CircuitError ("missing_goal", "impossible_goal")."""
        ...

    def propose(self, intent: DesignIntent, say: Say) -> Proposal:
        """The first shot, by the family's design equations. Raises CircuitError ("impossible_goal")."""
        ...

    def follow(self, intent: DesignIntent, goals: Sequence[DesignGoal]) -> DesignIntent:
        """The intent with the goals a person confirmed, the requirement changed with them.

        Proposals of our own that nobody touched follow a changed requirement; nothing else is altered.
        """
        ...

    def revise(
        self, intent: DesignIntent, previous: Proposal, verdicts: Sequence[GoalVerdict], say: Say
    ) -> Proposal | None:
        """Correct the design by what was measured; None when that would change nothing."""
        ...
