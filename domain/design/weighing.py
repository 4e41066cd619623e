"""Which circuit a sentence means: by what its words speak for, weighed together with how it reads.

What the rules (`catalogue`) make of a sentence and what is learnt from known requests (`known_requests`)
count in nats: a family that is called by its name, one that the rules choose, figures that find no place,
demands that cannot be met. That nothing of ours is asked for is weighed like a family.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from domain.design.designer import DesignIntent
from domain.design.engine import wording
from domain.design.engine.conversion import is_linked
from domain.design.engine.declared_family import Claim, DeclaredFamily
from domain.design.known_requests import NO_REQUEST, KnownRequests, is_question
from domain.design.sentence import Sentence
from domain.design.understanding import is_not_understood
from shared.errors import CircuitError

_CANDIDATES = 5
_FAR_BEHIND = 6.0
"""Nats by which a family is behind the likeliest that is not looked at."""
_WEIGHTS = {
    "words": 1.2, "plain": 2.0, "ruled": 1.0, "guessed": 0.2, "left_out": -1.35, "missing_goal": -0.95,
    "impossible_goal": -2.5, "unknown_circuit": -0.5, "bad_request": -3.0,
    "no_request": -1.1, "other": 0.2, "no_figure": 0.7, "no_rule": 0.0,
}  # fmt: skip
"""What a reason counts: the words; that the family is what is usual for them; the choice of the rules by a
name or by other words; a figure without a place, what has to be asked for, cannot be done or is refused by a
word; for no request that it is one, that another circuit is named and none of ours, no figure, no rule that
knows a family. Fitted to 2,000 known requests that were kept out of what is learnt; "plain", "ruled"
and "no_figure" by hand: what the rules find is in the words already."""
_LEAST = 0.4
"""How likely a family has to be among all that may be meant: below that the rules judge alone."""
_SURELY_NONE = 4.0
"""Nats by which no request is likelier than a circuit that is called by name: an R-2R ladder is no filter."""
_TOLD_WORDS = 4
_TELLING_WORD = re.compile(
    r"\?|？|(?![设计一个做要的电路请帮我用搭建来给款种想需])[\u4e00-\u9fff]|"
    r"\b(?!(?:an?|with|for|of|and|design|make|build|me|please|circuit|simple|i|want|need|create|new|basic|give|small|could|can|you)\b)[a-z][a-z'’]*",
    re.IGNORECASE,
)
"""Any that does not only ask for a circuit."""
_LINK = r"(?:an?|the|with|of|for|from|to|in|at|and|is)"
_LINKS = re.compile(rf"^(?:{_LINK} )+|(?: {_LINK})+$", re.IGNORECASE)
"""Words that only link, at the ends of a phrase."""
_SHORT = 60
"""Characters of a request in a few words."""
_FEW_FIGURES = 2
_MOST_BESIDES = 8
"""English words or Chinese characters beside a name and figures that leave it the request."""


class Ruled(NamedTuple):
    """What the rules make of a sentence."""

    family: str
    """Its key; "" where they find none."""
    claim: Claim
    outcome: DesignIntent | CircuitError
    refusal: CircuitError
    """Why it may be no request at all."""
    named: frozenset[str] = frozenset()
    """The families it calls by name, those it names beside others too."""
    is_other: bool = False
    """Whether another circuit is named that cannot be designed."""


class Candidate(NamedTuple):
    """A family that may be meant, or `NO_REQUEST`."""

    family: str
    reasons: Mapping[str, float]
    """What speaks for it, in nats, before it is weighed; what speaks against it below zero."""
    outcome: DesignIntent | CircuitError


def rule_features(family: str, claim: Claim, named: frozenset[str], is_other: bool) -> set[str]:
    """What the rules find in a sentence, as features to learn of: how far each of them is to be believed is
    measured as that of a word is."""
    how = "p" if claim.is_plain else "r" if claim.score >= 1 else "g"
    found = {f"!n{key}" for key in named}
    found.add(f"!{min(len(named), 2)}named")
    if family:
        found.add(f"!{how}{family}")
    if is_other:
        found.add("!other")
    return found


def weighed(
    text: str,
    sentence: Sentence,
    ruled: Ruled,
    *,
    families: Mapping[str, DeclaredFamily],
    known: KnownRequests,
    cards: Mapping[str, str] | None,
) -> DesignIntent | CircuitError:
    """What the family makes of a sentence that most speaks for; where more speaks for no request at all, why
    it is refused that is called by name, the reason of the rules, or that no circuit is named. Of a family
    that nothing is learnt of the rules judge alone."""
    if ruled.family and not known.knows(ruled.family):
        return ruled.outcome
    may_be = list(candidates(text, sentence, ruled, families=families, known=known, cards=cards))
    nats = [sum(_WEIGHTS[name] * each for name, each in one.reasons.items()) for one in may_be]
    best = nats.index(max(nats))
    is_refused_by_name = ruled.claim.score >= 1 and isinstance(ruled.outcome, CircuitError)
    if may_be[best].family == NO_REQUEST and is_refused_by_name and nats[best] < nats[0] + _SURELY_NONE:
        return ruled.outcome
    is_refused = may_be[best].family == NO_REQUEST or isinstance(may_be[best].outcome, CircuitError)
    names = families[ruled.family].names_in(sentence) if ruled.family and is_refused else ()
    if is_refused and is_said_in_short(text, sentence, ruled, list(names)):
        return ruled.outcome
    chosen = families.get(may_be[best].family)
    words = None if chosen is None or ruled.claim.score < 1 else chosen.family.words
    if words is not None and sentence.has(words.excludes) and not sentence.has(words.named):
        return ruled.outcome  # another one is named, and what is said is none of this one's
    if best < len(nats) - 1 and sum(math.exp(each - nats[best]) for each in nats) > 1 / _LEAST:
        return ruled.outcome
    return may_be[best].outcome


def is_said_in_short(text: str, sentence: Sentence, ruled: Ruled, names: Sequence[tuple[int, int]]) -> bool:
    """Whether a few words are all of a request: it asks nothing, and the rules find a place for each of its
    figures or, where its name (at `names` in the sentence) is all it says, only ask for one.
    Known requests are longer, and what is learnt of them takes short ones for none."""
    most = 2 * _SHORT if is_linked(sentence) else _SHORT  # "... that turns 12 V into 5 V for a Raspberry Pi"
    if len(text) > most or is_question(text):
        return False
    is_sure = ruled.claim.score >= 1 or not sentence.mentions
    is_named = bool(ruled.family) and is_sure and _is_all_name(sentence, names)
    if isinstance(ruled.outcome, CircuitError):
        return is_named and ruled.outcome.error_type == "missing_goal"
    has_unit = any(each.dimension != "none" or each.may_be for each in sentence.mentions)
    is_by_name = (
        ruled.claim.score >= 1
        and not ruled.claim.is_plain
        and bool(sentence.mentions)
        and len(_told_besides(sentence, names)) <= _MOST_BESIDES
    )
    left = sum(map(is_not_understood, ruled.outcome.assumptions))
    if left:  # one figure of what this circuit has none for is no reason not to know it by its name
        return is_by_name and left == 1 and len(sentence.mentions) > _FEW_FIGURES
    return has_unit or is_named or is_by_name


def _is_all_name(sentence: Sentence, names: Sequence[tuple[int, int]]) -> bool:
    """Whether a sentence is a name, figures and words that only ask for it."""
    return bool(names) and not _told_besides(sentence, names)


def _told_besides(sentence: Sentence, names: Sequence[tuple[int, int]]) -> list[str]:
    """The words of a sentence that are no name, no figure and do not only ask for a circuit."""
    said = [*names, *((each.start, each.end) for each in sentence.mentions)]
    return [
        word[0]
        for word in _TELLING_WORD.finditer(sentence.text)
        if not any(start <= word.start() and word.end() <= end for start, end in said)
    ]


def candidates(
    text: str,
    sentence: Sentence,
    ruled: Ruled,
    *,
    families: Mapping[str, DeclaredFamily],
    known: KnownRequests,
    cards: Mapping[str, str] | None,
) -> Iterator[Candidate]:
    """All that may be meant, the one of the rules first."""
    likely = known.likely(
        text, sentence, rule_features(ruled.family, ruled.claim, ruled.named, ruled.is_other)
    )
    keys = sorted((key for key in likely if key in families), key=lambda key: -likely[key])
    keys = [key for key in keys[:_CANDIDATES] if likely[key] > likely[keys[0]] - _FAR_BEHIND]
    for key in dict.fromkeys([*([ruled.family] if ruled.family else ()), *keys]):
        is_ruled = key == ruled.family
        claim = ruled.claim if is_ruled and ruled.claim.score >= 1 else _claim(families[key], known, text)
        outcome = _read(families[key], sentence, claim, known, cards)
        is_refused = isinstance(outcome, CircuitError) and outcome.error_type == "unknown_circuit"
        if is_refused and not is_ruled and isinstance(ruled.outcome, DesignIntent):
            continue  # no reason against what the rules design
        reasons = {
            "words": likely[key],
            "ruled": float(is_ruled and ruled.claim.score >= 1),
            "plain": float(is_ruled and ruled.claim.is_plain),
            "guessed": float(is_ruled and ruled.claim.score < 1),
        }
        if isinstance(outcome, CircuitError):
            reasons[outcome.error_type] = 1.0
        else:
            reasons["left_out"] = float(sum(map(is_not_understood, outcome.assumptions)))
        yield Candidate(key, reasons, outcome)
    reasons = {
        "words": likely[NO_REQUEST],
        "no_request": 1.0,
        "other": float(ruled.is_other and not ruled.named),
        "no_figure": float(not sentence.mentions),
        "no_rule": float(not ruled.family),
    }
    yield Candidate(NO_REQUEST, reasons, ruled.refusal)


def _claim(family: DeclaredFamily, known: KnownRequests, text: str) -> Claim:
    words = _as_written(known.telling(text, family.key, _TOLD_WORDS), text)
    note = wording.taken_for(family.family.one, words) if words else wording.not_named(family.family.one)
    return Claim(score=0.5, assumptions=(note,))


def _as_written(words: Sequence[str], text: str) -> list[str]:
    """Words as a text has them; none that begins in another, as "pass filter" does in "high-pass filter"."""
    found: list[str] = []
    taken: list[tuple[int, int]] = []
    for word in words:
        place = re.search(re.escape(word), text, re.IGNORECASE)
        start, end = place.span() if place is not None else (0, 0)
        if not any(start < last and first < end for first, last in taken):
            found.append(_LINKS.sub("", text[start:end] or word))
            taken.append((start, end))
    return list(dict.fromkeys(filter(None, found)))


def _read(
    family: DeclaredFamily,
    sentence: Sentence,
    claim: Claim,
    known: KnownRequests,
    cards: Mapping[str, str] | None,
) -> DesignIntent | CircuitError:
    """With what is known of where figures belong; where that cannot be done, by the rules alone."""
    placed = known.placed(sentence, family.key, family.family.quantities)
    first: CircuitError | None = None
    for each in (placed, sentence):
        try:
            return family.understand(each, claim, cards)
        except CircuitError as error:
            first = first or error
    assert first is not None
    return first
