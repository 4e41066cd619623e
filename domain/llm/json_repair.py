"""JSON as models write it: read strictly first, repaired only where there is one way to read it.

Repaired: a code fence or a byte order mark around it, trailing commas, single or typographic quotes
as delimiters, Python's ``True False None``, full-width commas and colons, keys without quotes, line
breaks and tabs inside strings, ``\\'``, an object that was encoded twice, an object that was sent
twice or behind an empty one. Never repaired: anything that is cut off, unknown escapes, missing
commas or brackets, keys that stand there twice, NaN and Infinity: whoever sent it has to say it again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from shared.safe_json import is_too_deep, join_surrogates

_DEEPEST = 100
_EXCERPT = 40
"""Characters shown on each side of a mistake."""
_MOST_ENCODINGS = 2
_FENCE_OPENING = re.compile(r"```[ \t]*(?:json5?)?(?=[\s{\[])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a text could not be read: what, where, what to do, in English for the model."""

    text: str
    cause: str = ""
    """What is wrong and where, without what to do."""


def parse_arguments(text: str) -> dict[str, Any] | Problem:
    """The arguments of a tool call; an empty text and null are no arguments.

    Valid JSON objects come back as they are. Never raises.
    """
    if not text.strip("\ufeff \t\r\n"):
        return {}
    value = read_json(text)
    for _ in range(_MOST_ENCODINGS):
        if isinstance(value, str) and value.strip()[:1] in ("", "{", '"'):
            value = read_json(value) if value.strip() else {}
    if isinstance(value, Problem | dict):
        return value
    if value is None:
        return {}
    kind = {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "a number")
    return Problem(
        f'The arguments have to be one JSON object such as {{"path": "amp.cir"}}, but they are {kind}. '
        "Nothing was run. Send the call again."
    )


def end_of_value(text: str, at: int) -> int | None:
    """Where the JSON value that begins at a place ends, repaired or not; None where none can be read."""
    reader = _Relaxed(text, at)
    try:
        return reader.end_of_value()
    except _Mistake:
        return None


def read_json(text: str) -> Any:
    """The value of a JSON text, repaired where that is unambiguous, else a `Problem`. Never raises."""
    plain = text.strip("\ufeff \t\r\n")
    try:
        value = _strict(plain)
        if not is_too_deep(value):
            return value
        body = plain
    except (ValueError, RecursionError):
        # Our own reader also knows what is wrong and where, for what the strict one reads but must not
        # take (a key twice, NaN).
        body = _without_fence(plain)
    try:
        return _Relaxed(body).read()
    except _Mistake as mistake:
        return _problem(body, mistake)


def _without_fence(text: str) -> str:
    """What stands inside a code fence around the whole text; without one the text itself."""
    opening = _FENCE_OPENING.match(text)
    if opening is None or not text.endswith("```") or len(text) < opening.end() + 3:
        return text
    return text[opening.end() : -3].strip()


