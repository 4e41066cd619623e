r"""Replacing a passage of a text that a model quotes from memory: at the right place, or not at all.

Edits also come in the forms models know from elsewhere: a unified diff, SEARCH/REPLACE blocks, a fenced file.

A quotation is looked for in this order; the first level with a hit decides:

1. exact, line ends apart; inside a line too, but never inside a field: ``R1 in out 1k`` is neither in
   ``R1 in out 1k5`` nor in ``XR1 in out 1k`` nor in the comment ``*R1 in out 1k``;
2. trailing: whole lines, white space at their ends apart;
3. indent: whole lines, all of them moved by one and the same indentation;
4. fuzzy, when allowed: whole lines, field by field, with the blanks apart that mean nothing in SPICE, then
   blank lines apart too; only when unique.

Letter case always counts, and likeness never makes a hit; it only serves the hint of a failure.

What is not meant stays byte for byte: line ends (also of a file that mixes them), a byte order mark, the
end of the last line, and of lines that stand equally in `search` and `replace` also their white space.
A line break at an edge of `search` that `replace` forgot is kept where its loss would join two lines.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from domain.llm.tools.passages import (
    MOST_TOLD,
    EndlessError,
    Hits,
    LooserReading,
    MatchLevel,
    Nearest,
    Page,
    blank_lines_apart,
    find,
    find_looser,
    find_nearest,
    find_present,
    indent_of,
    indent_shift,
    shifted,
)
from domain.llm.tools.text_files import Opcode, line_opcodes

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


FailureKind = Literal[
    "empty_search", "same_text", "no_change", "not_found", "ambiguous", "occurrence_out_of_range"
]
_BOM = "\ufeff"
_LONGER = 4
_LONGEST_SHORT = 1000
"""A quotation longer than so many times the text, and this, is not looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchOutcome:
    """The text after the replacement."""

    text: str
    level: MatchLevel
    lines: tuple[int, ...]
    """First line of each replaced place in the new text, from 1."""
    in_field_lines: tuple[int, ...] = ()
    """Lines of the old text where `search` stands inside a longer field; these were left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchFailure:
    """Why nothing was replaced; line numbers count from 1."""

    kind: FailureKind
    lines: tuple[int, ...] = ()
    """Where `search` was found, when that is too often or not often enough."""
    in_field_lines: tuple[int, ...] = ()
    """Where it stands only inside a longer field, or directly behind a comment's ``*``."""
    replacement_lines: tuple[int, ...] = ()
    """Where `replace` stands already."""
    nearest: Nearest | None = None
    hints: tuple[LooserReading, ...] = ()
    hint_lines: tuple[int, ...] = ()
    """Where the first of `hints` would have matched."""

    @property
    def explanation(self) -> str:
        sentences = [_REASONS[self.kind].format(lines=_told(self.lines))]
        if self.in_field_lines:
            where = _told(self.in_field_lines)
            sentences.append(
                f"It is {'also ' if self.lines else ''}part of a longer word or value (or stands right "
                f"behind a comment's mark) on {where}; quote whole fields, and more lines around them."
            )
        sentences.extend(_HINTS[hint].format(lines=_told(self.hint_lines)) for hint in self.hints[:1])
        if self.replacement_lines:
            sentences.append(
                f"The replacement text is already there on {_told(self.replacement_lines)}: "
                "perhaps this change was made before."
            )
        if self.nearest is not None:
            first, last = self.nearest.first_line, self.nearest.last_line
            where = f"line {first}" if first == last else f"lines {first}-{last}"
            sentences.append(f"Most similar ({where}):\n{self.nearest.text}")
        return " ".join(sentences)


