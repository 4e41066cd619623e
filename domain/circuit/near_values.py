"""The preferred values beside the one that stands in a line: what a hand would try next."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from domain.circuit.numbers import format_number, read_number
from domain.circuit.preferred_values import SeriesName, neighbours
from domain.circuit.statements import comment_start
from shared.late_patterns import late_pattern

_WORD = late_pattern(r"[^\s=(){},'\"]+")
_ASSIGNED = late_pattern(r"=\s*([^\s=(){},'\"]+)")
_DIGITS = 3


class NearValues(NamedTuple):
    """A value in a line, and the next ones of a series."""

    start: int
    """Characters of the line, from 0."""
    end: int
    below: str
    above: str


def near_values(line: str, column: int, series: SeriesName = "E24") -> NearValues | None:
    """The value of the resistor, capacitor or inductor of a card, or of a `.param` (of several the one at the
    character `column`, else the first), with its next smaller and greater value of a series.

    None for other lines, and for what is no plain positive number.
    """
    text = line[: comment_start(line)]
    kind = text.lstrip()[:1].lower()
    if kind and kind in "rcl":
        words = list(_WORD.finditer(text))
        places = [(word.start(), word.end()) for word in words[3:4]]
        if len(words) > 3 and words[3][0].lower() == kind:  # as in ``R1 a b R=1k``
            places = [(word.start(), word.end()) for word in words[4:5]]
    elif re.match(r"\s*\.param\b", text, re.IGNORECASE):
        places = [found.span(1) for found in _ASSIGNED.finditer(text)]
    else:
        return None
    found = [near for start, end in places if (near := _near(text, start, end, series)) is not None]
    at_column = (near for near in found if near.start <= column <= near.end)
    return next(at_column, found[0] if found else None)


def _near(text: str, start: int, end: int, series: SeriesName) -> NearValues | None:
    number = read_number(text[start:end])
    if number is None or number.rest or not (number.value > 0 and math.isfinite(number.value)):
        return None
    below, above = neighbours(number.value, series)
    if below == above or math.isclose(below, number.value, rel_tol=1e-6):
        below = neighbours(number.value * (1 - 1e-3), series)[0]
    if math.isclose(above, number.value, rel_tol=1e-6):
        above = neighbours(number.value * (1 + 1e-3), series)[1]
    return NearValues(start, end, format_number(below, _DIGITS), format_number(above, _DIGITS))
