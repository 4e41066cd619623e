"""The closed code blocks of a text, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class ClosedBlock(NamedTuple):
    """A block and where its end is."""

    begin: re.Match[str]
    content: str
    end: int


def closed_blocks(text: str, begin: re.Pattern[str], at: int = 0) -> Iterator[ClosedBlock]:
    """The blocks from `at` on that `begin` opens: with a group "fence" (that closes them too) or "tag".

    A model that is stuck opens the same block again and again. One expression for a whole block would look
    for each one's end to the end of the text; what is closed nowhere from one place on is looked for once.
    """
    unclosed: set[str] = set()
    while (opening := begin.search(text, at)) is not None:
        at = opening.start() + 1
        tag = opening.groupdict().get("tag")
        closing = rf"</{tag}>" if tag else rf"\n[ \t]*{opening['fence']}[ \t]*(?=\n|\Z)"
        if closing in unclosed:
            continue
        found = re.compile(closing).search(text, opening.end())
        if found is None:
            unclosed.add(closing)
            continue
        at = found.end()
        yield ClosedBlock(opening, text[opening.end() : found.start()], at)
