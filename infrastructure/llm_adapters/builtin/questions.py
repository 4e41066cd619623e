"""What a plain sentence asks about a circuit that is there, and sentences that lean on the one before.

A sentence is read once (`reading.read`); the first row of `INTENTS` whose words occur, and which has what it
needs, is meant. Nothing is guessed: what fits no row is None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import cast

# --- which intent -------------------------------------------------------------------------------------
from infrastructure.llm_adapters.builtin.aims import goal_of, looked_at, studied, tuned
from infrastructure.llm_adapters.builtin.figures import FIGURES, OF_PARTS_OR_SUPPLY, number
from infrastructure.llm_adapters.builtin.over_runs import (
    corners,
    heated,
    is_over,
    listed,
    load_step,
    other_beta,
    regulation,
    scatter,
    spread,
    swept,
    swept_first,
)
from infrastructure.llm_adapters.builtin.reading import (
    PLACE_UNITS,
    Ask,
    Intent,
    Way,
    Words,
    asks,
    bound_of,
    by_kind,
    figures_in,
    kinds_in,
    read,
)
from infrastructure.llm_adapters.builtin.tried import of_kind, removed_in, what_if
from infrastructure.llm_adapters.builtin.words import (
    ANY_CASE,
    BARE_FREQUENCY,
    CAPACITY,
    CAUSES,
    CHANGES,
    CIRCUIT_WORD,
    COUNTED,
    COUNTS,
    DESIGNED,
    DRIVES,
    DROPOUT,
    FILLER,
    FLATNESS,
    HYPOTHESIS,
    INDEFINITE,
    INTENTS,
    LEANS,
    LOWER,
    NEUTRAL,
    OF_LIBRARY,
    OF_SIGNALS,
    OF_SUPPLY,
    OTHER,
    OTHERWISE,
    OVER_FREQUENCY,
    OVER_HEAT,
    OVER_LOAD,
    PARTS,
    POLITE,
    QUESTION,
    RAISE,
    REGULATOR,
    SHAPES,
    STEPS_BACK,
    SUPPLY_REJECTION,
    SWAPS,
    SWITCHING,
    TIMES,
    TRAITS,
    WHAT_VALUE,
)

Needs = Callable[[Words], Ask | None]


def _as_it_is(words: Words) -> Ask | None:
    return words.ask


def _with_figure(words: Words) -> Ask | None:
    ask = studied(words)
    which = re.search(
        r"\b(?:which|what)\s+(?P<en>\w+)|(?:哪[些个几]*)(?P<zh>元件|电阻|电容|电感)", words.text, ANY_CASE
    )
    kinds = [each for each in kinds_in(which["en"] or which["zh"]) if len(each) == 1] if which else []
    if not ask.figures and ask.unit == "Hz" and ask.value is not None and not words.ask.names:
        ask = replace(ask, figures=("cutoff",), is_bare=True)
    if not ask.figures and any(each.dimension == "x" for each in words.mentions):
        ask = replace(ask, figures=("gain",))  # "I expected 33x"
    if not ask.figures and not (words.ask.names or words.mentions) and _STUDIED.search(words.text):
        return ask
    return replace(ask, query=kinds[0] if kinds else "") if ask.figures else None


_STUDIED = re.compile(r"\bsensitivit\w+(?: analysis| study)?|灵敏度(?:分析)?", ANY_CASE)
"""A study that is asked for by its name, of whatever the circuit's figures are."""
_WHICH_OF = re.compile(r"\bor\b|还是|\bvs\.?\b|\bversus\b", ANY_CASE)


def _either(words: Words) -> Ask | None:
    """Which of two parts a figure hangs on: "is it CE or C1 that sets the low corner?"."""
    is_of_parts = len(words.ask.names) > 1 and not words.ask.parameters and not words.ask.tolerances
    is_asked = asks(words) or "还是" in words.text
    return _with_figure(words) if is_of_parts and is_asked and _WHICH_OF.search(words.text) else None


