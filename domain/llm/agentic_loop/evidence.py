"""What an answer is held against, as plain data, and all that is looked for in it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from domain.llm.agentic_loop.backing import unbacked_figures
from domain.llm.agentic_loop.claims import Deeds, Doubts, unmade_claims
from domain.llm.agentic_loop.conditions import Measured
from domain.llm.agentic_loop.contradictions import contradictions
from domain.llm.agentic_loop.known import Backing
from domain.llm.agentic_loop.states import stale_figures
from domain.llm.answers import unrun_call


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was done and measured up to an answer. It travels to another process."""

    deeds: Deeds
    backing: Backing
    """Of the whole conversation."""
    before: Sequence[str]
    """What was measured before the last change of the circuit."""
    now: Backing
    """`backing` without that."""
    measured: Sequence[Measured]
    """All that was measured, with what stood in the circuit."""


def doubts_about(
    text: str, evidence: Evidence, *, tools: Set[str] = frozenset(), has_other_sources: bool = False
) -> Doubts:
    """What of an answer nothing stands behind. `tools` are those it could have called.

    With other sources (pages of the web, pictures) its figures may come from what is not known here, and are
    left alone. Pure Python for up to half a second with an answer of 12,000 characters.
    """
    claims = unmade_claims(text, evidence.deeds, None if has_other_sources else evidence.now.measured)
    unrun = unrun_call(text, tools)
    if has_other_sources:
        return Doubts(claims=claims, unrun=unrun)
    now, before, measured = evidence.now, evidence.before, evidence.measured
    return Doubts(
        figures=unbacked_figures(text, evidence.backing),
        stale=stale_figures(text, before, now, measured),
        claims=claims,
        contradicted=contradictions(text, now.results, before, now.words, measured),
        unrun=unrun,
    )
