"""Colours and folds of a netlist in QScintilla: asks `highlight` for the lines that need it, no more.

Scintilla forgets all styles behind a change. Here the end of what is right is remembered: when the lines
that were touched leave the same state behind as before, the rest is declared right without being read.
"""

from __future__ import annotations

from PyQt6.Qsci import QsciLexerCustom, QsciScintilla
from PyQt6.QtGui import QColor

from presentation.panels.editor import highlight
from presentation.panels.editor.highlight import TOKENS, Style
from presentation.ui.theme import Theme

_BASE = QsciScintilla.SC_FOLDLEVELBASE
_HEADER = QsciScintilla.SC_FOLDLEVELHEADERFLAG
_FARTHEST = 400
"""Lines looked back and forth for the ends of a card."""
_MOST_BYTES = 8_000
"""Of one card that is read whole; a longer one has the colours of its numbers only."""
_MOST_AT_ONCE = 60
"""Lines painted in one call: a screen, some milliseconds."""
_TEXT_CHANGES = QsciScintilla.SC_MOD_INSERTTEXT | QsciScintilla.SC_MOD_DELETETEXT


class SpiceLexer(QsciLexerCustom):
    """Styles one editor's netlist."""

    def __init__(self, editor: QsciScintilla, *, has_title: bool) -> None:
        super().__init__(editor)
        self._view = editor
        self._has_title = has_title
        self._models: frozenset[str] = frozenset()
        self._right_end = 0
        """Bytes that are styled rightly but for those in the touched range."""
        self._touched_end = 0
        # News of every style and state would come through Python: only what is listened to is told.
        self._ask(QsciScintilla.SCI_SETMODEVENTMASK, _TEXT_CHANGES | QsciScintilla.SC_MOD_CHANGEFOLD)
        editor.SCN_MODIFIED.connect(self._on_modified)

    def language(self) -> str:
        return "SPICE netlist"

    def description(self, style: int) -> str:
        """Name of a style; "" ends QScintilla's list of them."""
        return Style(style).name.title() if 0 <= style < len(Style) else ""

    def restyle(self, theme: Theme) -> None:
        font = theme.font("mono")
        font.setPointSizeF(theme.font("mono").pixelSize() * 72 / max(self._view.logicalDpiY(), 1))
        paper = theme.color("surface.base")
        self.setDefaultFont(font)
        self.setDefaultPaper(paper)
        self.setDefaultColor(theme.color("syntax.plain"))
        for style, token in TOKENS.items():
            self.setFont(font, style)
            self.setPaper(paper, style)
            self.setColor(QColor(theme.color(token)), style)

    def set_models(self, models: frozenset[str]) -> None:
        """Which models are in sight; another set styles everything anew, as it comes into view."""
        if models != self._models:
            self._models = models
            self._right_end = 0
            self._ask(QsciScintilla.SCI_STARTSTYLING, 0, 0)
            viewport = self._view.viewport()
            if viewport is not None:
                viewport.update()

    def styleText(self, start: int, end: int) -> None:  # noqa: N802 - Qt's name
        """Called by QScintilla: style the bytes from `start` towards `end`, some milliseconds' worth.

        What is left is asked for again when Scintilla is idle.
        """
        first = self._card_start(self._line_at(start))
        wanted = self._line_at(max(end - 1, start, self._touched_end if self._right_end > end else 0))
        begin = self._position(first)
        lines = _MOST_AT_ONCE
        while True:
            last = self._card_end(min(wanted, self._line_at(start) + lines))
            stop = self._position(last + 1)
            if stop - begin <= _MOST_BYTES or lines == 0:
                break
            lines //= 2
        state = self._ask(QsciScintilla.SCI_GETLINESTATE, first - 1) if first else 0
        is_start = first == 0 and self._has_title
        piece = self._bytes(begin, stop)
        if len(piece) <= _MOST_BYTES:
            painted = highlight.paint(piece, state=state, is_start=is_start, models=self._models)
        else:
            painted = highlight.paint_roughly(piece, state=state, is_start=is_start)
        before = self._ask(QsciScintilla.SCI_GETLINESTATE, last)
        self._ask(QsciScintilla.SCI_STARTSTYLING, begin, 0)
        self._view.SendScintilla(QsciScintilla.SCI_SETSTYLINGEX, len(painted.styles), painted.styles)
        self._set_lines(first, state, painted)
        is_same = not painted.states or painted.states[-1] == before
        is_through = stop > self._touched_end or stop >= self._ask(QsciScintilla.SCI_GETLENGTH)
        if is_same and is_through and self._right_end > stop:
            self._ask(QsciScintilla.SCI_STARTSTYLING, self._right_end, 0)
        else:
            self._right_end = max(stop, self._right_end) if is_same else stop
        self._touched_end = 0 if is_through else self._touched_end

    def _set_lines(self, first: int, state: int, painted: highlight.Painted) -> None:
        for line, (after, is_header) in enumerate(
            zip(painted.states, painted.headers, strict=True), start=first
        ):
            level = _BASE + highlight.depth_of(state) | (_HEADER if is_header else 0)
            if self._ask(QsciScintilla.SCI_GETLINESTATE, line) != after:
                self._ask(QsciScintilla.SCI_SETLINESTATE, line, after)
            if self._ask(QsciScintilla.SCI_GETFOLDLEVEL, line) != level:
                self._ask(QsciScintilla.SCI_SETFOLDLEVEL, line, level)
            state = after

    def _card_start(self, line: int) -> int:
        """The line where the card of the line before `line` begins: it may have lost or won a part."""
        line = max(line - 1, 0)
        limit = max(line - _FARTHEST, 0)
        at = line
        while at > limit and self._may_continue(at):
            at -= 1
        return at if at > limit or at == 0 else line

    def _may_continue(self, line: int) -> bool:
        text = self._text(line)
        return highlight.continues(text) or _is_between(text) or highlight.is_held_over(self._text(line - 1))

    def _card_end(self, line: int) -> int:
        """The last line of the card that `line` belongs to."""
        last = self._ask(QsciScintilla.SCI_GETLINECOUNT) - 1
        found = at = line
        while at < min(last, line + _FARTHEST):
            at += 1
            text = self._text(at)
            if highlight.continues(text) or highlight.is_held_over(self._text(at - 1)):
                found = at
            elif not _is_between(text):
                break
        return found

    def _text(self, line: int) -> bytes:
        if line < 0:
            return b""
        return self._bytes(self._position(line), self._position(line + 1))

    def _bytes(self, start: int, end: int) -> bytes:
        # QScintilla puts a NUL behind what was asked for
        return self._view.bytes(start, end).data()[: end - start] if end > start else b""

    def _position(self, line: int) -> int:
        if line >= self._ask(QsciScintilla.SCI_GETLINECOUNT):
            return self._ask(QsciScintilla.SCI_GETLENGTH)
        return self._ask(QsciScintilla.SCI_POSITIONFROMLINE, line)

    def _line_at(self, position: int) -> int:
        return self._ask(QsciScintilla.SCI_LINEFROMPOSITION, position)

    def _ask(self, message: int, first: int = 0, second: int = 0) -> int:
        return self._view.SendScintilla(message, first, second)

    def _on_modified(self, position: int, kind: int, _text: object, length: int, *_more: object) -> None:
        if not kind & _TEXT_CHANGES:
            return
        delta = length if kind & QsciScintilla.SC_MOD_INSERTTEXT else -length
        if self._touched_end > position:
            self._touched_end = max(self._touched_end + delta, position)
        self._touched_end = max(self._touched_end, position + max(delta, 0))
        if self._right_end > position:
            self._right_end = max(self._right_end + delta, position)


def _is_between(line: bytes) -> bool:
    """A blank or comment line: a card may go on behind it."""
    body = line.strip()
    return not body or body[:1] in b"*;$"
