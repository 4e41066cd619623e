"""What is looked at over many runs: values of a part, temperatures, tolerances, a load that jumps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from infrastructure.llm_adapters.builtin.aims import looked_at, studied
from infrastructure.llm_adapters.builtin.figures import FIGURES
from infrastructure.llm_adapters.builtin.reading import Ask, Words, asks, list_from, read
from infrastructure.llm_adapters.builtin.words import (
    ANY_CASE,
    BETA,
    CORNERS,
    HEATS,
    HYPOTHESIS,
    MOVED_BY,
    OVER_HEAT,
    OVER_LOAD,
    QUESTION,
    REGULATION,
    SUPPLIES,
    WHOLE_BETA,
    WITHIN_DB,
)


def swept(words: Words) -> Ask | None:  # noqa: PLR0911 - one a thing that is swept
    ask = replace(studied(words), runs=_steps(words))
    if (beta := _beta(words)) is not None:
        return beta
    if not ask.names and ask.span is not None and ask.unit in ("V", "none") and re.search(
        SUPPLIES, words.text, ANY_CASE
    ):  # fmt: skip
        return replace(ask, names=("supply",), value=None, upper=None, unit="")
    if not ask.names and ask.span is None and OVER_LOAD.search(words.text) and ask.figures:
        return replace(ask, names=("load",), value=None, upper=None, unit="")
    if (
        not ask.names
        and ask.span is not None
        and ask.unit in ("Ohm", "A")
        and re.search(r"\bload|负载", words.text, ANY_CASE)
    ):
        return replace(ask, names=("load",), value=None, upper=None, unit="")
    if ask.span is None and not ask.runs and not _VARIES.search(words.text):
        return None
    if ask.names or (ask.span is not None and HEATS.search(words.text)):
        names = swept_first(words.text, ask.names)
        others = names[1:] if any(FIGURES[key].of for key in ask.figures) else ()
        return replace(ask, names=(*names[:1], *others), value=None, upper=None, unit="")
    return None


_VARIES = re.compile(r"\b(?:sweep\w*|step\w*|vary\w*|varies|versus|vs|function of)\b|扫|随|变化", ANY_CASE)


_OVER = (
    r"\b(?:sweep(?:ing)?|step(?:ping)?|vary(?:ing)?|versus|vs\.?|over|against|across|function of)"
    r"\s+(?:the\s+)?{name}\b"
    r"|{name}\s*(?:的值)?\s*(?:from|between|varies|goes|is swept|从|由|变化|扫)|(?:扫描?|随)\s*{name}"
)


def swept_first(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The parts, first the one whose value is varied: the others are those that are looked at."""
    varied = [name for name in names if re.search(_OVER.format(name=re.escape(name)), text, ANY_CASE)]
    return tuple(dict.fromkeys((*varied[:1], *names)))


def is_over(words: Words) -> bool:
    """Whether something is looked at over the values of its only part."""
    names = words.ask.names
    return bool(names) and re.search(_OVER.format(name=re.escape(names[0])), words.text, ANY_CASE) is not None


_STEP = re.compile(r"\s*(?:V|A|mA|ohm)?\s*(?:steps?|increments?|per step|步进|一步)", ANY_CASE)


_STEP_BEFORE = re.compile(
    r"(?:\bsteps? of|\bincrements? of|\bstep(?: size)?|步进|步长|每(?:次|步)?|间隔)\s*(?:为|是|=)?\s*$",
    ANY_CASE,
)


_MOST_STEPS = 101


def _steps(words: Words) -> int | None:
    """How many values a sweep has: told, or by the size of a step."""
    ask = words.ask
    if ask.runs is not None or ask.span is None:
        return ask.runs
    for mention in words.mentions:
        before, after = words.text[: mention.start], words.text[mention.end :]
        if not (_STEP_BEFORE.search(before) or _STEP.match(after)) or not mention.value > 0:
            continue
        count = round((max(ask.span) - min(ask.span)) / mention.value) + 1
        return count if 1 < count <= _MOST_STEPS else None
    return None


def _beta(words: Words) -> Ask | None:
    """Over a range of current gains."""
    ask = studied(words)
    is_varied = ask.span is not None or (_VARIES.search(words.text) and not words.mentions)
    if not is_varied or WHOLE_BETA.search(words.text) is None:
        return None
    others = read(WHOLE_BETA.sub(" ", words.text), ask.file)  # "current gain" names no gain
    figures = studied(others).figures or ("collector_current",)
    return replace(ask, figures=figures, names=("beta",), value=None, upper=None, unit="", parameters=())


def other_beta(words: Words) -> Ask | None:
    """With another current gain: beside the transistor's own."""
    found = BETA.search(words.text)
    if found is None or words.ask.span is not None or not (asks(words) or HYPOTHESIS.search(words.text)):
        return None
    ask, beta = studied(words), float(found["value"])
    figures = tuple(key for key in ask.figures if key != "gain" or "增益" not in found[0])
    return Ask(
        intent="sweep",
        file=ask.file,
        figures=figures or ("collector_current", "collector_emitter"),
        names=("beta",),
        span=(beta, beta),
    )


_OF_CHANCE = re.compile(
    r"monte|蒙特|\byields?\b|良|成品|合格|\bspread\b|\bscatter\w*|分散|离散|worst|最[坏差]|极限|±|误差|偏差|公差"
    r"|(?<!cut )(?<!cut-)\boff by\b|\btoleranc|公差|容差",
    ANY_CASE,
)


