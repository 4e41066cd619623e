"""A sentence read by the rows of a family: quantities, choices, defaults; what is missing is asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

from domain.circuit.figures import digits_apart
from domain.design import quantity_words
from domain.design.engine import wording
from domain.design.engine.decibels import IN_DB, said_in_decibels, with_shares
from domain.design.engine.declaration import (
    DERIVED,
    LOAD,
    SERIES,
    SERIES_FOR_ALL,
    STATED,
    Choice,
    Family,
    Option,
    Quantity,
    Request,
    Said,
)
from domain.design.engine.device_cards import CARDS
from domain.design.engine.library_parts import judge_parts
from domain.design.engine.other_quantities import knows_steps, without_other_quantities
from domain.design.quantity_words import ROLES
from domain.design.ratios import with_ratio
from domain.design.sentence import Mention, Sentence, in_any_case
from domain.design.understanding import Filled, fill_slots, is_not_understood, left_out, not_understood
from shared.errors import CircuitError
from shared.message import Message

_EITHER = (
    r"(?:not|n['’]t) (?:mind|care|matter)|(?<![a-z])either|whichever|都行|都可以|随便|随意|任选|无所谓|均可"
)
"""That any of the ways that are named will do."""
_OTHER_TRANSISTOR = re.compile(
    r"(?<![A-Za-z0-9_.])(?:ss?)?(?:901[0-8]|8050|8550)(?:[a-d](?![a-z]))?"
    r"(?![\d.]|\s?[kmunp]?(?:hz|v|a|ohms?|f|h|w|db)(?![a-z])|\s?[%Ω欧伏安赫])",
    re.IGNORECASE,
)
"""The usual small transistors of the Chinese market, by their bare numbers: none is in the model library."""
_LEAST_LOAD = 10.0
"""Of a number without a unit: less counts something."""
_LOAD_BEFORE = re.compile(
    rf"(?:{quantity_words.LOAD})(?:\s?(?:resist\w+|电阻|阻抗|of|is|at|=|:|为|是|约|an?))*\s*$", re.IGNORECASE
)
_LOAD_BEHIND = re.compile(r"\s?(?:ohms? )?(?:loads?(?![a-z])|的?负载)", re.IGNORECASE)
_GRADE = re.compile(
    r"(?P<percent>\d+(?:\.\d+)?)\s?%\s?(?:tolerance |precision |精度的?|误差的?|的)?"
    r"(?P<part>resistors?(?![a-z])|parts?(?![a-z])|components?(?![a-z])|电阻|元件)",
    re.IGNORECASE,
)
"""Parts by their precision, which is that of a series."""
_SERIES_OF_GRADE = ((0.5, "E192"), (1.99, "E96"), (9.99, "E24"), (19.9, "E12"), (math.inf, "E6"))
_NO_LOAD = (
    r"(?:remove|drop|delete|without|no|take (?:off|away)|disconnect) (?:the |any |its )?load(?![a-z])|"
    r"(?:去掉|不[要接带]|拿掉|断开|删掉)负载|空载"
)
_DENIES = r"(?<![a-z])(?:no|not|without|never|don['’]?t|avoid)(?![a-z])|不[要用]|别|去掉|没有"
"""With it a part or a kind that is named may be what is not wanted."""
_BARE = 2
"""Words of what is hardly more than a figure."""
_SHARE = "_share"
"""Behind the name of a quantity: its part of another one."""
_TRIAL = r"(?<![a-z])(?:step|transient|surge|pulse)s?(?![a-z])|阶跃|瞬态|突变"
"""What is to be tried on the circuit, and is no demand of it."""
_WANTS = (
    r"(?<![a-z])(?:needs?|wants?|make it|should|must|ha(?:s|ve) to|use|give|set|change|deliver|"
    r"suppl(?:y|ies)|provide|handle|able to|put|add|fit)(?![a-z])|^\W*(?:but |and )?with(?![a-z])|[要用改设]"
)
_SERIES = re.compile(
    r"(?P<before>resistors?(?![a-z])[^\d,;.]{0,16}|电阻[^\d,;。]{0,6})?"
    r"(?<![a-z0-9])e(?P<count>3|6|12|24|48|96|192)(?!\d)(?:[\s-]?series)?"
    r"(?P<resistors>[\s-]?(?:standard )?resist|(?:系列)?的?电阻)?",
    re.IGNORECASE,
)
"""An E-series; of resistors alone where they are named behind it."""


def read(
    family: Family, sentence: Sentence, cards: Mapping[str, str] | None = None
) -> tuple[Request, tuple[Message, ...]]:
    """What was asked, complete, and what has to be told about it; `cards`: the MOSFET models that were named.

    Raises CircuitError.
    """
    for words, reason, instead in family.words.refuses:
        if sentence.has(words):
            raise CircuitError(reason, advice=instead, error_type="unknown_circuit")
    for quantity in family.quantities:
        if quantity.ratio is not None:
            sentence = with_ratio(sentence, quantity, *quantity.ratio, quantity.dimensions[0])
    parts = judge_parts(family, sentence)
    sentence = with_shares(family, sentence)
    sentence, others = without_other_quantities(family, sentence)
    sentence, loads, load = without_load(family, sentence)
    said = said_of(family, sentence)
    values = {**said.values, **series_in(sentence), **load}
    if in_db := said_in_decibels(family, sentence, said.values):
        values[IN_DB] = in_db
    if cards is not None:
        values[CARDS] = dict(cards)
    stated = set(said.stated)
    notes = [*parts, *others, *said.notes, *left_out(loads)]
    for quantity in family.quantities:
        values.setdefault(quantity.name, None)
    for choice in family.choices:
        if choice.name not in values and (named := _named(choice, sentence)) is not None:
            values[choice.name] = named.key
            stated.add(choice.name)
    notes += suggest_choices(family, values)
    if any(choice.name == "transistor" for choice in family.choices):
        notes += [not_understood(found[0]) for found in _OTHER_TRANSISTOR.finditer(sentence.text)]
    values[STATED] = sorted(stated)
    # What was said is judged before anything is concluded from it.
    refuse_out_of_range(family, values)
    follows = completed(family, values)
    notes += follows.notes
    notes += fill_in(family, values)
    refuse_out_of_range(family, values)
    request = Request(values)
    notes += family.judge(request)
    return request, tuple(notes)


def suggest_choices(family: Family, values: dict[str, Any]) -> list[Message]:
    """Choose what nobody chose by what was said; what has to be told of that."""
    told = []
    for choice in family.choices:
        if values.get(choice.name) is None:
            option = _suggested(choice, values)
            values[choice.name] = (option or choice.options[0]).key
            if option is not None and choice.is_told:
                told.append(wording.assumed(choice.label, option.label))
    return told


def completed(family: Family, values: dict[str, Any]) -> Said:
    """Add to `values` what follows from them, and which that was. Raises CircuitError."""
    follows = family.complete(Request(values))
    stated = {*values.get(STATED, ()), *follows.stated}
    values[DERIVED] = sorted(
        name
        for name, value in follows.values.items()
        if value is not None and values.get(name) is None and name not in stated
    )
    values |= follows.values
    values[STATED] = sorted(stated)
    return follows


def read_quantities(
    quantities: tuple[Quantity, ...], sentence: Sentence
) -> tuple[dict[str, float], tuple[Mention, ...]]:
    """The numbers of a sentence by quantity, and those no quantity took. Raises CircuitError."""
    filled = fill_slots(sentence, quantities)
    refuse_doubled(quantities, filled)
    found = {
        quantity.name: number(quantity, filled.values[quantity.name])
        for quantity in quantities
        if quantity.name in filled.values
    }
    return found, (*filled.unused, *_other_ends(quantities, filled))


def _other_ends(quantities: Sequence[Quantity], filled: Filled) -> Iterator[Mention]:
    """Of a range that a limit took, the end that had no effect: `1 kHz to 100 kHz` as a lower corner."""
    for quantity in quantities:
        mention = filled.values.get(quantity.name)
        if quantity.limit and mention is not None and mention.upper is not None:
            other = mention.upper if quantity.limit == "at_most" else mention.value
            yield replace(mention, value=other, upper=None, text=quantity.text(other))


def refuse_doubled(quantities: Sequence[Quantity], filled: Filled) -> None:
    """Raises CircuitError ("missing_goal") where two numbers could as well be the same quantity."""
    labels = {quantity.name: quantity.label for quantity in quantities}
    for name, taken, other in (*filled.doubled, *_left_of_required(quantities, filled)):
        if name in labels:
            raise wording.which_of_two(labels[name], taken.text, other.text)


def _left_of_required(
    quantities: Sequence[Quantity], filled: Filled
) -> Iterator[tuple[str, Mention, Mention]]:
    """A number left over that could be nothing but what was asked for, and is taken."""
    for mention in filled.unused:
        if mention in filled.surroundings:
            continue
        may_be = [quantity for quantity in quantities if mention.dimension in quantity.dimensions]
        if len(may_be) == 1 and may_be[0].required and may_be[0].name in filled.values:
            yield may_be[0].name, filled.values[may_be[0].name], mention


def number(quantity: Quantity, mention: Mention) -> float:
    """A number in the quantity's own unit. Raises CircuitError for a bound on the wrong side."""
    if quantity.limit and mention.bound not in (None, quantity.limit) and not mention.is_soft:
        raise wording.wrong_limit(
            quantity.label, quantity.text(quantity.example), is_lower=quantity.limit == "at_least"
        )
    if quantity.is_span and mention.upper is not None:
        return mention.upper - mention.value
    if quantity.is_span and mention.is_tolerance:  # ±2 V
        return 2 * abs(mention.value)
    if quantity.is_peak and (mention.is_peak_to_peak or (mention.upper or 0.0) > 0 > mention.value):
        return abs(mention.value if mention.upper is None else mention.upper - mention.value) / 2
    if quantity.is_peak and mention.is_rms:
        return abs(mention.middle) * math.sqrt(2)
    value = mention.middle
    if mention.upper is not None and quantity.limit:  # what has to hold over all of it
        value = mention.value if quantity.limit == "at_most" else mention.upper
    if mention.dimension == "dB" and "x" in quantity.dimensions:
        return float(10 ** (value / 20))
    return value if quantity.has_sign else abs(value)


