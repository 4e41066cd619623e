"""Lines of a netlist that are commented, moved, copied or deleted: a card takes its `+` lines along.

Lines are given without their ends and counted from 0. A line that was made a comment together with its card
(``*+ 1k``) still belongs to it, so that it comes back with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shared.late_patterns import late_pattern

_FARTHEST = 2_000
"""Lines of one card that are looked at."""
_CONTINUES = late_pattern(r"[ \t]*\+")
_CONTINUES_IN_COMMENT = late_pattern(r"[ \t]*\*+[ \t]*\+")
_COMMENT = late_pattern(r"[ \t]*\*")


class Block(NamedTuple):
    """Neighbouring lines: the first and the last."""

    first: int
    last: int


class CommentChange(NamedTuple):
    """Put a `*` before a column of a line, or take away what stands there."""

    line: int
    column: int
    removed: str
    """"" where a `*` is put."""


def with_continuations(lines: Sequence[str], block: Block) -> Block:
    """The block with the `+` lines of its last card. `+` lines alone stay alone: one may be meant."""
    if all(_continues(lines[at]) for at in range(block.first, block.last + 1)):
        return block
    return Block(block.first, _card_end(lines, block.last))


def whole_cards(lines: Sequence[str], block: Block) -> Block:
    """The block with all lines of its first and last card."""
    first = _card_start(lines, block.first)
    return Block(first, max(_card_end(lines, block.last), _card_end(lines, first), block.last))


def neighbor_above(lines: Sequence[str], block: Block, *, has_title: bool) -> Block | None:
    """The card, comment or blank line before a block; None where it is the title, or there is none."""
    if block.first == 0:
        return None
    first = _card_start(lines, block.first - 1)
    return None if first == 0 and has_title else Block(first, block.first - 1)


def neighbor_below(lines: Sequence[str], block: Block, *, has_title: bool) -> Block | None:
    """The card, comment or blank line behind a block; None at the end, and for the title, which stays."""
    if block.last + 1 >= len(lines) or (has_title and block.first == 0):
        return None
    if block.last + 2 == len(lines) and not lines[block.last + 1]:
        return None  # what stands behind the last line's end
    return Block(block.last + 1, _card_end(lines, block.last + 1))


def toggled_comments(lines: Sequence[str], blocks: Iterable[Block]) -> list[CommentChange]:
    """The lines made comments, or cards again when all of them are comments; in order, blank lines left."""
    numbers = sorted({at for block in blocks for at in range(block.first, block.last + 1)})
    meant = [at for at in numbers if lines[at].strip()]
    if any(not _COMMENT.match(lines[at]) for at in meant):
        return [CommentChange(at, len(lines[at]) - len(lines[at].lstrip()), "") for at in meant]
    changes = []
    for at in meant:
        column = lines[at].index("*")
        is_blank = re.match(r"\* (?! )", lines[at][column:]) is not None
        changes.append(CommentChange(at, column, "* " if is_blank else "*"))
    return changes


def merged(blocks: Iterable[Block]) -> list[Block]:
    """Blocks in order, those that touch or overlap as one."""
    found: list[Block] = []
    for block in sorted(blocks):
        if found and block.first <= found[-1].last + 1:
            found[-1] = Block(found[-1].first, max(found[-1].last, block.last))
        else:
            found.append(block)
    return found


def _continues(line: str) -> bool:
    return bool(_CONTINUES.match(line) or _CONTINUES_IN_COMMENT.match(line))


def _is_between(line: str) -> bool:
    """Blank or a comment: a card may go on behind it."""
    body = line.strip()
    return not body or body[0] in "*;$"


def _is_held_over(line: str) -> bool:
    return line.rstrip().endswith("\\\\")


def _card_end(lines: Sequence[str], line: int) -> int:
    """The last line of the card that `line` is of; of a comment those that were its `+` lines."""
    if _is_between(lines[line]) and not _continues(lines[line]):
        end = line
        is_comment = _COMMENT.match(lines[line]) is not None
        while is_comment and end + 1 < len(lines) and _CONTINUES_IN_COMMENT.match(lines[end + 1]):
            end += 1
        return end
    end, is_next = line, True
    for at in range(line + 1, min(len(lines), line + _FARTHEST)):
        text = lines[at]
        if _CONTINUES.match(text) or _is_held_over(lines[at - 1]):
            end, is_next = at, True
        elif is_next and _CONTINUES_IN_COMMENT.match(text):
            end = at
        elif _is_between(text):
            is_next = False  # what is commented out behind another comment belongs to that
        else:
            break
    return end


def _card_start(lines: Sequence[str], line: int) -> int:
    """The line a card begins on, for one of its lines."""
    at = line
    while at > 0 and line - at < _FARTHEST and (_continues(lines[at]) or _is_held_over(lines[at - 1])):
        is_comment = _CONTINUES_IN_COMMENT.match(lines[at]) is not None
        at -= 1
        while at > 0 and not is_comment and _is_between(lines[at]) and not _continues(lines[at]):
            at -= 1
    return at