def spread(words: Words) -> Ask | None:
    """Over the tolerances of parts; over a range of current gains it is a sweep."""
    if words.ask.span is not None and WHOLE_BETA.search(words.text) and not words.ask.tolerances:
        return None
    ask = studied(words)
    return ask if ask.tolerances or _OF_CHANCE.search(words.text) else None


_TAKES = (
    r"(?<![A-Za-z0-9_]){name}\s*(?:的值)?\s*"
    r"(?:=|:|at|of|to|values?|set to|is|with|for|分别|各|依次|取|为|是|设为?|改为?|成|到)*\s*"
)


_SWAPPED = re.compile(r"(?:从|由)\s*[\d.]+\s?\w*\s*[换改]成?到?", ANY_CASE)
"""One value in place of another: "C1从10n换到22n"."""


def listed(words: Words) -> Ask | None:
    """A part at several values one by one: "ILOAD at 10m, 50m and 100m"."""
    ask = looked_at(words)
    if ask.tolerances or ask.span is not None:
        is_swapped = ask.names and ask.figures and _SWAPPED.search(words.text) and asks(words)
        if ask.tolerances or not is_swapped:
            return None
        return replace(ask, points=ask.span or (), span=None, value=None, upper=None, unit="")
    for name in words.ask.names:
        for found in re.finditer(_TAKES.format(name=re.escape(name)), words.text, ANY_CASE):
            is_loose = re.match(r"\W*(?:step|sweep|try|run)\b|.{0,4}扫", words.text, ANY_CASE) is not None
            values = list_from(words.text, words.mentions, found.end(), is_loose=is_loose)
            if len(values) > 1:
                return replace(
                    ask, names=(name, *(each for each in ask.names if each != name)), points=values,
                    value=None, upper=None, unit="", parameters=(), at=None, at_unit="", also=(),
                )  # fmt: skip
    return None


_CURRENT_SOURCE = re.compile(r"[iI](?:\d|load|out|sink)\w*|I[A-Z]+\d*")


def regulation(words: Words) -> Ask | None:
    """How far the output follows its supply or its load: over the range told, else a tenth to either side."""
    kind = next((found for _, term in words.terms if (found := REGULATION.search(term))), None)
    ask = words.ask
    if kind is None or ask.figures or ask.tolerances:
        return None
    name = "supply" if kind["line"] else "load"
    return replace(ask, figures=("vout",), names=(name,), value=None, upper=None, unit="", bound=None)


def load_step(words: Words) -> Ask | None:
    """A current source that jumps, and what the output makes of it: "step ILOAD from 1 mA to 100 mA"."""
    ask = words.ask
    names = tuple(name for name in ask.names if _CURRENT_SOURCE.fullmatch(name))
    if not names or ask.span is None or ask.tolerances or _STEP_SIZE.search(words.text):
        return None
    if not set(ask.figures) <= {"vout", "swing", "peak_out", "settling_time", "overshoot"}:
        return None
    return replace(ask, names=names[:1], figures=(), value=None, upper=None, unit="", parameters=())


_STEP_SIZE = re.compile(r"\bsteps\b(?! (?:from|to))|\bstep (?:of|size)|\bsweep|扫|步进|步长", ANY_CASE)
"""Speaks of the values of a sweep."""


def heated(words: Words) -> Ask | None:
    """A range of temperatures."""
    ask = studied(words)
    if ask.points or (OVER_HEAT.search(words.text) and ask.span is None and not ask.parameters):
        return replace(ask, names=("temp",), value=None, upper=None, unit="")
    is_heat = (
        HEATS.search(words.text)
        or (ask.span is not None and ask.span[0] < 0)
        or any(m.dimension == "degC" for m in words.mentions)
        or re.search(r"\d\s*(?:度|degrees?)|\d\s?c(?![a-z])", words.text, ANY_CASE)
    )
    if ask.span is None or not is_heat or ask.unit not in ("", "none"):
        return None
    return replace(ask, names=("temp",), value=None, upper=None, unit="", parameters=())


def corners(words: Words) -> Ask | None:
    """Over the corners of supply and temperature: without the frequency that a corner is, too."""
    is_process = re.search(r"process|pvt|工艺|\b(?:ss|tt|ff)\b", words.text, ANY_CASE) is not None
    rest = CORNERS.sub(" ", words.text)
    ask = studied(read(rest, words.ask.file))
    heat = tuple(each.value for each in words.mentions if each.dimension in ("degC", "none"))
    is_other = any(name != "temp" for name, _ in ask.parameters) or any(
        each.dimension not in ("degC", "none", "%") for each in words.mentions
    )
    if is_other:
        return None
    return replace(
        ask, query="process" if is_process else "", points=heat if ask.span is None else (), value=None,
        unit="", parameters=(),
    )  # fmt: skip


def scatter(words: Words) -> Ask | None:
    """A question for a figure where parts have tolerances: how far it may go."""
    ask = studied(words)
    if (
        not ask.figures or "settling_time" in ask.figures or MOVED_BY.search(words.text)
    ):  # within so many percent
        return None
    room = WITHIN_DB.search(words.text)
    if room is not None and ask.unit == "dB" and FIGURES[ask.figures[0]].unit == "dB":
        ask = replace(ask, value=None, upper=None, unit="", bound=None, room=float(room["room"]))
    return ask if ask.tolerances and ask.value is None and QUESTION.search(words.text) else None
