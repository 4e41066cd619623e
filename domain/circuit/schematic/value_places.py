"""The value beside a symbol written anew: what may stand there, and the bytes of the file it stands in."""

from __future__ import annotations

import re
from typing import NamedTuple

from domain.circuit.schematic.display import Symbol
from domain.circuit.value_edits import checked_value
from shared.errors import UserInputError
from shared.message import msg

_LINE_END = re.compile(r"\r\n|\n|\r")
_NO_NAME = re.compile(r"[\s=(){}\[\],;'\"$*]")


class ValuePlace(NamedTuple):
    """Bytes of a text in UTF-8, from `start` until before `end`."""

    start: int
    end: int


def checked(symbol: Symbol, text: str) -> str:
    """The text as it is written there. Raises UserInputError where it is no value, or no model's name."""
    if not symbol.is_model:
        return checked_value(text)
    if not text or _NO_NAME.search(text):
        raise UserInputError(
            msg("“{name}” can be no name of a model.", name=text),
            advice=msg("Type one word, such as 2N3904."),
        )
    return text


def place_of(symbol: Symbol, text: str) -> ValuePlace | None:
    """Where a file's text has the symbol's value; None where it stands there no longer."""
    line, column = symbol.value_at
    if line < 1 or not symbol.value:
        return None
    start = 0
    for _ in range(line - 1):
        end = _LINE_END.search(text, start)
        if end is None:
            return None
        start = end.end()
    start += column - 1
    if not text.startswith(symbol.value, start):
        return None
    first = len(text[:start].encode("utf-8", "surrogatepass"))
    return ValuePlace(first, first + len(symbol.value.encode("utf-8", "surrogatepass")))
