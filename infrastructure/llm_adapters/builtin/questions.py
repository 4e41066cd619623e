"""What a plain sentence asks about a circuit that is there, and sentences that lean on the one before.

A sentence is read once (`_read`: figures, elements, nodes, quantities); the first row of `INTENTS` whose
words occur, and which has what it needs, is meant. Nothing is guessed: what fits no row is None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Literal, cast

from domain.design.sentence import Bound, Mention, read_sentence
from infrastructure.llm_adapters.builtin.figures import FIGURES, number
from infrastructure.llm_adapters.builtin.words import (
    ANY_CASE,
    ASKED_LATER,
    BETA,
    BY_KIND,
    CAPACITY,
    CARRIES,
    CHANGES,
    CIRCUIT_WORD,
    CLAUSE,
    COUNTED,
    COUNTS,
    DEGREES,
    DEGREES_TO,
    DESIGNED,
    DRIVES,
    FLATNESS,
    FULL_NODE_FIGURE,
    HEATS,
    HYPOTHESIS,
    INDEFINITE,
    INTENTS,
    JUST_BEFORE,
    JUST_BEHIND,
    KEPT,
    LEANS,
    LETTERS,
    LOWER,
    MOVED_BY,
    NAME,
    NEUTRAL,
    NO_NAMES,
    NODE,
    NOT_A_NODE,
    OF_BIAS,
    OF_LETTER,
    OF_SIGNALS,
    OF_SUPPLY,
    OF_SUPPLY_SHARE,
    ONLY,
    OTHER,
    OTHER_FEED,
    OTHER_LOAD,
    OTHERWISE,
    OVER_FREQUENCY,
    PARAMETER,
    PARTS,
    POLITE,
    QUESTION,
    RAISE,
    REMOVED,
    RUNS,
    SERIES,
    SEVERAL_BEHIND,
    SEVERAL_KINDS,
    SHAPES,
    SUPPLIES,
    SWAPS,
    TIMES,
    TIMES_A_FIGURE,
    TO_KNOW,
    TRAITS,
    WHAT_VALUE,
    WHOLE_BETA,
    WITHIN,
    WITHIN_DB,
)

Intent = Literal[
    "undo", "compare", "failure", "set_goal", "check_goals", "find_part", "count", "monte_carlo",
    "worst_case", "sweep", "limits", "tune", "conduction", "what_if", "losses", "across",
    "swap", "stimulus", "output_impedance",
    "point", "role", "supply", "ports", "node", "voltage",
    "current", "power", "figure",
    "battery", "clipping", "plot",
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
    series: str = ""
    """The preferred values of resistors, as ``E24``."""
    near: float | None = None
    """The share of its nominal value within which a figure counts as good."""
    room: float | None = None
    """How far a figure in decibels may be from its nominal value."""
    unanswered: str = ""
    """What else the sentence says, that was not understood."""
    is_nearest: bool = False
    """It is only the nearest thing known to what the sentence asks."""
    place: str = ""
    """The figure whose frequency is the place: "phase at the cut-off"."""


_PLACE_UNITS = ("Hz", "s")
_NO_VALUES = frozenset({"Hz", "s", "dB", "deg"})
"""What no part has as its value: "looking into CIN at 1 kHz"."""
_NO_GAIN = 1e3
"""A bare number from which on it is the value of a part, not a factor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
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


_CELSIUS = re.compile(r"(?<=\d)\s?[cC](?![A-Za-z0-9_.=])")


_AT_A_FIGURE = re.compile(r"\b(?:at|near|around)\s+(?:the|its|this|that)?\s*$|(?:在|于)\s*$", ANY_CASE)


_BEHIND_A_PLACE = re.compile(r"\s*(?:处|时|下|上|点|那里|的时候)")


def _read(text: str, file: str) -> _Words:
    text, kept = kept_in(text)
    text, only = only_in(text)
    sentence = read_sentence(_CELSIUS.sub(" °C", text))
    plain = sentence.text
    figures, left = figures_in(plain)
    figures, place = _place_in(plain, figures)
    nodes = tuple(
        name
        for found in NODE.finditer(plain)
        if (name := next(filter(None, found.groups()))).lower() not in NOT_A_NODE
    )
    names = _names(left, nodes)
    mentions = tuple(  # "-3 dB bandwidth" has no figure of its own, nor has "Q1"
        each
        for each in sentence.mentions
        if left[each.start : each.end].strip() and not _is_in_name(left, each, names)
    )
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
    return _Words(
        text=plain,
        ask=_with_quantities(ask, plain, mentions),
        mentions=mentions,
        left=left,
        asides=_asides_in(left) or (("node",) if nodes else ()),
    )


def _is_in_name(text: str, mention: Mention, names: Sequence[str]) -> bool:
    """Whether a number is part of an element's name."""
    return any(
        found.start() < mention.start < found.end() and found[0] in names for found in NAME.finditer(text)
    )