def refuse_out_of_range(family: Family, values: Mapping[str, Any]) -> None:
    """Raises CircuitError for the first quantity beyond what can be designed."""
    for quantity in family.quantities:
        value = values.get(quantity.name)
        if value is None:
            continue
        if quantity.is_whole and value != int(value):
            raise wording.not_whole(quantity.label, quantity.text(value), quantity.text(quantity.example))
        refuse_beyond(quantity, value, *quantity.within)


def refuse_beyond(quantity: Quantity, value: float, low: float, high: float) -> None:
    """Raises CircuitError for a value that is not between two others."""
    if not low - 1e-9 * abs(low) <= value <= high + 1e-9 * abs(high):
        digits = digits_apart(value, (low, high), quantity.text)
        given, least, most = (quantity.text(each, digits) for each in (value, low, high))
        raise wording.out_of_range(quantity.label, given, least, most, quantity.text(quantity.example))


def series_in(sentence: Sentence) -> dict[str, Any]:
    """The E-series that a sentence names, as parameters."""
    if (grade := _GRADE.search(sentence.text)) is not None:
        series = next(name for most, name in _SERIES_OF_GRADE if float(grade["percent"]) <= most)
        return {SERIES: series, SERIES_FOR_ALL: not grade["part"].lower().startswith(("r", "电阻"))}
    found = _SERIES.search(sentence.text)
    if found is None:
        return {}
    return {SERIES: f"E{found['count']}", SERIES_FOR_ALL: not (found["resistors"] or found["before"])}


