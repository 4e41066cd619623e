"""A sentence about a circuit, read: its figures, elements, nodes and quantities, and what each is there.

What is asked of them is not known yet (questions.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from domain.design.sentence import Bound, Mention, read_sentence
from infrastructure.llm_adapters.builtin.figures import FIGURES, number
from infrastructure.llm_adapters.builtin.words import (
    ANY_CASE,
    AT_HEAT,
    BY_KIND,
    CLAUSE,
    COUNTS,
    DEGREES,
    DEGREES_TO,
    DOWN,
    DROPOUT,
    FILLER,
    FULL_NODE_FIGURE,
    HEATS,
    INDEFINITE,
    JUST_BEFORE,
    JUST_BEHIND,
    KEPT,
    KIND_LETTERS,
    LETTERS,
    LOAD_SHARE,
    NAME,
    NAMES_A_THING,
    NEUTRAL,
    NO_NAMES,
    NODE,
    NOT_A_NODE,
    OF_FEED_BEFORE,
    OF_FEED_BEHIND,
    OF_KIND_BEHIND,
    OF_LETTER,
    OF_LOAD_BEFORE,
    OF_LOAD_BEHIND,
    OF_POWER,
    OF_SUPPLY_SHARE,
    ONLY,
    PARAMETER,
    QUESTION,
    RUNS,
    SERIES,
    SEVERAL_BEHIND,
    SEVERAL_KINDS,
    TERMS,
    THINGS,
    TIMES_A_FIGURE,
    WITHIN,
)

Intent = Literal[
    "undo", "compare", "failure", "set_goal", "check_goals", "find_part", "count", "monte_carlo",
    "worst_case", "sweep", "limits", "tune", "conduction", "what_if", "losses", "across",
    "swap", "stimulus", "output_impedance",
    "point", "role", "supply", "ports", "node", "voltage",
    "current", "power", "figure",
    "battery", "clipping", "plot", "supply_rejection", "load_step", "dropout", "restore", "corners",
]  # fmt: skip
Way = Literal["raise", "lower", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question about a circuit, or a wish."""

    intent: Intent
    file: str = ""
    """"" = the circuit that is meant."""
    figures: tuple[str, ...] = ()
    """Keys of `FIGURES`."""
    names: tuple[str, ...] = ()
    """What may be elements, as written."""
    nodes: tuple[str, ...] = ()
    at: float | None = None
    """A place of the axis: Hz or s."""
    at_unit: str = ""
    value: float | None = None
    """What a figure has to come to, or be at most or at least (SI)."""
    upper: float | None = None
    unit: str = ""
    bound: Bound | None = None
    span: tuple[float, float] | None = None
    """From where to where a part or the temperature is swept."""
    tolerances: tuple[tuple[str, float], ...] = ()
    """(letter of the element or "", share)."""
    runs: int | None = None
    numbered: tuple[int, ...] = ()
    """Runs that are there, by their numbers."""
    parameters: tuple[tuple[str, str], ...] = ()
    """Values for the runs of this question, ``temp`` too."""
    way: Way = ""
    is_yield: bool = False
    query: str = ""
    kept: tuple[str, ...] = ()
    """What is not to change: letters of elements (``c``), elements, or figures as `figure:gain`."""
    only: tuple[str, ...] = ()
    """Letters of the only elements that may change."""
    share: float | None = None
    """The aim as a share of the supply."""
    writes: bool = True
    """Not where only the value is asked for that would do."""
    removed: tuple[str, ...] = ()
    """Elements to be tried without; ``it`` is the one spoken of."""
    also: tuple[float, ...] = ()
    """Further places of the axis: "at 1k and 100k"."""
    points: tuple[float, ...] = ()
    """Temperatures or values of a part that are run one by one: "at -40, 27 and 125 C"."""
    series: str = ""
    """The preferred values of resistors, as ``E24``."""
    near: float | None = None
    """The share of its nominal value within which a figure counts as good."""
    room: float | None = None
    """How far a figure in decibels may be from its nominal value."""
    is_bare: bool = False
    """Only hertz were said: of a filter its cut-off is meant, of an oscillator its frequency."""
    unanswered: str = ""
    """What else the sentence says, that was not understood."""
    is_nearest: bool = False
    """It is only the nearest thing known to what the sentence asks."""
    is_change: bool = False
    """The value is by how much the figure is to change, the way whither: "6 dB more gain"."""
    besides: tuple[Ask, ...] = ()
    """Figures that have to keep a bound of their own where one is to be something."""
    place: str = ""
    """The figure whose frequency is the place: "phase at the cut-off"."""