_REASONS: dict[FailureKind, str] = {
    "empty_search": "search is empty or only white space; quote the text to replace.",
    "same_text": "search and replace are the same text; nothing would change.",
    "no_change": "The replacement leaves the file as it is.",
    "not_found": "The search text is not in the file.",
    "ambiguous": "Which place is meant is not clear: the search text is on {lines}. Quote more lines around "
    "it, or give occurrence (1 = the first, 0 = all).",
    "occurrence_out_of_range": "There is no such occurrence: the search text is there only on {lines}. "
    "occurrence counts from 1; 0 replaces all.",
}
_HINTS: dict[LooserReading, str] = {
    "fuzzy": "It differs only in blanks from {lines}: copy the text exactly, or set fuzzy to true.",
    "case": "It differs only in upper and lower case (or blanks) from {lines}: copy the text exactly.",
    "continuation": "It would match {lines} if continuation lines (+) were joined: copy the lines "
    "as they are.",
}


def _told(lines: Sequence[int]) -> str:
    if not lines:
        return "no line"
    numbers = ", ".join(map(str, lines[:MOST_TOLD]))
    more = f" and {len(lines) - MOST_TOLD} more" if len(lines) > MOST_TOLD else ""
    return f"line {numbers}" if len(lines) == 1 else f"lines {numbers}{more}"


def apply_patch(
    text: str, search: str, replace: str, *, occurrence: int | None = None, fuzzy: bool = False
) -> PatchOutcome | PatchFailure:
    """Replace `search` in `text` by `replace`.

    occurrence: None = there has to be exactly one, n >= 1 = the nth, 0 = all (of those that don't
    overlap). fuzzy: allow level 4 of this module's description.
    """
    wanted, new = _unified(search), _unified(replace)
    if not wanted.strip():
        return PatchFailure(kind="empty_search")
    if wanted == new:
        return PatchFailure(kind="same_text")
    page = Page(text.removeprefix(_BOM))
    mark = _BOM if text.startswith(_BOM) else ""
    block = _Block.of(wanted, new)
    if len(wanted) > _LONGER * len(page.joined) + _LONGEST_SHORT:  # not even blanks apart
        return PatchFailure(kind="not_found")
    try:
        return _patched(page, block, wanted, new, occurrence=occurrence, fuzzy=fuzzy, mark=mark)
    except EndlessError as error:
        return PatchFailure(kind="ambiguous", lines=error.lines)


def _patched(
    page: Page, block: _Block, wanted: str, new: str, *, occurrence: int | None, fuzzy: bool, mark: str
) -> PatchOutcome | PatchFailure:
    """The change of the page. Raises EndlessError."""
    hits = find(page, wanted, block.wanted, fuzzy=fuzzy)
    if not hits.places and (core := block.without_blank_edges()) != block:
        block = core
        hits = find(page, "\n".join(block.wanted), block.wanted, fuzzy=fuzzy)
        wanted, new = "\n".join(block.wanted), "\n".join(block.new)
    if not hits.places and fuzzy and (windows := blank_lines_apart(page, block.wanted)):
        return _patched_between_blank_lines(page, windows, block, mark)
    chosen = hits.chosen(occurrence)
    if not chosen:
        return _not_chosen(page, hits, wanted, occurrence) if hits.places else _not_found(page, hits, block)
    if hits.level == "exact":
        edits = [_exact_edit(page, place, wanted, new) for place in chosen]
    else:
        edits = [_lines_edit(page, place, block) for place in chosen]
    changed, lines = _edited(page.text, edits)
    if changed == page.text:
        return PatchFailure(kind="no_change", lines=lines)
    return PatchOutcome(
        text=mark + changed,
        level=hits.level,
        lines=lines,
        in_field_lines=page.some_lines_of(hits.in_field),
    )


