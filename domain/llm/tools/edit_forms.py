"""Edits in the forms models know from elsewhere: a unified diff, SEARCH/REPLACE blocks, a fenced file."""

from __future__ import annotations

import re
from typing import NamedTuple

_FENCED = re.compile(
    r"\A\s*(?P<fence>`{3,}|~{3,})[\w.+-]*[ \t]*\r?\n(?P<body>.*?\r?\n?)[ \t]*(?P=fence)[ \t]*\s*\Z", re.DOTALL
)
_BLOCK = re.compile(
    r"^<{5,9}[ \t]*(?:SEARCH|ORIGINAL|HEAD)?[^\n]*\n(?P<search>.*?)^={5,9}[ \t]*\n"
    r"(?P<replace>.*?)^>{5,9}[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
_HUNK = re.compile(r"^@@.*$", re.MULTILINE)
_FILE_LINE = re.compile(r"^(?:diff |index |\*\*\* )")


class Edit(NamedTuple):
    """One passage and what comes in its place."""

    search: str
    replace: str


def without_fence(text: str) -> str | None:
    """What is inside, when the whole text is one block of code with its fences; None when it is not."""
    found = _FENCED.match(text)
    if found is None or re.search(rf"^[ \t]*{re.escape(found['fence'])}", found["body"], re.MULTILINE):
        return None
    return found["body"]


def edits_in(text: str) -> tuple[Edit, ...]:
    """The edits of a unified diff or of SEARCH/REPLACE blocks, in order; () when it is neither."""
    text = (without_fence(text) or text).replace("\r\n", "\n")
    blocks = tuple(Edit(found["search"], found["replace"]) for found in _BLOCK.finditer(text))
    return blocks or _hunks(text)


def _is_file_line(lines: list[str], number: int) -> bool:
    """Whether a line names a file; "--- x" alone takes a line away that begins with "-- "."""
    line = lines[number]
    if line.startswith("--- "):
        return number + 1 < len(lines) and lines[number + 1].startswith("+++ ")
    if line.startswith("+++ "):
        return number > 0 and lines[number - 1].startswith("--- ")
    return _FILE_LINE.match(line) is not None


def _hunks(text: str) -> tuple[Edit, ...]:
    begins = list(_HUNK.finditer(text))
    if not begins:
        return ()
    ends = [*(found.start() for found in begins[1:]), len(text)]
    edits = []
    for begin, end in zip(begins, ends, strict=True):
        old: list[str] = []
        new: list[str] = []
        lines = text[begin.end() : end].strip("\n").split("\n")
        for number, line in enumerate(lines):
            if line.startswith("\\") or _is_file_line(lines, number):
                continue
            said = line[1:] if line[:1] in ("+", "-", " ") else line  # models forget the blank of the others
            if not line.startswith("+"):
                old.append(said)
            if not line.startswith("-"):
                new.append(said)
        edits.append(Edit("\n".join(old) + "\n", "\n".join(new) + "\n"))
    return tuple(edit for edit in edits if edit.search != edit.replace)
