"""Names that are longer than their place."""

from __future__ import annotations

from bisect import bisect_right
from typing import Protocol

_GONE = "…"


class Metrics(Protocol):
    """What tells how wide a text is, in pixels."""

    def horizontalAdvance(self, text: str, /) -> int: ...  # noqa: N802 - Qt's name


def middle_cut(metrics: Metrics, text: str, width: int, *, kept: str = "") -> str:
    """`text` in `width` pixels, its middle left out where it is longer.

    Both ends get the same room. Qt gives them as many letters: of a Chinese name with a Latin end that leaves
    little more than the suffix, and names that differ at their end look the same. What stands before the
    first `kept`, and that, stays whole: the number of a run.
    """
    if metrics.horizontalAdvance(text) <= width:
        return text
    if kept and kept in text:
        whole, _, name = text.partition(kept)
        whole += kept
        return whole + middle_cut(metrics, name, width - metrics.horizontalAdvance(whole))
    room = width - metrics.horizontalAdvance(_GONE)
    counts = range(1, len(text))
    head = bisect_right(counts, room // 2, key=lambda count: metrics.horizontalAdvance(text[:count]))
    room -= metrics.horizontalAdvance(text[:head])
    tail = bisect_right(counts, room, key=lambda count: metrics.horizontalAdvance(text[-count:]))
    return f"{text[:head]}{_GONE}{text[-tail:] if tail else ''}"
