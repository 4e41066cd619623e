"""Which of two resistances an arrow stands between is the source, and which the load."""

from __future__ import annotations

import re
from dataclasses import replace

from domain.design.sentence import Mention, Sentence

_ARROW = re.compile(r"->|=>|变[成为]|转[成为]?")
_LOAD_END = re.compile(r"antenna|aerial|dipole|whip|yagi|load|天线|天線|鞭|偶极|八木|负载", re.IGNORECASE)
_SOURCE_END = re.compile(r"source|generator|transmitter|源|发射", re.IGNORECASE)


def two_ends(sentence: Sentence) -> tuple[dict[str, float], Sentence]:
    """Source and load of "from 50 ohm to 300 ohm" and of "75 ohm source -> 2 kohm", and the sentence without
    them; of any other sentence nothing. The source stands first, unless it is called an antenna or a load."""
    ohms = sentence.of("Ohm")
    span = next((each for each in ohms if each.upper is not None), None)
    if span is not None:
        return {"source_ohm": span.value, "load_ohm": span.upper or 0.0}, _without(sentence, (span,))
    if len(ohms) != 2 or not _ARROW.search(sentence.text, ohms[0].end, ohms[1].start):
        return {}, sentence
    one, other = ohms
    around = sentence.text[max(0, one.start - 20) : one.end + 12]
    if _LOAD_END.search(around) and not _SOURCE_END.search(around):
        one, other = other, one
    return {"source_ohm": one.value, "load_ohm": other.value}, _without(sentence, ohms)


def _without(sentence: Sentence, mentions: tuple[Mention, ...]) -> Sentence:
    return replace(
        sentence, mentions=tuple(each for each in sentence.mentions if each not in mentions), links=()
    )