def _patched_between_blank_lines(
    page: Page, windows: Sequence[Sequence[int]], block: _Block, mark: str
) -> PatchOutcome | PatchFailure:
    """The only place whose lines are those of the block, with other blank lines between them."""
    if len(windows) > 1:
        return PatchFailure(kind="ambiguous", lines=tuple(window[0] + 1 for window in windows))
    window, bare = windows[0], block.without_blank_lines()
    off, on = indent_of(bare.wanted[0]), indent_of(page.lines[window[0]])
    new, wanted = ([shifted(line, off, on).rstrip() for line in lines] for lines in (bare.new, bare.wanted))
    old = [(page.lines[index], page.ends[index]) for index in window]
    blanks = [
        [(page.lines[k], page.ends[k]) for k in range(index + 1, following)]
        for index, following in zip(window, [*window[1:], window[-1] + 1], strict=True)
    ]
    body = _refitted(old, line_opcodes(wanted, new), new, page.end_near(window[0]), blanks)
    edit = _Edit(page.starts[window[0]], page.starts[window[-1] + 1], body)
    changed, lines = _edited(page.text, [edit])
    if changed == page.text:
        return PatchFailure(kind="no_change", lines=lines)
    return PatchOutcome(text=mark + changed, level="fuzzy", lines=lines)


def _not_chosen(page: Page, hits: Hits, wanted: str, occurrence: int | None) -> PatchFailure:
    is_exact = hits.level == "exact"
    blank = len(wanted) - len(wanted.lstrip("\n"))
    lines = (
        page.lines_of([place + blank for place in hits.places])
        if is_exact
        else tuple(place + 1 for place in hits.places)
    )
    is_unclear = occurrence is None or (hits.level == "fuzzy" and len(lines) > 1)
    if occurrence is not None and is_exact and hits.in_field and 0 < occurrence <= len(lines):
        is_unclear = True
    return PatchFailure(
        kind="ambiguous" if is_unclear else "occurrence_out_of_range",
        lines=lines,
        in_field_lines=page.some_lines_of(hits.in_field),
    )


def _not_found(page: Page, hits: Hits, block: _Block) -> PatchFailure:
    new = "\n".join(block.new)
    hints: tuple[LooserReading, ...] = ()
    hint_lines: tuple[int, ...] = ()
    present: tuple[int, ...] = ()
    with contextlib.suppress(EndlessError):  # what stands in thousands of places is no hint
        hints, hint_lines = find_looser(page, block.wanted)
    with contextlib.suppress(EndlessError):
        present = find_present(page, new, block.new) if new.strip() else ()
    return PatchFailure(
        kind="not_found",
        in_field_lines=page.some_lines_of(hits.in_field),
        replacement_lines=present,
        nearest=find_nearest(page, block.wanted),
        hints=hints,
        hint_lines=hint_lines,
    )


def _unified(quoted: str) -> str:
    quoted = quoted.removeprefix(_BOM).replace("\r\n", "\n")
    return quoted if "\n" in quoted else quoted.replace("\r", "\n")


@dataclass(frozen=True, slots=True)
class _Edit:
    """Put `text` in place of the characters from `start` to `end` of the page's text."""

    start: int
    end: int
    text: str


def _edited(text: str, edits: Sequence[_Edit]) -> tuple[str, tuple[int, ...]]:
    """`text` after the edits, and the number of the line each of them begins on."""
    pieces, lines, position, line = [], [], 0, 1
    mark = "\n" if "\n" in text else "\r"
    for edit in edits:
        kept = text[position : edit.start]
        line += kept.count(mark)
        breaks = len(edit.text) - len(edit.text.lstrip("\r\n"))
        lines.append(line + edit.text.count(mark, 0, breaks))
        line += edit.text.count(mark)
        pieces += [kept, edit.text]
        position = edit.end
    return "".join([*pieces, text[position:]]), tuple(lines)


def _exact_edit(page: Page, start: int, wanted: str, new: str) -> _Edit:
    end = start + len(wanted)
    new = _with_line_breaks(page.joined, start, end, wanted, new)
    first, last = page.line_at(start), page.line_at(end)
    quoted, lines = wanted.split("\n"), new.split("\n")
    old = list(zip(quoted, [*page.ends[first:last], ""], strict=True))
    body = _refitted(old, line_opcodes(quoted, lines), lines, page.end_near(first))
    return _Edit(page.place(start), page.place(end), body)


