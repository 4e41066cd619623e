"""Which circuit a sentence means whose words alone do not settle it: by what its words speak for, weighed
against how it reads.

The rules (`catalogue`) come first. Where they refuse a sentence, find figures missing or impossible in it, or
only guess, it is weighed against known requests (`likeness`): a family has to lead, and the figures of the
sentence have to find their places in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from domain.design.designer import DesignIntent
from domain.design.engine import wording
from domain.design.engine.declared_family import Claim, DeclaredFamily
from domain.design.likeness import KnownTexts
from domain.design.sentence import Sentence
from domain.design.understanding import is_not_understood
from shared.errors import CircuitError

NO_REQUEST = "-"
"""The kind of the known texts that ask for no circuit that can be designed."""
_CANDIDATES = 4
_LEAST = 30.0
"""Nats that have to speak for a family that the rules do not find."""
_PLAINLY = 45.0
"""As many for one that is refused by another circuit's name, or whose figures have to be asked for."""
_OVER_NO_REQUEST = 10.0
_BY_NAME = 15.0
"""Nats that a name counts for."""
_OVER_GUESS = 8.0
_OVER_NAME = 25.0
"""Nats by which a family has to lead one that the rules only guess, and one that is called by its name."""
_LEFT_OUT = 4.0
"""What a figure costs that a family has no place for: the same in nats."""
_FEWEST = 2
"""Figures of a sentence that is weighed."""
_TOLD_WORDS = 4


class Ruled(NamedTuple):
    """What the rules make of a sentence."""

    family: str
    """Its key; "" where they find none."""
    surely: float
    """How sure they are (`Claim.score`)."""
    outcome: DesignIntent | CircuitError
    named: frozenset[str] = frozenset()
    """The families it calls by name, those it names beside others too."""
    is_other: bool = False
    """Whether another circuit is named that cannot be designed."""


class _Candidate(NamedTuple):
    family: str
    nats: float
    outcome: DesignIntent | CircuitError


def weighed(
    text: str,
    sentence: Sentence,
    ruled: Ruled,
    *,
    families: Mapping[str, DeclaredFamily],
    known: KnownTexts,
    cards: Mapping[str, str] | None,
) -> DesignIntent:
    """The intent of the family that most speaks for. Raises CircuitError: that of the rules, or of the only
    family that is likely."""
    evidence = known.evidence(text)
    for key in ruled.named:
        evidence[key] = evidence.get(key, 0.0) + _BY_NAME
    likely = sorted((key for key in evidence if key in families), key=lambda key: -evidence[key])
    likely = [key for key in likely if evidence[key] >= _LEAST][:_CANDIDATES]
    if not likely or len(sentence.mentions) < _FEWEST:
        return _given(ruled.outcome)
    if evidence[likely[0]] < evidence.get(NO_REQUEST, 0.0) + _OVER_NO_REQUEST:
        return _given(ruled.outcome)

    def read(key: str) -> _Candidate:
        family = families[key]
        words = known.telling(text, key, _TOLD_WORDS)
        note = wording.taken_for(family.family.one, words) if words else wording.not_named(family.family.one)
        try:
            intent = family.understand(sentence, Claim(score=0.5, assumptions=(note,)), cards)
        except CircuitError as error:
            return _Candidate(key, evidence[key], error)
        return _Candidate(key, evidence[key] - _LEFT_OUT * _left_out(intent), intent)

    return _best(ruled, [key for key in likely if key != ruled.family], evidence, read)


def _best(
    ruled: Ruled, likely: list[str], evidence: Mapping[str, float], read: Callable[[str], _Candidate]
) -> DesignIntent:
    candidates = [read(key) for key in likely]
    mine = evidence.get(ruled.family, 0.0)
    if isinstance(ruled.outcome, DesignIntent):
        mine -= _LEFT_OUT * _left_out(ruled.outcome)
        lead = _OVER_NAME if ruled.surely >= 1 else _OVER_GUESS
    else:
        lead = _OVER_GUESS
    least = max(_PLAINLY if ruled.is_other else _LEAST, mine + lead)
    readable = [each for each in candidates if isinstance(each.outcome, DesignIntent) and each.nats >= least]
    if readable:
        return _given(max(readable, key=lambda each: each.nats).outcome)
    if not ruled.family and not ruled.is_other and candidates and candidates[0].nats >= _PLAINLY:
        return _given(candidates[0].outcome)  # its question is nearer than "not understood"
    return _given(ruled.outcome)


def _left_out(intent: DesignIntent) -> int:
    return sum(map(is_not_understood, intent.assumptions))


def _given(outcome: DesignIntent | CircuitError) -> DesignIntent:
    if isinstance(outcome, CircuitError):
        raise outcome
    return outcome
