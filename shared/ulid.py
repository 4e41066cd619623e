"""ULIDs: 26 characters that sort by time and never repeat within a process.

48 bits of milliseconds since 1970 and 80 random bits in Crockford's base 32. Of several made in one
millisecond (or while the clock stands or goes back) each is its forerunner plus one.
Source: github.com/ulid/spec.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80
_TIME_LIMIT = 1 << 48
_LENGTH = 26


class UlidFactory:
    """Makes increasing ULIDs, from any thread. `clock` gives seconds since 1970, `random` n bytes."""

    def __init__(
        self, *, clock: Callable[[], float] = time.time, random: Callable[[int], bytes] = os.urandom
    ) -> None:
        self._clock = clock
        self._random = random
        self._last = -1
        self._lock = threading.Lock()

    def new(self) -> str:
        """The next ULID, greater than all before it."""
        with self._lock:
            milliseconds = min(max(int(self._clock() * 1000), 0), _TIME_LIMIT - 1)
            if milliseconds > self._last >> _RANDOM_BITS:
                tail = int.from_bytes(self._random(_RANDOM_BITS // 8), "big")
                self._last = (milliseconds << _RANDOM_BITS) | tail
            else:
                self._last += 1
            return _encode(self._last)


def _encode(number: int) -> str:
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def milliseconds_of(ulid: str) -> int:
    """The time in a ULID, milliseconds since 1970. Raises ValueError when it is none."""
    number = 0
    for letter in ulid[:10]:
        number = number << 5 | _ALPHABET.index(letter)
    return number


def number_of(ulid: str) -> int:
    """The 128 bits of a ULID. Raises ValueError when it is none."""
    number = 0
    for letter in ulid:
        number = number << 5 | _ALPHABET.index(letter)
    if len(ulid) != _LENGTH or number >> 128:
        raise ValueError(f"no ULID: {ulid!r}")
    return number


def ulid_before(ulid: str, milliseconds: int) -> str:
    """One that is so much older than `ulid`, always the same. Raises ValueError when that is none."""
    return _encode(max(number_of(ulid) - (milliseconds << _RANDOM_BITS), 0))


_factory = UlidFactory()


def new_ulid() -> str:
    """A new ULID, greater than all made in this process before."""
    return _factory.new()