class _Mistake(Exception):
    """What is wrong, and at which character."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what)
        self.what = what
        self.at = at


def _strict(text: str) -> Any:
    """json.loads without its extensions. Raises ValueError, RecursionError."""
    return json.loads(
        text,
        object_pairs_hook=_without_repeats,
        parse_constant=_no_constant,
        parse_float=_finite,
        parse_int=_integer,
    )


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands there twice")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:_EXCERPT]} is too large")
    return number


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # Python reads at most some thousand digits
        raise ValueError(f"a number of {len(text)} digits is too large") from None


def _problem(text: str, mistake: _Mistake) -> Problem:
    opening = "The arguments are not valid JSON: "
    if mistake.at >= len(text):
        cause = f"{mistake.what} at the end, after {len(text)} characters"
        return Problem(
            f"{opening}{cause}: they seem to be cut off. Nothing was run. "
            "Send the whole call again; if it is long, write less at once.",
            cause=f"{cause}: it seems to be cut off",
        )
    line = text.count("\n", 0, mistake.at) + 1
    column = mistake.at - text.rfind("\n", 0, mistake.at)
    excerpt = text[max(mistake.at - _EXCERPT, 0) : mistake.at + _EXCERPT]
    place = f"line {line}, column {column}, near {json.dumps(excerpt, ensure_ascii=False)}"
    cause = f"{mistake.what} at {place}"
    return Problem(
        f"{opening}{cause}. Nothing was run. Send the call again with its arguments as one correct JSON "
        "object.",
        cause=cause,
    )


_SPACE = re.compile(r"[ \t\r\n\u00a0\u3000\ufeff]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_NO_NUMBER = re.compile(r"[-+]?(?:nan|inf(?:inity)?)(?![\w.])", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_CLOSING = {'"': '"', "'": "'", "“": "”", "”": "”", "‘": "’", "’": "’"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_PLAIN = {closing: re.compile(rf"[^\\{closing}]*") for closing in _CLOSING.values()}


class _Relaxed:
    """Reads JSON with the mistakes the module's docstring lists; anything else raises _Mistake."""

    def __init__(self, text: str, at: int = 0) -> None:
        self._text = text
        self._at = at
        self._depth = 0

    def end_of_value(self) -> int:
        self._value()
        return self._at

    def read(self) -> Any:
        """The one value of the text; of several objects in a row the one that all non-empty ones equal."""
        value = self._value()
        self._skip_space()
        while self._at < len(self._text) and isinstance(value, dict):
            behind = self._at
            again = self._value() if self._peek() == "{" else None
            if not isinstance(again, dict) or (value and again not in (value, {})):
                raise _Mistake("something follows the end of the JSON", behind)
            value = value or again
            self._skip_space()
        if self._at < len(self._text):
            raise _Mistake("something follows the end of the JSON", self._at)
        return value

    def _value(self) -> Any:
        self._skip_space()
        character = self._peek()
        if character == "{":
            return self._nested(self._object)
        if character == "[":
            return self._nested(self._array)
        if character in _CLOSING:
            return self._string()
        if number := _NUMBER.match(self._text, self._at):
            return self._number(number[0])
        if word := _NO_NUMBER.match(self._text, self._at):
            raise _Mistake(f"{word[0]} is not a JSON number", self._at)
        if (word := _WORD.match(self._text, self._at)) and word[0] in _WORDS:
            self._at = word.end()
            return _WORDS[word[0]]
        raise _Mistake("a value was expected" if character else "a value is missing", self._at)

    def _number(self, text: str) -> int | float:
        try:
            number = _integer(text) if text.lstrip("-").isdigit() else _finite(text)
        except ValueError as error:
            raise _Mistake(str(error), self._at) from None
        self._at += len(text)
        return number

    def _nested(self, read: Callable[[], Any]) -> Any:
        if self._depth == _DEEPEST:
            raise _Mistake("it is nested too deeply", self._at)
        self._depth += 1
        self._at += 1
        value = read()
        self._depth -= 1
        return value

    def _object(self) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not self._closes("}"):
            start = self._at
            key = self._key()
            if key in members:
                raise _Mistake(f"the key {json.dumps(key, ensure_ascii=False)} stands there twice", start)
            self._skip_space()
            self._expect(":：", "a colon")
            members[key] = self._value()
            self._end_of_item("}")
        return members

    def _array(self) -> list[Any]:
        items: list[Any] = []
        while not self._closes("]"):
            items.append(self._value())
            self._end_of_item("]")
        return items

    def _key(self) -> str:
        if self._peek() in _CLOSING:
            return self._string()
        if word := _WORD.match(self._text, self._at):
            self._at = word.end()
            return word[0]
        raise _Mistake("a key in double quotes was expected", self._at)

    def _string(self) -> str:
        start = self._at
        closing = _CLOSING[self._peek()]
        self._at += 1
        pieces = []
        while True:
            plain = _PLAIN[closing].match(self._text, self._at)
            assert plain is not None  # it matches nothing, too
            pieces.append(plain[0])
            self._at = plain.end()
            character = self._peek()
            if character == "":
                raise _Mistake(f"the string that begins at character {start + 1} does not end", self._at)
            if character == closing:
                self._at += 1
                return join_surrogates("".join(pieces))
            pieces.append(self._escape())

    def _escape(self) -> str:
        letter = self._text[self._at + 1 : self._at + 2]
        if letter == "u":
            digits = self._text[self._at + 2 : self._at + 6]
            if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                raise _Mistake("\\u needs four hexadecimal digits", self._at)
            self._at += 6
            return chr(int(digits, 16))
        if letter not in _ESCAPES:
            raise _Mistake("a backslash in a string has to be written as \\\\", self._at)
        self._at += 2
        return _ESCAPES[letter]

    def _closes(self, bracket: str) -> bool:
        self._skip_space()
        if self._peek() != bracket:
            return False
        self._at += 1
        return True

    def _end_of_item(self, bracket: str) -> None:
        """A comma, or the closing bracket without one (left for `_closes`)."""
        self._skip_space()
        if self._peek() != bracket:
            self._expect(",，", f"a comma or {bracket}")

    def _expect(self, characters: str, what: str) -> None:
        character = self._peek()
        if not character or character not in characters:
            raise _Mistake(f"{what} was expected", self._at)
        self._at += 1

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip_space(self) -> None:
        space = _SPACE.match(self._text, self._at)
        assert space is not None  # it matches nothing, too
        self._at = space.end()
