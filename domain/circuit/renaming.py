"""A name of a circuit given another one: whether that changes no meaning, and what becomes of the lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from domain.circuit.circuit_names import CircuitNames, Meaning, Place
from domain.circuit.elements import GROUND, GROUND_NAMES
from shared.late_patterns import late_pattern
from shared.message import Message, msg

_PLAIN = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = late_pattern(r"[^\s=(),{}'\"*;$&\[\]~%]+")


def refusal(
    meaning: Meaning, new: str, circuits: Sequence[tuple[CircuitNames, Sequence[Place]]]
) -> Message | None:
    """Why a name cannot be `new`; None when it can. `circuits`: each with the places of the name in it."""
    key = new.lower()
    is_plain = meaning.kind in ("parameter", "function")
    if not new:
        return msg("Type the new name.")
    if not new.isascii() or not (_PLAIN if is_plain else _WORD).fullmatch(new):
        if is_plain:
            return msg("A name is made of letters, digits and _, and does not begin with a digit.")
        return msg("A name is plain ASCII, without blanks, brackets, quotes and =.")
    return _of_kind(meaning, key) or _taken(meaning, new, circuits)


def _of_kind(meaning: Meaning, key: str) -> Message | None:
    if meaning.kind == "node" and (meaning.key == GROUND or key in GROUND_NAMES):
        return msg("Ground is always 0 and cannot be renamed, nor can another node become it.")
    if meaning.kind == "element" and key[0] != meaning.key[0]:
        return msg(
            "The first letter says what kind of element it is: the name has to begin with {letter}.",
            letter=meaning.key[0].upper(),
        )
    return None


def _taken(
    meaning: Meaning, new: str, circuits: Sequence[tuple[CircuitNames, Sequence[Place]]]
) -> Message | None:
    key = new.lower()
    is_free = key == meaning.key or not any(
        names.is_taken(meaning.kind, key, place) for names, places in circuits for place in places
    )
    return None if is_free else msg("There is a {name} already: the two would become one.", name=new)


def renamed(place: Place, new: str) -> str:
    """What stands in a place then: the bins of a model keep their numbers."""
    number = re.search(r"\.\d+$", place.name.text) if place.name.kind == "model" else None
    return new + (number[0] if number is not None else "")
