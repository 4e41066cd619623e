"""Aligned tables for the terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

_GAP = "  "


def table(rows: Sequence[Sequence[str]], *, left: int = 1) -> Iterator[str]:
    """The lines of a table: its first `left` columns flush left, the others (figures) flush right.

    Chinese characters count as two columns, as terminals show them.
    """
    count = max((len(row) for row in rows), default=0)
    widths = [max((_width(row[i]) for row in rows if i < len(row)), default=0) for i in range(count)]
    for row in rows:
        cells = [
            cell + " " * (widths[i] - _width(cell)) if i < left else " " * (widths[i] - _width(cell)) + cell
            for i, cell in enumerate(row)
        ]
        yield _GAP.join(cells).rstrip()


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )
