"""The families of the built-in designer, and which of them a sentence means.

A new family is one module and one line of `_MODULES`; lists of abilities, examples and names of goals are
derived from it.

A circuit that sounds like one of ours (a notch, a buck-boost, a multiple-feedback filter) is
refused by name rather than answered with something else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType

from domain.design.deck import Say
from domain.design.described import described
from domain.design.designer import DesignIntent, Proposal
from domain.design.engine import wording
from domain.design.engine.conversion import is_bare_conversion
from domain.design.engine.declaration import Request
from domain.design.engine.declared_family import Claim, DeclaredFamily
from domain.design.engine.device_cards import NO_TABLES, Tables, cards_named
from domain.design.engine.wording import joined
from domain.design.families.filter_requests import order_of
from domain.design.families.filter_rows import FILTER_WORDS, LETS_HIGHS_THROUGH, LETS_LOWS_THROUGH
from domain.design.goal_words import with_words
from domain.design.known_requests import KnownRequests
from domain.design.not_designed import NOT_DESIGNED
from domain.design.sentence import LONGEST_REQUEST, Sentence, in_any_case, last_said, read_sentence
from domain.design.simplified import simplified
from domain.design.understanding import is_not_understood
from domain.design.unread_wishes import also_asked, has_example, not_read, told_of_wish, unread_wishes
from domain.design.weighing import Ruled, rule_features, weighed
from domain.simulation.goals import DesignGoal, GoalVerdict
from shared.errors import CircuitError
from shared.message import Message, msg

_MODULES = (
    "first_order",
    "sallen_key",
    "buck",
    "boost",
    "buck_boost",
    "sepic",
    "cuk",
    "flyback",
    "forward",
    "inverting_amplifier",
    "non_inverting_amplifier",
    "lc_ladder",
    "schmitt_trigger",
    "non_inverting_schmitt",
    "common_emitter",
    "voltage_divider",
    "difference_amplifier",
    "instrumentation_amplifier",
    "transimpedance_amplifier",
    "wien_oscillator",
    "relaxation_oscillator",
    "timer_555",
    "band_pass",
    "wide_band_pass",
    "notch",
    "emitter_follower",
    "common_base",
    "cascode",
    "common_source",
    "source_follower",
    "summing_amplifier",
    "attenuator",
    "matching_network",
    "zener_regulator",
    "series_regulator",
    "adjustable_regulator",
    "current_mirror",
    "integrator",
    "common_gate",
    "mos_cascode",
    "active_load_stage",
    "mos_current_mirror",
    "differential_pair",
    "two_stage_opamp",
    "telescopic_opamp",
    "folded_cascode",
    "mos_inverter",
    "cmos_gate",
    "level_shifter",
    "ring_oscillator",
    "phase_shift_oscillator",
    "colpitts_oscillator",
    "multiple_feedback",
    "hartley_oscillator",
    "clapp_oscillator",
    "pierce_oscillator",
    "state_variable",
    "ldo_regulator",
    "lc_band_ladder",
    "rectifier",
    "current_source",
    "bandgap_reference",
    "vbe_multiplier",
    "charge_pump",
    "rc_snubber",
    "led_driver",
    "class_ab_stage",
    "class_a_stage",
    "pll_loop_filter",
    "load_switch",
    "rcd_clamp",
    "monostable",
    "bidirectional_level_shifter",
    "high_side_switch",
    "reverse_protection",
    "bjt_differential_pair",
)
"""The modules of the families, in the order in which they are asked."""


def families_of(modules: Sequence[str]) -> Mapping[str, DeclaredFamily]:
    """The families of these modules, by their keys."""
    declared = (import_module(f"domain.design.families.{name}").FAMILY for name in modules)
    return MappingProxyType({family.key: DeclaredFamily(family) for family in declared})


FAMILIES = families_of(_MODULES)

_NEGATION = (
    r"(?:\bnot?\b|\bwithout\b|\bno\b|instead of|rather than|n['’]t (?:want|need|have|like)(?: to use)?|"
    r"不要|不用|不想|不打算|别用|"
    r"而不是|不是|非)(?:\s+(?:an?|the|any|use|using))?\s*(?:使用|采用|"
    r"用)?\s*$"
)

_FILE_NAME = re.compile(
    r"[\w./\\-]+\.(?:cir|net|sp|spice|ckt|lib|inc|mod|asc|raw)(?![a-z0-9])", re.IGNORECASE
)
"""A file that is named (buck.cir) is no wish for the circuit it is named after."""

_RULED_OUT = re.compile(
    r"(?:instead of|rather than|n['’]t (?:want|have|like)(?: to (?:use|buy))?|"
    r"不(?:想|打算|要|准备)?(?:再)?[用买]|别[用买])(?: an?| the| my| any)?\s*"
    r"(?:现成的?)?[A-Za-z]{0,3}\d{3,5}[A-Za-z]{0,2}(?![\w.])(?:\s?(?:芯片|稳压器|ics?|chips?|regulators?))?"
    r"|(?<![\w.])[A-Za-z]{1,3}\d{3,5}[A-Za-z]{0,2}(?:(?: is|['’]s| are) (?:far |much |way )?too|\s?太)"
    r"\s?(?:expensive|dear|costly|pric(?:e?y|ed)|贵)"
    r"|\bnot (?:just|only|merely|simply) an? "
    r"(?:simple |plain |passive )?r-?[cl](?: (?:filter|network|circuit))?"
    r"(?![a-z])|不(?:只|仅仅?|光)是?(?:简单的?)?r[cl](?:滤波器?)?",
    re.IGNORECASE,
)
"""A type that is not to be used."""
_PART_NUMBER = re.compile(r"(?<![A-Za-z\d])[A-Za-z]{0,3}\d{3,5}[A-Za-z]{0,2}")
_NEIGHBOR_BEFORE = re.compile(
    r"(?:\b(?:after|behind|before|in front of|following|feeding|ahead of)\s+"
    r"(?:my|the|an?|our)?\s*(?:\w+\s){0,2}|"
    r"(?:接在|放在|加在|用在|送给|送入|驱动|后面接|前面接))$",
    re.IGNORECASE,
)
_NEIGHBOR_BEHIND = re.compile(
    r"\s*(?:的|电路|板)?(?:后[面级端]|前[面级端]|之[后前]|(?:的)?输出端)|\s+"
    r"(?:output|front[\s-]?end|board)\b(?! stage)",
    re.IGNORECASE,
)
"""What stands beside the circuit that is asked for."""
_PURPOSE = re.compile(
    r"(?:\bas|\bdriv(?:es?|ing)|\bfeeding|当作?|作为?|用作)\s*(?:an?|the|my)?\s*(?:\w+\s)?$",
    re.IGNORECASE,
)
_DRIVES = re.compile(r"(?:driv(?:es?|ing)|feed(?:s|ing)?|power(?:s|ing)|驱动)(?![a-z])", re.IGNORECASE)
"""What a circuit that is named before is for."""
_GUESSED = 0.65
"""How surely a conversion of voltages alone means a converter: what a sentence describes is surer."""
_PLAUSIBLE = 0.7
"""How surely words that many circuits share mean the usual one: three ideas of another are surer."""
_TELLING = 3
_DESCRIBED = 0.5
"""How surely a family is meant that a sentence describes and does not name."""
_ONE_SIDED = frozenset(("first_order", "sallen_key", "multiple_feedback", "lc_ladder"))
"""Filters that let either low or high frequencies through."""
_EXAMPLES = 3
"""That are shown with a refusal: those most like what was asked."""


def understand(text: str, known: KnownRequests | None = None) -> DesignIntent:
    """Family, requirement and goals of a request, and what of it was not read.

    What is `known` of requests is weighed against what the rules make of it; without it they decide alone.
    Raises CircuitError: "unknown_circuit" (with the list of what is known), "missing_goal" (a value it cannot
    do without) or "impossible_goal" (demands that contradict each other or physics).
    """
    intent = _understood(text, known)
    family = FAMILIES[intent.family].family

    def asks_the_same(rest: str) -> bool:
        try:
            other = _understood(rest, known)
        except CircuitError:
            return False
        return other.family == intent.family and other.parameters == intent.parameters

    request = Request(intent.parameters)
    unread = [not_read(wish, family, request) for wish in unread_wishes(text, asks_the_same)]
    told = [note for note in unread if note is not None]
    left = [note for note in intent.assumptions if is_not_understood(note)]
    others = [note for note in intent.assumptions if not is_not_understood(note)]
    also = () if not left and all(map(has_example, told)) else also_asked(family, request)
    return replace(intent, assumptions=(*told, *left, *also, *others))


def _understood(text: str, known: KnownRequests | None) -> DesignIntent:
    if len(text) > LONGEST_REQUEST:
        raise _unknown(
            msg(
                "The request has {count} characters; the built-in designer reads at most {most}.",
                count=len(text),
                most=LONGEST_REQUEST,
            ),
            Sentence(text="", mentions=(), links=(), language="en"),
        )
    said, text = text, simplified(text)
    sentence, cards, plain = as_read(text)
    ruled = _by_rules(sentence, cards)
    if known is not None and not is_bare_conversion(sentence):  # of figures alone nothing is learnt
        outcome = weighed(text, sentence, ruled, families=FAMILIES, known=known, cards=cards)
    else:
        outcome = ruled.outcome
    if isinstance(outcome, CircuitError):
        raise outcome
    told = tuple(
        msg("{part} is not used, as asked.", part=part[0].upper())
        for found in _RULED_OUT.finditer(plain)
        for part in _PART_NUMBER.finditer(found[0])
    )
    goals = with_words(outcome.goals, sentence, said)
    return replace(outcome, goals=goals, assumptions=(*outcome.assumptions, *told))


def found_by_rules(text: str) -> Set[str]:
    """What the rules find in a text, as features to learn of."""
    return rule_features(*_chosen(as_read(text)[0])[:4])


def as_read(text: str) -> tuple[Sentence, Mapping[str, str] | None, str]:
    """The sentence, the models it names, and the text without these."""
    cards, plain = cards_named(text)
    return read_sentence(last_said(_RULED_OUT.sub(" ", _FILE_NAME.sub(" ", plain)))), cards, plain


def _chosen(sentence: Sentence) -> tuple[str, Claim, frozenset[str], bool, CircuitError | None]:
    """The family the rules choose ("": none), all that are called by name, whether another circuit is that
    cannot be designed, and why none was chosen."""
    named: frozenset[str] = frozenset()
    try:
        named = frozenset(key for key, family in FAMILIES.items() if family.claim(sentence).score >= 1)
        family, claim = choose_family(sentence)
    except CircuitError as error:
        return "", Claim(score=0.0), named, _names_another(sentence), error
    return family.key, claim, named, False, None


def _by_rules(sentence: Sentence, cards: Mapping[str, str] | None) -> Ruled:
    key, claim, named, is_other, error = _chosen(sentence)
    if error is not None:
        return Ruled("", claim, error, error, named, is_other)
    refusal = _unclaimed(sentence)
    try:
        return Ruled(key, claim, FAMILIES[key].understand(sentence, claim, cards), refusal, named)
    except CircuitError as refused:
        return Ruled(key, claim, refused, refusal, named)


def called(family: str, metric: str) -> Message | str:
    """What a goal of a circuit of ours is called; its own name where it is none of the family's."""
    return FAMILIES[family].labels.get(metric, metric) if family in FAMILIES else metric


