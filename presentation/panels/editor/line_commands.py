"""What is done to whole lines in the editor: comment, move, copy, delete; and carets that are several.

Each is one step of undo, and a card takes its `+` lines along (`domain.circuit.whole_lines`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

from domain.circuit import whole_lines
from domain.circuit.whole_lines import Block
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.text_changes import TextEdit


class Lines(Sequence[str]):
    """The editor's lines without their ends, read when they are asked for."""

    def __init__(self, editor: CodeEditor) -> None:
        self._editor = editor

    def __len__(self) -> int:
        return self._editor.lines()

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        return self._editor.text(index).rstrip("\r\n")


def toggle_comment(editor: CodeEditor, *, has_title: bool) -> None:
    """Make the lines of all carets comments, or cards again."""
    lines = Lines(editor)
    blocks = [whole_lines.with_continuations(lines, block) for block in _blocks(editor)]
    if has_title and len(lines) > 1:  # the title is a comment already
        blocks = [Block(max(block.first, 1), block.last) for block in blocks if block.last > 0]
    edits = []
    for change in reversed(whole_lines.toggled_comments(lines, blocks)):
        start = editor.ask(editor.SCI_POSITIONFROMLINE, change.line)
        start += len(lines[change.line][: change.column].encode())
        edits.append(TextEdit(start, start + len(change.removed), b"" if change.removed else b"*"))
    editor.apply(edits)


def delete_lines(editor: CodeEditor) -> None:
    """Delete the lines of all carets."""
    lines, edits = Lines(editor), []
    found = whole_lines.merged(whole_lines.with_continuations(lines, block) for block in _blocks(editor))
    for block in reversed(found):
        start, end = _bytes_of(editor, block)
        if end == editor.byte_length() and block.last + 1 == len(lines) and block.first > 0:
            start = editor.ask(editor.SCI_GETLINEENDPOSITION, block.first - 1)  # no line end is left behind
        edits.append(TextEdit(start, end, b""))
    editor.apply(edits)


def copy_lines(editor: CodeEditor, way: Literal["up", "down"]) -> None:
    """Copy the chosen lines above or below themselves; what is selected is the copy."""
    block = whole_lines.with_continuations(Lines(editor), _blocks(editor, main_only=True)[0])
    start, end = _bytes_of(editor, block)
    text = editor.bytes_between(start, end)
    has_end = text.endswith((b"\n", b"\r"))
    anchor, caret = _main_selection(editor)
    edit = TextEdit(start, start, text if has_end else text + editor.line_end)
    editor.apply((edit,))
    moved = len(edit.text) if way == "down" else 0
    _select(editor, anchor + moved, caret + moved)


def move_lines(editor: CodeEditor, way: Literal["up", "down"], *, has_title: bool) -> None:
    """Let the chosen lines change places with the card, comment or blank line beside them."""
    lines = Lines(editor)
    block = whole_lines.whole_cards(lines, _blocks(editor, main_only=True)[0])
    beside = whole_lines.neighbor_above if way == "up" else whole_lines.neighbor_below
    other = beside(lines, block, has_title=has_title)
    if other is None or (has_title and block.first == 0):
        return
    upper, lower = sorted((block, other))
    start, middle = _bytes_of(editor, upper)
    end = _bytes_of(editor, lower)[1]
    above, below = editor.bytes_between(start, middle), editor.bytes_between(middle, end)
    if not below.endswith((b"\n", b"\r")):  # the end of the last line goes along with its place
        body = above.rstrip(b"\r\n")
        above, below = body, below + above[len(body) :]
    anchor, caret = _main_selection(editor)
    moved = -(middle - start) if way == "up" else len(below)
    editor.apply((TextEdit(start, end, below + above),))
    _select(editor, anchor + moved, caret + moved)


def select_next_occurrence(editor: CodeEditor) -> None:
    """Select the word at the caret; then, with a caret more each time, the next place where it stands."""
    start, end = editor.selected_bytes()
    if start != end:
        word_start = editor.ask(editor.SCI_WORDSTARTPOSITION, start, 1)
        word_end = editor.ask(editor.SCI_WORDENDPOSITION, start, 1)
        is_word = (word_start, word_end) == (start, end)
        editor.ask(editor.SCI_SETSEARCHFLAGS, editor.SCFIND_WHOLEWORD if is_word else 0)
    editor.ask(editor.SCI_TARGETWHOLEDOCUMENT)
    editor.ask(editor.SCI_MULTIPLESELECTADDNEXT)
    editor.ask(editor.SCI_SCROLLCARET)


def toggle_caret(editor: CodeEditor, position: int) -> None:
    """One caret more at a place; one that is there already goes, unless it is the only one."""
    count = editor.ask(editor.SCI_GETSELECTIONS)
    for number in range(count):
        ends = (editor.SCI_GETSELECTIONNSTART, editor.SCI_GETSELECTIONNEND)
        first, last = (editor.ask(message, number) for message in ends)
        if first <= position <= last and count > 1:
            editor.ask(editor.SCI_DROPSELECTIONN, number)
            return
    editor.ask(editor.SCI_ADDSELECTION, position, position)


def keep_main_caret(editor: CodeEditor) -> bool:
    """Several carets become one again; whether there were several."""
    if editor.ask(editor.SCI_GETSELECTIONS) < 2:
        return False
    anchor, caret = _main_selection(editor)
    _select(editor, anchor, caret)
    return True


def _blocks(editor: CodeEditor, *, main_only: bool = False) -> list[Block]:
    """The lines of each selection: nothing is meant of a line at whose beginning one ends."""
    main = editor.ask(editor.SCI_GETMAINSELECTION)
    numbers = (main,) if main_only else range(editor.ask(editor.SCI_GETSELECTIONS))
    blocks = []
    for number in numbers:
        start = editor.ask(editor.SCI_GETSELECTIONNSTART, number)
        end = editor.ask(editor.SCI_GETSELECTIONNEND, number)
        first, last = (editor.ask(editor.SCI_LINEFROMPOSITION, at) for at in (start, end))
        if last > first and end == editor.ask(editor.SCI_POSITIONFROMLINE, last):
            last -= 1
        blocks.append(Block(first, last))
    return blocks


def _bytes_of(editor: CodeEditor, block: Block) -> tuple[int, int]:
    """Where a block begins, and where the next line does."""
    start = editor.ask(editor.SCI_POSITIONFROMLINE, block.first)
    is_last = block.last + 1 >= editor.lines()
    end = editor.byte_length() if is_last else editor.ask(editor.SCI_POSITIONFROMLINE, block.last + 1)
    return start, end


def _main_selection(editor: CodeEditor) -> tuple[int, int]:
    return editor.ask(editor.SCI_GETANCHOR), editor.ask(editor.SCI_GETCURRENTPOS)


def _select(editor: CodeEditor, anchor: int, caret: int) -> None:
    editor.ask(editor.SCI_SETSELECTION, caret, anchor)
    editor.ask(editor.SCI_SCROLLCARET)