def _quantities(words: Words) -> Ask | None:
    """Several quantities at once of which one is of the supply or of a part: "efficiency and power"."""
    ask = looked_at(words)
    if len(ask.figures) < 2 or not OF_PARTS_OR_SUPPLY & set(ask.figures) or _is_wish(words):
        return None
    kind = by_kind(words.text)
    names = ask.names or ((kind,) if kind and kind != "load" else ())
    is_asked = asks(words) or len(words.text) < _SHORT
    if (
        not is_asked
        or OTHERWISE.search(words.left)
        or (all(FIGURES[key].of for key in ask.figures) and names)
    ):
        return None
    return replace(ask, names=names)


def _improve(words: Words) -> Ask | None:
    """A figure that is to become better, by nobody says how much: which parts it hangs on."""
    ask = words.ask
    is_aim = ask.value is not None or ask.at is not None or ask.tolerances or ask.share or ask.parameters
    is_aim = is_aim or TIMES.search(words.text) is not None
    return None if is_aim or ask.names or ask.span else _with_figure(words)


def _advice(words: Words) -> Ask | None:
    """Which way to go with a figure; what is wished of it is not done."""
    return None if WHAT_VALUE.search(words.text) and words.ask.names else _with_figure(words)


def _supply_rejection(words: Words) -> Ask | None:
    """How much less of the supply than of the input comes to the output, at the places that are told."""
    ask = words.ask
    if ask.figures or not words.terms or not all(SUPPLY_REJECTION.search(term) for _, term in words.terms):
        return None
    if ask.tolerances or CHANGES.search(words.left) or any(each.dimension == "dB" for each in words.mentions):
        return None
    told = [each for each in words.mentions if each.dimension in ("Hz", "none")]
    places = tuple(size for each in told for size in (each.value, each.upper) if size is not None)
    at = places[0] if places else None
    return replace(
        ask,
        at=at,
        at_unit="Hz" if places else "",
        also=places[1:],
        value=None,
        upper=None,
        unit="",
        bound=None,
    )


def _dropout(words: Words) -> Ask | None:
    """Down to which input a regulator keeps its output."""
    told = (words.text, *(term for _, term in words.terms))
    if not any(map(DROPOUT.search, told)):
        return None
    is_other = words.ask.tolerances or words.ask.span or not (asks(words) or len(words.text) < _SHORT)
    return None if is_other else replace(words.ask, figures=(), names=(), value=None, unit="", bound=None)


def _duty(words: Words) -> Ask | None:
    """The share of the time a converter's switch is on."""
    is_other = _is_wish(words) or words.ask.figures or words.ask.parameters
    return None if is_other or not asks(words) else replace(words.ask, figures=("drive_duty",))


def _switching(words: Words) -> Ask | None:
    """How fast a converter's switch is driven."""
    terms = [term for _, term in words.terms]
    is_other = words.mentions or words.ask.figures or _is_wish(words)
    if not terms or not all(map(SWITCHING.fullmatch, terms)) or is_other:
        return None
    return (
        replace(words.ask, figures=("drive_frequency",)) if asks(words) or len(words.text) < _SHORT else None
    )


_BEFORE_SOMETHING = re.compile(r"\b(?:before|until|without|unless|than)\b|之前|才会", ANY_CASE)


def _asks_more(words: Words) -> bool:
    """Whether a sentence about parts asks for a figure of the response too, or where something ends."""
    return bool(set(words.ask.figures) - {"vout", "swing", "dc_gain"}) or (
        _BEFORE_SOMETHING.search(words.text) is not None
    )


def _device(words: Words) -> Ask | None:
    names = tuple(name for name in words.ask.names if name[0].lower() in "qmjdz")
    if (words.ask.names and not names) or _asks_more(words):
        return None
    return replace(words.ask, names=names, figures=(), query=words.text)


def _terminal(words: Words) -> Ask | None:
    """A voltage or current of a transistor that is asked for, not wished."""
    ask = words.ask
    is_wish = ask.value is not None or ask.span is not None or ask.tolerances or CHANGES.search(words.text)
    return None if is_wish else _device(words)


def _named(words: Words) -> Ask | None:
    kind = by_kind(words.text)
    names = words.ask.names or ((kind,) if kind.startswith("role:") else ())
    return replace(words.ask, names=names) if names and not words.mentions else None