def follow(intent: DesignIntent, goals: Sequence[DesignGoal]) -> DesignIntent:
    """The intent with the goals a person confirmed, and with what it is sized for changed with them."""
    family = FAMILIES.get(intent.family)
    return replace(intent, goals=tuple(goals)) if family is None else family.follow(intent, goals)


def demanded(intent: DesignIntent, text: str) -> tuple[DesignIntent, tuple[Message, ...]] | None:
    """The intent with what a sentence demands of it beside its goals, and what has to be told of that.

    That is nothing where it is so already. None when it demands nothing.

    Raises CircuitError ("impossible_goal", "unknown_circuit") for what cannot be.
    """
    family = FAMILIES.get(intent.family)
    return None if family is None else family.demanded(intent, as_read(text)[0])


def words_of_quantities(intent: DesignIntent) -> tuple[str, ...]:
    """By which words (regular expressions) a circuit of this kind is asked for."""
    family = FAMILIES.get(intent.family)
    asked = () if family is None else family.family.quantities
    return tuple(each for quantity in asked for each in (quantity.words, quantity.before) if each)


def chooses_otherwise(intent: DesignIntent, text: str) -> bool:
    """Whether a sentence names another of the ways in which such a circuit may be made than it is."""
    family = FAMILIES.get(intent.family)
    return family is not None and family.chooses_otherwise(intent, as_read(text)[0])