def _place_in(text: str, figures: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The figures, and the one whose frequency is the place where the others are looked at."""
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


def _kinds_in(text: str) -> tuple[str, ...]:
    """Letters of the kinds of parts, and names of parts, that a phrase speaks of."""
    letters = tuple(letter for words, letter in OF_LETTER if re.search(words, text, ANY_CASE))
    return (*letters, *_names(text, ()))


def kept_in(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without what is to stay as it is, and that: "keep Q", "without touching the capacitors"."""
    kept: list[str] = []
    for found in reversed(list(KEPT.finditer(text))):
        phrase = next(filter(None, found.groups()), "")
        figures, rest = figures_in(phrase)
        figures = figures or (("quality",) if re.search(r"(?<![A-Za-z0-9])Q(?![A-Za-z0-9])", phrase) else ())
        own = (*_kinds_in(rest), *(f"figure:{key}" for key in figures))
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
    letters = tuple(each for each in _kinds_in(phrase) if len(each) == 1)
    if not letters or _names(phrase, ()):
        return text, ()
    return f"{text[: found.start()]} {text[found.end() :]}", letters


_PART_NAME = re.compile(r"[RCL](?:load|in|out|fb|f|s|src|sense|snub|bias|tail|[a-h]|comp|osc|filt)")
"""A name in small letters behind its kind: ``Rload``, ``Cin``."""


def _names(text: str, nodes: Sequence[str]) -> tuple[str, ...]:
    """Words that may be elements: ``R1``, ``m6.w``, ``RE``; which of them are is known to the circuit."""
    found = []
    for match in NAME.finditer(text):
        word = match[0]
        head = word.partition(".")[0]
        is_name = head[0].lower() in LETTERS and (
            any(sign.isdigit() for sign in head)
            or (head.isupper() and 2 <= len(head) <= 6)
            or _PART_NAME.fullmatch(head) is not None
        )
        if is_name and word not in nodes and head.upper() not in NO_NAMES:
            found.append(word)
    return tuple(dict.fromkeys(found))


_LONGEST_NAMING = 80
"""Characters before a value in which its name is looked for: a long word is not gone through for each."""


def _with_quantities(ask: Ask, text: str, mentions: Sequence[Mention]) -> Ask:  # noqa: PLR0912 - one a kind
    """What the quantities of a sentence are: places, temperatures, tolerances, values, or the aim."""
    parameters: list[tuple[str, str]] = []
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
                and (ask.figures or parameters or tolerances)
                and tolerances
                and ask.near is None
            ):
                ask = replace(ask, near=mention.value)
                continue
            tolerances += [(letter, mention.value) for letter in _letters(before, after)]
        elif (named is not None and named[1] in ask.names and mention.upper is None
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
            and ask.at_unit == mention.dimension
            and ask.span is None
        ):
            ask = replace(ask, at=None, at_unit="", span=(ask.at, mention.value), unit=mention.dimension)
        elif (ask.value is not None and ask.upper is None and ask.unit == mention.dimension
              and mention.dimension in _PLACE_UNITS and _to_before(before)):  # fmt: skip
            ask = replace(ask, span=(ask.value, mention.value), upper=mention.value)
        elif mention.dimension in _PLACE_UNITS and ask.at is None and _is_place(text, mention, ask):
            ask = replace(ask, at=mention.value, at_unit=mention.dimension)
        elif ask.at is None and _is_bare_frequency(text, mention, ask):
            ask = replace(ask, at=mention.value, at_unit="Hz")
        elif ask.value is None:
            ask = replace(
                ask, value=mention.value, unit=mention.dimension, bound=mention.bound or _bound(before, after)
            )
        elif ask.upper is None and ask.unit in (mention.dimension, "none") and _to_before(before):
            ask = replace(ask, span=(ask.value, mention.value), upper=mention.value)
    return replace(ask, parameters=tuple(parameters), tolerances=tuple(tolerances))


def _is_more(before: str) -> bool:
    """Whether a place is one more of a list: "at 1k and 100k"."""
    return re.search(r"(?:,|、|和|与|\band|\bor|跟|以及)\s*(?:at\s*)?$", before, ANY_CASE) is not None


def _to_before(before: str) -> bool:
    return re.search(r"(?:\bto|到|至|~|-)\s*$", before, ANY_CASE) is not None


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
    return ask, [("temp", number(mention.value))]


def _letters(before: str, after: str) -> tuple[str, ...]:
    """Of which kinds of elements a tolerance is told: "电感和电容各有20%", "20% inductors and capacitors"."""
    found = SEVERAL_KINDS.search(before) or SEVERAL_BEHIND.match(after)
    if found is not None:
        return tuple(letter for words, letter in OF_LETTER if re.search(words, found["kinds"], ANY_CASE))
    return (_letter(before, after),)


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


def _bound(before: str, after: str) -> Bound | None:
    """``> 40 dB``, ``40 dB or more`` and the like, where the sentence reader takes none."""
    if re.search(r"比\s*$", before) and (
        than := re.match(r"\s*(?:还|更)?(?P<low>低|小|少)|\s*(?:还|更)?[高大多]", after)
    ):
        return "at_most" if than["low"] else "at_least"
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
    units = {FIGURES[key].unit for key in ask.figures if FIGURES[key].kind == "ac"}
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


# --- which intent -------------------------------------------------------------------------------------

Needs = Callable[[_Words], Ask | None]


def _as_it_is(words: _Words) -> Ask | None:
    return words.ask


def _studied(words: _Words) -> Ask:
    """The sentence, with the quantities of parts where it names no figure of the response."""
    ask = words.ask
    return ask if ask.figures else replace(ask, figures=words.asides)


