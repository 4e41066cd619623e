"""A model's comment on a round held against the verdicts: goals told as met that were missed.

Its figures are held against the table by `comment_check`.
"""

from __future__ import annotations

from collections.abc import Iterable

from domain.circuit.figures import with_unit
from domain.circuit.figures_in_text import plain
from domain.circuit.said_figures import sentence_before
from domain.design.round_table import RoundTable, asked
from domain.llm.agentic_loop.claims import Deeds, unmade_claims
from domain.llm.agentic_loop.contradictions import contradictions
from shared.late_patterns import late_pattern

_IS_MET = late_pattern(
    r"\b(?:meets?|met|satisf(?:y|ies|ied)|fulfil\w*|achieved|reached|in spec|passes)\b"
    r"|满足|达标|合格|符合|达到|达成"
)
_BUT_SOME = late_pattern(
    r"\b(?:but|except|apart from|only|one of|two of|not|miss\w*)\b|除|只有|仅|其中|未|没有?|不"
)
_WANTED = late_pattern(
    r"^\s*(?:in order |so as )?to\b|\b(?:would|should|will|could|until|so that)\b"
    r"|为了?|以便?|才能|将|应|需|若|如果"
)


def false_verdicts(text: str, table: RoundTable) -> tuple[str, ...]:
    """The clauses of a comment that tell goals as met which the round missed, as they are written."""
    missed = [row.goal.metric for row in table.rows if not row.met]
    if not missed:
        return ()
    verdicts = "; ".join(
        f"{'met' if row.met else 'MISSED'} {row.goal.metric} = "
        f"{'-' if row.value is None else with_unit(row.value, row.unit)} ({asked(row.goal)})"
        for row in table.rows
    )
    deeds = Deeds(has_run=True, is_measured=True, missed=missed)
    told = (*unmade_claims(text, deeds), *contradictions(text, (f"Goals: {verdicts}",)))
    flat = plain(text)
    return tuple(dict.fromkeys(clause for clause in told if _is_told(clause, flat)))


def _is_told(clause: str, text: str) -> bool:
    """Whether it tells that goals are met, with no exception in its sentence, and not as what is wanted."""
    sentence = sentence_before(text, max(text.find(clause), 0)) + clause
    said = bool(_IS_MET.search(clause)) and not _WANTED.search(clause.lower())
    return said and not _BUT_SOME.search(sentence.lower())


def marked_clauses(text: str, clauses: Iterable[str], mark: str) -> str:
    """The comment with `mark` behind each of these clauses, at its first place."""
    flat = plain(text)
    ends = {at + len(clause) for clause in clauses if (at := flat.find(clause)) >= 0}
    for end in sorted(ends, reverse=True):
        text = f"{text[:end]}{mark}{text[end:]}"
    return text
