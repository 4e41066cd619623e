"""What a figure has to come to, as a wish or a goal of a sentence tells it."""

from __future__ import annotations

import re
from dataclasses import replace

from infrastructure.llm_adapters.builtin.figures import FIGURES
from infrastructure.llm_adapters.builtin.reading import (
    NO_GAIN,
    Ask,
    Way,
    Words,
    bound_of,
    read,
)
from infrastructure.llm_adapters.builtin.words import (
    ANY_CASE,
    ASKED_LATER,
    BARE_FREQUENCY,
    BY_SO_MUCH,
    FLATNESS,
    HYPOTHESIS,
    LOWER,
    TIMES,
    TO_KNOW,
    WHAT_VALUE,
)

# --- which intent -------------------------------------------------------------------------------------


def studied(words: Words) -> Ask:
    """The sentence, with the quantities of parts where it names no figure of the response."""
    ask = words.ask
    if not ask.figures and not words.asides and BARE_FREQUENCY.search(words.left):
        return replace(ask, figures=("cutoff",), is_bare=True)
    return ask if ask.figures else replace(ask, figures=words.asides)


def looked_at(words: Words) -> Ask:
    """The sentence with all it names that can be measured: figures of the response, quantities of parts."""
    own = tuple(key for key in words.asides if key != "node" or not words.ask.figures)
    return replace(words.ask, figures=tuple(dict.fromkeys((*words.ask.figures, *own))))


def goal_of(words: Words) -> Ask | None:
    ask = studied(words)
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


def tuned(words: Words) -> Ask | None:
    """A figure and what it has to come to, in its unit."""
    ask = studied(words)
    if not ask.figures and "Hz" in (ask.unit, ask.at_unit) and not ask.parameters and not words.ask.names:
        # a wish in hertz, of a circuit that is there
        ask = replace(ask, figures=("cutoff",), is_bare=True)
    if not ask.figures and not ask.names and not ask.parameters and _is_of_frequency(words):
        ask = replace(ask, figures=("cutoff",), unit="Hz", is_bare=True)  # "retune the filter to 3.4k"
    if not ask.figures and ask.at_unit == "Hz" and WHAT_VALUE.search(words.text) and words.ask.names:
        ask = replace(ask, figures=("cutoff",), is_bare=True)  # "what would C1 have to be for 1 kHz"
    if not ask.figures and ask.unit == "A" and len(ask.names) == 1 and ask.names[0][0].lower() in "qm":
        is_bipolar = ask.names[0][0].lower() == "q"
        ask = replace(ask, figures=("collector_current" if is_bipolar else "drain_current",))
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
    aimed = _change_of(words, ask) or _aimed(words, ask) or _of_its_own(words, ask)
    if aimed is None:
        return _by_clauses(words, ask)
    if aimed.bound == "at_most" and _UP_TO.search(words.text):
        aimed = replace(aimed, bound=None)
    # "at CL = 10p": a condition, no part to be turned
    fixed = tuple(name for name in aimed.names if name in dict(aimed.parameters))
    names = tuple(name for name in aimed.names if name not in fixed)
    besides = () if ask.kept or ask.only else _other_aims(words.text, ask.figures[0])
    return replace(aimed, figures=ask.figures[:1], names=names, kept=(*ask.kept, *fixed), besides=besides)


_TUNED_BY_FREQUENCY = re.compile(
    r"\b(?:re-?)?tun(?:e|ed|ing)\b|\b(?:filter|oscillator|low-?pass|high-?pass|band-?pass)\b|滤波器|振荡器|[低高带]通|调谐",
    ANY_CASE,
)
"""Of what a bare number with a scale is a frequency."""


def _is_of_frequency(words: Words) -> bool:
    """Whether the only quantity of a wish is a frequency that does not say its unit."""
    mention = words.mentions[0] if len(words.mentions) == 1 else None
    return (
        mention is not None
        and mention.dimension == "none"
        and "Hz" in mention.may_be
        and _TUNED_BY_FREQUENCY.search(words.text) is not None
    )