def _with_figure(words: _Words) -> Ask | None:
    ask = _studied(words)
    which = re.search(
        r"\b(?:which|what)\s+(?P<en>\w+)|(?:哪[些个几]*)(?P<zh>元件|电阻|电容|电感)", words.text, ANY_CASE
    )
    kinds = [each for each in _kinds_in(which["en"] or which["zh"]) if len(each) == 1] if which else []
    if not ask.figures and any(each.dimension == "x" for each in words.mentions):
        ask = replace(ask, figures=("gain",))  # "I expected 33x"
    return replace(ask, query=kinds[0] if kinds else "") if ask.figures else None


def _advice(words: _Words) -> Ask | None:
    """Which way to go with a figure; what is wished of it is not done."""
    return None if WHAT_VALUE.search(words.text) and words.ask.names else _with_figure(words)


def _goal(words: _Words) -> Ask | None:
    ask = _studied(words)
    if (
        re.search(r"\b(?:error|deviat\w+|flat\w*|tolerance)\b|误差|偏差|平坦", words.text, ANY_CASE)
        and ask.upper is None
    ):
        ask = replace(ask, query="error")
    return ask if ask.figures and ask.value is not None else None


_STARTS_ASKING = re.compile(
    r"\s*(?:what|which|why|how|is|are|does|do|did|when|where|will|(?:would|could|can)(?! you)|should|am"
    r"|has|have|was|were)\b",
    ANY_CASE,
)


def _tune(words: _Words) -> Ask | None:
    """A figure and what it has to come to, in its unit."""
    ask = _studied(words)
    if not ask.figures and "Hz" in (ask.unit, ask.at_unit) and not ask.parameters and not words.ask.names:
        ask = replace(ask, figures=("cutoff",))  # a wish in hertz, of a circuit that is there
    if not ask.figures and ask.unit == "dB" and (ask.kept or ask.only or ask.names):
        ask = replace(ask, figures=("gain",))
    flat = next((q for form, q in FLATNESS if re.search(form, words.text, ANY_CASE)), None)
    if ask.value is None and flat is not None and not set(ask.figures) - {"quality"}:
        ask = replace(ask, figures=("quality",), value=flat, unit="none")
    is_value = WHAT_VALUE.search(words.text) is not None and bool(ask.names)
    starts = _STARTS_ASKING.match(words.text)
    asks = starts or TO_KNOW.search(words.text) or ASKED_LATER.search(words.text)
    if not ask.figures or (not is_value and (HYPOTHESIS.search(words.text) or asks)):
        return None
    does = re.search(
        r"\b(?:write|put|do) it\b|(?:帮我|给我|直接|请).{0,4}(?:改|调|写|设)", words.text, ANY_CASE
    )
    ask = replace(ask, writes=not is_value or does is not None)
    wanted = FIGURES[ask.figures[0]].unit
    if ask.share is not None and ask.value is None and wanted == "V":
        return replace(ask, figures=ask.figures[:1])
    if (
        ask.value is None and ask.at is not None and ask.at_unit == wanted
    ):  # “at 2 kHz”: of a cut-off its value
        ask = replace(ask, value=ask.at, unit=ask.at_unit, at=None, at_unit="")
    fits = (
        ask.unit in (wanted, "none")
        or (wanted == "dB" and ask.unit == "x")
        or (wanted == "1" and ask.unit == "%")
    )
    if wanted == "1" and ask.tolerances:
        share = next(each for each in words.mentions if each.dimension == "%")
        bound = share.bound or _bound(words.text[: share.start], words.text[share.end :])
        return replace(ask, value=ask.tolerances[0][1], bound=bound, unit="1", tolerances=())
    if wanted == "deg" and ask.unit in ("none", "deg"):
        fits = True
    if ask.value is None or not fits:
        return None
    if wanted == "dB" and ask.unit == "none" and ask.value >= _NO_GAIN:  # "RL to 100k, and the gain?"
        return None
    if wanted == "dB" and ask.unit == "none" and not re.search(r"db", words.text, ANY_CASE):
        ask = replace(ask, unit="x")
    return replace(ask, figures=ask.figures[:1])


def wished(text: str, file: str) -> Ask | None:
    """A figure and what it has to come to, where a clause names both."""
    return _tune(_read(text, file))


def _swept(words: _Words) -> Ask | None:
    ask = _studied(words)
    if (beta := _beta(words)) is not None:
        return beta
    if not ask.names and ask.span is not None and ask.unit in ("V", "none") and re.search(
        SUPPLIES, words.text, ANY_CASE
    ):  # fmt: skip
        return replace(ask, names=("supply",), value=None, upper=None, unit="")
    if (
        not ask.names
        and ask.span is not None
        and ask.unit == "Ohm"
        and re.search(r"\bload|负载", words.text, ANY_CASE)
    ):
        return replace(ask, names=("load",), value=None, upper=None, unit="")
    if ask.names or (ask.span is not None and HEATS.search(words.text)):
        return replace(ask, names=ask.names[:1], value=None, upper=None, unit="")
    return None


def _beta(words: _Words) -> Ask | None:
    """Over a range of current gains."""
    ask = _studied(words)
    if ask.span is None or WHOLE_BETA.search(words.text) is None:
        return None
    figures = tuple(key for key in ask.figures if key != "gain") or ("collector_current",)
    return replace(ask, figures=figures, names=("beta",), value=None, upper=None, unit="", parameters=())


