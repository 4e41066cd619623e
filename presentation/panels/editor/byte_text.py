"""Scintilla's text, asked in bytes of UTF-8 and in lines from 1, as ngspice counts them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from PyQt6.Qsci import QsciScintilla

from presentation.panels.editor.text_changes import TextEdit

_PIECE = 500_000
"""Characters put in at once: some milliseconds."""
_SPARE = 1_000_000
"""Room for what is typed into a large text before it has to be moved."""


class ByteText(QsciScintilla):
    """One text on the screen; what is shown beside and over it is told by others."""

    def load(self, text: str, line_end: str) -> None:
        """Show a text from its beginning; there is nothing to undo, nothing unsaved."""
        modes = {
            "\n": self.EolMode.EolUnix,
            "\r\n": self.EolMode.EolWindows,
            "\r": self.EolMode.EolMac,
        }
        self.setEolMode(modes[line_end])
        if text:
            self.setText(text)
        self.ask(self.SCI_EMPTYUNDOBUFFER)
        self.ask(self.SCI_GOTOPOS, 0)
        self.setModified(False)

    async def fill(self, text: str, goes_on: Callable[[], bool]) -> None:
        """Put a large text into an empty one, in pieces: between them the loop goes on."""
        self.setEnabled(False)
        self.ask(self.SCI_SETUNDOCOLLECTION, 0)
        self.ask(self.SCI_ALLOCATE, len(text) + _SPARE)
        for start in range(0, len(text), _PIECE):
            if not goes_on():
                return
            piece = text[start : start + _PIECE].encode()
            self.SendScintilla(self.SCI_APPENDTEXT, len(piece), piece)
            await asyncio.sleep(0)
        self.ask(self.SCI_SETUNDOCOLLECTION, 1)
        self.ask(self.SCI_EMPTYUNDOBUFFER)
        self.setEnabled(True)
        self.linesChanged.emit()

    def say_nothing(self) -> None:
        """Scintilla tells nobody of changes any more: for each it would count the characters before it, for
        screen readers, 90 ms in 20 MB. What is on the screen is told by `SCN_UPDATEUI` all the same."""
        self.ask(self.SCI_SETMODEVENTMASK, 0)

    def data(self) -> bytes:
        """The whole text in UTF-8; 25 ms for 50 MB."""
        length = self.byte_length()
        place = self.SendScintillaPtrResult(self.SCI_GETCHARACTERPOINTER)
        return place.asstring(length) if length else b""

    def text(self, *which: int) -> str:
        """The whole text (QScintilla takes ten times as long for it), or one of its lines or pieces."""
        return super().text(*which) if which else self.data().decode("utf-8", "replace")

    def apply(self, edits: Sequence[TextEdit]) -> None:
        """Carry out edits (descending) as one step of undo; caret and view stay where they were."""
        top = self.ask(self.SCI_GETFIRSTVISIBLELINE)
        self.ask(self.SCI_BEGINUNDOACTION)
        for edit in edits:
            self.ask(self.SCI_SETTARGETRANGE, edit.start, edit.end)
            self.SendScintilla(self.SCI_REPLACETARGET, len(edit.text), edit.text)
        self.ask(self.SCI_ENDUNDOACTION)
        self.ask(self.SCI_SETFIRSTVISIBLELINE, top)

    def bytes_between(self, start: int, end: int) -> bytes:
        """A piece of the UTF-8 text."""
        # QScintilla puts a NUL behind what was asked for.
        return self.bytes(start, end).data()[: end - start] if end > start else b""

    def text_before(self, count: int) -> str:
        """The last characters of the line before the caret, or before what is selected."""
        caret = self.ask(self.SCI_GETSELECTIONSTART)
        start = max(self.ask(self.SCI_POSITIONFROMLINE, self.line_of(caret)), caret - 4 * count)
        return self.bytes_between(start, caret).decode(errors="ignore")[-count:]

    def piece_before(self, lines: int) -> tuple[int, str, int]:
        """The text from some lines before the caret (or what is selected) to the end of its line: the number
        of its first line (from 1), the text with LF for every line end, the caret's index in it."""
        caret = self.ask(self.SCI_GETSELECTIONSTART)
        line = self.line_of(caret)
        first = max(line - lines, 0)
        start = self.ask(self.SCI_POSITIONFROMLINE, first)
        before, behind = (
            self.bytes_between(*ends).decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
            for ends in ((start, caret), (caret, self.ask(self.SCI_GETLINEENDPOSITION, line)))
        )
        return first + 1, before + behind, len(before)

    @property
    def line_end(self) -> bytes:
        """What lines end with in this text."""
        return (b"\r\n", b"\r", b"\n")[self.ask(self.SCI_GETEOLMODE)]

    def byte_length(self) -> int:
        """Bytes of the UTF-8 text."""
        return self.ask(self.SCI_GETLENGTH)

    def caret_byte(self) -> int:
        """Where the caret is, in bytes of UTF-8."""
        return self.ask(self.SCI_GETCURRENTPOS)

    def line_of(self, position: int) -> int:
        """The line of a byte, from 0."""
        return self.ask(self.SCI_LINEFROMPOSITION, position)

    def selected_bytes(self) -> tuple[int, int]:
        return self.ask(self.SCI_GETSELECTIONSTART), self.ask(self.SCI_GETSELECTIONEND)

    def select_bytes(self, start: int, end: int) -> None:
        for position in (start, end):
            self.ask(self.SCI_ENSUREVISIBLE, self.line_of(position))
        self.ask(self.SCI_SETSEL, start, end)
        self._bring_into_view(self.line_of(start))

    def go_to(self, line: int, column: int = 1) -> None:
        """Put the caret at a line and column (from 1, in characters), within the text."""
        wanted = min(max(line, 1), self.lines()) - 1
        start = self.ask(self.SCI_POSITIONFROMLINE, wanted)
        end = self.ask(self.SCI_GETLINEENDPOSITION, wanted)
        position = start
        for _ in range(column - 1):
            position = min(self.ask(self.SCI_POSITIONAFTER, position), end)
        self.ask(self.SCI_ENSUREVISIBLE, wanted)
        self.ask(self.SCI_GOTOPOS, position)
        self._bring_into_view(wanted)

    def caret(self) -> tuple[int, int]:
        """Line and column from 1."""
        line, column = self.getCursorPosition()
        return line + 1, column + 1

    def place(self) -> tuple[int, int, int]:
        """The caret's line and column, and the first line that is seen, from 1."""
        first = self.ask(self.SCI_DOCLINEFROMVISIBLE, self.ask(self.SCI_GETFIRSTVISIBLELINE))
        return *self.caret(), first + 1

    def go_to_place(self, line: int, column: int, first: int) -> None:
        """Be where one was: `place` of before."""
        self.go_to(line, column)
        self.ask(self.SCI_SETFIRSTVISIBLELINE, self.ask(self.SCI_VISIBLEFROMDOCLINE, first - 1))

    def caret_is_within(self, height: int) -> bool:
        """Whether the caret's line is seen whole in a view of so many pixels."""
        below = self.ask(self.SCI_POINTYFROMPOSITION, 0, self.ask(self.SCI_GETCURRENTPOS))
        return 0 <= below <= height - self.ask(self.SCI_TEXTHEIGHT, 0)

    def _bring_into_view(self, line: int) -> None:
        shown = self.ask(self.SCI_VISIBLEFROMDOCLINE, line)
        first, count = self.ask(self.SCI_GETFIRSTVISIBLELINE), self.ask(self.SCI_LINESONSCREEN)
        if not first <= shown < first + count - 1:
            self.ask(self.SCI_SETFIRSTVISIBLELINE, max(shown - count // 3, 0))

    def ask(self, message: int, first: int = 0, second: int = 0) -> int:
        return self.SendScintilla(message, first, second)
