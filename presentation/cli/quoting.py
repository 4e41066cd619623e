"""Words of a model on the command line, so that they can't pass for the program's own."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

MARK = "│ "
_LINE_ENDS = str.maketrans({"\u2028": "\n", "\u2029": "\n"})
_TAB = 8
_NARROWEST = 8
"""Columns below which a terminal is left to wrap the lines itself."""


class Quoting:
    """Begins each line of a text that streams in with a mark, also those a terminal would wrap.

    Without the latter, blanks up to the edge would carry a forged question to the beginning of a line.
    """

    def __init__(self, columns: Callable[[], int | None]) -> None:
        self._columns = columns
        """Of the terminal; None behind a pipe."""
        self._at = 0
        """Columns of the line so far."""

    def __call__(self, text: str) -> str:
        """The next piece with its marks."""
        columns = self._columns()
        edge = columns if columns is not None and columns >= _NARROWEST else None
        parts: list[str] = []
        for sign in text.translate(_LINE_ENDS):
            if sign == "\n":
                parts.append("\n" if self._at else f"{MARK.rstrip()}\n")
                self._at = 0
                continue
            width = _most_columns(sign)
            if edge is not None and self._at and self._at + width > edge:
                parts.append("\n")
                self._at = 0
            if not self._at:
                parts.append(MARK)
                self._at = len(MARK) + 1  # the bar may take two
            parts.append(sign)
            self._at += width
        return "".join(parts)

    def end(self) -> bool:
        """The text ends here; True when its last line has no end."""
        is_in_line = self._at > 0
        self._at = 0
        return is_in_line


def quoted(text: str, columns: Callable[[], int | None]) -> str:
    """The whole of a text with its marks, without a line end."""
    return Quoting(columns)(text.strip("\n"))


def _most_columns(sign: str) -> int:
    """Rather too many than too few: terminals disagree, and a line we end early is still marked."""
    if sign == "\t":
        return _TAB
    return 2 if unicodedata.east_asian_width(sign) in "WFA" else 1
