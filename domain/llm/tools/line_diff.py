"""What changed between two versions of a text file, for cards, results and the command line.

Counts are those of a valid line diff. Where a rewritten part is so large that the shortest diff would
take seconds, it counts as removed and added as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from domain.llm.tools.text_files import BinaryFileError, decode
from shared.message import one_line

TEXT_LIMIT = 20_000
"""Characters of a diff's text, unless told otherwise."""
_LONGEST_LINE = 400
_LARGEST_COMPARISON = 4_000_000
"""Lines of one side times lines of the other: about a second of difflib at worst."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")

Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]
"""As difflib gives it: what to do with ``old[i1:i2]`` and ``new[j1:j2]``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One changed place; lines without their ends."""

    old_line: int
    """First line of it in the old version, from 1; for an insertion the line it stands before."""
    new_line: int
    """The same in the new version."""
    removed: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineDiff:
    """The difference of two versions of a file."""

    added: int
    """Lines only the new version has."""
    removed: int
    """Lines only the old version has."""
    hunks: tuple[Hunk, ...] = ()
    text: str = ""
    """Unified diff, cut to a limit; "" when nothing changed."""
    is_cut: bool = False
    """`text` does not show everything."""
    is_binary: bool = False
    """One version is no text: nothing is counted or shown."""


def diff_files(
    before: bytes | None, after: bytes | None, *, path: str, context: int = 3, limit: int = TEXT_LIMIT
) -> LineDiff:
    """The difference of two contents of `path`; None = there is no file."""
    try:
        old, new = (decode(content or b"").text for content in (before, after))
    except BinaryFileError:
        return LineDiff(added=0, removed=0, text=f"Binary file {path} changed\n", is_binary=True)
    names = (
        f"a/{path}" if before is not None else "/dev/null",
        f"b/{path}" if after is not None else "/dev/null",
    )
    return _diff(old, new, names=names, context=context, limit=limit)


def diff_texts(before: str, after: str, *, path: str, context: int = 3, limit: int = TEXT_LIMIT) -> LineDiff:
    """The difference of two texts of a file `path`."""
    return _diff(before, after, names=(f"a/{path}", f"b/{path}"), context=context, limit=limit)


def _diff(before: str, after: str, *, names: tuple[str, str], context: int, limit: int) -> LineDiff:
    old, new = _LINE.findall(before), _LINE.findall(after)
    opcodes = line_opcodes(old, new)
    changes = [opcode for opcode in opcodes if opcode[0] != "equal"]
    lines = list(_unified(old, new, opcodes, names=names, context=context)) if changes else []
    text, is_cut = _cut(lines, limit)
    return LineDiff(
        added=sum(j2 - j1 for _, _, _, j1, j2 in changes),
        removed=sum(i2 - i1 for _, i1, i2, _, _ in changes),
        hunks=tuple(
            Hunk(
                old_line=i1 + 1,
                new_line=j1 + 1,
                removed=tuple(line.rstrip("\r\n") for line in old[i1:i2]),
                added=tuple(line.rstrip("\r\n") for line in new[j1:j2]),
            )
            for _, i1, i2, j1, j2 in changes
        ),
        text=text,
        is_cut=is_cut,
    )


def line_opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """difflib's opcodes, found in the part between the common head and tail."""
    shorter = min(len(old), len(new))
    head = next((k for k in range(shorter) if old[k] != new[k]), shorter)
    tail = next((k for k in range(shorter - head) if old[-1 - k] != new[-1 - k]), shorter - head)
    i_end, j_end = len(old) - tail, len(new) - tail
    opcodes: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    for tag, i1, i2, j1, j2 in _middle_opcodes(old[head:i_end], new[head:j_end]):
        opcodes.append((tag, i1 + head, i2 + head, j1 + head, j2 + head))
    if tail:
        opcodes.append(("equal", i_end, len(old), j_end, len(new)))
    return opcodes


def _middle_opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[Opcode]:
    if not old and not new:
        return []
    if len(old) * len(new) > _LARGEST_COMPARISON:
        return [("replace", 0, len(old), 0, len(new))]
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


class _Grouping(SequenceMatcher[str]):
    """difflib's grouping of changes with their context, for opcodes that are known."""

    def __init__(self, opcodes: list[Opcode]) -> None:
        super().__init__(None, "", "")
        self._known = opcodes

    def get_opcodes(self) -> list[Opcode]:
        return list(self._known)


def _unified(
    old: Sequence[str], new: Sequence[str], opcodes: list[Opcode], *, names: tuple[str, str], context: int
) -> Iterator[str]:
    ends_differ = _ends(old) != _ends(new)
    yield f"--- {one_line(names[0])}"
    yield f"+++ {one_line(names[1])}"
    for group in _Grouping(opcodes).get_grouped_opcodes(context):
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        yield f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from _shown(" ", old[i1:i2], ends_differ)
            else:
                yield from _shown("-", old[i1:i2], ends_differ)
                yield from _shown("+", new[j1:j2], ends_differ)


def _ends(lines: Sequence[str]) -> set[str]:
    return {line[len(line.rstrip("\r\n")) :] for line in lines} - {""}


def _range(start: int, stop: int) -> str:
    """As diff(1) writes it: an empty range names the line before it."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _shown(mark: str, lines: Sequence[str], ends_differ: bool) -> Iterator[str]:
    for line in lines:
        body = line.rstrip("\r\n")
        end = line[len(body) :]
        if len(body) > _LONGEST_LINE:
            body = f"{body[:_LONGEST_LINE]}... ({len(body)} characters)"
        yield mark + body + ("␍" if ends_differ and "\r" in end else "")
        if not end:
            yield "\\ No newline at end of file"


def _cut(lines: Sequence[str], limit: int) -> tuple[str, bool]:
    room = limit
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*lines[:number], f"... ({len(lines) - number} more lines)"]) + "\n", True
    return "".join(f"{line}\n" for line in lines), False
