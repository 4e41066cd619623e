"""A change of a file piece by piece: which of its pieces stand, and what the file is without one of them.

A piece stands where its lines, and the line on each side of it, are still those that the change left; it was
taken back where they are those of before. Anything else was changed by somebody since: nobody can say then
what the file would be without the piece alone. Lines are compared, as in every difference here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from domain.llm.tools.text_files import Hunk, Opcode, TextFile, decode, diff_files, line_opcodes, lines_of

PieceStanding = Literal["stands", "taken_back", "touched"]
"""Touched: the lines themselves or those beside them were changed since."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One changed place, and what became of it."""

    hunk: Hunk
    standing: PieceStanding
    line: int = 0
    """Where it is in the present text, from 1; 0 where that cannot be told."""


class Pieces:
    """The pieces of one change, held against the present text. Raises BinaryFileError for what is no text."""

    def __init__(self, before: bytes, after: bytes, now: bytes) -> None:
        self._file: TextFile = decode(now)
        self._hunks = diff_files(before, after, path="").hunks
        self._old, self._new = lines_of(decode(before).text), lines_of(decode(after).text)
        self._now = lines_of(self._file.text)

    @cached_property
    def all(self) -> tuple[Piece, ...]:
        """In the order of the lines."""
        return tuple(self._piece(hunk) for hunk in self._hunks)

    def turned(self, number: int) -> bytes | None:
        """The present text without the piece (from 0) that stands, or with the one that was taken back.

        None where it was touched. Raises IndexError, and NotEncodableError where the file's encoding cannot
        hold what comes back.
        """
        piece = self.all[number]
        hunk, at = piece.hunk, piece.line - 1
        old = self._old[hunk.old_line - 1 : hunk.old_line - 1 + len(hunk.removed)]
        new = self._new[hunk.new_line - 1 : hunk.new_line - 1 + len(hunk.added)]
        if piece.standing == "touched":
            return None
        here, there = (new, old) if piece.standing == "stands" else (old, new)
        lines = [*self._now[:at], *there, *self._now[at + len(here) :]]
        return replace(self._file, text="".join(_ended(lines))).to_bytes()

    def _piece(self, hunk: Hunk) -> Piece:
        start = hunk.new_line - 1
        place = _place(self._since_after, start, start + len(hunk.added), (len(self._new), len(self._now)))
        if place is not None:
            return Piece(hunk, "stands", place + 1)
        start = hunk.old_line - 1
        place = _place(self._since_before, start, start + len(hunk.removed), (len(self._old), len(self._now)))
        return Piece(hunk, "touched") if place is None else Piece(hunk, "taken_back", place + 1)

    @cached_property
    def _since_after(self) -> list[Opcode]:
        return line_opcodes(self._new, self._now)

    @cached_property
    def _since_before(self) -> list[Opcode]:
        return line_opcodes(self._old, self._now)


def _place(opcodes: Sequence[Opcode], start: int, end: int, lengths: tuple[int, int]) -> int | None:
    """Where the lines from `start` to `end` are in the present text; None when they are not there with the
    line on each side. `lengths`: how many lines the two texts have."""
    first, last = max(start - 1, 0), min(end + 1, lengths[0])
    for tag, i1, i2, j1, j2 in opcodes:
        if tag != "equal" or not i1 <= first <= last <= i2:
            continue
        at_head = start > 0 or (i1 == 0 and j1 == 0)
        at_tail = end < lengths[0] or (i2 == lengths[0] and j2 == lengths[1])
        return j1 + start - i1 if at_head and at_tail else None
    return 0 if lengths == (0, 0) else None


def _ended(lines: list[str]) -> list[str]:
    """Only the last line of a file may lack its end."""
    end = next((line[len(line.rstrip("\r\n")) :] for line in lines if line.endswith(("\n", "\r"))), "\n")
    return [line if line.endswith(("\n", "\r")) or at == len(lines) - 1 else line + end
            for at, line in enumerate(lines)]  # fmt: skip
