"""Reading a specification (JSON) key by key, with errors that name the key and what is allowed there.

Numbers may be written as numbers or as in SPICE (``"4.7k"``, ``"10Meg"``), shares as ``0.01`` or ``"1%"``.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from domain.circuit.numbers import parse_number
from shared.errors import UserInputError
from shared.message import Message, msg

_SHOWN = 60
_MOST_ITEMS = 200_000

T = TypeVar("T", bound=str)


def spec_error(place: str, problem: Message, *, advice: Message | None = None) -> UserInputError:
    """The error for one place of a specification (``parameters[0].min``; "" for the whole)."""
    message = msg("{place} {problem}.", place=place or msg("The specification"), problem=problem)
    return UserInputError(message, advice=advice, error_type="bad_spec")


def shown(value: object) -> str:
    """A value for an error text, short whatever it is."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def read_number(value: object, place: str) -> float:
    """A finite number, or a SPICE number as text. Raises UserInputError."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value) if abs(value) < 1e308 else math.inf
    elif isinstance(value, str) and "%" not in value:
        try:
            number = parse_number(value)
        except ValueError:
            number = math.nan
    else:
        number = math.nan
    if not math.isfinite(number):
        raise spec_error(
            place,
            msg("must be a number, not {value}", value=shown(value)),
            advice=msg("Write 4700, 4.7k or 10Meg (M is milli)."),
        )
    return number


def read_fraction(value: object, place: str) -> float:
    """A share: ``0.01`` or ``"1%"``. Raises UserInputError."""
    if isinstance(value, str) and value.strip().endswith("%"):
        return read_number(value.strip()[:-1].strip(), place) / 100
    return read_number(value, place)


class SpecReader:
    """One object of a specification. Every key has to be asked for, or `finish` refuses it."""

    def __init__(self, node: object, place: str = "") -> None:
        if not isinstance(node, Mapping):
            raise spec_error(place, msg("must be an object with keys, not {value}", value=shown(node)))
        self._node: Mapping[str, Any] = node
        self.place = place
        self._known: dict[str, None] = {}
        self._used: set[str] = set()

    def at(self, key: str) -> str:
        """The place of a key, for errors."""
        return f"{self.place}.{key}" if self.place else key

    def has(self, *keys: str) -> bool:
        """Whether one of the keys is given (null counts as not given)."""
        self._known.update(dict.fromkeys(keys))
        return any(self._node.get(key) is not None for key in keys)

    def take(self, *keys: str) -> tuple[str, Any]:
        """The first given of keys that mean the same, and its value; ("", None) when none is."""
        self._known.update(dict.fromkeys(keys))
        given = [key for key in keys if self._node.get(key) is not None]
        self._used.update(key for key in keys if key in self._node)
        if len(given) > 1:
            raise spec_error(self.at(given[1]), msg("is the same as {other}; give one", other=given[0]))
        return (given[0], self._node[given[0]]) if given else ("", None)

    def number(self, *keys: str) -> float | None:
        """A number; None when it is not given."""
        key, value = self.take(*keys)
        return None if value is None else read_number(value, self.at(key))

    def positive(self, *keys: str) -> float | None:
        """A number above 0; None when it is not given."""
        key, value = self.take(*keys)
        if value is None:
            return None
        number = read_number(value, self.at(key))
        if number <= 0:
            raise spec_error(self.at(key), msg("must be greater than 0, not {value}", value=shown(value)))
        return number

    def fraction(self, *keys: str) -> float | None:
        """A share that is not negative (``0.01``, ``"1%"``); None when it is not given."""
        key, value = self.take(*keys)
        if value is None:
            return None
        share = read_fraction(value, self.at(key))
        if share < 0:
            raise spec_error(self.at(key), msg("must not be negative, but is {value}", value=shown(value)))
        return share

    def whole(self, *keys: str, least: int, most: int) -> int | None:
        """A whole number within bounds; None when it is not given."""
        key, value = self.take(*keys)
        if value is None:
            return None
        number = read_number(value, self.at(key))
        if number != int(number) or not least <= number <= most:
            raise spec_error(
                self.at(key),
                msg("must be a whole number from {least} to {most}, not {value}",
                    least=least, most=most, value=shown(value)),
            )  # fmt: skip
        return int(number)

    def text(self, *keys: str) -> str | None:
        """A text that is not empty; None when it is not given."""
        key, value = self.take(*keys)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise spec_error(self.at(key), msg("must be text, not {value}", value=shown(value)))
        return value.strip()

    def choice(self, key: str, choices: Sequence[T]) -> T | None:
        """One of some words, letter case aside; None when it is not given."""
        text = self.text(key)
        if text is None:
            return None
        for choice in choices:
            if choice.lower() == text.lower():
                return choice
        raise spec_error(
            self.at(key),
            msg("must be one of {choices}, not {value}", choices=", ".join(choices), value=shown(text)),
            advice=_near(text, choices),
        )

    def flag(self, key: str) -> bool:
        """true or false; false when it is not given."""
        _, value = self.take(key)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise spec_error(self.at(key), msg("must be true or false, not {value}", value=shown(value)))
        return value

    def numbers(self, *keys: str) -> tuple[float, ...]:
        """A list of numbers, or one number; empty when it is not given."""
        key, value = self.take(*keys)
        if value is None:
            return ()
        items = value if isinstance(value, list | tuple) else [value]
        found = tuple(read_number(item, f"{self.at(key)}[{i}]") for i, item in enumerate(items))
        if not found:
            raise spec_error(self.at(key), msg("is an empty list"))
        return found

    def texts(self, *keys: str) -> tuple[str, ...]:
        """A list of texts, or one text; empty when it is not given."""
        key, value = self.take(*keys)
        if value is None:
            return ()
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not all(isinstance(i, str) and i.strip() for i in items):
            raise spec_error(self.at(key), msg("must be text or a list of texts"))
        return tuple(item.strip() for item in items)

    def items(self, key: str) -> Iterator[tuple[str, Any]]:
        """The members of a list with their places; nothing when it is not given."""
        _, value = self.take(key)
        if value is None:
            return
        if not isinstance(value, list | tuple):
            raise spec_error(self.at(key), msg("must be a list, not {value}", value=shown(value)))
        if len(value) > _MOST_ITEMS:
            raise spec_error(self.at(key), msg("has more than {limit} entries", limit=_MOST_ITEMS))
        for number, item in enumerate(value):
            yield f"{self.at(key)}[{number}]", item

    def rest(self) -> Iterator[tuple[str, Any]]:
        """The keys nobody asked for, with their values; they count as asked for from now on."""
        others = [key for key in self._node if key not in self._used]
        self._used.update(others)
        return iter([(str(key), self._node[key]) for key in others])

    def finish(self) -> None:
        """Refuse every key nobody asked for, naming the nearest known one."""
        for key in self._node:
            if key not in self._used and key not in self._known:
                raise spec_error(
                    self.at(str(key)[:_SHOWN]),
                    msg("is unknown"),
                    advice=_near(str(key), list(self._known)),
                )


def _near(text: str, choices: Sequence[str]) -> Message:
    close = difflib.get_close_matches(text[:_SHOWN].lower(), choices, n=3, cutoff=0.5)
    if close:
        return msg("Did you mean {names}?", names=", ".join(close))
    return msg("Allowed: {names}.", names=", ".join(choices))
