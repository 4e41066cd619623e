"""JSON that somebody else wrote: read only as deep as anything of ours is nested.

`json.loads` reads a text that is nested nearly as deep as Python's stack; whoever then walks through it,
copies it or writes it again runs out of that stack far from the place where the text came in.
"""

from __future__ import annotations

import json
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
