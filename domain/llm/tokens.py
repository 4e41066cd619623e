"""How many tokens a text costs, roughly, without a model's vocabulary; and texts cut to a budget.

The one place where tokens are counted. The estimate: four ASCII characters a token, one token for every
other character, which is what common vocabularies need for English and SPICE and a little more than they
need for Chinese.
"""

from __future__ import annotations

from collections.abc import Sequence

_ASCII_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """The tokens of `text`, estimated; 0 only for an empty one."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return -(-ascii_count // _ASCII_PER_TOKEN) + len(text) - ascii_count


class LineBudget:
    """Takes whole lines while they fit into a number of tokens and of characters.

    Characters are counted with one line end a line; tokens are added up in quarters, so that many short
    lines are not rounded up one by one.
    """

    def __init__(self, *, tokens: int, characters: int) -> None:
        self._quarters = tokens * _ASCII_PER_TOKEN
        self._characters = characters

    def takes(self, line: str) -> bool:
        """Whether `line` fits into what is left; if so it is taken off."""
        ascii_count = len(line.encode("ascii", "ignore")) + 1
        quarters = ascii_count + (len(line) + 1 - ascii_count) * _ASCII_PER_TOKEN
        if quarters > self._quarters or len(line) + 1 > self._characters:
            return False
        self._quarters -= quarters
        self._characters -= len(line) + 1
        return True


def head_and_tail(
    lines: Sequence[str], *, tokens: int, characters: int, head: float = 0.6, tail: float = 0.3
) -> tuple[int, int]:
    """How many lines to keep at the beginning and at the end: (n, 0) with n = len(lines) when all fit.

    The head gets the share `head` of both budgets and the tail `tail`; the rest is for the mark that
    says what is missing. At least one line of the head is kept, whatever its length.
    """
    whole = LineBudget(tokens=tokens, characters=characters)
    if all(whole.takes(line) for line in lines):
        return len(lines), 0
    budget = LineBudget(tokens=int(tokens * head), characters=int(characters * head))
    kept = next((i for i, line in enumerate(lines) if not budget.takes(line)), len(lines))
    kept = max(kept, 1)
    budget = LineBudget(tokens=int(tokens * tail), characters=int(characters * tail))
    rest = lines[kept:]
    at_end = next((i for i, line in enumerate(reversed(rest)) if not budget.takes(line)), len(rest))
    return kept, at_end