_PART_NUMBER = re.compile(
    r"(?<![\w.])(?:\d[a-z]{1,2}|[a-z]{2,4})\d{3,5}[a-z]{0,3}(?![\w.])", re.IGNORECASE | re.ASCII
)
"""As `2N3904`, `BC547B`, `LM358`."""
_ALL_OF_IT = re.compile(r"\b(?:all|each|every|both)(?: of)?(?: the| my)?\s|各个?|所有|全部|每个", ANY_CASE)
"""Speaks of the parts that are there, not of one to be found."""


_LISTS = re.compile(
    r"(?:please |can you )*(?:list|show)\b(?!.*\b(?:circuit|netlist|here|my|this)\b)|列出", ANY_CASE
)
"""Wants all of a kind that the library has."""


def _steps_back(words: Words) -> Ask | None:
    """How many changes are to be taken back."""
    found = STEPS_BACK.fullmatch(words.text.strip(" .!。！"))
    said = (found["en"] or found["zh"]).lower() if found else ""
    return replace(words.ask, runs=int(COUNTS.get(said) or float(said))) if said else None


def _part(words: Words) -> Ask | None:
    """A kind of part, with what it has to have."""
    kind = next((kind for pattern, kind in PARTS if re.search(pattern, words.text, ANY_CASE)), "")
    ask = words.ask
    other = _PART_NUMBER.search(words.text) if _IN_PLACE_OF.search(words.text) else None
    if other is not None and not kind and SWAPS.search(words.text) is None:
        return Ask(intent="find_part", query=_traits(words), names=(other[0].upper(),))
    named = [name for name in ask.names if not _PART_NUMBER.fullmatch(name)]
    number = None if kind or named or ask.figures or ask.file else _PART_NUMBER.search(words.text)
    if number is not None:
        return Ask(intent="find_part", query=number[0].upper())
    if not kind or words.ask.file or (_ALL_OF_IT.search(words.text) and not _LISTS.match(words.text)):
        return None
    plain = _ANY_TRAIT.sub(" ", words.text)
    if set(figures_in(plain)[0]) - {"ugf"} and not OF_LIBRARY.search(words.text):
        return None  # "which transistor dominates the noise"
    rated = [each for each in words.mentions if each.dimension in ("Hz", "V", "A")]
    mention = rated[0] if rated else None
    ask = Ask(intent="find_part", query=f"{kind} {_traits(words)}".strip(), unanswered=_other_trait(words))
    if mention is None:
        return ask
    first, *others = (
        replace(
            ask,
            value=each.value,
            unit=each.dimension,
            bound=each.bound or bound_of(words.text[: each.start], words.text[each.end :]),
        )
        for each in rated
    )
    return replace(first, besides=tuple(others))


_IN_PLACE_OF = re.compile(
    r"\b(?:better|cheaper|faster|quieter|stronger|other|else) than\b|\balternatives?\b"
    r"|\b(?:substitute|replacement|equivalent)s? (?:for|of|to)\b"
    r"|\b(?:similar to|like|instead of|in place of)\b|替代|代替|代换|类似|相似|相当于"
    r"|比.{0,14}(?:更|好|强|快|低)",
    ANY_CASE,
)
"""Another part of the kind of the one that is named."""


_ANY_TRAIT = re.compile("|".join(pattern for pattern, _ in TRAITS), ANY_CASE)
_TRAIT_TOLD = re.compile(
    r"\b(?:low|high|fast|ultra|small|tiny|cheap|automotive|smd|rad)[- ]?(?:[a-z]+)\b"
    r"|快恢复|超快|低功耗|高压|大功率|大电流|低压降|贴片|便宜|低价|车规",
    ANY_CASE,
)  # fmt: skip
"""What a part is to have besides its kind."""


def _other_trait(words: Words) -> str:
    """What of a wish for a part the library has no word for."""
    return next((found[0] for found in _TRAIT_TOLD.finditer(_ANY_TRAIT.sub(" ", words.text))), "")


def _traits(words: Words) -> str:
    return " ".join(trait for pattern, trait in TRAITS if re.search(pattern, words.text, ANY_CASE))