def told_without_figure(intent: DesignIntent, text: str) -> Message | None:
    """How a wish that has no figure could be asked of a design; None where a text is no such wish."""
    family = FAMILIES.get(intent.family)
    return None if family is None else told_of_wish(text, family.family, Request(intent.parameters))


def propose(intent: DesignIntent, say: Say, tables: Tables = NO_TABLES) -> Proposal:
    """The first shot, by design equations and, of named model cards, by their tables.

    Raises CircuitError ("impossible_goal", "unknown_circuit"), TablesNeeded for a table that is not there.
    """
    family = FAMILIES.get(intent.family)
    if family is None:
        raise CircuitError(
            msg("A language model began this design; the built-in designer has no equations for it."),
            advice=msg("Choose a language model again, or describe a new circuit."),
            error_type="unknown_circuit",
        )
    return family.propose(intent, say, tables)


def revise(
    intent: DesignIntent, previous: Proposal, verdicts: Sequence[GoalVerdict], say: Say,
    tables: Tables = NO_TABLES,
) -> Proposal | None:  # fmt: skip
    """The circuit corrected by what was measured, or None when nothing is left to try.

    Raises TablesNeeded, as `propose`.
    """
    try:
        return FAMILIES[intent.family].revise(intent, previous, verdicts, say, tables)
    except CircuitError:
        return None  # the corrected aim is beyond what parts can do: the miss is the answer


