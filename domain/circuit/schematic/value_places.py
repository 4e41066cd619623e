"""The value beside a symbol written anew: what may stand there, and the bytes of the file it stands in."""

from __future__ import annotations

import re
from typing import NamedTuple

from domain.circuit.netlist import Netlist
from domain.circuit.numbers import with_ascii_micro
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
    """Where a file's text has the symbol's value; None where its line no longer has it."""
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
        return _on_its_card(symbol, text)
    first = len(text[:start].encode("utf-8", "surrogatepass"))
    return ValuePlace(first, first + len(symbol.value.encode("utf-8", "surrogatepass")))


def _on_its_card(symbol: Symbol, text: str) -> ValuePlace | None:
    """Of a drawing of translated cards, where more stands before a value: an inductor of LTspice has one
    node more there."""
    value = with_ascii_micro(symbol.value)
    for element in Netlist.parse(text.encode("utf-8", "surrogatepass")).elements:
        told = element.value or element.model or next(iter(element.expressions), None)
        if element.line == symbol.line and element.key == symbol.element.lower() and told is not None:
            spans = told.spans
            if len(spans) == 1 and with_ascii_micro(told.text) == value:
                return ValuePlace(*spans[0])
    return None
