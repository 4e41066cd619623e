"""The closed code blocks of a text, in linear time."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

_FENCE_END = re.compile(r"\n[ \t]*+(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?=\n|\Z)")
_TAG_END = re.compile(r"</(?P<tag>\w+)>")


class ClosedBlock(NamedTuple):
    """A block and where its end is."""

    begin: re.Match[str]
    content: str
    end: int


def closed_blocks(text: str, begin: re.Pattern[str], at: int = 0) -> Iterator[ClosedBlock]:
    """The blocks from `at` on that `begin` opens: with a group "fence" (that closes them too) or "tag".

    A model that is stuck opens the same block again and again, or each with a longer fence. One expression
    for a block would look for each one's end to the end of the text; all ends are looked for once.
    """
    ends: dict[str, list[tuple[int, int]]] | None = None
    while (opening := begin.search(text, at)) is not None:
        at = opening.start() + 1
        if ends is None:
            ends = _ends(text, opening.end())
        known = ends.get(opening.groupdict().get("tag") or opening["fence"], [])
        place = bisect_left(known, (opening.end(), 0))
        if place < len(known):
            start, at = known[place]
            yield ClosedBlock(opening, text[opening.end() : start], at)


def _ends(text: str, at: int) -> dict[str, list[tuple[int, int]]]:
    """Where what closes a block begins and ends, from `at` on, by the fence or the tag's name."""
    ends: dict[str, list[tuple[int, int]]] = {}
    for pattern in (_FENCE_END, _TAG_END):
        for found in pattern.finditer(text, at):
            ends.setdefault(found[1], []).append(found.span())
    return ends
