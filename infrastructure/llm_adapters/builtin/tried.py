"""What a sentence only tries: other values, parts that are left out or shorted."""

from __future__ import annotations

import re
from dataclasses import replace

from infrastructure.llm_adapters.builtin.aims import looked_at
from infrastructure.llm_adapters.builtin.figures import OF_PARTS_OR_SUPPLY, number
from infrastructure.llm_adapters.builtin.reading import Ask, Words, asks, by_kind, names_in
from infrastructure.llm_adapters.builtin.words import (
    ANY_CASE,
    BECOMES,
    CARRIES,
    CHANGES,
    HYPOTHESIS,
    INSTEAD,
    INTENTS,
    MOVED_BY,
    OF_BIAS,
    ORDERED,
    OTHER_FEED,
    OTHER_LOAD,
    REMOVED,
    SHORTED,
    TIMES,
    WATCHED,
)

_WITHOUT = re.compile(
    r"(?:please |now |can you |could you )*(?:remove|take out|leave out|disconnect|unsolder)\s+\w+\b"
    r".*\b(?:tell|show|what|how|give|check|measure|see)\b",
    ANY_CASE,
)
"""A part taken away to see what comes of it."""


def what_if(words: Words) -> Ask | None:  # noqa: PLR0911 - one a reason
    """The circuit with other values, or without parts, against it as it is."""
    ask = of_kind(looked_at(words), words.text)
    removed = removed_in(words.text)
    moved = MOVED_BY.search(words.text)
    if moved is not None and ask.names and len(ask.tolerances) == 1 and not removed and not ask.parameters:
        share = ask.tolerances[0][1] * (-1 if moved["less"] or moved["less2"] or moved["less_zh"] else 1)
        ask = replace(ask, parameters=((ask.names[0], f"*{number(1 + share)}"),), tolerances=())
    shorted = tuple((name, _SHORT_OF.get(name[0].lower(), "1m")) for name in _shorted_in(words.text))
    ask = replace(ask, parameters=(*ask.parameters, *shorted))
    values = tuple(each for each in ask.parameters if each[0] != "temp")
    is_heated = ask.parameters and (ask.figures or re.search(r"happens?|会怎", words.text, ANY_CASE))
    if (
        not values
        and not removed
        and is_heated
        and (BECOMES.search(words.text) or HYPOTHESIS.search(words.text))
    ):
        return replace(ask, parameters=ask.parameters, value=None, upper=None, unit="", bound=None)
    if CARRIES.search(words.text) and any(name.startswith(("load", "supply", "input")) for name, _ in values):
        return replace(ask, parameters=values, value=None, upper=None, unit="", bound=None)
    if OF_BIAS.search(words.text):
        ask = replace(ask, query="bias")
    times = TIMES.search(words.text)
    if times is not None and not removed and not values and ask.names:
        values = tuple((name, "*2" if times["twice"] else "*0.5") for name in ask.names[:1])
    if not (removed or values) and (values := _other_ends(words.text)):
        return replace(ask, parameters=values, value=None, upper=None, unit="", bound=None)
    if ORDERED.match(words.text) and HYPOTHESIS.search(WATCHED.sub(" ", words.text)) is None and not removed:
        return None
    is_tried = (
        (moved is not None and values and asks(words))
        or ((removed or shorted) and asks(words) and (shorted or not ORDERED.match(words.text)))
        or _WITHOUT.match(words.text)
        or HYPOTHESIS.search(words.text)
        or (INSTEAD.search(words.text) and not CHANGES.search(words.left) and values)
    )
    if not is_tried or not (removed or values) or ask.tolerances:
        return None
    if not (ask.figures or removed or ask.query) and _looks_at(words):
        return None
    return replace(ask, removed=removed, parameters=values, value=None, upper=None, unit="", bound=None)


_SHORT_OF = {"l": "1p", "c": "1"}
"""Values with which a part is as good as a wire; of a capacitor for signals."""


def _shorted_in(text: str) -> tuple[str, ...]:
    found = (next(filter(None, each.groups())) for each in SHORTED.finditer(text))
    return tuple(name for part in found for name in names_in(part, ()))


def of_kind(ask: Ask, text: str) -> Ask:
    """The question with the parts it calls by their kind, where it is for a quantity of parts."""
    kind = by_kind(text) if OF_PARTS_OR_SUPPLY & set(ask.figures) else ""
    return replace(ask, names=(*ask.names, kind)) if kind and kind != "load" else ask


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


def removed_in(text: str) -> tuple[str, ...]:
    """Parts a sentence takes away, by name; ``it`` for the one spoken of."""
    found = [each for match in REMOVED.finditer(text) for each in match.groups() if each]
    named = tuple(each for part in found for each in names_in(part.strip(), ()))
    if named:
        return named
    is_told = any(part.lower() in ("it", "this", "that", "它", "这个") for part in found)
    return ("it",) if is_told else ()


_LOOKED_AT = frozenset({"conduction", "losses", "clipping", "output_impedance", "point", "battery"})
"""What is asked for without a figure: with other values it is looked at with these."""


def _looks_at(words: Words) -> bool:
    return any(
        re.search(form, words.left, ANY_CASE) is not None for intent, form in INTENTS if intent in _LOOKED_AT
    )