def _without_grade(sentence: Sentence) -> Sentence:
    """Of what precision its parts are ("1% resistors") is no tolerance of the circuit."""
    grade = _GRADE.search(sentence.text)
    if grade is None:
        return sentence
    start, end = grade.span()
    return replace(
        sentence, mentions=tuple(each for each in sentence.mentions if not start <= each.start < end)
    )


def without_load(
    family: Family, sentence: Sentence
) -> tuple[Sentence, tuple[Mention, ...], dict[str, float]]:
    """What a load is said to have is nothing else of a circuit whose equations know none.

    One at its output is a parameter; of a circuit that has no such output, and of several, the mentions are
    left over.
    """
    words = [each.words for each in family.quantities if each.words]
    if any(re.search(each, load) for each in words for load in ("load", "负载")):
        return sentence, (), {}
    text = sentence.text
    loads = tuple(
        each
        for each in sentence.mentions
        if (each.dimension == "Ohm" or (each.dimension == "none" and each.value >= _LEAST_LOAD))
        and (_LOAD_BEFORE.search(text[: each.start]) or _LOAD_BEHIND.match(text[each.end :]))
    )
    if not loads:
        return sentence, (), {}
    rest = replace(sentence, mentions=tuple(each for each in sentence.mentions if each not in loads))
    if len(loads) > 1 or not family.output or loads[0].value <= 0:
        return rest, loads, {}
    return rest, (), {LOAD: loads[0].middle}


def said_of(family: Family, sentence: Sentence) -> Said:
    """What a sentence says, by the family's own reading where it has one. Raises CircuitError."""
    if family.says is not None:
        return family.says(sentence)
    found, unused = read_quantities(family.quantities, sentence)
    return Said(values=found, stated=frozenset(found), notes=left_out(unused))