def _other_beta(words: _Words) -> Ask | None:
    """With another current gain: beside the transistor's own."""
    found = BETA.search(words.text)
    if found is None or words.ask.span is not None or not (_asks(words) or HYPOTHESIS.search(words.text)):
        return None
    ask, beta = _studied(words), float(found["value"])
    figures = tuple(key for key in ask.figures if key != "gain" or "增益" not in found[0])
    return Ask(
        intent="sweep",
        file=ask.file,
        figures=figures or ("collector_current", "collector_emitter"),
        names=("beta",),
        span=(beta, beta),
    )


def _heated(words: _Words) -> Ask | None:
    """A range of temperatures."""
    ask = _studied(words)
    is_heat = (
        HEATS.search(words.text)
        or any(m.dimension == "degC" for m in words.mentions)
        or re.search(r"\d\s*度|\d\s?c(?![a-z])", words.text, ANY_CASE)
    )
    if ask.span is None or not is_heat or ask.unit not in ("", "none"):
        return None
    return replace(ask, names=("temp",), value=None, upper=None, unit="", parameters=())


def _device(words: _Words) -> Ask | None:
    names = tuple(name for name in words.ask.names if name[0].lower() in "qmjdz")
    return replace(words.ask, names=names, figures=(), query=words.text)


def _terminal(words: _Words) -> Ask | None:
    """A voltage or current of a transistor that is asked for, not wished."""
    ask = words.ask
    is_wish = ask.value is not None or ask.span is not None or ask.tolerances or CHANGES.search(words.text)
    return None if is_wish else _device(words)


def _named(words: _Words) -> Ask | None:
    return words.ask if words.ask.names else None


_PART_NUMBER = re.compile(
    r"(?<![\w.])(?:\d[a-z]{1,2}|[a-z]{2,4})\d{3,5}[a-z]{0,3}(?![\w.])", re.IGNORECASE | re.ASCII
)
"""As `2N3904`, `BC547B`, `LM358`."""


def _part(words: _Words) -> Ask | None:
    """A kind of part, with what it has to have."""
    kind = next((kind for pattern, kind in PARTS if re.search(pattern, words.text, ANY_CASE)), "")
    ask = words.ask
    number = None if kind or ask.names or ask.figures or ask.file else _PART_NUMBER.search(words.text)
    if number is not None:
        return Ask(intent="find_part", query=number[0].upper())
    if not kind or words.ask.file:
        return None
    mention = next((each for each in words.mentions if each.dimension in ("Hz", "V", "A")), None)
    traits = " ".join(trait for pattern, trait in TRAITS if re.search(pattern, words.text, ANY_CASE))
    ask = Ask(intent="find_part", query=f"{kind} {traits}".strip())
    if mention is None:
        return ask
    bound = mention.bound or _bound(words.text[: mention.start], words.text[mention.end :])
    return replace(ask, value=mention.value, unit=mention.dimension, bound=bound)


def _count(words: _Words) -> Ask | None:
    kind = next((kind for pattern, kind in COUNTED if re.search(pattern, words.text, ANY_CASE)), None)
    return None if kind is None else replace(words.ask, query=kind)


def _node(words: _Words) -> Ask | None:
    return words.ask if words.ask.nodes else None


def _compared(words: _Words) -> Ask | None:
    is_first = re.search(
        r"\b(?:first|initial|original|beginning)\b|最初|第一次|一开始|原始", words.text, ANY_CASE
    )
    return replace(_studied(words), query="first" if is_first else "")


def _swap(words: _Words) -> Ask | None:
    """Another type for a part: "replace Q1 by a 2N2222"."""
    numbers = list(_PART_NUMBER.finditer(words.text))
    number = numbers[-1] if numbers else None
    names = tuple(
        name
        for name in words.ask.names
        if name[0].lower() in "qxdmjz" and number is not None and name.upper() != number[0].upper()
    )
    if len(numbers) > 1 and not names:  # "the LM358 for a TL072"
        names = (numbers[0][0],)
    if number is None or not names or SWAPS.search(words.text) is None:
        return None
    is_trial = HYPOTHESIS.search(words.text) is not None
    ask = _studied(words)
    return replace(
        ask, names=names[:1], query=number[0].upper(), writes=not is_trial, value=None, unit="", bound=None
    )


def _stimulus(words: _Words) -> Ask | None:
    """Another signal at the input, and what the output makes of it."""
    shape = next((shape for pattern, shape in SHAPES if re.search(pattern, words.text, ANY_CASE)), "")
    volts = next((each.value for each in words.mentions if each.dimension == "V"), None)
    hertz = next((each.value for each in words.mentions if each.dimension == "Hz"), None)
    if (
        not shape
        or (volts is None and hertz is None)
        or re.match(r"\s*(?:design|make|build|generat\w+)", words.text, ANY_CASE)
    ):
        return None
    figures = tuple(key for key in words.ask.figures if FIGURES[key].kind == "tran") or ("swing",)
    return Ask(
        intent="stimulus",
        file=words.ask.file,
        figures=figures,
        nodes=words.ask.nodes,
        value=volts,
        at=hertz,
        query=shape,
    )


def _driven(words: _Words) -> Ask | None:
    """What the output makes of a sine of another size, written nowhere."""
    ask = _stimulus(words)
    is_asked = any(FIGURES[key].kind == "tran" for key in words.ask.figures)
    if ask is None or ask.query != "sine" or not is_asked or (DRIVES.search(words.text) and not _asks(words)):
        return None
    return replace(ask, writes=False)