def _count(words: Words) -> Ask | None:
    kind = next(
        (kind for form, kind in COUNTED if re.search(_HOW_MANY.format(kind=form), words.text, ANY_CASE)), None
    )
    return None if kind is None else replace(words.ask, query=kind)


_HOW_MANY = (
    r"\bhow many\W+(?:[\w-]+\W+){{0,2}}?(?:{kind})|(?:(?<!哪)几|多少)[个只颗].{{0,6}}(?:{kind})"
    r"|(?:{kind})[^,，]{{0,6}}(?:数量|(?:(?<!哪)几|多少)[个只颗])"
)


def _node(words: Words) -> Ask | None:
    return words.ask if words.ask.nodes else None


def _compared(words: Words) -> Ask | None:
    is_first = re.search(
        r"\b(?:first|initial|original|beginning)\b|最初|第一次|一开始|原始", words.text, ANY_CASE
    )
    return replace(studied(words), query="first" if is_first else "")


def _swap(words: Words) -> Ask | None:
    """Another type for a part: "replace Q1 by a 2N2222"."""
    numbers = list(_PART_NUMBER.finditer(words.text))
    number = numbers[-1] if numbers else None
    names = tuple(
        name
        for name in words.ask.names
        if name[0].lower() in "qxdmjz" and number is not None and name.upper() != number[0].upper()
    )
    if number is not None and not names and (kind := by_kind(words.text)).endswith("*"):
        names = (kind,)
    if len(numbers) > 1 and not names:  # "the LM358 for a TL072"
        names = (numbers[0][0],)
    if number is None or not names or SWAPS.search(words.text) is None:
        return None
    is_trial = HYPOTHESIS.search(words.text) is not None
    ask = studied(words)
    return replace(
        ask, names=names[:1], query=number[0].upper(), writes=not is_trial, value=None, unit="", bound=None
    )


def _stimulus(words: Words) -> Ask | None:
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


def _driven(words: Words) -> Ask | None:
    """What the output makes of a sine of another size, written nowhere."""
    ask = _stimulus(words)
    is_asked = any(FIGURES[key].kind == "tran" for key in words.ask.figures)
    if ask is None or ask.query != "sine" or not is_asked or (DRIVES.search(words.text) and not asks(words)):
        return None
    return replace(ask, writes=False)


def _battery(words: Words) -> Ask | None:
    """How long a battery lasts; its voltage, where it is told, is that of the supply."""
    capacity = CAPACITY.search(words.text)
    lasts = re.search(
        r"\blast\b|\bhow long\b|\blife\w*|\bhours?\b|多久|多长|寿命|小时|几天", words.text, ANY_CASE
    )
    if lasts is None or (capacity is None and not asks(words)):
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


def _clipping(words: Words) -> Ask | None:
    """How large a sine can become; nothing that is to be changed, and no cause of it."""
    is_of_device = any(name[0].lower() in "qmj" for name in words.ask.names)
    is_other = _is_wish(words) or is_of_device or re.search(r"怎么改|怎么办|是饱和", words.text, ANY_CASE)
    if is_other or not set(words.ask.figures) <= _OF_LARGE_SIGNALS or not _speaks_of_signals(words):
        return None
    return words.ask if asks(words) or len(words.text) < _SHORT else None


def _speaks_of_signals(words: Words) -> bool:
    ask = words.ask
    return bool(ask.figures or ask.nodes or ask.names) or OF_SIGNALS.search(words.text) is not None


_SHORT = 30
"""Characters of a sentence that needs no word of a question to be one."""
_LAST_PERIODS = re.compile(
    r"(?:\b(?:last|final)|最后)\s*(?P<count>\d+)\s*(?:个)?(?:switching |开关)?(?:cycles?|periods?|周期)",
    ANY_CASE,
)
"""Only the end of a curve."""
_FIRST = re.compile(r"\b(?:first|initial|beginning|opening)\b|前|开[头始]|最初", ANY_CASE)
_CURVES = frozenset({"vout", "swing", "gain", "phase", "ripple", "noise", "group_delay"})


