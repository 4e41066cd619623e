"""What follows from an object that does not change, computed once for each as long as it lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from weakref import ref

Thing = TypeVar("Thing")
Value = TypeVar("Value")


def once_each(make: Callable[[Thing], Value]) -> Callable[[Thing], Value]:
    """`make`, remembered by the object's identity: also of one that has no hash. For any thread."""
    known: dict[int, tuple[ref[Thing], Value]] = {}

    def made(thing: Thing) -> Value:
        place = id(thing)
        found = known.get(place)
        if found is not None and found[0]() is thing:
            return found[1]
        value = make(thing)
        known[place] = (ref(thing, lambda _gone: known.pop(place, None)), value)
        return value

    return made