def _asks(words: _Words) -> bool:
    return QUESTION.search(words.text) is not None


def _battery(words: _Words) -> Ask | None:
    """How long a battery lasts; its voltage, where it is told, is that of the supply."""
    capacity = CAPACITY.search(words.text)
    lasts = re.search(
        r"\blast\b|\bhow long\b|\blife\w*|\bhours?\b|多久|多长|寿命|小时|几天", words.text, ANY_CASE
    )
    if lasts is None or (capacity is None and not _asks(words)):
        return None
    size = float(capacity["size"]) * (1e-3 if capacity["milli"] else 1.0) if capacity else None
    volts = next((number(each.value) for each in words.mentions if each.dimension == "V"), "")
    return Ask(
        intent="battery",
        file=words.ask.file,
        value=size,
        parameters=(("supply", volts),) if volts else (),
    )


_OF_LARGE_SIGNALS = frozenset({"swing", "thd", "vout", "gain"})


def _clipping(words: _Words) -> Ask | None:
    """How large a sine can become; nothing that is to be changed, and no cause of it."""
    is_other = _is_wish(words) or re.search(r"\bwhy\b|为什么|怎么改|怎么办|是饱和", words.text, ANY_CASE)
    if is_other or not set(words.ask.figures) <= _OF_LARGE_SIGNALS or not _speaks_of_signals(words):
        return None
    return words.ask if _asks(words) or len(words.text) < _SHORT else None


def _speaks_of_signals(words: _Words) -> bool:
    ask = words.ask
    return bool(ask.figures or ask.nodes or ask.names) or OF_SIGNALS.search(words.text) is not None


_SHORT = 30
"""Characters of a sentence that needs no word of a question to be one."""
_CURVES = frozenset({"vout", "swing", "gain", "phase", "ripple", "noise", "group_delay"})


def _plot(words: _Words) -> Ask | None:
    """The curve of nodes, the output's where none is named, over frequency or time."""
    ask = words.ask
    if ask.unit == "none" and ask.span is None:  # "the last 5 periods"
        ask = replace(ask, value=None)
    if not set(ask.figures) <= _CURVES or ask.tolerances or (ask.value is not None and ask.span is None):
        return None
    if not _speaks_of_signals(words):
        return None
    is_current = re.search(r"\bcurrents?\b|电流", words.text, ANY_CASE) is not None
    parts = ask.names or tuple(filter(None, [_by_kind(words.text)])) if is_current else ()
    units = {FIGURES[key].kind for key in ask.figures}
    is_response = (
        "Hz" in (ask.unit, ask.at_unit)
        or bool(units & {"ac"})
        or OVER_FREQUENCY.search(words.text) is not None
    )
    kind = "noise" if "noise" in units else "ac" if is_response else ""
    return Ask(
        intent="plot",
        file=ask.file,
        figures=tuple(key for key in ask.figures if FIGURES[key].kind == "ac" or key == "vout"),
        names=parts,
        nodes=ask.nodes,
        query=kind,
        span=ask.span if kind else None,
    )


def _across(words: _Words) -> Ask | None:
    """The voltage over parts."""
    is_peak = re.search(r"peak|max\w*|highest|峰值|最大|最高", words.text, ANY_CASE)
    return (
        replace(words.ask, query="peak" if is_peak else "")
        if words.ask.names and not words.ask.nodes and not _is_wish(words)
        else None
    )


def _scatter(words: _Words) -> Ask | None:
    """A question for a figure where parts have tolerances: how far it may go."""
    ask = _studied(words)
    if not ask.figures or "settling_time" in ask.figures:  # within so many percent
        return None
    room = WITHIN_DB.search(words.text)
    if room is not None and ask.unit == "dB" and FIGURES[ask.figures[0]].unit == "dB":
        ask = replace(ask, value=None, upper=None, unit="", bound=None, room=float(room["room"]))
    return ask if ask.tolerances and ask.value is None and QUESTION.search(words.text) else None


def _current(words: _Words) -> Ask | None:
    """Of parts; of the supply where none is named, of the inductors where these are meant."""
    ask = words.ask
    is_peak = re.search(r"peak|max\w*|saturation|峰值|最大|饱和", words.text, ANY_CASE)
    is_rms = re.search(r"\brms\b|有效值", words.text, ANY_CASE)
    peak = "peak" if is_peak and not re.search(r"valley|min\w*|lowest|谷|最小", words.text, ANY_CASE) else ""
    peak = "rms" if is_rms else peak
    if _is_wish(words):
        return None
    if ask.names:
        return replace(ask, query=peak)
    if re.search(r"\bload current|负载(?:的)?电流|输出电流|output current", words.text, ANY_CASE):
        return replace(ask, query=peak, names=("load",))
    if kind := _by_kind(words.text):
        return replace(ask, query=peak, names=(kind,))
    if re.search(
        r"supply|quiescent|total|draw|consum|battery|\binput current|电源|静态|总|消耗|耗电|输入电流",
        words.text,
        ANY_CASE,
    ):
        return replace(ask, query="supply")
    return None


def _is_wish(words: _Words) -> bool:
    """Whether more is said than what a part has: an aim, a share, a change."""
    ask = words.ask
    left = _BECOMES.sub(" ", words.left)
    return bool(ask.tolerances or ask.value is not None or ask.span) or CHANGES.search(left) is not None


