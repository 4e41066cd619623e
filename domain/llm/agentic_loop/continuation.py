"""Answers that were cut off: whether to go on with one, and how its parts join without a seam."""

from __future__ import annotations

import re

from domain.llm.agentic_loop.turn import AnswerRecord

_LEAST_OVERLAP = 12
"""Characters that have to agree before a repetition of the end counts as one ..."""
_LEAST_OVERLAP_WIDE = 6
"""... of which Chinese and its like need fewer."""
_LEAST_LINE = 6
_LEAST_DISTINCT = 5
"""A ruled line or a row of zeros agrees with itself anywhere."""
_LONGEST_OVERLAP = 4_000
_LAST_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{3,}\Z")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)
_OPENING_FENCE = re.compile(r"\A\s*(?:`{3,}|~{3,})[\w-]*[ \t]*\r?\n")
_LONGEST_FENCE = 24

GO_ON = (
    "Your last answer was cut off at its end. Go on exactly where it stopped: the first character of your "
    "answer follows its last one. Repeat nothing, do not greet or explain, open no new code block for one "
    "that is still open. Tool calls that were cut off have not been run: send them again."
)


def is_cut(answer: AnswerRecord) -> bool:
    """Whether an answer ended before its end: at the output limit, or its stream told no end."""
    return not answer.calls and answer.finish_reason in ("length", "cut")


class Seam:
    """Joins a continuation to the text before it, leaving out what it repeats of that text's end.

    Pieces are held back only while they may still be a repetition; `take` and `end` together give what
    has to be appended.
    """

    def __init__(self, before: str) -> None:
        self._whole = before
        self._before = before[-_LONGEST_OVERLAP:]
        self._held = ""
        self._is_open = bool(before)
        self._is_in_block = len(_FENCE.findall(before)) % 2 == 1

    def take(self, piece: str) -> str:
        """What can be shown of the continuation after one more piece."""
        if not self._is_open:
            return piece
        self._held += piece
        return "" if self._may_still_repeat() else self.end()

    def end(self) -> str:
        """What was held back, without what it repeats."""
        held, self._held, self._is_open = self._held, "", False
        return self._without_repetition(held)

    def _may_still_repeat(self) -> bool:
        new = self._held
        if len(new) < _LEAST_OVERLAP or (self._is_in_block and _may_be_fence(new)):
            return True
        if len(new) < len(self._whole) and self._whole.startswith(new):
            return True  # it may have begun all over again
        # Somewhere the end of the text before has all of it, and goes on behind it.
        at = self._before.find(new)
        return 0 <= at < len(self._before) - len(new)

    def _without_repetition(self, new: str) -> str:
        before = self._before
        if self._is_in_block and (fence := _OPENING_FENCE.match(new)):
            new = new[fence.end() :]
        if new.startswith(self._whole) and _is_telling(self._whole):
            return new[len(self._whole) :]
        for length in range(min(len(before), len(new)), _LEAST_OVERLAP_WIDE - 1, -1):
            if new[0] != before[-length] or not before.endswith(new[:length]):
                continue
            if _is_telling(new[:length]):
                return new[length:]
        line = before.rpartition("\n")[2]
        if new.startswith(line) and len(line) >= _LEAST_LINE and len(set(line)) >= _LEAST_DISTINCT:
            return new[len(line) :]  # models like to begin again at the start of the line
        word = _LAST_WORD.search(before)
        if word is not None and new.startswith(word[0]) and word[0].isascii():
            return new[len(word[0]) :]
        return new


def _may_be_fence(new: str) -> bool:
    start = new.lstrip()
    begins_so = start[:3] in ("", "`", "``", "```", "~", "~~", "~~~")
    return begins_so and "\n" not in start and len(new) < _LONGEST_FENCE


def _is_telling(overlap: str) -> bool:
    is_wide = sum(ord(character) > 0x2E7F for character in overlap) * 2 >= len(overlap)
    least = _LEAST_OVERLAP_WIDE if is_wide else _LEAST_OVERLAP
    return len(overlap) >= least and len(set(overlap)) >= _LEAST_DISTINCT