def _plot(words: Words) -> Ask | None:
    """The curve of nodes, the output's where none is named, over frequency or time."""
    ask = words.ask
    periods = _LAST_PERIODS.search(words.text)
    if periods is not None and ask.unit == "none" and ask.span is None:
        ask = replace(ask, value=None, runs=int(float(periods["count"])))
    if _FIRST.search(words.text) and ask.span is None and "s" in (ask.unit, ask.at_unit):
        until = ask.value if ask.unit == "s" else ask.at
        ask = replace(ask, span=(0.0, until or 0.0), value=None, unit="s", at=None, at_unit="")
    ask = replace(ask, figures=tuple(key for key in ask.figures if key not in ("startup_time", "overshoot")))
    own = tuple(key for key in words.asides if FIGURES[key].of and FIGURES[key].of != "*")
    if not set(ask.figures) <= _CURVES or ask.tolerances or (ask.value is not None and ask.span is None):
        return None
    if OVER_HEAT.search(words.text) or OVER_LOAD.search(words.text):
        return None
    if not _speaks_of_signals(words) or swept_first(words.text, ask.names) != ask.names or is_over(words):
        return None  # over the values of a part: no curve of one run
    is_current = re.search(r"\bcurrents?\b|电流", words.text, ANY_CASE) is not None
    parts = ask.names or tuple(filter(None, [by_kind(words.text)])) if is_current else ()
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
        figures=(*(key for key in ask.figures if FIGURES[key].kind == "ac" or key == "vout"), *own),
        names=parts,
        nodes=(*ask.nodes, *(() if is_current else ask.names)),
        query=kind,
        span=ask.span if kind or ask.unit == "s" else None,
        runs=ask.runs,
    )


def _across(words: Words) -> Ask | None:
    """The voltage over parts."""
    is_peak = re.search(r"peak|max\w*|highest|峰值|最大|最高", words.text, ANY_CASE)
    return (
        replace(words.ask, query="peak" if is_peak else "")
        if words.ask.names and not words.ask.nodes and not _is_wish(words)
        else None
    )


def _current(words: Words) -> Ask | None:
    """Of parts; of the supply where none is named, of the inductors where these are meant."""
    ask = words.ask
    is_peak = re.search(r"peak|max\w*|saturation|峰值|最大|饱和", words.text, ANY_CASE)
    is_rms = re.search(r"\brms\b|有效值", words.text, ANY_CASE)
    peak = "peak" if is_peak and not re.search(r"valley|min\w*|lowest|谷|最小", words.text, ANY_CASE) else ""
    peak = "rms" if is_rms else peak
    if _is_wish(words) or _BEFORE_SOMETHING.search(words.text) or set(ask.figures) & _OF_RESPONSE:
        return None
    if ask.names:
        return replace(ask, query=peak)
    if re.search(r"\bload current|负载(?:的)?电流|输出电流|output current", words.text, ANY_CASE):
        return replace(ask, query=peak, names=("load",))
    if kind := by_kind(words.text):
        return replace(ask, query=peak, names=(kind,))
    if re.search(
        r"supply|quiescent|ground|total|draw|consum|battery|\binput current|电源|静态|总|消耗|耗电|输入电流",
        words.text,
        ANY_CASE,
    ):
        return replace(ask, query="supply")
    return None


_OF_RESPONSE = frozenset(
    key for key, figure in FIGURES.items()
    if not figure.is_aside and key not in ("vout", "swing", "inductor_ripple", "efficiency")
)  # fmt: skip
"""Figures that are no part of an answer about parts."""


def _is_wish(words: Words) -> bool:
    """Whether more is said than what a part has: an aim, a share, a change."""
    ask = words.ask
    left = _BECOMES.sub(" ", words.left)
    return bool(ask.tolerances or ask.value is not None or ask.span) or CHANGES.search(left) is not None


_BECOMES = re.compile(
    r"\b(?:do|does|did|will|can|could|might|may|going to|is|are)\b[^.?!,]{0,24}?\b(?:get|need)\b", ANY_CASE
)
"""Asks what happens: "how hot does Q1 get"."""


def _power(words: Words) -> Ask | None:
    if _is_wish(words):
        return None
    if words.ask.names:
        return words.ask
    if kind := "q*" if REGULATOR.search(words.text) else by_kind(words.text):
        return replace(words.ask, names=(kind,))
    return replace(words.ask, query="supply") if OF_SUPPLY.search(words.text) else None