def choose_family(sentence: Sentence) -> tuple[DeclaredFamily, Claim]:
    """The family that claims a sentence. Raises CircuitError ("unknown_circuit") naming what is known."""
    each_claim = {key: family.claim(sentence) for key, family in FAMILIES.items()}
    if (
        "wide_band_pass" in each_claim and each_claim["wide_band_pass"].score >= 1
    ):  # with two edges it is no filter of one
        each_claim |= dict.fromkeys(_ONE_SIDED, Claim(score=0.0))
    meant = _described(sentence, each_claim)
    if meant is None:
        _refuse_by_name(sentence, each_claim)
    claims = sorted(
        ((claim, FAMILIES[key]) for key, claim in each_claim.items()), key=lambda pair: -pair[0].score
    )
    best, family = claims[0]
    is_no_filter = best.score >= 1 and family.key not in _ONE_SIDED
    has_both = is_no_filter or any(choice.name == "output" for choice in family.family.choices)
    if sentence.has(LETS_LOWS_THROUGH) and sentence.has(LETS_HIGHS_THROUGH) and not has_both:
        raise _unknown(
            msg("The request names both a low-pass and a high-pass: only one filter is designed at a time."),
            sentence,
        )
    if meant is not None:
        return meant, Claim(score=_DESCRIBED, assumptions=(wording.not_named(meant.family.one),))
    if best.score <= 0:
        raise _unclaimed(sentence)
    if len(claims) > 1 and claims[1][0].score == best.score:
        tied = [other for claim, other in claims if claim.score == best.score]
        if len(meant_ones := _named_for_itself(sentence, tied)) == 1:
            only = meant_ones[0]
            return only, each_claim[only.key]
        raise _unknown(msg("The request names more than one circuit: ask for one at a time."), sentence)
    return family, best


def _named_for_itself(sentence: Sentence, families: Sequence[DeclaredFamily]) -> list[DeclaredFamily]:
    """Of families a sentence names those it asks for: not ruled out, not what the circuit is for or drives,
    and not part of a longer name."""
    spans = {family.key: list(family.names_in(sentence)) for family in families}

    def is_own(family: DeclaredFamily, start: int, end: int) -> bool:
        before = sentence.text[:start]
        if re.search(_NEGATION, before, re.IGNORECASE) or _NEIGHBOR_BEFORE.search(before):
            return False
        if _PURPOSE.search(before) or (start and _DRIVES.match(sentence.text, start)):
            return False
        return not any(
            (other_start < end and start < other_end) and other_end - other_start > end - start
            for other in families
            if other is not family
            for other_start, other_end in spans[other.key]
        )

    return [family for family in families if any(is_own(family, *span) for span in spans[family.key])]


