"""JSON between programs: bounded where somebody else wrote it, and such as every reader accepts where we do.

`json.loads` reads a text that is nested nearly as deep as Python's stack; whoever then walks through it,
copies it or writes it again runs out of that stack far from the place where the text came in.

Three things Python's JSON cannot carry are written as an object with one marked key: NaN and the
infinities (``{"$float": "NaN"}``, no valid JSON otherwise), integers of thousands of digits
(``{"$int": "0x..."}``, refused by Python's own reader), and an object that looks like one of these
marks itself (``{"$literal": {...}}``).

Lone surrogates (a model's broken escape) have no UTF-8 and have to be written as ``\\udXXX`` escapes.
Two halves of one character that came in two strings are that character: `join_surrogates`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

MOST_NESTED = 100
"""Nothing that the program or a tool's schema knows is nested a tenth as deep."""


def is_too_deep(value: object, most: int = MOST_NESTED) -> bool:
    """Whether lists and objects in `value` are nested more than `most` deep."""
    level: list[object] = [value]
    for _ in range(most + 1):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def read_bounded(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError when it is none, or nested more than `MOST_NESTED` deep."""
    try:
        value = json.loads(text)
    except RecursionError:
        value = None
        is_deep = True
    else:
        # What has few brackets can't be deep: nothing has to be walked through.
        opening = (b"[", b"{") if isinstance(text, bytes) else ("[", "{")
        is_deep = sum(map(text.count, opening)) > MOST_NESTED and is_too_deep(value)  # type: ignore[arg-type]
    if is_deep:
        raise ValueError(f"it is nested more than {MOST_NESTED} deep")
    return value


_FLOAT, _INT, _LITERAL = "$float", "$int", "$literal"
_MARKS = frozenset({_FLOAT, _INT, _LITERAL})
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
DEEPEST_SHOWN = 60
_BIG_BITS = 10_000
"""Python reads and writes at most 4300 decimal digits, about 14,000 bits."""


def to_plain(value: Any) -> Any:
    """`value` in JSON types with nothing JSON forbids. Raises TypeError for what has no JSON form."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return {_INT: hex(value)} if value.bit_length() > _BIG_BITS else value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_FLOAT: _float_word(value)}
    if isinstance(value, Mapping):
        plain = {str(key): to_plain(item) for key, item in value.items()}
        return {_LITERAL: plain} if _looks_marked(plain) else plain
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def from_plain(value: Any) -> Any:
    """The value `to_plain` was given. A mark that makes no sense is left as the object it is."""
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _looks_marked(value):
        [(mark, content)] = value.items()
        if mark == _FLOAT and isinstance(content, str) and content in _FLOATS:
            return _FLOATS[content]
        if mark == _INT and isinstance(content, str):
            try:
                return int(content, 16)
            except ValueError:
                return value
        if mark == _LITERAL and isinstance(content, dict):
            value = content
    return {key: from_plain(item) for key, item in value.items()}


def for_display(value: Any, *, depth: int = DEEPEST_SHOWN) -> Any:
    """A stored value as another program should get it, whoever wrote the file.

    Marks are undone, but integers too long stay text, and what is nested deeper than `depth` is "...".
    """
    if not isinstance(value, list | dict):
        return value
    if depth == 0:
        return "..."
    if isinstance(value, list):
        return [for_display(item, depth=depth - 1) for item in value]
    if _looks_marked(value):
        [(mark, content)] = value.items()
        if mark in (_FLOAT, _INT) and isinstance(content, str):
            return _FLOATS.get(content, content)
        if mark == _LITERAL and isinstance(content, dict):
            value = content
    return {key: for_display(item, depth=depth - 1) for key, item in value.items()}


def join_surrogates(text: str) -> str:
    """`text` with each high surrogate before a low one joined to the character they mean.

    A server may cut an escaped pair between two pieces of its stream. Lone ones stay.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text


def _looks_marked(value: Mapping[str, Any]) -> bool:
    return len(value) == 1 and next(iter(value)) in _MARKS


def _float_word(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