_BECOMES = re.compile(
    r"\b(?:do|does|did|will|can|could|might|may|going to|is|are)\b[^.?!,]{0,24}?\b(?:get|need)\b", ANY_CASE
)
"""Asks what happens: "how hot does Q1 get"."""


def _power(words: _Words) -> Ask | None:
    if _is_wish(words):
        return None
    if words.ask.names:
        return words.ask
    if kind := _by_kind(words.text):
        return replace(words.ask, names=(kind,))
    return replace(words.ask, query="supply") if OF_SUPPLY.search(words.text) else None


def _by_kind(text: str) -> str:
    """The parts a text calls by their kind; "" for none."""
    return next((names for form, names in BY_KIND if re.search(form, text, ANY_CASE)), "")


_STATED = re.compile(
    r"\s*(?:is|are|does|do|did|will|can)\b|是否|吗[?？]?$|有没有|能不能|够不够|是不是|达到", ANY_CASE
)
"""Asks whether a figure is as told."""


_WHAT_THERE = re.compile(
    r"\bwhat (?:do|would|will) (?:i|we) (?:get|have|see)\b|\bhow (?:far|much) down\b|\bhow (?:many|much) db\b"
    r"|\bdb (?:down|up|is|am|of)\b|[多几]少?\s*(?:个)?\s*(?:db|分贝)|还(?:有|剩)多少",
    ANY_CASE,
)


def _figure(words: _Words) -> Ask | None:  # noqa: PLR0911 - one a reason
    """A figure, where the rest of the sentence says nothing that would be passed over.

    A question may have any words but those that make it more than one for the figure (`OTHERWISE`); any
    other sentence nothing but the figure and neutral words.
    """
    ask = words.ask
    if not ask.figures and ask.at_unit == "Hz" and _WHAT_THERE.search(words.text):
        ask = replace(ask, figures=("gain",))
    if not ask.figures or ask.runs:
        return None
    wanted = FIGURES[ask.figures[0]]
    is_measured = ask.span is not None and wanted.kind in ("noise", "ac") and ask.unit in ("Hz", "none")
    is_band = "settling_time" in ask.figures and len(ask.tolerances) == 1
    if (ask.tolerances and not is_band) or (ask.span is not None and not is_measured):
        return None
    if (
        ask.value is not None
        and not is_measured
        and (ask.unit not in (wanted.unit, "none") or ask.bound is None)
    ):
        return None
    if ask.value is not None and not is_measured and not _STATED.search(words.text):
        return None
    if is_measured:
        ask = replace(ask, value=None, upper=None, bound=None)
    if QUESTION.search(words.text) is not None:
        return None if OTHERWISE.search(words.left) else ask
    left = words.left
    for mention in reversed(words.mentions):
        left = f"{left[: mention.start]} {left[mention.end :]}"
    left = re.sub(r"[°度]c?|degrees?", " ", left, flags=ANY_CASE)
    for name in (*(name for name, _ in ask.parameters), *ask.nodes):
        left = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", " ", left)
    english = [word.strip("'\"") for word in re.findall(r"[A-Za-z][A-Za-z'-]*", left)]
    chinese = re.findall(r"[\u3400-\u9fff]+", left)
    if any(word.lower() not in NEUTRAL for word in english) or not all(map(_is_neutral, chinese)):
        return None
    return ask


def _what_if(words: _Words) -> Ask | None:
    """The circuit with other values, or without parts, against it as it is."""
    ask = _studied(words)
    removed = _removed_in(words.text)
    moved = MOVED_BY.search(words.text)
    if moved is not None and ask.names and len(ask.tolerances) == 1 and not removed and not ask.parameters:
        share = ask.tolerances[0][1] * (-1 if moved["less"] or moved["less2"] or moved["less_zh"] else 1)
        ask = replace(ask, parameters=((ask.names[0], f"*{number(1 + share)}"),), tolerances=())
    values = tuple(each for each in ask.parameters if each[0] != "temp")
    if OF_BIAS.search(words.text):
        ask = replace(ask, query="bias")
    times = TIMES.search(words.text)
    if times is not None and not removed and not values and ask.names:
        values = tuple((name, "*2" if times["twice"] else "*0.5") for name in ask.names[:1])
    if not (removed or values) and (values := _other_ends(words.text)):
        return replace(ask, parameters=values, value=None, upper=None, unit="", bound=None)
    if HYPOTHESIS.search(words.text) is None or not (removed or values) or ask.tolerances:
        return None
    return replace(ask, removed=removed, parameters=values, value=None, upper=None, unit="", bound=None)


_SCALES = {"": "", "k": "k", "meg": "Meg", "m": "Meg"}


def _other_ends(text: str) -> tuple[tuple[str, str], ...]:
    """Another supply or load of which it is asked whether the circuit copes with it."""
    if CARRIES.search(text) is None and HYPOTHESIS.search(text) is None:
        return ()
    feed, load = OTHER_FEED.search(text), OTHER_LOAD.search(text)
    found = [("supply", feed["volts"] or feed["of_volts"])] if feed else []
    if load:
        scale = (load["scale"] or load["of_scale"] or "").lower()
        found.append(("load", f"{load['ohms'] or load['of_ohms']}{_SCALES[scale]}"))
    return tuple(found)


