"""The patterns of git's ignore files (gitignore(5)), matched in time that a hostile pattern can't stretch.

A pattern is cut into the parts between slashes. A name is held against a part by an expression that never
goes back behind a star once what follows it was found: the earliest place is always as good as a later one.
The parts are followed side by side, as a set. Callers go down from folder to folder and ask for each, so what
lies in an ignored folder is not asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

MOST_PATTERNS = 20_000
"""Of one file; more is no file of rules, and everything beside it is left out."""
_MOST_PARTS = 4096
"""Between slashes; no path has more names (PATH_MAX of Linux), so a pattern with more fits none."""

_ANY_PARTS = None
_MARKS = frozenset("*?[\\")
"""What does not stand for itself."""
_REPEATED = re.compile(r"(?<![^/])(?:\*\*/){2,}")
"""Means what one of them does."""
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


class _Name:
    """A part of a pattern that stands for one name; its expression is made when a name is held against it."""

    def __init__(self, word: str) -> None:
        self._word = word

    @cached_property
    def fits(self) -> Callable[[str], object]:
        return _fits(self._word)


_Part = _Name | None
"""None: any number of names (`**`)."""


@dataclass(frozen=True)
class _Pattern:
    text: str
    """Without "!" and the slashes at its ends."""
    ignores: bool
    only_folders: bool
    is_anchored: bool

    @cached_property
    def parts(self) -> tuple[_Part, ...]:
        words = self.text.split("/")
        found: list[_Part] = [] if self.is_anchored else [_ANY_PARTS]
        for number, word in enumerate(words):
            if word == "**" and len(words) > 1:
                if number == len(words) - 1:  # what is inside, not the folder itself
                    found.append(_Name("*"))
                found.append(_ANY_PARTS)
            else:
                found.append(_Name(word))
        return tuple(found)

    def matches(self, names: Sequence[str]) -> bool:
        parts = self.parts
        if not any(part is _ANY_PARTS for part in parts) and len(names) != len(parts):
            return False
        at = _with_skipped({0}, parts)
        for name in names:
            after: set[int] = set()
            for index in at:
                if index < len(parts):
                    part = parts[index]
                    if part is None:
                        after.add(index)
                    elif part.fits(name):
                        after.add(index + 1)
            at = _with_skipped(after, parts)
            if not at:
                return False
        return len(parts) in at


class IgnorePatterns:
    """The patterns of one file."""

    def __init__(self, lines: Sequence[str]) -> None:
        found = [pattern for pattern in map(_read, lines) if pattern is not None]
        if len(found) > MOST_PATTERNS:
            found = [_Pattern("*", ignores=True, only_folders=False, is_anchored=False)]
        self._patterns = found[::-1]

    def verdict(self, path: str) -> bool | None:
        """Whether they leave out `path` (relative to their folder; a folder's ends in a slash); None: they
        don't say. The last pattern that fits decides."""
        is_folder = path.endswith("/")
        names = path.rstrip("/").split("/")
        for pattern in self._patterns:
            if (is_folder or not pattern.only_folders) and pattern.matches(names):
                return pattern.ignores
        return None


def _read(line: str) -> _Pattern | None:
    text = re.sub(r"(?<![\\\s])\s++\Z", "", line.rstrip("\r\n"))
    if not text.strip() or text.startswith("#"):
        return None
    ignores = not text.startswith("!")
    text = text.removeprefix("!")
    only_folders = text.endswith("/")
    text = text.rstrip("/")
    is_anchored = "/" in text
    text = _REPEATED.sub("**/", text.removeprefix("/"))
    if not text or text.count("/") >= _MOST_PARTS:
        return None
    return _Pattern(text, ignores, only_folders, is_anchored)


def _with_skipped(at: set[int], parts: Sequence[_Part]) -> set[int]:
    """The places with those behind a `**`, which may stand for nothing."""
    found = set(at)
    for index in at:
        behind = index
        while behind < len(parts) and parts[behind] is None:
            behind += 1
            found.add(behind)
    return found


def _fits(word: str) -> Callable[[str], object]:
    """What tells whether a name fits a part of a pattern."""
    if _MARKS.isdisjoint(word):
        return word.__eq__
    pieces = _pieces_of(word)
    if pieces is None:
        return lambda _name: False
    if len(pieces) == 1:
        return re.compile(pieces[0] + r"\Z", re.DOTALL).match
    first, *middle, last = pieces
    found = "".join(f"(?>.*?{piece})" for piece in middle if piece)
    return re.compile(rf"{first}{found}.*{last}\Z", re.DOTALL).match


def _pieces_of(word: str) -> list[str] | None:
    """Expressions for what stands between the stars; each fits texts of one length. None: it fits nothing."""
    pieces = [""]
    at = 0
    while at < len(word):
        character = word[at]
        at += 1
        if character == "*":
            pieces.append("")
        elif character == "?":
            pieces[-1] += "."
        elif character == "[":
            found = _bracket(word, at)
            if found is None:
                return None
            expression, at = found
            pieces[-1] += expression
        else:
            if character == "\\":
                if at == len(word):
                    return None
                character = word[at]
                at += 1
            pieces[-1] += re.escape(character)
    return pieces


def _bracket(word: str, at: int) -> tuple[str, int] | None:
    """The expression of a bracket whose inside begins at `at`, and where it ends; None without an end."""
    is_negative = word[at : at + 1] in ("!", "^")
    begin = at = at + is_negative
    inside: list[str] = []
    while at < len(word) and (word[at] != "]" or at == begin):
        if named := re.compile(r"\[:(\w{1,10}):\]").match(word, at):
            if named[1] not in _CLASSES:
                return None
            inside.append(_CLASSES[named[1]])
            at = named.end()
            continue
        low, at = _member(word, at)
        if word[at : at + 1] == "-" and word[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(word, at + 1)
            if low <= high:
                inside.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            inside.append(re.escape(low))
    if at >= len(word):
        return None
    body = "".join(inside)
    if not body:
        return (r"." if is_negative else r"(?!)", at + 1)
    return f"[{'^' if is_negative else ''}{body}]", at + 1


def _member(word: str, at: int) -> tuple[str, int]:
    at += word[at] == "\\" and at + 1 < len(word)
    return word[at], at + 1
