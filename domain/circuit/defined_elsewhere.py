"""Where a text defines models and subcircuits, and how a circuit gets at them from there."""

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


_CARD = r"^[ \t]*\.(model|subckt|macro|ends|eom|lib|endl)\b[ \t]*([^\s(]*)[ \t]*([^\s;$]*)"
_ANALYSES = "|".join(sorted(ANALYSIS_KINDS))
_CARDS = late_pattern(_CARD, re.IGNORECASE | re.MULTILINE)
_CARDS_OR_ELEMENTS = late_pattern(
    rf"{_CARD}|^[ \t]*(?:[A-Za-z]|\.(?:control|step|{_ANALYSES})\b)", re.IGNORECASE | re.MULTILINE
)
_OPENS, _CLOSES = ("subckt", "macro"), ("ends", "eom")
_MOST_CARDS = 50_000
"""That are read of one text; a vendor's largest library has some thousands."""


def definitions_in(text: str, *, has_title: bool) -> dict[str, DefinedAt]:
    """The first definition of each name, in lower case, that a circuit would see.

    What is defined within a subcircuit is seen there only.
    """
    text = text.removeprefix("\ufeff")
    at = text.find("\n") + 1 if has_title else 0
    line, depth, section, is_alone = 1 + has_title, 0, "", True
    found: dict[str, tuple[int, str]] = {}
    for _ in range(_MOST_CARDS):
        looks_for_all = is_alone and depth == 0
        card = (_CARDS_OR_ELEMENTS if looks_for_all else _CARDS).search(text, at)
        if card is None:
            break
        line += text.count("\n", at, card.start())
        at = card.end()
        word, first, second = ((part or "").lower() for part in card.groups())
        if not word:
            is_alone = False
        elif word in _CLOSES:
            depth = max(depth - 1, 0)
        elif word == "endl":
            section = ""
        elif word == "lib":
            section = section if second else first  # with a file and a section it is a call
        else:
            if depth == 0 and first:
                found.setdefault(first, (line, section))
            depth += word in _OPENS
    else:
        is_alone = False  # what follows was not looked at
    return {name: DefinedAt(*place, is_alone=is_alone) for name, place in found.items()}