PLACE_UNITS = ("Hz", "s")
_NO_VALUES = frozenset({"Hz", "s", "dB", "deg"})
"""What no part has as its value: "looking into CIN at 1 kHz"."""
NO_GAIN = 1e3
"""A bare number from which on it is the value of a part, not a factor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A sentence, read."""

    text: str
    """Normalised, without the file."""
    ask: Ask
    """What it holds; its intent is not known yet."""
    mentions: tuple[Mention, ...]
    left: str
    """The text without the words of its figures."""
    asides: tuple[str, ...] = ()
    """Figures of parts (`Figure.is_aside`)."""
    terms: tuple[tuple[int, str], ...] = ()
    """Where it names what nothing here measures; blanks stand there in `text`."""


def asks(words: Words) -> bool:
    """Whether a sentence is a question."""
    return QUESTION.search(words.text) is not None


def by_kind(text: str) -> str:
    """The parts a text calls by their kind; "" for none."""
    return next((names for form, names in BY_KIND if re.search(form, text, ANY_CASE)), "")


_CELSIUS = re.compile(r"(?<=\d)\s?(?:[Dd]eg(?:rees?)?\.?\s?|°\s?)?[cC](?![A-Za-z0-9_.=])")


_AT_A_FIGURE = re.compile(r"\b(?:at|near|around)\s+(?:the|its|this|that)?\s*$|(?:在|于)\s*$", ANY_CASE)


_BEHIND_A_PLACE = re.compile(r"\s*(?:处|时|下|上|点|那里|的时候)")


@lru_cache(maxsize=256)
def read(text: str, file: str) -> Words:
    """A sentence or a clause of one, its file taken out; each is asked for by several readers."""
    text, kept = kept_in(text)
    text, only = only_in(text)
    sentence = read_sentence(_CELSIUS.sub(" °C", text))
    terms = tuple((found.start(), found[0]) for found in TERMS.finditer(sentence.text))
    plain = TERMS.sub(_blank, sentence.text)
    shares = (("load_share", "0" if share["none"] else "0.5") for share in LOAD_SHARE.finditer(plain))
    load = tuple(shares)[:1]
    plain = LOAD_SHARE.sub(_blank, plain)
    figures, left = figures_in(plain)
    figures, place = _place_in(plain, figures)
    nodes = tuple(
        name
        for found in NODE.finditer(plain)
        if (name := next(filter(None, found.groups()))).lower() not in NOT_A_NODE
    )
    names = names_in(left, nodes)
    mentions = tuple(  # "-3 dB bandwidth" has no figure of its own, nor has "Q1"
        each
        for each in sentence.mentions
        if left[each.start : each.end].strip() and not _is_in_name(left, each, names)
    )
    mentions = tuple(
        each if (own := denied_bound(plain[: each.start])) is None else replace(each, bound=own)
        for each in mentions
    )
    if factor := place.partition("*")[0] if "*" in place else "":  # "at 10x the corner" is no aim
        mentions = tuple(each for each in mentions if each.value != float(factor))
    if FULL_NODE_FIGURE.search(plain):  # v(out) names a node, not the output
        figures = tuple(key for key in figures if key != "vout")
    share = OF_SUPPLY_SHARE.search(plain)
    ask = Ask(
        intent="figure",
        file=file,
        figures=figures,
        nodes=nodes,
        names=names,
        kept=kept,
        series=f"E{series[1]}" if (series := SERIES.search(plain)) else "",
        only=only,
        place=place,
        share=None if share is None else 0.5 if share["half"] else 1 / 3,
    )
    if ask.share is not None:
        mentions = tuple(
            each for each in mentions if share is None or not share.start() <= each.start < share.end()
        )
    conditions = [
        found
        for each in mentions
        if (found := _condition(sentence.text if terms else plain, each, figures)) is not None
    ]
    for _, _, start, end in conditions:  # their words are no words of the question
        plain, left = (f"{text[:start]}{' ' * (end - start)}{text[end:]}" for text in (plain, left))
    mentions = tuple(each for each in mentions if plain[each.start : each.end].strip())
    ask = replace(ask, parameters=(*load, *((name, number(size)) for name, size, _, _ in conditions)))
    aims = [each for each in mentions if not NAMES_A_THING.match(plain, each.end)]
    ask = _with_quantities(ask, plain, aims)
    plain, left = _without_heat(plain, left, ask, mentions)
    return Words(
        text=plain,
        ask=ask,
        mentions=mentions,
        left=left,
        asides=_asides_in(left) or (("node",) if nodes else ()),
        terms=terms,
    )