def _with_line_breaks(text: str, start: int, end: int, wanted: str, new: str) -> str:
    """`new` with the line breaks at its edges that keep apart what stands around it.

    A model forgets them, or writes one too many. One that leads to a continuation line may go.
    """
    is_inside = start > 0 and text[start - 1] != "\n"
    if is_inside and wanted[0] == "\n" and new[:1] not in ("", "\n"):
        is_joining = wanted.lstrip()[0] == "+" and new[0] in " \t" and new.lstrip()[:1] != "+"
        new = new if is_joining else "\n" + new
    if wanted[-1] == "\n":
        if (new or is_inside) and not new.endswith("\n"):
            new += "\n"
    elif new.endswith("\n") and new.strip() and (end == len(text) or text[end] == "\n"):
        new = new[:-1]  # the last line keeps the end it has
    return new


def _refitted(
    old: Sequence[tuple[str, str]],
    opcodes: Sequence[Opcode],
    new: Sequence[str],
    new_end: str,
    blanks: Sequence[Sequence[tuple[str, str]]] = (),
) -> str:
    """`new` lines in place of `old` ones (content and end); equal ones stay as they are.

    The last line gets the end the last old one has. `blanks` are lines that stand behind each old one and
    stay unless it goes.
    """
    lines: list[tuple[str, str]] = []
    for tag, i1, i2, j1, j2 in opcodes:
        if tag == "equal":
            for place in range(i1, i2):
                lines += [old[place], *(blanks[place] if blanks else ())]
            continue
        for offset, line in enumerate(new[j1:j2]):
            model = min(i1 + offset, i2 - 1)  # of the lines it replaces, or the one it stands behind
            lines.append((line, (old[model][1] if model >= 0 else "") or new_end))
        if tag == "replace" and blanks:
            lines += blanks[i2 - 1]
    if not lines:
        return ""
    body = "".join(line + (end or new_end) for line, end in lines[:-1])
    return body + lines[-1][0] + old[-1][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """What is looked for and what replaces it, as whole lines."""

    wanted: list[str]
    new: list[str]

    @classmethod
    def of(cls, wanted: str, new: str) -> _Block:
        is_deletion = new == "" and wanted.endswith("\n")
        return cls(
            wanted=wanted.removesuffix("\n").split("\n"),
            new=[] if is_deletion else new.removesuffix("\n").split("\n"),
        )

    def without_blank_lines(self) -> _Block:
        """Without the blank lines of the quotation, and those of the replacement that only repeat them."""
        wanted, new = ([line.strip() for line in lines] for lines in (self.wanted, self.new))
        repeated = {
            j1 + k
            for tag, i1, i2, j1, _ in line_opcodes(wanted, new)
            if tag == "equal"
            for k in range(i2 - i1)
            if not wanted[i1 + k]
        }
        return _Block(
            wanted=[line for line in self.wanted if line.strip()],
            new=[line for k, line in enumerate(self.new) if k not in repeated],
        )

    def without_blank_edges(self) -> _Block:
        """Without the blank lines around the quotation, and those of the replacement that answer them."""
        head = next(k for k, line in enumerate(self.wanted) if line.strip())
        tail = next(k for k, line in enumerate(reversed(self.wanted)) if line.strip())
        new = list(self.new)
        for _ in range(head):
            if new and not new[0].strip():
                del new[0]
        for _ in range(tail):
            if new and not new[-1].strip():
                del new[-1]
        return _Block(wanted=self.wanted[head : len(self.wanted) - tail], new=new)


def _lines_edit(page: Page, place: int, block: _Block) -> _Edit:
    last = place + len(block.wanted) - 1
    off, on = indent_shift(page, place, block.wanted)
    new = [shifted(line, off, on) for line in block.new]
    wanted = [shifted(line, off, on) for line in block.wanted]
    opcodes = line_opcodes([line.rstrip() for line in wanted], [line.rstrip() for line in new])
    old = list(zip(page.lines[place : last + 1], page.ends[place : last + 1], strict=True))
    return _Edit(
        page.starts[place], page.starts[last + 1], _refitted(old, opcodes, new, page.end_near(place))
    )