def _aimed(words: Words, ask: Ask) -> Ask | None:
    """The wish with what its figure has to come to; None where no quantity of the sentence is that."""
    wanted = FIGURES[ask.figures[0]].unit
    if ask.share is not None and ask.value is None and wanted == "V":
        return ask
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
        bound = share.bound or bound_of(words.text[: share.start], words.text[share.end :])
        return replace(ask, value=ask.tolerances[0][1], bound=bound, unit="1", tolerances=())
    if wanted == "deg" and ask.unit in ("none", "deg"):
        fits = True
    if ask.value is None or not fits:
        return None
    if wanted == "dB" and ask.unit == "none" and ask.value >= NO_GAIN:  # "RL to 100k, and the gain?"
        return None
    if wanted == "dB" and ask.unit == "none" and not re.search(r"db", words.text, ANY_CASE):
        ask = replace(ask, unit="x")
    return ask


def _by_clauses(words: Words, ask: Ask) -> Ask | None:
    """The aims of the clauses, each of a figure of its own: the first is the one that is brought about."""
    first, *others = _other_aims(words.text, "") or (None,)
    if first is None or not others:
        return None
    return replace(
        ask, figures=first.figures, value=first.value, upper=None, span=None, unit=first.unit,
        bound=first.bound, besides=tuple(others),
    )  # fmt: skip


def _of_its_own(words: Words, ask: Ask) -> Ask | None:
    """The wish with the first quantity behind its figure that is in its unit: others are bounds of others."""
    wanted = FIGURES[ask.figures[0]]
    named = re.search(wanted.words, words.text, ANY_CASE | re.ASCII)
    for mention in words.mentions:
        is_behind = named is not None and mention.start >= named.end()
        if is_behind and mention.upper is None and wanted.unit in (mention.dimension, *mention.may_be):
            bound = mention.bound or bound_of(words.text[: mention.start], words.text[mention.end :])
            return replace(ask, value=mention.value, upper=None, span=None, unit=wanted.unit, bound=bound)
    return None


def _change_of(words: Words, ask: Ask) -> Ask | None:
    """A figure that is to change by so much, in its unit, as a factor or in percent."""
    wanted = FIGURES[ask.figures[0]].unit
    for mention in words.mentions:
        told = BY_SO_MUCH.search(words.text[: mention.start])
        if told is None or mention.dimension not in (wanted, "%", "x", "none") or mention.upper is not None:
            continue
        is_once = mention.dimension == "x" and mention.value == 1 and told["zh_more"]  # 提高一倍
        is_less = told["zh_less"] or (not told["zh_more"] and LOWER.search(words.text))
        way: Way = "lower" if is_less else "raise"
        return replace(
            ask, figures=ask.figures[:1], value=2.0 if is_once else mention.value, upper=None,
            unit=mention.dimension, bound=None, tolerances=(), is_change=True, way=way,
        )  # fmt: skip
    times = None if words.mentions or ask.parameters or words.ask.names else TIMES.search(words.text)
    if times is None or HYPOTHESIS.search(words.text):
        return None
    return replace(
        ask, figures=ask.figures[:1], value=2.0, unit="x", bound=None, is_change=True,
        way="raise" if times["twice"] else "lower",
    )  # fmt: skip


_UP_TO = re.compile(
    r"\b(?:bump|push|move|raise|bring|shift|get|increase|crank|put|take)\b[^.,;]*\bup to\b", ANY_CASE
)
"""Says where to, not at most how far."""
_AIMS = re.compile(
    r"[,，;；、]|(?:的)?(?:前提|条件)下|\b(?:and|but|with|while|yet)\b|但是?|同时|并且|而且|且", ANY_CASE
)
"""Between the aims of one wish."""


def _other_aims(text: str, first: str) -> tuple[Ask, ...]:
    """Figures of other clauses that have a bound of their own: "a gain of 50, but Ic at most 2 mA"."""
    found: list[Ask] = []
    for clause in filter(None, (each.strip() for each in _AIMS.split(text))):
        words = read(clause, "")
        key = next(iter(words.ask.figures or words.asides), "")
        aim = words.ask
        if not key or key in (first, *(each.figures[0] for each in found)) or aim.bound is None:
            continue
        if aim.value is not None and aim.unit in (FIGURES[key].unit, "none") and key != "node":
            found.append(
                Ask(intent="figure", figures=(key,), value=aim.value, unit=aim.unit, bound=aim.bound)
            )
    return tuple(found)


def wished(text: str, file: str) -> Ask | None:
    """A figure and what it has to come to, where a clause names both."""
    return tuned(read(text, file))
