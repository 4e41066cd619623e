"""The few edits that make one text of another, so that caret, folds and marks stay where they were."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_LARGEST = 250_000
"""Lines of one side times lines of the other that are compared line by line: some milliseconds."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace the bytes `start` to `end` of the old UTF-8 text."""

    start: int
    end: int
    text: bytes


def edits_between(old: str, new: str) -> tuple[TextEdit, ...]:
    """Edits in descending order, so that one after the other can be done; none when nothing changed."""
    old_lines, new_lines = _LINE.findall(old), _LINE.findall(new)
    head = _common(old_lines, new_lines)
    tail = _common(old_lines[head:][::-1], new_lines[head:][::-1])
    middle_old = old_lines[head : len(old_lines) - tail]
    middle_new = new_lines[head : len(new_lines) - tail]
    offset = _size(old_lines[:head])
    starts = [offset]
    for line in middle_old:
        starts.append(starts[-1] + len(line.encode()))
    return tuple(
        _trimmed(starts[i1], "".join(middle_old[i1:i2]).encode(), "".join(middle_new[j1:j2]).encode())
        for i1, i2, j1, j2 in reversed(_changed(middle_old, middle_new))
    )


def edits_by_line(old: str, new: str) -> tuple[TextEdit, ...]:
    """The edits of lines that stay where they are, one a line, descending; both have as many lines."""
    edits, start = [], 0
    for before, after in zip(_LINE.findall(old), _LINE.findall(new), strict=True):
        data = before.encode()
        if before != after:
            edits.append(_trimmed(start, data, after.encode()))
        start += len(data)
    return tuple(reversed(edits))


def changed_lines(old: str, new: str) -> tuple[tuple[int, int], ...]:
    """Which lines of `new` are not in `old`: first and last, from 1. A mere removal marks its follower."""
    begin = _line_start(old, new, _same_head(old, new))
    old, new, before = old[begin:], new[begin:], _count(new[:begin])
    end = _line_end(old, new, _same_tail(old, new))
    middle_old, middle_new = _LINE.findall(old[: len(old) - end]), _LINE.findall(new[: len(new) - end])
    count = before + len(middle_new) + _count(new[len(new) - end :])
    return tuple(
        (before + j1 + 1, max(before + j2, min(before + j1 + 1, count)))
        for _, _, j1, j2 in _changed(middle_old, middle_new)
    )


def _same_head(old: str, new: str) -> int:
    """How many characters both begin with; compared in halves, not one by one in Python."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _same_tail(old: str, new: str) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _line_start(old: str, new: str, same: int) -> int:
    """The last beginning of a line within the characters both begin with."""
    if same == len(old) == len(new):
        return same
    at = same
    while at:
        at = max(old.rfind("\n", 0, at), old.rfind("\r", 0, at)) + 1
        # CR LF is one end: what differs may stand between the two, or behind a CR that lost its LF.
        if at == 0 or old[at - 1] == "\n" or (old[at : at + 1] != "\n" and new[at : at + 1] != "\n"):
            return at
        at -= 1
    return 0


def _line_end(old: str, new: str, same: int) -> int:
    """So many characters of those both end with are whole lines."""
    start = len(new) - same
    if same == len(old) == len(new):
        return same
    found = _LINE.match(new, start)
    while found is not None:
        at = len(new) - start
        if _begins_line(old, len(old) - at) and _begins_line(new, start):
            return at
        start = found.end()
        found = _LINE.match(new, start)
    return 0


def _begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n" or (text[at - 1] == "\r" and text[at : at + 1] != "\n")


def _count(text: str) -> int:
    """Lines of a text, the last one with or without an end."""
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + bool(text and text[-1] not in "\r\n")


def _changed(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    if not old and not new:
        return []
    if len(old) * len(new) > _LARGEST:
        return [(0, len(old), 0, len(new))]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(i1, i2, j1, j2) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"]


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    count = 0
    for left, right in zip(old, new, strict=False):
        if left != right:
            break
        count += 1
    return count


def _size(lines: Sequence[str]) -> int:
    return len("".join(lines).encode())


def _trimmed(start: int, old: bytes, new: bytes) -> TextEdit:
    """Without the bytes both begin and end with, whole characters only."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    while head and _is_inside(old, head) | _is_inside(new, head):
        head -= 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    while tail and _is_inside(old, len(old) - tail) | _is_inside(new, len(new) - tail):
        tail -= 1
    return TextEdit(start + head, start + len(old) - tail, new[head : len(new) - tail])


def _is_inside(data: bytes, index: int) -> bool:
    """Whether `index` lies within a character, or between CR and LF."""
    if not 0 < index < len(data):
        return False
    return data[index] & 0xC0 == 0x80 or data[index - 1 : index + 1] == b"\r\n"