_STATED = re.compile(
    r"\s*(?:is|are|does|do|did|will|can)\b|是否|吗[?？]?$|有没有|能不能|够不够|是不是|达到", ANY_CASE
)
"""Asks whether a figure is as told."""
_STILL = re.compile(r"\b(?:still|exactly|really)\b|还是|仍|依然|正好|刚好", ANY_CASE)
"""Asks whether a figure is the one told."""
_WHAT_THERE = re.compile(
    r"\bwhat (?:do|would|will) (?:i|we) (?:get|have|see)\b|\bhow (?:far|much) down\b|\bhow (?:many|much) db\b"
    r"|\bdb (?:down|up|is|am|of)\b|[多几]少?\s*(?:个)?\s*(?:db|分贝)|还(?:有|剩)多少",
    ANY_CASE,
)


def _figure(words: Words) -> Ask | None:  # noqa: PLR0911, PLR0912 - one a reason
    """A figure, where the rest of the sentence says nothing that would be passed over.

    A question may have any words but those that make it more than one for the figure (`OTHERWISE`); any
    other sentence nothing but the figure and neutral words.
    """
    ask = words.ask
    if not ask.figures and any(re.search(form, words.text, ANY_CASE) for form, _ in FLATNESS):
        ask = replace(ask, figures=("quality", "peaking"))  # "is this a Butterworth?"
    if not ask.figures and not words.asides and not words.mentions and BARE_FREQUENCY.search(words.left):
        ask = replace(ask, figures=("cutoff",), is_bare=True)  # "what is the frequency?"
    if not ask.figures and set(words.asides) - {"node", "power"} and not ask.names and not words.mentions:
        kind = by_kind(words.text)
        ask = replace(ask, figures=words.asides, names=(kind,) if kind and kind != "load" else ())
    if (
        not ask.figures
        and len(words.mentions) == 1
        and "Hz" in words.mentions[0].may_be
        and _WHAT_THERE.search(words.text)
    ):
        ask = replace(ask, at=words.mentions[0].value, at_unit="Hz", value=None, unit="")
    if not ask.figures and ask.at_unit == "Hz" and _WHAT_THERE.search(words.text):
        ask = replace(ask, figures=("gain",))
    if not ask.figures or ask.runs:
        return None
    wanted = FIGURES[ask.figures[0]]
    is_measured = ask.span is not None and wanted.kind in ("noise", "ac") and ask.unit in ("Hz", "none")
    is_band = "settling_time" in ask.figures and len(ask.tolerances) == 1
    if (ask.tolerances and not is_band) or (ask.span is not None and not is_measured):
        return None
    is_fitting = ask.unit in (wanted.unit, "none") and (ask.bound or _STILL.search(words.text))
    if ask.value is not None and not is_measured and not is_fitting:
        return None
    if ask.value is not None and not is_measured and not _STATED.search(words.text):
        return None
    if is_measured:
        ask = replace(ask, value=None, upper=None, bound=None)
    if QUESTION.search(words.text) is not None:
        return None if OTHERWISE.search(words.left) or _is_only_a_thing(words, ask) else ask
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


_OUTPUT_AS_THING = re.compile(r"\boutput\b(?! voltage)|输出(?!(?:的)?(?:直流|平均)?电压)", ANY_CASE)
_OF_LEVELS = re.compile(
    r"\b(?:volts?|millivolts?|mv|level|settled|steady|state|still|drops?|droops?|sags?|goes|sits?|lands?|value|dc|mean|average)\b"
    r"|[稳掉降升变偏准漂]|伏|毫伏|电平|直流|平均|多[少大高低]|[几]",
    ANY_CASE,
)


def _is_only_a_thing(words: Words, ask: Ask) -> bool:
    """Whether "output" is only what something else is asked of: "is the output inverted?"."""
    is_told = ask.at is not None or ask.value is not None
    if ask.figures != ("vout",) or is_told or _OUTPUT_AS_THING.search(words.text) is None:
        return False
    if _OF_LEVELS.search(words.left) and not re.search(r"驱动|\bstage\b", words.left, ANY_CASE):
        return False
    english = re.findall(r"[a-z][a-z'-]*", words.left, re.IGNORECASE)
    return (
        any(word.lower() not in (NEUTRAL | FILLER) - {"inverted"} for word in english) or "驱动" in words.left
    )


