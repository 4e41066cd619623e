"""Places of pins on a symbol, as the tables of symbols write them."""

from __future__ import annotations

Place = tuple[int, int]
"""x to the right and y down, in the units of the program's sheets."""


def places(text: str) -> tuple[Place | None, ...]:
    """``16,0 - 16,64``: places, and a dash for a node without a pin."""
    return tuple(
        None if word == "-" else (int(word.partition(",")[0]), int(word.partition(",")[2]))
        for word in text.split()
    )
