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


def changed_lines(old: str, new: str) -> tuple[tuple[int, int], ...]:
    """Which lines of `new` are not in `old`: first and last, from 1. A mere removal marks its follower."""
    old_lines, new_lines = _LINE.findall(old), _LINE.findall(new)
    head = _common(old_lines, new_lines)
    tail = _common(old_lines[head:][::-1], new_lines[head:][::-1])
    middle_old = old_lines[head : len(old_lines) - tail]
    middle_new = new_lines[head : len(new_lines) - tail]
    return tuple(
        (head + j1 + 1, max(head + j2, min(head + j1 + 1, len(new_lines))))
        for _, _, j1, j2 in _changed(middle_old, middle_new)
    )


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