def _is_neutral(run: str) -> bool:
    """Whether a run of Chinese is made of neutral words only."""
    if not run:
        return True
    return any(run.startswith(word) and _is_neutral(run[len(word) :]) for word in _NEUTRAL_CHINESE)


_NEUTRAL_CHINESE = sorted(
    (word for word in NEUTRAL if re.match(r"[\u3400-\u9fff]", word)), key=len, reverse=True
)
_SAME_AS = {
    "steps_back": "undo",
    "scatter": "worst_case",
    "heat": "sweep",
    "terminal": "point",
    "advice": "limits",
    "improve": "limits",
    "other_beta": "sweep",
    "driven": "stimulus",
    "either": "limits",
    "quantities": "figure",
    "listed": "sweep",
    "regulation": "sweep",
    "duty": "figure",
    "switching": "figure",
}
_NEEDS: Mapping[str, Needs] = {
    "steps_back": _steps_back,
    "set_goal": goal_of,
    "count": _count,
    "find_part": _part,
    "heat": heated,
    "other_beta": other_beta,
    "sweep": swept,
    "tune": tuned,
    "limits": _with_figure,
    "either": _either,
    "quantities": _quantities,
    "monte_carlo": spread,
    "worst_case": spread,
    "listed": listed,
    "corners": corners,
    "regulation": regulation,
    "load_step": load_step,
    "supply_rejection": _supply_rejection,
    "dropout": _dropout,
    "duty": _duty,
    "switching": _switching,
    "advice": _advice,
    "improve": _improve,
    "what_if": what_if,
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
    "scatter": scatter,
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
_MEASURED_ALONE = frozenset({"dropout", "supply_rejection", "load_step"})
"""Intents that measure what no study does: of what it hangs on nothing is known."""
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
    words = read(text, file)
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
            and not (
                file
                or QUESTION.search(words.text)
                or ask.at is not None
                or len(" ".join(words.left.split())) < _SHORT
            )
        ):
            continue
        way: Way = "raise" if RAISE.search(words.text) else "lower" if LOWER.search(words.text) else ""
        if intent == "limits" and re.match(r"\s*(?:why|为)", words.text, ANY_CASE) is None:
            way = (
                way
                if key == "improve"
                or re.search(r"\bhow (?:can|do|could|would|should|to)\b|怎|如何", words.text, ANY_CASE)
                else ""
            )
        is_yield = intent == "monte_carlo" and (
            ask.near is not None or re.search(r"yield|良|成品|合格", words.text, ANY_CASE) is not None
        )
        if (intent in _MEASURED_ALONE or key == "regulation") and (cause := CAUSES.search(words.text)):
            is_studied = intent == "dropout"
            ask = replace(ask, query="limits") if is_studied else replace(ask, unanswered=cause[0].strip())
        if intent in _PLAIN and ask.value is not None:
            continue  # a number of it would be passed over
        judges = intent in ("monte_carlo", "worst_case") and bool(ask.figures)  # bounds of what is named
        if (
            not judges
            and key != "advice"
            and intent not in ("figure", "tune", "stimulus", "set_goal", "find_part", "battery")
        ):
            ask = replace(ask, value=None, upper=None, unit="", bound=None)
        return replace(ask, intent=intent, way=way if intent == "limits" else ask.way, is_yield=is_yield)
    return None