def demands_in(family: Family, sentence: Sentence, known: Request) -> dict[str, Any]:
    """What a sentence demands of a design that is there, beside all that is known of it; {} when it says
    anything else, or of anything only its unit.

    Raises CircuitError for what cannot be, and for a part that the library lacks.
    """
    if judge_parts(family, sentence):
        return {}
    sentence, loads, load = without_load(family, _without_grade(sentence))
    said, silent = said_of(family, sentence), _says_of_nothing(family, sentence)
    is_trial = sentence.has(_TRIAL) and not knows_steps(family)
    if loads or is_trial or any(map(is_not_understood, said.notes)):
        return {}
    found = {
        name: value
        for name, value in said.values.items()
        if value is not None and (name in said.stated or value != silent.get(name))
        if not (name == "kind" and wording.KIND_ASSUMED in said.notes)
    }
    by_name = {quantity.name: quantity for quantity in family.quantities}
    for share in [name for name in found if name.removesuffix(_SHARE) in by_name and name.endswith(_SHARE)]:
        found[share.removesuffix(_SHARE)] = None  # follows from the share
    if any(
        found.get(name) is not None and name in by_name and not _is_named(family, by_name[name], sentence)
        for name in found
    ):
        return {}
    for choice in () if sentence.has(_DENIES) else family.choices:
        by_words = tuple(each for each in choice.options if not in_any_case(each.words).search(""))
        if (option := _named(replace(choice, options=by_words), sentence)) is not None:
            if option.elsewhere and sentence.has(option.elsewhere):
                return {}
            found[choice.name] = option.key
    found |= load
    if not load and LOAD in known and sentence.has(_NO_LOAD):
        found[LOAD] = None
    if series := series_in(sentence):
        own = {"resistor_series": series[SERIES]} if "resistor_series" in known else {}
        found |= {**series, **own}
    refuse_out_of_range(family, found)
    return found


def _says_of_nothing(family: Family, sentence: Sentence) -> Mapping[str, Any]:
    """What the family's reading makes of a sentence that says nothing."""
    try:
        return said_of(family, replace(sentence, text="", mentions=(), links=())).values
    except CircuitError:
        return {}


def _is_named(family: Family, quantity: Quantity, sentence: Sentence) -> bool:
    """Whether a sentence has words for a quantity that takes a number by its unit alone, or it is what the
    circuit is asked for by, or the only one with its unit, and something is wanted."""
    has_unit = any(each.dimension in quantity.dimensions for each in sentence.mentions)
    is_wanted = sentence.has(_WANTS) or len(sentence.text.split()) <= _BARE
    by_unit = (set(each.dimensions) for each in family.quantities if each.takes_rest)
    if sum(bool(units & set(quantity.dimensions)) for units in by_unit) == 1 and has_unit and is_wanted:
        return True
    role = ROLES.get(quantity.name)
    words = [quantity.words, quantity.before, quantity.after, role and role.before, role and role.after]
    return quantity.required or not quantity.takes_rest or any(each and sentence.has(each) for each in words)


def _named(choice: Choice, sentence: Sentence) -> Option | None:
    named = [option for option in choice.options if sentence.has(option.words)]
    if len(named) > 1 and (sentence.has(_EITHER) or _is_either(named, sentence)):
        return None
    if len(named) > 1:
        raise wording.both(choice.label, named[0].label, named[1].label)
    return named[0] if named else None


def _is_either(options: Sequence[Option], sentence: Sentence) -> bool:
    """`BJT/MOS`, `NPN or NMOS`: any of them will do."""
    return any(
        sentence.has(rf"(?:{one.words})\w*\s?(?:/|or|或者?)\s?(?:an? )?(?:{other.words})")
        for one, other in permutations(options, 2)
    )


def _suggested(choice: Choice, values: Mapping[str, Any]) -> Option | None:
    if choice.default is None:
        return choice.options[0]
    key = choice.default(Request(values))
    return next((option for option in choice.options if option.key == key), None)


def fill_in(family: Family, values: dict[str, Any]) -> list[Message]:
    """Give what was not said its default; what has to be told of that. Raises CircuitError without one."""
    told = []
    for quantity in family.quantities:
        if values[quantity.name] is not None:
            continue
        if quantity.default is None:
            if quantity.required:
                raise wording.missing(quantity.label, quantity.text(quantity.example))
            continue
        default = quantity.default
        value = default(Request(values)) if callable(default) else default
        values[quantity.name] = value
        if quantity.is_told and value is not None:
            told.append(wording.assumed(quantity.label, quantity.text(value)))
    return told
