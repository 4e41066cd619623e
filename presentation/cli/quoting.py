"""Words of a model on the command line, so that they can't pass for the program's own."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator

MARK = "│ "
_LINE_ENDS = str.maketrans({"\u2028": "\n", "\u2029": "\n"})
_MARKED = len(MARK) + 1  # the bar may take two columns
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
        self._word = ""
        """The word at the end of what came, held back until it is known to fit; on a terminal only."""

    def __call__(self, text: str) -> str:
        """The next piece with its marks, but for its last word."""
        edge = self._edge()
        parts: list[str] = []
        for sign in text.translate(_LINE_ENDS):
            width = _most_columns(sign)
            if edge is not None and not sign.isspace() and width == 1:
                self._word += sign
                continue
            parts += self._placed_word(edge)
            if sign == "\n":
                parts.append("\n" if self._at else f"{MARK.rstrip()}\n")
                self._at = 0
            else:
                parts += self._placed(sign, width, edge)
        return "".join(parts)

    def end(self) -> str:
        """What is left of the text, which ends here; with a line end where it has none."""
        parts = [*self._placed_word(self._edge())]
        parts += ["\n"] if self._at else []
        self._at = 0
        return "".join(parts)

    def _edge(self) -> int | None:
        columns = self._columns()
        return columns if columns is not None and columns >= _NARROWEST else None

    def _placed_word(self, edge: int | None) -> Iterator[str]:
        word, self._word = self._word, ""
        if edge is not None and len(word) <= edge - _MARKED < self._at - _MARKED + len(word):
            yield "\n"
            self._at = 0
        for sign in word:
            yield from self._placed(sign, 1, edge)

    def _placed(self, sign: str, width: int, edge: int | None) -> Iterator[str]:
        if edge is not None and self._at and self._at + width > edge:
            yield "\n"
            self._at = 0
            if sign == " ":
                return
        if not self._at:
            yield MARK
            self._at = _MARKED
        yield sign
        self._at += width


def quoted(text: str, columns: Callable[[], int | None]) -> str:
    """The whole of a text with its marks, without a line end."""
    quoting = Quoting(columns)
    return (quoting(text.strip("\n")) + quoting.end()).removesuffix("\n")


def _most_columns(sign: str) -> int:
    """Rather too many than too few: terminals disagree, and a line we end early is still marked."""
    if sign == "\t":
        return _TAB
    return 2 if unicodedata.east_asian_width(sign) in "WFA" else 1