def nearest_question(text: str, file: str, known: Sequence[str]) -> Ask | None:
    """The question for what a sentence names, where the whole of it was not understood; None for no question.

    Its figures, else its parts; what more it asks has no answer, and that is to be said with it.
    """
    text = without_courtesies(text)
    if not file:
        file, text = named_by_stem(text, known)
    words = read(text, file)
    ask = of_kind(looked_at(words), words.text)
    if not (file or known) or (not file and DESIGNED.search(words.text)):
        return None
    if not asks(words) and not (ask.figures and _begins_with(words, ask.figures[0])):
        return None
    place = (ask.at, ask.at_unit) if ask.at_unit else (None, "")
    near = Ask(intent="figure", file=file, is_nearest=True)
    if ask.span is not None and ask.unit == "Hz":
        near = replace(near, span=ask.span, unit=ask.unit)
    figures = tuple(key for key in ask.figures if key not in OF_PARTS_OR_SUPPLY) or ask.figures
    removed = removed_in(words.text)
    if figures and (removed or ask.parameters) and "it" not in removed:
        return replace(
            near, intent="what_if", figures=figures[:3], names=ask.names, removed=removed,
            parameters=ask.parameters, at=place[0], at_unit=place[1], place=ask.place,
        )  # fmt: skip
    if figures:
        own = tuple(name for name in ask.names if name.endswith("*") or any(map(str.isdigit, name)))
        return replace(
            near, figures=figures[:3], nodes=ask.nodes, at=place[0], at_unit=place[1], place=ask.place,
            names=own if any(FIGURES[key].of for key in figures) else (),
        )  # fmt: skip
    parts = tuple(name for name in ask.names if any(sign.isdigit() for sign in name))
    return replace(near, intent="role", names=parts) if parts else None


def _begins_with(words: Words, key: str) -> bool:
    """Whether a figure is what a sentence begins with: "settling time to 0.1 % for a 1 V step"."""
    found = re.match(rf"\s*(?:the\s+)?(?:{FIGURES[key].words})", words.text, ANY_CASE | re.ASCII)
    return found is not None and (bool(words.mentions) or _TELLS.search(words.text) is None)


_TELLS = re.compile(
    r"\b(?:is|are|was|were|has|looks?|seems?|must|should|matters?|sounds?)\b|[很太要是得真挺]", ANY_CASE
)
"""Says something of a figure instead of asking for it."""


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


def follow_up(text: str, file: str, previous: Ask, known: Sequence[str]) -> Ask | None:
    """The question before with what this sentence puts in another way; None when it does not lean on it."""
    if LEANS.search(text.strip()) is None:
        return None
    if not file:
        file, text = named_by_stem(text, known)
    words = read(text, file)
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
    if unit in PLACE_UNITS:
        return {"at": value, "at_unit": unit}
    if len(previous.parameters) == 1 and previous.parameters[0][0] != "temp":
        return {"parameters": ((previous.parameters[0][0], number(value)),)}
    return {}


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
    words = read(text, "")
    ask = studied(words)
    if not ask.figures:
        return None
    place = (ask.at, ask.at_unit) if ask.at_unit else (None, "")
    return Ask(
        intent="figure", figures=ask.figures, nodes=ask.nodes, at=place[0], at_unit=place[1], place=ask.place
    )


def holds_nothing(text: str) -> bool:
    """Whether a sentence names no figure, part, node or number."""
    words = read(text, "")
    ask = words.ask
    return not (
        ask.figures or words.asides or ask.names or ask.nodes or words.mentions or ask.kept or words.terms
    )


def band_of(text: str) -> tuple[float, float, int] | None:
    """From which to which frequency a sentence wants an analysis, and its points a decade."""
    words = read(text, "")
    if words.ask.span is None or words.ask.unit != "Hz":
        return None
    points = next((each.value for each in words.mentions if _A_DECADE.match(words.text, each.end)), None)
    return min(words.ask.span), max(words.ask.span), int(points) if points else _POINTS_A_DECADE


_A_DECADE = re.compile(r"\s*(?:pts?|points?|个?点|steps)\s*(?:/|per|a|每)?\s*(?:dec\w*|十倍频程)?", ANY_CASE)
_POINTS_A_DECADE = 20


def conditions_in(text: str) -> tuple[tuple[str, str], ...]:
    """The conditions a sentence tells: a load, a supply, a temperature, values of parts."""
    return read(text, "").ask.parameters


def says_nothing(text: str) -> bool:
    """Whether a clause holds no figure, part, number or wish: "it made things worse"."""
    return holds_nothing(text) and CHANGES.search(text) is None and re.search(r"[?？]|吗", text) is None