def _without_heat(text: str, left: str, ask: Ask, mentions: Sequence[Mention]) -> tuple[str, str]:
    """The text without the words of a temperature the question is asked at: "rises to" is no wish then."""
    heat = dict(ask.parameters).get("temp")
    for mention in mentions:
        if heat is None or number(mention.value) != heat or mention.dimension not in ("degC", "none"):
            continue
        found = AT_HEAT.search(text[: mention.start])
        start = mention.start if found is None else found.start()
        text, left = (
            f"{each[:start]}{' ' * (mention.start - start)}{each[mention.start :]}" for each in (text, left)
        )
    return text, left


def things_in(text: str) -> tuple[str, ...]:
    """What a sentence takes to be in the circuit; not what it only supposes ("with a diode")."""
    return tuple(
        name
        for name, form, _ in THINGS
        if any(not INDEFINITE.search(text[: found.start()]) for found in re.finditer(form, text, ANY_CASE))
    )


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _is_in_name(text: str, mention: Mention, names: Sequence[str]) -> bool:
    """Whether a number is part of an element's name."""
    return any(
        found.start() < mention.start < found.end() and found[0] in names for found in NAME.finditer(text)
    )


def _place_in(text: str, figures: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The figures, and the one whose frequency is the place where the others are looked at."""
    if len(figures) == 1 and FIGURES[figures[0]].unit == "Hz" and DOWN.search(text):
        figures = ("gain", *figures)  # "how many dB down at the corner"
    if len(figures) < 2:
        return figures, ""
    for key in figures:
        found = next(iter(_COMPILED[key].finditer(text)), None)
        if FIGURES[key].unit != "Hz" or found is None:
            continue
        is_behind = _BEHIND_A_PLACE.match(text, found.end())
        before = text[: found.start()]
        times = TIMES_A_FIGURE.search(before)
        if times is not None:
            said = times["count"] or times["zh"]
            factor = COUNTS.get(said.lower()) or float(said)
            return tuple(each for each in figures if each != key), f"{factor:g}*{key}"
        if _AT_A_FIGURE.search(before) or is_behind:
            return tuple(each for each in figures if each != key), key
    return figures, ""


def kinds_in(text: str) -> tuple[str, ...]:
    """Letters of the kinds of parts, and names of parts, that a phrase speaks of."""
    letters = tuple(letter for words, letter in OF_LETTER if re.search(words, text, ANY_CASE))
    return (*letters, *names_in(text, ()))


_BARE_FREQUENCY = re.compile(r"\bfreq(?:uency)?\b|频率", ANY_CASE)


def kept_in(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without what is to stay as it is, and that: "keep Q", "without touching the capacitors"."""
    kept: list[str] = []
    for found in reversed(list(KEPT.finditer(text))):
        phrase = next(filter(None, found.groups()), "")
        figures, rest = figures_in(phrase)
        figures = figures or (("quality",) if re.search(r"(?<![A-Za-z0-9])Q(?![A-Za-z0-9])", phrase) else ())
        figures = figures or (("frequency",) if _BARE_FREQUENCY.search(phrase) else ())
        own = (*kinds_in(rest), *(f"figure:{key}" for key in figures))
        if own:
            kept += own
            text = f"{text[: found.start()]} {text[found.end() :]}"
    return text, tuple(dict.fromkeys(kept))


def only_in(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without "only the resistors", and their letter; parts that are named stay in the text."""
    found = ONLY.search(text)
    if found is None:
        return text, ()
    phrase = next(filter(None, found.groups()), "")
    letters = tuple(each for each in kinds_in(phrase) if len(each) == 1)
    if not letters or names_in(phrase, ()):
        return text, ()
    return f"{text[: found.start()]} {text[found.end() :]}", letters


_PART_NAME = re.compile(
    r"[RCL](?:load|in|out|fb|f|s|src|sense|snub|bias|tail|[a-z]|comp|osc|filt)"
    r"|[rcl](?:load|in|out|fb|src|sense|snub|bias|tail|comp|osc|filt)|[vV](?:in|cc|dd|ee|ss|ref|bat|cm)"
    r"|[iI](?:load|ref|bias|tail)"
)
"""A name in small letters: ``Rload``, ``cin``, ``vin``."""


def names_in(text: str, nodes: Sequence[str]) -> tuple[str, ...]:
    """Words that may be elements: ``R1``, ``m6.w``, ``RE``; which of them are is known to the circuit."""
    found = []
    for match in NAME.finditer(text):
        word = match[0]
        head = word.partition(".")[0]
        is_name = re.fullmatch(r"U\d{1,3}", head) is not None or (
            head[0].lower() in LETTERS
            and (
                any(sign.isdigit() for sign in head)
                or (head.isupper() and head.lower() not in FILLER | NEUTRAL and 2 <= len(head) <= 6)
                or _PART_NAME.fullmatch(head) is not None
            )
        )
        if is_name and word not in nodes and head.upper() not in NO_NAMES:
            found.append(word)
    return tuple(dict.fromkeys(found))


_LONGEST_NAMING = 80
"""Characters before a value in which its name is looked for: a long word is not gone through for each."""


def _with_quantities(ask: Ask, text: str, mentions: Sequence[Mention]) -> Ask:  # noqa: PLR0912 - one a kind
    """What the quantities of a sentence are: places, temperatures, tolerances, values, or the aim."""
    parameters = list(ask.parameters)
    tolerances: list[tuple[str, float]] = []
    is_phase = any(FIGURES[key].unit == "deg" for key in ask.figures) and HEATS.search(text) is None
    for at, mention in enumerate(mentions):
        before, after = text[: mention.start], text[mention.end :]
        degrees = mention.dimension == "degC" or (
            mention.dimension == "none" and DEGREES.match(after) and not is_phase
        )
        named = PARAMETER.search(text, max(0, mention.start - _LONGEST_NAMING), mention.start)
        if named is not None and text[: named.start(1)].endswith(("/", "*")):
            named = None  # "RC/RE1 = 33"
        if degrees:
            ask, heat = _with_heat(ask, text, mentions, at)
            parameters += heat
        elif mention.dimension == "%":
            within = WITHIN.search(text, max(0, mention.start - 16), mention.end + 4)
            if (
                within is not None
                and not _letter_before(before)
                and (ask.figures or parameters or tolerances)
                and tolerances
                and ask.near is None
            ):
                ask = replace(ask, near=mention.value)
                continue
            tolerances += [(letter, mention.value) for letter in _letters(before, after)]
        elif (named is not None and named[1] in ask.names and mention.upper is None
              and not (mention.dimension == "A" and named[1][0].lower() in "qmj")
              and mention.dimension not in _NO_VALUES):  # fmt: skip
            parameters.append((named[1], number(mention.value)))
        elif (ask.at is not None and ask.at_unit == "Hz" and ask.value is None and _is_more(before)
              and (mention.dimension == "Hz" or "Hz" in mention.may_be)):  # fmt: skip
            ask = replace(ask, also=(*ask.also, mention.value))
        elif mention.dimension in ("none", "x") and RUNS.match(after):
            ask = replace(ask, runs=int(mention.value))
        elif mention.upper is not None:
            ask = replace(
                ask,
                span=(mention.value, mention.upper),
                value=mention.value,
                upper=mention.upper,
                unit=mention.dimension,
            )
        elif (
            ask.at is not None
            and _to_before(before)
            and mention.dimension in (ask.at_unit, "none")
            and ask.span is None
        ):
            ask = replace(ask, at=None, at_unit="", span=(ask.at, mention.value), unit=ask.at_unit)
        elif (ask.value is not None and ask.upper is None and ask.unit in PLACE_UNITS
              and mention.dimension in (ask.unit, "none") and _to_before(before)):  # fmt: skip
            ask = replace(ask, span=(ask.value, mention.value), upper=mention.value)
        elif mention.dimension in PLACE_UNITS and ask.at is None and _is_place(text, mention, ask):
            ask = replace(ask, at=mention.value, at_unit=mention.dimension)
        elif ask.at is None and _is_bare_frequency(text, mention, ask):
            ask = replace(ask, at=mention.value, at_unit="Hz")
        elif ask.value is None:
            ask = replace(
                ask,
                value=mention.value,
                unit=mention.dimension,
                bound=mention.bound or bound_of(before, after),
            )
        elif ask.upper is None and ask.unit in (mention.dimension, "none") and _to_before(before):
            ask = replace(ask, span=(ask.value, mention.value), upper=mention.value)
    return replace(ask, parameters=tuple(parameters), tolerances=tuple(tolerances))


_LOADS: Mapping[str, str] = {"Ohm": "load", "F": "load_c", "A": "load_i", "%": "load_share"}
"""What a load is told by: its resistance, capacitance, current, or the share of the current it takes now."""


def _condition(text: str, mention: Mention, figures: Sequence[str]) -> tuple[str, float, int, int] | None:
    """Another load, input or supply for the runs of a question: "driving 5 pF", "at 24 V input".

    Its name, its size, and where its words begin and end; None where a quantity is none.
    """
    if mention.upper is not None:
        return None
    before, after = text[: mention.start], text[mention.end :]
    kind = next((unit for unit in (mention.dimension, *mention.may_be) if unit in _LOADS), "")
    if kind:
        told = OF_LOAD_BEFORE.search(before) if kind != "%" else None
        behind = OF_LOAD_BEHIND.match(after)
        is_at = (
            mention.dimension == "A"
            and (figures or OF_POWER.search(text) or DROPOUT.search(text))
            and (_AT.search(before) or re.match(r"\s*(?:时|下|的时候|情况下)", after))
        )
        if told or behind or is_at:
            own = re.search(r"(?:负载|load).*$", told[0], ANY_CASE) if told else None
            start = mention.start - (len(own[0]) if own is not None else 0)
            return _LOADS[kind], mention.value, start, mention.end + (behind.end() if behind else 0)
    if (
        (kind_of := OF_KIND_BEHIND.match(after))
        and mention.dimension in _OF_PART
        and _SUPPOSES.search(before)
    ):
        letter = KIND_LETTERS.get(kind_of["kind"], KIND_LETTERS.get(kind_of["kind"][0].lower(), ""))
        return f"{letter}*", mention.value, mention.start, mention.end + kind_of.end()
    told, behind = OF_FEED_BEFORE.search(before), OF_FEED_BEHIND.match(after)
    if mention.dimension != "V" or told is None or behind is None or (behind["when"] and not told["feed"]):
        return None
    is_input = behind["input"] or told["feed"] == "输入"
    start = told.start("feed") if told["feed"] else mention.start
    return "input" if is_input else "supply", mention.value, start, mention.end + behind.end()


_OF_PART = frozenset({"Ohm", "F", "H"})
_SUPPOSES = re.compile(
    r"(?:\b(?:with|would|if|use|used|using|fit|put in|had|try)\b[^,.;?!\d]{0,16}\s(?:an?|the)?\s*"
    r"|(?:用|换成?|改用|改成|装)(?:一?[个只颗])?)$",
    ANY_CASE,
)
"""Before a part that is only supposed: "would a 47 uH inductor"."""
_AT = re.compile(r"(?:\bat|@)\s*$", ANY_CASE)


def _is_more(before: str) -> bool:
    """Whether a place is one more of a list: "at 1k and 100k"."""
    return (
        re.search(r"(?:,|、|和|与|\band|\bor|\bvs\.?|\bversus|跟|以及)\s*(?:at\s*)?$", before, ANY_CASE)
        is not None
    )


def _to_before(before: str) -> bool:
    return (
        re.search(r"(?:\bto|到|至|~|-|->|=>|→|\bbetween\s+\S+(?:\s\S+)?\s+and)\s*$", before, ANY_CASE)
        is not None
    )


def _with_heat(
    ask: Ask, text: str, mentions: Sequence[Mention], at: int
) -> tuple[Ask, list[tuple[str, str]]]:
    """A temperature: one to run at, or the end of a range."""
    mention, earlier = mentions[at], mentions[at - 1] if at else None
    if mention.upper is not None:
        return replace(ask, span=(mention.value, mention.upper)), []
    if (
        earlier is not None
        and earlier.dimension == "none"
        and DEGREES_TO.fullmatch(text[earlier.end : mention.start])
    ):
        return replace(ask, span=(earlier.value, mention.value), value=None), []
    if ask.figures and len(points := _list_before(text, mentions, at)) > 1:
        return replace(ask, points=points, value=None), []
    return ask, [("temp", number(mention.value))]


_BETWEEN = re.compile(r"\s*(?:°|度|°?c)?\s*(?:,|、|and|or|&|和|与|及|,\s*and)\s*", ANY_CASE)


def _list_before(text: str, mentions: Sequence[Mention], at: int) -> tuple[float, ...]:
    """The quantities of a list that ends here: "-40, 27 and 125 C"."""
    found = [mentions[at].value]
    for one, then in zip(reversed(mentions[:at]), reversed(mentions[1 : at + 1]), strict=True):
        if not _BETWEEN.fullmatch(text[one.end : then.start]) or one.upper is not None:
            break
        found.append(one.value)
    return tuple(reversed(found))


def list_from(
    text: str, mentions: Sequence[Mention], start: int, *, is_loose: bool = False
) -> tuple[float, ...]:
    """The quantities of a list that begins there: "10m, 50m and 100m"; `is_loose`: only blanks between."""
    found: list[float] = []
    end = start
    for mention in mentions:
        if mention.start < start:
            continue
        gap = text[end : mention.start]
        is_next = _BETWEEN.fullmatch(gap) is not None or (is_loose and not gap.strip())
        if mention.upper is not None or not (is_next if found else not gap.strip()):
            break
        found.append(mention.value)
        end = mention.end
    return tuple(found)


def _letters(before: str, after: str) -> tuple[str, ...]:
    """Of which kinds of elements a tolerance is told: "电感和电容各有20%", "20% inductors and capacitors"."""
    found = SEVERAL_KINDS.search(before) or SEVERAL_BEHIND.match(after)
    if found is not None:
        return tuple(letter for words, letter in OF_LETTER if re.search(words, found["kinds"], ANY_CASE))
    return (_letter(before, after),)


def _letter_before(before: str) -> str:
    """The kind of element that stands just before its tolerance: "电阻误差1%"."""
    forms = ((letter, JUST_BEFORE.format(words=words)) for words, letter in OF_LETTER)
    return next((letter for letter, form in forms if re.search(form, before, ANY_CASE)), "")


def _letter(before: str, after: str) -> str:
    """Of which kind of element a tolerance is told: in the clause behind it, else before it; "" = of all."""
    for form, text in ((JUST_BEFORE, before), (JUST_BEHIND, after)):
        look = re.search if form is JUST_BEFORE else re.match
        found = (letter for words, letter in OF_LETTER if look(form.format(words=words), text, ANY_CASE))
        if letter := next(found, ""):
            return letter
    clauses = (CLAUSE.split(after)[0], CLAUSE.split(before)[-1])
    near = (letter for clause in clauses for words, letter in OF_LETTER if re.search(words, clause, ANY_CASE))
    return next(near, "")


_DENIED = re.compile(
    r"(?:\b(?:don['’]?t|do not|never|not|without|no|can['’]?t|cannot|must ?n['’]?t)\b[^,.;]{0,32}?"
    r"|[别不勿][能可许要]?(?:让[^,，]{0,10})?)"
    r"(?:(?P<low>\b(?:under|below|lower than|less than)|低于|小于|少于)"
    r"|\b(?:over|above|exceed\w*|more than|higher than)|高于|大于|超过)\s*$",
    ANY_CASE,
)
"""A bound that is denied: "don't let it go under 8 MHz"."""


def denied_bound(before: str) -> Bound | None:
    """What a bound that is denied before a quantity comes to."""
    found = _DENIED.search(before)
    return None if found is None else "at_least" if found["low"] else "at_most"


def bound_of(before: str, after: str) -> Bound | None:
    """``> 40 dB``, ``40 dB or more`` and the like, where the sentence reader takes none."""
    if re.search(r"比\s*$", before) and (
        than := re.match(r"\s*(?:还|更)?(?P<low>低|小|少)|\s*(?:还|更)?[高大多]", after)
    ):
        return "at_most" if than["low"] else "at_least"
    if (denied := denied_bound(before)) is not None:
        return denied
    if re.search(r"(?:>|≥|大于|高于|超过|至少|over|above|at least)\s*=?\s*$", before, ANY_CASE):
        return "at_least"
    if re.search(r"(?:<|≤|小于|低于|不超过|below|under|within|inside)\s*=?\s*$", before, ANY_CASE):
        return "at_most"
    if re.match(r"\s*(?:度|°|degrees?)?\s*(?:以上|or more)", after, ANY_CASE):
        return "at_least"
    return "at_most" if re.match(r"\s*(?:度|°|degrees?)?\s*(?:以下|以内|之内|or less)", after) else None


_SAYS_WHERE = re.compile(r"(?:\b(?:at|around|near)|@|在)\s*$", ANY_CASE)


def _is_bare_frequency(text: str, mention: Mention, ask: Ask) -> bool:
    """Whether a scale without a unit says at which frequency a figure is looked at: "gain at 1k"."""
    is_scale = mention.dimension == "none" and "Hz" in mention.may_be
    placed = [FIGURES[key] for key in ask.figures]
    units = {each.unit for each in placed if each.kind in ("ac", "noise") or each.place == "source"}
    if "Ohm" in units and not _SAYS_WHERE.search(text[: mention.start]):
        return False  # "input impedance of 2k"
    is_of_frequency = bool(units - {"Hz"})
    return is_scale and is_of_frequency and _is_place(text, replace(mention, dimension="Hz"), ask)


def _is_place(text: str, mention: Mention, ask: Ask) -> bool:
    """Whether a frequency or time is where something is looked at, not what a figure has to be."""
    before, after = text[: mention.start], text[mention.end :]
    if re.search(r"(?:\b(?:at|around|near|for)|@|在)\s*$", before, ANY_CASE):
        return True
    if re.match(r"\s*(?:处|时|下|的(?!截止|带宽)|点)", after):
        return True
    wanted = {FIGURES[key].unit for key in ask.figures}
    return mention.dimension not in wanted and bool(ask.figures)


_COMPILED = {key: re.compile(figure.words, re.IGNORECASE | re.ASCII) for key, figure in FIGURES.items()}


def figures_in(text: str) -> tuple[tuple[str, ...], str]:
    """The figures of the response a text names, in its order, and the text without their words."""
    found: list[tuple[int, str]] = []
    rest = text
    for key, pattern in _COMPILED.items():
        while not FIGURES[key].is_aside and (match := pattern.search(rest)):
            found.append((match.start(), key))
            rest = f"{rest[: match.start()]}{' ' * (match.end() - match.start())}{rest[match.end() :]}"
    if len({key for _, key in found}) > 1:  # "output noise": a word beside a figure is none of its own
        found = [(at, key) for at, key in found if key != "vout" or not _BARE_OUTPUT.match(text, at)]
    if any(key == "swing" and _PEAK_TO_PEAK.match(text, at) for at, key in found):
        keys = {key for _, key in found}
        if keys & _PEAK_TO_PEAK_ITSELF or _CURRENT.search(text):
            found = [(at, key) for at, key in found if key != "swing"]
        elif _AND.search(text) is None:
            found = [(at, key) for at, key in found if key != "vout"]  # "the output voltage, peak to peak"
    return tuple(dict.fromkeys(key for _, key in sorted(found))), rest


_PEAK_TO_PEAK = re.compile(r"(?:output (?:voltage )?)?(?:peak[- ]to|pk|p-p|v_?pp|pp\b)|峰峰值", ANY_CASE)
"""Says how a quantity is taken, where one stands beside it."""
_PEAK_TO_PEAK_ITSELF = frozenset({"ripple", "inductor_ripple", "noise", "input_noise"})
_CURRENT = re.compile(r"\bcurrents?\b|电流", ANY_CASE)
_AND = re.compile(r"\band\b|&|[和与及、]", ANY_CASE)
_BARE_OUTPUT = re.compile(r"(?:\boutput\b(?! voltage)|输出(?!的?(?:直流|平均)?电压))", ANY_CASE)


def _asides_in(text: str) -> tuple[str, ...]:
    """The quantities of parts a text names, the longest words first where two begin at one place."""
    found = [
        (match.start(), -match.end(), key)
        for key, pattern in _COMPILED.items()
        if FIGURES[key].is_aside
        for match in pattern.finditer(text)
    ]
    keys: list[str] = []
    at = -1
    for start, end, key in sorted(found):
        if start >= at:
            keys.append(key)
            at = -end
    return tuple(dict.fromkeys(keys))