def _removed_in(text: str) -> tuple[str, ...]:
    """Parts a sentence takes away, by name; ``it`` for the one spoken of."""
    found = [each for match in REMOVED.finditer(text) for each in match.groups() if each]
    named = tuple(each for part in found for each in _names(part.strip(), ()))
    if named:
        return named
    is_told = any(part.lower() in ("it", "this", "that", "它", "这个") for part in found)
    return ("it",) if is_told else ()


def _is_neutral(run: str) -> bool:
    """Whether a run of Chinese is made of neutral words only."""
    if not run:
        return True
    return any(run.startswith(word) and _is_neutral(run[len(word) :]) for word in _NEUTRAL_CHINESE)


_NEUTRAL_CHINESE = sorted(
    (word for word in NEUTRAL if re.match(r"[\u3400-\u9fff]", word)), key=len, reverse=True
)


_SAME_AS = {
    "scatter": "worst_case",
    "heat": "sweep",
    "terminal": "point",
    "advice": "limits",
    "other_beta": "sweep",
    "driven": "stimulus",
}
_NEEDS: Mapping[str, Needs] = {
    "set_goal": _goal,
    "count": _count,
    "find_part": _part,
    "heat": _heated,
    "other_beta": _other_beta,
    "sweep": _swept,
    "tune": _tune,
    "limits": _with_figure,
    "monte_carlo": _studied,
    "worst_case": _studied,
    "advice": _advice,
    "what_if": _what_if,
    "point": _device,
    "terminal": _terminal,
    "role": _named,
    "power": _power,
    "current": _current,
    "node": _node,
    "across": _across,
    "compare": _compared,
    "swap": _swap,
    "stimulus": _stimulus,
    "driven": _driven,
    "battery": _battery,
    "clipping": _clipping,
    "plot": _plot,
    "losses": _as_it_is,
    "scatter": _scatter,
    "voltage": _node,
    "figure": _figure,
}
"""What an intent needs besides its words; the others take the sentence as it is."""
_PATTERNS = tuple((intent, re.compile(words, ANY_CASE)) for intent, words in INTENTS)
_OF_PARTS = frozenset({"point", "power", "current", "node", "voltage", "across"})
"""Looked for in what the names of figures leave: a cut-off is no transistor that is off."""
_PLAIN = frozenset(
    {"point", "role", "current", "voltage", "power", "across", "losses", "node", "supply", "conduction"}
)
"""Looks at what is there: a value that is wished or asked about has no place in them."""
_OF_NO_CIRCUIT = frozenset({"undo", "find_part"})


_LEAN = frozenset(
    {"limits", "tune", "compare", "sweep", "what_if", "set_goal", "worst_case", "monte_carlo", "role"}
)
"""Intents of a clause that may be about the figure or the part of the clause before."""


def understand_question(text: str, file: str, known: Sequence[str], before: Ask | None = None) -> Ask | None:
    """What a sentence asks of a circuit that is there, its file taken out of `text`; None for any other.

    `before` is what the clause before it asked: its figures and parts are meant where this one has none.
    """
    text = without_courtesies(text)
    if not file:
        file, text = named_by_stem(text, known)
    words = _read(text, file)
    if before is not None:
        figures = words.ask.figures or words.asides or before.figures
        words = replace(words, ask=replace(words.ask, figures=figures, names=words.ask.names or before.names))
    is_meant = bool(file) or bool(known)
    for key, pattern in _PATTERNS:
        intent = cast(Intent, _SAME_AS.get(key, key))
        if pattern.search(words.left if intent in _OF_PARTS else words.text) is None:
            continue
        if before is not None and intent not in _LEAN:
            continue
        if intent not in _OF_NO_CIRCUIT and (not is_meant or (not file and DESIGNED.search(words.text))):
            continue
        ask = _NEEDS.get(key, _as_it_is)(words)
        if ask is None or (
            intent == "figure"
            and not (file or QUESTION.search(words.text) or ask.at is not None or len(words.text) < 30)
        ):
            continue
        way: Way = "raise" if RAISE.search(words.text) else "lower" if LOWER.search(words.text) else ""
        if intent == "limits" and re.match(r"\s*(?:why|为)", words.text, ANY_CASE) is None:
            way = (
                way
                if re.search(r"\bhow (?:can|do|could|would|should|to)\b|怎|如何", words.text, ANY_CASE)
                else ""
            )
        is_yield = intent == "monte_carlo" and (
            ask.near is not None or re.search(r"yield|良|成品|合格", words.text, ANY_CASE) is not None
        )
        if intent in _PLAIN and ask.value is not None:
            continue  # a number of it would be passed over
        judges = intent in ("monte_carlo", "worst_case") and bool(ask.figures)  # bounds of what is named
        if (
            not judges
            and key != "advice"
            and intent not in ("figure", "tune", "stimulus", "set_goal", "find_part", "battery")
        ):
            ask = replace(ask, value=None, upper=None, unit="", bound=None)
        return replace(ask, intent=intent, way=way if intent == "limits" else "", is_yield=is_yield)
    return None


