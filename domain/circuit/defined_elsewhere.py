"""Where a text defines a model or a subcircuit, and how a circuit gets at it from there."""

from __future__ import annotations

import re
from typing import NamedTuple

from domain.circuit.analyses import ANALYSIS_KINDS
from shared.late_patterns import late_pattern


class DefinedAt(NamedTuple):
    """Where a definition stands in a text, and what else would come along with the text."""

    line: int
    """From 1."""
    section: str
    """The `.lib` section around it; "" outside of any."""
    is_alone: bool
    """Nothing else than definitions stands in the text: including it adds no element and no analysis."""


_CARD = late_pattern(
    r"[ \t]*\.(model|subckt|macro|ends|eom|lib|endl)\b[ \t]*([^\s(]*)[ \t]*([^\s;$]*)", re.IGNORECASE
)
_ELEMENT_OR_ANALYSIS = late_pattern(
    rf"[ \t]*(?:[A-Za-z]|\.(?:control|step|{'|'.join(sorted(ANALYSIS_KINDS))})\b)", re.IGNORECASE
)
_OPENS, _CLOSES = ("subckt", "macro"), ("ends", "eom")


def defined_at(text: str, name: str, *, has_title: bool) -> DefinedAt | None:
    """The first definition of `name`, letter case aside, that a circuit would see; None without one.

    What is defined within a subcircuit is seen there only.
    """
    wanted = name.lower()
    if wanted not in text.lower():
        return None
    depth, section, is_alone = 0, "", True
    found: tuple[int, str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if has_title and number == 1:
            continue
        card = _CARD.match(line)
        if card is None:
            is_alone = is_alone and (depth > 0 or not _ELEMENT_OR_ANALYSIS.match(line))
            continue
        word, first, second = (part.lower() for part in card.groups())
        if word in _CLOSES:
            depth = max(depth - 1, 0)
        elif word == "endl":
            section = ""
        elif word == "lib":
            section = section if second else first  # with a file and a section it is a call
        else:
            if found is None and depth == 0 and first == wanted:
                found = number, section
            depth += word in _OPENS
    return None if found is None else DefinedAt(*found, is_alone=is_alone)
