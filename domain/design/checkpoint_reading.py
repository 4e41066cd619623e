"""What a text typed at a checkpoint means, by the rules and by its likeness to texts whose meaning is known.

The rules know each word of what they are sure of; people have more ways to say a thing than rules know words.
Where both differ the likeness decides if it leads by far, and what it alone says waits for a click, unless it
is harmless. Figures, rounds and goals are always read by the rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.design.checkpoint_asides import without_denied, without_rest
from domain.design.checkpoint_intent import LONGEST, CheckpointIntent, read_checkpoint_text
from domain.design.checkpoint_words import phrases, plain
from domain.design.goals_meant import goals_meant_by
from domain.design.likeness import KnownTexts, Likeness
from domain.simulation.goals import DesignGoal

_LEAD = 10.0
"""Nats from which on a likeness is believed: of 280 texts that were new 252 had them, one wrongly."""
_FAR = 20.0
"""From which on it is believed against what the rules are sure of, and what is harmless is done unasked: 190
had them, all rightly."""
_CHOICES = frozenset(("continue", "optimize", "fix", "accept", "stop", "undo", "go_back"))
_FIRST = re.compile(r"\b(?:first|initial|original)\b|最初|最早|初版|原版|一开始|原始")


@dataclass(frozen=True, slots=True)
class CheckpointReader:
    """Reads what is typed at checkpoints."""

    known: KnownTexts
    """Their kinds are those of an intent."""

    def __call__(
        self,
        text: str,
        *,
        goals: Sequence[DesignGoal],
        goals_met: bool,
        has_failed: bool,
        can_undo: bool,
        rounds: int,
    ) -> CheckpointIntent:
        """As `read_checkpoint_text`, for more ways to say it."""
        ruled = read_checkpoint_text(
            text,
            goals=goals,
            goals_met=goals_met,
            has_failed=has_failed,
            can_undo=can_undo,
            rounds=rounds,
        )
        if len(ruled.text) > LONGEST:
            return ruled
        like = self.known.likeness(ruled.text)
        if like.lead < (_FAR if ruled.is_sure else _LEAD) or _says_the_same(ruled, like):
            return ruled
        return _by_likeness(ruled, like, goals=goals, can_undo=can_undo, rounds=rounds)


def _by_likeness(
    ruled: CheckpointIntent,
    like: Likeness,
    *,
    goals: Sequence[DesignGoal],
    can_undo: bool,
    rounds: int,
) -> CheckpointIntent:
    unclear = replace(ruled, kind="unclear", is_sure=False)
    match like.kind:
        case "goals":
            meant = goals_meant_by(without_rest(without_denied(ruled.text)), goals)
            return replace(ruled, kind="goals", goals=meant, is_sure=False)
        case "go_back":
            number = _round_named_in(plain(ruled.text))
            if 0 < number < rounds:
                return replace(ruled, kind="go_back", round_number=number, is_sure=False)
            return ruled if ruled.kind in {"undo", "go_back"} else unclear
        case "accept" | "stop" | "undo" as choice:
            has_it = choice != "undo" or can_undo
            return replace(ruled, kind=choice, is_sure=False) if has_it else unclear
        case "instruction" | "question" | "continue" as kind:
            return replace(ruled, kind=kind, is_sure=like.lead >= _FAR)
    return ruled if ruled.kind == "question" else unclear


def _says_the_same(ruled: CheckpointIntent, like: Likeness) -> bool:
    """Whether nothing is gained by the likeness: the rules say so too, or know better by what they read."""
    if ruled.kind == like.kind:
        return ruled.kind != "goals" or ruled.goals is not None
    if ruled.goals is not None or ruled.kind == "fix":
        return True
    if like.kind == "continue" and ruled.kind in {"optimize", "instruction"}:
        return True  # "go on, but ..."
    return ruled.is_sure and ruled.kind in _CHOICES


def _round_named_in(shown: str) -> int:
    """The one round that a text names, from 1; 0 when it names none, or several."""
    named = {each.number for each in phrases(shown) if each.role == "round" and each.number}
    if named:
        return named.pop() if len(named) == 1 else 0
    return 1 if _FIRST.search(shown) else 0