def _described(sentence: Sentence, claims: Mapping[str, Claim]) -> DeclaredFamily | None:
    """The family a sentence describes, where it calls none by name; nothing that is known by another name
    and not designed is taken for it."""
    surest = max(claim.score for claim in claims.values())
    if surest > _PLAUSIBLE or is_bare_conversion(sentence):
        return None
    key = described(sentence, FAMILIES, least=_TELLING if surest > _GUESSED else 1)
    if not key or _names_another(sentence) or sentence.has(FAMILIES[key].family.words.excludes):
        return None
    return FAMILIES[key]


def _names_another(sentence: Sentence) -> bool:
    """Whether a sentence names a circuit that is known and not designed."""
    return any(not (row.is_general or row.family) and _says(sentence, row.words, ()) for row in NOT_DESIGNED)


def named_in(text: str) -> set[str]:
    """Keys of the families a text calls by name."""
    sentence = read_sentence(text)
    return {key for key, family in FAMILIES.items() if family.claim(sentence).score >= 1}


def _refuse_by_name(sentence: Sentence, claims: Mapping[str, Claim]) -> None:
    """Raises CircuitError for a circuit that is known by name but not designed."""
    ours = [span for family in FAMILIES.values() for span in family.names_in(sentence)]
    is_named = any(claim.score >= 1 for claim in claims.values())
    for row in NOT_DESIGNED:
        if (row.is_general and is_named) or not _says(sentence, row.words, ours):
            continue
        ours_too = [FAMILIES[key] for key in row.family.split() if key in FAMILIES]
        if not ours_too:
            raise _unknown(
                msg("The built-in designer cannot design {circuit} yet.", circuit=row.what), sentence
            )
        if all(claims[family.key].score <= 0 for family in ours_too):
            raise _unknown(
                msg(
                    "The request does not give enough information for {circuit}. Follow this example: "
                    "{example}.",
                    circuit=row.what,
                    example=ours_too[0].examples[sentence.language],
                ),
                sentence,
            )


def _says(sentence: Sentence, pattern: str, ours: Sequence[tuple[int, int]]) -> bool:
    """Whether a circuit is named: not only to rule it out ("no op amp", "不要带通"), and not within the name
    of one of ours (the amplifier of an inverting amplifier)."""
    return any(
        not re.search(_NEGATION, sentence.text[: match.start()], re.IGNORECASE)
        and not _NEIGHBOR_BEFORE.search(sentence.text[: match.start()])
        and not _NEIGHBOR_BEHIND.match(sentence.text, match.end())
        and not any(start <= match.start() and match.end() <= end for start, end in ours)
        for match in in_any_case(pattern).finditer(sentence.text)
    )


def _unclaimed(sentence: Sentence) -> CircuitError:
    order = order_of(sentence)
    if sentence.has(FILTER_WORDS) and order is not None and order > 1:
        return _unknown(
            msg(
                "For order {order}, only active Sallen-Key filters and LC ladders are supported: name "
                "one of them.",
                order=order,
            ),
            sentence,
        )
    return _unknown(msg("The request does not name a circuit the built-in designer supports."), sentence)


def _unknown(message: Message, sentence: Sentence) -> CircuitError:
    from rapidfuzz import fuzz, process

    ours = [family.examples[sentence.language] for family in FAMILIES.values()]
    nearest = process.extract(sentence.text, ours, scorer=fuzz.partial_token_set_ratio, limit=_EXAMPLES)
    examples = " | ".join(example for example, _, _ in nearest)
    return CircuitError(
        message,
        advice=msg(
            "It designs: {circuits}. For example: {examples}. Other circuits need a language model: choose "
            "one below the message box of the window, or on the command line by `chat` and `providers`.",
            circuits=abilities(),
            examples=examples,
        ),
        error_type="unknown_circuit",
    )


def abilities() -> Message:
    """What can be designed, as a list in one message."""
    return joined([family.name for family in FAMILIES.values()])