def nearest_question(text: str, file: str, known: Sequence[str]) -> Ask | None:
    """The question for what a sentence names, where the whole of it was not understood; None for no question.

    Its figures, else its parts; what more it asks has no answer, and that is to be said with it.
    """
    text = without_courtesies(text)
    if not file:
        file, text = named_by_stem(text, known)
    words = _read(text, file)
    ask = _studied(words)
    if not (file or known) or not _asks(words) or (not file and DESIGNED.search(words.text)):
        return None
    place = (ask.at, ask.at_unit) if ask.at_unit else (None, "")
    near = Ask(intent="figure", file=file, is_nearest=True)
    if ask.span is not None and ask.unit == "Hz":
        near = replace(near, span=ask.span, unit=ask.unit)
    if ask.figures:
        return replace(
            near, figures=ask.figures[:3], nodes=ask.nodes, at=place[0], at_unit=place[1], place=ask.place
        )
    parts = tuple(name for name in ask.names if any(sign.isdigit() for sign in name))
    return replace(near, intent="role", names=parts) if parts else None


def without_courtesies(text: str) -> str:
    """A sentence without greeting and thanks; what is nothing else stays."""
    rest = POLITE.sub("", text).strip()
    return rest or text


def named_by_stem(text: str, known: Sequence[str]) -> tuple[str, str]:
    """The circuit called by its file's stem (“the buck”), and the rest; ("", text) for none or several."""
    found = []
    for name in known:
        stem = PurePosixPath(name).stem
        spelt = "[-_ ]?".join(map(re.escape, re.split(r"[-_ ]", stem)))
        if stem.lower() == "opamp":
            spelt = "op-?amp"
        match = re.search(
            rf"(?<![A-Za-z0-9_.(])(?:the |this |my )?(?P<stem>{spelt})(?![A-Za-z0-9_(.]){CIRCUIT_WORD}?",
            text,
            ANY_CASE,
        )
        if match is None or INDEFINITE.search(text[: match.start()]):
            continue
        if len(stem) > 3 or match["stem"] == stem:
            found.append((name, match))
    if len(found) != 1:
        return "", text
    [(name, match)] = found
    return name, f"{text[: match.start()]} {text[match.end() :]}"


# --- sentences that lean on the one before ------------------------------------------------------------


def follow_up(text: str, file: str, previous: Ask, known: Sequence[str]) -> Ask | None:
    """The question before with what this sentence puts in another way; None when it does not lean on it."""
    if LEANS.search(text.strip()) is None:
        return None
    if not file:
        file, text = named_by_stem(text, known)
    words = _read(text, file)
    new = words.ask
    changed: dict[str, object] = {}
    if OTHER.search(text):
        others = [name for name in known if name != previous.file]
        changed |= {"file": others[0]} if len(others) == 1 else {}
    elif file:
        changed["file"] = file
    names = tuple(name for name in new.names if name not in dict(new.parameters))
    parts = {
        "figures": new.figures,
        "names": names if previous.names else (),
        "nodes": new.nodes if previous.nodes else (),
        "tolerances": new.tolerances if previous.tolerances else (),
        "parameters": tuple({**dict(previous.parameters), **dict(new.parameters)}.items())
        if new.parameters
        else (),
        "span": new.span if previous.span is not None else None,
    }
    changed |= {key: part for key, part in parts.items() if part}
    changed |= _another_value(previous, new)
    return replace(previous, **changed) if changed else None  # type: ignore[arg-type]


def _another_value(previous: Ask, new: Ask) -> dict[str, object]:
    """What a bare quantity is in place of: the aim, the place, or the value of the part that was varied."""
    value, unit = (new.value, new.unit) if new.value is not None else (new.at, new.at_unit)
    if value is None:
        return {}
    if previous.intent in ("tune", "set_goal"):
        return {"value": value, "upper": new.upper, "unit": unit, "bound": new.bound or previous.bound}
    if unit in _PLACE_UNITS:
        return {"at": value, "at_unit": unit}
    if len(previous.parameters) == 1 and previous.parameters[0][0] != "temp":
        return {"parameters": ((previous.parameters[0][0], number(value)),)}
    return {}


_COMPILED = {key: re.compile(figure.words, re.IGNORECASE) for key, figure in FIGURES.items()}


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
    return tuple(dict.fromkeys(key for _, key in sorted(found))), rest


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


def plain_expressions(text: str) -> tuple[str, ...]:
    """The figures a text names, at ``v(out)``: for a run of which nothing else is known."""
    keys, _ = figures_in(text)
    figures = [FIGURES[key] for key in keys]
    return tuple(
        figure.expressions[0].format(x="v(out)", out="v(out)")
        for figure in figures
        if figure.expressions and not re.search(r"\{(?!x\}|out\})", figure.expressions[0])
    )


def figures_of(text: str) -> Ask | None:
    """The figures a text names, to be looked at of a circuit; None where it names none."""
    words = _read(text, "")
    ask = _studied(words)
    if not ask.figures:
        return None
    place = (ask.at, ask.at_unit) if ask.at_unit else (None, "")
    return Ask(
        intent="figure", figures=ask.figures, nodes=ask.nodes, at=place[0], at_unit=place[1], place=ask.place
    )


def says_nothing(text: str) -> bool:
    """Whether a clause holds no figure, part, number or wish: "it made things worse"."""
    words = _read(text, "")
    ask = words.ask
    has_any = ask.figures or words.asides or ask.names or ask.nodes or words.mentions or ask.kept
    return not has_any and CHANGES.search(text) is None and re.search(r"[?？]|吗", text) is None
