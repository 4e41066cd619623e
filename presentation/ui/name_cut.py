"""Names that are longer than their place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import takewhile
from operator import eq
from typing import Protocol

from shared.late_patterns import late_pattern

_GONE = "…"
_MEASURED = late_pattern(
    r"(?P<functions>(?:\w+\()*)(?:\w+\.)?v\((?P<node>[^(),\s]+)\)"
    r"(?P<numbers>(?:,[^(),\s]+)*)(?P<ends>\)*)"
)
"""A voltage, be it of a named analysis, and what is measured on it, with numbers: ``pp(tran.v(out),4m)``."""


class Metrics(Protocol):
    """What tells how wide a text is, in pixels."""

    def horizontalAdvance(self, text: str, /) -> int: ...  # noqa: N802 - Qt's name


def middle_cut(metrics: Metrics, text: str, width: int) -> str:
    """`text` in `width` pixels, its middle left out where it is longer.

    Both ends get the same room; the first letter has it in any case. Qt gives them as many letters: of a
    Chinese name with a Latin end that leaves little more than the suffix, and names that differ at their end
    look the same.
    """
    if metrics.horizontalAdvance(text) <= width:
        return text
    room = width - metrics.horizontalAdvance(_GONE)
    counts = range(1, len(text))
    head = bisect_right(counts, room // 2, key=lambda count: metrics.horizontalAdvance(text[:count]))
    if not head and metrics.horizontalAdvance(text[:1]) <= room:
        head = 1
    room -= metrics.horizontalAdvance(text[:head])
    tail = bisect_right(counts, room, key=lambda count: metrics.horizontalAdvance(text[-count:]))
    return f"{text[:head]}{_GONE}{text[-tail:] if tail else ''}"


def trace_cut(metrics: Metrics, text: str, width: int) -> str:
    """As `middle_cut`, but of a voltage its node stays whole where that has room: ``n003``, not ``v(…3)``; of
    what is measured on one its functions, which tell it from others: ``db(peak(out))``, ``db(peak(…))``, and
    of its numbers that there are some: ``pp(out,…)``."""
    shown = middle_cut(metrics, text, width)
    match = _MEASURED.fullmatch(text)
    if shown == text or match is None or len(match["ends"]) != match["functions"].count("("):
        return shown
    functions, node, numbers, ends = match.group("functions", "node", "numbers", "ends")
    if metrics.horizontalAdvance(f"{functions}{node}{numbers}{ends}") <= width:
        return f"{functions}{node}{numbers}{ends}"
    ends = (f",{_GONE}" if numbers else "") + ends
    room = width - metrics.horizontalAdvance(functions + ends)
    if metrics.horizontalAdvance(node) <= room:
        return f"{functions}{node}{ends}"
    if not functions or metrics.horizontalAdvance(_GONE) > room:
        return shown
    return f"{functions}{middle_cut(metrics, node, room)}{ends}"


def cut_apart(metrics: Metrics, text: str, width: int, others: Iterable[str], *, kept: str = "") -> str:
    """As `middle_cut`, but not the same for `text` and one of `others`, which stand beside it.

    Where the middle is what tells them apart, its word and what follows is what stays. What stands before the
    first `kept`, and that, stays whole: the number of a run.
    """
    if metrics.horizontalAdvance(text) <= width:  # its parts, each rounded, may be wider
        return text
    if kept and kept in text:
        whole, _, name = text.partition(kept)
        whole += kept
        names = (each.partition(kept)[2] for each in others)
        return whole + cut_apart(metrics, name, width - metrics.horizontalAdvance(whole), names)
    shown = middle_cut(metrics, text, width)
    head, gone, tail = shown.partition(_GONE)
    if not gone or shown == text:
        return shown
    alike = [each for each in others if each != text and each.startswith(head) and each.endswith(tail)]
    if not alike:
        return shown
    same = max(sum(1 for _ in takewhile(bool, map(eq, text, each))) for each in alike)
    start = max(text.rfind(sign, 0, same) for sign in "_-. /") + 1
    room = width - metrics.horizontalAdvance(_GONE + text[start:])
    if room < 0:
        return shown
    end = bisect_right(range(1, start), room, key=lambda count: metrics.horizontalAdvance(text[:count]))
    return f"{text[:end]}{_GONE}{text[start:]}"
