"""What a sentence says that its reading has no use for: before anything is done, all of it is accounted for.

A reading picks what it needs out of a sentence. What it leaves is looked at here: quantities, figures and
parts that stand in no field of the command, terms that nothing here measures, and words of other trades. A
request that writes is not carried out then; a question is answered, and told what was left out.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cache

from domain.circuit.numbers import parse_number
from infrastructure.llm_adapters.builtin import words as vocabulary
from infrastructure.llm_adapters.builtin.figures import FIGURES
from infrastructure.llm_adapters.builtin.reading import Ask, Words, read
from infrastructure.llm_adapters.builtin.words import (
    ANY_CASE,
    DROPOUT,
    EVENTS,
    FILLER,
    KINDRED,
    NAMES_A_THING,
    NEUTRAL,
    REGULATION,
    SUPPLY_REJECTION,
    SWITCHING,
    UNDERSHOOT,
)

Values = Sequence[tuple[str, str]]


def left_out(text: str, asks: Sequence[Ask], values: Values = ()) -> tuple[str, ...]:
    """What of a sentence none of these readings uses, as it stands there; `values` are those that change.

    In the order of the sentence. Words that nothing of the trade is known by are not among it (`foreign`).
    """
    words = read(text, "")
    left = [
        *(each for each in words.terms if not _is_measured(each[1], asks)),
        *_quantities(words, asks, values),
        *_shares(words, asks, values),
        *_figures(words, asks),
        *_parts(words, asks, values),
    ]
    return tuple(dict.fromkeys(found for _, found in sorted(left)))


def unmeasured(text: str, asks: Sequence[Ask] = ()) -> tuple[str, ...]:
    """What a sentence names that nothing here measures; beside a figure only what it asks this figure of."""
    is_stepped = any(ask.intent == "load_step" for ask in asks)
    if not is_stepped and (
        events := tuple(dict.fromkeys(found[0].strip() for found in EVENTS.finditer(text)))
    ):
        return events
    words = read(text, "")
    terms = tuple(dict.fromkeys(name for _, name in words.terms if not _is_measured(name, asks)))
    is_answered = any((ask.names or ask.nodes) and not ask.is_nearest for ask in asks)
    if words.ask.figures or words.asides or is_answered:
        terms = tuple(name for name in terms if _is_subject(text, name))
    return terms


_MEASURED_BY = {
    "supply_rejection": SUPPLY_REJECTION,
    "dropout": DROPOUT,
    "sweep": REGULATION,
    "load_step": UNDERSHOOT,
}
"""Terms that one intent has a measurement for."""


def _is_measured(term: str, asks: Sequence[Ask]) -> bool:
    if any("drive_frequency" in ask.figures for ask in asks) and SWITCHING.fullmatch(term):
        return True
    forms = (_MEASURED_BY.get(ask.intent) for ask in asks)
    return any(form is not None and form.search(term) is not None for form in forms)


def strangers(text: str) -> tuple[str, ...]:
    """The words of no trade of ours that a sentence is about: "how much power does a politician have?"."""
    words = read(text, "")
    if words.ask.names or words.ask.nodes or len(words.ask.figures) > 1:
        return ()
    return tuple(word for word in foreign(text) if _is_subject(text, word))


def respelt(text: str) -> str:
    """The text with the words of the trade that are misspelt by a letter put right: "efficency"."""
    for word in _LONG_WORD.findall(text):
        if not _is_known(word) and (
            near := difflib.get_close_matches(word, _long_words(), n=1, cutoff=_ALIKE)
        ):
            text = text.replace(word, near[0])
    for word in _WORD.findall(text):
        swapped = {f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}" for at in range(len(word) - 1)}
        meant = sorted(swapped & _vocabulary()[0])
        if len(meant) == 1 and not _is_known(word):
            text = re.sub(rf"\b{word}\b", meant[0], text)  # "frist"
    return text


_WORD = re.compile(r"(?<![A-Za-z0-9_./(-])[a-z]{4,}(?![A-Za-z0-9_(]|\.\w)")
"""A word that is known with two of its letters swapped."""


_LONG_WORD = re.compile(r"(?<![A-Za-z0-9_./(-])[a-z]{6,}(?![A-Za-z0-9_(]|\.\w)")
"""A word that is known in spite of a wrong letter."""
_ALIKE = 0.88


def _is_subject(text: str, word: str) -> bool:
    """Whether the sentence asks for something of this."""
    name = re.escape(word)
    if not word.isascii():
        return re.search(rf"{name}(?:的(?!是|时候|情况|条件)|有(?:多|什么|几))", text) is not None
    return (
        re.search(
            rf"\b(?:of|does|do|did|has|from|will|can)\s+(?:an?\s+|the\s+|my\s+|our\s+)?{name}\b",
            text,
            ANY_CASE,
        )
        is not None
    )


def _quantities(words: Words, asks: Sequence[Ask], values: Values) -> Iterator[tuple[int, str]]:
    used = [*_numbers(asks), *_numbers_in(tuple(text for _, text in values))]
    used += [number / 100 for name, text in values if name == "duty" for number in _numbers_in(text)]
    told, end = _as_written(words), 0
    for mention in words.mentions:
        begin, end = end, mention.end
        before = words.text[: mention.start]
        if _TOLD_ASIDE.search(before) or NAMES_A_THING.match(words.text, mention.end):
            continue
        if values and (_FROM.search(before) or _INTO.match(words.text, mention.end)):
            continue
        if mention.dimension == "x" and mention.value == 1 and any(ask.is_change for ask in asks):
            continue
        sizes = [mention.value] if mention.upper is None else [mention.value, mention.upper]
        if not all(any(_is_same(size, number) for number in used) for size in sizes):
            yield mention.start, _phrase(told[begin : mention.end], mention.start - begin)


_TOLD_ASIDE = re.compile(r"(?:\b(?:instead of|rather than|not) (?:the )?|而不是|不是)\s*$", ANY_CASE)
"""Before a quantity that only says what is there now."""
_FROM = re.compile(r"(?:\bfrom|从|由)\s*$", ANY_CASE)
"""Before the value that is to be changed."""
_INTO = re.compile(r"\s*(?:[-=]>|→)")


def _numbers(asks: Sequence[Ask]) -> list[float]:
    """Every number that stands in a reading."""
    found: list[float] = []
    for ask in asks:
        has_no_place = ask.intent in _AT_A_PLACE and not any(FIGURES[key].at for key in ask.figures)
        for field in fields(ask):
            if not (field.name == "at" and has_no_place):  # "ripple at 200 kHz"
                found += _numbers_in(getattr(ask, field.name))
        if ask.span is not None and ask.runs and ask.runs > 1:
            found.append((max(ask.span) - min(ask.span)) / (ask.runs - 1))  # the size of a step
    return found


_AT_A_PLACE = frozenset({"figure", "tune", "what_if", "sweep", "monte_carlo", "worst_case"})
"""Intents that look at figures at a place, where these have one."""


def _numbers_in(part: object) -> list[float]:
    match part:
        case bool():
            return []
        case int() | float():
            return [float(part)]
        case str():
            return [*_of_value(part), *(float(each) for each in re.findall(r"\d+(?:\.\d+)?", part))]
        case Ask():
            return _numbers([part])
        case tuple():
            return [number for each in part for number in _numbers_in(each)]
    return []


def _of_value(text: str) -> list[float]:
    """A value as SPICE reads it; of a factor the change too: ``*1.15`` is 15 % more."""
    try:
        number = parse_number(text.removeprefix("*"))
    except ValueError:
        return []
    return [number, abs(number - 1)] if text.startswith("*") else [number]


def _is_same(one: float, other: float) -> bool:
    return abs(abs(one) - abs(other)) <= 1e-6 * max(abs(one), abs(other))


def _shares(words: Words, asks: Sequence[Ask], values: Values) -> Iterator[tuple[int, str]]:
    """What something is to be against what it is: "halved"."""
    texts = [text for _, text in (*values, *(each for ask in asks for each in ask.parameters))]
    is_used = any(text.startswith("*") for text in texts) or any(
        ask.share is not None or (ask.is_change and ask.unit == "x") for ask in asks
    )
    found = None if is_used else _AGAINST_NOW.search(words.left)
    if found is not None:
        yield found.start(), found[0]


_AGAINST_NOW = re.compile(
    r"\b(?:doubl(?:e[ds]?|ing)|halv(?:e[ds]?|ing)|twice as|half as|by half)\b"
    r"|减半|加倍|翻倍|翻一?番|[降减少提增]\S{0,2}一[半倍]",
    ANY_CASE,
)


def _figures(words: Words, asks: Sequence[Ask]) -> Iterator[tuple[int, str]]:
    used = {key for ask in asks for key in _figures_of(ask)}
    if any(ask.intent == "find_part" for ask in asks):
        return
    if not any(ask.intent in _ALL_OF_A_PART for ask in asks):
        for key in words.asides:
            if FIGURES[key].of and not used & _TOLD_WITH.get(key, {key}):
                found = re.search(FIGURES[key].words, words.left, ANY_CASE | re.ASCII)
                if found is not None:
                    yield found.start(), found[0]
    for key in (*words.ask.figures, *filter(None, [words.ask.place.partition("*")[2] or words.ask.place])):
        if not any(key == own or {key, own} <= group for own in used for group in KINDRED):
            found = re.search(FIGURES[key].words, words.text, ANY_CASE | re.ASCII)
            if found is not None:
                yield found.start(), found[0]


def _figures_of(ask: Ask) -> tuple[str, ...]:
    """The figures a reading answers, with those its plan tells besides."""
    kept = (each.removeprefix("figure:") for each in ask.kept if each.startswith("figure:"))
    figures = ask.figures[:1] if ask.intent == "tune" else ask.figures
    besides = (key for each in ask.besides for key in each.figures)
    return (
        *figures,
        *besides,
        ask.place.partition("*")[2] or ask.place,
        *kept,
        *_TOLD_BY.get(ask.intent, ()),
    )


_ALL_OF_A_PART = frozenset(
    {"point", "current", "power", "losses", "across", "what_if", "sweep", "voltage", "conduction", "battery",
     "supply", "role", "node", "ports", "limits", "clipping", "count", "find_part", "output_impedance"}
)  # fmt: skip
"""Intents whose answers tell, or are about, quantities of parts without being named."""
_TOLD_WITH = {
    "collector_current": {"collector_current", "drain_current", "current"},
    "drain_current": {"collector_current", "drain_current", "current"},
    "power": {"power", "efficiency"},
    "current": {"current", "inductor_ripple", "collector_current", "drain_current", "inductor_peak"},
    "inductor_peak": {"inductor_peak", "inductor_ripple"},
}
_TOLD_BY = {
    "clipping": ("swing", "thd", "vout", "gain"),
    "dropout": ("vout",),
    "corners": ("cutoff",),
    "load_step": ("vout", "swing", "peak_out", "overshoot"),
    "point": ("collector_current", "vout"),
    "output_impedance": ("vout",),
    "across": ("vout",),
    "voltage": ("vout",),
    "current": ("vout",),
    "power": ("vout",),
    "losses": ("efficiency",),
    "node": ("vout",),
    "ports": ("vout",),
    "stimulus": ("vout", "swing", "gain", "overshoot", "settling_time"),
    "plot": ("vout", "swing", "ripple", "startup_time", "overshoot"),
    "conduction": ("inductor_ripple", "vout"),
    "battery": ("vout",),
    "role": ("vout",),
    "supply": ("vout",),
    "sweep": ("vout",),
    "what_if": ("vout",),
}
"""What the answer to a question holds, or is about, without being named."""


def _parts(words: Words, asks: Sequence[Ask], values: Values) -> Iterator[tuple[int, str]]:
    used = {name.partition(".")[0].lower() for name, _ in values}
    for ask in asks:
        own = (*ask.names, *ask.nodes, *ask.removed, *ask.kept, *dict(ask.parameters), *ask.query.split())
        used |= {name.partition(".")[0].lower() for name in own}
    if asks and all(
        ask.intent == "figure" and not any(FIGURES[key].of for key in ask.figures) for ask in asks
    ):
        used -= {name.lower() for name in words.ask.names if _is_part_asked_of(words, name)}
    for name in (*words.ask.names, *words.ask.nodes):
        if name.partition(".")[0].lower() not in used and not any(ask.intent == "find_part" for ask in asks):
            yield words.text.find(name), name


def _is_part_asked_of(words: Words, name: str) -> bool:
    """Whether a figure of the response is asked of one passive part: "the slew rate of R1"."""
    own = re.escape(name)
    is_asked = re.search(rf"\bof\s+{own}\b|(?<![A-Za-z0-9]){own}\s*的", words.text)
    return is_asked is not None and name[0].lower() in "rcld" and name not in dict(words.ask.parameters)


_BEFORE = re.compile(r"(?:[A-Za-z-]+\s+){0,2}$|[\u3400-\u9fff]{0,3}\s*$")


def _as_written(words: Words) -> str:
    """The text with the terms that are blanks in it."""
    text = words.text
    for start, term in words.terms:
        text = f"{text[:start]}{term}{text[start + len(term) :]}"
    return text


def _phrase(text: str, start: int) -> str:
    """A quantity at the end of a text, with the words before it: "driving 5 pF"."""
    before = _BEFORE.search(text[:start])
    return f"{before[0].lstrip() if before is not None else ''}{text[start:]}".strip()


def foreign(text: str) -> tuple[str, ...]:
    """The words of a sentence that nothing of the trade is known by, and that are no common ones."""
    plain = read(text, "").text
    english = [
        word
        for word in re.findall(r"(?<![A-Za-z0-9_./-])[a-z][a-z'’]{2,}(?![A-Za-z0-9_]|\.\w)", plain, ANY_CASE)
        if word.islower() and not _is_known(word.replace("’", "'").removesuffix("'s"))
    ]
    chinese = [run for run in re.findall(r"[\u3400-\u9fff]+", plain) for run in _unknown_in(run)]
    return tuple(dict.fromkeys((*english, *chinese)))


_ENDINGS = re.compile(r"(?:s|es|d|ed|ing|ly|er|est|n't)?")


def _is_known(word: str) -> bool:
    known, stems = _vocabulary()
    if word in known or word in NEUTRAL or word in FILLER:
        return True
    return any(
        word[:size] in stems and (_ENDINGS.fullmatch(word[size:]) or size > 4) for size in range(3, len(word))
    )


def _unknown_in(run: str) -> list[str]:
    """What the longest known words leave of a run of Chinese, where two and more stand together."""
    known, _ = _vocabulary()
    left, at = "", 0
    while at < len(run):
        size = next((size for size in range(min(6, len(run) - at), 0, -1) if run[at : at + size] in known), 0)
        left += " " if size else run[at]
        at += size or 1
    return [each for each in left.split() if len(each) > 1]


@cache
def _long_words() -> tuple[str, ...]:
    return tuple(sorted(word for word in _vocabulary()[0] if _LONG_WORD.fullmatch(word)))


@cache
def _vocabulary() -> tuple[frozenset[str], frozenset[str]]:
    """Every word the patterns of figures, questions and parts are made of, and those that have endings."""
    sources = [figure.words for figure in FIGURES.values()]
    for value in vars(vocabulary).values():
        sources += _patterns_in(value)
    text = re.sub(r"\\[bwdsSDW]", " ", "\n".join(sources))
    words = {
        *re.findall(r"(?<![A-Za-z])[a-z]{2,}", text),
        *re.findall(r"(?<![A-Za-z])([a-z]{2,})[a-z]\?", text),
        *re.findall(r"([\u3400-\u9fff]{2,})[\u3400-\u9fff]\?", text),
        *re.findall(r"[\u3400-\u9fff]+", text),
        *(sign for each in re.findall(r"\[[^\]]*\]", text) for sign in re.findall(r"[\u3400-\u9fff]", each)),
    }
    return frozenset(words | FILLER | NEUTRAL), frozenset(word for word in words if len(word) > 2)


def _patterns_in(value: object) -> list[str]:
    match value:
        case re.Pattern():
            return [value.pattern]
        case str():
            return [value]
        case tuple() | frozenset():
            return [text for each in value for text in _patterns_in(each)]
    return []
